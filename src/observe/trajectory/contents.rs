//! Properties of a new trajectory file.

use super::{Fields, Placement, Precision};
use crate::system::Topology;

/// Name and unit of a number that is stored with every frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observable {
    /// name, e.g. `potential_energy`. The observables `potential_energy`, `kinetic_energy` and `temperature` are also
    /// stored under MDTraj's names
    pub name: String,
    /// unit in H5MD notation, for example `kJ mol-1`; empty for a quantity without a unit
    pub unit: String,
}

/// Origin of a trajectory: run, program version, computer, author and input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// identifier of the run, the same in all files of the run
    pub run_id: String,
    /// version of md
    pub version: String,
    /// source revision (Git commit) from which md was built; empty if unknown
    pub commit: String,
    /// name of the computer on which the trajectory was created
    pub host: String,
    /// name of the author of the trajectory, if known
    pub author: String,
    /// text of the input file of the run, unchanged
    pub input: String,
    /// random seed of the run
    pub seed: u64,
}

/// Properties of a new trajectory file. A format stores those properties for which it has fields.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// topology of the written atoms: atoms, residues and bonds
    pub topology: &'a Topology,
    /// conversion from the positions of a frame to the positions that the file stores
    pub placement: Placement<'a>,
    /// whether every frame has a cell
    pub periodic: bool,
    /// optional fields that all frames have
    pub fields: Fields,
    /// storage of positions, raw or rounded
    pub precision: Precision,
    /// names and units of the numbers that are stored with every frame; there should be at most about ten, because each
    /// number needs a flush in every frame
    pub observables: &'a [Observable],
    /// origin of the trajectory
    pub provenance: &'a Provenance,
    /// interval between frames, for formats that do not store the time of each frame
    pub spacing: Spacing,
}

/// Constant interval between the frames of a trajectory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spacing {
    /// number of steps between frames
    pub steps: u64,
    /// time step, ps
    pub timestep: f64,
}
