//! Timed dynamics for benchmarks: the steps of a run, without output.

use std::borrow::Cow;
use std::time::Instant;

use crate::backend::{PairCounts, Phases};
use crate::context::Context;
use crate::error::Result;
use crate::pair::ListSchedule;
use crate::restraint::Restraints;
use crate::run::dynamics::frozen::{frozen_system, stop};
use crate::run::dynamics::restraints::restraints;
use crate::run::dynamics::setup::Setup;
use crate::run::dynamics::simulation::{Simulation, StageProgress, Wanted};
use crate::run::dynamics::start::prepare;
use crate::run::engine::{Engine, run_on_first_thread};
use crate::run::plan::{Dynamics, Plan, Velocities};
use crate::system::{State, System};

/// Length of a measurement, in steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measurement {
    /// number of untimed steps before the first segment
    pub warm_up: u64,
    /// number of steps in each timed segment
    pub steps: u64,
    /// number of timed segments
    pub repeats: usize,
    /// number of steps between computations of the energies
    pub energies_every: u64,
}

/// Results of timed dynamics.
#[derive(Clone, Debug)]
pub struct Measured {
    /// wall time of each segment, s
    pub seconds: Vec<f64>,
    /// wall time per phase of a step, summed over all segments
    pub phases: Phases,
    /// time (ps) and conserved energy (kJ/mol) at the steps with energies
    pub conserved: Vec<(f64, f64)>,
    /// mean temperature over the steps with energies, K
    pub temperature: f64,
    /// pair list schedule with which the segments were run
    pub schedule: ListSchedule,
    /// number of pair searches in all segments
    pub searches: u64,
    /// sizes of the pair lists after the last segment
    pub pairs: PairCounts,
    /// mean number of evaluations of reciprocal space per step
    pub meshes: f64,
    /// number of degrees of freedom that remain after constraints and the removal of center-of-mass motion
    pub degrees_of_freedom: usize,
}

/// Runs the steps of `dynamics` from `start` with the backend of the plan. Restraints and frozen atoms come from the
/// last stage of the plan whose dynamics settings are `dynamics`.
pub fn measure(
    engine: &Engine,
    plan: &Plan,
    system: &System,
    dynamics: &Dynamics,
    start: &State,
    measurement: Measurement,
) -> Result<Measured> {
    run_on_first_thread(&engine.pool, || {
        let mut state = start.clone();
        let own = plan.stages.iter().rposition(|stage| stage.dynamics() == Some(dynamics));
        let restrained = match own {
            Some(index) => restraints(plan, system, start)?.swap_remove(index),
            None => Restraints::default(),
        };
        let whole = system;
        let system = &*own.map_or(Ok(Cow::Borrowed(whole)), |index| frozen_system(&plan.stages[index], whole))?;
        stop(whole, system, &mut state);
        let velocities =
            if state.velocities.is_empty() { first_velocities(plan, dynamics) } else { dynamics.velocities };
        let dynamics = &Dynamics { velocities, ..dynamics.clone() };
        prepare(system, dynamics, plan.run.seed, false, &mut state)?;
        // list errors are estimated for the system without frozen atoms, even if the stage freezes some atoms
        let lists = engine.lists(plan, whole, &state)?;
        let setup = Setup::new(system, dynamics, plan.run.seed, state.cell.is_some())?;
        let mut context = engine.context(plan, system, lists)?;
        context.restrain(&restrained, &[])?;
        timed(context, setup, &state, measurement)
    })
}

/// Returns the velocities setting of the first stage that generates velocities. In the run, later stages would continue
/// with the velocities of this stage. If no stage generates velocities, returns the setting in `dynamics`.
fn first_velocities(plan: &Plan, dynamics: &Dynamics) -> Velocities {
    let mut all = plan.dynamics().map(|(_, stage)| stage.velocities);
    all.find(|velocities| *velocities != Velocities::File).unwrap_or(dynamics.velocities)
}

fn timed(context: Context, setup: Setup<'_>, state: &State, measurement: Measurement) -> Result<Measured> {
    let (schedule, degrees_of_freedom, meshes) =
        (*context.schedule(), setup.degrees_of_freedom, setup.dynamics.meshes());
    let start = StageProgress { first_time: state.time, ..StageProgress::default() };
    let mut simulation = Simulation::new(context, setup, state, start)?;
    let mut record = Record { every: measurement.energies_every, ..Record::default() };
    record.steps(&mut simulation, measurement.warm_up)?;
    record.observed.clear();
    let (before, searched) = (simulation.backend().phases()?, simulation.searches());
    let mut seconds = Vec::with_capacity(measurement.repeats);
    for _ in 0..measurement.repeats {
        let start = Instant::now();
        record.steps(&mut simulation, measurement.steps)?;
        // the clock is read only after the device has finished all steps
        simulation.flush()?;
        simulation.backend().phases()?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    let mut phases = Phases::default();
    phases.add_difference(&simulation.backend().phases()?, &before);
    let samples = record.observed.len().max(1) as f64;
    Ok(Measured {
        seconds,
        phases,
        temperature: record.observed.iter().map(|sample| sample.2).sum::<f64>() / samples,
        conserved: record.observed.iter().map(|&(time, conserved, _)| (time, conserved)).collect(),
        schedule,
        searches: simulation.searches() - searched,
        pairs: simulation.backend().pair_counts()?,
        meshes,
        degrees_of_freedom,
    })
}

/// Samples of time (ps), conserved energy (kJ/mol) and temperature (K).
#[derive(Default)]
struct Record {
    every: u64,
    observed: Vec<(f64, f64, f64)>,
}

impl Record {
    fn steps(&mut self, simulation: &mut Simulation<'_>, steps: u64) -> Result<()> {
        for _ in 0..steps {
            let energies = simulation.local_step.is_multiple_of(self.every);
            let time = simulation.time();
            let observed = simulation.step(Wanted { energies }, |_| Ok(()))?;
            if energies {
                self.observed.push((time, observed.conserved, observed.temperature));
            }
        }
        Ok(())
    }
}
