//! Chain of trajectories of the same atoms, which are read one after the other.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::{Format, FrameSource, StoredFrame, Unread};
use crate::error::{Problem, Result};
use crate::format::{Label, OTHER_VECTORS};
use crate::system::Topology;
use crate::units::rounded_time;

/// Several trajectories of the same atoms, read as one trajectory in the order of time.
///
/// A run that is continued in a new file repeats the last frame of the old file as the first frame of the new file. If
/// the first frame of a file has the same time as the last frame of the previous file, the first frame is left out. If
/// a file begins before the end of the previous file, as after a crash and a restart from an earlier checkpoint, the
/// overlapping frames of the previous file are left out, as in GROMACS' trjcat. Files that begin at the same time as
/// the first file are treated as separate runs, and all their frames are used. [`FrameSource::warnings`] reports files
/// that overlap in time and files that are treated as separate runs. A file that begins before the previous file begins
/// is refused. [`Chain::open_separate_runs`] uses all frames of all files. Files whose frames have no times
/// ([`FrameSource::has_times`]) and files with a single frame are never shortened, because single structures often have
/// no times.
///
/// The topology of the chain comes from the first file that has a topology, and the atom names come from the first file
/// that has atom names.
pub struct Chain {
    parts: Vec<Part>,
    /// warnings about the order and the ends of the files
    notes: Vec<String>,
    /// whether frames keep the cell of a crystal
    keeps_crystals: bool,
}

/// A file of a trajectory that consists of several files.
struct Part {
    path: PathBuf,
    source: Box<dyn FrameSource>,
    /// range of frame indices in this file that belong to the chain. The range begins at 1 if frame 0 repeats the last
    /// frame of the previous file, and ends early if the next file replaces the last frames
    used: Range<usize>,
    /// index in the chain of the first used frame of this file
    start: usize,
    /// whether a separate run begins with this file
    begins_run: bool,
    /// index in this file and time (ps) of the frame that was read last
    seen: Option<(usize, f64)>,
    /// times (ps) of the first pair of frames whose times decrease; `None` if times never decrease
    back: Option<[f64; 2]>,
}

/// Times of the frames of a file, from which the overlap with the next file of the chain is found.
struct Ends {
    /// largest rounding error of the times, ps
    rounding: f64,
    /// times of the first and the last frame, ps
    times: [f64; 2],
    /// time (ps) at which the chain begins: the time of the first frame of the first file that has several frames
    origin: f64,
    /// whether the frames have known times that differ from each other
    is_timed: bool,
}

impl Chain {
    /// Opens trajectories of any formats as a chain, for analysis: frames with the cell of a crystal
    /// ([`FrameSource::is_crystal`]) are read without the cell. Returns an error if the files have different numbers of
    /// atoms, or if a file begins before the previous file. Files without frames are accepted.
    pub fn open(paths: &[PathBuf]) -> Result<Self> {
        Self::open_with(paths, false, true)
    }

    /// Opens trajectories of separate runs like [`Chain::open`], but accepts times that overlap in any way.
    pub fn open_separate_runs(paths: &[PathBuf]) -> Result<Self> {
        Self::open_with(paths, false, false)
    }

    /// Opens trajectories like [`Chain::open`], but keeps the cell of every frame, even the cell of a crystal.
    pub fn open_as_stored(paths: &[PathBuf]) -> Result<Self> {
        Self::open_with(paths, true, true)
    }

    fn open_with(paths: &[PathBuf], keeps_crystals: bool, is_one_run: bool) -> Result<Self> {
        let mut chain = Self { parts: vec![], notes: vec![], keeps_crystals };
        let mut before: Option<Ends> = None;
        let mut known: Option<(&Path, usize)> = None;
        for path in paths {
            let format = Format::of_file(path)?;
            let source = format.files.open(path)?;
            let (frames, atoms) = (source.frames(), source.atoms());
            if frames > 0 {
                let (before, expected) = *known.get_or_insert((path, atoms));
                if atoms != expected {
                    return Err(other_atoms(path, atoms, before, expected));
                }
            }
            if source.is_crystal() && !keeps_crystals {
                chain.notes.push(crystal(path));
            }
            if source.has_other_vectors() && keeps_crystals {
                chain.notes.push(OTHER_VECTORS.to_owned());
            }
            chain.notes.extend(source.warnings());
            if frames > 1 && !source.has_times() {
                chain.notes.push(doubtful_times(path, source.doubtful_interval()));
            }
            let (path, begins_run) = (path.to_owned(), !is_one_run);
            let mut part = Part { path, source, used: 0..frames, start: 0, begins_run, seen: None, back: None };
            if frames > 0 && paths.len() > 1 && is_one_run {
                let times = [part.time(0)?, part.time(frames - 1)?];
                let [is_series, is_timed] = [frames > 1, part.source.has_times() && times[0] != times[1]];
                let origin = before.as_ref().map_or(times[0], |before| before.origin);
                let rounding = time_rounding(times, frames);
                let ends = Ends { rounding, times, origin, is_timed };
                if let Some(before) = before.as_ref().filter(|_| is_series) {
                    chain.join(&mut part, before, &ends)?;
                }
                before = if is_series { Some(ends) } else { before };
            }
            chain.parts.push(part);
        }
        let mut start = 0;
        for part in &mut chain.parts {
            part.start = start;
            start += part.used.len();
        }
        match chain.parts.is_empty() {
            true => Err(Problem::new("there is no trajectory to read").help("give at least one file").into()),
            false => Ok(chain),
        }
    }

    /// Leaves out the overlapping frames of one file if two consecutive files overlap in time. The previous file is the
    /// last file of the chain that has several frames. `ends` are the times of the next file, and `before` are the
    /// times of the previous file.
    fn join(&mut self, next: &mut Part, before: &Ends, ends: &Ends) -> Result<()> {
        let tolerance = before.rounding.min(ends.rounding);
        let is_same = |a: f64, b: f64| (a - b).abs() <= tolerance;
        let ([first, last], [begin, _]) = (before.times, ends.times);
        if is_same(last, begin) {
            next.used.start = usize::from(first != last);
            return Ok(());
        }
        if !(before.is_timed && ends.is_timed) || begin > last + tolerance {
            return Ok(());
        }
        let place = self.parts.iter().rposition(|part| part.source.frames() > 1);
        let previous = &mut self.parts[place.expect("the file of `before` is in the chain")];
        let (path, name) = (next.path.display(), previous.path.clone());
        let name = name.display();
        if is_same(first, begin) && is_same(before.origin, begin) {
            self.notes.push(format!(
                "{name} and {path} both begin at {begin} ps: all frames of both files are used, as for separate runs"
            ));
            next.begins_run = true;
            return Ok(());
        }
        if begin < first && !is_same(first, begin) {
            let message = format!("the file begins at {begin} ps, before {name}, which begins at {first} ps");
            let help =
                "give the trajectories in the order of time, or use --separate-runs for trajectories of different runs";
            return Err(Problem::new(message).in_file(&next.path).help(help).into());
        }
        let kept = previous.frames_before(begin - tolerance)?;
        let dropped = previous.used.end - kept;
        self.notes.push(format!(
            "{path} begins at {begin} ps, before the end of {name}: the frames of the earlier file from this time on are \
             left out ({dropped} frames, up to {last} ps)"
        ));
        if kept == previous.used.start {
            // if no frame of the previous file is used, the first frame of the next file may also repeat the last frame
            // of a still earlier file
            next.used.start = usize::from(is_same(first, begin)) * previous.used.start;
        }
        previous.used.end = kept;
        Ok(())
    }

    /// Returns the index of the file that contains frame `index` of the chain, or of the last file if there is no such
    /// frame.
    fn part_of(&self, index: usize) -> usize {
        self.parts.partition_point(|part| part.start <= index).saturating_sub(1)
    }

    /// Returns the file from which the properties of the chain are taken: the first file that has frames, or the first
    /// file if no file has frames.
    fn described(&self) -> &dyn FrameSource {
        let found = self.parts.iter().find(|part| part.source.frames() > 0);
        found.unwrap_or(&self.parts[0]).source.as_ref()
    }
}

impl Part {
    /// Converts the index of a frame in the chain to the index of the same frame in its file.
    fn index_of(&self, index: usize) -> usize {
        index - self.start + self.used.start
    }

    /// Returns the time (ps) of the frame with the index `index` in the file. Only the first atom of the frame is read.
    fn time(&mut self, index: usize) -> Result<f64> {
        let mut frame = StoredFrame::default();
        self.source.limit(1);
        let read = self.source.read(index, &mut frame);
        self.source.limit(usize::MAX);
        read.map(|()| frame.time)
    }

    /// Returns the index of the first used frame at the time `end` (ps) or later. The time of the last used frame must
    /// be `end` or later. The search begins at the end of the file. The number of frames read grows with the logarithm
    /// of the number of frames after the time `end`.
    fn frames_before(&mut self, end: f64) -> Result<usize> {
        // frame `late` is not earlier than `end`; the frame before `early`, if there is one, is earlier than `end`
        let (mut early, mut late, mut step) = (self.used.start, self.used.end - 1, 1);
        while early < late {
            let index = late.saturating_sub(step).max(early);
            if self.time(index)? < end {
                early = index + 1;
                break;
            }
            (late, step) = (index, 2 * step);
        }
        while early < late {
            let middle = early.midpoint(late);
            match self.time(middle)? < end {
                true => early = middle + 1,
                false => late = middle,
            }
        }
        Ok(late)
    }

    /// Notes if the time of a frame is smaller than the time of the frame that was read before. Removes the cell of a
    /// crystal, unless `keeps_crystals` is set.
    fn accept(&mut self, index: usize, frame: &mut StoredFrame, keeps_crystals: bool) {
        if let Some((last, before)) = self.seen.replace((index, frame.time))
            && self.source.has_times()
            && index > last
            && frame.time < before
        {
            self.back.get_or_insert([before, frame.time]);
        }
        if self.source.is_crystal() && !keeps_crystals {
            frame.cell = None;
        }
    }
}

/// Returns the largest rounding error (ps) of the times of `frames` frames, given the times of the first and the last
/// frame: that of a time and an interval in single precision, but at most a quarter of the interval between frames.
fn time_rounding([first, last]: [f64; 2], frames: usize) -> f64 {
    let interval = (last - first).abs() / (frames.max(2) - 1) as f64;
    (2.0 * f64::from(f32::EPSILON) * first.abs().max(last.abs())).min(0.25 * interval)
}

/// Returns the warning about a file whose frames have no certain times. `interval` (ps) is the interval between frames
/// in its header.
pub fn doubtful_times(path: &Path, interval: Option<f64>) -> String {
    let path = path.display();
    match interval.map(rounded_time) {
        Some(interval) => format!(
            "{path} numbers its frames, and its header states an interval of {interval} ps: this interval is used, but \
             programs that do not know the times write an arbitrary one"
        ),
        None => format!("{path} gives no times: the index of a frame is used as its time in ps"),
    }
}

/// Returns the warning that the cell of a crystal is left out.
fn crystal(path: &Path) -> String {
    format!(
        "the cell in {} is that of a crystal with a space group other than P 1, and the file has only some of the atoms \
         in this cell: it is no simulation cell, and is left out",
        path.display()
    )
}

fn other_atoms(path: &Path, atoms: usize, before: &Path, expected: usize) -> crate::error::Error {
    let message = format!("each frame has {atoms} atoms, instead of {expected} atoms as in {}", before.display());
    let help = "trajectories that are read one after the other have the same atoms in the same order";
    Problem::new(message).in_file(path).help(help).into()
}

impl FrameSource for Chain {
    fn atoms(&self) -> usize {
        self.described().atoms()
    }

    fn frames(&self) -> usize {
        self.parts.last().map_or(0, |part| part.start + part.used.len())
    }

    fn run_starts(&self) -> Vec<usize> {
        let begun = self.parts.iter().filter(|part| part.begins_run && !part.used.is_empty());
        begun.map(|part| part.start).collect()
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

    fn is_crystal(&self) -> bool {
        self.keeps_crystals && self.parts.iter().any(|part| part.source.is_crystal())
    }

    fn resolution(&self) -> Option<f64> {
        self.parts.iter().filter_map(|part| part.source.resolution()).reduce(f64::min)
    }

    fn skipped(&self) -> u64 {
        self.parts.iter().map(|part| part.source.skipped()).sum()
    }

    fn unread(&self) -> Unread {
        self.described().unread()
    }

    fn cut_off(&self) -> Option<String> {
        self.parts.iter().find_map(|part| part.source.cut_off())
    }

    fn warnings(&self) -> Vec<String> {
        let back = self.parts.iter().filter_map(|part| part.back.map(|times| (part.path.display(), times)));
        let back = back.map(|(path, [before, time])| {
            format!(
                "the times in {path} go back from {before} to {time} ps: all frames are used, in the order of the file"
            )
        });
        self.notes.iter().cloned().chain(back).collect()
    }

    fn limit(&mut self, atoms: usize) {
        self.parts.iter_mut().for_each(|part| part.source.limit(atoms));
    }

    fn read(&mut self, index: usize, frame: &mut StoredFrame) -> Result<()> {
        let place = self.part_of(index);
        let part = &mut self.parts[place];
        let index = part.index_of(index);
        part.source.read(index, frame)?;
        part.accept(index, frame, self.keeps_crystals);
        Ok(())
    }

    fn read_batch(&mut self, indices: &[usize], frames: &mut [StoredFrame]) -> Result<()> {
        let places: Vec<usize> = indices.iter().map(|&index| self.part_of(index)).collect();
        let mut done = 0;
        for run in places.chunk_by(|a, b| a == b) {
            let (part, range) = (&mut self.parts[run[0]], done..done + run.len());
            let inside: Vec<usize> = indices[range.clone()].iter().map(|&index| part.index_of(index)).collect();
            part.source.read_batch(&inside, &mut frames[range.clone()])?;
            for (&index, frame) in inside.iter().zip(&mut frames[range]) {
                part.accept(index, frame, self.keeps_crystals);
            }
            done += run.len();
        }
        Ok(())
    }
}
