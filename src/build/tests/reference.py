"""Writes the reference data of md-build with OpenMM: python reference.py [SYSTEM ...]

Topologies are made of the templates of AMBER's force fields. Starting positions follow the bonds in random
directions, and a minimisation with the first force field of the system removes overlaps. For each force field the
file has the energy of every term (kJ/mol) and the forces (kJ/mol/nm) of the Reference platform without cutoff.
Positions are in nm. Needs OpenMM 8.6, and ParmEd for the ligand.
"""
import copy
import json
import lzma
import pathlib
import random
import string
import sys

import openmm
from openmm import app, unit

FOLDER = pathlib.Path(__file__).parent / "golden"
FIELDS = pathlib.Path(__file__).parent / "fields"
AMBER = ["amber14/protein.ff14SB.xml", "amber14/DNA.OL15.xml", "amber14/RNA.OL3.xml", "amber14/lipid17.xml"]
CHARMM = ["charmm36_2024.xml", "charmm36_2024/water.xml"]

PEPTIDE = ("NMET ALA ARG ASN ASP CYX GLN GLU GLY HID HIE HIP ILE LEU LYS MET PHE PRO SER THR TRP TYR VAL CYX CYS CGLN"
           .split())
# by system: chains of templates, additional bonds between residues, force fields
SYSTEMS = {
    "peptide": {
        "chains": [PEPTIDE],
        "links": [(5, "SG", 23, "SG")],
        "fields": [["amber14/protein.ff14SB.xml"], ["amber19/protein.ff19SB.xml"], ["amberfb15.xml"], CHARMM],
    },
    "dna": {
        "chains": [["DA5", "DC", "DG", "DT3"]],
        "fields": [["amber14/DNA.OL15.xml"], ["amber19/DNA.OL21.xml"], ["amber14/DNA.bsc1.xml"]],
    },
    # thymine is left out, because OpenMM finds two different templates of CHARMM36 for it
    "charmm-dna": {"chains": [["DA5", "DC", "DG", "DC3"]], "fields": [CHARMM]},
    "rna": {"chains": [["A5", "C", "G", "U3"]], "fields": [["amber14/RNA.OL3.xml"]]},
    "charmm-rna": {"chains": [["A5", "C", "U", "G3"]], "fields": [CHARMM]},
    "lipid": {
        "chains": [["POPC"], ["CHL1"]],
        "fields": [["amber14/lipid17.xml"], ["amber19/lipid21.xml"]],
    },
    "charmm-lipid": {"chains": [["POPC"]], "fields": [CHARMM]},
    "water-3": {
        "chains": [["HOH"], ["HOH"], ["NA"], ["CL"], ["HOH"]],
        "source": ["amber14/tip3p.xml"],
        "fields": [["amber14/tip3p.xml"], ["amber14/tip3pfb.xml"], ["amber14/spce.xml"], ["amber14/opc3.xml"],
                   ["charmm36_2024/water.xml"]],
    },
    "water-4": {
        "chains": [["HOH"], ["HOH"], ["NA"], ["CL"], ["HOH"]],
        "source": ["amber14/tip4pew.xml"],
        "fields": [["amber14/tip4pew.xml"], ["amber14/opc.xml"]],
    },
    # ions of KCl, MgCl2 and others; CHARMM36 has no fluoride, bromide or iodide
    "salts-3": {
        "chains": [["HOH"], ["K"], ["CL"], ["MG"], ["CL"], ["HOH"], ["CL"], ["CA"], ["ZN"], ["LI"], ["RB"], ["CS"], ["HOH"]],
        "source": ["amber14/tip3p.xml"],
        "fields": [["amber14/tip3p.xml"], ["amber14/tip3pfb.xml"], ["amber14/spce.xml"], ["amber14/opc3.xml"],
                   ["charmm36_2024/water.xml"]],
    },
    "salts-4": {
        "chains": [["HOH"], ["K"], ["CL"], ["MG"], ["CL"], ["HOH"], ["CL"], ["CA"], ["ZN"], ["LI"], ["RB"], ["CS"], ["HOH"]],
        "source": ["amber14/tip4pew.xml"],
        "fields": [["amber14/tip4pew.xml"], ["amber14/opc.xml"]],
    },
    "halides": {
        "chains": [["HOH"], ["NA"], ["F"], ["BR"], ["K"], ["IOD"], ["HOH"]],
        "source": ["amber14/tip3p.xml"],
        "fields": [["amber14/tip3p.xml"], ["amber14/tip3pfb.xml"], ["amber14/spce.xml"], ["amber14/opc3.xml"]],
    },
    "capped": {
        "chains": [["ACE", "ALA", "ASP", "NME"]],
        "fields": [["amber14/protein.ff14SB.xml"], ["amber19/protein.ff19SB.xml"]],
    },
    # an N-glycan with a branch, O-glycans, and a free sugar with its hydroxyl group
    "glycan": {
        "chains": [["NALA", "NLN", "OLS", "OLT", "CALA"], ["4YB"], ["4YB"], ["VMB"], ["0MA"], ["0MA"], ["0VA"], ["0fA"],
                   ["ROH"], ["0GA"]],
        "links": [(1, "ND2", 5, "C1"), (5, "O4", 6, "C1"), (6, "O4", 7, "C1"), (7, "O3", 8, "C1"), (7, "O6", 9, "C1"),
                  (2, "OG", 10, "C1"), (3, "OG1", 11, "C1"), (12, "O1", 13, "C1")],
        "source": ["amber14/protein.ff14SB.xml", "amber14/GLYCAM_06j-1.xml"],
        "fields": [["amber14/protein.ff14SB.xml", "amber14/GLYCAM_06j-1.xml"]],
    },
    # a ligand, whose parameters `ligand` writes as topologies as well
    "ligand": {
        "chains": [["ACE", "ALA", "NME"], ["PCR"]],
        "source": ["amber14/protein.ff14SB.xml", "cresol.xml"],
        "fields": [["amber14/protein.ff14SB.xml", "cresol.xml"]],
    },
    "toy": {
        "chains": [["TOY"]],
        "source": ["toy.xml"],
        "fields": [["toy.xml", f"toy-{ordering}.xml"] for ordering in ["default", "charmm", "amber", "smirnoff"]],
    },
    "peptide-ions": {
        "chains": [["NASP", "TRP", "CARG"], ["NA"], ["CL"], ["HOH"]],
        "source": AMBER[:1] + ["amber14/tip3p.xml"],
        "fields": [["amber14/protein.ff14SB.xml", "amber14/tip3p.xml"], CHARMM],
    },
}
# pairs of atoms that bond consecutive residues of a chain
JOINTS = [("C", "N"), ("O3'", "P")]


def field_of(files):
    """Force field of files in the folder `fields`, or of OpenMM."""
    return app.ForceField(*(str(FIELDS / name) if (FIELDS / name).exists() else name for name in files))


def topology_of(system):
    """Makes a topology of templates, and positions that follow the bonds."""
    source = field_of(system.get("source", AMBER))
    topology = app.Topology()
    atoms = []
    for number, names in enumerate(system["chains"]):
        chain = topology.addChain(string.ascii_uppercase[number])
        previous = None
        for name in names:
            template = source._templates[name]
            residue = topology.addResidue(name[-3:] if len(name) == 4 and name[0] in "NC" else name, chain)
            own = {}
            for atom in template.atoms:
                own[atom.name] = topology.addAtom(atom.name, atom.element, residue)
            for a, b in template.bonds:
                topology.addBond(own[template.atoms[a].name], own[template.atoms[b].name])
            outer = [template.atoms[k].name for k in template.externalBonds]
            if previous is not None:
                others, free = previous
                a, b = next((a, b) for a in free for b in outer if (a, b) in JOINTS)
                topology.addBond(others[a], own[b])
                outer.remove(b)
            previous = (own, outer)
            atoms.append(own)
    for first, a, second, b in system.get("links", []):
        topology.addBond(atoms[first][a], atoms[second][b])
    return topology


def start(topology):
    """Positions in nm: each atom about 0.14 nm from an atom to which it is bonded, away from the others."""
    generator = random.Random(1)
    bonded = {atom.index: [] for atom in topology.atoms()}
    for a, b in topology.bonds():
        bonded[a.index].append(b.index)
        bonded[b.index].append(a.index)
    positions = {}
    for index in range(topology.getNumAtoms()):
        if index in positions:
            continue
        positions[index] = [0.6 * len(positions) ** 0.4 + generator.uniform(0, 0.3) for _ in range(3)]
        pending = [index]
        while pending:
            atom = pending.pop(0)
            for other in bonded[atom]:
                if other in positions:
                    continue
                best = None
                for _ in range(200):
                    direction = [generator.gauss(0, 1) for _ in range(3)]
                    length = sum(x * x for x in direction) ** 0.5
                    place = [p + 0.14 * x / length for p, x in zip(positions[atom], direction)]
                    near = min(sum((x - y) ** 2 for x, y in zip(place, known)) for k, known in positions.items()
                               if k != atom) if len(positions) > 1 else 1.0
                    if best is None or near > best[0]:
                        best = (near, place)
                    if near > 0.04:
                        break
                positions[other] = best[1]
                pending.append(other)
    return [openmm.Vec3(*positions[index]) for index in range(topology.getNumAtoms())]


def system_of(topology, files):
    return field_of(files).createSystem(topology, nonbondedMethod=app.NoCutoff, rigidWater=False, removeCMMotion=False)


def context_of(system, positions):
    context = openmm.Context(system, openmm.VerletIntegrator(0.001), openmm.Platform.getPlatformByName("Reference"))
    context.setPositions(positions)
    context.computeVirtualSites()
    return context


def relaxed(topology, files):
    """Positions after a minimisation, in nm with four decimals."""
    context = context_of(system_of(topology, files), start(topology))
    openmm.LocalEnergyMinimizer.minimize(context, 100.0, 300)
    positions = context.getState(getPositions=True).getPositions(asNumpy=True).value_in_unit(unit.nanometer)
    # displaces the atoms from the minimum at random, so that all terms have energies and forces
    generator = random.Random(2)
    return [[round(float(x) + generator.uniform(-0.004, 0.004), 4) for x in row] for row in positions]


TERMS = {
    openmm.HarmonicBondForce: "bond",
    openmm.HarmonicAngleForce: "angle",
    openmm.PeriodicTorsionForce: "torsion",
    openmm.CustomTorsionForce: "torsion",
    openmm.RBTorsionForce: "torsion",
    openmm.CMAPTorsionForce: "cmap",
    openmm.CustomNonbondedForce: "lj",
    openmm.CustomBondForce: "lj",
}


def without(force, charges):
    """Copy of a NonbondedForce without charges, or without Lennard-Jones interactions."""
    force = copy.deepcopy(force)
    for k in range(force.getNumParticles()):
        q, sigma, epsilon = force.getParticleParameters(k)
        force.setParticleParameters(k, 0 * q if charges else q, sigma, epsilon if charges else 0 * epsilon)
    for k in range(force.getNumExceptions()):
        i, j, q, sigma, epsilon = force.getExceptionParameters(k)
        force.setExceptionParameters(k, i, j, 0 * q if charges else q, sigma, epsilon if charges else 0 * epsilon)
    return force


def reference(topology, positions, files):
    """Energies of the terms and forces."""
    system = system_of(topology, files)
    names = []
    for index in reversed(range(system.getNumForces())):
        force = system.getForce(index)
        if isinstance(force, openmm.NonbondedForce):
            parts = [("lj", without(force, True)), ("coulomb", without(force, False))]
            system.removeForce(index)
            for name, part in parts:
                system.addForce(part)
    for index, force in enumerate(system.getForces()):
        force.setForceGroup(index)
        if isinstance(force, openmm.NonbondedForce):
            charged = any(force.getParticleParameters(k)[0]._value != 0 for k in range(force.getNumParticles()))
            names.append("coulomb" if charged else "lj")
        else:
            names.append(TERMS[type(force)])
    context = context_of(system, [openmm.Vec3(*row) for row in positions])
    energies = {}
    for index, name in enumerate(names):
        energy = context.getState(getEnergy=True, groups={index}).getPotentialEnergy()
        energies[name] = energies.get(name, 0.0) + energy.value_in_unit(unit.kilojoule_per_mole)
    forces = context.getState(getForces=True).getForces(asNumpy=True)
    forces = forces.value_in_unit(unit.kilojoule_per_mole / unit.nanometer)
    forces = [[float(f"{x:.9g}") for x in row] for row in forces]
    return {"files": files, "energies": energies, "forces": forces}


def ligand():
    """Writes p-cresol with its parameters as an AMBER and as a GROMACS topology, by ParmEd."""
    import parmed

    topology = topology_of({"chains": [["PCR"]], "source": ["cresol.xml"]})
    structure = parmed.openmm.load_topology(topology, system_of(topology, ["cresol.xml"]), start(topology))
    for name in ("cresol.prmtop", "cresol.top"):
        structure.save(str(FIELDS / name), overwrite=True)
    # the comments name the user and the computer
    lines = (FIELDS / "cresol.top").read_text().splitlines(keepends=True)
    (FIELDS / "cresol.top").write_text("".join(line for line in lines if not line.startswith(";")))


def main():
    FOLDER.mkdir(exist_ok=True)
    for name, system in SYSTEMS.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        topology = topology_of(system)
        positions = relaxed(topology, system["fields"][0])
        data = {
            "chains": [chain.id for chain in topology.chains()],
            "residues": [[r.name, r.chain.index, next(r.atoms()).index] for r in topology.residues()],
            "atoms": [[a.name, a.element.atomic_number if a.element else 0] for a in topology.atoms()],
            "bonds": [[a.index, b.index] for a, b in topology.bonds()],
            "positions": positions,
            "references": [reference(topology, positions, files) for files in system["fields"]],
        }
        if name == "ligand":
            ligand()
        path = FOLDER / f"{name}.json.xz"
        path.write_bytes(lzma.compress(json.dumps(data, separators=(",", ":")).encode(), preset=9))
        print(name, topology.getNumAtoms(), "atoms", path.stat().st_size, "bytes")
        for found in data["references"]:
            print("   ", found["files"][0], {k: round(v, 3) for k, v in found["energies"].items()})


if __name__ == "__main__":
    main()
