//! Number and time of a step, from which reporters decide whether output is due.

/// A step of a stage of dynamics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepInfo {
    /// steps since the start of the run
    pub step: u64,
    /// time, ps
    pub time: f64,
    /// number of the stage in the run, from 1; the end of a stage and the start of the next have the same `step`
    pub stage: u32,
    /// steps since the start of the stage
    pub stage_step: u64,
    /// time step, ps
    pub timestep: f64,
}
