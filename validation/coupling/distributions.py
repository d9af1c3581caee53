#!/usr/bin/env python3
"""Kinetic energies under a thermostat: `physical_validation`, and equipartition between groups of degrees of freedom.

  distributions.py TEMPERATURE FOLDER...     output folders of md with velocities in trajectory.h5md

Of the velocities of every frame, which are those of half steps: mean and width of the kinetic energy against the canonical
ones in standard errors, and the whole distribution by the test of Kolmogorov and Smirnov (physical_validation: P. T. Merz,
M. R. Shirts, PLoS ONE 13, e0202764 (2018), doi:10.1371/journal.pone.0202764); the same with a temperature that is 1 % wrong,
which must show. Then the temperatures of groups: the motion of water molecules and the motion in them; with a solute, solute
and solvent; without a cell, the residues. Waters are rigid, and so are all other bonds with hydrogen.

A group has 3N degrees of freedom, less its constraints, less its share of those of the motion that is removed: 3 m/M of the
translation, m and M the masses of the group and of all, and the trace of I⁻¹ i of the rotation, i and I the tensors of inertia
about the center of mass. Needs numpy, h5py, physical_validation.
"""

import json
import pathlib
import sys

import h5py
import numpy as np
import physical_validation as pv
from canonical import BOLTZMANN, simulation

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from errors import standard_error  # noqa: E402

SETTLED = 20.0  # ps left out
WATERS = {"HOH", "WAT", "SOL", "TIP3"}


def inertia(positions, masses):
    """Tensors about the origin of every frame."""
    squares = np.einsum("a,fai,faj->fij", masses, positions, positions)
    return np.trace(squares, axis1=1, axis2=2)[:, None, None] * np.eye(3) - squares


def read(folder, settled):
    """Velocities, positions (none in a cell), masses, and the residue of each atom as (number, name)."""
    with h5py.File(f"{folder}/trajectory.h5md") as file:
        particles = file["particles/system"]
        kept = particles["velocity/time"][:] > settled
        velocities = particles["velocity/value"][:][kept].astype(float)
        cell = "edges" in particles["box"]
        positions = None if cell else particles["position/value"][:][kept].astype(float)
        masses = particles["mass"][:].astype(float)
        topology = json.loads(file["topology"][0])
    residues = [residue for chain in topology["chains"] for residue in chain["residues"]]
    names = [(number, residue["name"]) for number, residue in enumerate(residues) for _ in residue["atoms"]]
    return velocities, positions, masses, names


def temperatures(folder, wanted, settled):
    """Kinetic energy of all, what physical_validation wants of the system, and temperatures of groups by name."""
    velocities, positions, masses, names = read(folder, settled)
    water = np.array([name in WATERS for _, name in names])
    hydrogens = masses < 1.5
    kinetic = 0.5 * velocities**2 * masses[:, None]
    # the center-of-mass motion has M kT in each direction unless the run removes it; without a cell the run then also
    # removes the rotation. Until the next removal, rounding restores some 1e-4 of it
    momenta = np.einsum("fad,a->fd", velocities, masses)
    moving = (momenta**2).sum(axis=1).mean() > 0.5 * masses.sum() * BOLTZMANN * wanted
    removed = 0 if moving else 3 if positions is None else 6
    constraints = int(water.sum() + hydrogens[~water].sum())
    shares = masses / masses.sum() * min(removed, 3)
    if removed == 6:
        centered = positions - np.einsum("fad,a->fd", positions, masses)[:, None] / masses.sum()
        inverse = np.linalg.inv(inertia(centered, masses))
        shares += [np.einsum("fij,fji->f", inverse, inertia(centered[:, [a]], masses[[a]])).mean() for a in range(len(masses))]

    def group(atoms):
        free = 3 * atoms.sum() - hydrogens[atoms & ~water].sum() - (atoms & water).sum() - shares[atoms].sum()
        return 2 * kinetic[:, atoms].sum(axis=(1, 2)) / (free * BOLTZMANN)

    found = {}
    if water.any():
        moments = (velocities * masses[:, None])[:, water].reshape(len(velocities), -1, 3, 3).sum(axis=2)
        molecular = masses[water].reshape(-1, 3).sum(axis=1)
        between = 0.5 * np.einsum("fwd,w->f", moments**2, 1 / molecular)
        within = kinetic[:, water].sum(axis=(1, 2)) - between
        found["molecules"] = 2 * between / ((3 * len(molecular) - shares[water].sum()) * BOLTZMANN)
        found["in molecules"] = 2 * within / (3 * len(molecular) * BOLTZMANN)
        found["in molecules less molecules"] = found["in molecules"] - found["molecules"]
        if not water.all():
            found["solute"], found["solvent"] = group(~water), group(water)
            found["solute less solvent"] = found["solute"] - found["solvent"]
    else:
        for residue in dict.fromkeys(names):
            found[residue[1]] = group(np.array([name == residue for name in names]))
    return kinetic.sum(axis=(1, 2)), (masses, constraints, removed), found


def report(folder, wanted, settled, factors):
    """Prints what the velocities of a run say, if its temperature was to be `wanted` times each factor."""
    total, system, found = temperatures(folder, wanted, settled)
    print(f"{folder}: {len(total)} frames, {3 * len(system[0]) - system[1] - system[2]} degrees of freedom")
    for name, temperature in found.items():
        print(f"  {name:28}{temperature.mean():8.2f} ± {standard_error(temperature):.2f} K")
    for factor in factors:
        data = simulation(system, wanted * factor, total)
        mean, width = pv.kinetic_energy.distribution(data, strict=False, verbosity=0, bootstrap_seed=1)
        chance = pv.kinetic_energy.distribution(data, strict=True, verbosity=0)
        print(
            f"  for {wanted * factor:g} K mean off by {mean:.2f} standard errors, width by {width:.2f}; "
            f"Kolmogorov-Smirnov p = {chance:.2g}",
            flush=True,
        )


if __name__ == "__main__":
    for output in sys.argv[2:]:
        report(output, float(sys.argv[1]), SETTLED, (1.0, 1.01))
