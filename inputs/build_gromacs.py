"""Builds the helix of helix-gromacs/: Ace-AAAAKAAAAKAAAAKA-Nme (Marqusee, Robbins & Baldwin 1989) in water, with AMBER99SB-ILDN
and TIP3P as GROMACS has them, in a topology of its own that includes no file.

Needs `gmx` in PATH, OpenMM 8.6 and NumPy. Positions come from 4 ps of dynamics, so a rebuilt file is equivalent, not equal.
"""

import lzma
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "systems", "build"))

from openmm import app  # noqa: E402
from peptide import peptide  # noqa: E402

SEQUENCE = (["ALA"] * 4 + ["LYS"]) * 3 + ["ALA"]
MINIMISE = """integrator = steep
nsteps = 500
emtol = 200
coulombtype = pme
"""
RUN = """integrator = md
nsteps = 2000
dt = 0.002
coulombtype = pme
rcoulomb = 0.9
rvdw = 0.9
constraints = h-bonds
tcoupl = v-rescale
tc-grps = system
tau-t = 0.1
ref-t = 300
pcoupl = c-rescale
tau-p = 2
ref-p = 1
compressibility = 4.5e-5
gen-vel = yes
gen-temp = 300
gen-seed = 1
nstxout-compressed = 0
"""


def gmx(folder, *command, text=None):
    subprocess.run(["gmx", "-quiet", *command], cwd=folder, input=text, text=True, check=True, capture_output=True)


def build(folder):
    """system.gro and all.top in the folder, the latter with all that it includes."""
    topology, positions = peptide(SEQUENCE, phi=-57.0, psi=-47.0)
    for atom in topology.atoms():
        if (atom.residue.name, atom.name) == ("NME", "C"):
            atom.name = "CH3"  # GROMACS' name
    with open(f"{folder}/helix.pdb", "w") as file:
        app.PDBFile.writeFile(topology, positions, file)
    gmx(folder, "pdb2gmx", "-f", "helix.pdb", "-ff", "amber99sb-ildn", "-water", "tip3p", "-ignh", "-o", "helix.gro")
    gmx(folder, "editconf", "-f", "helix.gro", "-o", "box.gro", "-bt", "dodecahedron", "-d", "0.95")
    gmx(folder, "solvate", "-cp", "box.gro", "-cs", "spc216.gro", "-p", "topol.top", "-o", "wet.gro")
    for name, settings in (("minimise", MINIMISE), ("run", RUN)):
        with open(f"{folder}/{name}.mdp", "w") as file:
            file.write(settings)
    gmx(folder, "grompp", "-f", "minimise.mdp", "-c", "wet.gro", "-o", "ions.tpr", "-maxwarn", "5")
    gmx(folder, "genion", "-s", "ions.tpr", "-o", "start.gro", "-p", "topol.top", "-neutral", "-seed", "1", text="SOL\n")
    start = "start.gro"
    for name in ("minimise", "run"):
        gmx(folder, "grompp", "-f", f"{name}.mdp", "-c", start, "-o", f"{name}.tpr", "-pp", "all.top", "-maxwarn", "5")
        gmx(folder, "mdrun", "-deffnm", name, "-ntmpi", "1", "-ntomp", "2")
        start = f"{name}.gro"
    gmx(folder, "trjconv", "-f", "run.gro", "-s", "run.tpr", "-pbc", "mol", "-o", "system.gro", text="System\n")


def sections(path):
    """Headings and their lines, without comments."""
    found = []
    with open(path) as file:
        for line in file:
            line = line.split(";")[0].rstrip()
            if line.startswith("["):
                found.append((line.strip("[] "), []))
            elif line and not line.startswith(("#", "*")):
                found[-1][1].append(line)
    return found


def used_only(found):
    """Without the types and molecule types that the system does not name."""
    listed = {line.split()[0] for name, lines in found if name == "molecules" for line in lines}
    kept, molecule = [], None
    for name, lines in found:
        if name == "moleculetype":
            molecule = lines[0].split()[0]
        if name in ("system", "molecules") or molecule is None or molecule in listed:
            kept.append((name, lines))
    types = {line.split()[1] for name, lines in kept if name == "atoms" for line in lines}
    atomtypes = [line.split() for name, lines in kept if name == "atomtypes" for line in lines]
    bonded = {words[1] if not words[1].isdigit() else words[0] for words in atomtypes if words[0] in types}
    numbers = {"bondtypes": 2, "constrainttypes": 2, "angletypes": 3, "dihedraltypes": 4, "pairtypes": 2, "nonbond_params": 2}
    result = []
    for name, lines in kept:
        if name == "atomtypes":
            lines = [line for line in lines if line.split()[0] in types]
        elif name in numbers:
            lines = [line for line in lines if set(line.split()[: numbers[name]]) <= bonded | {"X"}]
        elif name.startswith("implicit"):
            lines = []
        if lines:
            result.append((name, lines))
    return result


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        build(folder)
        out = os.path.join(HERE, "helix-gromacs")
        os.makedirs(out, exist_ok=True)
        text = "; AMBER99SB-ILDN and TIP3P, the types in use; written by inputs/build_gromacs.py\n"
        for name, lines in used_only(sections(f"{folder}/all.top")):
            text += f"\n[ {name} ]\n" + "".join(" ".join(line.split()) + "\n" for line in lines)
        with lzma.open(os.path.join(out, "helix.top.xz"), "wt") as file:
            file.write(text)
        with open(f"{folder}/system.gro") as file, lzma.open(os.path.join(out, "helix.gro.xz"), "wt") as packed:
            packed.write(file.read())
