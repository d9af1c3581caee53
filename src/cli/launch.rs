//! The processes that a launcher of MPI started: how many there are, and that all do the same.

use std::process::ExitCode;

use super::failed;
use crate::config::Config;
use crate::error::{Error, Problem, Result};
use crate::ranks::Ranks;
use crate::run::Start;

/// Variables by which launchers tell each process how many there are, and its number. Only the first that is set counts:
/// `mpirun` passes on what the job it runs in has got. The variables of a whole job of Slurm (`SLURM_NTASKS`) say nothing of
/// this process.
const LAUNCHERS: [(Option<&str>, &str); 5] = [
    (Some("OMPI_COMM_WORLD_SIZE"), "OMPI_COMM_WORLD_RANK"), // Open MPI
    (Some("PMI_SIZE"), "PMI_RANK"),                         // MPICH, Intel MPI; srun with PMI
    (Some("MV2_COMM_WORLD_SIZE"), "MV2_COMM_WORLD_RANK"),   // MVAPICH
    (Some("SLURM_STEP_NUM_TASKS"), "SLURM_PROCID"),         // srun
    (None, "PMIX_RANK"),                                    // PMIx without any of these
];

/// What a launcher has told.
struct Launched {
    rank: usize,
    /// processes, if it said so
    count: Option<usize>,
    /// by which variable
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

    /// Whether there may be others.
    fn has_others(&self) -> bool {
        self.count.is_none_or(|count| count > 1)
    }

    /// That these processes do not find each other.
    fn refusal(&self, why: &str, help: &str) -> Error {
        let Launched { rank, variable, .. } = self;
        let all = self.count.map_or(String::new(), |count| format!(" of {count}"));
        let apart =
            format!("for runs that have nothing to do with each other, unset {variable} (env -u {variable} md ...)");
        Problem::new(format!("this is process {rank}{all} by {variable}, and {why}"))
            .help(format!("{help}; {apart}"))
            .into()
    }

    #[cfg(feature = "mpi")]
    fn start(&self) -> Result<Ranks> {
        super::mpi::start()
    }

    #[cfg(not(feature = "mpi"))]
    fn start(&self) -> Result<Ranks> {
        let help = "build md with `cargo build --release --features mpi`, or start it without a launcher";
        Err(self.refusal("this md was built without MPI", help))
    }

    /// The ranks, of which this process is one.
    fn ranks(&self) -> Result<Ranks> {
        let ranks = self.start()?;
        if ranks.count() == 1 && self.count.is_some_and(|count| count > 1) {
            let help = "use the launcher that belongs to the MPI library of md; srun may need --mpi=pmix";
            return Err(self.refusal("the MPI library finds no other", help));
        }
        Ok(ranks)
    }
}

/// Does `work` as one of the ranks that the launcher started, or `alone`. All ranks end with the same exit code, and the
/// first says what went wrong: an error must be that of all (`Ranks::agree`).
pub(super) fn on_ranks(alone: bool, work: impl FnOnce(&Ranks) -> Result<ExitCode>) -> ExitCode {
    let launched = Launched::here().filter(|launched| !alone && launched.has_others());
    let begun = launched.as_ref().map_or_else(|| Ok(Ranks::alone()), Launched::ranks);
    let ranks = match begun {
        Ok(ranks) => ranks,
        Err(error) => return ended(&error, launched.is_none_or(|launched| launched.rank == 0)),
    };
    let code = same_program(&ranks).and_then(|()| work(&ranks));
    let code = code.unwrap_or_else(|error| ended(&error, ranks.is_first()));
    // a launcher may kill the other ranks when one ends with another code than 0
    ranks.barrier();
    code
}

/// The exit code of an error, which is shown by one process only.
fn ended(error: &Error, is_shown: bool) -> ExitCode {
    if is_shown { failed(error) } else { ExitCode::from(error.exit_code()) }
}

/// Refuses ranks with another build of this program.
fn same_program(ranks: &Ranks) -> Result<()> {
    if ranks.count() == 1 {
        return Ok(());
    }
    let program = std::env::current_exe().and_then(std::fs::read).unwrap_or_default();
    let own = [crc32fast::hash(&program).to_le_bytes().as_slice(), crate::VERSION.as_bytes()].concat();
    let help = "start the same file on every rank; where it is copied to the nodes, copy it again";
    same(ranks, &own, "a different md", help)
}

/// Refuses ranks with another input or other options.
pub(super) fn same_input(ranks: &Ranks, text: &str, config: &Config) -> Result<()> {
    let mut hash = crc32fast::Hasher::new();
    for part in [text, config.effective.as_str()] {
        hash.update(part.as_bytes());
    }
    for argument in std::env::args_os().skip(1) {
        hash.update(argument.as_encoded_bytes());
        hash.update(&[0]);
    }
    let help = "give every rank the same options and the same file, which all must see";
    same(ranks, &hash.finalize().to_le_bytes(), "another input file or other options", help)
}

/// Refuses ranks that have read other files.
pub(super) fn same_files<'a>(ranks: &Ranks, starts: impl Iterator<Item = &'a Start>) -> Result<()> {
    if ranks.count() == 1 {
        return Ok(());
    }
    let own: Vec<_> = starts.map(Start::identity).collect();
    differing(&ranks.gather(&own), "other topologies or coordinates", "the files must be the same on all machines")
}

/// Refuses ranks with other bytes than the first.
fn same(ranks: &Ranks, own: &[u8], what: &str, help: &str) -> Result<()> {
    differing(&ranks.gather_bytes(own), what, help)
}

/// Refuses a rank with another value than the first.
fn differing<T: PartialEq>(all: &[T], what: &str, help: &str) -> Result<()> {
    match all.iter().position(|value| *value != all[0]) {
        None => Ok(()),
        Some(rank) => Err(Problem::new(format!("rank {rank} has {what} than rank 0")).help(help).into()),
    }
}
