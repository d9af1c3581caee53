"""Reads files of all formats but H5MD with MDAnalysis and MDTraj and compares them with what was written: read_frames.py EXPECTED.json

Lengths in the expected numbers are nm. Where cpptraj is in PATH, it reads them, too. Ends with a traceback at the first
difference.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings

import MDAnalysis
import mdtraj
import numpy as np
from scipy.io import netcdf_file

warnings.simplefilter("ignore")

# relative: velocities and forces are in single precision, and readers convert their units in single precision
VECTORS = 4e-7
# relative: times are in single precision; MDAnalysis computes the times of DCD from a timestep in single precision
TIME = 1e-6


def check_mdanalysis(case):
    universe = MDAnalysis.Universe.empty(case["atoms"])
    universe.load_new(case["file"], format="NCDF" if case["file"].endswith("nc") else None)
    assert len(universe.trajectory) == len(case["frames"]), len(universe.trajectory)
    if case["file"].endswith("nc"):
        # AMBER's convention requires 64-bit offsets (CDF-2)
        assert universe.trajectory.trjfile.version_byte == 2
    for step, expected in zip(universe.trajectory, case["frames"]):
        # MDAnalysis returns Å, rounded to single precision
        np.testing.assert_allclose(step.positions / 10, expected["positions"], rtol=1e-7, atol=case["tolerance"])
        # for PDB MDAnalysis returns the number of the frame instead of the time
        if not case["file"].endswith("pdb"):
            np.testing.assert_allclose(step.time, expected["time"], rtol=TIME)
        if case["file"].endswith(("xtc", "trr")):
            assert step.data["step"] == expected["step"]
        if expected["velocities"]:
            np.testing.assert_allclose(step.velocities / 10, expected["velocities"], rtol=VECTORS, atol=1e-9)
            np.testing.assert_allclose(step.forces * 10, expected["forces"], rtol=VECTORS, atol=1e-6)
        if expected["cell"]:
            found = MDAnalysis.lib.mdamath.triclinic_vectors(step.dimensions)
            np.testing.assert_allclose(found / 10, expected["cell"], rtol=0, atol=case["cell tolerance"])
        else:
            assert step.dimensions is None or not step.dimensions[:3].any()


def check_mdtraj(case):
    extension = case["file"].rsplit(".")[-1]
    if extension == "trr":
        check_mdtraj_trr(case)
    topology = mdtraj.Topology()
    residue = topology.add_residue("X", topology.add_chain())
    for _ in range(case["atoms"]):
        topology.add_atom("C", mdtraj.element.carbon, residue)
    found = mdtraj.load(case["file"], top=topology)
    assert len(found) == len(case["frames"])
    for index, expected in enumerate(case["frames"]):
        np.testing.assert_allclose(found.xyz[index], expected["positions"], rtol=1e-7, atol=case["tolerance"])
        if expected["cell"]:
            # MDTraj uses the last cell of a PDB file for all frames
            of_frame = case["frames"][-1 if extension == "pdb" else index]["cell"]
            np.testing.assert_allclose(found.unitcell_vectors[index], of_frame, rtol=0, atol=case["cell tolerance"])
    if extension in ("xtc", "trr", "nc"):
        np.testing.assert_allclose(found.time, [frame["time"] for frame in case["frames"]], rtol=TIME)


def check_mdtraj_trr(case):
    with mdtraj.formats.TRRTrajectoryFile(case["file"]) as file:
        _, _, steps, _, _, velocities, forces = file._read(len(case["frames"]), None, True, True)
    assert list(steps) == [frame["step"] for frame in case["frames"]]
    for index, expected in enumerate(case["frames"]):
        np.testing.assert_allclose(velocities[index], expected["velocities"], rtol=VECTORS, atol=1e-9)
        np.testing.assert_allclose(forces[index], expected["forces"], rtol=VECTORS, atol=1e-6)


def check_cpptraj(case):
    """Its copy of the file in AMBER NetCDF."""
    with tempfile.TemporaryDirectory() as folder:
        atoms = (f"ATOM  {i + 1:5d}  C   XXX A   1    {9 * i:8d}{0:8d}{0:8d}\n" for i in range(case["atoms"]))
        with open(f"{folder}/atoms.pdb", "w") as file:
            file.writelines([*atoms, "END\n"])
        commands = f"parm atoms.pdb nobondsearch\ntrajin {os.path.abspath(case['file'])}\ntrajout copy.nc netcdf\nrun\n"
        run = subprocess.run(["cpptraj"], cwd=folder, input=commands, text=True, capture_output=True)
        assert run.returncode == 0, run.stdout + run.stderr
        with netcdf_file(f"{folder}/copy.nc", mmap=False) as file:
            scaled = {name: variable for name, variable in file.variables.items() if variable.typecode() != "c"}
            found = {name: variable[:] * getattr(variable, "scale_factor", 1.0) for name, variable in scaled.items()}
    assert len(found["coordinates"]) == len(case["frames"])
    for index, expected in enumerate(case["frames"]):
        np.testing.assert_allclose(
            found["coordinates"][index] / 10, expected["positions"], rtol=2e-7, atol=case["tolerance"]
        )
        if expected["cell"]:
            edges = np.linalg.norm(expected["cell"], axis=1)
            np.testing.assert_allclose(found["cell_lengths"][index] / 10, edges, rtol=0, atol=case["cell tolerance"])
    if case["file"].endswith(("xtc", "trr", "nc")):
        np.testing.assert_allclose(found["time"], [frame["time"] for frame in case["frames"]], rtol=TIME)
    if case["file"].endswith(("trr", "nc")):
        velocities = [frame["velocities"] for frame in case["frames"]]
        np.testing.assert_allclose(found["velocities"] / 10, velocities, rtol=1e-5, atol=1e-7)


def main(path):
    with open(path) as file:
        cases = json.load(file)
    others = [check_cpptraj] if shutil.which("cpptraj") else []
    for case in cases:
        for check in [check_mdanalysis, check_mdtraj, *others]:
            check(case)
        print(f"{case['file']}: same")


main(sys.argv[1])
