#!/usr/bin/env python3
"""Water under every thermostat with every barostat: kinetic energies and the isothermal-isobaric ensemble at two states.

  ensembles.py MD FOLDER [NAME...]      runs the binary MD in FOLDER, one after the other, and checks; all without NAME,
                                        which is THERMOSTAT_BAROSTAT[_METHOD], for example langevin_monte-carlo or
                                        v-rescale_c-rescale_lj-pme

Of each pair of runs `distributions.py` has the kinetic energies, and physical_validation the slopes of
ln p₁(H, V)/p₂(H, V), which are β₂ − β₁ and β₂P₂ − β₁P₁ whatever the substance (M. R. Shirts, J. Chem. Theory Comput. 9, 909
(2013), doi:10.1021/ct300688p): deviations in standard errors of the slopes. Both again with a temperature that is 1 % wrong, of
every run for the kinetic energies, of the second state for the ensembles, which must show.
Needs numpy, h5py, physical_validation.
"""

import pathlib
import subprocess
import sys

import distributions
import numpy as np
import physical_validation as pv
from canonical import simulation

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import energies  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SETTLED = 40.0  # ps left out
THINNED = 5  # rows of 0.1 ps: a sample that is independent takes 30
WATERS = 258
STATES = ((300.0, 1.0), (308.0, 400.0))  # K, bar
WRONG = 1.01
THERMOSTATS = {
    "v-rescale": 'kind = "v-rescale", coupling_time = "0.5 ps"',
    "langevin": 'kind = "langevin", friction = "2 1/ps"',
    "andersen": 'kind = "andersen", coupling_time = "1 ps"',
    "nose-hoover": 'kind = "nose-hoover", coupling_time = "1 ps"',
}
BAROSTATS = {
    "c-rescale": 'kind = "c-rescale", coupling_time = "1 ps"',
    "monte-carlo": 'kind = "monte-carlo", every = 25',
    "berendsen": 'kind = "berendsen", coupling_time = "1 ps"',
}
# replacements of texts in the template of the input file
METHODS = {
    "impulses": {'"2 fs"\nthermostat = { THERMOSTAT': '"2 fs"\nmultiple_time_steps = { every = 2 }\nthermostat = { THERMOSTAT'},
    "4fs": {'"2 fs"\nthermostat = { THERMOSTAT': '"4 fs"\nthermostat = { THERMOSTAT'},
    "lj-pme": {"[forces]": '[forces]\ndispersion_correction = "pme"'},
}
NAMES = [f"{t}_{b}" for b in ("c-rescale", "monte-carlo") for t in THERMOSTATS] + ["v-rescale_berendsen"]
NAMES += [f"{t}_c-rescale_{m}" for m in METHODS for t in ("v-rescale", "langevin")]


def run(md, folder, name, number):
    """Output folder of the run, which is made or goes on."""
    thermostat, barostat, *methods = name.split("_")
    temperature, pressure = STATES[number - 1]
    text = (HERE / "ensembles.toml").read_text().replace("../..", str(HERE.parent.parent))
    for key, value in (
        *(pair for method in methods for pair in METHODS[method].items()),
        ("NAME", name),
        ("STATE", str(number)),
        ("TEMPERATURE", f"{temperature:g}"),
        ("PRESSURE", f"{pressure:g}"),
        ("THERMOSTAT", THERMOSTATS[thermostat]),
        ("BAROSTAT", BAROSTATS[barostat]),
    ):
        text = text.replace(key, value)
    path = folder / f"{name}-{number}.toml"
    path.write_text(text)
    subprocess.run([md, "run", path], check=True, capture_output=True)
    return folder / f"out-{name}-{number}"


def state(folder, temperature, pressure):
    """For physical_validation."""
    columns = {name: values[::THINNED] for name, values in energies.read(folder / "energies.csv", SETTLED).items()}
    system = np.tile((15.9994, 1.008, 1.008), WATERS), 3 * WATERS, 3
    observed = (columns[name] for name in ("potential", "volume"))
    return simulation(system, temperature, columns["kinetic"], pressure, *observed, interval=0.1 * THINNED)


def ensemble(folders, factor):
    """Deviations of both slopes in their errors; the second temperature is taken for `factor` times what it was."""
    states = (STATES[0], (STATES[1][0] * factor, STATES[1][1]))
    data = [state(folder, *wanted) for folder, wanted in zip(folders, states)]
    return pv.ensemble.check(*data, total_energy=False, verbosity=0, bootstrap_seed=1)


def main(md, folder, names):
    """Prints a block of lines for each name."""
    folder.mkdir(exist_ok=True)
    for name in names:
        folders = [run(md, folder, name, number) for number in (1, 2)]
        for place, (temperature, _) in zip(folders, STATES):
            distributions.report(place, temperature, SETTLED, (1.0, WRONG))
        right, wrong = (", ".join(f"{off:.2f}" for off in ensemble(folders, factor)) for factor in (1.0, WRONG))
        print(f"{name}: slopes off by {right} errors; with the second temperature 1 % wrong {wrong}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:] or NAMES)
