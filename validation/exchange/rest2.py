"""Energies of a scaled solute against OpenMM's double-precision Reference platform: rest2.py MD FOLDER

Alanine dipeptide in water, its Hamiltonian scaled by hand in OpenMM's System, with the same PME parameters (order 5). Needs the
Python package openmm. Exits with 1 where a force differs by more than 1e-6 of the root mean square, or an energy by more than 1e-7
of the sum of the terms.
"""

import json
import lzma
import pathlib
import subprocess
import sys

import numpy as np
import openmm
from openmm import app, unit

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORCE, ENERGY = 1e-6, 1e-7

INPUT = """[system]
topology = "ala2.prmtop"
coordinates = "ala2.rst7"
[forces]
cutoff = "0.9 nm"
electrostatics = "pme"
pme = {{ alpha = "3.2 1/nm", grid = [32, 32, 32], order = 5 }}
lj_modifier = "none"
coulomb_modifier = "none"
dispersion_correction = false
constraints = "none"
scaled_solute = {{ select = "not water", factor = {factor} }}
"""


def scaled(system, solute, factor):
    """Scales the solute of an OpenMM System as Wang, Friesner and Berne say (10.1021/jp204407d)."""

    def power(atoms):
        return factor ** (0.5 * sum(atom in solute for atom in atoms))

    for force in system.getForces():
        if isinstance(force, openmm.NonbondedForce):
            for atom in solute:
                charge, sigma, epsilon = force.getParticleParameters(atom)
                force.setParticleParameters(atom, charge * factor**0.5, sigma, epsilon * factor)
            for index in range(force.getNumExceptions()):
                i, j, charge, sigma, epsilon = force.getExceptionParameters(index)
                scale = power([i, j])
                force.setExceptionParameters(index, i, j, charge * scale, sigma, epsilon * scale)
        elif isinstance(force, openmm.PeriodicTorsionForce):
            for index in range(force.getNumTorsions()):
                i, j, k, l, periodicity, phase, constant = force.getTorsionParameters(index)
                force.setTorsionParameters(index, i, j, k, l, periodicity, phase, constant * power([i, l]))


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for kind in ("prmtop", "rst7"):
        packed = ROOT / "inputs" / "ala2-water" / f"ala2-water.{kind}.xz"
        (folder / f"ala2.{kind}").write_bytes(lzma.open(packed).read())
    topology, coordinates = app.AmberPrmtopFile(str(folder / "ala2.prmtop")), app.AmberInpcrdFile(str(folder / "ala2.rst7"))
    solute = {atom.index for atom in topology.topology.atoms() if atom.residue.name not in ("WAT", "HOH")}
    worst = False
    for factor in (1.0, 0.75, 0.5):
        (folder / "input.toml").write_text(INPUT.format(factor=factor))
        command = [program, "energy", "input.toml", "--precision", "double", "--json", "md.json", "--forces", "md.npy"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        found = json.loads((folder / "md.json").read_text())
        system = topology.createSystem(
            nonbondedMethod=app.PME, nonbondedCutoff=0.9, constraints=None, rigidWater=False, removeCMMotion=False
        )
        for force in system.getForces():
            if isinstance(force, openmm.NonbondedForce):
                force.setUseDispersionCorrection(False)
                force.setPMEParameters(3.2, 32, 32, 32)
        scaled(system, solute, factor)
        for number, force in enumerate(system.getForces()):
            force.setForceGroup(number)
        integrator, platform = openmm.VerletIntegrator(0.001), openmm.Platform.getPlatformByName("Reference")
        context = openmm.Context(system, integrator, platform)
        context.setPeriodicBoxVectors(*coordinates.boxVectors)
        context.setPositions(coordinates.positions)
        energies = {}
        for number, force in enumerate(system.getForces()):
            state = context.getState(getEnergy=True, groups=1 << number)
            energies[type(force).__name__] = state.getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole)
        forces = context.getState(getForces=True).getForces(asNumpy=True)
        forces = forces.value_in_unit(unit.kilojoule_per_mole / unit.nanometer)
        ours = found["energies"]
        terms = {
            "HarmonicBondForce": ours["bond"],
            "HarmonicAngleForce": ours["angle"],
            "PeriodicTorsionForce": ours["proper"] + ours["improper"],
            "NonbondedForce": ours["lj"] + ours["coulomb"],
        }
        total = sum(abs(value) for value in energies.values())
        for name, value in terms.items():
            off = abs(value - energies[name]) / total
            worst |= off > ENERGY
            print(f"factor {factor}: {name} {value:.6f}, OpenMM {energies[name]:.6f} kJ/mol, off by {off:.1e} of all terms")
        difference = np.load(folder / "md.npy") - forces
        off = np.sqrt((difference**2).sum() / (forces**2).sum())
        # forces on the few atoms of the solute are also compared separately
        atoms = sorted(solute)
        of_solute = np.sqrt((difference[atoms] ** 2).sum() / (forces[atoms] ** 2).sum())
        worst |= max(off, of_solute) > FORCE
        print(f"factor {factor}: forces off by {off:.1e}, those on the solute by {of_solute:.1e}")
    return int(worst)


if __name__ == "__main__":
    sys.exit(main())
