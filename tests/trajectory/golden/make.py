"""Makes the files of this folder with other programs: MDAnalysis, MDTraj, and Fortran records by SciPy.

    python make.py          MDAnalysis 2.11.0, mdtraj 1.11.1, SciPy 1.16

The position of an atom along an axis in a frame is a formula (`positions`), which tests/trajectory/golden.rs repeats.
Lengths are nm here, Å in DCD.
"""

import warnings
from pathlib import Path

import MDAnalysis
import mdtraj
import numpy as np
from MDAnalysis.lib.mdamath import triclinic_box
from scipy.io import FortranFile

warnings.simplefilter("ignore")
HERE = Path(__file__).parent
FRAMES = 3
# rows a, b, c in nm, lower-triangular; edges and angles of the same cell follow
CELL = np.array([[3.0, 0, 0], [1.0, 4.0, 0], [-1.0, 1.0, 5.0]])
EDGES = triclinic_box(*CELL)
AKMA = 0.0488882129  # ps


def positions(atoms, frame):
    i, axis = np.mgrid[:atoms, :3]
    return 0.137 * ((i * (axis + 2) + 3 * frame) % 23) + 0.05 * axis


def mdanalysis(name, atoms, periodic=True, **options):
    universe = MDAnalysis.Universe.empty(atoms, trajectory=True)
    universe.trajectory.units = {"time": "ps", "length": "Angstrom"}
    with MDAnalysis.Writer(str(HERE / name), atoms, dt=0.5, **options) as writer:
        for frame in range(FRAMES):
            universe.atoms.positions = 10 * positions(atoms, frame)
            universe.trajectory.ts.time = 0.5 * frame
            universe.trajectory.ts.frame = frame
            universe.dimensions = [*(10 * EDGES[:3]), *EDGES[3:]] if periodic else None
            writer.write(universe.atoms)


def with_mdtraj(name, atoms):
    topology = mdtraj.Topology()
    residue = topology.add_residue("X", topology.add_chain())
    for _ in range(atoms):
        topology.add_atom("C", mdtraj.element.carbon, residue)
    frames = np.array([positions(atoms, frame) for frame in range(FRAMES)])
    trajectory = mdtraj.Trajectory(frames, topology, time=0.5 * np.arange(FRAMES))
    trajectory.unitcell_vectors = np.array([CELL] * FRAMES)
    trajectory.save(str(HERE / name))


def fortran(name, atoms, order, marker, cell=None, charmm=24, fourth=False, fixed=0, turn=np.eye(3)):
    """A DCD by the description of the format: frames every 250 steps of 2 fs from step 1000, positions turned."""
    words = np.zeros(20, order + "i4")
    # the number of frames in the header is wrong, as after a crash
    words[:4] = [1, 1000, 250, 0]
    words[8] = fixed
    timestep = 0.002 / AKMA
    words[9:10] = np.array([timestep], order + "f4").view(order + "i4")
    if not charmm:
        words[9:11] = np.array([timestep], order + "f8").view(order + "i4")
    else:
        words[10], words[11], words[19] = cell is not None, fourth, charmm
    with FortranFile(HERE / name, "w", header_dtype=order + marker) as file:
        file.write_record(np.frombuffer(b"CORD", "u1"), words.view("u1"))
        file.write_record(np.array([1], order + "i4").view("u1"), np.frombuffer(b"made by SciPy".ljust(80), "u1"))
        file.write_record(np.array([atoms], order + "i4"))
        for frame in range(FRAMES):
            if cell is not None:
                file.write_record(np.array(cell, order + "f8"))
            for axis in range(3):
                file.write_record((10 * positions(atoms, frame) @ turn)[:, axis].astype(order + "f4"))
            if fourth:
                file.write_record(np.zeros(atoms, order + "f4"))


def symmetric(cell):
    """The same lattice turned by Q so that its matrix is symmetric, H = L Q with H² = L Lᵀ; and Q."""
    values, vectors = np.linalg.eigh(cell @ cell.T)
    h = vectors @ np.diag(np.sqrt(values)) @ vectors.T
    return 10 * h[[0, 1, 1, 2, 2, 2], [0, 0, 1, 0, 1, 2]], np.linalg.inv(cell) @ h


def main():
    mdanalysis("mdanalysis.xtc", 24)
    mdanalysis("mdanalysis-plain.xtc", 5)
    mdanalysis("mdanalysis-fine.xtc", 24, precision=4)
    mdanalysis("mdanalysis.dcd", 24)
    mdanalysis("mdanalysis-vacuum.dcd", 5, periodic=False)
    mdanalysis("mdanalysis.h5md", 24)
    with_mdtraj("mdtraj.h5", 24)
    with_mdtraj("mdtraj.xtc", 24)
    with_mdtraj("mdtraj.dcd", 24)
    a, b, c, alpha, beta, gamma = EDGES
    degrees = [10 * a, gamma, 10 * b, beta, alpha, 10 * c]
    cosines = [10 * a, *np.cos(np.radians([gamma])), 10 * b, *np.cos(np.radians([beta, alpha])), 10 * c]
    fortran("little-degrees.dcd", 7, "<", "u4", degrees)
    fortran("big-cosines.dcd", 7, ">", "u4", cosines)
    shape, turn = symmetric(CELL)
    fortran("little-64-symmetric.dcd", 7, "<", "u8", shape, turn=turn)
    fortran("big-64-fourth.dcd", 7, ">", "u8", degrees, fourth=True)
    fortran("xplor.dcd", 7, "<", "u4", charmm=0)
    fortran("fixed.dcd", 7, "<", "u4", degrees, fixed=3)


main()
