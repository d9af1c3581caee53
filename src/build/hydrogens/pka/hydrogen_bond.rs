//! Shifts of pKa values by hydrogen bonds between side chains.
//!
//! The shift is at most 0.85 pKa units and decreases linearly between two distances that depend on the kinds of the two
//! groups. If the hydrogens of a group have fixed positions, the distance is measured from the hydrogen. In this case,
//! the shift is also proportional to the cosine of the angle at the hydrogen. The cosine is 1 for a linear hydrogen
//! bond (Olsson et al. 2011, doi:10.1021/ct100578z).

use md_engine::vec3::Vec3;

use super::burial::Burial;
use super::groups::{Contact, Group, Kind};

/// Largest shift of a pKa by a hydrogen bond.
pub(super) const STRENGTH: f64 = 0.85;
/// Cosine of the angle at the hydrogen below which there is no hydrogen bond.
pub(super) const LEAST_COSINE: f64 = 0.001;
/// Groups that are connected by at most `BONDS` bonds form no hydrogen bond.
pub(super) const BONDS: usize = 4;
/// Distances (nm) between which the pKa shift decreases from its maximum to zero, for pairs of kinds of groups. For
/// pairs that are not listed, [`USUAL`] applies.
const RANGES: [(Kind, Kind, [f64; 2]); 25] = [
    (Kind::Carboxyl, Kind::Carboxyl, [0.25, 0.35]),
    (Kind::Carboxyl, Kind::Guanidinium, [0.185, 0.285]),
    (Kind::Carboxyl, Kind::Ammonium, [0.285, 0.385]),
    (Kind::Carboxyl, Kind::Imidazole, [0.20, 0.30]),
    (Kind::Carboxyl, Kind::Amide, [0.20, 0.30]),
    (Kind::Carboxyl, Kind::Indole, [0.20, 0.30]),
    (Kind::Carboxyl, Kind::Hydroxyl, [0.265, 0.365]),
    (Kind::Carboxyl, Kind::Phenol, [0.265, 0.365]),
    (Kind::Carboxyl, Kind::Amine, [0.285, 0.385]),
    (Kind::Guanidinium, Kind::Thiol, [0.25, 0.40]),
    (Kind::Guanidinium, Kind::Phenol, [0.25, 0.40]),
    (Kind::Imidazole, Kind::Amide, [0.20, 0.30]),
    (Kind::Imidazole, Kind::Phenol, [0.20, 0.30]),
    (Kind::Thiol, Kind::Thiol, [0.30, 0.50]),
    (Kind::Thiol, Kind::Indole, [0.25, 0.35]),
    (Kind::Thiol, Kind::Hydroxyl, [0.35, 0.45]),
    (Kind::Thiol, Kind::Amide, [0.25, 0.35]),
    (Kind::Thiol, Kind::Phenol, [0.35, 0.45]),
    (Kind::Thiol, Kind::Amine, [0.30, 0.45]),
    (Kind::Phenol, Kind::Phenol, [0.35, 0.45]),
    (Kind::Phenol, Kind::Amine, [0.30, 0.45]),
    (Kind::Phenol, Kind::Amide, [0.25, 0.35]),
    (Kind::Phenol, Kind::Indole, [0.25, 0.35]),
    (Kind::Phenol, Kind::Hydroxyl, [0.35, 0.45]),
    (Kind::Hydroxyl, Kind::Hydroxyl, [0.35, 0.45]),
];
const USUAL: [f64; 2] = [0.30, 0.40];
/// pKa shifts of buried pairs, for pairs of kinds whose shift does not depend on the geometry (Olsson et al. 2011).
const BURIED: [(Kind, Kind, f64); 3] =
    [(Kind::Carboxyl, Kind::Imidazole, 1.60), (Kind::Thiol, Kind::Imidazole, 1.60), (Kind::Thiol, Kind::Thiol, 3.60)];
/// A pair of groups counts as buried if the numbers of heavy atoms around the two groups add up to more than
/// `BURIED_TOGETHER`, or if each number exceeds `BURIED_EACH`.
const BURIED_TOGETHER: f64 = 900.0;
const BURIED_EACH: f64 = 400.0;

/// Returns the value in a table for a pair of kinds of groups; the order of the two kinds does not matter.
fn value<T: Copy>(table: &[(Kind, Kind, T)], a: Kind, b: Kind) -> Option<T> {
    let is_pair = |&&(first, second, _): &&(Kind, Kind, T)| (first, second) == (a, b) || (first, second) == (b, a);
    table.iter().find(is_pair).map(|(.., value)| *value)
}

/// Ratio of the shift at a distance (nm) to the largest shift. The ratio is 1 up to `near`, and decreases linearly to 0
/// at `far`.
pub(super) fn ramp(distance: f64, [near, far]: [f64; 2]) -> f64 {
    ((far - distance) / (far - near)).clamp(0.0, 1.0)
}

/// Returns the smallest distance (nm) between an atom of `a` and an atom of `b`, and the index of each of these two
/// atoms.
pub(super) fn closest(a: &[Contact], b: &[Contact]) -> Option<(f64, usize, usize)> {
    let pairs =
        a.iter().enumerate().flat_map(|(i, first)| b.iter().enumerate().map(move |(j, second)| (i, first, j, second)));
    let distances = pairs.map(|(i, first, j, second)| ((first.position - second.position).norm(), i, j));
    distances.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// Cosine of the angle between two directions: from the parent to the donor, and from the donor to `acceptor`. The
/// cosine is 1 if the three positions lie on a line in this order. The result is zero for donors without a parent.
pub(super) fn cosine(acceptor: Vec3, donor: &Contact) -> f64 {
    let Some(parent) = donor.parent else { return 0.0 };
    let (bond, line) = (donor.position - parent, acceptor - donor.position);
    let lengths = bond.norm() * line.norm();
    if lengths > 0.0 { bond.dot(line) / lengths } else { 0.0 }
}

/// Magnitude of the pKa shift by a hydrogen bond between two groups.
pub(super) fn between(first: &Group, second: &Group, burials: [&Burial; 2]) -> f64 {
    let kinds = [first.kind, second.kind];
    let range = value(&RANGES, first.kind, second.kind).unwrap_or(USUAL);
    let (mut a, mut b) = (first.contacts(second.kind).to_vec(), second.contacts(first.kind).to_vec());
    let Some((distance, i, j)) = closest(&a, &b).filter(|(distance, ..)| *distance < range[1]) else { return 0.0 };
    let [n, m] = burials.map(|burial| burial.count);
    let is_buried = n + m > BURIED_TOGETHER || (n > BURIED_EACH && m > BURIED_EACH);
    if let Some(shift) = value(&BURIED, first.kind, second.kind).filter(|_| is_buried) {
        return shift;
    }
    let has_angle = kinds.iter().any(|kind| kind.has_angle());
    let angle = |a: &Contact, b: &Contact| match (a.parent, b.parent) {
        _ if !has_angle => 1.0,
        (Some(_), _) => cosine(b.position, a).max(0.0),
        (None, _) => cosine(a.position, b).max(0.0),
    };
    let shift = STRENGTH * ramp(distance, range) * angle(&a[i], &b[j]);
    match kinds {
        [Kind::Carboxyl, Kind::Guanidinium] | [Kind::Guanidinium, Kind::Carboxyl] => {
            // two oxygens and two hydrogens can form two hydrogen bonds; the search for the second bond leaves out the
            // atoms of the first bond
            a.remove(i);
            b.remove(j);
            let other = closest(&a, &b).map(|(distance, i, j)| STRENGTH * ramp(distance, range) * angle(&a[i], &b[j]));
            shift + other.unwrap_or(0.0)
        }
        [Kind::Carboxyl, Kind::Carboxyl] => shift * (1.0 + Burial::pair_weight(burials)),
        _ => shift,
    }
}
