//! What a run is given, and how it ends.

use super::plan::Plan;
use super::reporter::Reporter;
use super::signals::Requests;
use crate::prepare::Alternatives;
use crate::system::{State, System};
use std::sync::Arc;
use std::time::Instant;

/// Everything a run is given.
pub struct Job<'a> {
    /// what to do
    pub plan: &'a Plan,
    /// the system, without the terms that constraints hold fixed
    pub system: Arc<System>,
    /// other ways of computing it, for tuning
    pub alternatives: Alternatives,
    /// where it starts
    pub start: State,
    /// the input file, for the trajectory's record
    pub input: &'a str,
    /// the configuration with all defaults, for `effective.toml`
    pub effective: &'a str,
    /// differences in physics between an old plan and this one
    pub compare: &'a (dyn Fn(&Plan) -> Vec<String> + Sync),
    /// move old output aside
    pub force: bool,
    /// begin a new trajectory and a new energy table where the run goes on
    pub no_append: bool,
    /// reporters beside those of the plan
    pub reporters: Vec<Box<dyn Reporter>>,
    /// stop and checkpoint requests
    pub requests: Requests,
    /// when the program started
    pub started: Instant,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// every stage is done
    Finished,
    /// stopped on request, with a checkpoint
    Stopped,
    /// finished before: nothing was left to do, and no file was touched
    Unchanged,
}
