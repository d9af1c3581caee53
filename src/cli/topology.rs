//! Reading of the topology that belongs to a trajectory.

use std::io::Read;
use std::path::Path;

use super::input::gromacs_folders;
use crate::analysis::first_frame;
use crate::error::{Error, Problem, Result};
use crate::format::pdb::is_pdb;
use crate::format::{Names, TopologyOptions, check_order, file, read_names};
use crate::observe::trajectory::{Format, FrameSource, open};
use crate::select::{Geometry, needs_positions, select, select_at};
use crate::system::Topology;

/// Reads a topology, a structure, or a trajectory that holds a topology or the names of its atoms.
pub(super) fn read(path: &Path) -> Result<Names> {
    let trajectory = Format::of_file(path).ok().filter(|_| !is_structure(path));
    if trajectory.is_none() {
        let options = TopologyOptions { include: gromacs_folders(), ..TopologyOptions::default() };
        return read_names(path, &options);
    }
    let trajectory = open(path)?;
    if let Some(topology) = trajectory.topology() {
        return Ok(Names::of_stored(topology.clone()));
    }
    if !trajectory.labels().is_empty() {
        return Ok(Names::of_labels(trajectory.labels()));
    }
    let problem = Problem::new("this trajectory contains no topology").in_file(path);
    Err(problem.help("give a topology, a structure (gro, PDB, mmCIF) or an H5MD trajectory").into())
}

/// Whether the file has a format that is used for both structures and trajectories, for example PDB.
fn is_structure(path: &Path) -> bool {
    let mut beginning = vec![];
    let read = file::open(path).and_then(|file| file.take(BEGINNING).read_to_end(&mut beginning));
    read.is_ok() && is_pdb(&beginning)
}

/// Number of bytes read to recognise a PDB file.
const BEGINNING: u64 = 4096;

/// Returns the error that the operation `what` needs bonds, but the structure at `path` has no bonds.
pub(super) fn no_bonds(path: &Path, what: &str) -> Error {
    let problem = Problem::new(format!("{what} needs bonds, and this file contains none")).in_file(path);
    problem.help("give a topology (AMBER, GROMACS, CHARMM psf, OpenMM) or an H5MD trajectory of md").into()
}

/// Returns a warning if alternative locations of atoms were left out; `None` if `count` is zero.
pub(super) fn left_out(count: usize) -> Option<String> {
    let words = "atoms at alternative locations are left out: the first location in each residue is used";
    (count > 0).then(|| format!("{count} {words}"))
}

/// Returns an error if a trajectory, which was read from `path`, has no complete frame.
pub(super) fn check_frames(trajectory: &dyn FrameSource, path: &Path) -> Result<()> {
    if trajectory.frames() > 0 {
        return Ok(());
    }
    let problem = match trajectory.cut_off() {
        Some(_) => Problem::new("the file ends inside its first frame, so that it has no complete frame")
            .help("a run is writing the file or was killed, or the file was not copied completely"),
        None if trajectory.skipped() > 0 => Problem::new(
            "the file has velocities or forces, but no frame with positions",
        )
        .help("write positions to the trajectory; in GROMACS, nstxout is the interval of positions in a .trr file"),
        None => Problem::new("the trajectory contains no frames yet")
            .help("only stages of dynamics write frames; final.pdb has the result of a minimisation"),
    };
    Err(problem.in_file(path).into())
}

/// Returns the atoms that the selection `text` contains. Distances in the selection are measured in the first frame of
/// the trajectory.
pub(super) fn select_first(topology: &Topology, trajectory: &mut dyn FrameSource, text: &str) -> Result<Vec<u32>> {
    if trajectory.frames() == 0 || !needs_positions(text) {
        return Ok(select(topology, text)?);
    }
    let frame = first_frame(trajectory)?;
    let geometry = Geometry { positions: &frame.positions, cell: frame.cell.as_ref() };
    Ok(select_at(topology, geometry, text)?)
}

/// Returns an error if the topology does not have the same atoms in the same order as `trajectory`, which was read
/// from `path`.
pub(super) fn check(topology: &Topology, trajectory: &dyn FrameSource, path: &Path) -> Result<()> {
    let (found, expected) = (topology.atoms.len(), trajectory.atoms());
    if found != expected {
        let problem = Problem::new(format!("the topology has {found} atoms, but the trajectory has {expected}"));
        return Err(problem.in_file(path).help("give a topology with the same atoms as the trajectory").into());
    }
    Ok(check_order(topology, trajectory.labels()).map_err(|problem| problem.in_file(path))?)
}
