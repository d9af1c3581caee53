//! `md-build`: from a molecular structure to a system that can be simulated.
//!
//! [`solvent`] makes a periodic cell around a solute and fills it with water and ions.
//! [`structure`] holds chains, residues, atoms and bonds, independent of any force field.

pub mod solvent;
pub mod structure;
