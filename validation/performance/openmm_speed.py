#!/usr/bin/env python3
"""Speed of OpenMM: openmm_speed.py PRMTOP RST7 [THREADS|cuda [STEPS]]; the median of three pieces as "X ns/day".

On the CPU platform with so many threads, or on a GPU in mixed precision.
"""

import statistics
import sys
import time

import openmm as mm
from openmm import app, unit

TIMESTEP = 0.002  # ps
WARM_UP = 100  # steps: the platform chooses its PME grid and splits its threads
PIECES = 3
SECONDS_PER_DAY = 86400.0


def main(prmtop, rst7, where="2", steps="1000"):
    """Same cutoff, constraints and step as speed.mdp; PME at the error tolerance nearest to its grid."""
    state = app.AmberInpcrdFile(rst7)
    topology = app.AmberPrmtopFile(prmtop, periodicBoxVectors=state.boxVectors)
    system = topology.createSystem(
        nonbondedMethod=app.PME,
        nonbondedCutoff=0.9 * unit.nanometer,
        constraints=app.HBonds,
        ewaldErrorTolerance=5e-4,
    )
    # OpenMM has no stochastic velocity rescaling; of its thermostats, Nosé-Hoover is the nearest in cost
    integrator = mm.NoseHooverIntegrator(300.0, 1.0, TIMESTEP)
    name, properties = ("CUDA", {"Precision": "mixed"}) if where == "cuda" else ("CPU", {"Threads": where})
    context = mm.Context(system, integrator, mm.Platform.getPlatformByName(name), properties)
    context.setPeriodicBoxVectors(*state.boxVectors)
    context.setPositions(state.positions)
    context.setVelocitiesToTemperature(300.0, 1)
    integrator.step(WARM_UP)
    context.getState(getEnergy=True)
    seconds = statistics.median(piece(context, integrator, int(steps)) for _ in range(PIECES))
    print(f"{int(steps) * TIMESTEP * 1e-3 / seconds * SECONDS_PER_DAY:.2f} ns/day")


def piece(context, integrator, steps):
    """Wall time of so many steps."""
    start = time.perf_counter()
    integrator.step(steps)
    context.getState(getEnergy=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    main(*sys.argv[1:])
