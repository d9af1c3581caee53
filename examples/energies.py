#!/usr/bin/env python3
"""Mean, fluctuation and drift of a column of energies.csv: energies.py FILE [COLUMN], e.g. energies.py out/energies.csv density."""

import sys

import numpy as np


def main(path, column="conserved"):
    """Prints one line per stage."""
    table = np.genfromtxt(path, delimiter=",", names=True, deletechars="", replace_space=" ")
    name = next(n for n in table.dtype.names if n.startswith(column))
    time = next(n for n in table.dtype.names if n.startswith("time"))
    stage = next(n for n in table.dtype.names if n.startswith("stage"))
    for number in np.unique(table[stage]):
        rows = table[table[stage] == number]
        slope = np.polyfit(rows[time], rows[name], 1)[0] if len(rows) > 2 else float("nan")
        print(f"stage {number:.0f}: {name} {rows[name].mean():.6g} ± {rows[name].std():.3g}, drift {slope:.3g} per ps")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
