//! Ensembles: the replicas of an input file, which run in parallel on this machine or on several MPI ranks.
//!
//! Each replica is an ordinary run in its own folder. In replica exchange, replicas swap their thermodynamic states at
//! a [`Barrier`].

mod placement;
mod record;
mod scheduler;
mod status;
mod swap;

use crate::error::{Error, Problem, Result};
use crate::format::LeftOut;
use crate::observe::lock::OutputLock;
use crate::observe::log::{Echo, Level, RunLog};
use crate::observe::progress::Progress;
use crate::observe::replicas::ReplicaStatus;
use crate::prepare::{Alternatives, ConstrainedTerms, Prepared};
use crate::ranks::Ranks;
use crate::run::checkpoint::fingerprint::Fingerprint;
use crate::run::control::signals::Requests;
use crate::run::engine::{Engine, release_ranks};
use crate::run::output::results::hash_text;
use crate::run::plan::Plan;
use crate::run::session::load::{load, needs_the_same};
use crate::run::session::run;
use crate::run::session::{ExchangeMember, Job, Outcome};
use crate::system::{State, System};
use placement::MessageSender;
pub use placement::{ReplicaPlacement, Sharing};
use record::Record;
use scheduler::{Event, Message, Scheduler, Swapping};
use status::StatusWriter;
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
pub use swap::Barrier;
use swap::Member;

/// Wall time between progress lines in the log of a replica.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(60);

/// Largest relative difference of two volumes that count as equal. PDB files have edges in units of 0.001 Å. The volume
/// of a cell with edges of 1.5 nm or more therefore has a relative rounding error of at most 3 · 5e-5 nm / 1.5 nm =
/// 1e-4, and the difference of two volumes has twice this error. At the compressibility of water (4.5e-5 1/bar) this
/// difference changes the pressure by 4 bar, which is far below the fluctuations of the pressure.
const SAME_VOLUME: f64 = 2e-4;

/// Data that replicas with the same files and force settings share.
pub struct Start {
    /// system of the replicas, without bonded terms between constrained atoms
    pub system: Arc<System>,
    /// initial state of the system
    pub state: State,
    /// alternative PME parameters of the same accuracy, for tuning
    pub alternatives: Alternatives,
    /// numbers of models and atoms in the coordinate file that the run ignores
    pub left_out: LeftOut,
}

impl Start {
    /// Loads system and initial state for each plan. Plans that read the same files with the same options share one
    /// [`Start`], so files are read once.
    pub fn of(plans: &[&Plan]) -> impl Iterator<Item = Result<Arc<Self>>> {
        let mut known: Vec<(&Plan, Arc<Self>)> = vec![];
        plans.iter().map(move |plan| {
            if let Some((_, start)) = known.iter().find(|(other, _)| needs_the_same(other, plan)) {
                return Ok(Arc::clone(start));
            }
            let Prepared { system, state, alternatives, left_out } = load(plan, ConstrainedTerms::Drop)?;
            let start = Arc::new(Start { system: Arc::new(system), state, alternatives, left_out });
            known.push((plan, Arc::clone(&start)));
            Ok(start)
        })
    }

    /// Returns an error if the replicas of an exchange without a barostat start with different volumes. The acceptance
    /// of an exchange assumes that all replicas have the volume of the ensemble. `plans` are the plans of the replicas.
    pub fn check_volumes(starts: &[Arc<Self>], plans: &[&Plan]) -> Result<()> {
        let exchanges = |plan: &&&Plan| plan.exchange.is_some();
        let last = plans.first().filter(exchanges).and_then(|plan| plan.dynamics().next_back());
        let Some((name, _)) = last.filter(|(_, dynamics)| dynamics.barostat.is_none()) else { return Ok(()) };
        let volume = |start: &Arc<Self>| start.state.cell.map(|cell| cell.volume());
        let is_same = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() <= SAME_VOLUME * a.max(b),
            _ => a.is_none() && b.is_none(),
        };
        let (first, mut others) = (starts.first().and_then(volume), starts.iter().map(volume).enumerate());
        let Some((index, other)) = others.find(|(_, other)| !is_same(first, *other)) else { return Ok(()) };
        let spelled = |volume: Option<f64>| volume.map_or("no cell".to_owned(), |volume| format!("{volume:.4} nm^3"));
        let message = format!(
            "ensemble.exchange: stage \"{name}\" has no barostat, but replicas start with different volumes: replica 1 \
             with {}, replica {} with {}",
            spelled(first),
            index + 1,
            spelled(other)
        );
        let help = "start all replicas from structures with the same cell, for example from one run at constant \
                    volume, or give the stage a barostat";
        Err(Problem::new(message).help(help).of_key(&["ensemble", "exchange"]).into())
    }

    /// Returns the fingerprint of the system and a hash of the initial state, which are equal for equal starts.
    pub fn identity(&self) -> (Fingerprint, String) {
        (Fingerprint::new(&self.system), hash_text(&self.state))
    }
}

/// Input of one replica of an ensemble.
pub struct ReplicaJob<'a> {
    /// name and folder of the replica, and the settings that distinguish the replica from the others
    pub status: ReplicaStatus,
    /// plan of the replica; the number of threads in this plan is the number of threads of a slot, which runs one
    /// replica at a time
    pub plan: &'a Plan,
    /// text of `effective.toml`, which is the configuration with all defaults
    pub effective: &'a str,
    /// system and initial state of the replica
    pub start: Arc<Start>,
}

/// Input of an ensemble.
pub struct EnsembleJob<'a> {
    /// replicas, in the order of the input file
    pub replicas: Vec<ReplicaJob<'a>>,
    /// distribution of replicas over ranks and slots
    pub spread: ReplicaPlacement,
    /// folder that contains the folders of all replicas
    pub directory: &'a Path,
    /// additional lines for the log
    pub notes: &'a [String],
    /// text of the input file, stored in trajectories
    pub input: &'a str,
    /// function that compares an old plan with a new plan, and returns the changed settings that influence the physics
    /// of the run
    pub compare: fn(&Plan, &Plan) -> Vec<String>,
    /// whether an existing output folder of a replica is renamed, so that the replica starts anew
    pub force: bool,
    /// whether continued replicas begin new trajectories and new energy tables
    pub no_append: bool,
    /// stop and checkpoint requests, for all replicas
    pub requests: Requests,
    /// time at which the program started
    pub started: Instant,
    /// folder in which compiled GPU kernels are cached; `None` = no cache
    pub cache: Option<&'a Path>,
}

/// Runs or continues every replica that has not finished. If a replica fails, the function still waits until all
/// replicas have ended, and then returns the first error. Every rank must call this function with the same job. Only
/// rank 0 writes the log and shows progress.
pub fn run_replicas(
    job: &EnsembleJob<'_>,
    ranks: &Ranks,
    log: impl FnOnce(&Path) -> Result<RunLog>,
    progress: Progress,
) -> Result<Outcome> {
    let size = job.spread.ranks_per_replica;
    if size == 1 {
        return run_on_groups(job, ranks, &Ranks::alone(), log, progress);
    }
    // the first rank of each group runs replicas, and the other ranks of the group execute the operations that the
    // first rank requests
    let group = ranks.split(ranks.rank() / size);
    let leaders = ranks.split(usize::from(!group.is_first()));
    let serving = || Engine::sharing(job.replicas[0].plan, job.spread.before(0), &group);
    let serving = ranks.agree(if group.is_first() { Ok(None) } else { serving().map(Some) })?;
    let end = match serving {
        Some(engine) => {
            engine.serve(&job.requests);
            Ok(None)
        }
        None => {
            let end = run_on_groups(job, &leaders, &group, log, progress);
            release_ranks(&group);
            end.map(Some)
        }
    };
    first(ranks.gather(&ranks.agree(end)?))
}

/// Returns the outcome of the first rank that has an outcome.
fn first(outcomes: Vec<Option<Outcome>>) -> Result<Outcome> {
    outcomes.into_iter().flatten().next().ok_or_else(|| Error::Internal("no rank has an outcome".into()))
}

/// Runs replicas on `ranks`, the first ranks of all groups. `group` contains the ranks that compute a replica together
/// with this rank.
fn run_on_groups(
    job: &EnsembleJob<'_>,
    ranks: &Ranks,
    group: &Ranks,
    log: impl FnOnce(&Path) -> Result<RunLog>,
    progress: Progress,
) -> Result<Outcome> {
    let opened = || {
        let lock = OutputLock::acquire(job.directory)?;
        Ok((lock, Record::open(job)?, log(&job.directory.join("ensemble.log"))?))
    };
    let opened = ranks.agree(if ranks.is_first() { opened().map(Some) } else { Ok(None) })?;
    let (_lock, record, log) = match opened {
        Some((lock, record, log)) => (Some(lock), record, Some(log)),
        None => (None, None, None),
    };
    let (record, known) = record.map(|(record, known)| (RefCell::new(record), known)).unzip();
    let known = ranks.gather(&known).into_iter().flatten().next();
    let barrier = known.map(|known| Barrier::new(known, job.spread.at_once));
    let states = swap::states(job);
    let mut status = log.map(|log| StatusWriter::new(job, record.as_ref(), log, progress));
    let on_event = |event| {
        if let Some(status) = &mut status {
            status.on_event(event);
        }
    };
    let work = |replica: usize, slot: usize, messages: &MessageSender| match &barrier {
        None => job.replica(replica, slot, group, None, messages),
        Some(barrier) => {
            let slot = job.spread.slot_of(replica);
            let member = Member { barrier, replica, slot, states: &states, messages };
            let outcome = member
                .in_turn(|| job.requests.stop(), || job.replica(replica, slot, group, Some(&member), messages))?;
            Ok(outcome.unwrap_or(Outcome::Stopped))
        }
    };
    let all = job.replicas.len();
    let swapping = barrier.as_ref().map(|barrier| Swapping { barrier, record: record.as_ref() });
    let (assignment, threads) = match &swapping {
        None => ((0..all).step_by(1), job.spread.at_once),
        Some(_) => (job.spread.own(all), job.spread.own(all).len()),
    };
    let all =
        ReplicaPlacement::run(threads, Scheduler::new(ranks, &job.requests, assignment, swapping, on_event), work);
    let outcome = status.map(StatusWriter::finish).transpose();
    let outcome = ranks.agree(all.and(outcome))?;
    first(ranks.gather(&outcome))
}

impl EnsembleJob<'_> {
    /// Runs one replica in a slot, in parallel with the replicas in other slots, together with the other ranks of the
    /// group.
    fn replica(
        &self,
        index: usize,
        slot: usize,
        group: &Ranks,
        exchange: Option<&dyn ExchangeMember>,
        messages: &MessageSender,
    ) -> Result<Outcome> {
        let ReplicaJob { plan, effective, start, .. } = &self.replicas[index];
        let started = Instant::now();
        let mut plan: Plan = (*plan).clone();
        // the limit of the wall time applies to the whole process, which may have spent time on other replicas before
        // it started this replica
        let left = |most: Duration| most.saturating_sub(started - self.started);
        plan.run.max_time = plan.run.max_time.map(left);
        let engine = Engine::sharing(&plan, self.spread.before(slot), group)?.with_cache(self.cache);
        let job = Job {
            plan: &plan,
            system: Arc::clone(&start.system),
            alternatives: start.alternatives.clone(),
            start: start.state.clone(),
            left_out: start.left_out,
            input: self.input,
            effective,
            compare: &|old| (self.compare)(old, &plan),
            force: self.force,
            no_append: self.no_append,
            reporters: vec![],
            exchange,
            requests: self.requests.clone(),
            started,
        };
        let messages = messages.clone();
        let echo: Echo = Box::new(move |level, text| {
            if level == Level::Warning {
                // sending a message fails only if the thread of the scheduler has panicked
                let _ = messages.send(Message::Happened(index, Event::Warning(text.to_owned())));
            }
        });
        let _guard = AbortOnPanic(group);
        run(job, engine, |path| RunLog::open(path, Some(echo)), Progress::new(false, PROGRESS_INTERVAL))
    }
}

/// Ends all ranks if a replica panics that is computed by several ranks; otherwise the remaining ranks would wait
/// forever.
struct AbortOnPanic<'a>(&'a Ranks);

impl Drop for AbortOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abort();
        }
    }
}
