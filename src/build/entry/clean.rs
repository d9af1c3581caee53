//! Cleaning of an entry: the module makes a structure from an entry.

use std::collections::HashSet;

use md_engine::error::Problem;
use md_engine::vec3::Vec3;

use super::assembly::build;
use super::bonds::{Unsupported, find_bonds};
use super::choose::choose;
use super::decision::{Decision, Subject};
use super::draft::Draft;
use super::gaps::{Gap, find_gaps, place_residues, report_jumps};
use super::metals::{MetalSite, find_sites};
use super::model::Entry;
use super::options::Options;
use super::overlap;
use super::table::ResidueKind;
use crate::structure::Structure;

/// A clean structure, with all decisions about its contents, and with the residues and atoms that are missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cleaned {
    /// the structure
    pub structure: Structure,
    /// position of each atom in nm
    pub positions: Vec<Vec3>,
    /// properties of each residue in addition to its name
    pub residues: Vec<ResidueInfo>,
    /// decisions, for the log
    pub decisions: Vec<Decision>,
    /// residues of the sequences that have no atoms
    pub gaps: Vec<Gap>,
    /// heavy atoms that standard residues lack
    pub missing_atoms: Vec<MissingAtoms>,
    /// the two sulfur atoms of each disulfide bond
    pub disulfides: Vec<[u32; 2]>,
    /// metals with the atoms that coordinate them
    pub metal_sites: Vec<MetalSite>,
    /// residues whose bonds are unknown
    pub unsupported: Vec<Unsupported>,
    /// number of atoms at alternative locations that were not chosen; copies of an assembly are not counted
    pub left_out: usize,
}

/// Properties of a residue in addition to its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResidueInfo {
    /// kind of a standard residue; `None` for other residues
    pub kind: Option<ResidueKind>,
    /// whether the residue belongs to a polymer
    pub is_polymer: bool,
    /// residue name in the file, which may state the protonation, as `HIP` does
    pub given_name: String,
    /// index in the sequence of the chain; `None` if unknown
    pub position: Option<usize>,
    /// whether heavy atoms of the residue, other than OXT, were rebuilt
    pub is_rebuilt: bool,
}

/// Heavy atoms that a residue lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingAtoms {
    /// index of the residue
    pub residue: u32,
    /// names of the atoms
    pub names: Vec<String>,
}

/// Makes a clean structure from an entry. The structure passes [`Structure::check`].
pub fn clean(entry: &Entry, options: &Options) -> Result<Cleaned, Problem> {
    let mut choice = choose(entry, options);
    let mut decisions = vec![];
    if entry.models > 1 {
        let what = format!("took model {} of {}", entry.model, entry.models);
        let why = "md build uses one model: the first model, unless the user chooses another model";
        decisions.push(Decision::new(Subject::Model, "the whole entry", what, why));
    }
    if let Some(line) = entry.continued.first() {
        let more = entry.continued.len() - 1;
        let more = if more > 0 { format!(" and of {more} more END records") } else { String::new() };
        let what = format!("read the atoms after the END record in line {line}{more}");
        let why = "they do not repeat the chains, residue numbers and names of earlier atoms, as another model does";
        decisions.push(Decision::new(Subject::Model, "the whole entry", what, why));
    }
    decisions.append(&mut choice.decisions);
    if choice.residues.is_empty() {
        return Err(Problem::new("no atoms are left").help("keep waters or hetero groups"));
    }
    place_residues(entry, &mut choice.residues, &mut decisions);
    let mut built = build(entry, &choice.residues, options.assembly.as_deref(), &mut decisions)?;
    overlap::leave_out(entry, &choice.residues, &mut built, &mut decisions);
    if built.copies.is_empty() {
        let problem = Problem::new("the assembly has no atoms");
        return Err(problem.help("keep waters or hetero groups, or choose another assembly"));
    }
    let draft = Draft::new(entry, &choice.residues, built);
    let found = find_bonds(&draft, &mut decisions);
    let metal_sites = find_sites(&draft, &mut decisions);
    let gaps = find_gaps(&draft, &found.bonds);
    report_jumps(&draft, &found.bonds, &mut decisions);
    let missing_atoms = missing_atoms(&draft, &found.bonds);
    let info = |index| {
        let source = draft.source(index);
        let kind = source.standard.map(|standard| standard.kind);
        ResidueInfo {
            kind,
            is_polymer: source.is_polymer,
            given_name: source.given.clone(),
            position: source.position,
            is_rebuilt: false,
        }
    };
    let residues = (0..draft.copies.len()).map(info).collect();
    let Draft { mut structure, positions, .. } = draft;
    structure.bonds = found.bonds;
    structure.check()?;
    Ok(Cleaned {
        structure,
        positions,
        residues,
        decisions,
        gaps,
        missing_atoms,
        disulfides: found.disulfides,
        metal_sites,
        unsupported: found.unsupported,
        left_out: choice.left_out,
    })
}

/// Returns the heavy atoms that standard residues lack. The first nucleotide of a chain needs no phosphate. The last
/// amino acid of a chain has the atom OXT, unless its atom C is bonded to another residue, as in a cyclic peptide.
fn missing_atoms(draft: &Draft<'_>, bonds: &[[u32; 2]]) -> Vec<MissingAtoms> {
    let residue_of = draft.structure.residue_of_atoms();
    let between = bonds.iter().filter(|bond| residue_of[bond[0] as usize] != residue_of[bond[1] as usize]);
    let linked: HashSet<u32> = between.flatten().copied().collect();
    let is_closed = |index: usize| draft.atom(index, "C").is_some_and(|atom| linked.contains(&atom));
    let polymers = draft.polymers();
    let firsts: Vec<usize> = polymers.iter().filter_map(|residues| residues.first().copied()).collect();
    let lasts: Vec<usize> = polymers.iter().filter_map(|residues| residues.last().copied()).collect();
    let mut missing = vec![];
    for index in 0..draft.copies.len() {
        let source = draft.source(index);
        let Some(standard) = source.standard else { continue };
        let has = |name: &str| source.atoms.iter().any(|atom| atom.name == name);
        let has_no_phosphate = firsts.binary_search(&index).is_ok() && !has("P");
        let needs = |name: &&str| !has_no_phosphate || !matches!(*name, "P" | "OP1" | "OP2");
        let is_last = lasts.binary_search(&index).is_ok() && !is_closed(index);
        let needs_end = is_last && standard.has("OXT") && !has("OXT");
        let end = needs_end.then_some("OXT");
        let names = standard.heavy_atoms().filter(needs).filter(|name| !has(name)).chain(end);
        let names: Vec<String> = names.map(str::to_owned).collect();
        if !names.is_empty() {
            missing.push(MissingAtoms { residue: index as u32, names });
        }
    }
    missing
}
