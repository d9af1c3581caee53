"""Energy tables of md, for the scripts in the folders beside this file."""

import csv

import numpy as np


def read(path, settled):
    """Columns of the table at a path by the first word of their names, of the rows that are later than `settled` (ps)."""
    with open(path, newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["time (ps)"] and float(row["time (ps)"]) > settled]
    return {name.split()[0]: np.array([float(row[name] or "nan") for row in rows]) for name in rows[0]}
