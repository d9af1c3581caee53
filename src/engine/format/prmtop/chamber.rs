//! Terms of CHARMM force fields in CHAMBER files: Urey–Bradley distances and harmonic impropers. The sections of CHARMM
//! terms count atoms from 1, whereas the AMBER sections have coordinate pointers.

use super::bonded::{HALF, Rows};
use super::sections::{Parsed, Section, Sections};
use crate::system::{Bond, HarmonicImproper, Topology};
use crate::units::{ANGSTROM, KCAL};

/// Adds the CHARMM terms. The sections with the numbers of CHARMM terms occur in every CHAMBER file, and in no other
/// file.
pub(super) fn read(sections: &Sections<'_>, topology: &mut Topology) -> Parsed<()> {
    urey_bradleys(sections, topology)?;
    harmonic_impropers(sections, topology)
}

fn urey_bradleys(sections: &Sections<'_>, topology: &mut Topology) -> Parsed<()> {
    let Some(counts_section) = sections.get("CHARMM_UREY_BRADLEY_COUNT") else { return Ok(()) };
    let (count, types) = (one_count(counts_section, 2, 0)?, one_count(counts_section, 2, 1)?);
    if count == 0 && sections.get("CHARMM_UREY_BRADLEY").is_none() {
        return Ok(());
    }
    let constants = sections.require("CHARMM_UREY_BRADLEY_FORCE_CONSTANT")?.reals(types)?;
    let lengths = sections.require("CHARMM_UREY_BRADLEY_EQUIL_VALUE")?.reals(types)?;
    let rows = Rows::<3>::read(sections, "CHARMM_UREY_BRADLEY", count)?;
    for row in 0..count {
        let atoms = rows.counted_atoms(row, topology.atoms.len())?;
        let kind = rows.counted(row, 2, types, "Urey–Bradley type")? as usize;
        topology.bonded.urey_bradleys.push(Bond {
            atoms,
            length: lengths[kind] * ANGSTROM,
            force_constant: HALF * constants[kind] * KCAL / (ANGSTROM * ANGSTROM),
        });
    }
    Ok(())
}

fn harmonic_impropers(sections: &Sections<'_>, topology: &mut Topology) -> Parsed<()> {
    let Some(count_section) = sections.get("CHARMM_NUM_IMPROPERS") else { return Ok(()) };
    let count = one_count(count_section, 1, 0)?;
    if count == 0 && sections.get("CHARMM_IMPROPERS").is_none() {
        return Ok(());
    }
    let types = one_count(sections.require("CHARMM_NUM_IMPR_TYPES")?, 1, 0)?;
    let constants = sections.require("CHARMM_IMPROPER_FORCE_CONSTANT")?.reals(types)?;
    let phases = sections.require("CHARMM_IMPROPER_PHASE")?.reals(types)?;
    let rows = Rows::<5>::read(sections, "CHARMM_IMPROPERS", count)?;
    for row in 0..count {
        let atoms = rows.counted_atoms(row, topology.atoms.len())?;
        let kind = rows.counted(row, 4, types, "improper type")? as usize;
        let force_constant = HALF * constants[kind] * KCAL;
        let angle = phase(phases[kind]);
        topology.bonded.harmonic_impropers.push(HarmonicImproper { atoms, angle, force_constant });
    }
    Ok(())
}

/// Returns an equilibrium angle in rad. A comment in the files says that the angle is in degrees. Older files have
/// degrees, but newer files have radians. CHARMM uses only 0 and 180°, so the unit follows from the magnitude of the
/// number.
fn phase(value: f64) -> f64 {
    if value.abs() <= std::f64::consts::TAU { value } else { value.to_radians() }
}

/// Returns element `index` of a section with `length` counts.
pub(super) fn one_count(section: &Section<'_>, length: usize, index: usize) -> Parsed<usize> {
    let value = section.integers(length)?[index];
    usize::try_from(value).map_err(|_| section.problem_at(index, format!("count {value} is negative")))
}
