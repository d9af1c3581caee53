#!/usr/bin/env python3
"""Compares the tautomers of His that `md build` chooses with those of OpenMM's Modeller at pH 7.

  python3 validation/build/histidines.py FOLDER... [--md target/release/md]

Builds every PDB and PDBx/mmCIF file below some folders in vacuum, as flips.py does. Modeller gets the heavy atoms that were
built, and both programs take pKa values in water. His whose variant the entry states or that coordinate a metal are left
out, since Modeller knows neither. His are counted apart by the nitrogens whose N-H would have a hydrogen bond to an oxygen
that cannot donate one (a C=O group; within 0.35 nm of N, at most 50 degrees from a line). If there is no such bond, or one for
either nitrogen, Modeller takes HID; Modeller also counts bonds to donors, such as N-H groups.
Needs the packages gemmi, openmm and scipy.
"""

import argparse
import collections
import json
import math
import pathlib
import re
import subprocess
import tempfile

import numpy
import scipy.spatial
from openmm import app, unit

import flips

ACCEPTORS = {"O", "OXT", "OD1", "OD2", "OE1", "OE2"}


def built(md, structure, folder):
    """Variants of His that md chooses, by chain and number, with the reasons; None if md refuses the structure."""
    path = pathlib.Path(folder) / "entry.pdb"
    structure.write_pdb(str(path))
    target = pathlib.Path(folder) / "built"
    command = [md, "build", path, "--vacuum", "--cap", "ACE,NME", "--pka", "model", "-o", target]
    if subprocess.run(command, capture_output=True).returncode:
        return None
    found = {}
    for decision in json.loads((target / "build.json").read_text())["decisions"]:
        match = re.fullmatch(r"is (HI[DEP])", decision["what"])
        if match and decision["where"].startswith("HIS "):
            _, number, *rest = decision["where"].split()
            found[(rest[-1] if rest else "", number)] = (match[1], decision["why"])
    return found


def bonded_nitrogens(residue, positions, tree, acceptors):
    """Nitrogens of a His whose N-H has a hydrogen bond by Modeller's rule to an oxygen that cannot donate one."""
    atoms = {atom.name: atom for atom in residue.atoms()}
    found = set()
    for name, neighbours in {"ND1": ("CG", "CE1"), "NE2": ("CD2", "CE1")}.items():
        place = positions[atoms[name].index]
        outward = sum(place - positions[atoms[other].index] for other in neighbours)
        hydrogen = place + 0.1 * outward / numpy.linalg.norm(outward)
        for k in tree.query_ball_point(place, 0.35):
            if acceptors[k].residue != residue:
                rest = positions[acceptors[k].index] - hydrogen
                cosine = numpy.dot(hydrogen - place, rest) / (0.1 * numpy.linalg.norm(rest))
                if cosine > math.cos(math.radians(50)):
                    found.add(name)
    return found


def of_modeller(folder):
    """For each His, by chain and number: the variant that Modeller chooses, and its nitrogens with a hydrogen bond."""
    pdb = app.PDBFile(str(pathlib.Path(folder) / "built" / "system.pdb"))
    model = app.Modeller(pdb.topology, pdb.positions)
    model.delete([atom for atom in model.topology.atoms() if atom.element is app.element.hydrogen])
    positions = numpy.array(model.positions.value_in_unit(unit.nanometer))
    acceptors = [atom for atom in model.topology.atoms() if atom.name in ACCEPTORS]
    tree = scipy.spatial.cKDTree(positions[[atom.index for atom in acceptors]])
    residues = list(model.topology.residues())
    bonded = [residue.name == "HIS" and bonded_nitrogens(residue, positions, tree, acceptors) for residue in residues]
    found = {}
    for residue, variant, nitrogens in zip(residues, model.addHydrogens(pH=7.0), bonded):
        if variant in ("HID", "HIE", "HIP"):
            found[(residue.chain.id.strip(), residue.id + residue.insertionCode.strip())] = (variant, nitrogens)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--md", type=pathlib.Path, default=pathlib.Path("target/release/md"))
    options = parser.parse_args()
    table = collections.Counter()
    for path, structure in flips.entries(options.folders, ["HIS"]):
        with tempfile.TemporaryDirectory() as folder:
            ours = built(options.md.resolve(), structure, folder)
            if ours is None:
                continue
            try:
                theirs = of_modeller(folder)
            except Exception as problem:  # Modeller refuses the structure
                print(f"{path.name}: {problem}")
                continue
        for key, (variant, why) in ours.items():
            if key in theirs and "metal" not in why and "entry" not in why:
                other, nitrogens = theirs[key]
                table[" and ".join(sorted(nitrogens)) or "no", variant, other] += 1
                if variant != other and len(nitrogens) == 1:
                    print(f"{path.name}: {key} bond of {nitrogens}, md {variant}, Modeller {other}: {why}", flush=True)
    for (bonds, variant, other), count in sorted(table.items()):
        print(f"bonds of {bonds} nitrogen: md {variant}, Modeller {other}: {count}")


if __name__ == "__main__":
    main()
