//! Reporters of a run and the output files that they write.

pub(super) mod directory;
mod frames;
pub(super) mod instability;
pub(super) mod reporter;
pub(super) mod results;
mod tables;

pub use directory::{part_name, parts};
pub use reporter::{Quantities, Report, Reporter, RunInfo};

use crate::error::{Problem, Result};
use crate::observe::energies::Columns;
use crate::observe::energies::Observed;
use crate::observe::extent::{Extent, Mark};
use crate::observe::files::{ENERGIES, MINIMISATION, RESTRAINTS};
use crate::observe::minimisation::MinimisationSample;
use crate::restraint::RestraintSample;
use crate::run::checkpoint::Written;
use crate::run::output::directory::Directory;
use crate::run::plan::group_columns::GroupColumns;
use crate::run::plan::stage_output::Intervals;
use crate::run::plan::{Plan, StageKind, StepInfo};
use crate::system::{State, System};
use crate::vec3::Vec3;
use frames::TrajectoryReporter;
use std::collections::BTreeMap;
use std::path::Path;
use tables::{ENERGY_TABLE, MINIMISATION_TABLE, RESTRAINT_TABLE, TableReporter};

/// All reporters of a run, with the data that they report.
pub(in crate::run) struct Outputs {
    reporters: Vec<Box<dyn Reporter>>,
    /// lengths of all output files, including files that earlier commands wrote and that are not open now
    written: Written,
    warnings: Vec<String>,
    /// total mass of the system, amu
    mass: f64,
    columns: Option<Columns>,
    groups: GroupColumns,
    temperatures: Vec<f64>,
    /// state at the start of a step, if the reporters receive it
    state: Option<State>,
    /// forces at the start of a step, if the reporters receive them
    forces: Vec<Vec3>,
}

impl Outputs {
    /// Creates the reporters of the plan, and adds the reporters `more` that a program supplies. Opens no files.
    pub(in crate::run) fn new(plan: &Plan, more: Vec<Box<dyn Reporter>>, system: &System) -> Result<Self> {
        let (mut reporters, output): (Vec<Box<dyn Reporter>>, _) = (vec![], &plan.output);
        for options in &output.trajectories {
            let every = plan.intervals(&options.file);
            reporters.push(Box::new(TrajectoryReporter::new(options, every, &system.topology)?));
        }
        if output.energies.is_some() {
            reporters.push(Box::new(TableReporter::new(&ENERGY_TABLE, plan.intervals(ENERGIES))));
        }
        let restrained = |index: usize| !plan.stages[index].restraints.is_empty();
        if output.restraints.is_some() && (0..plan.stages.len()).any(restrained) {
            reporters.push(Box::new(TableReporter::new(
                &RESTRAINT_TABLE,
                plan.intervals(RESTRAINTS).only_where(restrained),
            )));
        }
        let minimises = |index: usize| matches!(plan.stages[index].kind, StageKind::Minimize(_));
        if (0..plan.stages.len()).any(minimises) {
            let every = plan.intervals(MINIMISATION).only_where(minimises);
            reporters.push(Box::new(TableReporter::new(&MINIMISATION_TABLE, every)));
        }
        reporters.extend(more);
        for (index, reporter) in reporters.iter().enumerate() {
            if reporters[..index].iter().any(|other| other.name() == reporter.name()) {
                let problem = Problem::new(format!("two reporters write \"{}\"", reporter.name()));
                return Err(problem.help("give each reporter its own name").into());
            }
        }
        let mass = system.topology.mass();
        Ok(Outputs {
            reporters,
            written: Written::default(),
            warnings: vec![],
            mass,
            columns: None,
            groups: GroupColumns::new(plan),
            temperatures: vec![],
            state: None,
            forces: vec![],
        })
    }

    /// Creates the output files, or continues existing files after the lengths in `written`, which come from a
    /// checkpoint. Returns an error if a file is missing, belongs to another run, was changed, or cannot store the data
    /// that the plan now requests. A file that is no longer in the plan is truncated to its length in the checkpoint,
    /// so that a later plan can continue it.
    pub(in crate::run) fn open(&mut self, run: &RunInfo<'_>, mut written: Written) -> Result<()> {
        let mut inactive: Vec<Box<dyn Reporter>> = vec![];
        for reporter in written.keys().filter(|name| !self.reporters.iter().any(|other| other.name() == *name)) {
            inactive.extend(by_name(reporter));
        }
        for reporter in &inactive {
            let path = run.file(reporter.name());
            if !path.exists() {
                let missing = format!(
                    "the file {} is missing; if the input file enables this output again, a new file is created",
                    path.display()
                );
                self.warnings.push(missing);
                written.remove(reporter.name());
            }
        }
        inactive.retain(|reporter| written.contains_key(reporter.name()));
        // all files are checked before any file is changed. Tables are checked before trajectories, because a damaged
        // table cannot be repaired
        for reporter in self.reporters.iter_mut().rev().chain(&mut inactive) {
            if let Some(&checkpointed) = written.get(reporter.name()) {
                reporter.check(run, checkpointed)?;
            }
        }
        for reporter in &mut inactive {
            reporter.open(run, written.get(reporter.name()).copied())?;
            reporter.close()?;
        }
        for reporter in &mut self.reporters {
            reporter.open(run, written.get(reporter.name()).copied())?;
            self.warnings.extend(reporter.warning().map(str::to_owned));
        }
        self.written = written;
        self.columns = Some(run.energy_columns());
        Ok(())
    }

    /// Truncates the output files to their lengths in the checkpoint, then closes and renames them. A file that was
    /// changed or cannot be read is renamed without being truncated.
    pub(in crate::run) fn set_aside(
        &mut self,
        directory: &Directory,
        run: &RunInfo<'_>,
        written: &Written,
    ) -> Result<()> {
        let mut names: Vec<String> = written.keys().chain(&run.plan.output.names()).cloned().collect();
        names.sort();
        names.dedup();
        let mut companions = vec![];
        for name in &names {
            let Some(mut reporter) = by_name(name) else { continue };
            if let Some(&checkpointed) = written.get(name)
                && reporter.check(run, checkpointed).is_ok()
            {
                let _ = reporter.open(run, Some(checkpointed)).and_then(|()| reporter.close());
            }
            companions.extend(reporter.companions());
        }
        names.extend(companions);
        directory.rename_as_part(&names)
    }

    /// Whether the output files of a finished run are unchanged. Files of unknown format count as unchanged.
    pub(in crate::run) fn are_complete(&self, run: &RunInfo<'_>, files: &BTreeMap<String, Extent>) -> bool {
        files.iter().all(|(name, &extent)| {
            let own = self.reporters.iter().find(|reporter| reporter.name() == name);
            match own {
                Some(reporter) => reporter.is_complete(run, extent),
                None => by_name(name).is_none_or(|reporter| reporter.is_complete(run, extent)),
            }
        })
    }

    /// Returns the quantities of a step that at least one reporter requests.
    pub(in crate::run) fn wants(&self, step: &StepInfo) -> Quantities {
        let wanted = self.reporters.iter().map(|reporter| reporter.wants(step));
        wanted.fold(Quantities::default(), Quantities::or)
    }

    /// Whether a reporter requests the step at the end of a stage, but not the same step at the start of the next stage
    /// (`start`; `None` if the next stage is no dynamics).
    pub(in crate::run) fn are_lost(&self, end: &StepInfo, start: Option<&StepInfo>) -> bool {
        let is_due = |reporter: &dyn Reporter, step: &StepInfo| reporter.wants(step).any();
        let reporters = self.reporters.iter().map(AsRef::as_ref);
        reporters
            .filter(|&reporter| is_due(reporter, end))
            .any(|reporter| !start.is_some_and(|start| is_due(reporter, start)))
    }

    /// Stores the state at the start of a step for the reporters.
    pub(in crate::run) fn hold_state(&mut self, fill: impl FnOnce(&mut State) -> Result<()>) -> Result<()> {
        fill(self.state.insert(State::default()))
    }

    /// Stores the forces at the start of a step for the reporters.
    pub(in crate::run) fn hold_forces(&mut self, forces: &[Vec3]) {
        self.forces = forces.to_vec();
    }

    /// Passes the stored state, the stored forces and the energies of the step to the reporters that requested them.
    /// Returns the row of the energy table if energies were requested.
    pub(in crate::run) fn report(
        &mut self,
        step: StepInfo,
        observed: Option<&Observed>,
        restraints: &[RestraintSample],
    ) -> Result<Option<Vec<f64>>> {
        // the memory of the state and of the forces is freed, because a large system has few steps with frames
        let (state, forces) = (self.state.take(), std::mem::take(&mut self.forces));
        let cell = match &state {
            Some(state) => state.cell,
            None => observed.and_then(|observed| observed.cell),
        };
        let state = state.unwrap_or_default();
        let of_groups = observed.map_or(&[][..], |observed| &observed.group_temperatures);
        self.groups.fill(step.stage, of_groups, &mut self.temperatures);
        let (mass, temperatures) = (self.mass, self.temperatures.as_slice());
        let report = Report {
            step,
            cell,
            positions: &state.positions,
            velocities: &state.velocities,
            forces: &forces,
            observed,
            restraints,
            minimisation: None,
            mass,
            temperatures,
        };
        for reporter in self.reporters.iter_mut().filter(|reporter| reporter.wants(&step).any()) {
            reporter.report(&report)?;
        }
        Ok(report.energy_row().zip(self.columns.as_ref()).map(|(row, columns)| row.values(columns).collect()))
    }

    /// Passes a step of a minimisation to the reporters that requested such steps.
    pub(in crate::run) fn report_minimisation(&mut self, step: StepInfo, sample: MinimisationSample) -> Result<()> {
        let report = Report { step, minimisation: Some(sample), mass: self.mass, ..Report::default() };
        let mut reporters = self.reporters.iter_mut().filter(|reporter| reporter.wants(&step).minimisation);
        reporters.try_for_each(|reporter| reporter.report(&report))
    }

    /// Returns warnings about the output files, for the user.
    pub(in crate::run) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Forces all output files to disk and returns their lengths.
    pub(in crate::run) fn sync(&mut self) -> Result<Written> {
        self.each(|reporter| reporter.sync())
    }

    /// Closes all output files and returns their lengths.
    pub(in crate::run) fn close(&mut self) -> Result<Written> {
        self.sync()?;
        self.each(|reporter| reporter.close())
    }

    fn each(&mut self, act: impl Fn(&mut dyn Reporter) -> Result<Option<Mark>>) -> Result<Written> {
        for reporter in &mut self.reporters {
            if let Some(mark) = act(reporter.as_mut())? {
                self.written.insert(reporter.name().to_owned(), mark);
            }
        }
        Ok(self.written.clone())
    }
}

/// Creates a reporter for an output file that a checkpoint or summary lists but the plan does not contain; `None` if
/// the file name belongs to no known kind of output.
fn by_name(name: &str) -> Option<Box<dyn Reporter>> {
    match name {
        ENERGIES => Some(Box::new(TableReporter::new(&ENERGY_TABLE, Intervals::default()))),
        RESTRAINTS => Some(Box::new(TableReporter::new(&RESTRAINT_TABLE, Intervals::default()))),
        MINIMISATION => Some(Box::new(TableReporter::new(&MINIMISATION_TABLE, Intervals::default()))),
        _ => Some(Box::new(TrajectoryReporter::inactive(name)?)),
    }
}

/// Returns an error if an output file is missing although the checkpoint stores its length.
fn check_present(path: &Path, checkpointed: Mark, records: &str) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    let count = checkpointed.extent.count;
    let message = format!("this file is missing, although it had {count} {records} when the checkpoint was written");
    let help = "restore the file, or use --no-append to continue in a new file";
    Err(Problem::new(message).in_file(path).help(help).into())
}
