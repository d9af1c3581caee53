//! Verification of H5MD trajectories frame by frame, and repair by copying the readable frames of a damaged file to a
//! new file.

use std::path::Path;

use super::datasets::Datasets;
use super::hdf::{options, read_text};
use super::info::{foreign, identities, info, precision, run_id};
use super::journal;
use super::layout;
use super::names::mdtraj_topology;
use super::reader::TrajectoryReader;
use super::superblock::Superblock;
use crate::error::{Error, Problem, Result};
use crate::observe::extent::Extent;
use crate::observe::lock::OutputLock;
use crate::observe::replace::{behind_link, sync_directory, temporary_beside};
use crate::observe::trajectory::refusal::{nothing_to_save, unused_backup};
use crate::observe::trajectory::{
    Contents, FrameSource, Placement, Provenance, Repair, Spacing, Verification, regular_file,
};

/// Reads every frame of a trajectory and compares the checksum of the frame with the stored checksum. Returns an error
/// if the file as a whole cannot be read.
pub fn verify(path: &Path) -> Result<Verification> {
    Ok(examine(&TrajectoryReader::open(path)?))
}

fn examine(reader: &TrajectoryReader) -> Verification {
    let data = &reader.datasets;
    let mut found = Verification { frames: reader.frames() as u64, ..Verification::default() };
    let mut buffer = vec![];
    // checksums of the frames before the current frame: the stored checksum and the computed checksum
    let mut before = (0, 0);
    for index in 0..reader.frames() {
        let stored = data.stored_checksum(index + 1);
        found.checksums |= !matches!(stored, Ok(None));
        let sums = data.checksum(index, before.0, &mut buffer).and_then(|sum| {
            let other = if before.0 == before.1 { sum } else { data.checksum(index, before.1, &mut buffer)? };
            Ok((sum, other))
        });
        let right = match (&stored, &sums) {
            (Ok(Some(stored)), Ok((a, b))) if stored == a || stored == b => Ok(()),
            (Ok(Some(_)), Ok(_)) => Err("the checksum of the frame is wrong".to_owned()),
            (Ok(None), Ok(_)) => Ok(()),
            (Err(error), _) | (_, Err(error)) => Err(error.to_string()),
        };
        let readable = || {
            let read = reader.step_and_time(index).and_then(|_| reader.frame(index));
            read.map(|_| ()).map_err(|error| error.to_string())
        };
        if let Err(reason) = right.and_then(|()| readable()) {
            found.bad.push((index as u64, reason));
        }
        let stored = stored.ok().flatten();
        before = (stored.unwrap_or(0), sums.ok().map_or(stored.unwrap_or(0), |(_, sum)| sum));
    }
    found
}

/// Repairs a trajectory whose writer was killed, so that all programs can read the trajectory. For a damaged
/// trajectory, copies every readable frame to a new file, which replaces the damaged file. Returns an error while a run
/// locks the directory. An intact file stays unchanged.
pub fn repair(path: &Path) -> Result<Repair> {
    regular_file(path)?;
    let path = &*behind_link(path)?;
    let _lock = OutputLock::acquire_if_present(path)?;
    if let Ok(found) = close_as_it_is(path) {
        return Ok(found);
    }
    // if a journal belongs to the file, frames are read from a copy of the file in its state at the last sync; the copy
    // has at least as many intact frames as the damaged file
    let restored = match restored_copy(path).ok().flatten() {
        Some(copy) => Some(copy),
        None => lengthened_copy(path)?,
    };
    let source = restored.as_ref().map_or(path, |copy| copy.as_ref());
    let copy = temporary_beside(path)?.into_temp_path();
    let lost = copy_readable(source, &copy).map_err(|error| match error {
        // the problem may name a temporary copy of the file
        Error::Input(problems) => {
            Error::Input(problems.into_iter().map(|problem| Problem { file: None, ..problem }.in_file(path)).collect())
        }
        other => foreign(path, &other),
    })?;
    drop(restored);
    let backup = unused_backup(path);
    std::fs::rename(path, &backup).map_err(|e| Error::io(path, e))?;
    copy.persist(path).map_err(|e| Error::io(path, e.error))?;
    sync_directory(path)?;
    journal::remove(path)?;
    Ok(Repair { frames: info(path)?.frames, lost, backup: Some(backup), ..Repair::default() })
}

/// Closes a file whose frames are all intact: clears the flags that mark the file as open for writing, and truncates
/// all time series to the number of frames for which every time series has a row.
fn close_as_it_is(path: &Path) -> Result<Repair> {
    let superblock = Superblock::read(path)?;
    if superblock.reading_mode(path).is_err() || !superblock.is_intact() {
        superblock.repair_if_needed(path)?;
    }
    if let Some((frame, reason)) = verify(path)?.bad.first() {
        return Err(Error::io(path, format!("frame {frame}: {reason}")));
    }
    Superblock::read(path)?.repair_if_needed(path)?;
    let io = |e| Error::io(path, e);
    let file = options().open_rw(path).map_err(io)?;
    let datasets = Datasets::open(&file).map_err(io)?;
    datasets.truncate(datasets.frames()).map_err(io)?;
    drop(datasets);
    file.close().map_err(io)?;
    std::fs::File::open(path).and_then(|file| file.sync_all()).map_err(|e| Error::io(path, e))?;
    let frames = info(path)?.frames;
    journal::remove(path)?;
    Ok(Repair { frames, ..Repair::default() })
}

/// Copies a file to a temporary file beside it. The name of the copy has an ending of its own, because the repaired
/// file is also temporary.
fn copy_of(path: &Path, ending: &str) -> Result<tempfile::TempPath> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    let copy = temporary_beside(&path.with_file_name(name))?.into_temp_path();
    std::fs::copy(path, &copy).map_err(|e| Error::io(path, e))?;
    Ok(copy)
}

/// Returns a copy of the file in its state at the last sync; `None` if there is no journal that belongs to the file.
fn restored_copy(path: &Path) -> Result<Option<tempfile::TempPath>> {
    let copy = copy_of(path, ".restored")?;
    if !journal::restore_to(path, &copy)? {
        return Ok(None);
    }
    Superblock::read(&copy)?.repair_if_needed(&copy)?;
    Ok(Some(copy))
}

/// Returns a copy of a file that was cut off, with its original length; `None` for a file that was not cut off. HDF5
/// does not open a file that is shorter than its superblock states. The missing bytes are zeros, which the checksums of
/// HDF5 and of the frames do not match.
fn lengthened_copy(path: &Path) -> Result<Option<tempfile::TempPath>> {
    let io = |e| Error::io(path, e);
    let length = std::fs::metadata(path).map_err(io)?.len();
    let Some(whole) = Superblock::read(path)?.closed_length().filter(|&whole| whole > length) else { return Ok(None) };
    let copy = copy_of(path, ".whole")?;
    // the file system stores no blocks for the missing bytes
    std::fs::OpenOptions::new().write(true).open(&copy).and_then(|file| file.set_len(whole)).map_err(io)?;
    Ok(Some(copy))
}

/// Writes the readable frames of `from` to the new file `to`. Returns the indices of the unreadable frames.
fn copy_readable(from: &Path, to: &Path) -> Result<Vec<u64>> {
    let reader = TrajectoryReader::open_readable(from)?;
    let found = examine(&reader);
    let hdf = |e| Error::io(from, e);
    let (source, file) = (&reader.datasets, &reader.file);
    let parameters = file.group("parameters").map_err(hdf)?;
    // frames are saved even if texts about the origin of the file (run, version, input) are missing
    let text = |name: &str| read_text(&parameters, name).unwrap_or_default();
    let provenance = Provenance {
        run_id: run_id(file).unwrap_or_default(),
        version: text("version"),
        commit: text("commit"),
        host: text("host"),
        author: String::new(),
        input: text("input"),
        seed: parameters.dataset("seed").and_then(|seed| seed.read_scalar()).unwrap_or(0),
    };
    let mut topology = reader.topology.clone();
    topology.title = text("title");
    let observables = source.observables();
    let identities: Vec<u32> = identities(file).unwrap_or_default().into_iter().map(|atom| atom as u32).collect();
    let contents = Contents {
        topology: &topology,
        // `identities` are the 0-based indices that the atoms of the file have in the simulated system
        placement: Placement { whole: true, selected: Some((&topology, &identities)) },
        periodic: reader.is_periodic(),
        fields: source.fields(),
        precision: precision(&source.positions.dataset.filters()),
        observables: &observables,
        provenance: &provenance,
        spacing: Spacing { steps: 1, timestep: 0.0 },
    };
    let json = mdtraj_topology(&topology).map_err(|e| Error::Internal(e.to_string()))?;
    let io = |e: hdf5::Error| Error::io(to, e);
    // frames are copied as they are stored, in chunks of the same size
    layout::create(to, &contents, &json, source.positions.chunk_width).map_err(io)?;
    let copy = options().open_rw(to).map_err(io)?;
    let target = Datasets::open(&copy).map_err(io)?;
    if found.bad.len() as u64 == found.frames {
        let reason = found.bad.first().map_or("the file has no frames", |(_, reason)| reason);
        return Err(nothing_to_save(from, reason));
    }
    let lost: Vec<u64> = found.bad.into_iter().map(|(frame, _)| frame).collect();
    let (mut copied, mut buffer) = (Extent::default(), vec![]);
    let good = (0..found.frames).filter(|frame| lost.binary_search(frame).is_err());
    for frame in good {
        let checksum = source.copy_frame(frame as usize, &target, copied, &mut buffer).map_err(io)?;
        copied = Extent { count: copied.count + 1, checksum };
    }
    drop(target);
    copy.close().map_err(io)?;
    std::fs::File::open(to).and_then(|file| file.sync_all()).map_err(|e| Error::io(to, e))?;
    Ok(lost)
}
