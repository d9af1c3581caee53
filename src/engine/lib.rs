//! `md-engine`: forces and motion of biomolecular systems.
//!
//! This package holds everything from units to a system on a device ([`context::Context`]): vectors and cells, the terms of
//! force fields, topologies and coordinates with their file formats, pair lists, PME, constraints, couplings, and the
//! backends that compute them (a double-precision reference, SIMD kernels on CPUs, CUDA). The package `md` adds what a run
//! needs around it and re-exports every module of this one but `arrays`, so that programs depend on `md` alone; its
//! documentation describes the architecture of both.
//!
//! The two are separate packages for the sake of building: a change of the program compiles no kernel, and each compiler
//! needs about half of the memory.

pub mod arrays;
pub mod backend;
pub mod cell;
pub mod compute;
pub mod constraint;
pub mod context;
pub mod ensemble;
pub mod error;
pub mod format;
pub mod image;
pub mod memory;
pub mod pair;
pub mod pme;
pub mod prepare;
pub mod ranks;
pub mod restraint;
pub mod rng;
pub mod select;
pub mod simd;
pub mod superpose;
pub mod system;
pub mod team;
pub mod term;
#[cfg(test)]
pub(crate) mod testing;
pub mod units;
pub mod vec3;
pub mod virtual_sites;
