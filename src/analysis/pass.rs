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

    /// Measures a frame, in which molecules are whole unless positions are used as stored
    /// ([`crate::analysis::Images::AsStored`]).
    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample>;

    /// Adds the sample (measurement) of the next frame to the observable.
    fn add(&mut self, sample: Self::Sample) -> Result<()>;

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

    /// Measures frames and adds their samples (measurements) to the observable.
    fn observe(&mut self, frames: &[StoredFrame]) -> Result<()>;

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

    fn observe(&mut self, frames: &[StoredFrame]) -> Result<()> {
        let samples: Vec<Result<T::Sample>> = frames.par_iter().map(|frame| self.measure(frame)).collect();
        samples.into_iter().try_for_each(|sample| self.add(sample?))
    }

    fn results(&mut self, passed: &Passed) -> Result<Findings> {
        self.finish(passed)
    }
}

/// Steps and times of the frames that were analysed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Passed {
    /// step of each frame
    pub steps: Vec<i64>,
    /// time of each frame, ps
    pub times: Vec<f64>,
}

impl Passed {
    /// Returns the interval between frames in ps; `None` unless there are at least three frames at equal intervals.
    pub fn interval(&self) -> Option<f64> {
        let [first, _, .., last] = *self.times.as_slice() else { return None };
        let interval = (last - first) / (self.times.len() - 1) as f64;
        let tolerance = (1e-3 * interval + rounding(first) + rounding(last)).min(0.25 * interval);
        let is_regular = |(k, time): (usize, &f64)| (time - (first + k as f64 * interval)).abs() <= tolerance;
        (interval > 0.0 && self.times.iter().enumerate().all(is_regular)).then_some(interval)
    }
}

/// Returns the largest rounding error (ps) of a time that a file stores in single precision.
fn rounding(time: f64) -> f64 {
    f64::from(f32::EPSILON) * time.abs()
}

/// Whether a time is in a range that includes both ends (ps), within the rounding of single precision.
pub fn is_within(time: f64, [from, to]: [f64; 2]) -> bool {
    time >= from - rounding(from) && time <= to + rounding(to)
}

/// Range of the analysed frames of a trajectory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameRange {
    /// every `stride`-th frame of the file is read, from the first frame on; at least 1
    pub stride: usize,
    /// earliest and latest time (ps), both included
    pub times: [f64; 2],
}

impl Default for FrameRange {
    fn default() -> Self {
        FrameRange { stride: 1, times: [f64::NEG_INFINITY, f64::INFINITY] }
    }
}

/// Largest memory (bytes) of a batch of frames. A batch has at least one frame for each thread, and may therefore be
/// larger than this limit.
const BATCH_BYTES: usize = 1 << 27;
/// Largest number of frames of a batch for each thread. With more frames, threads wait less for the slowest frame.
const FRAMES_PER_THREAD: usize = 4;

/// Reads the frames of a trajectory and passes each frame to all observables. After each batch, `progress` is called
/// with the number of frames read so far.
pub fn pass(
    trajectory: &mut dyn FrameSource,
    system: &AnalysedSystem<'_>,
    frames: FrameRange,
    observables: &mut [Box<dyn FrameObserver>],
    progress: &mut (dyn FnMut(usize) + Send),
) -> Result<Passed> {
    let FrameRange { stride, times } = frames;
    let used = observables.iter().map(|observable| observable.first_atoms()).max().unwrap_or(0);
    trajectory.limit(system.whole_molecules(used));
    let numbers: Vec<usize> = (0..trajectory.frames()).step_by(stride.max(1)).collect();
    let mut batches = numbers.chunks(batch_size(trajectory.atoms()));
    let mut read = |numbers: Option<&[usize]>, mut batch: Vec<StoredFrame>| -> Result<Vec<StoredFrame>> {
        let numbers = numbers.unwrap_or_default();
        batch.resize_with(numbers.len(), StoredFrame::default);
        trajectory.read_batch(numbers, &mut batch)?;
        batch.retain(|frame| is_within(frame.time, times));
        batch.par_iter_mut().for_each(|frame| system.make_whole(frame));
        Ok(batch)
    };
    let (mut passed, mut done) = (Passed::default(), 0);
    let (mut numbers, mut batch) = (batches.next(), vec![]);
    batch = read(numbers, batch)?;
    let mut spare = vec![];
    while let Some(current) = numbers {
        numbers = batches.next();
        let mut observe = || observables.iter_mut().try_for_each(|observable| observable.observe(&batch));
        let (next, observed) = rayon::join(|| read(numbers, std::mem::take(&mut spare)), &mut observe);
        observed?;
        passed.steps.extend(batch.iter().map(|frame| frame.step));
        passed.times.extend(batch.iter().map(|frame| frame.time));
        done += current.len();
        progress(done);
        spare = std::mem::replace(&mut batch, next?);
    }
    trajectory.limit(usize::MAX);
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
            let mut passed = Passed { steps: vec![], times: times(first, interval) };
            let found = passed.interval().unwrap();
            assert!((found - interval).abs() < 1e-3 * interval, "{found} for {interval}");
            // a frame is missing, and a frame is there twice
            passed.times.remove(500);
            assert_eq!(passed.interval(), None, "{first} {interval}");
            passed.times = times(first, interval);
            passed.times.insert(500, passed.times[500]);
            assert_eq!(passed.interval(), None, "{first} {interval}");
        }
        let two = Passed { steps: vec![], times: vec![0.0, 1.0] };
        assert_eq!(two.interval(), None);
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
