"""Builds dna/: the duplex d(CGCGAATTCGCG)2 in TIP3P water with sodium and chloride, OL15 (AMBER).

Needs OpenMM 8.6, ParmEd 4.3 and PDBFixer 1.12, whose residue templates give the sugars. Bases are put where ideal B-DNA has
them, backbones are drawn onto them; in water the whole is minimised and run for a picosecond. Afterwards md ran it for 12 ps,
half of them at constant pressure, and `python build_dna.py RESTART` took over the last positions.
"""

import lzma
import os
import sys
import tempfile

import numpy as np
import openmm as mm
import pdbfixer
from openmm import app, unit
from parmed.amber import AmberParm

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "systems", "build"))

import common  # noqa: E402

EDGE = 6.0  # nm, of the truncated octahedron
SEQUENCE = "CGCGAATTCGCG"
RISE, TWIST = 3.38, 36.0  # Å and degrees from base pair to base pair, of B-DNA fibres
CHI = -110.0  # degrees, O4'-C1'-N-C4 or O4'-C1'-N-C2
# bases in the standard reference frame of a pair, Å in its plane (W. K. Olson et al., J. Mol. Biol. 313, 229 (2001))
BASES = {
    "A": {"C1'": (-2.479, 5.346), "N9": (-1.291, 4.498), "C8": (0.024, 4.897), "N7": (0.877, 3.902), "C5": (0.071, 2.771),
          "C6": (0.369, 1.398), "N6": (1.611, 0.909), "N1": (-0.668, 0.532), "C2": (-1.912, 1.023), "N3": (-2.320, 2.290),
          "C4": (-1.267, 3.124)},
    "T": {"C1'": (-2.481, 5.354), "N1": (-1.284, 4.500), "C2": (-1.462, 3.135), "O2": (-2.562, 2.608), "N3": (-0.298, 2.407),
          "C4": (0.994, 2.897), "O4": (1.944, 2.119), "C5": (1.106, 4.338), "C7": (2.466, 4.961), "C6": (-0.024, 5.057)},
    "G": {"C1'": (-2.477, 5.399), "N9": (-1.289, 4.551), "C8": (0.023, 4.962), "N7": (0.870, 3.969), "C5": (0.071, 2.833),
          "C6": (0.424, 1.460), "O6": (1.554, 0.955), "N1": (-0.700, 0.641), "C2": (-1.999, 1.087), "N2": (-2.949, 0.139),
          "N3": (-2.342, 2.364), "C4": (-1.265, 3.177)},
    "C": {"C1'": (-2.477, 5.402), "N1": (-1.285, 4.542), "C2": (-1.472, 3.158), "O2": (-2.628, 2.709), "N3": (-0.391, 2.344),
          "C4": (0.837, 2.868), "N4": (1.875, 2.027), "C5": (1.056, 4.275), "C6": (-0.023, 5.068)},
}
PAIRS = {"A": "T", "T": "A", "G": "C", "C": "G"}
# center, and three neighbours that run clockwise seen with the hydrogen behind: R, S and R
CHIRAL = [("C1'", ("O4'", "N", "C2'")), ("C3'", ("O3'", "C2'", "C4'")), ("C4'", ("O4'", "C3'", "C5'"))]


def template(base):
    path = os.path.join(os.path.dirname(pdbfixer.__file__), "templates", "D" + base + ".pdb")
    pdb = app.PDBFile(path)
    x = pdb.getPositions(asNumpy=True).value_in_unit(unit.angstrom)
    return {a.name: (a.element, x[a.index]) for a in pdb.topology.atoms() if a.element.symbol != "H" and a.name != "OP3"}


def rotation(axis, degrees):
    axis = axis / np.linalg.norm(axis)
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    a = np.radians(degrees)
    return np.eye(3) + np.sin(a) * k + (1 - np.cos(a)) * k @ k


def torsion(a, b, c, d):
    u, v, w = b - a, c - b, d - c
    m, n = np.cross(u, v), np.cross(v, w)
    return np.degrees(np.arctan2(np.linalg.norm(v) * u.dot(n), m.dot(n)))


def nucleotide(base, place):
    """Atoms with positions (Å): the template with its base at its place, the sugar turned to CHI."""
    atoms = template(base)
    names = [name for name in BASES[base] if name in atoms]
    here = np.array([atoms[name][1] for name in names])
    there = np.array([place([*BASES[base][name], 0.0]) for name in names])
    h, t = here.mean(axis=0), there.mean(axis=0)
    u, _, vt = np.linalg.svd((here - h).T @ (there - t))
    turn = u @ np.diag([1, 1, np.sign(np.linalg.det(u @ vt))]) @ vt
    x = {name: (r - h) @ turn + t for name, (_, r) in atoms.items()}
    glycosidic, next_atom = ("N9", "C4") if base in "AG" else ("N1", "C2")
    chi = torsion(x["O4'"], x["C1'"], x[glycosidic], x[next_atom])
    turned = {}
    for sign in (1, -1):
        r = rotation(x["C1'"] - x[glycosidic], sign * (chi - CHI))
        turned = {n: v if n in BASES[base] else x["C1'"] + r @ (v - x["C1'"]) for n, v in x.items()}
        if abs(torsion(turned["O4'"], turned["C1'"], turned[glycosidic], turned[next_atom]) - CHI) < 1e-6:
            break
    return [(name, element, turned[name]) for name, (element, _) in atoms.items()]


def duplex():
    """Topology, positions (nm), and of each base atom its place (nm)."""
    topology, positions, places = app.Topology(), [], {}
    for strand in (1, -1):
        chain = topology.addChain()
        order = range(len(SEQUENCE)) if strand == 1 else reversed(range(len(SEQUENCE)))
        for number, k in enumerate(order):
            base = SEQUENCE[k] if strand == 1 else PAIRS[SEQUENCE[k]]
            turn = rotation(np.array([0.0, 0.0, 1.0]), TWIST * k)
            # the other strand is turned about the x axis of the pair
            place = lambda r, k=k, turn=turn: turn @ (np.array(r) * [1, strand, strand]) + [0, 0, RISE * k]
            residue = topology.addResidue("D" + base, chain, str(number + 1))
            for name, element, r in nucleotide(base, place):
                if number == 0 and name in ("P", "OP1", "OP2"):
                    continue
                atom = topology.addAtom(name, element, residue)
                if name in BASES[base]:
                    places[atom.index] = place([*BASES[base][name], 0.0]) * 0.1
                positions.append(r * 0.1)
    topology.createStandardBonds()
    return topology, np.array(positions), places


def chirality(topology, positions, index):
    """Holds the sugars as they are in the templates, `positions` (nm) of their heavy atoms in order."""
    force = mm.CustomTorsionForce("20000*(1-cos(theta-theta0))")
    force.addPerTorsionParameter("theta0")
    heavy = [a for a in topology.atoms() if a.element.symbol != "H"]
    assert len(heavy) == len(positions)
    place = {(a.residue.index, a.name): r for a, r in zip(heavy, positions)}
    for residue in topology.residues():
        for center, neighbours in CHIRAL:
            names = [center] + [("N9" if (residue.index, "N9") in place else "N1") if n == "N" else n for n in neighbours]
            four = [(residue.index, name) for name in names]
            force.addTorsion(*(index[key] for key in four), [np.radians(torsion(*(place[key] for key in four)))])
    return force


def drawn(system, positions):
    """Replaces bonds that are far too long by a constant force (kJ/mol/nm), which turns no sugar inside out."""
    bonds = next(f for f in system.getForces() if isinstance(f, mm.HarmonicBondForce))
    force = mm.CustomBondForce("2000*abs(r-0.16)")
    for k in range(bonds.getNumBonds()):
        i, j, length, _ = bonds.getBondParameters(k)
        if np.linalg.norm(positions[i] - positions[j]) > 0.25:
            bonds.setBondParameters(k, i, j, length, 0.0)
            force.addBond(i, j)
    return force


def relaxed(forcefield, topology, positions, places):
    """With hydrogens, backbones drawn onto the bases: gently, then with all bonded forces, then with all."""
    modeller = app.Modeller(topology, positions * unit.nanometer)
    modeller.addHydrogens(forcefield)
    heavy = [a for a in topology.atoms()]
    index = {(a.residue.index, a.name): a.index for a in modeller.topology.atoms()}
    for stage, bonded_only in (("draw", True), ("bonded", True), ("all", False)):
        system = forcefield.createSystem(modeller.topology, constraints=None)
        if bonded_only:
            system.removeForce(next(i for i, f in enumerate(system.getForces()) if isinstance(f, mm.NonbondedForce)))
        hold = mm.CustomExternalForce("10000*((x-x0)^2+(y-y0)^2+(z-z0)^2)")
        for name in ("x0", "y0", "z0"):
            hold.addPerParticleParameter(name)
        for atom in heavy:
            if atom.index in places:
                hold.addParticle(index[atom.residue.index, atom.name], places[atom.index])
        system.addForce(hold)
        system.addForce(chirality(modeller.topology, positions, index))
        if stage == "draw":
            system.addForce(drawn(system, np.array(modeller.positions.value_in_unit(unit.nanometer))))
        integrator = mm.LangevinMiddleIntegrator(300.0, 10.0, 0.001)
        integrator.setRandomNumberSeed(1)
        context = mm.Context(system, integrator, mm.Platform.getPlatformByName("CPU"))
        context.setPositions(modeller.positions)
        mm.LocalEnergyMinimizer.minimize(context, 1.0, 3000)
        integrator.step(2000)
        mm.LocalEnergyMinimizer.minimize(context, 1.0, 2000)
        modeller.positions = context.getState(getPositions=True).getPositions()
        print("relaxed to", context.getState(getEnergy=True).getPotentialEnergy())
    return modeller


def check_chirality(modeller):
    """Every sugar must be the one of nature."""
    x = np.array(modeller.positions.value_in_unit(unit.nanometer))
    for residue in modeller.topology.residues():
        atoms = {a.name: x[a.index] for a in residue.atoms()}
        atoms["N"] = atoms["N9"] if "N9" in atoms else atoms["N1"]
        for center, names in CHIRAL:
            a, b, c = (atoms[name] - atoms[center] for name in names)
            if np.dot(a, np.cross(b, c)) > 0.0:
                raise SystemExit(f"{residue.name} {residue.id}: {center} is inverted")


def main():
    dna = app.ForceField("amber14/DNA.OL15.xml", "amber14/tip3p.xml")
    modeller = relaxed(dna, *duplex())
    check_chirality(modeller)
    root = np.sqrt(2.0)
    vectors = [mm.Vec3(1, 0, 0), mm.Vec3(1 / 3, 2 * root / 3, 0), mm.Vec3(-1 / 3, root / 3, root / np.sqrt(3.0))]
    modeller.addSolvent(dna, boxVectors=tuple(EDGE * v * unit.nanometer for v in vectors), ionicStrength=0.1 * unit.molar)
    state = common.relaxed(dna, modeller, 1.0)
    made = common.structure(dna, modeller.topology, state)
    parm = AmberParm.from_structure(common.leap_water(made))
    # OpenMM's reduced vectors and AMBER's three angles of 109.47° span one lattice after half a turn about y
    parm.coordinates = parm.coordinates * np.array([-1.0, 1.0, -1.0])
    parm.velocities = None
    parm.box = [parm.box[0]] * 3 + [np.degrees(np.arccos(-1.0 / 3.0))] * 3
    common.write(parm, os.path.join(HERE, "dna"), "dna")


def finish(restart):
    """Positions and cell of a restart file, the strands beside each other."""
    with lzma.open(os.path.join(HERE, "dna", "dna.prmtop.xz")) as packed, tempfile.NamedTemporaryFile(suffix=".prmtop") as plain:
        plain.write(packed.read())
        plain.flush()
        parm = AmberParm(plain.name, restart)
    positions, edge = parm.coordinates.copy(), parm.box[0]
    # three vectors of the truncated octahedron, as AMBER turns it
    a = np.arccos(-1.0 / 3.0)
    vectors = edge * np.array([[1, 0, 0], [np.cos(a), np.sin(a), 0], [np.cos(a), -np.sqrt(2.0) / 3.0, np.sqrt(2.0 / 3.0)]])
    strands = [[atom.idx for residue in parm.residues[k : k + len(SEQUENCE)] for atom in residue.atoms]
               for k in (0, len(SEQUENCE))]
    centers = [positions[strand].mean(axis=0) for strand in strands]
    images = np.array([[i, j, k] for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)]) @ vectors
    away = np.linalg.norm(centers[1] + images - centers[0], axis=1)
    positions[strands[1]] += images[away.argmin()]
    parm.coordinates, parm.velocities = positions, None
    common.write(parm, os.path.join(HERE, "dna"), "dna")


if __name__ == "__main__":
    finish(sys.argv[1]) if sys.argv[1:] else main()
