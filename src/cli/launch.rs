//! Start under an MPI launcher: detection of the number of processes, and checks that all processes run the same
//! program with the same input.

use std::process::ExitCode;

use super::failed;
use crate::config::Config;
use crate::error::{Error, Problem, Result};
use crate::ranks::Ranks;
use crate::run::Start;

/// Environment variables by which launchers state the number of processes (first name) and the rank of the process
/// (second name). Only the first pair that is set is used. A process that `mpirun` starts inside a Slurm job, for
/// example, also has the variables of the Slurm job. Variables of a whole Slurm job (`SLURM_NTASKS`) are ignored,
/// because this process may have been started without the other tasks of the job.
const LAUNCHERS: [(Option<&str>, &str); 5] = [
    (Some("OMPI_COMM_WORLD_SIZE"), "OMPI_COMM_WORLD_RANK"), // Open MPI
    (Some("PMI_SIZE"), "PMI_RANK"),                         // MPICH, Intel MPI; srun with PMI
    (Some("MV2_COMM_WORLD_SIZE"), "MV2_COMM_WORLD_RANK"),   // MVAPICH
    (Some("SLURM_STEP_NUM_TASKS"), "SLURM_PROCID"),         // srun
    (None, "PMIX_RANK"),                                    // PMIx, used only if no other variable of this list is set
];

/// Rank and number of processes according to the launcher.
struct Launched {
    rank: usize,
    /// number of processes; `None` if no environment variable states it
    count: Option<usize>,
    /// environment variable that states the rank
    variable: &'static str,
}

impl Launched {
    fn here() -> Option<Self> {
        let number = |name: &str| std::env::var(name).ok()?.parse::<usize>().ok();
        LAUNCHERS.into_iter().find_map(|(size, rank)| {
            let count = size.map(|size| number(size).ok_or(())).transpose().ok()?;
            Some(Launched { rank: number(rank)?, count, variable: size.unwrap_or(rank) })
        })
    }

    /// Whether the launcher may have started other ranks.
    fn has_others(&self) -> bool {
        self.count.is_none_or(|count| count > 1)
    }

    /// Returns the error that the ranks cannot communicate; `why` is the reason.
    fn refusal(&self, why: &str, help: &str) -> Error {
        let Launched { rank, variable, .. } = self;
        let all = self.count.map_or(String::new(), |count| format!(" of {count}"));
        let apart = format!("for independent runs, unset {variable}: `env -u {variable} md ...`");
        Problem::new(format!("{variable} says that this process has the rank {rank}{all}, but {why}"))
            .help(format!("{help}; {apart}"))
            .into()
    }

    #[cfg(feature = "mpi")]
    fn start(&self) -> Result<Ranks> {
        super::mpi::start()
    }

    #[cfg(not(feature = "mpi"))]
    fn start(&self) -> Result<Ranks> {
        let help = "build md with `cargo build --release --features mpi`, or start md without mpirun or srun";
        Err(self.refusal("this md was built without MPI", help))
    }

    /// Connects to all ranks that the launcher started, and returns the handle of this process.
    fn ranks(&self) -> Result<Ranks> {
        let ranks = self.start()?;
        if ranks.count() == 1 && self.count.is_some_and(|count| count > 1) {
            let help = "use the launcher that belongs to the MPI library of md; srun may need --mpi=pmix";
            return Err(self.refusal("the MPI library found no other process", help));
        }
        Ok(ranks)
    }
}

/// Calls `work` on each rank that the launcher started, or on this process alone if `alone` is set. All ranks end with
/// the same exit code, and only rank 0 prints an error. Therefore `work` must return the same error on all ranks
/// (`Ranks::agree`).
pub(super) fn on_ranks(alone: bool, work: impl FnOnce(&Ranks) -> Result<ExitCode>) -> ExitCode {
    let launched = Launched::here().filter(|launched| !alone && launched.has_others());
    let begun = launched.as_ref().map_or_else(|| Ok(Ranks::alone()), Launched::ranks);
    let ranks = match begun {
        Ok(ranks) => ranks,
        Err(error) => return ended(&error, launched.is_none_or(|launched| launched.rank == 0)),
    };
    let code = same_program(&ranks).and_then(|()| work(&ranks));
    let code = code.unwrap_or_else(|error| ended(&error, ranks.is_first()));
    // all ranks wait and end together, because a launcher may kill the other ranks when one rank ends with an exit code
    // other than 0
    ranks.barrier();
    code
}

/// Returns an exit code if a launcher started several processes of `md bench`, which would share the processors and
/// measure each other. Only rank 0 prints the error.
pub(super) fn refused_bench() -> Option<ExitCode> {
    let launched = Launched::here().filter(|launched| launched.count.is_some_and(|count| count > 1))?;
    let help = "start md bench without mpirun or srun: --ranks forecasts the speed on several ranks; md run on several \
                ranks reports its speed in run.log";
    Some(ended(&launched.refusal("md bench measures a single process", help), launched.rank == 0))
}

/// Returns the exit code of an error. Prints the error if `is_shown`, which is set on rank 0 only.
fn ended(error: &Error, is_shown: bool) -> ExitCode {
    if is_shown { failed(error) } else { ExitCode::from(error.exit_code()) }
}

/// Returns an error if the ranks run different builds of this program.
fn same_program(ranks: &Ranks) -> Result<()> {
    if ranks.count() == 1 {
        return Ok(());
    }
    let program = std::env::current_exe().and_then(std::fs::read).unwrap_or_default();
    let own = [crc32fast::hash(&program).to_le_bytes().as_slice(), crate::VERSION.as_bytes()].concat();
    let help = "start the same program file on every rank; if each node has a copy, copy the file again";
    same(ranks, &own, "a different program file", help)
}

/// Returns an error if the ranks have different inputs or options.
pub(super) fn same_input(ranks: &Ranks, text: &str, config: &Config) -> Result<()> {
    let mut hash = crc32fast::Hasher::new();
    for part in [text, config.effective.as_str()] {
        hash.update(part.as_bytes());
    }
    for argument in std::env::args_os().skip(1) {
        hash.update(argument.as_encoded_bytes());
        hash.update(&[0]);
    }
    let help = "give every rank the same options and the same input file, and check that all nodes can read this file";
    same(ranks, &hash.finalize().to_le_bytes(), "another input file, other options or another folder", help)
}

/// Returns an error if the ranks have read different files.
pub(super) fn same_files<'a>(ranks: &Ranks, starts: impl Iterator<Item = &'a Start>) -> Result<()> {
    if ranks.count() == 1 {
        return Ok(());
    }
    let own: Vec<_> = starts.map(Start::identity).collect();
    differing(
        &ranks.gather(&own),
        "other topologies or coordinates",
        "use the same topology and coordinate files on all machines",
    )
}

/// Returns an error if the bytes of a rank differ from those of rank 0.
fn same(ranks: &Ranks, own: &[u8], what: &str, help: &str) -> Result<()> {
    differing(&ranks.gather_bytes(own), what, help)
}

/// Returns an error if the value of a rank differs from that of rank 0.
fn differing<T: PartialEq>(all: &[T], what: &str, help: &str) -> Result<()> {
    match all.iter().position(|value| *value != all[0]) {
        None => Ok(()),
        Some(rank) => Err(Problem::new(format!("rank {rank} has {what} than rank 0")).help(help).into()),
    }
}
