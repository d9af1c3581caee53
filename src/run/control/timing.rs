//! Wall time of the steps of a run and of the phases of a step.

use crate::backend::{PairCounts, Phases};
use crate::observe::summary::{Communication, PerStep};
use crate::pair::ListSchedule;
use crate::ranks::{Purpose, Sent, Traffic};
use crate::run::plan::Dynamics;
use std::time::Instant;

/// Wall time, steps and pair list counts of all stages of dynamics of a run.
#[derive(Clone, Debug, Default)]
pub(in crate::run) struct Timing {
    /// wall time in seconds per phase of a step, summed over all stages of dynamics
    pub(in crate::run) phases: Phases,
    /// wall time in seconds spent on writing checkpoints
    pub(in crate::run) output: f64,
    /// wall time in seconds of the measurements for tuning, which precede the first stage of dynamics
    pub(in crate::run) tuning: f64,
    /// wall time in seconds of all stages of dynamics, including tuning
    pub(in crate::run) seconds: f64,
    /// number of steps of dynamics done by this process
    pub(in crate::run) steps: u64,
    /// number of evaluations of reciprocal space in all stages
    pub(in crate::run) meshes: f64,
    /// simulated time of all stages, ps
    pub(in crate::run) picoseconds: f64,
    /// list schedule of the last stage
    pub(in crate::run) lists: Option<ListSchedule>,
    /// number of pair searches in all stages
    pub(in crate::run) searches: u64,
    /// sizes of the pair lists at the end of the last stage
    pub(in crate::run) pairs: PairCounts,
    /// bytes and messages that each rank has sent in all stages of dynamics; empty for one rank
    traffic: Vec<Traffic>,
    /// number of steps, simulated time (ps) and wall time (s) since the start, recorded so that the second half of the
    /// run can be timed. Values are recorded at every step number that is a power of two, or a multiple of 1/16 of the
    /// next power of two
    marks: Vec<(u64, f64, f64)>,
    stage_start: Option<Instant>,
}

impl Timing {
    /// Starts the clock of a stage of dynamics.
    pub(in crate::run) fn start_stage(&mut self) {
        self.stage_start = Some(Instant::now());
    }

    /// Counts a step, its simulated time and its evaluations of reciprocal space.
    pub(in crate::run) fn step(&mut self, dynamics: &Dynamics) {
        self.steps += 1;
        self.meshes += dynamics.meshes();
        self.picoseconds += dynamics.timestep;
        // with values recorded at powers of two and at multiples of 1/16 of the next power of two, the step number of
        // one record is always close to half of the number of steps done
        if self.steps.is_power_of_two() || self.steps.is_multiple_of((self.steps.next_power_of_two() / 16).max(1)) {
            let seconds = self.seconds + self.stage_start.map_or(0.0, |start| start.elapsed().as_secs_f64());
            self.marks.push((self.steps, self.picoseconds, seconds));
        }
    }

    /// Stops the clock of a stage of dynamics. `before` and `after` are the backend's times per phase at the start and
    /// at the end of the stage. `pairs` are the sizes of the pair lists at the end of the stage.
    pub(in crate::run) fn end_stage(&mut self, before: &Phases, after: &Phases, pairs: PairCounts) {
        self.pairs = pairs;
        self.seconds += self.stage_start.take().map_or(0.0, |start| start.elapsed().as_secs_f64());
        self.phases.add_difference(after, before);
        self.marks.push((self.steps, self.picoseconds, self.seconds));
    }

    /// Adds the bytes and messages that the ranks have sent in a stage of dynamics. `before` and `after` are the
    /// counters of all ranks at the start and at the end of the stage.
    pub(in crate::run) fn add_traffic(&mut self, before: &[Traffic], after: &[Traffic]) {
        self.traffic.resize(after.len(), Traffic::default());
        for (sum, (after, before)) in self.traffic.iter_mut().zip(after.iter().zip(before)) {
            sum.add_difference(after, before);
        }
    }

    /// Returns the bytes and messages that a rank sends per step, for each purpose; empty for one rank, or if no step
    /// was done.
    pub(in crate::run) fn communication(&self) -> Vec<Communication> {
        if self.traffic.is_empty() || self.steps == 0 {
            return vec![];
        }
        let per_step = |purpose: Purpose, number: fn(Sent) -> u64| {
            let numbers = self.traffic.iter().map(|rank| number(rank.of(purpose)) as f64 / self.steps as f64);
            let mean = numbers.clone().sum::<f64>() / self.traffic.len() as f64;
            PerStep { mean, largest: numbers.fold(0.0, f64::max) }
        };
        let of = |(purpose, name): (Purpose, &str)| Communication {
            name: name.into(),
            bytes: per_step(purpose, |sent| sent.bytes),
            messages: per_step(purpose, |sent| sent.messages),
        };
        Purpose::NAMED.map(of).into()
    }

    /// Returns the number of steps, simulated time (ps) and wall time (s) of approximately the second half of the
    /// run.
    pub(in crate::run) fn second_half(&self) -> Option<(u64, f64, f64)> {
        let last = *self.marks.last()?;
        let middle = *self.marks.iter().min_by_key(|mark| mark.0.abs_diff(last.0 / 2))?;
        (last.0 > middle.0).then(|| (last.0 - middle.0, last.1 - middle.1, last.2 - middle.2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::Ranks;

    #[test]
    fn communication_is_the_mean_over_steps_and_ranks_and_the_largest() {
        // each rank sends the three numbers of a sum (24 bytes) for each of the other ranks, in two messages. Rank 0
        // sends a command of one byte to two ranks, and one of these sends it to the last rank
        let sent = |sums: usize| {
            Ranks::threads(4, move |ranks| {
                (0..sums).for_each(|_| ranks.for_purpose(Purpose::Sums).sum(&mut [1.0, 2.0, 3.0]));
                let commands = ranks.for_purpose(Purpose::Commands);
                (0..sums).for_each(|_| match ranks.is_first() {
                    true => commands.broadcast(&7u32),
                    false => _ = commands.receive_broadcast::<u32>(),
                });
                ranks.sent()
            })
        };
        let mut timing = Timing::default();
        timing.add_traffic(&sent(0), &sent(2));
        assert_eq!(timing.communication(), [], "a run without steps");
        timing.add_traffic(&sent(1), &sent(7));
        (0..16).for_each(|_| timing.step(&Dynamics::default()));
        let rows = timing.communication();
        let row = |name: &str| rows.iter().find(|row| row.name == name).unwrap();
        // the 16 steps contain eight sums and eight commands
        let sums = row("sums");
        assert_eq!(sums.bytes, PerStep { mean: 36.0, largest: 36.0 });
        assert_eq!(sums.messages, PerStep { mean: 1.0, largest: 1.0 });
        let commands = row("commands");
        assert_eq!(commands.bytes, PerStep { mean: 0.375, largest: 1.0 });
        assert_eq!(commands.messages, PerStep { mean: 0.375, largest: 1.0 });
        assert_eq!(row("mesh").bytes, PerStep::default());
    }

    #[test]
    fn the_second_half_is_about_half() {
        for steps in [2u64, 10, 100, 1000, 12_345] {
            let mut timing = Timing::default();
            timing.start_stage();
            (0..steps).for_each(|_| timing.step(&Dynamics::default()));
            timing.end_stage(&Phases::default(), &Phases::default(), PairCounts::default());
            let (half, ps, _) = timing.second_half().unwrap();
            assert!((half as f64 / steps as f64 - 0.5).abs() < 0.1, "{half} of {steps}");
            assert!((ps - 0.002 * half as f64).abs() < 1e-9 * ps);
        }
    }
}
