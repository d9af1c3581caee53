"""Compares the reading of PDB and PDBx/mmCIF entries with Gemmi, over all such files in the given folders.

python entries.py PROGRAM FOLDER...   (PROGRAM: the example entry_summary of the package md-build)

Both programs count residues, atoms, alternative locations that are left out, gaps in sequences, disulfide bonds, and
chains and atoms of assemblies. The rules for locations and disulfide bonds are those of md, written here a second time.
"""

import bz2
import collections
import json
import pathlib
import subprocess
import sys

import gemmi

SUFFIXES = (".pdb", ".ent", ".cif", ".pdb.gz", ".ent.gz", ".cif.gz", ".pdb.bz2")
WATERS = {"HOH", "WAT", "SOL", "H2O", "TIP3", "TP3", "DOD", "TIP", "SPC"}


def name_of(atom):
    """Atom name with deuterium as hydrogen."""
    return "H" + atom.name[1:] if atom.element == gemmi.Element("D") and atom.name.startswith("D") else atom.name


def choose(residue):
    """Indices of the atoms that are taken."""
    sums = collections.defaultdict(float)
    for atom in residue:
        if atom.has_altloc():
            sums[atom.altloc] += min(max(atom.occ, 0.0), 1.0)
    order = sorted(sums, key=lambda letter: (-round(sums[letter], 4), letter))
    rank = {letter: index for index, letter in enumerate(order)}
    taken, names = [], set()
    for wanted in range(max(1, len(order))):
        for index, atom in enumerate(residue):
            if rank.get(atom.altloc, 0) == wanted and (wanted == 0 or not atom.is_hydrogen()):
                if name_of(atom) not in names:
                    names.add(name_of(atom))
                    taken.append(index)
    return set(taken), (sums[order[0]] if order else 0.0), (order[0] if order else " ")


def reduce(model):
    """Removes what md leaves out, and returns the number of removed atoms."""
    removed = 0
    for chain in model:
        groups = collections.defaultdict(list)
        for index, residue in enumerate(chain):
            if all(atom.has_altloc() for atom in residue):
                groups[str(residue.seqid), residue.entity_type == gemmi.EntityType.Polymer].append(index)
        drop = []
        for indices in groups.values():
            best = min(indices, key=lambda i: (-round(choose(chain[i])[1], 4), choose(chain[i])[2]))
            if len({chain[i].name for i in indices}) > 1:
                drop += [i for i in indices if i != best]
        for index in sorted(drop, reverse=True):
            removed += len(chain[index])
            del chain[index]
        for residue in chain:
            taken, _, _ = choose(residue)
            for index in range(len(residue) - 1, -1, -1):
                if index not in taken:
                    del residue[index]
                    removed += 1
    return removed


def disulfides(structure):
    """Number of pairs of sulfur atoms by statement of the file, then by distance, nearest first."""
    model = structure[0]
    sulfurs = []
    for chain in model:
        for residue in chain:
            if residue.name in ("CYS", "CYX", "CYM", "CYS2", "CYSH", "CYS1"):
                names = {atom.name: atom for atom in residue}
                if "SG" in names and not {"HG", "HG1"} & set(names):
                    sulfurs.append(names["SG"])
    taken, count = set(), 0
    key = lambda atom: (round(atom.pos.x, 3), round(atom.pos.y, 3), round(atom.pos.z, 3))
    free = {key(atom) for atom in sulfurs}
    for connection in structure.connections:
        if connection.type == gemmi.ConnectionType.Disulf and connection.asu != gemmi.Asu.Different:
            ends = [model.find_cra(end).atom for end in (connection.partner1, connection.partner2)]
            if all(ends) and ends[0].pos.dist(ends[1].pos) <= 3.0:
                pair = {key(end) for end in ends}
                if len(pair) == 2 and pair <= free and not pair & taken:
                    taken |= pair
                    count += 1
    pairs = []
    for i, a in enumerate(sulfurs):
        for b in sulfurs[:i]:
            distance = a.pos.dist(b.pos)
            if 1.8 <= distance <= 2.5:
                pairs.append((distance, key(a), key(b)))
    for _, a, b in sorted(pairs):
        if a not in taken and b not in taken:
            taken |= {a, b}
            count += 1
    return count


def gaps(structure):
    """Places and lengths of gaps in the polymers whose sequence is known."""
    found = []
    for chain in structure[0]:
        polymer = chain.get_polymer()
        entity = structure.get_entity_of(polymer) if len(polymer) else None
        if entity is None or not entity.full_sequence:
            continue
        numbers = [residue.label_seq for residue in polymer.first_conformer() if residue.label_seq]
        if not numbers:
            continue
        steps = [("start", numbers[0] - 1), ("end", len(entity.full_sequence) - numbers[-1])]
        steps += [("inner", b - a - 1) for a, b in zip(numbers, numbers[1:])]
        found += [(chain.name, place, count) for place, count in steps if count > 0]
    return sorted(found)


def expected(path):
    if path.suffix == ".bz2":
        structure = gemmi.read_pdb_string(bz2.decompress(path.read_bytes()))
        structure.merge_chain_parts()
    else:
        structure = gemmi.read_structure(str(path), merge_chain_parts=True)
    structure.setup_entities()
    if not str(path).endswith((".cif", ".cif.gz")):
        structure.assign_label_seq_id()
    model = structure[0]
    result = {
        "models": len(structure),
        "residues": sum(len(chain) for chain in model),
        "atoms": model.count_atom_sites(),
        "gaps": gaps(structure),
    }
    result["left_out"] = reduce(model)
    result["kept"] = model.count_atom_sites()
    result["kept_residues"] = sum(len(chain) for chain in model)
    result["disulfides"] = disulfides(structure)
    result["assemblies"] = []
    for assembly in structure.assemblies:
        made = gemmi.make_assembly(assembly, model, gemmi.HowToNameCopiedChain.Dup)
        result["assemblies"].append([assembly.name, made.count_atom_sites()])
    return result


def main():
    program, *folders = sys.argv[1:]
    files = sorted(
        path for folder in folders for path in pathlib.Path(folder).rglob("*") if path.name.lower().endswith(SUFFIXES)
    )
    equal = differ = refused = 0
    ours_refused, theirs_refused = [], []
    for path in files:
        try:
            reference = expected(path)
        except Exception as error:  # a file that Gemmi refuses cannot be compared
            reference = None
            theirs_refused.append(f"{path}: Gemmi: {str(error).splitlines()[0] if str(error) else type(error).__name__}")
        run = subprocess.run([program, str(path)], capture_output=True, text=True)
        if run.returncode:
            print(f"{path}: the program failed with {run.returncode}: {run.stderr.strip()}")
            differ += 1
            continue
        ours = json.loads(run.stdout)
        if "error" in ours:
            refused += 1
            ours_refused.append(f"{path}: md: {ours['error']}" + ("" if reference else " (Gemmi refuses it, too)"))
            continue
        if reference is None:
            continue
        ours["gaps"] = sorted(tuple(gap) for gap in ours["gaps"])
        ours["assemblies"] = [[entry[0], entry[-1]] for entry in ours["assemblies"]]
        wrong = [f"{key}: md {ours[key]}, Gemmi {value}" for key, value in reference.items() if ours[key] != value]
        if wrong:
            differ += 1
            print(f"{path}\n    " + "\n    ".join(line[:300] for line in wrong))
        else:
            equal += 1
    print("\n".join(["", "refused by md:", *ours_refused, "", "refused by Gemmi:", *theirs_refused]))
    print(f"\n{len(files)} files: {equal} equal, {differ} differ, {refused} refused by md, {len(theirs_refused)} by Gemmi")


if __name__ == "__main__":
    main()
