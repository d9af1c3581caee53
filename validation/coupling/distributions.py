#!/usr/bin/env python3
"""Kinetic energies of rigid water under a thermostat: `physical_validation` and the two kinds of motion.

  distributions.py TEMPERATURE FOLDER...     output folders of md with velocities in trajectory.h5md

Of the velocities of every frame, which are those of half steps and have the distribution of Maxwell and Boltzmann exactly at
any time step: mean and width of the kinetic energy of all atoms against the canonical ones in standard errors, and the whole
distribution by the test of Kolmogorov and Smirnov (physical_validation: P. T. Merz, M. R. Shirts, PLoS ONE 13, e0202764
(2018), doi:10.1371/journal.pone.0202764), and the temperatures of the motion of molecules and of the motion in them. The same
with a temperature that is 1 % wrong, which must show. The system is N rigid waters. Needs numpy, h5py, physical_validation.
"""

import pathlib
import sys

import h5py
import numpy as np
import physical_validation as pv

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from errors import standard_error  # noqa: E402

SETTLED = 20.0  # ps left out
BOLTZMANN = 8.31446261815324e-3  # kJ/mol/K


def report(folder, wanted, settled, factors):
    """Prints what the velocities of a run say, if its temperature was to be `wanted` times each factor."""
    with h5py.File(f"{folder}/trajectory.h5md") as file:
        group = file["particles/trajectory/velocity"]
        kept = group["time"][:] > settled
        velocities = group["value"][:][kept].astype(float)
        masses = file["particles/trajectory/mass"][:].astype(float)
    frames, atoms, _ = velocities.shape
    waters = atoms // 3
    momenta = (velocities * masses[:, None]).reshape(frames, waters, 3, 3).sum(axis=2)
    molecular = masses.reshape(waters, 3).sum(axis=1)
    total = 0.5 * np.einsum("fad,a->f", velocities**2, masses)
    between = 0.5 * np.einsum("fwd,w->f", momenta**2, 1 / molecular)
    # motion of the whole has M kT in each direction unless the run removes it: then three degrees of freedom of the first kind
    # are gone; until the next removal rounding brings back some 1e-4 of them
    moving = (momenta.sum(axis=1) ** 2).mean() > 0.5 * masses.sum() * BOLTZMANN * wanted
    free = 3 * waters - (0 if moving else 3)
    print(f"{folder}: {frames} frames")
    outer, inner = 2 * between / (free * BOLTZMANN), 2 * (total - between) / (3 * waters * BOLTZMANN)
    for name, temperature in (("molecules", outer), ("in molecules", inner), ("difference", inner - outer)):
        print(f"  {name:13}{temperature.mean():8.2f} ± {standard_error(temperature):.2f} K")
    system = pv.data.SystemData(
        natoms=atoms, nconstraints=3 * waters, ndof_reduction_tra=0 if moving else 3, ndof_reduction_rot=0, mass=masses
    )
    for factor in factors:
        data = pv.data.SimulationData(
            units=pv.data.UnitData.units("GROMACS"),
            ensemble=pv.data.EnsembleData("NVT", natoms=atoms, volume=1.0, temperature=wanted * factor),
            system=system,
            observables=pv.data.ObservableData(kinetic_energy=total, potential_energy=total, total_energy=total),
        )
        mean, width = pv.kinetic_energy.distribution(data, strict=False, verbosity=0, bootstrap_seed=1)
        chance = pv.kinetic_energy.distribution(data, strict=True, verbosity=0)
        print(
            f"  for {wanted * factor:g} K mean off by {mean:.2f} standard errors, width by {width:.2f}; "
            f"Kolmogorov-Smirnov p = {chance:.2g}"
        )


if __name__ == "__main__":
    for output in sys.argv[2:]:
        report(output, float(sys.argv[1]), SETTLED, (1.0, 1.01))
