//! Translation of time step, velocities and barostat of GROMACS.

use super::groups::Groups;
use super::{Draft, steps, temperature};
use crate::ensemble::barostat::{BarostatKind, PressureCoupling};
use crate::import::coupling::{self, COLD, Pressure, generated};
use crate::run::{Dynamics, Velocities};
use crate::units::BAR;

pub(super) fn translate(draft: &mut Draft<'_>, groups: &Groups) -> Dynamics {
    draft.carried("stage.kind", &["integrator"]);
    if draft.word("integrator").starts_with("mdvv") {
        draft.differs("integrator", "md uses leapfrog, with the same positions, but with velocities at half steps");
    }
    let timestep = draft.quantity("stage.timestep", "dt");
    let mut stage = Dynamics { steps: steps(draft), timestep, ..Dynamics::default() };
    stage.velocities = velocities(draft);
    // if the time step is invalid, a problem has been recorded, and intervals cannot be computed
    if timestep > 0.0 {
        temperature::translate(draft, &mut stage, groups);
        pressure(draft, &mut stage);
    }
    stage.com_removal = com_removal(draft, &stage);
    seed(draft, &stage);
    stage
}

fn velocities(draft: &mut Draft<'_>) -> Velocities {
    if !draft.flag("gen-vel") {
        draft.carried("stage.velocities", &["gen-vel", "continuation"]);
        return Velocities::File;
    }
    draft.carried("stage.velocities", &["gen-vel"]);
    let of_zero = format!("velocities are generated at {COLD} K, because md has no zero velocities");
    generated(draft, "gen-temp", of_zero)
}

fn seed(draft: &mut Draft<'_>, stage: &Dynamics) {
    let generated = stage.velocities != Velocities::File;
    let seeds = ["gen-seed", "ld-seed"].map(|name| (name, draft.whole(name)));
    let coupled = stage.thermostat.is_some() || stage.barostat.is_some();
    let used = seeds.into_iter().filter(|(name, _)| if *name == "gen-seed" { generated } else { coupled });
    let used: Vec<(&str, i64)> = used.collect();
    let Some((name, seed)) = used.iter().find(|(_, seed)| *seed >= 0) else {
        if !used.is_empty() {
            draft.random_seed = true;
            draft.carried("run.seed", &used.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        }
        return;
    };
    draft.plan.run.seed = seed.unsigned_abs();
    draft.carried("run.seed", &[name]);
    for (other, value) in used.iter().filter(|(other, _)| other != name) {
        if value != seed && draft.is_given(other) {
            draft.differs(other, "md has only one seed for all random numbers");
        } else {
            draft.no_use(other, "md uses the same seed");
        }
    }
}

fn com_removal(draft: &mut Draft<'_>, stage: &Dynamics) -> Option<u32> {
    let key = "stage.com_removal";
    let every = draft.whole("nstcomm").unsigned_abs();
    let mode = draft.word("comm-mode");
    draft.carried(key, &["comm-mode", "nstcomm"]);
    if mode == "none" || every == 0 {
        return None;
    }
    if stage.thermostat.as_ref().is_some_and(|thermostat| thermostat.kind.facts().refreshes) {
        let text = "the motion of the center of mass is not removed, because the thermostat also acts on this motion";
        draft.carried_as(key, &["comm-mode", "nstcomm"], text);
        return None;
    }
    match mode.as_str() {
        "linear" if draft.word("pbc") == "no" => draft.differs("comm-mode", "without a cell md also removes rotation"),
        "linear" => {}
        "angular" if draft.word("pbc") == "no" => {}
        "angular" => {
            draft.differs("comm-mode", "md removes rotation only without a cell, and otherwise only translation")
        }
        "linearaccelerationcorrection" => {
            draft.differs("comm-mode", "md removes translation, without the correction for acceleration")
        }
        _ => draft.unsupported("comm-mode", &mode, "expected Linear, Angular or None"),
    }
    let groups = draft.words("comm-grps");
    if groups.iter().any(|group| !group.eq_ignore_ascii_case("system")) {
        draft.differs("comm-grps", "md removes the motion of the whole system");
    } else if !groups.is_empty() {
        draft.carried(key, &["comm-mode", "nstcomm", "comm-grps"]);
    }
    Some(u32::try_from(every).unwrap_or(u32::MAX))
}

/// Returns the number of steps between couplings from the key `name`; `None` if the value is zero or negative, such as
/// the default −1.
pub(super) fn interval(draft: &mut Draft<'_>, name: &str) -> Option<u32> {
    let steps = draft.whole(name);
    if steps <= 0 {
        return None;
    }
    draft.no_use(name, "md uses the value as the interval of the coupling, unless the coupling time is too short");
    u32::try_from(steps).ok()
}

fn pressure(draft: &mut Draft<'_>, stage: &mut Dynamics) {
    let method = draft.word("pcoupl");
    let kind = match method.as_str() {
        "no" => return draft.carried("stage.barostat", &["pcoupl"]),
        "crescale" | "parrinellorahman" | "mttk" => BarostatKind::CRescale,
        "berendsen" => BarostatKind::Berendsen,
        other => {
            return draft.unsupported("pcoupl", other, "expected C-rescale, Berendsen, Parrinello-Rahman or no");
        }
    };
    let Some((coupling, [pressures, compressibilities])) = directions(draft) else { return };
    if compressibilities.iter().all(|compressibility| *compressibility <= 0.0) {
        draft.carried_as("stage.barostat", &["pcoupl", "compressibility"], "the cell is rigid");
        return;
    }
    // with surface-tension coupling, the first value of ref-p is the surface tension
    let is_tension = draft.word("pcoupltype") == "surfacetension";
    let (surface_tension, pressures) =
        if is_tension { (pressures[0] * BAR, vec![pressures[1]]) } else { (0.0, pressures) };
    if is_tension && compressibilities.last() == Some(&0.0) && method != "crescale" {
        let text = "with a fixed height, GROMACS holds L (Pzz - Pxy) at the tension; md holds Pxy at ref-p less the \
                    tension over L";
        draft.differs("compressibility", text);
    }
    let coupling_time = draft.real("tau-p");
    draft.admitted("stage.barostat.coupling_time", "tau-p", coupling_time);
    let every = interval(draft, "nstpcouple");
    let names = ["pcoupl", "pcoupltype", "ref-p", "tau-p", "compressibility"];
    draft.carried("stage.barostat", &names);
    let asked = Pressure {
        kind,
        coupling,
        pressure: along(coupling, &pressures).map(|pressure| pressure * BAR),
        surface_tension,
        coupling_time,
        compressibility: along(coupling, &compressibilities).map(|compressibility| compressibility * (1.0 / BAR)),
        every,
        keys: ["pcoupl", "tau-p"],
    };
    let barostat = coupling::barostat(draft, stage, &asked);
    if barostat.kind == BarostatKind::CRescale && method != "crescale" {
        draft.differs("pcoupl", "md uses c-rescale, which samples the same ensemble");
    }
    stage.barostat = Some(barostat);
}

/// Returns the directions that the barostat scales together, and the values of `ref-p` and `compressibility` for each
/// group of directions; `None` if a problem was recorded.
fn directions(draft: &mut Draft<'_>) -> Option<(PressureCoupling, [Vec<f64>; 2])> {
    let word = draft.word("pcoupltype");
    let coupling = match word.as_str() {
        "isotropic" => PressureCoupling::Isotropic,
        "semiisotropic" | "surfacetension" => PressureCoupling::SemiIsotropic,
        "anisotropic" => PressureCoupling::Anisotropic,
        other => {
            let help = "expected isotropic, semiisotropic, anisotropic or surface-tension";
            draft.unsupported("pcoupltype", other, help);
            return None;
        }
    };
    let wanted = coupling.extents().len();
    let of = |draft: &mut Draft<'_>, name: &str| {
        let mut values = draft.reals(name);
        if values.len() < wanted {
            let message = format!("pcoupltype = {word} needs more than {} values of {name}", values.len());
            let message = if values.is_empty() { format!("pressure coupling without {name}") } else { message };
            draft.problem(
                if values.is_empty() { "pcoupl" } else { name },
                message,
                "give all values, or set pcoupl = no",
            );
            return None;
        }
        let shear = values.split_off(wanted);
        if name == "compressibility" && shear.iter().any(|value| *value != 0.0) {
            draft.differs(name, "md scales the cell along x, y and z, without shear");
        }
        if name == "compressibility" && values.iter().any(|value| *value < 0.0) {
            draft.problem(
                name,
                format!("{name}: a value is negative"),
                "set the value to zero to keep the length of the cell fixed",
            );
            return None;
        }
        Some(values)
    };
    Some((coupling, [of(draft, "ref-p")?, of(draft, "compressibility")?]))
}

/// Returns the values for x, y and z. `values` has one value for all directions, or one value for each group of
/// directions that are scaled together.
fn along(coupling: PressureCoupling, values: &[f64]) -> [f64; 3] {
    let mut along = [values[0]; 3];
    for (value, directions) in values.iter().zip(coupling.extents()).skip(1) {
        directions.iter().for_each(|&direction| along[direction] = *value);
    }
    along
}
