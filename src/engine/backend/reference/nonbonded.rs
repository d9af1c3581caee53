//! Reference non-bonded pairs: pairs within the cutoff, excluded pairs, and 1-4 pairs.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

use super::neighbours::{Boxes, Neighbours};
use super::{Geometry, Sums};
use crate::backend::potential::{CoulombPotential, DispersionPotential, InducedDipole, LjPotential};
use crate::system::{Electrostatics, ForceSettings, Pair14, System};
use crate::term::pair14;
use crate::units::COULOMB;
use crate::vec3::{Mat3, Vec3};

/// Number of atoms per parallel task. The size is fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 256;

/// Pair potential of the force settings.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairPotential {
    coulomb: CoulombPotential,
    lj: LjPotential,
    induced_dipole: InducedDipole,
    dispersion: Option<DispersionPotential>,
    /// squared cutoffs, infinite without a cutoff, nm²
    coulomb_cutoff_squared: f64,
    lj_cutoff_squared: f64,
}

impl PairPotential {
    pub(super) fn new(settings: &ForceSettings) -> Self {
        let squared = |cutoff: Option<f64>| cutoff.map_or(f64::INFINITY, |r| r * r);
        Self {
            coulomb: CoulombPotential::new(settings),
            lj: LjPotential::new(settings),
            induced_dipole: InducedDipole::new(settings),
            dispersion: DispersionPotential::new(settings),
            coulomb_cutoff_squared: squared(settings.cutoff),
            lj_cutoff_squared: squared(settings.cutoff_lj),
        }
    }

    /// Returns f/r (kJ/mol/nm²), Coulomb energy and Lennard-Jones energy (both kJ/mol) of an interacting pair.
    #[inline(always)]
    pub(super) fn evaluate(&self, pair: PairParameters, r2: f64) -> (f64, f64, f64) {
        let (mut force, mut energy_coulomb, mut energy_lj) = (0.0, 0.0, 0.0);
        if r2 <= self.coulomb_cutoff_squared {
            (force, energy_coulomb) = self.coulomb.interacting(pair.charges, r2);
        }
        if r2 <= self.lj_cutoff_squared {
            let force_lj;
            (force_lj, energy_lj) = self.lj.evaluate(r2, pair.lj.0, pair.lj.1);
            force += force_lj;
            if pair.c4 != 0.0 {
                let (force_dipole, energy_dipole) = self.induced_dipole.evaluate(r2, pair.c4);
                force += force_dipole;
                energy_lj += energy_dipole;
            }
            if let Some(dispersion) = &self.dispersion {
                let (force_mesh, energy_mesh) = dispersion.interacting(pair.dispersion, r2);
                force += force_mesh;
                energy_lj += energy_mesh;
            }
        }
        (force, energy_coulomb, energy_lj)
    }
}

/// Parameters of a pair of atoms.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairParameters {
    /// product of the charges, kJ nm/mol
    charges: f64,
    /// c6 (kJ/mol nm⁶) and c12 (kJ/mol nm¹²)
    lj: (f64, f64),
    c4: f64,
    /// product √(c6_i c6_j) of the LJ-PME mesh, kJ/mol nm⁶
    dispersion: f64,
}

/// Charges and √c6 of the atoms, which are spread onto the Coulomb and the LJ-PME mesh.
#[derive(Clone, Debug)]
pub(super) struct Charges {
    /// charge in e, one per atom
    pub(super) coulomb: Vec<f64>,
    /// √c6 in kJ^½/mol^½ nm³, one per atom
    pub(super) dispersion: Vec<f64>,
}

impl Charges {
    pub(super) fn new(system: &System) -> Self {
        let atoms = system.topology.atoms.iter();
        Charges {
            coulomb: atoms.clone().map(|atom| atom.charge).collect(),
            dispersion: atoms.map(|atom| system.nonbonded.root_c6(atom.lj_type)).collect(),
        }
    }

    /// Returns the parameters of the pair i, j.
    #[inline(always)]
    pub(super) fn pair(&self, system: &System, [i, j]: [usize; 2]) -> PairParameters {
        let atoms = &system.topology.atoms;
        PairParameters {
            charges: COULOMB * self.coulomb[i] * self.coulomb[j],
            lj: system.nonbonded.pair(atoms[i].lj_type, atoms[j].lj_type),
            c4: system.nonbonded.c4(atoms[i].lj_type, atoms[j].lj_type),
            dispersion: self.dispersion[i] * self.dispersion[j],
        }
    }
}

/// Energies and virial of a chunk of atoms. Each atom contributes half the energy and virial of each of its pairs.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct ChunkSums {
    coulomb: f64,
    lj: f64,
    virial: Mat3,
}

/// Results of the pair loops for consecutive chunks of atoms.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct PairSums {
    /// forces on the atoms of the chunks, kJ/mol/nm
    forces: Vec<Vec3>,
    chunks: Vec<ChunkSums>,
}

impl PairSums {
    /// Adds the results to `sums`. `first` is the first atom of the first chunk. Returns the atom after the last chunk.
    pub(super) fn add_to(&self, sums: &mut Sums, first: usize) -> usize {
        let end = first + self.forces.len();
        for (sum, force) in sums.forces[first..end].iter_mut().zip(&self.forces) {
            *sum += *force;
        }
        for chunk in &self.chunks {
            sums.energies.coulomb += chunk.coulomb;
            sums.energies.lj += chunk.lj;
            sums.virial += chunk.virial;
        }
        end
    }
}

/// Returns the atoms whose pairs a rank computes: consecutive chunks. The shares of the ranks follow each other.
pub(super) fn share(atoms: usize, rank: usize, ranks: usize) -> Range<usize> {
    let bound = |rank: usize| (atoms.div_ceil(CHUNK) * rank / ranks * CHUNK).min(atoms);
    bound(rank)..bound(rank + 1)
}

/// Computes energies, forces and virial of the pairs within the cutoff that are not excluded, for the atoms of a
/// [`share`]. Each pair is computed twice, once for each of its atoms, which doubles the arithmetic but needs no locks
/// and no force buffers per thread. `boxes` is scratch memory.
pub(super) fn interacting_pairs(
    system: &System,
    potential: &PairPotential,
    charges: &Charges,
    geometry: Geometry,
    atoms: Range<usize>,
    boxes: &mut Boxes,
    sums: &mut PairSums,
) {
    let cutoff = potential.coulomb_cutoff_squared.max(potential.lj_cutoff_squared).sqrt();
    let neighbours = Neighbours::new(geometry, cutoff, boxes);
    let exclusions = &system.topology.exclusions;
    let one_chunk = |(chunk, (forces, chunk_sum)): (usize, (&mut [Vec3], &mut ChunkSums))| {
        *chunk_sum = ChunkSums::default();
        for (offset, force) in forces.iter_mut().enumerate() {
            let i = atoms.start + chunk * CHUNK + offset;
            let mut force_i = Vec3::ZERO;
            neighbours.for_each(i, |j, d, r2| {
                if exclusions.contains(i as u32, j as u32) {
                    return;
                }
                let (f, coulomb, lj) = potential.evaluate(charges.pair(system, [i, j]), r2);
                force_i += d * f;
                chunk_sum.coulomb += 0.5 * coulomb;
                chunk_sum.lj += 0.5 * lj;
                chunk_sum.virial += Mat3::outer(d, d * (0.5 * f));
            });
            *force = force_i;
        }
    };
    sums.forces.resize(atoms.len(), Vec3::ZERO);
    sums.chunks.resize(atoms.len().div_ceil(CHUNK), ChunkSums::default());
    sums.forces.par_chunks_mut(CHUNK).zip(&mut sums.chunks).enumerate().for_each(one_chunk);
}

/// Subtracts the contribution of excluded pairs to the reciprocal sums (Ewald correction).
pub(super) fn excluded_pairs(
    pairs: impl Iterator<Item = [u32; 2]>,
    system: &System,
    potential: &PairPotential,
    charges: &Charges,
    geometry: Geometry,
    sums: &mut Sums,
) {
    if !potential.coulomb.corrects_excluded() && potential.dispersion.is_none() {
        return;
    }
    for [i, j] in pairs {
        let d = geometry.between(i, j);
        let (r2, pair) = (d.norm_squared(), charges.pair(system, [i as usize, j as usize]));
        let (mut f, energy) = potential.coulomb.excluded(pair.charges, r2);
        sums.energies.coulomb += energy;
        if let Some(dispersion) = &potential.dispersion {
            let (force, energy) = dispersion.excluded(pair.dispersion, r2);
            f += force;
            sums.energies.lj += energy;
        }
        sums.pair([i, j], d, d * f);
    }
}

/// Returns the energies of the interacting pairs of atom i, without forces.
pub(super) fn pairs_of(
    i: u32,
    system: &System,
    potential: &PairPotential,
    charges: &Charges,
    geometry: Geometry,
    sums: &mut Sums,
) {
    for j in 0..system.topology.atoms.len() as u32 {
        if i != j && !system.topology.exclusions.contains(i, j) {
            let r2 = geometry.between(i, j).norm_squared();
            let (_, coulomb, lj) = potential.evaluate(charges.pair(system, [i as usize, j as usize]), r2);
            sums.energies.coulomb += coulomb;
            sums.energies.lj += lj;
        }
    }
}

/// Adds energies, forces and virial of the scaled 1-4 pairs.
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
