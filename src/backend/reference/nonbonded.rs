//! The non-bonded pairs: within the cutoff, excluded, and 1-4.

use rayon::prelude::*;

use super::neighbours::{Boxes, Neighbours};
use super::{Geometry, Sums};
use crate::backend::potential::{CoulombPotential, LjPotential};
use crate::system::{Electrostatics, ForceSettings, Pair14, System};
use crate::term::pair14;
use crate::units::COULOMB;
use crate::vec3::{Mat3, Vec3};

/// Atoms per parallel task; fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 256;

/// The pair potential of the settings.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairPotential {
    coulomb: CoulombPotential,
    lj: LjPotential,
    /// infinite where there is none, nm²
    coulomb_cutoff_squared: f64,
    lj_cutoff_squared: f64,
}

impl PairPotential {
    pub(super) fn new(settings: &ForceSettings) -> Self {
        let squared = |cutoff: Option<f64>| cutoff.map_or(f64::INFINITY, |r| r * r);
        Self {
            coulomb: CoulombPotential::new(settings),
            lj: LjPotential::new(settings),
            coulomb_cutoff_squared: squared(settings.cutoff),
            lj_cutoff_squared: squared(settings.cutoff_lj),
        }
    }

    /// f/r (kJ/mol/nm²), Coulomb and Lennard-Jones energy of an interacting pair; `charge_product` in kJ nm/mol.
    #[inline(always)]
    pub(super) fn evaluate(&self, charge_product: f64, r2: f64, lj: (f64, f64)) -> (f64, f64, f64) {
        let (mut force, mut energy_coulomb, mut energy_lj) = (0.0, 0.0, 0.0);
        if r2 <= self.coulomb_cutoff_squared {
            (force, energy_coulomb) = self.coulomb.interacting(charge_product, r2);
        }
        if r2 <= self.lj_cutoff_squared {
            let force_lj;
            (force_lj, energy_lj) = self.lj.evaluate(r2, lj);
            force += force_lj;
        }
        (force, energy_coulomb, energy_lj)
    }
}

/// Energies and virial of some atoms, half of each of their pairs.
#[derive(Clone, Copy, Default)]
struct ChunkSums {
    coulomb: f64,
    lj: f64,
    virial: Mat3,
}

/// Scratch memory of the pairs, reused in every step.
#[derive(Default)]
pub(super) struct Scratch {
    boxes: Boxes,
    chunk_sums: Vec<ChunkSums>,
}

/// Pairs within the cutoff that are not excluded. Each is visited from both atoms, which costs twice the arithmetic and
/// needs neither locks nor thread buffers.
pub(super) fn interacting_pairs(
    system: &System,
    potential: &PairPotential,
    charges: &[f64],
    geometry: Geometry,
    (scratch, sums): (&mut Scratch, &mut Sums),
) {
    let cutoff = potential.coulomb_cutoff_squared.max(potential.lj_cutoff_squared).sqrt();
    let neighbours = Neighbours::new(geometry, cutoff, &mut scratch.boxes);
    let (atoms, exclusions) = (&system.topology.atoms, &system.topology.exclusions);
    let one_chunk = |(chunk, (forces, chunk_sum)): (usize, (&mut [Vec3], &mut ChunkSums))| {
        *chunk_sum = ChunkSums::default();
        for (offset, force) in forces.iter_mut().enumerate() {
            let i = chunk * CHUNK + offset;
            let mut force_i = Vec3::ZERO;
            neighbours.for_each(i, |j, d, r2| {
                if exclusions.contains(i as u32, j as u32) {
                    return;
                }
                let lj = system.nonbonded.pair(atoms[i].lj_type, atoms[j].lj_type);
                let (f, coulomb, lj) = potential.evaluate(COULOMB * charges[i] * charges[j], r2, lj);
                force_i += d * f;
                chunk_sum.coulomb += 0.5 * coulomb;
                chunk_sum.lj += 0.5 * lj;
                chunk_sum.virial += Mat3::outer(d, d * (0.5 * f));
            });
            *force += force_i;
        }
    };
    scratch.chunk_sums.resize(sums.forces.len().div_ceil(CHUNK), ChunkSums::default());
    sums.forces.par_chunks_mut(CHUNK).zip(&mut scratch.chunk_sums).enumerate().for_each(one_chunk);
    for chunk_sum in &scratch.chunk_sums {
        sums.energies.coulomb += chunk_sum.coulomb;
        sums.energies.lj += chunk_sum.lj;
        sums.virial += chunk_sum.virial;
    }
}

/// Ewald correction of excluded pairs: subtracts their contribution to the reciprocal sum.
pub(super) fn excluded_pairs(
    pairs: impl Iterator<Item = [u32; 2]>,
    potential: &PairPotential,
    charges: &[f64],
    geometry: Geometry,
    sums: &mut Sums,
) {
    if !potential.coulomb.corrects_excluded() {
        return;
    }
    for [i, j] in pairs {
        let d = geometry.between(i, j);
        let charge_product = COULOMB * charges[i as usize] * charges[j as usize];
        let (f, energy) = potential.coulomb.excluded(charge_product, d.norm_squared());
        sums.energies.coulomb += energy;
        sums.pair([i, j], d, d * f);
    }
}

/// Energies of the interacting pairs of atom i, without their forces.
pub(super) fn pairs_of(i: u32, system: &System, potential: &PairPotential, geometry: Geometry, sums: &mut Sums) {
    let atoms = &system.topology.atoms;
    let one = &atoms[i as usize];
    for (j, other) in (0u32..).zip(atoms) {
        if i != j && !system.topology.exclusions.contains(i, j) {
            let lj = system.nonbonded.pair(one.lj_type, other.lj_type);
            let r2 = geometry.between(i, j).norm_squared();
            let (_, coulomb, lj) = potential.evaluate(COULOMB * one.charge * other.charge, r2, lj);
            sums.energies.coulomb += coulomb;
            sums.energies.lj += lj;
        }
    }
}

/// Scaled 1-4 pairs.
pub(super) fn pairs14(system: &System, pairs: &[Pair14], geometry: Geometry, sums: &mut Sums) {
    let scale = if system.settings.electrostatics == Electrostatics::Off { 0.0 } else { COULOMB };
    for pair in pairs {
        let [i, j] = pair.atoms;
        let d = geometry.between(i, j);
        let (force, coulomb, lj) = pair14(d, scale * pair.charge_product, pair.c6, pair.c12);
        sums.energies.coulomb_14 += coulomb;
        sums.energies.lj_14 += lj;
        sums.pair(pair.atoms, d, force);
    }
    sums.energies.coulomb += sums.energies.coulomb_14;
    sums.energies.lj += sums.energies.lj_14;
}
