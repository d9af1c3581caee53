#!/usr/bin/env python3
"""A peptide in vacuum and one in water under every thermostat: kinetic energies, and equipartition between groups.

  peptide.py MD FOLDER [NAME...]      runs the binary MD in FOLDER, one after the other, and evaluates; all without NAME,
                                      which is PLACE-THERMOSTAT, for example vacuum-langevin

The groups are those of `distributions.py`: in vacuum the residues, in water solute and solvent. The mean potential energy of all
thermostats has to be the same. Needs numpy, h5py, physical_validation.
"""

import pathlib
import subprocess
import sys

import distributions

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import energies  # noqa: E402
from errors import standard_error  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
TEMPERATURE, WRONG = 300.0, 1.01  # K
THERMOSTATS = {
    "v-rescale": 'kind = "v-rescale", coupling_time = "0.1 ps"',
    "langevin": 'kind = "langevin", friction = "5 1/ps"',
    "andersen": 'kind = "andersen", coupling_time = "0.2 ps"',
    "nose-hoover": 'kind = "nose-hoover", coupling_time = "0.5 ps"',
}


def main(md, folder, names):
    """Prints a block of lines for each name."""
    folder.mkdir(exist_ok=True)
    for name in names:
        place, thermostat = name.split("-", 1)
        text = (HERE / f"peptide-{place}.toml").read_text().replace("../..", str(HERE.parent.parent))
        path = folder / f"{name}.toml"
        path.write_text(text.replace("NAME", thermostat).replace("THERMOSTAT", THERMOSTATS[thermostat]))
        subprocess.run([md, "run", path], check=True, capture_output=True)
        output = folder / f"out-{name}"
        distributions.report(output, TEMPERATURE, distributions.SETTLED, (1.0, WRONG))
        columns = energies.read(output / "energies.csv", distributions.SETTLED)
        potential, conserved = columns["potential"], columns["conserved"]
        slope = (conserved[-1] - conserved[0]) / (columns["time"][-1] - columns["time"][0])
        print(f"  potential energy {potential.mean():.2f} ± {standard_error(potential):.2f} kJ/mol", end="; ")
        print(f"drift {slope:+.5f} kJ/mol/ps", flush=True)


if __name__ == "__main__":
    every = [f"{place}-{thermostat}" for place in ("vacuum", "water") for thermostat in THERMOSTATS]
    main(sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:] or every)
