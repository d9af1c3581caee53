"""Builds the test systems of the parent folder; see its README. usage: build.py [NAME...]"""

import os
import sys

import numpy as np
import openmm as mm
import parmed
from openmm import app
from parmed.amber import AmberParm, ChamberParm

import reference
from common import HERE, NM, SEED, leap_water, relaxed, solvated, structure, write, write_gromacs
from peptide import peptide

FF14SB = ("amber14/protein.ff14SB.xml", "amber14/tip3p.xml")
FF19SB = ("amber19/protein.ff19SB.xml", "amber19/tip3p.xml")
CHARMM = ("charmm36.xml", "charmm36/water.xml")
SIDE = 2.0  # nm, edge of the small boxes: more than twice the cutoff
# lattice constant in nm. If opposite faces are less than three cutoffs apart (here 2.78 nm, with a cutoff of 0.9 nm),
# the neighbour list of OpenMM 8.6.1's Reference platform misses pairs in a triclinic cell
OCTAHEDRON = 3.4


def cube(edge=SIDE):
    """Solvent options of a cubic box without ions."""
    return {"boxSize": mm.Vec3(edge, edge, edge) * NM, "neutralize": False}


def amber(files, residues, picoseconds=1.0, water=True, **box):
    """An AMBER prmtop of a capped peptide and water."""
    forcefield = app.ForceField(*files)
    start = peptide(residues) if residues else (app.Topology(), [] * NM)
    modeller = solvated(forcefield, *start, **box)
    state = relaxed(forcefield, modeller, picoseconds)
    made = structure(forcefield, modeller.topology, state)
    return AmberParm.from_structure(leap_water(made) if water else made)


def vacuum():
    """A peptide of five residues without a cell."""
    return amber(FF14SB, ["ALA", "SER", "ASP", "LYS", "GLY"])


def ff19sb():
    """Residue-specific CMAPs in the AMBER spelling."""
    return amber(FF19SB, ["ALA", "SER", "GLY"], **cube(2.2))


def charged():
    """One aspartate, no counter-ion: net charge -1."""
    return amber(FF14SB, ["ASP"], **cube())


def water():
    """TIP3P."""
    return amber(FF14SB, [], picoseconds=2.0, **cube())


def nbfix():
    """Off-diagonal Lennard-Jones entries that no rule gives, and 1-4 scales that differ from torsion to torsion."""
    parm = amber(FF14SB, ["LYS"], **cube())
    names = {a.name: a for a in parm.atoms if a.residue.name in ("LYS", "HOH")}
    for one, two, rmin, epsilon in (("NZ", "O", 3.3, 0.21), ("HZ1", "O", 2.4, 0.03), ("CB", "CD", 3.9, 0.08)):
        masks = [f"@{names[x].name}&:{names[x].residue.name}" for x in (one, two)]
        parmed.tools.changeLJPair(parm, masks[0] if one != "O" else ":HOH@O", ":HOH@O" if two == "O" else masks[1],
                                  rmin, epsilon).execute()
    for i, kind in enumerate(parm.dihedral_types):
        if kind.scee:
            kind.scee, kind.scnb = (1.2, 2.0, 1.0, 1.35)[i % 4], (2.0, 1.0, 1.2, 1.7)[i % 4]
    parm.remake_parm()
    return parm


OLD_LACKS = ("ATOMIC_NUMBER", "SCEE_SCALE_FACTOR", "SCNB_SCALE_FACTOR", "IPOL", "RADIUS_SET", "RADII", "SCREEN")


def octahedron():
    """Truncated octahedron in a prmtop of the old style, with a stale box of its own."""
    edge, root = OCTAHEDRON, np.sqrt(2.0)
    vectors = [mm.Vec3(1, 0, 0), mm.Vec3(1 / 3, 2 * root / 3, 0), mm.Vec3(-1 / 3, root / 3, root / np.sqrt(3.0))]
    parm = amber(FF14SB, ["ALA"], boxVectors=tuple(edge * v * NM for v in vectors), neutralize=False)
    # OpenMM's reduced vectors and AMBER's three angles of 109.47° span the same lattice after a rotation by 180° about
    # y
    turn = np.array([-1.0, 1.0, -1.0])
    parm.coordinates = parm.coordinates * turn
    parm.velocities = parm.velocities * turn
    angle = np.degrees(np.arccos(-1.0 / 3.0))
    parm.box = [parm.box[0]] * 3 + [angle] * 3
    parm.remake_parm()
    for flag in OLD_LACKS:
        parm.delete_flag(flag)
    parm.parm_data["BOX_DIMENSIONS"] = [angle] + [parm.box[0] + 2.5] * 3
    return parm


def chamber():
    """CHARMM36: Urey-Bradley, harmonic impropers, CMAP, 1-4 table of its own."""
    forcefield = app.ForceField(*CHARMM)
    modeller = solvated(forcefield, *peptide(["ALA", "ALA", "GLY"], capped=False), **cube(2.2))
    state = relaxed(forcefield, modeller, 1.0)
    made = structure(forcefield, modeller.topology, state, remove=(mm.CustomNonbondedForce, mm.CustomBondForce))
    charmm_lennard_jones(forcefield, modeller.topology, made)
    for kind in made.dihedral_types:
        kind.scee = kind.scnb = 1.0
    return ChamberParm.from_structure(leap_water(made, zero_hh=True))


def charmm_lennard_jones(forcefield, topology, made):
    """σ and ε, and those of 1-4 pairs, from the force field's own generator."""
    generator = next(g for g in forcefield.getGenerators() if type(g).__name__ == "LennardJonesGenerator")
    data = app.ForceField._SystemData(topology)
    forcefield._matchAllResiduesToTemplates(data, topology, {}, False)
    kinds = {}
    for atom, target in zip(topology.atoms(), made.atoms):
        name = data.atomType[atom]
        if name not in kinds:
            p = generator.ljTypes.paramsForType[name] | generator.ljTypes.extraParamsForType[name]
            radius = [float(p.get(k, p["sigma"])) * 10.0 * 2.0 ** (1 / 6) / 2.0 for k in ("sigma", "sigma14")]
            depth = [float(p.get(k, p["epsilon"])) / 4.184 for k in ("epsilon", "epsilon14")]
            kind = parmed.AtomType(name, None, target.mass, target.atomic_number)
            kind.set_lj_params(depth[0], radius[0], depth[1], radius[1])
            kinds[name] = kind
        target.atom_type, target.type = kinds[name], name
    del made.adjusts[:]
    del made.adjust_types[:]


def tip4p():
    """A virtual site M on each molecule."""
    return with_sites("amber14/tip4pew.xml", "tip4pew", 0.125)


def opc():
    """A virtual site on each molecule at a distance of its own."""
    return with_sites("amber14/opc.xml", "tip4pew", 0.1593983369)


def opc3():
    """Three sites: OPC3."""
    return amber(("amber14/opc3.xml",), [], picoseconds=2.0, **cube())


def tip5p():
    """Two virtual sites on each molecule, out of its plane."""
    return with_sites("tip5p.xml", "tip5p", 0.7)


def with_sites(file, model, length):
    """Water whose virtual sites are bonded to the oxygen over `length` (Å), as LEaP writes them."""
    forcefield = app.ForceField(file)
    modeller = app.Modeller(app.Topology(), [] * NM)
    modeller.addSolvent(forcefield, model=model, **cube())
    state = relaxed(forcefield, modeller, 1.0)
    made = structure(forcefield, modeller.topology, state)
    leap_water(made)
    kind = parmed.BondType(553.0, length)
    made.bond_types.append(kind)
    for residue in made.residues:
        oxygen, sites = residue.atoms[0], residue.atoms[3:]
        for number, site in enumerate(sites):
            site.name, site.type = "EPW" if len(sites) == 1 else f"EP{number + 1}", "EP"
            site.atom_type.name = "EP"
            made.bonds.append(parmed.Bond(oxygen, site, type=kind))
    made.bond_types.claim()
    # ParmEd 4.3 counts a virtual site twice if the file has its bond, so that its molecules are replaced: each residue
    # is one molecule
    parmed.utils.tag_molecules = tag_residues
    return AmberParm.from_structure(made)


def tag_residues(made):
    """Atom indices of every residue; marks the atoms with their molecule's number as ParmEd expects."""
    for atom in made.atoms:
        atom.marked = atom.residue.idx + 1
    return [{a.idx for a in r.atoms} for r in made.residues]


def atoms_only(names, points, edge, kinds):
    """A structure of single atoms: kinds[name] = (element, mass, charge, rmin/2 in Å, ε in kcal/mol)."""
    made = parmed.Structure()
    types = {}
    for name, (number, mass, charge, radius, depth) in kinds.items():
        types[name] = parmed.AtomType(name, None, mass, number)
        types[name].set_lj_params(depth, radius)
    for i, name in enumerate(names):
        number, mass, charge = kinds[name][:3]
        atom = parmed.Atom(atomic_number=number, name=name, type=name, mass=mass, charge=charge)
        atom.atom_type = types[name]
        made.add_atom(atom, name, i + 1)
    made.coordinates, made.box = np.asarray(points) * 10.0, [edge * 10.0] * 3 + [90.0] * 3
    return AmberParm.from_structure(made)


def salt(shift=0.0):
    """4×4×4 cells of rock salt (a = 0.564 nm); Joung and Cheatham's ions for TIP3P; every atom moved at random."""
    n, half = 8, 0.282
    sites = np.array([(x, y, z) for x in range(n) for y in range(n) for z in range(n)])
    names = ["Na+" if s.sum() % 2 == 0 else "Cl-" for s in sites]
    moves = np.random.default_rng(SEED).uniform(-shift, shift, sites.shape)
    kinds = {"Na+": (11, 22.99, 1.0, 1.369, 0.0874393), "Cl-": (17, 35.45, -1.0, 2.513, 0.0355910)}
    return atoms_only(names, sites * half + moves, n * half, kinds)


def argon():
    """Liquid-like argon (σ = 0.3405 nm, ε/k = 119.8 K) at 1.37 g/cm³: a shaken lattice of 8×8×8."""
    n, spacing = 8, 0.365
    sites = np.array([(x, y, z) for x in range(n) for y in range(n) for z in range(n)]) * spacing
    moves = np.random.default_rng(SEED).normal(0.0, 0.015, sites.shape)
    kinds = {"Ar": (18, 39.948, 0.0, 3.405 * 2.0 ** (1 / 6) / 2.0, 0.238065)}
    return atoms_only(["Ar"] * len(sites), sites + moves, n * spacing, kinds)


SYSTEMS = {
    "peptide-vacuum": vacuum,
    "peptide-ff19sb": ff19sb,
    "peptide-charmm36": chamber,
    "peptide-nbfix": nbfix,
    "peptide-charged": charged,
    "octahedron": octahedron,
    "water": water,
    "tip4pew": tip4p,
    "tip5p": tip5p,
    "opc": opc,
    "opc3": opc3,
    "salt-crystal": salt,
    "salt-displaced": lambda: salt(0.02),
    "argon": argon,
}

if __name__ == "__main__":
    for system in sys.argv[1:] or SYSTEMS:
        target = os.path.join(HERE, "..", system)
        parm = SYSTEMS[system]()
        write(parm, target, system)
        if system == "peptide-charged":
            write_gromacs(parm, target, system)
        reference.main(target)
