#!/usr/bin/env python3
"""Radius of gyration of the solute along a trajectory, read by MDAnalysis: trajectory.py final.pdb trajectory.h5md."""

import sys

import MDAnalysis as mda


def main(structure, trajectory):
    """Prints time (ps) and radius of gyration (nm); molecules are whole in the file."""
    universe = mda.Universe(structure, trajectory)
    solute = universe.select_atoms("not resname WAT HOH Cl- Na+ CL NA")
    for frame in universe.trajectory:
        print(f"{frame.time:10.3f} {solute.radius_of_gyration() / 10:8.4f}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
