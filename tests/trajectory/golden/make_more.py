"""Makes the TRR, AMBER NetCDF and PDB files of this folder with other programs.

    python make_more.py     MDAnalysis 2.11.0, mdtraj 1.11.1, netCDF4 1.7.5, NumPy 2.4

Positions are those of make.py; velocities (nm/ps) and forces (kJ/mol/nm) follow from them, see `velocities`, `forces`.
"""

import warnings
from pathlib import Path

import MDAnalysis
import mdtraj
import netCDF4
import numpy as np
from MDAnalysis.lib.mdamath import triclinic_box

warnings.simplefilter("ignore")
HERE = Path(__file__).parent
FRAMES = 3
CELL = np.array([[3.0, 0, 0], [1.0, 4.0, 0], [-1.0, 1.0, 5.0]])
EDGES = triclinic_box(*CELL)
KCAL = 4.184


def positions(atoms, frame):
    i, axis = np.mgrid[:atoms, :3]
    return 0.137 * ((i * (axis + 2) + 3 * frame) % 23) + 0.05 * axis


def velocities(atoms, frame):
    return 0.5 * positions(atoms, frame + 1) - 0.3


def forces(atoms, frame):
    return -200 * positions(atoms, frame + 2) + 77


def mdanalysis(name, atoms, full=True, **options):
    universe = MDAnalysis.Universe.empty(atoms, trajectory=True, velocities=full, forces=full)
    for attribute in ("names", "resnames", "elements"):
        universe.add_TopologyAttr(attribute, ["C"] * (1 if attribute == "resnames" else atoms))
    with MDAnalysis.Writer(str(HERE / name), atoms, **options) as writer:
        for frame in range(FRAMES):
            universe.atoms.positions = 10 * positions(atoms, frame)
            if full:
                universe.atoms.velocities = 10 * velocities(atoms, frame)
                universe.atoms.forces = forces(atoms, frame) / 10
            universe.trajectory.ts.time = 0.5 * frame
            universe.trajectory.ts.frame = frame
            universe.dimensions = [*(10 * EDGES[:3]), *EDGES[3:]]
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


def netcdf(name, atoms, kind):
    """All variables with factors, unknown ones beside them, through the library of Unidata."""
    with netCDF4.Dataset(HERE / name, "w", format=kind) as file:
        file.Conventions, file.ConventionVersion = "AMBER", "1.0"
        for dimension, length in [("frame", None), ("spatial", 3), ("atom", atoms), ("odd", 7)]:
            file.createDimension(dimension, length)
        file.createVariable("note", "S1", ("frame", "odd"))
        vectors = ("frame", "atom", "spatial")
        for variable, width, shape, unit, factor, value in [
            ("time", "f8", ("frame",), "picosecond", 1, lambda frame: 0.5 * frame),
            ("cell_lengths", "f4", ("frame", "spatial"), "angstrom", 10, lambda frame: 10 * EDGES[:3]),
            ("cell_angles", "f8", ("frame", "spatial"), "degree", 1, lambda frame: EDGES[3:]),
            ("forces", "f8", vectors, "kilocalorie/mole/angstrom", 2, lambda frame: forces(atoms, frame) / KCAL / 10),
            ("velocities", "f4", vectors, "angstrom/picosecond", 20.455, lambda frame: 10 * velocities(atoms, frame)),
            ("coordinates", "f8", vectors, "angstrom", 0.5, lambda frame: 10 * positions(atoms, frame)),
        ]:
            made = file.createVariable(variable, width, shape)
            made.units, made.scale_factor = unit, float(factor)
            for frame in range(FRAMES):
                made[frame] = value(frame)


def double_trr(name, atoms):
    """Numbers of 64 bits, and frames of velocities only between the others, by the description of the format."""
    with open(HERE / name, "wb") as file:
        for frame in range(FRAMES):
            size = 24 * atoms
            for x, f in [(size, size), (0, 0)]:
                words = [1993, 13, 12], [0, 0, 72, 0, 0, 0, 0, x, size, f, atoms, 1000 + 250 * frame, 0]
                file.write(np.array(words[0], ">i4").tobytes() + b"GMX_trn_file" + np.array(words[1], ">i4").tobytes())
                blocks = [[2 + 0.5 * frame, 0], CELL]
                blocks += [positions(atoms, frame)] if x else []
                blocks += [velocities(atoms, frame)]
                blocks += [forces(atoms, frame)] if f else []
                file.write(b"".join(np.array(block, ">f8").tobytes() for block in blocks))


def main():
    mdanalysis("mdanalysis.trr", 24, dt=0.5)
    with_mdtraj("mdtraj.trr", 24)
    double_trr("double.trr", 7)
    mdanalysis("mdanalysis.ncdf", 24, dt=0.5, velocities=True, forces=True)
    with_mdtraj("mdtraj.nc", 24)
    for kind, name in [("NETCDF3_CLASSIC", "1"), ("NETCDF3_64BIT_OFFSET", "2"), ("NETCDF3_64BIT_DATA", "5")]:
        netcdf(f"scaled-{name}.nc", 7, kind)
    mdanalysis("mdanalysis.pdb", 24, full=False, multiframe=True)
    with_mdtraj("mdtraj.pdb", 24)


main()
