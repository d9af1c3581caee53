//! The scaled 1-4 pair.

use super::{Real, coulomb, inverse_norm, lennard_jones};
use crate::vec3::Vec3;

/// A scaled 1-4 pair with Coulomb and Lennard-Jones interactions, without a cutoff. `charge_product` (kJ nm/mol) is the
/// scaled charge product times Coulomb's constant, and `c6` and `c12` are the coefficients of 1-4 pairs. `displacement`
/// = r_i − r_j (nm). Returns the force on i (kJ/mol/nm), the Coulomb energy and the Lennard-Jones energy.
#[inline(always)]
pub fn pair14<T: Real>(displacement: Vec3<T>, charge_product: T, c6: T, c12: T) -> (Vec3<T>, T, T) {
    let inverse_r = inverse_norm(displacement.norm_squared());
    let (electric, energy_coulomb) = coulomb(charge_product, inverse_r);
    let (dispersive, energy_lj) = lennard_jones(inverse_r * inverse_r, c6, c12);
    (displacement * (electric + dispersive), energy_coulomb, energy_lj)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::dual::Dual;
    use crate::term::testing::{chain, check, check_finite, random};
    use crate::vec3::vec3;

    fn term([i, j]: [Vec3<Dual>; 2]) -> ([Vec3<Dual>; 2], Dual) {
        let c = Dual::constant;
        let (force, coulomb, lj) = pair14(i - j, c(-12.0), c(1e-3), c(1e-8));
        ([force, -force], coulomb + lj)
    }

    #[test]
    fn force_is_the_gradient() {
        let mut random = random(8);
        for _ in 0..100 {
            check(chain(&mut random), term);
        }
    }

    #[test]
    fn coinciding_atoms_give_finite_forces() {
        check_finite([vec3(0.1, 0.2, 0.3); 2], term);
    }
}
