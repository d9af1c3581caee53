//! Coupled constraints: chains, branches, rings (`constraints = "all-bonds"`).
//!
//! Coupled constraints are solved like SHAKE clusters, by Newton's method with a matrix A that is the same in all
//! iterations. The elements of the matrix A are A_kl = (Σ ± w) d_k · d_l, where d_k and d_l are the bond vectors of
//! constraints k and l at the start of the step. The sum is over the atoms that constraints k and l share, and w is the
//! inverse mass of a shared atom. The sign is + if both bonds begin or both end at the shared atom, and − otherwise.
//! The matrix A is symmetric and positive definite. The matrix is sparse, because its elements are zero for constraints
//! that share no atom. The matrix is factored once per step, in an elimination order that is found once per run. In the
//! elimination order the factors of a chain have no fill-in, and the factors of a ring have one additional element per
//! bond. The cost is linear in the number of bonds. For every topology the solver either satisfies all constraints
//! within the tolerance or returns an error. Cf. V. Kräutler, W. F. van Gunsteren, P. H. Hünenberger, J. Comput. Chem.
//! 22, 501 (2001), doi:10.1002/1096-987X(20010415)22:5<501::AID-JCC1021>3.0.CO;2-V.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

use super::sparse::{Pattern, Values, eliminate};
use super::{ConstraintFailure, Drift, Motion, SharedVectors};
use crate::system::Constraint;
use crate::team::locked;
use crate::vec3::{Mat3, Vec3};

/// Maximum number of iterations. A cluster that has not converged after this number of iterations is an error. Each
/// iteration reduces the error by a factor of ten even for bonds that rotate by 0.1 rad in a step.
const MAX_ITERATIONS: usize = 100;

/// A cluster of coupled constraints.
#[derive(Debug)]
pub(super) struct Coupled {
    /// constraints in elimination order
    pub(super) constraints: Vec<Constraint>,
    /// inverse masses (1/amu) of the two atoms of each constraint
    pub(super) inverse_mass: Vec<[f64; 2]>,
    pub(super) pattern: Pattern,
    /// coupling of two constraints for each element of the sparsity pattern: ± the inverse mass (1/amu) of the shared
    /// atom, or 0 for fill-in
    coupling: Vec<f64>,
    /// work space, kept between steps so that a step allocates no memory; locking never waits, because only one thread
    /// works on a cluster
    scratch: Mutex<Scratch>,
}

#[derive(Debug)]
pub(super) struct Scratch {
    /// bond vectors at the start of the step, nm
    pub(super) bonds: Vec<Vec3>,
    multipliers: Vec<f64>,
    /// residuals of the constraints, which the solver replaces by the changes of the Lagrange multipliers
    change: Vec<f64>,
    pub(super) matrix: Values,
}

impl Coupled {
    /// Prepares the solver of a connected cluster with at most one constraint between any two atoms. `inverse_mass`
    /// returns the inverse mass of an atom in 1/amu.
    pub(super) fn new(constraints: &[Constraint], inverse_mass: impl Fn(u32) -> f64) -> Self {
        let (order, pattern) = eliminate(neighbors(constraints));
        let constraints: Vec<Constraint> = order.iter().map(|&k| constraints[k as usize]).collect();
        let mut coupling = vec![];
        for (k, c) in constraints.iter().enumerate() {
            for p in pattern.column(k) {
                coupling.push(shared_mass(c, &constraints[pattern.row(p)], &inverse_mass));
            }
        }
        let n = constraints.len();
        let scratch = Mutex::new(Scratch {
            bonds: vec![Vec3::ZERO; n],
            multipliers: vec![0.0; n],
            change: vec![0.0; n],
            matrix: pattern.values(),
        });
        let inverse_mass = constraints.iter().map(|c| c.atoms.map(&inverse_mass)).collect();
        Self { constraints, inverse_mass, pattern, coupling, scratch }
    }

    /// Corrects positions until all constraints are satisfied. Returns the sum Σ r⊗(m Δx) in amu nm² over the atoms,
    /// with the mass m, position r and correction Δx of each atom.
    ///
    /// # Safety
    /// All atom indices of the cluster are in range of the arrays of `motion`, and no other thread accesses the data of
    /// these atoms during the call.
    pub(super) unsafe fn shake(&self, motion: &Motion<'_>, tolerance: f64) -> Result<Mat3, ConstraintFailure> {
        let mut scratch = self.prepare(|atom| motion.old[atom as usize]);
        // SAFETY: the caller guarantees the conditions under `# Safety` of this function
        unsafe { self.iterate(&mut scratch, &motion.positions, motion.velocities.as_ref(), tolerance) }?;
        let outer = |(&bond, &multiplier): (&Vec3, &f64)| Mat3::outer(bond, bond).scaled(multiplier);
        Ok(scratch.bonds.iter().zip(&scratch.multipliers).map(outer).fold(Mat3::ZERO, |a, b| a + b))
    }

    /// Satisfies the constraints at the end of a drift.
    ///
    /// # Safety
    /// The conditions of [`Self::shake`] hold.
    pub(super) unsafe fn finish_drift(&self, drift: &Drift<'_>, tolerance: f64) -> Result<(), ConstraintFailure> {
        let &Drift { positions, velocities, half } = drift;
        // SAFETY: the caller guarantees the conditions under `# Safety` for all atoms of this cluster
        unsafe {
            let mut scratch = self.prepare(|atom| positions.get(atom) - velocities.get(atom) * half);
            self.solve_projection(&mut scratch, velocities)?;
            for k in 0..self.constraints.len() {
                let change = scratch.bonds[k] * scratch.change[k];
                self.push(k, change, velocities);
                self.push(k, change * half, positions);
            }
            self.iterate(&mut scratch, positions, None, tolerance)
        }
    }

    /// Iterates Newton's method with the bond vectors and the factored matrix in `scratch`. Adds the corrections Δx to
    /// `positions`, and adds Δx times the rate 1/dt (1/ps) to velocities.
    ///
    /// # Safety
    /// The conditions of [`Self::shake`] hold.
    unsafe fn iterate(
        &self,
        scratch: &mut Scratch,
        positions: &SharedVectors<'_>,
        velocities: Option<&(SharedVectors<'_>, f64)>,
        tolerance: f64,
    ) -> Result<(), ConstraintFailure> {
        scratch.multipliers.fill(0.0);
        // the error message names the bond with the largest error before the first iteration, because any bond can have
        // the largest error after a divergence
        let mut worst_bond = 0;
        for iteration in 0..MAX_ITERATIONS {
            let mut worst = (0.0, 0);
            for (k, c) in self.constraints.iter().enumerate() {
                // SAFETY: the caller guarantees the conditions under `# Safety` for all atoms of this cluster
                let bond = unsafe { positions.get(c.atoms[1]) - positions.get(c.atoms[0]) };
                let square = c.length * c.length;
                scratch.change[k] = 0.5 * (square - bond.norm_squared());
                let error = scratch.change[k].abs() / square;
                // NaN counts as larger than any number, so that a NaN error is kept as the worst error
                if error.is_nan() || error > worst.0 {
                    worst = (error, k);
                }
            }
            if worst.0 <= tolerance {
                return Ok(());
            }
            if iteration == 0 {
                worst_bond = worst.1;
            }
            if worst.0.is_nan() {
                break;
            }
            self.pattern.solve(&scratch.matrix, &mut scratch.change);
            for k in 0..self.constraints.len() {
                scratch.multipliers[k] += scratch.change[k];
                let force = scratch.bonds[k] * scratch.change[k];
                // SAFETY: the caller guarantees the conditions under `# Safety` for all atoms of this cluster
                unsafe {
                    self.push(k, force, positions);
                    if let Some((velocities, rate)) = velocities {
                        self.push(k, force * *rate, velocities);
                    }
                }
            }
        }
        Err(ConstraintFailure { atoms: self.constraints[worst_bond].atoms })
    }

    /// Removes from `velocities` the components that change a bond length at `positions`.
    ///
    /// # Safety
    /// The conditions of [`Self::shake`] hold.
    pub(super) unsafe fn project(
        &self,
        positions: &[Vec3],
        velocities: &SharedVectors<'_>,
    ) -> Result<(), ConstraintFailure> {
        let mut scratch = self.prepare(|atom| positions[atom as usize]);
        // SAFETY: the caller guarantees the conditions under `# Safety` of this function
        unsafe { self.solve_projection(&mut scratch, velocities) }?;
        for k in 0..self.constraints.len() {
            // SAFETY: the caller guarantees the conditions under `# Safety` for all atoms of this cluster
            unsafe { self.push(k, scratch.bonds[k] * scratch.change[k], velocities) };
        }
        Ok(())
    }

    /// Computes the multipliers (`change`) of the velocity corrections that make the time derivatives of all bond
    /// lengths zero.
    ///
    /// # Safety
    /// The conditions of [`Self::shake`] hold.
    unsafe fn solve_projection(
        &self,
        scratch: &mut Scratch,
        velocities: &SharedVectors<'_>,
    ) -> Result<(), ConstraintFailure> {
        for (k, c) in self.constraints.iter().enumerate() {
            // SAFETY: the caller guarantees the conditions under `# Safety` for all atoms of this cluster
            let velocity = unsafe { velocities.get(c.atoms[1]) - velocities.get(c.atoms[0]) };
            scratch.change[k] = -scratch.bonds[k].dot(velocity);
        }
        self.pattern.solve(&scratch.matrix, &mut scratch.change);
        match scratch.change.iter().position(|v| !v.is_finite()) {
            Some(k) => Err(ConstraintFailure { atoms: self.constraints[k].atoms }),
            None => Ok(()),
        }
    }

    /// Computes the bond vectors and the factored matrix A, where `at` returns the position of an atom.
    pub(super) fn prepare(&self, at: impl Fn(u32) -> Vec3) -> MutexGuard<'_, Scratch> {
        let mut guard = locked(&self.scratch);
        let scratch = &mut *guard;
        for (bond, c) in scratch.bonds.iter_mut().zip(&self.constraints) {
            *bond = at(c.atoms[1]) - at(c.atoms[0]);
        }
        let Scratch { bonds, matrix, .. } = scratch;
        for (k, [w0, w1]) in self.inverse_mass.iter().enumerate() {
            matrix.diagonal[k] = bonds[k].norm_squared() * (w0 + w1);
            for p in self.pattern.column(k) {
                matrix.entries[p] = self.coupling[p] * bonds[k].dot(bonds[self.pattern.row(p)]);
            }
        }
        self.pattern.factor(matrix);
        guard
    }

    /// Adds the displacements caused by constraint `k`. The two atoms of the constraint are pushed apart along `force`,
    /// each in proportion to its inverse mass.
    ///
    /// # Safety
    /// The conditions of [`Self::shake`] hold.
    unsafe fn push(&self, k: usize, force: Vec3, vectors: &SharedVectors<'_>) {
        let [i, j] = self.constraints[k].atoms;
        let [wi, wj] = self.inverse_mass[k];
        // SAFETY: the caller guarantees the conditions under `# Safety` for all atoms of this cluster
        unsafe {
            vectors.add(i, -force * wi);
            vectors.add(j, force * wj);
        }
    }
}

/// Returns, for each constraint, the indices of all other constraints that share an atom with the constraint.
fn neighbors(constraints: &[Constraint]) -> Vec<BTreeSet<u32>> {
    let mut at_atom: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (k, c) in constraints.iter().enumerate() {
        for atom in c.atoms {
            at_atom.entry(atom).or_default().push(k as u32);
        }
    }
    let mut neighbors = vec![BTreeSet::new(); constraints.len()];
    for group in at_atom.values() {
        for &k in group {
            neighbors[k as usize].extend(group.iter().filter(|&&l| l != k));
        }
    }
    neighbors
}

/// Coupling of two constraints: ± the inverse mass (1/amu) of the atom that both constraints share, or 0 without a
/// shared atom.
fn shared_mass(a: &Constraint, b: &Constraint, inverse_mass: impl Fn(u32) -> f64) -> f64 {
    let mut sum = 0.0;
    for (end_a, atom) in a.atoms.into_iter().enumerate() {
        for (end_b, other) in b.atoms.into_iter().enumerate() {
            if atom == other {
                sum += if end_a == end_b { inverse_mass(atom) } else { -inverse_mass(atom) };
            }
        }
    }
    sum
}
