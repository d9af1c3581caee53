#!/usr/bin/env python3
"""Errors of the electrostatic forces behind a comparison of speeds: force_error.py NAME.top [NAME.top ...]

Beside NAME.top lie NAME.gro, NAME.prmtop and NAME.rst7: the same frame for both engines. Forces of GROMACS come from
one step with the settings of speed.mdp, those of md from `md energy` with the settings of input.toml. Both are compared
with `md energy --precision double` at a converged PME (see REFERENCE_PME); errors are RMS differences over the RMS of
the whole electrostatic force, which is what md's `force_error` means. The last column is GROMACS with a PME as fine as
its single precision allows: what rounding and the conversion of the files leave of the difference, that is the least
error that this comparison can see.

Writes a row of a Markdown table for each system. Needs numpy, MDAnalysis and gmx; works below out/.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

import numpy as np
from MDAnalysis.lib.formats.libmdaxdr import TRRFile

HERE = pathlib.Path(__file__).resolve().parent
# erfc(α · 0.9 nm) is 1e-8, so the direct sum leaves out forces of this relative order. With a spacing of 0.27/α the
# error of order 8 is below 1e-6 of the force; forces of dhfr then agree with OpenMM to the figure in README.md.
REFERENCE_ALPHA = 4.5  # 1/nm
REFERENCE_SPACING = 0.06  # nm
REFERENCE_ORDER = 8
# mdp settings with the same accuracy for GROMACS
FINE_MDP = {"ewald-rtol": "1e-8", "fourierspacing": "0.06", "pme-order": "8"}


def run(*words, cwd=None):
    """Runs a command; its output is shown if it fails."""
    done = subprocess.run([str(word) for word in words], cwd=cwd, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")


def md_forces(program, top, folder, name, precision, replaced):
    """Forces (kJ/mol/nm) and report of `md energy` with input.toml, in which keys are replaced, or left out for None."""
    text = (HERE / "input.toml").read_text()
    quoted = {"topology": f'"{top.with_suffix(".prmtop")}"', "coordinates": f'"{top.with_suffix(".rst7")}"'}
    for key, value in {**quoted, **replaced}.items():
        text, count = re.subn(rf"(?m)^{key}\s*=.*$", f"{key} = {value}" if value else "", text)
        if count != 1:
            sys.exit(f"input.toml has {count} lines that set {key}")
    path, forces, report = (folder / f"{name}.{kind}" for kind in ("toml", "npy", "json"))
    path.write_text(text)
    run(program, "energy", path, "--constraints", "--precision", precision, "--forces", forces, "--json", report)
    return np.load(forces), json.loads(report.read_text())


def reference_pme(cell):
    """The converged PME as a value of the input file."""
    points = [even_smooth(np.linalg.norm(edge) / REFERENCE_SPACING) for edge in cell]
    return f'{{ alpha = "{REFERENCE_ALPHA} 1/nm", grid = {points}, order = {REFERENCE_ORDER} }}'


def even_smooth(least):
    """The next even number without prime factors above 5."""
    number = 2 * int(np.ceil(least / 2))
    while 30**20 % number:
        number += 2
    return number


def gromacs_forces(top, folder, name, replaced):
    """Forces (kJ/mol/nm) of one step of speed.mdp, in which settings are replaced."""
    text = (HERE / "speed.mdp").read_text().replace("@STEPS@", "0")
    for key, value in replaced.items():
        text, count = re.subn(rf"(?m)^{key}\s*=.*$", f"{key} = {value}", text)
        if count != 1:
            sys.exit(f"speed.mdp has {count} lines that set {key}")
    (folder / f"{name}.mdp").write_text(text + "nstfout = 1\n")
    # one warning is allowed, because dhfr has a net charge
    files = ["-f", f"{name}.mdp", "-p", top, "-c", top.with_suffix(".gro"), "-o", f"{name}.tpr", "-po", f"{name}-out.mdp"]
    run("gmx", "-quiet", "grompp", *files, "-maxwarn", "1", cwd=folder)
    (folder / f"{name}.trr").unlink(missing_ok=True)
    threads = ["-ntmpi", "1", "-notunepme", "-pin", "off", "-noconfout"]
    run("gmx", "-quiet", "mdrun", "-s", f"{name}.tpr", "-deffnm", name, *threads, cwd=folder)
    with TRRFile(str(folder / f"{name}.trr")) as file:
        return file.read().f.astype(float)


def rms(vectors):
    """Root of the mean square of a vector."""
    return np.sqrt((vectors**2).sum(axis=1).mean())


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tops", nargs="+", type=pathlib.Path, metavar="NAME.top")
    parser.add_argument("--md", default=HERE.parents[1] / "target/release/md", help="the program")
    options = parser.parse_args()
    print("| system | RMS electrostatic force, kJ/mol/nm | md: PME | md: error | GROMACS: error | GROMACS, fine PME |")
    print("|---|---|---|---|---|---|")
    for top in (path.resolve() for path in options.tops):
        folder = HERE / "out" / f"forces-{top.stem}"
        folder.mkdir(parents=True, exist_ok=True)
        everyday, report = md_forces(options.md, top, folder, "everyday", "mixed", {})
        converged = {"pme": reference_pme(report["cell"])}
        exact, _ = md_forces(options.md, top, folder, "reference", "double", converged)
        uncharged = {"electrostatics": '"off"', "pme": None}
        scale = rms(exact - md_forces(options.md, top, folder, "uncharged", "double", uncharged)[0])
        gromacs = [gromacs_forces(top, folder, *case) for case in (("gromacs", {}), ("fine", FINE_MDP))]
        pme = report["pme"]
        cells = [f"{rms(forces - exact) / scale:.2e}" for forces in (everyday, *gromacs)]
        setting = f"α {pme['alpha']:.3f}/nm, {'×'.join(map(str, pme['grid']))}, order {pme['order']}"
        print("|", " | ".join([top.stem, f"{scale:.1f}", setting, *cells]), "|", flush=True)


if __name__ == "__main__":
    main()
