"""Alanine dipeptide with replica exchange beside umbrella sampling: peptide.py MD FOLDER [PICOSECONDS [CASE...]]

Energy and torsions of the state at 300 K of eight replicas up to 1200 K, in both basins (0 < φ < 120°: C7ax; all other φ), and the
population of C7ax, beside the same of umbrella sampling at 300 K: 36 windows of φ without exchange, weighted by MBAR (Shirts &
Chodera 2008, 10.1063/1.2978177). A case is the thermostat of the replicas, with temperatures, or `rest2`: Langevin dynamics at one
temperature and a scaled solute. Without CASE all run. Every window and every replica is PICOSECONDS long, a replica of `rest2` five
times as long. Needs h5py and pymbar.

A replica rarely changes its basin, even when hot, while the state at 300 K changes its replica often. So block means of the state
miss slow fluctuations: the error of the population of a basin is at least that of independent visits of replicas, p √(2/visits).

The program exits with 1 if a deviation exceeds the bar, which one in a hundred runs of a correct program would exceed, or if the
replicas of a case visit C7ax less than 20 times. A basin with fewer than 100 frames has no means to compare; the comparison
counts as not made.
"""

import csv
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import h5py
import numpy as np
from pymbar import MBAR

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from errors import bar, standard_error

INPUT = pathlib.Path(__file__).resolve().parents[2] / "inputs" / "ala2-vacuum" / "exchange.toml"
SEED = 451  # of the windows; each case and each window adds one
FEWEST_FRAMES = 100  # of a basin, below which its means say nothing
FEWEST_VISITS = 20  # of all replicas to C7ax, below which the error of its population says nothing
# atoms of the torsions: C of ACE, N CA C of ALA, N of NME
PHI, PSI = (4, 6, 8, 14), (6, 8, 14, 16)
LANGEVIN = 'kind = "langevin", temperature = "300 K", friction = "5 1/ps"'
THERMOSTATS = {
    "langevin": LANGEVIN,
    "andersen": 'kind = "andersen", temperature = "300 K", coupling_time = "0.2 ps"',
    "v-rescale": 'kind = "v-rescale", temperature = "300 K", coupling_time = "0.1 ps"',
}
TEMPERATURES = 'temperature = ["300 K", "366 K", "446 K", "543 K", "662 K", "807 K", "984 K", "1200 K"]'
CONSTRAINTS = 'constraints = "h-bonds"'
CASES = [*THERMOSTATS, "rest2"]
# length of a replica in units of the length of a window: bonds and angles of a scaled solute are not scaled, so that it
# changes its basin less often
LENGTH = {"rest2": 5}
# centers of the windows of umbrella sampling
WINDOWS = range(-175, 180, 10)  # centers, degrees
STIFFNESS = 100.0  # kJ/mol/rad^2: the width √(kT/k) is 9 degrees
FIRST = -150.0  # degrees: the torsion of the input, nearly
PULL = 200.0  # ps in which the center moves from the torsion of the input to that of the window
KT = 8.31446261815324e-3 * 300.0  # kJ/mol
BLOCKS = 16  # of the jackknife


def torsion(positions, atoms):
    a, b, c, d = (positions[:, atom] for atom in atoms)
    along = c - b
    first, second = np.cross(b - a, along), np.cross(along, d - c)
    sine = (np.cross(first, second) * along).sum(axis=1) / np.linalg.norm(along, axis=1)
    return np.degrees(np.arctan2(sine, (first * second).sum(axis=1)))


def in_basin(phi):
    return (phi > 0) & (phi < 120)


def torsions(folder):
    """Times (ps), φ and ψ (degrees) of the frames."""
    with h5py.File(folder / "trajectory.h5md") as file:
        positions = file["coordinates"][:]
        return file["time"][:], torsion(positions, PHI), torsion(positions, PSI)


def frames(folder, settled):
    """φ, ψ (degrees) and potential energy without restraints (kJ/mol) of each frame after this time (ps)."""
    times, phi, psi = torsions(folder)
    with open(folder / "energies.csv") as file:
        energy = {
            round(float(row["time (ps)"]), 3): float(row["potential (kJ/mol)"]) - float(row["restraint (kJ/mol)"])
            for row in csv.DictReader(file)
        }
    keep = times > settled
    return phi[keep], psi[keep], np.array([energy[round(float(time), 3)] for time in times[keep]])


def observables(phi, psi, energy):
    """Name, values of each frame, and the frames that count."""
    inside = in_basin(phi)
    yield "population of C7ax", inside.astype(float), np.full(len(phi), True)
    for basin, members in [("C7ax", inside), ("rest", ~inside)]:
        yield f"{basin}: potential (kJ/mol)", energy, members
        for name, values in [("cos phi", np.cos(np.radians(phi))), ("cos psi", np.cos(np.radians(psi))), ("sin psi", np.sin(np.radians(psi)))]:
            yield f"{basin}: {name}", values, members


def run(program, folder, name, text):
    """Output folder of the run, which is made or continued."""
    (folder / f"{name}.toml").write_text(text)
    output = folder / f"peptide-{name}"
    subprocess.run([program, "run", str(folder / f"{name}.toml"), "--output-dir", str(output), "--quiet"], check=True)
    return output


def restraint(center, rate=0.0):
    at = f'at = "{center} deg", rate = "{rate} deg/ps"' if rate else f'at = "{center} deg"'
    groups = ", ".join(f'"index {atom}"' for atom in PHI)
    return f'restraints = {{ kind = "torsion", groups = [{groups}], {at}, force_constant = "{STIFFNESS} kJ/mol/rad^2" }}\n'


def window(program, folder, text, center, seed, length):
    """Frames of a window: φ is pulled from that of the input to the center within `PULL`, then sampled."""
    before, equilibration, production = text.split("[ensemble]")[0].split("[[stage]]")
    pull = equilibration.replace('"20 ps"', f'"{PULL} ps"') + restraint(FIRST, (center - FIRST) / PULL)
    sample = production.replace('"2 ns"', f'"{length} ps"') + restraint(center)
    text = "[[stage]]".join([with_seed(before, seed), pull, sample])
    return frames(run(program, folder, f"window{center:+}", text), PULL + 20.0)


def with_seed(text, seed):
    return text.replace("[output]", f"[run]\nseed = {seed}\nthreads = 1\n\n[output]")


def umbrella_sampling(program, folder, text, length):
    """Mean, error and number of frames of each observable, by MBAR over the windows; errors by the jackknife over blocks of time."""
    with ThreadPoolExecutor(2) as pool:
        made = [pool.submit(window, program, folder, text, center, SEED + k, length) for k, center in enumerate(WINDOWS)]
        samples = [future.result() for future in made]
    counts = [len(phi) for phi, _, _ in samples]
    assert len(set(counts)) == 1, counts
    phi, psi, energy = (np.concatenate(values) for values in zip(*samples))
    block = np.tile(np.arange(counts[0]) * BLOCKS // counts[0], len(samples))
    centers = np.array(WINDOWS, dtype=float)[:, None]
    away = np.radians((phi - centers + 180) % 360 - 180)
    bias = STIFFNESS / 2 / KT * away**2

    def means(keep, start=None):
        held = [int(np.count_nonzero(part)) for part in np.split(keep, len(samples))]
        mbar = MBAR(bias[:, keep], held, initial_f_k=start)
        weights = np.exp(-np.logaddexp.reduce(mbar.f_k[:, None] - bias[:, keep] + np.log(held)[:, None], axis=0))
        found = []
        for _, values, members in observables(phi[keep], psi[keep], energy[keep]):
            found.append(np.average(values[members], weights=weights[members]))
        return np.array(found), mbar.f_k

    whole, free_energies = means(np.full(len(phi), True))
    without = np.array([means(block != b, free_energies)[0] for b in range(BLOCKS)])
    errors = np.sqrt((BLOCKS - 1) / BLOCKS * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    names = [(name, np.count_nonzero(members)) for name, _, members in observables(phi, psi, energy)]
    return {name: (mean, error, count) for (name, count), mean, error in zip(names, whole, errors)}


def exchange(program, folder, text, case, length):
    """φ, ψ and potential energy of the frames of the state at 300 K; visits of all replicas to C7ax."""
    text = text.replace('"2 ns"', f'"{length} ps"').replace(LANGEVIN, THERMOSTATS.get(case, LANGEVIN))
    before, after = text.split("[ensemble]\ntemperature = [")
    temperatures = f"solute_{TEMPERATURES}" if case == "rest2" else TEMPERATURES
    text = f"{before}[ensemble]\n{temperatures}{after.split(']', 1)[1]}"
    if case == "rest2":
        text = text.replace(CONSTRAINTS, CONSTRAINTS + '\nscaled_solute = { select = "all" }')
    output = run(program, folder, case, with_seed(text, SEED + len(WINDOWS) + CASES.index(case)))
    subprocess.run([program, "demux", str(output), "--force"], check=True, stdout=subprocess.DEVNULL)
    changes = 0
    for replica in output.glob("replica-*"):
        changes += np.count_nonzero(np.diff(in_basin(torsions(replica)[1])))
    return frames(output / "state-1", 100.0), changes // 2


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    length = float(sys.argv[3]) if len(sys.argv) > 3 else 5000.0
    folder.mkdir(parents=True, exist_ok=True)
    text = INPUT.read_text().replace('"ala2-vacuum.', f'"{INPUT.parent}/ala2-vacuum.')
    reference = umbrella_sampling(program, folder, text, length)
    deviations, is_enough = [], True
    for case in sys.argv[4:] or CASES:
        state, visits = exchange(program, folder, text, case, LENGTH.get(case, 1) * length)
        print(f"{case}: {visits} visits of replicas to C7ax")
        is_enough &= visits >= FEWEST_VISITS
        for name, values, members in observables(*state):
            (other, other_error, other_count), count = reference[name], np.count_nonzero(members)
            if min(count, other_count) < FEWEST_FRAMES:
                print(f"  {name}: {count} frames by exchange, {other_count} by umbrella sampling: not compared")
                continue
            mean, error = values[members].mean(), standard_error(values[members])
            if name.startswith("population") and visits:
                error = max(error, mean * np.sqrt(2 / visits))
            off = (mean - other) / np.hypot(error, other_error)
            deviations.append(off)
            print(f"  {name}: {mean:.4f} +- {error:.4f} by exchange, {other:.4f} +- {other_error:.4f} by umbrella sampling, off by {off:+.1f}")
    worst, limit = max(map(abs, deviations)), bar(len(deviations))
    print(f"largest of {len(deviations)} deviations: {worst:.2f} standard errors; bar {limit:.2f}")
    if not is_enough:
        print(f"fewer than {FEWEST_VISITS} visits in a case: the runs are too short")
    return int(worst > limit or not is_enough)


if __name__ == "__main__":
    sys.exit(main())
