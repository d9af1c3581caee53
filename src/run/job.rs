//! Input and outcome of a run.

use super::plan::Plan;
use super::replicas::Member;
use super::reporter::Reporter;
use super::signals::Requests;
use crate::format::LeftOut;
use crate::prepare::Alternatives;
use crate::system::{State, System};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Instant;

/// Input of a run.
pub struct Job<'a> {
    /// the plan
    pub plan: &'a Plan,
    /// the system, without bonded terms between atoms whose distances are constrained
    pub system: Arc<System>,
    /// alternative PME parameters of the same accuracy, for tuning
    pub alternatives: Alternatives,
    /// initial state of the system
    pub start: State,
    /// data of the coordinate file that the initial state does not contain
    pub left_out: LeftOut,
    /// text of the input file, stored in trajectories
    pub input: &'a str,
    /// the configuration with all defaults, for `effective.toml`
    pub effective: &'a str,
    /// differences in physics between an old plan and this one
    pub compare: &'a (dyn Fn(&Plan) -> Vec<String> + Sync),
    /// whether old output is moved aside
    pub force: bool,
    /// whether a continued run begins new trajectories and a new energy table
    pub no_append: bool,
    /// reporters in addition to those of the plan
    pub reporters: Vec<Box<dyn Reporter>>,
    /// membership in a replica exchange; `None` for an ordinary run
    pub exchange: Option<Member<'a>>,
    /// stop and checkpoint requests
    pub requests: Requests,
    /// when the program started
    pub started: Instant,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// all stages are done
    Finished,
    /// stopped on request, with a checkpoint
    Stopped,
    /// already finished: no file was changed
    Unchanged,
}
