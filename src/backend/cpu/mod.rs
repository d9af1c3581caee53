//! The CPU backend.
pub mod bench;
mod pair_kernel;
