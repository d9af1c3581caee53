//! Reading of the files of an ensemble, and pictures of its exchange attempts.

use std::path::{Path, PathBuf};

use crate::analysis::{Axis, Layer, Plot};
use crate::error::{Error, Problem, Result};
use crate::observe::exchange::{self, ExchangeRow, ExchangeStatistics};
use crate::observe::files::{ENSEMBLE, EXCHANGE};
use crate::observe::replicas::EnsembleStatus;
use crate::observe::status::RunState;

/// Maximum number of replicas whose walks through the states are drawn in one picture.
const MOST_WALKS: usize = 8;

/// Contents of the output folder of an ensemble of replicas.
#[derive(Clone, Debug)]
pub(super) struct Ensemble {
    /// output folder of the ensemble
    pub(super) path: PathBuf,
    /// settings and progress of all replicas
    pub(super) status: EnsembleStatus,
    /// outcomes of all exchange attempts; empty without replica exchange
    pub(super) exchanges: Vec<ExchangeRow>,
}

impl Ensemble {
    /// Reads the files in the output folder of an ensemble.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let file = path.join(ENSEMBLE);
        let text = crate::format::file::text(&file).map_err(|error| Error::io(&file, error))?;
        let mut status: EnsembleStatus = serde_json::from_str(&text)
            .map_err(|error| Problem::new(format!("the file is not an ensemble file of md: {error}")).in_file(&file))?;
        status.replicas.iter_mut().for_each(|replica| replica.refresh(path));
        let table = path.join(EXCHANGE);
        let exchanges = if table.is_file() { exchange::read(&table)?.1 } else { vec![] };
        Ok(Ensemble { path: path.to_owned(), status, exchanges })
    }

    /// Returns the folders of the replicas.
    pub(super) fn folders(&self) -> impl Iterator<Item = PathBuf> {
        self.status.replicas.iter().map(|replica| self.path.join(&replica.folder))
    }

    /// Whether at least one replica is running.
    pub(super) fn goes_on(&self) -> bool {
        self.status.count(RunState::Running) > 0
    }

    /// Returns the number of thermodynamic states of the replica exchange; 0 without exchange attempts.
    fn states(&self) -> usize {
        self.exchanges.first().map_or(0, |row| row.states.len())
    }

    /// Returns the statistics of all exchange attempts; `None` if there are no exchange attempts.
    pub(super) fn statistics(&self) -> Option<ExchangeStatistics> {
        let mut statistics = ExchangeStatistics::new(self.states());
        self.exchanges.iter().for_each(|row| statistics.add(row));
        (!self.exchanges.is_empty()).then_some(statistics)
    }

    /// Returns a map of the transitions between thermodynamic states: for each pair of states, the fraction of exchange
    /// attempts in which a replica goes from the first state of the pair to the second state. Returns `None` with fewer
    /// than two states.
    pub(super) fn matrix(&self) -> Option<Plot> {
        let count = self.states();
        if count < 2 {
            return None;
        }
        let mut before: Vec<usize> = (0..count).collect();
        let mut moves = vec![0.0; count * count];
        for row in &self.exchanges {
            for (old, new) in before.iter().zip(&row.states) {
                moves[old * count + new] += 1.0;
            }
            before.clone_from(&row.states);
        }
        moves.iter_mut().for_each(|value| *value /= self.exchanges.len() as f64);
        let range = [0.5, count as f64 + 0.5];
        let label = "fraction of attempts".to_owned();
        Some(Plot {
            suffix: "",
            title: "Moves between states".to_owned(),
            x: Axis::between("state after", range).of_whole_numbers(),
            y: Axis::between("state before", range).of_whole_numbers(),
            layers: vec![Layer::Map { label, x: range, y: range, columns: count, values: moves }],
        })
    }

    /// Returns pictures of the thermodynamic state of each replica over time.
    pub(super) fn walks(&self) -> Vec<Plot> {
        let times: Vec<f64> = self.exchanges.iter().map(|row| row.time).collect();
        let replicas: Vec<usize> = (0..self.states()).collect();
        let plot = |replicas: &[usize]| Plot {
            suffix: "",
            title: "Walks of the replicas through the states".to_owned(),
            x: Axis::new("time / ps"),
            y: Axis::between("state", [0.5, self.states() as f64 + 0.5]).of_whole_numbers(),
            layers: replicas
                .iter()
                .map(|&replica| {
                    let states: Vec<f64> = self.exchanges.iter().map(|row| 1.0 + row.states[replica] as f64).collect();
                    Layer::line(format!("replica {}", replica + 1), &times, &states)
                })
                .collect(),
        };
        replicas.chunks(MOST_WALKS).map(plot).collect()
    }
}
