#!/usr/bin/env python3
"""Drift of the conserved energy in kT/ns per degree of freedom: GROMACS and md at the same settings.

  compare.py gromacs SYSTEM.top SYSTEM.gro [--picoseconds 200] [--threads 2]   runs gmx, then reports
  compare.py report energies.csv... --dof 48381                                md's energies.csv, or an .xvg of gmx

A run is cut into blocks; the drift is the mean of the blocks' slopes, its error their standard error. Several files
are taken as repeats and their blocks put together. Needs numpy, and gmx for the first form; writes below out/.
"""

import argparse
import csv
import pathlib
import re
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
GAS_CONSTANT = 8.31446261815324e-3  # kJ/mol/K
TIMESTEP = 0.002  # ps
FIRST = 1.0  # ps left out: the lists' buffers and the constraints settle


def read_csv(path):
    """Time (ps) and conserved energy (kJ/mol) of md's energies.csv; rows of a minimiser carry no time."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    conserved = next((name for name in rows[0] if name.startswith("conserved")), None) if rows else None
    if conserved is None:
        sys.exit(f"{path}: no column whose name starts with 'conserved'")
    data = [(row["time (ps)"], row[conserved]) for row in rows if row["time (ps)"] and row[conserved]]
    return np.array(data, dtype=float).T


def read_xvg(path):
    """Time (ps) and conserved energy (kJ/mol) of `gmx energy`."""
    with open(path) as file:
        return np.array([line.split()[:2] for line in file if line[0] not in "#@"], dtype=float).T


def slopes(time, energy, blocks):
    """Least-squares slope of each block in kJ/mol/ns."""
    kept = time >= time[0] + FIRST
    parts = zip(np.array_split(time[kept], blocks), np.array_split(energy[kept], blocks))
    return [np.polyfit((t - t[0]) * 1e-3, e - e[0], 1)[0] for t, e in parts]


def report(label, series, dof, temperature, blocks):
    """Prints drift, error and fluctuation."""
    thermal = GAS_CONSTANT * temperature * dof
    drift = np.array([slope for s in series for slope in slopes(*s, blocks)]) / thermal
    error = drift.std(ddof=1) / np.sqrt(len(drift))
    residual = [np.std(e - np.polyval(np.polyfit(t, e, 1), t)) for t, e in series]
    length = sum(t[-1] - t[0] for t, _ in series)
    print(
        f"{label}: drift {drift.mean():+.2e} ± {error:.1e} kT/ns/dof, fluctuation {np.mean(residual):.3f} kJ/mol "
        f"({length:.0f} ps, {len(drift)} blocks, {dof:.0f} degrees of freedom, {temperature:.0f} K)"
    )


def gmx(*words, cwd, stdin=None):
    """Runs one gmx command; its output is shown if it fails."""
    done = subprocess.run(["gmx", "-quiet", *words], cwd=cwd, input=stdin, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"gmx {words[0]} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout + done.stderr


def run_gromacs(options):
    """Makes the run and returns its series, degrees of freedom and speed in ns/day."""
    folder = HERE / "out" / f"gromacs-{options.top.stem}"
    folder.mkdir(parents=True, exist_ok=True)
    steps = round(options.picoseconds / TIMESTEP)
    text = (HERE / "nve.mdp").read_text().replace("@STEPS@", str(steps))
    (folder / "nve.mdp").write_text(text.replace("@LINCS_ITER@", str(options.lincs_iter)))
    # one warning is allowed: dhfr has a net charge, which md and GROMACS neutralise in the same way
    files = ["-c", options.gro.resolve(), "-p", options.top.resolve(), "-f", "nve.mdp", "-o", "nve.tpr"]
    prepared = gmx("grompp", *map(str, files), "-maxwarn", "1", cwd=folder)
    threads = ["-ntmpi", "1", "-ntomp", str(options.threads), "-notunepme", "-pin", "on" if options.pin else "off"]
    gmx("mdrun", "-s", "nve.tpr", "-deffnm", "nve", *threads, cwd=folder)
    # without couplings GROMACS writes no "Conserved En.", which then equals the total energy
    gmx("energy", "-f", "nve.edr", "-o", "conserved.xvg", "-dp", cwd=folder, stdin="Total-Energy\n")
    dof = float(re.search(r"degrees of freedom in T-Coupling group \S+ is ([\d.]+)", prepared)[1])
    log = (folder / "nve.log").read_text()
    speed = float(re.search(r"^Performance:\s+([\d.]+)", log, re.M)[1])
    lists = re.findall(r".*(?:updated every|Changing nstlist).*", log)
    return read_xvg(folder / "conserved.xvg"), dof, speed, lists


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    gromacs = commands.add_parser("gromacs")
    gromacs.add_argument("top", type=pathlib.Path)
    gromacs.add_argument("gro", type=pathlib.Path)
    gromacs.add_argument("--picoseconds", type=float, default=200.0)
    gromacs.add_argument("--threads", type=int, default=2)
    gromacs.add_argument("--pin", action="store_true", help="only on a machine of one's own")
    gromacs.add_argument("--lincs-iter", type=int, default=2, help="1 is GROMACS' default, 2 its advice for NVE")
    files = commands.add_parser("report")
    files.add_argument("files", nargs="+", type=pathlib.Path)
    files.add_argument("--dof", type=float, required=True, help="3N - constraints - 3")
    for command in (gromacs, files):
        command.add_argument("--temperature", type=float, default=300.0)
        command.add_argument("--blocks", type=int, default=5)
    options = parser.parse_args()
    if options.command == "gromacs":
        series, dof, speed, lists = run_gromacs(options)
        report("GROMACS", [series], dof, options.temperature, options.blocks)
        print(f"{speed:.2f} ns/day on {options.threads} threads")
        print("\n".join(line.strip() for line in lists))
    else:
        read = {".csv": read_csv, ".xvg": read_xvg}
        series = [read.get(path.suffix, read_csv)(path) for path in options.files]
        label = "GROMACS" if options.files[0].suffix == ".xvg" else "md"
        report(label, series, options.dof, options.temperature, options.blocks)


if __name__ == "__main__":
    main()
