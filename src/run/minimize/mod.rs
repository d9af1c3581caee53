//! Energy minimisation: steepest descent out of clashes, then L-BFGS.
//!
//! One step is one evaluation of energy and forces at a trial displacement. The displacement is kept if the energy
//! falls. After a step that is kept, the pair (displacement, change of force) joins the history from which L-BFGS
//! computes the next direction (J. Nocedal, Math. Comput. 35, 773 (1980), doi:10.1090/S0025-5718-1980-0572855-7). If
//! the history is empty or any force is as large as in a clash, the step is a steepest-descent step along the force
//! with an adaptive length. The minimiser accepts any start positions, even if atoms overlap. In a step no atom moves
//! by more than [`MinimizeSettings::max_displacement`], a NaN force becomes a random displacement, and a NaN energy
//! counts as infinite.
//!
//! The [`Minimizer`] holds all data on which the next step depends. A minimisation that continues from a stored
//! [`Minimizer`] therefore gives the same results bit for bit. The L-BFGS history in a [`Minimizer`] has 2 ×
//! [`HISTORY`] vectors per atom.

pub(super) mod energy_surface;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::rng::{Purpose, Stream};
use crate::vec3::{Vec3, vec3};

/// Number of pairs (displacement, change of gradient) in the history of L-BFGS. More than five pairs rarely help, and
/// each pair takes 48 bytes per atom.
const HISTORY: usize = 5;
/// Force (kJ/mol/nm) that occurs only in clashes. A bond with a force constant of 3e5 kJ/mol/nm² exerts this force if
/// it is stretched by a third of its length. Larger forces are scaled down to this value. Without scaling, the largest
/// force would limit the step length, and atoms with small forces would hardly move.
pub const CLASH_FORCE: f64 = 1e4;
/// Largest allowed magnitude of a force (kJ/mol/nm). Larger forces are scaled down to this limit, so that the sum of
/// their squares stays finite for any number of atoms.
const LARGEST_FORCE: f64 = 1e100;
/// Factor by which the step length of steepest descent grows after a step that is kept. After a rejected step, the
/// length is multiplied by [`SHRINK`].
const GROW: f64 = 1.2;
const SHRINK: f64 = 0.5;
/// Length of the first step of steepest descent, as a fraction of the maximum displacement per step.
const FIRST_STEP: f64 = 0.1;
/// Sufficient decrease (Armijo condition): the energy must fall by at least this fraction of the product force ×
/// displacement.
const DECREASE: f64 = 1e-4;
/// Largest allowed ratio of two slopes of the energy: the slope at the end of a step divided by the slope at the start
/// of the step. The minimiser uses this ratio if rounding errors hide the change of the energy (approximate Wolfe
/// condition: W. W. Hager, H. Zhang, SIAM J. Optim. 16, 170 (2005), doi:10.1137/030601880).
const SLOPE: f64 = 0.8;
/// Smallest fraction of an L-BFGS displacement that the minimiser tries. If this fraction of the displacement does not
/// lower the energy, the direction and the history are discarded.
const SHORTEST_CUT: f64 = 0.01;
/// Displacement in nm below which the minimisation stalls. For comparison, the spacing of floating-point numbers at
/// 10 nm is 2e-15 nm.
const SHORTEST_STEP: f64 = 1e-10;

/// Energy surface that the minimiser descends: energy and forces as functions of the positions, and constraints.
pub trait Surface {
    /// Returns the energy (kJ/mol) at `positions` (nm) and writes the forces (kJ/mol/nm). An implementation also sets
    /// the positions of virtual sites, and sets the forces on virtual sites to zero. Energy and forces may be infinite
    /// or NaN. An error ends the minimisation.
    fn evaluate(&mut self, positions: &mut [Vec3], forces: &mut [Vec3]) -> Result<f64>;

    /// Moves `positions` along the bonds of `reference`, so that they satisfy the constraints; `reference` satisfies
    /// the constraints. Returns false if the constraints cannot be satisfied.
    fn satisfy(&mut self, reference: &[Vec3], positions: &mut [Vec3]) -> bool {
        let _ = (reference, positions);
        true
    }

    /// Moves `positions` to near positions that satisfy the constraints. Fails if there are none.
    fn enforce(&mut self, positions: &mut [Vec3]) -> Result<()> {
        let _ = positions;
        Ok(())
    }

    /// Removes from `vectors` (forces, displacements) the components that constraints at `positions` forbid.
    fn project(&mut self, positions: &[Vec3], vectors: &mut [Vec3]) {
        let _ = (positions, vectors);
    }
}

/// Convergence criterion and maximum step size of a minimisation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MinimizeSettings {
    /// convergence criterion: largest force on any atom at the minimum, kJ/mol/nm
    pub force_tolerance: f64,
    /// maximum displacement of any atom in one step, nm
    pub max_displacement: f64,
    /// relative rounding error of the energy (1e-7 for sums of `f32` terms); smaller changes of the energy are not
    /// significant
    pub energy_precision: f64,
}

impl Default for MinimizeSettings {
    fn default() -> Self {
        Self { force_tolerance: 10.0, max_displacement: 0.01, energy_precision: 1e-12 }
    }
}

/// Status of a minimisation after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// the minimisation has neither converged nor stalled
    Running,
    /// the largest force is within the force tolerance
    Converged,
    /// no displacement lowers the energy any more, because the limit of floating-point precision is reached
    Stalled,
}

/// Minimisation in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Minimizer {
    settings: MinimizeSettings,
    /// number of energy evaluations, not counting the evaluation at the start positions
    step: u64,
    status: Status,
    /// positions with the lowest energy so far; `energy` and `forces` belong to these positions, and `forces` are
    /// projected on the constraints
    positions: Vec<Vec3>,
    energy: f64,
    forces: Vec<Vec3>,
    /// length in nm of the next step of steepest descent
    length: f64,
    /// fraction of the L-BFGS direction that the next step tries
    cut: f64,
    history: VecDeque<Pair>,
    /// scratch memory for displacement, positions and forces of a trial step
    #[serde(skip)]
    trial: Trial,
}

/// Entry of the L-BFGS history: displacement s of a step, change y of the gradient in this step, and 1/(s·y).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Pair {
    displacement: Vec<Vec3>,
    gradient_change: Vec<Vec3>,
    inverse_product: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Trial {
    displacement: Vec<Vec3>,
    positions: Vec<Vec3>,
    forces: Vec<Vec3>,
}

impl Minimizer {
    /// Creates a minimiser: satisfies the constraints at the start positions and evaluates their energy and forces.
    pub fn new(settings: MinimizeSettings, mut positions: Vec<Vec3>, surface: &mut impl Surface) -> Result<Self> {
        surface.enforce(&mut positions)?;
        let mut forces = vec![Vec3::ZERO; positions.len()];
        let energy = energy_or_infinity(surface.evaluate(&mut positions, &mut forces)?);
        tame(&mut forces, 0);
        surface.project(&positions, &mut forces);
        let mut minimizer = Self {
            settings,
            step: 0,
            status: Status::Running,
            positions,
            energy,
            forces,
            length: FIRST_STEP * settings.max_displacement,
            cut: 1.0,
            history: VecDeque::new(),
            trial: Trial::default(),
        };
        minimizer.check_convergence();
        Ok(minimizer)
    }

    /// Does one step, which is one energy evaluation. Does nothing if the minimisation has converged or stalled.
    pub fn step(&mut self, surface: &mut impl Surface) -> Result<Status> {
        if self.status != Status::Running {
            return Ok(self.status);
        }
        self.choose_displacement(surface);
        let mut trial = std::mem::take(&mut self.trial);
        trial.positions.clone_from(&self.positions);
        add(&mut trial.positions, &trial.displacement, 1.0);
        self.step += 1;
        let mut accepted = false;
        if surface.satisfy(&self.positions, &mut trial.positions) {
            trial.forces.resize(self.positions.len(), Vec3::ZERO);
            let energy = energy_or_infinity(surface.evaluate(&mut trial.positions, &mut trial.forces)?);
            tame(&mut trial.forces, self.step);
            surface.project(&trial.positions, &mut trial.forces);
            for ((d, new), old) in trial.displacement.iter_mut().zip(&trial.positions).zip(&self.positions) {
                *d = *new - *old;
            }
            accepted = self.is_acceptable(energy, &trial);
            if accepted {
                self.accept(energy, &mut trial);
            }
        }
        if !accepted {
            self.reject(&trial);
        }
        self.trial = trial;
        Ok(self.status)
    }

    /// Returns the number of steps done, each of which is one energy evaluation.
    pub fn steps(&self) -> u64 {
        self.step
    }

    /// Returns the status after the last step.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Returns the lowest energy so far in kJ/mol; infinite if every energy was NaN.
    pub fn energy(&self) -> f64 {
        self.energy
    }

    /// Returns the positions (nm) with the lowest energy so far.
    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// Returns the largest force (kJ/mol/nm) at the positions of lowest energy, and the index of the atom on which it
    /// acts.
    pub fn max_force(&self) -> (f64, usize) {
        let largest = |best: (f64, usize), (i, f): (usize, &Vec3)| if f.norm() > best.0 { (f.norm(), i) } else { best };
        self.forces.iter().enumerate().fold((0.0, 0), largest)
    }

    /// Computes the displacement that the next step tries.
    fn choose_displacement(&mut self, surface: &mut impl Surface) {
        let (max_force, _) = self.max_force();
        let displacement = &mut self.trial.displacement;
        displacement.clone_from(&self.forces);
        let longest = if self.history.is_empty() {
            for d in displacement.iter_mut() {
                *d = *d * (CLASH_FORCE / d.norm()).min(1.0);
            }
            // forces are projected on the constraints again, because shortening them to `CLASH_FORCE` adds components
            // along constraints
            if max_force > CLASH_FORCE {
                surface.project(&self.positions, displacement);
            }
            self.length
        } else {
            precondition(&self.history, displacement);
            surface.project(&self.positions, displacement);
            self.cut * largest(displacement).min(self.settings.max_displacement)
        };
        let scale = longest / largest(displacement).max(f64::MIN_POSITIVE);
        displacement.iter_mut().for_each(|d| *d = *d * scale);
    }

    /// Whether the displacement of `trial`, which leads to the energy `energy`, is kept.
    fn is_acceptable(&self, energy: f64, trial: &Trial) -> bool {
        if self.energy == f64::INFINITY {
            return true;
        }
        let start = dot(&self.forces, &trial.displacement);
        let end = dot(&trial.forces, &trial.displacement);
        let indistinct = (energy - self.energy).abs() <= self.settings.energy_precision * self.energy.abs();
        start > 0.0 && (energy < self.energy - DECREASE * start || (indistinct && -end <= SLOPE * start))
    }

    fn accept(&mut self, energy: f64, trial: &mut Trial) {
        let clash = self.max_force().0 > CLASH_FORCE || largest(&trial.forces) > CLASH_FORCE;
        if clash {
            self.history.clear();
        } else {
            self.remember(trial);
        }
        self.length = (GROW * largest(&trial.displacement)).min(self.settings.max_displacement);
        self.cut = 1.0;
        self.energy = energy;
        std::mem::swap(&mut self.positions, &mut trial.positions);
        std::mem::swap(&mut self.forces, &mut trial.forces);
        self.check_convergence();
    }

    fn reject(&mut self, trial: &Trial) {
        if self.history.is_empty() {
            self.length *= SHRINK;
            if self.length < SHORTEST_STEP {
                self.status = Status::Stalled;
            }
            return;
        }
        self.cut *= SHRINK;
        if self.cut < SHORTEST_CUT {
            self.history.clear();
            self.cut = 1.0;
            self.length = largest(&trial.displacement).clamp(SHORTEST_STEP, self.settings.max_displacement);
        }
    }

    /// Adds the last step to the history if the curvature of the energy along the step is positive.
    fn remember(&mut self, trial: &Trial) {
        let mut pair = if self.history.len() == HISTORY { self.history.pop_front() } else { None }.unwrap_or(Pair {
            displacement: vec![],
            gradient_change: vec![],
            inverse_product: 0.0,
        });
        pair.displacement.clone_from(&trial.displacement);
        pair.gradient_change.clone_from(&self.forces);
        add(&mut pair.gradient_change, &trial.forces, -1.0);
        let product = dot(&pair.displacement, &pair.gradient_change);
        let size = dot(&pair.displacement, &pair.displacement) * dot(&pair.gradient_change, &pair.gradient_change);
        if product > f64::EPSILON * size.sqrt() {
            pair.inverse_product = 1.0 / product;
            self.history.push_back(pair);
        }
    }

    fn check_convergence(&mut self) {
        if self.energy.is_finite() && self.max_force().0 <= self.settings.force_tolerance {
            self.status = Status::Converged;
        }
    }
}

/// Multiplies `vectors` by the inverse Hessian that is estimated from the history (two-loop recursion of L-BFGS).
fn precondition(history: &VecDeque<Pair>, vectors: &mut [Vec3]) {
    let mut weights = [0.0; HISTORY];
    for (k, pair) in history.iter().enumerate().rev() {
        weights[k] = pair.inverse_product * dot(&pair.displacement, vectors);
        add(vectors, &pair.gradient_change, -weights[k]);
    }
    if let Some(last) = history.back() {
        let scale = 1.0 / (last.inverse_product * dot(&last.gradient_change, &last.gradient_change));
        vectors.iter_mut().for_each(|v| *v = *v * scale);
    }
    for (weight, pair) in weights.iter().zip(history) {
        let other = pair.inverse_product * dot(&pair.gradient_change, vectors);
        add(vectors, &pair.displacement, weight - other);
    }
}

/// Makes forces finite. Replaces a NaN force, which occurs if atoms coincide, by a random direction that is the same in
/// every run. Shortens forces whose square would overflow.
fn tame(forces: &mut [Vec3], step: u64) {
    for (atom, force) in forces.iter_mut().enumerate() {
        let largest = force.x.abs().max(force.y.abs()).max(force.z.abs());
        if !force.is_finite() {
            let mut stream = Stream::new(0, Purpose::Minimize, step, atom as u32);
            *force = vec3(stream.gaussian(), stream.gaussian(), stream.gaussian()) * CLASH_FORCE;
        } else if largest > LARGEST_FORCE {
            *force = *force * (LARGEST_FORCE / largest);
        }
    }
}

fn energy_or_infinity(energy: f64) -> f64 {
    if energy.is_finite() { energy } else { f64::INFINITY }
}

/// Returns the length of the longest vector.
fn largest(vectors: &[Vec3]) -> f64 {
    vectors.iter().fold(0.0, |best, v| v.norm().max(best))
}

fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

/// Computes `a += factor · b`.
fn add(a: &mut [Vec3], b: &[Vec3], factor: f64) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += *b * factor;
    }
}

#[cfg(test)]
mod tests;
