//! `md-engine`: computation of the forces on the atoms of biomolecular systems, and integration of their motion.
//!
//! The package `md-engine` computes forces and advances the positions ([`context::Context`]). The package contains
//! units, vectors and cells, the terms of force fields, topologies and coordinates with their file formats, pair lists,
//! PME, constraints, and thermostats and barostats. Three backends compute forces: a double-precision reference, SIMD
//! kernels on CPUs, and CUDA. The package `md` adds input, output and the run loop. The package `md` re-exports every
//! module of this package except `arrays`, so that other programs depend on `md` alone. The documentation of `md`
//! describes the architecture of both packages.
//!
//! Two packages build faster than one: after a change in `md`, the compute kernels need not be compiled again, and each
//! compiler process needs only about half of the memory.

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
pub mod neighbours;
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
