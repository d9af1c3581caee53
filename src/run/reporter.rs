//! Reporters: what looks at a run and writes something of it.
//!
//! Before each step the run asks every [`Reporter`] what it wants of it ([`Quantities`]) and computes only that; the others
//! cost nothing. Trajectories and the energy table are reporters, and so is what a program adds to a run
//! ([`super::Job::reporters`]): `name`, `wants` and `report` are all that one needs. One that writes a file of its own
//! can let checkpoints count what is in it (`sync`), so that a run that goes on continues the file where the checkpoint
//! left it (`open`).
//!
//! ```
//! use md::error::Result;
//! use md::run::{Moment, Quantities, Report, Reporter};
//!
//! /// The highest temperature so far, in K.
//! struct Hottest(f64);
//!
//! impl Reporter for Hottest {
//!     fn name(&self) -> &str {
//!         "hottest"
//!     }
//!
//!     fn wants(&self, moment: &Moment) -> Quantities {
//!         Quantities { energies: moment.stage_step.is_multiple_of(100), ..Quantities::default() }
//!     }
//!
//!     fn report(&mut self, report: &Report<'_>) -> Result<()> {
//!         self.0 = report.observed.map_or(self.0, |observed| observed.temperature.max(self.0));
//!         Ok(())
//!     }
//! }
//! ```

use std::path::PathBuf;

use super::plan::Plan;
use super::simulation::Observed;
use crate::cell::PeriodicCell;
use crate::error::Result;
use crate::observe::energies::EnergyRow;
use crate::observe::extent::{Extent, Mark};
use crate::system::System;
use crate::vec3::Vec3;

/// What a reporter wants of a step.
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
}

impl Quantities {
    /// What either wants.
    pub fn or(self, other: Self) -> Self {
        Quantities {
            positions: self.positions || other.positions,
            velocities: self.velocities || other.velocities,
            forces: self.forces || other.forces,
            energies: self.energies || other.energies,
        }
    }

    /// True where something is wanted.
    pub fn any(self) -> bool {
        self != Quantities::default()
    }
}

/// A step of a stage of dynamics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// steps since the start of the run
    pub step: u64,
    /// ps
    pub time: f64,
    /// stage of the run, from 1: the end of a stage and the start of the next share their step
    pub stage: u32,
    /// steps since the start of the stage
    pub stage_step: u64,
    /// ps
    pub timestep: f64,
}

/// What a step has given, in topology order. What nobody asked for is empty.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// the step
    pub moment: Moment,
    /// lattice, where there is one
    pub cell: Option<PeriodicCell>,
    /// nm, unwrapped
    pub positions: &'a [Vec3],
    /// nm/ps, half a step before the time
    pub velocities: &'a [Vec3],
    /// kJ/mol/nm
    pub forces: &'a [Vec3],
    /// energies, temperature, pressure
    pub observed: Option<&'a Observed>,
    /// of all atoms, amu
    pub mass: f64,
}

impl Report<'_> {
    /// The step as a row of the energy table; `None` where no energies were wanted.
    pub fn energy_row(&self) -> Option<EnergyRow> {
        let observed = self.observed?;
        let Moment { step, time, stage, .. } = self.moment;
        Some(EnergyRow {
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
        })
    }
}

/// The run that a reporter reports of.
#[derive(Clone, Copy, Debug)]
pub struct RunInfo<'a> {
    /// identity, the same in all files of the run
    pub run_id: &'a str,
    /// what is done
    pub plan: &'a Plan,
    /// what is simulated
    pub system: &'a System,
    /// the input file, word for word
    pub input: &'a str,
    /// whether there is a cell
    pub periodic: bool,
}

impl RunInfo<'_> {
    /// Path of a file in the output folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.plan.output.directory.join(name)
    }
}

/// Looks at a run, and says which steps it wants to see.
pub trait Reporter: Send {
    /// Name of its output, by which checkpoints know it: the name of its file in the output folder, where it has one. No
    /// two reporters of a run share it.
    fn name(&self) -> &str;

    /// What it wants of a step. The answer must depend on nothing but the step.
    fn wants(&self, moment: &Moment) -> Quantities;

    /// Takes a step of which it wanted something; of what others wanted there may be more.
    fn report(&mut self, report: &Report<'_>) -> Result<()>;

    /// Before the output of any reporter is changed: refuses to go on after `kept` where `open` would refuse.
    fn check(&mut self, _run: &RunInfo<'_>, _kept: Mark) -> Result<()> {
        Ok(())
    }

    /// The run begins, or goes on from a checkpoint that has seen `kept`: what was written after that is to be cut off.
    fn open(&mut self, _run: &RunInfo<'_>, _kept: Option<Mark>) -> Result<()> {
        Ok(())
    }

    /// Everything is to be on disk when this returns; tells the checkpoint that is about to be written how much there is.
    /// `None` where nothing is to be kept.
    fn sync(&mut self) -> Result<Option<Mark>> {
        Ok(None)
    }

    /// The run ends or stops; as [`Self::sync`].
    fn close(&mut self) -> Result<Option<Mark>> {
        self.sync()
    }

    /// Whether its closed output is still what a finished run has left.
    fn is_complete(&self, _run: &RunInfo<'_>, _extent: Extent) -> bool {
        true
    }

    /// What the user should know of how it writes; asked once it is open.
    fn warning(&self) -> Option<&str> {
        None
    }

    /// Other files in the output folder that belong to its own.
    fn companions(&self) -> Vec<String> {
        vec![]
    }
}
