//! What a replica does at the attempts of an exchange.

use super::Session;
use crate::ensemble::exchange::{Exchange, Offer, neighbour, scale_velocities};
use crate::error::Result;
use crate::run::checkpoint::RunPosition;
use crate::run::job::Job;
use crate::run::plan::Dynamics;
use crate::run::replicas::Member;
use crate::run::simulation::Simulation;
use crate::system::State;

/// A replica in the stage in which states are swapped.
pub(super) struct Swaps<'a> {
    member: Member<'a>,
    exchange: &'a Exchange,
    /// its own now
    state: usize,
    /// of all atoms, amu
    masses: Vec<f64>,
    /// temperature groups
    groups: usize,
}

impl<'a> Swaps<'a> {
    /// For a position in the stage of this index; `None` where nothing is swapped.
    pub(super) fn new(job: &Job<'a>, index: usize, place: &RunPosition) -> Result<Option<Self>> {
        let (Some(member), Some(exchange)) = (job.exchange, &job.plan.exchange) else { return Ok(None) };
        if index + 1 < job.plan.stages.len() {
            return Ok(None);
        }
        let state = place.exchanged.unwrap_or(member.first_state());
        // an attempt before the next step is still to be made
        member.check(place.done.saturating_sub(1) / exchange.every, state)?;
        let masses = job.system.topology.atoms.iter().map(|atom| atom.mass).collect();
        let groups =
            member.state(state).dynamics.thermostat.as_ref().map_or(1, |thermostat| 1 + thermostat.groups.len());
        Ok(Some(Swaps { member, exchange, state, masses, groups }))
    }

    /// From 0.
    pub(super) fn state(&self) -> usize {
        self.state
    }

    /// The couplings of its state.
    pub(super) fn dynamics(&self) -> &'a Dynamics {
        self.member.state(self.state).dynamics
    }
}

impl<'a> Session<'a> {
    /// Makes the attempt that is due before the next step, if one is; true if the run is to stop instead. `state` is that of
    /// the simulation if the replica gets another thermodynamic state.
    pub(super) fn exchange(
        &mut self,
        (simulation, target): (&mut Simulation<'a>, u64),
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
                let offer = self.offer(simulation, attempt, swaps)?;
                let attempt = (attempt, simulation.step_number(), time);
                match swaps.member.meet(attempt, offer, &mut || self.poll((step, target, time)))? {
                    Some(new) => new,
                    None => return Ok(true),
                }
            }
        };
        if new != swaps.state {
            self.download(simulation, state)?;
            scale_velocities(state, &swaps.masses, swaps.exchange.velocity_factor(swaps.state, new), swaps.groups);
            swaps.state = new;
            simulation.exchange(state, swaps.dynamics())?;
        }
        Ok(false)
    }

    /// What the replica offers at an attempt.
    fn offer(&self, simulation: &mut Simulation<'a>, attempt: u64, swaps: &Swaps<'a>) -> Result<Offer> {
        self.flush(simulation)?;
        let (own, volume) = simulation.potential()?;
        let _ = (attempt, neighbour);
        Ok(Offer { own, other: own, volume })
    }
}
