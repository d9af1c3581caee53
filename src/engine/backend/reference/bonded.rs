//! Reference bonded terms: one plain loop for each list of the table ([`bonded_terms`]), and one for correction maps
//! (CMAP).

use super::{Geometry, Sums};
use crate::system::{BondedTerm, BondedTerms, bonded_terms};
use crate::term::{CmapTable, DISPLACEMENTS, Dihedral, cmap, relative_positions};
use crate::vec3::Vec3;

impl Geometry<'_> {
    /// Returns the displacements (nm) that the formula of a bonded term needs, between pairs of the `atoms` of the
    /// term.
    fn displacements<const N: usize, const E: usize>(&self, atoms: [u32; N]) -> [Vec3; E] {
        std::array::from_fn(|k| {
            let [i, j] = DISPLACEMENTS[k];
            self.between(atoms[i], atoms[j])
        })
    }
}

/// Evaluates all bonded terms except the 1-4 pairs; `tables` are the interpolation tables of the correction maps
/// (CMAP).
pub(super) fn evaluate(terms: &BondedTerms, tables: &[CmapTable], geometry: Geometry, sums: &mut Sums) {
    macro_rules! lists {
        ($($(#[$doc:meta])* $energy:ident {
            $($list:ident: $Term:ident($n:literal, $e:literal, $p:literal) $name:literal),+
        })*) => {
            $($(sums.energies.$energy += list::<_, $n, $e, $p>(&terms.$list, geometry, sums);)+)*
        };
    }
    bonded_terms!(lists);
    for term in &terms.cmaps {
        let [a, b, c, d, e, f, g, h] = term.atoms;
        let (first, second) = ([a, b, c, d], [e, f, g, h]);
        let (phi, psi) = (geometry.displacements(first), geometry.displacements(second));
        let table = &tables[term.grid as usize];
        let (on_phi, on_psi, energy) = cmap(&Dihedral::new(phi), &Dihedral::new(psi), |phi, psi| table.patch(phi, psi));
        sums.energies.cmap += energy;
        sums.add(first, relative_positions(phi), on_phi);
        sums.add(second, relative_positions(psi), on_psi);
    }
}

/// Adds the forces of the terms of one list, and returns the energy of the list.
fn list<K: BondedTerm<N, E, P>, const N: usize, const E: usize, const P: usize>(
    terms: &[K],
    geometry: Geometry,
    sums: &mut Sums,
) -> f64 {
    let mut total = 0.0;
    for term in terms {
        let displacements = geometry.displacements(term.atoms());
        let (forces, energy) = K::evaluate(displacements, term.parameters());
        total += energy;
        sums.add(term.atoms(), relative_positions(displacements), forces);
    }
    total
}
