//! Numbers for tests. Each number has a value in `f64`, and a bound of the error of the same computation in `f32`.
//!
//! The method is running error analysis (N. J. Higham, Accuracy and Stability of Numerical Algorithms, section 3.3):
//! each value has a bound of |result in `f32` − value|. Every operation propagates the error bounds of the operands and
//! adds the rounding error of the operation, so that cancellation and steep functions increase the bound of the result.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::Real;
use super::lanes::ARCTANGENT_ERROR;

/// Relative rounding error of an operation in `f32`.
pub(crate) const UNIT: f64 = 1.0 / 16_777_216.0;
/// Absolute rounding error of a result that is not a normal number.
const UNDERFLOW: f64 = 1.5e-45;

/// A value in `f64`, and a bound of the error that the same computation has in `f32` arithmetic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounded {
    /// value computed in `f64`
    pub(crate) value: f64,
    /// bound ≥ |result in `f32` − value|
    pub(crate) error: f64,
}

/// Result of a comparison, and whether the error bounds guarantee the same result in `f32`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Truth {
    holds: bool,
    sure: bool,
}

impl Rounded {
    /// Makes a number without error, for an input that is the same in `f32` and in `f64`.
    pub(crate) fn exact(value: f32) -> Self {
        Rounded { value: f64::from(value), error: 0.0 }
    }

    /// Makes the result of an operation: adds one rounding error of `f32` to the propagated error bound.
    fn after(value: f64, inherited: f64) -> Self {
        Rounded { value, error: inherited + UNIT * (value.abs() + inherited) + UNDERFLOW }
    }

    fn largest(self) -> f64 {
        self.value.abs() + self.error
    }
}

impl Add for Rounded {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self::after(self.value + o.value, self.error + o.error)
    }
}

impl Sub for Rounded {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self + -o
    }
}

impl Mul for Rounded {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Self::after(self.value * o.value, self.error * o.largest() + self.value.abs() * o.error)
    }
}

impl Div for Rounded {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let quotient = self.value / o.value;
        let smallest = (o.value.abs() - o.error).max(0.0);
        Self::after(quotient, (self.error + quotient.abs() * o.error) / smallest)
    }
}

impl Neg for Rounded {
    type Output = Self;
    fn neg(self) -> Self {
        Rounded { value: -self.value, ..self }
    }
}

impl Real for Rounded {
    type Mask = Truth;

    fn constant(value: f64) -> Self {
        Rounded { value, error: (f64::from(value as f32) - value).abs() }
    }
    fn mul_add(self, factor: Self, summand: Self) -> Self {
        // the bound assumes that product and sum are rounded separately, which is worse than a fused multiply-add
        self * factor + summand
    }
    fn sqrt(self) -> Self {
        let (low, high) = ((self.value - self.error).max(0.0), self.value + self.error);
        Self::after(self.value.sqrt(), high.sqrt() - low.sqrt())
    }
    fn recip(self) -> Self {
        Rounded { value: 1.0, error: 0.0 } / self
    }
    fn round(self) -> Self {
        let from_tie = ((self.value - self.value.floor()) - 0.5).abs();
        Rounded { value: self.value.round(), error: if from_tie > self.error { 0.0 } else { 1.0 } }
    }
    fn atan2(self, x: Self) -> Self {
        // if a point at distance r from the origin moves by d, the angle of the point changes by at most arcsin(d/r),
        // except on the negative x axis, where the angle jumps by 2π
        let moved = self.error.hypot(x.error) / self.value.hypot(x.value);
        let turned = if moved < 1.0 { moved.asin() } else { std::f64::consts::PI };
        let jump = if x.value < x.error && self.value.abs() <= self.error { std::f64::consts::TAU } else { 0.0 };
        Self::after(self.value.atan2(x.value), turned + jump + f64::from(ARCTANGENT_ERROR))
    }
    fn less(self, other: Self) -> Truth {
        let sure = (self.value - other.value).abs() > self.error + other.error;
        Truth { holds: self.value < other.value, sure }
    }
    fn select(mask: Truth, yes: Self, no: Self) -> Self {
        let (chosen, other) = if mask.holds { (yes, no) } else { (no, yes) };
        let doubt = if mask.sure { 0.0 } else { (chosen.value - other.value).abs() + other.error };
        Rounded { value: chosen.value, error: chosen.error + doubt }
    }
}
