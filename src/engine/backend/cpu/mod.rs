//! CPU backend. Pair interactions, PME and bonded terms are computed in `f32` on sixteen SIMD lanes, and sums are
//! accumulated in `f64`.
//!
//! The work is split into a fixed number of partitions, by default one per thread. The sums of the partitions are added
//! in a fixed order, so that the results, bit for bit, depend only on the number of partitions. Start reading at
//! [`Cpu`].

mod apart;
mod bonded;
mod force_buffer;
mod influence_kernel;
mod mesh;
mod mesh_exchange;
mod mesh_grid;
mod mesh_kernel;
mod mesh_traffic;
mod nonbonded;
mod pair_block;
mod pair_dispersion;
mod pair_input;
mod pair_kernel;
mod pair_lj;
mod pair_radial;
mod pair_rows;
mod pair_rules;
mod pair_stages;
mod pair_types;
mod pair_variants;
mod pencils;
mod short_range;
mod spectral;
mod spectral_kernel;
#[cfg(test)]
mod tests;
mod threads;

use super::local_terms::LocalTerms;
use super::{DispersionTail, Distribution, Energies, Evaluation, ForceField, PairCounts, Phases, Workload};
use crate::cell::PeriodicCell;
use crate::ensemble::multiple_time_steps::LongRange;
use crate::error::{Problem, Result};
use crate::memory::{self, prefetch};
use crate::pair::{ListSchedule, Region};
use crate::pme::{ChargeSums, MeshPotential};
use crate::ranks::Ranks;
use crate::simd::Level;
use crate::system::{Electrostatics, ForceSettings, System};
use crate::team::Team;
use crate::units::COULOMB;
use crate::vec3::{Mat3, Vec3, vec3};
use bonded::Bonded;
use mesh::Mesh;
pub(super) use mesh_traffic::MeshTraffic;
use nonbonded::{Nonbonded, kernel_charge};
pub(super) use pair_input::{FORCE_TOLERANCE, LOWEST_R2};
pub(super) use pair_rules::{GEOMETRIC, LORENTZ_BERTHELOT};
pub(super) use pair_types::{lj_parameters, type_table};
use rayon::prelude::*;
use short_range::{BondedBuffer, ShortRange};
use std::sync::Arc;
use std::time::Instant;

/// Options of the CPU backend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuOptions {
    /// number of work partitions, on which rounding errors depend; if there are more threads than partitions, the
    /// additional threads have no work
    pub parts: usize,
    /// instruction set
    pub level: Level,
    /// radii and lifetimes of the pair lists
    pub schedule: ListSchedule,
}

/// CPU force field of one system.
pub struct Cpu {
    options: CpuOptions,
    team: Arc<Team>,
    nonbonded: Nonbonded,
    /// Coulomb mesh (PME)
    mesh: Option<Mesh>,
    /// dispersion mesh (LJ-PME)
    lj_mesh: Option<Mesh>,
    bonded: Bonded,
    thread_buffers: Vec<BondedBuffer>,
    tail: DispersionTail,
    /// virial of the pair forces in the last evaluation
    direct_virial: Mat3,
    /// energies of the Coulomb mesh and of the dispersion mesh in the last evaluation, and the sum of their virials
    reciprocal: ([f64; 2], Mat3),
    phases: Phases,
}

/// Prefetch distance, in atoms, of the loop that collects forces from the slots.
const PREFETCH_DISTANCE: usize = 64;
/// Number of atoms per parallel task, for work that takes a few operations per atom.
const ATOMS: usize = 256;

impl Cpu {
    /// Creates the force field. Returns the same error as [`super::Reference`] for a system that is not supported.
    pub fn new(system: &System, options: CpuOptions, team: Arc<Team>) -> std::result::Result<Self, Problem> {
        super::check_system(system)?;
        let mut cpu = Self::without_totals(system, &system.lj_type_counts(), options, team, &Ranks::alone());
        cpu.count_totals(system);
        Ok(cpu)
    }

    /// Creates the force field without the energies that do not depend on positions, see [`Self::count_totals`].
    /// `counts` are the numbers of atoms of each Lennard-Jones type; `system` need not contain these atoms if
    /// [`Self::select`] is called before forces are computed. The mesh sums the charges of all `ranks`.
    pub(super) fn without_totals(
        system: &System,
        counts: &[usize],
        options: CpuOptions,
        team: Arc<Team>,
        ranks: &Ranks,
    ) -> Self {
        let CpuOptions { parts, level, schedule, .. } = options;
        let mesh = |parameters, potential| Mesh::new(parameters, potential, parts, level, Arc::clone(&team), ranks);
        let coulomb_mesh = || match system.settings.electrostatics {
            Electrostatics::Pme(parameters) => Some(mesh(parameters, MeshPotential::Coulomb)),
            _ => None,
        };
        let lj_mesh = system.settings.lj_pme().map(|parameters| mesh(parameters, MeshPotential::Dispersion));
        let nonbonded = || Nonbonded::new(system, counts, schedule, parts, level, Arc::clone(&team));
        let (nonbonded, mesh) = rayon::join(nonbonded, coulomb_mesh);
        let bonded = Bonded::new(system);
        let buffer = || BondedBuffer { forces: vec![Vec3::ZERO; bonded.atoms.len()], ..Default::default() };
        Cpu {
            options,
            nonbonded,
            mesh,
            lj_mesh,
            thread_buffers: (0..parts).map(|_| buffer()).collect(),
            bonded,
            tail: DispersionTail::default(),
            direct_virial: Mat3::ZERO,
            reciprocal: Default::default(),
            phases: Phases::default(),
            team,
        }
    }

    /// Sets the energies of a system that do not depend on positions: self energies, the neutralising plasma, the
    /// dispersion correction and excluded pairs at distance zero. One rank counts them for the atoms of all ranks.
    pub(super) fn count_totals(&mut self, system: &System) {
        self.tail = DispersionTail::new(system);
        self.nonbonded.count_excluded(system);
        let atoms = &system.topology.atoms;
        if let Some(mesh) = &mut self.mesh {
            // charges are rounded as in the kernels, so that the self energy cancels the energy of the same charges
            // on the mesh
            let charges = atoms.iter().map(|atom| f64::from(kernel_charge(atom.charge)) / COULOMB.sqrt());
            mesh.charges = ChargeSums::of(charges);
        }
        if let Some(mesh) = &mut self.lj_mesh {
            mesh.charges = ChargeSums::of(atoms.iter().map(|atom| system.nonbonded.root_c6(atom.lj_type)));
        }
    }

    /// Replaces the atoms of the force field by the atoms of a domain: home atoms first, then halo atoms.
    pub(super) fn select(&mut self, settings: &ForceSettings, terms: LocalTerms, region: Region) {
        let tables = std::mem::take(&mut self.bonded.tables);
        self.bonded = Bonded::of(&terms.topology, settings.electrostatics, tables);
        for BondedBuffer { forces, .. } in &mut self.thread_buffers {
            memory::resize(forces, self.bonded.atoms.len(), Vec3::ZERO);
        }
        self.nonbonded.select(settings.electrostatics, terms, region);
    }

    /// Copies the positions of the home atoms into their slots. Without a domain decomposition all atoms are home
    /// atoms.
    pub(super) fn pack_home(&mut self, positions: &[Vec3]) {
        let start = Instant::now();
        self.nonbonded.pack(0..self.nonbonded.grid.home_blocks(), positions);
        self.phases.reduce += start.elapsed().as_secs_f64();
    }

    /// Copies the positions of the halo atoms into their slots. `positions` are the positions of all local atoms.
    pub(super) fn pack_halo(&mut self, positions: &[Vec3]) {
        let start = Instant::now();
        self.nonbonded.pack(self.nonbonded.grid.home_blocks()..self.nonbonded.grid.blocks(), positions);
        self.phases.reduce += start.elapsed().as_secs_f64();
    }

    /// Spreads the charges of the home atoms on the meshes, unless the reciprocal-space forces are skipped. All ranks
    /// that share a mesh call this function together, after [`Self::pack_home`].
    pub(super) fn spread_charges(&mut self, cell: Option<&PeriodicCell>, workload: Workload) {
        for mesh in [&mut self.mesh, &mut self.lj_mesh].into_iter().flatten() {
            if let Some(cell) = cell.filter(|_| workload.long_range != LongRange::Skipped) {
                mesh.spread(self.nonbonded.mesh_input(mesh, cell));
            }
        }
    }

    /// Computes pair interactions, bonded terms and the potential on the meshes. Slices of the pairs are computed while
    /// messages of the meshes travel. All ranks that share a mesh call this function together, after
    /// [`Self::spread_charges`]. `positions` are the packed positions.
    pub(super) fn interact(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3], workload: Workload) {
        let Cpu { options, nonbonded, mesh, lj_mesh, bonded, thread_buffers: buffers, phases, .. } = self;
        let level = options.level;
        let mut short_range =
            ShortRange { cell, positions, workload, level, nonbonded, bonded, buffers, phases, done: 0 };
        let sums = workload.energy || workload.virial;
        let (mut energies, mut virial) = ([0.0; 2], Mat3::ZERO);
        for (energy, mesh) in energies.iter_mut().zip([mesh, lj_mesh]) {
            let used = cell.filter(|_| workload.long_range != LongRange::Skipped).zip(mesh.as_mut());
            let Some((cell, mesh)) = used else { continue };
            let (own, own_virial) = mesh.solve(cell, sums, &mut || short_range.continue_pairs());
            *energy = own;
            virial += own_virial;
        }
        short_range.complete();
        self.reciprocal = (energies, virial);
        let start = Instant::now();
        self.nonbonded.sum();
        // the virial of the pair forces is computed before the mesh forces are added to the pair forces
        self.direct_virial = if workload.virial { self.nonbonded.virial(cell) } else { Mat3::ZERO };
        self.nonbonded.find_excluded_forces(cell, positions);
        self.phases.reduce += start.elapsed().as_secs_f64();
    }

    /// Computes the reciprocal-space forces on the home atoms from the potential on the meshes. The forces are added to
    /// the pair forces, stored separately, or skipped, as `workload` requests.
    pub(super) fn gather_meshes(&mut self, cell: Option<&PeriodicCell>, workload: Workload) {
        let start = Instant::now();
        let apart = match workload.long_range {
            LongRange::Ordinary => false,
            LongRange::Apart { .. } => true,
            LongRange::Skipped => return,
        };
        if apart {
            self.nonbonded.clear_apart();
        }
        for mesh in self.mesh.iter().chain(&self.lj_mesh) {
            let Some(cell) = cell else { continue };
            self.nonbonded.gather(mesh, cell, apart);
        }
        self.phases.pme_gather += start.elapsed().as_secs_f64();
    }

    /// Adds pair, mesh and bonded forces on the atoms from index `first` on, and stores the sums in `forces`, in the
    /// order of the atoms.
    pub(super) fn collect(&mut self, first: usize, forces: &mut [Vec3]) {
        let start = Instant::now();
        let Nonbonded { grid, total, excluded_forces, .. } = &self.nonbonded;
        let (bonded, thread_buffers) = (&self.bonded.atoms, &self.thread_buffers);
        let atoms = first..first + forces.len();
        let slots = grid.atom_slot[atoms.clone()].par_chunks(ATOMS);
        let chunks = forces.par_chunks_mut(ATOMS).zip(slots).enumerate();
        self.team.for_each(chunks, |(chunk, (forces, slots))| {
            collect(total, slots, forces);
            let first = (first + chunk * ATOMS) as u32;
            let index_of = |atom: u32| bonded.partition_point(|&bonded| bonded < atom);
            let range = index_of(first)..index_of(first + forces.len() as u32);
            for buffer in thread_buffers {
                for (&atom, &force) in bonded[range.clone()].iter().zip(&buffer.forces[range.clone()]) {
                    forces[(atom - first) as usize] += force;
                }
            }
        });
        for &(atom, force) in excluded_forces.forces.iter().filter(|(atom, _)| atoms.contains(atom)) {
            forces[atom - first] += force;
        }
        self.phases.reduce += start.elapsed().as_secs_f64();
    }

    /// Stores energies, virial and the separately stored mesh forces of the home atoms, after [`Self::interact`] and
    /// [`Self::gather_meshes`].
    pub(super) fn finish(&mut self, cell: Option<&PeriodicCell>, workload: Workload, out: &mut Evaluation) {
        let start = Instant::now();
        out.impulse.clear();
        if let LongRange::Apart { .. } = workload.long_range {
            self.collect_apart(out.forces.len(), &mut out.impulse.forces);
        }
        self.phases.reduce += start.elapsed().as_secs_f64();
        out.energies = if workload.energy { self.sum_energies(cell) } else { Energies::default() };
        out.virial = if workload.virial { self.sum_virial(cell) } else { Mat3::ZERO };
    }

    /// Copies the separately stored mesh forces on the first `atoms` atoms into the order of the atoms.
    fn collect_apart(&self, atoms: usize, forces: &mut Vec<Vec3>) {
        let Nonbonded { grid, apart, .. } = &self.nonbonded;
        memory::resize(forces, atoms, Vec3::ZERO);
        let chunks = forces.par_chunks_mut(ATOMS).zip(grid.atom_slot[..atoms].par_chunks(ATOMS));
        self.team.for_each(chunks, |(forces, slots)| collect(apart, slots, forces));
    }

    fn sum_energies(&self, cell: Option<&PeriodicCell>) -> Energies {
        let ([reciprocal, dispersion], _) = self.reciprocal;
        let mut energies = Energies::default();
        for buffer in &self.thread_buffers {
            energies += buffer.output.energies;
        }
        let (lj, coulomb) = self.nonbonded.energies();
        energies.lj += lj;
        energies.coulomb += coulomb + reciprocal;
        energies.coulomb_reciprocal = reciprocal;
        if let Some(cell) = cell {
            energies.dispersion_correction = self.tail.at(cell.volume()).0 + dispersion;
            energies.lj += energies.dispersion_correction;
        }
        let [coulomb, lj] = self.nonbonded.excluded_forces.energies;
        energies.coulomb += coulomb;
        energies.lj += lj;
        energies
    }

    fn sum_virial(&self, cell: Option<&PeriodicCell>) -> Mat3 {
        let mut virial = self.direct_virial + self.reciprocal.1;
        for buffer in &self.thread_buffers {
            virial += buffer.output.virial;
        }
        if let Some(cell) = cell {
            let tail = self.tail.at(cell.volume()).1;
            for (axis, row) in virial.0.iter_mut().enumerate() {
                row[axis] += tail;
            }
        }
        virial + self.nonbonded.excluded_forces.virial
    }
}

/// Copies forces from slots to the atoms in those slots.
#[inline]
fn collect(blocks: &[[f32; 24]], slots: &[u32], forces: &mut [Vec3]) {
    for (index, (force, &slot)) in forces.iter_mut().zip(slots).enumerate() {
        if let Some(&later) = slots.get(index + PREFETCH_DISTANCE) {
            prefetch(blocks, later as usize / 8);
        }
        let (values, lane) = (&blocks[slot as usize / 8], slot as usize % 8);
        *force = vec3(values[lane], values[lane + 8], values[lane + 16]).map(f64::from);
    }
}

impl Distribution for Cpu {}

impl ForceField for Cpu {
    fn description(&self) -> String {
        let (threads, level) = (self.team.threads(), self.options.level);
        format!("CPU, {threads} thread{}, {}", if threads == 1 { "" } else { "s" }, level.name())
    }

    fn rebuild(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3]) {
        let start = Instant::now();
        self.nonbonded.rebuild(cell, positions);
        self.phases.search += start.elapsed().as_secs_f64();
    }

    fn prune(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3], margin: f64) {
        let start = Instant::now();
        self.nonbonded.prune(cell, positions, margin);
        self.phases.search += start.elapsed().as_secs_f64();
    }

    fn cell_changed(&mut self, cell: Option<&PeriodicCell>) {
        self.nonbonded.place(cell);
    }

    fn evaluate(
        &mut self,
        cell: Option<&PeriodicCell>,
        positions: &[Vec3],
        workload: Workload,
        out: &mut Evaluation,
    ) -> Result<()> {
        self.pack_home(positions);
        self.spread_charges(cell, workload);
        self.interact(cell, positions, workload);
        self.gather_meshes(cell, workload);
        memory::resize(&mut out.forces, positions.len(), Vec3::ZERO);
        self.collect(0, &mut out.forces);
        self.finish(cell, workload, out);
        Ok(())
    }

    fn reciprocal_forces(&self, cell: Option<&PeriodicCell>, atoms: &[u32]) -> Option<Vec<Vec3>> {
        let cell = cell?;
        let meshes: Vec<&Mesh> = self.mesh.iter().chain(&self.lj_mesh).collect();
        let on_one = |&atom: &u32| {
            let slot = self.nonbonded.grid.atom_slot[atom as usize] as usize;
            let (block, lane, mut forces) = (slot / 8, slot % 8, [[0.0; 24]]);
            for mesh in &meshes {
                mesh.gather(self.nonbonded.mesh_input(mesh, cell), block..block + 1, &mut forces);
            }
            vec3(forces[0][lane], forces[0][lane + 8], forces[0][lane + 16]).map(f64::from)
        };
        (!meshes.is_empty()).then(|| atoms.iter().map(on_one).collect())
    }

    fn phases(&self) -> Phases {
        let mut phases = self.phases;
        for mesh in self.mesh.iter().chain(&self.lj_mesh) {
            phases.pme_spread += mesh.times.spread;
            phases.pme_solve += mesh.times.solve;
        }
        phases
    }

    fn pair_counts(&self) -> PairCounts {
        self.nonbonded.counts()
    }
}
