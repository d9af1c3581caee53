//! The shared compute core: numerical building blocks behind one small interface, used by PME and by trajectory
//! analysis. No other module calls FFT or linear-algebra crates.
//!
//! [`Fft3`] and [`gemm`] work on arrays of the host. [`Core`] is a common interface for the host and GPUs:
//! [`HostCore`] uses [`Fft3`] and [`gemm`], [`CudaCore`] uses cuFFT and cuBLAS. [`LineFft`] is used by the CPU
//! backend.

mod autocorrelation;
mod core;
pub mod cuda;
mod fft;
mod gemm;
mod lines;

pub use autocorrelation::Autocorrelation;
pub use core::{Core, HostCore, Number, Operand, Precision, Real};
pub use cuda::CudaCore;
pub use fft::{Fft3, FftReal};
pub use gemm::{GemmReal, Matrix, gemm};
pub use lines::{LineFft, Lines, LinesMut, Split};
