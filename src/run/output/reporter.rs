//! Reporters, which write output during a run.
//!
//! Before each step the run asks every [`Reporter`] for the [`Quantities`] that the reporter requests, and computes
//! only the requested quantities. Trajectories and the energy table are reporters. A program can add reporters of its
//! own ([`super::Job::reporters`]). A reporter must implement `name`, `wants` and `report`. A reporter that writes a
//! file can return the length of the file at each checkpoint (`sync`). A run that continues passes this length to
//! `open`, so that the reporter continues the file after this length.
//!
//! ```
//! use md::error::Result;
//! use md::run::{StepInfo, Quantities, Report, Reporter};
//!
//! /// Highest temperature so far, in K.
//! struct Hottest(f64);
//!
//! impl Reporter for Hottest {
//!     fn name(&self) -> &str {
//!         "hottest"
//!     }
//!
//!     fn wants(&self, step: &StepInfo) -> Quantities {
//!         Quantities { energies: step.stage_step.is_multiple_of(100), ..Quantities::default() }
//!     }
//!
//!     fn report(&mut self, report: &Report<'_>) -> Result<()> {
//!         self.0 = report.observed.map_or(self.0, |observed| observed.temperature.max(self.0));
//!         Ok(())
//!     }
//! }
//! ```

use std::path::PathBuf;

use crate::cell::PeriodicCell;
use crate::error::Result;
use crate::observe::energies::{Columns, EnergyRow, Observed};
use crate::observe::extent::{Extent, Mark};
use crate::restraint::RestraintSample;
use crate::run::plan::{Plan, StepInfo};
use crate::system::System;
use crate::vec3::Vec3;

/// Quantities of a step that a reporter requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantities {
    /// positions
    pub positions: bool,
    /// velocities
    pub velocities: bool,
    /// forces
    pub forces: bool,
    /// energies, temperature, pressure
    pub energies: bool,
    /// collective restraints
    pub restraints: bool,
}

impl Quantities {
    /// No quantities.
    pub const NONE: Self =
        Quantities { positions: false, velocities: false, forces: false, energies: false, restraints: false };

    /// Returns the quantities that `self` or `other` contains.
    pub fn or(self, other: Self) -> Self {
        Quantities {
            positions: self.positions || other.positions,
            velocities: self.velocities || other.velocities,
            forces: self.forces || other.forces,
            energies: self.energies || other.energies,
            restraints: self.restraints || other.restraints,
        }
    }

    /// Whether any quantity is requested.
    pub fn any(self) -> bool {
        self != Quantities::default()
    }
}

/// The results of a step, in topology order. Quantities that no reporter requested are empty.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// the step
    pub step: StepInfo,
    /// lattice vectors, if the system is periodic
    pub cell: Option<PeriodicCell>,
    /// positions in nm, unwrapped
    pub positions: &'a [Vec3],
    /// velocities in nm/ps, half a step before `step.time`
    pub velocities: &'a [Vec3],
    /// forces in kJ/mol/nm
    pub forces: &'a [Vec3],
    /// energies, temperature, pressure
    pub observed: Option<&'a Observed>,
    /// collective restraints of the stage
    pub restraints: &'a [RestraintSample],
    /// total mass, amu
    pub mass: f64,
    /// temperatures of the temperature groups in K, in the order of [`Columns::temperatures`]
    pub temperatures: &'a [f64],
}

impl Report<'_> {
    /// Returns the row of the energy table; `None` if no reporter requested energies.
    pub fn energy_row(&self) -> Option<EnergyRow<'_>> {
        let StepInfo { step, time, stage, .. } = self.step;
        let Report { observed, mass, temperatures, .. } = *self;
        Some(EnergyRow { step, time, stage, observed: observed?, mass, temperatures })
    }
}

/// The run that a reporter belongs to.
#[derive(Clone, Copy, Debug)]
pub struct RunInfo<'a> {
    /// identity of the run, the same in all its files
    pub run_id: &'a str,
    /// the plan
    pub plan: &'a Plan,
    /// the system
    pub system: &'a System,
    /// the input file, word for word
    pub input: &'a str,
    /// whether the system is periodic
    pub periodic: bool,
}

impl RunInfo<'_> {
    /// Returns the path of a file in the output folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.plan.output.directory.join(name)
    }

    /// Returns the columns of the energy table.
    pub fn energy_columns(&self) -> Columns {
        self.plan.energy_columns(self.periodic)
    }
}

/// A writer of output of a run.
pub trait Reporter: Send {
    /// Returns the name of the reporter's output, which is unique in the run. Checkpoints store the length of the
    /// output under this name. If the reporter writes a file, the name is the name of the file in the output folder.
    fn name(&self) -> &str;

    /// Returns the quantities that the reporter requests at a step. The result must depend only on `step`.
    fn wants(&self, step: &StepInfo) -> Quantities;

    /// Receives the results of a step at which the reporter requested at least one quantity. `report` also contains
    /// the quantities that other reporters requested.
    fn report(&mut self, report: &Report<'_>) -> Result<()>;

    /// Returns an error if the output cannot be continued from the length `checkpointed`. The run calls `check` for
    /// all reporters before it calls `open` for any reporter.
    fn check(&mut self, _run: &RunInfo<'_>, _checkpointed: Mark) -> Result<()> {
        Ok(())
    }

    /// Opens the output at the start of the run. If the run continues, `checkpointed` is the length of the output in
    /// the checkpoint, and the reporter must remove all output after this length.
    fn open(&mut self, _run: &RunInfo<'_>, _checkpointed: Option<Mark>) -> Result<()> {
        Ok(())
    }

    /// Flushes all output to disk and returns the length of the output, which the next checkpoint stores; `None` if
    /// the checkpoint stores no length.
    fn sync(&mut self) -> Result<Option<Mark>> {
        Ok(None)
    }

    /// Closes the output when the run ends or stops. Returns the same value as [`Self::sync`].
    fn close(&mut self) -> Result<Option<Mark>> {
        self.sync()
    }

    /// Whether the output is unchanged since the run finished.
    fn is_complete(&self, _run: &RunInfo<'_>, _extent: Extent) -> bool {
        true
    }

    /// Returns a warning about the output that the run shows to the user. The run calls this function after `open`.
    fn warning(&self) -> Option<&str> {
        None
    }

    /// Returns the names of other files in the output folder that belong to the reporter's file.
    fn companions(&self) -> Vec<String> {
        vec![]
    }
}
