"""Bonds and angles of GROMOS-96 of a random chain in OpenMM's double-precision Reference platform.

Writes ../g96.json: positions (nm), bonds and angles with their parameters (nm, kJ/mol/nm^4; rad, kJ/mol), energies (kJ/mol) and
forces (kJ/mol/nm) of each kind. Needs OpenMM 8.6 and numpy.
"""
import json
from pathlib import Path

import numpy as np
import openmm as mm
from openmm import unit

random = np.random.default_rng(20261122)
ATOMS = 20

positions = [np.zeros(3)]
while len(positions) < ATOMS:
    step = random.normal(size=3)
    positions.append(positions[-1] + 0.14 * step / np.linalg.norm(step))
positions = np.round(np.array(positions), 6)
bonds = [[i, i + 1] for i in range(ATOMS - 1)]
angles = [[i, i + 1, i + 2] for i in range(ATOMS - 2)]
bond_parameters = [[round(random.uniform(0.12, 0.16), 5), round(random.uniform(5e6, 1.5e7))] for _ in bonds]
angle_parameters = [[round(random.uniform(1.5, np.pi), 5), round(random.uniform(90, 700), 2)] for _ in angles]


def evaluate(force):
    system = mm.System()
    for _ in range(ATOMS):
        system.addParticle(12.0)
    system.addForce(force)
    context = mm.Context(system, mm.VerletIntegrator(0.001), mm.Platform.getPlatformByName("Reference"))
    context.setPositions(positions * unit.nanometer)
    state = context.getState(getEnergy=True, getForces=True)
    kj = unit.kilojoule_per_mole
    return {
        "energy": state.getPotentialEnergy().value_in_unit(kj),
        "forces": state.getForces(asNumpy=True).value_in_unit(kj / unit.nanometer).tolist(),
    }


bond = mm.CustomBondForce("0.25*k*(r^2-b^2)^2")
angle = mm.CustomAngleForce("0.5*k*(cos(theta)-cos(theta0))^2")
for force, first in [(bond, "b"), (angle, "theta0")]:
    for name in (first, "k"):
        (force.addPerBondParameter if force is bond else force.addPerAngleParameter)(name)
for atoms, parameters in zip(bonds, bond_parameters):
    bond.addBond(*atoms, parameters)
for atoms, parameters in zip(angles, angle_parameters):
    angle.addAngle(*atoms, parameters)

Path(__file__).parent.with_name("g96.json").write_text(
    json.dumps(
        {
            "positions": positions.tolist(),
            "bonds": [[*atoms, *parameters] for atoms, parameters in zip(bonds, bond_parameters)],
            "angles": [[*atoms, *parameters] for atoms, parameters in zip(angles, angle_parameters)],
            "openmm": {"bonds": evaluate(bond), "angles": evaluate(angle)},
        },
        indent=1,
    )
    + "\n"
)
