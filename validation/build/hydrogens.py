#!/usr/bin/env python3
"""Compares the hydrogens of `md build` with those of entries in which hydrogens were observed.

  python3 validation/build/hydrogens.py FILE... [--md target/release/md] [--reduce PROGRAM]

Each PDB or PDBx/mmCIF file is built in vacuum without waters and hetero groups. Every hydrogen or deuterium of the entry
is compared with the nearest hydrogen of the same heavy atom, after its bond was scaled to the length of `md build`. Prints
for each kind of hydrogen the number, the median deviation and the share within 0.02 nm. With --reduce, the program reduce
places hydrogens on the same heavy atoms, which shows the deviations that come from the entry itself. Needs gemmi.
"""

import argparse
import pathlib
import statistics
import subprocess
import tempfile

import gemmi

NEAR = 0.02  # nm
LENGTHS = {"C": 0.109, "N": 0.101, "O": 0.096, "S": 0.1336}  # nm, of md build
LONGEST = 0.125  # nm, of a bond of hydrogen
BONDED = 0.19  # nm, between heavy atoms
KINDS = ["fixed by the heavy atoms", "methyl", "amine", "hydroxyl, thiol"]


def residues(model):
    """Atoms of each residue, by chain, number and insertion code."""
    found = {}
    for chain in model:
        for residue in chain:
            key = (chain.name.strip(), residue.seqid.num, residue.seqid.icode)
            found.setdefault(key, []).extend(residue)
    return found


def is_hydrogen(atom):
    return atom.element.name in ("H", "D")


def distance(a, b):
    """Distance of two positions in nm."""
    return (a - b).length() / 10


def parent(hydrogen, heavy):
    return min(heavy, key=lambda atom: distance(atom.pos, hydrogen.pos))


def deviations(entry, built):
    """Deviations in nm of the hydrogens of each kind."""
    found = {kind: [] for kind in KINDS}
    of_built = residues(built)
    for key, atoms in residues(entry).items():
        own = of_built.get(key, [])
        heavy = [atom for atom in own if not is_hydrogen(atom)]
        hydrogens = [(parent(atom, heavy), atom) for atom in own if is_hydrogen(atom)] if heavy else []
        others = [atom for atom in atoms if not is_hydrogen(atom)]
        for hydrogen in filter(is_hydrogen, atoms):
            at = parent(hydrogen, others)
            bond = hydrogen.pos - at.pos
            same = [atom for atom in heavy if atom.name == at.name and distance(atom.pos, at.pos) < 0.002]
            near = [atom.pos for other, atom in hydrogens if same and other.name == at.name]
            if not near or bond.length() / 10 > LONGEST:
                continue  # another location, or a residue that was not built
            element = at.element.name
            place = at.pos + bond * (10 * LENGTHS.get(element, 0.109) / bond.length())
            if element in "OS":
                kind = "hydroxyl, thiol"
            else:
                kind = {"C": "methyl", "N": "amine"}[element] if len(near) == 3 else KINDS[0]
            found[kind].append(min(distance(place, position) for position in near))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--md", default="target/release/md")
    parser.add_argument("--reduce")
    arguments = parser.parse_args()
    print("| entry | program | " + " | ".join(KINDS) + " |\n|---|---|" + "---|" * len(KINDS))
    for file in arguments.files:
        entry = gemmi.read_structure(str(file))[0]
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "out")
            command = [arguments.md, "build", file, "--vacuum", "--drop-hetero", "--drop-waters", "--cap", "ACE,NME", "-o", out]
            subprocess.run(command, check=True, capture_output=True)
            built = gemmi.read_structure(str(out / "system.pdb"))
            results = [("md build", deviations(entry, built[0]))]
            if arguments.reduce:
                built.remove_hydrogens()
                built.write_pdb(str(out / "heavy.pdb"))
                command = [arguments.reduce, "-build", "-nuclear", "-quiet", out / "heavy.pdb"]
                text = subprocess.run(command, capture_output=True, text=True).stdout
                results.append(("reduce", deviations(entry, gemmi.read_pdb_string(text)[0])))
        for program, found in results:
            cells = []
            for kind in KINDS:
                values = found[kind]
                share = sum(value <= NEAR for value in values) / max(len(values), 1)
                cells.append(f"{len(values)}: {100 * share:.0f} %, median {statistics.median(values):.4f} nm" if values else "–")
            print(f"| {file.name.split('.')[0]} | {program} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
