//! Dual numbers a + b ε with ε² = 0: the value of an expression and its derivative in one direction, for tests.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::{Real, Special};

/// A value and its derivative.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dual {
    /// value f(x) of the expression
    pub(crate) value: f64,
    /// derivative of the expression in the chosen direction: f′(x) · x′, where x′ is the derivative of the argument x
    pub(crate) slope: f64,
}

/// Makes a dual number from a value and its derivative.
pub(crate) fn dual(value: f64, slope: f64) -> Dual {
    Dual { value, slope }
}

impl Add for Dual {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        dual(self.value + o.value, self.slope + o.slope)
    }
}

impl Sub for Dual {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        dual(self.value - o.value, self.slope - o.slope)
    }
}

impl Mul for Dual {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        dual(self.value * o.value, self.slope * o.value + self.value * o.slope)
    }
}

impl Div for Dual {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        dual(self.value / o.value, (self.slope - self.value / o.value * o.slope) / o.value)
    }
}

impl Neg for Dual {
    type Output = Self;
    fn neg(self) -> Self {
        dual(-self.value, -self.slope)
    }
}

impl Real for Dual {
    type Mask = bool;

    fn constant(value: f64) -> Self {
        dual(value, 0.0)
    }
    fn mul_add(self, factor: Self, summand: Self) -> Self {
        self * factor + summand
    }
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        dual(root, 0.5 * self.slope / root)
    }
    fn recip(self) -> Self {
        Self::constant(1.0) / self
    }
    fn round(self) -> Self {
        Self::constant(self.value.round())
    }
    fn atan2(self, x: Self) -> Self {
        let square = self.value * self.value + x.value * x.value;
        dual(self.value.atan2(x.value), (x.value * self.slope - self.value * x.slope) / square)
    }
    fn less(self, other: Self) -> bool {
        self.value < other.value
    }
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
}

impl Special for Dual {
    fn exp(self) -> Self {
        let value = self.value.exp();
        dual(value, value * self.slope)
    }
    fn erfc(self) -> Self {
        let x = self.value;
        dual(libm::erfc(x), -std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * self.slope)
    }
}
