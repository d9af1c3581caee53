//! Detection of redundant constraints before a run.
//!
//! A constraint is redundant if it follows from other constraints, for example the diagonal of a planar ring whose
//! other distances are constrained, or the third distance of three atoms on a line. The matrix A of the coupled solver
//! (see [`super::coupled`]) is singular at such a structure, so that the solver has no solution. Detection needs a
//! structure that satisfies the constraints: starting from the positions of the input, Newton's method with the
//! constraint directions of the current structure approaches one. Near a redundant constraint a pivot of the
//! factorisation A = L D Lᵀ vanishes, and the row of Lᵀ gives the constraints that depend on each other.

use super::coupled::Coupled;
use super::plan::Groups;
use crate::error::Problem;
use crate::system::{Constraint, Constraints};
use crate::vec3::Vec3;

/// Ratio of a pivot to the diagonal element of A below which a constraint is redundant. The ratio is sin² of the angle
/// between the constraint and the space of the other constraints. At this ratio, displacements that correct the
/// constraint are 1/sin = 300 times as long as those of an independent constraint, so that thermal motion cannot be
/// corrected.
const SINGULAR: f64 = 1e-5;
/// Relative error of the constraints up to which a structure can be judged.
const SATISFIED: f64 = 0.01;
/// Relative error of the constraints at which the search for a structure ends.
const CONVERGED: f64 = 1e-10;
/// Maximum number of iterations of the search. Near a redundant constraint the error decreases by a factor of four per
/// iteration, so that half of these iterations reach [`CONVERGED`].
const MAX_ITERATIONS: usize = 40;
/// Element of the null vector, relative to its largest element, below which a constraint does not take part in a
/// dependence.
const TAKES_PART: f64 = 1e-3;
/// Maximum number of atoms that a message names.
const NAMED: usize = 8;

/// Returns an error if a constraint follows from other constraints at the structure `positions` (nm, whole molecules).
/// `masses` holds the masses (amu) of all atoms, and `name` returns the name of an atom.
pub fn check_independent(
    constraints: &Constraints,
    masses: &[f64],
    positions: &[Vec3],
    name: impl Fn(u32) -> String,
) -> Result<(), Problem> {
    // SHAKE clusters are trees, whose constraints are always independent
    for cluster in Groups::new(constraints, masses)?.coupled.iter().filter(|cluster| has_ring(cluster)) {
        let solver = Coupled::new(cluster, |atom| 1.0 / masses[atom as usize]);
        if let Some(dependent) = dependent(&solver, positions) {
            return Err(problem(dependent, name));
        }
    }
    Ok(())
}

/// Whether a connected cluster has a ring of constraints.
fn has_ring(cluster: &[Constraint]) -> bool {
    atoms_of(cluster).len() <= cluster.len()
}

/// Returns the atoms of constraints, in ascending order.
fn atoms_of(constraints: &[Constraint]) -> Vec<u32> {
    let mut atoms: Vec<u32> = constraints.iter().flat_map(|constraint| constraint.atoms).collect();
    atoms.sort_unstable();
    atoms.dedup();
    atoms
}

/// Returns the constraints of a cluster that depend on each other, if there are any.
fn dependent(solver: &Coupled, positions: &[Vec3]) -> Option<Vec<Constraint>> {
    let atoms = atoms_of(&solver.constraints);
    let mut places: Vec<Vec3> = atoms.iter().map(|&atom| positions[atom as usize]).collect();
    let index = |atom: u32| atoms.binary_search(&atom).expect("an atom of the cluster");
    let ends: Vec<[usize; 2]> = solver.constraints.iter().map(|constraint| constraint.atoms.map(index)).collect();
    let mut change = vec![0.0; ends.len()];
    for _ in 0..MAX_ITERATIONS {
        let scratch = solver.prepare(|atom| places[index(atom)]);
        let mut worst = 0.0_f64;
        for (k, constraint) in solver.constraints.iter().enumerate() {
            let square = constraint.length * constraint.length;
            change[k] = 0.5 * (square - scratch.bonds[k].norm_squared());
            worst = worst.max(change[k].abs() / square);
        }
        let ratio = |k: usize| {
            let [a, b] = solver.inverse_mass[k];
            1.0 / (scratch.matrix.diagonal[k] * scratch.bonds[k].norm_squared() * (a + b))
        };
        if worst < SATISFIED
            && let Some(k) = (0..ends.len()).find(|&k| ratio(k).abs() < SINGULAR)
        {
            let null = solver.pattern.null_vector(&scratch.matrix, k);
            let largest = null.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
            let takes_part = |(value, _): &(&f64, &Constraint)| value.abs() > TAKES_PART * largest;
            return Some(null.iter().zip(&solver.constraints).filter(takes_part).map(|(_, c)| *c).collect());
        }
        if worst < CONVERGED {
            return None;
        }
        solver.pattern.solve(&scratch.matrix, &mut change);
        for (k, [i, j]) in ends.iter().enumerate() {
            let [a, b] = solver.inverse_mass[k];
            let force = scratch.bonds[k] * change[k];
            places[*i] += -force * a;
            places[*j] += force * b;
        }
    }
    None
}

fn problem(dependent: Vec<Constraint>, name: impl Fn(u32) -> String) -> Problem {
    let longest = dependent.iter().max_by(|a, b| a.length.total_cmp(&b.length)).expect("a redundant constraint");
    let atoms = atoms_of(&dependent);
    let shown = |atom: &u32| format!("{} ({})", atom + 1, name(*atom));
    let mut names = atoms.iter().take(NAMED).map(shown).collect::<Vec<String>>().join(", ");
    if atoms.len() > NAMED {
        names.push_str(&format!(" and {} more", atoms.len() - NAMED));
    }
    let [i, j] = longest.atoms.map(|atom| shown(&atom));
    Problem::new(format!(
        "{} constraints between the atoms {names} depend on each other, so that one of them is redundant and the \
         constraint forces are not defined; the longest is between atoms {i} and {j}",
        dependent.len()
    ))
    .help(
        "remove the redundant constraint from the topology, usually the longest (atoms on a line or in a plane need no \
         constraint that follows from the others); if it comes from forces.constraints, set constraints = \"h-bonds\"",
    )
}
