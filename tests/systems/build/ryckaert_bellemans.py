"""Ryckaert-Bellemans and Fourier torsions of random chains in OpenMM's double-precision Reference platform.

Writes ../ryckaert-bellemans.json: positions (nm), torsions with their coefficients (kJ/mol), Fourier torsions as sums of
periodic ones, energies (kJ/mol) and forces (kJ/mol/nm). Needs OpenMM 8.6 and numpy.
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
quadruples = [[i, i + 1, i + 2, i + 3] for i in range(ATOMS - 3)]
coefficients = np.round(random.uniform(-20, 20, (len(quadruples), 6)), 4)
fourier = np.round(random.uniform(-8, 8, (len(quadruples), 4)), 4)


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


rb = mm.RBTorsionForce()
for atoms, c in zip(quadruples, coefficients):
    rb.addTorsion(*atoms, *c)
periodic = mm.PeriodicTorsionForce()
for atoms, f in zip(quadruples, fourier):
    for n, strength in enumerate(f, start=1):
        periodic.addTorsion(*atoms, n, 0.0 if n % 2 else np.pi, 0.5 * strength)

Path(__file__).parent.with_name("ryckaert-bellemans.json").write_text(
    json.dumps(
        {
            "positions": positions.tolist(),
            "atoms": quadruples,
            "coefficients": coefficients.tolist(),
            "fourier": fourier.tolist(),
            "openmm": {"ryckaert_bellemans": evaluate(rb), "fourier": evaluate(periodic)},
        },
        indent=1,
    )
    + "\n"
)
