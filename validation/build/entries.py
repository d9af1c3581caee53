#!/usr/bin/env python3
"""Builds every entry below some folders with `md build`, and compares the energies with OpenMM.

  python3 validation/build/entries.py FOLDER... [--md target/release/md] [--atoms 6000] [--forcefield amber14] [--hetero]

Each PDB and PDBx/mmCIF file is built in vacuum without hetero groups. For systems of up to --atoms atoms, the potential
energy of `md energy` in double precision is compared with that of OpenMM's ForceField.createSystem (Reference platform, no
cutoff) for the same force field and the positions in system.pdb. Prints a line for each file, and a table of the reasons of
refusals. Ends with 1 if an energy differs by more than 1e-6 or the program ends abnormally. Needs the package openmm.

With --hetero, hetero groups are kept, and the energies of glycoproteins are compared, too.

With --salt "Mg2+,Cl-,0.15 M", each entry is built in water with this salt, at a padding of 0.5 nm. The energy is that of the
molecules of the cell without periodic images.
"""

import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time

TOLERANCE = 1e-6  # relative, as in the issue of force fields: rounding of double precision is 1e-12
ENDINGS = re.compile(r"\.(pdb|ent|cif|mmcif)(\.gz|\.bz2|\.xz)?$")
FIELDS = {
    "amber14": ["amber14-all.xml", "amber14/tip3p.xml"],
    "amber19": ["amber19-all.xml", "amber14/tip3p.xml"],
    "charmm36": ["charmm36_2024.xml", "charmm36_2024/water.xml"],
}
REASONS = {
    "missing between": "a loop is missing",
    "lacks": "heavy atoms are missing",
    "bonds of": "the bonds of a molecule are unknown",
    "no template": "no template of the force field matches",
    "neither a PDB": "not an entry",
    "no atoms": "no atoms",
}


def energy(folder, field, pdb, hetero):
    """Potential energy with OpenMM for the positions of a PDB or PDBx/mmCIF file, kJ/mol."""
    from openmm import Context, Platform, VerletIntegrator, unit
    from openmm.app import AmberPrmtopFile, ForceField, NoCutoff, PDBFile, PDBxFile

    pdb = (PDBxFile if pdb.endswith(".cif") else PDBFile)(str(folder / pdb))
    # an AMBER topology has harmonic terms for the bonds of water, and a GROMACS topology has rigid water without these
    # terms
    rigid = not (folder / "system.prmtop").exists()
    # OpenMM knows the bonds of sugars only from a topology, and its force field of sugars has other caps of peptides
    topology = AmberPrmtopFile(str(folder / "system.prmtop")).topology if hetero else pdb.topology
    files = [*FIELDS[field], *(["amber14/GLYCAM_06j-1.xml"] if hetero else [])]
    system = ForceField(*files).createSystem(topology, nonbondedMethod=NoCutoff, constraints=None, rigidWater=rigid)
    context = Context(system, VerletIntegrator(0.001), Platform.getPlatformByName("Reference"))
    context.setPositions(pdb.positions)
    return context.getState(getEnergy=True).getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole)


def without_cell(md, folder):
    """Writes a topology, a PDB file and an input without cell."""
    topology = next(name for name in ["system.prmtop", "system.top"] if (folder / name).exists())
    if topology == "system.prmtop":
        subprocess.run([md, "convert", folder / topology, folder / "bare.top"], check=True, capture_output=True)
        (folder / topology).unlink()
    else:
        shutil.copy(folder / topology, folder / "bare.top")
    lines = (folder / "system.pdb").read_text().splitlines(keepends=True)
    (folder / "bare.pdb").write_text("".join(line for line in lines if not line.startswith("CRYST1")))
    head = (folder / "input.toml").read_text().split("[[stage]]")[0].split("[forces]")[0]
    forces = '[forces]\ncutoff = "none"\nelectrostatics = "plain"\n'
    stage = '[[stage]]\nname = "minimize"\nkind = "minimize"\n'
    (folder / "bare.toml").write_text(head.replace(topology, "bare.top") + forces + stage)


def attempt(md, path, folder, options):
    """Returns the outcome of a file in words, the category of a refusal, and whether all is well."""
    shutil.rmtree(folder, ignore_errors=True)
    started = time.monotonic()
    cell = ["--vacuum"]
    if options.salt:
        cation, anion, concentration = options.salt.split(",")
        cell = ["--padding", "0.5 nm", "--cation", cation, "--anion", anion, "--salt", concentration]
    wishes = [*cell, *([] if options.hetero else ["--drop-hetero"]), "--forcefield", options.forcefield, "-o", folder]
    done = subprocess.run([md, "build", path, *wishes], capture_output=True, text=True)
    seconds = time.monotonic() - started
    if done.returncode != 0:
        words = " ".join(re.sub(r"[│×]", " ", done.stderr).split())
        reason = next((reason for key, reason in REASONS.items() if key in words), "other")
        return f"refused, {reason}: {words[:160]}", reason, done.returncode == 2
    atoms = json.loads((folder / "build.json").read_text())["atoms"]
    if atoms > options.atoms:
        return f"built, {atoms} atoms, {seconds:.1f} s; not compared", "built", True
    # the names of some chains do not fit into a PDB file
    source, pdb = "input.toml", next(name for name in ["system.pdb", "system.cif"] if (folder / name).exists())
    if options.salt:
        without_cell(md, folder)
        source, pdb = "bare.toml", "bare.pdb"
    settings = [f'system.coordinates="{pdb}"', 'run.precision="double"', 'forces.lj_modifier="none"']
    settings = [word for setting in settings for word in ("--set", setting)]
    subprocess.run([md, "energy", folder / source, "--json", folder / "energy.json", *settings], check=True, capture_output=True)
    ours = json.loads((folder / "energy.json").read_text())["energies"]["potential"]
    try:
        theirs = energy(folder, options.forcefield, pdb, options.hetero)
    except Exception as error:  # noqa: BLE001, the reason is printed
        return f"built, {atoms} atoms, {seconds:.1f} s; OpenMM: {str(error)[:100]}", "built", True
    off = abs(ours - theirs) / max(abs(theirs), 1.0)
    return f"built, {atoms} atoms, {seconds:.1f} s; energy off by {off:.0e}", "built", off <= TOLERANCE


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--md", type=pathlib.Path, default=pathlib.Path("target/release/md"))
    parser.add_argument("--atoms", type=int, default=6000)
    parser.add_argument("--salt", metavar="CATION,ANION,CONCENTRATION")
    parser.add_argument("--hetero", action="store_true")
    parser.add_argument("--forcefield", choices=FIELDS, default="amber14")
    options = parser.parse_args()
    out = pathlib.Path(__file__).resolve().parent / "out"
    out.mkdir(exist_ok=True)
    files = sorted(path for folder in options.folders for path in folder.rglob("*") if ENDINGS.search(path.name))
    counts, good = collections.Counter(), True
    for path in files:
        words, category, holds = attempt(options.md.resolve(), path, out / "system", options)
        counts[category] += 1
        good &= holds
        print(f"{'' if holds else 'FAILED '}{path.name}: {words}", flush=True)
    for category, count in counts.most_common():
        print(f"{count:5} {category}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
