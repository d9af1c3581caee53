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
        # hard links: one HDF5 object has several names
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


def is_variable_length(attribute):
    kind = h5py.check_string_dtype(attribute.dtype)
    return kind is not None and kind.length is None


def check_layout(case):
    """What readers demand of the layout (H5MD 1.1; MDAnalysis 2.11; MDTraj's HDF5 conventions 1.1; GROMACS 2026)."""
    frames, periodic = len(case["frames"]), case["frames"][0]["cell"] is not None
    with h5py.File(case["file"], "r") as file:
        particles, names = file["particles/trajectory"], []
        # PyTables follows only hard links and has only some filters
        file.visit_links(names.append)
        for name in names:
            assert isinstance(file.get(name, getlink=True), h5py.HardLink), name
        datasets = [file[name] for name in names if isinstance(file[name], h5py.Dataset)]
        known = {h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_SCALEOFFSET}
        for data in datasets:
            made = data.id.get_create_plist()
            assert {made.get_filter(i)[0] for i in range(made.get_nfilters())} <= known, data.name
        # MDAnalysis reads the first group of particles in the order of names, so every name must lead to the same group
        assert all(file[f"particles/{name}"] == particles for name in file["particles"])
        assert list(file["h5md"].attrs["version"]) == [1, 1] and file["h5md/modules/units"].attrs["version"].shape == (2,)
        assert "name" in file["h5md/author"].attrs and {"name", "version"} <= set(file["h5md/creator"].attrs)
        assert "thermodynamics" not in file["h5md/modules"], "its energies are per particle"
        assert particles["box"].attrs["dimension"] == 3
        # steps and times are arrays that all elements share; unit attributes are strings of variable length
        elements = ["position", "velocity", "force"] + (["box/edges"] if periodic else [])
        for element in elements:
            data = particles[element]
            assert data["step"] == particles["position/step"] and data["time"] == particles["position/time"], element
            assert len(data["value"]) == len(data["step"]) == len(data["time"]) == frames, element
            assert is_variable_length(data["value"].attrs.get_id("unit")), element
        assert is_variable_length(particles["position/time"].attrs.get_id("unit"))
        assert particles["position/step"].dtype == np.int64 and particles["position/time"].dtype == np.float64
        assert ("edges" in particles["box"]) == periodic
        # MDAnalysis expects one value of each observable per frame
        for name in case["observables"]:
            assert len(file[f"observables/{name}/value"]) == frames, name
        assert set(file["observables"]) == set(case["observables"])
        # attributes of MDTraj's HDF5 conventions
        conventions = {"conventions": "Pande", "conventionVersion": "1.1", "program": "md", "application": "md"}
        for name, value in conventions.items():
            found = file.attrs[name]
            assert (found.decode() if isinstance(found, bytes) else found) == value, name
        topology = file["topology"]
        assert topology.shape == (1,) and h5py.check_string_dtype(topology.dtype).length is not None
        chains = json.loads(topology[0])["chains"]
        atoms = [atom["index"] for chain in chains for residue in chain["residues"] for atom in residue["atoms"]]
        assert atoms == list(range(len(case["atom_names"])))
        units = {"coordinates": b"nanometers", "time": b"picoseconds", "velocities": b"nanometers/picosecond"}
        units |= {"cell_lengths": b"nanometers", "cell_angles": b"degrees"} if periodic else {}
        for name, unit in units.items():
            found = file[name].attrs["units"]
            assert (found.encode() if isinstance(found, str) else found) == unit, name
        assert file["time"] == particles["position/time"] and file["velocities"] == particles["velocity/value"]
        assert file["potentialEnergy"] == file["observables/potential_energy/value"]
        # bonds number atoms from 0
        assert file["connectivity/bonds"][:].max() < len(case["atom_names"])


def main():
    for case in json.loads(Path(sys.argv[1]).read_text()):
        check_mdanalysis(case)
        check_mdtraj(case)
        check_h5py(case)
        check_layout(case)
        print(f"{Path(case['file']).name}: same")


main()
