//! Tuning of a run: candidates, choice and gain, as plain data for log, summary and checkpoint.

use serde::{Deserialize, Serialize};

use crate::pair::ListSchedule;
use crate::pme::Splitting;

/// Settings that the tuning of a run may choose.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Coulomb cutoff and PME grid; `None` without PME
    pub pme: Option<Splitting>,
    /// radii and lifetimes of the pair lists
    pub lists: ListSchedule,
}

/// Candidate setting of the tuning, with its predicted cost and its measured time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// candidate setting
    pub setting: Setting,
    /// cost per step that the cost model predicts for pair interactions, pair lists and mesh, in 10⁶ clock cycles
    /// summed over all threads
    pub megacycles: f64,
    /// measured time; `None` if this candidate was not timed
    pub measured: Option<Timed>,
}

/// Measured time of a candidate setting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// median time in ms to compute the forces of a step, including the times of pair searches and prunings per step
    pub milliseconds: f64,
    /// fraction of the time that this setting saves relative to the first setting; the value is the median over rounds
    /// of timings, and each round times both settings
    pub gain: f64,
    /// scatter of the gain between the rounds of timings: scaled median absolute deviation of the saved fraction
    pub spread: f64,
}

/// Result of the tuning of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// method of tuning: `off`, `model` or `measure`
    pub method: String,
    /// all candidates; the first candidate is the setting that a run with the method `off` uses
    pub tried: Vec<Trial>,
    /// setting that the run uses
    pub chosen: Setting,
    /// predicted gain of the candidate that is best in the cost model: the saved fraction of clock cycles for pair
    /// interactions, pair lists and mesh, relative to a run with `tuning = "off"`
    pub predicted_gain: f64,
    /// measured gain of the chosen setting relative to the candidate that is best in the cost model: the saved fraction
    /// of the time for pair interactions, pair lists and mesh. `None` if the settings were not timed
    pub measured_gain: Option<f64>,
    /// wall time spent on measurements, s
    pub seconds: f64,
}
