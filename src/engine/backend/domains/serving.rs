//! Ranks other than the first one, which wait for the commands of the first rank.

use super::command::{Command, execute};
use super::field::Domain;
use crate::backend::{Cpu, CpuOptions, Host, Reference, check_system};
use crate::error::Result;
use crate::pair::ListSchedule;
use crate::ranks::{Purpose, Ranks, Traffic};
use crate::simd::Level;
use crate::system::{CompactSystem, System};
use crate::team::Team;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// Systems of the first rank that another rank holds, by number.
#[derive(Default)]
struct Served {
    domains: HashMap<u64, Host<Domain>>,
    /// force fields whose pairs are shared in double precision
    references: HashMap<u64, Reference>,
}

/// Requests that a user made with signals to one rank, since the last time that rank 0 asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requested {
    /// the run stops
    pub stop: bool,
    /// the run writes a checkpoint and goes on
    pub checkpoint: bool,
}

/// A rank's resources for domain decomposition.
#[derive(Clone)]
pub struct Serving {
    /// all ranks
    pub ranks: Ranks,
    /// number of work partitions
    pub parts: usize,
    /// SIMD instruction set
    pub level: Level,
    /// worker threads
    pub team: Arc<Team>,
}

impl Serving {
    /// Executes the commands that the first rank sends, until the first rank calls [`Serving::release`]. All other
    /// ranks call this function. `requested` returns the requests of a user to this rank. Errors are not returned from
    /// this function, because the first rank has the same errors and reports them.
    pub fn serve(&self, requested: impl Fn() -> Requested) {
        let mut served = Served::default();
        let commands = self.ranks.for_purpose(Purpose::Commands);
        while let Some(command) = commands.receive_broadcast() {
            match command {
                Command::Begin(number, system, schedule) => {
                    served.domains.extend(self.host(*system, None, schedule).ok().map(|host| (number, host)));
                }
                Command::BeginReference(number, system) => {
                    served.references.extend(Reference::new(&system).ok().map(|reference| (number, reference)));
                }
                // the first rank has the same error and reports it
                Command::Execute(number, order) => match served.domains.get_mut(&number) {
                    Some(host) => _ = execute(host, order),
                    None => self.ranks.abort(),
                },
                Command::Pairs(number, cell, positions) => match served.references.get_mut(&number) {
                    Some(reference) => {
                        reference.compute_share(&self.ranks.for_purpose(Purpose::Output), cell.as_ref(), &positions);
                    }
                    None => self.ranks.abort(),
                },
                Command::End(number) => {
                    served.domains.remove(&number);
                    served.references.remove(&number);
                }
                Command::Traffic => _ = self.ranks.gather(&self.ranks.sent()),
                Command::Requested => _ = self.ranks.for_purpose(Purpose::Output).gather(&requested()),
                Command::Quit => break,
            }
        }
    }

    /// Makes the other ranks return from [`Serving::serve`].
    pub fn release(ranks: &Ranks) {
        ranks.broadcast(&Command::Quit);
    }

    /// Returns the counts of messages and bytes that each rank has sent so far, with the command of this function that
    /// a rank has sent to other ranks. The other ranks must be in [`Serving::serve`]. Returns an empty list for a
    /// single rank.
    pub fn traffic(ranks: &Ranks) -> Vec<Traffic> {
        if ranks.count() == 1 {
            return vec![];
        }
        ranks.for_purpose(Purpose::Commands).broadcast(&Command::Traffic);
        ranks.gather(&ranks.sent())
    }

    /// Returns the requests of a user to the other ranks. The other ranks must be in [`Serving::serve`].
    pub fn requested(ranks: &Ranks) -> Vec<Requested> {
        ranks.for_purpose(Purpose::Commands).broadcast(&Command::Requested);
        ranks.for_purpose(Purpose::Output).gather(&Requested::default())
    }

    /// Creates a host for a system, initially without home atoms. `whole` is the system with all its atoms on the first
    /// rank, and `None` on the other ranks. All ranks call this function together.
    pub(super) fn host(
        &self,
        system: CompactSystem,
        whole: Option<&System>,
        schedule: ListSchedule,
    ) -> Result<Host<Domain>> {
        let Serving { ranks, parts, level, team } = self;
        ranks.agree(whole.map_or(Ok(()), check_system).map_err(Into::into))?;
        let options = CpuOptions { parts: *parts, level: *level, schedule };
        let parameters = system.without_atoms();
        let mut cpu = Cpu::without_totals(&parameters, &system.lj_type_counts(), options, Arc::clone(team), ranks);
        if let Some(whole) = whole {
            cpu.count_totals(whole);
        }
        let domain = Domain::new(ranks, system, cpu, schedule.outer);
        Host::new(&parameters, domain, *level, Arc::clone(team))
    }
}
