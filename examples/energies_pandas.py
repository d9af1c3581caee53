#!/usr/bin/env python3
"""Means with errors of energies.csv for each stage, drift of the conserved energy, and a plot of running means.

    energies_pandas.py out/energies.csv --plot energies.png

The errors are standard errors from the means of five blocks. A block must be longer than the correlation time.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
import pandas

BLOCKS = 5
COLUMNS = ["potential (kJ/mol)", "kinetic (kJ/mol)", "temperature (K)", "pressure (bar)", "density (g/cm^3)"]
TIME, CONSERVED = "time (ps)", "conserved (kJ/mol)"


def block_error(values):
    """Standard error of the mean of a series, from the means of equal blocks."""
    length = len(values) // BLOCKS
    if length == 0:
        return float("nan")
    means = values.to_numpy()[-length * BLOCKS :].reshape(BLOCKS, length).mean(axis=1)
    return means.std(ddof=1) / BLOCKS**0.5


def drift(rows):
    """Slope of the conserved energy, in kJ/mol/ps, by least squares."""
    return np.polyfit(rows[TIME], rows[CONSERVED], 1)[0] if len(rows) > 2 else float("nan")


def plot(table, columns, path):
    """Writes a picture with one panel per column: all rows, and the mean from the beginning of the stage."""
    figure, panels = plt.subplots(len(columns), sharex=True, figsize=(7, 2 * len(columns)), layout="constrained")
    for axes, column in zip(panels, columns):
        axes.plot(table[TIME], table[column], linewidth=0.5, color="silver")
        for stage, rows in table.groupby("stage"):
            axes.plot(rows[TIME], rows[column].expanding().mean(), label=f"running mean of stage {stage}")
        axes.set_ylabel(column)
    panels[0].legend()
    panels[-1].set_xlabel(TIME)
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", help="energies.csv of a run")
    parser.add_argument("--plot", default="energies.png", help="file of the picture (default: energies.png)")
    arguments = parser.parse_args()
    table = pandas.read_csv(arguments.table)
    columns = [column for column in COLUMNS if column in table]
    for stage, rows in table.groupby("stage"):
        print(f"stage {stage}: {len(rows)} rows, {rows[TIME].iloc[0]} to {rows[TIME].iloc[-1]} ps")
        found = pandas.DataFrame({"mean": rows[columns].mean(), "error": rows[columns].apply(block_error)})
        print(found.to_string(float_format="{:.6g}".format))
        print(f"drift of the conserved energy: {drift(rows):.6g} kJ/mol/ps\n")
    plot(table, columns, arguments.plot)


if __name__ == "__main__":
    plt.switch_backend("agg")  # draws into files, also without a display
    main()
