"""Writes residues.txt.xz, the table of standard residues, from residues.xml and pdbNames.xml of OpenMM.

python residues.py OPENMM/app/data   (the folder of the installed Python package openmm)

Lines of the table:
  residue NAME KIND ALIAS...   a residue with its kind (protein, nucleic or water) and its other names
  bond ATOM ATOM               a bond of the residue; a name with - is of the residue before
  atom NAME ALIAS...           other names of an atom of the residue
"""

import lzma
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

folder = pathlib.Path(sys.argv[1])
names = ElementTree.parse(folder / "pdbNames.xml").getroot()


def aliases(element):
    """Other names of a residue or an atom; one attribute of OpenMM's file has its letters exchanged (atl2)."""
    return [value for key, value in element.attrib.items() if key.startswith(("alt", "atl"))]


def atoms(element):
    return {atom.get("name"): aliases(atom) for atom in element.findall("Atom")}


common = {element.get("name"): atoms(element) for element in names if element.get("name") in ("Protein", "Nucleic")}
named = {element.get("name"): element for element in names}
lines = []
for residue in ElementTree.parse(folder / "residues.xml").getroot():
    name = residue.get("name")
    element = named.get(name)
    kind = (element.get("type") if element is not None else None) or ("water" if name == "HOH" else "protein")
    other = aliases(element) if element is not None else []
    lines.append(" ".join(["residue", name, kind.lower(), *other]))
    bonds = [(bond.get("from"), bond.get("to")) for bond in residue.findall("Bond")]
    lines += [f"bond {a} {b}" for a, b in bonds]
    here = {atom for bond in bonds for atom in bond}
    known = {**common.get(kind, {}), **(atoms(element) if element is not None else {})}
    lines += [" ".join(["atom", atom, *other]) for atom, other in known.items() if atom in here]
text = "\n".join(lines) + "\n"
path = pathlib.Path(__file__).parent / "residues.txt.xz"
path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME, check=lzma.CHECK_CRC32))
