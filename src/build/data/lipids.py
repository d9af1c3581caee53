#!/usr/bin/env python3
"""Makes `lipids/*.txt.xz`, the equilibrated patches of bilayers from which membranes are built.

The patches are those of `Modeller.addMembrane` of OpenMM (folder `openmm/app/data`), without their water: 64 lipids in
each leaflet. The patch of DPPC is left out, because its area of 0.50 nm² per lipid is that of a gel.

A file is text. The first line has the edges of the patch along x and y in nm, the number of atoms of a lipid, and the
number of lipids. A line for each atom has its name, its atomic number, and the number of the atom that it is bonded
to, which is on an earlier line (the first atom has -1); a lipid has no rings, so these are all bonds. A line for each
lipid has x, y, z of the first atom, then of each other atom the difference from the atom that it is bonded to, in
units of 0.001 nm. The phosphorus atoms are in the patch along x and y, and their mean z is 0.

The lipids have the configuration R at C2 of the glycerol. One of POPC has the other configuration in OpenMM's file; its
C2 and the hydrogen of C2 are reflected through the plane of the three heavy neighbours of C2.

Usage: lipids.py   (needs openmm and numpy; writes into the folder of this script)
"""

import lzma
import pathlib

import numpy
from openmm import app, unit

LIPIDS = ["POPC", "POPE", "DLPC", "DLPE", "DMPC", "DOPC"]
UNIT = 1e-3  # nm
WATER = "HOH"
# The triple product of the directions from C2 to these neighbours is negative for the configuration R: O21 ranks
# before C1, whose oxygen is bonded to phosphorus, and C1 before C3.
CENTER, NEIGHBOURS, HYDROGEN = "C2", ["C1", "C3", "O21"], "HS"


def tree(atoms, bonds):
    """Atoms in the order of the file, each with its parent in the tree of bonds, starting from the first atom."""
    partners = {atom: [] for atom in range(len(atoms))}
    for a, b in bonds:
        partners[a].append(b)
        partners[b].append(a)
    assert len(bonds) == len(atoms) - 1, "a lipid has rings"
    found, pending = [], [(0, -1)]
    while pending:
        atom, parent = pending.pop()
        found.append((atom, parent))
        children = [other for other in partners[atom] if other != parent]
        # children are taken from the end of the list: hydrogens first, then heavy atoms in the order of OpenMM's file
        children.sort(key=lambda other: (atoms[other].element.atomic_number == 1, -other))
        pending.extend((child, atom) for child in children)
    assert len(found) == len(atoms), "a lipid has several parts"
    return found


def handedness(sites, names):
    """Triple products of the directions from C2 to its heavy neighbours, of all lipids."""
    arms = [sites[:, names.index(name)] - sites[:, names.index(CENTER)] for name in NEIGHBOURS]
    return numpy.einsum("ij,ij->i", arms[0], numpy.cross(arms[1], arms[2]))


def mend(sites, names):
    """Gives all lipids the configuration R; returns how many had the other one."""
    wrong = numpy.flatnonzero(handedness(sites, names) > 0)
    for lipid in wrong:
        first, second, third = (sites[lipid, names.index(name)] for name in NEIGHBOURS)
        normal = numpy.cross(second - first, third - first)
        normal /= numpy.linalg.norm(normal)
        for name in (CENTER, HYDROGEN):
            atom = sites[lipid, names.index(name)]
            atom -= 2 * normal * numpy.dot(atom - first, normal)
    assert (handedness(sites, names) < 0).all()
    return len(wrong)


def pack(lipid, folder):
    patch = app.PDBFile(str(pathlib.Path(app.__file__).parent / "data" / f"{lipid}.pdb"))
    positions = patch.getPositions(asNumpy=True).value_in_unit(unit.nanometer)
    edges = numpy.array(patch.topology.getUnitCellDimensions().value_in_unit(unit.nanometer))
    residues = [residue for residue in patch.topology.residues() if residue.name != WATER]
    atoms = list(residues[0].atoms())
    names = [atom.name for atom in atoms]
    assert all([atom.name for atom in residue.atoms()] == names for residue in residues)
    sites = numpy.array([[positions[atom.index] for atom in residue.atoms()] for residue in residues])
    mended = mend(sites, names)
    own = {atom.index: number for number, atom in enumerate(atoms)}
    bonds = [[own[end.index] for end in bond] for bond in patch.topology.bonds() if bond[0].residue is residues[0]]
    heads = sites[:, names.index("P")]
    sites[..., 2] -= heads[:, 2].mean()
    sites[..., :2] -= (edges[:2] * numpy.floor(heads[:, :2] / edges[:2]))[:, None]
    order = tree(atoms, bonds)
    line_of = {atom: line for line, (atom, _) in enumerate(order)}
    lines = [f"{edges[0]:.4f} {edges[1]:.4f} {len(atoms)} {len(residues)}"]
    for atom, parent in order:
        lines.append(f"{names[atom]} {atoms[atom].element.atomic_number} {line_of.get(parent, -1)}")
    numbers = numpy.rint(sites / UNIT).astype(int)
    for one in numbers:
        steps = [one[atom] - (one[parent] if parent >= 0 else 0) for atom, parent in order]
        lines.append(" ".join(str(value) for value in numpy.ravel(steps)))
    text = "\n".join(lines) + "\n"
    packed = lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)
    (folder / f"{lipid}.txt.xz").write_bytes(packed)
    area = edges[0] * edges[1] * 2 / len(residues)
    print(f"{lipid} {len(residues)} lipids, {area:.4f} nm² each, {mended} reflected, {len(packed)} bytes")


def main():
    folder = pathlib.Path(__file__).with_name("lipids")
    folder.mkdir(exist_ok=True)
    for lipid in LIPIDS:
        pack(lipid, folder)


if __name__ == "__main__":
    main()
