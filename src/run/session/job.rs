//! Input and outcome of a run.

use crate::ensemble::exchange::Offer;
use crate::error::Result;
use crate::format::LeftOut;
use crate::prepare::Alternatives;
use crate::run::control::signals::Requests;
use crate::run::output::reporter::Reporter;
use crate::run::plan::{Dynamics, Plan};
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
    /// data of the coordinate file that the initial state does not use
    pub left_out: LeftOut,
    /// text of the input file, stored in trajectories
    pub input: &'a str,
    /// the configuration with all defaults, for `effective.toml`
    pub effective: &'a str,
    /// differences in physics between an old plan and this one
    pub compare: &'a (dyn Fn(&Plan) -> Vec<String> + Sync),
    /// whether existing output is moved aside
    pub force: bool,
    /// whether a continued run begins new trajectories and a new energy table
    pub no_append: bool,
    /// reporters besides those of the plan
    pub reporters: Vec<Box<dyn Reporter>>,
    /// membership in a replica exchange; `None` for an ordinary run
    pub exchange: Option<&'a dyn ExchangeMember>,
    /// stop and checkpoint requests
    pub requests: Requests,
    /// when the program started
    pub started: Instant,
}

/// A replica in an exchange of thermodynamic states, as the run of the replica sees it.
pub trait ExchangeMember: Sync {
    /// Returns the thermodynamic state of this index.
    fn state(&self, index: usize) -> &ThermodynamicState<'_>;
    /// Whether states differ in their Hamiltonians.
    fn has_hamiltonians(&self) -> bool;
    /// Returns the state of this replica before the first attempt.
    fn first_state(&self) -> usize;
    /// Returns the state of this replica after an attempt; `None` if the outcome is not known.
    fn known(&self, attempt: u64) -> Option<usize>;
    /// Fails if the replica, which has made `attempts` attempts, continues in a state that contradicts the record.
    fn check(&self, attempts: u64, state: usize) -> Result<()>;
    /// Makes an offer at an attempt, gives up the turn, and waits until all replicas have made their offers. Returns
    /// the new state; `None` if `stop` says that the run is to stop instead.
    fn meet(&self, attempt: Attempt, offer: Offer, stop: &mut dyn FnMut() -> Result<bool>) -> Result<Option<usize>>;
    /// Waits until the outcomes of all attempts so far are on disk.
    fn sync(&self) -> Result<()>;
}

/// Number, step and time of an exchange attempt.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    /// number of the attempt, from 1
    pub number: u64,
    /// step of the run
    pub step: u64,
    /// time, ps
    pub time: f64,
}

/// A thermodynamic state, for the stage in which replicas swap states.
pub struct ThermodynamicState<'a> {
    /// settings of dynamics, with temperature and pressure of the couplings
    pub dynamics: &'a Dynamics,
    /// Hamiltonian, before tuning
    pub system: Arc<System>,
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
