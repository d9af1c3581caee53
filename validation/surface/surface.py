#!/usr/bin/env python3
"""Surface tension of a slab of water by md and by GROMACS.

  surface.py MD FOLDER [PICOSECONDS [GMX]]      runs the binary MD in FOLDER, then GROMACS (`gmx` unless named), and compares

A slab of 1,000 TIP3P waters has two surfaces to a vacuum, and its tension is γ = ½ L_z ⟨P_zz − ½ (P_xx + P_yy)⟩. Dispersion is
summed by LJ-PME in both programs, since a cutoff takes several mN/m from γ. Errors are those of block means.
The program exits with 1 if both tensions differ by more than the bar. Needs numpy.
"""

import pathlib
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent), str(HERE.parent / "water")]
import build  # noqa: E402
import energies  # noqa: E402
from errors import bar, standard_error  # noqa: E402

SETTLED = 100.0  # ps left out of the run of GROMACS; of md the first two stages
HEIGHT = 10.0  # nm
TENSION = 0.1  # mN/m in 1 bar nm


def system(folder):
    """Writes tip3p.top, and tip3p.gro with the waters of a cubic lattice in the middle of a longer cell."""
    build.EDGE = 10
    build.main(folder)
    path = folder / "tip3p.gro"
    *lines, _ = path.read_text().splitlines()
    edge = build.EDGE * build.SPACING
    shift = 0.5 * (HEIGHT - edge)
    lines[2:] = [line[:44] + f"{float(line[44:56]) + shift:12.7f}" for line in lines[2:]]
    path.write_text("\n".join([*lines, f"{edge:.7f} {edge:.7f} {HEIGHT:.7f}", ""]))


def tension(pressures):
    """Mean and standard error in mN/m of the pressures along x, y and z, bar."""
    xx, yy, zz = pressures
    values = 0.5 * TENSION * HEIGHT * (zz - 0.5 * (xx + yy))
    return values.mean(), standard_error(values)


def with_md(md, folder, length):
    """Pressures of the run, which is made or continued."""
    path = folder / "slab.toml"
    path.write_text((HERE / "slab.toml").read_text().replace("DURATION", f"{length:g}"))
    subprocess.run([md, "run", path], check=True, capture_output=True)
    columns = energies.read(folder / "out-slab" / "energies.csv", 0.0)
    last = columns["stage"] == columns["stage"].max()
    return [columns[f"pressure_{axis}"][last] for axis in ("xx", "yy", "zz")]


def with_gromacs(gmx, folder, length):
    """Pressures of a run of GROMACS from the same files."""
    if not (folder / "slab.edr").exists():
        steps = round((length + SETTLED) / 0.002)
        (folder / "slab.mdp").write_text((HERE / "slab.mdp").read_text().replace("STEPS", str(steps)))
        minimise = "integrator = steep\nnsteps = 200\ncutoff-scheme = Verlet\ncoulombtype = PME\nrcoulomb = 0.9\nrvdw = 0.9\n"
        (folder / "minimise.mdp").write_text(minimise)
        for name, start in (("minimise", "tip3p.gro"), ("slab", "minimise.gro")):
            files = ["-f", f"{name}.mdp", "-c", start, "-p", "tip3p.top", "-o", f"{name}.tpr", "-maxwarn", "1"]
            subprocess.run([gmx, "grompp", *files], cwd=folder, check=True, capture_output=True)
            subprocess.run([gmx, "mdrun", "-deffnm", name, "-ntmpi", "1"], cwd=folder, check=True, capture_output=True)
    command = [gmx, "energy", "-f", "slab.edr", "-o", "slab.xvg", "-b", str(SETTLED), "-xvg", "none"]
    subprocess.run(command, cwd=folder, input=b"Pres-XX\nPres-YY\nPres-ZZ\n\n", check=True, capture_output=True)
    return np.loadtxt(folder / "slab.xvg").T[1:]


def main():
    """Prints both tensions and their difference."""
    md, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    length = float(sys.argv[3]) if len(sys.argv) > 3 else 4000.0
    system(folder)
    ours, error = tension(with_md(md, folder, length))
    print(f"md: {ours:.2f} ± {error:.2f} mN/m", flush=True)
    theirs, their_error = tension(with_gromacs(sys.argv[4] if len(sys.argv) > 4 else "gmx", folder, length))
    off = (ours - theirs) / np.hypot(error, their_error)
    print(f"GROMACS: {theirs:.2f} ± {their_error:.2f} mN/m; off by {off:+.2f} standard errors; bar {bar(1):.2f}")
    return int(abs(off) > bar(1))


if __name__ == "__main__":
    sys.exit(main())
