//! The topology that goes with a trajectory.

use std::path::Path;

use super::input::gromacs_folders;
use crate::error::{Problem, Result};
use crate::format::{TopologyOptions, check_order, read_topology_with};
use crate::observe::trajectory::{Format, FrameSource, open};
use crate::system::Topology;

/// From a topology file, or a trajectory that holds one.
pub(super) fn read(path: &Path) -> Result<Topology> {
    if Format::of_file(path).is_err() {
        let options = TopologyOptions { include: gromacs_folders(), ..TopologyOptions::default() };
        return Ok(read_topology_with(path, &options)?.topology);
    }
    open(path)?.topology().cloned().ok_or_else(|| {
        let problem = Problem::new("this trajectory holds no topology").in_file(path);
        problem.help("name a topology file or an H5MD trajectory").into()
    })
}

/// Refuses a topology of other atoms, or atoms in another order, than those of `trajectory`, which was read from `path`.
pub(super) fn check(topology: &Topology, trajectory: &dyn FrameSource, path: &Path) -> Result<()> {
    let (found, expected) = (topology.atoms.len(), trajectory.atoms());
    if found != expected {
        let problem = Problem::new(format!("the topology has {found} atoms, the trajectory {expected}"));
        return Err(problem.in_file(path).help("both must belong together").into());
    }
    Ok(check_order(topology, trajectory.labels()).map_err(|problem| problem.in_file(path))?)
}
