//! Looking at trajectories: what many frames have in common, and how they differ.
//!
//! [`Frames`] holds the selected atoms of every frame, superposition-ready; [`rmsd_matrix`] compares all frames with
//! all, [`Pca`] finds the directions in which they vary most. Both leave their arithmetic to [`crate::compute::gemm`].
//! [`write_rmsd`] and [`write_pca`] store results as HDF5 that h5py reads. Nothing here prints.

mod frames;
mod output;
mod pca;
mod rmsd;
mod superpose;

pub use frames::Frames;
pub use output::{Origin, write_pca, write_rmsd};
pub use pca::{LARGEST_PROBLEM, Pca};
pub use rmsd::{RmsdMatrix, rmsd_matrix};
pub use superpose::{Correlation, overlap, rotation};
