"""A system of OpenMM's ForceField with charmm36.xml: python charmm36_forcefield.py

writes ../charmm36-forcefield: a peptide and two ions in water (coordinates of peptide-charmm36) as serialised XML, with
Lennard-Jones interactions as a table of types in a CustomNonbondedForce, the structure, and energies and forces of the
double-precision Reference platform for it.
"""

import json
import lzma
import os
import tempfile

import numpy as np
import openmm as mm
from openmm import app, unit

HERE = os.path.dirname(os.path.abspath(__file__))
CUTOFF, SWITCH, TOLERANCE = 0.9, 0.8, 5e-4
IONS = (("SOD", "Na"), ("CLA", "Cl"))


def unpacked(name, scratch):
    source = os.path.join(HERE, "..", "peptide-charmm36", name + ".xz")
    path = os.path.join(scratch, name)
    with lzma.open(source) as packed, open(path, "wb") as plain:
        plain.write(packed.read())
    return path


def structure(scratch):
    """Two waters become ions, so that special pairs of the force field count."""
    coordinates = app.AmberInpcrdFile(unpacked("peptide-charmm36.rst7", scratch))
    topology = app.AmberPrmtopFile(unpacked("peptide-charmm36.prmtop", scratch)).topology
    topology.setPeriodicBoxVectors(coordinates.boxVectors)
    modeller = app.Modeller(topology, coordinates.positions)
    waters = [residue for residue in modeller.topology.residues() if residue.name == "HOH"][:2]
    places = [modeller.positions[next(water.atoms()).index].value_in_unit(unit.nanometer) for water in waters]
    modeller.delete(waters)
    ions = app.Topology()
    chain = ions.addChain()
    for name, symbol in IONS:
        ions.addAtom(name, app.Element.getBySymbol(symbol), ions.addResidue(name, chain))
    modeller.add(ions, unit.Quantity(places, unit.nanometer))
    return modeller.topology, modeller.positions


def pack(path, text):
    with lzma.open(path, "wb", preset=9 | lzma.PRESET_EXTREME) as packed:
        packed.write(text.encode())


with tempfile.TemporaryDirectory() as scratch:
    pdb = os.path.join(scratch, "start.pdb")
    with open(pdb, "w") as out:
        app.PDBFile.writeFile(*structure(scratch), out, keepIds=True)
    text = open(pdb).read()
    file = app.PDBFile(pdb)
field = app.ForceField("charmm36.xml", "charmm36/water.xml")
system = field.createSystem(
    file.topology, nonbondedMethod=app.PME, nonbondedCutoff=CUTOFF, switchDistance=SWITCH, constraints=None,
    rigidWater=False, ewaldErrorTolerance=TOLERANCE, removeCMMotion=False,
)
folder = os.path.join(HERE, "..", "charmm36-forcefield")
os.makedirs(folder, exist_ok=True)
pack(os.path.join(folder, "system.xml.xz"), mm.XmlSerializer.serialize(system))
pack(os.path.join(folder, "start.pdb.xz"), text)
for group, force in enumerate(system.getForces()):
    force.setForceGroup(group)
context = mm.Context(system, mm.VerletIntegrator(0.001), mm.Platform.getPlatformByName("Reference"))
context.setPositions(file.positions)
energies = {}
for group, force in enumerate(system.getForces()):
    if isinstance(force, mm.NonbondedForce):
        alpha, *grid = force.getPMEParametersInContext(context)
    state = context.getState(getEnergy=True, groups={group})
    energies[force.getName()] = state.getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole)
forces = context.getState(getForces=True).getForces(asNumpy=True)._value
np.save(os.path.join(folder, "forces.npy"), np.asarray(forces, dtype="<f8"))
reference = {"openmm": mm.__version__, "cutoff_nm": CUTOFF, "switch_nm": SWITCH, "alpha_per_nm": alpha, "grid": grid, "kJ/mol": energies}
with open(os.path.join(folder, "ref.json"), "w") as out:
    json.dump(reference, out, indent=1)
    out.write("\n")
