"""Writes heavy.txt, the heavy atoms of standard residues, from the templates of PDBFixer 1.12.

python heavy.py PDBFIXER/templates   (the folder of the Python package pdbfixer)

Lines of the table:
  residue NAME     a residue
  NAME X Y Z       an atom of the residue with its position in Å
"""

import pathlib
import sys

lines = []
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.pdb")):
    lines.append(f"residue {path.stem}")
    for line in path.read_text().splitlines():
        if line.startswith("ATOM"):
            x, y, z = (float(line[k : k + 8]) for k in (30, 38, 46))
            lines.append(f"{line[12:16].strip()} {x:.3f} {y:.3f} {z:.3f}")
(pathlib.Path(__file__).parent / "heavy.txt").write_text("\n".join(lines) + "\n")
