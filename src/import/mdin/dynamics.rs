//! Time step, velocities, thermostat, barostat.

use super::{Draft, unexpected};
use crate::ensemble::barostat::BarostatKind;
use crate::ensemble::thermostat::ThermostatKind;
use crate::import::coupling::{self, Pressure};
use crate::run::{Dynamics, Velocities};
use crate::units::BAR;

/// Velocities of zero are drawn at this temperature, K.
const COLD: f64 = 1e-3;
/// Compressibilities are in units of 1e-6/bar.
const PER_MEGABAR: f64 = 1e6;

pub(super) fn translate(draft: &mut Draft<'_>) -> Dynamics {
    draft.carried("stage.kind", &["imin"]);
    let timestep = draft.real("dt");
    draft.admitted("stage.timestep", "dt", timestep);
    draft.carried("stage.timestep", &["dt"]);
    let mut stage = Dynamics { steps: draft.count("nstlim"), timestep, ..Dynamics::default() };
    draft.carried("stage.steps", &["nstlim"]);
    // where the time step is wrong there is a problem already, and no interval fits
    if timestep > 0.0 {
        temperature(draft, &mut stage);
        pressure(draft, &mut stage);
    }
    stage.com_removal = com_removal(draft, &stage);
    stage.velocities = velocities(draft);
    if stage.velocities != Velocities::File || draft.is_given("ig") {
        seed(draft);
    }
    stage
}

fn com_removal(draft: &mut Draft<'_>, stage: &Dynamics) -> Option<u32> {
    let key = "stage.com_removal";
    if stage.thermostat.as_ref().is_some_and(|thermostat| thermostat.kind == ThermostatKind::Langevin) {
        // AMBER moves positions only: friction and noise act on the centre of mass, too
        draft.carried_as(key, &["nscm", "ntt"], "velocities keep it in Langevin dynamics");
        return None;
    }
    let every = draft.count("nscm");
    draft.carried(key, &["nscm"]);
    (every > 0).then(|| u32::try_from(every).unwrap_or(u32::MAX))
}

/// `ntx` of coordinates without velocities; others are read, and used in a restart.
const WITHOUT_VELOCITIES: [i64; 2] = [1, 2];

fn velocities(draft: &mut Draft<'_>) -> Velocities {
    let [restart, kind] = ["irest", "ntx"].map(|name| draft.whole(name));
    draft.carried("stage.velocities", &["irest", "ntx"]);
    if restart != 0 {
        if WITHOUT_VELOCITIES.contains(&kind) {
            unexpected(draft, "irest", "a restart needs velocities: set ntx = 5");
        }
        return Velocities::File;
    }
    let temperature = draft.real("tempi");
    draft.carried("stage.temperature", &["tempi"]);
    if temperature == 0.0 {
        draft.differs("tempi", format!("velocities are drawn at {COLD} K; AMBER begins with those that forces give"));
        return Velocities::Generate { temperature: COLD };
    }
    draft.admitted("stage.temperature", "tempi", temperature);
    Velocities::Generate { temperature }
}

fn seed(draft: &mut Draft<'_>) {
    match u64::try_from(draft.whole("ig")) {
        Ok(seed) => {
            draft.plan.run.seed = seed;
            draft.carried("run.seed", &["ig"]);
        }
        Err(_) => draft.differs("ig", "a random seed there; here run.seed = 1 until you change it"),
    }
}

fn temperature(draft: &mut Draft<'_>, stage: &mut Dynamics) {
    let (kind, time) = match draft.whole("ntt") {
        0 => {
            draft.carried("stage.thermostat", &["ntt"]);
            return;
        }
        1 => (ThermostatKind::Berendsen, "tautp"),
        11 => (ThermostatKind::VRescale, "tautp"),
        2 => {
            draft.differs("ntt", "single atoms collide, each after vrand steps on average");
            (ThermostatKind::Andersen, "vrand")
        }
        9 | 10 => {
            draft.differs("ntt", "v-rescale is used, which samples the same ensemble");
            (ThermostatKind::VRescale, "tautp")
        }
        3 => {
            let friction = draft.real("gamma_ln");
            if friction == 0.0 {
                draft.carried_as("stage.thermostat", &["ntt", "gamma_ln"], "no friction, no thermostat");
                return;
            }
            (ThermostatKind::Langevin, "gamma_ln")
        }
        _ => {
            unexpected(draft, "ntt", "expected 0, 1, 2, 3, 9, 10 or 11");
            return;
        }
    };
    let temperature = draft.real("temp0");
    draft.admitted("stage.thermostat.temperature", "temp0", temperature);
    let value = draft.real(time);
    draft.admitted("stage.thermostat.coupling_time", time, value);
    let coupling_time = match kind {
        ThermostatKind::Langevin => value.recip(),
        ThermostatKind::Andersen => value * stage.timestep,
        _ => value,
    };
    draft.carried("stage.thermostat", &["ntt", "temp0", time]);
    stage.thermostat = Some(coupling::thermostat(stage, kind, (temperature, coupling_time), None));
}

fn pressure(draft: &mut Draft<'_>, stage: &mut Dynamics) {
    match draft.whole("ntp") {
        0 => {
            draft.carried("stage.barostat", &["ntp"]);
            return;
        }
        1 => {}
        2..=4 => draft.differs("ntp", "md scales the cell isotropically"),
        _ => unexpected(draft, "ntp", "expected 0 (none), 1, 2, 3 or 4"),
    }
    let kind = match draft.whole("barostat") {
        1 => BarostatKind::Berendsen,
        2 => {
            draft.differs("barostat", "c-rescale is used, which samples the same ensemble");
            BarostatKind::CRescale
        }
        _ => {
            unexpected(draft, "barostat", "expected 1 (Berendsen) or 2 (Monte Carlo)");
            return;
        }
    };
    let [pressure, coupling_time, compressibility] = ["pres0", "taup", "comp"].map(|name| draft.real(name));
    let compressibility = compressibility / PER_MEGABAR * (1.0 / BAR);
    draft.admitted("stage.barostat.coupling_time", "taup", coupling_time);
    draft.admitted("stage.barostat.compressibility", "comp", compressibility);
    draft.carried("stage.barostat", &["ntp", "barostat", "pres0", "taup", "comp"]);
    let asked = Pressure {
        kind,
        pressure: pressure * BAR,
        coupling_time,
        compressibility,
        every: None,
        keys: ["barostat", "taup"],
    };
    stage.barostat = Some(coupling::barostat(draft, stage, &asked));
}
