//! Assembly of the plan from checked values, and checks of combinations of keys.
//!
//! If a function of this module returns `None`, a problem has been recorded, either by the function or earlier, when
//! the values were read.

use std::time::Duration;

use super::dynamics;
use super::multiple_time_steps;
use super::value::{Table, report};
use super::words;
use crate::error::Problem;
use crate::observe::files::RESERVED;
use crate::observe::trajectory::Format;
use crate::run::{
    CheckpointOptions, Device, ElectrostaticsSpec, ForceOptions, LjPmeSpec, OutputOptions, Plan, PmeSpec, Precision,
    RunOptions, ScaledSolute, Setting, SystemFiles, TrajectoryOptions, is_plain_name,
};
use crate::system::{DispersionCorrection, ListPolicy, LjModifier, Modifier, PmeParameters};

/// Assembles the plan of a whole input file.
pub(super) fn plan(root: &Table, problems: &mut Vec<Problem>) -> Option<Plan> {
    let system = root.table("system").and_then(system);
    let forces = root.table("forces").and_then(|table| forces(table, problems));
    let run = root.table("run").and_then(|table| run(table, problems));
    let output = root.table("output").and_then(|table| output(table, problems));
    let stages = dynamics::stages(root.tables("stage"), output.as_ref(), problems);
    let plan = Plan { system: system?, forces: forces?, run: run?, output: output?, stages: stages?, exchange: None };
    multiple_time_steps::check(&plan, root.tables("stage"), problems);
    Some(plan)
}

fn system(table: &Table) -> Option<SystemFiles> {
    Some(SystemFiles {
        topology: table.text("topology")?.into(),
        coordinates: table.text("coordinates")?.into(),
        include: table.texts("include")?.iter().map(Into::into).collect(),
        define: table.texts("define")?.to_vec(),
        parameters: table.texts("parameters")?.iter().map(Into::into).collect(),
        cell: table.cell("cell"),
    })
}

fn forces(table: &Table, problems: &mut Vec<Problem>) -> Option<ForceOptions> {
    let all_pairs = table.word("cutoff") == Some("none");
    let electrostatics = electrostatics(table, problems);
    if all_pairs && matches!(table.word("electrostatics"), Some("pme" | "reaction-field")) {
        let method = table.word("electrostatics").unwrap_or_default();
        let message = format!("electrostatics = \"{method}\" needs a cutoff, but cutoff = \"none\"");
        report(problems, table, "electrostatics", message, "set a cutoff, or electrostatics = \"plain\"");
    }
    let lj_all_pairs = table.word("cutoff_lj") == Some("none");
    let lj_modifier = lj_modifier(table, problems);
    if all_pairs != lj_all_pairs && table.get("cutoff").is_some() && table.get("cutoff_lj").is_some() {
        let message = "cutoff and cutoff_lj must both be distances, or both be \"none\"";
        report(problems, table, "cutoff_lj", message, "remove cutoff_lj to use the same value as cutoff");
    }
    let dispersion_correction = match (table.boolean("dispersion_correction"), table.word("dispersion_correction")) {
        (Some(false), _) => Setting::Given(DispersionCorrection::Off),
        (Some(true), _) | (_, Some("all-pairs")) => Setting::Given(DispersionCorrection::AllPairs),
        (_, Some("non-excluded")) => Setting::Given(DispersionCorrection::NonExcluded),
        (_, Some("pme")) => Setting::Given(DispersionCorrection::Pme(lj_pme(table.table("lj_pme")?, problems)?)),
        (_, Some(_)) => Setting::ForceField,
        (None, None) => return None,
    };
    if lj_all_pairs && dispersion_correction != Setting::Given(DispersionCorrection::Off) {
        let message = "dispersion_correction has no effect with cutoff_lj = \"none\"";
        report(problems, table, "dispersion_correction", message, "set dispersion_correction = false");
    }
    let list = list(table.table("list")?, problems);
    without_effect(table, list, problems);
    Some(ForceOptions {
        cutoff: distance(table, "cutoff")?,
        cutoff_lj: distance(table, "cutoff_lj")?,
        electrostatics: electrostatics?,
        lj_modifier: lj_modifier?,
        coulomb_modifier: match electrostatics? {
            ElectrostaticsSpec::Pme(_) | ElectrostaticsSpec::Plain => {
                table.meaning("coulomb_modifier", &words::MODIFIERS)?
            }
            ElectrostaticsSpec::Off | ElectrostaticsSpec::ReactionField { .. } => Modifier::default(),
        },
        dispersion_correction,
        constraints: table.meaning("constraints", &words::CONSTRAINTS)?,
        rigid_water: table.boolean("rigid_water")?,
        constraint_tolerance: table.number("constraint_tolerance")?,
        hydrogen_mass: table.number("hydrogen_mass"),
        scaled_solute: scaled_solute(table)?,
        list: list?,
    })
}

/// Records a problem for a shift at the Lennard-Jones cutoff and for settings of pair lists, if all pairs are computed.
fn without_effect(table: &Table, list: Option<ListPolicy>, problems: &mut Vec<Problem>) {
    let mut unused = |name: &str, cutoff: &str| {
        let message = format!("{name} has no effect with {cutoff} = \"none\"");
        report(problems, table, name, message, "remove the key, or set a cutoff");
    };
    if table.word("cutoff_lj") == Some("none") && table.word("lj_modifier") == Some("potential-shift") {
        unused("lj_modifier", "cutoff_lj");
    }
    if table.word("cutoff") == Some("none") && list.is_some_and(|list| list != ForceOptions::default().list) {
        unused("list", "cutoff");
    }
}

/// Returns the solute whose interactions are scaled; `Some(None)` if the input has no such solute.
fn scaled_solute(table: &Table) -> Option<Option<ScaledSolute>> {
    let Some(inner) = table.table("scaled_solute") else { return (!table.is_set("scaled_solute")).then_some(None) };
    Some(Some(ScaledSolute { select: inner.text("select")?.to_owned(), factor: inner.number("factor")? }))
}

/// Returns the distance that is the value of a key. `Setting::Given(None)` means that the value is a word instead of a
/// distance, for example "none". `Setting::ForceField` means that the distance follows the convention of the force
/// field.
fn distance(table: &Table, name: &str) -> Option<Setting<Option<f64>>> {
    match table.word(name) {
        Some(words::FORCE_FIELD) => Some(Setting::ForceField),
        Some(_) => Some(Setting::Given(None)),
        None => table.number(name).map(|distance| Setting::Given(Some(distance))),
    }
}

fn lj_modifier(table: &Table, problems: &mut Vec<Problem>) -> Option<Setting<LjModifier>> {
    let name = table.word("lj_modifier")?;
    let switch: fn(f64) -> LjModifier = match name {
        "force-switch" => |from| LjModifier::ForceSwitch { from },
        "potential-switch" => |from| LjModifier::PotentialSwitch { from },
        _ => {
            if table.is_given("lj_switch") {
                let message = "lj_switch has no effect unless lj_modifier is \"force-switch\" or \"potential-switch\"";
                report(problems, table, "lj_switch", message, "set lj_modifier, or remove lj_switch");
            }
            return Some(match name {
                words::FORCE_FIELD => Setting::ForceField,
                "potential-shift" => Setting::Given(LjModifier::PotentialShift),
                "none" => Setting::Given(LjModifier::None),
                other => unreachable!("{other} is not an allowed value of lj_modifier"),
            });
        }
    };
    if table.word("cutoff_lj") == Some("none") {
        let message = format!("lj_modifier = \"{name}\" needs a cutoff, but cutoff_lj = \"none\"");
        report(problems, table, "lj_modifier", message, "set a cutoff, or remove lj_modifier");
        return None;
    }
    let Some(from) = table.number("lj_switch") else {
        if !table.is_given("lj_switch") {
            let message = format!("lj_modifier = \"{name}\" needs lj_switch, the distance at which the switch begins");
            let help = "add for example lj_switch = \"1.0 nm\" with cutoff = \"1.2 nm\"";
            report(problems, table, "lj_modifier", message, help);
        }
        return None;
    };
    if let Some(cutoff) = table.number("cutoff_lj").filter(|cutoff| from >= *cutoff) {
        let message = format!("lj_switch is {from} nm, but must be below the Lennard-Jones cutoff of {cutoff} nm");
        report(problems, table, "lj_switch", message, "choose lj_switch 0.1 to 0.2 nm below cutoff_lj");
    }
    Some(Setting::Given(switch(from)))
}

fn electrostatics(table: &Table, problems: &mut Vec<Problem>) -> Option<ElectrostaticsSpec> {
    Some(match table.word("electrostatics")? {
        "off" => ElectrostaticsSpec::Off,
        "plain" => ElectrostaticsSpec::Plain,
        "reaction-field" => {
            let infinite = table.word("permittivity").map(|_| f64::INFINITY);
            ElectrostaticsSpec::ReactionField { permittivity: infinite.or_else(|| table.number("permittivity"))? }
        }
        "pme" => ElectrostaticsSpec::Pme(pme("pme", table.table("pme")?, problems)?),
        other => unreachable!("{other} is not an allowed value of electrostatics"),
    })
}

/// B-spline orders of PME for which error coefficients exist.
const ORDERS: [i64; 4] = [4, 5, 6, 8];

fn lj_pme(table: &Table, problems: &mut Vec<Problem>) -> Option<LjPmeSpec> {
    match pme("lj_pme", table, problems)? {
        PmeSpec::Explicit { alpha, grid, order } => Some(LjPmeSpec::Explicit(PmeParameters { alpha, grid, order })),
        PmeSpec::Spacing { spacing, order } => Some(LjPmeSpec::Spacing { spacing, order }),
        PmeSpec::ForceError(_) => unreachable!("no key of lj_pme"),
    }
}

/// Returns the PME settings of the key `name`, which is `pme` or `lj_pme`. The table `lj_pme` has no key for a force
/// error.
fn pme(name: &str, table: &Table, problems: &mut Vec<Problem>) -> Option<PmeSpec> {
    let before = problems.len();
    let given = |name| table.is_given(name);
    let ways = usize::from(given("alpha") || given("grid"))
        + usize::from(given("spacing"))
        + usize::from(given("force_error"));
    if ways > 1 {
        let (others, help) = match name {
            "pme" => {
                ("spacing, and force_error", "keep only one setting; pme = { force_error = 5e-4 } lets md set the rest")
            }
            _ => ("and spacing", "keep only one setting; lj_pme = {} lets md set the rest"),
        };
        report(problems, table, "", format!("{name}: alpha with grid, {others} exclude each other"), help);
    }
    if given("alpha") != given("grid") {
        let (there, missing) = if given("alpha") { ("alpha", "grid") } else { ("grid", "alpha") };
        let message = format!("{name}: {there} is given without {missing}");
        let help = "set both alpha and grid, for example alpha = \"3.1 1/nm\", grid = [64, 64, 64]";
        report(problems, table, there, message, help);
    }
    if let Some(order) = table.integer("order") {
        if !ORDERS.contains(&order) {
            let message = format!("{name}.order must be 4, 5, 6 or 8, not {order}");
            let help = "order = 5 suits most runs";
            report(problems, table, "order", message, help);
        }
        if given("force_error") && given("order") {
            let message = "pme: order follows from force_error, so order and force_error exclude each other";
            report(problems, table, "order", message, "remove order");
        } else if name == "pme" && given("order") && ways == 0 {
            let message = "pme: order has no effect without spacing, or alpha and grid";
            let help = "add spacing = \"0.12 nm\", or remove order, which then follows from force_error = 5e-4";
            report(problems, table, "order", message, help);
        }
    }
    if problems.len() > before {
        return None;
    }
    if let Some(error) = table.number("force_error") {
        return Some(PmeSpec::ForceError(error));
    }
    let order = usize::try_from(table.integer("order")?).ok()?;
    if let Some(spacing) = table.number("spacing") {
        return Some(PmeSpec::Spacing { spacing, order });
    }
    Some(PmeSpec::Explicit { alpha: table.number("alpha")?, grid: table.grid("grid")?, order })
}

fn list(table: &Table, problems: &mut Vec<Problem>) -> Option<ListPolicy> {
    let Some(buffer) = table.number("buffer") else {
        let interval = table.integer("interval").and_then(|steps| u32::try_from(steps).ok());
        let (tolerance, pressure_tolerance) = (table.number("tolerance")?, table.number("pressure_tolerance")?);
        return Some(ListPolicy::Drift { tolerance, pressure_tolerance, interval });
    };
    for name in ["tolerance", "pressure_tolerance", "interval"].into_iter().filter(|name| table.is_given(name)) {
        let message = format!("list: {name} and buffer exclude each other");
        let help = "keep either buffer (lists are rebuilt by displacement) or tolerances and interval (lists have a fixed \
             lifetime)";
        report(problems, table, name, message, help);
    }
    Some(ListPolicy::Exact { buffer })
}

fn run(table: &Table, problems: &mut Vec<Problem>) -> Option<RunOptions> {
    let device = table.text("device").and_then(|text| device(text, table, problems));
    let precision = table.meaning("precision", &words::PRECISIONS)?;
    if precision == Precision::Double && matches!(device, Some(Device::Cuda(_))) {
        let message = "precision = \"double\" runs on the CPU only, but device is CUDA";
        report(problems, table, "precision", message, "set device = \"cpu\", or precision = \"mixed\"");
    }
    let max_time = table.number("max_time").map(Duration::from_secs_f64);
    Some(RunOptions {
        seed: u64::try_from(table.integer("seed")?).ok()?,
        device: device?,
        threads: table.integer("threads").and_then(|threads| usize::try_from(threads).ok()),
        reproducible: table.boolean("reproducible")?,
        pin: table.boolean("pin")?,
        precision,
        tuning: table.meaning("tuning", &words::TUNINGS)?,
        simd: table.meaning("simd", &words::SIMD_LEVELS)?,
        max_time,
        max_steps: table.integer("max_steps").and_then(|steps| u64::try_from(steps).ok()),
    })
}

fn device(text: &str, table: &Table, problems: &mut Vec<Problem>) -> Option<Device> {
    let device = Device::from_text(text);
    if device.is_none() {
        let message = format!("run.device: \"{text}\" is not a device");
        report(problems, table, "device", message, &format!("write {}", Device::SPELLING));
    }
    device
}

fn output(table: &Table, problems: &mut Vec<Problem>) -> Option<OutputOptions> {
    let checkpoint = table.table("checkpoint")?;
    Some(OutputOptions {
        directory: table.text("directory")?.into(),
        trajectories: trajectories(table, problems)?,
        energies: match table.word("energies") {
            Some(_) => None,
            None => Some(table.table("energies")?.interval("every")?),
        },
        restraints: match table.word("restraints") {
            Some(_) => None,
            None => Some(table.table("restraints")?.interval("every")?),
        },
        checkpoint: CheckpointOptions { every: Duration::from_secs_f64(checkpoint.number("every")?) },
        final_gro: table.boolean("final_gro")?,
    })
}

fn trajectories(output: &Table, problems: &mut Vec<Problem>) -> Option<Vec<TrajectoryOptions>> {
    let tables = output.tables("trajectory");
    if tables.is_empty() && output.word("trajectory").is_none() {
        if output.get("trajectory").is_some() {
            let message = "output.trajectory: the list is empty";
            report(problems, output, "trajectory", message, "write trajectory = \"none\" to write no frames");
        }
        return None;
    }
    let mut found: Vec<TrajectoryOptions> = vec![];
    for table in tables {
        let options = trajectory(table, problems)?;
        if found.iter().any(|other| other.file == options.file) {
            let message = format!("output.trajectory.file: two trajectories are called \"{}\"", options.file);
            report(problems, table, "file", message, "give each trajectory its own file");
        }
        found.push(options);
    }
    Some(found)
}

fn trajectory(table: &Table, problems: &mut Vec<Problem>) -> Option<TrajectoryOptions> {
    let options = TrajectoryOptions {
        file: table.text("file")?.to_owned(),
        every: table.interval("every")?,
        velocities: table.boolean("velocities")?,
        forces: table.boolean("forces")?,
        images: table.boolean("images")?,
        precision: table.number("precision"),
        select: table.text("select").map(str::to_owned),
    };
    let mut refuse = |key: &str, problem: Problem| {
        let message = format!("output.trajectory.{key}: {}", problem.message);
        problems.push(table.place(key).problem(Problem { message, ..problem }));
    };
    if !is_plain_name(&options.file) {
        let message = format!("\"{}\" is not the name of a file in the output folder", options.file);
        refuse(
            "file",
            Problem::new(message).help("give a file name without folders; output.directory is the only folder"),
        );
        return None;
    }
    if RESERVED.contains(&options.file.as_str()) {
        let message = format!("\"{}\" is the name of a structure that every run writes", options.file);
        refuse("file", Problem::new(message).help("choose another name"));
        return None;
    }
    let format = match Format::of_name(&options.file) {
        Ok(format) => format,
        Err(problem) => {
            refuse("file", problem);
            return None;
        }
    };
    if let Some(word) = table.word("format").filter(|word| *word != format.extension) {
        let message = format!("\"{word}\" does not agree with the file name \"{}\"", options.file);
        refuse("format", Problem::new(message).help("remove format, or change the extension of file"));
        return None;
    }
    match options.check(format) {
        Ok(_) => Some(options),
        Err(problem) => {
            let asked = options.fields(&format.holds).map(|(name, asked, _)| (name, asked));
            let given = asked.into_iter().chain([("precision", true)]);
            let key = { given }.find(|(key, on)| *on && table.is_given(key)).map_or("file", |(key, _)| key);
            refuse(key, problem);
            None
        }
    }
}
