//! Bonds and angles of GROMOS-96, which need no square root of a length and no arc cosine.
//!
//! van Gunsteren et al., Biomolecular Simulation: The GROMOS96 Manual and User Guide (1996), eqs. 2.5.1 and 2.5.2;
//! function type 2 of bonds and angles in GROMACS.

use super::{Real, inverse_norm};
use crate::vec3::Vec3;

/// GROMOS-96 bond E = ¼ k (r² − b²)², with r the length of `displacement` = r_i − r_j (nm), b = `length` (nm) and
/// k = `force_constant` (kJ/mol/nm⁴). Returns the forces on i and j (kJ/mol/nm) and E.
#[inline(always)]
pub fn g96_bond<T: Real>([displacement]: [Vec3<T>; 1], [length, force_constant]: [T; 2]) -> ([Vec3<T>; 2], T) {
    let excess = displacement.norm_squared() - length * length;
    let tension = force_constant * excess;
    let force = displacement * (-tension);
    ([force, -force], T::constant(0.25) * tension * excess)
}

/// GROMOS-96 angle E = ½ k (cos θ − cos θ₀)² between `u` = r_i − r_j and `v` = r_k − r_j (nm), with cos θ₀ = `cosine`
/// and k = `force_constant` (kJ/mol). Returns the forces on i, j, k (kJ/mol/nm) and E.
///
/// With the unit vectors û and v̂, ∂(cos θ)/∂u = (v̂ − û cos θ)/|u|. The only singular points are u = 0 and v = 0, at
/// which the force is zero.
#[inline(always)]
pub fn g96_angle<T: Real>([u, v]: [Vec3<T>; 2], [cosine, force_constant]: [T; 2]) -> ([Vec3<T>; 3], T) {
    let (inverse_u, inverse_v) = (inverse_norm(u.norm_squared()), inverse_norm(v.norm_squared()));
    let (along_u, along_v) = (u * inverse_u, v * inverse_v);
    let found = along_u.dot(along_v);
    let deviation = found - cosine;
    let slope = force_constant * deviation;
    let force_i = (along_v - along_u * found) * (-(slope * inverse_u));
    let force_k = (along_u - along_v * found) * (-(slope * inverse_v));
    ([force_i, -(force_i + force_k), force_k], T::constant(0.5) * slope * deviation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::dual::Dual;
    use crate::term::testing::{chain, check, check_finite, random};
    use crate::vec3::vec3;

    fn bond([i, j]: [Vec3<Dual>; 2]) -> ([Vec3<Dual>; 2], Dual) {
        g96_bond([i - j], [0.139, 1.08e7].map(Dual::constant))
    }

    fn angle([i, j, k]: [Vec3<Dual>; 3]) -> ([Vec3<Dual>; 3], Dual) {
        g96_angle([i - j, k - j], [-0.3, 500.0].map(Dual::constant))
    }

    #[test]
    fn force_is_the_gradient() {
        let mut random = random(9);
        for _ in 0..100 {
            check(chain(&mut random), bond);
            check(chain(&mut random), angle);
        }
    }

    #[test]
    fn degenerate_geometries_give_finite_forces() {
        check_finite([vec3(1.0, 2.0, 3.0); 2], bond);
        let (o, x) = (vec3(0.0, 0.0, 0.0), vec3(0.1, 0.0, 0.0));
        for i in [-x, x, o] {
            check_finite([i, o, x], angle);
        }
    }

    #[test]
    fn round_numbers() {
        // the energy is ¼ · 10⁷ · (0.0121 − 0.01)² = 11.025 kJ/mol, and the force is 10⁷ · 0.0021 · 0.11 kJ/mol/nm
        // towards the other atom
        let ([force, _], energy) = g96_bond::<f64>([vec3(0.11, 0.0, 0.0)], [0.1, 1e7]);
        assert!((energy - 11.025).abs() < 1e-11 && (force.x + 2310.0).abs() < 1e-9, "{energy} {force:?}");
        // at a right angle the energy is ½ · 500 · 0.3², and the force on the first atom is 500 · 0.3 / 0.1 along −v̂
        let ([force, ..], energy) = g96_angle::<f64>([vec3(0.1, 0.0, 0.0), vec3(0.0, 0.2, 0.0)], [-0.3, 500.0]);
        assert!(
            (energy - 22.5).abs() < 1e-12 && (force - vec3(0.0, -1500.0, 0.0)).norm() < 1e-10,
            "{energy} {force:?}"
        );
    }
}
