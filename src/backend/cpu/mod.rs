//! The CPU backend.
pub mod bench;
mod mesh;
mod mesh_kernel;
mod pair_kernel;
mod threads;
