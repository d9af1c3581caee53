#!/usr/bin/env python3
"""Builds mutated entries: no end other than a system or a refusal, no hang, no clash.

  python3 validation/build/mutations.py FILE... [--md target/release/md] [--count 1000] [--seed 1] [--keep FOLDER]

Each round changes one to twenty lines of a PDB file at random (removed, repeated, moved or cut lines, other characters,
coordinates, names, numbers, chains and records), and builds the result, in vacuum or in water. Prints the rounds that end
with another exit code than 0 and 2, take more than a minute, or give a structure in which two atoms are nearer than 0.08
nm, and the numbers of outcomes. Ends with 1 if there is such a round. Needs numpy and scipy.
"""

import argparse
import collections
import gzip
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import numpy
from scipy.spatial import cKDTree

LONGEST = 60  # s
CLASH = 0.8  # Å
OPTIONS = [
    [],
    ["--drop-hetero"],
    ["--drop-hetero", "--cap", "ACE,NME"],
    ["--assembly", "1"],
    ["--drop-hetero", "--forcefield", "charmm36"],
]
WET = 0.15  # share of the systems in water
# columns of a PDB record, and what is written there
FIELDS = [
    (30, 38, ["     nan", "99999.99", "   1e300", "-9999.99", "        ", "   0.000"]),
    (17, 20, ["ALA", "GLY", "PRO", "HIS", "XXX", "DA ", "  U", "HOH", "ZN ", "CYS", "MSE", "   "]),
    (22, 26, ["   1", "9999", "-999", "    ", "A000", "1000"]),
    (12, 16, [" CA ", " N  ", " OXT", " H  ", "1HB ", " ZZ ", "    ", " SG "]),
    (21, 22, ["A", "B", " ", "Z", "1"]),
    (16, 17, ["A", "B"]),
]
RECORDS = [
    "TER",
    "ENDMDL",
    "MODEL        2",
    "END",
    "CRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1           1",
    "SSBOND   1 CYS A    1    CYS A    2",
    "REMARK 350   BIOMT1   1  1.0 0.0 0.0 1e9",
]


def mutated(lines, random):
    """Returns the lines of an entry with some random changes."""
    lines = list(lines)
    for _ in range(random.choice([1, 1, 2, 5, 20])):
        index, other = random.randrange(len(lines)), random.randrange(len(lines))
        line = lines[index]
        kind = random.randrange(7 + len(FIELDS))
        if kind >= 7:
            start, end, texts = FIELDS[kind - 7]
            lines[index] = line[:start] + random.choice(texts) + line[end:]
        elif kind == 0 and len(lines) > 1:
            del lines[index]
        elif kind == 1:
            lines.insert(index, line)
        elif kind == 2:
            lines[index], lines[other] = lines[other], line
        elif kind == 3:
            lines[index] = random.choice(RECORDS)
        elif kind == 4 and len(lines) > 50:
            del lines[index : index + random.randrange(40)]
        elif kind == 5 and line:
            lines[index] = line[: random.randrange(len(line))]
        elif line:
            at = random.randrange(len(line))
            lines[index] = line[:at] + chr(random.randrange(32, 127)) + line[at + 1 :]
    return lines


def nearest(folder):
    """Smallest distance of two atoms of a built system in Å."""
    pdb = folder / "system.pdb"
    if not pdb.exists():
        return CLASH  # too large for a PDB file
    rows = [line for line in pdb.read_text().splitlines() if line.startswith(("ATOM", "HETATM"))]
    places = numpy.array([[float(row[a : a + 8]) for a in (30, 38, 46)] for row in rows])
    return cKDTree(places).query(places, k=2)[0][:, 1].min() if len(places) > 1 else CLASH


def outcome(md, entry, folder, options):
    """Outcome of a build in a word."""
    try:
        command = [md, "build", entry, "-o", folder, *options]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return "hang"
    if done.returncode not in (0, 2) or "panicked" in done.stderr:
        return "abnormal end"
    if done.returncode == 2:
        return "refused"
    return "built" if nearest(folder) >= CLASH else "clash"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--md", default="target/release/md")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    generator = random.Random(arguments.seed)
    read = lambda file: (gzip.open if file.suffix == ".gz" else open)(file, "rt", errors="replace").read().splitlines()
    entries = [(file, read(file)) for file in arguments.files]
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for number in range(arguments.count):
            file, lines = generator.choice(entries)
            entry, out = folder / "mutated.pdb", folder / "out"
            entry.write_text("\n".join(mutated(lines, generator)))
            options = generator.choice(OPTIONS) + ([] if generator.random() < WET else ["--vacuum"])
            found = outcome(arguments.md, entry, out, options)
            counts[found] += 1
            if found not in ("built", "refused"):
                print(f"round {number}: {found}: {file} {' '.join(options)}", flush=True)
                if arguments.keep:
                    arguments.keep.mkdir(exist_ok=True)
                    shutil.copy(entry, arguments.keep / f"{arguments.seed}-{number}.pdb")
            shutil.rmtree(out, ignore_errors=True)
    print(", ".join(f"{count} {found}" for found, count in counts.most_common()))
    return bool(set(counts) - {"built", "refused"})


if __name__ == "__main__":
    sys.exit(main())
