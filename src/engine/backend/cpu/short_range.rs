//! Pair interactions and bonded terms of one evaluation, in slices: on several ranks a slice is computed while messages
//! of a mesh travel.

use super::bonded::{Bonded, BondedKernel, BondedOutput};
use super::nonbonded::Nonbonded;
use super::threads::WorkPartition;
use crate::backend::{Phases, Workload};
use crate::cell::PeriodicCell;
use crate::simd::{Level, dispatch};
use crate::vec3::Vec3;
use std::ops::Range;
use std::time::Instant;

/// Number of slices: the number of exchanges of a mesh whose pencils are slabs.
const SLICES: usize = 4;

/// Range of slices of the pairs of each work partition.
#[derive(Clone, Debug)]
pub(super) struct Slices(Range<usize>);

impl Slices {
    /// Whether these slices contain the first slice.
    pub(super) fn are_first(&self) -> bool {
        self.0.start == 0
    }

    /// Whether these slices contain the last slice.
    pub(super) fn are_last(&self) -> bool {
        self.0.end == SLICES
    }

    /// Returns the elements of `all` in these slices.
    pub(super) fn of(&self, all: &Range<usize>) -> Range<usize> {
        let at = |slice: usize| all.start + all.len() * slice / SLICES;
        at(self.0.start)..at(self.0.end)
    }
}

/// Bonded forces of one work partition, one per bonded atom.
#[derive(Default)]
pub(super) struct BondedBuffer {
    pub forces: Vec<Vec3>,
    pub output: BondedOutput,
    pub seconds: f64,
}

/// Pair interactions and bonded terms of one evaluation.
pub(super) struct ShortRange<'a> {
    pub cell: Option<&'a PeriodicCell>,
    pub positions: &'a [Vec3],
    pub workload: Workload,
    pub level: Level,
    pub nonbonded: &'a mut Nonbonded,
    pub bonded: &'a Bonded,
    pub buffers: &'a mut [BondedBuffer],
    pub phases: &'a mut Phases,
    /// number of slices that have been computed
    pub done: usize,
}

impl ShortRange<'_> {
    /// Computes the next slice of the pairs. Does nothing after the last slice.
    pub(super) fn continue_pairs(&mut self) {
        self.until(SLICES.min(self.done + 1));
    }

    /// Computes the other slices of the pairs.
    pub(super) fn complete(&mut self) {
        self.until(SLICES);
    }

    /// Computes slices until `end` slices are done. Each thread computes the pairs of its work partition, and after the
    /// last slice the bonded terms of this partition.
    fn until(&mut self, end: usize) {
        if self.done == end {
            return;
        }
        let start = Instant::now();
        let slices = Slices(self.done..end);
        self.done = end;
        let Self { cell, positions, workload, level, bonded, .. } = *self;
        let sums = workload.energy || workload.virial;
        let count = self.buffers.len();
        self.nonbonded.forces(cell, workload.energy, &slices, self.buffers, |index, buffer| {
            let start = Instant::now();
            let BondedBuffer { forces, output, seconds } = buffer;
            forces.fill(Vec3::ZERO);
            *output = BondedOutput::default();
            let partition = WorkPartition { index, count };
            dispatch(level, BondedKernel { bonded, partition, cell, positions, forces, sums, output });
            *seconds = start.elapsed().as_secs_f64();
        });
        self.phases.pairs += start.elapsed().as_secs_f64();
        if slices.are_last() {
            let bonded =
                self.buffers.iter().map(|buffer| buffer.seconds).sum::<f64>() / self.nonbonded.threads() as f64;
            self.phases.bonded += bonded;
            self.phases.pairs -= bonded;
        }
    }
}
