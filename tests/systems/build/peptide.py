"""Peptides from internal coordinates: capped by ACE and NME, or with charged ends."""

import math

import numpy as np
from openmm import app, unit

# bond lengths in nm and angles in degrees of the peptide unit (Engh and Huber 1991, rounded)
N_CA, CA_C, C_N, C_O = 0.146, 0.152, 0.133, 0.123
N_CA_C, CA_C_N, C_N_CA, CA_C_O = 111.0, 116.5, 121.5, 120.5
TETRAHEDRAL, SIDE_BOND = 110.0, 0.153
# side chain atoms: name, element, the three atoms before it, bond (nm), angle, torsion (degrees)
SIDE = {
    "GLY": [],
    "ALA": [("CB", "C", ("C", "N", "CA"), SIDE_BOND, TETRAHEDRAL, -122.5)],
}
SIDE["SER"] = SIDE["ALA"] + [("OG", "O", ("N", "CA", "CB"), 0.142, TETRAHEDRAL, 60.0)]
SIDE["ASP"] = SIDE["ALA"] + [
    ("CG", "C", ("N", "CA", "CB"), 0.152, 113.0, -65.0),
    ("OD1", "O", ("CA", "CB", "CG"), 0.125, 118.5, -10.0),
    ("OD2", "O", ("CA", "CB", "CG"), 0.125, 118.5, 170.0),
]
SIDE["LYS"] = SIDE["ALA"] + [
    ("CG", "C", ("N", "CA", "CB"), 0.152, 113.0, -65.0),
    ("CD", "C", ("CA", "CB", "CG"), 0.152, 111.0, 180.0),
    ("CE", "C", ("CB", "CG", "CD"), 0.152, 111.0, 180.0),
    ("NZ", "N", ("CG", "CD", "CE"), 0.149, 111.0, 180.0),
]


def place(a, b, c, length, angle, torsion):
    """The point d with |cd| = length, angle bcd and torsion abcd (degrees)."""
    angle, torsion = math.radians(angle), math.radians(torsion)
    along = (c - b) / np.linalg.norm(c - b)
    normal = np.cross(b - a, along)
    normal /= np.linalg.norm(normal)
    aside = np.cross(normal, along)
    return c + length * (
        -math.cos(angle) * along
        + math.sin(angle) * math.cos(torsion) * aside
        + math.sin(angle) * math.sin(torsion) * normal
    )


def peptide(residues, capped=True, phi=-70.0, psi=-20.0):
    """Topology and heavy-atom positions (nm) of ACE-residues-NME, or of the zwitterion."""
    topology = app.Topology()
    chain = topology.addChain("A")
    points = []

    def put(residue, name, element, point):
        topology.addAtom(name, app.Element.getBySymbol(element), residue)
        points.append(point)
        return point

    side, before, carbonyl = np.array([0.0, 0.1, 0.0]), np.zeros(3), np.array([0.152, 0.0, 0.0])
    nitrogen = place(side, before, carbonyl, C_N, CA_C_N, 180.0)
    if capped:
        cap = topology.addResidue("ACE", chain)
        put(cap, "CH3", "C", before)
        put(cap, "C", "C", carbonyl)
        put(cap, "O", "O", place(side, before, carbonyl, C_O, CA_C_O, 0.0))
    for name in residues:
        residue = topology.addResidue(name, chain)
        alpha = place(before, carbonyl, nitrogen, N_CA, C_N_CA, 180.0)
        c = place(carbonyl, nitrogen, alpha, CA_C, N_CA_C, phi)
        atoms = {"N": nitrogen, "CA": alpha, "C": c}
        put(residue, "N", "N", nitrogen)
        put(residue, "CA", "C", alpha)
        for atom, element, frame, length, angle, torsion in SIDE[name]:
            atoms[atom] = put(residue, atom, element, place(*(atoms[x] for x in frame), length, angle, torsion))
        put(residue, "C", "C", c)
        put(residue, "O", "O", place(nitrogen, alpha, c, C_O, CA_C_O, psi + 180.0))
        nitrogen = place(nitrogen, alpha, c, C_N, CA_C_N, psi)
        before, carbonyl = alpha, c
    if capped:
        cap = topology.addResidue("NME", chain)
        put(cap, "N", "N", nitrogen)
        put(cap, "C", "C", place(before, carbonyl, nitrogen, N_CA, C_N_CA, 180.0))
    else:  # the second carboxylate oxygen takes the place of the next nitrogen
        put(residue, "OXT", "O", nitrogen)
    topology.createStandardBonds()
    return topology, np.array(points) * unit.nanometer
