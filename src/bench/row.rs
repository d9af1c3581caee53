//! Benchmark result of one system.

use serde::{Deserialize, Serialize};

use super::contention::{DISTURBED, Ticks};
use super::drift::{Drift, drift};
use super::phases::StepReport;
use super::roofline::{GPU, Roofline};
use super::suite::Prepared;
use crate::compute::cuda::title;
use crate::error::Result;
use crate::pair::ListSchedule;
use crate::run::{Engine, Measurement, Placement, measure};
use crate::units::NS_PER_DAY;

/// Number of atoms times number of steps in a timed segment, if the user does not set the number of steps. A segment
/// with this product takes a few seconds on two cores.
const SEGMENT_WORK: f64 = 1.2e7;
/// Assumed number of steps between builds of the pair list, for a list schedule without a fixed interval.
const NO_INTERVAL: u64 = 100;
/// Number of steps between energy evaluations, as in `validation/performance`.
const ENERGIES_EVERY: u64 = 100;

/// Median, smallest and largest value of repeated measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// middle value, or mean of the two middle values
    pub median: f64,
    /// smallest value
    pub min: f64,
    /// largest value
    pub max: f64,
}

impl Range {
    /// Creates the range of at least one value.
    pub fn new(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else { return Self::default() };
        let middle = sorted.len() / 2;
        Range { median: 0.5 * (sorted[middle] + sorted[(sorted.len() - 1) / 2]), min, max }
    }
}

/// Benchmark result of one system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// name of the system in the suite, or name of the input file
    pub name: String,
    /// number of atoms of the system
    pub atoms: usize,
    /// device that computes the forces
    pub device: String,
    /// number of threads
    pub threads: usize,
    /// instruction set
    pub simd: String,
    /// number of steps of a timed segment
    pub steps: u64,
    /// number of timed segments
    pub repeats: usize,
    /// timestep, fs
    pub timestep_fs: f64,
    /// speed, ns/day
    pub ns_per_day: Range,
    /// median wall time of a step, µs
    pub us_per_step: f64,
    /// wall time of a step divided by the number of atoms, ns
    pub ns_per_atom_step: f64,
    /// fraction of the machine's processor time that other programs used during the measurement; `None` if the
    /// operating system does not report this time
    #[serde(default)]
    pub others: Option<f64>,
    /// drift of the conserved energy; `None` if the timed segments are too short to measure it
    pub drift: Option<Drift>,
    /// pair-list schedule in use; `None` if the pair list has no cutoff and contains all pairs
    pub list: Option<ListSchedule>,
    /// times of the phases of a step
    pub step: StepReport,
}

/// Returns the number of steps of a timed segment for `atoms` atoms. The number of steps is a multiple of the list
/// interval, so that every segment has the same number of list builds.
pub fn default_steps(atoms: usize, list: &ListSchedule) -> u64 {
    let interval = interval(list);
    let searches = (SEGMENT_WORK / atoms.max(1) as f64 / interval as f64).round().max(1.0);
    interval * searches as u64
}

fn interval(list: &ListSchedule) -> u64 {
    if list.is_exact() { NO_INTERVAL } else { u64::from(list.rebuild) }
}

impl Row {
    /// Returns a warning if other programs used the processors during the measurement.
    pub fn disturbance(&self) -> Option<String> {
        let share = self.others.filter(|&share| share > DISTURBED)?;
        let what = format!("{}: other programs used {:.0} % of the processors", self.name, 100.0 * share);
        Some(format!("{what}; measure again on an idle machine"))
    }

    /// Times `repeats` segments of `steps` steps, after a warm-up of about `steps`/2 steps. If `steps` is `None`, a
    /// segment has [`default_steps`] steps.
    pub fn measure(
        prepared: &Prepared,
        engine: &Engine,
        roofline: &Roofline,
        steps: Option<u64>,
        repeats: usize,
    ) -> Result<Self> {
        let Prepared { name, plan, system, state, dynamics } = prepared;
        let placement = engine.placement(system)?;
        let list = engine.lists(plan, system, state)?;
        let atoms = system.topology.atoms.len();
        let steps = steps.unwrap_or_else(|| default_steps(atoms, &list));
        let warm_up = (steps / 2).max(1).next_multiple_of(interval(&list)).min(steps);
        let measurement = Measurement { warm_up, steps, repeats, energies_every: ENERGIES_EVERY };
        let before = Ticks::now();
        let measured = measure(engine, plan, system, dynamics, state, measurement)?;
        let per_step: Vec<f64> = measured.seconds.iter().map(|seconds| seconds / steps as f64).collect();
        let speeds: Vec<f64> = per_step.iter().map(|seconds| dynamics.timestep / seconds * NS_PER_DAY).collect();
        let step_seconds = Range::new(&per_step).median;
        let volume = state.cell.map(|cell| cell.volume());
        Ok(Row {
            name: name.clone(),
            atoms,
            device: match &placement {
                Placement::Gpu { number, name } => title(name, *number),
                Placement::Cpu(_) => "cpu".into(),
            },
            threads: engine.threads,
            simd: if placement.is_gpu() { GPU } else { engine.level.name() }.into(),
            steps,
            repeats,
            timestep_fs: dynamics.timestep * 1e3,
            ns_per_day: Range::new(&speeds),
            us_per_step: step_seconds * 1e6,
            ns_per_atom_step: step_seconds * 1e9 / atoms as f64,
            others: before.and_then(|before| Some(Ticks::now()?.others_since(&before))),
            drift: drift(&measured.conserved, measured.temperature, measured.degrees_of_freedom),
            list: Some(measured.schedule).filter(|list| list.outer.is_finite()),
            step: StepReport::new(system, volume, &measured, steps * repeats as u64, engine.parts(system)?, roofline),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_ranges() {
        assert_eq!(Range::new(&[3.0, 1.0, 2.0]), Range { median: 2.0, min: 1.0, max: 3.0 });
        assert_eq!(Range::new(&[4.0, 1.0, 2.0, 3.0]).median, 2.5);
        assert_eq!(Range::new(&[5.0]), Range { median: 5.0, min: 5.0, max: 5.0 });
    }

    #[test]
    fn segments_hold_whole_searches() {
        let list = ListSchedule { rebuild: 80, prune: 10, outer: 1.1, inner: 0.91, lookahead: 0.0 };
        // 1.2e7/24,000 = 500 steps are 6.25 list intervals, so that a segment has six intervals; with a million atoms a
        // segment has one interval
        assert_eq!(default_steps(24_000, &list), 480);
        assert_eq!(default_steps(1_000_000, &list), 80);
        assert_eq!(default_steps(24_000, &ListSchedule::exact(1.0)), 500);
    }
}
