#!/usr/bin/env python3
"""Makes `water.bin.xz`, the equilibrated box of water with which cells are filled.

OpenMM simulates 900 molecules of TIP3P (W. L. Jorgensen et al., J. Chem. Phys. 79, 926 (1983), doi:10.1063/1.445869)
at 300 K and 1 bar with PME, first with a barostat, then at the mean volume. The file holds little-endian 32-bit
integers: the number of molecules, the edge of the cubic box, and x, y, z of O, H, H of each molecule. Lengths are in
units of 1e-5 nm. Molecules are whole, and each oxygen is in the box.

Usage: water.py   (needs openmm and numpy; writes into the folder of this script)
"""

import lzma
import pathlib

import numpy
import openmm
from openmm import app, unit

MOLECULES = 900
TEMPERATURE = 300 * unit.kelvin
PRESSURE = 1 * unit.bar
TIMESTEP = 2 * unit.femtoseconds
EQUILIBRATION, AVERAGING, CONSTANT_VOLUME = 2000, 100, 1000  # steps, samples, steps
BETWEEN_SAMPLES = 25  # steps
UNIT = 1e-5  # nm
SEED = 1


def simulation():
    """A minimised box of water with a barostat."""
    force_field = app.ForceField("tip3p.xml")
    modeller = app.Modeller(app.Topology(), [])
    modeller.addSolvent(force_field, model="tip3p", numAdded=MOLECULES, boxShape="cube", neutralize=False)
    system = force_field.createSystem(
        modeller.topology, nonbondedMethod=app.PME, nonbondedCutoff=0.9 * unit.nanometer, rigidWater=True
    )
    barostat = openmm.MonteCarloBarostat(PRESSURE, TEMPERATURE, 10)
    barostat.setRandomNumberSeed(SEED)
    system.addForce(barostat)
    integrator = openmm.LangevinMiddleIntegrator(TEMPERATURE, 2 / unit.picosecond, TIMESTEP)
    integrator.setRandomNumberSeed(SEED)
    made = app.Simulation(modeller.topology, system, integrator, openmm.Platform.getPlatformByName("CPU"))
    made.context.setPositions(modeller.positions)
    made.minimizeEnergy(maxIterations=200)
    made.context.setVelocitiesToTemperature(TEMPERATURE, SEED)
    return made


def edge_and_positions(context):
    """Edge of the box and positions of whole molecules with the oxygens in the box, in nm."""
    state = context.getState(getPositions=True)
    edge = state.getPeriodicBoxVectors(asNumpy=True).value_in_unit(unit.nanometer)[0, 0]
    sites = state.getPositions(asNumpy=True).value_in_unit(unit.nanometer).reshape(-1, 3, 3)
    return edge, sites - edge * numpy.floor(sites[:, :1] / edge)


def main():
    made = simulation()
    context = made.context
    made.step(EQUILIBRATION)
    edges = []
    for _ in range(AVERAGING):
        made.step(BETWEEN_SAMPLES)
        edges.append(edge_and_positions(context)[0])
    mean = numpy.mean(numpy.power(edges, 3)) ** (1 / 3)
    edge, sites = edge_and_positions(context)
    moved = sites + sites[:, :1] * (mean / edge - 1)
    context.setParameter(openmm.MonteCarloBarostat.Pressure(), 0)
    next(force for force in made.system.getForces() if isinstance(force, openmm.MonteCarloBarostat)).setFrequency(0)
    context.reinitialize(preserveState=True)
    context.setPeriodicBoxVectors(*(mean * numpy.eye(3)))
    context.setPositions(moved.reshape(-1, 3))
    context.applyConstraints(1e-8)
    made.step(CONSTANT_VOLUME)
    edge, sites = edge_and_positions(context)
    energy = context.getState(getEnergy=True).getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole)
    print(f"edge {edge:.5f} nm, {len(sites) / edge**3:.3f} per nm³, {energy / len(sites):.2f} kJ/mol per molecule")
    numbers = numpy.concatenate([[len(sites), round(edge / UNIT)], numpy.rint(sites / UNIT).ravel()])
    packed = lzma.compress(numbers.astype("<i4").tobytes(), preset=9 | lzma.PRESET_EXTREME)
    pathlib.Path(__file__).with_name("water.bin.xz").write_bytes(packed)


if __name__ == "__main__":
    main()
