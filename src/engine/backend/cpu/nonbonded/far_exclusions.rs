//! Excluded pairs at distances beyond the range in which the pair kernel subtracts their reciprocal-space interaction.

use super::{LjPme, Nonbonded};
use crate::cell::{PeriodicCell, displacement};
use crate::vec3::{Mat3, Vec3};

/// Largest distance, as a fraction of the cutoff, up to which the kernel corrects excluded pairs.
const NEAR_EXCLUSION: f64 = 0.8;

/// Forces, energies and virial of the excluded pairs that the kernel does not correct.
#[derive(Default)]
pub(in crate::backend::cpu) struct ExcludedForces {
    /// atoms and the forces (kJ/mol/nm) on them, two for each pair
    pub forces: Vec<(usize, Vec3)>,
    /// Coulomb energy minus its value at distance zero, and Lennard-Jones energy, kJ/mol
    pub energies: [f64; 2],
    /// kJ/mol
    pub virial: Mat3,
}

impl Nonbonded {
    /// Computes the corrections of the excluded pairs that the kernel does not correct.
    pub(in crate::backend::cpu) fn find_excluded_forces(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3]) {
        let ExcludedForces { mut forces, .. } = std::mem::take(&mut self.excluded_forces);
        forces.clear();
        let (mut energies, mut virial) = ([0.0; 2], Mat3::ZERO);
        for &[i, j] in &self.far_exclusions {
            let d = displacement(cell, positions[i as usize] - positions[j as usize]);
            let [i, j] = [i as usize, j as usize];
            let product = |charges: &[f32]| f64::from(charges[i]) * f64::from(charges[j]);
            let charges = product(&self.charges);
            let (force, coulomb) = self.coulomb.excluded(charges, d.norm_squared());
            let coulomb = coulomb - charges * self.coulomb.excluded_at_contact();
            let dispersion = self.lj_pme.as_ref();
            let (attraction, lj) = dispersion.map_or((0.0, 0.0), |LjPme { potential, charges, .. }| {
                potential.excluded(product(charges), d.norm_squared())
            });
            let force = d * (force + attraction);
            forces.extend([(i, force), (j, -force)]);
            energies[0] += coulomb;
            energies[1] += lj;
            virial += Mat3::outer(d, force);
        }
        self.excluded_forces = ExcludedForces { forces, energies, virial };
    }

    pub(super) fn find_far_exclusions(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3]) {
        self.far_exclusions.clear();
        if !self.coulomb.corrects_excluded() && self.lj_pme.is_none() {
            return;
        }
        // in the lifetime of the list, pairs move by at most the buffer. An excluded pair that is closer than the
        // cutoff by the buffer when the list is built therefore stays within the cutoff, where the kernel corrects it
        let buffer = self.schedule.outer - self.cutoff;
        let near = (NEAR_EXCLUSION * self.cutoff).min(self.cutoff - buffer).max(0.0).powi(2);
        let distance2 =
            |[i, j]: [u32; 2]| displacement(cell, positions[i as usize] - positions[j as usize]).norm_squared();
        self.far_exclusions.extend(self.excluded_pairs.iter().filter(|&&pair| distance2(pair) > near));
    }
}
