"""GROMACS topologies of argon, both salts, water and tip4pew, with the numbers of their prmtops. Needs ParmEd 4.3.

Waters are rigid by [ settles ]; FLEXIBLE gives them the three bonds of the prmtop. The weights of the virtual site follow from
its distance from the oxygen, 0.0125 nm.
"""
import lzma
import tempfile
from itertools import groupby
from math import sqrt
from pathlib import Path

import parmed

FOLDER = Path(__file__).resolve().parents[1]
SITE = 0.0125


def load(name):
    with tempfile.NamedTemporaryFile(suffix=".prmtop") as file:
        file.write(lzma.open(FOLDER / name / f"{name}.prmtop.xz").read())
        file.flush()
        return parmed.amber.AmberParm(file.name)


def molecule(residue):
    lines = ["[ moleculetype ]", f"{residue.name} 2", "", "[ atoms ]"]
    for i, atom in enumerate(residue.atoms, start=1):
        lines.append(f"{i} {atom.type} 1 {residue.name} {atom.name} 1 {atom.charge:.8f} {atom.mass:.6f}")
    if len(residue.atoms) < 3:
        return lines
    oxygen, h1, h2 = residue.atoms[:3]
    bonds = {tuple(sorted((b.atom1.idx, b.atom2.idx))): b.type for b in oxygen.bonds + h1.bonds}
    oh, hh = bonds[(oxygen.idx, h1.idx)], bonds[(h1.idx, h2.idx)]
    length = lambda kind: kind.req / 10
    lines += ["", "#ifdef FLEXIBLE", "[ bonds ]"]
    for pair, kind in (("1 2", oh), ("1 3", oh), ("2 3", hh)):
        lines.append(f"{pair} 1 {length(kind):.9f} {2 * kind.k * 418.4:.4f}")
    lines += ["#else", "[ settles ]", f"1 1 {length(oh):.9f} {length(hh):.9f}", "#endif", ""]
    if len(residue.atoms) == 4:
        weight = SITE / (2 * sqrt(length(oh) ** 2 - length(hh) ** 2 / 4))
        lines += ["[ virtual_sites3 ]", f"4 1 2 3 1 {weight:.9f} {weight:.9f}", ""]
    numbers = range(1, len(residue.atoms) + 1)
    lines += ["[ exclusions ]"] + [" ".join(map(str, [i, *(j for j in numbers if j != i)])) for i in numbers]
    return lines


def write(name):
    system = load(name)
    lines = [f"; {name}, by build/top.py", "[ defaults ]", "1 2 yes 0.5 0.83333333", "", "[ atomtypes ]"]
    for kind in {atom.type: atom for atom in system.atoms}.values():
        particle = "A" if kind.mass > 0 else "D"
        numbers = f"{kind.mass:.6f} 0.0 {particle} {kind.sigma / 10 if kind.epsilon else 0:.12f} {kind.epsilon * 4.184:.12f}"
        lines.append(f"{kind.type} {max(kind.atomic_number, 0)} {numbers}")
    for residue in {residue.name: residue for residue in system.residues}.values():
        lines += [""] + molecule(residue)
    runs = [(kind, len(list(run))) for kind, run in groupby(residue.name for residue in system.residues)]
    lines += ["", "[ system ]", name, "", "[ molecules ]"] + [f"{kind} {number}" for kind, number in runs]
    (FOLDER / name / f"{name}.top").write_text("\n".join(lines) + "\n")


for name in ("argon", "salt-crystal", "salt-displaced", "water", "tip4pew"):
    write(name)
