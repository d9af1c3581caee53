//! Cardinal B-splines.

use crate::term::Real;

/// Supported spline orders.
pub const ORDERS: [usize; 4] = [4, 5, 6, 8];

/// Returns the N weights of the cardinal B-spline M_N and their derivatives. The particle has the grid coordinate g +
/// `fraction`, where g is an integer and `fraction` is in [0, 1). Weight j belongs to grid point g + j, and its value
/// is M_N(fraction + N − 1 − j).
///
/// The splines satisfy the recursion M_n(x) = (x M_{n−1}(x) + (n − x) M_{n−1}(x − 1))/(n − 1), M_n′(x) = M_{n−1}(x) −
/// M_{n−1}(x − 1). The spline is shifted by N − 1 points relative to the convention of textbooks. The energy does not
/// change, because charges and potential are shifted equally.
#[inline(always)]
pub fn spline<T: Real, const N: usize>(fraction: T) -> ([T; N], [T; N]) {
    let zero = T::constant(0.0);
    let mut value = [zero; N];
    value[0] = T::constant(1.0) - fraction;
    value[1] = fraction;
    for n in 3..N {
        raise(&mut value, n, fraction);
    }
    let mut derivative = [zero; N];
    derivative[0] = -value[0];
    for j in 1..N {
        derivative[j] = value[j - 1] - value[j];
    }
    raise(&mut value, N, fraction);
    (value, derivative)
}

/// Raises the order of the splines from n − 1 to n, in place.
#[inline(always)]
fn raise<T: Real, const N: usize>(value: &mut [T; N], n: usize, fraction: T) {
    let scale = T::constant(1.0 / (n - 1) as f64);
    value[n - 1] = scale * fraction * value[n - 2];
    for j in (1..n - 1).rev() {
        let x = fraction + T::constant((n - 1 - j) as f64);
        let beyond = T::constant((j + 1) as f64) - fraction;
        value[j] = scale * (x * value[j - 1] + beyond * value[j]);
    }
    value[0] = scale * (T::constant(1.0) - fraction) * value[0];
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns M_n(x) from the truncated powers: Σ_k (−1)ᵏ C(n, k) (x − k)₊ⁿ⁻¹/(n − 1)!.
    fn truncated_powers(n: usize, x: f64) -> f64 {
        let (mut sum, mut binomial) = (0.0, 1.0);
        for k in 0..=n {
            sum += binomial * (x - k as f64).max(0.0).powi(n as i32 - 1);
            binomial *= -((n - k) as f64) / (k + 1) as f64;
        }
        sum / (1..n).map(|i| i as f64).product::<f64>()
    }

    fn check<const N: usize>() {
        for w in [0.0, 0.1, 0.5, 0.77, 0.999] {
            let (value, derivative) = spline::<f64, N>(w);
            for j in 0..N {
                let x = w + (N - 1 - j) as f64;
                // the tolerance is 1e-12 instead of 1e-16, because the cancellation in the alternating sum multiplies
                // rounding errors by 8⁷/7!
                assert!((value[j] - truncated_powers(N, x)).abs() < 1e-12, "order {N}, {x}");
                let slope = truncated_powers(N - 1, x) - truncated_powers(N - 1, x - 1.0);
                assert!((derivative[j] - slope).abs() < 1e-12, "order {N}, {x}");
            }
            assert!((value.iter().sum::<f64>() - 1.0).abs() < 1e-15);
            assert!(derivative.iter().sum::<f64>().abs() < 1e-15);
        }
    }

    #[test]
    fn values_are_those_of_the_closed_form() {
        check::<4>();
        check::<5>();
        check::<6>();
        check::<8>();
    }

    #[test]
    fn cubic_spline_at_a_knot() {
        assert_eq!(spline::<f64, 4>(0.0).0, [1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0, 0.0]);
    }
}
