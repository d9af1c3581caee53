//! Drops or keeps bonded terms whose energy is constant because constraints hold their atoms at fixed distances.

use rayon::prelude::*;

use crate::system::{BondedTerms, Constraints, Topology};

/// Whether bonds of constrained length and angles between three constrained distances are dropped or kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConstrainedTerms {
    /// dropped, for dynamics and minimisation: the energy of the dropped terms is constant, and constraint forces
    /// balance the forces of the dropped terms
    #[default]
    Drop,
    /// kept, for single-point energies of the whole force field
    Keep,
}

/// Drops the bonded terms whose energy is constant because of constraints. The dropped terms are bonds of constrained
/// length, and angles between three constrained distances (rigid waters; angles with hydrogen). Bonds between a virtual
/// site and the atoms of its construction are also dropped, since AMBER files contain these bonds only to mark the
/// sites.
pub(super) fn drop_constrained_terms(topology: &mut Topology, constraints: &Constraints) {
    let ordered = |i: u32, j: u32| (i.min(j), i.max(j));
    let rigid = constraints.settles.iter().flat_map(|settle| {
        let [o, h1, h2] = settle.atoms;
        [ordered(o, h1), ordered(o, h2), ordered(h1, h2)]
    });
    let constrained = constraints.bonds.iter().map(|bond| ordered(bond.atoms[0], bond.atoms[1]));
    let sites = topology.virtual_sites.iter();
    let placed = sites.flat_map(|site| site.construction.atoms().iter().map(|&atom| ordered(atom, site.site)));
    let mut fixed: Vec<(u32, u32)> = constrained.chain(rigid).chain(placed).collect();
    fixed.sort_unstable();
    let is_fixed = |i, j| fixed.binary_search(&ordered(i, j)).is_ok();
    let is_free_bond = |[i, j]: [u32; 2]| !is_fixed(i, j);
    let is_free_angle = |[i, j, k]: [u32; 3]| !(is_fixed(i, j) && is_fixed(j, k) && is_fixed(i, k));
    let BondedTerms { bonds, g96_bonds, angles, g96_angles, .. } = &mut topology.bonded;
    keep(bonds, |bond| is_free_bond(bond.atoms));
    keep(g96_bonds, |bond| is_free_bond(bond.atoms));
    keep(angles, |angle| is_free_angle(angle.atoms));
    keep(g96_angles, |angle| is_free_angle(angle.atoms));
}

/// Keeps only the terms for which `is_free` returns true.
fn keep<T: Send>(terms: &mut Vec<T>, is_free: impl Fn(&T) -> bool + Send + Sync) {
    *terms = std::mem::take(terms).into_par_iter().filter(is_free).collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{Angle, Bond, Constraint, G96Angle, G96Bond, Settle};

    #[test]
    fn constrained_terms_are_dropped_and_no_others() {
        let mut topology = Topology::default();
        let bond = |i, j| Bond { atoms: [i, j], length: 0.1, force_constant: 1.0 };
        let angle = |i, j, k| Angle { atoms: [i, j, k], angle: 1.9, force_constant: 1.0 };
        topology.bonded.bonds = vec![bond(0, 1), bond(2, 0), bond(2, 1), bond(4, 3), bond(4, 5)];
        topology.bonded.angles = vec![angle(1, 0, 2), angle(3, 4, 5)];
        let constraints = Constraints {
            settles: vec![Settle { atoms: [0, 1, 2], oh: 0.1, hh: 0.15 }],
            bonds: vec![Constraint { atoms: [3, 4], length: 0.1 }],
            ..Constraints::default()
        };
        let g96_bond = |i, j| G96Bond { atoms: [i, j], length: 0.1, force_constant: 1.0 };
        let g96_angle = |i, j, k| G96Angle { atoms: [i, j, k], angle: 1.9, force_constant: 1.0 };
        topology.bonded.g96_bonds = vec![g96_bond(0, 1), g96_bond(3, 4), g96_bond(5, 4)];
        topology.bonded.g96_angles = vec![g96_angle(1, 0, 2), g96_angle(3, 4, 5)];
        // a harmonic distance that is not a bond is kept, even if its atoms have a constraint
        topology.bonded.distances = vec![bond(3, 4)];
        drop_constrained_terms(&mut topology, &constraints);
        assert_eq!(topology.bonded.bonds, vec![bond(4, 5)]);
        assert_eq!(topology.bonded.angles, vec![angle(3, 4, 5)]);
        assert_eq!(topology.bonded.g96_bonds, vec![g96_bond(5, 4)]);
        assert_eq!(topology.bonded.g96_angles, vec![g96_angle(3, 4, 5)]);
        assert_eq!(topology.bonded.distances, vec![bond(3, 4)]);
    }
}
