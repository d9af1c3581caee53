//! Harmonic distance terms: bonds, and Urey–Bradley 1-3 distances.

use super::{Real, inverse_norm};
use crate::vec3::Vec3;

/// Harmonic bond E = ½ k (r − r₀)², with r the length of `displacement` = r_i − r_j (nm), r₀ = `length` (nm) and k =
/// `force_constant` (kJ/mol/nm²). Returns the forces on i and j (kJ/mol/nm) and E. At r = 0 the direction is
/// undefined and the force is zero.
#[inline(always)]
pub fn bond<T: Real>([displacement]: [Vec3<T>; 1], [length, force_constant]: [T; 2]) -> ([Vec3<T>; 2], T) {
    let squared = displacement.norm_squared();
    let inverse = inverse_norm(squared);
    let stretch = squared * inverse - length;
    let tension = force_constant * stretch;
    let force = displacement * (-(tension * inverse));
    ([force, -force], T::constant(0.5) * tension * stretch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::dual::Dual;
    use crate::term::testing::{chain, check, check_finite, random};
    use crate::vec3::vec3;

    fn term([i, j]: [Vec3<Dual>; 2]) -> ([Vec3<Dual>; 2], Dual) {
        bond([i - j], [0.11, 3e5].map(Dual::constant))
    }

    #[test]
    fn force_is_the_gradient() {
        let mut random = random(1);
        for _ in 0..100 {
            check(chain(&mut random), term);
        }
    }

    #[test]
    fn coinciding_atoms_give_finite_forces() {
        check_finite([vec3(1.0, 2.0, 3.0); 2], term);
    }

    #[test]
    fn one_hundredth_of_a_nanometre() {
        // the energy is ½ · 2·10⁵ · 0.01² = 10 kJ/mol, and the force is 2·10³ kJ/mol/nm towards the other atom
        let ([force, _], energy) = bond::<f64>([vec3(0.11, 0.0, 0.0)], [0.1, 2e5]);
        assert!((energy - 10.0).abs() < 1e-11 && (force.x + 2e3).abs() < 1e-9);
    }
}
