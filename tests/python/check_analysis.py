"""Compares results of `md analyze` with MDAnalysis, MDTraj and numpy: check_analysis.py FOLDER.

The folder holds trajectories out/trajectory.h5md, out/fine.xtc and out/few.dcd with final.pdb, the start.rst7 they come
from, and results rmsd-*.h5, pca-*.h5, rg-*.h5, rmsf-*.h5, dihedrals-*.h5, whose names say what they are;
chain/ has another trajectory. Ends with a traceback at the first difference. Lengths are nm, those of MDAnalysis Å.
"""

import itertools
import sys
import warnings
from pathlib import Path

import h5py
import MDAnalysis
import mdtraj
import numpy as np
from MDAnalysis.analysis.align import AlignTraj
from MDAnalysis.analysis.pca import PCA
from MDAnalysis.analysis.rms import RMSF, rmsd

warnings.simplefilter("ignore")

ANGSTROM = 0.1  # nm
# nm: results are in single precision (relative error 6e-8 of 0.1 nm). RMSDs are roots of differences of squares, with
# an error of 1e-16 of the squared radius divided by a deviation of 0.01 nm
DEVIATION = 1e-7
# nm: MDTraj superposes in single precision. The error is some times 6e-8 of a squared radius of 0.2 nm², divided by
# twice a deviation of 0.01 nm
SINGLE_DEVIATION = 5e-6
# relative: MDAnalysis rotates positions in single precision (error 6e-8 of 40 Å), which compares with deviations of
# about 0.1 Å
VARIANCE = 2e-4


def superposed_deviation(a, b, weights):
    """Least weighted root mean square deviation by singular values."""
    weights = weights / weights.sum()
    a, b = (x - weights @ x for x in (a, b))
    u, values, v = np.linalg.svd((a * weights[:, None]).T @ b)
    values[2] *= np.sign(np.linalg.det(u @ v))
    return np.sqrt(max(0.0, weights @ (a**2 + b**2).sum(axis=1) - 2 * values.sum()))


def turned(a, b, weights):
    """a turned onto b, both with their weighted centers at the origin."""
    u, _, v = np.linalg.svd((a * weights[:, None]).T @ b)
    return a @ (u * [1, 1, np.sign(np.linalg.det(u @ v))]) @ v


def pairs(result):
    frames = len(result["time"])
    return itertools.combinations(range(frames), 2)


def check_symmetric(matrix):
    assert matrix.dtype == np.float32
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_array_equal(np.diag(matrix), 0)


def check_heavy(folder, result, universe):
    """Equal weights: MDAnalysis and MDTraj."""
    chosen = universe.select_atoms("protein and not element H")
    np.testing.assert_array_equal(result["atoms"], chosen.indices)
    positions = [chosen.positions.astype(float) for _ in universe.trajectory]
    matrix = result["rmsd"][:]
    check_symmetric(matrix)
    assert matrix.max() > 0.01
    for a, b in pairs(result):
        expected = ANGSTROM * rmsd(positions[a], positions[b], center=True, superposition=True)
        assert abs(matrix[a, b] - expected) < DEVIATION, (a, b, matrix[a, b], expected)
    trajectory = mdtraj.load(str(folder / "out/trajectory.h5"))
    for a in range(len(matrix)):
        expected = mdtraj.rmsd(trajectory, trajectory, a, atom_indices=chosen.indices)
        others = np.arange(len(matrix)) != a
        np.testing.assert_allclose(matrix[a][others], expected[others], rtol=0, atol=SINGLE_DEVIATION)


def check_mass(_, result, universe):
    """Weighted by mass, every third frame: MDAnalysis."""
    with h5py.File(universe.trajectory.filename) as file:
        masses = file["particles/trajectory/mass"][:][result["atoms"]]
    assert result.attrs["weights"] == "mass"
    positions = [universe.atoms[result["atoms"]].positions.astype(float) for _ in universe.trajectory[::3]]
    np.testing.assert_allclose(result["time"], [step.time for step in universe.trajectory[::3]])
    for a, b in pairs(result):
        expected = ANGSTROM * rmsd(positions[a], positions[b], weights=masses, center=True, superposition=True)
        assert abs(result["rmsd"][a, b] - expected) < DEVIATION


def check_complex(_, result, universe):
    """A peptide and two waters: each water in the image that fits best to the first frame, found by trying all."""
    atoms = result["atoms"][:]
    with h5py.File(universe.trajectory.filename) as file:
        coordinates = file["coordinates"][:].astype(float)[:, atoms]
        cells = file["particles/trajectory/box/edges/value"][:].astype(float)
    waters = [slice(len(atoms) - 6, len(atoms) - 3), slice(len(atoms) - 3, len(atoms))]
    images = np.array(list(itertools.product([-1, 0, 1], repeat=3)))
    weights = np.ones(len(atoms))
    shifted = 0

    def moved(frame, cell, shifts):
        frame = frame.copy()
        for water, shift in zip(waters, shifts):
            frame[water] += shift @ cell
        return frame

    def nearest(frame, cell, water):
        candidates = frame[water].mean(axis=0) - frame[: len(atoms) - 6].mean(axis=0) + images @ cell
        return images[np.argmin((candidates**2).sum(axis=1))]

    first = moved(coordinates[0], cells[0], [nearest(coordinates[0], cells[0], water) for water in waters])
    for k, (frame, cell) in enumerate(zip(coordinates, cells)):
        best = min(
            itertools.product(images, images),
            key=lambda shifts: superposed_deviation(first, moved(frame, cell, shifts), weights),
        )
        coordinates[k] = moved(frame, cell, best)
        shifted += np.any(best)
    assert shifted > 0, "no molecule was across a face: this tests nothing"
    for a, b in pairs(result):
        expected = superposed_deviation(coordinates[a], coordinates[b], weights)
        assert abs(result["rmsd"][a, b] - expected) < DEVIATION, (a, b, result["rmsd"][a, b], expected)


def check_components(result, universe, selection, stride):
    """MDAnalysis superposes on the first frame too, and divides by one less than the number of frames."""
    chosen = universe.select_atoms(selection)
    np.testing.assert_array_equal(result["atoms"], chosen.indices)
    expected = PCA(universe, select=selection, align=True).run(step=stride).results
    found = result["eigenvalues"][:]
    frames = len(result["time"])
    assert len(found) <= min(3 * len(chosen), frames - 1)
    np.testing.assert_allclose(found.sum(), ANGSTROM**2 * expected.variance.sum(), rtol=VARIANCE)
    np.testing.assert_allclose(found[:4], ANGSTROM**2 * expected.variance[:4], rtol=VARIANCE)
    vectors = result["eigenvectors"][:].reshape(4, -1)
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(4), rtol=0, atol=1e-12)
    for k in range(4):
        # errors of the variances mix a principal component with its neighbour, by the error divided by the difference
        # of their variances
        others = np.delete(found, k)
        mixing = VARIANCE * found[k] / np.abs(others - found[k]).min()
        overlap = abs(vectors[k] @ expected.p_components[:, k])
        assert overlap > 1 - mixing, (k, overlap, mixing)
    projections = result["projections"][:]
    assert projections.shape == (frames, 4)
    np.testing.assert_allclose(projections.mean(axis=0), 0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(projections.var(axis=0, ddof=1), found[:4], rtol=1e-10)


def check_weighted(_, result, universe):
    """Mass-weighted: numpy on the frames as they are stored."""
    atoms = result["atoms"][:]
    with h5py.File(universe.trajectory.filename) as file:
        masses = file["particles/trajectory/mass"][:][atoms]
        coordinates = file["coordinates"][:].astype(float)[:, atoms]
    centered = [frame - masses @ frame / masses.sum() for frame in coordinates]
    deviations = np.array([turned(frame, centered[0], masses) * np.sqrt(masses)[:, None] for frame in centered])
    mean = deviations.mean(axis=0)
    start = masses @ coordinates[0] / masses.sum()
    np.testing.assert_allclose(result["mean"], mean / np.sqrt(masses)[:, None] + start, rtol=0, atol=1e-12)
    flat = (deviations - mean).reshape(len(deviations), -1)
    values, vectors = np.linalg.eigh(flat.T @ flat / (len(flat) - 1))
    count = len(result["eigenvalues"])
    np.testing.assert_allclose(result["eigenvalues"], values[::-1][:count], rtol=0, atol=1e-12 * values[-1])
    for k in range(4):
        found = result["eigenvectors"][k].reshape(-1)
        assert abs(found @ vectors[:, -1 - k]) > 1 - 1e-9
        np.testing.assert_allclose(result["projections"][:, k], flat @ found, rtol=0, atol=1e-12)


def masses_of(folder, atoms):
    with h5py.File(folder / "out/trajectory.h5md") as file:
        return file["particles/trajectory/mass"][:][atoms]


def check_gyration(folder, result, name, selection, stride):
    """Weighted by mass: MDAnalysis and MDTraj read the same file."""
    universe = MDAnalysis.Universe(folder / "out/final.pdb", folder / "out" / name)
    chosen = universe.select_atoms(selection)
    np.testing.assert_array_equal(result["atoms"], chosen.indices)
    masses = masses_of(folder, chosen.indices)
    universe.add_TopologyAttr("masses", masses_of(folder, slice(None)))
    expected, times = [], []
    for step in universe.trajectory[::stride]:
        expected.append(ANGSTROM * chosen.radius_of_gyration())
        times.append(step.time)
    np.testing.assert_allclose(result["time"], times, rtol=1e-6)
    # positions near 40 Å are in single precision
    np.testing.assert_allclose(result["rg"], expected, rtol=0, atol=3e-7)
    if name.endswith("h5md"):
        return
    structure = mdtraj.load(str(folder / "out/final.pdb")).topology
    other = mdtraj.load(str(folder / "out" / name), top=structure)[::stride].atom_slice(chosen.indices)
    # MDTraj computes the radius about the mean position, not the center of mass; the parallel axis theorem converts it
    away = np.average(other.xyz, axis=1, weights=masses) - other.xyz.mean(axis=1)
    about_center = mdtraj.compute_rg(other, masses=masses) ** 2 - (away**2).sum(axis=1)
    np.testing.assert_allclose(result["rg"][:] ** 2, about_center, rtol=0, atol=1e-6)


def check_reference(folder, result, universe, reference, weights, stride):
    """Every frame against one structure: MDAnalysis."""
    chosen = universe.select_atoms("protein and not element H")
    np.testing.assert_array_equal(result["atoms"], chosen.indices)
    weights = masses_of(folder, chosen.indices) if weights == "mass" else None
    reference = reference(chosen).astype(float)
    frames = [chosen.positions.astype(float) for _ in universe.trajectory[::stride]]
    expected = [ANGSTROM * rmsd(frame, reference, weights=weights, center=True, superposition=True) for frame in frames]
    assert max(expected) > 0.01
    np.testing.assert_allclose(result["rmsd"], expected, rtol=0, atol=DEVIATION)


def frame_of(universe, index):
    def positions(chosen):
        universe.trajectory[index]
        return chosen.positions.copy()

    return positions


def start_of(folder):
    def positions(chosen):
        start = MDAnalysis.Universe(folder / "out/final.pdb", folder / "start.rst7", format="RESTRT")
        return start.atoms[chosen.indices].positions

    return positions


def check_fluctuation(folder, result, universe, selection, reference, weighted, stride):
    """numpy on the frames as they are stored, superposed by singular values; equal weights also MDAnalysis."""
    chosen = universe.select_atoms(selection)
    atoms = result["atoms"][:]
    np.testing.assert_array_equal(atoms, chosen.indices)
    with h5py.File(folder / "out/trajectory.h5md") as file:
        coordinates = file["coordinates"][:].astype(float)[:, atoms]
    weights = masses_of(folder, atoms) if weighted else np.ones(len(atoms))
    centered = [frame - weights @ frame / weights.sum() for frame in coordinates]
    superposed = np.array([turned(frame, centered[reference], weights) for frame in centered[::stride]])
    expected = np.sqrt(superposed.var(axis=0).sum(axis=1))
    assert expected.min() > 1e-3
    np.testing.assert_allclose(result["rmsf"], expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(result["b_factor"], 8 / 3 * np.pi**2 * (expected / ANGSTROM) ** 2, rtol=1e-9)
    if weighted:
        return
    AlignTraj(universe, universe, select=selection, in_memory=True).run()
    # MDAnalysis rotates positions in single precision, as for VARIANCE
    np.testing.assert_allclose(result["rmsf"], ANGSTROM * RMSF(chosen).run().results.rmsf, rtol=VARIANCE)


def check_dihedrals(folder, result, kinds):
    """MDTraj, whose residues of an angle are found by order; its arithmetic is f32."""
    trajectory = mdtraj.load(str(folder / "out/trajectory.h5"))
    assert len(result["time"]) == len(trajectory)
    for name, compute in [
        ("phi", mdtraj.compute_phi),
        ("psi", mdtraj.compute_psi),
        ("omega", mdtraj.compute_omega),
        ("chi1", mdtraj.compute_chi1),
        ("chi2", mdtraj.compute_chi2),
    ]:
        atoms, expected = compute(trajectory)
        # residue of the second atom, because φ begins in the preceding residue
        residues = [trajectory.topology.atom(four[1]).residue.index for four in atoms]
        np.testing.assert_array_equal(result[f"{name}_residue"], residues)
        found = result[name][:]
        assert found.shape == expected.shape, (name, found.shape)
        if name not in kinds:
            continue
        off = (found - np.degrees(expected) + 180) % 360 - 180
        assert np.abs(off).max() < 2e-3, (name, np.abs(off).max())
        assert np.ptp(found) > 1


def main(folder):
    universe = MDAnalysis.Universe(folder / "out/final.pdb", folder / "out/trajectory.h5md")
    packed = MDAnalysis.Universe(folder / "out/final.pdb", folder / "out/fine.xtc")
    checks = {
        "rmsd-heavy": check_heavy,
        "rmsd-mass": check_mass,
        "rmsd-complex": check_complex,
        "pca-few": lambda _, result, u: check_components(result, u, "protein and not element H", 4),
        "pca-many": lambda _, result, u: check_components(result, u, "backbone", 1),
        "pca-weighted": check_weighted,
        "rg-h5md": lambda f, r, _: check_gyration(f, r, "trajectory.h5md", "protein and not element H", 1),
        "rg-xtc": lambda f, r, _: check_gyration(f, r, "fine.xtc", "protein", 1),
        "rg-dcd": lambda f, r, _: check_gyration(f, r, "few.dcd", "protein and not element H", 2),
        "rmsd-first": lambda f, r, u: check_reference(f, r, u, frame_of(u, 0), "equal", 1),
        "rmsd-seventh": lambda f, r, u: check_reference(f, r, u, frame_of(u, 7), "mass", 2),
        "rmsd-start": lambda f, r, _: check_reference(f, r, packed, start_of(f), "equal", 1),
    }
    checks["rmsf-weighted"] = lambda f, r, u: check_fluctuation(f, r, u, "protein", 7, True, 2)
    # MDTraj finds no ω for a residue between two caps
    checks["dihedrals-water"] = lambda f, r, _: check_dihedrals(f, r, ["phi", "psi", "chi1"])
    checks["dihedrals-chain"] = lambda f, r, _: check_dihedrals(f / "chain", r, ["phi", "psi", "omega", "chi1", "chi2"])
    # this check is the last, because it superposes the frames of the universe in place
    checks["rmsf-first"] = lambda f, r, u: check_fluctuation(f, r, u, "protein and not element H", 0, False, 1)
    for name, check in checks.items():
        with h5py.File(folder / f"{name}.h5") as result:
            check(folder, result, universe)
        print(f"{name}: same")


main(Path(sys.argv[1]))
