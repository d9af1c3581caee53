"""Observables of `md analyze` beside other programs: python3 validation/analysis/compare.py MD FOLDER [SYSTEM...]

Needs the Python packages MDAnalysis, mdtraj, pymbar, scipy and h5py. `md run` makes short trajectories of the systems
(dhfr, membrane, dna, octahedron; without SYSTEM all) in FOLDER, unless they are there. The table has the system with
the largest deviation in units of the tolerance, and every system whose deviation exceeds the tolerance; then the
program exits with 1.
"""

import pathlib
import sys
import time
import warnings

from observables import REGISTRY
from systems import SYSTEMS, Case

HEADER = """| observable | quantity | other program | systems | largest deviation | tolerance and why |
|---|---|---|---|---|---|"""


def number(value, unit):
    text = f"{value:.1e}" if value else "0"
    return f"{text} {unit}".strip()


def is_exceeded(row):
    return not row["deviation"] <= row["tolerance"]


def line(rows, row):
    """Line of the table for one row, among the rows of all systems for the same quantity."""
    within = [other["system"] for other in rows if not is_exceeded(other)]
    systems = row["system"] if is_exceeded(row) else "all" if len(within) == len(SYSTEMS) else ", ".join(within)
    deviation = f"{number(row['deviation'], row['unit'])} ({row['system']})" if row["deviation"] else "0"
    reason = f"{number(row['tolerance'], row['unit'])}: {row['why']}"
    mark = ", **exceeded**" if is_exceeded(row) else ""
    return f"| {row['observable']} | {row['quantity']} | {row['other']} | {systems} | {deviation}{mark} | {reason} |"


def compare(program, name, folder):
    """Rows of all observables of a system."""
    case = Case(program, name, folder)
    for observable, (function, applies) in REGISTRY.items():
        start = time.monotonic()
        found = list(function(case)) if applies(case.system) else []
        for quantity, other, deviation, tolerance, unit, why in found:
            yield {
                "observable": observable, "quantity": quantity, "other": other, "system": name,
                "deviation": deviation, "tolerance": tolerance, "unit": unit, "why": why,
            }  # fmt: skip
        done = f"{len(found)} comparisons, {time.monotonic() - start:.1f} s" if found else "–"
        print(f"{name}: {observable}: {done}", file=sys.stderr, flush=True)


def main():
    program, folder = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    warnings.filterwarnings("ignore")
    names = sys.argv[3:] or list(SYSTEMS)
    rows = [row for name in names for row in compare(program, name, folder / name)]
    of_quantity = {}
    for row in rows:
        of_quantity.setdefault((row["observable"], row["quantity"], row["other"]), []).append(row)
    print(HEADER)
    for observable in REGISTRY:
        for key, same in of_quantity.items():
            if key[0] == observable:
                within = [row for row in same if not is_exceeded(row)]
                worst = max(within, key=lambda row: row["deviation"] / (row["tolerance"] or 1), default=None)
                for row in [*([worst] if worst else []), *filter(is_exceeded, same)]:
                    print(line(same, row))
    failed = sum(map(is_exceeded, rows))
    print(f"\n{failed} of {len(rows)} deviations exceed their tolerance.")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
