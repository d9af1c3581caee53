"""Replica exchange of systems with a known answer: python3 validation/exchange/ideal.py MD FOLDER [STEPS [CASE...]]

Sixteen atoms without interactions: in harmonic wells at four temperatures, and as an ideal gas at three temperatures and pressures.
The potential energy of n harmonic degrees of freedom is Gamma(n/2) kT, the volume of an ideal gas at constant pressure is
Gamma(N+1) kT/P; both distributions give the exchange probability of neighbours. A case is SYSTEM_THERMOSTAT[_BAROSTAT], for
example gas_andersen_c-rescale; without CASE all run. Velocity rescaling has no wells: one factor for all velocities leaves
independent oscillators of one frequency in the directions in which they started.

The program exits with 1 if a deviation exceeds the bar, which one in a hundred runs of a correct program would exceed.
"""

import csv
import json
import math
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from errors import bar, standard_error

ATOMS = 16
SEED = 35  # of the first case
BOLTZMANN = 8.31446261815324e-3  # kJ/mol/K
BAR = 0.0602214076  # kJ/mol/nm^3

TOPOLOGY = f"""[ defaults ]
1 2 no 1.0 1.0
[ atomtypes ]
X 6 20.0 0.0 A 0.3 0.0
[ moleculetype ]
X 0
[ atoms ]
1 X 1 X X 1 0.0 20.0
[ system ]
atoms without interactions
[ molecules ]
X {ATOMS}
"""

COMMON = """[system]
topology = "atoms.top"
coordinates = "atoms.gro"
[forces]
cutoff = "0.3 nm"
electrostatics = "off"
dispersion_correction = false
[run]
seed = SEED
threads = 1
[output]
trajectory = "none"
energies = { every = "25 steps" }
"""

STAGE = """[[stage]]
name = "{name}"
kind = "dynamics"
steps = {steps}
timestep = "20 fs"
{more}
"""

THERMOSTATS = {
    "langevin": 'thermostat = { kind = "langevin", temperature = "300 K", friction = "5 1/ps" }',
    "andersen": 'thermostat = { kind = "andersen", temperature = "300 K", coupling_time = "0.2 ps" }',
    "v-rescale": 'thermostat = { kind = "v-rescale", temperature = "300 K", coupling_time = "0.2 ps" }',
}
SYSTEMS = {
    "wells": {"temperature": ["300 K", "360 K", "432 K", "518 K"]},
    "gas": {"temperature": ["300 K", "330 K", "370 K"], "pressure": ["16 bar", "24 bar", "36 bar"]},
}
WELLS = 'position_restraints = { select = "all", force_constant = "1000 kJ/mol/nm^2" }'
BAROSTATS = {
    "monte-carlo": 'barostat = { kind = "monte-carlo", pressure = "16 bar", every = 5, compressibility = "0.06 1/bar" }',
    # an Euler step of 1/250 of the relaxation time widens the variance of the volume by 1/500; with 2 ps instead of 5
    # ps, one step in a million changed the length of a small cell by more than the tenth that ends a run
    "c-rescale": 'barostat = { kind = "c-rescale", pressure = "16 bar", coupling_time = "5 ps", every = 1, compressibility = "0.06 1/bar" }',
}
CASES = [
    "wells_langevin",
    "wells_andersen",
    *(f"gas_{thermostat}_{barostat}" for barostat in BAROSTATS for thermostat in THERMOSTATS),
]


def settings(case):
    """Keys of a stage, and the lists of the ensemble."""
    system, thermostat, *barostat = case.split("_")
    return "\n".join([THERMOSTATS[thermostat], *([BAROSTATS[kind] for kind in barostat] or [WELLS])]), SYSTEMS[system]


def write(folder, name, steps):
    more, lists = settings(name)
    (folder / "atoms.top").write_text(TOPOLOGY)
    atoms = ["atoms on a lattice", str(ATOMS)]
    for i in range(ATOMS):
        x, y, z = 0.4 + 0.8 * (i % 4), 0.4 + 0.8 * (i // 4), 0.4
        atoms.append(f"{i + 1:5d}{'X':<5}{'X':>5}{i + 1:5d}{x:8.3f}{y:8.3f}{z:8.3f}")
    (folder / "atoms.gro").write_text("\n".join([*atoms, f"{3.5:10.5f}{3.5:10.5f}{3.5:10.5f}"]) + "\n")
    stages = STAGE.format(name="equilibration", steps=2000, more='velocities = "generate"\n' + more)
    stages += STAGE.format(name="production", steps=steps, more=more)
    ensemble = "".join(f"{key} = {json.dumps(values)}\n" for key, values in lists.items())
    text = COMMON.replace("SEED", str(SEED + CASES.index(name))) + stages + '[ensemble]\nexchange = { every = "25 steps" }\n' + ensemble
    (folder / f"{name}.toml").write_text(text)


def exponent(case):
    """n of p(V) ∝ Vⁿ exp(−PV/kT), the number of atoms that the pressure counts.

    Velocity rescaling runs with the motion of the center of mass removed. The pressure from kinetic energies, which stochastic
    cell rescaling couples to, then lacks kT/V; a Monte Carlo move counts all atoms. The other thermostats remove no motion.
    """
    return ATOMS - 1 if "v-rescale_c-rescale" in case else ATOMS


def mean_probability(low, high, shape):
    """Of two Gamma distributions with the rates `low` > `high`: how often neighbours swap."""
    points = 4000
    end = (shape + 12.0 * math.sqrt(shape)) / high
    x = (np.arange(points) + 0.5) * end / points
    density = [np.exp(shape * math.log(b) + (shape - 1) * np.log(x) - b * x - math.lgamma(shape)) for b in (low, high)]
    swap = np.minimum(1.0, np.exp((low - high) * (x[:, None] - x[None, :])))
    return density[0] @ swap @ density[1] * (end / points) ** 2


def column(path, name):
    with open(path) as file:
        rows = csv.DictReader(file)
        return np.array([float(row[name]) for row in rows if row["stage"] == "2"])


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000
    folder.mkdir(parents=True, exist_ok=True)
    deviations = []
    for name in sys.argv[4:] or CASES:
        lists = settings(name)[1]
        write(folder, name, steps)
        out = folder / name
        command = [program, "run", str(folder / f"{name}.toml"), "--output-dir", str(out), "--quiet"]
        subprocess.run(command, check=True)
        subprocess.run([program, "demux", str(out), "--force"], check=True, stdout=subprocess.DEVNULL)
        kelvin = [float(text.split()[0]) for text in lists["temperature"]]
        beta = np.array([1.0 / (BOLTZMANN * value) for value in kelvin])
        if name.startswith("wells"):
            rates, shape, what = beta, 1.5 * ATOMS, "potential (kJ/mol)"
        else:
            pressure = [float(text.split()[0]) * BAR for text in lists["pressure"]]
            rates, shape, what = beta * pressure, exponent(name) + 1.0, "volume (nm^3)"
        for state, rate in enumerate(rates):
            found = column(out / f"state-{state + 1}" / "energies.csv", what) * rate
            for kind, values, expected in [
                ("mean", found, shape),
                ("variance", (found - shape) ** 2, shape),
                ("of the lowest tenth", found < quantile(shape), 0.1),
            ]:
                values = values.astype(float)
                error = standard_error(values)
                off = (values.mean() - expected) / error
                deviations.append(off)
                print(f"{name} state {state + 1} {kind}: {values.mean():.4f} +- {error:.4f}, exact {expected}, off by {off:+.1f}")
        with open(out / "exchange.csv") as file:
            attempts = list(csv.DictReader(file))
        statistics = json.loads((out / "ensemble.json").read_text())["exchange"]
        for pair, of in enumerate(statistics["pairs"]):
            tried = [row[f"probability of {pair + 1}-{pair + 2}"] for row in attempts]
            values = np.array([float(text) for text in tried if text])
            exact, error = mean_probability(rates[pair], rates[pair + 1], shape), standard_error(values)
            off = (values.mean() - exact) / error
            part = of["accepted"] / of["tried"]
            error_of_part = math.hypot(error, math.sqrt(exact * (1 - exact) / of["tried"]))
            off_part = (part - exact) / error_of_part
            deviations += [off, off_part]
            print(
                f"{name} pair {pair + 1}-{pair + 2}: probability {values.mean():.4f} +- {error:.4f}, exact {exact:.4f}, off by "
                f"{off:+.1f}; accepted {part:.4f}, off by {off_part:+.1f}"
            )
        trips = [walk["round_trips"] for walk in statistics["replicas"]]
        print(f"{name}: {statistics['attempts']} attempts, round trips {trips}")
    worst, limit = max(map(abs, deviations)), bar(len(deviations))
    print(f"largest of {len(deviations)} deviations: {worst:.2f} standard errors; bar {limit:.2f}")
    return int(worst > limit)


def quantile(shape):
    """Below which a tenth of Gamma(shape) is."""
    x = (np.arange(400_000) + 0.5) * (shape + 12.0 * math.sqrt(shape)) / 400_000
    density = np.exp((shape - 1) * np.log(x) - x - math.lgamma(shape))
    return x[np.searchsorted(np.cumsum(density) / density.sum(), 0.1)]


if __name__ == "__main__":
    sys.exit(main())
