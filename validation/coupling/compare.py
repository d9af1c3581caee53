#!/usr/bin/env python3
"""Temperature, density and fluctuations of coupled systems, with errors that know how long fluctuations last.

  compare.py energies.csv [density.xvg ...]     md's tables; xvg files of `gmx energy` with Temperature and Density

Of md's tables: means of temperature and density; the correlation of kinetic energy and volume, and the variance of the
volume; the slope of the conserved energy. The error of a mean is the standard deviation of block means over the square root
of their number; blocks are doubled until that no longer grows (Flyvbjerg & Petersen 1989, 10.1063/1.457480). The error of a
correlation is that of the mean of the product of both deviations. The error of a slope is that of the mean of the slopes
between ten blocks. Needs numpy.
"""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import energies  # noqa: E402
from errors import standard_error  # noqa: E402

SETTLED = 50.0  # ps left out
PARTS = 10  # for a slope


def read(path):
    """Columns by the first word of their names, time in ps."""
    if path.endswith(".csv"):
        columns = energies.read(path, SETTLED)
        if "density" in columns:
            columns["density"] *= 1000.0  # g/cm³
        return columns
    with open(path) as file:
        values = np.array([line.split()[:3] for line in file if line[0] not in "#@"], dtype=float).T
    return dict(zip(("time", "temperature", "density"), values[:, values[0] > SETTLED]))


for path in sys.argv[1:]:
    columns = read(path)
    time = columns["time"]
    print(f"{path}: {time[-1] - time[0]:.0f} ps")
    for name, unit in (("temperature", "K"), ("density", "kg/m³")):
        if name in columns:
            print(f"  {name:12}{columns[name].mean():9.3f} ± {standard_error(columns[name]):.3f} {unit}")
    if "volume" in columns:
        volume = columns["volume"]
        deviations = [(v - v.mean()) / v.std() for v in (columns["kinetic"], volume)]
        product = deviations[0] * deviations[1]
        print(f"  corr(K, V)  {product.mean():9.4f} ± {standard_error(product):.4f}")
        squares = (volume - volume.mean()) ** 2
        print(f"  var V       {squares.mean():9.5f} ± {standard_error(squares):.5f} nm⁶ at {volume.mean():.4f} nm³")
    if "conserved" in columns:
        length = len(time) // PARTS * PARTS
        blocks = [values[:length].reshape(PARTS, -1).mean(axis=1) for values in (time, columns["conserved"])]
        slopes = np.diff(blocks[1]) / np.diff(blocks[0])
        print(f"  conserved   {slopes.mean():9.4f} ± {slopes.std(ddof=1) / np.sqrt(len(slopes)):.4f} kJ/mol/ps")
