//! The file `summary.json`: settings, speed and results of a run, written at the end of the run.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::extent::Extent;
use super::replace::{json, replace_synced};
use super::statistics::Average;
use super::status::RunState;
use super::tuning::Tuning;
use crate::backend::Work;
use crate::error::{Error, Problem, Result};
use crate::format::file;
use crate::system::{DispersionCorrection, LjModifier, PmeParameters};

/// Summary of a run: all numbers that help to compare two runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// final state of the run
    pub state: RunState,
    /// identifier of the run, the same in all files of the run
    #[serde(default)]
    pub run_id: String,
    /// version of md
    pub version: String,
    /// source revision (Git commit) from which md was built; empty if unknown
    pub commit: String,
    /// name of the computer on which the run ended
    pub host: String,
    /// backend that computed the forces, and its hardware
    pub device: String,
    /// reason why the CPU or the GPU was chosen
    #[serde(default)]
    pub device_reason: String,
    /// number of threads of the process
    pub threads: usize,
    /// instruction set of the CPU kernels
    pub simd: String,
    /// number of atoms, including virtual sites
    pub atoms: usize,
    /// number of steps done by this process, in all stages
    pub steps: u64,
    /// time simulated by this process, ps
    pub simulated_ps: f64,
    /// wall time since the start of the process, s
    pub wall_seconds: f64,
    /// speed of the dynamics stages in ns/day, including set-up and tuning
    pub ns_per_day: Option<f64>,
    /// speed of the dynamics stages in ns/day, measured after set-up and tuning
    pub ns_per_day_steady: Option<f64>,
    /// wall time of a step of dynamics after tuning, µs
    pub us_per_step: Option<f64>,
    /// PME parameters that the run used last; `None` without PME
    pub pme: Option<PmeParameters>,
    /// pair lists of the last stage
    pub list: Option<ListSummary>,
    /// candidates, choice and gain of the tuning; `None` if there was only one candidate
    #[serde(default)]
    pub tuning: Option<Tuning>,
    /// wall time of each phase of a step, summed over the run
    pub phases: Vec<Phase>,
    /// bytes and messages that a rank sends in a step of dynamics, for each purpose; empty for one rank
    #[serde(default)]
    pub communication: Vec<Communication>,
    /// number of pairs that the rank with the most pairs computes, divided by the mean over ranks; 1 for one rank,
    /// `None` without pair lists
    #[serde(default)]
    pub pair_imbalance: Option<f64>,
    /// number of pairs within the cutoff divided by the number of pairs that the kernels compute; `None` without pair
    /// lists
    #[serde(default)]
    pub useful_pairs: Option<f64>,
    /// properties of the system and its final state, by which a reader judges the quality of the run
    #[serde(default)]
    pub system: Option<SystemSummary>,
    /// summary of each stage, with its averages
    pub stages: Vec<StageSummary>,
    /// hash of the final state, equal for runs that agree bit for bit
    pub final_state_hash: Option<String>,
    /// number and checksum of the records of each closed output file, by file name. Records are the rows of a table,
    /// the frames of a trajectory, or the bytes of a final structure
    #[serde(default)]
    pub files: BTreeMap<String, Extent>,
    /// all warnings of the run
    pub warnings: Vec<String>,
}

/// Pair lists of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ListSummary {
    /// interaction cutoff, nm
    pub cutoff: f64,
    /// list cutoff minus interaction cutoff, nm
    pub buffer: f64,
    /// number of steps between rebuilds of the list; the mean number if rebuilds are irregular
    pub interval: f64,
    /// number of steps between prunings of the list; `None` without pruning
    pub prune_interval: Option<f64>,
}

/// Properties of the simulated system and its final state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SystemSummary {
    /// net charge of the system, e
    pub charge: f64,
    /// whether any atom has a charge; `None` in summaries of earlier versions
    #[serde(default)]
    pub has_charges: Option<bool>,
    /// number of degrees of freedom in the last stage of dynamics
    pub degrees_of_freedom: f64,
    /// number of waters that are rigid; `None` in summaries of earlier versions
    #[serde(default)]
    pub rigid_waters: Option<usize>,
    /// number of constraints outside rigid waters; `None` in summaries of earlier versions
    #[serde(default)]
    pub constraints: Option<usize>,
    /// Coulomb cutoff, nm; `None` without a cutoff
    pub cutoff: Option<f64>,
    /// Lennard-Jones cutoff, nm; `None` without a cutoff
    pub cutoff_lj: Option<f64>,
    /// modifier of the Lennard-Jones potential at the cutoff
    pub lj_modifier: LjModifier,
    /// treatment of dispersion interactions beyond the cutoff
    pub dispersion_correction: DispersionCorrection,
    /// largest relative deviation of a constrained distance from its length in the final state; `None` without
    /// constraints
    pub constraint_deviation: Option<f64>,
    /// vibration with the shortest period; `None` if no bonded term vibrates
    pub fastest_vibration: Option<FastestVibration>,
    /// temperatures of the solute and of the solvent (water and ions), computed from the final velocities; empty if the
    /// system has only a solute or only a solvent
    pub parts: Vec<PartTemperature>,
}

/// Vibration with the shortest period, which limits the time step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FastestVibration {
    /// period of the vibration, ps
    pub period: f64,
    /// bond or angle that vibrates, in words
    pub term: String,
}

/// Temperature of the solute or of the solvent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartTemperature {
    /// name of the part of the system: `solute` or `solvent`
    pub name: String,
    /// number of degrees of freedom of this part
    pub degrees_of_freedom: f64,
    /// temperature of this part at the end of the run, K
    pub temperature: f64,
}

/// Wall time spent in one phase of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// name of the phase, for example `pairs`
    pub name: String,
    /// number of times that the phase was executed
    pub calls: u64,
    /// wall time of the phase, summed over the run, s
    pub seconds: f64,
    /// number of operations and bytes of one execution of the phase, computed from counts of pairs, atoms and grid
    /// points; `None` if there is no formula for the phase
    #[serde(default)]
    pub work: Option<Work>,
}

/// Bytes and messages that a rank sends for one purpose in a step, averaged over all steps of dynamics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Communication {
    /// purpose of the messages, for example `halo positions`
    pub name: String,
    /// number of bytes
    pub bytes: PerStep,
    /// number of messages
    pub messages: PerStep,
}

/// Number of bytes or messages that a rank sends per step, in a run on several ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PerStep {
    /// mean over ranks
    pub mean: f64,
    /// largest value among the ranks
    pub largest: f64,
}

/// Summary of one stage of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageSummary {
    /// name of the stage in the input file
    pub name: String,
    /// kind of the stage: `minimize` or `dynamics`
    pub kind: String,
    /// number of steps done in the stage
    pub steps: u64,
    /// averages of the columns of the energy table
    pub averages: Vec<Average>,
}

impl Summary {
    /// Replaces the summary at `path` atomically. The new file is on disk when this function returns.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = json(self)?;
        replace_synced(path, |out| out.write_all(&text))
    }

    /// Reads a summary written by [`Self::write`].
    pub fn read(path: &Path) -> Result<Self> {
        let text = file::read(path, file::LONGEST_RECORD).map_err(|e| Error::io(path, e))?;
        serde_json::from_slice(&text).map_err(|e| {
            let problem = Problem::new(format!("the file is not a summary of md: {e}")).in_file(path);
            problem.help("give a summary.json, which a run writes at its end").into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_the_promised_ones() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("summary.json");
        let summary = Summary {
            ns_per_day: Some(12.5),
            pme: Some(PmeParameters { alpha: 3.1, grid: [64, 64, 80], order: 5 }),
            list: Some(ListSummary { cutoff: 0.9, buffer: 0.1, interval: 100.0, prune_interval: Some(4.0) }),
            phases: vec![Phase { name: "pairs".into(), calls: 7, seconds: 0.25, work: None }],
            ..Summary::default()
        };
        summary.write(&path).unwrap();
        assert_eq!(Summary::read(&path).unwrap(), summary);
        let value: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for key in [
            "ns_per_day",
            "ns_per_day_steady",
            "us_per_step",
            "pme",
            "list",
            "atoms",
            "steps",
            "wall_seconds",
            "device",
            "device_reason",
            "threads",
            "simd",
            "tuning",
            "phases",
            "final_state_hash",
            "run_id",
            "files",
        ] {
            assert!(value.get(key).is_some(), "{key}");
        }
        assert_eq!((&value["pme"]["grid"][2], &value["list"]["buffer"]), (&80.into(), &0.1.into()));
        std::fs::write(&path, "{}").unwrap();
        assert_eq!(Summary::read(&path).unwrap_err().exit_code(), 2);
    }
}
