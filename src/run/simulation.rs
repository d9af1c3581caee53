//! One simulation: a backend, its pair lists' ages, and the order of a step.

use super::plan::{Barostat, BarostatKind, Dynamics, Thermostat, ThermostatKind};
use crate::backend::{Advance, Backend, Energies, Moment, Strain, Workload};
use crate::ensemble::barostat::{self, Scaling, Target};
use crate::ensemble::thermostat::{self, Bath, Rescaling};
use crate::error::{Error, Result};
use crate::pair::ListSchedule;
use crate::system::{Coupling, State, System};
use crate::units::BOLTZMANN;
use crate::vec3::Mat3;

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
    /// energies, temperature, pressure
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
}

/// A stage of dynamics under way. Steps count from the start of the stage.
pub struct Simulation<'a, B> {
    backend: B,
    system: &'a System,
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
    /// but for the thermostat's work, which the backend sums up
    coupling: Coupling,
    searches: u64,
}

impl<'a, B: Backend> Simulation<'a, B> {
    /// Start, or go on, from `state` after `local_step` steps of the stage, which began at `first_time` (ps); `origins`
    /// are those of a checkpoint.
    pub fn new(
        mut backend: B,
        (system, dynamics): (&'a System, &'a Dynamics),
        (schedule, seed, degrees_of_freedom): (ListSchedule, u64, usize),
        state: &State,
        (local_step, first_time): (u64, f64),
        origins: Option<ListOrigins>,
    ) -> Result<Self> {
        if let Some(origins) = &origins {
            backend.upload(&origins.rebuilt)?;
            backend.rebuild_pairs();
            backend.upload(&origins.pruned)?;
            backend.prune_pairs();
        }
        backend.upload(state)?;
        Ok(Simulation {
            backend,
            system,
            dynamics,
            schedule,
            seed,
            degrees_of_freedom,
            local_step,
            first_step: state.step - local_step,
            first_time,
            coupling: state.coupling,
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

    /// Copy the state at the start of the next step.
    pub fn download(&self, state: &mut State) -> Result<()> {
        self.backend.download(state)?;
        state.step = self.step_number();
        state.time = self.time();
        state.coupling = Coupling { thermostat_work: state.coupling.thermostat_work, ..self.coupling };
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
    /// the move, couplings. This is the only place where their order is written.
    pub fn step(&mut self, wanted: Wanted, mut observe: impl FnMut(&Self) -> Result<()>) -> Result<Observed> {
        self.update_lists();
        let step = self.local_step;
        let due = |every: u32| step.is_multiple_of(u64::from(every.max(1)));
        let pressure_due = self.dynamics.barostat.is_some_and(|b| due(b.every) && step > 0);
        let virial = wanted.energies || pressure_due || self.coupling.unsettled != 0.0;
        self.backend.forces(Workload { energy: wanted.energies, virial })?;
        observe(self)?;
        let thermostat = self.dynamics.thermostat.as_ref().filter(|t| due(t.every) && step > 0);
        let (kinetic, coupled) = (wanted.energies || pressure_due, thermostat.is_some());
        let kinetic = self.backend.advance(Advance { timestep: self.dynamics.timestep, virial, kinetic, coupled })?;
        let total_virial = self.backend.evaluation().virial + kinetic.constraint_virial;
        self.settle_pressure_work(total_virial);
        let thermostat_work = if wanted.energies { self.backend.thermostat_work()? } else { 0.0 };
        let observed = self.observe(0.5 * (kinetic.before + kinetic.after), total_virial, thermostat_work);
        if let Some(thermostat) = thermostat {
            self.backend.couple(self.rescaling(thermostat))?;
        }
        if let Some(barostat) = self.dynamics.barostat.filter(|_| pressure_due) {
            self.couple_pressure(&barostat, observed.pressure, total_virial)?;
        }
        if self.dynamics.com_removal.is_some_and(due) {
            self.backend.remove_motion();
        }
        self.local_step += 1;
        Ok(observed)
    }

    fn search_is_scheduled(&self) -> bool {
        let rebuild = u64::from(self.schedule.rebuild);
        self.local_step == 0 || (!self.schedule.is_exact() && self.local_step.is_multiple_of(rebuild))
    }

    /// Pairs further apart than the list's radius R at the search are now, in a configuration scaled by μ, at least
    /// μR − 2d apart, where d is the longest way of an atom: none is within the cutoff while that exceeds it.
    fn pair_may_be_missed(&self) -> bool {
        let Strain { scale, displacement } = self.backend.strain();
        let settings = &self.system.settings;
        let cutoff = settings.cutoff.unwrap_or(f64::INFINITY).max(settings.cutoff_lj.unwrap_or(f64::INFINITY));
        scale * self.schedule.outer - 2.0 * displacement < cutoff
    }

    fn update_lists(&mut self) {
        let rebuild = self.search_is_scheduled() || (self.schedule.is_exact() && self.pair_may_be_missed());
        if rebuild {
            self.searches += 1;
            self.backend.rebuild_pairs();
        }
        if rebuild || (!self.schedule.is_exact() && self.local_step.is_multiple_of(u64::from(self.schedule.prune))) {
            self.backend.prune_pairs();
        }
    }

    fn observe(&self, kinetic: f64, virial: Mat3, thermostat_work: f64) -> Observed {
        let energies = self.backend.evaluation().energies;
        let volume = self.cell_volume();
        Observed {
            energies,
            kinetic,
            conserved: kinetic + energies.potential() - thermostat_work - self.coupling.barostat_work,
            temperature: 2.0 * kinetic / (self.degrees_of_freedom.max(1) as f64 * BOLTZMANN),
            pressure: volume.map_or(0.0, |volume| barostat::pressure(kinetic, virial.trace(), volume)),
        }
    }

    fn cell_volume(&self) -> Option<f64> {
        self.backend.cell().map(|cell| cell.volume())
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

    /// The second half of the work of a scaling, with the forces after it.
    fn settle_pressure_work(&mut self, virial: Mat3) {
        let change = std::mem::take(&mut self.coupling.unsettled);
        if change != 0.0 {
            let scaled = self.scaled_virial(virial);
            self.coupling.barostat_work += Scaling::half_potential_work(change, scaled);
        }
    }

    /// Trace of the virial without the centripetal part of constraints, which keep their groups from being scaled.
    fn scaled_virial(&mut self, virial: Mat3) -> f64 {
        virial.trace() + 2.0 * self.backend.internal_kinetic_energy()
    }

    fn couple_pressure(&mut self, barostat: &Barostat, measured: f64, virial: Mat3) -> Result<()> {
        let Barostat { kind, pressure, coupling_time, compressibility, every } = *barostat;
        let Some(volume) = self.cell_volume() else { return Ok(()) };
        let target = Target { pressure, compressibility, coupling_time };
        let interval = f64::from(every) * self.dynamics.timestep;
        let scaling = match kind {
            BarostatKind::Berendsen => barostat::berendsen(target, measured, interval)?,
            BarostatKind::CRescale => {
                let temperature = self.dynamics.thermostat.as_ref().map_or(0.0, |t| t.temperature);
                let key = (self.seed, self.step_number());
                barostat::stochastic_rescale(target, measured, volume, temperature, interval, key)?
            }
        };
        let kinetic = self.backend.kinetic_energy();
        let scaled = self.scaled_virial(virial);
        let Scaling { length_factor, velocity_factor } = scaling;
        self.coupling.barostat_work += scaling.kinetic_work(kinetic);
        self.coupling.unsettled = length_factor.ln();
        self.coupling.barostat_work += Scaling::half_potential_work(self.coupling.unsettled, scaled);
        self.backend.scale_cell(length_factor)?;
        self.backend.scale_velocities(velocity_factor);
        self.check_cell()
    }

    /// The cell may move while grid and cutoff stay: stop before an atom meets two images of another.
    fn check_cell(&self) -> Result<()> {
        let settings = &self.system.settings;
        let cutoff = settings.cutoff.unwrap_or(0.0).max(settings.cutoff_lj.unwrap_or(0.0));
        match self.backend.cell() {
            Some(cell) if cutoff > cell.max_cutoff() => {
                let half = cell.max_cutoff();
                let what = format!(
                    "the cell has shrunk so far that the cutoff of {cutoff} nm exceeds half of it ({half:.3} nm); \
                     start from a larger cell or a denser system"
                );
                Err(Error::unstable(what, []))
            }
            _ => Ok(()),
        }
    }
}
