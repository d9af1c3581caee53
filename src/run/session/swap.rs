//! Exchange attempts in the run of one replica.
//!
//! Thermodynamic states may have different Hamiltonians. The energy with another Hamiltonian is evaluated in a separate
//! context with new pair lists. A replica that gets another Hamiltonian continues in a new context in the same way as
//! from a checkpoint. The pair lists of the new context are built from the positions from which the old lists were
//! built.

use crate::backend::{Phases, Workload};
use crate::context::Context;
use crate::ensemble::exchange::{Exchange, Offer, neighbour, scale_velocities};
use crate::error::Result;
use crate::pair::ListSchedule;
use crate::run::checkpoint::RunPosition;
use crate::run::dynamics::frozen::FrozenGroups;
use crate::run::dynamics::setup::Setup;
use crate::run::dynamics::simulation::{Simulation, StageProgress};
use crate::run::plan::Dynamics;
use crate::run::session::Session;
use crate::run::session::job::{Attempt, ExchangeMember, Job};
use crate::system::{State, System};
use std::sync::Arc;

/// State of a replica in the stage with exchange attempts.
pub(super) struct Swaps<'a> {
    member: &'a dyn ExchangeMember,
    exchange: &'a Exchange,
    /// index of the present thermodynamic state of the replica
    state: usize,
    /// masses of all atoms, amu
    masses: Vec<f64>,
    /// number of temperature groups of the thermostat
    groups: usize,
    /// pair list schedule of the stage
    lists: ListSchedule,
    index: usize,
    first_time: f64,
}

impl<'a> Swaps<'a> {
    /// Creates the data for exchange attempts from a position in the stage with index `index`; `None` if the stage has
    /// no exchange attempts.
    pub(super) fn new(job: &Job<'a>, index: usize, position: &RunPosition) -> Result<Option<Self>> {
        let (Some(member), Some(exchange), Some(lists)) = (job.exchange, &job.plan.exchange, position.schedule) else {
            return Ok(None);
        };
        if index + 1 < job.plan.stages.len() {
            return Ok(None);
        }
        let state = position.exchanged.unwrap_or(member.first_state());
        // if an exchange attempt is due before the next step, this attempt has not been made yet and is not counted
        member.check(position.done.saturating_sub(1) / exchange.every, state)?;
        let masses = job.system.topology.atoms.iter().map(|atom| atom.mass).collect();
        let thermostat = member.state(state).dynamics.thermostat.as_ref();
        let groups = thermostat.map_or(1, |thermostat| 1 + thermostat.groups.len());
        Ok(Some(Swaps { member, exchange, state, masses, groups, lists, index, first_time: position.first_time }))
    }

    /// Returns the index, from 0, of the present thermodynamic state of the replica.
    pub(super) fn state(&self) -> usize {
        self.state
    }

    /// Returns the settings of dynamics in the present thermodynamic state, including temperature and pressure.
    pub(super) fn dynamics(&self) -> &'a Dynamics {
        self.member.state(self.state).dynamics
    }

    fn system(&self, state: usize) -> &'a Arc<System> {
        &self.member.state(state).system
    }

    /// Whether the thermodynamic state with index `state` has the same Hamiltonian as the present state of the
    /// replica.
    fn is_same_system(&self, state: usize) -> bool {
        Arc::ptr_eq(self.system(state), self.system(self.state))
    }
}

impl<'a> Session<'a> {
    /// Logs that the stage has exchange attempts, and that the averages in the log of a replica include all
    /// thermodynamic states of the replica.
    pub(super) fn log_swaps(&mut self, swaps: Option<&Swaps<'a>>) -> Result<()> {
        let Some(Swaps { exchange, state, .. }) = swaps else { return Ok(()) };
        let (every, all, now) = (exchange.every, exchange.states.len(), state + 1);
        self.log.note(&format!(
            "this replica exchanges states with other replicas every {every} steps; its present state is {now} of \
             {all}; averages include all states of this replica; to sort output by state, use `md demux`"
        ))
    }

    /// Makes an exchange attempt if an attempt is due before the next step. Returns true if the run has to stop. If the
    /// replica gets another thermodynamic state, `state` is set to the positions and velocities of the simulation after
    /// the exchange.
    pub(super) fn exchange(
        &mut self,
        simulation: &mut Simulation<'a>,
        target: u64,
        state: &mut State,
        swaps: &mut Option<Swaps<'a>>,
    ) -> Result<bool> {
        let Some(swaps) = swaps else { return Ok(false) };
        let step = simulation.local_step;
        let Some(attempt) = swaps.exchange.attempt_at(step) else { return Ok(false) };
        let time = simulation.time();
        let new = match swaps.member.known(attempt) {
            Some(new) => new,
            None => {
                let offer = self.offer(simulation, attempt, state, swaps)?;
                let attempt = Attempt { number: attempt, step: simulation.step_number(), time };
                match swaps.member.meet(attempt, offer, &mut || self.poll(step, target, time))? {
                    Some(new) => new,
                    None => return Ok(true),
                }
            }
        };
        if new != swaps.state {
            self.download(simulation, state)?;
            let factor = swaps.exchange.velocity_factor(swaps.state, new);
            if factor != 1.0 {
                scale_velocities(state, &swaps.masses, factor, swaps.groups);
            }
            if swaps.is_same_system(new) {
                simulation.exchange(state, swaps.member.state(new).dynamics)?;
            } else {
                // the conserved energy does not change: the work of the exchange is the change of the potential energy
                let before = simulation.potential()?.0;
                state.coupling.thermostat_work += self.potential_in(new, simulation, state, swaps)? - before;
                self.take_state(swaps.index, Some(new));
                self.go_on_with(simulation, state, swaps, new)?;
            }
            swaps.state = new;
        }
        Ok(false)
    }

    /// Returns the energies that the replica sends at an exchange attempt. If the attempt involves another
    /// Hamiltonian, the state of the simulation is copied to `state`.
    fn offer(
        &self,
        simulation: &mut Simulation<'a>,
        attempt: u64,
        state: &mut State,
        swaps: &Swaps<'a>,
    ) -> Result<Offer> {
        self.flush(simulation)?;
        let (own, volume) = simulation.potential()?;
        let other = neighbour(attempt, swaps.state, swaps.exchange.states.len());
        let Some(other) = other.filter(|other| !swaps.is_same_system(*other)) else {
            return Ok(Offer { own, other: own, volume });
        };
        simulation.download(state)?;
        Ok(Offer { own, other: self.potential_in(other, simulation, state, swaps)?, volume })
    }

    /// Returns the potential energy (kJ/mol) of `state` with the Hamiltonian of the thermodynamic state with index
    /// `other`.
    fn potential_in(&self, other: usize, simulation: &Simulation<'a>, state: &State, swaps: &Swaps<'a>) -> Result<f64> {
        let mut context = self.context_of(other, simulation, swaps)?;
        context.set_state(state)?;
        let restraint_time = simulation.local_step as f64 * simulation.timestep();
        let energies = context.forces(Workload { energy: true, restraint_time, ..Workload::FORCES })?.energies;
        Ok(energies.potential())
    }

    /// Creates a context with the Hamiltonian of the thermodynamic state with index `other`.
    fn context_of(&self, other: usize, simulation: &Simulation<'a>, swaps: &Swaps<'a>) -> Result<Context> {
        let system = self.in_stage(swaps.index, swaps.system(other))?;
        let mut context = self.engine.context(self.job.plan, &system, swaps.lists)?;
        context.restrain(&self.restraints[swaps.index], &simulation.restraints()?)?;
        Ok(context)
    }

    /// Continues the simulation in a new context with the Hamiltonian of another thermodynamic state.
    fn go_on_with(
        &mut self,
        simulation: &mut Simulation<'a>,
        state: &State,
        swaps: &Swaps<'a>,
        new: usize,
    ) -> Result<()> {
        let lists = simulation.list_origins()?;
        let context = self.context_of(new, simulation, swaps)?;
        let dynamics = swaps.member.state(new).dynamics;
        let system = self.system_of(swaps.index)?;
        let setup = Setup::new(&system, dynamics, self.history.next.noise_seed, state.cell.is_some())?;
        let setup = Setup { frozen: FrozenGroups::new(&self.job.system, &system, state), ..setup };
        let progress = StageProgress { steps: simulation.local_step, first_time: swaps.first_time, lists };
        let mut next = Simulation::new(context, setup, state, progress)?;
        next.exchange(state, dynamics)?;
        self.timing.searches += simulation.searches();
        self.timing.phases.add_difference(&simulation.backend().phases()?, &Phases::default());
        *simulation = next;
        Ok(())
    }

    /// Replaces the system of the job by the system with the Hamiltonian of the thermodynamic state `exchanged`, if the
    /// stage has exchange attempts. If thermodynamic states have different Hamiltonians, tuning does not change the
    /// systems.
    pub(super) fn take_state(&mut self, index: usize, exchanged: Option<usize>) {
        let is_last = index + 1 == self.job.plan.stages.len();
        let member = self.job.exchange.filter(|member| is_last && member.has_hamiltonians());
        if let (Some(member), Some(state)) = (member, exchanged) {
            self.job.system = Arc::clone(&member.state(state).system);
        }
    }
}
