//! The steps from an entry to a system, in order: [`build`] takes them and notes every decision.
//!
//! Missing heavy atoms of standard residues are rebuilt. A structure with other faults is refused: loops that are
//! missing within a chain and not capped, residues that cannot be placed, and residues without bonds.

mod protonation;
mod solvate;
mod water;

use md_engine::cell::PeriodicCell;
use md_engine::error::Result;
use md_engine::system::{BoxKind, CellHint, Description};
use md_engine::vec3::Vec3;
use md_engine::virtual_sites;

use crate::complete::{Caps, complete};
use crate::entry::{self, Decision, Entry};
use crate::hydrogens::{self, Flips, Protonation};
use crate::solvent::{CellPlan, Shape};
use crate::structure::Structure;
use water::Model;
pub use water::{field_names, water_names};

/// A residue as a user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResidueName {
    /// identifier of the chain; empty for a structure without chains
    pub chain: String,
    /// number of the residue
    pub number: i32,
    /// insertion code
    pub insertion_code: Option<char>,
}

/// Settings of [`build`].
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// contents of the entry that are taken
    pub entry: entry::Options,
    /// ends of chains of amino acids that get caps
    pub caps: Caps,
    /// force fields: names of [`field_names`], or files
    pub fields: Vec<String>,
    /// water model, one of [`water_names`]
    pub water: String,
    /// pH of the solution
    pub ph: f64,
    /// variants of residues that are given
    pub variants: Vec<(ResidueName, String)>,
    /// whether side chains of Asn, Gln and His are turned if the energy of the other orientation is lower
    pub flip: bool,
    /// residues whose side chains are turned in any case
    pub flips: Vec<ResidueName>,
    /// cell that is filled with water; `None` for a system without cell and added water
    pub cell: Option<CellPlan>,
    /// concentration of NaCl in addition to the ions that neutralise the solute, mol/L
    pub salt: f64,
    /// seed of the random numbers that place ions
    pub seed: u64,
}

/// A system that was built.
#[derive(Clone, Debug)]
pub struct Built {
    /// all atoms, with residues and chains
    pub structure: Structure,
    /// positions in nm
    pub positions: Vec<Vec3>,
    /// periodic cell; `None` without one
    pub cell: Option<PeriodicCell>,
    /// terms of the energy
    pub description: Description,
    /// numbers of waters that were added, cations and anions
    pub added: Added,
    /// decisions in the order in which they were made
    pub decisions: Vec<Decision>,
}

/// Numbers of molecules that were added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// waters
    pub waters: usize,
    /// sodium ions
    pub cations: usize,
    /// chloride ions
    pub anions: usize,
}

/// Builds a system from an entry.
pub fn build(entry: &Entry, settings: &Settings) -> Result<Built> {
    let model = Model::read(&settings.fields, &settings.water)?;
    let mut cleaned = entry::clean(entry, &settings.entry)?;
    complete(&mut cleaned, settings.caps)?;
    let given = protonation::variants(&cleaned, &settings.variants)?;
    let flips = Flips { by_energy: settings.flip, given: protonation::flips(&cleaned, &settings.flips)? };
    let protonation = Protonation { ph: settings.ph, given, flips };
    let hydrogenated = hydrogens::add(&cleaned.structure, &cleaned.positions, &protonation)?;
    let mut decisions = cleaned.decisions;
    decisions.extend(protonation::decisions(&hydrogenated, settings.ph));
    let (mut structure, mut positions) = (hydrogenated.structure, hydrogenated.positions);
    let (mut cell, mut added) = (None, Added::default());
    solvate::add_sites(&mut structure, &mut positions, model.sites);
    if let Some(plan) = &settings.cell {
        let solvated = solvate::solvate(structure, positions, plan, &model, (settings.salt, settings.seed))?;
        (structure, positions, cell, added) =
            (solvated.structure, solvated.positions, Some(solvated.cell), solvated.added);
        decisions.extend(solvated.decisions);
    }
    let mut description = model.field.describe(&structure)?;
    description.topology.title = entry.title.chars().filter(|c| !c.is_control()).take(80).collect();
    description.cell_hint = CellHint { kind: box_kind(settings.cell.as_ref()), angle_degrees: None };
    for site in &description.topology.virtual_sites {
        positions[site.site as usize] = virtual_sites::position(&site.construction, |atom| positions[atom as usize]);
    }
    Ok(Built { structure, positions, cell, description, added, decisions })
}

fn box_kind(plan: Option<&CellPlan>) -> BoxKind {
    match plan.map(|plan| plan.shape) {
        None => BoxKind::None,
        Some(Shape::Cube | Shape::Rectangular) => BoxKind::Rectangular,
        Some(Shape::Octahedron) => BoxKind::TruncatedOctahedron,
        Some(Shape::Dodecahedron) => BoxKind::Triclinic,
    }
}
