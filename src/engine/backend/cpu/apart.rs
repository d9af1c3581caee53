//! Separate blocks (groups of eight atoms) for atoms without charge. Separate blocks are used if they save enough pair
//! computations.
//!
//! In four-site water the oxygen has Lennard-Jones interactions and no charge, and the other sites have charges only.
//! Of the sixteen site pairs of two molecules, six have no interaction, one has Lennard-Jones interactions, and nine
//! have Coulomb interactions. If each block holds one kind of site, pair lists contain only interacting pairs, and the
//! kernel computes only one of the two interactions for each block.

/// Threshold for separate blocks: separate blocks are used if they save the computation of more than this fraction of
/// all pairs. Separate blocks also have a cost: the spatial grid needs more columns, so a few per cent more slots are
/// empty.
const IDLE_PAIRS: f64 = 0.05;

/// Returns, for each atom, whether the atom has no charge and therefore belongs to a separate block. The result is
/// empty if separate blocks save too few pairs, because there are too few uncharged atoms or too few charged atoms
/// without Lennard-Jones interactions.
pub(super) fn kept_apart(charges: &[f32], has_lj: &[bool]) -> Vec<bool> {
    let apart: Vec<bool> = charges.iter().map(|&charge| charge == 0.0).collect();
    let fraction = |count: usize| count as f64 / charges.len().max(1) as f64;
    let uncharged = fraction(apart.iter().filter(|&&apart| apart).count());
    let only_charged = fraction(apart.iter().zip(has_lj).filter(|&(&apart, &has_lj)| !apart && !has_lj).count());
    if 2.0 * uncharged * only_charged > IDLE_PAIRS { apart } else { vec![] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_uncharged_atoms_beside_pure_charges_are_kept_apart() {
        let four_sites = kept_apart(&[0.0, 0.5, 0.5, -1.0], &[true, false, false, false]);
        assert_eq!(four_sites, [true, false, false, false]);
        // separate blocks are of no use for three-site water, for a noble gas, and for a mixture of uncharged and
        // charged atoms that all have Lennard-Jones interactions
        assert!(kept_apart(&[-1.0, 0.5, 0.5], &[true, false, false]).is_empty());
        assert!(kept_apart(&[0.0; 3], &[true; 3]).is_empty());
        assert!(kept_apart(&[0.0, 0.5, -0.5], &[true; 3]).is_empty());
        assert!(kept_apart(&[], &[]).is_empty());
    }
}
