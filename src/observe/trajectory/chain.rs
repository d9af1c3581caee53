//! Chain of trajectories of the same atoms, which are read one after the other.

use std::path::{Path, PathBuf};

use super::{Format, FrameSource, StoredFrame};
use crate::error::{Problem, Result};
use crate::format::Label;
use crate::system::Topology;

/// Several trajectories of the same atoms, read as one trajectory. A continued run writes the last frame of its first
/// file again as the first frame of its second file. Such a first frame, which has the same time as the last frame of
/// the previous file, is left out. The only frame of a file with a single frame is always kept, because single
/// structures often have no times.
///
/// The topology and the atom names of the chain are those of the first file that has them.
pub struct Chain {
    parts: Vec<Part>,
}

/// A file of a chain.
struct Part {
    source: Box<dyn FrameSource>,
    /// index in this file of the first frame that belongs to the chain: 1 if frame 0 repeats the last frame of the
    /// previous file, otherwise 0
    first: usize,
    /// index in the chain of the first frame of this file
    start: usize,
}

/// Last frame of the files that are already in the chain.
struct Last {
    format: &'static str,
    time: f64,
    /// whether the file of this frame has several frames
    is_series: bool,
}

impl Chain {
    /// Opens trajectories of any formats as a chain. Returns an error if the files have different numbers of atoms.
    /// Files without frames are accepted.
    pub fn open(paths: &[PathBuf]) -> Result<Self> {
        let mut parts: Vec<Part> = vec![];
        let (mut start, mut last, mut frame) = (0, None, StoredFrame::default());
        let mut known: Option<(&Path, usize)> = None;
        for path in paths {
            let format = Format::of_file(path)?;
            let mut source = format.files.open(path)?;
            let (frames, atoms) = (source.frames(), source.atoms());
            if frames > 0 {
                let (before, expected) = *known.get_or_insert((path, atoms));
                if atoms != expected {
                    return Err(other_atoms(path, atoms, before, expected));
                }
            }
            let mut first = 0;
            if let Some(last) = last.as_ref().filter(|last: &&Last| last.is_series && frames > 1) {
                source.read(0, &mut frame)?;
                first = usize::from(is_same_time(last, format, frame.time));
            }
            // the last frame of a file is compared with the first frame of the next file, so it is not needed for the
            // last file
            if frames > 0 && parts.len() + 1 < paths.len() {
                source.read(frames - 1, &mut frame)?;
                last = Some(Last { format: format.name, time: frame.time, is_series: frames > 1 });
            }
            parts.push(Part { source, first, start });
            start += frames - first;
        }
        match parts.is_empty() {
            true => Err(Problem::new("there is no trajectory to read").help("give at least one file").into()),
            false => Ok(Self { parts }),
        }
    }

    /// Returns the index of the file that contains frame `index` of the chain, or of the last file if there is no such
    /// frame.
    fn part_of(&self, index: usize) -> usize {
        self.parts.partition_point(|part| part.start <= index).saturating_sub(1)
    }

    /// Returns the first file that has frames, or the first file if no file has frames.
    fn described(&self) -> &dyn FrameSource {
        let found = self.parts.iter().find(|part| part.source.frames() > 0);
        found.unwrap_or(&self.parts[0]).source.as_ref()
    }
}

impl Part {
    /// Returns the index that frame `index` of the chain has in its file.
    fn index_of(&self, index: usize) -> usize {
        index - self.start + self.first
    }
}

/// Whether a frame of `format` at `time` (ps) has the same time as the frame `last`. Times in files of different
/// formats are compared in `f32`, because some formats store times in `f32`.
fn is_same_time(last: &Last, format: &Format, time: f64) -> bool {
    last.time == time || (last.format != format.name && last.time as f32 == time as f32)
}

fn other_atoms(path: &Path, atoms: usize, before: &Path, expected: usize) -> crate::error::Error {
    let message = format!("there are {atoms} atoms in each frame, and {expected} in {}", before.display());
    let help = "trajectories that are read one after the other have the same atoms in the same order";
    Problem::new(message).in_file(path).help(help).into()
}

impl FrameSource for Chain {
    fn atoms(&self) -> usize {
        self.described().atoms()
    }

    fn frames(&self) -> usize {
        self.parts.last().map_or(0, |part| part.start + part.source.frames() - part.first)
    }

    fn topology(&self) -> Option<&Topology> {
        self.parts.iter().find_map(|part| part.source.topology())
    }

    fn labels(&self) -> &[Label] {
        if self.topology().is_some() {
            return &[];
        }
        self.parts.iter().map(|part| part.source.labels()).find(|labels| !labels.is_empty()).unwrap_or_default()
    }

    fn left_out(&self) -> usize {
        self.parts.iter().map(|part| part.source.left_out()).find(|&count| count > 0).unwrap_or(0)
    }

    fn limit(&mut self, atoms: usize) {
        self.parts.iter_mut().for_each(|part| part.source.limit(atoms));
    }

    fn read(&mut self, index: usize, frame: &mut StoredFrame) -> Result<()> {
        let place = self.part_of(index);
        let part = &mut self.parts[place];
        part.source.read(part.index_of(index), frame)
    }

    fn read_batch(&mut self, indices: &[usize], frames: &mut [StoredFrame]) -> Result<()> {
        let places: Vec<usize> = indices.iter().map(|&index| self.part_of(index)).collect();
        let mut done = 0;
        for run in places.chunk_by(|a, b| a == b) {
            let (part, range) = (&mut self.parts[run[0]], done..done + run.len());
            let inside: Vec<usize> = indices[range.clone()].iter().map(|&index| part.index_of(index)).collect();
            part.source.read_batch(&inside, &mut frames[range])?;
            done += run.len();
        }
        Ok(())
    }
}
