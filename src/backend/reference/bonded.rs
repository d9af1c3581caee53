//! The bonded terms, one plain loop each.

use super::{Geometry, Sums};
use crate::system::{Bond, BondedTerms, Torsion};
use crate::term::{CmapTable, Dihedral, angle, bond, cmap, harmonic_improper, torsion};
use crate::vec3::Vec3;

impl Geometry<'_> {
    /// The three displacements along a chain of four atoms, as [`Dihedral::new`] takes them.
    fn chain(&self, [i, j, k, l]: [u32; 4]) -> [Vec3; 3] {
        [self.between(i, j), self.between(k, j), self.between(l, k)]
    }
}

/// Every bonded term but the 1-4 pairs; `tables` are those of the correction maps' grids.
pub(super) fn evaluate(terms: &BondedTerms, tables: &[CmapTable], geometry: Geometry, sums: &mut Sums) {
    sums.energies.bond = bonds(&terms.bonds, geometry, sums);
    sums.energies.urey_bradley = bonds(&terms.urey_bradleys, geometry, sums);
    for term in &terms.angles {
        let [i, j, k] = term.atoms;
        let (u, v) = (geometry.between(i, j), geometry.between(k, j));
        let (forces, energy) = angle(u, v, term.angle, term.force_constant);
        sums.energies.angle += energy;
        sums.add(term.atoms, [u, Vec3::ZERO, v], forces);
    }
    sums.energies.proper = torsions(&terms.propers, geometry, sums);
    sums.energies.improper = torsions(&terms.impropers, geometry, sums);
    for term in &terms.harmonic_impropers {
        let chain = geometry.chain(term.atoms);
        let (forces, energy) = harmonic_improper(&dihedral(chain), term.angle, term.force_constant);
        sums.energies.improper += energy;
        sums.add(term.atoms, along(chain), forces);
    }
    for term in &terms.cmaps {
        let [a, b, c, d, e, f, g, h] = term.atoms;
        let (first, second) = ([a, b, c, d], [e, f, g, h]);
        let (phi, psi) = (geometry.chain(first), geometry.chain(second));
        let table = &tables[term.grid as usize];
        let (on_phi, on_psi, energy) = cmap(&dihedral(phi), &dihedral(psi), |phi, psi| table.patch(phi, psi));
        sums.energies.cmap += energy;
        sums.add(first, along(phi), on_phi);
        sums.add(second, along(psi), on_psi);
    }
}

fn bonds(terms: &[Bond], geometry: Geometry, sums: &mut Sums) -> f64 {
    let mut total = 0.0;
    for term in terms {
        let [i, j] = term.atoms;
        let d = geometry.between(i, j);
        let (force, energy) = bond(d, term.length, term.force_constant);
        total += energy;
        sums.pair(term.atoms, d, force);
    }
    total
}

fn torsions(terms: &[Torsion], geometry: Geometry, sums: &mut Sums) -> f64 {
    let mut total = 0.0;
    for term in terms {
        let chain = geometry.chain(term.atoms);
        let (sine, cosine) = term.phase.sin_cos();
        let (forces, energy) =
            torsion(&dihedral(chain), f64::from(term.periodicity), cosine, sine, term.force_constant);
        total += energy;
        sums.add(term.atoms, along(chain), forces);
    }
    total
}

fn dihedral([ij, kj, lk]: [Vec3; 3]) -> Dihedral<f64> {
    Dihedral::new(ij, kj, lk)
}

/// Positions of i, j, k, l relative to j.
fn along([ij, kj, lk]: [Vec3; 3]) -> [Vec3; 4] {
    [ij, Vec3::ZERO, kj, kj + lk]
}
