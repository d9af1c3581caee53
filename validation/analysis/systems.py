"""Systems whose trajectories are analysed by `md` and by other programs.

`make` runs a short simulation with `md` and returns a `Case`: the files for `md analyze`, and positions read by
MDAnalysis. MDAnalysis makes molecules whole with its own transformation `unwrap`, from which only the lattice vectors
are taken: positions remain the 32-bit numbers of the file, plus lattice vectors in 64 bits.
"""

import dataclasses
import functools
import itertools
import json
import lzma
import pathlib
import subprocess

import h5py
import MDAnalysis
import mdtraj
import numpy as np
from MDAnalysis.lib.formats.libmdaxdr import TRRFile
from MDAnalysis.lib.mdamath import triclinic_box, triclinic_vectors
from MDAnalysis.transformations import unwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
ANGSTROM = 10.0  # in a nanometre

INPUT = """[system]
topology = "{topology}"
coordinates = "{coordinates}"
{parameters}
[forces]
cutoff = "{cutoff} nm"
constraints = "h-bonds"
[run]
seed = 2511
threads = 2
[output]
trajectory = {{ file = "trajectory.trr", every = "{interval} ps", velocities = true }}
energies = {{ every = "10 fs" }}
[[stage]]
name = "minimize"
kind = "minimize"
steps = 100
[[stage]]
name = "dynamics"
kind = "dynamics"
duration = "{duration} ps"
timestep = "2 fs"
velocities = "generate"
temperature = "300 K"
thermostat = {{ kind = "v-rescale", temperature = "300 K", coupling_time = "0.1 ps" }}
"""


@dataclasses.dataclass(frozen=True)
class System:
    """Files of a system, length of its run, and its groups: selections of `md` and of MDAnalysis for the same atoms.

    The group `solute` is a molecule or several that stay together, `heavy` its heavy atoms, `few` and `touching` are
    other parts, and `ends` has atoms whose first and last are the ends of each chain. `points` are four groups for
    distances and angles. A trajectory that is `broken` has every atom wrapped into the cell on its own.
    """

    folder: str
    groups: dict
    points: list
    interval: float  # between frames, ps
    duration: float  # ps
    topology: str = "prmtop"
    coordinates: str = "rst7"
    parameters: str | None = None
    cutoff: float = 0.9  # nm
    separation: int = 3  # of the residues of native contacts
    broken: bool = False
    protein: bool = False
    bilayer: bool = False


def both(text):
    """Selection that is written alike for both programs."""
    return text, text


WATER = {
    "water": ("water", "resname WAT HOH TIP3"),
    "oxygen": ("water and element O", "resname WAT HOH TIP3 and name O*"),
}
HEAVY_PROTEIN = ("protein and heavy", "protein and not name H*")
LIPID = ("lipid and resid 27 and heavy", "resname POP* and resid 27 and not name H*")
LIPIDS = ("lipid and heavy", "resname POP* and not name H*")
NUCLEIC = ("nucleic and heavy", "nucleic and not name H*")
ALPHA = both("protein and name CA")
PROTEIN = {**WATER, "solute": both("protein"), "heavy": HEAVY_PROTEIN, "touching": HEAVY_PROTEIN}
SYSTEMS = {
    "dhfr": System(
        "inputs/dhfr",
        {**PROTEIN, "few": ALPHA, "ends": ALPHA},
        [f"protein and resid {first}:{first + 4}" for first in (5, 50, 95, 140)],
        interval=0.2,
        duration=2,
        protein=True,
    ),
    "membrane": System(
        "inputs/membrane",
        {
            **WATER,
            "solute": ("lipid and resid 27", "resname POP* and resid 27"),
            "heavy": LIPID,
            "few": LIPID,
            "ends": LIPIDS,
            "touching": LIPIDS,
        },
        [f"lipid and resid {number}" for number in (7, 37, 69, 116)],
        interval=0.2,
        duration=2,
        topology="psf",
        coordinates="pdb",
        parameters="prm",
        cutoff=1.2,
        bilayer=True,
    ),
    "dna": System(
        "inputs/dna",
        {
            **WATER,
            "solute": both("nucleic"),
            "heavy": NUCLEIC,
            "touching": NUCLEIC,
            "few": both("nucleic and name P C1'"),
            "ends": both("nucleic and name P"),
        },
        [f"nucleic and resid {number}" for number in (2, 8, 15, 22)],
        interval=0.2,
        duration=2,
        broken=True,
    ),
    "octahedron": System(
        "tests/systems/octahedron",
        {**PROTEIN, "few": HEAVY_PROTEIN, "ends": HEAVY_PROTEIN},
        ["protein and name CH3", "protein and name N", "protein and name CB", "protein and name O"],
        interval=0.5,
        duration=10,
        separation=0,
        broken=True,
        protein=True,
    ),
}


def unpack(system, folder):
    """Writes the files of a system without compression, and returns their names by ending."""
    names = {}
    for packed in sorted((ROOT / system.folder).glob("*.xz")):
        ending = packed.suffixes[-2][1:]
        if ending in (system.topology, system.coordinates, system.parameters):
            names[ending] = packed.stem
            (folder / packed.stem).write_bytes(lzma.open(packed).read())
    return names


def read(path):
    """Positions (nm), velocities (nm/ps) and cells (nm) of all frames, in the numbers of the file."""
    with TRRFile(str(path)) as file:
        frames = [(frame.x.astype(float), frame.v.astype(float), frame.box.astype(float)) for frame in file]
    return [np.array(part) for part in zip(*frames)]


def break_molecules(source, target):
    """Copies a trajectory with every atom wrapped into the cell on its own."""
    with TRRFile(str(source)) as file, TRRFile(str(target), "w") as copy:
        for frame in file:
            box = frame.box.astype(float)
            fractional = frame.x @ np.linalg.inv(box)
            positions = ((fractional - np.floor(fractional)) @ box).astype(np.float32)
            copy.write(positions, frame.v, None, frame.box, frame.step, frame.time, 0.0, len(positions))


def simulate(program, name, folder):
    """Runs the simulation unless it is complete; returns the names of the topology and the trajectory."""
    system = SYSTEMS[name]
    folder.mkdir(parents=True, exist_ok=True)
    files = unpack(system, folder)
    text = INPUT.format(
        topology=files[system.topology], coordinates=files[system.coordinates], cutoff=system.cutoff,
        parameters=f'parameters = ["{files[system.parameters]}"]' if system.parameters else "",
        interval=system.interval, duration=system.duration,
    )  # fmt: skip
    (folder / "input.toml").write_text(text)
    with open(folder / "run.txt", "w") as log:
        subprocess.run([program, "run", "input.toml"], cwd=folder, check=True, stdout=log, stderr=log)
    if not system.broken:
        return files[system.topology], "out/trajectory.trr"
    break_molecules(folder / "out/trajectory.trr", folder / "broken.trr")
    return files[system.topology], "broken.trr"


def images_of(universe, stored, boxes):
    """Lattice vectors by which MDAnalysis moves atoms to make molecules whole, and the solute is gathered."""
    atoms = universe.atoms
    move = unwrap(atoms)
    whole = np.empty_like(stored)
    for frame, box in enumerate(boxes):
        universe.trajectory[frame]
        whole[frame] = move(universe.trajectory.ts).positions / ANGSTROM
    return np.round(np.einsum("fai,fij->faj", whole - stored, np.linalg.inv(boxes)))


def lattice(box):
    """Lattice vectors around the origin."""
    return np.array(list(itertools.product((-2, -1, 0, 1, 2), repeat=3))) @ box


def gather(positions, box, molecules):
    """Moves molecules one by one by the lattice vector that brings them closest to those before."""
    shifts = lattice(box)
    placed = positions[molecules[0]]
    for molecule in molecules[1:]:
        own = positions[molecule]
        # chosen is the image in which the closest pair of atoms has the smallest distance
        distances = [np.linalg.norm(placed[:, None] - own[None] - shift, axis=2).min() for shift in shifts]
        positions[molecule] += shifts[int(np.argmin(distances))]
        placed = np.vstack([placed, positions[molecule]])


class Case:
    """Trajectory of a system, as `md analyze` and other programs see it."""

    def __init__(self, program, name, folder):
        self.program, self.name, self.folder, self.system = program, name, folder, SYSTEMS[name]
        self.topology, self.trajectory = simulate(program, name, folder)
        self.stored, self.velocities, self.boxes = read(folder / self.trajectory)
        self.frames = len(self.boxes)
        universe = MDAnalysis.Universe(folder / self.topology, folder / self.trajectory)
        images = images_of(universe, self.stored, self.boxes)
        self.whole = self.stored + np.einsum("fai,fij->faj", images, self.boxes)
        solute = universe.select_atoms(self.system.groups["solute"][1])
        molecules = [fragment.indices for fragment in solute.fragments]
        for positions, box in zip(self.whole, self.boxes):
            gather(positions, box, molecules)
        self.dimensions = np.array([triclinic_box(*(ANGSTROM * box)) for box in self.boxes])
        rounding = np.abs(self.whole).max() * 2.0**-24
        vectors = np.array([triclinic_vectors(cell) for cell in self.dimensions]) / ANGSTROM
        # delta: largest rounding error (nm) of a coordinate in MDAnalysis; apart: largest error (nm) of a distance
        # between two points
        self.delta = rounding
        self.apart = 2 * np.sqrt(3) * rounding + np.linalg.norm(vectors - self.boxes, axis=2).max()

    def universe(self, positions=None):
        """MDAnalysis universe in memory, by default of whole molecules."""
        positions = self.whole if positions is None else positions
        universe = MDAnalysis.Universe(self.folder / self.topology)
        return universe.load_new((ANGSTROM * positions).astype(np.float32), dimensions=self.dimensions)

    @functools.cached_property
    def atoms(self):
        """All atoms in MDAnalysis, for names, masses, charges, residues, molecules and bonds."""
        return self.universe().atoms

    @functools.cached_property
    def mdtraj(self):
        """Trajectory of whole molecules in MDTraj; only for AMBER topologies."""
        topology = mdtraj.load_prmtop(str(self.folder / self.topology))
        lengths, angles = self.dimensions[:, :3] / ANGSTROM, self.dimensions[:, 3:]
        return mdtraj.Trajectory(self.whole.astype(np.float32), topology, None, lengths, angles)

    def text(self, group):
        """Selection of a group in the language of `md`."""
        return self.system.groups[group][0]

    def indices(self, group):
        """Atoms of a group by MDAnalysis."""
        return self.atoms.select_atoms(self.system.groups[group][1]).indices

    def analyze(self, observable, *options):
        """Arrays of the result file of `md analyze`."""
        command = [self.program, "analyze", observable, *options, "--no-plots", "--force", "--json"]
        command += ["--topology", self.topology, self.trajectory]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
        self.numbers = json.loads(done.stdout)["results"]
        with h5py.File(self.folder / f"{observable}.h5") as file:
            return {name: item[()] for name, item in file.items()}

    def number(self, name):
        """Single number of the last analysis."""
        return self.numbers[name]["value"]
