//! Translation of time step, velocities, thermostat and barostat of AMBER.

use super::{Draft, restraints, unexpected};
use crate::ensemble::barostat::{BarostatKind, PressureCoupling};
use crate::ensemble::schedule::Schedule;
use crate::ensemble::thermostat::ThermostatKind;
use crate::import::coupling::{self, COLD, Pressure, generated};
use crate::run::{Dynamics, Velocities};
use crate::units::BAR;

/// Number of bar in a megabar: AMBER's unit of compressibilities is 1/Mbar = 1e-6/bar.
const PER_MEGABAR: f64 = 1e6;
/// 1 mN/m in kJ/mol/nm²: 1 mN/m is 10 bar nm.
const MILLINEWTON_PER_METRE: f64 = 10.0 * BAR;

pub(super) fn translate(draft: &mut Draft<'_>) -> Dynamics {
    draft.carried("stage.kind", &["imin"]);
    let timestep = draft.quantity("stage.timestep", "dt");
    let mut stage = Dynamics { steps: draft.count("nstlim"), timestep, ..Dynamics::default() };
    draft.carried("stage.steps", &["nstlim"]);
    // if the time step is invalid, a problem has been recorded, and intervals cannot be computed
    if timestep > 0.0 {
        temperature(draft, &mut stage);
        pressure(draft, &mut stage);
    }
    stage.com_removal = com_removal(draft, &stage);
    stage.velocities = velocities(draft);
    let is_random = stage.thermostat.as_ref().is_some_and(|thermostat| thermostat.kind.facts().is_random);
    if stage.velocities != Velocities::File || is_random || stage.barostat.is_some() || draft.is_given("ig") {
        seed(draft);
    }
    stage
}

fn com_removal(draft: &mut Draft<'_>, stage: &Dynamics) -> Option<u32> {
    let key = "stage.com_removal";
    if stage.thermostat.as_ref().is_some_and(|thermostat| thermostat.kind == ThermostatKind::Langevin) {
        // AMBER recenters only positions, because in Langevin dynamics friction and noise act on the center of mass,
        // too
        draft.carried_as(key, &["nscm", "ntt"], "Langevin dynamics keeps the velocity of the center of mass");
        return None;
    }
    if draft.whole("ntr") != 0 {
        // `mdread2` of sander sets nscm = 0
        draft.carried_as(key, &["nscm", "ntr"], "AMBER does not remove the motion of the center of mass with ntr = 1");
        return None;
    }
    let every = draft.count("nscm");
    draft.carried(key, &["nscm"]);
    (every > 0).then(|| u32::try_from(every).unwrap_or(u32::MAX))
}

/// Values of `ntx` for which AMBER reads no velocities. With other values, AMBER reads velocities, and uses them in a
/// restart.
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
    let of_zero = format!("velocities are generated at {COLD} K; AMBER starts with velocities from the forces");
    generated(draft, "tempi", of_zero)
}

fn seed(draft: &mut Draft<'_>) {
    match u64::try_from(draft.whole("ig")) {
        Ok(seed) => draft.plan.run.seed = seed,
        Err(_) => draft.random_seed = true,
    }
    draft.carried("run.seed", &["ig"]);
}

fn temperature(draft: &mut Draft<'_>, stage: &mut Dynamics) {
    let (kind, time) = match draft.whole("ntt") {
        0 => return draft.carried("stage.thermostat", &["ntt"]),
        1 => (ThermostatKind::Berendsen, "tautp"),
        11 => (ThermostatKind::VRescale, "tautp"),
        2 => {
            draft.differs("ntt", "in md, single atoms collide at random, each after vrand steps on average");
            (ThermostatKind::Andersen, "vrand")
        }
        9 | 10 => {
            draft.differs("ntt", "md uses v-rescale, which samples the same ensemble");
            (ThermostatKind::VRescale, "tautp")
        }
        3 => {
            let friction = draft.real("gamma_ln");
            if friction == 0.0 {
                let words = "without friction there is no thermostat";
                return draft.carried_as("stage.thermostat", &["ntt", "gamma_ln"], words);
            }
            (ThermostatKind::Langevin, "gamma_ln")
        }
        _ => return unexpected(draft, "ntt", "expected 0, 1, 2, 3, 9, 10 or 11"),
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
    stage.thermostat = Some(coupling::thermostat(stage, kind, temperature, coupling_time, None));
}

/// Translates the ramp of the target temperature that `&wt` namelists of the type TEMP0 describe. Each part of the ramp
/// begins at the end of the part before, and the first part begins with the run. At a step of two parts, the later part
/// applies; after the last part, temp0 applies (subroutine `modwt` of sander and pmemd). Returns whether the ramp is
/// translated.
pub(super) fn ramp(draft: &mut Draft<'_>, stage: &mut Dynamics) -> bool {
    let timestep = stage.timestep;
    let (steps, after) = (draft.whole("nstlim") as f64, draft.real("temp0"));
    let is_on = restraints::are_on(draft);
    let parts = restraints::ramps(draft.others()).filter(|parts| !parts.is_empty() && is_on);
    let (Some(parts), Some(thermostat)) = (parts, &mut stage.thermostat) else { return false };
    // step, and temperature at this step
    let mut points: Vec<(f64, f64)> = vec![];
    for [first, last, from, to] in parts {
        let end = points.last().map_or(0.0, |&(end, _)| end);
        if !(0.0..=1.0).contains(&(first - end)) || last <= first {
            return false;
        }
        match points[..] {
            [] => points.push((0.0, from)),
            [.., (_, value)] if value == from => {}
            [.., (before, earlier), (end, value)] if first == end => {
                // the part before ends one step earlier
                points.pop();
                if end - 1.0 > before {
                    points.push((end - 1.0, value - (value - earlier) / (end - before)));
                }
                points.push((first, from));
            }
            _ => points.push((first, from)),
        }
        points.push((last, to));
    }
    if let Some(&(end, value)) = points.last().filter(|&&(end, _)| end < steps)
        && value != after
    {
        points.push((end + 1.0, after));
    }
    let points = points.into_iter().map(|(step, value)| (step * timestep, value.max(COLD)));
    let Some(schedule) = Schedule::new(points.collect()) else { return false };
    thermostat.temperature = schedule;
    draft.carried_as("stage.thermostat.temperature", &["nmropt"], "the ramp of the namelists &wt with TEMP0");
    true
}

fn pressure(draft: &mut Draft<'_>, stage: &mut Dynamics) {
    let coupling = match draft.whole("ntp") {
        0 => return draft.carried("stage.barostat", &["ntp"]),
        1 => PressureCoupling::Isotropic,
        2 => PressureCoupling::Anisotropic,
        3 => PressureCoupling::SemiIsotropic,
        4 => {
            draft.differs("ntp", "md has no target volume, and controls the pressure instead");
            PressureCoupling::Isotropic
        }
        _ => return unexpected(draft, "ntp", "expected 0 (none), 1, 2, 3 or 4"),
    };
    let kind = match draft.whole("barostat") {
        1 => BarostatKind::Berendsen,
        2 => BarostatKind::MonteCarlo,
        _ => return unexpected(draft, "barostat", "expected 1 (Berendsen) or 2 (Monte Carlo)"),
    };
    let (coupling, surface_tension) = surface_tension(draft, coupling);
    let [pressure, compressibility] = ["pres0", "comp"].map(|name| draft.real(name));
    let compressibility = compressibility / PER_MEGABAR * (1.0 / BAR);
    if compressibility <= 0.0 {
        unexpected(draft, "comp", "expected a number greater than zero");
    }
    let (time, every) = match kind {
        BarostatKind::MonteCarlo => ("mcbarint", u32::try_from(draft.count("mcbarint")).ok()),
        _ => ("taup", None),
    };
    let coupling_time = if kind == BarostatKind::MonteCarlo { 1.0 } else { draft.real("taup") };
    draft.admitted("stage.barostat.coupling_time", "taup", coupling_time);
    draft.carried("stage.barostat", &["ntp", "barostat", "pres0", time, "comp"]);
    let asked = Pressure {
        kind,
        coupling,
        pressure: [pressure * BAR; 3],
        surface_tension,
        coupling_time,
        compressibility: [compressibility; 3],
        every,
        keys: ["barostat", "taup"],
    };
    stage.barostat = Some(coupling::barostat(draft, stage, &asked));
}

/// Returns the directions that the barostat scales together, and the total surface tension γ₀ (kJ/mol/nm²) of all
/// interfaces.
fn surface_tension(draft: &mut Draft<'_>, coupling: PressureCoupling) -> (PressureCoupling, f64) {
    match draft.whole("csurften") {
        0 => {
            draft.carried("stage.barostat.surface_tension", &["csurften"]);
            return (coupling, 0.0);
        }
        3 => {}
        1 | 2 => {
            let help = "rotate the system so that interfaces are normal to z, and set csurften = 3";
            draft.problem("csurften", "md has interfaces only in the plane of x and y".to_owned(), help);
        }
        _ => unexpected(draft, "csurften", "expected 0 (none), 1, 2 or 3"),
    }
    if coupling != PressureCoupling::SemiIsotropic {
        draft.differs("ntp", "md scales x and y together, as with ntp = 3, because a surface tension needs this");
    }
    let [tension, interfaces] = ["gamma_ten", "ninterface"].map(|name| draft.real(name));
    draft.carried_as(
        "stage.barostat.surface_tension",
        &["csurften", "gamma_ten", "ninterface"],
        "summed over all interfaces",
    );
    // gamma_ten is the tension of one interface, in dyn/cm = mN/m
    (PressureCoupling::SemiIsotropic, tension * interfaces * MILLINEWTON_PER_METRE)
}
