//! The CPU's fast path: pair interactions, mesh and bonded terms in `f32` on sixteen lanes, sums in `f64`.
//!
//! Work is cut into as many fixed parts as there are threads; sums are taken in order of the parts, so that a run on
//! the same number of threads gives the same bits. Start reading at [`Cpu`].

mod bonded;
mod mesh;
mod mesh_kernel;
mod nonbonded;
mod pair_kernel;
mod pair_lj;
mod pair_radial;
mod pair_rows;
mod spectral;
mod threads;

use super::{DispersionTail, Energies, Evaluation, ForceField, PairCounts, Phases, Workload};
use crate::cell::PeriodicCell;
use crate::error::{Problem, Result};
use crate::pair::ListSchedule;
use crate::simd::{Level, dispatch};
use crate::system::{Electrostatics, System};
use crate::vec3::{Mat3, Vec3, vec3};
use bonded::{Bonded, BondedKernel, BondedOutput};
use mesh::{Mesh, MeshInput};
use nonbonded::Nonbonded;
pub(super) use nonbonded::{coulomb_tables, lj_parameters, type_table};
pub(super) use pair_lj::{GEOMETRIC, LORENTZ_BERTHELOT, TYPE_TABLE};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Mutex;
use std::time::Instant;
use threads::{Parts, part};

/// How the CPU computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuOptions {
    /// parts the work is cut into: the number of threads
    pub threads: usize,
    /// instruction set
    pub level: Level,
    /// list radii and lifetimes
    pub schedule: ListSchedule,
}

/// Bonded forces of one part, by bonded atom.
#[derive(Default)]
struct BondedShare {
    forces: Vec<Vec3>,
    output: BondedOutput,
    seconds: f64,
}

/// Forces of one system.
pub struct Cpu {
    options: CpuOptions,
    nonbonded: Nonbonded,
    mesh: Option<Mesh>,
    mesh_forces: Vec<[f32; 24]>,
    bonded: Bonded,
    shares: Vec<Mutex<BondedShare>>,
    tail: DispersionTail,
    phases: Phases,
}

/// Atoms per unit of parallel work where the work is a few operations per atom.
const ATOMS: usize = 2048;

impl Cpu {
    /// Refuses what [`super::Reference`] refuses.
    pub fn new(system: &System, options: CpuOptions) -> std::result::Result<Self, Problem> {
        super::check_system(system)?;
        let CpuOptions { threads, level, schedule } = options;
        let charges = system.topology.atoms.iter().map(|atom| atom.charge).collect();
        let mesh = match system.settings.electrostatics {
            Electrostatics::Pme(parameters) => Some(Mesh::new(parameters, charges, threads, level)),
            _ => None,
        };
        let bonded = Bonded::new(system);
        let share = || Mutex::new(BondedShare { forces: vec![Vec3::ZERO; bonded.atoms.len()], ..Default::default() });
        Ok(Cpu {
            options,
            nonbonded: Nonbonded::new(system, schedule, threads, level),
            mesh,
            mesh_forces: vec![],
            shares: (0..threads).map(|_| share()).collect(),
            bonded,
            tail: DispersionTail::new(system),
            phases: Phases::default(),
        })
    }

    /// Pairs and bonded terms: every part does its share of both.
    fn short_range(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3], workload: Workload) {
        let (bonded, shares, level) = (&self.bonded, &self.shares, self.options.level);
        let sums = workload.energy || workload.virial;
        let count = self.nonbonded.parts();
        self.nonbonded.forces(cell, workload.energy, |index| {
            let start = Instant::now();
            let mut share = shares[index].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let BondedShare { forces, output, seconds } = &mut *share;
            forces.fill(Vec3::ZERO);
            *output = BondedOutput::default();
            let parts = Parts { index, count };
            if sums {
                dispatch(level, BondedKernel::<true> { bonded, parts, cell, positions, forces, output });
            } else {
                dispatch(level, BondedKernel::<false> { bonded, parts, cell, positions, forces, output });
            }
            *seconds = start.elapsed().as_secs_f64();
        });
    }

    /// Reciprocal space; returns its energy and virial.
    fn long_range(&mut self, cell: Option<&PeriodicCell>, sums: bool) -> (f64, Mat3) {
        let (Some(mesh), Some(cell)) = (&mut self.mesh, cell) else { return (0.0, Mat3::ZERO) };
        let Nonbonded { grid, slot_charges, packed, .. } = &self.nonbonded;
        let input = MeshInput { grid, cell, packed, charges: slot_charges };
        let result = mesh.solve(input, sums);
        let start = Instant::now();
        self.mesh_forces.resize(grid.blocks(), [0.0; 24]);
        gather_parts(mesh, input, 0..self.options.threads, self.options.threads, &mut self.mesh_forces);
        self.phases.pme_gather += start.elapsed().as_secs_f64();
        result
    }

    /// Pair, mesh and bonded forces into one array in topology order.
    fn collect_forces(&mut self, forces: &mut Vec<Vec3>) {
        let Nonbonded { grid, total, .. } = &self.nonbonded;
        let (mesh_forces, meshed) = (&self.mesh_forces, self.mesh.is_some());
        forces.resize(grid.atom_slot.len(), Vec3::ZERO);
        forces.par_chunks_mut(ATOMS).zip(grid.atom_slot.par_chunks(ATOMS)).for_each(|(forces, slots)| {
            for (force, &slot) in forces.iter_mut().zip(slots) {
                let (block, lane) = (slot as usize / 8, slot as usize % 8);
                let at = |values: &[f32; 24]| vec3(values[lane], values[lane + 8], values[lane + 16]).map(f64::from);
                *force = at(&total[block]);
                if meshed {
                    *force += at(&mesh_forces[block]);
                }
            }
        });
        for share in &mut self.shares {
            let share = share.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
            for (&atom, &force) in self.bonded.atoms.iter().zip(&share.forces) {
                forces[atom as usize] += force;
            }
        }
    }

    fn sum_energies(&mut self, cell: Option<&PeriodicCell>, reciprocal: f64) -> Energies {
        let mut energies = Energies::default();
        for share in &mut self.shares {
            energies += share.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()).output.energies;
        }
        let (lj, coulomb) = self.nonbonded.energies();
        energies.lj += lj;
        energies.coulomb += coulomb + reciprocal;
        energies.coulomb_reciprocal = reciprocal;
        if let Some(cell) = cell {
            energies.dispersion_correction = self.tail.at(cell.volume()).0;
            energies.lj += energies.dispersion_correction;
        }
        energies
    }

    fn sum_virial(&mut self, cell: Option<&PeriodicCell>, reciprocal: Mat3) -> Mat3 {
        let mut virial = self.nonbonded.virial(cell) + reciprocal;
        for share in &mut self.shares {
            virial += share.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()).output.virial;
        }
        if let Some(cell) = cell {
            let tail = self.tail.at(cell.volume()).1;
            for (axis, row) in virial.0.iter_mut().enumerate() {
                row[axis] += tail;
            }
        }
        virial
    }
}

/// Mesh forces of the blocks of the parts in `range`, each part by one thread; `forces` are those blocks. Halves the
/// range down to single parts, because parts differ in length and a list of them would have to be allocated.
fn gather_parts(mesh: &Mesh, input: MeshInput<'_>, range: Range<usize>, count: usize, forces: &mut [[f32; 24]]) {
    if range.len() == 1 {
        mesh.gather(input, Parts { index: range.start, count }, forces);
        return;
    }
    let middle = range.start + range.len() / 2;
    let first = |index| part(input.grid.blocks(), index, count).start;
    let (left, right) = forces.split_at_mut(first(middle) - first(range.start));
    rayon::join(
        || gather_parts(mesh, input, range.start..middle, count, left),
        || gather_parts(mesh, input, middle..range.end, count, right),
    );
}

impl ForceField for Cpu {
    fn description(&self) -> String {
        let CpuOptions { threads, level, .. } = self.options;
        format!("CPU, {threads} thread{}, {}", if threads == 1 { "" } else { "s" }, level.name())
    }

    fn rebuild(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3]) {
        let start = Instant::now();
        self.nonbonded.rebuild(cell, positions);
        self.phases.search += start.elapsed().as_secs_f64();
    }

    fn prune(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3]) {
        let start = Instant::now();
        self.nonbonded.prune(cell, positions);
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
        let start = Instant::now();
        self.nonbonded.pack(positions);
        let packed = Instant::now();
        self.short_range(cell, positions, workload);
        let short = packed.elapsed().as_secs_f64();
        let (reciprocal, reciprocal_virial) = self.long_range(cell, workload.energy || workload.virial);
        let reducing = Instant::now();
        self.nonbonded.reduce();
        self.collect_forces(&mut out.forces);
        out.energies = if workload.energy { self.sum_energies(cell, reciprocal) } else { Energies::default() };
        out.virial = if workload.virial { self.sum_virial(cell, reciprocal_virial) } else { Mat3::ZERO };
        self.nonbonded.far_exclusions(cell, positions, |[i, j], d, f, energy| {
            out.forces[i] += d * f;
            out.forces[j] -= d * f;
            if workload.energy {
                out.energies.coulomb += energy;
            }
            if workload.virial {
                out.virial += Mat3::outer(d, d * f);
            }
        });
        let bonded = self.shares.iter_mut().map(|share| share.get_mut().map_or(0.0, |s| s.seconds)).sum::<f64>()
            / self.options.threads as f64;
        self.phases.bonded += bonded;
        self.phases.pairs += short - bonded;
        self.phases.reduce += (packed - start).as_secs_f64() + reducing.elapsed().as_secs_f64();
        Ok(())
    }

    fn phases(&self) -> Phases {
        let mut phases = self.phases;
        if let Some(mesh) = &self.mesh {
            phases.pme_spread = mesh.times.spread;
            phases.pme_solve = mesh.times.solve;
        }
        phases
    }

    fn pair_counts(&self) -> PairCounts {
        self.nonbonded.counts()
    }
}
