"""A small CHARMM system of invented parameters that exercise every rule of the files, with OpenMM's energies and forces.

    python charmm.py FOLDER

writes FOLDER/charmm.{psf,numbers.psf,rtf,prm,str,crd} and ref.json. `charmm.psf` is of X-PLOR format with the names of types,
`charmm.numbers.psf` of CHARMM's wide one with their numbers. OpenMM reads the files with CharmmPsfFile; its reader takes every
improper as harmonic, so that the periodic one is moved to a PeriodicTorsionForce here.
"""

import json
import os
import sys

import numpy as np
import openmm as mm
from openmm import app, unit

SEED = 7
MASSES = {"TC": 12.011, "TN": 14.007, "TA": 12.011, "TR": 12.011, "TH": 1.008, "TO": 15.999,
          "OT": 15.9994, "HT": 1.008, "SOD": 22.98977}
NUMBERS = {name: 10 + 3 * k for k, name in enumerate(MASSES)}
# residue number, residue, name, type, charge
CHAIN = [("CY", "TC", 0.5), ("OY", "TO", -0.5), ("N", "TN", -0.4), ("HN", "TH", 0.3), ("CA", "TA", 0.1), ("HA", "TH", 0.1),
         ("C", "TC", 0.45), ("O", "TO", -0.45), ("NT", "TN", -0.35), ("R1", "TR", 0.15), ("R2", "TR", 0.05), ("R3", "TR", -0.1),
         ("R4", "TR", 0.0), ("R5", "TR", 0.15)]
BONDS = [(0, 1), (0, 2), (2, 3), (2, 4), (4, 5), (4, 6), (6, 7), (6, 8), (8, 9), (9, 10), (10, 11), (11, 12), (12, 13), (13, 9)]
IMPROPERS = [(2, 0, 4, 3), (6, 4, 8, 7), (4, 2, 6, 5), (9, 8, 10, 13)]
MAPS = [(0, 2, 4, 6, 2, 4, 6, 8)]
WATERS = 2
# the improper of R1: k in kcal/mol, n, psi0 in degrees
PERIODIC = ((9, 8, 10, 13), 1.3, 2, 180.0)
MAP_SIZE = 8

PRM = """* Invented parameters
*
ATOMS
MASS -1 TX 12.011 C ! of no atom here; the others are in the rtf file
BONDS
TC TO 620.0 1.23
TC TN 370.0 1.345
tn th 440.0 0.997   ! small letters
TN TA 320.0 1.43
TA TH 330.0 1.08
TA TC 250.0 1.49
TN TR 320.0 1.45
TR TR 222.5 1.60 ! replaced by the stream file
OT HT 450.0 0.9572
ANGLES
TO TC TN 80.0 122.5
TC TN TH 34.0 123.0
TC TN TA 50.0 120.0
TH TN TA 35.0 117.0
TN TA TH 48.0 108.0 20.0 1.98
TN TA TC 50.0 107.0
TH TA TC 50.0 109.5 5.0 2.1
TA TC TO 80.0 121.0
TA TC TN 80.0 116.5 10.0 2.42
TC TN TR 50.0 120.0
TN TR TR 70.0 113.5 11.16 2.561
TR TR TR 58.35 113.6 11.16 2.561
HT OT HT 55.0 104.52
DIHEDRALS
X    TC   TN   X     2.5    2   180.0
X    TN   TA   X     9.9    3     0.0 ! the next three rows are exact, and take precedence
TC   TN   TA   TC    0.2    1   180.0
TC   TN   TA   TC    0.4    2    60.0
TC   TA   TN   TC    9.9    3     0.0
TH   TN   TA   TH    0.1    3     0.0
TH   TN   TA   TC    0.15   1     0.0
TH   TA   TN   TC    0.25   3   180.0
X    TA   TC   X     0.05   6   180.0
X    TN   TR   X     0.3    3     0.0
X    TR   TR   X     0.19   3     0.0 ! replaced by the stream file
IMPROPER
TN TC TA TH  20.0  0  10.0
TO X  X  TC  120.0 0  0.0
X  TN TC TH  15.0  0  35.26439
X  X  TR TR  1.3   2  180.0
CMAP
TC TN TA TC TN TA TC TN %d
@MAP@
NONBONDED nbxmod  5 atom cdiel fshift vatom vdistance vfswitch -
cutnb 14.0 ctofnb 12.0 ctonnb 10.0 eps 1.0 e14fac 0.9 wmin 1.5
TC 0.0 -0.11 2.0
TN 0.0 -0.2 1.85 0.0 -0.2 1.55
TA 0.0 -0.02 2.275 0.0 -0.01 1.9
TR 0.0 -0.056 2.01 0.0 -0.01 1.9
TH 0.0 -0.046 0.2245
TO 0.0 -0.12 1.7 0.0 -0.12 1.4
NBFIX
TH TO -0.05 1.9 -0.03 1.8 ! with parameters of 1-4 pairs
HBOND CUTHB 0.5
END
this is behind the end
""" % MAP_SIZE

STREAM = """* A stream of masses and parameters
*
set nat ?NATC
if @nat ne 0 set app append
read rtf card @app
* masses
*
36 1
MASS  34 SOD 22.98977 NA
RESI SOD 1.0
ATOM SOD SOD 1.0
END

read para card flex @app
* parameters
*
BONDS
TR TR 222.5 1.53
DIHEDRALS
X TR TR X 0.23 3 0.0
X TR TR X 0.07 2 180.0
NONBONDED
HT 0.0 -0.046 0.2245
OT 0.0 -0.1521 1.7682
SOD 0.0 -0.0469 1.41075
NBFIX
SOD TO -0.07502 3.23
SOD TN -0.08 3.5
end
"""


def angles():
    near = {i: sorted({b for a, b in BONDS if a == i} | {a for a, b in BONDS if b == i}) for i in range(len(CHAIN))}
    found = [(i, j, k) for j in near for i in near[j] for k in near[j] if i < k]
    torsions = [(i, j, k, l) for j, k in BONDS for i in near[j] if i != k for l in near[k] if l not in (j, i)]
    return found, torsions


def lists():
    """Everything with indices from 0: atoms, bonds, angles, dihedrals, impropers, maps."""
    atoms = [("PROT", "12A", "TST", *a) for a in CHAIN]
    three, four = angles()
    bonds = list(BONDS)
    for w in range(WATERS):
        o = len(atoms)
        atoms += [("WAT", str(w + 1), "TIP3", *a) for a in (("OH2", "OT", -0.834), ("H1", "HT", 0.417), ("H2", "HT", 0.417))]
        bonds += [(o, o + 1), (o, o + 2), (o + 1, o + 2)]
        three.append((o + 1, o, o + 2))
    atoms.append(("ION", "1", "SOD", "SOD", "SOD", 1.0))
    return atoms, bonds, three, four, IMPROPERS, MAPS


def psf(path, wide):
    atoms, *terms = lists()
    width = 10 if wide else 8
    number = "%{}d".format(width)
    text = "PSF EXT CMAP CHEQ\n\n" if wide else "PSF CMAP\n\n"
    text += (number + " !NTITLE\n* A SYSTEM OF INVENTED PARAMETERS\n* BY build/charmm.py\n\n") % 2
    text += (number + " !NATOM\n") % len(atoms)
    for i, (segment, resid, residue, name, kind, charge) in enumerate(atoms):
        kind_text = str(NUMBERS[kind]) if wide else kind
        form = "%10d %-8s %-8s %-8s %-8s %4s %14.6G%14.6G%8d%10.5f%14.6G\n" if wide else "%8d %-4s %-4s %-4s %-4s %-4s %10.6f%14.4f%12d\n"
        values = (i + 1, segment, resid, residue, name, kind_text, charge, MASSES[kind], 0)
        text += form % (values + (0.0, -0.00301140) if wide else values)
    names = [("NBOND: bonds", 8), ("NTHETA: angles", 9), ("NPHI: dihedrals", 8), ("NIMPHI: impropers", 8)]

    def rows(values, per_line):
        lines = [values[k:k + per_line] for k in range(0, len(values), per_line)]
        return "".join("".join(number % v for v in line) + "\n" for line in lines) + "\n"

    for (name, per_line), list_ in zip(names, terms):
        text += "\n" + (number + " !" + name + "\n") % len(list_) + rows([a + 1 for term in list_ for a in term], per_line)
    text += "\n" + (number + " !NDON: donors\n\n\n") % 0 + (number + " !NACC: acceptors\n\n\n") % 0
    text += (number + " !NNB\n\n") % 0 + rows([0] * len(atoms), 8)
    text += "\n" + (number * 2 + " !NGRP NST2\n") % (1, 0) + rows([0, 0, 0], 9)
    if wide:
        text += "\n" + (number + " !MOLNT\n") % 1 + rows([1] * len(atoms), 8)
        text += "\n" + (number * 2 + " !NUMLP NUMLPH\n\n") % (0, 0)
    maps = terms[-1]
    text += "\n" + (number + " !NCRTERM: cross-terms\n") % len(maps) + rows([a + 1 for term in maps for a in term], 8)
    with open(path, "w") as file:
        file.write(text)


def write_files(folder):
    rng = np.random.default_rng(SEED)
    grid = np.round(rng.normal(0.0, 0.8, (MAP_SIZE, MAP_SIZE)), 4)
    rows = "\n".join("! %d\n" % k + " ".join("%.4f" % v for v in row[:5]) + "\n" + " ".join("%.4f" % v for v in row[5:])
                     for k, row in enumerate(grid))
    with open(os.path.join(folder, "charmm.prm"), "w") as file:
        file.write(PRM.replace("@MAP@", rows))
    with open(os.path.join(folder, "charmm.str"), "w") as file:
        file.write(STREAM)
    with open(os.path.join(folder, "charmm.rtf"), "w") as file:
        file.write("* Masses\n*\n  36  1\n\n" + "".join("MASS %5d %-4s %9.5f\n" % (NUMBERS[n], n, m) for n, m in MASSES.items()))
        file.write("\nRESI TIP3 0.0\nATOM OH2 OT -0.834\nBOND OH2 H1 OH2 H2 -\n  H1 H2\nEND\n")
    psf(os.path.join(folder, "charmm.psf"), False)
    psf(os.path.join(folder, "charmm.numbers.psf"), True)


def system(folder, name):
    path = lambda file: os.path.join(folder, file)
    topology = app.CharmmPsfFile(path(name))
    made = topology.createSystem(app.CharmmParameterSet(path("charmm.rtf"), path("charmm.prm"), path("charmm.str")),
                                 nonbondedMethod=app.NoCutoff, constraints=None, rigidWater=False)
    for k in reversed(range(made.getNumForces())):
        if isinstance(made.getForce(k), mm.CMMotionRemover):
            made.removeForce(k)
    atoms, k, n, psi0 = PERIODIC
    harmonic = next(f for f in made.getForces() if isinstance(f, mm.CustomTorsionForce))
    other = mm.CustomTorsionForce(harmonic.getEnergyFunction())
    for name in ("k", "theta0"):
        other.addPerTorsionParameter(name)
    moved = 0
    for i in range(harmonic.getNumTorsions()):
        *four, values = harmonic.getTorsionParameters(i)
        if tuple(four) == atoms:
            moved += 1
        else:
            other.addTorsion(*four, values)
    assert moved == 1
    made.removeForce(next(i for i, f in enumerate(made.getForces()) if isinstance(f, mm.CustomTorsionForce)))
    made.addForce(other)
    periodic = mm.PeriodicTorsionForce()
    periodic.setName("improper")
    periodic.addTorsion(*atoms, n, np.radians(psi0), k * 4.184)
    made.addForce(periodic)
    return made


def context(made, positions):
    platform = mm.Platform.getPlatformByName("Reference")
    made = mm.Context(made, mm.VerletIntegrator(0.001), platform)
    made.setPositions(positions)
    made.computeVirtualSites()
    return made


def start(made):
    """Positions in Å, relaxed from a random coil."""
    rng = np.random.default_rng(SEED)
    positions = np.cumsum(rng.normal(0.0, 0.09, (made.getNumParticles(), 3)), axis=0)
    positions[len(CHAIN):] += np.arange(made.getNumParticles() - len(CHAIN))[:, None] // 3 * [0.0, 0.4, 0.0] + [0.4, 0.4, 0.0]
    made = context(made, positions)
    mm.LocalEnergyMinimizer.minimize(made, 10.0, 500)
    found = made.getState(getPositions=True).getPositions(asNumpy=True).value_in_unit(unit.angstrom)
    return np.round(found + rng.normal(0.0, 0.04, found.shape), 10)


def write_card(path, positions):
    with open(path, "w") as file:
        file.write("* A SYSTEM OF INVENTED PARAMETERS\n*\n%10d  EXT\n" % len(positions))
        for i, (atom, xyz) in enumerate(zip(lists()[0], positions)):
            segment, resid, residue, name, *_ = atom
            file.write("%10d%10d  %-8s  %-8s%20.10f%20.10f%20.10f  %-8s  %-8s%20.10f\n"
                       % (i + 1, 1, residue, name, *xyz, segment, resid, 0.0))


def reference(made, positions):
    """Energies by kind in kJ/mol, forces in kJ/mol/nm."""
    names = []
    for i, force in enumerate(made.getForces()):
        force.setForceGroup(i)
        kind = {"HarmonicBondForce": "urey_bradley" if "bond" in names else "bond", "HarmonicAngleForce": "angle",
                "PeriodicTorsionForce": "improper" if force.getName() == "improper" else "proper",
                "CustomTorsionForce": "improper", "CMAPTorsionForce": "cmap", "NonbondedForce": "coulomb",
                "CustomNonbondedForce": "lj"}[type(force).__name__]
        names.append(kind)
    made_context = context(made, positions * 0.1)
    energies = dict.fromkeys(names, 0.0)
    for i, name in enumerate(names):
        state = made_context.getState(getEnergy=True, groups={i})
        energies[name] += state.getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole)
    forces = made_context.getState(getForces=True).getForces(asNumpy=True)
    # the NonbondedForce holds the charges and all 1-4 pairs, which are split into Coulomb and Lennard-Jones here
    force = made.getForce(names.index("coulomb"))
    group = {names.index("coulomb")}

    def without(particles, charges14, wells14):
        other = mm.XmlSerializer.deserialize(mm.XmlSerializer.serialize(made))
        changed = other.getForce(names.index("coulomb"))
        for i in range(force.getNumParticles()):
            q, sigma, epsilon = force.getParticleParameters(i)
            changed.setParticleParameters(i, 0.0 * q if particles else q, sigma, epsilon)
        for i in range(force.getNumExceptions()):
            a, b, q, sigma, epsilon = force.getExceptionParameters(i)
            changed.setExceptionParameters(i, a, b, 0.0 * q if charges14 else q, sigma, 0.0 * epsilon if wells14 else epsilon)
        state = context(other, positions * 0.1).getState(getEnergy=True, groups=group)
        return state.getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole)

    energies["coulomb_14"] = without(True, False, True)
    energies["lj_14"] = without(True, True, False)
    energies["coulomb"] -= energies["lj_14"]
    energies["lj"] += energies["lj_14"]
    return energies, forces.value_in_unit(unit.kilojoule_per_mole / unit.nanometer)


def main(folder):
    write_files(folder)
    made = system(folder, "charmm.psf")
    positions = start(made)
    write_card(os.path.join(folder, "charmm.crd"), positions)
    energies, forces = reference(made, positions)
    again, other_forces = reference(system(folder, "charmm.numbers.psf"), positions)
    assert all(abs(again[name] - energies[name]) < 1e-9 for name in energies), (again, energies)
    assert np.abs(forces - other_forces).max() < 1e-6
    with open(os.path.join(folder, "ref.json"), "w") as file:
        json.dump({"openmm": mm.__version__, "energies": energies, "forces": forces.tolist()}, file, indent=1)
    print(energies)


if __name__ == "__main__":
    main(sys.argv[1])
