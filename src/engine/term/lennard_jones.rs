//! The Lennard-Jones pair, and the r⁻⁴ term of 12-6-4 ions.

use super::Real;

/// Lennard-Jones pair E = c12/r¹² − c6/r⁶ from 1/r² (nm⁻²), c6 (kJ/mol nm⁶) and c12 (kJ/mol nm¹²). Returns f/r
/// (kJ/mol/nm²; the force on i is (f/r)(r_i − r_j)) and E. The potential shift for a cutoff r_c is the energy E at r_c.
#[inline(always)]
pub fn lennard_jones<T: Real>(inverse_r2: T, c6: T, c12: T) -> (T, T) {
    let inverse_r6 = inverse_r2 * inverse_r2 * inverse_r2;
    let attraction = c6 * inverse_r6;
    let repulsion = c12 * inverse_r6 * inverse_r6;
    let force = (T::constant(12.0) * repulsion - T::constant(6.0) * attraction) * inverse_r2;
    (force, repulsion - attraction)
}

/// Energy E = −c4/r⁴ of an ion and the dipole that the ion induces, from 1/r² (nm⁻²) and c4 (kJ/mol nm⁴). Returns f/r
/// (kJ/mol/nm²) and E.
#[inline(always)]
pub fn induced_dipole<T: Real>(inverse_r2: T, c4: T) -> (T, T) {
    let energy = -(c4 * inverse_r2 * inverse_r2);
    (T::constant(4.0) * energy * inverse_r2, energy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::dual::Dual;
    use crate::term::testing::{chain, check, random};

    #[test]
    fn force_is_the_gradient() {
        let mut random = random(6);
        for _ in 0..100 {
            check(chain(&mut random), |[i, j]| {
                let d = i - j;
                let (f, e) = lennard_jones(d.norm_squared().recip(), Dual::constant(2.5e-3), Dual::constant(2.4e-8));
                ([d * f, d * -f], e)
            });
            check(chain(&mut random), |[i, j]| {
                let d = i - j;
                let (f, e) = induced_dipole(d.norm_squared().recip(), Dual::constant(0.05));
                ([d * f, d * -f], e)
            });
        }
    }

    #[test]
    fn minimum_is_minus_epsilon() {
        // the minimum is at r_min⁶ = 2 c12/c6, with the energy −c6²/(4 c12); for c6 = 2 and c12 = 1, r_min is 1 and the
        // energy is −1
        assert_eq!(lennard_jones(1.0, 2.0, 1.0), (0.0, -1.0));
    }
}
