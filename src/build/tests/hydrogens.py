#!/usr/bin/env python3
"""Reference for the positions of hydrogens: python3 hydrogens.py STRUCTURE.pdb golden/hydrogens.json.xz

Removes the hydrogens of the protein in a PDB file and adds them with OpenMM's Modeller (force field ff14SB, heavy atoms fixed,
hydrogens minimised, pH 7). Writes names, residues, bonds, positions (nm) and Modeller's variants. The file in golden is that of
`openmm/app/data/test.pdb` of the openmm package.
"""

import json
import lzma
import sys

from openmm import unit
from openmm.app import ForceField, Modeller, PDBFile


def main(source, target):
    pdb = PDBFile(source)
    model = Modeller(pdb.topology, pdb.positions)
    standard = {"ALA", "ARG", "ASN", "ASP", "CYS", "GLN", "GLU", "GLY", "HIS", "ILE", "LEU", "LYS", "MET", "PHE", "PRO", "SER"}
    standard |= {"THR", "TRP", "TYR", "VAL"}
    others = [residue for residue in model.topology.residues() if residue.name not in standard]
    model.delete(others + [atom for atom in model.topology.atoms() if atom.element.symbol == "H"])
    variants = model.addHydrogens(ForceField("amber14/protein.ff14SB.xml"), pH=7.0)
    atoms = list(model.topology.atoms())
    positions = model.positions.value_in_unit(unit.nanometer)
    content = {
        "residues": [residue.name for residue in model.topology.residues()],
        "atoms": [[atom.name, atom.element.atomic_number, atom.residue.index] for atom in atoms],
        "bonds": [[bond[0].index, bond[1].index] for bond in model.topology.bonds()],
        "positions": [[round(x, 5) for x in position] for position in positions],
        "variants": variants,
    }
    with lzma.open(target, "wt", preset=9) as file:
        json.dump(content, file, separators=(",", ":"))


if __name__ == "__main__":
    main(*sys.argv[1:])
