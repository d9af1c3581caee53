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
    /// plan of the run
    pub plan: &'a Plan,
    /// system to simulate, without bonded terms between atoms whose distances are constrained
    pub system: Arc<System>,
    /// alternative PME parameters of the same accuracy, for tuning
    pub alternatives: Alternatives,
    /// initial state of the system
    pub start: State,
    /// numbers of models and atoms in the coordinate file that the run ignores
    pub left_out: LeftOut,
    /// text of the input file, stored in trajectories
    pub input: &'a str,
    /// text of `effective.toml`, which is the configuration with all defaults
    pub effective: &'a str,
    /// function that compares an old plan with the plan of this run, and returns the changed settings that influence
    /// the physics of the run
    pub compare: &'a (dyn Fn(&Plan) -> Vec<String> + Sync),
    /// whether an existing output folder is renamed, so that the run starts anew
    pub force: bool,
    /// whether a continued run begins new trajectories and a new energy table
    pub no_append: bool,
    /// reporters in addition to the reporters of the plan
    pub reporters: Vec<Box<dyn Reporter>>,
    /// interface to the replica exchange in which this run takes part; `None` without replica exchange
    pub exchange: Option<&'a dyn ExchangeMember>,
    /// requests to stop or to write a checkpoint
    pub requests: Requests,
    /// time at which the program started
    pub started: Instant,
}

/// Interface to a replica exchange for the run of one replica.
pub trait ExchangeMember: Sync {
    /// Returns the thermodynamic state with index `index`.
    fn state(&self, index: usize) -> &ThermodynamicState<'_>;
    /// Whether the thermodynamic states have different Hamiltonians.
    fn has_hamiltonians(&self) -> bool;
    /// Returns the index of the thermodynamic state of this replica before the first exchange attempt.
    fn first_state(&self) -> usize;
    /// Returns the index of the state of this replica after exchange attempt number `attempt`; `None` if no outcome of
    /// this attempt is recorded.
    fn known(&self, attempt: u64) -> Option<usize>;
    /// Returns an error if `state` is not the recorded state of this replica after `attempts` exchange attempts.
    fn check(&self, attempts: u64, state: usize) -> Result<()>;
    /// Sends the energies of this replica at an exchange attempt, frees its slot for other replicas, and waits for the
    /// outcome. Returns the index of the new state; `None` if `stop` returns true before the outcome is known.
    fn meet(&self, attempt: Attempt, offer: Offer, stop: &mut dyn FnMut() -> Result<bool>) -> Result<Option<usize>>;
    /// Waits until the outcomes of all previous exchange attempts are on disk.
    fn sync(&self) -> Result<()>;
}

/// Number, step and time of an exchange attempt of one replica.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    /// number of the attempt, from 1
    pub number: u64,
    /// number of steps since the start of the run
    pub step: u64,
    /// simulated time of the attempt, ps
    pub time: f64,
}

/// Thermodynamic state of a replica exchange.
pub struct ThermodynamicState<'a> {
    /// settings of dynamics, including the temperature and pressure of this state
    pub dynamics: &'a Dynamics,
    /// system with the Hamiltonian of this state, before tuning
    pub system: Arc<System>,
}

/// Outcome of a run that ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// all stages are done
    Finished,
    /// the run was stopped on request and wrote a checkpoint
    Stopped,
    /// the run had finished before, and no file was changed
    Unchanged,
}
