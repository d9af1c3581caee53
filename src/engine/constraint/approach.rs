//! Positions that nearly satisfy the constraints, from positions that violate them grossly.

use super::lengths;
use crate::system::Constraints;
use crate::vec3::{Vec3, vec3};

/// Largest relative deviation of a constrained distance at which [`approach`] ends. From there, the solvers of a
/// [`super::ConstraintPlan`] converge in a few iterations.
const NEAR: f64 = 0.02;
/// Maximum number of passes over all constraints. A chain of constraints converges in a few dozen passes.
const PASSES: usize = 1000;
/// Distance, relative to the length of the constraint, below which the direction of a constraint is unknown.
const COINCIDENT: f64 = 1e-3;

/// Moves atoms until every constrained distance is within 2 % of the length of its constraint, or until 1000 passes
/// over all constraints are done. In a pass, each constraint in turn moves its two atoms along the line between them.
///
/// The solvers of a [`super::ConstraintPlan`] move atoms along the directions that the constraints had before a step,
/// and fail if a distance is less than half of its length or several times as long. This function uses the present
/// directions, so that any distance converges (M. Müller, B. Heidelberger, M. Hennix, J. Ratcliff, J. Vis. Commun.
/// Image Represent. 18, 109 (2007), doi:10.1016/j.jvcir.2007.01.005).
///
/// `mobilities` holds the inverse mass of each atom (1/amu), which is zero for an atom that must not move. `positions`
/// are in nm.
pub fn approach(constraints: &Constraints, mobilities: &[f64], positions: &mut [Vec3]) {
    for _ in 0..PASSES {
        let mut is_near = true;
        for ([i, j], length) in lengths(constraints) {
            let [i, j] = [i as usize, j as usize];
            let between = positions[i] - positions[j];
            let distance = between.norm();
            let mobility = mobilities[i] + mobilities[j];
            // atoms at NaN are left to the caller
            if (distance / length - 1.0).abs() <= NEAR || mobility == 0.0 || !distance.is_finite() {
                continue;
            }
            is_near = false;
            let direction = if distance < COINCIDENT * length { spread(i) } else { between * (1.0 / distance) };
            let push = direction * ((length - distance) / mobility);
            positions[i] += push * mobilities[i];
            positions[j] -= push * mobilities[j];
        }
        if is_near {
            return;
        }
    }
}

/// Returns a unit vector for the index `n`. The vectors of consecutive indices are evenly distributed over the sphere
/// (R. Swinbank, R. J. Purser, Q. J. R. Meteorol. Soc. 132, 1769 (2006), doi:10.1256/qj.05.227), so that atoms at the
/// same place move apart.
fn spread(n: usize) -> Vec3 {
    /// Number of vectors until the heights along z repeat.
    const HEIGHTS: usize = 16;
    let z = (2 * (n % HEIGHTS) + 1) as f64 / HEIGHTS as f64 - 1.0;
    let angle = n as f64 * std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let radius = (1.0 - z * z).sqrt();
    vec3(radius * angle.cos(), radius * angle.sin(), z)
}

#[cfg(test)]
mod tests {
    use super::super::{ConstraintPlan, largest_deviation};
    use super::*;
    use crate::system::{Constraint, Settle};

    /// A methyl group, a chain of three bonds and a rigid water, in which distances are zero or five times too long.
    #[test]
    fn any_distance_can_be_mended() {
        let bond = |i, j, length| Constraint { atoms: [i, j], length };
        let constraints = Constraints {
            settles: vec![Settle { atoms: [8, 9, 10], oh: 0.09572, hh: 0.15139 }],
            bonds: vec![
                bond(0, 1, 0.109),
                bond(0, 2, 0.109),
                bond(0, 3, 0.109),
                bond(4, 5, 0.15),
                bond(5, 6, 0.15),
                bond(6, 7, 0.15),
            ],
            ..Constraints::default()
        };
        let masses = [12.0, 1.0, 1.0, 1.0, 12.0, 12.0, 12.0, 12.0, 16.0, 1.0, 1.0];
        let plan = ConstraintPlan::new(&constraints, &masses).unwrap();
        let mobilities = masses.map(|mass: f64| 1.0 / mass);
        let origin = vec3(1.0, 2.0, 3.0);
        for scale in [0.0, 0.3, 5.0] {
            let at = |x: f64, y: f64, z: f64| origin + vec3(x, y, z) * scale;
            let methyl = [at(0.0, 0.0, 0.0), at(0.109, 0.0, 0.0), at(0.0, 0.109, 0.0), at(0.0, 0.0, 0.109)];
            let chain = [at(0.0, 0.0, 0.0), at(0.15, 0.0, 0.0), at(0.15, 0.15, 0.0), at(0.3, 0.15, 0.0)];
            let water = [at(0.0, 0.0, 0.0), at(0.09, 0.0, 0.0), at(0.0, 0.09, 0.0)];
            let mut positions = [methyl.as_slice(), &chain, &water].concat();
            let start = positions.clone();
            assert!(plan.satisfy(&start, &mut positions).is_err(), "{scale}: the solvers alone converge");
            positions.clone_from(&start);
            approach(&constraints, &mobilities, &mut positions);
            assert!(largest_deviation(&constraints, &positions) <= NEAR, "{scale}");
            let reference = positions.clone();
            plan.satisfy(&reference, &mut positions).unwrap();
            // the center of mass of the water stays
            let center = |r: &[Vec3]| (r[8] * 16.0 + r[9] + r[10]) * (1.0 / 18.0);
            assert!((center(&positions) - center(&start)).norm() < 1e-9, "{scale}");
        }
    }

    #[test]
    fn atoms_that_must_not_move_stay() {
        let bonds = vec![Constraint { atoms: [0, 1], length: 0.1 }];
        let constraints = Constraints { bonds, ..Constraints::default() };
        let mut positions = [Vec3::ZERO, vec3(0.5, 0.0, 0.0)];
        approach(&constraints, &[0.0, 1.0], &mut positions);
        assert_eq!(positions[0], Vec3::ZERO);
        assert!((positions[1].x - 0.1).abs() <= NEAR * 0.1);
        approach(&constraints, &[0.0, 0.0], &mut positions);
    }
}
