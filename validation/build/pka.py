#!/usr/bin/env python3
"""Compares the pKa values of `md build` with those of PROPKA for every entry below some folders.

  python3 validation/build/pka.py FOLDER... [--md target/release/md] [--atoms 30000] [--list 1.0]

Each PDB and PDBx/mmCIF file is built in vacuum with caps at gaps, without hetero groups if it cannot be built with them.
PROPKA reads the structure that was built, system.pdb, from which it leaves out hydrogens, so that both programs have the
same heavy atoms. Entries without ionisable groups, and copies of a structure, are not counted. Prints a line for each
entry, the groups that differ by more than --list, and the statistics of all groups. Ends with 1 if a bar is missed. Needs
the package propka 3.5.

With --entry, PROPKA reads the file itself, if it is a PDB file: the difference then contains atoms that md rebuilt,
alternative locations, and groups of ligands.
"""

import argparse
import collections
import json
import logging
import pathlib
import re
import shutil
import subprocess
import sys

MEAN = 0.2  # bar of the mean absolute deviation
NEAR, SHARE = 0.5, 0.95  # bar of single groups
STATES = 0.99  # bar of equal states at pH 7
PH = 7.0
ENDINGS = re.compile(r"\.(pdb|ent|cif|mmcif)(\.gz|\.bz2|\.xz)?$")
LABEL = re.compile(r"(?:[NC]-terminus of )?\S+ (-?\d+)([A-Za-z]?)(?: of chain (\S+))?$")
KINDS = {"C-": "C-terminus", "N+": "N-terminus"}


def ours(folder):
    """pKa values in build.json by kind, chain, number and insertion code."""
    values = {}
    for group in json.loads((folder / "build.json").read_text())["pka"]:
        number, code, chain = LABEL.match(group["group"]).groups()
        values[group["kind"], (chain or "")[:1], int(number), code] = group["pka"]
    return values


def theirs(path):
    """pKa values of PROPKA by the same keys. Groups that PROPKA discards are left out."""
    from propka.run import single

    molecule = single(str(path), optargs=["--quiet"], write_pka=False)
    values = {}
    for group in molecule.conformations["AVR"].groups:
        if not group.titratable or group.coupled_titrating_group or group.atom.type != "atom" or group.pka_value > 99:
            continue
        kind = KINDS.get(group.residue_type.strip(), group.residue_type.strip())
        atom = group.atom
        values[kind, atom.chain_id.strip(), atom.res_num, atom.icode.strip()] = group.pka_value
    return values


def build(md, path, folder):
    """Builds an entry; whether this succeeded."""
    for more in ([], ["--drop-hetero"]):
        shutil.rmtree(folder, ignore_errors=True)
        command = [md, "build", path, "--vacuum", "--cap", "ACE,NME", *more, "-o", folder]
        if subprocess.run(command, capture_output=True, text=True).returncode == 0:
            return True
    return False


def compare(md, path, folder, options):
    """Pairs of values of an entry: key, pKa of md, pKa of PROPKA; or the reason in words."""
    if not build(md, path, folder):
        return "refused"
    if json.loads((folder / "build.json").read_text())["atoms"] > options.atoms:
        return "too large"
    first = ours(folder)
    source = path if options.entry else folder / "system.pdb"
    if options.entry and path.suffix != ".pdb":
        return "no PDB file"
    try:
        second = theirs(source)
    except Exception as error:  # noqa: BLE001, the reason is printed
        return f"PROPKA: {str(error)[:80]}"
    both = sorted(first.keys() & second.keys())
    only = len(first.keys() ^ second.keys())
    return [(key, first[key], second[key]) for key in both], only


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--md", type=pathlib.Path, default=pathlib.Path("target/release/md"))
    parser.add_argument("--atoms", type=int, default=30000)
    parser.add_argument("--list", type=float, default=1.0)
    parser.add_argument("--entry", action="store_true")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    out = pathlib.Path(__file__).resolve().parent / "out"
    out.mkdir(exist_ok=True)
    files = sorted(path for folder in options.folders for path in folder.rglob("*") if ENDINGS.search(path.name))
    seen, pairs, outcomes = set(), [], collections.Counter()
    for path in files:
        result = compare(options.md.resolve(), path, out / "pka", options)
        if isinstance(result, str):
            outcomes[result] += 1
            continue
        found, only = result
        print_key = tuple(round(value, 2) for _, value, _ in found)
        if not found or print_key in seen:
            outcomes["no groups, or a copy"] += 1
            continue
        seen.add(print_key)
        outcomes["compared"] += 1
        pairs += found
        mean = sum(abs(a - b) for _, a, b in found) / len(found)
        print(f"{path.name}: {len(found)} groups, mean deviation {mean:.3f}, {only} groups in one program only", flush=True)
        for key, a, b in found:
            if abs(a - b) > options.list:
                print(f"  {' '.join(map(str, key))}: md {a:.2f}, PROPKA {b:.2f}")
    if not pairs:
        sys.exit("nothing was compared")
    good = report(pairs)
    print(", ".join(f"{count} {reason}" for reason, count in outcomes.most_common()))
    sys.exit(not good)


def report(pairs):
    """Prints the statistics by kind and of all groups; whether the bars are met."""
    kinds = collections.defaultdict(list)
    for key, a, b in pairs:
        kinds[key[0]].append((a, b))
        kinds["all"].append((a, b))
    good = True
    for kind, values in sorted(kinds.items()):
        count = len(values)
        mean = sum(abs(a - b) for a, b in values) / count
        near = sum(abs(a - b) <= NEAR for a, b in values) / count
        states = sum((a > PH) == (b > PH) for a, b in values) / count
        print(f"{kind}: {count} groups, mean deviation {mean:.3f}, within {NEAR}: {near:.2%}, state at pH {PH:g}: {states:.2%}")
        if kind == "all":
            good = mean <= MEAN and near >= SHARE and states >= STATES
    return good


if __name__ == "__main__":
    main()
