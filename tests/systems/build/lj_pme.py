"""Lennard-Jones interactions by LJ-PME in OpenMM's double-precision Reference platform, without charges and bonded terms.

Writes ../NAME/lj-pme.json (kJ/mol) and ../NAME/forces_lj-pme.npy (kJ/mol/nm). OpenMM's potential is shifted to zero at the
cutoff; its mesh takes geometric means of c6, the pairs within the cutoff those of Lorentz and Berthelot.

usage: lj_pme.py
"""

import json
import os

import numpy as np
import openmm as mm
import reference
from openmm import app, unit

HERE = os.path.dirname(os.path.abspath(__file__))
CUTOFF, BETA, SPACING = 0.9, 3.6, 0.11  # nm, 1/nm, nm
SYSTEMS = ["argon", "peptide-charged", "peptide-charmm36", "octahedron"]


def evaluate(name):
    """The record of one system, and its forces."""
    folder = os.path.join(HERE, "..", name)
    inpcrd = app.AmberInpcrdFile(reference.unpacked(folder, ".rst7"))
    prmtop = app.AmberPrmtopFile(reference.unpacked(folder, ".prmtop"), periodicBoxVectors=inpcrd.boxVectors)
    box = [[float(x) for x in v.value_in_unit(unit.nanometer)] for v in inpcrd.boxVectors]
    whole = prmtop.createSystem(nonbondedMethod=app.PME, constraints=None, rigidWater=False, removeCMMotion=False)
    force = next(f for f in whole.getForces() if isinstance(f, mm.NonbondedForce))
    lj = mm.XmlSerializer.clone(force)
    reference.keep(lj, charge=False)
    lj.setNonbondedMethod(mm.NonbondedForce.LJPME)
    lj.setCutoffDistance(CUTOFF)
    grid = [2 * int(np.ceil(box[i][i] / SPACING / 2)) for i in range(3)]
    lj.setLJPMEParameters(BETA, *grid)
    lj.setPMEParameters(3.0, *grid)
    system = mm.System()
    for i in range(whole.getNumParticles()):
        system.addParticle(whole.getParticleMass(i))
    system.setDefaultPeriodicBoxVectors(*box)
    system.addForce(lj)
    made = reference.context(system, inpcrd.positions, box)
    used = lj.getLJPMEParametersInContext(made)
    state = made.getState(getEnergy=True, getForces=True)
    energy = state.getPotentialEnergy().value_in_unit(reference.KJ)
    record = {"openmm": mm.version.short_version, "cutoff": CUTOFF, "alpha": used[0], "grid": used[1:], "order": 5}
    record["lj"] = energy
    return record, state.getForces(asNumpy=True).value_in_unit(reference.KJ / reference.NM)


def main(name):
    """Writes the files of one system."""
    folder = os.path.join(HERE, "..", name)
    record, forces = evaluate(name)
    np.save(os.path.join(folder, "forces_lj-pme.npy"), forces)
    with open(os.path.join(folder, "lj-pme.json"), "w") as file:
        json.dump(record, file, indent=1)
        file.write("\n")
    print(name, record)


if __name__ == "__main__":
    for system_name in SYSTEMS:
        main(system_name)
