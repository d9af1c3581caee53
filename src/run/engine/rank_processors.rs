//! Assignment of processors to MPI ranks. A rank uses the processors to which the launcher bound it. Ranks that are
//! not bound share the processors of their computer equally.

use crate::observe::lock::host_name;
use core_affinity::CoreId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// Name of the computer on which a rank runs, and the processors that the rank may use.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(in crate::run) struct ProcessorSet {
    host: String,
    /// operating-system numbers of the processors that the rank may use
    processors: Vec<usize>,
    /// number of threads that can run at the same time; a CPU quota may allow fewer threads than the rank has
    /// processors
    available: usize,
}

/// Assignment of processors to all MPI ranks.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::run) struct ProcessorShare {
    /// number of threads of each rank
    pub(in crate::run) threads: usize,
    /// number of lower ranks that may use the same processors as each rank
    pub(in crate::run) places: Vec<usize>,
    /// warnings about an assignment of processors that makes the ranks slow
    pub(in crate::run) warnings: Vec<String>,
}

impl ProcessorSet {
    /// Returns the name of the computer, and the processors that this process may use.
    pub(in crate::run) fn here() -> Self {
        let processors =
            core_affinity::get_core_ids().unwrap_or_default().into_iter().map(|CoreId { id }| id).collect();
        let available = std::thread::available_parallelism().map_or(1, usize::from);
        ProcessorSet { host: host_name(), processors, available }
    }
}

impl ProcessorShare {
    /// Divides processors among ranks. Each rank gets `threads` threads. Without `threads`, the number of threads of
    /// every rank is the smallest number of processors that any rank has. If the launcher does not bind ranks to
    /// processors, all ranks on a computer share the processors of this computer equally.
    pub(in crate::run) fn new(seats: &[ProcessorSet], threads: Option<usize>) -> Self {
        let mut ranks_at: BTreeMap<&ProcessorSet, Vec<usize>> = BTreeMap::new();
        for (rank, seat) in seats.iter().enumerate() {
            ranks_at.entry(seat).or_default().push(rank);
        }
        let mut places = vec![0; seats.len()];
        for ranks in ranks_at.values() {
            ranks.iter().enumerate().for_each(|(place, &rank)| places[rank] = place);
        }
        let limits = ranks_at.iter().map(|(seat, ranks)| (seat.available / ranks.len()).max(1));
        let limits = limits.clone().min().unwrap_or(1)..limits.max().unwrap_or(1);
        let own = threads.unwrap_or(limits.start);
        let mut warnings = vec![];
        if seats.len() > 1 {
            warnings.extend(too_many_threads(&ranks_at, own));
            warnings.extend(overlap(&ranks_at));
            warnings.extend(unequal(&limits).filter(|_| threads.is_none()));
        }
        ProcessorShare { threads: own, places, warnings }
    }
}

fn too_many_threads(ranks_at: &BTreeMap<&ProcessorSet, Vec<usize>>, threads: usize) -> Option<String> {
    let (seat, ranks) = ranks_at.iter().find(|(seat, ranks)| threads * ranks.len() > seat.available)?;
    let (all, available, host) = (threads * ranks.len(), seat.available, &seat.host);
    let whose = match ranks[..] {
        [one] => format!("rank {one} has"),
        [first, ..] => format!("{} ranks ({first} and others) have", ranks.len()),
        [] => return None,
    };
    Some(format!(
        "{host} is oversubscribed: {whose} {all} threads for {available} processors, which makes all ranks slow; \
         start fewer ranks, or let the launcher bind each rank to its own processors"
    ))
}

fn overlap(ranks_at: &BTreeMap<&ProcessorSet, Vec<usize>>) -> Option<String> {
    let seats: Vec<_> = ranks_at.iter().collect();
    let shared = |a: &ProcessorSet, b: &ProcessorSet| {
        a.host == b.host && a.processors.iter().any(|id| b.processors.contains(id))
    };
    let pairs = seats.iter().enumerate().flat_map(|(index, a)| seats[index + 1..].iter().map(move |b| (a, b)));
    let (a, b) = { pairs }.find(|(a, b)| shared(a.0, b.0))?;
    let (first, second) = (a.1[0].min(b.1[0]), a.1[0].max(b.1[0]));
    Some(format!(
        "ranks {first} and {second} share processors of {} and slow each other down; let the launcher bind each rank \
         to its own processors",
        a.0.host
    ))
}

/// Warns if the numbers of processors of the ranks differ; `limits` holds the smallest and the largest number of
/// processors of a rank.
fn unequal(limits: &Range<usize>) -> Option<String> {
    let Range { start: least, end: most } = limits;
    (least < most).then(|| {
        format!(
            "ranks have from {least} to {most} processors. Each rank uses only {least}, since results depend on \
             the number of threads"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(host: &str, processors: Range<usize>) -> ProcessorSet {
        ProcessorSet { host: host.into(), available: processors.len(), processors: processors.collect() }
    }

    #[test]
    fn ranks_that_are_bound_use_what_they_have() {
        let seats = [seat("a", 0..2), seat("a", 2..4), seat("b", 0..2)];
        assert_eq!(
            ProcessorShare::new(&seats, None),
            ProcessorShare { threads: 2, places: vec![0, 0, 0], warnings: vec![] }
        );
        assert_eq!(ProcessorShare::new(&seats[..1], Some(9)).warnings, [""; 0]);
    }

    #[test]
    fn ranks_that_are_not_bound_share_a_computer() {
        let seats = [seat("a", 0..8), seat("b", 0..4), seat("a", 0..8)];
        assert_eq!(
            ProcessorShare::new(&seats, None),
            ProcessorShare { threads: 4, places: vec![0, 0, 1], warnings: vec![] }
        );
        let share = ProcessorShare::new(&seats, Some(5));
        assert!(share.warnings[0].contains("a is oversubscribed: 2 ranks (0 and others) have 10 threads for 8"));
    }

    #[test]
    fn what_slows_ranks_down_is_said() {
        let alike = [seat("a", 0..2), seat("a", 0..2), seat("a", 0..2)];
        let share = ProcessorShare::new(&alike, None);
        assert_eq!((share.threads, &share.places[..]), (1, &[0, 1, 2][..]));
        assert!(share.warnings[0].contains("3 ranks (0 and others) have 3 threads for 2 processors"), "{share:?}");
        let overlapping = ProcessorShare::new(&[seat("b", 1..3), seat("a", 0..2), seat("a", 1..3)], None);
        assert_eq!(overlapping.warnings.len(), 1);
        assert!(overlapping.warnings[0].contains("ranks 1 and 2 share processors of a"));
        let unequal = ProcessorShare::new(&[seat("a", 0..4), seat("b", 0..3)], None);
        assert_eq!((unequal.threads, unequal.warnings.len()), (3, 1));
        assert!(unequal.warnings[0].contains("from 3 to 4 processors. Each rank uses only 3"));
        assert_eq!(ProcessorShare::new(&[seat("a", 0..4), seat("b", 0..3)], Some(2)).warnings, [""; 0]);
    }
}
