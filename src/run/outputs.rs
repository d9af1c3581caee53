//! The files of a run in its output directory.

use super::checkpoint::state_hash;
use super::instability::UNSTABLE;
use super::plan::{Plan, TrajectoryOptions};
use super::simulation::Observed;
use crate::error::{Error, Problem, Result};
use crate::format::{Coordinates, write_pdb, write_rst7};
use crate::observe::energies::{EnergyRow, EnergyTable};
use crate::observe::extent::Extent;
use crate::observe::lock::{OutputLock, host_name};
use crate::observe::status::RunState;
use crate::observe::summary::Summary;
use crate::observe::trajectory::{Contents, Fields, Frame, Observable, Precision, Provenance, TrajectoryWriter};
use crate::system::{State, System};
use crate::vec3::Vec3;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Numbers recorded with every frame.
const OBSERVABLES: [(&str, &str); 6] = [
    ("potential_energy", "kJ mol-1"),
    ("kinetic_energy", "kJ mol-1"),
    ("conserved_energy", "kJ mol-1"),
    ("temperature", "K"),
    ("pressure", "bar"),
    ("volume", "nm3"),
];

/// Paths of the output directory.
#[derive(Clone, Debug)]
pub(super) struct Directory {
    root: PathBuf,
}

impl Directory {
    /// The directory of a plan.
    pub(super) fn new(plan: &Plan) -> Self {
        Directory { root: plan.output.directory.clone() }
    }

    /// Path of a file in it.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// True when a run has written here.
    pub(super) fn is_used(&self) -> bool {
        ["checkpoint.md", "checkpoint.prev.md", "energies.csv", "trajectory.h5md", "summary.json"]
            .iter()
            .any(|name| self.file(name).exists())
    }

    /// Create and lock it; with `force` what is there is moved aside first.
    pub(super) fn open(&self, force: bool) -> Result<OutputLock> {
        if force && self.is_used() {
            // nobody else may be at work in there
            drop(OutputLock::acquire(&self.root)?);
            let numbered = |n: u32| {
                let mut name = self.root.clone().into_os_string();
                name.push(format!(".bak{n}"));
                PathBuf::from(name)
            };
            if let Some(aside) = (1..).map(numbered).find(|path| !path.exists()) {
                fs::rename(&self.root, &aside).map_err(|e| Error::io(&self.root, e))?;
            }
        }
        fs::create_dir_all(&self.root).map_err(|e| Error::io(&self.root, e))?;
        OutputLock::acquire(&self.root)
    }

    /// Remove what a run wrote before it had anything to keep.
    pub(super) fn clear(&self) -> Result<()> {
        for name in ["energies.csv", "trajectory.h5", "trajectory.h5md", UNSTABLE] {
            match fs::remove_file(self.file(name)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io(&self.file(name), error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// True when the files of a run that ended in `state` are all here.
    pub(super) fn has_results(&self, state: &State) -> bool {
        let hash = format!("{:08x}", state_hash(state));
        let summary = Summary::read(&self.file("summary.json")).ok();
        summary.is_some_and(|s| s.state == RunState::Finished && s.final_state_hash == Some(hash))
            && ["final.rst7", "final.pdb"].iter().all(|name| self.file(name).exists())
    }

    /// Refuse to mix with output that no checkpoint explains.
    pub(super) fn check_unused(&self) -> Result<()> {
        if !self.is_used() {
            return Ok(());
        }
        Err(Problem::new("this directory holds output, but no checkpoint to continue from")
            .in_file(&self.root)
            .help("choose another output.directory, or use --force to move the old output aside")
            .into())
    }
}

/// Trajectory and energies.
pub(super) struct Outputs {
    trajectory: Option<TrajectoryWriter>,
    energies: Option<EnergyTable>,
    mass: f64,
    frame: State,
    forces: Vec<Vec3>,
}

impl Outputs {
    /// Create the files, or go on after these frames and the row of `step`.
    pub(super) fn open(
        directory: &Directory,
        (plan, system, input): (&Plan, &System, &str),
        periodic: bool,
        resume: Option<(Extent, u64)>,
    ) -> Result<Self> {
        let path = directory.file("trajectory.h5md");
        let trajectory = match (&plan.output.trajectory, resume) {
            (None, _) => None,
            (Some(_), Some((frames, _))) if path.exists() => Some(TrajectoryWriter::append(&path, Some(frames))?),
            (Some(options), _) => Some(create_trajectory(&path, options, plan, system, input, periodic)?),
        };
        let path = directory.file("energies.csv");
        let energies = match (&plan.output.energies, resume) {
            (None, _) => None,
            (Some(_), Some((_, step))) if path.exists() => Some(EnergyTable::append(&path, periodic, step)?),
            (Some(_), _) => Some(EnergyTable::create(&path, periodic)?),
        };
        let mass = system.topology.atoms.iter().map(|atom| atom.mass).sum();
        Ok(Outputs { trajectory, energies, mass, frame: State::default(), forces: vec![] })
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
    pub(super) fn warning(&self) -> Option<String> {
        self.trajectory.as_ref().filter(|trajectory| !trajectory.is_shared()).map(|_| {
            "the file system of the output directory does not support reading the trajectory while it is written; it \
             can be read once the run has ended, or after `md repair` if it was killed"
                .to_owned()
        })
    }

    /// Everything on disk; returns the frames there are.
    pub(super) fn sync(&mut self) -> Result<Extent> {
        if let Some(energies) = &mut self.energies {
            energies.sync()?;
        }
        self.trajectory.as_mut().map_or(Ok(Extent::default()), TrajectoryWriter::sync)
    }

    /// Close the files.
    pub(super) fn close(mut self) -> Result<()> {
        self.sync()?;
        self.trajectory.map_or(Ok(Extent::default()), TrajectoryWriter::close).map(|_| ())
    }
}

fn create_trajectory(
    path: &Path,
    options: &TrajectoryOptions,
    plan: &Plan,
    system: &System,
    input: &str,
    periodic: bool,
) -> Result<TrajectoryWriter> {
    let observables = OBSERVABLES.map(|(name, unit)| Observable { name: name.into(), unit: unit.into() });
    let provenance = Provenance {
        run_id: String::new(),
        version: env!("CARGO_PKG_VERSION").into(),
        commit: String::new(),
        host: host_name(),
        author: String::new(),
        input: input.to_owned(),
        seed: plan.run.seed,
    };
    let precision = match options.precision {
        None => Precision::Lossless,
        // never coarser than asked for; 0.1 % covers the rounding of units
        Some(step) if step > 0.999e-3 => Precision::Decimals3,
        Some(step) if step > 0.999e-4 => Precision::Decimals4,
        Some(_) => Precision::Lossless,
    };
    let fields = Fields { velocities: options.velocities, forces: options.forces, image: false };
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

/// `final.rst7` and `final.pdb`. Velocities are those of the state, half a step before the positions, as AMBER's own
/// restart files have them and as `velocities = "file"` takes them.
pub(super) fn write_final(directory: &Directory, system: &System, state: &State) -> Result<()> {
    let title = format!("{}, final state at {:.3} ps", system.topology.title.trim(), state.time);
    let short: String = system.topology.title.trim().chars().take(30).collect();
    let coordinates = Coordinates {
        title: format!("{short}, final state, velocities half a step before"),
        time: Some(state.time),
        positions: state.positions.clone(),
        velocities: (!state.velocities.is_empty()).then(|| state.velocities.clone()),
        cell: state.cell,
    };
    write_file(&directory.file("final.rst7"), |out| write_rst7(&coordinates, out))?;
    write_file(&directory.file("final.pdb"), |out| {
        write_pdb(&system.topology, &state.positions, state.cell.as_ref(), &title, out)
    })
}

/// Write a file under a temporary name and rename it.
pub(super) fn write_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<fs::File>) -> std::io::Result<()>,
) -> Result<()> {
    let temporary = path.with_extension("tmp");
    let io = |e| Error::io(path, e);
    let mut out = BufWriter::new(fs::File::create(&temporary).map_err(io)?);
    write(&mut out).and_then(|()| out.flush()).and_then(|()| out.get_ref().sync_all()).map_err(io)?;
    fs::rename(&temporary, path).map_err(io)
}
