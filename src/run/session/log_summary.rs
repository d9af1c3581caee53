//! First and last lines of the log of a run, and the speed and timings in its summary.

use crate::backend::{StepCounts, Work, useful_pairs};
use crate::compute::cuda::title;
use crate::constraint::{RemovedMotion, degrees_of_freedom};
use crate::error::Result;
use crate::observe::clock;
use crate::observe::lock::host_name;
use crate::observe::log::RunLog;
use crate::observe::progress::{counted, three_digits};
use crate::observe::summary::{ListSummary, Phase, Summary};
use crate::observe::tuning::{Setting, Trial, Tuning};
use crate::pair::ListSchedule;
use crate::run::check::describe_stage;
use crate::run::check::nonbonded::{describe_conventions, describe_cutoffs, describe_electrostatics};
use crate::run::check::topology_methods::describe_methods;
use crate::run::check::warnings::warnings;
use crate::run::control::timing::Timing;
use crate::run::dynamics::frozen::frozen_system;
use crate::run::engine::{Engine, Placement};
use crate::run::plan::{Device, Plan, Precision, RunOptions, Stage};
use crate::run::session::job::{Job, Outcome};
use crate::run::session::system_summary::system_summary;
use crate::system::{Electrostatics, State, System};
use crate::units::NS_PER_DAY;
use std::borrow::Cow;
use std::path::Path;

/// Returns the speed in ns/day if `picoseconds` ps are simulated in `seconds` s of wall time.
fn ns_per_day(picoseconds: f64, seconds: f64) -> Option<f64> {
    (seconds > 0.0 && picoseconds > 0.0).then(|| picoseconds / seconds * NS_PER_DAY)
}

fn device(plan: &Plan, system: &System, engine: &Engine) -> String {
    if let Ok(Placement::Gpu { number, name }) = engine.placement(system) {
        return title(name, number);
    }
    let arithmetic = match plan.run.precision {
        Precision::Double => "double precision reference",
        Precision::Mixed => engine.level.name(),
    };
    format!("CPU, {}, {arithmetic}", counted(engine.threads, "thread"))
}

/// Describes why the run uses the CPU or the GPU.
fn reason(plan: &Plan, system: &System, engine: &Engine) -> Result<String> {
    let how = engine.agreement();
    Ok(match (plan.run.device, engine.placement(system)?) {
        (Device::Auto, Placement::Cpu(reason)) => format!("automatic: {reason}"),
        (Device::Auto, Placement::Gpu { .. }) => {
            format!("automatic: a GPU is available; {}", how.unwrap_or_default())
        }
        (Device::Cuda(_), Placement::Gpu { .. }) if how.is_some() => {
            format!("as asked for; {}", how.unwrap_or_default())
        }
        _ => "as asked for".into(),
    })
}

/// Writes system, settings, machine and warnings to the log at the start of a run.
pub(in crate::run) fn write_header(log: &mut RunLog, job: &Job<'_>, engine: &Engine) -> Result<()> {
    let Job { plan, system, start: state, left_out, .. } = job;
    let topology = &system.topology;
    let charge = topology.net_charge();
    log.section(&format!("md {} on {}, {}", crate::VERSION, host_name(), clock::local("%Y-%m-%d %H:%M")))?;
    let cell = state.cell.map_or("none".to_owned(), |cell| {
        let (edges, angles) = cell.lengths_angles();
        format!(
            "{:.4} {:.4} {:.4} nm, {:.3} {:.3} {:.3} degrees",
            edges[0], edges[1], edges[2], angles[0], angles[1], angles[2]
        )
    });
    let mut rows = vec![
        ("topology", plan.system.topology.display().to_string()),
        ("coordinates", plan.system.coordinates.display().to_string()),
        ("atoms", format!("{} in {} residues, charge {charge:.4} e", topology.atoms.len(), topology.residues.len())),
        ("cell", cell),
        ("cutoff", describe_cutoffs(&system.settings)),
        ("electrostatics", describe_electrostatics(&system.settings)),
        (
            "constraints",
            format!("{} rigid waters, {} bonds", system.constraints.settles.len(), system.constraints.bonds.len()),
        ),
        ("degrees of freedom", describe_degrees_of_freedom(plan, system, state.cell.is_some())),
        ("device", format!("{} ({})", device(plan, system, engine), reason(plan, system, engine)?)),
        ("seed", describe_seed(plan.run.seed)),
    ];
    let numbers: Vec<String> = (1..=plan.stages.len()).map(|number| format!("stage {number}")).collect();
    let describe = |stage: &Stage| format!("{}: {}", stage.name, describe_stage(plan, stage));
    rows.extend(numbers.iter().map(String::as_str).zip(plan.stages.iter().map(describe)));
    rows.extend(describe_conventions(plan, system).map(|conventions| ("conventions", conventions)));
    rows.extend(describe_methods(system).map(|methods| ("ignored methods", methods)));
    log.pairs(&rows)?;
    warnings(plan, system, state, *left_out).iter().try_for_each(|warning| log.warning(warning))
}

/// Describes a seed for the log. For the default seed, the text also says that equal inputs give equal random numbers.
fn describe_seed(seed: u64) -> String {
    if seed != RunOptions::default().seed {
        return seed.to_string();
    }
    format!(
        "{seed}, the default: a repeated run with the same settings and files on the same machine is identical bit for \
         bit; for independent runs set run.seed = \"random\""
    )
}

/// Describes the number of degrees of freedom of each stage of dynamics, or a single number if all stages have the same
/// number.
pub fn describe_degrees_of_freedom(plan: &Plan, system: &System, periodic: bool) -> String {
    let of = |system: &System, removed| degrees_of_freedom(&system.topology, &system.constraints, removed);
    let stages = plan.stages.iter().filter_map(|stage| {
        let removed = stage.dynamics()?.removed_motion(periodic);
        Some((&stage.name, of(&frozen_system(stage, system).unwrap_or(Cow::Borrowed(system)), removed)))
    });
    let stages: Vec<(&String, usize)> = stages.collect();
    match stages[..] {
        [(_, first), ref others @ ..] if others.iter().all(|(_, other)| *other == first) => first.to_string(),
        [] if periodic => of(system, RemovedMotion::Translation).to_string(),
        [] => of(system, RemovedMotion::TranslationAndRotation).to_string(),
        _ => stages.iter().map(|(name, free)| format!("{free} ({name})")).collect::<Vec<_>>().join(", "),
    }
}

/// Writes the candidates of the tuning, the chosen setting and its gain in speed to the log.
pub(in crate::run) fn write_tuning(log: &mut RunLog, tuning: Option<&Tuning>, on_gpu: bool) -> Result<()> {
    let Some(Tuning { method, tried, chosen, predicted_gain, measured_gain, seconds }) = tuning else { return Ok(()) };
    let percent = |part: f64| format!("{:.1} %", 100.0 * part);
    let row = |trial: &Trial| {
        let Trial { setting: Setting { pme, lists }, megacycles, measured } = trial;
        let mesh = |order: usize, [a, b, c]: [usize; 3]| format!("order {order}, {a} x {b} x {c}");
        [
            lifetimes(lists),
            pme.map_or(String::new(), |pme| format!("{:.3} nm", pme.cutoff)),
            pme.map_or(String::new(), |pme| mesh(pme.parameters.order, pme.parameters.grid)),
            format!("{megacycles:.2}"),
            measured.map_or(String::new(), |timed| format!("{:.3}", timed.milliseconds)),
            measured.map_or(String::new(), |timed| format!("{} ({})", percent(timed.gain), percent(timed.spread))),
        ]
    };
    let rows: Vec<_> = tried.iter().map(row).collect();
    log.section("Tuning")?;
    log.table(["lists (steps)", "cutoff", "mesh", "Mcycles", "ms", "gain (spread)"], &rows)?;
    let reason = match measured_gain {
        Some(gain) => format!(
            "measured: {} less time for pairs, lists and mesh than with the choice of the cost model (measurement took \
             {seconds:.1} s); for the choice of the cost model, the predicted gain over tuning = \"off\" is {}",
            percent(*gain),
            percent(*predicted_gain)
        ),
        None if *predicted_gain == 0.0 => "the conventional choice without tuning".to_owned(),
        None if on_gpu => format!(
            "the cost model, which is not calibrated for GPUs yet, predicts {} fewer clock cycles for pairs and lists than \
             with tuning = \"off\"",
            percent(*predicted_gain)
        ),
        None => format!(
            "the cost model predicts {} fewer clock cycles for pairs, lists and mesh than with tuning = \"off\"",
            percent(*predicted_gain)
        ),
    };
    let mesh = chosen.pme.map_or(String::new(), |pme| {
        let [a, b, c] = pme.parameters.grid;
        format!(", Coulomb cutoff {:.3} nm, PME grid {a} x {b} x {c}, order {}", pme.cutoff, pme.parameters.order)
    });
    let ListSchedule { rebuild, prune, .. } = chosen.lists;
    let lists = match chosen.lists.is_exact() {
        true => "by displacement".to_owned(),
        false => format!("every {rebuild} steps and pruned every {prune} steps"),
    };
    log.note(&format!("tuning = \"{method}\": pair lists rebuilt {lists}{mesh}; {reason}"))
}

fn lifetimes(lists: &ListSchedule) -> String {
    let ListSchedule { rebuild, prune, .. } = lists;
    if lists.is_exact() { "by displacement".to_owned() } else { format!("{rebuild} / {prune}") }
}

/// Returns the summary of a run with machine, speed and time per phase. The caller adds the final state and the
/// summaries of the stages.
pub(in crate::run) fn summary(
    plan: &Plan,
    system: &System,
    state: &State,
    engine: &Engine,
    timing: &Timing,
) -> Summary {
    let cutoff = system.settings.cutoff.unwrap_or(0.0).max(system.settings.cutoff_lj.unwrap_or(0.0));
    let half = timing.second_half();
    let works = work(system, engine, timing);
    let phase = |(index, (name, seconds)): (usize, (&str, f64))| Phase {
        name: name.into(),
        calls: timing.steps,
        seconds,
        work: works.map(|works| works[index].1),
    };
    let other = |name: &str, calls, seconds| Phase { name: name.into(), calls, seconds, work: None };
    let output = other("output", timing.steps, timing.output);
    let tuning = (timing.tuning > 0.0).then(|| other("tuning", 1, timing.tuning));
    Summary {
        version: env!("CARGO_PKG_VERSION").into(),
        commit: crate::COMMIT.into(),
        host: host_name(),
        device: device(plan, system, engine),
        device_reason: reason(plan, system, engine).unwrap_or_default(),
        threads: engine.threads,
        simd: engine.level.name().into(),
        atoms: system.topology.atoms.len(),
        simulated_ps: timing.picoseconds,
        ns_per_day: ns_per_day(timing.picoseconds, timing.seconds),
        ns_per_day_steady: half.and_then(|(_, picoseconds, seconds)| ns_per_day(picoseconds, seconds)),
        us_per_step: half.map(|(steps, _, seconds)| 1e6 * seconds / steps as f64),
        pme: match system.settings.electrostatics {
            Electrostatics::Pme(parameters) => Some(parameters),
            _ => None,
        },
        list: timing.lists.filter(|lists| lists.outer.is_finite()).map(|lists| ListSummary {
            cutoff,
            buffer: lists.outer - cutoff,
            interval: timing.steps as f64 / timing.searches.max(1) as f64,
            prune_interval: (lists.inner < lists.outer).then_some(f64::from(lists.prune)),
        }),
        phases: timing.phases.named().into_iter().enumerate().map(phase).chain([output]).chain(tuning).collect(),
        communication: timing.communication(),
        system: Some(system_summary(plan, system, state)),
        pair_imbalance: timing.pairs.imbalance(engine.ranks()),
        useful_pairs: works.map(|_| useful_pairs(system, state.cell.map(|c| c.volume())) / timing.pairs.slots as f64),
        ..Summary::default()
    }
}

/// Returns the number of floating-point operations and bytes of each phase of a step, computed from the pair lists of
/// the last stage.
fn work(system: &System, engine: &Engine, timing: &Timing) -> Option<[(&'static str, Work); 9]> {
    let lists = timing.lists.filter(|_| timing.pairs.slots > 0)?;
    let searches = timing.searches as f64 / timing.steps.max(1) as f64;
    let prunes = if lists.is_exact() { searches } else { 1.0 / f64::from(lists.prune) };
    let parts = engine.parts(system).ok()?;
    let meshes = timing.meshes / timing.steps.max(1) as f64;
    Some(StepCounts { system, parts, pairs: timing.pairs, searches, prunes, meshes }.work())
}

/// Writes speed and time per phase to the log.
pub(in crate::run) fn write_timing(
    log: &mut RunLog,
    summary: &Summary,
    directory: &Path,
    outcome: Outcome,
) -> Result<()> {
    log.section("Time")?;
    let total: f64 = summary.phases.iter().map(|phase| phase.seconds).sum();
    let dynamics = summary.ns_per_day.map_or(total, |speed| summary.simulated_ps / speed * NS_PER_DAY);
    log.phases(&summary.phases, dynamics.max(total))?;
    log.communication(&summary.communication)?;
    if let Some(imbalance) = summary.pair_imbalance.filter(|_| !summary.communication.is_empty()) {
        log.note(&format!(
            "imbalance: the busiest rank computes {:.1} % more pairs than the mean",
            100.0 * (imbalance - 1.0)
        ))?;
    }
    if let (Some(speed), Some(steady), Some(step)) =
        (summary.ns_per_day, summary.ns_per_day_steady, summary.us_per_step)
    {
        log.note(&format!(
            "{} ns/day ({} ns/day over the second half, {step:.0} us per step)",
            three_digits(speed),
            three_digits(steady)
        ))?;
    }
    let ending = match outcome {
        Outcome::Finished | Outcome::Unchanged => "finished",
        Outcome::Stopped => "stopped on request; the same command continues the run",
    };
    log.note(&format!("{ending}; output in {}", directory.display()))
}
