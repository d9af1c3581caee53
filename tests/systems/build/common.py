"""What the build scripts share: relaxing, AMBER files from OpenMM systems, packing."""

import lzma
import os
import sys

import numpy as np
import openmm as mm
import parmed
from openmm import app, unit
from parmed.topologyobjects import AngleType, Bond, BondType

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
NM = unit.nanometer
SEED = 20240
WATER = ("HOH", "WAT", "TIP3")
CUTOFF = 0.9  # nm


def solvated(forcefield, topology, positions, **box):
    """Hydrogens and water added; `box` goes to Modeller.addSolvent."""
    modeller = app.Modeller(topology, positions)
    if topology.getNumAtoms():
        modeller.addHydrogens(forcefield)
    if box:
        modeller.addSolvent(forcefield, **box)
    return modeller


def relaxed(forcefield, modeller, picoseconds, pressure=False):
    """Minimised, then run with rigid bonds at 300 K: positions and velocities (with units), cell."""
    periodic = modeller.topology.getPeriodicBoxVectors() is not None
    method = {"nonbondedMethod": app.PME, "nonbondedCutoff": CUTOFF * NM} if periodic else {}
    system = forcefield.createSystem(modeller.topology, constraints=app.HBonds, **method)
    if pressure:
        barostat = mm.MonteCarloBarostat(1.0, 300.0, 10)
        barostat.setRandomNumberSeed(SEED)
        system.addForce(barostat)
    integrator = mm.LangevinMiddleIntegrator(300.0, 2.0, 0.002)
    integrator.setRandomNumberSeed(SEED)
    platform = mm.Platform.getPlatformByName("CPU" if periodic else "Reference")
    context = mm.Context(system, integrator, platform)
    context.setPositions(modeller.positions)
    mm.LocalEnergyMinimizer.minimize(context, 50.0, 200)
    context.setVelocitiesToTemperature(300.0, SEED)
    integrator.step(round(picoseconds / 0.002))
    return context.getState(getPositions=True, getVelocities=True, enforcePeriodicBox=periodic)


def structure(forcefield, topology, state, remove=()):
    """A ParmEd structure of the flexible system; `remove` names forces that ParmEd cannot take."""
    periodic = topology.getPeriodicBoxVectors() is not None
    method = {"nonbondedMethod": app.PME, "nonbondedCutoff": CUTOFF * NM} if periodic else {}
    system = forcefield.createSystem(topology, constraints=None, rigidWater=False, removeCMMotion=False, **method)
    for i in reversed(range(system.getNumForces())):
        if isinstance(system.getForce(i), remove):
            system.removeForce(i)
    split_urey_bradley(system, topology)
    made = parmed.openmm.load_topology(topology, system, state.getPositions(asNumpy=True).value_in_unit(unit.angstrom))
    if made.unknown_functional:
        raise SystemExit("ParmEd did not understand the system")
    if periodic:
        lengths, angles = parmed.geometry.box_vectors_to_lengths_and_angles(*state.getPeriodicBoxVectors())
        made.box = [*lengths.value_in_unit(unit.angstrom), *angles.value_in_unit(unit.degree)]
    made.velocities = velocities(state)
    return made


def split_urey_bradley(system, topology):
    """Springs between atoms that are not bonded go to a second bond force, which ParmEd takes for Urey-Bradley."""
    bonded = {frozenset((b[0].index, b[1].index)) for b in topology.bonds()}
    bonds = next(f for f in system.getForces() if isinstance(f, mm.HarmonicBondForce))
    all_bonds = [bonds.getBondParameters(i) for i in range(bonds.getNumBonds())]
    real, urey = ([b for b in all_bonds if (frozenset(b[:2]) in bonded) == wanted] for wanted in (True, False))
    if not urey:
        return
    system.removeForce([isinstance(f, mm.HarmonicBondForce) for f in system.getForces()].index(True))
    for group in (real, urey):
        force = mm.HarmonicBondForce()
        for bond in group:
            force.addBond(*bond)
        system.addForce(force)


def velocities(state):
    """Å per ps, as ParmEd wants them."""
    return state.getVelocities(asNumpy=True).value_in_unit(unit.angstrom / unit.picosecond)


def leap_water(made, zero_hh=False):
    """Water as LEaP and CHAMBER write it: with an H-H bond, which replaces the angle unless `zero_hh`."""
    kind = None
    for residue in made.residues:
        if residue.name not in WATER:
            continue
        oxygen, one, two = residue.atoms[:3]
        oh = next(b.type for b in oxygen.bonds if one in b)
        angle = next(a for a in oxygen.angles if a.atom2 is oxygen)
        if kind is None:
            length = 2.0 * oh.req * np.sin(np.radians(angle.type.theteq) / 2.0)
            kind = BondType(0.0 if zero_hh else oh.k, round(length, 8))
            made.bond_types.append(kind)
        made.bonds.append(Bond(one, two, type=kind))
        if not zero_hh:
            angle.delete()
            made.angles.remove(angle)
    kept = {id(a.type) for a in made.angles}
    made.angle_types[:] = [t for t in made.angle_types if id(t) in kept]
    made.bond_types.claim()
    made.angle_types.claim()
    return made


def pack(path):
    """Replaces a file by its .xz."""
    with open(path, "rb") as plain:
        data = plain.read()
    with lzma.open(path + ".xz", "wb", preset=9 | lzma.PRESET_EXTREME) as packed:
        packed.write(data)
    os.remove(path)


def write(parm, folder, name):
    """NAME.prmtop.xz and NAME.rst7.xz; the date in the header is fixed so that rebuilding changes nothing."""
    os.makedirs(folder, exist_ok=True)
    prmtop, rst7 = (os.path.join(folder, name + suffix) for suffix in (".prmtop", ".rst7"))
    parm.write_parm(prmtop)
    with open(prmtop) as file:
        lines = file.readlines()
    lines[0] = "%VERSION  VERSION_STAMP = V0001.000  DATE = 01/01/25  00:00:00".ljust(80) + "\n"
    with open(prmtop, "w") as file:
        file.writelines(lines)
    restart = parmed.amber.Rst7(natom=len(parm.atoms))
    restart.coordinates = parm.coordinates.reshape(1, -1, 3)
    if parm.velocities is not None:
        restart.vels = parm.velocities.reshape(1, -1, 3)  # Å/ps: ParmEd converts to the unit of the file
    if parm.box is not None:
        restart.box = parm.box
    restart.title = name
    restart.write(rst7)
    pack(prmtop)
    pack(rst7)


def write_gromacs(parm, folder, name):
    """NAME.top.xz and NAME.gro.xz (8 decimals) of a structure whose water carries its H-H bond."""
    for suffix, options in ((".top", {}), (".gro", {"precision": 8})):
        path = os.path.join(folder, name + suffix)
        parm.save(path, overwrite=True, **options)
        with open(path) as file:
            lines = file.readlines()
        if suffix == ".top":  # ParmEd's header names the machine, the time and the command line
            lines = [line for line in lines if not line.startswith(";")]
        with open(path, "w") as file:
            file.writelines(lines)
        pack(path)
