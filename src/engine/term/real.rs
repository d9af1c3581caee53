//! Traits of the number types on which the formulas are evaluated.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A real number, or the lanes of a SIMD vector. Formulas use masks and selection instead of `if`.
pub trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// Result of a comparison, one truth value per number.
    type Mask: Copy;

    /// A constant, equal in all lanes.
    fn constant(value: f64) -> Self;
    /// Returns self · factor + summand. Whether the result is rounded once (fused) or twice depends on the type.
    fn mul_add(self, factor: Self, summand: Self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Reciprocal 1/self.
    fn recip(self) -> Self;
    /// The nearest integer.
    fn round(self) -> Self;
    /// The angle in (−π, π] of the point (x, self).
    fn atan2(self, x: Self) -> Self;
    /// Returns the number `self` if `self` is positive, else zero.
    #[inline(always)]
    fn positive_part(self) -> Self {
        let zero = Self::constant(0.0);
        Self::select(zero.less(self), self, zero)
    }
    /// Whether self < other.
    fn less(self, other: Self) -> Self::Mask;
    /// Returns `yes` where the mask is set, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
}

/// Numbers with the functions that the exact Ewald terms need.
pub trait Special: Real {
    /// Exponential function eˣ.
    fn exp(self) -> Self;
    /// Complementary error function.
    fn erfc(self) -> Self;
}

/// Squared length (nm²) below which a vector has no direction. The corresponding length, 10⁻¹⁵ nm, is about the spacing
/// of `f64` numbers at coordinates of a few nm. The squared length is still a normal number in `f32`.
const VANISHING: f64 = 1e-30;

/// Returns 1/√x, and zero for x = 0, so that the direction of a zero vector is the zero vector and forces stay
/// finite.
#[inline(always)]
pub fn inverse_norm<T: Real>(squared: T) -> T {
    let vanishing = squared.less(T::constant(VANISHING));
    T::select(vanishing, T::constant(0.0), T::select(vanishing, T::constant(1.0), squared).sqrt().recip())
}

/// Implements [`Real`] and [`Special`] for a primitive float.
macro_rules! primitive {
    ($float:ty, $erfc:path) => {
        impl Real for $float {
            type Mask = bool;

            #[inline(always)]
            fn constant(value: f64) -> Self {
                value as $float
            }
            #[inline(always)]
            fn mul_add(self, factor: Self, summand: Self) -> Self {
                // the product and the sum are rounded separately, because a fused operation would be a slow library
                // call with the baseline instruction set
                self * factor + summand
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$float>::sqrt(self)
            }
            #[inline(always)]
            fn recip(self) -> Self {
                1.0 / self
            }
            #[inline(always)]
            fn round(self) -> Self {
                <$float>::round(self)
            }
            #[inline(always)]
            fn atan2(self, x: Self) -> Self {
                <$float>::atan2(self, x)
            }
            #[inline(always)]
            fn less(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
        }

        impl Special for $float {
            #[inline(always)]
            fn exp(self) -> Self {
                <$float>::exp(self)
            }
            #[inline(always)]
            fn erfc(self) -> Self {
                $erfc(self)
            }
        }
    };
}

primitive!(f32, libm::erfcf);
primitive!(f64, libm::erfc);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vanishing_length_has_no_inverse() {
        assert_eq!(inverse_norm(0.0f64), 0.0);
        assert_eq!(inverse_norm(0.0f32), 0.0);
        assert_eq!(inverse_norm(4.0f64), 0.5);
    }

    #[test]
    fn erfc_keeps_its_relative_precision_in_the_tail() {
        // erfc(5) = 1.5374597944280348502e-12 (from tables made with arbitrary-precision arithmetic)
        let relative: f64 = Special::erfc(5.0) / 1.537_459_794_428_034_8e-12 - 1.0;
        assert!(relative.abs() < 1e-15, "{relative}");
    }
}
