"""Do the files say what the generating force field says? Total energies of both, and of their force groups."""

import os

import openmm as mm
from openmm import app

import build
import reference
from common import HERE, NM

# charges of a CHAMBER file have an error of 5.8e-5, because ParmEd multiplies by √332.0716 and readers divide by
# 18.2223
GENERATED_BY = {
    "peptide-vacuum": build.FF14SB,
    "peptide-charged": build.FF14SB,
    "peptide-ff19sb": build.FF19SB,
    "peptide-charmm36": build.CHARMM,
    "octahedron": build.FF14SB,
    "water": build.FF14SB,
}


def terms(system, positions, box):
    """Energy of each force, Lennard-Jones tails included."""
    for group, force in enumerate(system.getForces()):
        force.setForceGroup(group)
        if isinstance(force, mm.NonbondedForce) and box is not None:
            force.setPMEParameters(reference.alpha(reference.ERROR), *reference.grid(box, reference.ERROR))
        if isinstance(force, mm.CustomNonbondedForce):
            force.setUseLongRangeCorrection(True)
    made = reference.context(system, positions, box)
    return reference.energy(made), {f.getName(): reference.energy(made, i) for i, f in enumerate(system.getForces())}


for name, files in GENERATED_BY.items():
    folder = os.path.join(HERE, "..", name)
    state = app.AmberInpcrdFile(reference.unpacked(folder, ".rst7"))
    vectors = state.boxVectors
    file = app.AmberPrmtopFile(reference.unpacked(folder, ".prmtop"), periodicBoxVectors=vectors)
    box = None if vectors is None else [[float(x) for x in v.value_in_unit(NM)] for v in vectors]
    method = {"nonbondedMethod": app.PME, "nonbondedCutoff": reference.CUTOFF * NM} if box else {}
    flexible = {"constraints": None, "rigidWater": False, "removeCMMotion": False}
    generated = app.ForceField(*files).createSystem(file.topology, **method, **flexible)
    (a, parts_a), (b, parts_b) = (terms(s, state.positions, box) for s in (reference.create(file, box), generated))
    print(f"{name}: {a - b:+.1e} kJ/mol of {a:.3f}")
    if abs(a - b) > 1e-3:
        print("  file     ", {k: round(v, 5) for k, v in parts_a.items()})
        print("  generator", {k: round(v, 5) for k, v in parts_b.items()})
