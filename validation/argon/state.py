#!/usr/bin/env python3
"""Energy and pressure of argon beside equations of state of the Lennard-Jones fluid.

  state.py MD FOLDER [PICOSECONDS]      runs the binary MD in FOLDER at each state, one after the other, and compares

The equations are those of J. K. Johnson et al., Mol. Phys. 78, 591 (1993), J. Kolafa, I. Nezbeda, Fluid Phase Equilib. 100, 1 (1994)
and M. Thol et al., J. Phys. Chem. Ref. Data 45, 023101 (2016), as teqp has them; by how much they differ says how well the
fluid is known. A run's mean temperature is off by chance, and the energy and pressure with it: both are brought to the
temperature wanted by the last of the equations. And its number of atoms does not fluctuate: what is a mean over densities in a
large system lacks half the variance of the density, rho² S/N with S = T/(dP/drho), times the second derivative (J. L. Lebowitz,
J. K. Percus, Phys. Rev. 122, 1675 (1961)), 0.3 % of the energy at the lowest density. Errors are standard errors of block means.
Needs numpy, teqp.
"""

import pathlib
import subprocess
import sys

import numpy as np
import teqp

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import energies  # noqa: E402
from errors import standard_error  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SIGMA, EPSILON, MASS = 0.3405, 119.8, 39.948  # nm, K, amu: of no consequence in reduced units
GAS = 8.31446261815324e-3  # kJ/mol/K
BAR = 0.0602214076  # kJ/mol/nm³
CELLS = 5
ATOMS = 4 * CELLS**3
SETTLED = 60.0  # ps left out
STATES = ((0.85, 0.84), (1.5, 0.6), (2.0, 0.3))  # temperature and density, reduced
EQUATIONS = ("LJ126_Johnson1993", "LJ126_KolafaNezbeda1994", "LJ126_TholJPCRD2016")


def equation_of_state(name, t, rho):
    """Potential energy of an atom and pressure, reduced."""
    model, pure = teqp.make_model({"kind": name, "model": {}}), np.array([1.0])
    return np.array([t * model.get_Ar10(t, rho, pure), rho * t * (1 + model.get_Ar01(t, rho, pure))])


def few_atoms(t, rho):
    """What a fixed number of atoms adds to the energy of an atom and to the pressure, by the last of the equations."""
    step = 1e-3
    below, at, above = (
        equation_of_state(EQUATIONS[-1], t, density) * [density, 1] for density in (rho - step, rho, rho + step)
    )
    slope, bend = (above - below) / (2 * step), (above - 2 * at + below) / step**2
    return -0.5 * rho**2 * t / slope[1] / ATOMS * bend / [rho, 1]


def write(folder, name, rho):
    """Topology and a face-centered lattice of the density wanted, in GROMACS' formats."""
    top = "[ defaults ]\n1 2 no\n\n[ atomtypes ]\n"
    top += f"AR 18 {MASS} 0.0 A {SIGMA} {EPSILON * GAS:.8f}\n\n[ moleculetype ]\nAR 0\n\n[ atoms ]\n1 AR 1 AR AR 1 0.0 {MASS}\n\n"
    top += f"[ system ]\nargon\n\n[ molecules ]\nAR {ATOMS}\n"
    (folder / f"{name}.top").write_text(top)
    edge = (ATOMS / rho) ** (1 / 3) * SIGMA
    corners = np.stack(np.meshgrid(*3 * [np.arange(CELLS)], indexing="ij"), axis=-1).reshape(-1, 1, 3)
    basis = np.array([[0, 0, 0], [0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]])
    places = (corners + basis).reshape(-1, 3) * edge / CELLS
    lines = [f"{i:5d}{'AR':<5}{'AR':>5}{i:5d}" + "".join(f"{x:12.7f}" for x in place) for i, place in enumerate(places, 1)]
    (folder / f"{name}.gro").write_text("\n".join(["argon", str(ATOMS), *lines, " ".join(3 * [f"{edge:.7f}"])]) + "\n")


def main(md, folder, duration):
    """Prints reduced energies and pressures of each state: md's, and those of the equations."""
    folder.mkdir(exist_ok=True)
    for number, (t, rho) in enumerate(STATES, 1):
        name = f"state{number}"
        write(folder, name, rho)
        text = (HERE / "template.toml").read_text()
        for key, value in (("NAME", name), ("TEMPERATURE", f"{t * EPSILON:.4f}"), ("DURATION", duration)):
            text = text.replace(key, value)
        (folder / f"{name}.toml").write_text(text)
        subprocess.run([md, "run", folder / f"{name}.toml"], check=True, capture_output=True)
        columns = energies.read(folder / f"out-{name}" / "energies.csv", SETTLED)
        energy = columns["potential"] / (ATOMS * EPSILON * GAS)
        pressure = columns["pressure"] * BAR * SIGMA**3 / (EPSILON * GAS)
        temperature = columns["temperature"].mean() / EPSILON
        off = equation_of_state(EQUATIONS[-1], temperature, rho) - equation_of_state(EQUATIONS[-1], t, rho)
        off += few_atoms(t, rho)
        theirs = np.array([equation_of_state(equation, t, rho) for equation in EQUATIONS])
        print(f"T* {t}, rho* {rho}: {len(energy) / 10:.0f} ps at {temperature:.4f}; Johnson, Kolafa and Nezbeda, Thol")
        for word, values, shift, cited in zip(("U*", "P*"), (energy, pressure), off, theirs.T):
            numbers = ", ".join(f"{one:.4f}" for one in cited)
            print(f"  {word} {values.mean() - shift:8.4f} ± {standard_error(values):.4f}   {numbers}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "3000")
