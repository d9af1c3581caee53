#!/usr/bin/env python3
"""Free energy of the dihedral angles phi and psi, -kT ln p in kJ/mol, from the results of `md analyze dihedrals`.

    md analyze dihedrals out/trajectory.h5md
    free_energy_surface.py dihedrals.h5 --temperature 300 --plot free-energy.png

The surface is that of one residue. Its lowest bin has a free energy of zero; bins without frames are left white.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
import xarray

GAS_CONSTANT = 8.31446261815324e-3  # kJ/mol/K


def angles(path, residue=None):
    """Angles phi and psi (degrees) of a residue in all frames; of the first residue with both angles by default."""
    with xarray.open_dataset(path) as results:
        if residue is None:
            residue = np.intersect1d(results["phi_residue"], results["psi_residue"])[0]
        return results["phi"].sel(phi_residue=residue).values, results["psi"].sel(psi_residue=residue).values


def free_energy(phi, psi, temperature, bins=36):
    """Free energy (kJ/mol, phi × psi, infinite where no frame was), and the edges of the bins (degrees)."""
    counts, edges, _ = np.histogram2d(phi, psi, bins=bins, range=[(-180, 180)] * 2)
    with np.errstate(divide="ignore"):
        surface = GAS_CONSTANT * temperature * np.log(counts.max() / counts)
    return surface, edges


def draw(surface, edges, axes):
    """Draws a surface with its scale."""
    image = axes.pcolormesh(edges, edges, np.ma.masked_invalid(surface).T)
    axes.figure.colorbar(image, ax=axes, label="free energy (kJ/mol)")
    axes.set(xlabel="φ (degrees)", ylabel="ψ (degrees)", aspect="equal")
    axes.set(xticks=range(-180, 181, 60), yticks=range(-180, 181, 60))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", help="dihedrals.h5 of md analyze dihedrals")
    parser.add_argument("--residue", type=int, help="residue, from 0 (default: the first with both angles)")
    parser.add_argument("--temperature", type=float, default=300, help="temperature in K (default: 300)")
    parser.add_argument("--plot", default="free-energy.png", help="file of the picture (default: free-energy.png)")
    arguments = parser.parse_args()
    phi, psi = angles(arguments.results, arguments.residue)
    surface, edges = free_energy(phi, psi, arguments.temperature)
    centers = (edges[:-1] + edges[1:]) / 2
    print(f"{len(phi)} frames; the lowest bins:")
    print("phi (degrees)   psi (degrees)   free energy (kJ/mol)")
    for index in surface.argsort(axis=None, kind="stable")[:8]:
        i, j = np.unravel_index(index, surface.shape)
        print(f"{centers[i]:13.0f}   {centers[j]:13.0f}   {surface[i, j]:20.4f}")
    figure, axes = plt.subplots(figsize=(5.5, 4.5), layout="constrained")
    draw(surface, edges, axes)
    figure.savefig(arguments.plot, dpi=150)


if __name__ == "__main__":
    plt.switch_backend("agg")  # draws into files, also without a display
    main()
