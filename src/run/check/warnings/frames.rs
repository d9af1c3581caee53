//! Warnings about frames: times between frames that are rounded, frames whose time a trajectory format cannot store,
//! and models or atoms of the coordinate file that are ignored.

use crate::format::LeftOut;
use crate::observe::files::{ENERGIES, RESTRAINTS};
use crate::observe::trajectory::Format;
use crate::run::plan::{Dynamics, Interval, Plan, StageKind};
use crate::units::Dimension::Time;

/// Warns of models, alternative atom locations and symmetry in the coordinate file that the run ignores.
pub(super) fn left_out(plan: &Plan, LeftOut { models, atoms, symmetry, .. }: LeftOut) -> Vec<String> {
    let path = &plan.system.coordinates;
    let several = (models > 0).then(|| {
        format!(
            "{} contains {} models, and the run starts from the first; to start from another model, write this model \
             to a new file with md convert --frame",
            path.display(),
            models + 1
        )
    });
    let alternatives = (atoms > 0).then(|| {
        format!(
            "{} contains {atoms} atoms at alternative locations that are left out: the first location in each residue \
             is used",
            path.display()
        )
    });
    let crystal = symmetry.then(|| {
        format!(
            "the cell in {} is that of a crystal with a space group other than P 1, and the run has only the atoms of \
             the file in this cell: the copies by symmetry are missing, so that this is neither the crystal nor a \
             solution; make a simulation cell with md build, or set system.cell",
            path.display()
        )
    });
    several.into_iter().chain(alternatives).chain(crystal).collect()
}

/// Largest relative difference of an interval from the time in the input file that gives no warning.
const ROUNDED: f64 = 0.05;

/// Warns of times between frames or rows that are not a whole number of steps, and are rounded.
pub(super) fn rounded_intervals(plan: &Plan) -> Vec<String> {
    let files = plan.output.trajectories.iter().map(|options| options.file.as_str());
    files.chain([ENERGIES, RESTRAINTS]).filter_map(|file| rounded_interval(plan, file)).collect()
}

fn rounded_interval(plan: &Plan, file: &str) -> Option<String> {
    let every = plan.intervals(file);
    plan.stages.iter().enumerate().find_map(|(index, stage)| {
        let StageKind::Dynamics(Dynamics { timestep, .. }) = stage.kind else { return None };
        let Some(Interval::Time(time)) = every.of_stage(index) else { return None };
        let rounded = Interval::Time(time).steps(timestep) as f64 * timestep;
        ((rounded / time - 1.0).abs() > ROUNDED).then(|| {
            format!(
                "{file} is written every {} in stage \"{}\", not every {}, which is no whole number of steps of {}: \
                 look for a wrong unit, or give a multiple of the time step",
                Time.spell(rounded),
                stage.name,
                Time.spell(time),
                Time.spell(timestep)
            )
        })
    })
}

/// Warns of trajectory formats that store a single time interval for all frames, if the stages differ in time step or
/// in the interval between frames, or if a stage ends between two frames.
pub(super) fn undated(plan: &Plan) -> Vec<String> {
    plan.output.trajectories.iter().filter_map(|options| undated_file(plan, &options.file)).collect()
}

fn undated_file(plan: &Plan, file: &str) -> Option<String> {
    if Format::of_name(file).ok()?.holds.times {
        return None;
    }
    let every = plan.intervals(file);
    // `first`: name and frame interval of the first stage with frames; `silent`: name and time step of the last stage
    // without frames; `cut`: name of a stage with frames that ends between two frames
    let (mut first, mut silent): (Option<(&str, _)>, Option<(&str, f64)>) = (None, None);
    let mut cut: Option<&str> = None;
    for (index, stage) in plan.stages.iter().enumerate() {
        let StageKind::Dynamics(Dynamics { timestep, steps, .. }) = stage.kind else { continue };
        let Some(every) = every.of_stage(index) else {
            silent = Some((&stage.name, timestep));
            continue;
        };
        let spacing = (every.steps(timestep), timestep);
        let reason = match (first, silent, cut) {
            (Some((name, expected)), ..) if expected != spacing => {
                format!("a different time between frames than stage \"{name}\"")
            }
            (Some(_), Some((name, _)), _) => format!("a preceding stage \"{name}\" without frames"),
            (None, Some((name, other)), _) if other != timestep => {
                format!("a different time step than the preceding stage \"{name}\"")
            }
            (.., Some(name)) => format!("a preceding stage \"{name}\" that ends between two frames"),
            _ => {
                first.get_or_insert((&stage.name, spacing));
                silent = None;
                cut = (!plan.target(steps).is_multiple_of(spacing.0)).then_some(&stage.name);
                continue;
            }
        };
        return Some(format!(
            "the format of {file} stores a single time interval for all frames, and stage \"{}\" has {reason}: \
             programs will read wrong times for the frames of this stage; use .h5md, .xtc, .trr or .nc, or a separate \
             file for each stage",
            stage.name
        ));
    }
    None
}
