#!/usr/bin/env python3
"""Mean dihedral angles phi and psi (degrees) and accessible area (nm²) of each residue of a protein, by MDTraj.

    mdtraj_analysis.py out/trajectory.h5md --plot ramachandran.png

MDTraj reads the H5MD files of md without a topology, because the names of atoms and the bonds are in the file.
"""

import argparse

import matplotlib.pyplot as plt
import mdtraj
import numpy as np


def dihedrals(protein):
    """Residues with both angles (indices), and their phi and psi (degrees, frame × residue)."""
    phi_atoms, phi = mdtraj.compute_phi(protein)
    psi_atoms, psi = mdtraj.compute_psi(protein)
    # phi and psi of a residue share its atom N
    nitrogens, first, second = np.intersect1d(phi_atoms[:, 1], psi_atoms[:, 0], return_indices=True)
    residues = [protein.topology.atom(atom).residue.index for atom in nitrogens]
    return residues, np.degrees(phi[:, first]), np.degrees(psi[:, second])


def circular_mean(angles):
    """Mean direction (degrees) of the angles of each column."""
    return np.degrees(np.angle(np.exp(1j * np.radians(angles)).mean(axis=0)))


def plot(phi, psi, path):
    """Writes a Ramachandran plot of all residues and frames."""
    figure, axes = plt.subplots(figsize=(4.5, 4.5), layout="constrained")
    axes.scatter(phi, psi, s=4)
    axes.set(xlabel="φ (degrees)", ylabel="ψ (degrees)", xlim=(-180, 180), ylim=(-180, 180))
    axes.set(xticks=range(-180, 181, 60), yticks=range(-180, 181, 60), aspect="equal")
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trajectory", help="trajectory.h5md of a run")
    parser.add_argument("--plot", default="ramachandran.png", help="file of the picture (default: ramachandran.png)")
    arguments = parser.parse_args()
    trajectory = mdtraj.load_hdf5(arguments.trajectory)
    protein = trajectory.atom_slice(trajectory.topology.select("protein"))
    residues, phi, psi = dihedrals(protein)
    angles = dict(zip(residues, zip(circular_mean(phi), circular_mean(psi))))
    areas = mdtraj.shrake_rupley(protein, mode="residue").mean(axis=0)
    print(f"means of {trajectory.n_frames} frames, {trajectory.time[0]:g} to {trajectory.time[-1]:g} ps")
    print("residue   phi (degrees)   psi (degrees)   area (nm²)")
    for residue in protein.topology.residues:
        columns = "".join(f"{angle:16.2f}" for angle in angles.get(residue.index, (np.nan, np.nan)))
        print(f"{residue!s:7}{columns}{areas[residue.index]:13.4f}")
    plot(phi, psi, arguments.plot)


if __name__ == "__main__":
    plt.switch_backend("agg")  # draws into files, also without a display
    main()
