"""Relaxes a nucleic acid with OpenMM: python relax.py IN.pdb OUT.pdb

Adds hydrogens, minimises the energy of amber14 (OL15) with implicit solvent (GBn2), and writes the heavy atoms.
`dna.pdb` was made of nucleotides 421 to 427 of chain D of the entry 3MHT with OpenMM 8.6.
"""
import sys

from openmm import LangevinIntegrator, Platform
from openmm.app import ForceField, Modeller, NoCutoff, PDBFile, Simulation

TOLERANCE = 1.0  # RMS force, kJ/mol/nm

entry = PDBFile(sys.argv[1])
field = ForceField("amber14-all.xml", "implicit/gbn2.xml")
model = Modeller(entry.topology, entry.positions)
model.addHydrogens(field)
system = field.createSystem(model.topology, nonbondedMethod=NoCutoff)
simulation = Simulation(model.topology, system, LangevinIntegrator(300, 1, 0.001), Platform.getPlatformByName("CPU"))
simulation.context.setPositions(model.positions)
simulation.minimizeEnergy(tolerance=TOLERANCE)
relaxed = Modeller(model.topology, simulation.context.getState(getPositions=True).getPositions())
relaxed.delete([atom for atom in relaxed.topology.atoms() if atom.element.symbol == "H"])
with open(sys.argv[2], "w") as file:
    PDBFile.writeFile(relaxed.topology, relaxed.positions, file, keepIds=True)
