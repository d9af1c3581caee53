//! `md-build`: from a molecular structure to a system that can be simulated.
//!
//! [`structure`] holds chains, residues, atoms and bonds, independent of any force field. [`entry`] makes a structure from an entry of the
//! Protein Data Bank.

pub mod entry;
pub mod structure;
