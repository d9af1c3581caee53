//! Reporters: objects that write output during a run.
//!
//! Before each step the run calls [`Reporter::wants`] of every reporter, and computes only the [`Quantities`] that at
//! least one reporter requests. Trajectories and the energy table are reporters. A program can add its own reporters
//! ([`super::Job::reporters`]). A reporter must implement `name`, `wants` and `report`. A reporter that writes a file
//! can return the length of the file at each checkpoint (`sync`). A continued run passes the stored length of the file
//! to `open`, and the reporter continues the file after this length.
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
use crate::observe::minimisation::MinimisationSample;
use crate::restraint::RestraintSample;
use crate::run::plan::{Plan, StepInfo};
use crate::system::System;
use crate::vec3::Vec3;

/// Quantities of a step that a reporter requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantities {
    /// whether positions are requested
    pub positions: bool,
    /// whether velocities are requested
    pub velocities: bool,
    /// whether forces are requested
    pub forces: bool,
    /// whether energies, temperature and pressure are requested
    pub energies: bool,
    /// whether values and work of collective restraints are requested
    pub restraints: bool,
    /// whether energy and largest force of a step of a minimisation are requested; such a step has no other quantities
    pub minimisation: bool,
}

impl Quantities {
    /// Request of no quantities.
    pub const NONE: Self = Quantities {
        positions: false,
        velocities: false,
        forces: false,
        energies: false,
        restraints: false,
        minimisation: false,
    };

    /// Returns the quantities that `self`, `other` or both request.
    pub fn or(self, other: Self) -> Self {
        Quantities {
            positions: self.positions || other.positions,
            velocities: self.velocities || other.velocities,
            forces: self.forces || other.forces,
            energies: self.energies || other.energies,
            restraints: self.restraints || other.restraints,
            minimisation: self.minimisation || other.minimisation,
        }
    }

    /// Whether at least one quantity is requested.
    pub fn any(self) -> bool {
        self != Quantities::default()
    }
}

/// Results of a step, which a reporter receives; atoms are in topology order. Quantities that no reporter requested are
/// empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report<'a> {
    /// number, time and stage of the step
    pub step: StepInfo,
    /// periodic cell; `None` if the system is not periodic
    pub cell: Option<PeriodicCell>,
    /// positions in nm, not wrapped into the periodic cell
    pub positions: &'a [Vec3],
    /// velocities in nm/ps, half a step before `step.time`
    pub velocities: &'a [Vec3],
    /// forces in kJ/mol/nm
    pub forces: &'a [Vec3],
    /// energies, temperature and pressure; `None` if no reporter requested energies
    pub observed: Option<&'a Observed>,
    /// values, centers, energies and work of the collective restraints of the stage
    pub restraints: &'a [RestraintSample],
    /// energy and largest force of a step of a minimisation; `None` in dynamics
    pub minimisation: Option<MinimisationSample>,
    /// total mass of the system, amu
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

/// Description of the run to which a reporter belongs.
#[derive(Clone, Copy, Debug)]
pub struct RunInfo<'a> {
    /// identity of the run, the same in all files of the run
    pub run_id: &'a str,
    /// plan of the run
    pub plan: &'a Plan,
    /// system that the run simulates
    pub system: &'a System,
    /// text of the input file, unchanged
    pub input: &'a str,
    /// whether the system has a periodic cell
    pub periodic: bool,
}

impl RunInfo<'_> {
    /// Returns the path of the file `name` in the output folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.plan.output.directory.join(name)
    }

    /// Returns the columns of the energy table.
    pub fn energy_columns(&self) -> Columns {
        self.plan.energy_columns(self.periodic)
    }
}

/// Writer of one output of a run, such as a trajectory.
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

    /// Closes the output when the run ends or stops. Returns the length of the output, as [`Self::sync`] does.
    fn close(&mut self) -> Result<Option<Mark>> {
        self.sync()
    }

    /// Whether the output is unchanged since the run finished.
    fn is_complete(&self, _run: &RunInfo<'_>, _extent: Extent) -> bool {
        true
    }

    /// Returns a warning about the output, for the user. The run calls this function after `open`.
    fn warning(&self) -> Option<&str> {
        None
    }

    /// Returns the names of other files in the output folder that belong to the output of this reporter, such as links.
    fn companions(&self) -> Vec<String> {
        vec![]
    }
}
