#!/usr/bin/env python3
"""RMSD of the backbone from the first frame, in nm, computed by MDAnalysis: a table and a plot.

    rmsd_mdanalysis.py out/final.pdb out/trajectory.h5md --plot rmsd.png

MDAnalysis reads lengths in Å. The structure gives the names of the atoms; molecules are whole in the trajectory.
"""

import argparse

import matplotlib.pyplot as plt
import MDAnalysis
from MDAnalysis.analysis.rms import RMSD

ANGSTROM = 0.1  # nm


def backbone_rmsd(topology, trajectory):
    """Times (ps), and deviations (nm) of the atoms N, CA, C and O after the best superposition on the first frame."""
    universe = MDAnalysis.Universe(topology, trajectory)
    frames = RMSD(universe, select="backbone", ref_frame=0).run().results.rmsd
    _, times, deviations = frames.T
    return times, ANGSTROM * deviations


def plot(times, deviations, path):
    """Writes a picture of the deviations over time."""
    figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    axes.plot(times, deviations)
    axes.set(xlabel="time (ps)", ylabel="RMSD of the backbone (nm)", ylim=(0, None))
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("topology", help="structure or topology that MDAnalysis reads, for example final.pdb")
    parser.add_argument("trajectory", help="trajectory of the same atoms")
    parser.add_argument("--plot", default="rmsd.png", help="file of the picture (default: rmsd.png)")
    arguments = parser.parse_args()
    times, deviations = backbone_rmsd(arguments.topology, arguments.trajectory)
    print("time (ps)   RMSD (nm)")
    for time, deviation in zip(times, deviations):
        print(f"{time:9.3f}   {deviation:9.6f}")
    print(f"mean        {deviations.mean():9.6f}")
    plot(times, deviations, arguments.plot)


if __name__ == "__main__":
    plt.switch_backend("agg")  # draws into files, also without a display
    main()
