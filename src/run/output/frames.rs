//! Reporter that writes a trajectory in any of the trajectory formats.

use crate::error::{Error, Problem, Result};
use crate::observe::extent::{Extent, Mark};
use crate::observe::lock::host_name;
use crate::observe::replace::refuse_link;
use crate::observe::trajectory::{
    Contents, Fields, Format, Frame, FrameSink, Observable, Placement, Precision, Provenance, Spacing,
};
use crate::run::output::check_present;
use crate::run::output::reporter::{Quantities, Report, Reporter, RunInfo};
use crate::run::plan::stage_output::Intervals;
use crate::run::plan::{Dynamics, StageKind, StepInfo, TrajectoryOptions};
use crate::system::Topology;
use crate::units::BAR;
use std::fs;

/// Observables that are stored with every frame, with their units. Each frame stores the temperatures of the
/// temperature groups after these observables.
const OBSERVABLES: [(&str, &str); 6] = [
    ("potential_energy", "kJ mol-1"),
    ("kinetic_energy", "kJ mol-1"),
    ("conserved_energy", "kJ mol-1"),
    ("temperature", "K"),
    ("pressure", "bar"),
    ("volume", "nm3"),
];

/// Reporter that writes the frames of one trajectory file.
pub(super) struct TrajectoryReporter {
    name: String,
    format: &'static Format,
    fields: Fields,
    precision: Precision,
    selection: Option<Selection>,
    /// intervals between frames in each stage; `None` if this trajectory is not in the plan
    every: Option<Intervals>,
    /// values of the observables of a frame, reused for the next frame
    numbers: Vec<f64>,
    sink: Option<Box<dyn FrameSink>>,
}

/// Atoms of a system that a trajectory contains.
struct Selection {
    /// 0-based indices of the atoms, ascending
    atoms: Vec<u32>,
    topology: Topology,
}

impl TrajectoryReporter {
    /// Creates the reporter of one trajectory. Returns an error if the format cannot store the requested data, or if
    /// the selection contains no atom.
    pub(super) fn new(options: &TrajectoryOptions, every: Intervals, system: &Topology) -> Result<Self> {
        let format = Format::of_name(&options.file)?;
        let precision = options.check(format)?;
        Ok(Self {
            name: options.file.clone(),
            format,
            fields: Fields { velocities: options.velocities, forces: options.forces, image: options.images },
            precision,
            selection: options.selected(system)?.map(|atoms| Selection { topology: system.subset(&atoms), atoms }),
            every: Some(every),
            numbers: vec![],
            sink: None,
        })
    }

    /// Creates a reporter for an existing file that is not in the plan; `None` if the file name does not have the
    /// extension of a trajectory format.
    pub(super) fn inactive(name: &str) -> Option<Self> {
        let format = Format::of_name(name).ok()?;
        let (fields, precision) = (Fields::default(), Precision::default());
        let (name, numbers) = (name.to_owned(), vec![]);
        Some(Self { name, format, fields, precision, selection: None, every: None, numbers, sink: None })
    }

    /// Calls `act` with a description of the properties of the trajectory.
    fn with_contents<R>(&self, run: &RunInfo<'_>, act: impl FnOnce(&Contents<'_>) -> R) -> R {
        let temperatures = run.energy_columns().temperatures;
        let all = OBSERVABLES.into_iter().chain(temperatures.iter().map(|name| (name.as_str(), "K")));
        let observables: Vec<Observable> =
            all.map(|(name, unit)| Observable { name: name.into(), unit: unit.into() }).collect();
        let provenance = Provenance {
            run_id: run.run_id.to_owned(),
            version: env!("CARGO_PKG_VERSION").into(),
            commit: crate::COMMIT.into(),
            host: host_name(),
            author: String::new(),
            input: run.input.to_owned(),
            seed: run.plan.run.seed,
        };
        // formats without frame times store the interval between frames in the first stage that writes frames. Readers
        // compute the times of all frames from this interval
        let spacing = run.plan.stages.iter().enumerate().find_map(|(index, stage)| {
            let every = self.every.as_ref()?.of_stage(index)?;
            let StageKind::Dynamics(Dynamics { timestep, .. }) = stage.kind else { return None };
            Some(Spacing { steps: every.steps(timestep), timestep })
        });
        let (system, selection) = (&run.system.topology, self.selection.as_ref());
        act(&Contents {
            topology: selection.map_or(system, |selection| &selection.topology),
            placement: Placement {
                whole: true,
                selected: selection.map(|selection| (system, selection.atoms.as_slice())),
            },
            periodic: run.periodic,
            fields: self.fields,
            precision: self.precision,
            observables: &observables,
            provenance: &provenance,
            spacing: spacing.unwrap_or(Spacing { steps: 1, timestep: 0.0 }),
        })
    }
}

/// Returns a placeholder for the selection of a trajectory file that is not in the plan; `None` if the file has all
/// atoms. Only the number of atoms of the placeholder is correct. No other property of the placeholder is used, because
/// the run writes no frames to this file.
fn selection_of(atoms: usize, system: &Topology) -> Option<Selection> {
    (1..system.atoms.len()).contains(&atoms).then(|| {
        let atoms: Vec<u32> = (0..atoms as u32).collect();
        Selection { topology: system.subset(&atoms), atoms }
    })
}

impl Reporter for TrajectoryReporter {
    fn name(&self) -> &str {
        &self.name
    }

    fn wants(&self, step: &StepInfo) -> Quantities {
        if !self.every.as_ref().is_some_and(|every| every.is_due(step)) {
            return Quantities::default();
        }
        let Fields { velocities, forces, .. } = self.fields;
        Quantities { positions: true, velocities, forces, energies: self.format.holds.observables, ..Quantities::NONE }
    }

    fn report(&mut self, report: &Report<'_>) -> Result<()> {
        let Some(sink) = &mut self.sink else { return Ok(()) };
        self.numbers.clear();
        if let Some(observed) = report.observed {
            self.numbers.extend([
                observed.energies.potential(),
                observed.kinetic,
                observed.conserved,
                observed.temperature,
                observed.pressure / BAR,
                report.cell.map_or(0.0, |cell| cell.volume()),
            ]);
            self.numbers.extend_from_slice(report.temperatures);
        }
        sink.write(&Frame {
            step: report.step.step,
            time: report.step.time,
            cell: report.cell,
            positions: report.positions,
            velocities: report.velocities,
            forces: report.forces,
            observables: &self.numbers,
        })
    }

    fn check(&mut self, run: &RunInfo<'_>, checkpointed: Mark) -> Result<()> {
        let (path, files) = (run.file(&self.name), self.format.files);
        refuse_link(&path)?;
        check_present(&path, checkpointed, "frames")?;
        files.check(&path, checkpointed)?;
        if let Some(found) = files.run_id(&path).filter(|found| found != run.run_id) {
            let message =
                format!("this trajectory belongs to another run ({found}); the present run is {}", run.run_id);
            let help = "replace this file by the trajectory of this run, or use --no-append to continue in a new file";
            return Err(Problem::new(message).in_file(&path).help(help).into());
        }
        if self.every.is_none() {
            return Ok(());
        }
        self.with_contents(run, |contents| files.continues(&path, contents))
    }

    fn open(&mut self, run: &RunInfo<'_>, checkpointed: Option<Mark>) -> Result<()> {
        let (path, files) = (run.file(&self.name), self.format.files);
        // a file that this run created after its last checkpoint is removed, because the checkpoint does not list the
        // file
        if checkpointed.is_none() && files.run_id(&path).is_some_and(|found| found == run.run_id) {
            fs::remove_file(&path).map_err(|e| Error::io(&path, e))?;
        }
        if self.every.is_none() {
            self.selection = selection_of(files.open(&path)?.atoms(), &run.system.topology);
        }
        self.sink = Some(self.with_contents(run, |contents| match checkpointed {
            Some(checkpointed) => refuse_link(&path).and_then(|()| files.append(&path, contents, checkpointed)),
            None => files.create(&path, contents),
        })?);
        Ok(())
    }

    fn sync(&mut self) -> Result<Option<Mark>> {
        self.sink.as_mut().map(|sink| sink.sync()).transpose()
    }

    fn close(&mut self) -> Result<Option<Mark>> {
        self.sink.take().map(|sink| sink.close()).transpose()
    }

    fn is_complete(&self, run: &RunInfo<'_>, extent: Extent) -> bool {
        let (path, files) = (run.file(&self.name), self.format.files);
        files.run_id(&path).is_none_or(|found| found == run.run_id) && files.is_complete(&path, extent)
    }

    fn warning(&self) -> Option<&str> {
        self.sink.as_ref().and_then(|sink| sink.warning())
    }

    fn companions(&self) -> Vec<String> {
        self.format.files.companions(&self.name)
    }
}
