//! A radial function without its singular part, which the square of a polynomial can approximate.

use super::table::{RadialFunction, range};

/// The difference of a radial function and its singular part. The difference has the same sign at all distances.
/// Squares of polynomials approximate its magnitude ([`super::RootPolynomial`]), and kernels add the singular part.
pub struct SmoothPart<'a> {
    function: RadialFunction<'a>,
    singular: RadialFunction<'a>,
    /// largest error of a polynomial relative to [`Self::scale`]
    pub(super) tolerance: f64,
    /// lowest and highest r², nm²
    pub(super) range: [f64; 2],
    /// magnitude of the function at the lowest r², for functions without a singular part
    largest_value: f64,
}

impl<'a> SmoothPart<'a> {
    /// Describes `function(r)` − `singular(r)` for r up to `largest` nm. A polynomial may deviate by `tolerance`
    /// relative to `singular(r)`, or relative to the largest value of the function if there is no singular part.
    pub fn new(function: RadialFunction<'a>, singular: RadialFunction<'a>, tolerance: f64, largest: f64) -> Self {
        let range = range(largest);
        let largest_value = function(range[0].sqrt()).abs().max(f64::MIN_POSITIVE);
        SmoothPart { function, singular, tolerance, range, largest_value }
    }

    /// Returns the lowest r² (nm²) for which a polynomial is accurate; kernels must raise smaller values of r² to this
    /// value.
    pub fn lowest(&self) -> f64 {
        self.range[0]
    }

    /// Returns the radial function minus its singular part at r².
    pub(super) fn value(&self, r2: f64) -> f64 {
        let r = r2.sqrt();
        (self.function)(r) - (self.singular)(r)
    }

    /// Returns the scale of relative errors at r²: the singular part, or the largest value of a function without a
    /// singular part.
    pub(super) fn scale(&self, r2: f64) -> f64 {
        match (self.singular)(r2.sqrt()) {
            0.0 => self.largest_value,
            singular => singular,
        }
    }
}
