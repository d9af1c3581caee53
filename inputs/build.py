"""Builds alanine dipeptide, in vacuum and in water: ala2-vacuum/ and ala2-water/ (ff14SB, TIP3P).

Needs OpenMM 8.6 and ParmEd 4.3. DHFR and the water box are files of the field's usual benchmarks, not built here.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "systems", "build"))

import openmm as mm  # noqa: E402
from common import NM, leap_water, relaxed, solvated, structure, write  # noqa: E402
from openmm import app  # noqa: E402
from parmed.amber import AmberParm  # noqa: E402
from peptide import peptide  # noqa: E402

EDGE = 2.8  # nm before the pressure settles


def build(name, **box):
    """Relaxes 20 ps at 300 K (and 1 bar where there is a cell) and writes the folder's prmtop and rst7."""
    forcefield = app.ForceField("amber14/protein.ff14SB.xml", "amber14/tip3p.xml")
    modeller = solvated(forcefield, *peptide(["ALA"]), **box)
    state = relaxed(forcefield, modeller, 20.0, pressure=bool(box))
    made = structure(forcefield, modeller.topology, state)
    write(AmberParm.from_structure(leap_water(made)), os.path.join(HERE, name), name)


if __name__ == "__main__":
    build("ala2-vacuum")
    build("ala2-water", boxSize=mm.Vec3(EDGE, EDGE, EDGE) * NM, neutralize=False)
