//! The shared compute core: numerical building blocks behind one small interface, used by PME and by trajectory
//! analysis. No other module calls FFT or linear-algebra crates.

mod fft;
mod gemm;
mod lines;

pub use fft::{Fft3, FftReal};
pub use gemm::{GemmReal, Matrix, gemm};
pub use lines::{LineFft, Lines, LinesMut, Split};
