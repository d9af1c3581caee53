//! The cell around a structure, with water and ions.

use std::collections::HashSet;

use md_engine::cell::PeriodicCell;
use md_engine::error::{Problem, Result};
use md_engine::system;
use md_engine::vec3::Vec3;

use super::species::{self, Ion};
use super::water::{Model, molecule};
use super::{Added, Ions};
use crate::entry::{Decision, Subject};
use crate::solvent::{Charge, Enclosed, IonPlan, Placement, Salt, SoluteAtom, bondi_radius, fill, place_ions};
use crate::structure::{Atom, Residue, Structure};

/// Atom name of the virtual site of a four-site water model: the name in AMBER topologies.
const EXTRA: &str = "EPW";
/// Largest residue number of added molecules: numbers in PDB files have four digits.
const NUMBERS: i32 = 9999;
/// Residue name of water in a structure.
pub(super) const WATER: &str = "HOH";
/// Largest difference (e) between the sum of the partial charges of a solute and an integer that is attributed to
/// rounding. Partial charges of ligands often have two to four decimals, so that the sum over 50 atoms is off by up to
/// 0.05 e.
const LARGEST_EXCESS: f64 = 0.1;
/// Difference (e) from an integer that the log states. Charges of force fields have four or more decimals.
const ROUNDING: f64 = 1e-4;

/// A structure in water.
pub(super) struct Solvated {
    pub(super) structure: Structure,
    pub(super) positions: Vec<Vec3>,
    pub(super) cell: PeriodicCell,
    pub(super) added: Added,
    pub(super) decisions: Vec<Decision>,
}

/// Fills the cell of a structure with waters; `admits` decides which positions of water oxygens are allowed. The
/// function also adds ions that neutralize the structure, and salt.
pub(super) fn solvate(
    mut structure: Structure,
    Enclosed { cell, mut positions }: Enclosed,
    admits: impl Fn(Vec3) -> bool,
    model: &Model,
    ions: &Ions,
) -> Result<Solvated> {
    let cation = species::find(&species::CATIONS, &ions.cation, &model.field)?;
    let anion = species::find(&species::ANIONS, &ions.anion, &model.field)?;
    let charges = model.describe(&structure)?.topology.atoms;
    let solute: Vec<SoluteAtom> = positions
        .iter()
        .zip(&structure.atoms)
        .map(|(&position, atom)| SoluteAtom { position, radius: bondi_radius(atom.element) })
        .collect();
    let mut waters = fill(&cell, &solute, &model.geometry)?;
    waters.retain(|water| admits(water[0]));
    let exact = charges.iter().map(|atom| atom.charge).sum::<f64>();
    let charge = whole_charge(exact, &structure, &charges)?;
    let ion_plan = IonPlan {
        cation_valence: cation.valence(),
        anion_valence: anion.valence(),
        concentration: ions.salt,
        salt: ions.rule,
    };
    let kept = structure.residues.iter().filter(|residue| residue.name == WATER).count();
    let counts = ion_plan.counts(charge, waters.len(), kept)?;
    let oxygens: Vec<Vec3> = waters.iter().map(|water| water[0]).collect();
    let solute: Vec<Charge> =
        positions.iter().zip(&charges).map(|(&position, atom)| Charge { position, charge: atom.charge }).collect();
    let sites = place_ions(&cell, &solute, &oxygens, &counts, ions.placement)?;
    let chain = new_chain(&mut structure);
    let mut numbers = numbers();
    for (ion, places) in [(cation, &sites.cations), (anion, &sites.anions)] {
        for (&place, number) in places.iter().zip(&mut numbers) {
            structure.residues.push(residue(ion.residue, number, chain, structure.atoms.len()));
            structure.atoms.push(Atom { name: ion.atom.to_owned(), element: ion.element });
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
        structure.residues.push(residue(WATER, number, chain, first));
        structure.bonds.extend(water.bonds.iter().map(|bond| bond.map(|atom| atom + first as u32)));
        structure.atoms.extend(water.atoms.iter().cloned());
        positions.extend(places.iter().chain(std::iter::repeat(&places[0])).take(model.sites));
    }
    let added = Added {
        waters: waters.len(),
        cations: counts.cations,
        anions: counts.anions,
        ions: [cation.word, anion.word],
        ..Added::default()
    };
    let decisions = decisions(&cell, &added, reason(exact, ions, &ion_plan, [cation, anion])?);
    Ok(Solvated { structure, positions, cell, added, decisions })
}

/// Returns the charge of the solute (e) as an integer. Fails if the sum of the partial charges, `exact`, is not close
/// to an integer, and names the residue whose charge is farthest from an integer.
fn whole_charge(exact: f64, structure: &Structure, atoms: &[system::Atom]) -> Result<i64> {
    let excess = |charge: f64| (charge - charge.round()).abs();
    if excess(exact) <= LARGEST_EXCESS {
        return Ok(exact.round() as i64);
    }
    let of_residue = |residue| structure.residue_atoms(residue).map(|atom| atoms[atom].charge).sum::<f64>();
    let residues = (0..structure.residues.len()).map(|residue| (residue, of_residue(residue)));
    let farthest = residues.max_by(|a, b| excess(a.1).total_cmp(&excess(b.1)));
    let residue = farthest.map(|(residue, charge)| format!("; {} has {charge:.4} e", structure.residue_label(residue)));
    let message =
        format!("the solute has a charge of {exact:.4} e, which ions cannot neutralise{}", residue.unwrap_or_default());
    Err(Problem::new(message).help("correct the partial charges, so that their sum is an integer").into())
}

/// Residue numbers for added molecules: the numbers count from 1 to [`NUMBERS`], and then begin at 1 again.
pub(super) fn numbers() -> impl Iterator<Item = i32> {
    (1..=NUMBERS).cycle()
}

pub(super) fn residue(name: &str, number: i32, chain: u32, first: usize) -> Residue {
    Residue { name: name.to_owned(), number, insertion_code: None, chain, first: first as u32 }
}

/// Adds a chain and returns the index of the chain. The identifier of the new chain is the first letter that no other
/// chain has; the identifier is empty if all letters are in use.
pub(super) fn new_chain(structure: &mut Structure) -> u32 {
    let letters = ('A'..='Z').chain('a'..='z').map(String::from);
    let mut free = letters.filter(|letter| !structure.chains.contains(letter));
    let letter = free.next().unwrap_or_default();
    structure.chains.push(letter);
    structure.chains.len() as u32 - 1
}

/// Adds a virtual site to each water of the structure, if the water model has four sites. The positions of the virtual
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
        if residue.name == WATER {
            new.atoms.push(Atom { name: EXTRA.to_owned(), element: 0 });
            placed.push(positions[residue.first as usize]);
        }
    }
    new.bonds = structure.bonds.iter().map(|bond| bond.map(|atom| moved[atom as usize])).collect();
    (*structure, *positions) = (new, placed);
}

fn decisions(cell: &PeriodicCell, added: &Added, reason: String) -> Vec<Decision> {
    let decision = |what: String, why: String| Decision::new(Subject::Solvent, "the whole system", what, why);
    let Added { waters, cations, anions, ions: [cation, anion], .. } = added;
    let filled = format!("added {waters} waters to a cell of {:.3} nm3", cell.volume());
    let replaced = match cations + anions {
        0 => "added no ions".to_owned(),
        _ => format!("replaced waters by {cations} {cation} and {anions} {anion} ions"),
    };
    vec![decision(filled, "the cell has the requested padding or size".to_owned()), decision(replaced, reason)]
}

/// Returns a sentence that explains the numbers and positions of the ions. `exact` (e) is the sum of the partial
/// charges of the solute.
fn reason(exact: f64, ions: &Ions, plan: &IonPlan, [cation, anion]: [&Ion; 2]) -> Result<String> {
    let charge = exact.round() as i64;
    let mut text =
        format!("the solute has a charge of {charge} e, and the requested salt concentration is {} mol/L", ions.salt);
    if (exact - exact.round()).abs() > ROUNDING {
        text += &format!("; the partial charges add up to {exact:.4} e");
    }
    if ions.rule == Salt::Equilibrium {
        text += "; SLTCAP gives the numbers in equilibrium with salt of this concentration";
    }
    // the smaller of the two numbers of ions is zero if the charge is a multiple of the valence of the counterion
    let [cations, anions] = plan.neutralizing(charge)?;
    let (counterion, number, rest) = if charge < 0 { (cation, anions, anion) } else { (anion, cations, cation) };
    if number > 0 {
        text += &format!(
            "; {} alone cannot neutralise this charge exactly, and {number} {} make up for the excess",
            counterion.name, rest.name
        );
    }
    if ions.placement == Placement::Electrostatic {
        text += "; each ion is where the electrostatic potential is most favourable";
    }
    Ok(text)
}
