"""Reads XTC and DCD files with MDAnalysis and MDTraj and compares them with what was written: read_frames.py EXPECTED.json

Lengths in the expected numbers are nm. Ends with a traceback at the first difference.
"""

import json
import sys
import warnings

import MDAnalysis
import mdtraj
import numpy as np

warnings.simplefilter("ignore")

# edges in f32, and angles that both readers keep in f32 degrees: 4e-6° of 5 nm
CELL = 2e-6
# times of f32; MDAnalysis counts those of DCD from a timestep in f32
TIME = 1e-6


def check_mdanalysis(case):
    universe = MDAnalysis.Universe.empty(case["atoms"])
    universe.load_new(case["file"])
    assert len(universe.trajectory) == len(case["frames"]), len(universe.trajectory)
    for step, expected in zip(universe.trajectory, case["frames"]):
        # Å, and their rounding to f32
        np.testing.assert_allclose(step.positions / 10, expected["positions"], rtol=1e-7, atol=case["tolerance"])
        np.testing.assert_allclose(step.time, expected["time"], rtol=TIME)
        # in DCD it counts frames
        if case["file"].endswith("xtc"):
            assert step.data["step"] == expected["step"]
        if expected["cell"]:
            found = MDAnalysis.lib.mdamath.triclinic_vectors(step.dimensions)
            np.testing.assert_allclose(found / 10, expected["cell"], rtol=0, atol=CELL)
        else:
            assert step.dimensions is None or not step.dimensions[:3].any()


def check_mdtraj(case):
    topology = mdtraj.Topology()
    residue = topology.add_residue("X", topology.add_chain())
    for _ in range(case["atoms"]):
        topology.add_atom("C", mdtraj.element.carbon, residue)
    found = mdtraj.load(case["file"], top=topology)
    assert len(found) == len(case["frames"])
    for index, expected in enumerate(case["frames"]):
        np.testing.assert_allclose(found.xyz[index], expected["positions"], rtol=1e-7, atol=case["tolerance"])
        if expected["cell"]:
            np.testing.assert_allclose(found.unitcell_vectors[index], expected["cell"], rtol=0, atol=CELL)
    if case["file"].endswith("xtc"):
        np.testing.assert_allclose(found.time, [frame["time"] for frame in case["frames"]], rtol=TIME)


def main(path):
    with open(path) as file:
        cases = json.load(file)
    for case in cases:
        check_mdanalysis(case)
        check_mdtraj(case)
        print(f"{case['file']}: same")


main(sys.argv[1])
