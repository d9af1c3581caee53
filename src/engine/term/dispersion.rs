//! The direct-space part of an Ewald sum over r⁻⁶ (LJ-PME).

use super::Special;

/// Limit of (βr)² below which the remainder of the exponential is summed as a power series. Above the limit,
/// cancellation in the closed form loses at most one digit.
const SERIES_RANGE: f64 = 2.0;
/// Number of terms of the power series. The first omitted term, 24 · 2ⁿ/(n + 4)! for n = 18, is 6·10⁻¹⁵ of the first
/// term.
const SERIES_TERMS: u32 = 18;

/// Correction E = c (1 − g(βr))/r⁶, which subtracts the contribution of the LJ-PME mesh to a pair, where g = (1 + x² +
/// x⁴/2) exp(−x²) and x = βr (Essmann et al., J. Chem. Phys. 103, 8577 (1995)). Returns f/r and E. `product` is c =
/// √(c6_i c6_j) in kJ/mol nm⁶, `beta` is β in 1/nm, and `inverse_r2` is 1/r² in 1/nm². For excluded pairs the
/// correction is the only dispersion term. For other pairs within the cutoff the correction is added to the
/// Lennard-Jones interaction. E and f/r are finite for all r.
#[inline(always)]
pub fn dispersion_off_mesh<T: Special>(product: T, r2: T, inverse_r2: T, beta: T) -> (T, T) {
    let c = T::constant;
    let beta2 = beta * beta;
    let x2 = beta2 * r2;
    let gaussian = (-x2).exp();
    // with sums over n from 0 to 3 on the left and over all n ≥ 0 on the right, (1 − exp(−x²) Σ x²ⁿ/n!)/x⁸ = exp(−x²) Σ
    // x²ⁿ/(n + 4)!
    let mut series = c(0.0);
    for n in (0..SERIES_TERMS).rev() {
        let factorial: f64 = (1..=n + 4).map(f64::from).product();
        series = series.mul_add(x2, c(1.0 / factorial));
    }
    let near = gaussian * series;
    let sum = c(1.0 / 6.0).mul_add(x2, c(0.5)).mul_add(x2, c(1.0)).mul_add(x2, c(1.0));
    let inverse4 = inverse_r2 * inverse_r2;
    let beta6 = beta2 * beta2 * beta2;
    let far = (c(1.0) - gaussian * sum) * inverse4 * inverse4;
    let eighth = T::select(x2.less(c(SERIES_RANGE)), near * beta6 * beta2, far);
    // q₂ = x² q₃ + exp(−x²)/6 for the quotients q₂ = (1 − exp(−x²) Σ x²ⁿ/n!)/x⁶ with n from 0 to 2, and
    // q₃ = (1 − exp(−x²) Σ x²ⁿ/n!)/x⁸ with n from 0 to 3
    let sixth = eighth.mul_add(r2, gaussian * beta6 * c(1.0 / 6.0));
    (product * c(6.0) * eighth, product * sixth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::dual::Dual;
    use crate::term::testing::{chain, check, random};
    use crate::term::{Real, inverse_norm};

    fn at(r2: f64, beta: f64) -> (f64, f64) {
        dispersion_off_mesh(1.0, r2, inverse_norm(r2).powi(2), beta)
    }

    #[test]
    fn force_is_the_gradient() {
        let mut random = random(11);
        for _ in 0..100 {
            let positions: [_; 2] = chain(&mut random);
            for scale in [0.1, 1.0, 4.0] {
                check(positions.map(|r| r * scale), |[i, j]| {
                    let d = i - j;
                    let r2 = d.norm_squared();
                    let (f, e) = dispersion_off_mesh(Dual::constant(2.5), r2, r2.recip(), Dual::constant(2.8));
                    ([d * f, d * -f], e)
                });
            }
        }
    }

    #[test]
    fn it_is_the_whole_from_afar_and_the_self_term_nearby() {
        // at βr = 6, g is 2·10⁻¹³
        let (force, energy) = at(4.0, 3.0);
        assert!((energy * 64.0 - 1.0).abs() < 1e-12 && (force * 256.0 / 6.0 - 1.0).abs() < 1e-11);
        // the limit of (1 − g)/r⁶ for r → 0 is β⁶/6
        let (force, energy) = at(0.0, 3.0);
        assert!((energy / (3f64.powi(6) / 6.0) - 1.0).abs() < 1e-15 && force.is_finite());
    }

    #[test]
    fn series_and_closed_form_meet() {
        let (below, above) = (at(SERIES_RANGE * (1.0 - 1e-14), 1.0), at(SERIES_RANGE * (1.0 + 1e-14), 1.0));
        assert!((below.0 / above.0 - 1.0).abs() < 1e-13 && (below.1 / above.1 - 1.0).abs() < 1e-13);
    }
}
