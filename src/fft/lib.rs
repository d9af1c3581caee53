//! Plans of Fourier transforms of a line in double precision.
//!
//! Because the code of `rustfft` is generic, each package that creates plans compiles all of `rustfft`. Plans are
//! created only in this package, so that `rustfft` is compiled only once, and not again for the unit tests of the
//! engine.

use std::sync::Arc;

use realfft::RealFftPlanner;
use rustfft::FftPlanner;

pub use realfft::{ComplexToReal, RealToComplex};
pub use rustfft::Fft;

/// Plans the forward and the inverse transform of `length` complex numbers.
pub fn plan_complex(length: usize) -> [Arc<dyn Fft<f64>>; 2] {
    let mut planner = FftPlanner::new();
    [planner.plan_fft_forward(length), planner.plan_fft_inverse(length)]
}

/// Plans the forward and the inverse transform of `length` real numbers.
pub fn plan_real(length: usize) -> (Arc<dyn RealToComplex<f64>>, Arc<dyn ComplexToReal<f64>>) {
    let mut planner = RealFftPlanner::new();
    (planner.plan_fft_forward(length), planner.plan_fft_inverse(length))
}
