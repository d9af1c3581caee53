#!/usr/bin/env python3
"""Forecast of the speed on many nodes, beside published measurements of GROMACS.

  python3 validation/performance/scaling.py FOLDER [--md target/release/md] [--picture docs/scaling.svg]

Measures one step of 155,008 atoms and of 1,507,712 atoms (64 copies of DHFR, written to FOLDER) with the settings of the
GROMACS runs: cutoff 1.2 nm, force switch from 1.0 nm, PME with 0.12 nm and order 4, 2 fs. `md bench --ranks --cores`
forecasts the speed on 1 to 64 nodes of 64 such cores. Prints a table, and draws the speeds.
"""

import argparse
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
# ns/day of GROMACS 2022.4 on ARCHER2 (two AMD EPYC 7742 with 64 cores each per node, Zen 2, AVX2), by number of nodes:
# the fastest of all divisions into ranks and threads. Computed from the run logs of
# https://github.com/HECBioSim/benchmark-results, commit 64f6b3b2, folder archer/gromacs. All have a cutoff of 1.2 nm,
# a force switch from 1.0 nm, PME with 0.12 nm and order 4, 2 fs, a barostat, and a pair search every 10 steps.
GROMACS = {
    "69,866 atoms": {1: 116.8, 2: 212.0, 3: 308.6, 4: 353.2, 6: 346.0, 8: 377.2, 16: 291.2},
    "465,399 atoms": {1: 14.9, 2: 28.9, 3: 41.3, 4: 52.2, 6: 70.6, 8: 81.6, 10: 110.4, 16: 88.8},
    "1,403,180 atoms": {1: 6.15, 2: 12.1, 3: 18.9, 4: 22.8, 6: 34.5, 8: 41.1, 10: 50.0, 16: 67.6},
}
CORES_OF_GROMACS_NODE = 128

NODES = [1, 2, 4, 8, 16, 32, 64]
CORES = 64  # of a node
RANK = 16  # cores of a rank
# latency (us) and bandwidth (GB/s) of a rank: each node of ARCHER2 has 2 x 12.5 GB/s for 128 cores, of which a rank of 16
# cores has an eighth; messages inside a node are taken to be as slow
NETWORK = "2,3.1"

INPUT = """[system]
topology    = "{topology}"
coordinates = "{coordinates}"
[forces]
cutoff      = "1.2 nm"
lj_modifier = "force-switch"
lj_switch   = "1.0 nm"
pme         = {{ spacing = "0.12 nm", order = 4 }}
constraints = "h-bonds"
[[stage]]
name     = "speed"
kind     = "dynamics"
steps    = 1000
timestep = "2 fs"
velocities = "generate"
temperature = "300 K"
thermostat = {{ kind = "v-rescale", temperature = "300 K", coupling_time = "0.1 ps" }}
"""


def inputs(folder):
    """Name and input file of each system; writes the files to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    small, large = ROOT / "inputs/benchmarks/156k", folder / "dhfr-x64"
    if not large.with_suffix(".prmtop").exists():
        dhfr = ROOT / "inputs/dhfr/dhfr"
        subprocess.run(["python3", ROOT / "validation/performance/replicate.py", dhfr, "4", folder], check=True)
    prmtop, rst7 = (next(small.glob(f"*.{suffix}*")) for suffix in ("prmtop", "rst7"))
    for name, topology, coordinates in [
        ("155,008 atoms", prmtop, rst7),
        ("1,507,712 atoms", large.with_suffix(".prmtop"), large.with_suffix(".rst7")),
    ]:
        path = folder / f"{name.split()[0].replace(',', '')}.toml"
        path.write_text(INPUT.format(topology=topology.resolve(), coordinates=coordinates.resolve()))
        yield name, path


def forecast(md, path):
    """ns/day by number of nodes, and the part of a step that limits the speed."""
    ranks = {nodes * CORES // RANK: nodes for nodes in NODES}
    command = [md, "bench", path, "--ranks", ",".join(map(str, ranks)), "--cores", RANK, "--network", NETWORK]
    text = subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True).stdout
    print(text)
    found = {}
    for line in text.splitlines():
        row = re.match(r" +(\d+) +\S.*?domains +([\d.]+) +([\d.]+) % +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)$", line)
        if row:
            parts = dict(zip(["computation", "halo", "mesh", "orders"], map(float, row.groups()[4:])))
            found[ranks[int(row[1])]] = float(row[2]), max(parts, key=parts.get)
    return found


def draw(forecasts, picture):
    """Draws the forecasts of md and the measurements of GROMACS."""
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "scaling", "font.size": 11})
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    for index, (name, speeds) in enumerate(forecasts.items()):
        cores = [CORES * nodes for nodes in speeds]
        label = f"md, {name} (forecast)"
        axes.plot(cores, [speed for speed, _ in speeds.values()], "-o", color=["#0b6e4f", "#1f4e9c"][index], label=label)
    for index, (name, speeds) in enumerate(GROMACS.items()):
        cores = [CORES_OF_GROMACS_NODE * nodes for nodes in speeds]
        color = ["#e0a030", "#d0602f", "#a02040"][index]
        axes.plot(cores, speeds.values(), "--s", color=color, markersize=5, label=f"GROMACS, {name} (measured)")
    axes.set(xscale="log", yscale="log", xlabel="processor cores", ylabel="ns/day")
    axes.set_xticks([CORES * nodes for nodes in NODES], [str(CORES * nodes) for nodes in NODES], minor=False)
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(fontsize=9)
    figure.savefig(picture, format="svg", metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--md", default=ROOT / "target/release/md")
    parser.add_argument("--picture", type=pathlib.Path)
    arguments = parser.parse_args()
    forecasts = {name: forecast(arguments.md, path) for name, path in inputs(arguments.folder)}
    print("| nodes of 64 cores |" + "".join(f" {name}, ns/day | limit |" for name in forecasts))
    print("|---|" + "---|---|" * len(forecasts))
    for nodes in NODES:
        cells = [speeds.get(nodes, ("–", "–")) for speeds in forecasts.values()]
        print(f"| {nodes} |" + "".join(f" {speed} | {limit} |" for speed, limit in cells))
    if arguments.picture:
        draw(forecasts, arguments.picture)


if __name__ == "__main__":
    main()
