//! Conversion of trajectories, structures and topologies between formats.
//!
//! [`convert`] reads the frames of a [`FrameSource`] one at a time, applies a list of [`Operation`]s to each frame, and
//! writes the frame to a [`Target`]. Memory does not grow with the number of frames. [`open`] also accepts structures;
//! each model of a structure is a frame. [`Demux`] sorts the files of a replica exchange by state. [`write_topology`]
//! writes a topology in another format.

mod demux;
mod operations;
mod structure;
mod target;
mod topology;

use std::path::{Path, PathBuf};

pub use demux::{Demux, Sorted};
pub use operations::{Align, Center, Operation, Unwrap, Whole};
pub use target::{Target, TargetOptions};
pub use topology::write_topology;

use crate::analysis::is_within;
use crate::error::{Problem, Result};
use crate::format::{Coordinates, Label, read_models};
use crate::observe::trajectory::{Chain, Format, FrameSource, StoredFrame, doubtful_times, refuse_compressed};

/// Selection of the frames to write.
#[derive(Clone, Debug, PartialEq)]
pub struct Frames {
    /// index (from 0) of the only frame to write; `None` for all frames
    pub only: Option<usize>,
    /// earliest time of the written frames, ps; `None` for no limit
    pub begin: Option<f64>,
    /// latest time of the written frames, ps; `None` for no limit
    pub end: Option<f64>,
    /// interval of the written frames, at least 1; the first frame in the range from `begin` to `end` and every
    /// `stride`-th frame after the first are written
    pub stride: usize,
}

impl Frames {
    fn is_in_time(&self, time: f64) -> bool {
        is_within(time, [self.begin.unwrap_or(f64::NEG_INFINITY), self.end.unwrap_or(f64::INFINITY)])
    }
}

/// Opens a trajectory, or a coordinate file of `atoms` atoms. Each model of a coordinate file is a frame.
pub fn open(path: &Path, atoms: Option<usize>) -> Result<Box<dyn FrameSource>> {
    if Format::of_file(path).is_ok() {
        return Ok(Box::new(Chain::open_as_stored(&[path.to_owned()])?));
    }
    refuse_compressed(path)?;
    Ok(Box::new(Structures { path: path.to_owned(), models: read_models(path, atoms)? }))
}

/// Trajectory whose frames are the models of a structure. There is at least one model.
struct Structures {
    path: PathBuf,
    models: Vec<Coordinates>,
}

impl FrameSource for Structures {
    fn atoms(&self) -> usize {
        self.models[0].positions.len()
    }

    fn frames(&self) -> usize {
        self.models.len()
    }

    fn labels(&self) -> &[Label] {
        &self.models[0].labels
    }

    fn left_out(&self) -> usize {
        self.models[0].left_out.atoms
    }

    fn is_crystal(&self) -> bool {
        self.models[0].left_out.symmetry
    }

    fn has_times(&self) -> bool {
        self.models.iter().all(|model| model.time.is_some())
    }

    fn warnings(&self) -> Vec<String> {
        let is_doubtful = self.models.len() > 1 && !self.has_times();
        let doubtful = is_doubtful.then(|| doubtful_times(&self.path, None));
        doubtful.into_iter().chain(self.models[0].left_out.of_cell().map(str::to_owned)).collect()
    }

    fn read(&mut self, index: usize, frame: &mut StoredFrame) -> Result<()> {
        let Coordinates { time, positions, velocities, cell, .. } = self.models[index].clone();
        // a frame without a time gets its index as time, as in PDB trajectories
        let (time, velocities) = (time.unwrap_or(index as f64), velocities.unwrap_or_default());
        *frame = StoredFrame { step: index as i64, time, cell, positions, velocities, forces: vec![] };
        Ok(())
    }
}

/// Result of a conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    /// number of frames written
    pub frames: usize,
    /// warnings about contents of the frames that the target file does not have
    pub warnings: Vec<String>,
}

/// Reads frames, applies the operations to each frame, and writes each frame to the target. When the function returns,
/// the target file is complete.
pub fn convert(
    source: &mut dyn FrameSource,
    operations: &mut [Box<dyn Operation + '_>],
    mut target: Target<'_>,
    frames: &Frames,
) -> Result<Converted> {
    let count = source.frames();
    if let Some(only) = frames.only.filter(|&only| only >= count) {
        let problem = Problem::new(format!("there is no frame {only}: the input has {count} frames"));
        return Err(problem.help("frames are counted from 0").into());
    }
    let every = operations.iter().any(|operation| operation.needs_every_frame());
    let is_timed = frames.begin.is_some() || frames.end.is_some();
    let (mut frame, mut passed, mut written) = (StoredFrame::default(), 0, 0);
    for index in 0..count {
        let is_last = frames.only == Some(index);
        let is_due = |passed: usize| match frames.only {
            Some(_) => is_last,
            None => passed.is_multiple_of(frames.stride),
        };
        // a frame that is neither written nor needed by an operation is not read
        if !is_timed && !every && !is_due(passed) {
            passed += 1;
            continue;
        }
        source.read(index, &mut frame)?;
        if !frames.is_in_time(frame.time) {
            continue;
        }
        for operation in operations.iter_mut() {
            operation.apply(&mut frame)?;
        }
        if is_due(passed) {
            target.write(&frame)?;
            written += 1;
        }
        passed += 1;
        if is_last {
            break;
        }
    }
    if written == 0 {
        let help = "md info lists the times of a trajectory";
        return Err(Problem::new("no frame of the input is selected").help(help).into());
    }
    let unread = target.unread(source);
    let warnings = target.finish()?.into_iter().chain(unread).collect();
    Ok(Converted { frames: written, warnings })
}
