//! Sequence of operations of a Monte Carlo volume move ([`crate::ensemble::volume_trial`]), which is the same on every
//! device.

use super::{Backend, Workload};
use crate::cell::PeriodicCell;
use crate::ensemble::volume_trial::VolumeTrial;
use crate::error::Result;
use crate::pair::ListSchedule;
use crate::system::TrialMoves;
use crate::vec3::Vec3;

/// Fraction of the outer list's buffer that a volume move may use. The rest of the outer list's buffer is left for the
/// motion of atoms.
const BUFFER_SHARE: f64 = 0.25;

/// Operations of a backend that make up a Monte Carlo volume move.
pub(super) trait VolumeMoves: Backend {
    /// Returns the acceptance statistics and the maximum change of the volume moves, for each extent of the cell
    /// (volume, xy area or length).
    fn trial_moves(&mut self) -> &mut [TrialMoves; 3];
    /// Returns the number of molecules.
    fn molecules(&self) -> usize;
    /// Returns the longer of the Coulomb and Lennard-Jones cutoffs, nm; infinite without a cutoff.
    fn cutoff(&self) -> f64;
    /// Whether the atoms can still be distributed over several processes if the cell becomes `cell`.
    fn fits(&self, _cell: &PeriodicCell) -> bool {
        true
    }
    /// Computes the positions after a move in which the centers of mass of molecules are scaled by `factors` and each
    /// molecule moves rigidly with its center. The scaled positions of the atoms are their old positions times
    /// `factors`. Returns the largest distance (nm) of an atom from its scaled position.
    fn stretch(&mut self, factors: Vec3) -> Result<f64>;
    /// Prunes the inner list at the present positions, so that the list has all pairs within `radius` (nm).
    fn prune_within(&mut self, radius: f64) -> Result<()>;
    /// Sets aside the present state and its evaluation, and continues with the positions that
    /// [`VolumeMoves::stretch`] computed, in `cell`.
    fn enter(&mut self, cell: PeriodicCell) -> Result<()>;
    /// Restores, bit for bit, the state and the evaluation that [`VolumeMoves::enter`] set aside. `cell` is the cell of
    /// the restored state.
    fn leave(&mut self, cell: PeriodicCell) -> Result<()>;
    /// Evaluates `workload`, which requests energies, in the scaled cell, and returns the potential energy (kJ/mol).
    /// The energy may be infinite or NaN if atoms overlap.
    fn energy_after(&mut self, workload: Workload) -> Result<f64> {
        self.forces(workload)?;
        Ok(self.evaluation().energies.potential())
    }
    /// Returns Σ v·ΔF (kJ/mol/ps), where ΔF is the difference between the present force on an atom and the force that
    /// [`VolumeMoves::enter`] set aside.
    fn power_of_change(&mut self) -> Result<f64>;
    /// Adds `work` (kJ/mol) to the work of the barostat.
    fn add_barostat_work(&mut self, work: f64) -> Result<()>;
}

/// Evaluates `workload` in the present cell and in the scaled cell with scaled molecule centers, and keeps the accepted
/// state. A scaled cell is rejected if it violates the minimum-image condition, or if it is too narrow for the domains
/// of several processes.
pub(super) fn try_volume(
    backend: &mut impl VolumeMoves,
    trial: &VolumeTrial,
    workload: Workload,
    lists: &ListSchedule,
) -> Result<()> {
    let Some(cell) = backend.cell()? else { return backend.forces(workload) };
    let (cutoff, extent) = (backend.cutoff(), trial.extent);
    let change = trial.change_of(&mut backend.trial_moves()[extent], cell.volume());
    let factors = trial.factors(change);
    let stretched = cell.stretched(factors);
    if cutoff > stretched.max_cutoff() || !backend.fits(&stretched) {
        VolumeTrial::refuse_too_small(&mut backend.trial_moves()[extent]);
        backend.prune_lists(0.0)?;
        return backend.forces(workload);
    }
    // two atoms that are closer than the cutoff after the move are closer than `reach` before the move, because the
    // distance of each atom from its scaled position is at most the result of `stretch`
    let reach = (cutoff + 2.0 * backend.stretch(factors)?) / factors.x.min(factors.y).min(factors.z);
    backend.prune_within(reach)?;
    backend.forces(workload)?;
    let before = backend.evaluation().energies.potential();
    backend.enter(stretched)?;
    let far = reach - cutoff > BUFFER_SHARE * (lists.outer - cutoff);
    if far {
        backend.build_lists()?;
        backend.prune_lists(0.0)?;
    }
    let energy = backend.energy_after(workload)? - before;
    let accepted = trial.is_accepted(change, energy, [&cell, &stretched], backend.molecules());
    if accepted {
        let power = backend.power_of_change()?;
        backend.add_barostat_work(energy + 0.5 * trial.timestep * power)?;
    } else {
        backend.leave(cell)?;
    }
    VolumeTrial::count(&mut backend.trial_moves()[extent], accepted);
    if far { backend.build_lists() } else { Ok(()) }
}
