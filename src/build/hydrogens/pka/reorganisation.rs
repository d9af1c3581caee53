//! Shift of the pKa of the side chains of buried Asp and Glu by carbonyl groups of the backbone.
//!
//! A carbonyl group raises the pKa by 0.8 w min(1, (0.6 nm − r)/0.3 nm), with the burial weight w of the carboxyl
//! group, and the distance r between the carbonyl oxygen and the center of the carboxyl group. The distance must be
//! below 0.6 nm, and the C=O bond must point to the center (Olsson et al. 2011, doi:10.1021/ct100578z).

use md_engine::neighbours::Neighbours;

use super::Shifts;
use super::backbone::Link;
use super::burial::Burial;
use super::groups::{Contact, Group, Ionizable};
use super::hydrogen_bond::{LEAST_COSINE, cosine, ramp};

/// Largest shift of the pKa by one carbonyl group.
const STRENGTH: f64 = 0.8;
/// Limits (nm) of the distance between a carbonyl oxygen and the center of a group; the shift decreases from its
/// maximum to zero between the limits.
const RANGE: [f64; 2] = [0.3, 0.6];

/// Computes the pKa shifts by carbonyl groups of the backbone, and adds them to the shifts of Asp and Glu.
pub(super) fn add(groups: &[Group], burials: &[Burial], links: &[Link], shifts: &mut [Shifts]) {
    let carbonyls: Vec<&Contact> = links.iter().filter_map(|link| link.carbonyl.as_ref()).collect();
    let positions: Vec<_> = carbonyls.iter().map(|carbonyl| carbonyl.position).collect();
    let near = Neighbours::new(None, &positions, RANGE[1]);
    for ((group, burial), shift) in groups.iter().zip(burials).zip(shifts) {
        if !matches!(group.ionizable, Some(Ionizable::Asp | Ionizable::Glu)) || burial.weight() == 0.0 {
            continue;
        }
        near.visit(group.center, |index, displacement| {
            if cosine(group.center, carbonyls[index as usize]) > LEAST_COSINE {
                shift.reorganisation += burial.weight() * STRENGTH * ramp(displacement.norm(), RANGE);
            }
        });
    }
}
