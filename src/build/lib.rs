//! `md-build` turns a molecular structure into a system that can be simulated.
//!
//! [`structure`] holds chains, residues, atoms and bonds, independent of any force field. [`entry`] reads entries of
//! the Protein Data Bank and makes structures from them. Missing atoms are rebuilt from templates, then [`hydrogens`]
//! adds hydrogens. [`solvent`] makes a periodic cell around a solute, adds a lipid bilayer on request, and fills the
//! cell with water and ions. [`forcefield`] reads the force-field files of OpenMM, finds the template of each residue,
//! and makes a [`Description`](md_engine::system::Description) with all energy terms. [`build`] performs all these
//! steps.

mod complete;
pub mod entry;
pub mod forcefield;
mod geometry;
pub mod hydrogens;
mod ion_charges;
mod pipeline;
pub mod solvent;
pub mod structure;

pub use complete::Caps;
pub use pipeline::{
    Added, Built, Ions, ResidueName, Settings, anion_names, build, cation_names, field_names, water_names,
};
