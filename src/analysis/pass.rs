//! Pass over the frames of a trajectory, in which each frame is read once and serves any number of observables.
//!
//! Frames are read in batches. While all threads measure one batch, the next batch is read and decoded. The samples
//! (the measurements of single frames) are added in the order of the frames, so that results do not depend on the
//! number of threads.

use rayon::prelude::*;

use super::findings::Findings;
use super::system::AnalysedSystem;
use crate::error::Result;
use crate::observe::trajectory::{FrameSource, StoredFrame};

/// Quantity that is computed from each frame.
///
/// [`Observable::measure`] is called concurrently for several frames; [`Observable::add`] is called in the order of the
/// frames.
pub trait Observable: Send + Sync {
    /// Measurement of one frame.
    type Sample: Send;

    /// Returns the memory in bytes that the observable needs for `frames` frames, in addition to a few samples.
    fn memory(&self, _frames: usize) -> f64 {
        0.0
    }

    /// Returns the smallest N for which the first N atoms of a frame include all atoms that the observable uses. Later
    /// atoms may be missing from the frames that the observable receives.
    fn atoms_used(&self) -> usize {
        usize::MAX
    }

    /// Whether the observable follows atoms from frame to frame, and therefore also needs the frames that
    /// [`FrameRange::stride`] leaves out.
    fn needs_every_frame(&self) -> bool {
        false
    }

    /// Measures a frame, in which molecules are whole unless positions are used as stored
    /// ([`crate::analysis::Images::AsStored`]).
    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample>;

    /// Adds the sample (measurement) of the next frame to the observable.
    fn add(&mut self, sample: Self::Sample) -> Result<()>;

    /// Follows the atoms in a frame that [`FrameRange::stride`] leaves out. The function is called only if
    /// [`Self::needs_every_frame`].
    fn follow(&mut self, _sample: Self::Sample) {}

    /// Returns the results of the observable. The function is called after the last frame.
    fn finish(&mut self, passed: &Passed) -> Result<Findings>;
}

/// Object-safe form of [`Observable`], for any type of sample. Every [`Observable`] implements [`FrameObserver`].
pub trait FrameObserver: Send {
    /// Returns the memory in bytes for `frames` frames, see [`Observable::memory`].
    fn bytes(&self, frames: usize) -> f64;

    /// Returns the smallest N for which the first N atoms of a frame include all atoms in use, see
    /// [`Observable::atoms_used`].
    fn first_atoms(&self) -> usize;

    /// Whether the observable needs every frame, see [`Observable::needs_every_frame`].
    fn follows(&self) -> bool;

    /// Measures frames and adds their samples (measurements) to the observable, except for frames for which `is_used`
    /// is false. Both slices have the same length.
    fn observe_used(&mut self, frames: &[StoredFrame], is_used: &[bool]) -> Result<()>;

    /// Measures frames and adds all samples (measurements) to the observable.
    fn observe(&mut self, frames: &[StoredFrame]) -> Result<()> {
        self.observe_used(frames, &vec![true; frames.len()])
    }

    /// Returns the results of the observable. The function is called after the last frame.
    fn results(&mut self, passed: &Passed) -> Result<Findings>;
}

impl<T: Observable> FrameObserver for T {
    fn bytes(&self, frames: usize) -> f64 {
        self.memory(frames)
    }

    fn first_atoms(&self) -> usize {
        self.atoms_used()
    }

    fn follows(&self) -> bool {
        self.needs_every_frame()
    }

    fn observe_used(&mut self, frames: &[StoredFrame], is_used: &[bool]) -> Result<()> {
        let every = self.needs_every_frame();
        let needed = |(frame, &is_used): (_, &bool)| (is_used || every).then_some((frame, is_used));
        let needed: Vec<(&StoredFrame, bool)> = frames.iter().zip(is_used).filter_map(needed).collect();
        let samples: Vec<Result<T::Sample>> = needed.par_iter().map(|(frame, _)| self.measure(frame)).collect();
        for (sample, (_, is_used)) in samples.into_iter().zip(needed) {
            match is_used {
                true => self.add(sample?)?,
                false => self.follow(sample?),
            }
        }
        Ok(())
    }

    fn results(&mut self, passed: &Passed) -> Result<Findings> {
        self.finish(passed)
    }
}

/// Numbers, steps and times of the frames that were analysed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Passed {
    /// 0-based number of each frame in the trajectory; empty for the rows of an energy table
    pub frames: Vec<u32>,
    /// step of each frame
    pub steps: Vec<i64>,
    /// time of each frame, ps
    pub times: Vec<f64>,
    /// whether the frames are of several separate runs
    pub is_of_runs: bool,
}

impl Passed {
    /// Returns the interval between frames in ps; `None` unless there are at least three frames of one run at equal
    /// intervals.
    pub fn interval(&self) -> Option<f64> {
        if self.is_of_runs {
            return None;
        }
        let [first, _, .., last] = *self.times.as_slice() else { return None };
        let interval = (last - first) / (self.times.len() - 1) as f64;
        let wide = 1e-3 * interval + rounding(first) + rounding(last);
        let spacing = spacing(first.abs().max(last.abs()));
        let is_coarse = wide > 0.25 * interval;
        // the rounding of the first and of the last time must not change the mean interval noticeably
        if interval <= 0.0 || is_coarse && spacing > 0.01 * (last - first) {
            return None;
        }
        let tolerance = match is_coarse && !self.has_regular_steps() {
            true => (1e-3 * interval + spacing).max(0.25 * interval),
            false => wide,
        };
        // a missing or repeated frame changes the difference between two times by one interval
        let is_told = tolerance < 0.5 * interval || self.has_regular_steps();
        let is_near = |(k, time): (usize, &f64)| (time - (first + k as f64 * interval)).abs() <= tolerance;
        let follows = |pair: &[f64]| (pair[1] - pair[0] - interval).abs() <= tolerance;
        let is_regular = is_told && self.times.iter().enumerate().all(is_near) && self.times.windows(2).all(follows);
        is_regular.then_some(interval)
    }

    /// Whether the steps increase by the same number, greater than one, from frame to frame. Files without steps have
    /// the indices of frames instead, which increase by one.
    fn has_regular_steps(&self) -> bool {
        let [first, second, ..] = *self.steps.as_slice() else { return false };
        let is_regular = |pair: &[i64]| pair[1] - pair[0] == second - first;
        self.steps.len() == self.times.len() && second - first > 1 && self.steps.windows(2).all(is_regular)
    }

    /// Returns the smallest and the largest time (ps); `None` if there are no frames.
    pub fn range(&self) -> Option<[f64; 2]> {
        let both = |[a, b]: [f64; 2], [c, d]: [f64; 2]| [a.min(c), b.max(d)];
        self.times.iter().map(|&time| [time, time]).reduce(both)
    }
}

/// Returns the largest rounding error (ps) of a time that a file stores in single precision.
fn rounding(time: f64) -> f64 {
    f64::from(f32::EPSILON) * time.abs()
}

/// Returns the distance (ps) between neighbouring numbers of single precision near a positive time.
fn spacing(time: f64) -> f64 {
    let time = time as f32;
    f64::from(time.next_up()) - f64::from(time)
}

/// Whether a time is in a range that includes both ends (ps), within the rounding of single precision.
pub fn is_within(time: f64, [from, to]: [f64; 2]) -> bool {
    time >= from - rounding(from) && time <= to + rounding(to)
}

/// Range of the analysed frames of a trajectory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameRange {
    /// the first frame in the range of times and every `stride`-th frame after the first are analysed; at least 1
    pub stride: usize,
    /// earliest and latest time (ps), both included
    pub times: [f64; 2],
}

impl Default for FrameRange {
    fn default() -> Self {
        FrameRange { stride: 1, times: [f64::NEG_INFINITY, f64::INFINITY] }
    }
}

impl FrameRange {
    /// Returns the interval of the frames that are read. `follows` states whether an observable needs every frame. The
    /// time of a frame is known only after the frame was read.
    fn read_stride(&self, follows: bool) -> usize {
        let is_limited = self.times.iter().any(|time| time.is_finite());
        if is_limited || follows { 1 } else { self.stride.max(1) }
    }
}

/// Largest memory (bytes) of a batch of frames. A batch has at least one frame for each thread, and may therefore be
/// larger than this limit.
const BATCH_BYTES: usize = 1 << 27;
/// Largest number of frames of a batch for each thread. With more frames, threads wait less for the slowest frame.
const FRAMES_PER_THREAD: usize = 4;

/// Frames that were read together.
#[derive(Default)]
struct Batch {
    frames: Vec<StoredFrame>,
    /// 0-based number of each frame in the trajectory
    numbers: Vec<u32>,
    /// whether each frame is used; frames that are not used serve observables that follow atoms
    is_used: Vec<bool>,
}

/// Reads the frames of a trajectory and passes each frame to all observables. After each batch, `progress` is called
/// with the number of frames read so far and the number of frames to read.
pub fn pass(
    trajectory: &mut dyn FrameSource,
    system: &AnalysedSystem<'_>,
    range: FrameRange,
    observables: &mut [Box<dyn FrameObserver>],
    progress: &mut (dyn FnMut(usize, usize) + Send),
) -> Result<Passed> {
    let used = observables.iter().map(|observable| observable.first_atoms()).max().unwrap_or(0);
    trajectory.limit(system.whole_molecules(used));
    let follows = observables.iter().any(|observable| observable.follows());
    let read_stride = range.read_stride(follows);
    let stride = range.stride.max(1) / read_stride;
    let numbers: Vec<usize> = (0..trajectory.frames()).step_by(read_stride).collect();
    let mut batches = numbers.chunks(batch_size(trajectory.atoms()));
    let mut place = 0;
    let mut read = |to_read: Option<&[usize]>, batch: Batch| -> Result<Batch> {
        let Batch { mut frames, mut numbers, mut is_used } = batch;
        let to_read = to_read.unwrap_or_default();
        frames.resize_with(to_read.len(), StoredFrame::default);
        trajectory.read_batch(to_read, &mut frames)?;
        numbers.clear();
        is_used.clear();
        let mut next = to_read.iter();
        frames.retain(|frame| {
            let number = next.next().copied().unwrap_or_default();
            if !is_within(frame.time, range.times) {
                return false;
            }
            let chosen = place % stride == 0;
            place += 1;
            if chosen || follows {
                numbers.push(number as u32);
                is_used.push(chosen);
            }
            chosen || follows
        });
        frames.par_iter_mut().for_each(|frame| system.make_whole(frame));
        Ok(Batch { frames, numbers, is_used })
    };
    let (mut passed, mut done) = (Passed::default(), 0);
    let mut now = batches.next();
    let mut batch = read(now, Batch::default())?;
    let mut spare = Batch::default();
    while let Some(current) = now {
        now = batches.next();
        let Batch { frames, numbers: of_frames, is_used } = &batch;
        let mut observe = || observables.iter_mut().try_for_each(|observable| observable.observe_used(frames, is_used));
        let (next, observed) = rayon::join(|| read(now, std::mem::take(&mut spare)), &mut observe);
        observed?;
        for ((frame, &number), _) in frames.iter().zip(of_frames).zip(is_used).filter(|(_, is_used)| **is_used) {
            passed.frames.push(number);
            passed.steps.push(frame.step);
            passed.times.push(frame.time);
        }
        done += current.len();
        progress(done, numbers.len());
        spare = std::mem::replace(&mut batch, next?);
    }
    trajectory.limit(usize::MAX);
    let starts = trajectory.run_starts();
    let run_of = |frame: &u32| starts.partition_point(|start| *start <= *frame as usize);
    passed.is_of_runs = passed.frames.first().map(run_of) != passed.frames.last().map(run_of);
    Ok(passed)
}

/// Returns the number of frames in a batch.
fn batch_size(atoms: usize) -> usize {
    let threads = rayon::current_num_threads();
    let frame = size_of::<crate::vec3::Vec3>() * atoms.max(1);
    (BATCH_BYTES / frame).clamp(threads, FRAMES_PER_THREAD * threads)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times in XTC, TRR and AMBER NetCDF files are numbers of single precision.
    #[test]
    fn times_in_single_precision_are_regular() {
        let times = |first: f64, interval: f64| -> Vec<f64> {
            (0..1000).map(|k| f64::from((first + f64::from(k) * interval) as f32)).collect()
        };
        for (first, interval) in [(0.0, 0.2), (100.0, 0.004), (1000.0, 0.004), (10_000.0, 0.1)] {
            let mut passed = Passed { times: times(first, interval), ..Passed::default() };
            let found = passed.interval().unwrap();
            assert!((found - interval).abs() < 1e-3 * interval, "{found} for {interval}");
            // a frame is missing, and a frame is there twice
            passed.times.remove(500);
            assert_eq!(passed.interval(), None, "{first} {interval}");
            passed.times = times(first, interval);
            passed.times.insert(500, passed.times[500]);
            assert_eq!(passed.interval(), None, "{first} {interval}");
        }
        let two = Passed { times: vec![0.0, 1.0], ..Passed::default() };
        assert_eq!(two.interval(), None);
    }

    /// Frames every 4 fs at 20 ns, where times of single precision are 2 fs apart, and at 40 ns, where they are 4 fs
    /// apart, so that only steps show a missing frame.
    #[test]
    fn coarse_times_are_regular() {
        let times =
            |first: f64| -> Vec<f64> { (0..1000).map(|k| f64::from((first + f64::from(k) * 0.0041) as f32)).collect() };
        let steps: Vec<i64> = (0..1000).map(|k| 5_000_000 + 2 * k).collect();
        let interval = |steps: &[i64], times: &[f64]| {
            Passed { steps: steps.to_vec(), times: times.to_vec(), ..Passed::default() }.interval()
        };
        let [at_20, at_40] = [20_000.0, 40_000.0].map(times);
        for (steps, times) in [(&steps[..], &at_20), (&steps[..], &at_40), (&[], &at_20)] {
            let found = interval(steps, times).unwrap();
            assert!((found - 0.0041).abs() < 1e-5, "{found}");
        }
        assert_eq!(interval(&[], &at_40), None);
        let without = |index: usize| [&at_20[..index], &at_20[index + 1..]].concat();
        for index in (1..999).step_by(7) {
            let steps = [&steps[..index], &steps[index + 1..]].concat();
            assert_eq!([interval(&[], &without(index)), interval(&steps, &without(index))], [None, None], "{index}");
        }
        // the times of a hundred frames give the interval within a hundredth, those of three frames do not
        assert!(interval(&steps[..100], &at_20[..100]).is_some());
        assert_eq!(interval(&steps[..3], &at_20[..3]), None);
    }

    #[test]
    fn times_of_separate_runs_have_a_range() {
        let passed = Passed { times: vec![0.0, 10.0, 0.5, 10.0, 3.0], ..Passed::default() };
        assert_eq!((passed.range(), Passed::default().range()), (Some([0.0, 10.0]), None));
    }

    #[test]
    fn the_ends_of_a_range_are_included_in_single_precision() {
        for time in [100.2, 500.1, 16_100.0] {
            let [stored, exact] = [f64::from(time as f32), time];
            assert!(is_within(stored, [exact, f64::INFINITY]) && is_within(stored, [f64::NEG_INFINITY, exact]));
            assert!(!is_within(stored - 0.01, [exact, f64::INFINITY]) && !is_within(stored + 0.01, [0.0, exact]));
        }
    }
}
