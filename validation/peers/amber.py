"""AMBER topologies of other programs' tests, as md and as OpenMM read them: amber.py MD FOLDER…

Every file below the folders that begins as a prmtop does is read by both; equal contents count once. Energies term by
term and forces are computed in f64 with all pairs and no cell, at the coordinates of the file of the same name where there
is one, else on a lattice with random displacements. Prints a line for each file and the counts. Needs OpenMM and NumPy.
"""

import bz2
import collections
import copy
import gzip
import hashlib
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import openmm as mm
from openmm import app, unit

# relative tolerance: of energies to the larger of 1 kJ/mol and their value, and of the RMS force error to the RMS
# force; both programs compute in f64
TOLERANCE = 1e-6
COORDINATES = ("rst7", "inpcrd", "crd", "rst", "restrt", "ncrst")
# number of atoms above which the Lennard-Jones and Coulomb energies are compared only as one sum, because computing all
# pairs takes long
FEW = 12000
# number of atoms above which a system is skipped, because computing all pairs takes too long
MOST = 80000
INPUT = """[system]
topology = "a.prmtop"
coordinates = "a.rst7"
[forces]
cutoff = "none"
electrostatics = "plain"
dispersion_correction = false
constraints = "none"
rigid_water = false
"""


def unpacked(path):
    with open(path, "rb") as file:
        data = file.read()
    try:
        if data[:2] == b"\x1f\x8b":
            return gzip.decompress(data)
        if data[:3] == b"BZh":
            return bz2.decompress(data)
    except (OSError, EOFError):
        pass
    return data


def topologies(folders):
    seen = set()
    for folder in folders:
        for parent, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                path = os.path.join(parent, name)
                data = unpacked(path)
                if data.lstrip()[:8] == b"%VERSION" or data.lstrip()[:6] == b"%FLAG ":
                    digest = hashlib.sha256(data).digest()
                    if digest not in seen:
                        seen.add(digest)
                        yield path, data


def positions(path, atoms):
    """Å, as they are written with seven decimals."""
    random = np.random.default_rng(1)
    stem = path.split(".")[0] if "." not in os.path.dirname(path) else os.path.splitext(path)[0]
    for extension in COORDINATES:
        try:
            found = app.AmberInpcrdFile(f"{stem}.{extension}").getPositions(asNumpy=True).value_in_unit(unit.angstrom)
        except Exception:  # noqa: BLE001, whatever keeps OpenMM from it
            continue
        if found.shape == (atoms, 3) and np.isfinite(found).all() and abs(found).max() < 9000:
            # displaced at random to avoid straight angles, at which OpenMM's arc cosine loses digits of the force
            return np.round(found + random.uniform(-0.02, 0.02, (atoms, 3)), 7), "file"
    side = int(np.ceil(atoms ** (1 / 3)))
    lattice = np.array([(i // side**2, i // side % side, i % side) for i in range(atoms)], float) * 3
    return np.round(lattice + random.uniform(-0.7, 0.7, (atoms, 3)), 7), "lattice"


def mend_lone_pairs(system):
    """OpenMM 8.6 puts the sites of five-site water on the side of the hydrogens, not opposite to them as its own force field
    file tip5p.xml and sander do."""
    for i in range(system.getNumParticles()):
        site = system.getVirtualSite(i) if system.isVirtualSite(i) else None
        if isinstance(site, mm.OutOfPlaneSite) and site.getWeight12() > 0:
            atoms = [site.getParticle(k) for k in range(3)]
            weights = -site.getWeight12(), -site.getWeight13(), site.getWeightCross()
            system.setVirtualSite(i, mm.OutOfPlaneSite(*atoms, *weights))


def context(system, places):
    made = mm.Context(system, mm.VerletIntegrator(0.001), mm.Platform.getPlatformByName("Reference"))
    made.setPositions(places * 0.1)
    made.computeVirtualSites()
    return made


def nonbonded(system, group, charges, only_exceptions):
    """Energy of the force of pairs with its charges or its Lennard-Jones parameters only."""
    part = copy.deepcopy(system)
    force = part.getForce(group)
    for i in range(force.getNumParticles()):
        charge, sigma, epsilon = force.getParticleParameters(i)
        keep = not only_exceptions
        force.setParticleParameters(i, charge if charges and keep else 0, sigma, 0 if charges or not keep else epsilon)
    for i in range(force.getNumExceptions()):
        one, other, charge, sigma, epsilon = force.getExceptionParameters(i)
        force.setExceptionParameters(i, one, other, charge if charges else 0, sigma, 0 if charges else epsilon)
    return part


def theirs(system, places):
    """Energies by the names of md, and forces."""
    for index in reversed(range(system.getNumForces())):
        if isinstance(system.getForce(index), mm.CMMotionRemover):
            system.removeForce(index)
    by_kind = collections.defaultdict(list)
    for group, force in enumerate(system.getForces()):
        force.setForceGroup(group)
        by_kind[type(force).__name__].append(group)
    whole = context(system, places)

    def energy(made, groups):
        return made.getState(getEnergy=True, groups=set(groups)).getPotentialEnergy()._value if groups else 0.0

    pairs = by_kind["NonbondedForce"][0]
    bonds = by_kind["HarmonicBondForce"]
    custom = by_kind["CustomNonbondedForce"] + by_kind["CustomBondForce"]
    found = {
        "bond": energy(whole, bonds[:1]),
        "urey_bradley": energy(whole, bonds[1:]),
        "angle": energy(whole, by_kind["HarmonicAngleForce"]),
        "torsions": energy(whole, by_kind["PeriodicTorsionForce"] + by_kind["CustomTorsionForce"]),
        "cmap": energy(whole, by_kind["CMAPTorsionForce"]),
    }
    if len(places) > FEW:
        found["pairs"] = energy(whole, [pairs] + custom)
    else:
        for charges, exceptions, name in (
            (True, False, "coulomb"), (True, True, "coulomb_14"), (False, False, "lj"), (False, True, "lj_14")
        ):  # fmt: skip
            part = context(nonbonded(system, pairs, charges, exceptions), places)
            found[name] = energy(part, [pairs] + (custom if name == "lj" else []))
    forces = whole.getState(getForces=True).getForces(asNumpy=True)
    forces = forces.value_in_unit(unit.kilojoule_per_mole / unit.nanometer)
    # OpenMM has spread the forces on virtual sites to atoms, but leaves them in the rows of the sites
    forces[[system.isVirtualSite(i) for i in range(len(forces))]] = 0
    return found, forces


def write_rst7(path, places):
    numbers = [f"{value:12.7f}" for value in places.ravel()]
    lines = ["".join(numbers[i : i + 6]) for i in range(0, len(numbers), 6)]
    with open(path, "w") as file:
        file.write(f"positions\n{len(places):6d}\n" + "\n".join(lines) + "\n")


def ours(md, data, places):
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/a.prmtop", "wb") as file:
            file.write(data)
        write_rst7(f"{folder}/a.rst7", places)
        with open(f"{folder}/input.toml", "w") as file:
            file.write(INPUT)
        command = [md, "energy", "input.toml", "--precision", "double", "--json", "e.json", "--forces", "f.npy"]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if run.returncode:
            return None, " ".join(run.stderr.split()).removeprefix("error: ")
        with open(f"{folder}/e.json") as file:
            return json.load(file)["energies"], np.load(f"{folder}/f.npy")


def read_by_openmm(data):
    with tempfile.NamedTemporaryFile(suffix=".prmtop") as file:
        file.write(data)
        file.flush()
        read = app.AmberPrmtopFile(file.name)
        system = read.createSystem(nonbondedMethod=app.NoCutoff, constraints=None, rigidWater=False)
        mend_lone_pairs(system)
        return system


def compare(md, path, data):
    """What came of it in a word, and details."""
    try:
        system, why = read_by_openmm(data), None
    except Exception as error:  # noqa: BLE001
        system, why = None, f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"
    atoms = system.getNumParticles() if system else 0
    if atoms > MOST:
        return "too large", f"{atoms} atoms"
    if system is None:
        energies, message = ours(md, data, np.zeros((1, 3)))
        # md reads the topology before the coordinates: if it accepts the topology, it refuses the coordinates, which
        # have only one atom
        taken = energies is not None or "a.rst7" in message
        if taken:
            return "read by md only", why
        return "refused by both", f"{message[:200]} | OpenMM: {why}"
    places, source = positions(path, atoms)
    energies, forces = ours(md, data, places)
    if energies is None:
        return "refused", forces[:300]
    try:
        expected, reference = theirs(system, places)
    except mm.OpenMMException as error:
        return "read by md only", f"OpenMM: {error}"
    energies["torsions"] = energies["proper"] + energies["improper"]
    energies["pairs"] = energies["coulomb"] + energies["lj"]
    errors = {name: abs(energies[name] - value) / max(1.0, abs(value)) for name, value in expected.items()}
    worst = max(errors, key=errors.get)
    error = np.sqrt(((forces - reference) ** 2).sum() / max((reference**2).sum(), 1e-30))
    details = f"{atoms} atoms, {source}: {worst} {errors[worst]:.1e}, forces {error:.1e}"
    if max(errors[worst], error) < TOLERANCE:
        return "agrees", details
    wrong = {name: (energies[name], expected[name]) for name in errors if errors[name] >= TOLERANCE}
    return "differs", f"{details} {wrong}"


def main(md, folders):
    counts = collections.Counter()
    for path, data in topologies(folders):
        try:
            verdict, details = compare(os.path.abspath(md), path, data)
        except Exception as error:  # noqa: BLE001
            verdict, details = "error of this script", repr(error)[:300]
        counts[verdict] += 1
        print(f"{verdict} | {os.path.relpath(path)} | {details}", flush=True)
    for verdict, count in counts.most_common():
        print(f"{count} {verdict}")


main(sys.argv[1], sys.argv[2:])
