//! Harmonic impropers of CHARMM.

use super::{Dihedral, Real};
use crate::vec3::Vec3;

/// Harmonic improper E = ½ k (φ − φ₀)², with the difference wrapped to [−π, π], φ₀ = `equilibrium` (rad), k =
/// `force_constant` (kJ/mol/rad²). Returns the forces on i, j, k, l (kJ/mol/nm) and E.
#[inline(always)]
pub fn harmonic_improper<T: Real>(
    displacements: [Vec3<T>; 3],
    [equilibrium, force_constant]: [T; 2],
) -> ([Vec3<T>; 4], T) {
    let dihedral = Dihedral::new(displacements);
    let turn = T::constant(std::f64::consts::TAU);
    let difference = dihedral.angle() - equilibrium;
    let deviation = difference - turn * (difference / turn).round();
    let torque = force_constant * deviation;
    (dihedral.forces(torque), T::constant(0.5) * torque * deviation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::dual::Dual;
    use crate::term::testing::{chain, check, check_finite, random};
    use crate::vec3::vec3;

    fn term(equilibrium: f64) -> impl Fn([Vec3<Dual>; 4]) -> ([Vec3<Dual>; 4], Dual) {
        move |[i, j, k, l]| harmonic_improper([i - j, k - j, l - k], [equilibrium, 80.0].map(Dual::constant))
    }

    #[test]
    fn force_is_the_gradient() {
        let mut random = random(5);
        for _ in 0..100 {
            check(chain(&mut random), term(random.between(-3.0, 3.0)));
        }
    }

    #[test]
    fn collinear_atoms_give_finite_forces() {
        check_finite([0.0, 0.1, 0.2, 0.3].map(|a| vec3(a, 0.0, 0.0)), term(0.5));
    }

    #[test]
    fn difference_is_wrapped() {
        // φ = −3: l is rotated from the direction of i about the axis from j to k
        let (sine, cosine) = (-3.0f64).sin_cos();
        let displacements = [vec3(1.0, 0.0, 0.0), vec3(0.0, 0.0, 1.0), vec3(cosine, sine, 0.0)];
        let (_, energy) = harmonic_improper(displacements, [3.0, 2.0]);
        assert!((energy - (std::f64::consts::TAU - 6.0).powi(2)).abs() < 1e-14, "{energy}");
    }
}
