#!/usr/bin/env python3
"""Writes NIST's sample configurations as NAME.gro.xz with all their digits: build.py FOLDER

FOLDER holds lj-1.xyz ... lj-4.xyz (lengths in sigma) and spce-1.xyz ... spce-4.xyz (Å; oxygen, hydrogen, hydrogen), each with the
number of atoms, a line with the lengths of the cell, and `SYMBOL X Y Z` per atom. The unit of length of `lj-*.gro` is sigma.
"""

import lzma
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
DECIMALS = 13

for kind, unit, names in (("lj", 1.0, ["LJ"]), ("spce", 0.1, ["O", "H1", "H2"])):
    for number in range(1, 5):
        count, cell, *atoms = (pathlib.Path(sys.argv[1]) / f"{kind}-{number}.xyz").read_text().splitlines()
        lines = [f"NIST sample configuration {number}", f"{int(count):5d}"]
        for index, atom in enumerate(atoms):
            molecule, name = index // len(names) + 1, names[index % len(names)]
            places = "".join(f"{float(x) * unit:{DECIMALS + 5}.{DECIMALS}f}" for x in atom.split()[1:4])
            lines.append(f"{molecule:5d}{kind.upper():<5}{name:>5}{index + 1:5d}{places}")
        lines.append(" ".join(f"{float(x) * unit:.5f}" for x in cell.split()[-3:]))
        with lzma.open(HERE / f"{kind}-{number}.gro.xz", "wt", preset=9 | lzma.PRESET_EXTREME) as file:
            file.write("\n".join(lines) + "\n")
