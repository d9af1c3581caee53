"""Comparisons of the observables of `md analyze` with MDAnalysis, MDTraj, pymbar, SciPy or plain NumPy.

Every function compares one observable of a `Case` and yields rows: quantity, other program, largest deviation, largest
deviation that rounding explains, unit and the reason of this tolerance. Lengths are in nm. `case.delta` is the largest
rounding of a coordinate that the other program reads with 32 bits, and `case.apart` the largest error of a distance
that follows from it.
"""

import csv
import itertools
import warnings

import mdtraj
import numpy as np
from MDAnalysis.analysis import align, contacts, pca, rms
from MDAnalysis.analysis.dielectric import DielectricConstant
from MDAnalysis.analysis.hydrogenbonds import HydrogenBondAnalysis
from MDAnalysis.analysis.leaflet import LeafletFinder
from MDAnalysis.analysis.lineardensity import LinearDensity
from MDAnalysis.analysis.msd import EinsteinMSD
from MDAnalysis.analysis.rdf import InterRDF
from MDAnalysis.lib.correlations import autocorrelation
from MDAnalysis.lib.distances import calc_angles, calc_bonds, calc_dihedrals, capped_distance
from mdtraj.geometry.sasa import _ATOMIC_RADII
from pymbar import timeseries
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.integrate import cumulative_trapezoid
from scipy.spatial import KDTree
from scipy.spatial.distance import squareform

from systems import ANGSTROM, lattice

SINGLE = 2.0**-24  # relative rounding of 32-bit numbers
DOUBLE = 1e-10  # relative; sums of up to 1e5 numbers of 64 bits
POSITIONS = "coordinates rounded to 32 bits"
SETS = "the same set; no item is at the limit"

REGISTRY = {}


def observable(name, applies=lambda system: True):
    """Registers the comparison of an observable, and the systems to which it applies."""

    def register(function):
        REGISTRY[name] = (function, applies)
        return function

    return register


def of_protein(system):
    return system.protein


def largest(a, b):
    """Largest deviation of two arrays of one shape."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    assert a.shape == b.shape, (a.shape, b.shape)
    return np.abs(a - b).max()


def sets(name, program, found, expected):
    """Row of the number of items that only one of two sets of lists contains."""
    different = sum(len(set(a) ^ set(b)) for a, b in zip(found, expected, strict=True))
    return name, program, different, 0, "items", SETS


def numbers(name, program, found, expected):
    """Row of the largest difference of numbers of items."""
    return name, program, largest(found, expected), 0, "items", SETS


def exact(name, program, found, expected, unit=""):
    """Row of values that both programs compute in 64 bits from the same numbers."""
    scale = np.abs(expected).max()
    return name, program, largest(found, expected), DOUBLE * scale, unit, "64 bits in both programs"


def occupancies(items):
    """Fraction of frames of every item in a list of sets."""
    everything = set().union(*items)
    return {item: sum(item in frame for frame in items) / len(items) for item in everything}


def same_occupancies(name, program, pairs, values, items):
    """Row of the largest difference of occupancies; an item that only one program knows counts with its occupancy."""
    found = {tuple(int(atom) for atom in pair): value for pair, value in zip(pairs, values, strict=True)}
    expected = occupancies(items)
    different = [abs(found.get(pair, 0) - expected.get(pair, 0)) for pair in found.keys() | expected.keys()]
    return name, program, max(different, default=0), DOUBLE, "", "fractions of frames"


def squared_norm(vectors):
    return np.einsum("...i,...i", vectors, vectors)


def group_frames(case, group):
    return case.whole[:, case.indices(group)]


@observable("rmsd")
def rmsd(case):
    select = ["--select", case.text("heavy")]
    found = case.analyze("rmsd", *select, "--per-residue")
    yield numbers("selected atoms", "MDAnalysis", np.setxor1d(found["atoms"], case.indices("heavy")).size, 0)
    yield "rmsd", "MDAnalysis", largest(found["rmsd"][1:], rmsd_from_first(case)), case.apart, "nm", POSITIONS
    expected = rmsd_of_residues(case, found["residue"])[1:]
    why = "result in 32 bits; rotation from 64 bits"
    yield "rmsd per residue", "MDAnalysis", largest(found["rmsd_residue"][1:], expected), 1e-7, "nm", why
    found = case.analyze("rmsd", *select, "--mass-weighted")["rmsd"][1:]
    yield (
        "rmsd by mass",
        "MDAnalysis",
        largest(found, rmsd_from_first(case, weights="mass")),
        case.apart,
        "nm",
        POSITIONS,
    )
    found = case.analyze("rmsd", *select, "--no-superposition")["rmsd"]
    yield exact("rmsd, not superposed", "numpy", found, rmsd_of_nearest_images(case), "nm")


def rmsd_from_first(case, **weights):
    """RMSD (nm) of all frames but the first from the first, by MDAnalysis."""
    group = case.universe().atoms[case.indices("heavy")]
    return rms.RMSD(group, **weights).run().results.rmsd[1:, 2] / ANGSTROM


def rmsd_of_residues(case, residues):
    """RMSD (nm) of residues after superposition of the group with the rotation of MDAnalysis."""
    positions, of_atoms = group_frames(case, "heavy"), case.atoms.resindices[case.indices("heavy")]
    centered = positions - positions.mean(axis=1, keepdims=True)
    rotations = [align.rotation_matrix(frame, centered[0])[0] for frame in centered]
    squares = [squared_norm(frame @ rotation.T - centered[0]) for frame, rotation in zip(centered, rotations)]
    return [[np.sqrt(row[of_atoms == residue].mean()) for residue in residues] for row in squares]


def rmsd_of_nearest_images(case):
    """RMSD (nm) from the first frame without superposition, in the image of the group that is closest to this frame."""
    positions = group_frames(case, "heavy")
    shifts = [lattice(box)[:, None] for box in case.boxes]
    squares = [squared_norm(frame - positions[0] + shift).mean(axis=1) for frame, shift in zip(positions, shifts)]
    return np.sqrt([square.min() for square in squares])


@observable("rmsf")
def rmsf(case):
    found = case.analyze("rmsf", "--select", case.text("heavy"))
    universe = case.universe()
    group = universe.atoms[case.indices("heavy")]
    align.AlignTraj(
        universe, universe.copy(), select="index " + " ".join(map(str, group.indices)), in_memory=True
    ).run()
    other = rms.RMSF(group).run().results.rmsf / ANGSTROM
    tolerance, why = 2 * case.apart, "rounded to 32 bits before and after superposition"
    yield "rmsf", "MDAnalysis", largest(found["rmsf"], other), tolerance, "nm", why
    factors = 8 / 3 * np.pi**2 * (ANGSTROM * other) ** 2
    error = 16 / 3 * np.pi**2 * ANGSTROM**2 * other.max() * tolerance
    yield "B-factor", "MDAnalysis", largest(found["b_factor"], factors), error, "Å²", why


@observable("rg")
def rg(case):
    found = case.analyze("rg", "--select", case.text("heavy"))
    universe = case.universe()
    group = universe.atoms[case.indices("heavy")]
    values = [(group.radius_of_gyration(), np.sort(group.gyration_moments())[::-1]) for _ in universe.trajectory]
    radii, moments = (np.array(part) for part in zip(*values))
    yield "rg", "MDAnalysis", largest(found["rg"], radii / ANGSTROM), case.apart, "nm", POSITIONS
    error = 2 * case.apart * radii.max() / ANGSTROM
    yield "tensor of gyration", "MDAnalysis", largest(found["eigenvalues"], moments / 100), error, "nm²", POSITIONS


def centers(case):
    """Centers of mass (Å) of the four points of a system, by frame, as md selects them."""
    universe = case.universe()
    groups = [universe.select_atoms(to_mdanalysis(text)) for text in case.system.points]
    return np.array([[group.center_of_mass() for group in groups] for _ in universe.trajectory])


def to_mdanalysis(text):
    """Selection of points in the language of MDAnalysis, which does not know lipids."""
    return text.replace("lipid", "resname POP*").replace("nucleic and resid", "nucleic and resnum")


@observable("distances")
def distances(case):
    points, pairs = centers(case), list(itertools.combinations(range(4), 2))
    options = [text for a, b in pairs for text in ("--between", case.system.points[a], case.system.points[b])]
    found = case.analyze("distances", *options)["distance"]
    other = [
        [calc_bonds(frame[a], frame[b], box=box) / ANGSTROM for a, b in pairs]
        for frame, box in zip(points, case.dimensions)
    ]
    yield "distances", "MDAnalysis", largest(found, other), case.apart, "nm", f"{POSITIONS}, cells too"


@observable("angles")
def angles(case):
    points, texts = centers(case), case.system.points
    found = case.analyze("angles", "--of", *texts[:3], "--of", *texts[1:], "--torsion", *texts)["angle"]
    other, arms = [], []
    for frame, box in zip(points, case.dimensions):
        measured = [calc_angles(*frame[:3], box=box), calc_angles(*frame[1:], box=box), calc_dihedrals(*frame, box=box)]
        other.append(np.degrees(measured))
        lengths = [calc_bonds(frame[i], frame[i + 1], box=box) / ANGSTROM for i in range(3)]
        arms.append(min(lengths) * min(1, *np.sin(measured[:2])))
    turned = np.abs(np.array(found) - other)
    deviation = np.minimum(turned, 360 - turned).max()
    tolerance = np.degrees(3 * case.apart / min(arms))
    yield "angles, torsion", "MDAnalysis", deviation, tolerance, "°", f"{POSITIONS}, over the shortest lever"


@observable("end-to-end")
def end_to_end(case):
    found = case.analyze("end-to-end", "--select", case.text("ends"))["distance"]
    chains = [atoms for atoms in np.split(case.indices("ends"), chain_starts(case)) if len(atoms) > 1]
    other = [[calc_bonds(*(ANGSTROM * frame[atoms[[0, -1]]])) / ANGSTROM for atoms in chains] for frame in case.whole]
    yield "end-to-end", "MDAnalysis", largest(found, other), case.apart, "nm", POSITIONS


def chain_starts(case):
    """Places in the group `ends` at which another molecule begins."""
    return np.flatnonzero(np.diff(case.atoms.fragindices[case.indices("ends")])) + 1


def near(case, frame, first, second, cutoff):
    """Pairs of places in two groups of atoms within a cutoff (nm), and distances (nm), by MDAnalysis."""
    positions = ANGSTROM * case.whole[frame]
    found = capped_distance(positions[first], positions[second], ANGSTROM * cutoff, box=case.dimensions[frame])
    return found[0], found[1] / ANGSTROM


@observable("contacts")
def native_contacts(case):
    cutoff, separation = 0.45, case.system.separation
    found = case.analyze("contacts", "--select", case.text("touching"), "--separation", str(separation))
    atoms = case.indices("touching")
    residues, molecules = case.atoms.resindices[atoms], case.atoms.fragindices[atoms]
    lists = [near(case, frame, atoms, atoms, cutoff) for frame in range(case.frames)]
    pairs, initial = lists[0]
    between = np.abs(np.subtract(*residues[pairs].T))
    apart = (between > separation) | ((between > 0) & (np.subtract(*molecules[pairs].T) != 0))
    keep = apart & (pairs[:, 0] < pairs[:, 1])
    pairs, initial = pairs[keep], ANGSTROM * initial[keep]
    soft, hard = [], []
    for positions, box in zip(case.whole, case.dimensions):
        r = calc_bonds(*(ANGSTROM * positions[atoms[pairs[:, k]]] for k in (0, 1)), box=box)
        soft.append(contacts.soft_cut_q(r, initial, beta=5.0, lambda_constant=1.8))
        hard.append(contacts.hard_cut_q(r, ANGSTROM * cutoff))
    # |dQ/dr| is at most beta/4; the distance and its reference may be off
    tolerance = 50 / 4 * 2.8 * case.apart
    yield "q, soft", "MDAnalysis", largest(found["q"], soft), tolerance, "", "rounding to 32 bits, times β/4"
    yield "native fraction", "MDAnalysis", largest(found["fraction"], hard), DOUBLE, "", SETS
    count = len(found["contact_map"])
    rank = np.unique(residues, return_inverse=True)[1]
    expected = np.zeros((count, count))
    for pairs, _ in lists:
        touched = np.zeros((count, count), bool)
        touched[rank[pairs[:, 0]], rank[pairs[:, 1]]] = True
        expected += touched
    expected = expected / case.frames
    np.fill_diagonal(expected, 1)
    yield (
        "contact map",
        "MDAnalysis, numpy",
        largest(found["contact_map"], expected),
        2 * SINGLE,
        "",
        "stored in 32 bits",
    )


@observable("rdf")
def rdf(case):
    bins, end = 70, 0.7
    why = "pairs at the edges of bins, rounded to 32 bits"
    for group, exclude, name in [("oxygen", (1, 1), "of water"), ("heavy", None, "solute to water")]:
        groups = ["--select", case.text(group), "--with", case.text("oxygen")]
        found = case.analyze("rdf", *groups, "--range", f"{end} nm", "--bin", f"{end / bins} nm")
        atoms = case.universe().atoms
        pair = [atoms[case.indices(name)] for name in (group, "oxygen")]
        other = InterRDF(*pair, nbins=bins, range=(0, ANGSTROM * end), exclusion_block=exclude).run().results
        total = other.count
        # number of pairs whose distance may move over an edge of a bin because of rounding, plus three standard
        # deviations of this number
        moved = 2 * case.apart / (end / bins) * total
        moved += 3 * np.sqrt(moved) + 1
        scale = np.divide(other.rdf, total, out=np.zeros(bins), where=total > 0)
        yield f"g(r) {name}", "MDAnalysis", largest(found["g"], other.rdf), (moved * scale).max(), "", why
        count = len(pair[0]) * case.frames
        deviation = largest(found["coordination_number"], np.cumsum(total) / count)
        yield f"coordination number {name}", "MDAnalysis", deviation, moved.max() / count, "", why


def without_jumps(case, positions):
    """Paths of points (frame × point × 3) whose steps are minimum images."""
    steps = np.diff(positions, axis=0)
    for step, box in zip(steps, case.boxes[1:]):
        step -= np.round(step @ np.linalg.inv(box)) @ box
        # in a skewed cell, rounding fractional coordinates need not give the nearest image
        far = np.flatnonzero(squared_norm(step) > 0.01)
        images = step[far, None] + lattice(box)
        step[far] = images[np.arange(len(far)), squared_norm(images).argmin(axis=1)]
    return np.concatenate([positions[:1], positions[:1] + np.cumsum(steps, axis=0)])


def mean_square(paths):
    """Mean square displacement by lag and axis, over all origins."""
    lags = range(len(paths))
    return np.array([((paths[lag:] - paths[: len(paths) - lag]) ** 2).mean(axis=(0, 1)) for lag in lags])


def molecule_centers(case, values, atoms):
    """Centers of mass of `values` (frame × atom × 3) of the molecules to which the atoms belong."""
    masses, molecules = case.atoms.masses[atoms], case.atoms.fragindices[atoms]
    starts = np.flatnonzero(np.diff(molecules, prepend=-1))
    sums = np.add.reduceat(values[:, atoms] * masses[:, None], starts, axis=1)
    return sums / np.add.reduceat(masses, starts)[:, None]


@observable("msd")
def msd(case):
    found = case.analyze("msd", "--select", case.text("oxygen"), "--atoms")
    paths = without_jumps(case, case.stored[:, case.indices("oxygen")])
    positions = case.whole.copy()
    positions[:, case.indices("oxygen")] = paths
    universe = case.universe(positions)
    select = "index " + " ".join(map(str, case.indices("oxygen")))
    other = EinsteinMSD(universe, select=select, msd_type="xyz", fft=False).run().results.timeseries / ANGSTROM**2
    error = 2 * case.apart * np.sqrt(other.max())
    yield "msd of atoms", "MDAnalysis", largest(found["msd"], other), error, "nm²", POSITIONS
    atoms = case.indices("water")
    found = case.analyze("msd", "--select", case.text("water"))
    expected = mean_square(without_jumps(case, molecule_centers(case, case.whole, atoms)))
    yield exact("msd of molecules", "numpy", found["msd"], expected.sum(axis=1), "nm²")
    last = case.frames - 1
    chosen = np.arange(max(1, round(0.1 * last)), round(0.5 * last) + 1)
    slope = np.polyfit(found["lag"][chosen], expected.sum(axis=1)[chosen], 1)[0]
    yield exact("diffusion coefficient", "numpy", case.number("diffusion"), 1000 * slope / 6, "10⁻⁵ cm²/s")
    plane = case.analyze("msd", "--select", case.text("water"), "--axes", "xy")["msd"]
    yield exact("msd of molecules in the plane xy", "numpy", plane, expected[:, :2].sum(axis=1), "nm²")


def profile(case, weights, bins, center=None):
    """Mean density along the third lattice vector, per nm³; with the center of mass of a group in the middle."""
    found = np.zeros(bins)
    for frame, box in zip(case.whole, case.boxes):
        fraction = (frame @ np.linalg.inv(box))[:, 2]
        if center is not None:
            fraction = fraction - np.average(fraction[center], weights=case.atoms.masses[center]) + 0.5
        places = np.minimum((fraction % 1 * bins).astype(int), bins - 1)
        found += np.bincount(places, weights, bins) * bins / np.linalg.det(box)
    return found / case.frames


AMU = 1.66053906660  # kg/m³ nm³


@observable("density")
def density(case):
    bins, groups = 100, [("mass", None), ("mass", "solute"), ("charge", None), ("number", None)]
    weights = {
        "mass": (AMU * case.atoms.masses, "kg/m³"),
        "charge": (case.atoms.charges, "e/nm³"),
        "number": (np.ones(len(case.atoms)), "1/nm³"),
    }
    for kind, group in groups:
        values, unit = weights[kind]
        center = [] if group is None else ["--center", case.text(group)]
        found = case.analyze("density", "--of", kind, "--bins", str(bins), *center)["density"]
        expected = profile(case, values, bins, None if group is None else case.indices(group))
        name = f"{kind} density" + (", centered" if group else "")
        if kind == "charge":
            error = 1e-6 * np.abs(values).max() * np.sqrt(len(values)) * bins / np.linalg.det(case.boxes[0])
            yield name, "numpy", largest(found, expected), error, unit, "charges of seven digits"
        else:
            yield exact(name, "numpy", found, expected, unit)
        if kind == "mass" and group is None and is_long_brick(case):
            # LinearDensity itself wraps atoms into the cell, in single precision
            universe = case.universe()
            size = ANGSTROM * case.boxes[0, 2, 2] / bins * (1 - 1e-6)
            other = LinearDensity(universe.atoms, grouping="atoms", binsize=size).run().results.z.mass_density * 1000
            atom = values.max() * bins / np.linalg.det(case.boxes[0]) / case.frames
            yield name, "MDAnalysis", largest(found, other), 3 * atom, unit, "three atoms at the edge of a bin"


def is_long_brick(case):
    """Whether the cell is rectangular and not shorter along z than along x and y, as the bins of LinearDensity need."""
    return np.allclose(case.dimensions[:, 3:], 90) and np.all(case.boxes[:, 2, 2] >= case.boxes.max(axis=(1, 2)))


def bonds_by_mdanalysis(case, donors, acceptors):
    """Hydrogen bonds of each frame by MDAnalysis, with the angle of Luzar and Chandler: sets of D, H, A."""
    universe = case.universe()
    if not len(donors):
        return [set()] * case.frames
    hydrogens = [hydrogen for donor in universe.atoms[donors] for hydrogen in hydrogens_of(donor)]
    select = ["index " + " ".join(map(str, atoms)) for atoms in (donors, hydrogens, acceptors)]
    options = dict(zip(("donors_sel", "hydrogens_sel", "acceptors_sel"), select))
    analysis = HydrogenBondAnalysis(universe, **options, d_a_cutoff=3.5, d_h_a_angle_cutoff=0.0)
    found = analysis.run().results.hbonds
    frames = [set() for _ in range(case.frames)]
    for frame, *atoms in found[:, :4].astype(int):
        donor, hydrogen, acceptor = (ANGSTROM * case.whole[frame, atom] for atom in atoms)
        if np.degrees(calc_angles(hydrogen, donor, acceptor, box=case.dimensions[frame])) <= 30:
            frames[frame].add(tuple(int(atom) for atom in atoms))
    return frames


def polar(case, group, hydrogens=False):
    """Atoms N, O and S of a group; only those with a hydrogen if `hydrogens`."""
    atoms = case.atoms[case.indices(group)]
    found = atoms.select_atoms("name N* O* S*")
    return np.array([atom.index for atom in found if not hydrogens or hydrogens_of(atom)], int)


def hydrogens_of(atom):
    return [other.index for other in atom.bonded_atoms if other.name.lstrip("0123456789").startswith("H")]


@observable("hbonds")
def hbonds(case):
    solute = case.text("solute")
    options = ["--select", solute, "--with", case.text("water"), "--both"]
    found = case.analyze("hbonds", *options)
    directions = [("solute", "water"), ("water", "solute")]
    lists = [bonds_by_mdanalysis(case, polar(case, donors, True), polar(case, to)) for donors, to in directions]
    expected = [set().union(*frames) for frames in zip(*lists)]
    yield from compare_bonds("Luzar–Chandler, with water", "MDAnalysis", found, expected)
    lag = [sum(len(a & b) for a, b in zip(expected, expected[k:])) / (case.frames - k) for k in range(case.frames)]
    yield exact("correlation of hydrogen bonds", "numpy", found["correlation"], np.array(lag) / lag[0])
    if not case.system.protein:
        return
    found = case.analyze("hbonds", "--select", f"{solute} and not element S", "--criterion", "baker-hubbard")
    part = case.mdtraj.atom_slice(case.indices("solute"))
    expected = [
        {tuple(case.indices("solute")[bond].tolist()) for bond in mdtraj.baker_hubbard(frame, freq=0.0)}
        for frame in part
    ]
    yield from compare_bonds("Baker–Hubbard", "MDTraj", found, expected)


def compare_bonds(name, program, found, expected):
    yield numbers(f"{name}: number in a frame", program, found["number"], list(map(len, expected)))
    pairs = np.transpose([found[end] for end in ("donor", "hydrogen", "acceptor")])
    yield same_occupancies(f"{name}: bonds", program, pairs, found["occupancy"], expected)


@observable("water-bridges")
def water_bridges(case):
    found = case.analyze("water-bridges", "--select", case.text("solute"), "--water", case.text("water"))
    residues = case.atoms.resindices
    given = bonds_by_mdanalysis(case, polar(case, "solute", True), polar(case, "water"))
    taken = bonds_by_mdanalysis(case, polar(case, "water", True), polar(case, "solute"))
    waters, expected = [], []
    for frame_given, frame_taken in zip(given, taken):
        bonds = {(residues[a], residues[d]) for d, _, a in frame_given}
        bonds |= {(residues[d], residues[a]) for d, _, a in frame_taken}
        bridged = {water: sorted(int(b) for a, b in bonds if a == water) for water, _ in bonds}
        waters.append(sum(len(own) > 1 for own in bridged.values()))
        expected.append({pair for own in bridged.values() for pair in itertools.combinations(own, 2)})
    yield numbers("bridging waters", "MDAnalysis, numpy", found["number"], waters)
    if any(expected):
        yield same_occupancies("bridged residues", "MDAnalysis, numpy", found["residues"], found["occupancy"], expected)


@observable("salt-bridges", of_protein)
def salt_bridges(case):
    acids = case.atoms.select_atoms("(resname ASP and name OD1 OD2) or (resname GLU and name OE1 OE2)").indices
    bases = case.atoms.select_atoms(
        "(resname LYS and name NZ) or (resname ARG and name NE NH1 NH2) or (resname HIP and name ND1 NE2)"
    ).indices
    if not len(acids) or not len(bases):
        return
    found = case.analyze("salt-bridges")
    residues = case.atoms.resindices
    expected = []
    for frame in range(case.frames):
        pairs, _ = near(case, frame, acids, bases, 0.4)
        expected.append({(int(residues[acids[a]]), int(residues[bases[b]])) for a, b in pairs})
    yield numbers("salt bridges", "MDAnalysis, numpy", found["number"], list(map(len, expected)))
    yield same_occupancies("bridged residues", "MDAnalysis, numpy", found["residues"], found["occupancy"], expected)


@observable("residence")
def residence(case):
    found = case.analyze("residence", "--select", case.text("heavy"), "--with", case.text("oxygen"))
    universe = case.universe()
    oxygen = universe.atoms[case.indices("oxygen")]
    heavy = "index " + " ".join(map(str, case.indices("heavy")))
    near_group = universe.select_atoms(f"around 3.5 ({heavy})", updating=True)
    inside = [set((near_group & oxygen).indices.tolist()) for _ in universe.trajectory]
    yield numbers("atoms near the group", "MDAnalysis", found["number"], list(map(len, inside)))
    _, _, of_starts = autocorrelation(inside, tau_max=case.frames - 1)
    starts = np.array(list(map(len, inside)), float)
    survival = [1.0] + [np.dot(of, starts[: len(of)]) / starts[: len(of)].sum() for of in of_starts]
    yield exact("survival probability", "MDAnalysis", found["survival"], survival)


@observable("dssp", of_protein)
def dssp(case):
    found = case.analyze("dssp")
    names = [name.decode() for name in found["class_name"]]
    # MDTraj has no class of polyproline helices, and a blank stands for a coil
    ours = np.array([{"C": " ", "P": " "}.get(name, name) for name in names])[found["class"]]
    theirs = mdtraj.compute_dssp(case.mdtraj, simplified=False)[:, found["residue"]]
    different = np.count_nonzero((ours != theirs) & (ours != "I") & (theirs != "I"))
    yield "class, without π helices", "MDTraj", different, 0, "residues", SETS


@observable("membrane", lambda system: system.bilayer)
def membrane(case):
    found = case.analyze("membrane")
    leaflets = [leaflet.indices for leaflet in LeafletFinder(case.universe(), "name P", cutoff=15, pbc=True).groups()[:2]]
    lipids = sum(map(len, leaflets))
    areas = case.boxes[:, 0, 0] * case.boxes[:, 1, 1] / (lipids / 2)
    yield exact("area per lipid", "MDAnalysis", found["area_per_lipid"], areas, "nm²")
    heights = case.boxes[:, 2, 2]
    angles = 2 * np.pi * case.whole[:, :, 2] / heights[:, None]
    mean = [np.angle(np.exp(1j * angles[:, leaflet]).mean(axis=1)) for leaflet in leaflets]
    # heights are averaged relative to the mean of the leaflet, so that no head group is beyond a face of the cell
    mean = [m + around(angles[:, leaflet] - m[:, None]).mean(axis=1) for m, leaflet in zip(mean, leaflets)]
    # the thickness is the distance from the lower to the upper leaflet through the hydrocarbon tails, not through the
    # water
    head = case.atoms[leaflets[0][0]]
    is_upper = case.whole[0, head.index, 2] > case.whole[0, head.residue.atoms.indices, 2].mean()
    upper, lower = mean if is_upper else mean[::-1]
    thickness = (upper - lower) % (2 * np.pi) / (2 * np.pi) * heights
    yield exact("thickness", "MDAnalysis", found["thickness"], thickness, "nm")
    for row, chain in enumerate(found["chain"]):
        residue, first = chain.decode().split()
        order = np.full(len(found["carbon"]), np.nan)
        for column, number in enumerate(found["carbon"]):
            # names of carbons in CHARMM consist of the number of the chain and the number of the carbon
            carbons = case.atoms.select_atoms(f"resname {residue} and name {first[:-1]}{number}")
            bonds = [(carbon.index, other.index) for carbon in carbons for other in carbon.bonded_atoms if other.name[0] == "H"]
            if bonds:
                ends = np.array(bonds)
                vectors = case.whole[:, ends[:, 1]] - case.whole[:, ends[:, 0]]
                order[column] = 1.5 * (vectors[..., 2] ** 2 / squared_norm(vectors)).mean() - 0.5
        assert np.array_equal(np.isnan(order), np.isnan(found["s_cd"][row])), chain
        known = ~np.isnan(order)
        yield f"S_CD of {chain.decode()}", "MDAnalysis", largest(found["s_cd"][row][known], order[known]), SINGLE, "", "values of a frame in 32 bits"


def around(angles):
    """Angles between −π and π."""
    return (angles + np.pi) % (2 * np.pi) - np.pi


@observable("dihedrals", of_protein)
def dihedrals(case):
    found = case.analyze("dihedrals")
    kinds = {"phi": 2, "psi": 1, "omega": 1, "chi1": 1, "chi2": 1}  # place of an atom of the residue of the angle
    for kind, place in kinds.items():
        atoms, angles = getattr(mdtraj, f"compute_{kind}")(case.mdtraj)
        residues = [case.mdtraj.topology.atom(row[place if kind == "phi" else 0]).residue.index for row in atoms]
        order = np.argsort(residues, kind="stable")
        if not residues:
            continue
        same = np.array_equal(np.array(residues)[order], found[f"{kind}_residue"])
        yield numbers(f"{kind}: residues", "MDTraj", 0 if same else 1, 0)
        if same:
            turned = np.abs(found[kind] - np.degrees(angles[:, order]))
            lever = 0.1  # distance of the outer atoms from the axis is at least this
            tolerance = np.degrees(2 * case.apart / lever + 8 * SINGLE * np.pi)
            yield (
                kind,
                "MDTraj",
                np.minimum(turned, 360 - turned).max(),
                tolerance,
                "°",
                f"{POSITIONS}, lever of 0.1 nm",
            )


def free_area(positions, radii, points):
    """Area of each atom that a probe can reach, from `points` of a spiral in 64 bits (Shrake and Rupley)."""
    index = np.arange(points)
    y, turn = (2 * index + 1) / points - 1, index * np.pi * (3 - np.sqrt(5))
    unit = np.column_stack([np.cos(turn) * np.sqrt(1 - y * y), y, np.sin(turn) * np.sqrt(1 - y * y)])
    areas = np.empty(len(positions))
    tree = KDTree(positions)
    for atom, radius in enumerate(radii):
        others = [other for other in tree.query_ball_point(positions[atom], radius + radii.max()) if other != atom]
        to = positions[others] - positions[atom]
        limits = (radius**2 + squared_norm(to) - radii[others] ** 2) / (2 * radius)
        areas[atom] = 4 * np.pi * radius**2 * np.all(unit @ to.T <= limits, axis=1).mean()
    return areas


@observable("sasa", lambda system: system.topology == "prmtop")
def sasa(case):
    points = 960
    found = case.analyze("sasa", "--select", case.text("solute"), "--points", str(points))
    atoms = case.indices("solute")
    part = case.mdtraj.atom_slice(atoms)
    # computed frame by frame, because MDTraj 1.11.1 adds 1/960 of the area of the preceding frame to every other frame
    # of a call
    other = np.vstack([mdtraj.shrake_rupley(frame, n_sphere_points=points, mode="residue") for frame in part])
    # angles of the spiral of points of MDTraj are off by up to 1.4e-4 rad (single precision), on average by half of
    # this. An edge of 2 nm then moves by 1e-5 nm, and the sphere has 740 points per nm²
    point, why = 4 * np.pi * (0.18 + 0.14) ** 2 / points, "0.02 points of an atom moved over an edge, of either sign"
    residue = np.bincount(case.atoms.resindices[atoms]).max()
    tolerances = [point * (1 + 4 * np.sqrt(0.02 * number)) for number in (residue, len(atoms))]
    yield "area of a residue", "MDTraj", largest(found["sasa_residue"], other), tolerances[0], "nm²", why
    yield "area", "MDTraj", largest(found["sasa"], other.sum(axis=1)), tolerances[1], "nm²", why
    radii = np.array([_ATOMIC_RADII[atom.element.symbol] for atom in part.topology.atoms]) + 0.14
    expected = free_area(case.whole[0][atoms], radii, points).sum()
    yield (
        "area of the first frame",
        "numpy",
        abs(found["sasa"][0] - expected),
        DOUBLE * expected,
        "nm²",
        "the same points",
    )


@observable("pca")
def principal_components(case):
    found = case.analyze("pca", "--select", case.text("few"), "--components", "3")
    universe = case.universe()
    select = "index " + " ".join(map(str, case.indices("few")))
    other = pca.PCA(universe, select=select, align=True).run().results
    count = len(found["eigenvalues"])
    variances, vectors = other.variance[:count] / ANGSTROM**2, other.p_components[:, :3]
    error = 4 * case.apart * np.sqrt(variances[0])
    why = "rounded to 32 bits before and after superposition"
    yield "eigenvalues", "MDAnalysis", largest(found["eigenvalues"], variances), error, "nm²", why
    ours = found["eigenvectors"].reshape(3, -1)
    missing = 1 - squared_norm((ours @ vectors).ravel()) / 3
    gap = (variances[2] - variances[3]) if count > 3 else variances[2]
    yield "subspace of three, 1 − overlap", "MDAnalysis", missing, (error / gap) ** 2, "", f"{why}, over the gap"


def rmsd_pairs(case, group):
    """RMSD (nm) of all pairs of frames by MDAnalysis."""
    positions = group_frames(case, group)
    matrix = np.zeros((case.frames, case.frames))
    for a, b in itertools.combinations(range(case.frames), 2):
        matrix[a, b] = matrix[b, a] = rms.rmsd(positions[a], positions[b], superposition=True)
    return matrix


@observable("rmsd-matrix")
def rmsd_matrix(case):
    found = case.analyze("rmsd-matrix", "--select", case.text("heavy"))["rmsd"]
    expected = rmsd_pairs(case, "heavy")
    yield "rmsd-matrix", "MDAnalysis", largest(found, expected), 2e-7, "nm", "stored in 32 bits; both from 64 bits"
    if case.system.topology == "prmtop":
        part = case.mdtraj.atom_slice(case.indices("heavy"))
        other = np.array([mdtraj.rmsd(part, part, frame) for frame in range(case.frames)])
        off = ~np.eye(case.frames, dtype=bool)
        spread = squared_norm(part.xyz - part.xyz.mean(axis=1, keepdims=True)).mean()
        error = 16 * SINGLE * spread / expected[off].min()
        why = "differences of 32-bit sums of squares"
        yield "rmsd-matrix", "MDTraj", largest(found[off], other[off]), error, "nm", why


def gromos(matrix, cutoff):
    """Clusters of Daura et al. as sets of frames, in the order in which they are found."""
    left, clusters = set(range(len(matrix))), []
    while left:
        members = {frame: {other for other in left if matrix[frame, other] <= cutoff} for frame in left}
        center = min(left, key=lambda frame: (-len(members[frame]), frame))
        clusters.append(frozenset(members[center]))
        left -= members[center]
    return clusters


def partition(labels):
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


@observable("cluster")
def cluster(case):
    matrix = rmsd_pairs(case, "heavy")
    values = np.sort(squareform(matrix))
    start = len(values) // 10
    gap = start + np.argmax(np.diff(values[start : len(values) // 2]))
    cutoff = (values[gap] + values[gap + 1]) / 2
    select = ["--select", case.text("heavy"), "--method"]
    found = case.analyze("cluster", *select, "gromos", "--cutoff", f"{cutoff} nm")["cluster"]
    yield sets("clusters, gromos", "numpy", [partition(found)], [gromos(matrix, cutoff)])
    tree = linkage(squareform(matrix), "average")
    found = case.analyze("cluster", *select, "average", "--clusters", "4")["cluster"]
    expected = partition(fcluster(tree, 4, "maxclust"))
    yield sets("clusters, average linkage", "SciPy", [partition(found)], [expected])
    found = case.analyze("cluster", *select, "k-medoids", "--clusters", "3")["central_frame"]
    cost = lambda centers: matrix[:, list(centers)].min(axis=1).sum()  # noqa: E731
    others = [
        cost(set(found.tolist()) - {old} | {new})
        for old in found.tolist()
        for new in range(case.frames)
        if new not in found
    ]
    yield (
        "k-medoids, gain by an exchange",
        "numpy",
        max(0, cost(found) - min(others)),
        1e-6,
        "nm",
        "sums of 32-bit values",
    )


@observable("dielectric")
def dielectric(case):
    case.analyze("dielectric", "--select", case.text("water"), "--temperature", "300 K")
    water = case.universe().atoms[case.indices("water")]
    other = DielectricConstant(water, temperature=300, make_whole=False).run().results
    # the error of the dipole moment of whole waters is the rounding error of a coordinate times the charge, with random
    # signs
    charges = np.sqrt(squared_norm(water.charges))
    relative = 2 * case.delta * charges * np.sqrt(3) / np.sqrt(other.fluct.sum() / ANGSTROM**2) + 1e-6
    ours, program = case.number("dielectric_constant"), "MDAnalysis"
    yield (
        "dielectric constant",
        program,
        abs(ours - other.eps_mean),
        relative * other.eps_mean,
        "",
        "rounding to 32 bits, times charges; constants of six digits",
    )


@observable("dipole")
def dipole(case):
    found = case.analyze("dipole", "--select", case.text("solute"))
    universe = case.universe()
    group = universe.atoms[case.indices("solute")]
    other = np.array([group.dipole_vector(center="mass") for _ in universe.trajectory]) / ANGSTROM
    error = 2 * case.delta * np.abs(group.charges).sum()
    yield "dipole", "MDAnalysis", largest(found["dipole"], other), error, "e nm", f"{POSITIONS}, times charges"
    debye = np.linalg.norm(found["dipole"], axis=1) / 0.020819434
    yield "magnitude", "numpy", largest(found["magnitude"], debye), 1e-6 * debye.max(), "D", "unit of eight digits"


LIGHT = 0.0299792458  # cm/ps


def density_of_states(correlation, interval):
    """Cosine transform of a normalised correlation with a window of Hann, by wavenumber (cm)."""
    last = len(correlation) - 1
    lag = np.arange(last + 1)
    weights = np.where((lag == 0) | (lag == last), 0.5, 1) * (0.5 + 0.5 * np.cos(np.pi * lag / last))
    return 4 * interval * LIGHT * np.cos(np.pi * np.outer(lag, lag) / last) @ (weights * correlation)


@observable("vacf")
def vacf(case):
    lags = case.frames // 2 + 1
    masses = case.atoms.masses
    for name, options in [("atoms", []), ("atoms by mass", ["--mass-weighted"]), ("molecules", ["--molecules"])]:
        found = case.analyze("vacf", "--select", case.text("water"), *options)
        atoms = case.indices("water")
        velocities, weights = case.velocities[:, atoms], np.ones(len(atoms))
        if name == "molecules":
            velocities = molecule_centers(case, case.velocities, atoms)
            weights = np.ones(velocities.shape[1])
        if name == "atoms by mass":
            weights = masses[atoms]
        product = lambda lag: (velocities[lag:] * velocities[: case.frames - lag]).sum(axis=2).mean(axis=0)  # noqa: E731
        expected = np.array([product(lag) @ weights for lag in range(lags)]) / weights.sum()
        # velocities of particles are stored in single precision
        error = 4 * SINGLE * expected[0]
        yield f"vacf of {name}", "numpy", largest(found["vacf"], expected), error, "nm²/ps²", "velocities in 32 bits"
        interval = found["lag"][1]
        if name == "atoms by mass":
            found_density, expected = found["density_of_states"], density_of_states(expected / expected[0], interval)
            error = 8 * SINGLE * np.abs(expected).max() * lags
            yield "density of states", "numpy", largest(found_density, expected), error, "cm", "velocities in 32 bits"
        else:
            expected = cumulative_trapezoid(expected, dx=interval, initial=0) / 3
            reason = (error * found["lag"][-1] / 3, "nm²/ps", "velocities in 32 bits")
            yield f"diffusion of {name}", "SciPy", largest(found["diffusion"], expected), *reason


def table(case):
    with open(case.folder / "out/energies.csv") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


@observable("energies")
def energies(case):
    found, columns = case.analyze("energies", "out/energies.csv"), table(case)
    interval = np.diff(columns["time (ps)"])[0]
    quantities = {name: values for name, values in columns.items() if name not in ("step", "time (ps)", "stage")}
    # a quantity that is constant has no autocorrelation time
    varied = [np.ptp(values) > 0 for values in quantities.values()]
    starts, inefficiencies, means, errors = [], [], [], []
    for values in itertools.compress(quantities.values(), varied):
        stride = -(-len(values) // 200)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start, _, _ = timeseries.detect_equilibration(values, fast=False, nskip=stride)
            # computed separately, because detect_equilibration returns the statistical inefficiency in single precision
            inefficiencies.append(timeseries.statistical_inefficiency(values[start:], mintime=3))
        starts.append(start * interval)
        means.append(values[start:].mean())
        errors.append(np.sqrt(values[start:].var(ddof=1) * inefficiencies[-1] / len(values[start:])))
    yield "equilibration", "pymbar", largest(found["equilibration"][varied], starts), 1e-9, "ps", "the same row"
    yield exact("inefficiency", "pymbar", found["inefficiency"][varied], inefficiencies)
    yield exact("mean", "numpy", found["mean"][varied], means)
    yield exact("standard error", "pymbar, numpy", found["error"][varied], errors)
