//! Checks that a file is complete. The sections that md does not read must have the right lengths, and the sections
//! that other sections require must be present.
//!
//! If a file was cut off inside a section, the section is too short. If a file was cut off between sections, sections
//! are missing. LEaP, ParmEd, cpptraj and Interchange write the radii of implicit solvent, IPOL or both after all
//! sections with energies. LEaP and cpptraj write CMAP sections after the radii and IPOL. A file of LEaP or cpptraj
//! that was cut off before the CMAP sections has all other sections. Therefore md requires CMAP sections if the force
//! field of a protein has CMAP terms.

use std::collections::HashSet;

use super::FORCE_FIELD;
use super::cmap;
use super::pointers::Pointers;
use super::sections::{Parsed, Section, Sections, TRUNCATED};
use crate::error::Problem;
use crate::system::{BoxKind, Topology};

/// Expected length of a section that md does not read.
enum Length {
    /// the section has a single text
    Text,
    /// the section has a value per atom
    Atoms,
    /// the section has a label per atom
    AtomLabels,
    /// the section has a value for each of the NATYP atom types of the parameter file
    ParameterTypes,
    /// the section has a value per 10-12 hydrogen-bond term
    HydrogenBonds,
    /// the section has a value per molecule; `SOLVENT_POINTERS` states the number of molecules
    Molecules,
    /// the section has this number of values in every file
    Fixed(usize),
}

/// Sections that md does not read, because they do not influence the energies. These sections contain names, tree
/// classifications, radii of implicit solvent, and solvent pointers. The solvent pointers follow from the bonds.
const UNREAD: &[(&str, Length)] = &[
    ("TITLE", Length::Text),
    ("CTITLE", Length::Text),
    (FORCE_FIELD, Length::Text),
    ("RADIUS_SET", Length::Text),
    ("TREE_CHAIN_CLASSIFICATION", Length::AtomLabels),
    ("JOIN_ARRAY", Length::Atoms),
    ("IROTAT", Length::Atoms),
    ("SOLTY", Length::ParameterTypes),
    ("HBCUT", Length::HydrogenBonds),
    ("SOLVENT_POINTERS", Length::Fixed(3)),
    ("ATOMS_PER_MOLECULE", Length::Molecules),
    ("RADII", Length::Atoms),
    ("SCREEN", Length::Atoms),
    ("CAP_INFO", Length::Fixed(1)),
    ("CAP_INFO2", Length::Fixed(4)),
    ("ATOM_BFACTOR", Length::Atoms),
    ("ATOM_OCCUPANCY", Length::Atoms),
    ("ATOM_NUMBER", Length::AtomLabels),
    ("ATOM_ELEMENT", Length::AtomLabels),
];

/// Sections that only CHAMBER files have. The flag of a section tells whether every CHAMBER file has this section.
const CHAMBER: &[(&str, bool)] = &[
    (FORCE_FIELD, true),
    ("CHARMM_UREY_BRADLEY_COUNT", true),
    ("CHARMM_UREY_BRADLEY", false),
    ("CHARMM_NUM_IMPROPERS", true),
    ("CHARMM_IMPROPERS", false),
    ("LENNARD_JONES_14_ACOEF", true),
    ("LENNARD_JONES_14_BCOEF", true),
];

/// Returns the names of the sections in [`UNREAD`].
pub(super) fn unread() -> impl Iterator<Item = &'static str> {
    UNREAD.iter().map(|(name, _)| *name)
}

/// Returns an error if a section that md does not read is incomplete, or if a section that another section requires
/// is missing.
pub(super) fn check(sections: &Sections<'_>, pointers: &Pointers, chamber: bool) -> Parsed<()> {
    for (section, length) in UNREAD.iter().filter_map(|(name, length)| Some((sections.get(name)?, length))) {
        check_length(section, length, sections, pointers)?;
    }
    for &(name, always) in CHAMBER {
        match sections.get(name) {
            // cpptraj writes the section with the name of the force field for AMBER force fields, too
            Some(section) if !chamber && (name != FORCE_FIELD || section.text().contains("CHARMM")) => {
                let message =
                    "a section of CHARMM force fields, but the file has no CTITLE, with which CHARMM topologies begin";
                return Err(section.problem(message).help("the file is damaged: write it again"));
            }
            None if chamber && always => return sections.require(name).map(|_| ()),
            _ => {}
        }
    }
    if pointers.box_kind != BoxKind::None {
        sections.require("BOX_DIMENSIONS")?;
    }
    let Some(numbers) = sections.get("ATOMIC_NUMBER") else { return Ok(()) };
    // Programs that write atomic numbers also write SCREEN or IPOL. If the section of atomic numbers comes after all
    // other sections, a program added the section to an older file. The older file may have neither SCREEN nor IPOL.
    let added = sections.iter().all(|section| !section.is_behind(numbers));
    if !added && sections.get("SCREEN").is_none() {
        sections.require("IPOL")?;
    }
    Ok(())
}

fn check_length(section: &Section<'_>, length: &Length, sections: &Sections<'_>, pointers: &Pointers) -> Parsed<()> {
    let (count, lines_only) = match length {
        Length::Text => return Ok(()),
        Length::Atoms => (pointers.atoms, false),
        Length::AtomLabels => (pointers.atoms, true),
        Length::ParameterTypes => (pointers.parameter_types, false),
        Length::HydrogenBonds => (pointers.hydrogen_bond_types, false),
        Length::Molecules => {
            let solvent = sections.require("SOLVENT_POINTERS")?;
            let molecules = solvent.integers(3)?[1];
            let negative = |_| solvent.problem_at(1, format!("count {molecules} is negative"));
            (usize::try_from(molecules).map_err(negative)?, false)
        }
        &Length::Fixed(count) => (count, false),
    };
    section.check_length(count, lines_only)
}

/// Names that AMBER topologies use for residues with a correction map in ff19SB or CHARMM36.
const MAPPED: &[&str] = &[
    "ALA", "ARG", "ASH", "ASN", "ASP", "CYM", "CYS", "CYX", "GLH", "GLN", "GLU", "GLY", "HID", "HIE", "HIP", "HIS",
    "HSD", "HSE", "HSP", "ILE", "LEU", "LYN", "LYS", "MET", "PHE", "PRO", "SER", "THR", "TRP", "TYR", "VAL",
];

/// Types of α carbons that occur in ff19SB (Tian et al. 2020, doi:10.1021/acs.jctc.9b00591), but in no other AMBER
/// force field.
const FF19SB: &[&str] = &["XC"];
/// Types of α carbons in CHARMM36 (Best et al. 2012, doi:10.1021/ct300400x).
const CHARMM36: &[&str] = &["CT1", "CT2", "CP1"];

/// Returns an error about a protein without CMAP terms if its force field requires CMAP terms. A CMAP term is
/// required for each residue with a peptide bond on both sides.
pub(super) fn check_cmap(sections: &Sections<'_>, topology: &Topology) -> Parsed<()> {
    if !topology.bonded.cmaps.is_empty() || sections.iter().any(|section| cmap::is_cmap(section.name())) {
        return Ok(());
    }
    let charmm36 = sections.get(FORCE_FIELD).is_some_and(|section| section.text().contains("CHARMM36"));
    let (force_field, types) = if charmm36 { ("CHARMM36", CHARMM36) } else { ("ff19SB", FF19SB) };
    let alpha = |residue: u32| {
        let atoms = &topology.atoms[topology.residue_atoms(residue as usize)];
        atoms.iter().any(|atom| atom.name.as_str() == "CA" && types.contains(&atom.type_name.as_str()))
    };
    let linked = linked(topology);
    let mapped = linked
        .into_iter()
        .filter(|&residue| MAPPED.contains(&topology.residues[residue as usize].name.as_str()) && alpha(residue));
    let Some(residue) = mapped.min() else { return Ok(()) };
    let section = sections.require("AMBER_ATOM_TYPE")?;
    let name = topology.residues[residue as usize].name;
    let message = format!(
        "residue {} ({name}) needs the CMAP terms of {force_field}, but the file has no CMAP terms",
        residue + 1
    );
    Err(Problem { help: Some(TRUNCATED.to_owned()), ..section.problem(message) })
}

/// Returns the residues with peptide bonds on both sides: a bond from `N` to the `C` of another residue, and a bond
/// from `C` to the `N` of another residue.
fn linked(topology: &Topology) -> HashSet<u32> {
    let (mut by_n, mut by_c) = (HashSet::new(), HashSet::new());
    for &[i, j] in &topology.connectivity {
        let [a, b] = [i, j].map(|atom| &topology.atoms[atom as usize]);
        let (n, c) = match (a.name.as_str(), b.name.as_str()) {
            ("N", "C") => (a, b),
            ("C", "N") => (b, a),
            _ => continue,
        };
        if n.residue != c.residue {
            by_n.insert(n.residue);
            by_c.insert(c.residue);
        }
    }
    by_n.intersection(&by_c).copied().collect()
}
