"""Switched Lennard-Jones interactions in OpenMM's double-precision Reference platform, without charges and bonded terms.

Writes ../NAME/switches.json (energies in kJ/mol) and ../NAME/forces_SWITCH.npy (kJ/mol/nm). The potential switch is
OpenMM's own; the force switch is the formula of the GROMACS reference manual ("Modified non-bonded interactions") in a
CustomNonbondedForce. Dispersion corrections: OpenMM's own, and for the force switch, which OpenMM's does not know, the
integral over the difference to the plain potential by quadrature. 1-4 pairs are neither switched nor cut off. A prmtop
whose table follows no rule has its pairs in a CustomNonbondedForce, with OpenMM's switching function, too.

usage: switches.py
"""

import json
import os

import numpy as np
import openmm as mm
import reference
from openmm import app, unit
from scipy.integrate import quad

HERE = os.path.dirname(os.path.abspath(__file__))
SYSTEMS = {"argon": (1.0, 1.2), "peptide-charged": (0.75, 0.9), "peptide-nbfix": (0.7, 0.9)}  # nm
KCAL, ANGSTROM = 4.184, 0.1


def parameters(prmtop):
    """c6 and c12 of pairs of types (kJ/mol nm^n), and the type of each atom."""
    raw = prmtop._prmtop._raw_data
    types = [int(x) - 1 for x in raw["ATOM_TYPE_INDEX"]]
    count = max(types) + 1
    index = np.array([int(x) - 1 for x in raw["NONBONDED_PARM_INDEX"]]).reshape(count, count)
    table = {6: raw["LENNARD_JONES_BCOEF"], 12: raw["LENNARD_JONES_ACOEF"]}
    return {n: np.array([float(x) for x in c])[index] * KCAL * ANGSTROM**n for n, c in table.items()}, types


def manual(n, start, end):
    """A, B and C of the GROMACS reference manual for 1/r^n."""
    a = -n * ((n + 4) * end - (n + 1) * start) / (end ** (n + 2) * (end - start) ** 2)
    b = n * ((n + 3) * end - (n + 1) * start) / (end ** (n + 2) * (end - start) ** 3)
    return a, b, end**-n - a / 3 * (end - start) ** 3 - b / 4 * (end - start) ** 4


def bare(force):
    """Only the exceptions of a non-bonded force: the 1-4 pairs, without charges."""
    copy = mm.XmlSerializer.clone(force)
    reference.keep(copy, charge=False)
    for i in range(copy.getNumParticles()):
        copy.setParticleParameters(i, 0.0, 1.0, 0.0)
    copy.setUseDispersionCorrection(False)
    return copy


def pairs(force, coefficients, types, expression):
    """A CustomNonbondedForce with the exclusions of `force` and an expression of c6, c12 and r."""
    text = f"{expression}; c6=c6_table(type1,type2); c12=c12_table(type1,type2)"
    custom = mm.CustomNonbondedForce(text)
    for n, c in coefficients.items():
        custom.addTabulatedFunction(f"c{n}_table", mm.Discrete2DFunction(*c.shape, c.T.flatten()))
    custom.addPerParticleParameter("type")
    for t in types:
        custom.addParticle([t])
    for i in range(force.getNumExceptions()):
        custom.addExclusion(*force.getExceptionParameters(i)[:2])
    custom.setNonbondedMethod(mm.CustomNonbondedForce.CutoffPeriodic)
    return custom


def evaluate(forces, masses, positions, box):
    """Energy and forces of some forces together."""
    system = mm.System()
    for mass in masses:
        system.addParticle(mass)
    system.setDefaultPeriodicBoxVectors(*box)
    for force in forces:
        system.addForce(mm.XmlSerializer.clone(force))
    state = reference.context(system, positions, box).getState(getEnergy=True, getForces=True)
    found = state.getForces(asNumpy=True).value_in_unit(reference.KJ / reference.NM)
    return state.getPotentialEnergy().value_in_unit(reference.KJ), found


def potential_switch(force, coefficients, types, span):
    """The pairs, without and with the dispersion correction."""
    if len(set(force.getParticleParameters(i)[2]._value for i in range(len(types)))) == 1 and len(set(types)) > 1:
        both = pairs(force, coefficients, types, "c12/r^12-c6/r^6"), bare(force)
        both[0].setUseSwitchingFunction(True)
        both[0].setSwitchingDistance(span[0])
        both[0].setCutoffDistance(span[1])
        with_tail = mm.XmlSerializer.clone(both[0])
        with_tail.setUseLongRangeCorrection(True)
        return both, (with_tail, both[1])
    lj = mm.XmlSerializer.clone(force)
    reference.keep(lj, charge=False)
    lj.setNonbondedMethod(mm.NonbondedForce.CutoffPeriodic)
    lj.setReactionFieldDielectric(1.0)
    lj.setUseSwitchingFunction(True)
    lj.setSwitchingDistance(span[0])
    lj.setCutoffDistance(span[1])
    lj.setUseDispersionCorrection(False)
    with_tail = mm.XmlSerializer.clone(lj)
    with_tail.setUseDispersionCorrection(True)
    return (lj,), (with_tail,)


def force_switch(force, coefficients, types, span):
    """The pairs."""
    terms = []
    for n, sign in ((12, ""), (6, "-")):
        a, b, c = (repr(x) for x in manual(n, *span))
        terms.append(f"{sign}c{n}*(1/r^{n}-({a})/3*t^3-({b})/4*t^4-({c}))")
    custom = pairs(force, coefficients, types, "".join(terms) + f"; t=max(0,r-{span[0]})")
    custom.setCutoffDistance(span[1])
    return custom, bare(force)


def tail(coefficients, types, span, volume):
    """What the force switch takes from a liquid without structure, averaged over N(N + 1)/2 pairs."""
    atoms, energy = len(types), 0.0
    number = np.bincount(types)
    for n, sign in ((12, 1.0), (6, -1.0)):
        c = coefficients[n]
        mean = (number @ c @ number + number @ np.diag(c)) / (atoms * (atoms + 1))
        a, b, constant = manual(n, *span)
        inside = lambda r: (a / 3 * max(r - span[0], 0.0) ** 3 + b / 4 * max(r - span[0], 0.0) ** 4 + constant) * r * r
        beyond = lambda r: r ** (2 - n)
        precise = {"epsabs": 0.0, "epsrel": 1e-12}
        taken = quad(inside, 0.0, span[1], points=[span[0]], **precise)[0] + quad(beyond, span[1], np.inf, **precise)[0]
        energy += sign * mean * (2 * np.pi * atoms**2 / volume * taken - 0.5 * atoms * constant)
    return float(energy)


def main(name, span):
    """Writes the files of one system."""
    folder = os.path.join(HERE, "..", name)
    inpcrd = app.AmberInpcrdFile(reference.unpacked(folder, ".rst7"))
    prmtop = app.AmberPrmtopFile(reference.unpacked(folder, ".prmtop"), periodicBoxVectors=inpcrd.boxVectors)
    box = [[float(x) for x in v.value_in_unit(unit.nanometer)] for v in inpcrd.boxVectors]
    system = prmtop.createSystem(nonbondedMethod=app.PME, constraints=None, rigidWater=False, removeCMMotion=False)
    force = next(f for f in system.getForces() if isinstance(f, mm.NonbondedForce))
    masses = [system.getParticleMass(i) for i in range(system.getNumParticles())]
    coefficients, types = parameters(prmtop)
    record = {"openmm": mm.version.short_version, "from": span[0], "cutoff": span[1]}
    plain, corrected = potential_switch(force, coefficients, types, span)
    energy, forces = evaluate(plain, masses, inpcrd.positions, box)
    dispersion = evaluate(corrected, masses, inpcrd.positions, box)[0] - energy
    record["potential-switch"] = {"lj": energy, "dispersion": dispersion}
    np.save(os.path.join(folder, "forces_potential-switch.npy"), forces)
    energy, forces = evaluate(force_switch(force, coefficients, types, span), masses, inpcrd.positions, box)
    volume = float(np.linalg.det(np.array(box)))
    record["force-switch"] = {"lj": energy, "dispersion": tail(coefficients, types, span, volume)}
    np.save(os.path.join(folder, "forces_force-switch.npy"), forces)
    with open(os.path.join(folder, "switches.json"), "w") as file:
        json.dump(record, file, indent=1)
        file.write("\n")
    print(name, record)


if __name__ == "__main__":
    for system_name, distances in SYSTEMS.items():
        main(system_name, distances)
