//! Stepping in host memory: the state, leapfrog and constraints around any [`ForceField`].
//!
//! All of it is `f64` in topology order. Sums run over fixed sections of atoms in order, so that
//! the bits do not depend on the number of threads.

use super::{Advance, Backend, Evaluation, ForceField, Kinetic, Moment, PairCounts, Phases, Workload};
use crate::cell::PeriodicCell;
use crate::constraint::{ConstraintFailure, ConstraintPlan, Motion, SharedVectors};
use crate::ensemble::barostat::{Dilation, Scaling, check_room, pressure};
use crate::ensemble::motion::{remove_translation, remove_translation_and_rotation};
use crate::ensemble::thermostat::{Rescaling, scaling_work};
use crate::error::{Error, Result};
use crate::memory;
use crate::pair::ListSchedule;
use crate::simd::{Kernel, Level, Simd, dispatch};
use crate::system::{Coupling, Molecules, State, System};
use crate::team::Team;
use crate::units::BOLTZMANN;
use crate::vec3::{Mat3, Vec3};
use rayon::prelude::*;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Atoms per unit of parallel work.
const ATOMS: usize = 1024;
/// Kinetic energy per atom, both half steps together, at which a simulation counts as blown up: 10⁶ K. kJ/mol
pub(super) const LARGEST_KINETIC: f64 = 3.0 * BOLTZMANN * 1e6;
/// Atoms named when it does, at most.
const CULPRITS: usize = 5;

/// The state of a run in host memory.
pub struct Host<F> {
    field: F,
    level: Level,
    team: Arc<Team>,
    masses: Vec<f64>,
    /// 1/mass, zero for massless sites, amu⁻¹
    inverse_masses: Vec<f64>,
    constraints: ConstraintPlan,
    /// the longer of both, nm; infinite without
    cutoff: f64,
    cell: Option<PeriodicCell>,
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    /// positions at the start of the last step
    old: Vec<Vec3>,
    /// positions and cell of the last search, and of the last pruning
    searched: (Vec<Vec3>, Option<PeriodicCell>),
    pruned: (Vec<Vec3>, Option<PeriodicCell>),
    evaluation: Evaluation,
    coupling: Coupling,
    /// of the last move, kJ/mol, where it was asked for
    constraint_virial: Mat3,
    /// the last move of each section of the constraints
    moves: Vec<Moved>,
    /// atoms that constraints hold together
    groups: Molecules,
    group_parts: Vec<f64>,
    phases: Phases,
}

impl<F: ForceField> Host<F> {
    /// Around a force field of the same system.
    pub fn new(system: &System, field: F, level: Level, team: Arc<Team>) -> Result<Self> {
        let masses: Vec<f64> = system.topology.atoms.iter().map(|atom| atom.mass).collect();
        let groups = || {
            let settles = system.constraints.settles.iter().map(|settle| settle.atoms);
            let fixed = settles.flat_map(|[o, h1, h2]| [[o, h1], [o, h2]]);
            let fixed: Vec<[u32; 2]> = fixed.chain(system.constraints.bonds.iter().map(|bond| bond.atoms)).collect();
            Molecules::from_bonds(masses.len(), &fixed)
        };
        let (constraints, groups) = rayon::join(|| ConstraintPlan::new(&system.constraints, &masses), groups);
        let constraints = constraints?;
        let inverse_masses = masses.iter().map(|&m| if m > 0.0 { 1.0 / m } else { 0.0 }).collect();
        Ok(Host {
            field,
            level,
            team,
            inverse_masses,
            masses,
            moves: vec![Moved::NONE; constraints.sections()],
            constraints,
            cutoff: system.settings.longest_cutoff(),
            cell: None,
            positions: vec![],
            velocities: vec![],
            old: vec![],
            searched: (vec![], None),
            pruned: (vec![], None),
            evaluation: Evaluation::default(),
            coupling: Coupling::default(),
            constraint_virial: Mat3::ZERO,
            group_parts: vec![0.0; groups.len().div_ceil(ATOMS)],
            groups,
            phases: Phases::default(),
        })
    }

    /// Leapfrog with constraints, section by section: what a section needs stays in a cache through all of it.
    fn leap(&mut self, Advance { timestep, virial, .. }: Advance) -> Result<Mat3> {
        std::mem::swap(&mut self.old, &mut self.positions);
        let velocities = SharedVectors::new(&mut self.velocities);
        let motion = &Motion {
            old: &self.old,
            positions: SharedVectors::new(&mut self.positions),
            velocities: Some((velocities, 1.0 / timestep)),
        };
        let (velocities, _) = motion.velocities.as_ref().expect("given above");
        let (plan, forces, level) = (&self.constraints, &self.evaluation.forces, self.level);
        let (masses, inverse_masses) = (&self.masses, &self.inverse_masses);
        self.team.for_each(self.moves.par_iter_mut().enumerate(), |(section, moved)| {
            let leap = Leap { plan, section, motion, velocities, forces, masses, inverse_masses, timestep };
            *moved = if virial { dispatch(level, Move::<true>(leap)) } else { dispatch(level, Move::<false>(leap)) };
        });
        let mut sum = Mat3::ZERO;
        for moved in &self.moves {
            sum += moved.constraint_virial?;
        }
        Ok(sum)
    }

    /// Restore the fixed distances after a move from `old` that was no step in time.
    fn constrain(&mut self) -> Result<()> {
        let motion = &Motion { old: &self.old, positions: SharedVectors::new(&mut self.positions), velocities: None };
        let (plan, level) = (&self.constraints, self.level);
        self.team.for_each(self.moves.par_iter_mut().enumerate(), |(section, moved)| {
            moved.constraint_virial = dispatch(level, Constrain { plan, section, motion });
        });
        for moved in &self.moves {
            moved.constraint_virial?;
        }
        Ok(())
    }

    /// Half a step before and after the last move, kJ/mol.
    fn kinetic_energies(&self) -> [f64; 2] {
        self.moves.iter().fold([0.0; 2], |[before, after], moved| [before + moved.before, after + moved.after])
    }

    /// Of the present velocities, kJ/mol.
    fn kinetic_energy(&mut self) -> f64 {
        let (plan, velocities, masses) = (&self.constraints, &self.velocities, &self.masses);
        self.team.for_each(self.moves.par_iter_mut().enumerate(), |(section, moved)| {
            let atoms = plan.atoms(section);
            moved.after = kinetic(&velocities[atoms.clone()], &masses[atoms]);
        });
        self.moves.iter().map(|moved| moved.after).sum()
    }

    /// That of the motion inside groups of atoms which constraints hold together, about the centre of each, kJ/mol.
    fn internal_kinetic_energy(&mut self) -> f64 {
        let (groups, masses, velocities) = (&self.groups, &self.masses, &self.velocities);
        self.team.for_each(self.group_parts.par_iter_mut().enumerate(), |(chunk, part)| {
            let range = chunk * ATOMS..((chunk + 1) * ATOMS).min(groups.len());
            *part = range.map(|group| internal_kinetic(groups.atoms(group), masses, velocities)).sum();
        });
        self.group_parts.iter().sum()
    }

    /// Of forces and constraint forces, kJ/mol.
    fn virial_trace(&self) -> f64 {
        (self.evaluation.virial + self.constraint_virial).trace()
    }

    /// Without the centripetal part of constraints, which keep their groups from being scaled.
    fn scaled_virial_trace(&mut self) -> f64 {
        self.virial_trace() + 2.0 * self.internal_kinetic_energy()
    }

    fn scale_velocities(&mut self, factor: f64) {
        self.team.for_each(self.velocities.par_iter_mut(), |v| *v = *v * factor);
    }

    /// Multiply the cell and all positions, then restore the fixed distances.
    fn scale_cell(&mut self, factor: f64) -> Result<()> {
        self.cell = self.cell.map(|cell| cell.scaled(factor));
        self.old.copy_from_slice(&self.positions);
        self.team.for_each(self.positions.par_iter_mut(), |r| *r = *r * factor);
        self.constrain()?;
        self.field.cell_changed(self.cell.as_ref());
        Ok(())
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
        memory::copy(&state.positions, &mut self.positions);
        memory::copy(&state.velocities, &mut self.velocities);
        memory::copy(&state.positions, &mut self.old);
        self.coupling = state.coupling;
        self.field.cell_changed(self.cell.as_ref());
        Ok(())
    }

    fn download(&self, state: &mut State) -> Result<()> {
        state.cell = self.cell;
        memory::copy(&self.positions, &mut state.positions);
        memory::copy(&self.velocities, &mut state.velocities);
        state.coupling = self.coupling;
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
        memory::copy(&self.positions, &mut self.searched.0);
        self.searched.1 = self.cell;
    }

    fn overdue(&mut self, lists: &ListSchedule, _: bool) -> Result<Option<u64>> {
        let (searched, cell) = &self.searched;
        let scale = match (&self.cell, cell) {
            (Some(now), Some(then)) => (now.volume() / then.volume()).cbrt(),
            _ => 1.0,
        };
        // the largest of several numbers is the same in any order
        let longest_squared = (self.positions.par_iter().with_min_len(ATOMS).zip(searched))
            .map(|(now, then)| (*now - *then * scale).norm_squared())
            .reduce(|| 0.0, f64::max);
        Ok(lists.may_miss(self.cutoff, scale, longest_squared).then_some(0))
    }

    fn prune_pairs(&mut self, foresight: f64) {
        let foreseen = &mut self.pruned.0;
        if foresight > 0.0 {
            memory::resize(foreseen, self.positions.len(), Vec3::ZERO);
            let flights = foreseen.par_iter_mut().zip(&self.positions).zip(&self.velocities);
            self.team.for_each(flights, |((to, from), v)| *to = *from + *v * foresight);
        } else {
            memory::copy(&self.positions, foreseen);
        }
        self.pruned.1 = self.cell;
        self.field.prune(self.cell.as_ref(), &self.pruned.0);
    }

    fn list_positions(&self, moment: Moment, state: &mut State) -> Result<()> {
        let (positions, cell) = match moment {
            Moment::Search => &self.searched,
            Moment::Prune => &self.pruned,
        };
        memory::copy(positions, &mut state.positions);
        state.cell = *cell;
        Ok(())
    }

    fn forces(&mut self, workload: Workload) -> Result<()> {
        self.field.evaluate(self.cell.as_ref(), &self.positions, workload, &mut self.evaluation)
    }

    fn evaluation(&self) -> &Evaluation {
        &self.evaluation
    }

    fn advance(&mut self, advance: Advance) -> Result<Kinetic> {
        let start = Instant::now();
        self.constraint_virial = self.leap(advance)?.scaled(1.0 / advance.timestep.powi(2));
        let [before, after] = self.kinetic_energies();
        self.check_motion(before + after)?;
        let threads = self.team.threads() as f64;
        let constraints = self.moves.iter().map(|moved| moved.constraining.as_secs_f64()).sum::<f64>() / threads;
        self.phases.constraints += constraints;
        self.phases.update += start.elapsed().as_secs_f64() - constraints;
        Ok(Kinetic { before, after, constraint_virial: self.constraint_virial })
    }

    fn couple(&mut self, rescaling: Rescaling) -> Result<()> {
        let [before, after] = self.kinetic_energies();
        let factor = rescaling.factor(0.5 * (before + after))?;
        self.coupling.thermostat_work += scaling_work(after, factor);
        self.scale_velocities(factor);
        Ok(())
    }

    fn dilate(&mut self, dilation: Dilation) -> Result<()> {
        let Some(cell) = self.cell else { return Ok(()) };
        let ([before, after], volume) = (self.kinetic_energies(), cell.volume());
        let measured = pressure(0.5 * (before + after), self.virial_trace(), volume);
        let scaling = dilation.scaling(measured, volume)?;
        let kinetic = self.kinetic_energy();
        let scaled = self.scaled_virial_trace();
        self.coupling.barostat_work += scaling.kinetic_work(kinetic);
        self.coupling.unsettled = scaling.length_factor.ln();
        self.coupling.barostat_work += Scaling::half_potential_work(self.coupling.unsettled, scaled);
        self.scale_cell(scaling.length_factor)?;
        self.scale_velocities(scaling.velocity_factor);
        self.cell.map_or(Ok(()), |cell| check_room(&cell, self.cutoff))
    }

    fn settle(&mut self) -> Result<()> {
        let change = std::mem::take(&mut self.coupling.unsettled);
        let scaled = self.scaled_virial_trace();
        self.coupling.barostat_work += Scaling::half_potential_work(change, scaled);
        Ok(())
    }

    fn coupling(&self) -> Result<Coupling> {
        Ok(self.coupling)
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

/// Σ ½ m v²
#[inline(always)]
fn kinetic(velocities: &[Vec3], masses: &[f64]) -> f64 {
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

/// One section of a step: v(t+½) = v(t−½) + F dt/m, x(t+dt) = x(t) + v(t+½) dt, then the fixed distances.
struct Leap<'a> {
    plan: &'a ConstraintPlan,
    section: usize,
    motion: &'a Motion<'a>,
    velocities: &'a SharedVectors<'a>,
    forces: &'a [Vec3],
    masses: &'a [f64],
    inverse_masses: &'a [f64],
    timestep: f64,
}

/// What came of it.
#[derive(Clone)]
struct Moved {
    /// kinetic energies half a step before and after, kJ/mol
    before: f64,
    after: f64,
    /// Σ r⊗(m Δx) of the constraints
    constraint_virial: std::result::Result<Mat3, ConstraintFailure>,
    /// time spent on them
    constraining: Duration,
}

impl Moved {
    /// before the first
    const NONE: Self =
        Moved { before: 0.0, after: 0.0, constraint_virial: Ok(Mat3::ZERO), constraining: Duration::ZERO };
}

/// [`Leap`] with or without the virial of the constraints.
struct Move<'a, const VIRIAL: bool>(Leap<'a>);

impl<const VIRIAL: bool> Kernel for Move<'_, VIRIAL> {
    type Output = Moved;

    #[inline(always)]
    fn run<S: Simd>(self) -> Moved {
        let Leap { plan, section, motion, velocities, forces, masses, inverse_masses, timestep } = self.0;
        let atoms = plan.atoms(section);
        let (masses, forces) = (&masses[atoms.clone()], &forces[atoms.clone()]);
        let before = {
            // SAFETY: sections share no atom, each is moved by one thread, and these slices end here
            let (positions, velocities) =
                unsafe { (motion.positions.slice(atoms.clone()), velocities.slice(atoms.clone())) };
            let (old, inverse_masses) = (&motion.old[atoms.clone()], &inverse_masses[atoms.clone()]);
            let before = kinetic(velocities, masses);
            for (i, (r, v)) in positions.iter_mut().zip(velocities).enumerate() {
                *v += forces[i] * (inverse_masses[i] * timestep);
                *r = old[i] + *v * timestep;
            }
            before
        };
        let start = Instant::now();
        // SAFETY: as above
        let constraint_virial = unsafe { plan.apply::<VIRIAL>(section, motion) };
        let constraining = start.elapsed();
        // SAFETY: as above
        let after = kinetic(unsafe { velocities.slice(atoms) }, masses);
        Moved { before, after, constraint_virial, constraining }
    }
}

/// The constraints of one section, compiled for an instruction set.
struct Constrain<'a> {
    plan: &'a ConstraintPlan,
    section: usize,
    motion: &'a Motion<'a>,
}

impl Kernel for Constrain<'_> {
    type Output = std::result::Result<Mat3, ConstraintFailure>;

    #[inline(always)]
    fn run<S: Simd>(self) -> Self::Output {
        // SAFETY: `Host::constrain` gives each section to one thread, and it alone works on these arrays
        unsafe { self.plan.apply::<false>(self.section, self.motion) }
    }
}
