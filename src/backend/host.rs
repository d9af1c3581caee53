//! Stepping in host memory: the state, leapfrog and constraints around any [`ForceField`].
//!
//! All of it is `f64` in topology order. Sums run over fixed chunks of atoms and of constraint blocks in order, so that
//! the bits do not depend on the number of threads.

use super::{Advance, Backend, Evaluation, ForceField, Kinetic, Moment, PairCounts, Phases, Strain, Workload};
use crate::cell::PeriodicCell;
use crate::constraint::{ConstraintFailure, ConstraintPlan, Motion, SharedVectors};
use crate::ensemble::motion::{remove_translation, remove_translation_and_rotation};
use crate::error::{Error, Result};
use crate::simd::{Kernel, Level, Simd, dispatch};
use crate::system::{Molecules, State, System};
use crate::units::BOLTZMANN;
use crate::vec3::{Mat3, Vec3};
use rayon::prelude::*;
use std::ops::Range;
use std::time::Instant;

/// Atoms per unit of parallel work.
const ATOMS: usize = 1024;
/// Constraint blocks per unit of parallel work: 256 waters.
const BLOCKS: usize = 32;
/// Kinetic energy per atom, both half steps together, at which a simulation counts as blown up: 10⁶ K. kJ/mol
pub(super) const LARGEST_KINETIC: f64 = 3.0 * BOLTZMANN * 1e6;
/// Atoms named when it does, at most.
const CULPRITS: usize = 5;

/// The state of a run in host memory.
pub struct Host<F> {
    field: F,
    level: Level,
    masses: Vec<f64>,
    /// 1/mass, zero for massless sites, amu⁻¹
    inverse_masses: Vec<f64>,
    constraints: ConstraintPlan,
    cell: Option<PeriodicCell>,
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    /// positions at the start of the last step
    old: Vec<Vec3>,
    /// positions and cell of the last search, and of the last pruning
    searched: (Vec<Vec3>, Option<PeriodicCell>),
    pruned: (Vec<Vec3>, Option<PeriodicCell>),
    evaluation: Evaluation,
    kinetic_parts: Vec<f64>,
    /// atoms that constraints hold together
    groups: Molecules,
    group_parts: Vec<f64>,
    virial_parts: Vec<std::result::Result<Mat3, ConstraintFailure>>,
    phases: Phases,
}

impl<F: ForceField> Host<F> {
    /// Around a force field of the same system.
    pub fn new(system: &System, field: F, level: Level) -> Result<Self> {
        let masses: Vec<f64> = system.topology.atoms.iter().map(|atom| atom.mass).collect();
        let constraints = ConstraintPlan::new(&system.constraints, &masses)?;
        let settles = system.constraints.settles.iter().map(|settle| settle.atoms);
        let fixed = settles.flat_map(|[o, h1, h2]| [[o, h1], [o, h2]]);
        let fixed: Vec<[u32; 2]> = fixed.chain(system.constraints.bonds.iter().map(|bond| bond.atoms)).collect();
        let groups = Molecules::from_bonds(masses.len(), &fixed);
        let inverse_masses = masses.iter().map(|&m| if m > 0.0 { 1.0 / m } else { 0.0 }).collect();
        Ok(Host {
            field,
            level,
            inverse_masses,
            masses,
            constraints,
            cell: None,
            positions: vec![],
            velocities: vec![],
            old: vec![],
            searched: (vec![], None),
            pruned: (vec![], None),
            evaluation: Evaluation::default(),
            kinetic_parts: vec![],
            group_parts: vec![0.0; groups.len().div_ceil(ATOMS)],
            groups,
            virial_parts: vec![],
            phases: Phases::default(),
        })
    }

    /// Kick and drift; K of the velocities before, in kJ/mol.
    fn leap(&mut self, timestep: f64) -> f64 {
        let level = self.level;
        let atoms = self.positions.len();
        self.kinetic_parts.resize(atoms.div_ceil(ATOMS), 0.0);
        self.kinetic_parts
            .par_iter_mut()
            .zip(self.positions.par_chunks_mut(ATOMS))
            .zip(self.velocities.par_chunks_mut(ATOMS))
            .zip(self.old.par_chunks_mut(ATOMS))
            .enumerate()
            .for_each(|(chunk, (((kinetic, positions), velocities), old))| {
                let range = chunk * ATOMS..chunk * ATOMS + positions.len();
                let (masses, forces) = (&self.masses[range.clone()], &self.evaluation.forces[range.clone()]);
                let inverse_masses = &self.inverse_masses[range];
                let leap = Leap { positions, velocities, old, forces, masses, inverse_masses, timestep };
                *kinetic = dispatch(level, leap);
            });
        self.kinetic_parts.iter().sum()
    }

    /// Restore the fixed distances after a move from `old`; with `rate` = 1/timestep velocities follow. Returns
    /// Σ r⊗(m Δx).
    fn constrain(&mut self, rate: Option<f64>, virial: bool) -> Result<Mat3> {
        let blocks = self.constraints.blocks();
        if blocks == 0 {
            return Ok(Mat3::ZERO);
        }
        let velocities = rate.map(|rate| (SharedVectors::new(&mut self.velocities), rate));
        let motion = Motion { old: &self.old, positions: SharedVectors::new(&mut self.positions), velocities };
        let (plan, level) = (&self.constraints, self.level);
        self.virial_parts.resize(blocks.div_ceil(BLOCKS), Ok(Mat3::ZERO));
        self.virial_parts.par_iter_mut().enumerate().for_each(|(index, part)| {
            let blocks = index * BLOCKS..((index + 1) * BLOCKS).min(blocks);
            *part = if virial {
                dispatch(level, Constrain::<true> { plan, blocks, motion: &motion })
            } else {
                dispatch(level, Constrain::<false> { plan, blocks, motion: &motion })
            };
        });
        let mut sum = Mat3::ZERO;
        for part in &self.virial_parts {
            sum += (*part)?;
        }
        Ok(sum)
    }

    /// Refuses a kinetic energy (kJ/mol) that is not a number or beyond all bounds, and names the atoms that have it.
    fn check_motion(&self, kinetic: f64) -> Result<()> {
        if kinetic <= LARGEST_KINETIC * self.masses.len() as f64 {
            return Ok(());
        }
        let lost = |atom: &usize| !self.evaluation.forces[*atom].is_finite();
        let atoms = 0..self.masses.len();
        if let Some(atom) = atoms.clone().find(lost) {
            let culprits: Vec<u32> = atoms.filter(lost).take(CULPRITS).map(|i| i as u32).collect();
            return Err(Error::unstable(format!("the force on atom {} is not finite", atom + 1), culprits));
        }
        // what is not a number counts as faster than anything
        let energy = |atom: usize| {
            let energy = self.masses[atom] * self.velocities[atom].norm_squared();
            if energy.is_nan() { f64::INFINITY } else { energy }
        };
        let most = atoms.clone().map(energy).fold(0.0, f64::max);
        let fastest: Vec<u32> = atoms.filter(|&i| 2.0 * energy(i) >= most).take(CULPRITS).map(|i| i as u32).collect();
        let first = fastest.first().map_or(0, |&atom| atom as usize);
        let speed = self.velocities[first].norm();
        Err(Error::unstable(format!("atom {} flies off at {speed:.1e} nm/ps", first + 1), fastest))
    }
}

impl<F: ForceField> Backend for Host<F> {
    fn description(&self) -> String {
        self.field.description()
    }

    fn upload(&mut self, state: &State) -> Result<()> {
        self.cell = state.cell;
        self.positions.clone_from(&state.positions);
        self.velocities.clone_from(&state.velocities);
        self.old.clone_from(&state.positions);
        self.field.cell_changed(self.cell.as_ref());
        Ok(())
    }

    fn download(&self, state: &mut State) -> Result<()> {
        state.cell = self.cell;
        state.positions.clone_from(&self.positions);
        state.velocities.clone_from(&self.velocities);
        Ok(())
    }

    fn before_move(&self) -> (Option<PeriodicCell>, &[Vec3]) {
        (self.cell, &self.old)
    }

    fn cell(&self) -> Option<PeriodicCell> {
        self.cell
    }

    fn rebuild_pairs(&mut self) {
        self.field.rebuild(self.cell.as_ref(), &self.positions);
        self.searched.0.clone_from(&self.positions);
        self.searched.1 = self.cell;
    }

    fn strain(&self) -> Strain {
        let (searched, cell) = &self.searched;
        let scale = match (&self.cell, cell) {
            (Some(now), Some(then)) => (now.volume() / then.volume()).cbrt(),
            _ => 1.0,
        };
        // the largest of several numbers is the same in any order
        let displacement = (self.positions.par_iter().with_min_len(ATOMS).zip(searched))
            .map(|(now, then)| (*now - *then * scale).norm_squared())
            .reduce(|| 0.0, f64::max)
            .sqrt();
        Strain { scale, displacement }
    }

    fn prune_pairs(&mut self) {
        self.field.prune(self.cell.as_ref(), &self.positions);
        self.pruned.0.clone_from(&self.positions);
        self.pruned.1 = self.cell;
    }

    fn list_positions(&self, moment: Moment, state: &mut State) -> Result<()> {
        let (positions, cell) = match moment {
            Moment::Search => &self.searched,
            Moment::Prune => &self.pruned,
        };
        state.positions.clone_from(positions);
        state.cell = *cell;
        Ok(())
    }

    fn forces(&mut self, workload: Workload) -> Result<()> {
        self.field.evaluate(self.cell.as_ref(), &self.positions, workload, &mut self.evaluation)
    }

    fn evaluation(&self) -> &Evaluation {
        &self.evaluation
    }

    fn advance(&mut self, Advance { timestep, virial, .. }: Advance) -> Result<Kinetic> {
        let start = Instant::now();
        let before = self.leap(timestep);
        let leapt = Instant::now();
        let moved = self.constrain(Some(1.0 / timestep), virial)?;
        let constrained = Instant::now();
        let after = self.kinetic_energy();
        self.check_motion(before + after)?;
        self.phases.constraints += (constrained - leapt).as_secs_f64();
        self.phases.update += (leapt - start).as_secs_f64() + constrained.elapsed().as_secs_f64();
        Ok(Kinetic { before, after, constraint_virial: moved.scaled(1.0 / (timestep * timestep)) })
    }

    fn kinetic_energy(&mut self) -> f64 {
        self.kinetic_parts.resize(self.positions.len().div_ceil(ATOMS), 0.0);
        self.kinetic_parts
            .par_iter_mut()
            .zip(self.velocities.par_chunks(ATOMS).zip(self.masses.par_chunks(ATOMS)))
            .for_each(|(kinetic, (velocities, masses))| *kinetic = chunk_kinetic(velocities, masses));
        self.kinetic_parts.iter().sum()
    }

    fn internal_kinetic_energy(&mut self) -> f64 {
        let (groups, masses, velocities) = (&self.groups, &self.masses, &self.velocities);
        self.group_parts.par_iter_mut().enumerate().for_each(|(chunk, part)| {
            let range = chunk * ATOMS..((chunk + 1) * ATOMS).min(groups.len());
            *part = range.map(|group| internal_kinetic(groups.atoms(group), masses, velocities)).sum();
        });
        self.group_parts.iter().sum()
    }

    fn scale_velocities(&mut self, factor: f64) {
        self.velocities.par_iter_mut().with_min_len(ATOMS).for_each(|v| *v = *v * factor);
    }

    fn scale_cell(&mut self, factor: f64) -> Result<()> {
        self.cell = self.cell.map(|cell| cell.scaled(factor));
        self.old.copy_from_slice(&self.positions);
        self.positions.par_iter_mut().with_min_len(ATOMS).for_each(|r| *r = *r * factor);
        self.constrain(None, false)?;
        self.field.cell_changed(self.cell.as_ref());
        Ok(())
    }

    fn remove_motion(&mut self) {
        if self.cell.is_some() {
            remove_translation(&self.masses, &mut self.velocities);
        } else {
            remove_translation_and_rotation(&self.masses, &self.positions, &mut self.velocities);
        }
    }

    fn phases(&self) -> Phases {
        let mut phases = self.field.phases();
        phases.update += self.phases.update;
        phases.constraints += self.phases.constraints;
        phases
    }

    fn pair_counts(&self) -> PairCounts {
        self.field.pair_counts()
    }
}

#[inline(always)]
fn chunk_kinetic(velocities: &[Vec3], masses: &[f64]) -> f64 {
    velocities.iter().zip(masses).map(|(v, m)| 0.5 * m * v.norm_squared()).sum()
}

/// Σ ½ m v² − ½ (Σ m v)²/Σ m of some atoms.
fn internal_kinetic(atoms: &[u32], masses: &[f64], velocities: &[Vec3]) -> f64 {
    if atoms.len() == 1 {
        return 0.0;
    }
    let (mut mass, mut momentum, mut kinetic) = (0.0, Vec3::ZERO, 0.0);
    for (m, v) in atoms.iter().map(|&atom| (masses[atom as usize], velocities[atom as usize])) {
        mass += m;
        momentum += v * m;
        kinetic += 0.5 * m * v.norm_squared();
    }
    kinetic - 0.5 * momentum.norm_squared() / mass
}

/// One chunk of v(t+½) = v(t−½) + F dt/m, x(t+dt) = x(t) + v(t+½) dt.
struct Leap<'a> {
    positions: &'a mut [Vec3],
    velocities: &'a mut [Vec3],
    old: &'a mut [Vec3],
    forces: &'a [Vec3],
    masses: &'a [f64],
    inverse_masses: &'a [f64],
    timestep: f64,
}

impl Kernel for Leap<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd>(self) -> f64 {
        let kinetic = chunk_kinetic(self.velocities, self.masses);
        self.old.copy_from_slice(self.positions);
        for (i, (r, v)) in self.positions.iter_mut().zip(self.velocities).enumerate() {
            *v += self.forces[i] * (self.inverse_masses[i] * self.timestep);
            *r += *v * self.timestep;
        }
        kinetic
    }
}

/// Some blocks of constraints, compiled for an instruction set.
struct Constrain<'a, 'b, const VIRIAL: bool> {
    plan: &'a ConstraintPlan,
    blocks: Range<usize>,
    motion: &'a Motion<'b>,
}

impl<const VIRIAL: bool> Kernel for Constrain<'_, '_, VIRIAL> {
    type Output = std::result::Result<Mat3, ConstraintFailure>;

    #[inline(always)]
    fn run<S: Simd>(self) -> Self::Output {
        // SAFETY: the ranges of one call to `constrain` do not overlap, and it alone works on these arrays
        unsafe { self.plan.apply::<VIRIAL>(self.blocks, self.motion) }
    }
}
