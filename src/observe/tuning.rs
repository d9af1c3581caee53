//! Tuning of a run: candidates, choice and gain, as plain data for log, summary and checkpoint.

use serde::{Deserialize, Serialize};

use crate::pair::ListSchedule;
use crate::pme::Splitting;

/// Settings that tuning may choose.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Coulomb cutoff and mesh; `None` without PME
    pub pme: Option<Splitting>,
    /// radii and lifetimes of the pair lists
    pub lists: ListSchedule,
}

/// Candidate of the tuning.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// setting of the candidate
    pub setting: Setting,
    /// predicted cost of pairs, lists and mesh per step by the cost model, in 10⁶ clock cycles of all threads
    /// together
    pub megacycles: f64,
    /// measured time; `None` if the candidate was not timed
    pub measured: Option<Timed>,
}

/// Measured time of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// median time to compute the forces of a step, including the step's share of list searches and prunings, ms
    pub milliseconds: f64,
    /// fraction of the time that this setting saves relative to the reference setting, which was timed in the same
    /// rounds; median over the rounds
    pub gain: f64,
    /// scatter of the gain between rounds, as a fraction
    pub spread: f64,
}

/// The tuning of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// method of tuning: `off`, `model` or `measure`
    pub method: String,
    /// all candidates; the first candidate is the setting with the method `off`
    pub tried: Vec<Trial>,
    /// the setting of the run
    pub chosen: Setting,
    /// fraction of the clock cycles of pairs, lists and mesh that the model's choice saves relative to the setting of
    /// the method `off`, according to the cost model
    pub predicted_gain: f64,
    /// fraction of the time of pairs, lists and mesh that the chosen setting saves relative to the model's choice;
    /// `None` if the settings were not timed
    pub measured_gain: Option<f64>,
    /// wall time spent on measuring, s
    pub seconds: f64,
}
