//! pKa values of the ionisable groups of a protein, shifted by the environment of each group.
//!
//! The model is that of PROPKA 3 (M. H. M. Olsson, C. R. Søndergaard, M. Rostkowski & J. H. Jensen, J. Chem. Theory
//! Comput. 7, 525 (2011), doi:10.1021/ct100578z; C. R. Søndergaard, M. H. M. Olsson, M. Rostkowski & J. H. Jensen,
//! J. Chem. Theory Comput. 7, 2284 (2011), doi:10.1021/ct200133y), with the rules and parameters of version 3.5.1:
//!
//! pKa = pKa in water + desolvation + reorganisation + hydrogen bonds + Coulomb terms
//!
//! Module [`burial`] computes the desolvation. Modules [`reorganisation`] and [`backbone`] compute the terms of the
//! backbone. Module [`hydrogen_bond`] computes the hydrogen bonds of side chains, and module [`coulomb`] computes the
//! Coulomb terms. The sign and size of the terms between two groups depend on the pKa values. Module [`coupling`]
//! therefore iterates these terms. Phosphates of nucleic acids are fixed charges. Nucleobases and groups of ligands are
//! not ionisable in this model; only their heavy atoms contribute to the burial. Waters, and molecules of buffers and
//! cryoprotectants, do not contribute to the burial.

mod backbone;
mod burial;
mod coulomb;
mod coupling;
mod groups;
mod hydrogen_bond;
mod reorganisation;
#[cfg(test)]
mod tests;

use md_engine::neighbours::Neighbours;
use md_engine::vec3::Vec3;

use crate::structure::{Structure, bonds_between};
use burial::{Burial, HeavyAtoms};
use coupling::Pair;
pub(crate) use coupling::TIE;
use groups::Group;
pub use groups::Ionizable;

/// pKa of an ionisable group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pka {
    /// index of the residue
    pub residue: usize,
    /// kind of the group
    pub group: Ionizable,
    /// shifts of the pKa by the environment
    pub shifts: Shifts,
}

/// Shifts of a pKa by the environment of the group, in pKa units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shifts {
    /// desolvation of the charge by the surrounding atoms
    pub desolvation: f64,
    /// interaction with carbonyl groups of the backbone that point to a buried carboxyl group
    pub reorganisation: f64,
    /// hydrogen bonds to the backbone and to side chains
    pub hydrogen_bonds: f64,
    /// Coulomb interaction with other ionisable groups
    pub charges: f64,
    /// Coulomb interaction with ions of the structure
    pub ions: f64,
}

impl Shifts {
    fn sum(&self) -> f64 {
        self.desolvation + self.reorganisation + self.hydrogen_bonds + self.charges + self.ions
    }
}

impl Pka {
    /// Returns the pKa: the value in water plus all shifts.
    pub fn value(&self) -> f64 {
        self.group.in_water() + self.shifts.sum()
    }
}

/// Returns the pKa of every ionisable group of a protein, in the order of the residues. `bonded` lists the neighbours
/// of each atom; positions are in nm. Hydrogens of the structure have no influence on the result. Groups with missing
/// atoms are left out.
pub(super) fn estimate(structure: &Structure, positions: &[Vec3], bonded: &[Vec<u32>]) -> Vec<Pka> {
    let found = groups::find(structure, positions, bonded);
    let atoms = HeavyAtoms::new(structure, positions);
    let burials: Vec<Burial> = found
        .iter()
        .map(
            |group| {
                if group.ionizable.is_some() { atoms.around(group.center, group.residue) } else { Burial::default() }
            },
        )
        .collect();
    let mut shifts: Vec<Shifts> = found.iter().zip(&burials).map(|(group, burial)| shift(group, burial)).collect();
    let links = backbone::find(structure, positions, bonded);
    backbone::add(&found, &links, &mut shifts);
    reorganisation::add(&found, &burials, &links, &mut shifts);
    coulomb::add_ions(&found, &burials, &coulomb::ions(structure, positions, &atoms), &mut shifts);
    coupling::add(&found, &pairs(&found, &burials, bonded), &mut shifts);
    let of_group = found.iter().zip(shifts).filter_map(|(group, shifts)| {
        let reported = group.ionizable.filter(|&ionizable| ionizable != Ionizable::Phosphate)?;
        Some(Pka { residue: group.residue, group: reported, shifts })
    });
    of_group.collect()
}

/// Returns the desolvation shift of a group, the only shift that depends on the burial alone.
fn shift(group: &Group, burial: &Burial) -> Shifts {
    Shifts { desolvation: burial.desolvation(group.kind.charge()), ..Shifts::default() }
}

/// Returns the pairs of groups that interact. Groups with up to three bonds between them do not interact, because the
/// pKa in water includes the effect of such near groups.
fn pairs(groups: &[Group], burials: &[Burial], bonded: &[Vec<u32>]) -> Vec<Pair> {
    let centers: Vec<Vec3> = groups.iter().map(|group| group.center).collect();
    let neighbours = Neighbours::new(None, &centers, coulomb::FAR);
    let mut pairs = vec![];
    for (a, first) in groups.iter().enumerate() {
        let mut near = vec![];
        neighbours.visit(first.center, |b, _| near.push(b as usize));
        near.retain(|&b| b < a);
        near.sort_unstable();
        for b in near {
            let second = &groups[b];
            let both = first.ionizable.is_some() && second.ionizable.is_some();
            let Some(is_iterated) = coupling::interaction(first.kind, second.kind) else { continue };
            let bonds = bonds_between(bonded, first.atom, second.atom, hydrogen_bond::BONDS);
            if both && bonds.is_some_and(|bonds| bonds <= coupling::BONDS) {
                continue;
            }
            let hydrogen_bond = match bonds {
                Some(_) => 0.0,
                None => hydrogen_bond::between(first, second, [&burials[a], &burials[b]]),
            };
            let distance = (first.center - second.center).norm();
            let coulomb = if both { coulomb::between(distance, [&burials[a], &burials[b]]) } else { 0.0 };
            if hydrogen_bond != 0.0 || coulomb != 0.0 {
                pairs.push(Pair { groups: [a, b], hydrogen_bond, coulomb, is_iterated });
            }
        }
    }
    pairs
}
