//! Harmonic angles.

use super::{Real, inverse_norm};
use crate::vec3::Vec3;

/// Returns the angle θ (rad) between `u` and `v` (nm), and the derivatives ∂θ/∂u and ∂θ/∂v.
///
/// θ = atan2(|u × v|, u · v) keeps its precision at 0 and π. With the direction n̂ of u × v, ∂θ/∂u = u × n̂/|u|² is
/// bounded by 1/|u| everywhere. If n̂ is undefined, the gradient is set to zero.
#[inline(always)]
pub fn bend<T: Real>([u, v]: [Vec3<T>; 2]) -> (T, [Vec3<T>; 2]) {
    let normal = u.cross(v);
    let squared = normal.norm_squared();
    let inverse = inverse_norm(squared);
    let direction = normal * inverse;
    let (inverse_u, inverse_v) = (inverse_norm(u.norm_squared()), inverse_norm(v.norm_squared()));
    let gradients = [u.cross(direction) * (inverse_u * inverse_u), v.cross(direction) * -(inverse_v * inverse_v)];
    ((squared * inverse).atan2(u.dot(v)), gradients)
}

/// Harmonic angle E = ½ k (θ − θ₀)² between `u` = r_i − r_j and `v` = r_k − r_j (nm), θ₀ = `equilibrium` (rad),
/// k = `force_constant` (kJ/mol/rad²). Returns the forces on i, j, k (kJ/mol/nm) and E.
#[inline(always)]
pub fn angle<T: Real>([u, v]: [Vec3<T>; 2], [equilibrium, force_constant]: [T; 2]) -> ([Vec3<T>; 3], T) {
    let (value, [along_u, along_v]) = bend([u, v]);
    let deviation = value - equilibrium;
    let torque = force_constant * deviation;
    let (force_i, force_k) = (along_u * -torque, along_v * -torque);
    ([force_i, -(force_i + force_k), force_k], T::constant(0.5) * torque * deviation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::dual::Dual;
    use crate::term::testing::{chain, check, check_finite, random};
    use crate::vec3::vec3;

    fn term([i, j, k]: [Vec3<Dual>; 3]) -> ([Vec3<Dual>; 3], Dual) {
        angle([i - j, k - j], [1.9, 400.0].map(Dual::constant))
    }

    #[test]
    fn force_is_the_gradient() {
        let mut random = random(2);
        for _ in 0..100 {
            check(chain(&mut random), term);
        }
    }

    #[test]
    fn straight_and_folded_angles_give_finite_forces() {
        let (o, x) = (vec3(0.0, 0.0, 0.0), vec3(0.1, 0.0, 0.0));
        for i in [-x, x, -x + vec3(0.0, 1e-13, 0.0), x + vec3(0.0, 1e-17, 0.0), o] {
            check_finite([i, o, x], term);
        }
    }

    #[test]
    fn a_right_angle() {
        // expected energy ½ k (θ − θ₀)² = ½ · 100 · (π/2 − 1)²
        let expected = 50.0 * (std::f64::consts::FRAC_PI_2 - 1.0).powi(2);
        let (_, energy) = angle([vec3(0.1, 0.0, 0.0), vec3(0.0, 0.2, 0.0)], [1.0, 100.0]);
        assert!((energy / expected - 1.0).abs() < 1e-14);
    }
}
