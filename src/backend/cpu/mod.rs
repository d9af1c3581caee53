//! The CPU backend.
pub mod bench;
mod bonded;
mod mesh;
mod mesh_kernel;
mod nonbonded;
mod pair_kernel;
mod threads;
