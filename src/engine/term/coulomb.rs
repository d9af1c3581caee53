//! Coulomb pairs: plain, reaction field, and the two direct-space parts of an Ewald sum.
//!
//! Functions of Coulomb pairs take the charge product multiplied by Coulomb's constant (kJ nm/mol). The functions
//! return the force over the distance f/r (kJ/mol/nm²) and the energy E (kJ/mol). The force on i is (f/r)(r_i − r_j).

use super::{Real, Special};

/// Plain Coulomb E = q_i q_j/r from `inverse_r` = 1/r (1/nm).
#[inline(always)]
pub fn coulomb<T: Real>(charge_product: T, inverse_r: T) -> (T, T) {
    let energy = charge_product * inverse_r;
    (energy * inverse_r * inverse_r, energy)
}

/// The constants k_rf and c_rf of a reaction field 1/r + k_rf r² − c_rf.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReactionField<T> {
    /// coefficient k_rf in 1/nm³
    pub quadratic: T,
    /// constant c_rf in 1/nm
    pub constant: T,
}

impl ReactionField<f64> {
    /// Reaction-field constants k_rf = (ε − 1)/((2ε + 1) r_c³) and c_rf = 3ε/((2ε + 1) r_c) for the relative
    /// permittivity ε beyond the cutoff r_c (nm). ε = ∞ is a conductor (Tironi et al., J. Chem. Phys. 102, 5451
    /// (1995)).
    pub fn new(permittivity: f64, cutoff: f64) -> Self {
        // the formulas use 1/ε, so that ε may be infinite
        let inverse = 1.0 / permittivity;
        Self {
            quadratic: (1.0 - inverse) / ((2.0 + inverse) * cutoff.powi(3)),
            constant: 3.0 / ((2.0 + inverse) * cutoff),
        }
    }
}

/// Reaction field E = q_i q_j (1/r + k_rf r² − c_rf), which is zero at the cutoff.
#[inline(always)]
pub fn reaction_field<T: Real>(charge_product: T, r2: T, inverse_r: T, field: ReactionField<T>) -> (T, T) {
    let energy = charge_product * (inverse_r + field.quadratic * r2 - field.constant);
    let inverse_r3 = inverse_r * inverse_r * inverse_r;
    (charge_product * (inverse_r3 - T::constant(2.0) * field.quadratic), energy)
}

/// Direct-space Ewald pair E = q_i q_j erfc(αr)/r, with `alpha` in 1/nm.
#[inline(always)]
pub fn ewald_direct<T: Special>(charge_product: T, r2: T, inverse_r: T, alpha: T) -> (T, T) {
    let energy = charge_product * (alpha * r2 * inverse_r).erfc() * inverse_r;
    let gaussian =
        charge_product * alpha * T::constant(std::f64::consts::FRAC_2_SQRT_PI) * (-(alpha * alpha * r2)).exp();
    ((energy + gaussian) * inverse_r * inverse_r, energy)
}

/// Limit of (αr)² below which erf(αr)/(αr) is summed as a power series. Above the limit, cancellation in the force
/// loses at most three digits.
const SERIES_RANGE: f64 = 1e-2;
/// Number of terms of the power series. The first omitted term, 10⁻²ⁿ/n! for n = 7, is below the rounding error of
/// `f64`.
const SERIES_TERMS: u32 = 7;

/// Exclusion correction E = −q_i q_j erf(αr)/r, which subtracts the pair from the reciprocal sum. Energy and force are
/// finite for all r, and the force is zero at r = 0.
#[inline(always)]
pub fn ewald_excluded<T: Special>(charge_product: T, r2: T, inverse_r: T, alpha: T) -> (T, T) {
    let x2 = alpha * alpha * r2;
    let erf = T::constant(1.0) - (alpha * r2 * inverse_r).erfc();
    let gaussian = T::constant(std::f64::consts::FRAC_2_SQRT_PI) * alpha * (-x2).exp();
    let far = (erf * inverse_r, (gaussian - erf * inverse_r) * inverse_r * inverse_r);

    // erf(x)/x = 2/√π Σ (−x²)ⁿ/(n! (2n+1)); with x = αr, (1/r) d/dr equals 2α² times the derivative with respect to x²
    let (mut value, mut slope) = (T::constant(0.0), T::constant(0.0));
    for n in (0..SERIES_TERMS).rev() {
        let factorial: f64 = (1..=n).map(f64::from).product();
        let sign = if n % 2 == 0 { 1.0 } else { -1.0 };
        slope = slope.mul_add(x2, value);
        value = value
            .mul_add(x2, T::constant(sign * std::f64::consts::FRAC_2_SQRT_PI / (factorial * f64::from(2 * n + 1))));
    }
    let near = (alpha * value, T::constant(2.0) * alpha * alpha * alpha * slope);

    let small = x2.less(T::constant(SERIES_RANGE));
    let (potential, field) = (T::select(small, near.0, far.0), T::select(small, near.1, far.1));
    (charge_product * field, -(charge_product * potential))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::dual::Dual;
    use crate::term::inverse_norm;
    use crate::term::testing::{chain, check, random};
    use crate::units::COULOMB;

    fn check_pairs(pair: impl Fn(Dual, Dual) -> (Dual, Dual)) {
        let mut random = random(7);
        for _ in 0..100 {
            let positions: [_; 2] = chain(&mut random);
            for scale in [0.1, 1.0, 6.0] {
                check(positions.map(|r| r * scale), |[i, j]| {
                    let d = i - j;
                    let r2 = d.norm_squared();
                    let (f, e) = pair(r2, inverse_norm(r2));
                    ([d * f, d * -f], e)
                });
            }
        }
    }

    #[test]
    fn forces_are_gradients() {
        let c = Dual::constant;
        let field = ReactionField::new(78.0, 0.9);
        let field = ReactionField { quadratic: c(field.quadratic), constant: c(field.constant) };
        check_pairs(|_, inverse| coulomb(c(-50.0), inverse));
        check_pairs(|r2, inverse| reaction_field(c(-50.0), r2, inverse, field));
        check_pairs(|r2, inverse| ewald_direct(c(-50.0), r2, inverse, c(3.0)));
        check_pairs(|r2, inverse| ewald_excluded(c(-50.0), r2, inverse, c(3.0)));
    }

    #[test]
    fn excluded_pair_is_direct_minus_plain() {
        // erfc(αr) − 1 = −erf(αr); at r = 10⁻³ nm the subtraction loses up to three digits, because 1/r is about 300
        // times as large as erf(αr)/r
        for r in [1e-3, 0.03, 0.034, 0.1, 0.5, 1.4f64] {
            let (direct, plain) = (ewald_direct(COULOMB, r * r, 1.0 / r, 3.0), coulomb(COULOMB, 1.0 / r));
            let excluded = ewald_excluded(COULOMB, r * r, 1.0 / r, 3.0);
            assert!((excluded.1 - (direct.1 - plain.1)).abs() < 1e-15 * plain.1 * 4.0, "{r}");
            assert!((excluded.0 - (direct.0 - plain.0)).abs() < 1e-15 * plain.0 * 4.0, "{r}");
        }
    }

    #[test]
    fn series_and_closed_form_meet() {
        let at = |x2: f64| ewald_excluded(1.0, x2, 1.0 / x2.sqrt(), 1.0);
        let (below, above) = (at(SERIES_RANGE * (1.0 - 1e-13)), at(SERIES_RANGE * (1.0 + 1e-13)));
        assert!((below.1 - above.1).abs() < 1e-13 && (below.0 - above.0).abs() < 1e-12, "{below:?} {above:?}");
    }

    #[test]
    fn coinciding_excluded_charges_have_the_self_energy() {
        // the limit of erf(αr)/r for r → 0 is 2α/√π
        let (force, energy) = ewald_excluded(1.0, 0.0, inverse_norm(0.0), 3.0);
        assert!((energy + 3.0 * std::f64::consts::FRAC_2_SQRT_PI).abs() < 1e-15);
        assert!(force.is_finite());
    }

    #[test]
    fn reaction_field_ends_at_zero() {
        let conductor = ReactionField::new(f64::INFINITY, 0.9);
        let (force, energy) = reaction_field(1.0, 0.81, 1.0 / 0.9, conductor);
        assert!(energy.abs() < 1e-15 && force.abs() < 1e-15);
        let vacuum = ReactionField::new(1.0, 0.9);
        assert!(vacuum.quadratic == 0.0 && (vacuum.constant * 0.9 - 1.0).abs() < 1e-15);
    }
}
