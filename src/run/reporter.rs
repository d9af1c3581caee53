//! Reporters write output while a run proceeds.
//!
//! Before each step the run asks every [`Reporter`] which [`Quantities`] it wants and computes only these. Trajectories and
//! the energy table are reporters; a program can add its own ([`super::Job::reporters`]), which need `name`, `wants` and
//! `report`. A reporter that writes a file can return its extent at each checkpoint (`sync`); a run that continues passes
//! this extent back (`open`), so that the file is continued from there.
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

use super::plan::Plan;
use super::simulation::Observed;
use crate::cell::PeriodicCell;
use crate::error::Result;
use crate::observe::energies::{Columns, EnergyRow};
use crate::observe::extent::{Extent, Mark};
use crate::restraint::RestraintSample;
use crate::system::System;
use crate::vec3::Vec3;

/// Quantities of a step that a reporter wants.
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
    /// The union.
    pub fn or(self, other: Self) -> Self {
        Quantities {
            positions: self.positions || other.positions,
            velocities: self.velocities || other.velocities,
            forces: self.forces || other.forces,
            energies: self.energies || other.energies,
            restraints: self.restraints || other.restraints,
        }
    }

    /// True if any quantity is wanted.
    pub fn any(self) -> bool {
        self != Quantities::default()
    }
}

/// A step of a stage of dynamics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepInfo {
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

/// The results of a step, in topology order. Quantities that no reporter wanted are empty.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// the step
    pub step: StepInfo,
    /// lattice vectors, if the system is periodic
    pub cell: Option<PeriodicCell>,
    /// nm, unwrapped
    pub positions: &'a [Vec3],
    /// nm/ps, half a step before `step.time`
    pub velocities: &'a [Vec3],
    /// kJ/mol/nm
    pub forces: &'a [Vec3],
    /// energies, temperature, pressure
    pub observed: Option<&'a Observed>,
    /// collective restraints of the stage
    pub restraints: &'a [RestraintSample],
    /// total mass, amu
    pub mass: f64,
    /// of temperature groups, K, in the order of [`Columns::temperatures`]
    pub temperatures: &'a [f64],
}

impl Report<'_> {
    /// The row of the energy table; `None` if no energies were wanted.
    pub fn energy_row(&self) -> Option<EnergyRow<'_>> {
        let observed = self.observed?;
        let StepInfo { step, time, stage, .. } = self.step;
        Some(EnergyRow {
            step,
            time,
            stage,
            energies: observed.energies,
            kinetic: observed.kinetic,
            restraint_work: observed.restraint_work,
            conserved: observed.conserved,
            temperature: observed.temperature,
            pressure: observed.pressure,
            pressure_along: observed.pressure_along,
            mass: self.mass,
            cell: observed.cell,
            temperatures: self.temperatures,
        })
    }
}

/// The run that a reporter belongs to.
#[derive(Clone, Copy, Debug)]
pub struct RunInfo<'a> {
    /// identity, the same in all files of the run
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
    /// Path of a file in the output folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.plan.output.directory.join(name)
    }

    /// Columns of the energy table.
    pub fn energy_columns(&self) -> Columns {
        self.plan.energy_columns(self.periodic)
    }
}

/// Writes output of a run.
pub trait Reporter: Send {
    /// Name of its output, unique in the run, under which checkpoints store its extent: the name of its file in the output
    /// folder, if it has one.
    fn name(&self) -> &str;

    /// What it wants of a step. The answer must depend only on `step`.
    fn wants(&self, step: &StepInfo) -> Quantities;

    /// Called at each step of which it wanted something. `report` also holds what other reporters wanted.
    fn report(&mut self, report: &Report<'_>) -> Result<()>;

    /// Called before the output of any reporter is changed: fails where `open` would refuse to continue after
    /// `checkpointed`.
    fn check(&mut self, _run: &RunInfo<'_>, _checkpointed: Mark) -> Result<()> {
        Ok(())
    }

    /// Called when the run starts, or continues from a checkpoint that stores `checkpointed`: what was written after it is
    /// to be cut off.
    fn open(&mut self, _run: &RunInfo<'_>, _checkpointed: Option<Mark>) -> Result<()> {
        Ok(())
    }

    /// Forces everything to disk and returns its extent, for the checkpoint that is about to be written; `None` if the
    /// checkpoint need not store one.
    fn sync(&mut self) -> Result<Option<Mark>> {
        Ok(None)
    }

    /// As [`Self::sync`], when the run ends or stops.
    fn close(&mut self) -> Result<Option<Mark>> {
        self.sync()
    }

    /// Whether its closed output is unchanged since the run finished.
    fn is_complete(&self, _run: &RunInfo<'_>, _extent: Extent) -> bool {
        true
    }

    /// A warning for the user about its output; asked after `open`.
    fn warning(&self) -> Option<&str> {
        None
    }

    /// Other files in the output folder that belong to its file.
    fn companions(&self) -> Vec<String> {
        vec![]
    }
}
