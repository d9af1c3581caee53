"""Reads written topologies with MDAnalysis and MDTraj and compares them with what the test expects (JSON on stdin)."""
import json
import sys
import warnings

import MDAnalysis
import mdtraj
import numpy as np

warnings.filterwarnings("ignore")


def pairs(bonds):
    return sorted(tuple(sorted(int(i) for i in bond)) for bond in bonds)


for case in json.load(sys.stdin):
    name, tolerance = case["file"], case["tolerance"]
    kind = {"prmtop": "TOP", "top": "ITP"}[name.rsplit(".")[-1]]
    atoms = MDAnalysis.Universe(name, topology_format=kind).atoms
    assert list(atoms.names) == case["names"], name
    assert list(atoms.resnames) == case["residues"], name
    assert np.allclose(atoms.charges, case["charges"], rtol=0, atol=tolerance), name
    assert np.allclose(atoms.masses, case["masses"], rtol=tolerance, atol=0), name
    if kind == "TOP":
        # MDAnalysis also lists the H-H bond of rigid water, which is not a chemical bond
        assert set(pairs(atoms.bonds.indices)) >= set(pairs(case["bonds"])), name
        topology = mdtraj.load_prmtop(name)
        # MDTraj renames the atoms of waters, so only the number of atoms is compared
        assert topology.n_atoms == len(case["names"]), name
        assert set(pairs((a.index, b.index) for a, b in topology.bonds)) >= set(pairs(case["bonds"])), name
    print("read", name, len(atoms))
