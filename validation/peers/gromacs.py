"""GROMACS topologies of other programs' tests, as md and as GROMACS read them: gromacs.py MD FOLDER…

Every `.top` file below the folders is read by both, with the coordinates of the same name, or those in its folder that fit;
equal pairs of files count once. Energies term by term are compared at these coordinates: with PME of the same parameters where
there is a box, as plain sums over all pairs where there is none. GROMACS computes in mixed precision. Prints a line for each
file and the counts. Needs `gmx` in PATH, GMXLIB, and NumPy.
"""

import collections
import glob
import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

os.environ["GMX_MAXBACKUP"] = "-1"
# relative tolerance of energies: GROMACS rounds positions of 10 nm to 5e-7 nm. The energy of a bond of 3e5 kJ/mol/nm²
# that is displaced by 0.005 nm then changes by a fraction of 2e-4, and the sum over bonds by less
TOLERANCE = 1e-4
# GROMACS adds up the energies of a thread in single precision: the sum over 30,000 atoms, or over a million grid
# points, loses a fraction of 1e-4
ATOMS_OF_A_THREAD = 2000
MOST_POINTS = 4e6
COULOMB = 138.935458
# nm; shortened in boxes whose opposite faces are less than about twice as far apart
CUTOFF = 0.9
SHORTEST = 0.4
ERROR = 1e-5
ORDER = 6
SPACING = 0.12
MDP = """integrator = md
nsteps = 0
cutoff-scheme = verlet
vdw-modifier = none
coulomb-modifier = none
verlet-buffer-tolerance = -1
nstlist = 1
nstenergy = 1
nstxout = 1
nstcalcenergy = 1
continuation = yes
nstcomm = 0
comm-mode = none
"""
TERMS = {
    "bond": ["Bond", "G96Bond", "Harmonic Pot."],
    # GROMACS reports the angle and the Urey-Bradley energy of a U-B term as one sum
    "angle": ["Angle", "G96Angle", "U-B"],
    "proper": ["Proper Dih."],
    "improper": ["Improper Dih.", "Per. Imp. Dih."],
    "ryckaert_bellemans": ["Ryckaert-Bell.", "Fourier Dih."],
    "cmap": ["CMAP Dih."],
    "lj_14": ["LJ-14"],
    "coulomb_14": ["Coulomb-14"],
    "lj": ["LJ (SR)", "LJ-14"],
    "coulomb": ["Coulomb (SR)", "Coulomb-14", "Coul. recip."],
}
NO_ENERGY = ("Kin", "Tot", "Temp", "Pres", "Vir", "Conserved", "Constr", "Pot", "#", "T-", "Box", "Volume", "Density", "pV")
NO_ENERGY += ("Enthalpy", "Connect", "Settle", "Disper", "Mu-", "2*VEL", "Lamb", "dVrem", "dVcoul", "dH", "MSD", "Barostat")


class Refusal(Exception):
    pass


def gmx(folder, *command, text=None):
    run = subprocess.run(["gmx", "-quiet", *command], cwd=folder, input=text, text=True, capture_output=True)
    if run.returncode:
        lines = [line.strip() for line in run.stderr.splitlines() if line.strip()]
        start = next((k + 1 for k, line in enumerate(lines) if "error" in line.lower()), 0)
        raise Refusal(f"gmx {command[0]}: {' '.join(lines[start : start + 4])[:300]}")
    return run.stdout


def read_gro(path):
    """Positions and the numbers of the box (nm)."""
    with open(path) as file:
        lines = file.read().splitlines()
    count = int(lines[1])
    atoms = lines[2 : 2 + count]
    width = atoms[0].index(".", atoms[0].index(".") + 1) - atoms[0].index(".")
    positions = np.array([[float(line[20 + k * width : 20 + (k + 1) * width]) for k in range(3)] for line in atoms])
    return positions, [float(word) for word in lines[2 + count].split()]


def write_positions(path, positions):
    """Other positions into a file, to eight decimals."""
    with open(path) as file:
        lines = file.read().splitlines()
    for k, place in enumerate(positions):
        lines[2 + k] = lines[2 + k][:20] + "".join(f"{x:13.8f}" for x in place)
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


def coordinates(folder, path):
    """a.gro in the folder: the coordinates in a box; and the cutoff, with the grid of PME where the box is the file's own."""
    gmx(folder, "editconf", "-f", path, "-o", "a.gro")
    positions, box = read_gro(f"{folder}/a.gro")
    rows = np.diag(box[:3]) if len(box) == 3 else np.array([[box[0], 0, 0], [box[5], box[1], 0], [box[7], box[8], box[2]]])
    heights = np.diag(rows)
    cutoff = min(CUTOFF, 0.49 * heights.min())
    if cutoff >= SHORTEST:
        edges = np.linalg.norm(rows, axis=1)
        spacing = max(SPACING, (edges.prod() / MOST_POINTS) ** (1 / 3))
        grid = [8 * math.ceil(edge / spacing / 8) for edge in edges]
        return cutoff, grid
    size = np.linalg.norm(positions.max(0) - positions.min(0))
    edge = str(2.2 * size + 2)
    gmx(folder, "editconf", "-f", path, "-o", "a.gro", "-box", edge, edge, edge, "-c")
    return size + 0.5, None


def splitting(cutoff):
    """α with erfc(α cutoff) = ERROR, by bisection."""
    low, high = 0.0, 20.0 / cutoff
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if math.erfc(middle * cutoff) > ERROR else (low, middle)
    return low


def run(folder, top):
    threads = str(min(64, 8 + len(read_gro(f"{folder}/a.gro")[0]) // ATOMS_OF_A_THREAD))
    gmx(folder, "grompp", "-f", "run.mdp", "-c", "a.gro", "-p", top, "-o", "run.tpr", "-maxwarn", "99")
    gmx(folder, "mdrun", "-s", "run.tpr", "-deffnm", "run", "-ntmpi", "1", "-ntomp", threads, "-nb", "cpu")


def theirs(folder, top, cutoff, grid):
    """Energies by the names of md, and what else GROMACS has."""
    lines = [f"rcoulomb = {cutoff}", f"rvdw = {cutoff}", f"rlist = {cutoff}"]
    if grid:
        nx, ny, nz = grid
        lines += ["coulombtype = pme", f"ewald-rtol = {ERROR}", f"pme-order = {ORDER}"]
        lines += [f"fourier-nx = {nx}", f"fourier-ny = {ny}", f"fourier-nz = {nz}"]
    else:
        lines += ["coulombtype = reaction-field", "epsilon-rf = 1"]
    with open(f"{folder}/run.mdp", "w") as file:
        file.write(MDP + "\n".join(lines) + "\n")
    run(folder, top)
    # mdrun computes positions of virtual sites, but only after its first PME sum
    gmx(folder, "trjconv", "-f", "run.trr", "-s", "run.tpr", "-o", "placed.g96", "-dump", "0", text="0\n")
    with open(f"{folder}/placed.g96") as file:
        rows = file.read().split("POSITION\n")[1].split("END\n")[0].splitlines()
    placed = [[float(row[24 + 15 * k : 39 + 15 * k]) for k in range(3)] for row in rows]
    if abs(np.array(placed) - read_gro(f"{folder}/a.gro")[0]).max() > 1e-4:
        write_positions(f"{folder}/a.gro", placed)
        run(folder, top)
    menu = "\n".join(str(i) for i in range(1, 60)) + "\n\n"
    gmx(folder, "energy", "-f", "run.edr", "-o", "energy.xvg", "-dp", text=menu)
    with open(f"{folder}/energy.xvg") as file:
        lines = file.read().splitlines()
    names = [line.split('"')[1] for line in lines if line.startswith("@ s") and "legend" in line]
    row = next(line for line in lines if line[0] not in "#@").split()[1:]
    energies = dict(zip(names, map(float, row)))
    found = {name: sum(energies.get(term, 0.0) for term in terms) for name, terms in TERMS.items()}
    known = {term for terms in TERMS.values() for term in terms}
    others = {k: v for k, v in energies.items() if k not in known and not k.startswith(NO_ENERGY) and v != 0.0}
    return found, others


def ours(md, folder, top, cutoff, grid):
    """Energies, and the charge of the system."""
    forces, start = 'cutoff = "none"\nelectrostatics = "plain"\n', "a.gro"
    if not grid:
        start = "bare.gro"
        with open(f"{folder}/a.gro") as file:
            lines = file.read().splitlines()
        with open(f"{folder}/{start}", "w") as file:
            file.write("\n".join(lines[:-1]) + "\n0 0 0\n")
    else:
        pme = f'{{ alpha = "{splitting(cutoff)} 1/nm", grid = {grid}, order = {ORDER} }}'
        forces = f'cutoff = "{cutoff} nm"\nelectrostatics = "pme"\npme = {pme}\n'
    with open(f"{folder}/input.toml", "w") as file:
        file.write(
            f'[system]\ntopology = "{top}"\ncoordinates = "{start}"\n[forces]\n{forces}'
            'lj_modifier = "none"\ncoulomb_modifier = "none"\ndispersion_correction = false\n'
            'constraints = "none"\nrigid_water = false\n'
        )
    command = [md, "energy", "input.toml", "--precision", "double", "--json", "e.json"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if run.returncode:
        raise Refusal(" ".join(run.stderr.split()).removeprefix("error: ")[:400])
    with open(f"{folder}/e.json") as file:
        energies = json.load(file)["energies"]
    energies["angle"] += energies["urey_bradley"]
    return energies


def charge(folder):
    """Of the run input file."""
    dump = gmx(folder, "dump", "-s", "run.tpr")
    molecules, total, index, blocks = [], 0.0, None, []
    for line in dump.splitlines():
        words = line.replace("=", " ").split()
        if words[:1] == ["moltype"] and len(words) == 2 and words[1].startswith("("):
            molecules.append(0.0)
        elif line.strip().startswith("atom[") and "q=" in line:
            molecules[-1] += float(line.split("q=")[1].split(",")[0])
        elif words[:1] == ["moltype"] and len(words) > 2:
            index = int(words[1])
        elif words[:1] == ["#molecules"]:
            blocks.append((index, int(words[1])))
    for index, number in blocks:
        total += molecules[index] * number
    return total


def compare(md, top, path):
    """What came of it in a word, and details."""
    with tempfile.TemporaryDirectory() as folder:
        cutoff, grid = coordinates(folder, path)
        try:
            expected, others = theirs(folder, top, cutoff, grid)
        except Refusal as refusal:
            expected, theirs_says = None, str(refusal)
        try:
            found = ours(md, folder, top, cutoff, grid)
        except Refusal as refusal:
            message = str(refusal).replace(os.path.dirname(top) + "/", "")
            if expected is None:
                return "refused by both", f"{message} | {theirs_says}"
            return "refused", message
        if expected is None:
            return "read by md only", theirs_says
        if not grid:
            expected["coulomb"] += 0.5 * COULOMB * charge(folder) ** 2 / cutoff
    # terms of these energies cancel, so that their errors are relative to a larger energy
    scale = {"coulomb": 1e-2 * abs(found["coulomb_reciprocal"]), "lj": 1e-2 * abs(expected["lj_14"])}
    errors = {
        name: abs(found[name] - value) / max(1.0, abs(value), scale.get(name, 0.0)) for name, value in expected.items()
    }
    worst = max(errors, key=errors.get)
    details = f"{'PME' if grid else 'all pairs'}: {worst} {errors[worst]:.1e}"
    if others:
        return "differs", f"{details}; GROMACS has {others}"
    if errors[worst] < TOLERANCE:
        return "agrees", details
    return "differs", f"{details} { {name: (found[name], expected[name]) for name in errors if errors[name] >= TOLERANCE} }"


def pairs(folders):
    """Topologies, each with the files that may hold its coordinates."""
    seen = set()
    for folder in folders:
        for top in sorted(glob.glob(f"{folder}/**/*.top", recursive=True)):
            stem = os.path.splitext(top)[0]
            near = [f for e in ("gro", "g96", "pdb") for f in sorted(glob.glob(f"{os.path.dirname(top)}/*.{e}"))]
            near = [f for f in near if os.path.splitext(f)[0] == stem] + [f for f in near if os.path.splitext(f)[0] != stem]
            with open(top, "rb") as file:
                data = file.read()
            if data.lstrip()[:8] == b"%VERSION":
                continue
            digest = hashlib.sha256(data + os.path.dirname(top).encode() * (b"#include" in data)).digest()
            if digest not in seen:
                seen.add(digest)
                yield os.path.abspath(top), [os.path.abspath(f) for f in near]


def atoms_in(path):
    """Atoms of a file of coordinates, roughly."""
    with open(path, errors="replace") as file:
        lines = file.read().splitlines()
    if path.endswith(".gro"):
        return int(lines[1]) if len(lines) > 1 and lines[1].strip().isdigit() else 0
    end = next((k for k, line in enumerate(lines) if line.startswith("ENDMDL")), None)
    return sum(line.startswith(("ATOM", "HETATM")) for line in lines[:end])


def main(md, folders):
    counts = collections.Counter()
    md = os.path.abspath(md)
    for top, near in pairs(folders):
        verdict, details = "no coordinates", ""
        info = subprocess.run([md, "info", top], capture_output=True, text=True)
        if not info.returncode:
            atoms = int(info.stdout.split("contents")[1].split()[0])
            near = [path for path in near if atoms_in(path) == atoms]
        for path in near[:3]:
            try:
                verdict, details = compare(md, top, path)
            except Refusal as refusal:
                verdict, details = "no coordinates", str(refusal)
            if verdict in ("agrees", "differs"):
                break
        counts[verdict] += 1
        print(f"{verdict} | {os.path.relpath(top)} | {details}", flush=True)
    for verdict, count in counts.most_common():
        print(f"{count} {verdict}")


main(sys.argv[1], sys.argv[2:])
