"""Alanine dipeptide with replica exchange beside a run without: peptide.py MD FOLDER [PICOSECONDS]

Energy and torsions of the state at 300 K of `inputs/ala2-vacuum/exchange.toml`, and of a run at 300 K ten times as long, in each of both
basins, and how often the molecule is in which. The run leaves a basin some ten times in 50 ns only, so the error of the latter
is that of few events. Needs h5py.
Exits with 1 where a mean differs by more than four errors.
"""

import csv
import math
import pathlib
import subprocess
import sys

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from errors import standard_error

INPUT = pathlib.Path(__file__).resolve().parents[2] / "inputs" / "ala2-vacuum" / "exchange.toml"
WORST = 4.0  # standard errors
FEWEST_FRAMES = 100  # of a basin, below which its means say nothing
# C of ACE, N CA C of ALA, N of NME
PHI, PSI = (4, 6, 8, 14), (6, 8, 14, 16)


def torsion(positions, atoms):
    a, b, c, d = (positions[:, atom] for atom in atoms)
    along = c - b
    first, second = np.cross(b - a, along), np.cross(along, d - c)
    sine = (np.cross(first, second) * along).sum(axis=1) / np.linalg.norm(along, axis=1)
    return np.degrees(np.arctan2(sine, (first * second).sum(axis=1)))


def observables(folder, settled):
    with h5py.File(folder / "trajectory.h5md") as file:
        times, positions = file["time"][:], file["coordinates"][:]
    with open(folder / "energies.csv") as file:
        potential = {round(float(row["time (ps)"]), 3): float(row["potential (kJ/mol)"]) for row in csv.DictReader(file)}
    phi, psi = torsion(positions, PHI), torsion(positions, PSI)
    keep = times > settled
    energy = np.array([potential[round(float(time), 3)] for time in times[keep]])
    phi, psi = np.radians(phi[keep]), np.radians(psi[keep])
    print(f"{folder.name}: phi changes its sign {np.count_nonzero(np.diff(phi > 0))} times in {len(phi)} frames")
    found = {"part of phi > 0": (phi > 0).astype(float)}
    for basin, inside in [("phi > 0", phi > 0), ("phi < 0", phi < 0)]:
        found[f"{basin}: potential (kJ/mol)"] = energy[inside]
        for name, values in [("cos phi", np.cos(phi)), ("cos psi", np.cos(psi)), ("sin psi", np.sin(psi))]:
            found[f"{basin}: {name}"] = values[inside]
    return found


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    length = float(sys.argv[3]) if len(sys.argv) > 3 else 5000.0
    text = INPUT.read_text().replace('"ala2-vacuum.', f'"{INPUT.parent}/ala2-vacuum.')
    exchange, alone = text.replace('"2 ns"', f'"{length} ps"'), text.split("[ensemble]")[0]
    alone = alone.replace('"2 ns"', f'"{10 * length} ps"')
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in [("exchange", exchange), ("alone", alone)]:
        (folder / f"{name}.toml").write_text(text)
        command = [program, "run", str(folder / f"{name}.toml"), "--output-dir", str(folder / f"peptide-{name}"), "--quiet"]
        subprocess.run(command, check=True)
    subprocess.run([program, "demux", str(folder / "peptide-exchange"), "--force"], check=True, stdout=subprocess.DEVNULL)
    state = observables(folder / "peptide-exchange" / "state-1", 100.0)
    single = observables(folder / "peptide-alone", 100.0)
    worst = 0.0
    for name, values in state.items():
        if min(len(values), len(single[name])) < FEWEST_FRAMES:
            print(f"{name}: {len(values)} frames by exchange, {len(single[name])} alone: not compared")
            continue
        means, errors = zip(*[(of.mean(), standard_error(of)) for of in (values, single[name])])
        off = (means[0] - means[1]) / math.hypot(*errors)
        worst = max(worst, abs(off))
        print(f"{name}: {means[0]:.4f} +- {errors[0]:.4f} by exchange, {means[1]:.4f} +- {errors[1]:.4f} alone, off by {off:+.1f}")
    print(f"largest deviation: {worst:.1f} standard errors")
    return int(worst > WORST)


if __name__ == "__main__":
    sys.exit(main())
