"""Reads trajectories with MDAnalysis, MDTraj and h5py and compares them with the numbers in a JSON file.

Usage: read_trajectory.py EXPECTED.json, written by the test that made the trajectories. Ends with a traceback at the
first difference. Lengths in the JSON are nm, times ps, energies kJ/mol.
"""

import json
import sys
import warnings
from pathlib import Path

import h5py
import MDAnalysis
import mdtraj
import numpy as np
from mdtraj.formats import HDF5TrajectoryFile

warnings.simplefilter("ignore")

SINGLE = 1e-6  # relative: a few roundings in f32
NM_TO_ANGSTROM = 10.0


def column(case, key):
    return np.array([frame[key] for frame in case["frames"]])


def check_mdanalysis(case):
    universe = MDAnalysis.Universe(case["file"])
    assert universe.atoms.n_atoms == len(case["atom_names"])
    assert len(universe.trajectory) == len(case["frames"])
    names = case["observables"]
    for step, frame in zip(universe.trajectory, case["frames"]):
        assert step.time == frame["time"]
        assert step.data["step"] == frame["step"]
        tolerance = NM_TO_ANGSTROM * case["position_tolerance"]
        np.testing.assert_allclose(step.positions, NM_TO_ANGSTROM * np.array(frame["positions"]), rtol=0, atol=tolerance)
        np.testing.assert_allclose(step.velocities, NM_TO_ANGSTROM * np.array(frame["velocities"]), rtol=SINGLE, atol=SINGLE)
        np.testing.assert_allclose(step.forces, np.array(frame["forces"]) / NM_TO_ANGSTROM, rtol=SINGLE, atol=1e-5)
        if frame["cell"] is None:
            assert step.dimensions is None
        else:
            expected = NM_TO_ANGSTROM * np.array(frame["cell"])
            np.testing.assert_allclose(step.triclinic_dimensions, expected, rtol=SINGLE, atol=1e-5)
        for name, value in zip(names, frame["observables"]):
            assert step.data[name] == value, (name, step.data[name], value)


def check_mdtraj(case):
    path = str(Path(case["file"]).with_suffix(".h5"))
    trajectory = mdtraj.load(path)
    np.testing.assert_allclose(trajectory.xyz, column(case, "positions"), rtol=0, atol=case["position_tolerance"])
    np.testing.assert_allclose(trajectory.time, column(case, "time"), rtol=SINGLE)
    if case["frames"][0]["cell"] is None:
        assert trajectory.unitcell_vectors is None
    else:
        np.testing.assert_allclose(trajectory.unitcell_vectors, column(case, "cell"), rtol=SINGLE, atol=2e-6)
    topology = trajectory.topology
    assert [atom.name for atom in topology.atoms] == case["atom_names"]
    assert [residue.name for residue in topology.residues] == case["residue_names"]
    assert [atom.element.atomic_number for atom in topology.atoms] == case["elements"]
    assert [residue.resSeq for residue in topology.residues] == list(range(1, topology.n_residues + 1))
    assert topology.n_chains == case["chains"]
    bonds = sorted(tuple(sorted((a.index, b.index))) for a, b in topology.bonds)
    assert bonds == sorted(tuple(sorted(pair)) for pair in case["bonds"])
    frames = len(case["frames"])
    assert sum(chunk.n_frames for chunk in mdtraj.iterload(path, chunk=4)) == frames
    assert mdtraj.load(path, stride=2, atom_indices=[0, 3]).xyz.shape == ((frames + 1) // 2, 2, 3)
    with HDF5TrajectoryFile(path) as file:
        data = file.read()
        values = dict(zip(case["observables"], column(case, "observables").T))
        np.testing.assert_array_equal(data.temperature, values["temperature"])
        np.testing.assert_array_equal(data.potentialEnergy, values["potential_energy"])
        np.testing.assert_array_equal(data.kineticEnergy, values["kinetic_energy"])
        np.testing.assert_allclose(data.velocities, column(case, "velocities"), rtol=SINGLE, atol=SINGLE)
        assert file.application == "md"


def check_h5py(case):
    with h5py.File(case["file"], "r") as file:
        particles = file["particles/trajectory"]
        # hard links: one object under several names
        assert particles == file["particles/system"]
        assert particles["position/value"] == file["coordinates"]
        assert particles["position/step"] == particles["velocity/step"] == file["observables/pressure/step"]
        assert list(file["h5md"].attrs["version"]) == [1, 1]
        boundary = b"none" if case["frames"][0]["cell"] is None else b"periodic"
        assert list(particles["box"].attrs["boundary"]) == [boundary] * 3
        np.testing.assert_array_equal(particles["mass"], case["masses"])
        np.testing.assert_array_equal(particles["species"], case["elements"])
        np.testing.assert_array_equal(particles["id"], np.arange(len(case["masses"])))
        bonds = file["connectivity/bonds"]
        np.testing.assert_array_equal(bonds, case["bonds"])
        assert bonds.attrs["bond_count"] == len(case["bonds"])
        assert file[bonds.attrs["particles_group"]] == particles
        assert file["parameters/input"][()].decode() == case["input"]
        assert file["parameters/seed"][()] == 2**64 - 1
        if "image" in particles:
            cells = particles["box/edges/value"][:].astype(float)
            shifts = np.einsum("fai,fij->faj", particles["image/value"][:], cells)
            tolerance = case["position_tolerance"] + 1e-5
            np.testing.assert_allclose(particles["position/value"][:] + shifts, column(case, "unwrapped"), rtol=0, atol=tolerance)


def main():
    for case in json.loads(Path(sys.argv[1]).read_text()):
        check_mdanalysis(case)
        check_mdtraj(case)
        check_h5py(case)
        print(f"{Path(case['file']).name}: same")


main()
