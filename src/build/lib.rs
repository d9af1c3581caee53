//! `md-build`: from a molecular structure to a system that can be simulated.
//!
//! [`structure`] holds chains, residues, atoms and bonds, independent of any force field.

pub mod structure;
