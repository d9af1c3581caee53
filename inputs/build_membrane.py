"""Builds membrane/: POPC, water and salt with CHARMM36, as psf, prm and pdb.

Needs OpenMM 8.6 and ParmEd 4.3. A square is cut from the equilibrated patch that OpenMM ships and minimised; the parameters are
those of OpenMM's charmm36.xml, of which the prm file holds the ones that are needed. Afterwards md ran the system for 20 ps at
constant pressure, and `python build_membrane.py RESTART` wrote its last positions to the pdb file.
"""

import lzma
import os
import sys

import numpy as np
import openmm as mm
import parmed
from openmm import app, unit

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "systems", "build"))

from build import charmm_lennard_jones  # noqa: E402
from common import pack, split_urey_bradley  # noqa: E402

FOLDER = os.path.join(HERE, "membrane")
LIPIDS = 20  # in each leaflet
WATER_PER_LIPID = 38
SALT = 5  # pairs of ions: 0.15 mol/l
NAMES = {"HOH": ("TIP3", {"O": "OH2"}), "NA": ("SOD", {"NA": "SOD"}), "CL": ("CLA", {"CL": "CLA"}), "POP": ("POPC", {})}
FORCE_FIELD = ("charmm36.xml", "charmm36/water.xml")


def patch():
    """Lipids of a square of the patch, the nearest waters, salt in place of some: topology and positions (nm)."""
    path = os.path.join(os.path.dirname(app.__file__), "data", "POPC.pdb")
    pdb = app.PDBFile(path)
    x = pdb.getPositions(asNumpy=True).value_in_unit(unit.nanometer)
    box = np.diag(pdb.topology.getPeriodicBoxVectors().value_in_unit(unit.nanometer))
    lipids, waters = [], []
    middle = None
    for residue in pdb.topology.residues():
        atoms = [atom.index for atom in residue.atoms()]
        (waters if residue.name == "HOH" else lipids).append((residue, x[atoms].mean(axis=0)))
    middle = np.mean([center[2] for _, center in lipids])
    # the smallest square at the corner that holds enough lipids of each leaflet, by their centers
    kept = set()
    for side in (-1, 1):
        leaflet = sorted((max(c[0], c[1]), i) for i, (_, c) in enumerate(lipids) if (c[2] - middle) * side > 0)
        kept |= {lipids[i][0] for _, i in leaflet[:LIPIDS]}
    edge = np.sqrt(LIPIDS * box[0] * box[1] / (len(lipids) / 2))
    inside = sorted((max(c[0], c[1]), k) for k, (_, c) in enumerate(waters))
    kept |= {waters[k][0] for _, k in inside[: WATER_PER_LIPID * 2 * LIPIDS]}
    modeller = app.Modeller(pdb.topology, pdb.positions)
    modeller.delete([residue for residue in pdb.topology.residues() if residue not in kept])
    return modeller, edge, box[2]


def salted(modeller):
    """Some waters become ions."""
    rng = np.random.default_rng(5)
    positions = modeller.positions
    waters = [r for r in modeller.topology.residues() if r.name == "HOH"]
    taken = rng.choice(len(waters), 2 * SALT, replace=False)
    ions = app.Topology()
    chain = ions.addChain()
    places = []
    for number, k in enumerate(taken):
        oxygen = next(waters[k].atoms()).index
        places.append(positions[oxygen])
        name, symbol = ("NA", "Na") if number % 2 else ("CL", "Cl")
        ions.addAtom(name, app.Element.getBySymbol(symbol), ions.addResidue(name, chain))
    modeller.delete([waters[k] for k in taken])
    modeller.add(ions, unit.Quantity([p.value_in_unit(unit.nanometer) for p in places], unit.nanometer))
    return modeller


def minimised(forcefield, modeller):
    system = forcefield.createSystem(modeller.topology, nonbondedMethod=app.PME, nonbondedCutoff=1.0, constraints=None,
                                     rigidWater=False, removeCMMotion=False)
    context = mm.Context(system, mm.VerletIntegrator(0.001), mm.Platform.getPlatformByName("CPU"))
    context.setPositions(modeller.positions)
    mm.LocalEnergyMinimizer.minimize(context, 500.0, 300)
    return context.getState(getPositions=True).getPositions(asNumpy=True)


def parameters(forcefield, topology, positions):
    """A ParmEd structure with CHARMM's names and parameters."""
    system = forcefield.createSystem(topology, nonbondedMethod=app.NoCutoff, constraints=None, rigidWater=False,
                                     removeCMMotion=False)
    for i in reversed(range(system.getNumForces())):
        if isinstance(system.getForce(i), (mm.CustomNonbondedForce, mm.CustomBondForce)):
            system.removeForce(i)
    split_urey_bradley(system, topology)
    made = parmed.openmm.load_topology(topology, system, positions.value_in_unit(unit.angstrom))
    charmm_lennard_jones(forcefield, topology, made)
    for kind in made.dihedral_types:
        kind.scee = kind.scnb = 1.0
    for residue in made.residues:
        residue.name, atoms = NAMES[residue.name]
        for atom in residue.atoms:
            atom.name = atoms.get(atom.name, atom.name)
    return made


def with_urey_bradley(path, made):
    """Adds to the angles of the file their Urey-Bradley terms, which ParmEd leaves out."""
    pairs = {frozenset((u.atom1, u.atom2)): u.type for u in made.urey_bradleys}
    found = {}
    for angle in made.angles:
        types = (angle.atom1.type, angle.atom2.type, angle.atom3.type)
        found[min(types, types[::-1])] = pairs.get(frozenset((angle.atom1, angle.atom3)))
    with open(path) as file:
        lines = file.readlines()
    start, end = (next(k for k, line in enumerate(lines) if line.startswith(name)) for name in ("ANGLES", "DIHEDRALS"))
    for k in range(start + 1, end):
        types = tuple(lines[k].split()[:3])
        term = found[min(types, types[::-1])] if len(types) == 3 else None
        if term is not None:
            lines[k] = lines[k].rstrip() + "%9.2f%9.4f\n" % (term.k, term.req)
    return lines


def nbfix(forcefield, used):
    """Lines of the pairs that no combination rule gives."""
    generator = next(g for g in forcefield.getGenerators() if type(g).__name__ == "LennardJonesGenerator")
    rows = ["NBFIX\n"]
    for one in sorted(used):
        for two in sorted(used):
            found = generator.getNBFIX(one, two) if one <= two else None
            if found is not None:
                sigma, epsilon = found
                rows.append("%-6s %-6s %10.6f %10.6f\n" % (one, two, -epsilon / 4.184, sigma * 10.0 * 2.0 ** (1 / 6)))
    return rows


def main():
    forcefield = app.ForceField(*FORCE_FIELD)
    modeller, edge, height = patch()
    modeller = salted(modeller)
    modeller.topology.setPeriodicBoxVectors(np.diag([edge, edge, height]) * unit.nanometer)
    made = parameters(forcefield, modeller.topology, minimised(forcefield, modeller))
    made.box = [10 * edge, 10 * edge, 10 * height, 90.0, 90.0, 90.0]
    os.makedirs(FOLDER, exist_ok=True)
    path = lambda ending: os.path.join(FOLDER, "membrane" + ending)
    parmed.charmm.CharmmPsfFile.from_structure(made).write_psf(path(".psf"))
    parmed.charmm.CharmmParameterSet.from_structure(made).write(par=path(".prm"))
    lines = with_urey_bradley(path(".prm"), made)
    lines[-1:] = nbfix(forcefield, {atom.type for atom in made.atoms}) + ["\nEND\n"]
    with open(path(".prm"), "w") as file:
        file.writelines(lines)
    made.save(path(".pdb"), overwrite=True)
    for ending in (".psf", ".prm", ".pdb"):
        pack(path(ending))


def finish(restart):
    """Positions and cell of a restart file, at three decimals of 1 Å, in place of those of the pdb file."""
    path = os.path.join(FOLDER, "membrane.pdb")
    with lzma.open(path + ".xz") as packed, open(path, "wb") as plain:
        plain.write(packed.read())
    made, state = parmed.load_file(path), parmed.load_file(restart)
    made.coordinates, made.box = state.coordinates[0], state.box
    made.save(path, overwrite=True)
    pack(path)


if __name__ == "__main__":
    finish(sys.argv[1]) if sys.argv[1:] else main()
