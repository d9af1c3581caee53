//! Names of the files in the output folder of a run or of an ensemble.

/// Checkpoint of a run. The previous checkpoint has the name that [`super::checkpoint::previous`] gives.
pub const CHECKPOINT: &str = "checkpoint.md";
/// Input of the run with the values of all keys.
pub const EFFECTIVE: &str = "effective.toml";
/// Log of a run.
pub const LOG: &str = "run.log";
/// Progress of a run ([`super::status::Status`]).
pub const STATUS: &str = "status.json";
/// Summary of a run ([`super::summary::Summary`]).
pub const SUMMARY: &str = "summary.json";
/// Energy table.
pub const ENERGIES: &str = "energies.csv";
/// Table of collective restraints.
pub const RESTRAINTS: &str = "restraints.csv";
/// Table of minimisations.
pub const MINIMISATION: &str = "minimisation.csv";
/// Final structure and velocities, from which another run can start.
pub const FINAL_STRUCTURE: &str = "final.rst7";
/// Final structure with the names of atoms and residues.
pub const FINAL_PDB: &str = "final.pdb";
/// Final structure and velocities in the format of GROMACS.
pub const FINAL_GRO: &str = "final.gro";
/// Surroundings of the atoms that became unstable.
pub const UNSTABLE: &str = "unstable.pdb";
/// Page about a run ([`crate::report`]).
pub const REPORT: &str = "report.html";
/// Progress of an ensemble ([`super::replicas`]).
pub const ENSEMBLE: &str = "ensemble.json";
/// States of the replicas after each exchange attempt ([`super::exchange`]).
pub const EXCHANGE: &str = "exchange.csv";
/// Names that a trajectory must not have, because md writes structure files with these names.
pub const RESERVED: [&str; 3] = [FINAL_PDB, FINAL_GRO, UNSTABLE];

/// Returns the folder of a replica that has no name of its own. Folders are numbered from 1, and `index` counts from 0.
pub fn replica_folder(index: usize) -> String {
    format!("replica-{}", index + 1)
}
