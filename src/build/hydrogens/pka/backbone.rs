//! Shift of the pKa of a group by hydrogen bonds to the backbone.
//!
//! Amide N–H groups stabilise the negative charge of acids, and carbonyl groups stabilise the positive charge of
//! histidine. The shift is at most 0.85 pKa units, and decreases linearly to zero between two lengths of the hydrogen
//! bond. The shift is also proportional to the cosine of the angle at the hydrogen. This cosine is 1 for a linear
//! hydrogen bond (Olsson et al. 2011, doi:10.1021/ct100578z).

use md_engine::neighbours::Neighbours;
use md_engine::vec3::Vec3;

use super::Shifts;
use super::groups::{self, Contact, Group, Kind};
use super::hydrogen_bond::{LEAST_COSINE, STRENGTH, closest, cosine, ramp};
use crate::structure::Structure;

/// Distances (nm) between which the pKa shift by a hydrogen bond from a backbone N–H decreases from its maximum to
/// zero, for each kind of acid.
const TO_AMIDES: [(Kind, [f64; 2]); 3] =
    [(Kind::Carboxyl, [0.20, 0.30]), (Kind::Thiol, [0.30, 0.40]), (Kind::Phenol, [0.22, 0.32])];
/// Distances (nm) between which the pKa shift of histidine by a hydrogen bond to a backbone C=O decreases from its
/// maximum to zero.
const TO_CARBONYLS: [f64; 2] = [0.20, 0.30];
/// Largest distance (nm) between the centre of a group and a backbone nitrogen or oxygen that can form a hydrogen bond.
/// The value is the largest distance in [`TO_AMIDES`] and [`TO_CARBONYLS`], plus the N–H bond length or the distance
/// between a hydrogen and the centre of histidine.
const REACH: f64 = 0.6;

/// Polar atoms of a peptide bond.
pub(super) struct Link {
    /// hydrogen and nitrogen of the amide; `None` for proline
    pub(super) amide: Option<[Contact; 2]>,
    /// oxygen, with the carbon as its parent
    pub(super) carbonyl: Option<Contact>,
}

/// Finds the polar atoms of all peptide bonds.
pub(super) fn find(structure: &Structure, positions: &[Vec3], bonded: &[Vec<u32>]) -> Vec<Link> {
    let residue_of = structure.residue_of_atoms();
    let is_peptide = |&[carbon, nitrogen]: &[usize; 2]| {
        structure.atoms[carbon].name == "C"
            && structure.atoms[nitrogen].name == "N"
            && residue_of[carbon] != residue_of[nitrogen]
    };
    let ordered = |bond: &[u32; 2]| {
        let [a, b] = bond.map(|atom| atom as usize);
        [[a, b], [b, a]].into_iter().find(is_peptide)
    };
    let link = |[carbon, nitrogen]: [usize; 2]| {
        let oxygen = bonded[carbon].iter().find(|&&to| structure.atoms[to as usize].element == 8);
        let heavy = bonded[nitrogen].iter().filter(|&&to| structure.atoms[to as usize].element > 1).count();
        let hydrogen = if heavy == 2 { groups::hydrogens(positions, bonded, nitrogen, 1) } else { vec![] };
        Link {
            amide: hydrogen
                .first()
                .map(|&hydrogen| [hydrogen, Contact { position: positions[nitrogen], parent: None }]),
            carbonyl: oxygen
                .map(|&oxygen| Contact { position: positions[oxygen as usize], parent: Some(positions[carbon]) }),
        }
    };
    structure.bonds.iter().filter_map(ordered).map(link).collect()
}

/// Computes the pKa shifts by hydrogen bonds to the backbone, and adds them to the shifts of all groups.
pub(super) fn add(found: &[Group], links: &[Link], shifts: &mut [Shifts]) {
    let amides: Vec<&[Contact; 2]> = links.iter().filter_map(|link| link.amide.as_ref()).collect();
    let carbonyls: Vec<&Contact> = links.iter().filter_map(|link| link.carbonyl.as_ref()).collect();
    let nitrogens: Vec<Vec3> = amides.iter().map(|amide| amide[1].position).collect();
    let oxygens: Vec<Vec3> = carbonyls.iter().map(|carbonyl| carbonyl.position).collect();
    let near_nitrogens = Neighbours::new(None, &nitrogens, REACH);
    let near_oxygens = Neighbours::new(None, &oxygens, REACH);
    for (group, shift) in found.iter().zip(shifts) {
        if group.kind == Kind::Imidazole {
            near_oxygens.visit(group.center, |index, _| {
                let oxygen = Contact { parent: None, ..*carbonyls[index as usize] };
                shift.hydrogen_bonds += bond(&group.to_others, &[oxygen], TO_CARBONYLS);
            });
        } else if let Some((_, range)) = TO_AMIDES.iter().find(|(kind, _)| *kind == group.kind) {
            near_nitrogens.visit(group.center, |index, _| {
                shift.hydrogen_bonds -= bond(amides[index as usize], &group.to_others, *range);
            });
        }
    }
}

/// Returns the magnitude of the pKa shift by a hydrogen bond from `donors` to `acceptors`.
fn bond(donors: &[Contact], acceptors: &[Contact], range: [f64; 2]) -> f64 {
    let Some((distance, donor, acceptor)) = closest(donors, acceptors) else { return 0.0 };
    let cosine = cosine(acceptors[acceptor].position, &donors[donor]);
    if cosine > LEAST_COSINE { STRENGTH * ramp(distance, range) * cosine } else { 0.0 }
}
