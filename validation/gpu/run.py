#!/usr/bin/env python3
"""Everything that awaits a GPU, in one command: parity, memory checks, drift, restarts, bits, methods, ns/day.

  python3 validation/gpu/run.py [--md target/release/md] [--device cuda] [--only parity,speed] [--picoseconds 100]

Writes validation/gpu/results/DATE-GPU.md to commit, and all runs below validation/gpu/out/. Ends with 1 where a check
fails. Needs numpy, the NVIDIA driver with libnvrtc and libcufft, and compute-sanitizer for the memory checks (skipped
without, which the report says).
"""

import argparse
import csv
import datetime
import json
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OUT = HERE / "out"

FORCE = 2e-5  # RMS force error over RMS force: the project's bar for interactions in f32
ENERGY = 1e-6  # energy error over the sum of the absolute terms
JUMP = 1e-5  # of the kinetic energy: conserved energy across a change of device, lists and constraints made anew
SYSTEMS = ["peptide-vacuum", "water", "peptide-ff19sb", "peptide-charmm36", "peptide-nbfix", "octahedron", "salt-displaced"]
SYSTEMS += ["tip4pew", "tip5p", "opc"]
SWITCHES = ["force-switch", "potential-switch"]
SANITIZERS = ["memcheck", "racecheck", "initcheck", "synccheck"]


class Report:
    """Lines of the result file, and whether every check held."""

    def __init__(self):
        self.lines, self.good = [], True

    def say(self, line):
        print(line, flush=True)
        self.lines.append(line)

    def check(self, holds, line):
        self.good &= bool(holds)
        self.say(f"- {'ok' if holds else '**FAILED**'}: {line}")


class Failed(Exception):
    """A program that could not do its work, in its own words."""


def command(arguments, accept=(0,)):
    """Output of a program."""
    line = " ".join(map(str, arguments))
    try:
        done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    except OSError as error:
        raise Failed(f"{line}: {error.strerror}") from error
    if done.returncode not in accept:
        raise Failed(f"{line} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def quoted(value):
    return json.dumps(str(value))


def write_input(path, system, forces, stages="", periodic=True):
    """An input file for one of the test systems."""
    folder = ROOT / "tests" / "systems" / system
    cutoff = 'cutoff = "0.9 nm"\nlj_modifier = "potential-shift"\npme = { spacing = "0.1 nm" }' if periodic else 'cutoff = "none"\nelectrostatics = "plain"'
    text = f"""[system]
topology = {quoted(folder / f'{system}.prmtop.xz')}
coordinates = {quoted(folder / f'{system}.rst7.xz')}
[forces]
{cutoff}
{forces}
[output]
directory = "out"
trajectory = "none"
energies = {{ every = "20 fs" }}
{stages}"""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def energy(md, source, where, settings):
    """Energies and forces of a single point."""
    where.mkdir(parents=True, exist_ok=True)
    options = [option for setting in settings for option in ("--set", setting)]
    command([md, "energy", source, "--json", where / "energy.json", "--forces", where / "forces.npy", *options])
    return json.loads((where / "energy.json").read_text()), np.load(where / "forces.npy")


def parity(report, md, device):
    report.say("\n## Forces and energies against the double-precision reference\n")
    sources = [(name, OUT / "parity" / name / "input.toml", []) for name in SYSTEMS]
    for name, source, _ in sources:
        write_input(source, name, "", periodic=name != "peptide-vacuum")
    charmm = OUT / "parity" / "peptide-charmm36" / "input.toml"
    switched = [(f"{charmm.parent.name} with {kind}", charmm, [f'forces.lj_modifier="{kind}"', 'forces.lj_switch="0.7 nm"']) for kind in SWITCHES]
    for name, source, settings in [*sources, *switched, ("dhfr", ROOT / "inputs" / "dhfr" / "input.toml", [])]:
        where = OUT / "parity" / name
        exact, forces = energy(md, source, where / "double", ['run.precision="double"', *settings])
        ours, found = energy(md, source, where / "gpu", [f'run.device="{device}"', *settings])
        off = np.sqrt(np.mean((found - forces) ** 2) / np.mean(forces**2))
        parts = {"lj_14", "dispersion_correction", "coulomb_14", "coulomb_reciprocal", "potential"}
        scale = sum(abs(v) for k, v in exact["energies"].items() if k not in parts)
        worst = max(abs(ours["energies"][k] - v) for k, v in exact["energies"].items()) / scale
        report.check(off <= FORCE and worst <= ENERGY, f"{name}: forces {off:.1e}, worst energy term {worst:.1e}")


def dynamics(coupling="", steps=400):
    return f"""[[stage]]
name = "run"
kind = "dynamics"
duration = "{steps * 2} fs"
timestep = "2 fs"
{coupling}"""


THERMOSTAT = 'thermostat = { kind = "v-rescale", temperature = "300 K", coupling_time = "0.5 ps" }'
LANGEVIN = 'thermostat = { kind = "langevin", temperature = "300 K", friction = "5 1/ps" }'
BAROSTAT = 'barostat = { kind = "c-rescale", pressure = "1 bar", coupling_time = "2 ps" }'
MEMBRANE = 'barostat = { kind = "c-rescale", coupling = "semi-isotropic", surface_tension = "20 mN/m", coupling_time = "2 ps" }'
TRIALS = 'barostat = { kind = "monte-carlo", coupling = "anisotropic", every = 9 }'
RELEASED = 'position_restraints = { select = "resid 1", force_constant = [["0 ps", "2000 kJ/mol/nm^2"], ["0.7 ps", "0 kJ/mol/nm^2"]] }'

UMBRELLA = """restraints = [
    { kind = "torsion", groups = ["index 4", "index 6", "index 8", "index 14"], at = "-60 deg", force_constant = "200 kJ/mol/rad^2" },
    { kind = "distance", groups = ["resid 1", "resid 3"], force_constant = "2000 kJ/mol/nm^2", rate = "0.2 nm/ps" },
]"""


def run(md, source, where, device, *options):
    return command([md, "run", source, "--quiet", "--output-dir", where, "--device", device, *options], accept=(0, 3))


def summary(where):
    return json.loads((where / "summary.json").read_text())


SANITIZED = {"peptide-ff19sb": f"{THERMOSTAT}\n{BAROSTAT}\n{RELEASED}\n{UMBRELLA}", "tip4pew": f"{LANGEVIN}\n{MEMBRANE}", "octahedron": f"{LANGEVIN}\n{TRIALS}"}


def sanitizers(report, md, device):
    report.say("\n## compute-sanitizer\n")
    program = shutil.which("compute-sanitizer")
    if program is None:
        report.check(False, "compute-sanitizer was not found: nothing was checked")
        return
    for system, coupling in SANITIZED.items():
        source = OUT / "sanitizer" / system / "input.toml"
        write_input(source, system, 'constraints = "h-bonds"', dynamics(coupling, 30))
        sanitize(report, md, device, program, source, system)


def sanitize(report, md, device, program, source, system):
    for tool in SANITIZERS:
        where = source.parent / tool
        shutil.rmtree(where, ignore_errors=True)
        line = [program, "--tool", tool, "--error-exitcode", "9", md, "run", source, "--quiet"]
        done = subprocess.run([*map(str, line), "--output-dir", where, "--device", device], capture_output=True, text=True)
        (source.parent / f"{tool}.log").write_text(done.stdout + done.stderr)
        words = re.findall(r"ERROR SUMMARY: .*|RACECHECK SUMMARY: .*", done.stdout + done.stderr)
        report.check(done.returncode == 0, f"{system}, {tool}: {words[-1] if words else f'ended with {done.returncode}'}")


# short enough to end within the first part of a run in parts
MINIMIZE = '[[stage]]\nname = "minimize"\nkind = "minimize"\nsteps = 30\n'


# by case: system, lines of [forces], lines of couplings
BITS = {
    "h-bonds": ("octahedron", 'constraints = "h-bonds"', f"{THERMOSTAT}\n{BAROSTAT}"),
    "all-bonds": ("octahedron", 'constraints = "all-bonds"', f"{THERMOSTAT}\n{BAROSTAT}"),
    "lists by displacement": (
        "octahedron",
        'constraints = "h-bonds"\nlist = { buffer = "0.1 nm" }',
        f"{THERMOSTAT}\n{BAROSTAT}\n{RELEASED}",
    ),
    "langevin dynamics": ("octahedron", 'constraints = "h-bonds"', f"{LANGEVIN}\n{BAROSTAT}"),
    "virtual sites": ("tip4pew", "", f"{LANGEVIN}\n{BAROSTAT}"),
    "semi-isotropic barostat": ("tip4pew", "", f"{THERMOSTAT}\n{MEMBRANE}"),
    "Monte Carlo barostat": ("octahedron", 'constraints = "h-bonds"', f"{LANGEVIN}\n{TRIALS}"),
    "restraints that are released": ("peptide-ff19sb", 'constraints = "h-bonds"', f"{THERMOSTAT}\n{RELEASED}"),
    "umbrella and pulling": ("peptide-ff19sb", 'constraints = "h-bonds"', f"{THERMOSTAT}\n{BAROSTAT}\n{UMBRELLA}"),
    "pulling, lists by displacement": (
        "peptide-ff19sb",
        'constraints = "h-bonds"\nlist = { buffer = "0.1 nm" }',
        f"{LANGEVIN}\n{RELEASED}\n{UMBRELLA}",
    ),
}


def bits(report, md, device):
    for name, (system, forces, coupling) in BITS.items():
        report.say(f"\n## Same bits, and restarts: {name}\n")
        bits_of(report, md, device, name, system, forces, coupling)


def bits_of(report, md, device, name, system, forces, coupling):
    root = OUT / "bits" / name.replace(" ", "-")
    source = root / "input.toml"
    write_input(source, system, forces, MINIMIZE + dynamics(coupling))
    places = {name: root / name for name in ["whole", "again", "pieces", "gpu-cpu", "cpu-gpu"]}
    for where in places.values():
        shutil.rmtree(where, ignore_errors=True)
    run(md, source, places["whole"], device)
    run(md, source, places["again"], device)
    for steps in ["37", "100", "250", "400"]:
        run(md, source, places["pieces"], device, "--steps", steps)
    hashes = {name: summary(places[name])["final_state_hash"] for name in ["whole", "again", "pieces"]}
    report.check(hashes["whole"] == hashes["again"], "two runs end in the same bits")
    report.check(hashes["whole"] == hashes["pieces"], "a run in four pieces ends in the same bits")
    for name, (first, second) in {"gpu-cpu": (device, "cpu"), "cpu-gpu": ("cpu", device)}.items():
        run(md, source, places[name], first, "--steps", "200")
        run(md, source, places[name], second)
        with open(places[name] / "energies.csv", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["time (ps)"]]
        column = next(key for key in rows[0] if key.startswith("conserved"))
        kinetic = next(key for key in rows[0] if key.startswith("kinetic"))
        conserved = np.array([float(row[column]) for row in rows])
        middle = len(conserved) // 2
        usual = np.abs(np.diff(conserved)).max(initial=0.0, where=np.arange(len(conserved) - 1) != middle - 1)
        jump, scale = abs(conserved[middle] - conserved[middle - 1]), float(rows[0][kinetic])
        report.check(jump <= usual + JUMP * scale, f"{name}: conserved energy jumps by {jump:.3f} kJ/mol, by {usual:.3f} elsewhere")


def drift(report, md, device, picoseconds):
    report.say("\n## Drift of the conserved energy (DHFR, constant energy, 2 fs)\n")
    source = ROOT / "validation" / "nve-drift" / "input.toml"
    length = f'stage.1.duration="{picoseconds} ps"'
    tool = ROOT / "validation" / "nve-drift" / "compare.py"
    for where in [device, "cpu"]:
        folder = OUT / "drift" / where.replace(":", "-")
        shutil.rmtree(folder, ignore_errors=True)
        run(md, source, folder, where, "--set", length)
        words = command([sys.executable, tool, "report", folder / "energies.csv", "--dof", "48381"])
        report.say(f"- {where}: {words.strip()}")
    report.say("- the GPU's drift is to be no more than twice the standard error above the CPU's")


# lines of a stage by method; with all barostats the mean volume must be the same
METHODS = {
    "constant volume": "",
    "c-rescale, isotropic": 'barostat = { kind = "c-rescale", coupling_time = "2 ps" }',
    "c-rescale, semi-isotropic": 'barostat = { kind = "c-rescale", coupling = "semi-isotropic", coupling_time = "2 ps" }',
    "c-rescale, anisotropic": 'barostat = { kind = "c-rescale", coupling = "anisotropic", coupling_time = "2 ps" }',
    "Monte Carlo, isotropic, every 25": 'barostat = { kind = "monte-carlo", every = 25 }',
    "Monte Carlo, anisotropic, every 25": 'barostat = { kind = "monte-carlo", coupling = "anisotropic", every = 25 }',
    "umbrella of a distance": 'restraints = [{ kind = "distance", groups = ["resid 20 and name CA", "resid 100 and name CA"], force_constant = "1000 kJ/mol/nm^2" }]',
}
ERRORS = 4  # combined standard errors by which mean volumes may differ; four comparisons


def methods(report, md, device):
    """Cost of barostats and restraints, and the mean volume with each barostat."""
    report.say("\n## Methods: speed, and mean volume of DHFR (100 ps, the first 20 ps left out)\n")
    dhfr, root = ROOT / "inputs" / "dhfr", OUT / "methods"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    run(md, dhfr / "input.toml", root / "start", device)
    expected = None
    for name, lines in METHODS.items():
        source = root / f"{re.sub(r'[^a-zA-Z0-9]+', '-', name)}.toml"
        source.write_text(f"""[system]
topology = {quoted(dhfr / 'dhfr.prmtop.xz')}
coordinates = {quoted(root / 'start' / 'final.rst7')}
[forces]
cutoff = "0.9 nm"
constraints = "h-bonds"
[output]
trajectory = "none"
energies = {{ every = "0.2 ps" }}
[[stage]]
name = "production"
kind = "dynamics"
duration = "100 ps"
timestep = "2 fs"
thermostat = {{ kind = "v-rescale", temperature = "300 K", coupling_time = "0.5 ps" }}
{lines}
""")
        run(md, source, source.with_suffix(""), device)
        with open(source.with_suffix("") / "energies.csv", newline="") as file:
            volumes = np.array([float(row["volume (nm^3)"]) for row in csv.DictReader(file)])
        means = np.array([block.mean() for block in np.array_split(volumes[len(volumes) // 5 :], 8)])
        mean, error = means.mean(), means.std(ddof=1) / np.sqrt(len(means))
        rate = summary(source.with_suffix(""))["ns_per_day_steady"]
        words = f"{name}: {rate:.0f} ns/day, volume {mean:.3f} ± {error:.3f} nm³"
        if "barostat" not in lines or expected is None:
            expected = (mean, error) if "barostat" in lines else expected
            report.say(f"- {words}")
        else:
            off = abs(mean - expected[0]) / np.hypot(error, expected[1])
            report.check(off <= ERRORS, f"{words}, {off:.1f} errors from the isotropic barostat")


def speed(report, md, device):
    report.say("\n## ns/day\n")
    options = ["--device", device, "--markdown", "--phases", "--json", OUT / "bench.json"]
    report.say(command([md, "bench", *options]).strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--md", type=pathlib.Path, default=ROOT / "target" / "release" / "md")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--only", default="parity,sanitizers,bits,methods,drift,speed")
    parser.add_argument("--picoseconds", type=int, default=100)
    options = parser.parse_args()
    OUT.mkdir(exist_ok=True)
    report, md, today = Report(), options.md.resolve(), datetime.date.today().isoformat()
    number = options.device.partition(":")[2] or "0"
    query = ["--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    try:
        gpu = command(["nvidia-smi", "--id", number, *query]).strip()
        version = command([md, "--version"]).strip()
    except Failed as failed:
        sys.exit(str(failed))
    report.say(f"# {today}, {gpu}\n\n{version}, device {options.device}")
    steps = {
        "parity": lambda: parity(report, md, options.device),
        "sanitizers": lambda: sanitizers(report, md, options.device),
        "bits": lambda: bits(report, md, options.device),
        "methods": lambda: methods(report, md, options.device),
        "drift": lambda: drift(report, md, options.device, options.picoseconds),
        "speed": lambda: speed(report, md, options.device),
    }
    chosen = options.only.split(",")
    if unknown := set(chosen) - set(steps):
        sys.exit(f"--only takes {', '.join(steps)}, not {', '.join(sorted(unknown))}")
    for name in chosen:
        # a step that fails is reported, and the other steps continue
        try:
            steps[name]()
        except Failed as failed:
            report.check(False, f"{name} was cut short: {failed}")
    (HERE / "results").mkdir(exist_ok=True)
    name = re.sub(r"[^A-Za-z0-9]+", "-", gpu.split(",")[0]).strip("-").lower()
    (HERE / "results" / f"{today}-{name}.md").write_text("\n".join(report.lines) + "\n")
    sys.exit(0 if report.good else 1)


if __name__ == "__main__":
    main()
