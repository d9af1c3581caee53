//! Double-precision reference forces on several ranks. Every rank has the whole system and computes the pairs of some
//! of the atoms. Rank 0 computes all other forces and integrates. Results are those of one rank, bit for bit.

use super::{Order, Serving};
use crate::backend::{Distribution, Evaluation, ForceField, Reference, Workload};
use crate::cell::PeriodicCell;
use crate::error::Result;
use crate::ranks::{Purpose, Ranks};
use crate::system::System;
use crate::vec3::Vec3;

/// Reference force field whose pairs are shared among ranks, on rank 0.
pub struct SharedReference {
    ranks: Ranks,
    reference: Reference,
}

impl SharedReference {
    /// Sends the system to the other ranks, which must be in [`Serving::serve`]. Returns an error for settings that the
    /// reference does not support.
    pub fn new(serving: &Serving, system: &System) -> Result<Self> {
        let reference = Reference::new(system)?;
        let ranks = serving.ranks.for_purpose(Purpose::Commands);
        ranks.broadcast(&Order::BeginReference(Box::new(system.clone())));
        Ok(SharedReference { ranks, reference })
    }
}

impl Drop for SharedReference {
    fn drop(&mut self) {
        self.ranks.broadcast(&Order::End);
    }
}

impl Distribution for SharedReference {}

impl ForceField for SharedReference {
    fn description(&self) -> String {
        match self.ranks.count() {
            1 => self.reference.description(),
            ranks => format!("{}, pairs shared among {ranks} ranks", self.reference.description()),
        }
    }

    fn evaluate(
        &mut self,
        cell: Option<&PeriodicCell>,
        positions: &[Vec3],
        workload: Workload,
        out: &mut Evaluation,
    ) -> Result<()> {
        if self.ranks.count() > 1 {
            self.ranks.broadcast(&Order::Pairs(cell.copied(), positions.to_vec()));
        }
        self.reference.evaluate_among(&self.ranks, cell, positions, workload, out);
        Ok(())
    }
}
