#!/usr/bin/env python3
"""Trajectories of other programs' tests as `md` and MDAnalysis read them: trajectories.py MD FOLDER…

Every file below the folders whose name ends as a trajectory's, equal ones once, is converted by `md convert` to TRR, and both are
read by MDAnalysis: number of frames and atoms, positions and cell of every frame. Atoms may be fewer where `md` says that it leaves
out alternative locations. Prints a line for each file and the table
of verdicts; exits with 1 if one differs or has fewer frames.
"""

import collections
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from MDAnalysis.coordinates.core import get_reader_for
from MDAnalysis.coordinates.TRR import TRRReader
from MDAnalysis.lib.mdamath import triclinic_vectors

ENDINGS = (".xtc", ".trr", ".dcd", ".nc", ".ncdf", ".h5md", ".h5", ".pdb", ".pdb.gz", ".pdb.bz2", ".ent", ".gro", ".cif", ".rst7", ".inpcrd")
# nm: positions below 100 nm have 24 bits in f32, and both programs round once
ROUNDING = 2e-5
LONGEST = 60


def frames(path, reader):
    """Positions (nm) and lattice vectors (nm) of every frame."""
    found = []
    for step in reader:
        cell = step.dimensions
        rows = None if cell is None or not np.any(cell[:3]) else triclinic_vectors(cell) / 10
        found.append((step.positions.astype(float) / 10, rows))
    return found


def by_peer(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return frames(path, get_reader_for(path)(path))


def by_md(md, path, scratch):
    result = os.path.join(scratch, "out.trr")
    command = [md, "convert", path, result, "--force"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST)
    if done.returncode:
        words = done.stderr.replace("│", " ").split()
        return None, " ".join(word for word in words if word != "×")
    said = re.search(r"(\d+) atoms at alternative locations", done.stdout)
    return frames(result, TRRReader(result, convert_units=True)), int(said[1]) if said else 0


def turned_alike(ours, theirs):
    """Equal positions; or, where the cell was turned with them, equal distances from the first atom."""
    if np.abs(ours - theirs).max(initial=0) < ROUNDING:
        return True
    distances = [np.linalg.norm(r - r[0], axis=1) for r in (ours, theirs)]
    return np.abs(distances[0] - distances[1]).max() < 4 * ROUNDING


def same_cell(ours, theirs):
    if theirs is None or ours is None:
        return (theirs is None) == (ours is None)
    # reduced lattice vectors may differ by lattice vectors
    volumes = [abs(np.linalg.det(rows)) for rows in (ours, theirs)]
    images = np.linalg.solve(theirs.T, ours.T)
    return np.isclose(*volumes, rtol=1e-4) and np.abs(images - np.round(images)).max() < 1e-3


def verdict(md, path, scratch):
    try:
        theirs = by_peer(path)
    except Exception as error:  # whatever a reader of Python raises for a damaged file
        theirs, why = None, f"{type(error).__name__}: {error}"
    ours, words = by_md(md, path, scratch)
    if ours is None:
        return ("refused by both" if theirs is None else "refused by md only"), words[:300]
    if theirs is None:
        return "read by md only", why[:200].replace("\n", " ")
    if len(ours) != len(theirs):
        return "differ", f"{len(ours)} frames for {len(theirs)}"
    for index, ((r, cell), (expected, lattice)) in enumerate(zip(ours, theirs)):
        if words and len(r) + words == len(expected):
            return "fewer, as said", f"{words} atoms at alternative locations, which MDAnalysis keeps"
        if r.shape != expected.shape:
            return "differ", f"frame {index}: {len(r)} atoms for {len(expected)}"
        if not turned_alike(r, expected):
            return "differ", f"frame {index}: positions off by {np.abs(r - expected).max():.3g} nm"
        if not same_cell(cell, lattice):
            return "differ", f"frame {index}: another cell, {cell} for {lattice}"
    return "equal", f"{len(ours)} frames of {len(ours[0][0]) if ours else 0} atoms"


def main(md, folders):
    seen, verdicts = set(), collections.Counter()
    for folder in folders:
        for root, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                path = os.path.join(root, name)
                if not name.lower().endswith(ENDINGS) or not os.path.getsize(path):
                    continue
                digest = hashlib.sha256(open(path, "rb").read()).digest()
                if digest in seen:
                    continue
                seen.add(digest)
                with tempfile.TemporaryDirectory() as scratch:
                    found, words = verdict(os.path.abspath(md), path, scratch)
                kind = next(ending for ending in ENDINGS if name.lower().endswith(ending))
                verdicts[kind, found] += 1
                print(f"{found:20} {os.path.relpath(path, folder)}: {words}", flush=True)
    columns = ["equal", "fewer, as said", "refused by md only", "refused by both", "read by md only", "differ"]
    print("| ending | " + " | ".join(columns) + " |")
    for kind in ENDINGS:
        row = [verdicts[kind, column] for column in columns]
        if any(row):
            print(f"| `{kind}` | " + " | ".join(str(count) for count in row) + " |")
    return any(found == "differ" for _, found in verdicts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
