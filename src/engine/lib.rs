//! `md-engine`: forces and motion of biomolecular systems.
//!
//! This package holds everything from units to a system on a device ([`context::Context`]): vectors and cells, the
//! terms of force fields, topologies and coordinates with their file formats, pair lists, PME, constraints,
//! couplings, and the backends that compute forces (a double-precision reference, SIMD kernels on CPUs, CUDA). The
//! package `md` adds input, output and the run loop. It re-exports every module of this package except `arrays`, so
//! that programs depend on `md` alone. Its documentation describes the architecture of both packages.
//!
//! Two packages build faster than one: a change of the program compiles no kernel, and each compiler process needs
//! about half of the memory.

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
