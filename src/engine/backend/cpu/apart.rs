//! Atoms without charge, kept apart from charges where that saves work.
//!
//! In four-site water the oxygen has Lennard-Jones interactions and no charge, all other sites have a charge alone: of sixteen pairs
//! of sites six have no interaction, one has Lennard-Jones interactions, and nine have Coulomb interactions. In blocks of one
//! kind each, pairs are listed only where they interact, and each block needs only one of the two terms.

/// Atoms are kept apart where more than this fraction of all pairs needs no computation then. More columns have more slots without
/// an atom: some per cent.
const IDLE_PAIRS: f64 = 0.05;

/// The atoms without charge, or nobody where there are too few of them, or of charges without Lennard-Jones interactions.
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
