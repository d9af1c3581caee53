//! The steps that make a system from an entry of the Protein Data Bank. [`build`] performs these steps in order and
//! records every decision.
//!
//! Missing heavy atoms of standard residues are rebuilt. A structure with other faults is refused: missing loops
//! without caps, residues that cannot be placed, and residues without bonds.

mod caps;
mod contacts;
mod glycans;
mod ligands;
mod membrane;
mod orientation;
mod protonation;
mod requests;
mod solvate;
mod species;
mod sugars;
mod water;

use md_engine::cell::PeriodicCell;
use md_engine::error::Result;
use md_engine::system::{BoxKind, CellHint, Description};
use md_engine::vec3::Vec3;
use md_engine::virtual_sites;

use crate::complete::{Caps, complete};
use crate::entry::{self, Decision, Entry};
use crate::forcefield::MoleculeFiles;
use crate::hydrogens::{self, Contradiction, Flips, Hydrogenated, Pka, PkaModel, Protonation};
use crate::solvent::{CellPlan, Placement, Salt, Shape};
use crate::structure::Structure;
pub use species::{anion_names, cation_names};
use water::Model;
pub use water::{field_names, water_names};

/// Identification of a residue by a user: chain, number and insertion code.
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
    /// options that select which contents of the entry are used
    pub entry: entry::Options,
    /// ends of peptide chains to which caps are added
    pub caps: Caps,
    /// force fields: names of [`field_names`], or files
    pub fields: Vec<String>,
    /// files with the parameters of ligands
    pub ligands: Vec<MoleculeFiles>,
    /// water model, one of [`water_names`]
    pub water: String,
    /// pH of the solution
    pub ph: f64,
    /// model of the pKa values
    pub pka: PkaModel,
    /// protonation variants that the user gives: residue, and name of the variant, such as `HID`
    pub variants: Vec<(ResidueName, String)>,
    /// whether a side chain of Asn, Gln or His is flipped if the score of the flipped orientation is clearly higher
    pub flip_proposed: bool,
    /// residues whose side chains are flipped regardless of the score
    pub flips: Vec<ResidueName>,
    /// periodic cell that is filled with water; `None` if the system has no periodic cell and no water is added
    pub cell: Option<CellPlan>,
    /// lipid of the membrane around the structure, one of [`crate::solvent::lipid_names`]; with a membrane, the cell
    /// must be rectangular and have a padding
    pub membrane: Option<String>,
    /// ions that are added to the cell
    pub ions: Ions,
}

/// Ions that neutralise a solute, and salt.
#[derive(Clone, Debug, PartialEq)]
pub struct Ions {
    /// cations, one of [`cation_names`]
    pub cation: String,
    /// anions, one of [`anion_names`]
    pub anion: String,
    /// concentration of the salt, in formula units per volume of solvent, mol/L
    pub salt: f64,
    /// rule for the number of salt ions
    pub rule: Salt,
    /// method that chooses the waters that ions replace
    pub placement: Placement,
}

/// A system that was built.
#[derive(Clone, Debug)]
pub struct Built {
    /// all atoms, with residues and chains
    pub structure: Structure,
    /// positions in nm
    pub positions: Vec<Vec3>,
    /// periodic cell; `None` if the system is not periodic
    pub cell: Option<PeriodicCell>,
    /// terms of the energy
    pub description: Description,
    /// numbers of added waters, cations, anions and lipids
    pub added: Added,
    /// labels and pKa values of the ionisable groups of proteins; empty if the model is [`PkaModel::Water`]
    pub pkas: Vec<(String, Pka)>,
    /// force-field files: names of built-in files and paths of other files, in the order in which they were read
    pub parameter_files: Vec<String>,
    /// decisions in the order in which they were made
    pub decisions: Vec<Decision>,
}

/// Numbers of molecules that were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Added {
    /// waters
    pub waters: usize,
    /// cations
    pub cations: usize,
    /// anions
    pub anions: usize,
    /// names of the cation and of the anion for sentences in messages
    pub ions: [&'static str; 2],
    /// lipids in the upper and in the lower leaflet
    pub lipids: [usize; 2],
}

impl Default for Added {
    /// Returns counts of zero, with the names of the default ions.
    fn default() -> Self {
        let ions = [species::CATIONS[0].word, species::ANIONS[0].word];
        Self { waters: 0, cations: 0, anions: 0, ions, lipids: [0; 2] }
    }
}

/// Builds a system from an entry.
pub fn build(mut entry: Entry, settings: &Settings) -> Result<Built> {
    let membrane = membrane::plan(settings.membrane.as_deref(), settings.cell.as_ref(), settings.ions.placement)?;
    let has_glycans = settings.entry.hetero && glycans::has_glycans(&entry);
    let mut model = Model::read(&settings.fields, &settings.water, has_glycans)?;
    let ligands = ligands::define(&mut entry, &mut model.field, &settings.ligands, has_glycans)?;
    let options = entry::Options { kept: ligands.names, ..settings.entry.clone() };
    let mut cleaned = entry::clean(&entry, &options)?;
    // hydrogens are not checked, because hydrogens of the entry are replaced
    entry::check_places(&cleaned.structure, &cleaned.positions, 2)?;
    cleaned.decisions.extend(entry::contacts(&cleaned.structure, &cleaned.positions)?);
    requests::open_disulfides(&mut cleaned, &settings.variants)?;
    let lacks_sugars = has_glycans && !glycans::is_known(&model.field);
    complete(&mut cleaned, settings.caps)
        .map_err(|problem| if lacks_sugars { glycans::advised(problem) } else { problem })?;
    let given = requests::variants(&cleaned, &settings.variants)?;
    let flips = Flips { proposed: settings.flip_proposed, given: requests::flips(&cleaned, &settings.flips)? };
    let protonation =
        Protonation { ph: settings.ph, model: settings.pka, given, flips, components: ligands.components };
    let mut hydrogenated = hydrogens::add(&cleaned.structure, &cleaned.positions, &protonation)?;
    // a residue that lacked heavy atoms does not state its protonation by the hydrogens that it lacks
    let contradicts = |found: &Contradiction| !found.extra.is_empty() || !cleaned.residues[found.residue].is_rebuilt;
    hydrogenated.contradictions.retain(contradicts);
    let separated = separate(&mut hydrogenated);
    entry::check_places(&hydrogenated.structure, &hydrogenated.positions, 1)?;
    let mut decisions = ligands.decisions;
    decisions.extend(cleaned.decisions);
    decisions.extend(protonation::decisions(&hydrogenated, settings.ph));
    decisions.extend(orientation::decisions(&hydrogenated));
    decisions.extend(separated);
    let pkas = protonation::labelled(&hydrogenated);
    let (mut structure, mut positions) = (hydrogenated.structure, hydrogenated.positions);
    caps::join(&mut structure, |name| model.field.has_template(name));
    solvate::add_sites(&mut structure, &mut positions, model.sites);
    let (mut cell, mut added) = (None, Added::default());
    if let Some(plan) = &settings.cell {
        let ions = &settings.ions;
        let (solvated, lipids) = match membrane {
            Some((patch, padding)) => {
                let embedded = membrane::embed(structure, &positions, &patch, padding)?;
                decisions.extend(embedded.decisions);
                let admits = |oxygen| embedded.bilayer.admits_water(oxygen);
                let solvated = solvate::solvate(embedded.structure, embedded.enclosed, admits, &model, ions)?;
                (solvated, embedded.bilayer.leaflets.map(|leaflet| leaflet.lipids))
            }
            None => (solvate::solvate(structure, plan.around(&positions)?, |_| true, &model, ions)?, [0; 2]),
        };
        (structure, positions, cell) = (solvated.structure, solvated.positions, Some(solvated.cell));
        added = Added { lipids, ..solvated.added };
        decisions.extend(solvated.decisions);
    }
    let mut description = model.describe(&structure)?;
    description.topology.title = entry.title.chars().filter(|c| !c.is_control()).take(80).collect();
    description.cell_hint = CellHint { kind: box_kind(settings.cell.as_ref()), angle_degrees: None };
    for site in &description.topology.virtual_sites {
        positions[site.site as usize] = virtual_sites::position(&site.construction, |atom| positions[atom as usize]);
    }
    let parameter_files = model.files;
    Ok(Built { structure, positions, cell, description, added, pkas, parameter_files, decisions })
}

/// Separates overlapping hydrogens that were placed. Waters keep their rigid geometry.
fn separate(hydrogenated: &mut Hydrogenated) -> Vec<Decision> {
    let Hydrogenated { structure, positions, unknown, .. } = hydrogenated;
    let residue_of = structure.residue_of_atoms();
    let is_placed = |atom: usize| {
        let residue = residue_of[atom] as usize;
        structure.residues[residue].name != "HOH" && !unknown.contains(&residue)
    };
    contacts::separate(structure, positions, is_placed)
}

fn box_kind(plan: Option<&CellPlan>) -> BoxKind {
    match plan.map(|plan| plan.shape) {
        None => BoxKind::None,
        Some(Shape::Cube | Shape::Rectangular) => BoxKind::Rectangular,
        Some(Shape::Octahedron) => BoxKind::TruncatedOctahedron,
        Some(Shape::Dodecahedron) => BoxKind::Triclinic,
    }
}
