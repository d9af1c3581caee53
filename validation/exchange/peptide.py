"""Alanine dipeptide with replica exchange beside a run without: peptide.py MD FOLDER [PICOSECONDS [CASE...]]

Energy and torsions of the state at 300 K of `inputs/ala2-vacuum/exchange.toml`, and of a run at 300 K without exchange, fifty times
as long, in both basins (φ > 0, φ < 0), and the population of the basins. A case is the thermostat of the replicas, with
temperatures, or `rest2`: Langevin dynamics at one temperature and a scaled solute. Without CASE all run. The run without exchange
is by Langevin dynamics for all cases. In it a change of basin is so rare that block means may miss it: the error of the population
of a basin is at least that of independent visits, p √(2/visits). Needs h5py.

The program exits with 1 if a deviation exceeds the bar, which one in a hundred runs of a correct program would exceed. A basin
with fewer than 100 frames in either run has no means to compare; the comparison counts as not made.
"""

import csv
import math
import pathlib
import subprocess
import sys

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from errors import bar, standard_error

INPUT = pathlib.Path(__file__).resolve().parents[2] / "inputs" / "ala2-vacuum" / "exchange.toml"
SEED = {"exchange": 351, "alone": 352}
ALONE = 50  # length of the run without exchange, in lengths of a replica
FEWEST_FRAMES = 100  # of a basin, below which its means say nothing
# C of ACE, N CA C of ALA, N of NME
PHI, PSI = (4, 6, 8, 14), (6, 8, 14, 16)
LANGEVIN = 'kind = "langevin", temperature = "300 K", friction = "5 1/ps"'
THERMOSTATS = {
    "langevin": LANGEVIN,
    "andersen": 'kind = "andersen", temperature = "300 K", coupling_time = "0.2 ps"',
    "v-rescale": 'kind = "v-rescale", temperature = "300 K", coupling_time = "0.1 ps"',
}
TEMPERATURES = 'temperature = ["300 K", "357 K", "424 K", "505 K", "600 K"]'
CONSTRAINTS = 'constraints = "h-bonds"'
CASES = [*THERMOSTATS, "rest2"]


def torsion(positions, atoms):
    a, b, c, d = (positions[:, atom] for atom in atoms)
    along = c - b
    first, second = np.cross(b - a, along), np.cross(along, d - c)
    sine = (np.cross(first, second) * along).sum(axis=1) / np.linalg.norm(along, axis=1)
    return np.degrees(np.arctan2(sine, (first * second).sum(axis=1)))


def observables(folder, settled):
    """Values of each frame by name; number of visits to the rarer basin."""
    with h5py.File(folder / "trajectory.h5md") as file:
        times, positions = file["time"][:], file["coordinates"][:]
    with open(folder / "energies.csv") as file:
        potential = {round(float(row["time (ps)"]), 3): float(row["potential (kJ/mol)"]) for row in csv.DictReader(file)}
    phi, psi = torsion(positions, PHI), torsion(positions, PSI)
    keep = times > settled
    energy = np.array([potential[round(float(time), 3)] for time in times[keep]])
    phi, psi = np.radians(phi[keep]), np.radians(psi[keep])
    visits = (np.count_nonzero(np.diff(phi > 0)) + 1) // 2
    found = {"population of phi > 0": (phi > 0).astype(float)}
    for basin, inside in [("phi > 0", phi > 0), ("phi < 0", phi < 0)]:
        found[f"{basin}: potential (kJ/mol)"] = energy[inside]
        for name, values in [("cos phi", np.cos(phi)), ("cos psi", np.cos(psi)), ("sin psi", np.sin(psi))]:
            found[f"{basin}: {name}"] = values[inside]
    return found, visits


def mean_and_error(name, values, visits):
    """Mean and its standard error; that of a population is at least that of independent visits."""
    mean, error = values.mean(), standard_error(values)
    if name.startswith("population") and visits:
        error = max(error, min(mean, 1 - mean) * math.sqrt(2 / visits))
    return mean, error


def run(program, folder, name, text):
    """Output folder of the run, which is made or continued."""
    (folder / f"{name}.toml").write_text(text)
    output = folder / f"peptide-{name}"
    subprocess.run([program, "run", str(folder / f"{name}.toml"), "--output-dir", str(output), "--quiet"], check=True)
    return output


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    length = float(sys.argv[3]) if len(sys.argv) > 3 else 5000.0
    folder.mkdir(parents=True, exist_ok=True)
    common = INPUT.read_text().replace('"ala2-vacuum.', f'"{INPUT.parent}/ala2-vacuum.')
    alone = common.split("[ensemble]")[0].replace('"2 ns"', f'"{ALONE * length} ps"')
    alone = alone.replace("[output]", f"[run]\nseed = {SEED['alone']}\nthreads = 1\n\n[output]")
    single, single_visits = observables(run(program, folder, "alone", alone), 100.0)
    print(f"alone: {single_visits} visits to the rarer basin in {ALONE * length:g} ps")
    deviations = []
    for case in sys.argv[4:] or CASES:
        text = common.replace('"2 ns"', f'"{length} ps"').replace(LANGEVIN, THERMOSTATS.get(case, LANGEVIN))
        text = text.replace("[output]", f"[run]\nseed = {SEED['exchange']}\nthreads = 1\n\n[output]")
        if case == "rest2":
            text = text.replace(TEMPERATURES, f"solute_{TEMPERATURES}")
            text = text.replace(CONSTRAINTS, CONSTRAINTS + '\nscaled_solute = { select = "all" }')
        output = run(program, folder, case, text)
        subprocess.run([program, "demux", str(output), "--force"], check=True, stdout=subprocess.DEVNULL)
        state, visits = observables(output / "state-1", 100.0)
        print(f"{case}: {visits} visits to the rarer basin in {length:g} ps")
        for name, values in state.items():
            if min(len(values), len(single[name])) < FEWEST_FRAMES:
                print(f"  {name}: {len(values)} frames by exchange, {len(single[name])} alone: not compared")
                continue
            (mean, error), (other, other_error) = mean_and_error(name, values, visits), mean_and_error(name, single[name], single_visits)
            off = (mean - other) / math.hypot(error, other_error)
            deviations.append(off)
            print(f"  {name}: {mean:.4f} +- {error:.4f} by exchange, {other:.4f} +- {other_error:.4f} alone, off by {off:+.1f}")
    worst, limit = max(map(abs, deviations)), bar(len(deviations))
    print(f"largest of {len(deviations)} deviations: {worst:.2f} standard errors; bar {limit:.2f}")
    return int(worst > limit)


if __name__ == "__main__":
    sys.exit(main())
