//! Temperature and pressure coupling: what both programs share.

use super::draft::Draft;
use crate::ensemble::barostat::{Barostat, BarostatKind, LEAST_INTERVALS, PressureCoupling};
use crate::ensemble::nose_hoover::LEAST_COUPLINGS;
use crate::ensemble::schedule::Schedule;
use crate::ensemble::thermostat::{Thermostat, ThermostatKind};
use crate::run::Dynamics;

/// Steps between couplings, at most: the default of `md`.
const EVERY: u32 = 10;
/// Room for the rounding of a ratio of decimal numbers.
const ROUNDING: f64 = 1e-9;

/// A thermostat of a dynamics stage; of Langevin dynamics the time is the inverse of the friction. Weak coupling needs a
/// relaxation of at least one interval, a chain a period of more.
pub(super) fn thermostat(
    stage: &Dynamics,
    kind: ThermostatKind,
    (temperature, coupling_time): (f64, f64),
    every: Option<u32>,
) -> Thermostat {
    // friction and noise act at every step
    let most = every.unwrap_or(if kind == ThermostatKind::Langevin { 1 } else { EVERY });
    let every = match kind {
        ThermostatKind::Berendsen => intervals(coupling_time, stage.timestep, 1.0, most),
        ThermostatKind::NoseHoover => intervals(coupling_time, stage.timestep, LEAST_COUPLINGS, most),
        ThermostatKind::VRescale | ThermostatKind::Langevin | ThermostatKind::Andersen => most,
    };
    Thermostat::new(kind, temperature, coupling_time, every)
}

/// Pressure coupling of a dynamics stage as asked for, in internal units.
pub(super) struct Pressure<'a> {
    /// the method that `md` has, or the nearest
    pub(super) kind: BarostatKind,
    pub(super) coupling: PressureCoupling,
    /// along x, y, z
    pub(super) pressure: [f64; 3],
    pub(super) surface_tension: f64,
    /// of no meaning where trials are made
    pub(super) coupling_time: f64,
    pub(super) compressibility: [f64; 3],
    /// steps between couplings or trials where the file says
    pub(super) every: Option<u32>,
    /// the key that names the method, and that of the coupling time
    pub(super) keys: [&'a str; 2],
}

/// The barostat of a stage. The correct ensemble takes its temperature from a thermostat, and stochastic cell rescaling wants
/// several couplings in a relaxation time.
pub(super) fn barostat(draft: &mut Draft<'_>, stage: &Dynamics, asked: &Pressure<'_>) -> Barostat {
    let [method, time] = asked.keys;
    let pressure = asked.pressure.map(Schedule::from);
    let Pressure { mut kind, coupling, surface_tension, mut coupling_time, compressibility, .. } = *asked;
    if kind != BarostatKind::Berendsen && stage.thermostat.is_none() {
        draft.differs(method, "without a thermostat md has the Berendsen barostat only, which is used instead");
        kind = BarostatKind::Berendsen;
    }
    let most = asked.every.unwrap_or(EVERY).max(1);
    if kind == BarostatKind::MonteCarlo {
        let (coupling_time, every) = (0.0, most);
        return Barostat { kind, coupling, pressure, surface_tension, coupling_time, compressibility, every };
    }
    let couplings = if kind == BarostatKind::CRescale { LEAST_INTERVALS } else { 1.0 };
    let every = intervals(coupling_time, stage.timestep, couplings, most);
    let least = couplings * stage.timestep;
    if coupling_time < least * (1.0 - ROUNDING) {
        draft.differs(time, format!("too short for the time step: {couplings} steps, {least} ps, are used instead"));
        coupling_time = least;
    }
    Barostat { kind, coupling, pressure, surface_tension, coupling_time, compressibility, every }
}

/// The largest number of steps between couplings, up to `most`, of which so many fit into the coupling time.
fn intervals(coupling_time: f64, timestep: f64, couplings: f64, most: u32) -> u32 {
    let fitting = (coupling_time / (couplings * timestep) * (1.0 + ROUNDING)).floor();
    if fitting >= f64::from(most) { most } else { (fitting as u32).max(1) }
}
