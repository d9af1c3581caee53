//! Radii and lifetimes of pair lists, chosen by the error tolerance and a deterministic cost model.

use crate::constraint::degrees_of_freedom;
use crate::ensemble::exchange::Exchange;
use crate::ensemble::thermostat::Thermostat;
use crate::ensemble::velocities::{kinetic_energy, temperature};
use crate::pair::{BufferEstimate, ListErrors, ListSchedule, filled_volume};
use crate::run::plan::{Plan, TuningMethod, Velocities};
use crate::system::{ForceSettings, ListPolicy, State, System};
use crate::units::BAR;

/// Temperature (K) with which list errors are estimated if the plan has no stage of dynamics. If the plan has no stage
/// of dynamics, the time step is assumed to be [`DEFAULT_TIMESTEP`] (ps).
const DEFAULT_TEMPERATURE: f64 = 300.0;
const DEFAULT_TIMESTEP: f64 = 0.002;
/// Number of steps between rebuilds of the pair list if the non-bonded interactions have no cutoff. Without a cutoff
/// the list contains all pairs, so a rebuild only sorts the atoms.
const UNLIMITED_REBUILD: u32 = 100;

/// Pair list schedules (radii and lifetimes) among which a run may choose.
pub(in crate::run) struct ListChoices<'a> {
    settings: ForceSettings,
    estimate: BufferEstimate<'a>,
    /// longest cutoff for which the minimum-image convention holds in the cell (half of its shortest height), nm;
    /// infinite without a cell
    half: f64,
}

impl<'a> ListChoices<'a> {
    /// Creates the list choices for the settings of the system and the state at the start of a stage.
    pub(in crate::run) fn new(plan: &Plan, system: &'a System, state: &State) -> Self {
        let volume = filled_volume(state.cell.as_ref(), &state.positions, system.settings.longest_cutoff());
        let (temperature, timestep) = hottest(plan, system, state);
        let estimate = BufferEstimate::new(system, volume, temperature, timestep);
        let half = state.cell.map_or(f64::INFINITY, |cell| cell.max_cutoff());
        ListChoices { settings: system.settings, estimate, half }
    }

    /// Returns the list choices for pair lists of single atoms, which a GPU uses.
    pub(in crate::run) fn of_single_atoms(self) -> Self {
        ListChoices { estimate: self.estimate.of_single_atoms(), ..self }
    }

    /// Returns the list schedule that the tuning method `method` chooses without measurements.
    pub(in crate::run) fn by(&self, method: TuningMethod) -> ListSchedule {
        match method {
            TuningMethod::Off => self.conventional(),
            TuningMethod::Model | TuningMethod::Measure => self.all()[0],
        }
    }

    /// Returns the list choices for the cutoffs and Coulomb parameters in `settings`.
    pub(in crate::run) fn with_settings(&self, settings: ForceSettings) -> Self {
        ListChoices { settings, estimate: self.estimate.with_settings(settings), half: self.half }
    }

    fn cutoff(&self) -> f64 {
        self.settings.longest_cutoff()
    }

    /// Returns the largest list radius, nm. With a larger radius, a list could contain two periodic images of the same
    /// neighbour.
    fn largest(&self) -> f64 {
        2.0 * self.half - self.cutoff()
    }

    /// Returns all candidate schedules, ordered by the cost that the cost model predicts, the cheapest first.
    pub(in crate::run) fn all(&self) -> Vec<ListSchedule> {
        match self.settings.list {
            _ if self.cutoff().is_infinite() => {
                let all = f64::INFINITY;
                let [rebuild, prune] = [UNLIMITED_REBUILD; 2];
                vec![ListSchedule { rebuild, prune, outer: all, inner: all, lookahead: 0.0 }]
            }
            ListPolicy::Drift { tolerance, pressure_tolerance, interval } => {
                let tolerance = ListErrors { drift: tolerance, pressure: pressure_tolerance };
                self.estimate.schedules(tolerance, interval, self.largest())
            }
            ListPolicy::Exact { buffer } => vec![ListSchedule::exact((self.cutoff() + buffer).min(self.largest()))],
        }
    }

    /// Returns the list schedule that a run without tuning uses: a single list without pruning, with a lifetime of 20
    /// steps unless the input file sets the lifetime.
    pub(in crate::run) fn conventional(&self) -> ListSchedule {
        self.fixed(|tolerance, interval| self.estimate.conventional(tolerance, interval))
    }

    /// Returns the list schedule with the lifetimes of `other`, and with radii computed for the cutoffs and parameters
    /// of `self`.
    pub(in crate::run) fn with_lifetimes_of(&self, other: &ListSchedule) -> ListSchedule {
        self.fixed(|tolerance, _| self.estimate.with_lifetimes(tolerance, other.rebuild, other.prune))
    }

    /// Returns the list schedule that the function `wanted` creates from the error tolerances and the lifetime in the
    /// settings. If the lifetimes of the lists are not fixed or the list radius does not fit into the cell, returns the
    /// cheapest list schedule in the cost model.
    fn fixed(&self, wanted: impl FnOnce(ListErrors, Option<u32>) -> ListSchedule) -> ListSchedule {
        let wanted = match self.settings.list {
            ListPolicy::Drift { tolerance, pressure_tolerance, interval } if self.cutoff().is_finite() => {
                Some(wanted(ListErrors { drift: tolerance, pressure: pressure_tolerance }, interval))
            }
            _ => None,
        };
        wanted.filter(|lists| lists.outer <= self.largest()).unwrap_or_else(|| self.all()[0])
    }

    /// Describes a list schedule, and the estimated errors that are caused by pairs missing from the lists.
    pub(in crate::run) fn describe(&self, lists: &ListSchedule) -> String {
        let ListSchedule { rebuild, prune, outer, inner, .. } = lists;
        if outer.is_infinite() {
            return "all pairs".to_owned();
        }
        if lists.is_exact() {
            return format!(
                "list radius {outer:.3} nm, rebuilt when an atom has moved so far that a pair could be missed"
            );
        }
        let ListErrors { drift, pressure } = self.estimate.errors_of(lists);
        format!(
            "searched every {rebuild} steps to {outer:.3} nm, pruned every {prune} steps to {inner:.3} nm; estimated \
             effect of missed pairs: energy drift of at most {drift:.1e} kJ/mol/ps per atom, pressure error of at \
             most {:.2} bar",
            pressure / BAR
        )
    }

    /// Estimates the clock cycles per step that pair interactions, pair searches and prunings take with the schedule
    /// `lists`, summed over all threads.
    pub(in crate::run) fn cycles(&self, lists: &ListSchedule) -> f64 {
        self.estimate.cycles(lists)
    }
}

/// Returns the radii and lifetimes of the pair lists that the plan's tuning method chooses before any measurement.
pub fn schedule(plan: &Plan, system: &System, state: &State) -> ListSchedule {
    ListChoices::new(plan, system, state).by(plan.run.tuning)
}

/// Returns radii and lifetimes for lists of single atoms, which a GPU uses, before any measurement.
pub(in crate::run) fn single_atom_schedule(plan: &Plan, system: &System, state: &State) -> ListSchedule {
    ListChoices::new(plan, system, state).of_single_atoms().by(plan.run.tuning)
}

/// Describes the pair lists with which a run on the CPU begins, before any measurement.
pub fn describe_lists(plan: &Plan, system: &System, state: &State) -> String {
    let choices = ListChoices::new(plan, system, state);
    choices.describe(&choices.by(plan.run.tuning))
}

/// Returns the highest temperature (K) and the longest time step (ps) of all stages, with which list errors are
/// estimated. If a stage starts with the velocities of `state`, the temperature of these velocities is included.
fn hottest(plan: &Plan, system: &System, state: &State) -> (f64, f64) {
    let present = |removed| {
        let masses: Vec<f64> = system.topology.atoms.iter().map(|atom| atom.mass).collect();
        let free = degrees_of_freedom(&system.topology, &system.constraints, removed);
        temperature(kinetic_energy(&masses, &state.velocities), free)
    };
    let mut found: Option<(f64, f64)> = None;
    let exchanged = plan.exchange.as_ref().map_or(0.0, Exchange::highest_temperature);
    for (_, dynamics) in plan.dynamics() {
        let bath = dynamics.thermostat.as_ref().map_or(0.0, Thermostat::highest_temperature);
        let start = match dynamics.velocities {
            Velocities::Generate { temperature } => temperature,
            Velocities::File => present(dynamics.removed_motion(state.cell.is_some())),
        };
        let (temperature, timestep) = found.unwrap_or((0.0, 0.0));
        found = Some((temperature.max(bath).max(start).max(exchanged), timestep.max(dynamics.timestep)));
    }
    let (temperature, timestep) = found.unwrap_or((DEFAULT_TEMPERATURE, DEFAULT_TIMESTEP));
    (if temperature > 0.0 { temperature } else { DEFAULT_TEMPERATURE }, timestep)
}
