"""Observables of `md analyze` beside other programs: python3 validation/analysis/compare.py MD FOLDER [SYSTEM...]

Needs the Python packages MDAnalysis, mdtraj, pymbar, scipy and h5py. Short trajectories of the systems (dhfr,
membrane, dna, octahedron; without SYSTEM all) are made in FOLDER by `md run`, unless they are there. Exits with 1 if a
value differs by more than its tolerance.
"""

import pathlib
import sys
import warnings

from observables import REGISTRY
from systems import SYSTEMS, Case

HEADER = """| observable | quantity | other program | system | largest deviation | tolerance | why |
|---|---|---|---|---|---|---|"""


def number(value, unit):
    text = f"{value:.1e}" if value else "0"
    return f"{text} {unit}".strip()


def main():
    program, folder = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    warnings.filterwarnings("ignore", module="MDAnalysis")
    failed = 0
    print(HEADER)
    for name in sys.argv[3:] or SYSTEMS:
        case = Case(program, name, folder / name)
        for observable, (compare, applies) in REGISTRY.items():
            rows = list(compare(case)) if applies(case.system) else []
            if not rows:
                print(f"| {observable} | – | – | {name} | – | – | does not apply |")
            for quantity, other, deviation, tolerance, unit, why in rows:
                values = f"{number(deviation, unit)} | {number(tolerance, unit)}"
                is_exceeded = not deviation <= tolerance
                failed += is_exceeded
                mark = " **exceeded**" if is_exceeded else ""
                print(f"| {observable} | {quantity} | {other} | {name} | {values} | {why}{mark} |", flush=True)
    print(f"\n{failed} deviations exceed their tolerance.")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
