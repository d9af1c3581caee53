//! Translation of the parts of temperature and pressure coupling that GROMACS and AMBER have in common.

use super::draft::Draft;
use crate::ensemble::barostat::{Barostat, BarostatKind, PressureCoupling};
use crate::ensemble::schedule::Schedule;
use crate::ensemble::thermostat::{Thermostat, ThermostatKind};
use crate::run::{Dynamics, Velocities};

/// Largest number of steps between couplings in a translated input, equal to the default of `md`.
const EVERY: u32 = 10;
/// Relative tolerance for the rounding of a ratio of decimal numbers.
const ROUNDING: f64 = 1e-9;

/// Temperature (K) of the velocities that are generated if the file requests zero velocities.
pub(super) const COLD: f64 = 1e-3;

/// Returns the velocities that are generated at the temperature of the foreign setting `name`. If the temperature is
/// zero, the velocities are generated at [`COLD`], and `of_zero` is recorded as a remark.
pub(super) fn generated(draft: &mut Draft<'_>, name: &str, of_zero: String) -> Velocities {
    let temperature = draft.real(name);
    draft.carried("stage.temperature", &[name]);
    if temperature == 0.0 {
        draft.differs(name, of_zero);
        return Velocities::Generate { temperature: COLD };
    }
    draft.admitted("stage.temperature", name, temperature);
    Velocities::Generate { temperature }
}

/// Returns the thermostat of a dynamics stage. For Langevin dynamics `coupling_time` (ps) is the inverse of the
/// friction. Weak coupling requires a relaxation time of at least one interval between couplings; a Nosé-Hoover chain
/// requires a period of several intervals.
pub(super) fn thermostat(
    stage: &Dynamics,
    kind: ThermostatKind,
    temperature: f64,
    coupling_time: f64,
    every: Option<u32>,
) -> Thermostat {
    // Langevin friction and noise act at every step
    let most = every.unwrap_or(if kind == ThermostatKind::Langevin { 1 } else { EVERY });
    let every = match kind.facts().min_couplings {
        0.0 => most,
        couplings => intervals(coupling_time, stage.timestep, couplings, most),
    };
    Thermostat::new(kind, temperature, coupling_time, every)
}

/// Pressure coupling that the foreign file requests for a dynamics stage, in internal units.
pub(super) struct Pressure<'a> {
    /// requested barostat, or the most similar barostat that `md` has
    pub(super) kind: BarostatKind,
    pub(super) coupling: PressureCoupling,
    /// pressure along x, y, z, kJ/mol/nm³
    pub(super) pressure: [f64; 3],
    pub(super) surface_tension: f64,
    /// coupling time, ps; ignored for Monte Carlo volume moves
    pub(super) coupling_time: f64,
    pub(super) compressibility: [f64; 3],
    /// number of steps between couplings or Monte Carlo volume moves; `None` if the file does not set this number
    pub(super) every: Option<u32>,
    /// name of the foreign key that selects the method, and name of the foreign key of the coupling time
    pub(super) keys: [&'a str; 2],
}

/// Returns the barostat of a stage. A barostat that samples the correct ensemble gets its temperature from the
/// thermostat of the stage. Stochastic cell rescaling requires several couplings per relaxation time.
pub(super) fn barostat(draft: &mut Draft<'_>, stage: &Dynamics, asked: &Pressure<'_>) -> Barostat {
    let [method, time] = asked.keys;
    let pressure = asked.pressure.map(Schedule::from);
    let Pressure { mut kind, coupling, surface_tension, mut coupling_time, compressibility, .. } = *asked;
    if kind.facts().is_isobaric && stage.thermostat.is_none() {
        draft.differs(method, "the Berendsen barostat is used, because md has no other barostat without a thermostat");
        kind = BarostatKind::Berendsen;
    }
    let most = asked.every.unwrap_or(EVERY).max(1);
    let Some(couplings) = kind.facts().min_couplings else {
        let (coupling_time, every) = (0.0, most);
        return Barostat { kind, coupling, pressure, surface_tension, coupling_time, compressibility, every };
    };
    let every = intervals(coupling_time, stage.timestep, couplings, most);
    let least = couplings * stage.timestep;
    if coupling_time < least * (1.0 - ROUNDING) {
        draft.differs(
            time,
            format!(
                "the coupling time is too short for the time step: {couplings} steps ({least} ps) are used instead"
            ),
        );
        coupling_time = least;
    }
    Barostat { kind, coupling, pressure, surface_tension, coupling_time, compressibility, every }
}

/// Returns the largest number of steps between couplings, at most `most`, such that the coupling time contains at least
/// `couplings` intervals.
fn intervals(coupling_time: f64, timestep: f64, couplings: f64, most: u32) -> u32 {
    let fitting = (coupling_time / (couplings * timestep) * (1.0 + ROUNDING)).floor();
    if fitting >= f64::from(most) { most } else { (fitting as u32).max(1) }
}
