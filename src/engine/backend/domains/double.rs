//! Double-precision reference forces on several ranks. Every rank has the whole system and computes the pairs of some
//! of the atoms. Rank 0 computes all other forces and integrates. Results are those of one rank, bit for bit.

use super::Serving;
use super::command::{Command, Shared};
use crate::backend::{Distribution, Evaluation, ForceField, Reference, Workload};
use crate::cell::PeriodicCell;
use crate::error::Result;
use crate::system::System;
use crate::vec3::Vec3;

/// Reference force field whose pairs are shared among ranks, on rank 0.
pub struct SharedReference {
    shared: Shared,
    reference: Reference,
}

impl SharedReference {
    /// Sends the system to the other ranks, which must be in [`Serving::serve`]. Returns an error for settings that the
    /// reference does not support.
    pub fn new(serving: &Serving, system: &System) -> Result<Self> {
        let reference = Reference::new(system)?;
        let shared = Shared::new(&serving.ranks, |number| Command::BeginReference(number, Box::new(system.clone())));
        Ok(SharedReference { shared, reference })
    }
}

impl Distribution for SharedReference {}

impl ForceField for SharedReference {
    fn description(&self) -> String {
        match self.shared.ranks.count() {
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
        let Shared { number, ranks } = &self.shared;
        if ranks.count() > 1 {
            ranks.broadcast(&Command::Pairs(*number, cell.copied(), positions.to_vec()));
        }
        self.reference.evaluate_among(ranks, cell, positions, workload, out);
        Ok(())
    }
}
