//! What a checkpoint holds: everything the bits of the rest of the run depend on, and what was written so far.

use super::minimize::Minimizer;
use super::plan::Plan;
use super::simulation::ListOrigins;
use crate::error::{Problem, Result};
use crate::observe::checkpoint::{self, Restored};
use crate::observe::statistics::Statistics;
use crate::pair::ListSchedule;
use crate::system::{State, System};
use crate::vec3::Vec3;
use std::path::Path;

/// Changes whenever the contents below change.
const VERSION: u32 = 1;

/// A place in a run.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Checkpoint {
    /// the plan in force
    pub plan: Plan,
    /// fingerprint of the system, see [`fingerprint`]
    pub system: u32,
    /// index of the stage
    pub stage: usize,
    /// steps of this stage done
    pub done: u64,
    /// positions, velocities, cell, time, coupling
    pub state: State,
    /// pair lists in mid-life
    pub lists: Option<ListOrigins>,
    /// their radii and lifetimes
    pub schedule: Option<ListSchedule>,
    /// a minimisation under way, and where its lists were made
    pub minimizer: Option<(Minimizer, Vec<Vec3>)>,
    /// frames in the trajectory
    pub frames: u64,
    /// averages of this stage
    pub statistics: Statistics,
}

impl Checkpoint {
    /// Write, keeping the one before.
    pub fn write(&self, path: &Path) -> Result<()> {
        checkpoint::write(path, VERSION, self)
    }

    /// Read, falling back to the one before; `None` where there is none.
    pub fn read(path: &Path) -> Result<Option<Restored<Self>>> {
        checkpoint::read(path, VERSION)
    }

    /// Refuse to continue with other atoms than before.
    pub fn check_system(&self, system: &System) -> Result<()> {
        if self.system == fingerprint(system) {
            return Ok(());
        }
        Err(Problem::new("the topology or its parameters have changed since this run began")
            .help("restore the files, choose another output directory, or use --force to start anew")
            .into())
    }
}

/// CRC-32 of charges, masses, types and Lennard-Jones parameters: equal systems have equal ones.
pub(super) fn fingerprint(system: &System) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for atom in &system.topology.atoms {
        hasher.update(&atom.mass.to_le_bytes());
        hasher.update(&atom.charge.to_le_bytes());
        hasher.update(&atom.lj_type.to_le_bytes());
    }
    for value in system.nonbonded.c6.iter().chain(&system.nonbonded.c12) {
        hasher.update(&value.to_le_bytes());
    }
    hasher.finalize()
}

/// CRC-32 of a state: equal for runs that agree bit for bit.
pub fn state_hash(state: &State) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&state.step.to_le_bytes());
    hasher.update(bytemuck::cast_slice(&state.positions));
    hasher.update(bytemuck::cast_slice(&state.velocities));
    for row in state.cell.iter().flat_map(|cell| cell.rows()) {
        hasher.update(bytemuck::bytes_of(&row));
    }
    hasher.finalize()
}
