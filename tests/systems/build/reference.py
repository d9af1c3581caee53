"""Reference energies and forces of one folder: NAME.prmtop(.xz) + NAME.rst7(.xz) -> ref.json + forces_CASE.npy.

OpenMM's Reference platform, double precision, no constraints, Lennard-Jones plainly truncated. The energy is taken
apart by copies of the non-bonded force that keep only the charges or only the Lennard-Jones parameters, each in a
force group of its own, and is checked against the undivided force field.

usage: reference.py FOLDER...
"""

import json
import lzma
import math
import os
import sys
import tempfile

import numpy as np
import openmm as mm
from openmm import app, unit

CUTOFF = 0.9  # nm
COULOMB = 138.93545764438198  # kJ nm/(mol e²), OpenMM's ONE_4PI_EPS0
ORDER = 5  # the only spline order OpenMM has
ERROR = 5e-4  # everyday accuracy
# the sum of the energy terms must equal the total energy within rounding: 1e-11 of sums of up to 1e5 kJ/mol
SPLIT_TOLERANCE = 1e-6  # kJ/mol
KJ, NM = unit.kilojoule_per_mole, unit.nanometer


def alpha(error):
    """Splitting parameter (1/nm) that OpenMM derives from an Ewald error tolerance."""
    return math.sqrt(-math.log(2.0 * error)) / CUTOFF


def grid(box, error):
    """Grid points: ceil(2 α L / (3 error^(1/5))), then up to a product of 2, 3, 5 and 7."""

    def smooth(n):
        for p in (2, 3, 5, 7):
            while n % p == 0:
                n //= p
        return n == 1

    def size(length):
        n = max(math.ceil(2.0 * alpha(error) * length / (3.0 * error**0.2)), 6)
        while not smooth(n):
            n += 1
        return n

    return [size(box[i][i]) for i in range(3)]


def unpacked(folder, suffix):
    """Path of an uncompressed copy of the file of that kind in `folder`."""
    name = os.path.join(folder, os.path.basename(os.path.normpath(folder)) + suffix)
    if os.path.exists(name):
        return name
    target = os.path.join(tempfile.mkdtemp(), os.path.basename(name))
    with lzma.open(name + ".xz") as packed, open(target, "wb") as plain:
        plain.write(packed.read())
    return target


def impropers(prmtop):
    """One flag per torsion in the order OpenMM adds them: those with hydrogen first."""
    raw = prmtop._prmtop._raw_data
    rows = [int(x) for name in ("INC", "WITHOUT") for x in raw[f"DIHEDRALS_{name}_HYDROGEN"]]
    return [rows[i + 3] < 0 for i in range(0, len(rows), 5)]


def split(system, prmtop, error, box):
    """Every term in a force group of its own; the names of the groups; the undivided non-bonded forces."""
    groups, lj_pairs = {}, None
    name = {mm.HarmonicAngleForce: "angle", mm.CustomTorsionForce: "improper_harmonic", mm.CMAPTorsionForce: "cmap"}

    def add(force, label):
        groups[label] = len(groups)
        force.setForceGroup(groups[label])

    bonds = 0
    for index, force in enumerate(list(system.getForces())):
        kind = type(force)
        if kind in name:
            add(force, name[kind])
        elif kind is mm.HarmonicBondForce:
            add(force, "urey_bradley" if bonds else "bond")
            bonds += 1
        elif kind is mm.CustomNonbondedForce:  # a Lennard-Jones table that no combination rule gives
            lj_pairs = force
            add(force, "lj_nbfix")
        elif kind is mm.PeriodicTorsionForce:
            torsions(system, force, impropers(prmtop), add)
        elif kind is mm.NonbondedForce:
            if box is not None:
                force.setPMEParameters(alpha(error), *grid(box, error))
            charges, lj = (mm.XmlSerializer.clone(force) for _ in range(2))
            keep(charges, charge=True)
            keep(lj, charge=False)
            add(charges, "elec_direct")
            if box is not None:
                groups["elec_recip"] = len(groups)
                charges.setReciprocalSpaceForceGroup(groups["elec_recip"])
                charges.setUseDispersionCorrection(False)
                # without charges the method only determines the cutoff and the dispersion correction
                lj.setNonbondedMethod(mm.NonbondedForce.CutoffPeriodic)
                lj.setReactionFieldDielectric(1.0)
            add(lj, "lj")
            system.addForce(charges)
            system.addForce(lj)
            exceptions = [force.getExceptionParameters(i) for i in range(force.getNumExceptions())]
            whole = index
    system.removeForce(whole)
    return groups, exceptions, lj_pairs


def torsions(system, force, improper, add):
    """Moves the impropers into a force of their own."""
    if len(improper) != force.getNumTorsions():
        raise SystemExit("the torsions of the file and of OpenMM differ in number")
    other = mm.PeriodicTorsionForce()
    for i, is_improper in enumerate(improper):
        *atoms, n, phase, k = force.getTorsionParameters(i)
        if is_improper:
            other.addTorsion(*atoms, n, phase, k)
            force.setTorsionParameters(i, *atoms, n, phase, 0.0)
    add(force, "dihedral_proper")
    add(other, "dihedral_improper")
    system.addForce(other)


def keep(force, charge):
    """Leaves only the charges, or only the Lennard-Jones parameters."""
    for i in range(force.getNumParticles()):
        q, sigma, epsilon = force.getParticleParameters(i)
        force.setParticleParameters(i, q if charge else 0.0, sigma, 0.0 if charge else epsilon)
    for i in range(force.getNumExceptions()):
        a, b, qq, sigma, epsilon = force.getExceptionParameters(i)
        force.setExceptionParameters(i, a, b, qq if charge else 0.0, sigma, 0.0 if charge else epsilon)


def context(system, positions, box):
    """A double-precision context at the given positions."""
    made = mm.Context(system, mm.VerletIntegrator(0.001), mm.Platform.getPlatformByName("Reference"))
    if box is not None:
        made.setPeriodicBoxVectors(*box)
    made.setPositions(positions)
    made.computeVirtualSites()
    return made


def energy(made, group=None):
    """kJ/mol of one group, or of all."""
    chosen = {"groups": {group}} if group is not None else {}
    return made.getState(getEnergy=True, **chosen).getPotentialEnergy().value_in_unit(KJ)


def pairs_14(exceptions, positions):
    """Coulomb and Lennard-Jones energy of the scaled 1-4 pairs, straight from the formulas."""
    coulomb = lennard_jones = 0.0
    for a, b, qq, sigma, epsilon in exceptions:
        r = np.linalg.norm(positions[a] - positions[b])
        s6 = (sigma._value / r) ** 6
        coulomb += COULOMB * qq._value / r
        lennard_jones += 4.0 * epsilon._value * (s6 * s6 - s6)
    return float(coulomb), float(lennard_jones)


def create(prmtop, box):
    """The undivided system, dispersion correction on."""
    method = {"nonbondedMethod": app.PME, "nonbondedCutoff": CUTOFF * NM} if box is not None else {}
    system = prmtop.createSystem(constraints=None, rigidWater=False, removeCMMotion=False, **method)
    for force in system.getForces():
        if isinstance(force, mm.NonbondedForce) and box is not None:
            force.setUseDispersionCorrection(True)
        if isinstance(force, mm.CustomNonbondedForce):
            force.setUseLongRangeCorrection(box is not None)
    turn_lone_pairs(system)
    return system


def turn_lone_pairs(system):
    """OpenMM 8.6.1 reads five-site water from a prmtop with its lone pairs on the side of the hydrogens. Its own force
    field file (tip5p.xml) has them on the other side, as published (doi:10.1063/1.481505)."""
    for i in range(system.getNumParticles()):
        site = system.getVirtualSite(i) if system.isVirtualSite(i) else None
        if isinstance(site, mm.OutOfPlaneSite) and site.getWeight12() > 0.0:
            atoms = [site.getParticle(k) for k in range(3)]
            turned = mm.OutOfPlaneSite(*atoms, -site.getWeight12(), -site.getWeight13(), site.getWeightCross())
            system.setVirtualSite(i, turned)


def without_tail(system):
    """The same system without the dispersion correction."""
    copy = mm.XmlSerializer.clone(system)
    for force in copy.getForces():
        if isinstance(force, mm.NonbondedForce):
            force.setUseDispersionCorrection(False)
        if isinstance(force, mm.CustomNonbondedForce):
            force.setUseLongRangeCorrection(False)
    return copy


def one_case(prmtop, positions, box):
    """The record of one case and its forces."""
    whole_system = create(prmtop, box)
    if box is not None:
        for force in whole_system.getForces():
            if isinstance(force, mm.NonbondedForce):
                force.setPMEParameters(alpha(ERROR), *grid(box, ERROR))
    whole = context(whole_system, positions, box)
    system = create(prmtop, box)
    groups, exceptions, table = split(system, prmtop, ERROR, box)
    parts, bare = context(system, positions, box), context(without_tail(system), positions, box)
    values = {label: energy(parts, group) for label, group in groups.items()}
    coulomb_14, lj_14 = pairs_14(exceptions, np.array(positions.value_in_unit(NM)))
    terms = {k: v for k, v in values.items() if k != "lj"}
    terms["lj_with_dispcorr"] = values["lj"]
    if box is not None:
        terms["lj_no_dispcorr"] = energy(bare, groups["lj"])
        if table is not None:
            terms["lj_nbfix_no_dispcorr"] = energy(bare, groups["lj_nbfix"])
    terms["elec_14"], terms["lj_14"] = coulomb_14, lj_14
    terms["elec_total"] = values["elec_direct"] + values.get("elec_recip", 0.0)
    terms["elec_total_without_14"] = terms["elec_total"] - coulomb_14
    terms["lj_total_without_14"] = values["lj"] + values.get("lj_nbfix", 0.0) - lj_14
    total = energy(whole)
    case = {"method": "NoCutoff" if box is None else "PME", "terms": terms}
    case["sum_minus_total"] = sum(values.values()) - total
    if abs(case["sum_minus_total"]) > SPLIT_TOLERANCE:
        raise SystemExit(f"the parts miss the whole by {case['sum_minus_total']} kJ/mol: {terms}")
    if box is None:
        case["total"] = total
    else:
        periodic(case, total, energy(context(without_tail(whole_system), positions, box)), prmtop, box)
    forces = whole.getState(getForces=True).getForces(asNumpy=True).value_in_unit(KJ / NM)
    # OpenMM has spread the forces of virtual sites to the real atoms but leaves the rows of the sites as they were
    forces[[i for i in range(len(forces)) if whole_system.isVirtualSite(i)]] = 0.0
    case["force_rms"] = float(np.sqrt((forces**2).mean()))  # per component
    case["net_force"] = [float(x) for x in forces.sum(axis=0)]
    return case, forces


def periodic(case, total, bare, prmtop, box):
    """Adds what only a periodic system has."""
    charges = np.array(prmtop._prmtop.getCharges())
    a, volume = alpha(ERROR), float(np.linalg.det(np.array(box)))
    case.update(
        ewald_error_tolerance=ERROR,
        cutoff_nm=CUTOFF,
        lj="plain truncation at cutoff, no shift",
        alpha_per_nm=a,
        grid=grid(box, ERROR),
        spline_order=ORDER,
        lj_dispersion_correction=total - bare,
        total_with_dispcorr=total,
        total_without_dispcorr=bare,
        elec_self_energy_analytic=float(-COULOMB * a / math.sqrt(math.pi) * (charges**2).sum()),
        elec_net_charge_plasma_analytic=float(-COULOMB * math.pi * charges.sum() ** 2 / (2.0 * volume * a * a)),
        sum_q2=float((charges**2).sum()),
    )


def main(folder):
    """Writes ref.json and the forces of one folder."""
    name = os.path.basename(os.path.normpath(folder))
    inpcrd = app.AmberInpcrdFile(unpacked(folder, ".rst7"))
    vectors = inpcrd.boxVectors
    prmtop = app.AmberPrmtopFile(unpacked(folder, ".prmtop"), periodicBoxVectors=vectors)
    box = None if vectors is None else [[float(x) for x in v.value_in_unit(NM)] for v in vectors]
    case, forces = one_case(prmtop, inpcrd.positions, box)
    record = {
        "label": name,
        "atoms": len(forces),
        "units": "kJ/mol, nm, e, ps",
        "platform": "Reference",
        "precision": "double",
        "openmm": mm.version.short_version,
        "coulomb_constant_kJ_nm_per_mol_e2": COULOMB,
        "constraints_in_energy": False,
        "source": f"{name}.prmtop + {name}.rst7",
        "net_charge_e": float(sum(prmtop._prmtop.getCharges())),
    }
    if box is not None:
        record["box_vectors_nm"] = box
        record["volume_nm3"] = float(np.linalg.det(np.array(box)))
    key = "nocutoff" if box is None else "5e-04"
    record["cases"] = {key: case}
    np.save(os.path.join(folder, f"forces_{key}.npy"), forces)
    with open(os.path.join(folder, "ref.json"), "w") as file:
        json.dump(record, file, indent=1)
        file.write("\n")
    print(name, len(forces), {k: round(v, 6) for k, v in case["terms"].items()}, "rms", round(case["force_rms"], 3))


if __name__ == "__main__":
    for path in sys.argv[1:]:
        main(path)
