//! Threads of runs, and the processors to which the threads are bound.

use crate::error::{Error, Problem, Result};
use crate::run::engine::REPRODUCIBLE_PARTS;
use crate::team::Team;
use core_affinity::CoreId;
use std::sync::Arc;

/// Maximum number of threads per processor. A larger number of threads is refused as a mistake, because waiting threads
/// occupy the processors and each thread needs its own buffers.
const THREADS_PER_PROCESSOR: usize = 8;

/// Returns an error if there are many more threads than processors. Up to [`REPRODUCIBLE_PARTS`] threads are allowed on
/// any machine.
pub(in crate::run) fn check_threads(threads: usize) -> Result<()> {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let most = (THREADS_PER_PROCESSOR * available).max(REPRODUCIBLE_PARTS);
    if threads > most {
        let message = format!("{threads} threads are too many: this process may use {available} processors");
        return Err(Problem::new(message)
            .help(format!("at most {most} threads are allowed; one thread per processor is fastest"))
            .of_key(&["run", "threads"])
            .into());
    }
    Ok(())
}

/// Returns one processor for each of `threads` threads, out of the processors that this process may use. The first
/// processors are left to `others` other runs with `threads` threads each. Returns an error if there are not enough
/// processors.
pub(in crate::run) fn pinned(threads: usize, others: usize) -> Result<Vec<CoreId>> {
    share(&core_affinity::get_core_ids().unwrap_or_default(), threads, others)
}

/// Selects the processors of a run from `processors`, as described for [`pinned`].
fn share(processors: &[CoreId], threads: usize, others: usize) -> Result<Vec<CoreId>> {
    let (all, available) = ((others + 1) * threads, processors.len());
    if all > available {
        let message = format!("run.pin: {all} threads need {all} processors, but there are only {available}");
        let problem = Problem::new(message).help("lower run.threads, or set run.pin = false");
        return Err(problem.of_key(&["run", "pin"]).into());
    }
    Ok(processors[others * threads..all].to_vec())
}

/// Starts the threads of an engine, each bound to its processor if `processors` are given.
pub(in crate::run) fn start(threads: usize, processors: Vec<CoreId>) -> Result<(Arc<rayon::ThreadPool>, Arc<Team>)> {
    let failed = |error: &dyn std::fmt::Display| Error::Device(format!("cannot start {threads} threads: {error}"));
    let place = move |number: usize| {
        if let Some(&processor) = processors.get(number) {
            // the error is ignored, because a thread that is not bound to a processor may be slower but works correctly
            let _ = core_affinity::set_for_current(processor);
        }
    };
    let team = Team::new(threads, place.clone()).map_err(|error| failed(&error))?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(|number| format!("md-{number}"));
    let pool = pool.start_handler(place).build().map_err(|error| failed(&error))?;
    Ok((Arc::new(pool), Arc::new(team)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_side_by_side_are_pinned_to_different_processors() {
        // an example of the processors that an affinity mask allows
        let processors = [2, 3, 5, 8, 9].map(|id| CoreId { id });
        let ids = |threads, others| {
            share(&processors, threads, others).map(|share| share.iter().map(|core| core.id).collect::<Vec<_>>())
        };
        assert_eq!([ids(2, 0).unwrap(), ids(2, 1).unwrap()], [[2, 3], [5, 8]]);
        assert_eq!(ids(5, 0).unwrap(), [2, 3, 5, 8, 9]);
        let refusal = ids(2, 2).unwrap_err().to_string();
        assert!(refusal.contains("6 threads need 6 processors, but there are only 5"), "{refusal}");
    }
}
