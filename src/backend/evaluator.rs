//! A backend that keeps its own state, as a force field for positions of the host: minimisation moves atoms in host
//! memory, wherever the forces come from.

use super::{Backend, Evaluation, ForceField, PairCounts, Phases, Workload};
use crate::cell::PeriodicCell;
use crate::error::Result;
use crate::system::State;
use crate::vec3::Vec3;

/// Around a backend.
pub struct Evaluator<B> {
    backend: B,
    /// what the backend is given; velocities are zero
    state: State,
    /// what the last phase that cannot return an error came to
    outcome: Result<()>,
}

impl<B: Backend> Evaluator<B> {
    /// A backend without a state yet.
    pub fn new(backend: B) -> Self {
        Evaluator { backend, state: State::default(), outcome: Ok(()) }
    }

    fn place(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3]) -> Result<()> {
        self.state.cell = cell.copied();
        self.state.positions.clear();
        self.state.positions.extend_from_slice(positions);
        self.state.velocities.resize(positions.len(), Vec3::ZERO);
        self.backend.upload(&self.state)
    }

    /// Do something to lists at these positions, unless that failed before.
    fn listing(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3], work: impl FnOnce(&mut B)) {
        if self.outcome.is_ok() {
            self.outcome = self.place(cell, positions);
            work(&mut self.backend);
        }
    }
}

impl<B: Backend + Send> ForceField for Evaluator<B> {
    fn description(&self) -> String {
        self.backend.description()
    }

    fn rebuild(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3]) {
        self.listing(cell, positions, B::rebuild_pairs);
    }

    fn prune(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3]) {
        self.listing(cell, positions, |backend| backend.prune_pairs(0.0));
    }

    fn cell_changed(&mut self, _: Option<&PeriodicCell>) {}

    fn evaluate(
        &mut self,
        cell: Option<&PeriodicCell>,
        positions: &[Vec3],
        workload: Workload,
        out: &mut Evaluation,
    ) -> Result<()> {
        std::mem::replace(&mut self.outcome, Ok(()))?;
        self.place(cell, positions)?;
        self.backend.forces(workload)?;
        let found = self.backend.evaluation();
        out.forces.clone_from(&found.forces);
        (out.energies, out.virial) = (found.energies, found.virial);
        Ok(())
    }

    fn phases(&self) -> Phases {
        self.backend.phases()
    }

    fn pair_counts(&self) -> PairCounts {
        self.backend.pair_counts()
    }
}
