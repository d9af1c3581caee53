//! [`Real`] for the SIMD vectors of [`crate::simd`].

use super::Real;
use crate::simd::{Arithmetic, Float};

/// Coefficients of arctan(a)/a on [0, 1] as a polynomial in a²: Chebyshev fit of degree 9. The relative error is
/// 2.5·10⁻⁹, or 10⁻⁷ if the polynomial is evaluated in `f32`.
const ARCTANGENT: [f64; 10] = [
    0.999_999_997_546_020_1,
    -0.333_332_822_955_108_85,
    0.199_982_306_403_606_79,
    -0.142_615_736_801_396_44,
    0.109_401_989_643_710_45,
    -0.083_720_639_457_181_74,
    0.057_463_557_807_200_256,
    -0.030_717_508_861_835_746,
    0.010_680_719_422_539_797,
    -0.001_743_701_138_373_267_3,
];

/// Maximum error, in rad, of an angle of up to π: about two units in the last place of π in `f32`.
#[cfg(test)]
pub(super) const ARCTANGENT_ERROR: f32 = 5e-7;

impl<F: Float> Real for F {
    type Mask = F::Mask;

    #[inline(always)]
    fn constant(value: f64) -> Self {
        F::splat(value as f32)
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, summand: Self) -> Self {
        Arithmetic::mul_add(self, factor, summand)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Float::sqrt(self)
    }
    #[inline(always)]
    fn recip(self) -> Self {
        F::splat(1.0) / self
    }
    #[inline(always)]
    fn round(self) -> Self {
        Float::round(self)
    }
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        let zero = F::splat(0.0);
        let magnitude = |v: F| v.max(zero - v);
        let (size_y, size_x) = (magnitude(self), magnitude(x));
        let steep = size_x.lt(size_y);
        let (large, small) = (size_y.select(steep, size_x), size_x.select(steep, size_y));
        // at the origin, where the angle is undefined, 0 is returned
        let nonzero = zero.lt(large);
        let ratio = (small / large.select(nonzero, F::splat(1.0))).keep(nonzero);
        let square = ratio * ratio;
        let mut sum = F::constant(ARCTANGENT[9]);
        for c in ARCTANGENT[..9].iter().rev() {
            sum = Arithmetic::mul_add(sum, square, F::constant(*c));
        }
        let angle = sum * ratio;
        let angle = (F::constant(std::f64::consts::FRAC_PI_2) - angle).select(steep, angle);
        let angle = (F::constant(std::f64::consts::PI) - angle).select(x.lt(zero), angle);
        (zero - angle).select(self.lt(zero), angle)
    }
    #[inline(always)]
    fn positive_part(self) -> Self {
        self.max(F::splat(0.0))
    }
    #[inline(always)]
    fn less(self, other: Self) -> F::Mask {
        self.lt(other)
    }
    #[inline(always)]
    fn select(mask: F::Mask, yes: Self, no: Self) -> Self {
        Float::select(yes, mask, no)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Kernel, Level, Simd, dispatch};

    struct Angles<'a>(&'a [[f32; 16]; 2], &'a mut [f32; 16]);

    impl Kernel for Angles<'_> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self) {
            S::F::load(&self.0[0]).atan2(S::F::load(&self.0[1])).store(self.1);
        }
    }

    #[test]
    fn angles_are_those_of_the_library() {
        for level in Level::available() {
            for round in 0..500 {
                let angle = |lane: usize| (round * 16 + lane) as f32 * 7.85e-4 - std::f32::consts::PI;
                let (mut points, mut found) = ([[0.0; 16]; 2], [0.0; 16]);
                for lane in 0..16 {
                    let size = 10f32.powi(lane as i32 - 8);
                    [points[0][lane], points[1][lane]] = [size * angle(lane).sin(), size * angle(lane).cos()];
                }
                dispatch(level, Angles(&points, &mut found));
                for lane in 0..16 {
                    let expected = points[0][lane].atan2(points[1][lane]);
                    assert!((found[lane] - expected).abs() < ARCTANGENT_ERROR, "{level:?}: {} {expected}", found[lane]);
                }
            }
        }
    }

    #[test]
    fn the_origin_has_an_angle() {
        for level in Level::available() {
            let mut found = [1.0; 16];
            dispatch(level, Angles(&[[0.0; 16]; 2], &mut found));
            assert_eq!(found, [0.0; 16]);
        }
    }
}
