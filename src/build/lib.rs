//! `md-build`: from a molecular structure to a system that can be simulated.
//!
//! [`structure`] holds chains, residues, atoms and bonds, independent of any force field. [`forcefield`] reads the
//! force-field files of OpenMM, finds the template of each residue, and makes a
//! [`Description`](md_engine::system::Description) with all terms of the energy.

pub mod forcefield;
pub mod structure;
