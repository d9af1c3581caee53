#!/usr/bin/env python3
"""Builds systems of different kinds with `md build`, and runs the protocols that it writes.

  python3 validation/build/protocols.py FOLDER ENTRIES [--md target/release/md] [--only NAME...] [--threads 2]

ENTRIES is a folder with the files of the table SYSTEMS. Each system is built with the default options and those of the
table, in FOLDER/NAME, and run with a production stage of 20 ps. Prints a line of the table in README.md for each system,
and ends with 1 if a command fails or the page of a run has a verdict against it. A run that was interrupted goes on.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

# name: (entry, options of `md build`)
SYSTEMS = {
    "soluble": ("pdb1ubi.pdb", ["--salt", "0.15 M"]),
    "disulfides": ("5pti.cif.gz", ["--drop-hetero"]),
    "nucleic-acid": ("dna.pdb", ["--salt", "0.15 M"]),
    "metal": ("5a7u.pdb", []),
    "assembly": ("5wkd.pdb", ["--assembly", "1"]),
    "glycine-rich": ("3a4rA.pdb.gz", ["--drop-hetero", "--water", "opc"]),
    "mmcif": ("5i55.cif", ["--drop-hetero", "--forcefield", "charmm36"]),
    "protein-dna": ("pdb3mht.pdb", ["--drop-hetero"]),
    "membrane": ("helix.pdb", ["--membrane", "POPC", "--salt", "0.15 M"]),
    "glycoprotein": ("tests_structure_data_pdb_1gya.cif", ["--salt", "0.15 M"]),
    "large": ("pdb3enl.pdb", ["--drop-hetero", "--assembly", "1", "--padding", "2.2 nm"]),
}


def run(command, log):
    """Runs a command, keeps what it prints, and returns whether it succeeded."""
    with open(log, "a") as file:
        return subprocess.run([str(word) for word in command], stdout=file, stderr=subprocess.STDOUT).returncode == 0


def verdicts(folder):
    """Verdicts of the page of a run: pairs of judgement and aspect."""
    return re.findall(r'<li class="?([a-z]+)"?><p><strong>(.*?)</strong>', (folder / "report.html").read_text())


def system(name, arguments):
    """Builds and runs a system, and returns its line of the table and whether nothing is wrong."""
    entry, options = SYSTEMS[name]
    folder = arguments.folder / name
    log = arguments.folder / f"{name}.log"
    build = [arguments.md, "build", arguments.entries / entry, "-o", folder, *options]
    if not (folder / "build.json").exists() and not run(build, log):
        return f"| {name} | {entry} | | not built |", False
    command = [arguments.md, "run", folder / "input.toml", "--threads", arguments.threads, "--output-dir", folder / "out"]
    command += ["--set", 'stage.production.duration="20 ps"', "--quiet"]
    if not run(command, log):
        return f"| {name} | {entry} | | stopped |", False
    summary = json.loads((folder / "out/summary.json").read_text())
    found = verdicts(folder / "out")
    problems = [aspect for judgement, aspect in found if judgement == "problem"]
    passed = sum(judgement == "passed" for judgement, _ in found)
    text = f"{passed} passed, {', '.join(problems) or 'none against it'}"
    return f"| {name} | {entry} {' '.join(options)} | {summary['atoms']} | {text} |", not problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("entries", type=pathlib.Path)
    parser.add_argument("--md", type=pathlib.Path, default="target/release/md")
    parser.add_argument("--only", nargs="*", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--threads", default="2")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    good = True
    for name in arguments.only:
        line, holds = system(name, arguments)
        print(line, flush=True)
        good &= holds
    return not good


if __name__ == "__main__":
    sys.exit(main())
