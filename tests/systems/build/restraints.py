"""Restraints of collective variables of a random cloud of atoms in OpenMM's double-precision Reference platform.

Writes ../restraints.json: masses (amu), positions (nm, not wrapped), reference positions (nm), the rows of a triclinic cell (nm), and
for each restraint its groups, parameters (nm, rad, kJ/mol; distances in x, y or z alone are those without the cell), energy (kJ/mol) and forces (kJ/mol/nm). Needs OpenMM 8.6 and numpy.
"""
import json
from pathlib import Path

import numpy as np
import openmm as mm
from openmm import unit

random = np.random.default_rng(20261123)
ATOMS = 30
CELL = [[3.0, 0.0, 0.0], [0.9, 2.8, 0.0], [-0.7, 1.1, 3.1]]

masses = np.round(random.uniform(1.0, 40.0, ATOMS), 3)
positions = np.round(random.uniform(0.0, 0.8, (ATOMS, 3)), 6)
# groups in other periodic images, as of molecules that have diffused
positions[10:20] += np.array(CELL[0]) - np.array(CELL[2])
positions[20:] -= np.array(CELL[1])
positions = np.round(positions, 6)
turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
turn *= np.sign(np.linalg.det(turn))
reference = np.round(positions @ turn + random.normal(scale=0.15, size=(ATOMS, 3)) + [5.0, -3.0, 1.0], 6)
A, B, C, D = [0, 3, 4, 7], [12], [20, 21, 25, 28, 29], [8, 9, 1]
WHOLE = list(range(10))


def context_of(force):
    system = mm.System()
    for mass in masses:
        system.addParticle(mass)
    system.setDefaultPeriodicBoxVectors(*(mm.Vec3(*row) for row in CELL))
    system.addForce(force)
    context = mm.Context(system, mm.VerletIntegrator(0.001), mm.Platform.getPlatformByName("Reference"))
    context.setPositions(positions * unit.nanometer)
    return context


def evaluate(force):
    kj = unit.kilojoule_per_mole
    state = context_of(force).getState(getEnergy=True, getForces=True)
    forces = state.getForces(asNumpy=True).value_in_unit(kj / unit.nanometer)
    return {"energy": state.getPotentialEnergy().value_in_unit(kj), "forces": forces.tolist()}


def centroids(groups, expression, parameters, periodic):
    force = mm.CustomCentroidBondForce(len(groups), expression)
    for group in groups:
        force.addGroup(group)
    for name in parameters:
        force.addPerBondParameter(name)
    force.addBond(list(range(len(groups))), list(parameters.values()))
    force.setUsesPeriodicBoundaryConditions(periodic)
    return force


def superposed(expression, parameters):
    force = mm.CustomCVForce(expression)
    for name, value in parameters.items():
        force.addGlobalParameter(name, value)
    force.addCollectiveVariable("x", mm.RMSDForce(reference, WHOLE))
    return force


# below and above: widths of the flat bottom on the two sides of the center, None for no force on this side;
# linear_beyond: distance at which the potential becomes linear, None if it is harmonic everywhere
HARMONIC = {"below": 0.0, "above": 0.0, "linear_beyond": None}
VARIABLES = {
    "distance": "distance(g1,g2)",
    "angle": "angle(g1,g2,g3)",
    "torsion": "dihedral(g1,g2,g3,g4)",
    "rmsd": "x",
}


def well(variable, periodic, below, above, linear_beyond, **_):
    image = f"; d=(u-{2 * np.pi}*floor(0.5+u/{2 * np.pi})); u=v-c" if periodic else "; d=v-c"
    up = "0" if above is None else f"max(0,d-{above})"
    down = "0" if below is None else f"max(0,-d-{below})"
    shape = "0.5*k*e^2"
    if linear_beyond is not None:
        w = linear_beyond
        shape = f"select(step(e-{w}),k*{w}*(e-{w / 2}),0.5*k*e^2)"
    return f"{shape}; e={up}+{down}{image}; v={variable}"


cases = []


def case(kind, groups, k, center, along="xyz", **shape):
    shape = {**HARMONIC, **shape}
    # components of a distance are differences of unwrapped positions, without a cell
    components = "+".join(f"({axis}1-{axis}2)^2" for axis in along)
    variable = VARIABLES[kind] if along == "xyz" else f"sqrt({components})"
    expression = well(variable, kind == "torsion", **shape)
    parameters = {"k": k, "c": center}
    force = superposed(expression, parameters) if kind == "rmsd" else centroids(groups, expression, parameters, along == "xyz")
    record = {"kind": kind, "groups": groups, "along": along, "force_constant": k, "center": center, **shape}
    cases.append({**record, **evaluate(force)})


case("distance", [A, B], 1000.0, 0.7)
case("distance", [B, C], 800.0, 0.1, below=0.02, above=0.05)
case("distance", [A, C], 800.0, 2.0, below=None)
case("distance", [A, C], 800.0, 0.1, below=None)
case("distance", [A, C], 800.0, 2.0, above=None, linear_beyond=0.3)
case("distance", [[2], [15]], 500.0, 0.2, linear_beyond=0.1)
case("distance", [A, B], 30.0, 1.0, along="z")
case("distance", [A, C], 30.0, 1.0, along="xy")
case("angle", [A, B, C], 150.0, 1.2)
case("angle", [[5], [6], D], 150.0, 2.9, below=0.3, above=0.1)
case("torsion", [A, B, C, D], 90.0, 3.0)
case("torsion", [[1], [2], [3], [4]], 90.0, -3.1, below=0.2, above=0.2, linear_beyond=0.5)
case("torsion", [D, [13], [22, 23], A], 40.0, 0.4)
case("rmsd", [WHOLE], 700.0, 0.0)
case("rmsd", [WHOLE], 700.0, 0.05, below=None)
case("rmsd", [WHOLE], 2000.0, 0.4, above=None)

record = {"masses": masses.tolist(), "positions": positions.tolist(), "reference": reference.tolist(), "cell": CELL, "cases": cases}
Path(__file__).parent.with_name("restraints.json").write_text(json.dumps(record, indent=1) + "\n")
for entry in cases:
    print(entry["kind"], entry["energy"])
