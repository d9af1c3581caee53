"""Energies of the small topologies in ../../format/gromacs by GROMACS (mixed precision). Writes NAME.gro and reference.json
beside them. Needs `gmx` in PATH (2027.0-dev was used) and numpy.

Coordinates are chains of random steps. All systems are neutral, so that GROMACS' reaction field of permittivity 1 is the plain
sum of 1/r. sites.g96 and nested.g96 hold the positions of virtual sites that mdrun computes.
"""
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

os.environ["GMX_MAXBACKUP"] = "-1"
FOLDER = Path(__file__).resolve().parents[2] / "format" / "gromacs"
BOX = 12.0
MDP = """integrator = md
nsteps = 0
cutoff-scheme = verlet
coulombtype = reaction-field
epsilon-rf = 1
rcoulomb = 5
rvdw = 5
rlist = 5
vdw-modifier = none
coulomb-modifier = none
verlet-buffer-tolerance = -1
nstlist = 1
nstenergy = 1
nstcalcenergy = 1
nstxout = 1
continuation = yes
"""
SIZES = {"functions": [8], "types": [7], "rule1": [6, 6], "rule2": [6, 6], "rule3": [6, 6], "rings": [8, 2, 3], "sites": [15], "leap": [8], "gromos": [8], "nested": [7]}
random = np.random.default_rng(20261122)


def chains(sizes):
    # positions near the origin, where single precision resolves 3e-8 nm
    positions = []
    for size in sizes:
        here = 0.8 + random.uniform(-0.5, 0.5, 3)
        for _ in range(size):
            while True:
                step = random.normal(size=3)
                trial = here + 0.15 * step / np.linalg.norm(step)
                if all(np.linalg.norm(trial - other) > 0.26 for other in positions[:-1]):
                    break
            here = trial
            positions.append(np.round(here, 6))
    return np.array(positions)


def write_gro(path, positions):
    lines = [f"random chain t= 2.500", f"{len(positions):5d}"]
    for i, r in enumerate(positions, start=1):
        lines.append("%5d%-5s%5s%5d%11.6f%11.6f%11.6f" % (1, "RES", f"A{i}", i, *r))
    lines.append("%11.6f%11.6f%11.6f" % (BOX, BOX, BOX))
    path.write_text("\n".join(lines) + "\n")


def run(folder, *command, text=None):
    return subprocess.run(["gmx", "-quiet", *command], cwd=folder, input=text, text=True, check=True, capture_output=True).stdout


def gromacs(name):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "run.mdp").write_text(MDP)
        run(folder, "grompp", "-f", "run.mdp", "-c", FOLDER / f"{name}.gro", "-p", FOLDER / f"{name}.top", "-o", "run.tpr", "-maxwarn", "9")
        run(folder, "mdrun", "-s", "run.tpr", "-deffnm", "run", "-ntmpi", "1", "-ntomp", "1", "-nb", "cpu")
        menu = "\n".join(str(i) for i in range(1, 40)) + "\n\n"
        run(folder, "energy", "-f", "run.edr", "-o", "energy.xvg", "-dp", text=menu)
        lines = (folder / "energy.xvg").read_text().splitlines()
        names = [line.split('"')[1] for line in lines if line.startswith("@ s") and "legend" in line]
        row = next(line for line in lines if line[0] not in "#@").split()[1:]
        energies = dict(zip(names, map(float, row)))
        kept = {k: v for k, v in energies.items() if not k.startswith(("Kin", "Tot", "Temp", "Pres", "Vir", "Conserved", "Constr", "Pot", "#", "T-"))}
        if name in ("sites", "nested"):
            run(folder, "trjconv", "-f", "run.trr", "-s", "run.tpr", "-o", "sites.g96", "-dump", "0", text="0\n")
            (FOLDER / f"{name}.g96").write_bytes((folder / "sites.g96").read_bytes())
        return kept


reference = {}
for name, sizes in SIZES.items():
    write_gro(FOLDER / f"{name}.gro", chains(sizes))
    reference[name] = gromacs(name)
(FOLDER / "reference.json").write_text(json.dumps(reference, indent=1) + "\n")
