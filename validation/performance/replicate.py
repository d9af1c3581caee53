#!/usr/bin/env python3
"""Larger systems for both engines: replicate.py SYSTEM COPIES FOLDER.

SYSTEM is the path of SYSTEM.prmtop, .rst7, .top and .gro without suffix, each as it is or .xz; the cell is rectangular. Writes
the same four of COPIES × COPIES × COPIES cells into FOLDER; without a .gro, only the first two. In the topologies whole
copies follow each other, as atoms in the coordinates do.
"""

import itertools
import lzma
import pathlib
import re
import sys

PER_ATOM = """ATOM_NAME CHARGE ATOMIC_NUMBER MASS ATOM_TYPE_INDEX NUMBER_EXCLUDED_ATOMS AMBER_ATOM_TYPE
TREE_CHAIN_CLASSIFICATION JOIN_ARRAY IROTAT RADII SCREEN RESIDUE_LABEL ATOMS_PER_MOLECULE""".split()
# by section: number of atoms in a row, number of columns of a row, and number by which the index of an atom increases
# per atom
TERMS = {"BONDS": (2, 3, 3), "ANGLES": (3, 4, 3), "DIHEDRALS": (4, 5, 3), "CHARMM_UREY_BRADLEY": (2, 3, 1),
         "CHARMM_IMPROPERS": (4, 5, 1), "CHARMM_CMAP_INDEX": (5, 6, 1), "CMAP_INDEX": (5, 6, 1)}
# positions in POINTERS of the numbers of atoms, terms, exclusions and residues
COUNTS = [0, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14]


def text(path):
    """The lines of a file or of its .xz."""
    if path.exists():
        return path.read_text().splitlines()
    return lzma.open(f"{path}.xz", "rt").read().splitlines()


def sections(lines):
    """[name, header lines, width, per line, values as text] of each section; the version line alone."""
    found = []
    for line in lines:
        if line.startswith("%FLAG"):
            found.append([line.split()[1], [line], 0, 0, []])
        elif line.startswith("%FORMAT"):
            # sections with several kinds of values on a line (FORCE_FIELD_TYPE) are copied as whole lines
            one_kind = re.match(r"\((\d+)\(?[aAiIeEfF](\d+)", line[7:])
            per_line, width = map(int, one_kind.groups()) if one_kind else (1, 80)
            found[-1][1:4] = found[-1][1] + [line], width, per_line
        elif line.startswith("%") and found:
            found[-1][1].append(line)
        elif found:
            name, _, width, _, values = found[-1]
            values.extend(line[i:i + width] for i in range(0, len(line), width))
            if not name.endswith(("NAME", "LABEL", "TYPE", "CLASSIFICATION", "TITLE", "SET")):
                values[:] = [value for value in values if value.strip()]
    return found


def shifted(values, atoms, columns, row, factor, copies):
    """Rows of a term once per copy; atoms keep the signs that mark a dihedral."""
    for copy, (index, value) in itertools.product(range(copies), enumerate(values)):
        number = int(value)
        step = copy * atoms * factor if index % row < columns else 0
        yield number + step if number >= 0 else number - step


def prmtop(lines, edges, copies):
    """Lines of the larger topology."""
    found = sections(lines)
    values = {name: values for name, _, _, _, values in found}
    atoms, residues = int(values["POINTERS"][0]), int(values["POINTERS"][11])
    values["ATOM_NAME"][:], values["RESIDUE_LABEL"][:] = values["ATOM_NAME"][:atoms], values["RESIDUE_LABEL"][:residues]
    for name in ["AMBER_ATOM_TYPE", "TREE_CHAIN_CLASSIFICATION"]:
        del values[name][atoms:]
    excluded, start = values["EXCLUDED_ATOMS_LIST"], 0
    out = [line for line in lines[:1] if line.startswith("%VERSION")]
    for name, header, width, per_line, of_one in found:
        term = TERMS.get(re.sub("_(INC|WITHOUT)_HYDROGEN", "", name))
        if name in PER_ATOM:
            of_all = of_one * copies
        elif name == "RESIDUE_POINTER":
            of_all = shifted(of_one, atoms, 1, 1, 1, copies)
        elif name == "EXCLUDED_ATOMS_LIST":
            # 0 stands for an atom without exclusions
            of_all = [int(v) + c * atoms if int(v) else 0 for c in range(copies) for v in excluded]
        elif term:
            of_all = shifted(of_one, atoms, *term, copies)
        elif name == "POINTERS":
            of_all = [int(v) * (copies if index in COUNTS else 1) for index, v in enumerate(of_one)]
        elif name in ("CHARMM_UREY_BRADLEY_COUNT", "CHARMM_CMAP_COUNT", "CMAP_COUNT"):
            of_all = [int(of_one[0]) * copies, *of_one[1:]]
        elif name == "CHARMM_NUM_IMPROPERS":
            of_all = [int(of_one[0]) * copies]
        elif name == "SOLVENT_POINTERS":
            of_all = [int(of_one[0]) * copies, int(of_one[1]) * copies, of_one[2]]
        elif name == "BOX_DIMENSIONS":
            of_all = [of_one[0]] + [f"{edge:16.8E}" for edge in edges]
        else:
            of_all = of_one
        cells = [f"{value:>{width}}" for value in of_all]
        out += header + ["".join(cells[i:i + per_line]) for i in range(0, max(len(cells), 1), per_line)]
    return out


def replicate(stem, n, folder):
    """Writes the files of AMBER, and those of GROMACS if there are any."""
    copies = n ** 3
    target = folder / f"{stem.name}-x{copies}"
    rst7 = text(stem.with_name(stem.name + ".rst7"))
    atoms = int(rst7[1].split()[0])
    numbers = [float(line[i:i + 12]) for line in rst7[2:] for i in range(0, len(line), 12)]
    positions, velocities, box = numbers[:3 * atoms], numbers[3 * atoms:6 * atoms], numbers[6 * atoms:]
    if box[3:] != [90.0] * 3:
        sys.exit("the cell is not rectangular")
    shifts = [[i * a for i, a in zip(steps, box)] for steps in itertools.product(range(n), repeat=3)]
    moved = [x + shift[i % 3] for shift in shifts for i, x in enumerate(positions)]
    edges = [edge * n for edge in box[:3]]
    cells = [f"{v:12.7f}" for v in moved] + [f"{v:12.7f}" for v in velocities * copies]
    lines = [rst7[0], f"{atoms * copies:6d}  0.0000000E+00"]
    for part in (cells[:3 * atoms * copies], cells[3 * atoms * copies:], [f"{v:12.7f}" for v in edges + box[3:]]):
        lines += ["".join(part[i:i + 6]) for i in range(0, len(part), 6)]
    folder.mkdir(parents=True, exist_ok=True)
    target.with_suffix(".rst7").write_text("\n".join(lines) + "\n")
    larger = prmtop(text(stem.with_name(stem.name + ".prmtop")), edges, copies)
    target.with_suffix(".prmtop").write_text("\n".join(larger) + "\n")
    gro = stem.with_name(stem.name + ".gro")
    if gro.exists() or gro.with_name(gro.name + ".xz").exists():
        replicate_gromacs(stem, text(gro), n, target)


def replicate_gromacs(stem, gro, n, target):
    """Writes the files of GROMACS; `gro` are the lines of the coordinates."""
    atoms, copies = int(gro[1]), n ** 3
    cell = [float(v) for v in gro[2 + atoms].split()]
    shifts = [[i * a for i, a in zip(steps, cell)] for steps in itertools.product(range(n), repeat=3)]
    lines = [gro[0], str(atoms * copies)]
    for copy, shift in enumerate(shifts):
        for index, line in enumerate(gro[2:2 + atoms]):
            x, v = line[20:].split()[:3], line[20:].split()[3:]
            x = "".join(f"{float(value) + s:14.8f}" for value, s in zip(x, shift))
            number = (copy * atoms + index + 1) % 100000
            lines.append(f"{line[:15]}{number:5d}{x}" + "".join(f"{float(value):14.9f}" for value in v))
    lines.append(" ".join(f"{edge * n:.8f}" for edge in cell))
    target.with_suffix(".gro").write_text("\n".join(lines) + "\n")
    top = text(stem.with_name(stem.name + ".top"))
    molecules = next(i for i, line in enumerate(top) if line.split() == ["[", "molecules", "]"]) + 1
    entries = [line for line in top[molecules:] if line.strip() and not line.startswith(";")]
    target.with_suffix(".top").write_text("\n".join(top[:molecules] + entries * copies) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    replicate(pathlib.Path(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3]))
