#!/usr/bin/env python3
"""Properties of water models: runs md in FOLDER, one model after the other, and prints them beside published values.

  water.py MD FOLDER [MODEL...]      models tip3p, spce, tip4pew, opc; MD may be -: evaluates what is there

Of the stage at constant pressure: density; enthalpy of vaporisation of the rigid model without corrections,
RT − ⟨U⟩/N − P⟨V⟩/N; the relative permittivity 1 + ⟨M²⟩/(3 ε₀ ⟨V⟩ kT) with a conductor around the images, for which PME stands
(⟨M⟩ is 0); the diffusion of centers of mass by Einstein's relation between 5 and 20 ps, of positions in units of the cell (so that
what the barostat scales does not count), plus 2.837297 kT/(6 π η L) for what periodic images hold back (I.-C. Yeh, G. Hummer,
J. Phys. Chem. B 108, 15873 (2004), doi:10.1021/jp0477147) with the published viscosity of the model; and the first peak of the
radial distribution of oxygen. Errors are standard errors of block means. Needs numpy, h5py, MDAnalysis; matplotlib for the figure.
"""

import pathlib
import subprocess
import sys

import build
import h5py
import numpy as np
from MDAnalysis.lib.distances import self_capped_distance

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import energies  # noqa: E402
from errors import standard_error  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
TEMPERATURE = 298.15  # K
GAS = 8.31446261815324e-3  # kJ/mol/K
BOLTZMANN = 1.380649e-23  # J/K
CHARGE, PERMITTIVITY = 1.602176634e-19, 8.8541878128e-12  # C, F/m
BAR = 0.0602214076  # kJ/mol/nm³
WATERS = build.EDGE**3
SETTLED = 120.0  # ps: minimisation takes no time
FIT = (5.0, 20.0)  # ps
BLOCKS = 5
RANGE, BIN = 0.9, 0.002  # nm
# viscosities in mPa s: M. A. González, J. L. F. Abascal, J. Chem. Phys. 132, 096101 (2010); for OPC T. Ando, J. Chem.
# Phys. 159, 101102 (2023); for TIP4P-Ew the value of real water
VISCOSITIES = {"tip3p": 0.321, "spce": 0.729, "tip4pew": 0.890, "opc": 0.80}


def run(md, folder, model):
    """Makes the run, or lets it go on."""
    path = folder / f"{model}.toml"
    path.write_text((HERE / "template.toml").read_text().replace("MODEL", model))
    subprocess.run([md, "run", path], check=True, capture_output=True)


def blocks(function, frames):
    """Value from all frames and its standard error from that of blocks."""
    parts = [function(part) for part in np.array_split(np.arange(frames), BLOCKS)]
    return function(np.arange(frames)), np.std(parts, axis=0, ddof=1) / np.sqrt(BLOCKS)


def trajectory(folder):
    """Times, positions as (frames, waters, sites, 3) and edges of the cubic cells, nm; charges and masses of a water."""
    with h5py.File(folder / "trajectory.h5md") as file:
        particles = file["particles/system"]
        kept = particles["position/time"][:] > SETTLED
        positions = particles["position/value"][:][kept].astype(float)
        edges = particles["box/edges/value"][:][kept][:, 0, 0].astype(float)
        charges, masses = particles["charge"][:], particles["mass"][:]
        times = particles["position/time"][:][kept]
    sites = positions.shape[1] // WATERS
    return times, positions.reshape(len(times), WATERS, sites, 3), edges, charges[:sites], masses[:sites]


def permittivity(positions, edges, charges):
    """Relative permittivity and its error. Molecules are made whole; neutral, they need no origin."""
    arms = positions - positions[:, :, :1]
    arms -= edges[:, None, None, None] * np.round(arms / edges[:, None, None, None])
    moments = np.einsum("fwsd,s->fd", arms, charges) * CHARGE * 1e-9
    values = (moments**2).sum(axis=1) / (3 * PERMITTIVITY * (edges**3).mean() * 1e-27 * BOLTZMANN * TEMPERATURE)
    return 1 + values.mean(), standard_error(values)


def diffusion(times, positions, edges, masses, viscosity):
    """Diffusion coefficient without and with the correction for images, and its error, 1e-5 cm²/s."""
    arms = positions - positions[:, :, :1]
    arms -= edges[:, None, None, None] * np.round(arms / edges[:, None, None, None])
    centers = positions[:, :, 0] + np.einsum("fwsd,s->fwd", arms, masses) / masses.sum()
    scaled = centers / edges[:, None, None]
    steps = np.diff(scaled, axis=0)
    steps -= np.round(steps)
    steps -= steps.mean(axis=1, keepdims=True)
    paths = np.concatenate([np.zeros_like(scaled[:1]), np.cumsum(steps, axis=0)]) * edges.mean()
    interval = times[1] - times[0]
    lags = np.arange(round(FIT[0] / interval), round(FIT[1] / interval) + 1, 2)

    def value(frames):
        part = paths[frames]
        squares = [((part[lag:] - part[:-lag]) ** 2).sum(axis=2).mean() for lag in lags]
        return np.polyfit(lags * interval, squares, 1)[0] / 6 * 1e3  # nm²/ps to 1e-5 cm²/s

    plain, error = blocks(value, len(times))
    images = 2.837297 * BOLTZMANN * TEMPERATURE / (6 * np.pi * viscosity * 1e-3 * edges.mean() * 1e-9) * 1e9
    return plain, plain + images, error


def radial(positions, edges, every=4):
    """Distances (nm) and radial distribution of oxygen; a function of frames."""
    oxygen = positions[::every, :, 0]
    bins = np.arange(0.2, RANGE + BIN / 2, BIN)
    counts = np.array(
        [
            np.histogram(
                self_capped_distance(
                    place.astype(np.float32), RANGE, box=np.array([edge] * 3 + [90] * 3, dtype=np.float32), return_distances=True
                )[1],
                bins,
            )[0]
            for place, edge in zip(oxygen, edges[::every])
        ]
    )
    shells = 4 / 3 * np.pi * (bins[1:] ** 3 - bins[:-1] ** 3)
    normal = counts / (shells * (WATERS * (WATERS - 1) / 2 / edges[::every] ** 3)[:, None])
    return 0.5 * (bins[1:] + bins[:-1]), normal


def peak(distances, curve):
    """Place and height of the first maximum by a parabola through what lies within 0.01 nm of it."""
    top = distances[np.argmax(curve)]
    near = abs(distances - top) < 0.0101
    a, b, c = np.polyfit(distances[near] - top, curve[near], 2)
    return np.array([top - b / (2 * a), c - b * b / (4 * a)])


def main(md, folder, models):
    """Prints a block of lines for each model and draws the radial distributions."""
    folder.mkdir(exist_ok=True)
    build.main(folder)
    curves = {}
    for model in models:
        if md != "-":  # what there is
            run(md, folder, model)
        output = folder / f"out-{model}"
        columns = energies.read(output / "energies.csv", SETTLED)
        times, positions, edges, charges, masses = trajectory(output)
        vaporisation = GAS * TEMPERATURE - (columns["potential"] + BAR * columns["volume"]) / WATERS
        distances, frames = radial(positions, edges)
        curves[model] = distances, frames.mean(axis=0)
        (place, height), (place_error, height_error) = blocks(lambda part: peak(distances, frames[part].mean(axis=0)), len(frames))
        epsilon = permittivity(positions, edges, charges)
        plain, corrected, error = diffusion(times, positions, edges, masses, VISCOSITIES[model])
        print(f"{model}: {len(times) * (times[1] - times[0]):.0f} ps, {columns['temperature'].mean():.2f} K")
        density = 1e3 * columns["density"]
        print(f"  density {density.mean():.2f} ± {standard_error(density):.2f} kg/m³")
        print(f"  enthalpy of vaporisation {vaporisation.mean():.3f} ± {standard_error(vaporisation):.3f} kJ/mol")
        print(f"  permittivity {epsilon[0]:.1f} ± {epsilon[1]:.1f}")
        print(f"  diffusion {plain:.2f}, corrected {corrected:.2f} ± {error:.2f} 1e-5 cm²/s; cell {edges.mean():.3f} nm")
        print(f"  first peak at {place:.4f} ± {place_error:.4f} nm, {height:.3f} ± {height_error:.3f}", flush=True)
    draw(folder / "radial.svg", curves)


def draw(path, curves):
    """The radial distributions of oxygen as a small figure."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5, 3), layout="constrained")
    for model, (distances, curve) in curves.items():
        axes.plot(distances[::2], curve[::2], label=model, linewidth=1)
    axes.set(xlabel="distance of oxygens, nm", ylabel="g", xlim=(0.2, RANGE))
    axes.legend(frameon=False)
    figure.savefig(path)


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:] or list(build.MODELS))
