//! The reporters of a run, and the files of theirs that grow.

mod energies;
mod frames;

use super::checkpoint::Written;
use super::directory::Directory;
use super::plan::{ENERGIES, OutputOptions};
use super::reporter::{Moment, Quantities, Report, Reporter, RunInfo};
use super::simulation::Observed;
use crate::error::{Problem, Result};
use crate::observe::extent::{Extent, Mark};
use crate::system::{State, System};
use crate::vec3::Vec3;
use energies::EnergyReporter;
use frames::TrajectoryReporter;
use std::collections::BTreeMap;
use std::path::Path;

/// Everything that reports of a run.
pub(super) struct Outputs {
    reporters: Vec<Box<dyn Reporter>>,
    /// of the outputs, open or not
    written: Written,
    warnings: Vec<String>,
    /// of all atoms, amu
    mass: f64,
    /// at the start of a step that is reported
    state: State,
    forces: Vec<Vec3>,
    holds_state: bool,
}

impl Outputs {
    /// The reporters that a plan asks for and those of a program, before they are opened.
    pub(super) fn new(output: &OutputOptions, more: Vec<Box<dyn Reporter>>, system: &System) -> Result<Self> {
        let mut reporters: Vec<Box<dyn Reporter>> = vec![];
        for options in &output.trajectories {
            reporters.push(Box::new(TrajectoryReporter::new(options)?));
        }
        reporters
            .extend(output.energies.map(|options| Box::new(EnergyReporter::new(Some(options))) as Box<dyn Reporter>));
        reporters.extend(more);
        for (index, reporter) in reporters.iter().enumerate() {
            if reporters[..index].iter().any(|other| other.name() == reporter.name()) {
                let problem = Problem::new(format!("two reporters write \"{}\"", reporter.name()));
                return Err(problem.help("give each a name of its own").into());
            }
        }
        let mass = system.topology.atoms.iter().map(|atom| atom.mass).sum();
        Ok(Outputs {
            reporters,
            written: Written::default(),
            warnings: vec![],
            mass,
            state: State::default(),
            forces: vec![],
            holds_state: false,
        })
    }

    /// Create the files, or go on after what was `written` before the checkpoint. A file that is missing, belongs to
    /// another run, was changed, or cannot take what is asked for now is refused. One that is no longer asked for is
    /// kept as the checkpoint knows it, to be continued when it is asked for again.
    pub(super) fn open(&mut self, run: &RunInfo<'_>, mut written: Written) -> Result<()> {
        let mut dormant: Vec<Box<dyn Reporter>> = vec![];
        for reporter in written.keys().filter(|name| !self.reporters.iter().any(|other| other.name() == *name)) {
            dormant.extend(by_name(reporter));
        }
        for reporter in &dormant {
            let path = run.file(reporter.name());
            if !path.exists() {
                let gone = format!("{} is gone; a new one is begun when it is asked for again", path.display());
                self.warnings.push(gone);
                written.remove(reporter.name());
            }
        }
        dormant.retain(|reporter| written.contains_key(reporter.name()));
        // before anything is changed; tables, which are never mended, first
        for reporter in self.reporters.iter_mut().rev().chain(&mut dormant) {
            if let Some(&kept) = written.get(reporter.name()) {
                reporter.check(run, kept)?;
            }
        }
        for reporter in &mut dormant {
            reporter.open(run, written.get(reporter.name()).copied())?;
            reporter.close()?;
        }
        for reporter in &mut self.reporters {
            reporter.open(run, written.get(reporter.name()).copied())?;
            self.warnings.extend(reporter.warning().map(str::to_owned));
        }
        self.written = written;
        Ok(())
    }

    /// Leaves the files as the checkpoint knows them, closed, under other names. One that is not as it was left, or cannot
    /// be read, is renamed as it is.
    pub(super) fn set_aside(&mut self, directory: &Directory, run: &RunInfo<'_>, written: &Written) -> Result<()> {
        let mut names: Vec<String> = written.keys().chain(&run.plan.output.names()).cloned().collect();
        names.sort();
        names.dedup();
        let mut companions = vec![];
        for name in &names {
            let Some(mut reporter) = by_name(name) else { continue };
            if let Some(&kept) = written.get(name)
                && reporter.check(run, kept).is_ok()
            {
                let _ = reporter.open(run, Some(kept)).and_then(|()| reporter.close());
            }
            companions.extend(reporter.companions());
        }
        names.extend(companions);
        directory.rename_as_part(&names)
    }

    /// Whether the outputs of a finished run are as it has left them, as far as somebody knows them.
    pub(super) fn are_complete(&self, run: &RunInfo<'_>, files: &BTreeMap<String, Extent>) -> bool {
        files.iter().all(|(name, &extent)| {
            let own = self.reporters.iter().find(|reporter| reporter.name() == name);
            match own {
                Some(reporter) => reporter.is_complete(run, extent),
                None => by_name(name).is_none_or(|reporter| reporter.is_complete(run, extent)),
            }
        })
    }

    /// What is wanted of a step.
    pub(super) fn wants(&self, moment: &Moment) -> Quantities {
        let wanted = self.reporters.iter().map(|reporter| reporter.wants(moment));
        wanted.fold(Quantities::default(), Quantities::or)
    }

    /// Keep the state at the start of a step that is reported.
    pub(super) fn hold_state(&mut self, fill: impl FnOnce(&mut State) -> Result<()>) -> Result<()> {
        self.holds_state = true;
        fill(&mut self.state)
    }

    /// Keep the forces at the start of a step that is reported.
    pub(super) fn hold_forces(&mut self, forces: &[Vec3]) {
        self.forces.clear();
        self.forces.extend_from_slice(forces);
    }

    /// Hands what was held, and the numbers of the step, to all who wanted something; returns the values of its row in the
    /// energy table, if energies were wanted.
    pub(super) fn report(&mut self, moment: Moment, observed: Option<&Observed>) -> Result<Option<Vec<f64>>> {
        let held = std::mem::take(&mut self.holds_state);
        let state = if held { &self.state } else { &State::default() };
        let cell = if held { state.cell } else { observed.and_then(|observed| observed.cell) };
        let State { positions, velocities, .. } = state;
        let forces = std::mem::take(&mut self.forces);
        let report = Report { moment, cell, positions, velocities, forces: &forces, observed, mass: self.mass };
        for reporter in self.reporters.iter_mut().filter(|reporter| reporter.wants(&moment).any()) {
            reporter.report(&report)?;
        }
        let row = report.energy_row().map(|row| row.values().to_vec());
        // kept for the next ones, empty: nobody is to take them for those of another step
        self.forces = forces;
        self.forces.clear();
        Ok(row)
    }

    /// What the user should know of how the files are written.
    pub(super) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Everything on disk; returns how much there is.
    pub(super) fn sync(&mut self) -> Result<Written> {
        self.each(|reporter| reporter.sync())
    }

    /// Close the files; returns what they hold.
    pub(super) fn close(&mut self) -> Result<Written> {
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

/// A reporter for an output that a checkpoint or a summary knows and nobody asks for now.
fn by_name(name: &str) -> Option<Box<dyn Reporter>> {
    match name {
        ENERGIES => Some(Box::new(EnergyReporter::new(None))),
        _ => Some(Box::new(TrajectoryReporter::dormant(name)?)),
    }
}

/// A file that a checkpoint has seen must be there.
fn check_present(path: &Path, kept: Mark, records: &str) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    let count = kept.extent.count;
    let message = format!("this file is missing; the checkpoint was written after {count} {records} of it");
    let help = "put it back, or use --no-append to go on in a new file";
    Err(Problem::new(message).in_file(path).help(help).into())
}
