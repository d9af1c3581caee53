//! Tuning of a run: choice of the lifetimes of the pair lists, and of the Coulomb cutoff and PME grid.
//!
//! A candidate is a [`Setting`]: a pair list schedule, a Coulomb cutoff and a PME grid. A cost model ranks the
//! candidates; the ranking is the same in every run. With `tuning = "measure"` the best candidates are timed at the
//! start of the first stage of dynamics. A timing consists of a few pair searches, prunings and force evaluations, and
//! does not change the state. The estimated error of each candidate is within the limits of the input. List radii
//! follow from the drift tolerance, and cutoff and mesh come from [`crate::pme::ErrorModel::splittings`]. The chosen
//! setting holds for the rest of the run, and checkpoints store the setting. On a GPU, candidates are not timed: the
//! cost model of the GPU chooses the pair list schedule, and the cost model of the CPU chooses the mesh.

use crate::backend::{Backend, Workload};
use crate::ensemble::multiple_time_steps::LongRange;
use crate::error::Result;
use crate::observe::tuning::{Setting, Timed, Trial, Tuning};
use crate::pair::ListSchedule;
use crate::pme::{self, Splitting};
use crate::prepare::Alternatives;
use crate::run::control::signals::Requests;
use crate::run::engine::Engine;
use crate::run::engine::lists::ListChoices;
use crate::run::plan::{Plan, Precision, TuningMethod};
use crate::system::{Electrostatics, ForceSettings, State, System};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// Number of list schedules that the log shows. The log shows the list schedules with the lowest predicted cost.
const SHOWN: usize = 4;
/// Width of a range of Coulomb cutoffs, as a fraction of the longest cutoff in the range. One cutoff of each range is
/// timed.
const RANGE: f64 = 0.08;
/// Largest predicted slowdown of a combination of cutoff and mesh that is still timed. The slowdown is relative to the
/// setting that the cost model predicts to be the fastest.
const SLOWER: f64 = 0.08;
/// Number of list schedules that are timed in addition to the fastest setting so far.
const SCHEDULES: usize = 3;
/// Number of measurement rounds. Each round times every setting once.
const ROUNDS: usize = 7;
/// Number of timed force evaluations per setting in a round; the shortest of the times is used. One untimed evaluation
/// precedes the timed evaluations and fills the CPU caches.
const EVALUATIONS: usize = 5;
/// Ratio of the standard deviation of a normal distribution to its median absolute deviation.
const DEVIATION: f64 = 1.4826;

/// Returns `settings` with the Coulomb cutoff and mesh of `pme`.
fn split(settings: ForceSettings, pme: Option<Splitting>) -> ForceSettings {
    pme.map_or(settings, |Splitting { cutoff, parameters }| ForceSettings {
        cutoff: Some(cutoff),
        electrostatics: Electrostatics::Pme(parameters),
        ..settings
    })
}

/// Sets the Coulomb cutoff and mesh of the system to the values that `tuning` has chosen.
pub(in crate::run) fn adopt(system: &mut Arc<System>, tuning: Option<&Tuning>) {
    if let Some(tuning) = tuning {
        let settings = split(system.settings, tuning.chosen.pme);
        Arc::make_mut(system).settings = settings;
    }
}

/// Tuner of one system, with the data on which the choice of the settings depends.
pub(in crate::run) struct Tuner<'a> {
    engine: &'a Engine,
    plan: &'a Plan,
    system: &'a System,
    state: &'a State,
    alternatives: &'a Alternatives,
    /// list schedules for the cutoff and mesh of the input file
    choices: ListChoices<'a>,
    on_gpu: bool,
    /// number of steps between evaluations of reciprocal space
    every: u32,
}

impl<'a> Tuner<'a> {
    /// Creates a tuner for the state at the start of the first stage of dynamics.
    pub(in crate::run) fn new(
        engine: &'a Engine,
        plan: &'a Plan,
        system: &'a System,
        state: &'a State,
        alternatives: &'a Alternatives,
    ) -> Result<Self> {
        let (choices, on_gpu) = (engine.choices(plan, system, state)?, engine.placement(system)?.is_gpu());
        Ok(Tuner { engine, plan, system, state, alternatives, choices, on_gpu, every: interval_of_meshes(plan) })
    }

    /// Chooses a setting for the run; `None` for a system without a cutoff, where nothing can be tuned. A request to
    /// stop ends the measurement early.
    pub(in crate::run) fn tune(&self, requests: &Requests) -> Result<Option<Tuning>> {
        if self.system.settings.cutoff.is_none() {
            return Ok(None);
        }
        let start = Instant::now();
        let (method, own) = (self.plan.run.tuning, self.own_splitting());
        let usual = match (self.alternatives.conventional, own) {
            (Some(parameters), Some(own)) => Some(Splitting { parameters, ..own }),
            _ => own,
        };
        let conventional = self.trial(usual, self.lists(usual).conventional());
        let model = match method {
            TuningMethod::Off => conventional,
            TuningMethod::Model | TuningMethod::Measure => self.trial(own, self.choices.all()[0]),
        };
        let mut tuning = Tuning {
            method: method.name().into(),
            tried: vec![conventional],
            chosen: model.setting,
            predicted_gain: 1.0 - model.megacycles / conventional.megacycles,
            measured_gain: None,
            seconds: 0.0,
        };
        // the double-precision reference backend runs at the same speed with all settings, so nothing is timed on it
        let timed = self.plan.run.precision == Precision::Mixed && !self.on_gpu;
        if method == TuningMethod::Measure && timed {
            self.measure(model, requests, &mut tuning)?;
            tuning.seconds = start.elapsed().as_secs_f64();
        } else if method != TuningMethod::Off {
            tuning.tried.extend(self.considered());
        }
        Ok(Some(tuning))
    }

    /// Returns the cutoff and mesh of the input file; `None` without PME.
    fn own_splitting(&self) -> Option<Splitting> {
        let ForceSettings { cutoff, electrostatics, .. } = self.system.settings;
        match electrostatics {
            Electrostatics::Pme(parameters) => cutoff.map(|cutoff| Splitting { cutoff, parameters }),
            _ => None,
        }
    }

    fn lists(&self, pme: Option<Splitting>) -> ListChoices<'a> {
        self.choices.with_settings(split(self.system.settings, pme))
    }

    /// Returns a setting and its cost according to the cost model.
    fn trial(&self, pme: Option<Splitting>, lists: ListSchedule) -> Trial {
        let atoms = self.system.topology.atoms.len() as f64;
        let meshes = pme.map(|splitting| splitting.parameters).into_iter().chain(self.system.settings.lj_pme());
        let meshes: f64 = meshes.filter(|_| !self.on_gpu).map(|parameters| pme::cycles(atoms, &parameters)).sum();
        let megacycles = 1e-6 * (self.lists(pme).cycles(&lists) + meshes / f64::from(self.every));
        Trial { setting: Setting { pme, lists }, megacycles, measured: None }
    }

    /// Returns the candidates that the cost model ranks: all list schedules, and alternative meshes with the same
    /// cutoff.
    fn considered(&self) -> Vec<Trial> {
        let (own, schedules) = (self.own_splitting(), self.choices.all());
        let trials = schedules.iter().take(SHOWN).map(|&lists| self.trial(own, lists));
        let same = |other: &&Splitting| !self.on_gpu && own.is_some_and(|own| own.cutoff == other.cutoff);
        let meshes = self.alternatives.others.iter().filter(same);
        trials.chain(meshes.map(|&mesh| self.trial(Some(mesh), schedules[0]))).collect()
    }

    /// Times combinations of Coulomb cutoff and mesh, and then list schedules for the fastest combination.
    fn measure(&self, model: Trial, requests: &Requests, tuning: &mut Tuning) -> Result<()> {
        let (mut best, mut time) = (model, 1.0);
        for propose in [Self::splittings, Self::schedules] {
            let mut trials = vec![best];
            trials.extend(propose(self, &best));
            if trials.len() == 1 {
                continue;
            }
            let Some(times) = self.times(&trials, requests)? else { break };
            let timed = compare(&times);
            trials.iter_mut().zip(&timed).for_each(|(trial, timed)| trial.measured = Some(*timed));
            best = trials[choose(&timed)];
            time *= 1.0 - best.measured.map_or(0.0, |timed| timed.gain);
            tuning.tried.extend(trials);
        }
        tuning.chosen = best.setting;
        tuning.measured_gain = Some(1.0 - time);
        Ok(())
    }

    /// Returns combinations of cutoff and mesh that may be faster than `best`, each with the list schedule that is
    /// cheapest in the cost model. Returns only the cheapest combination of each range of cutoffs. The cost model may
    /// rank cutoffs of different ranges wrongly, because the model is less accurate for cutoffs far from the cutoffs of
    /// its calibration.
    fn splittings(&self, best: &Trial) -> Vec<Trial> {
        let ListSchedule { outer, inner, .. } = best.setting.lists;
        let usual = self.reach(best.setting.pme);
        // all cutoffs are ranked with the list buffer of `best`, because equal list errors require nearly equal buffers
        let roughly = |&other: &Splitting| {
            let longer = self.reach(Some(other)) - usual;
            let lists = ListSchedule { outer: outer + longer, inner: inner + longer, ..best.setting.lists };
            (self.trial(Some(other), lists).megacycles, other)
        };
        let mut ranked: Vec<(f64, Splitting)> = self.alternatives.others.iter().map(roughly).collect();
        ranked.retain(|(megacycles, _)| *megacycles <= (1.0 + SLOWER) * best.megacycles);
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        let cheapest: BTreeMap<i64, Splitting> = ranked
            .into_iter()
            .rev()
            .map(|(_, other)| ((other.cutoff / (RANGE * usual)).floor() as i64, other))
            .collect();
        cheapest.into_values().map(|other| self.trial(Some(other), self.lists(Some(other)).all()[0])).collect()
    }

    /// Returns the longer of the Coulomb and the Lennard-Jones cutoff, nm.
    fn reach(&self, pme: Option<Splitting>) -> f64 {
        let ForceSettings { cutoff, cutoff_lj, .. } = split(self.system.settings, pme);
        cutoff.unwrap_or(0.0).max(cutoff_lj.unwrap_or(0.0))
    }

    /// Returns the list schedules with the lowest predicted cost, except the list schedule of `best`.
    fn schedules(&self, best: &Trial) -> Vec<Trial> {
        let Setting { pme, lists } = best.setting;
        let others = self.lists(pme).all().into_iter().filter(|other| *other != lists);
        others.take(SCHEDULES).map(|other| self.trial(pme, other)).collect()
    }

    /// Measures the time per step (s) of each setting in each round; `None` if a request to stop ended the measurement.
    fn times(&self, trials: &[Trial], requests: &Requests) -> Result<Option<Vec<[f64; ROUNDS]>>> {
        let mut system = self.system.clone();
        let mut fields = vec![];
        for trial in trials {
            system.settings = split(self.system.settings, trial.setting.pme);
            fields.push(self.engine.cpu(&system, trial.setting.lists)?);
        }
        let mut times = vec![[0.0; ROUNDS]; trials.len()];
        for round in 0..ROUNDS {
            for ((field, trial), times) in fields.iter_mut().zip(trials).zip(&mut times) {
                if requests.stop() {
                    return Ok(None);
                }
                times[round] = seconds_per_step(field.as_mut(), &trial.setting.lists, self.every, self.state)?;
            }
        }
        Ok(Some(times))
    }
}

/// Returns the number of steps between evaluations of reciprocal space in the longest stage of dynamics.
fn interval_of_meshes(plan: &Plan) -> u32 {
    let longest = plan.dynamics().max_by_key(|(_, stage)| stage.steps);
    longest.and_then(|(_, stage)| stage.multiple_time_steps).map_or(1, |steps| steps.every)
}

/// Measures the time per step in seconds. The time per step is the time of a force evaluation, with reciprocal space at
/// every `every`-th step, plus the times of a pair search and of a pruning, each divided by its interval in steps.
fn seconds_per_step(cpu: &mut dyn Backend, lists: &ListSchedule, every: u32, state: &State) -> Result<f64> {
    cpu.upload(state)?;
    let start = Instant::now();
    cpu.build_lists()?;
    let searched = Instant::now();
    cpu.prune_lists(0.0)?;
    let pruning = searched.elapsed().as_secs_f64();
    let search = (searched - start).as_secs_f64();
    let with = shortest(cpu, LongRange::Ordinary)?;
    let without = if every > 1 { shortest(cpu, LongRange::Skipped)? } else { with };
    let forces = without + (with - without) / f64::from(every);
    Ok(forces + search / f64::from(lists.rebuild) + pruning / f64::from(lists.prune))
}

/// Returns the shortest of several measured times of a force evaluation, s. The shortest time is used, because other
/// programs on the machine can only lengthen a measurement.
fn shortest(cpu: &mut dyn Backend, long_range: LongRange) -> Result<f64> {
    let workload = Workload { long_range, ..Workload::FORCES };
    cpu.forces(workload)?;
    let mut least = f64::INFINITY;
    for _ in 0..EVALUATIONS {
        let start = Instant::now();
        cpu.forces(workload)?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    Ok(least)
}

/// Returns for each setting its time, its gain over the first setting, and the spread of this gain between rounds.
fn compare(times: &[[f64; ROUNDS]]) -> Vec<Timed> {
    let against_first = |own: &[f64; ROUNDS]| {
        // gains are computed per round, because other programs slow down all settings of a round alike
        let gains: [f64; ROUNDS] = std::array::from_fn(|round| 1.0 - own[round] / times[0][round]);
        let gain = median(gains);
        let spread = DEVIATION * median(gains.map(|other| (other - gain).abs()));
        Timed { milliseconds: 1e3 * median(*own), gain, spread }
    };
    times.iter().map(against_first).collect()
}

/// Returns the index of the setting with the largest gain; 0 if no setting has a gain that exceeds its spread.
fn choose(timed: &[Timed]) -> usize {
    let clear = timed.iter().enumerate().filter(|(_, timed)| timed.gain > timed.spread);
    clear.fold(0, |best, (index, timed_here)| if timed_here.gain > timed[best].gain { index } else { best })
}

/// Returns the median of an odd number of values.
fn median<const N: usize>(mut values: [f64; N]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[N / 2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::multiple_time_steps::MultipleTimeSteps;
    use crate::run::plan::stage_output::StageOutput;
    use crate::run::plan::{Dynamics, Stage, StageKind};

    #[test]
    fn the_longest_stage_says_how_often_meshes_are_computed() {
        let stage = |steps, every: Option<u32>| Stage {
            name: "one".into(),
            kind: StageKind::Dynamics(Dynamics {
                steps,
                multiple_time_steps: every.map(|every| MultipleTimeSteps { every }),
                ..Dynamics::default()
            }),
            position_restraints: vec![],
            restraints: vec![],
            frozen: None,
            output: StageOutput::default(),
        };
        let interval = |stages| interval_of_meshes(&Plan { stages, ..Plan::default() });
        assert_eq!(interval(vec![]), 1);
        assert_eq!(interval(vec![stage(100, None), stage(900, Some(3)), stage(200, Some(2))]), 3);
        assert_eq!(interval(vec![stage(900, None), stage(200, Some(2))]), 1);
    }

    /// Returns simulated timings of a setting in all rounds, for a machine that becomes slower and is sometimes
    /// disturbed. The disturbances are the same for all settings.
    fn rounds(time: f64, own: [f64; ROUNDS]) -> [f64; ROUNDS] {
        let machine = [1.0, 1.02, 1.5, 1.04, 1.05, 1.3, 1.07];
        std::array::from_fn(|round| time * machine[round] * (1.0 + own[round]))
    }

    const QUIET: [f64; ROUNDS] = [0.001, -0.001, 0.002, 0.0, -0.002, 0.001, 0.0];
    const NOISY: [f64; ROUNDS] = [0.05, -0.06, 0.04, 0.0, -0.05, 0.07, 0.03];

    #[test]
    fn the_fastest_wins_whatever_disturbs_all() {
        let timed = compare(&[rounds(6.0, [0.0; ROUNDS]), rounds(5.8, QUIET), rounds(5.7, QUIET), rounds(6.3, QUIET)]);
        assert_eq!(choose(&timed), 2);
        // the gain is 0.3/6 = 5 %, and the times of the rounds scatter by 0.2 %
        assert!((timed[2].gain - 0.05).abs() < 0.002 && timed[2].spread < 0.004, "{timed:?}");
        assert!((timed[0].milliseconds - 6300.0).abs() < 1e-6, "{timed:?}");
    }

    #[test]
    fn the_first_stays_unless_a_gain_exceeds_its_spread() {
        let first = rounds(6.0, [0.0; ROUNDS]);
        for others in [
            vec![],
            vec![first],
            vec![rounds(6.1, QUIET)],
            // a setting with a gain of 3 % and a spread of 7 %
            vec![rounds(5.82, NOISY)],
            vec![rounds(5.82, NOISY), first],
        ] {
            let timed = compare(&[vec![first], others].concat());
            assert_eq!(choose(&timed), 0, "{timed:?}");
        }
        assert_eq!(choose(&compare(&[first, rounds(5.82, QUIET)])), 1);
    }

    #[test]
    fn of_two_alike_the_earlier_wins_and_noise_does_not_hide_a_clear_gain() {
        let timed = compare(&[rounds(6.0, QUIET), rounds(5.7, [0.0; ROUNDS]), rounds(5.7, [0.0; ROUNDS])]);
        assert_eq!(choose(&timed), 1);
        let timed = compare(&[rounds(6.0, QUIET), rounds(5.82, NOISY), rounds(5.85, QUIET)]);
        assert_eq!(choose(&timed), 2);
    }
}
