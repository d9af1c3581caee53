#!/usr/bin/env python3
"""Densities of water that `md build` placed, after the stages that it writes.

  python3 validation/build/density.py FOLDER [--md target/release/md] [--only MODEL...] [--threads 2]

Builds a cube of 3.5 nm around a sodium and a chloride ion for each water model, and runs the protocol of the build (50 ps
of heating, 100 ps at 1 bar) with 300 ps of production. Prints the density as it was built, and its mean in production with
the standard error from ten blocks. The volume of the ions is subtracted. A run that was interrupted goes on. Ends with 1 if
a mean differs by more than 0.5 % from the density of the model in long runs (validation/water).
"""

import argparse
import csv
import pathlib
import statistics
import subprocess
import sys

# kg/m3 at 298.15 K and 1 bar, from validation/water
MODELS = {"tip3p": 985.0, "spce": 997.9, "tip4pew": 995.3, "opc": 996.8}
BAR = 0.005
IONS = """\
HETATM    1 NA    NA A   1       0.000   0.000   0.000  1.00  0.00          NA
HETATM    2 CL    CL A   2       8.000   0.000   0.000  1.00  0.00          CL
END
"""
IONS_VOLUME = 0.0276  # nm3: 16.6 cm3/mol, the partial molar volume of NaCl in water
EDGE = 3.5  # nm
WATER = 18.01528 * 1.66053907  # mass of a molecule, kg/m3 nm3
PRODUCTION = 300  # ps
BLOCKS = 10


def density(model, arguments):
    """Returns the density as built, the mean in production and its standard error, in kg/m3."""
    folder = arguments.folder / model
    if not folder.exists():
        entry = arguments.folder / "ions.pdb"
        entry.write_text(IONS)
        cell = ["--shape", "cube", "--size", f"{EDGE} nm"]
        subprocess.run([arguments.md, "build", entry, "--water", model, *cell, "-o", folder], check=True, capture_output=True)
    output = ["--output-dir", folder / "out", "--quiet", "--threads", arguments.threads]
    production = ["--set", f'stage.production.duration="{PRODUCTION} ps"']
    subprocess.run([arguments.md, "run", folder / "input.toml", *output, *production], check=True)
    with open(folder / "out/energies.csv") as file:
        rows = [(float(row["time (ps)"]), float(row["volume (nm^3)"])) for row in csv.DictReader(file)]
    waters = int((folder / "build.log").read_text().split("added ")[1].split(" waters")[0])
    of_volume = lambda volume: WATER * waters / (volume - IONS_VOLUME)
    last = [of_volume(volume) for time, volume in rows if time > rows[-1][0] - PRODUCTION]
    size = len(last) // BLOCKS
    means = [statistics.mean(last[k * size:(k + 1) * size]) for k in range(BLOCKS)]
    return of_volume(EDGE**3), statistics.mean(last), statistics.stdev(means) / BLOCKS**0.5


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--md", default="target/release/md")
    parser.add_argument("--only", nargs="*", choices=MODELS, default=list(MODELS))
    parser.add_argument("--threads", default="2")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    good = True
    for model in arguments.only:
        built, mean, error = density(model, arguments)
        deviation = mean / MODELS[model] - 1
        print(f"| {model} | {built:.1f} | {mean:.1f} ± {error:.1f} | {MODELS[model]} | {100 * deviation:+.2f} % |", flush=True)
        good &= abs(deviation) <= BAR
    return not good


if __name__ == "__main__":
    sys.exit(main())
