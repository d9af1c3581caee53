"""Errors of means of correlated values and the bars for many of them, for the scripts beside this file."""

from statistics import NormalDist

import numpy as np

FEWEST_BLOCKS = 16  # with fewer, the error itself is too uncertain


def standard_error(values):
    """Of the mean: largest over block lengths that leave enough blocks (Flyvbjerg & Petersen 1989, 10.1063/1.457480)."""
    found = []
    while len(values) >= FEWEST_BLOCKS:
        found.append(values.std(ddof=1) / np.sqrt(len(values)))
        values = values[: len(values) // 2 * 2].reshape(-1, 2).mean(axis=1)
    return max(found)


def bar(comparisons, chance=0.01):
    """Standard errors that the largest of so many independent deviations exceeds with this probability if all is right."""
    return NormalDist().inv_cdf(1 - chance / (2 * comparisons))
