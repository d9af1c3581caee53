#!/usr/bin/env python3
"""Speed of OpenMM's CPU platform: openmm_cpu.py PRMTOP RST7 [THREADS [STEPS]]; prints "X ns/day"."""

import sys
import time

import openmm as mm
from openmm import app, unit

TIMESTEP = 0.002  # ps
WARM_UP = 100  # steps: the platform chooses its PME grid and splits its threads
SECONDS_PER_DAY = 86400.0


def main(prmtop, rst7, threads="2", steps="1000"):
    """Same cutoff, constraints and step as speed.mdp; PME at the error tolerance nearest to its grid."""
    state = app.AmberInpcrdFile(rst7)
    topology = app.AmberPrmtopFile(prmtop, periodicBoxVectors=state.boxVectors)
    system = topology.createSystem(
        nonbondedMethod=app.PME,
        nonbondedCutoff=0.9 * unit.nanometer,
        constraints=app.HBonds,
        ewaldErrorTolerance=5e-4,
    )
    # the thermostat nearest in cost: OpenMM has no stochastic velocity rescaling
    integrator = mm.NoseHooverIntegrator(300.0, 1.0, TIMESTEP)
    platform = mm.Platform.getPlatformByName("CPU")
    context = mm.Context(system, integrator, platform, {"Threads": threads})
    context.setPeriodicBoxVectors(*state.boxVectors)
    context.setPositions(state.positions)
    context.setVelocitiesToTemperature(300.0, 1)
    integrator.step(WARM_UP)
    context.getState(getEnergy=True)
    start = time.perf_counter()
    integrator.step(int(steps))
    context.getState(getEnergy=True)
    seconds = time.perf_counter() - start
    print(f"{int(steps) * TIMESTEP * 1e-3 / seconds * SECONDS_PER_DAY:.2f} ns/day")


if __name__ == "__main__":
    main(*sys.argv[1:])
