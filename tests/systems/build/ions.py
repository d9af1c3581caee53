"""A peptide with ions of 12-6-4 models: ../ions/ions.prmtop.xz, ions.rst7.xz, ref.json and forces_5e-04.npy.

Six waters of ../peptide-charged become magnesium, sodium and chloride, whose r^-4 terms ParmEd's add12_6_4 adds (Li and
Merz, J. Chem. Theory Comput. 10, 289 (2014); Li, Song and Merz, J. Chem. Theory Comput. 11, 1645 (2015)). OpenMM's Reference
platform computes them in a CustomNonbondedForce.

usage: ions.py
"""

import lzma
import os
import tempfile

import parmed
import reference
from parmed.tools import add12_6_4, addLJType, change, strip

HERE = os.path.dirname(os.path.abspath(__file__))
# element, charge, mass, radius R_min/2 (Å) and well depth (kcal/mol) of the 12-6-4 sets for TIP3P
IONS = [("Mg", 12, 2.0, 24.305, 1.437, 0.02257962), ("Na", 11, 1.0, 22.99, 1.432, 0.02154025)]
IONS += [("Cl", 17, -1.0, 35.453, 2.150, 0.53154665)]
# polarisabilities (Å³) by atom type: water from its model, elements by Miller (J. Am. Chem. Soc. 112, 8533 (1990)),
# ions approximately
POLARISABILITIES = {"O2": 1.444, "H4": 0.0, "C": 1.352, "N": 1.09, "O": 0.569, "H": 0.387, "M": 0.12, "NA": 0.25, "CL": 3.25}


def polarisability(name):
    """That of a type, or of the element that begins its name."""
    upper = name.rstrip("+-").rstrip("0123456789").upper()
    return POLARISABILITIES.get(name, POLARISABILITIES.get(upper, POLARISABILITIES.get(upper[0])))


def make(folder):
    """The topology and coordinates."""
    source = os.path.join(HERE, "..", "peptide-charged")
    system = parmed.load_file(reference.unpacked(source, ".prmtop"), reference.unpacked(source, ".rst7"))
    waters = [residue.idx + 1 for residue in system.residues if residue.name == "HOH"]
    chosen = waters[5::40][:6]
    strip(system, f":{','.join(map(str, chosen))}&@H1,H2").execute()
    for number, (name, element, charge, mass, radius, depth) in enumerate(IONS):
        mask = f":{chosen[number]},{chosen[number + 3]}"
        for key, value in [("CHARGE", charge), ("MASS", mass), ("ATOMIC_NUMBER", element), ("ATOM_NAME", name)]:
            change(system, key, mask, value).execute()
        change(system, "AMBER_ATOM_TYPE", mask, f"{name}{abs(charge):.0f}{'+' if charge > 0 else '-'}").execute()
        addLJType(system, mask, "radius", radius, "epsilon", depth).execute()
        for residue in (chosen[number], chosen[number + 3]):
            system.residues[residue - 1].name = name.upper()
    with tempfile.NamedTemporaryFile("w", suffix=".dat") as table:
        for name in sorted(set(system.parm_data["AMBER_ATOM_TYPE"])):
            table.write(f"{name} {polarisability(name)}\n")
        table.flush()
        add12_6_4(system, ":MG,NA,CL", "watermodel", "TIP3P", "polfile", table.name).execute()
    system.remake_parm()
    os.makedirs(folder, exist_ok=True)
    for suffix, form in [(".prmtop", "amber"), (".rst7", "rst7")]:
        plain = os.path.join(folder, "ions" + suffix)
        system.save(plain, format=form, overwrite=True)
        with open(plain, "rb") as file, lzma.open(plain + ".xz", "wb", preset=9) as packed:
            packed.write(file.read())
        os.remove(plain)


if __name__ == "__main__":
    target = os.path.join(HERE, "..", "ions")
    make(target)
    reference.main(target)
