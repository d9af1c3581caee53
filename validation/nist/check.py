#!/usr/bin/env python3
"""NIST's reference energies of sample configurations beside those of `md energy`.

  check.py MD        the binary; ends with 1 where a number is not NIST's

Lennard-Jones: energy, virial and long-range correction in reduced units. SPC/E: the terms of NIST's Ewald sum (alpha = 5.6/L,
images to 10 Å, wave vectors n with n² < 27) are summed here by their definition in double precision and compared with NIST's
digits; md, which has the same real space and all wave vectors on a mesh, must then differ from NIST's total by the wave vectors
left out there, which are summed here too. With charge clouds so narrow (6/nm) that nothing is left beyond the cutoff both must agree
again. Mixed precision is compared with double. NIST's totals are sums of its rounded terms: those of configurations 3 and 4 only have the digits that these leave.
Needs numpy, scipy.
"""

import json
import lzma
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from scipy.special import erfc

DATA = pathlib.Path(__file__).resolve().parents[2] / "tests" / "nist"
GAS = 8.31446261815324e-3  # kJ/mol/K
COULOMB = 138.93545764438198  # kJ nm/mol/e², CODATA 2018
CHARGES = np.array([-0.8476, 0.4238, 0.4238])
SIGMA, EPSILON = 0.316555789, 78.19743111 * GAS
CONSTANTS = 2e-7  # what physical constants of CODATA changed by between 2010 and 2018
CUTOFF = 1.0  # nm
# by configuration and cutoff in units of σ: pair energy, virial, long-range correction
LENNARD_JONES = {
    (1, 3): ("-4.3515E+03", "-5.6867E+02", "-1.9849E+02"),
    (1, 4): ("-4.4675E+03", "-1.2639E+03", "-8.3769E+01"),
    (2, 3): ("-6.9000E+02", "-5.6846E+02", "-2.4230E+01"),
    (2, 4): ("-7.0460E+02", "-6.5599E+02", "-1.0226E+01"),
    (3, 3): ("-1.1467E+03", "-1.1649E+03", "-4.9622E+01"),
    (3, 4): ("-1.1754E+03", "-1.3371E+03", "-2.0942E+01"),
    (4, 3): ("-1.6790E+01", "-4.6249E+01", "-5.4517E-01"),
    (4, 4): ("-1.7060E+01", "-4.7869E+01", "-2.3008E-01"),
}
TERMS = ("dispersion", "LRC", "real", "reciprocal", "self", "intramolecular", "total")
WATER = {  # K
    1: ("9.95387E+04", "-8.23715E+02", "-5.58889E+05", "6.27009E+03", "-2.84469E+06", "2.80999E+06", "-4.88604E+05"),
    2: ("1.93712E+05", "-3.29486E+03", "-1.19295E+06", "6.03495E+03", "-5.68938E+06", "5.61998E+06", "-1.06590E+06"),
    3: ("3.54344E+05", "-7.41343E+03", "-1.96297E+06", "5.24461E+03", "-8.53407E+06", "8.42998E+06", "-1.71488E+06"),
    4: ("4.48593E+05", "-1.37286E+04", "-3.57226E+06", "7.58785E+03", "-1.42235E+07", "1.41483E+07", "-3.20501E+06"),
}
failures = []


def energy(md, name, forces, precision="double"):
    """What `md energy` writes for a configuration."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "input.toml"
        path.write_text(
            f'[system]\ntopology = "{DATA}/{name}.top"\ncoordinates = "{DATA}/{name}.gro.xz"\n'
            f'[run]\nthreads = 1\n[forces]\nlj_modifier = "none"\n{forces}\n'
        )
        command = [md, "energy", path, "--precision", precision, "--json", f"{folder}/energy.json"]
        subprocess.run(command, check=True, capture_output=True)
        return json.loads(pathlib.Path(folder, "energy.json").read_text())


def rounding(cited):
    """Half a unit of the last digit."""
    mantissa, exponent = cited.split("E")
    return 0.5 * 10.0 ** (int(exponent) - len(mantissa.split(".")[1]))


def within(value, cited, terms=()):
    """Whether a number has the digits cited, or adds up from such terms; NIST's constants are those of 2010."""
    return abs(value - float(cited)) <= rounding(cited) + sum(map(rounding, terms)) + CONSTANTS * abs(value)


def line(name, value, cited, holds):
    """Prints a comparison and keeps what fails."""
    print(f"  {name:16}{value:17.9g}   {cited:>14}   {'' if holds else 'DIFFERENT'}")
    if not holds:
        failures.append(name)


def lennard_jones(md):
    """Energies, virials and corrections of the four configurations at two cutoffs."""
    for (number, cutoff), cited in LENNARD_JONES.items():
        forces = f'cutoff = "{cutoff} nm"\nelectrostatics = "off"\ndispersion_correction = '
        plain, corrected = (energy(md, f"lj-{number}", forces + word) for word in ("false", "true"))
        found = (plain["energies"]["lj"], np.trace(plain["virial"]), corrected["energies"]["dispersion_correction"])
        print(f"Lennard-Jones {number}, cutoff {cutoff} sigma")
        for name, value, reference in zip(("pairs", "virial", "LRC"), found, cited):
            line(name, value, reference, within(value, reference))


def configuration(number):
    """Positions of shape (molecules, 3, 3) and the length of the cell, nm."""
    with lzma.open(DATA / f"spce-{number}.gro.xz", "rt") as file:
        lines = file.read().splitlines()
    width = (len(lines[2]) - 20) // 3
    places = [[float(row[20 + width * i : 20 + width * (i + 1)]) for i in range(3)] for row in lines[2:-1]]
    return np.array(places).reshape(-1, 3, 3), float(lines[-1].split()[0])


def reciprocal(positions, edge, alpha, limit):
    """Sum over wave vectors 2 pi n / L with 0 < n² < limit, K."""
    reach = int(np.sqrt(limit))
    n = np.stack(np.meshgrid(*3 * [np.arange(-reach, reach + 1)], indexing="ij"), axis=-1).reshape(-1, 3)
    square = (n**2).sum(axis=1)
    half = (square > 0) & (square < limit) & ((n @ [(4 * reach) ** 2, 4 * reach, 1]) > 0)  # the other half has the same terms
    k = 2 * np.pi / edge * n[half]
    charges = np.tile(CHARGES, len(positions))
    amplitudes = np.empty(len(k), dtype=complex)
    for start in range(0, len(k), 2000):
        amplitudes[start : start + 2000] = np.exp(1j * k[start : start + 2000] @ positions.reshape(-1, 3).T) @ charges
    k2 = (k**2).sum(axis=1)
    weights = np.exp(-k2 / (4 * alpha**2)) / k2
    return COULOMB / GAS * 2 * 2 * np.pi / edge**3 * (weights * abs(amplitudes) ** 2).sum()


def definitions(positions, edge, alpha):
    """NIST's terms by their formulas, K."""
    molecules = len(positions)
    flat, charges = positions.reshape(-1, 3), np.tile(CHARGES, molecules)
    dispersion = real = 0.0
    for i in range(3 * molecules - 3):
        first = 3 * (i // 3 + 1)  # the molecules that follow
        d = flat[first:] - flat[i]
        r = np.linalg.norm(d - edge * np.round(d / edge), axis=1)
        near = r < CUTOFF
        real += (charges[i] * charges[first:] * erfc(alpha * r) / r)[near].sum()
        if i % 3 == 0:
            six = (SIGMA / r[::3][near[::3]]) ** 6
            dispersion += 4 * EPSILON * (six**2 - six).sum()
    inside = 0.0
    for a, b in ((0, 1), (0, 2), (1, 2)):
        d = positions[:, a] - positions[:, b]
        r = np.linalg.norm(d - edge * np.round(d / edge), axis=1)
        inside -= (CHARGES[a] * CHARGES[b] * (1 - erfc(alpha * r)) / r).sum()
    three = (SIGMA / CUTOFF) ** 3
    tail = 8 / 3 * np.pi * molecules**2 / edge**3 * EPSILON * SIGMA**3 * (three**3 / 3 - three)
    own = -alpha / np.sqrt(np.pi) * molecules * (CHARGES**2).sum()
    wave = reciprocal(positions, edge, alpha, 27)
    found = [dispersion / GAS, tail / GAS, real * COULOMB / GAS, wave, own * COULOMB / GAS, inside * COULOMB / GAS]
    return [*found, sum(found)]


def mesh(md, name, alpha, points, correction="true"):
    """Coulomb, Lennard-Jones and dispersion energies of md with a fine mesh, K."""
    forces = f'cutoff = "{CUTOFF} nm"\nelectrostatics = "pme"\ncoulomb_modifier = "none"\ndispersion_correction = {correction}\n'
    found = energy(md, name, f'{forces}pme = {{ alpha = "{alpha} 1/nm", grid = {3 * [points]}, order = 8 }}')["energies"]
    correction = found["dispersion_correction"]
    return found["coulomb"] / GAS, (found["lj"] - correction) / GAS, correction / GAS


def water(md):
    """The terms by definition and by NIST; md's totals beside both."""
    for number, cited in WATER.items():
        positions, edge = configuration(number)
        alpha = 5.6 / edge
        found = definitions(positions, edge, alpha)
        print(f"SPC/E {number}: {len(positions)} molecules, K; by definition, NIST's")
        for name, value, reference in zip(TERMS, found, cited):
            line(name, value, reference, within(value, reference, cited[:-1] if name == "total" else ()))
        left_out = reciprocal(positions, edge, alpha, 30**2) - found[3]
        name = f"spce-{number}"
        coulomb, pairs, openmm = mesh(md, name, alpha, 96)
        same = sum(found[2:6]) + left_out
        converged, _, gromacs = mesh(md, name, 6.0, 128, '"non-excluded"')
        print("  md; by definition")
        line("Lennard-Jones", pairs, f"{found[0]:.9g}", abs(pairs / found[0] - 1) < 1e-9)
        line("Coulomb", coulomb, f"{same:.9g}", abs(coulomb / same - 1) < 1e-7)
        full = direct(positions, edge)
        line("Coulomb, 6/nm", converged, f"{full:.9g}", abs(converged / full - 1) < 1e-7)
        # n of N atoms are oxygens: for the dispersion correction OpenMM counts n(n+1)/2 of N(N+1)/2 pairs instead of
        # n²/2 of N²/2; GROMACS leaves out the repulsion
        n, repulsion = len(positions), (SIGMA / CUTOFF) ** 6 / 3
        for name, value, rule in (
            ("LRC, OpenMM", openmm, found[1] * (1 + 1 / n) / (1 + 1 / (3 * n))),
            ("LRC, GROMACS", gromacs, found[1] / (1 - repulsion)),
        ):
            line(name, value, f"{rule:.9g}", abs(value / rule - 1) < 1e-6)
        print(f"  wave vectors that NIST leaves out {left_out:.3f}, images beyond the cutoff {full - same:.3f}")
        total = coulomb + pairs + found[1] - left_out
        line("total", total, cited[-1], within(total, cited[-1], cited[:-1]))


def direct(positions, edge):
    """The Coulomb energy with so narrow charge clouds that nothing is left beyond the cutoff, K."""
    alpha = 6.0
    terms = definitions(positions, edge, alpha)
    limit = (2 * alpha * edge / (2 * np.pi) * np.sqrt(np.log(1e14))) ** 2
    return sum(terms[2:6]) - terms[3] + reciprocal(positions, edge, alpha, limit)


def mixed(md):
    """Energies of everyday arithmetic; the coordinates have no velocities, which lists of pairs must not need."""
    print("mixed precision; double precision")
    for number in range(1, 5):
        for kind, forces in (("lj", 'cutoff = "3 nm"\nelectrostatics = "off"\n'), ("spce", 'cutoff = "0.9 nm"\n')):
            name = f"{kind}-{number}"
            ours, exact = (energy(md, name, forces, precision)["energies"]["potential"] for precision in ("mixed", "double"))
            line(name, ours, f"{exact:.9g}", abs(ours / exact - 1) < 1e-5)


lennard_jones(sys.argv[1])
water(sys.argv[1])
mixed(sys.argv[1])
print("NIST's" if not failures else f"not NIST's: {len(failures)}")
sys.exit(bool(failures))
