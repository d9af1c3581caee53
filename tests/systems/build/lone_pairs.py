"""A CHARMM system of invented parameters with lone pairs of every kind, and OpenMM's energies and forces.

    python lone_pairs.py FOLDER

writes FOLDER/lone-pairs.{psf,prm,crd} and ref.json: a chlorine with a colinear site, an oxygen with two relative ones, a water
whose site is on its bisector and one whose site is beside it. OpenMM reads them with CharmmPsfFile.
"""

import json
import os
import sys

import numpy as np
import openmm as mm
from openmm import app, unit

from charmm import context, reference

SEED = 11
NAME = "lone-pairs"
# segment, residue number, residue, name, type, charge, mass
ATOMS = [("HALO", 1, "HAL", *atom) for atom in [
    ("C1", "CA", 0.10, 12.011), ("C2", "CB", -0.05, 12.011), ("C3", "CB", 0.15, 12.011), ("CL", "CLX", -0.20, 35.453),
    ("LP1", "LPH", 0.05, 0.0), ("O", "OX", -0.30, 15.999), ("LP2", "LPX", -0.12, 0.0), ("LP3", "LPX", -0.12, 0.0),
    ("H1", "HX", 0.49, 1.008)]] + [
    ("WAT", k, "TIP4", *atom) for k in (1, 2) for atom in [
        ("OH2", "OT", 0.0, 15.9994), ("H1", "HT", 0.52, 1.008), ("H2", "HT", 0.52, 1.008), ("OM", "LPX", -1.04, 0.0)]]
BONDS = [(1, 2), (2, 3), (1, 4), (4, 5), (3, 6), (6, 7), (6, 8), (6, 9)]
BONDS += [(o, o + k) for o in (10, 14) for k in (1, 2, 3)] + [(o + 1, o + 2) for o in (10, 14)]
ANGLES = [(1, 2, 3), (2, 1, 4), (2, 3, 6), (3, 6, 9), (11, 10, 12), (15, 14, 16)]
DIHEDRALS = [(4, 1, 2, 3), (1, 2, 3, 6), (2, 3, 6, 9)]
# site, hosts, distance in Å, angle and dihedral in degrees
LONE_PAIRS = [(5, (4, 1), 1.64, 0.0, 0.0), (7, (6, 3, 2), 0.35, 110.0, 75.0), (8, (6, 3, 2), 0.38, 104.0, -100.0),
              (13, (10, 11, 12), -0.15, 0.0, 0.0), (17, (14, 15, 16), -0.2, 35.0, 60.0)]

PRM = """* Invented parameters
*
ATOMS
@MASSES@
BONDS
CA CB 320.0 1.43
CB CB 222.5 1.53
CA CLX 220.0 1.75
CB OX 428.0 1.42
OX HX 545.0 0.96
OT HT 450.0 0.9572
ANGLES
CA CB CB 50.0 112.0
CB CA CLX 60.0 110.0
CB CB OX 75.0 110.1
CB OX HX 57.5 106.0
HT OT HT 55.0 104.52
DIHEDRALS
X CA CB X 0.2 3 0.0
CA CB CB OX 0.3 1 180.0
X CB OX X 0.4 2 0.0
IMPROPER
NONBONDED nbxmod 5 atom cdiel shift vatom vdistance vswitch -
cutnb 14.0 ctofnb 12.0 ctonnb 10.0 eps 1.0 e14fac 1.0 wmin 1.5
CA 0.0 -0.07 1.9924
CB 0.0 -0.055 2.175 0.0 -0.01 1.9
CLX 0.0 -0.23 1.86
OX 0.0 -0.1921 1.765
HX 0.0 -0.046 0.2245
OT 0.0 -0.155 1.7683
HT 0.0 -0.046 0.2245
LPH 0.0 0.0 0.0
LPX 0.0 0.0 0.0
NBFIX
CLX OT -0.1 3.9
END
"""


def rows(numbers, per_line):
    flat = [n for row in numbers for n in row]
    return "".join("".join("%8d" % n for n in flat[k:k + per_line]) + "\n" for k in range(0, len(flat), per_line)) + "\n"


def write_psf(path):
    hosts = [(site, *atoms) for site, atoms, *_ in LONE_PAIRS]
    with open(path, "w") as file:
        file.write("PSF\n\n%8d !NTITLE\n REMARKS LONE PAIRS OF INVENTED PARAMETERS\n\n%8d !NATOM\n" % (1, len(ATOMS)))
        for i, (segment, resid, residue, name, kind, charge, mass) in enumerate(ATOMS):
            file.write("%8d %-4s %-4d %-4s %-4s %-4s %14.6f%14.6f%8d\n" % (i + 1, segment, resid, residue, name, kind, charge, mass, 0))
        for title, terms, per_line in [("NBOND: bonds", BONDS, 8), ("NTHETA: angles", ANGLES, 9), ("NPHI: dihedrals", DIHEDRALS, 8),
                                       ("NIMPHI: impropers", [], 8), ("NDON: donors", [], 8), ("NACC: acceptors", [], 8)]:
            file.write("\n%8d !%s\n" % (len(terms), title) + rows(terms, per_line))
        file.write("\n%8d !NNB\n\n" % 0 + rows([[0] * len(ATOMS)], 8) + "\n%8d%8d !NGRP NST2\n" % (1, 0) + rows([[0, 0, 0]], 9))
        file.write("\n%8d%8d !NUMLP NUMLPH\n" % (len(hosts), sum(map(len, hosts))))
        at = 1
        for (_, atoms, *values), listed in zip(LONE_PAIRS, hosts):
            file.write("%10d%10d   F%14.6G%14.6G%14.6G\n" % (len(atoms), at, *values))
            at += len(listed)
        file.write(rows(hosts, 8))


def write_files(folder):
    write_psf(os.path.join(folder, NAME + ".psf"))
    masses = {kind: mass for *_, kind, _, mass in ATOMS}
    with open(os.path.join(folder, NAME + ".prm"), "w") as file:
        file.write(PRM.replace("@MASSES@", "\n".join("MASS -1 %s %.6f" % row for row in masses.items())))


def system(folder):
    topology = app.CharmmPsfFile(os.path.join(folder, NAME + ".psf"))
    parameters = app.CharmmParameterSet(os.path.join(folder, NAME + ".prm"))
    made = topology.createSystem(parameters, nonbondedMethod=app.NoCutoff, constraints=None, rigidWater=False,
                                 removeCMMotion=False)
    return made


def start(made):
    """Positions in Å, relaxed from a random coil."""
    rng = np.random.default_rng(SEED)
    positions = np.cumsum(rng.normal(0.0, 0.09, (len(ATOMS), 3)), axis=0)
    positions[9:] += np.arange(8)[:, None] // 4 * [0.0, 0.4, 0.0] + [0.4, 0.4, 0.0]
    made = context(made, positions)
    mm.LocalEnergyMinimizer.minimize(made, 10.0, 500)
    shaken = made.getState(getPositions=True).getPositions(asNumpy=True).value_in_unit(unit.nanometer)
    made.setPositions(shaken + rng.normal(0.0, 0.004, shaken.shape))
    made.computeVirtualSites()
    return np.round(made.getState(getPositions=True).getPositions(asNumpy=True).value_in_unit(unit.angstrom), 10)


def write_card(path, positions):
    with open(path, "w") as file:
        file.write("* LONE PAIRS\n*\n%10d  EXT\n" % len(positions))
        for i, ((segment, resid, residue, name, *_), xyz) in enumerate(zip(ATOMS, positions)):
            file.write("%10d%10d  %-8s  %-8s%20.10f%20.10f%20.10f  %-8s  %-8s%20.10f\n"
                       % (i + 1, resid, residue, name, *xyz, segment, resid, 0.0))


def main(folder):
    os.makedirs(folder, exist_ok=True)
    write_files(folder)
    made = system(folder)
    positions = start(made)
    write_card(os.path.join(folder, NAME + ".crd"), positions)
    energies, forces = reference(made, positions)
    # OpenMM has spread the forces of sites to atoms and leaves the rows of the sites as they were
    forces[[i for i in range(len(ATOMS)) if made.isVirtualSite(i)]] = 0.0
    with open(os.path.join(folder, "ref.json"), "w") as file:
        json.dump({"openmm": mm.__version__, "energies": energies, "forces": forces.tolist()}, file, indent=1)
    print(energies)


if __name__ == "__main__":
    main(sys.argv[1])
