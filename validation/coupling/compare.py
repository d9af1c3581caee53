#!/usr/bin/env python3
"""Mean temperature and density of coupled water, with errors that know how long fluctuations last.

  compare.py energies.csv [density.xvg ...]     md's table; xvg files of `gmx energy` with Temperature and Density

The error of a mean is the standard deviation of block means over the square root of their number; blocks are doubled
until that no longer grows (Flyvbjerg & Petersen 1989, 10.1063/1.457480). Needs numpy.
"""

import csv
import sys

import numpy as np

SETTLED = 50.0  # ps left out
FEWEST_BLOCKS = 16  # with fewer, the error itself is too uncertain


def error_of_mean(values):
    """Largest standard error over all block lengths that leave enough blocks."""
    found = []
    while len(values) >= FEWEST_BLOCKS:
        found.append(values.std(ddof=1) / np.sqrt(len(values)))
        values = values[: len(values) // 2 * 2].reshape(-1, 2).mean(axis=1)
    return max(found)


def read(path):
    """Time (ps), temperature (K) and density (kg/m³)."""
    if path.endswith(".csv"):
        with open(path, newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["time (ps)"]]
        density = next(name for name in rows[0] if name.startswith("density"))
        scale = 1000.0 if "g/cm" in density else 1.0
        names = ["time (ps)", "temperature (K)", density]
        return np.array([[float(row[name]) for name in names] for row in rows]).T * [[1.0], [1.0], [scale]]
    with open(path) as file:
        return np.array([line.split()[:3] for line in file if line[0] not in "#@"], dtype=float).T


for path in sys.argv[1:]:
    time, temperature, density = read(path)
    kept = time > SETTLED
    length = time[kept][-1] - time[kept][0]
    print(f"{path}: {length:.0f} ps")
    for name, values, unit in (("temperature", temperature[kept], "K"), ("density", density[kept], "kg/m³")):
        print(f"  {name:12}{values.mean():9.3f} ± {error_of_mean(values):.3f} {unit}")
