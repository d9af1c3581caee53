//! The files of a run that grow: trajectory and energies.

use super::checkpoint::Written;
use super::directory::Directory;
use super::plan::{Plan, TrajectoryOptions};
use super::simulation::Observed;
use crate::error::{Error, Problem, Result};
use crate::observe::energies::{EnergyRow, EnergyTable};
use crate::observe::extent::Extent;
use crate::observe::lock::host_name;
use crate::observe::trajectory::{
    Contents, Fields, Frame, Observable, Precision, Provenance, TrajectoryInfo, TrajectoryWriter, info,
};
use crate::system::{State, System};
use crate::vec3::Vec3;
use std::fs;
use std::path::Path;

/// Numbers recorded with every frame.
const OBSERVABLES: [(&str, &str); 6] = [
    ("potential_energy", "kJ mol-1"),
    ("kinetic_energy", "kJ mol-1"),
    ("conserved_energy", "kJ mol-1"),
    ("temperature", "K"),
    ("pressure", "bar"),
    ("volume", "nm3"),
];

/// Trajectory and energies.
pub(super) struct Outputs {
    trajectory: Option<TrajectoryWriter>,
    energies: Option<EnergyTable>,
    /// of the files, open or not
    written: Written,
    warnings: Vec<String>,
    mass: f64,
    frame: State,
    forces: Vec<Vec3>,
}

/// What the files are made from.
pub(super) struct Source<'a> {
    pub(super) run_id: &'a str,
    pub(super) plan: &'a Plan,
    pub(super) system: &'a System,
    pub(super) input: &'a str,
    pub(super) periodic: bool,
}

impl Outputs {
    /// Create the files, or go on after what was `written` before the checkpoint. A file that is missing, belongs to
    /// another run, was changed, or cannot take what is asked for now is refused. One that is no longer asked for is
    /// kept as the checkpoint knows it, to be continued when it is asked for again.
    pub(super) fn open(directory: &Directory, source: &Source<'_>, mut written: Written) -> Result<Self> {
        let mut warnings = vec![];
        let output = &source.plan.output;
        let mut forget = |path: &Path, written: &mut Option<Extent>| {
            if written.is_some() && !path.exists() {
                warnings.push(format!("{} is gone; a new one is begun when it is asked for again", path.display()));
                *written = None;
            }
        };
        let table = directory.file("energies.csv");
        if let Some(kept) = written.energies.filter(|_| output.energies.is_some() || table.exists()) {
            // before anything is changed
            check_present(&table, kept, "rows")?;
            EnergyTable::check(&table, source.periodic, kept)?;
        }
        let path = directory.file("trajectory.h5md");
        let trajectory = match &output.trajectory {
            Some(options) => Some(open_trajectory(&path, options, source, written.trajectory)?),
            None => {
                forget(&path, &mut written.trajectory);
                if let Some(kept) = written.trajectory {
                    close_trajectory(&path, source.run_id, kept)?;
                }
                None
            }
        };
        if output.energies.is_none() {
            forget(&table, &mut written.energies);
        }
        let energies = match (output.energies, written.energies) {
            (None, None) => None,
            (Some(_), None) => Some(EnergyTable::create(&table, source.periodic)?),
            (asked, Some(kept)) => {
                Some(EnergyTable::append(&table, source.periodic, kept)?).filter(|_| asked.is_some())
            }
        };
        let mass = source.system.topology.atoms.iter().map(|atom| atom.mass).sum();
        let mut outputs =
            Outputs { trajectory, energies, written, warnings, mass, frame: State::default(), forces: vec![] };
        if outputs.trajectory.as_ref().is_some_and(|trajectory| !trajectory.is_shared()) {
            outputs.warnings.push(
                "the file system of the output directory does not support reading the trajectory while it is written; \
                 it can be read once the run has ended, or after `md repair` if it was killed"
                    .to_owned(),
            );
        }
        Ok(outputs)
    }

    /// Leaves the files as the checkpoint knows them, closed, under other names. One that is not as it was left, or cannot
    /// be read, is renamed as it is.
    pub(super) fn set_aside(directory: &Directory, (run_id, periodic): (&str, bool), written: Written) -> Result<()> {
        if let Some(kept) = written.trajectory {
            let _ = close_trajectory(&directory.file("trajectory.h5md"), run_id, kept);
        }
        if let Some(kept) = written.energies {
            let _ = EnergyTable::append(&directory.file("energies.csv"), periodic, kept);
        }
        directory.rename_as_part(&["trajectory.h5md", "energies.csv", ".trajectory.h5md.journal"])
    }

    /// Keep the state at the start of a step for the frame whose numbers follow.
    pub(super) fn hold_frame(&mut self, fill: impl FnOnce(&mut State) -> Result<()>, forces: &[Vec3]) -> Result<()> {
        fill(&mut self.frame)?;
        self.forces.clear();
        if self.trajectory.as_ref().is_some_and(|t| t.fields().forces) {
            self.forces.extend_from_slice(forces);
        }
        Ok(())
    }

    /// Write the held frame with its numbers.
    pub(super) fn write_frame(&mut self, observed: &Observed) -> Result<()> {
        let Some(trajectory) = &mut self.trajectory else { return Ok(()) };
        let State { step, time, cell, positions, velocities, .. } = &self.frame;
        let volume = cell.map_or(0.0, |cell| cell.volume());
        let numbers = [
            observed.energies.potential(),
            observed.kinetic,
            observed.conserved,
            observed.temperature,
            observed.pressure / crate::units::BAR,
            volume,
        ];
        trajectory.write(&Frame {
            step: *step,
            time: *time,
            cell: *cell,
            positions,
            velocities,
            forces: &self.forces,
            observables: &numbers,
        })
    }

    /// One row of the energy table; returns its values for the averages.
    pub(super) fn write_row(&mut self, (step, time, stage): (u64, f64, u32), observed: &Observed) -> Result<Vec<f64>> {
        let row = EnergyRow {
            step,
            time,
            stage,
            energies: observed.energies,
            kinetic: observed.kinetic,
            conserved: observed.conserved,
            temperature: observed.temperature,
            pressure: observed.pressure,
            mass: self.mass,
            cell: observed.cell,
        };
        if let Some(table) = &mut self.energies {
            table.write(&row)?;
        }
        Ok(row.values().to_vec())
    }

    /// What the user should know of how the files are written.
    pub(super) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Everything on disk; returns how much there is.
    pub(super) fn sync(&mut self) -> Result<Written> {
        if let Some(energies) = &mut self.energies {
            self.written.energies = Some(energies.sync()?);
        }
        if let Some(trajectory) = &mut self.trajectory {
            self.written.trajectory = Some(trajectory.sync()?);
        }
        Ok(self.written)
    }

    /// Close the files; returns what they hold.
    pub(super) fn close(&mut self) -> Result<Written> {
        self.sync()?;
        self.energies = None;
        if let Some(trajectory) = self.trajectory.take() {
            self.written.trajectory = Some(trajectory.close()?);
        }
        Ok(self.written)
    }
}

/// A trajectory that is new, or goes on after what is in it.
fn open_trajectory(
    path: &Path,
    options: &TrajectoryOptions,
    source: &Source<'_>,
    written: Option<Extent>,
) -> Result<TrajectoryWriter> {
    let Some(kept) = written else {
        // one that this run has begun after its last checkpoint holds nothing that is counted
        if info(path).is_ok_and(|found| found.run_id == source.run_id) {
            fs::remove_file(path).map_err(|e| Error::io(path, e))?;
        }
        return create_trajectory(path, options, source);
    };
    let found = check_owner(path, source.run_id, kept)?;
    let (fields, precision) = stored_as(options);
    if (found.fields, found.precision) != (fields, precision) {
        let describe = |fields: Fields, precision| {
            format!("velocities: {}, forces: {}, positions: {precision:?}", fields.velocities, fields.forces)
        };
        return Err(Problem::new(format!(
            "a trajectory keeps what it was begun with ({}); now it is to hold ({})",
            describe(found.fields, found.precision),
            describe(fields, precision)
        ))
        .in_file(path)
        .help("restore the settings of output.trajectory, or use --no-append to go on in a new file")
        .into());
    }
    TrajectoryWriter::append(path, Some(kept))
}

/// A trajectory in which this run has written so much.
fn check_owner(path: &Path, run_id: &str, kept: Extent) -> Result<TrajectoryInfo> {
    check_present(path, kept, "frames")?;
    let found = match info(path) {
        Ok(found) => found,
        // as a loss of power leaves it: the writer mends what it can, and says what is wrong with the rest
        Err(_) => {
            TrajectoryWriter::append(path, Some(kept))?.close()?;
            info(path)?
        }
    };
    if found.run_id == run_id {
        return Ok(found);
    }
    let message = format!("this trajectory belongs to another run ({}), not to this one ({run_id})", found.run_id);
    let help = "put the trajectory of this run in its place, or use --no-append to go on in a new file";
    Err(Problem::new(message).in_file(path).help(help).into())
}

/// Leaves a trajectory of this run closed, with what the checkpoint knows of.
fn close_trajectory(path: &Path, run_id: &str, kept: Extent) -> Result<()> {
    check_owner(path, run_id, kept)?;
    TrajectoryWriter::append(path, Some(kept))?.close().map(|_| ())
}

fn check_present(path: &Path, kept: Extent, records: &str) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    let message = format!("this file is missing; the checkpoint was written after {} {records} of it", kept.count);
    let help = "put it back, or use --no-append to go on in a new file";
    Err(Problem::new(message).in_file(path).help(help).into())
}

/// How a trajectory stores what is asked for.
fn stored_as(options: &TrajectoryOptions) -> (Fields, Precision) {
    let precision = match options.precision {
        None => Precision::Lossless,
        // never coarser than asked for; 0.1 % covers the rounding of units
        Some(step) if step > 0.999e-3 => Precision::Decimals3,
        Some(step) if step > 0.999e-4 => Precision::Decimals4,
        Some(_) => Precision::Lossless,
    };
    (Fields { velocities: options.velocities, forces: options.forces, image: false }, precision)
}

fn create_trajectory(path: &Path, options: &TrajectoryOptions, source: &Source<'_>) -> Result<TrajectoryWriter> {
    let &Source { run_id, plan, system, input, periodic } = source;
    let observables = OBSERVABLES.map(|(name, unit)| Observable { name: name.into(), unit: unit.into() });
    let provenance = Provenance {
        run_id: run_id.to_owned(),
        version: env!("CARGO_PKG_VERSION").into(),
        commit: String::new(),
        host: host_name(),
        author: String::new(),
        input: input.to_owned(),
        seed: plan.run.seed,
    };
    let (fields, precision) = stored_as(options);
    let contents = Contents {
        topology: &system.topology,
        periodic,
        fields,
        precision,
        observables: &observables,
        provenance: &provenance,
    };
    TrajectoryWriter::create(path, &contents)
}
