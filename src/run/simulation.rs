//! One simulation: a backend, its pair lists' ages, and the order of a step.

use super::plan::{Barostat, BarostatKind, Dynamics, Thermostat, ThermostatKind};
use crate::backend::{Advance, Backend, Energies, Kinetic, Moment, Workload};
use crate::cell::PeriodicCell;
use crate::ensemble::barostat::{self, Dilation, Target};
use crate::ensemble::thermostat::{self, Bath, Rescaling};
use crate::error::Result;
use crate::pair::ListSchedule;
use crate::system::State;
use crate::units::BOLTZMANN;

#[cfg(test)]
mod ideal_gas;
#[cfg(test)]
mod tests;

/// Positions and cell that a pair list was made from: what a restart needs to make the same list again.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ListOrigins {
    /// at the last search
    pub rebuilt: State,
    /// at the last pruning
    pub pruned: State,
}

/// What is wanted of a step beside moving on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// energies, temperature, pressure; without, nobody waits for a step to be done
    pub energies: bool,
}

/// A step's numbers at the time of its positions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Observed {
    /// kJ/mol
    pub energies: Energies,
    /// kJ/mol, mean of both half steps
    pub kinetic: f64,
    /// kinetic + potential − work of thermostat and barostat, kJ/mol
    pub conserved: f64,
    /// K
    pub temperature: f64,
    /// kJ/mol/nm³, zero without a cell
    pub pressure: f64,
    /// the lattice
    pub cell: Option<PeriodicCell>,
}

/// Which couplings have done work that is not booked yet.
#[derive(Clone, Copy, Debug)]
struct Unsettled {
    /// of the barostat
    dilation: bool,
    /// of the thermostat
    rescaling: bool,
}

/// A stage of dynamics under way. Steps count from the start of the stage.
pub struct Simulation<'a, B> {
    backend: B,
    dynamics: &'a Dynamics,
    schedule: ListSchedule,
    seed: u64,
    degrees_of_freedom: usize,
    /// steps of this stage done
    pub local_step: u64,
    /// steps of the run at the start of this stage
    first_step: u64,
    /// ps at the start of this stage
    first_time: f64,
    /// at the end of the stage before
    begins_unsettled: Unsettled,
    searches: u64,
}

impl<'a, B: Backend> Simulation<'a, B> {
    /// Start, or go on, from `state` after `local_step` steps of the stage, which began at `first_time` (ps); `origins`
    /// are those of a checkpoint.
    pub fn new(
        mut backend: B,
        dynamics: &'a Dynamics,
        (schedule, seed, degrees_of_freedom): (ListSchedule, u64, usize),
        state: &State,
        (local_step, first_time): (u64, f64),
        origins: Option<ListOrigins>,
    ) -> Result<Self> {
        if let Some(origins) = &origins {
            backend.upload(&origins.rebuilt)?;
            backend.rebuild_pairs();
            backend.upload(&origins.pruned)?;
            // these are where atoms were foreseen
            backend.prune_pairs(0.0);
        }
        backend.upload(state)?;
        Ok(Simulation {
            backend,
            dynamics,
            schedule,
            seed,
            degrees_of_freedom,
            local_step,
            first_step: state.step - local_step,
            first_time,
            begins_unsettled: Unsettled {
                dilation: state.coupling.unsettled != 0.0,
                rescaling: state.coupling.pending_rescaling != 0.0,
            },
            searches: 0,
        })
    }

    /// Steps since the start of the run.
    pub fn step_number(&self) -> u64 {
        self.first_step + self.local_step
    }

    /// ps.
    pub fn time(&self) -> f64 {
        self.first_time + self.local_step as f64 * self.dynamics.timestep
    }

    /// Searches for pairs so far.
    pub fn searches(&self) -> u64 {
        self.searches
    }

    /// The backend, for its description and timings.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// Copy the state at the start of the next step, when all steps before are done.
    pub fn download(&self, state: &mut State) -> Result<()> {
        self.backend.download(state)?;
        state.step = self.step_number();
        state.time = self.time();
        Ok(())
    }

    /// Where the atoms were before the last move, which has failed: the last good positions.
    pub fn before_failure(&self) -> State {
        let (cell, positions) = self.backend.before_move();
        State { step: self.step_number(), time: self.time(), cell, positions: positions.to_vec(), ..State::default() }
    }

    /// What a checkpoint must hold beside the state to make the present lists again; nothing where the next step
    /// searches anew.
    pub fn list_origins(&self) -> Result<Option<ListOrigins>> {
        if self.search_is_scheduled() {
            return Ok(None);
        }
        let mut origins = ListOrigins::default();
        self.backend.list_positions(Moment::Search, &mut origins.rebuilt)?;
        self.backend.list_positions(Moment::Prune, &mut origins.pruned)?;
        Ok(Some(origins))
    }

    /// One step: lists, forces, a look at the state by `observe` (positions and velocities of the half step before),
    /// the move, couplings. A device may do a step later, at the latest when something is wanted of it.
    pub fn step(&mut self, wanted: Wanted, observe: impl FnMut(&Self) -> Result<()>) -> Result<Observed> {
        self.update_lists(wanted)?;
        self.step_with_lists(wanted, observe)
    }

    /// Does what of all steps so far is still to be done; before [`Simulation::download`].
    pub fn catch_up(&mut self) -> Result<()> {
        if self.schedule.is_exact() && self.local_step > 0 { self.redo(true).map(|_| ()) } else { Ok(()) }
    }

    /// A step with the present lists. This is the only place where its order is written.
    fn step_with_lists(&mut self, wanted: Wanted, mut observe: impl FnMut(&Self) -> Result<()>) -> Result<Observed> {
        let step = self.local_step;
        let thermostat = self.dynamics.thermostat.as_ref().filter(|_| self.rescales(step));
        let (energies, dilates, unsettled) = (wanted.energies, self.dilates(step), self.is_unsettled(step));
        self.backend.forces(Workload { energy: energies, virial: energies || dilates || unsettled.dilation })?;
        observe(self)?;
        let kinetic = self.backend.advance(Advance {
            timestep: self.dynamics.timestep,
            virial: energies,
            kinetic: energies,
            coupled: dilates || thermostat.is_some(),
            unsettled: unsettled.dilation || unsettled.rescaling,
        })?;
        let observed = if energies { self.observe(kinetic)? } else { Observed::default() };
        if let Some(barostat) = self.dynamics.barostat.filter(|_| dilates) {
            self.backend.dilate(self.dilation(&barostat))?;
        }
        if let Some(thermostat) = thermostat {
            self.backend.couple(self.rescaling(thermostat))?;
        }
        if self.dynamics.com_removal.is_some_and(|every| is_due(every, step)) {
            self.backend.remove_motion();
        }
        self.local_step += 1;
        Ok(observed)
    }

    /// The barostat acts at a step.
    fn dilates(&self, step: u64) -> bool {
        step > 0 && self.dynamics.barostat.is_some_and(|b| is_due(b.every, step))
    }

    /// The thermostat acts at a step.
    fn rescales(&self, step: u64) -> bool {
        step > 0 && self.dynamics.thermostat.as_ref().is_some_and(|t| is_due(t.every, step))
    }

    /// Whether they did at the step before, whose work is still to be booked in part, with the forces after it.
    fn is_unsettled(&self, step: u64) -> Unsettled {
        step.checked_sub(1).map_or(self.begins_unsettled, |before| Unsettled {
            dilation: self.dilates(before),
            rescaling: self.rescales(before),
        })
    }

    fn search_is_scheduled(&self) -> bool {
        let rebuild = u64::from(self.schedule.rebuild);
        self.local_step == 0 || (!self.schedule.is_exact() && self.local_step.is_multiple_of(rebuild))
    }

    fn update_lists(&mut self, wanted: Wanted) -> Result<()> {
        if self.search_is_scheduled() || (self.schedule.is_exact() && self.redo(wanted.energies)?) {
            self.search();
        } else if !self.schedule.is_exact() && self.local_step.is_multiple_of(u64::from(self.schedule.prune)) {
            self.backend.prune_pairs(self.schedule.foresight);
        }
        Ok(())
    }

    fn search(&mut self) {
        self.searches += 1;
        self.backend.rebuild_pairs();
        self.backend.prune_pairs(self.schedule.foresight);
    }

    /// Steps that a device has left undone because its lists might have missed a pair: they are done now, with new lists.
    /// True where the present lists might miss one too.
    fn redo(&mut self, must_know: bool) -> Result<bool> {
        let reached = self.local_step;
        loop {
            match self.backend.overdue(&self.schedule, must_know)? {
                None => return Ok(false),
                Some(0) => return Ok(true),
                Some(undone) => self.local_step -= undone,
            }
            self.search();
            while self.local_step < reached {
                // nobody has looked at these: what is wanted of a step makes sure that all before it are done
                self.step_with_lists(Wanted::default(), |_| Ok(()))?;
            }
        }
    }

    fn observe(&self, Kinetic { before, after, constraint_virial }: Kinetic) -> Result<Observed> {
        let (energies, virial) = (self.backend.evaluation().energies, self.backend.evaluation().virial);
        let (kinetic, virial, cell) = (0.5 * (before + after), virial + constraint_virial, self.backend.cell());
        let work = self.backend.coupling()?;
        Ok(Observed {
            energies,
            kinetic,
            conserved: kinetic + energies.potential() - work.thermostat_work - work.barostat_work,
            temperature: 2.0 * kinetic / (self.degrees_of_freedom.max(1) as f64 * BOLTZMANN),
            pressure: cell.map_or(0.0, |cell| barostat::pressure(kinetic, virial.trace(), cell.volume())),
            cell,
        })
    }

    /// What the thermostat does at this step.
    fn rescaling(&self, thermostat: &Thermostat) -> Rescaling {
        let Thermostat { kind, temperature, coupling_time, every } = *thermostat;
        let bath = Bath { degrees_of_freedom: self.degrees_of_freedom, temperature };
        let interval = f64::from(every) * self.dynamics.timestep;
        match kind {
            ThermostatKind::VRescale => {
                thermostat::velocity_rescale(bath, interval, coupling_time, self.seed, self.step_number())
            }
            ThermostatKind::Berendsen => thermostat::berendsen(bath, interval, coupling_time),
        }
    }

    /// What the barostat does at this step.
    fn dilation(&self, barostat: &Barostat) -> Dilation {
        let Barostat { kind, pressure, coupling_time, compressibility, every } = *barostat;
        let target = Target { pressure, compressibility, coupling_time };
        let interval = f64::from(every) * self.dynamics.timestep;
        match kind {
            BarostatKind::Berendsen => barostat::berendsen(target, interval),
            BarostatKind::CRescale => {
                let temperature = self.dynamics.thermostat.as_ref().map_or(0.0, |t| t.temperature);
                barostat::stochastic_rescale(target, temperature, interval, (self.seed, self.step_number()))
            }
        }
    }
}

/// What happens every so many steps happens at this one.
fn is_due(every: u32, step: u64) -> bool {
    step.is_multiple_of(u64::from(every.max(1)))
}
