//! Periodic torsions, proper and improper.

use super::{Dihedral, Real};
use crate::vec3::Vec3;

/// Maximum periodicity of [`torsion`]; force fields use up to 6.
pub const MAX_PERIODICITY: u8 = 7;

/// Periodic torsion E = k (1 + cos(nφ − φ₀)) with n = `periodicity` (an integer from 0 to [`MAX_PERIODICITY`]), φ₀
/// given by `cosine_phase` and `sine_phase`, k = `force_constant` (kJ/mol). Returns the forces on i, j, k, l
/// (kJ/mol/nm) and E.
#[inline(always)]
pub fn torsion<T: Real>(
    displacements: [Vec3<T>; 3],
    [periodicity, cosine_phase, sine_phase, force_constant]: [T; 4],
) -> ([Vec3<T>; 4], T) {
    let dihedral = Dihedral::new(displacements);
    let (cosine, sine) = multiple_angle(&dihedral, periodicity);
    let energy = force_constant * (T::constant(1.0) + cosine * cosine_phase + sine * sine_phase);
    let slope = force_constant * periodicity * (cosine * sine_phase - sine * cosine_phase);
    (dihedral.forces(slope), energy)
}

/// Computes cos nφ and sin nφ as the real and the imaginary part of (cos φ + i sin φ)ⁿ. The power is computed from the
/// binary digits of n by repeated squaring.
#[inline(always)]
fn multiple_angle<T: Real>(dihedral: &Dihedral<T>, periodicity: T) -> (T, T) {
    let (c, s) = (dihedral.cosine, dihedral.sine);
    let (mut re, mut im) = (T::constant(1.0), T::constant(0.0));
    let mut rest = periodicity;
    for digit in [4.0, 2.0, 1.0] {
        (re, im) = (re * re - im * im, T::constant(2.0) * re * im);
        let set = T::constant(digit - 0.5).less(rest);
        (re, im) = (T::select(set, re * c - im * s, re), T::select(set, re * s + im * c, im));
        rest = T::select(set, rest - T::constant(digit), rest);
    }
    (re, im)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::dual::Dual;
    use crate::term::testing::{chain, check, check_finite, random};
    use crate::vec3::vec3;

    fn term(periodicity: u8, phase: f64) -> impl Fn([Vec3<Dual>; 4]) -> ([Vec3<Dual>; 4], Dual) {
        move |[i, j, k, l]| {
            let parameters = [f64::from(periodicity), phase.cos(), phase.sin(), 6.5];
            torsion([i - j, k - j, l - k], parameters.map(Dual::constant))
        }
    }

    #[test]
    fn force_is_the_gradient() {
        let mut random = random(3);
        for round in 0..100 {
            check(chain(&mut random), term(round % (MAX_PERIODICITY + 1), f64::from(round)));
        }
    }

    #[test]
    fn collinear_atoms_give_finite_forces() {
        let x = |a: f64| vec3(a, 0.0, 0.0);
        check_finite([x(0.0), x(0.1), x(0.2), x(0.3)], term(3, 0.5));
        check_finite([x(0.0), x(0.1), x(0.2), vec3(0.3, 0.1, 0.0)], term(2, 0.5));
        check_finite([x(0.0), x(0.1), x(0.1), vec3(0.3, 0.1, 0.0)], term(2, 0.5));
    }

    #[test]
    fn energy_is_the_textbook_cosine() {
        let mut random = random(4);
        for n in 0..=MAX_PERIODICITY {
            let [i, j, k, l] = chain(&mut random);
            let displacements = [i - j, k - j, l - k];
            let phase = random.between(-3.0, 3.0);
            let (_, energy) = torsion(displacements, [f64::from(n), phase.cos(), phase.sin(), 2.0]);
            let expected = 2.0 * (1.0 + (f64::from(n) * Dihedral::new(displacements).angle() - phase).cos());
            assert!((energy - expected).abs() < 1e-14, "n = {n}: {energy} against {expected}");
        }
    }
}
