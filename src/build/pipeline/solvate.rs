//! The cell around a structure, with water and ions.

use std::collections::HashSet;

use md_engine::cell::PeriodicCell;
use md_engine::error::Result;
use md_engine::vec3::Vec3;

use super::Added;
use super::water::{Model, molecule};
use crate::entry::{Decision, Subject};
use crate::solvent::{Charge, Enclosed, IonPlan, Placement, SoluteAtom, bondi_radius, fill, place_ions};
use crate::structure::{Atom, Residue, Structure};

/// Names of the ions in the force fields, and their atomic numbers.
const SODIUM: (&str, u8) = ("NA", 11);
const CHLORIDE: (&str, u8) = ("CL", 17);
/// Name of the extra site of a water with four sites.
const EXTRA: &str = "M";
/// Largest residue number of added molecules: numbers in PDB files have four digits.
const NUMBERS: i32 = 9999;

/// A structure in water.
pub(super) struct Solvated {
    pub(super) structure: Structure,
    pub(super) positions: Vec<Vec3>,
    pub(super) cell: PeriodicCell,
    pub(super) added: Added,
    pub(super) decisions: Vec<Decision>,
}

/// Fills the cell of a structure with water where `admits` allows its oxygen. Ions make it neutral, and salt (mol/L) is
/// added.
pub(super) fn solvate(
    mut structure: Structure,
    Enclosed { cell, mut positions }: Enclosed,
    admits: impl Fn(Vec3) -> bool,
    model: &Model,
    (salt, seed): (f64, u64),
) -> Result<Solvated> {
    let charges = model.field.describe(&structure)?.topology.atoms;
    let solute: Vec<SoluteAtom> = positions
        .iter()
        .zip(&structure.atoms)
        .map(|(&position, atom)| SoluteAtom { position, radius: bondi_radius(atom.element) })
        .collect();
    let mut waters = fill(&cell, &solute, &model.geometry)?;
    waters.retain(|water| admits(water[0]));
    let charge: f64 = charges.iter().map(|atom| atom.charge).sum();
    let counts = IonPlan { concentration: salt, ..IonPlan::default() }.counts(charge.round() as i64, waters.len())?;
    let oxygens: Vec<Vec3> = waters.iter().map(|water| water[0]).collect();
    let solute: Vec<Charge> =
        positions.iter().zip(&charges).map(|(&position, atom)| Charge { position, charge: atom.charge }).collect();
    let sites = place_ions(&cell, &solute, &oxygens, &counts, Placement::Random { seed })?;
    let ions = [(SODIUM, &sites.cations), (CHLORIDE, &sites.anions)];
    let chain = new_chain(&mut structure);
    let mut numbers = numbers();
    for ((name, element), places) in ions {
        for (&place, number) in places.iter().zip(&mut numbers) {
            structure.residues.push(residue(name, number, chain, structure.atoms.len()));
            structure.atoms.push(Atom { name: name.to_owned(), element });
            positions.push(oxygens[place]);
        }
    }
    let replaced: HashSet<usize> = sites.cations.iter().chain(&sites.anions).copied().collect();
    let mut index = 0..;
    waters.retain(|_| index.next().is_none_or(|water| !replaced.contains(&water)));
    let chain = new_chain(&mut structure);
    let water = molecule(model.sites);
    for (places, number) in waters.iter().zip(numbers) {
        let first = structure.atoms.len();
        structure.residues.push(residue("HOH", number, chain, first));
        structure.bonds.extend(water.bonds.iter().map(|bond| bond.map(|atom| atom + first as u32)));
        structure.atoms.extend(water.atoms.iter().cloned());
        positions.extend(places.iter().chain(std::iter::repeat(&places[0])).take(model.sites));
    }
    let added = Added { waters: waters.len(), cations: counts.cations, anions: counts.anions, ..Added::default() };
    let decisions = decisions(&cell, charge, salt, added);
    Ok(Solvated { structure, positions, cell, added, decisions })
}

/// Numbers of added residues, which begin again after the largest.
pub(super) fn numbers() -> impl Iterator<Item = i32> {
    (1..=NUMBERS).cycle()
}

pub(super) fn residue(name: &str, number: i32, chain: u32, first: usize) -> Residue {
    Residue { name: name.to_owned(), number, insertion_code: None, chain, first: first as u32 }
}

/// Adds a chain with the first letter that no chain has, or without a letter. Returns its index.
pub(super) fn new_chain(structure: &mut Structure) -> u32 {
    let letters = ('A'..='Z').chain('a'..='z').map(String::from);
    let mut free = letters.filter(|letter| !structure.chains.contains(letter));
    let letter = free.next().unwrap_or_default();
    structure.chains.push(letter);
    structure.chains.len() as u32 - 1
}

/// Adds the extra site of each water that a structure has, if the water model has four sites. The positions of the
/// sites are computed later.
pub(super) fn add_sites(structure: &mut Structure, positions: &mut Vec<Vec3>, sites: usize) {
    if sites < 4 {
        return;
    }
    let mut new = Structure { chains: structure.chains.clone(), ..Structure::default() };
    let (mut moved, mut placed) = (vec![0; structure.atoms.len()], vec![]);
    for (index, residue) in structure.residues.iter().enumerate() {
        new.residues.push(Residue { first: new.atoms.len() as u32, ..residue.clone() });
        for atom in structure.residue_atoms(index) {
            moved[atom] = new.atoms.len() as u32;
            new.atoms.push(structure.atoms[atom].clone());
            placed.push(positions[atom]);
        }
        if residue.name == "HOH" {
            new.atoms.push(Atom { name: EXTRA.to_owned(), element: 0 });
            placed.push(positions[residue.first as usize]);
        }
    }
    new.bonds = structure.bonds.iter().map(|bond| bond.map(|atom| moved[atom as usize])).collect();
    (*structure, *positions) = (new, placed);
}

fn decisions(cell: &PeriodicCell, charge: f64, salt: f64, added: Added) -> Vec<Decision> {
    let decision = |what: String, why: String| Decision {
        subject: Subject::Solvent,
        what,
        place: "the whole system".to_owned(),
        why,
    };
    let Added { waters, cations, anions, .. } = added;
    let filled = format!("added {waters} waters to a cell of {:.3} nm3", cell.volume());
    let ions = format!("replaced waters by {cations} sodium and {anions} chloride ions");
    let reason = format!("the solute has a charge of {charge:.0} e, and {salt} mol/L of salt were asked for");
    vec![decision(filled, "the padding or size that was asked for".to_owned()), decision(ions, reason)]
}
