//! A run on several ranks with domain decomposition; see [`crate::backend::Domains`].

use crate::backend::{RANKS, RankShare, Serving};
use crate::error::{Error, Problem, Result};
use crate::ranks::{Ranks, Traffic};
use crate::run::control::Requests;
use crate::run::engine::rank_processors::{ProcessorSet, ProcessorShare};
use crate::run::engine::{Engine, run_on_first_thread};
use crate::run::plan::{Device, Plan, Precision};
use crate::system::{State, System};

impl Engine {
    /// Creates the engine of this rank. The rank uses the processors that the launcher assigned to it. Returns an error
    /// if the plan needs a feature that is not supported on several ranks. Every rank must call this function.
    pub fn among(plan: &Plan, ranks: &Ranks) -> Result<Self> {
        if ranks.count() == 1 {
            return Self::new(plan);
        }
        let ProcessorShare { threads, places, warnings } =
            ProcessorShare::new(&ranks.gather(&ProcessorSet::here()), plan.run.threads);
        let mut plan = plan.clone();
        plan.run.threads = Some(threads);
        let mut engine = ranks.agree(Self::sharing(&plan, places[ranks.rank()], ranks))?;
        engine.warnings = warnings;
        Ok(engine)
    }

    /// Creates the engine of a rank that shares the atoms of a system with the other ranks in `ranks`. `others` is the
    /// number of other runs that share the machine, as for [`Engine::beside`]. Returns an error if the plan needs a
    /// feature that is not supported on several ranks.
    pub(in crate::run) fn sharing(plan: &Plan, others: usize, ranks: &Ranks) -> Result<Self> {
        if ranks.count() == 1 {
            return Self::beside(plan, others);
        }
        check_ranks(plan, ranks.count())?;
        let mut plan = plan.clone();
        plan.run.device = Device::Cpu;
        let mut engine = Self::beside(&plan, others)?;
        engine.ranks = ranks.clone();
        Ok(engine)
    }

    /// Returns the number of ranks that share the atoms of a system.
    pub fn ranks(&self) -> usize {
        self.ranks.count()
    }

    /// Returns the computational load of a rank in a step, and the bytes and messages that the rank sends, if `ranks`
    /// ranks share the system; `None` for one rank, and for double precision, for which the system is not divided into
    /// domains. Returns an error if the system cannot be divided into domains.
    pub fn division(&self, ranks: usize, plan: &Plan, system: &System, state: &State) -> Result<Option<RankShare>> {
        let is_divided = ranks > 1 && plan.run.precision != Precision::Double;
        is_divided.then(|| self.division_among(ranks, plan, system, state)).transpose()
    }

    /// Returns the computational load of a rank in a step, and the bytes and messages that the rank would send, if
    /// there were `ranks` ranks. Returns an error if the system cannot be divided into `ranks` domains.
    pub fn division_among(&self, ranks: usize, plan: &Plan, system: &System, state: &State) -> Result<RankShare> {
        Ok(RankShare::new(system, state, self.lists(plan, system, state)?.outer, ranks)?)
    }

    /// Executes the operations that rank 0 requests for the domain of this rank, until rank 0 calls
    /// [`release_ranks`]. `requests` are the signals to this rank, which rank 0 asks for from time to time.
    pub fn serve(&self, requests: &Requests) {
        run_on_first_thread(&self.pool, || self.serving().serve(|| requests.take()));
    }

    /// Adds the signals that the other ranks have received to the requests of this rank. All other ranks must be in
    /// [`Engine::serve`].
    pub(in crate::run) fn collect_requests(&self, requests: &Requests) {
        if self.ranks.count() > 1 {
            Serving::requested(&self.ranks).into_iter().for_each(|requested| requests.add(requested));
        }
    }

    /// Returns the bytes and messages that each rank has sent so far; an empty list for one rank. All ranks except rank
    /// 0 must be in [`Engine::serve`].
    pub(in crate::run) fn traffic(&self) -> Vec<Traffic> {
        Serving::traffic(&self.ranks)
    }

    pub(in crate::run) fn serving(&self) -> Serving {
        Serving { ranks: self.ranks.clone(), parts: self.parts, level: self.level, team: self.team() }
    }
}

/// Makes [`Engine::serve`] return on all ranks except rank 0.
pub fn release_ranks(ranks: &Ranks) {
    Serving::release(ranks);
}

/// Returns an error if a plan needs a feature that is not supported on `ranks` ranks.
pub fn check_ranks(plan: &Plan, ranks: usize) -> Result<()> {
    let Some(what) = only_on_one_rank(plan).filter(|_| ranks > 1) else { return Ok(()) };
    let help = "start md without mpirun, and set run.threads to the number of processors of this machine";
    Err(Error::from(Problem::new(format!("md was started on {ranks} ranks: {what}")).help(help)))
}

/// Returns the reason why a plan can run only on one rank; `None` if several ranks can compute the plan.
fn only_on_one_rank(plan: &Plan) -> Option<String> {
    if let Device::Cuda(number) = plan.run.device {
        return Some(format!("run.device is \"cuda:{number}\", but several ranks compute only on CPUs"));
    }
    RANKS.refusal(plan.features())
}
