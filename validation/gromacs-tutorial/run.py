#!/usr/bin/env python3
"""The tutorial of GROMACS users with `md` in place of grompp and mdrun; nothing is edited by hand.

  run.py MD FOLDER [--shorten N]      MD is the program; FOLDER is new; stages and intervals are N times shorter (100)

From heavy atoms of a protein: pdb2gmx (AMBER99SB-ILDN, TIP3P), editconf, solvate and genion make topol.top and solv_ions.gro;
`md import em.mdp nvt.mdp npt.mdp md.mdp` and `md run` do the rest. Checks, with the bars that README.md derives: gmx rms reads
every frame; the temperature of the last stage; energies of the last structure against gmx mdrun -rerun, position restraints
included; the output folder is one to go on from (--after). Needs gmx. Exits with 1 where a check fails.
"""

import argparse
import csv
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
STAGES = ["em", "nvt", "npt", "md"]
SHORTENED = ["nsteps", "nstxout-compressed", "nstenergy", "nstlog"]
TARGET = 300.0  # K, ref_t of md.mdp
# limits of deviations, which README.md justifies
TEMPERATURE = 10.0  # K
POTENTIAL = 1e-4  # relative
RESTRAINTS = 1e-3  # relative
RMSD = (0.01, 0.3)  # nm


def run(folder, *command, text=None):
    """Runs a program in the folder; its output, or the end of the script with it."""
    done = subprocess.run([str(word) for word in command], cwd=folder, input=text, text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def shortened(text, factor):
    """An mdp file with fewer steps and shorter intervals."""
    def divide(match):
        return f"{match[1]}{max(int(match[2]) // factor, 1)}"

    for key in SHORTENED:
        text = re.sub(rf"(?m)^({key}\s*=\s*)(\d+)", divide, text)
    return text


def set_up(folder, factor):
    """Topology and coordinates of the protein in water with ions, as the tutorial makes them."""
    for path in sorted((HERE / "mdp").glob("*.mdp")):
        text = path.read_text()
        (folder / path.name).write_text(text if path.stem == "ions" else shortened(text, factor))
    protein = HERE / "protein.pdb"
    run(folder, "gmx", "pdb2gmx", "-f", protein, "-o", "processed.gro", "-ff", "amber99sb-ildn", "-water", "tip3p", "-ignh")
    run(folder, "gmx", "editconf", "-f", "processed.gro", "-o", "newbox.gro", "-c", "-d", "1.0", "-bt", "dodecahedron")
    run(folder, "gmx", "solvate", "-cp", "newbox.gro", "-cs", "spc216.gro", "-o", "solv.gro", "-p", "topol.top")
    # one warning is allowed, because the charge of the system is not yet neutralised
    run(folder, "gmx", "grompp", "-f", "ions.mdp", "-c", "solv.gro", "-p", "topol.top", "-o", "ions.tpr", "-maxwarn", "1")
    ions = ["-pname", "NA", "-nname", "CL", "-neutral"]
    run(folder, "gmx", "genion", "-s", "ions.tpr", "-o", "solv_ions.gro", "-p", "topol.top", *ions, text="SOL\n")


def columns(path):
    """Numbers of an xvg file."""
    lines = path.read_text().splitlines()
    return [[float(word) for word in line.split()] for line in lines if line[:1] not in "#@"]


def setting(folder, name, key):
    return int(re.search(rf"(?m)^{key}\s*=\s*(\d+)", (folder / name).read_text())[1])


def gromacs_energies(folder, names):
    """Energies of final.gro, kJ/mol, with the settings and references of npt.mdp."""
    files = ["-c", "final.gro", "-r", "solv_ions.gro", "-p", "topol.top", "-maxwarn", "2"]
    run(folder, "gmx", "grompp", "-f", "npt.mdp", *files, "-o", "rerun.tpr", "-po", "rerun-out.mdp")
    run(folder, "gmx", "mdrun", "-s", "rerun.tpr", "-rerun", "final.gro", "-deffnm", "rerun", "-ntmpi", "1", "-ntomp", "2")
    words = [name.replace(" ", "-") for name in names]
    run(folder, "gmx", "energy", "-f", "rerun.edr", "-o", "rerun.xvg", text="\n".join(words) + "\n\n")
    legends = re.findall(r'@ s\d+ legend "(.*)"', (folder / "rerun.xvg").read_text())
    return dict(zip(legends, columns(folder / "rerun.xvg")[0][1:]))


def md_energies(md, folder):
    """The same of md, with the import of npt.mdp alone."""
    files = ["--topology", "topol.top", "--coordinates", "final.gro", "--reference", "solv_ions.gro"]
    run(folder, md, "import", "npt.mdp", *files, "-o", "rerun.toml")
    run(folder, md, "energy", "rerun.toml", "--stage", "npt", "--constraints", "--json", "rerun.json")
    return json.loads((folder / "rerun.json").read_text())["energies"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("md", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--shorten", type=int, default=100)
    options = parser.parse_args()
    md, folder = options.md, options.folder.resolve()
    folder.mkdir(parents=True)
    set_up(folder, options.shorten)

    files = ["--topology", "topol.top", "--coordinates", "solv_ions.gro"]
    print(run(folder, md, "import", *[f"{name}.mdp" for name in STAGES], *files, "-o", "input.toml"))
    run(folder, md, "check", "input.toml")
    run(folder, md, "run", "input.toml")

    failed = []

    def check(what, holds):
        print(f"{'ok    ' if holds else 'FAILED'}  {what}")
        failed.extend([] if holds else [what])

    run(folder, "gmx", "grompp", "-f", "md.mdp", "-c", "solv_ions.gro", "-p", "topol.top", "-o", "md.tpr")
    run(folder, "gmx", "rms", "-s", "md.tpr", "-f", "out/trajectory.xtc", "-o", "rmsd.xvg", text="Backbone\nBackbone\n")
    rmsd = [row[1] for row in columns(folder / "rmsd.xvg")]
    frames = sum(setting(folder, f"{name}.mdp", "nsteps") // setting(folder, f"{name}.mdp", "nstxout-compressed")
                 for name in STAGES[1:])
    frames += 1  # the first of all
    check(f"gmx rms reads {len(rmsd)} of {frames} frames", len(rmsd) == frames)
    check(f"backbone RMSD of the last frame {rmsd[-1]:.3f} nm", RMSD[0] < rmsd[-1] < RMSD[1])

    with open(folder / "out/energies.csv") as table:
        rows = [row for row in csv.DictReader(line for line in table if not line.startswith("#"))]
    name = next(key for key in rows[0] if key.startswith("temperature"))
    last = [float(row[name]) for row in rows][-(setting(folder, "md.mdp", "nsteps") // setting(folder, "md.mdp", "nstenergy")):]
    mean = sum(last) / len(last)
    check(f"mean temperature of the last stage {mean:.1f} K", abs(mean - TARGET) < TEMPERATURE)

    run(folder, md, "convert", "out/final.rst7", "final.gro", "--topology", "topol.top")
    theirs, ours = gromacs_energies(folder, ["Potential", "Position Rest."]), md_energies(md, folder)
    for what, here, bar in [("Potential", "potential", POTENTIAL), ("Position Rest.", "position_restraint", RESTRAINTS)]:
        deviation = abs(ours[here] / theirs[what] - 1.0)
        text = f"{what}: GROMACS {theirs[what]:.3f}, md {ours[here]:.3f} kJ/mol, relative deviation {deviation:.1e}"
        check(text, deviation < bar)

    run(folder, md, "import", "md.mdp", "--topology", "topol.top", "--after", "out", "-o", "more.toml")
    run(folder, md, "check", "more.toml", "--set", "output.directory=\"more\"")
    check("md import --after: final.rst7 is accepted", True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
