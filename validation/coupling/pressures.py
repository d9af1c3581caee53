#!/usr/bin/env python3
"""Distributions of the volume of argon at two pressures under each barostat.

  pressures.py MD FOLDER NANOSECONDS [NAME...]      runs the binary MD in FOLDER, one after the other, and checks; all kinds
                                                    without NAME

In the isothermal-isobaric ensemble ln p₁(V)/p₂(V) is a straight line of slope −(P₁ − P₂)/kT whatever the substance; and so
p₁(A)/p₂(A), of slope −(P₁ − P₂)L/kT, where the height L is fixed. The slope is estimated by maximum likelihood (M. R. Shirts,
J. Chem. Theory Comput. 9, 909 (2013), doi:10.1021/ct300688p): here from all volumes, with an error by the jackknife over
blocks, and by physical_validation from samples that are a statistical inefficiency apart, which is less precise. Printed for
both: how many errors it is off the right one; then the same with the second pressure wrong by 15 percent, which must show;
the slope of the conserved energy. Volumes fluctuate by kT κ V: a compressibility that is 5 percent wrong is a slope as wrong.
So that it shows, three times the error printed must be less; the slope is therefore estimated again from volumes whose
variance about their mean is made 5 percent larger on purpose.
Needs numpy, physical_validation.
"""

import io
import pathlib
import subprocess
import sys
from contextlib import redirect_stdout

import numpy as np
import physical_validation as pv
from canonical import BAR, BOLTZMANN, simulation

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import energies  # noqa: E402
from errors import bar  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PRESSURES = (300, 380)  # bar, two widths of the distribution apart
TEMPERATURE = 120.0  # K
KT = BOLTZMANN * TEMPERATURE
SETTLED = 50.0  # ps left out
BLOCKS = 40  # of a run, each longer than what the volume remembers
THINNED = 10  # rows of 0.2 ps, for physical_validation, whose search for the equilibrated part takes minutes of more
SCALING = 'coupling_time = "2 ps", compressibility = "2e-4 1/bar"'
TRIALS = 'kind = "monte-carlo", every = 20, compressibility = "2e-4 1/bar"'
KINDS = {
    "isotropic": f'kind = "c-rescale", {SCALING}',
    # the volume decorrelates four times as fast, to determine the compressibility to 5 percent
    "isotropic-fast": 'kind = "c-rescale", coupling_time = "0.5 ps", every = 5, compressibility = "2e-4 1/bar"',
    "semi-isotropic": f'kind = "c-rescale", coupling = "semi-isotropic", {SCALING}',
    "anisotropic": f'kind = "c-rescale", coupling = "anisotropic", {SCALING}',
    "area": 'kind = "c-rescale", coupling = "semi-isotropic", coupling_time = "2 ps", '
    'compressibility = ["2e-4 1/bar", "0 1/bar"]',
    "trials": TRIALS,
    "trials-semi-isotropic": f'{TRIALS}, coupling = "semi-isotropic"',
    "trials-anisotropic": f'{TRIALS}, coupling = "anisotropic"',
    "berendsen": f'kind = "berendsen", {SCALING}',
}


def run(md, folder, name, pressure, nanoseconds):
    """Columns of the run, which is made or goes on."""
    text = (HERE / "argon.toml").read_text()
    text = text.replace("../..", str(HERE.parent.parent))
    text = text.replace("BAROSTAT", KINDS[name]).replace("PRESSURE", str(pressure)).replace("NAME", name)
    text = text.replace("DURATION", f"{1e3 * nanoseconds + SETTLED:g}")
    path = folder / f"{name}-{pressure}.toml"
    path.write_text(text)
    subprocess.run([md, "run", path], check=True, capture_output=True)
    return energies.read(folder / f"out-{name}-{pressure}" / "energies.csv", SETTLED)


def state(columns, pressure):
    """For physical_validation."""
    kinetic, *observed = (columns[name][::THINNED] for name in ("kinetic", "potential", "volume"))
    return simulation((np.full(512, 39.948), 0, 3), TEMPERATURE, kinetic, pressure, *observed, interval=0.2 * THINNED)


def regression(volumes):
    """Slope of ln p₁(V)/p₂(V) by maximum likelihood: logistic regression of the pressure on the volume, by Newton's steps."""
    state = np.repeat([0.0, 1.0], [len(v) for v in volumes])
    x = np.concatenate(volumes)
    basis = np.stack([np.ones_like(x), x - x.mean()], axis=1)
    shift = np.log(len(volumes[1]) / len(volumes[0]))
    weights = np.zeros(2)
    for _ in range(20):
        chance = 1 / (1 + np.exp(-basis @ weights - shift))
        curvature = basis.T @ (basis * (chance * (1 - chance))[:, None])
        weights += np.linalg.solve(curvature, basis.T @ (state - chance))
    return -weights[1]


def likelihood(found, widened=1.0):
    """Slope and its error, by the jackknife over blocks, of volumes 1 ps apart whose variance is multiplied by `widened`."""
    volumes = [columns["volume"][::5] for columns in found]
    volumes = [v.mean() + np.sqrt(widened) * (v - v.mean()) for v in volumes]
    variance = 0.0
    for run in (0, 1):
        parts = np.array_split(volumes[run], BLOCKS)
        left = []
        for out in range(BLOCKS):
            kept = np.concatenate(parts[:out] + parts[out + 1 :])
            left.append(regression([kept, volumes[1]] if run == 0 else [volumes[0], kept]))
        variance += (BLOCKS - 1) * np.var(left)
    return regression(volumes), np.sqrt(variance)


def check(found, pressures):
    """Deviations in errors of the slope by physical_validation, or why not, and its estimates as text."""
    text = io.StringIO()
    try:
        with redirect_stdout(text):
            off = pv.ensemble.check(*(state(c, p) for c, p in zip(found, pressures)), verbosity=2, bootstrap_seed=1)
    except pv.util.error.InputError:
        return "too few samples", ""
    return f"{off[0]:.2f}", text.getvalue()


def main(md, folder, nanoseconds, names):
    """Prints a block of lines for each kind."""
    folder.mkdir(exist_ok=True)
    deviations = []
    for name in names:
        found = [run(md, folder, name, pressure, nanoseconds) for pressure in PRESSURES]
        right, text = check(found, PRESSURES)
        # control: the check must fail if the second pressure is taken to be 15 % higher than it was
        wrong, _ = check(found, (PRESSURES[0], PRESSURES[1] * 1.15))
        slope, error = likelihood(found)
        wide = abs(likelihood(found, 1.05)[0] - (PRESSURES[1] - PRESSURES[0]) * BAR / KT) / error
        ours = [abs(slope - (second - PRESSURES[0]) * BAR / KT) / error for second in (PRESSURES[1], PRESSURES[1] * 1.15)]
        if name != "berendsen":
            deviations.append(ours[0])
        print(f"{name}: slope {slope:.3f} ± {error:.3f} for {(PRESSURES[1] - PRESSURES[0]) * BAR / KT:.3f} 1/nm³")
        print(f"  off by {ours[0]:.2f} errors, with 15 % more {ours[1]:.2f}; by physical_validation {right} and {wrong}")
        print(f"  with a variance of the volume that is 5 % larger off by {wide:.2f} errors")
        volumes = ", ".join(f"{columns['volume'].mean():.3f} ± {columns['volume'].std():.3f}" for columns in found)
        slopes = [np.polyfit(columns["time"], columns["conserved"], 1)[0] for columns in found]
        drift = ", ".join(f"{slope:+.4f}" for slope in slopes)
        print(f"  volumes {volumes} nm³; drift {drift} kJ/mol/ps")
        print("\n".join("    " + line for line in text.splitlines() if line.strip()), flush=True)
    worst, limit = max(deviations, default=0.0), bar(max(len(deviations), 1))
    print(f"largest of {len(deviations)} deviations: {worst:.2f} standard errors; bar {limit:.2f}")
    return int(worst > limit)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2]), float(sys.argv[3]), sys.argv[4:] or list(KINDS)))
