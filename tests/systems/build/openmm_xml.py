"""Serialises test systems as OpenMM's XML: python openmm_xml.py NAME…

writes NAME/NAME.xml.xz of the prmtop, without constraints; energies and forces are those of NAME/ref.json.
"""

import lzma
import os
import sys
import tempfile

import openmm as mm
from openmm import app

from reference import turn_lone_pairs

HERE = os.path.dirname(os.path.abspath(__file__))


def main(name):
    folder = os.path.join(HERE, "..", name)
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, name + ".prmtop")
        with lzma.open(os.path.join(folder, name + ".prmtop.xz")) as packed, open(path, "wb") as plain:
            plain.write(packed.read())
        prmtop = app.AmberPrmtopFile(path)
    method = app.PME if prmtop.topology.getPeriodicBoxVectors() else app.NoCutoff
    system = prmtop.createSystem(nonbondedMethod=method, constraints=None, rigidWater=False)
    turn_lone_pairs(system)
    with lzma.open(os.path.join(folder, name + ".xml.xz"), "wb", preset=9 | lzma.PRESET_EXTREME) as packed:
        packed.write(mm.XmlSerializer.serialize(system).encode())


for name in sys.argv[1:]:
    main(name)
