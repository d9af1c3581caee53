#!/usr/bin/env python3
"""Topologies of four water models in GROMACS' format and a box to begin with: build.py FOLDER

Parameters are those of the papers (README.md). The box holds 343 molecules at 997 kg/m³ on a cubic lattice, each turned at random;
it melts within picoseconds.
"""

import pathlib
import sys

import numpy as np

EDGE = 7  # molecules along the cell
SPACING = 0.31066  # nm
SEED = 343
# charge of hydrogen (e), O-H (nm), H-O-H (degrees), distance from the oxygen to the charged site (nm), sigma (nm),
# epsilon (kJ/mol)
MODELS = {
    "tip3p": (0.417, 0.09572, 104.52, 0.0, 0.315061, 0.636386),
    "spce": (0.4238, 0.1, 109.4712206, 0.0, 0.316557, 0.650194),
    "tip4pew": (0.52422, 0.09572, 104.52, 0.0125, 0.316435, 0.680946),
    "opc": (0.6791, 0.08724, 103.6, 0.01594, 0.3166552, 0.8903586),
}


def topology(name):
    """The model as GROMACS writes it: rigid by [ settles ], the site by [ virtual_sites3 ]."""
    charge, bond, angle, site, sigma, epsilon = MODELS[name]
    half = np.radians(angle) / 2
    weight = site / (2 * bond * np.cos(half))
    atoms = [("OW", "O", -2 * charge if not site else 0.0, 15.9994), ("HW", "H1", charge, 1.008), ("HW", "H2", charge, 1.008)]
    if site:
        atoms.append(("MW", "M", -2 * charge, 0.0))
    numbers = range(1, len(atoms) + 1)
    lines = ["[ defaults ]", "1 2 no", "", "[ atomtypes ]", f"OW 8 15.9994 0.0 A {sigma} {epsilon}", "HW 1 1.008 0.0 A 0.0 0.0"]
    lines += ["MW 0 0.0 0.0 V 0.0 0.0"] if site else []
    lines += ["", "[ moleculetype ]", "SOL 2", "", "[ atoms ]"]
    lines += [f"{i} {kind} 1 SOL {atom} {i} {q} {mass}" for i, (kind, atom, q, mass) in zip(numbers, atoms)]
    lines += ["", "[ settles ]", f"1 1 {bond} {2 * bond * np.sin(half):.9f}"]
    if site:
        lines += ["", "[ virtual_sites3 ]", f"4 1 2 3 1 {weight:.9f} {weight:.9f}"]
    lines += ["", "[ exclusions ]"] + [" ".join(str(j) for j in (i, *(j for j in numbers if j != i))) for i in numbers]
    lines += ["", "[ system ]", name, "", "[ molecules ]", f"SOL {EDGE**3}", ""]
    return "\n".join(lines)


def molecule(name):
    """Atoms about the oxygen, nm."""
    _, bond, angle, site, _, _ = MODELS[name]
    half = np.radians(angle) / 2
    across, along = bond * np.sin(half), bond * np.cos(half)
    atoms = [("O", (0, 0, 0)), ("H1", (across, 0, along)), ("H2", (-across, 0, along))] + ([("M", (0, 0, site))] if site else [])
    return [a for a, _ in atoms], np.array([x for _, x in atoms])


def rotation(random):
    """One of all with equal chance: a unit quaternion."""
    w, x, y, z = (q := random.normal(size=4)) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def write_gro(path, names, positions, edge):
    """Positions: molecules × atoms × 3, nm."""
    with open(path, "w") as file:
        print(f"{len(positions)} waters\n{positions.shape[0] * positions.shape[1]:5d}", file=file)
        number = 0
        for index, one in enumerate(positions, 1):
            for name, place in zip(names, one):
                number += 1
                print(f"{index:5d}{'SOL':<5}{name:>5}{number:5d}" + "".join(f"{x:12.7f}" for x in place), file=file)
        print(" ".join(f"{edge:.7f}" for _ in range(3)), file=file)


def main(folder):
    """Writes MODEL.top and MODEL.gro for every model."""
    folder.mkdir(parents=True, exist_ok=True)
    sites = SPACING * (0.5 + np.stack(np.meshgrid(*3 * [np.arange(EDGE)], indexing="ij"), axis=-1).reshape(-1, 3))
    for name in MODELS:
        random = np.random.default_rng(SEED)
        names, shape = molecule(name)
        positions = np.array([site + shape @ rotation(random).T for site in sites])
        (folder / f"{name}.top").write_text(topology(name))
        write_gro(folder / f"{name}.gro", names, positions, EDGE * SPACING)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
