//! Description of the contents of an H5MD trajectory.

use std::path::Path;

use hdf5::filters::{Filter, ScaleOffset};
use hdf5::{File, OpenMode};

use super::datasets::Datasets;
use super::hdf::{options, read_numbers, read_text};
use super::superblock::Superblock;
use crate::error::{Error, Problem, Result};
use crate::observe::extent::Extent;
use crate::observe::trajectory::{Fields, Observable, Precision};

/// Contents of an H5MD trajectory.
#[derive(Clone, Debug, PartialEq)]
pub struct TrajectoryInfo {
    /// number of complete frames
    pub frames: u64,
    /// number and checksum of the complete frames, as stored in the file; `None` if the file has no checksums
    pub extent: Option<Extent>,
    /// number of atoms in each frame
    pub atoms: usize,
    /// step number and time (ps) of the first frame
    pub first: Option<(i64, f64)>,
    /// step number and time (ps) of the last complete frame
    pub last: Option<(i64, f64)>,
    /// whether the writer closed the file; false while a run writes to the file, and after the run was killed
    pub closed: bool,
    /// whether frames have a cell
    pub periodic: bool,
    /// optional fields of the frames
    pub fields: Fields,
    /// precision with which positions are stored
    pub precision: Precision,
    /// names and units of the numbers that are stored with every frame
    pub observables: Vec<Observable>,
    /// identifier of the run that wrote the file; empty if the file has no identifier
    pub run_id: String,
    /// version of md that wrote the file
    pub version: String,
    /// text of the input file of the run that wrote the trajectory
    pub input: String,
    /// size of the file in bytes
    pub size: u64,
}

/// Reads the properties of the trajectory at `path`, even while a run writes to the file, or after the run was killed.
pub fn info(path: &Path) -> Result<TrajectoryInfo> {
    let mode = Superblock::read(path)?.reading_mode(path)?;
    let size = std::fs::metadata(path).map_err(|e| Error::io(path, e))?.len();
    read(path, mode, size).map_err(|e| foreign(path, &e))
}

/// Returns the error for a file that is not a trajectory of md.
pub(super) fn foreign(path: &Path, reason: &dyn std::fmt::Display) -> Error {
    Problem::new(format!("the file is not a trajectory of md, or is damaged: {reason}")).in_file(path).into()
}

fn read(path: &Path, mode: OpenMode, size: u64) -> hdf5::Result<TrajectoryInfo> {
    let file = options().open_as(path, mode)?;
    let datasets = Datasets::open(&file)?;
    let frames = datasets.frames();
    let at = |index: usize| datasets.step_and_time(index).map(Some);
    let parameters = file.group("parameters")?;
    Ok(TrajectoryInfo {
        frames: frames as u64,
        extent: datasets.stored_checksum(frames)?.map(|checksum| Extent { count: frames as u64, checksum }),
        atoms: datasets.atoms(),
        first: if frames > 0 { at(0)? } else { None },
        last: if frames > 0 { at(frames - 1)? } else { None },
        closed: mode == OpenMode::Read,
        periodic: datasets.is_periodic(),
        fields: datasets.fields(),
        precision: precision(&datasets.positions.dataset.filters()),
        observables: datasets.observables(),
        run_id: run_id(&file)?,
        version: read_text(&parameters, "version")?,
        input: read_text(&parameters, "input")?,
        size,
    })
}

/// Returns the identifier of the run that wrote a file; empty if the file has no identifier.
pub(super) fn run_id(file: &File) -> hdf5::Result<String> {
    let parameters = file.group("parameters")?;
    match parameters.link_exists("run_id") {
        true => read_text(&parameters, "run_id").map(|text| text.trim().to_owned()),
        false => Ok(String::new()),
    }
}

/// Returns, for each atom of a file, its 0-based index in the system from which the atoms were selected.
pub(super) fn identities(file: &File) -> hdf5::Result<Vec<i64>> {
    read_numbers(&file.group("particles/trajectory")?, "id")
}

/// Returns the precision with which positions are stored, derived from the HDF5 filters of their dataset.
pub(super) fn precision(filters: &[Filter]) -> Precision {
    match filters {
        [] => Precision::Raw,
        [Filter::ScaleOffset(ScaleOffset::FloatDScale(3)), ..] => Precision::Decimals3,
        [Filter::ScaleOffset(_), ..] => Precision::Decimals4,
        _ => Precision::Lossless,
    }
}
