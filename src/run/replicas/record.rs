//! Record of a replica exchange, which only rank 0 keeps. The record computes the outcome of each exchange attempt from
//! the energies of all replicas, and writes the outcome as a row of `exchange.csv`.

use crate::ensemble::exchange::{Exchange, Offer};
use crate::error::{Error, Problem, Result};
use crate::observe::exchange::{ExchangeRow, ExchangeStatistics, ExchangeTable};
use crate::observe::files::{CHECKPOINT, EXCHANGE};
use crate::observe::replace::unused;
use crate::run::replicas::EnsembleJob;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Energies and volume that a replica sends at an exchange attempt, with number, step and time of this attempt.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Proposal {
    /// index of the replica that sends the proposal
    pub(super) replica: usize,
    /// number of the exchange attempt, from 1
    pub(super) attempt: u64,
    /// number of steps since the start of the run
    pub(super) step: u64,
    /// simulated time of the attempt, ps
    pub(super) time: f64,
    /// energies and volume of the replica
    pub(super) offer: Offer,
}

/// Record of all exchange attempts.
pub(super) struct Record {
    exchange: Exchange,
    table: ExchangeTable,
    statistics: ExchangeStatistics,
    /// energies and volume of each replica for the next exchange attempt; `None` until the replica has sent them
    offers: Vec<Option<Offer>>,
}

impl Record {
    /// Opens or continues the record of an ensemble. Returns the record, and the states of all replicas after each
    /// recorded attempt; `None` without replica exchange.
    pub(super) fn open(job: &EnsembleJob<'_>) -> Result<Option<(Self, Vec<Vec<usize>>)>> {
        let replicas = &job.replicas;
        let Some(exchange) = replicas.first().and_then(|replica| replica.plan.exchange.clone()) else {
            return Ok(None);
        };
        let path = job.directory.join(EXCHANGE);
        if job.force && path.exists() {
            move_aside(&path)?;
        }
        let (record, known) = Self::at(&path, exchange)?;
        let attempts = record.statistics.attempts;
        let begun = |folder: &str| job.directory.join(folder).join(CHECKPOINT).exists();
        if let Some(missing) = replicas.iter().find(|replica| attempts > 0 && !begun(&replica.status.folder)) {
            let folder = &missing.status.folder;
            let message = format!("there were {attempts} exchange attempts, but the folder {folder} is missing");
            let help = "restore this folder, or use --force to rename the folder with the old output and start again \
                        from the beginning";
            return Err(Problem::new(message).in_file(&path).help(help).into());
        }
        Ok(Some((record, known)))
    }

    /// Opens or continues the record in the file `path`. Returns the record, and the states of all replicas after
    /// each attempt in the file.
    pub(super) fn at(path: &Path, exchange: Exchange) -> Result<(Self, Vec<Vec<usize>>)> {
        let replicas = exchange.states.len();
        let (mut statistics, mut known) = (ExchangeStatistics::new(replicas), vec![]);
        let table = ExchangeTable::open(path, replicas, |row| {
            statistics.add(&row);
            known.push(row.states);
        })?;
        Ok((Record { exchange, table, statistics, offers: vec![None; replicas] }, known))
    }

    /// Returns the statistics of all exchange attempts.
    pub(super) fn statistics(&self) -> &ExchangeStatistics {
        &self.statistics
    }

    /// Adds the energies and volume of a replica for the next exchange attempt. If the energies of all replicas are
    /// known now, decides the attempt, writes the row and returns the new states of all replicas; otherwise returns
    /// `None`.
    pub(super) fn add(&mut self, proposal: &Proposal) -> Result<Option<Vec<usize>>> {
        let Proposal { replica, attempt, step, time, offer } = *proposal;
        if attempt != self.statistics.attempts + 1 {
            let message = format!(
                "exchange attempt {attempt} is out of sequence: the last attempt was {}",
                self.statistics.attempts
            );
            return Err(Error::Internal(message));
        }
        self.offers[replica] = Some(offer);
        let Some(offers) = self.offers.iter().copied().collect::<Option<Vec<Offer>>>() else { return Ok(None) };
        let decided = self.exchange.decide(attempt, &self.statistics.states(), &offers);
        let row = ExchangeRow { attempt, step, time, states: decided.states, probabilities: decided.probabilities };
        let row = row.rounded();
        self.table.write(&row)?;
        self.statistics.add(&row);
        self.offers.fill(None);
        Ok(Some(row.states))
    }

    /// Waits until all rows of `exchange.csv` are on disk.
    pub(super) fn sync(&self) -> Result<()> {
        self.table.sync()
    }
}

fn move_aside(path: &Path) -> Result<()> {
    std::fs::rename(path, unused(|n| path.with_extension(format!("bak{n}.csv"))))
        .map_err(|error| Error::io(path, error))
}
