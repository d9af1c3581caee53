//! Separate blocks for atoms without charge, used when that saves work.
//!
//! In four-site water the oxygen has Lennard-Jones interactions and no charge, and the other sites have charges only.
//! Of sixteen pairs of sites six have no interaction, one has Lennard-Jones interactions, and nine have Coulomb
//! interactions. If each block holds one kind of site, only interacting pairs are listed, and each block computes
//! only one of the two terms.

/// Threshold for separate blocks: the fraction of all pairs that separate blocks leave uncomputed must be larger.
/// Separate blocks also have a cost: more columns leave some per cent more slots without an atom.
const IDLE_PAIRS: f64 = 0.05;

/// Marks the atoms without charge. The result is empty if too few pairs are saved, that is with too few uncharged
/// atoms or too few charges without Lennard-Jones interactions.
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
        // three sites; a noble gas; uncharged atoms among others that have both interactions
        assert!(kept_apart(&[-1.0, 0.5, 0.5], &[true, false, false]).is_empty());
        assert!(kept_apart(&[0.0; 3], &[true; 3]).is_empty());
        assert!(kept_apart(&[0.0, 0.5, -0.5], &[true; 3]).is_empty());
        assert!(kept_apart(&[], &[]).is_empty());
    }
}
