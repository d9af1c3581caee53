"""Runs the Python examples on a short simulation and compares numbers that they print: run_examples.py MD FOLDER.

MD is the program, FOLDER an empty folder for all files. The scripts of examples/ run on a short simulation of alanine
dipeptide in water, the notebooks on runs of their own. The program ends with a traceback if a script or notebook fails,
prints nothing, draws no picture, or gives a number that differs from `md analyze`, `md run` or numpy.
"""

import csv
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import h5py
import nbformat
import numpy as np
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
INPUT = """
[system]
topology = "{system}.prmtop.xz"
coordinates = "{system}.rst7.xz"

[forces]
cutoff = "0.9 nm"
electrostatics = "pme"
constraints = "h-bonds"

[run]
device = "cpu"
threads = 1

[output]
trajectory = {{ every = "0.1 ps" }}
energies = {{ every = "0.02 ps" }}

[[stage]]
name = "heat"
kind = "dynamics"
duration = "0.6 ps"
timestep = "2 fs"
velocities = "generate"
thermostat = {{ kind = "v-rescale", temperature = "300 K", coupling_time = "0.1 ps" }}

[[stage]]
name = "production"
kind = "dynamics"
duration = "1.8 ps"
timestep = "2 fs"
thermostat = {{ kind = "v-rescale", temperature = "300 K", coupling_time = "1 ps" }}
barostat = {{ kind = "c-rescale", pressure = "1 bar", coupling_time = "5 ps" }}
"""
FRAMES = 25
# checks that run after the cells of a notebook, by its name
NOTEBOOK_CHECKS = {
    "first_analysis": """
        import numpy as np
        assert len(energies) == 151 and len(rmsd["time"]) == 31
        assert 280 < energies["temperature (K)"].mean() < 320
        assert 0.27 < peak < 0.285 and 4 < neighbours < 6.5
        assert rmsd["rmsd"][0] < 1e-6 and 0.005 < rmsd["rmsd"].max() < 0.2""",
    "ramachandran": """
        for temperature, (phi, psi) in found.items():
            assert len(phi) == len(psi) == 501
            counts = np.unique(np.stack([phi // 10, psi // 10]), axis=1, return_counts=True)[1]
            expected = 8.31446261815324e-3 * temperature * np.log(counts.max() / counts)
            values = free_energy(phi, psi, temperature)[0]
            np.testing.assert_allclose(np.sort(values[np.isfinite(values)]), np.sort(expected), atol=1e-9)
        bins = pandas.DataFrame.from_dict(rows, orient="index")["bins visited"]
        assert bins[600] > bins[300] > 20""",
}


def rows(text):
    """Lines of a text as lists of words."""
    return [line.split() for line in text.splitlines()]


def table(text, columns):
    """Numbers of the lines that consist of `columns` numbers."""

    def numbers(words):
        try:
            return [float(word) for word in words]
        except ValueError:
            return []

    return np.array([found for found in map(numbers, rows(text)) if len(found) == columns])


def run(folder, *command):
    """Output of a command that runs in the folder, without a display."""
    hidden = ("MPLBACKEND", "DISPLAY", "WAYLAND_DISPLAY")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    words = list(map(str, command))
    result = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8")
    assert result.returncode == 0, f"{words}\n{result.stdout}{result.stderr}"
    return result.stdout


def example(folder, name, *arguments):
    """Output of an example, which must also draw a picture."""
    picture = folder / f"{name}.png"
    text = run(folder, sys.executable, EXAMPLES / f"{name}.py", *arguments, "--plot", picture)
    assert text.strip(), f"{name} prints nothing"
    assert picture.read_bytes().startswith(b"\x89PNG"), name
    return text


def check_rmsd(folder):
    """Deviations by MDAnalysis and by md."""
    found = table(example(folder, "rmsd_mdanalysis", "out/final.pdb", "out/trajectory.h5md"), 2)
    with h5py.File(folder / "rmsd.h5") as results:
        expected = np.column_stack([results["time"], results["rmsd"]])
    assert expected.shape == (FRAMES, 2) and expected[:, 1].max() > 0.005
    np.testing.assert_allclose(found, expected, rtol=0, atol=5e-6)


def check_mdtraj(folder):
    """Areas and angles by MDTraj and by md, whose points on spheres differ."""
    lines = {words[0]: words[1:] for words in rows(example(folder, "mdtraj_analysis", "out/trajectory.h5md")) if words}
    found = np.array([lines[name] for name in ("ACE1", "ALA2", "NME3")], dtype=float)
    with h5py.File(folder / "sasa.h5") as results:
        np.testing.assert_allclose(found[:, 2], results["sasa_residue_mean"], rtol=5e-3)
    with h5py.File(folder / "dihedrals.h5") as results:
        radians = [np.radians(results[name][:, 0].astype(float)) for name in ("phi", "psi")]
    expected = [np.degrees(np.arctan2(np.sin(values).sum(), np.cos(values).sum())) for values in radians]
    np.testing.assert_allclose(found[1, :2], expected, rtol=0, atol=0.02)
    assert np.isnan(found[[0, 2], :2]).all()


def check_energies(folder):
    """Means and drift in the summary of md; errors by numpy."""
    text = example(folder, "energies_pandas", "out/energies.csv")
    stages = [part.splitlines() for part in text.split("stage ")[1:]]
    summary = json.loads((folder / "out/summary.json").read_text(encoding="utf-8"))["stages"]
    with open(folder / "out/energies.csv", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert len(stages) == len(summary) == 2
    for number, (stage, averages) in enumerate(zip(stages, summary), 1):
        averages = {entry["name"]: entry for entry in averages["averages"]}
        for name in ("potential (kJ/mol)", "temperature (K)", "pressure (bar)", "density (g/cm^3)"):
            values = np.array([float(line[name]) for line in lines if line["stage"] == str(number)])
            blocks = np.array_split(values[len(values) % 5 :], 5)
            error = np.std([block.mean() for block in blocks], ddof=1) / np.sqrt(5)
            line = next(line for line in stage if line.startswith(name))
            found = [float(word) for word in line[len(name) :].split()]
            np.testing.assert_allclose(found, [averages[name.split()[0]]["mean"], error], rtol=1e-5, atol=1e-9)
        line = next(line for line in stage if line.startswith("drift"))
        np.testing.assert_allclose(float(line.split()[-2]), averages["conserved"]["drift"], rtol=1e-4)


def check_results(folder):
    """Means of series over time, and their correlation, by numpy."""
    text = example(folder, "results_xarray", "rg.h5", "rmsd.h5", "rmsf.h5")
    values = {}
    for name in ("rg", "rmsd", "rmsf"):
        with h5py.File(folder / f"{name}.h5") as results:
            values[name] = results[name][:]
    lines = rows(text)
    assert lines[0] == [str(FRAMES), "frames"]
    means = next(words for words in lines if words[:1] == ["mean"])[1:]
    np.testing.assert_allclose(np.array(means, float), [values["rg"].mean(), values["rmsd"].mean()], atol=1e-6)
    correlation = next(words for words in reversed(lines) if words[:2] == ["rg", "(nm)"] and len(words) == 4)[3]
    np.testing.assert_allclose(float(correlation), np.corrcoef(values["rg"], values["rmsd"])[0, 1], atol=1e-6)
    fluctuation = next(words for words in lines if words[:2] == ["rmsf", "(nm):"])
    np.testing.assert_allclose(float(fluctuation[3].rstrip(",")), values["rmsf"].mean(), rtol=1e-5)


def check_surface(folder):
    """Free energies of the fullest bins by counting lines of dihedrals.csv."""
    found = table(example(folder, "free_energy_surface", "dihedrals.h5", "--temperature", "310"), 3)
    with open(folder / "dihedrals.csv", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    counts = {}
    for line in lines:
        angles = [float(value) for name, value in line.items() if name.startswith(("phi", "psi"))]
        center = tuple(10 * (angle // 10) + 5 for angle in angles)
        counts[center] = counts.get(center, 0) + 1
    assert len(lines) == FRAMES and len(counts) > 2
    largest = max(counts.values())
    for phi, psi, energy in found[np.isfinite(found[:, 2])]:
        expected = 0.00831446 * 310 * np.log(largest / counts[phi, psi])
        assert abs(energy - expected) < 1e-4, (phi, psi, energy, expected)


def run_scripts(md, folder):
    """Runs the simulation, its analysis, and each script."""
    system = ROOT / "inputs/ala2-water/ala2-water"
    (folder / "input.toml").write_text(INPUT.format(system=system), encoding="utf-8")
    run(folder, md, "run", "--quiet", "input.toml")
    analysis = ["rmsd", "--select", "backbone", "rg", "rmsf", "dihedrals", "sasa"]
    run(folder, md, "analyze", *analysis, "--no-plots", "out/trajectory.h5md")
    checks = [check_rmsd, check_mdtraj, check_energies, check_results, check_surface]
    for check in checks:
        check(folder)
        print(f"{check.__name__}: same", flush=True)


def run_notebook(name):
    """Runs the cells of a notebook, and then its checks."""
    notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert notebook.nbformat_minor >= 5 and not any(cell.outputs or cell.execution_count for cell in code), name
    lines = "\n".join(line[8:] for line in NOTEBOOK_CHECKS[name].splitlines())
    notebook.cells.append(nbformat.v4.new_code_cell(lines))
    resources = {"metadata": {"path": str(EXAMPLES)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    pictures = [output for cell in code for output in cell.outputs if "image/png" in output.get("data", {})]
    assert pictures, f"{name} has no picture"
    print(f"{name}: ran", flush=True)


def main(md, folder):
    os.environ |= {"MD": md, "IPYTHONDIR": str(folder / "ipython"), "JUPYTER_RUNTIME_DIR": str(folder / "jupyter")}
    # use the Jupyter kernel of this interpreter, not another kernel of the same name
    os.environ |= {"JUPYTER_PREFER_ENV_PATH": "1", "JUPYTER_DATA_DIR": str(folder / "jupyter")}
    # leave no files in the folder of the examples; print UTF-8 in any locale
    os.environ |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}
    os.environ.pop("MPLBACKEND", None)
    with ThreadPoolExecutor(2) as pool:
        tasks = [pool.submit(run_scripts, md, folder), pool.submit(lambda: [*map(run_notebook, NOTEBOOK_CHECKS)])]
        for task in tasks:
            task.result()
    scripts = {path.stem for path in EXAMPLES.glob("*.py")}
    notebooks = {path.stem for path in EXAMPLES.glob("*.ipynb")}
    assert scripts == {path.stem for path in folder.glob("*.png")} and notebooks == set(NOTEBOOK_CHECKS)


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve())
