//! Tuning of a run: candidates, choice and gain. Plain data, for log, summary and checkpoint.

use serde::{Deserialize, Serialize};

use crate::pair::ListSchedule;
use crate::pme::Splitting;

/// What tuning may choose.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Coulomb cutoff and mesh; `None` without PME
    pub pme: Option<Splitting>,
    /// radii and lifetimes of the pair lists
    pub lists: ListSchedule,
}

/// A candidate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// its setting
    pub setting: Setting,
    /// clock cycles of a step's pairs, lists and mesh by the cost model, all threads together, in millions
    pub megacycles: f64,
    /// measured time, if it was timed
    pub measured: Option<Timed>,
}

/// Measured time of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// of a step's forces, with its share of searches and prunings: median, ms
    pub milliseconds: f64,
    /// part of that time saved against the setting it was compared with in the same rounds: median over the rounds
    pub gain: f64,
    /// scatter of the gain from round to round
    pub spread: f64,
}

/// The tuning of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// `off`, `model`, `measure`
    pub method: String,
    /// all candidates; the first is that of `off`
    pub tried: Vec<Trial>,
    /// the setting of the run
    pub chosen: Setting,
    /// part of the clock cycles of pairs, lists and mesh that the model's choice saves against `off`, by the cost model
    pub predicted_gain: f64,
    /// part of the time for them that the chosen setting saves against the model's choice, if it was measured
    pub measured_gain: Option<f64>,
    /// wall time spent on measuring, s
    pub seconds: f64,
}
