"""Time of observables by md, MDAnalysis, MDTraj and GROMACS: speed.py MD FOLDER [ROUNDS [OBSERVABLE...]]

DHFR in water (23,558 atoms), 1,000 frames, which `md run` makes in FOLDER unless they are there. In every round all
programs compute an observable one after the other; the table has medians in s. The time of MDAnalysis and MDTraj is
without the import of their modules, that of md and gmx with the start of the program. `gmx` is left out if it is not
on the PATH. Needs MDAnalysis and mdtraj. Run it on an idle machine.
"""

import pathlib
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
INPUT = """[system]
topology = "dhfr.prmtop"
coordinates = "dhfr.rst7"
[forces]
cutoff = "0.9 nm"
[output]
trajectory = [{ every = "0.1 ps" }, { file = "trajectory.xtc", every = "0.1 ps" }]
[[stage]]
kind = "minimize"
name = "minimize"
steps = 100
[[stage]]
kind = "dynamics"
name = "production"
duration = "100 ps"
timestep = "2 fs"
velocities = "generate"
temperature = "300 K"
thermostat = { kind = "v-rescale", temperature = "300 K", coupling_time = "1 ps" }
"""
MDP = "cutoff-scheme = Verlet\ncoulombtype = PME\nrcoulomb = 0.9\nrvdw = 0.9\n"
HEAVY = "protein and not name H*"
BACKBONE = "protein and backbone"
RANGE = 1.0  # nm, of g(r); bins of 0.002 nm
POINTS = 960  # on the sphere of an atom
LONGEST = 600.0  # s; a program that takes longer has this time

# arguments of `md analyze`
OURS = {
    "rmsd": ["--select", "protein and heavy"],
    "rdf": ["--range", f"{RANGE} nm"],
    "msd": ["--select", "water and element O"],
    "hbonds": ["--select", "protein"],
    "sasa": ["--points", str(POINTS)],
    "dssp": [],
    "pca": ["--select", "backbone"],
    "rmsd-matrix": ["--select", "protein and heavy"],
}
# command of `gmx`, and its standard input; `gmx msd` 2022.5 aborts with frames 0.1 ps apart
GROMACS = {
    "rmsd": (["rms"], "Protein-H\nProtein-H\n"),
    "rdf": (["rdf", "-ref", "name OW O and resname WAT", "-sel", "name OW O and resname WAT", "-rmax", str(RANGE)], ""),
    "hbonds": (["hbond", "-num", "number.xvg"], "Protein\nProtein\n"),
    "sasa": (["sasa", "-ndots", str(POINTS), "-surface", "Protein"], ""),
    "pca": (["covar"], "Backbone\nBackbone\n"),
    "rmsd-matrix": (["rms", "-m", "matrix.xpm"], "Protein-H\nProtein-H\n"),
}


def prepare(md, folder):
    """Makes the trajectories, a structure for MDTraj, and the run input of GROMACS."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("dhfr.prmtop", "dhfr.rst7"):
        if not (folder / name).exists():
            packed = ROOT / "inputs/dhfr" / f"{name}.xz"
            (folder / name).write_bytes(subprocess.run(["xz", "-dc", packed], check=True, capture_output=True).stdout)
    (folder / "input.toml").write_text(INPUT)
    subprocess.run([md, "run", "input.toml", "--quiet"], cwd=folder, check=True)
    if shutil.which("gmx") and not (folder / "dhfr.tpr").exists():
        subprocess.run([md, "convert", "dhfr.prmtop", "dhfr.top", "--force"], cwd=folder, check=True)
        subprocess.run([md, "convert", "dhfr.rst7", "dhfr.gro", "--topology", "dhfr.prmtop", "--force"], cwd=folder, check=True)
        (folder / "dhfr.mdp").write_text(MDP)
        files = ["-f", "dhfr.mdp", "-c", "dhfr.gro", "-p", "dhfr.top", "-o", "dhfr.tpr", "-maxwarn", "2"]
        subprocess.run(["gmx", "grompp", *files], cwd=folder, check=True, capture_output=True)


def with_mdanalysis(name, trajectory):
    """Seconds that MDAnalysis takes."""
    import MDAnalysis
    from MDAnalysis.analysis import diffusionmap, dssp, hydrogenbonds, msd, pca, rdf, rms

    def oxygens(universe):
        return universe.select_atoms("resname WAT and name O")

    def hydrogen_bonds(universe):
        selection = {"donors_sel": "protein and name N* O* S*", "hydrogens_sel": "protein and name H*"}
        return hydrogenbonds.HydrogenBondAnalysis(universe, acceptors_sel="protein and name N* O*", **selection)

    analyses = {
        "rmsd": lambda u: rms.RMSD(u, select=HEAVY),
        "rdf": lambda u: rdf.InterRDF(oxygens(u), oxygens(u), nbins=500, range=(0, 10 * RANGE), exclusion_block=(1, 1)),
        "msd": lambda u: msd.EinsteinMSD(oxygens(u), fft=True),
        "hbonds": hydrogen_bonds,
        "dssp": lambda u: dssp.DSSP(u),
        "pca": lambda u: pca.PCA(u, select=BACKBONE, align=True),
        "rmsd-matrix": lambda u: diffusionmap.DistanceMatrix(u, select=HEAVY),
    }
    begin = time.perf_counter()
    analyses[name](MDAnalysis.Universe("dhfr.prmtop", trajectory)).run()
    return time.perf_counter() - begin


def with_mdtraj(name, trajectory):
    """Seconds that MDTraj takes. It reads only the atoms that it needs."""
    import mdtraj
    import numpy

    topology = mdtraj.load_prmtop("dhfr.prmtop")
    heavy, protein = topology.select("protein and element != H"), topology.select("protein")
    analyses = {
        "rmsd": (heavy, lambda t: mdtraj.rmsd(t, t)),
        "hbonds": (protein, lambda t: [mdtraj.baker_hubbard(frame, freq=0, periodic=False) for frame in t]),
        "sasa": (protein, lambda t: mdtraj.shrake_rupley(t, n_sphere_points=POINTS)),
        "dssp": (protein, lambda t: mdtraj.compute_dssp(t, simplified=False)),
        "rmsd-matrix": (heavy, lambda t: numpy.array([mdtraj.rmsd(t, t, k) for k in range(len(t))])),
    }
    atoms, analysis = analyses[name]
    begin = time.perf_counter()
    if trajectory.endswith(".xtc"):
        analysis(mdtraj.load_xtc(trajectory, top=topology, atom_indices=atoms))
    else:
        # MDTraj knows its HDF5 by the ending h5; the run has made this link
        analysis(mdtraj.load_hdf5(trajectory.removesuffix("md"), atom_indices=atoms))
    return time.perf_counter() - begin


# observables that MDAnalysis and MDTraj compute; g(r) is not timed with MDTraj, because its pair list of all waters
# does not fit into memory
PYTHON = {
    "MDAnalysis": (with_mdanalysis, {"rmsd", "rdf", "msd", "hbonds", "dssp", "pca", "rmsd-matrix"}),
    "MDTraj": (with_mdtraj, {"rmsd", "hbonds", "sasa", "dssp", "rmsd-matrix"}),
}


def seconds(command, folder, text=""):
    """Time of a command and its output; the time and no output if it takes longer than `LONGEST`."""
    begin = time.perf_counter()
    try:
        done = subprocess.run(command, cwd=folder, input=text, capture_output=True, text=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return LONGEST, ""
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return time.perf_counter() - begin, done.stdout


def measured(md, folder, name):
    """Time of an observable by every program that has it, from both formats."""
    ours = [md, "analyze", name, *OURS[name], "--no-plots", "--force"]
    for kind, more in (("XTC", ["--topology", "dhfr.prmtop"]), ("H5MD", [])):
        trajectory = f"out/trajectory.{kind.lower()}"
        yield f"md, {kind}", seconds([*ours, trajectory, *more], folder)[0]
        for program, (_, known) in PYTHON.items():
            if name in known:
                worker = [sys.executable, __file__, "--worker", program, name, trajectory]
                taken, output = seconds(worker, folder)
                yield f"{program}, {kind}", float(output) if output else taken
    if name in GROMACS and shutil.which("gmx"):
        words, text = GROMACS[name]
        command = ["gmx", "-nobackup", *words, "-s", "dhfr.tpr", "-f", "out/trajectory.xtc"]
        yield "gmx, XTC", seconds(command, folder, text)[0]


def main():
    if sys.argv[1] == "--worker":
        return print(PYTHON[sys.argv[2]][0](*sys.argv[3:]))
    md, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    prepare(md, folder)
    columns = [f"{program}, {kind}" for kind in ("XTC", "H5MD") for program in ("md", *PYTHON)] + ["gmx, XTC"]
    ratios = ["Python / md, XTC", "Python / md, H5MD", "gmx / md, XTC"]
    print(f"| observable | {' | '.join(columns + ratios)} |")
    print("|---" * (len(columns + ratios) + 1) + "|")
    for name in sys.argv[4:] or OURS:
        times = {}
        for _ in range(rounds):
            for program, taken in measured(md, folder, name):
                times.setdefault(program, []).append(taken)
        medians = {program: statistics.median(values) for program, values in times.items()}
        cells = [f"{medians[program]:.2f}" if program in medians else "–" for program in columns]
        for kind in ("XTC", "H5MD"):
            python = [medians[f"{program}, {kind}"] for program in PYTHON if f"{program}, {kind}" in medians]
            cells.append(f"{min(python) / medians[f'md, {kind}']:.1f}" if python else "–")
        cells.append(f"{medians['gmx, XTC'] / medians['md, XTC']:.1f}" if "gmx, XTC" in medians else "–")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
