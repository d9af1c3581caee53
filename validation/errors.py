"""Errors of means of correlated values, for the scripts beside this file."""

import numpy as np

FEWEST_BLOCKS = 16  # with fewer, the error itself is too uncertain


def standard_error(values):
    """Of the mean: largest over block lengths that leave enough blocks (Flyvbjerg & Petersen 1989, 10.1063/1.457480)."""
    found = []
    while len(values) >= FEWEST_BLOCKS:
        found.append(values.std(ddof=1) / np.sqrt(len(values)))
        values = values[: len(values) // 2 * 2].reshape(-1, 2).mean(axis=1)
    return max(found)
