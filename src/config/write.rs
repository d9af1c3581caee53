//! Writer of input files: writes a plan as TOML from which the same plan can be read. Words come from the tables of
//! [`super::words`], and quantities are written with the unit of their dimension.

use std::path::Path;

use super::key::Default;
use super::keys;
use super::raw::quote;
use super::words;
use crate::ensemble::barostat::{Barostat, PressureCoupling};
use crate::ensemble::multiple_time_steps::MultipleTimeSteps;
use crate::ensemble::schedule::Schedule;
use crate::ensemble::thermostat::Thermostat;
use crate::observe::files::{ENERGIES, RESTRAINTS};
use crate::run::{
    CheckpointOptions, Device, Dynamics, ElectrostaticsSpec, ForceOptions, Interval, LjPmeSpec, OutputOptions, Plan,
    PmeSpec, Restraint, RunOptions, ScaledSolute, Setting, Stage, StageKind, StageOutput, SystemFiles,
    TrajectoryOptions, Velocities,
};
use crate::system::{DispersionCorrection, ListPolicy, LjModifier, PmeParameters};
use crate::units::Dimension::{
    self, Compressibility, EnergyRate, Force, InverseLength, Length, Mass, Pressure, SurfaceTension, Temperature, Time,
    WallTime,
};

/// Line of an input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// dotted key that the line sets, for example `stage.timestep`; empty if the line sets no key
    pub key: String,
    /// value of the key, as TOML; empty if the line sets no key
    pub value: String,
    /// index of the stage to which the line belongs; `None` if the line belongs to no stage
    pub stage: Option<usize>,
    /// text of the line
    pub text: String,
}

impl Line {
    /// Replaces the value of the key. The comment on the line is kept.
    pub fn set_value(&mut self, value: &str) {
        let remark = self.text.split_once("  # ").map(|(_, remark)| remark.to_owned());
        let key = self.key.rsplit('.').next().unwrap_or_default();
        (self.text, self.value) = (line(key, value, remark), value.to_owned());
    }
}

/// A key and its value as TOML.
type Member = (&'static str, String);

/// Returns the lines of an input file from which `plan` can be read; `base` is the folder of the input file. Paths
/// below `base` are written relative to `base`.
///
/// Keys with default values are written only if `remark` returns a comment for the key. The arguments of `remark` are
/// the index of the stage (`None` for a key outside the stages) and the key. The comment on a value follows the value
/// on the same line.
pub fn write(plan: &Plan, base: &Path, remark: &dyn Fn(Option<usize>, &str) -> Option<String>) -> Vec<Line> {
    let mut lines = vec![];
    let mut section = |name: &'static str, stage: Option<usize>, members: Vec<Member>, defaults: &[Member]| {
        let members = members.into_iter().filter_map(|(key, value)| {
            let path = format!("{name}.{key}");
            let required = keys::find(&path).is_some_and(|key| matches!(key.default, Default::Required));
            let remark = remark(stage, &path);
            let is_default = defaults.contains(&(key, value.clone()));
            (required || remark.is_some() || !is_default).then(|| Line {
                stage,
                text: line(key, &value, remark),
                key: path,
                value,
            })
        });
        let members: Vec<Line> = members.collect();
        if !members.is_empty() {
            let header = if stage.is_some() { format!("[[{name}]]") } else { format!("[{name}]") };
            lines.extend([String::new(), header].map(|text| Line {
                key: String::new(),
                value: String::new(),
                stage,
                text,
            }));
            lines.extend(members);
        }
    };
    section("system", None, system(&plan.system, base), &system(&SystemFiles::default(), base));
    section("forces", None, forces(&plan.forces), &forces(&ForceOptions::default()));
    section("run", None, run(&plan.run), &run(&RunOptions::default()));
    section("output", None, output(&plan.output, base), &[]);
    for (index, one) in plan.stages.iter().enumerate() {
        section("stage", Some(index), stage(one, base), &[]);
    }
    lines
}

/// Column in which comments begin, unless the value is longer.
const COMMENTS: usize = 48;

fn line(key: &str, value: &str, remark: Option<String>) -> String {
    let setting = format!("{key} = {value}");
    match remark {
        Some(remark) => format!("{setting:<COMMENTS$}  # {remark}"),
        None => setting,
    }
}

/// Returns the word whose meaning in `table` is `meaning`.
fn word<T: PartialEq>(table: &[(&'static str, T)], meaning: &T) -> String {
    let word = table.iter().find(|(_, known)| known == meaning).map(|(word, _)| *word);
    quote(word.expect("every meaning has its word: a test writes them all"))
}

fn braces(members: Vec<Member>) -> String {
    let members: Vec<String> = members.into_iter().map(|(key, value)| format!("{key} = {value}")).collect();
    format!("{{ {} }}", members.join(", "))
}

fn list_of(texts: impl Iterator<Item = String>) -> String {
    format!("[{}]", texts.map(|text| quote(&text)).collect::<Vec<_>>().join(", "))
}

fn relative(path: &Path, base: &Path) -> String {
    path.strip_prefix(base).unwrap_or(path).display().to_string()
}

fn system(files: &SystemFiles, base: &Path) -> Vec<Member> {
    let SystemFiles { topology, coordinates, include, define, parameters, cell } = files;
    let mut members = vec![
        ("topology", quote(&relative(topology, base))),
        ("coordinates", quote(&relative(coordinates, base))),
        ("include", list_of(include.iter().map(|path| relative(path, base)))),
        ("define", list_of(define.iter().cloned())),
        ("parameters", list_of(parameters.iter().map(|path| relative(path, base)))),
    ];
    members.extend(cell.map(|cell| {
        let (edges, angles) = cell.lengths_angles();
        let edges = edges.map(|edge| Length.spell(edge));
        ("cell", list_of(edges.into_iter().chain(angles.map(|angle| format!("{angle} deg")))))
    }));
    members
}

fn forces(options: &ForceOptions) -> Vec<Member> {
    let mut members = vec![("cutoff", distance(options.cutoff)), ("cutoff_lj", distance(options.cutoff_lj))];
    let (method, detail) = match options.electrostatics {
        ElectrostaticsSpec::Off => ("off", None),
        ElectrostaticsSpec::Plain => ("plain", None),
        ElectrostaticsSpec::ReactionField { permittivity } => {
            let value = if permittivity.is_infinite() { quote("infinity") } else { float(permittivity) };
            ("reaction-field", Some(("permittivity", value)))
        }
        ElectrostaticsSpec::Pme(spec) => ("pme", Some(("pme", pme(spec)))),
    };
    members.push(("electrostatics", quote(method)));
    members.extend(detail);
    let (modifier, switch) = match options.lj_modifier {
        Setting::ForceField => (words::FORCE_FIELD, None),
        Setting::Given(LjModifier::None) => ("none", None),
        Setting::Given(LjModifier::PotentialShift) => ("potential-shift", None),
        Setting::Given(LjModifier::ForceSwitch { from }) => ("force-switch", Some(from)),
        Setting::Given(LjModifier::PotentialSwitch { from }) => ("potential-switch", Some(from)),
    };
    // a shift at the cutoff has no effect without a cutoff
    let all_pairs = |cutoff: Setting<Option<f64>>| cutoff == Setting::Given(None);
    let is_shift = options.lj_modifier == Setting::Given(LjModifier::PotentialShift);
    members.extend((!(is_shift && all_pairs(options.cutoff_lj))).then(|| ("lj_modifier", quote(modifier))));
    members.extend(switch.map(|from| ("lj_switch", quote(&Length.spell(from)))));
    let (correction, lj_pme) = match options.dispersion_correction {
        Setting::ForceField => (quote(words::FORCE_FIELD), None),
        Setting::Given(DispersionCorrection::Off) => ("false".to_owned(), None),
        Setting::Given(DispersionCorrection::AllPairs) => ("true".to_owned(), None),
        Setting::Given(DispersionCorrection::NonExcluded) => (quote("non-excluded"), None),
        Setting::Given(DispersionCorrection::Pme(LjPmeSpec::Spacing { spacing, order })) => {
            (quote("pme"), Some(PmeSpec::Spacing { spacing, order }))
        }
        Setting::Given(DispersionCorrection::Pme(LjPmeSpec::Explicit(PmeParameters { alpha, grid, order }))) => {
            (quote("pme"), Some(PmeSpec::Explicit { alpha, grid, order }))
        }
    };
    let has_modifier = matches!(options.electrostatics, ElectrostaticsSpec::Pme(_) | ElectrostaticsSpec::Plain);
    members.extend(has_modifier.then(|| ("coulomb_modifier", word(&words::MODIFIERS, &options.coulomb_modifier))));
    members.push(("dispersion_correction", correction));
    members.extend(lj_pme.map(|spec| ("lj_pme", pme(spec))));
    members.extend([
        ("constraints", word(&words::CONSTRAINTS, &options.constraints)),
        ("rigid_water", options.rigid_water.to_string()),
        ("constraint_tolerance", float(options.constraint_tolerance)),
    ]);
    members.extend(options.hydrogen_mass.map(|mass| ("hydrogen_mass", quote(&Mass.spell(mass)))));
    members.extend(options.scaled_solute.as_ref().map(|ScaledSolute { select, factor }| {
        ("scaled_solute", format!("{{ select = {}, factor = {} }}", quote(select), float(*factor)))
    }));
    members.extend((!all_pairs(options.cutoff)).then(|| ("list", list(options.list))));
    members
}

/// Writes a number without a dimension. TOML floats need a point or an exponent.
fn float(value: f64) -> String {
    format!("{value:?}")
}

fn distance(setting: Setting<Option<f64>>) -> String {
    quote(&match setting {
        Setting::ForceField => words::FORCE_FIELD.to_owned(),
        Setting::Given(None) => "none".to_owned(),
        Setting::Given(Some(distance)) => Length.spell(distance),
    })
}

fn pme(spec: PmeSpec) -> String {
    braces(match spec {
        PmeSpec::ForceError(error) => vec![("force_error", float(error))],
        PmeSpec::Spacing { spacing, order } => {
            vec![("spacing", quote(&Length.spell(spacing))), ("order", order.to_string())]
        }
        PmeSpec::Explicit { alpha, grid, order } => vec![
            ("alpha", quote(&InverseLength.spell(alpha))),
            ("grid", format!("{grid:?}")),
            ("order", order.to_string()),
        ],
    })
}

fn list(policy: ListPolicy) -> String {
    braces(match policy {
        ListPolicy::Exact { buffer } => vec![("buffer", quote(&Length.spell(buffer)))],
        ListPolicy::Drift { tolerance, pressure_tolerance, interval } => {
            let tolerances = [
                ("tolerance", quote(&EnergyRate.spell(tolerance))),
                ("pressure_tolerance", quote(&Pressure.spell(pressure_tolerance))),
            ];
            tolerances.into_iter().chain(interval.map(|steps| ("interval", steps.to_string()))).collect()
        }
    })
}

fn run(options: &RunOptions) -> Vec<Member> {
    let device = match options.device {
        Device::Auto => "auto".to_owned(),
        Device::Cpu => "cpu".to_owned(),
        Device::Cuda(number) => format!("cuda:{number}"),
    };
    let mut members = vec![
        ("seed", options.seed.to_string()),
        ("device", quote(&device)),
        ("threads", options.threads.map_or(quote("auto"), |threads| threads.to_string())),
        ("pin", options.pin.to_string()),
        ("precision", word(&words::PRECISIONS, &options.precision)),
        ("tuning", word(&words::TUNINGS, &options.tuning)),
        ("reproducible", options.reproducible.to_string()),
        ("simd", word(&words::SIMD_LEVELS, &options.simd)),
    ];
    members.extend(options.max_time.map(|time| ("max_time", quote(&WallTime.spell(time.as_secs_f64())))));
    members.extend(options.max_steps.map(|steps| ("max_steps", steps.to_string())));
    members
}

fn output(options: &OutputOptions, base: &Path) -> Vec<Member> {
    let trajectories: Vec<String> = options.trajectories.iter().map(trajectory).collect();
    let energies = options.energies.map(|every| braces(vec![("every", quote(&interval(every)))]));
    let restraints = options.restraints.map(|every| braces(vec![("every", quote(&interval(every)))]));
    vec![
        ("directory", quote(&relative(&options.directory, base))),
        (
            "trajectory",
            match trajectories.as_slice() {
                [] => quote("none"),
                [one] => one.clone(),
                several => format!("[\n    {},\n]", several.join(",\n    ")),
            },
        ),
        ("energies", energies.unwrap_or_else(|| quote("none"))),
        ("restraints", restraints.unwrap_or_else(|| quote("none"))),
        ("checkpoint", checkpoint(options.checkpoint)),
        ("final_gro", options.final_gro.to_string()),
    ]
}

fn trajectory(options: &TrajectoryOptions) -> String {
    let TrajectoryOptions { file, every, velocities, forces, images, precision, select } = options;
    let mut members = vec![("file", quote(file)), ("every", quote(&interval(*every)))];
    let fields = [("velocities", velocities), ("forces", forces), ("images", images)];
    members.extend(fields.into_iter().filter(|(_, on)| **on).map(|(name, _)| (name, "true".to_owned())));
    members.extend(precision.map(|precision| ("precision", quote(&Length.spell(precision)))));
    members.extend(select.as_ref().map(|text| ("select", quote(text))));
    braces(members)
}

fn interval(every: Interval) -> String {
    match every {
        Interval::Time(time) => Time.spell(time),
        Interval::Steps(steps) => format!("{steps} steps"),
    }
}

fn stage(stage: &Stage, base: &Path) -> Vec<Member> {
    let (kind, members) = match &stage.kind {
        StageKind::Minimize(options) => (
            "minimize",
            vec![
                ("steps", options.steps.to_string()),
                ("force_tolerance", quote(&Force.spell(options.force_tolerance))),
                ("max_displacement", quote(&Length.spell(options.max_displacement))),
            ],
        ),
        StageKind::Dynamics(options) => ("dynamics", dynamics(options)),
    };
    let names = [("name", quote(&stage.name)), ("kind", quote(kind))];
    let output = stage_output(&stage.output).map(|text| ("output", text));
    names.into_iter().chain(members).chain(restraints::of_stage(stage, base)).chain(output).collect()
}

/// Writes the output settings of a stage that differ from the output settings of the run, if there are any.
fn stage_output(options: &StageOutput) -> Option<String> {
    let every = |every: &Option<Interval>| ("every", quote(&every.map_or("none".to_owned(), interval)));
    let trajectories = options.every.iter().filter(|(file, _)| ![ENERGIES, RESTRAINTS].contains(&file.as_str()));
    let trajectories: Vec<String> =
        trajectories.map(|(file, interval)| braces(vec![("file", quote(file)), every(interval)])).collect();
    let tables = [("energies", ENERGIES), ("restraints", RESTRAINTS)]
        .into_iter()
        .filter_map(|(key, file)| Some((key, braces(vec![every(options.every.get(file)?)]))));
    let checkpoint = options.checkpoint.map(|options| ("checkpoint", checkpoint(options)));
    let members = (!trajectories.is_empty()).then(|| ("trajectory", format!("[{}]", trajectories.join(", "))));
    let members: Vec<Member> = members.into_iter().chain(tables).chain(checkpoint).collect();
    (!members.is_empty()).then(|| braces(members))
}

fn checkpoint(options: CheckpointOptions) -> String {
    braces(vec![("every", quote(&WallTime.spell(options.every.as_secs_f64())))])
}

fn dynamics(options: &Dynamics) -> Vec<Member> {
    let (velocities, temperature) = match options.velocities {
        Velocities::File => ("file", None),
        Velocities::Generate { temperature } => ("generate", Some(temperature)),
    };
    let mut members = vec![
        ("steps", options.steps.to_string()),
        ("timestep", quote(&Time.spell(options.timestep))),
        ("velocities", quote(velocities)),
    ];
    members.extend(temperature.map(|temperature| ("temperature", quote(&Temperature.spell(temperature)))));
    let none = || quote("none");
    members.extend([
        ("thermostat", options.thermostat.as_ref().map_or_else(none, thermostat)),
        ("barostat", options.barostat.as_ref().map_or_else(none, barostat)),
        ("com_removal", options.com_removal.map_or_else(none, |steps| steps.to_string())),
    ]);
    members.extend(
        options
            .multiple_time_steps
            .map(|MultipleTimeSteps { every }| ("multiple_time_steps", braces(vec![("every", every.to_string())]))),
    );
    members
}

fn thermostat(options: &Thermostat) -> String {
    let key = options.kind.facts().key;
    let time = |time: f64| (key.word(), quote(&key.spell(time)));
    let mut members = vec![
        ("kind", word(&words::THERMOSTATS, &options.kind)),
        ("temperature", schedule(Temperature, &options.temperature)),
        time(options.coupling_time),
        ("every", options.every.to_string()),
    ];
    let groups = options.groups.iter().map(|group| {
        braces(vec![
            ("select", quote(&group.select)),
            ("temperature", schedule(Temperature, &group.temperature)),
            time(group.coupling_time),
        ])
    });
    let groups: Vec<String> = groups.collect();
    if !groups.is_empty() {
        members.push(("groups", format!("[{}]", groups.join(", "))));
    }
    braces(members)
}

/// Writes a quantity, or a list of times and quantities.
fn schedule(dimension: Dimension, schedule: &Schedule) -> String {
    let points = schedule.points();
    if let [(_, value)] = points {
        return quote(&dimension.spell(*value));
    }
    let pair =
        |(time, value): &(f64, f64)| format!("[{}, {}]", quote(&Time.spell(*time)), quote(&dimension.spell(*value)));
    format!("[{}]", points.iter().map(pair).collect::<Vec<_>>().join(", "))
}

fn barostat(options: &Barostat) -> String {
    let Barostat { kind, coupling, ref pressure, surface_tension, coupling_time, compressibility, every } = *options;
    let along = |texts: [String; 3]| match texts {
        [x, y, z] if x == y && y == z => x,
        _ => {
            let texts: Vec<&str> = coupling.extents().iter().map(|directions| texts[directions[0]].as_str()).collect();
            format!("[{}]", texts.join(", "))
        }
    };
    let mut members =
        vec![("kind", word(&words::BAROSTATS, &kind)), ("coupling", word(&words::PRESSURE_COUPLINGS, &coupling))];
    members.push(("pressure", along(pressure.each_ref().map(|pressure| schedule(Pressure, pressure)))));
    if coupling == PressureCoupling::SemiIsotropic {
        members.push(("surface_tension", quote(&SurfaceTension.spell(surface_tension))));
    }
    if kind.facts().min_couplings.is_some() {
        members.push(("coupling_time", quote(&Time.spell(coupling_time))));
    }
    members.extend([
        ("compressibility", along(compressibility.map(|value| quote(&Compressibility.spell(value))))),
        ("every", every.to_string()),
    ]);
    braces(members)
}

/// Writes a restraint as a table in `restraints` of a stage.
pub fn spell_restraint(one: &Restraint) -> String {
    restraints::restraint(one, Path::new(""))
}

mod restraints;
#[cfg(test)]
mod tests;
