//! Number and time of a step, from which a reporter decides whether its output is due.

/// Number, time and stage of a step of dynamics or of a minimisation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepInfo {
    /// number of steps of dynamics since the start of the run; in a minimisation, the number of steps since the start
    /// of the stage
    pub step: u64,
    /// simulated time at the step, ps
    pub time: f64,
    /// number of the stage in the run, from 1; the end of a stage and the start of the next stage have the same `step`
    pub stage: u32,
    /// number of steps since the start of the stage
    pub stage_step: u64,
    /// time step of the stage, ps; zero in a minimisation
    pub timestep: f64,
}
