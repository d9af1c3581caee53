//! Monte Carlo barostats, whose trial moves change the volume, or the xy area or the height, or one of the three
//! lengths of the cell.
//!
//! A volume move picks one of the variable extents s of the cell at random, and changes ε = ln s by a random number δ,
//! which is uniform between −Δ and Δ. The cell is stretched along the directions of s, together with the centers of
//! mass of whole molecules. Distances inside a molecule are unchanged. The sampled distribution of the extents s and of
//! the positions of N centers of mass relative to the cell is p(s) Π ds ∝ V^N exp(−(U + P₀V − γ₀A)/kT) Π ds, with the
//! potential energy U, the volume V, the target pressure P₀, the xy area A and the surface tension γ₀. The move is
//! accepted with the probability min(1, exp(−w/kT)), where w = ΔU + P₀ ΔV − γ₀ ΔA − (N+1) kT δ, with the changes ΔU, ΔV
//! and ΔA of potential energy, volume and xy area. The factor of kT δ is N+1 instead of N, because trial moves are
//! uniform in the logarithm ε of the extent, not in the extent s. After a rejected move the complete state is restored
//! bit for bit. J. Åqvist et al., Chem. Phys. Lett. 384, 288 (2004), doi:10.1016/j.cplett.2003.12.039; K.-H. Chow, D.
//! M. Ferguson, Comput. Phys. Commun. 91, 283 (1995), doi:10.1016/0010-4655(95)00059-O.
//!
//! A volume move takes place at the time t of the positions x(t) of a step, before the forces F of the step act. The
//! potential energy of the move is computed at the positions x(t). The velocities of leapfrog, v(t−½), are unchanged,
//! as in OpenMM and AMBER. The velocities v(t−½) are independent of the volume. The velocities v(t−½) depend on x(t) to
//! first order in dt, since v(t) = v(t−½) + ½ dt F/m. A move therefore heats the system by an energy of the order δ² (F
//! dt)²/m, where δ is the change of the logarithm of the extent, and the thermostat removes this heat.
//!
//! A volume move increases the quantity ½ Σ m v(t−½)·v(t+½) + U, which leapfrog conserves, by ΔU + ½ dt Σ v(t−½)·ΔF,
//! where ΔU and ΔF are the changes of the potential energy and of the forces. This increase of the conserved quantity
//! is added to the work of the barostat. The forces F exclude constraint forces, whose contribution is of second order
//! in dt.
//!
//! Detailed balance requires that the maximum change Δ of the logarithm of an extent does not depend on which earlier
//! volume moves were accepted. During the first [`ADAPTING`] moves of each extent in a stage, Δ is adapted towards an
//! acceptance of one half. After the adaptation Δ is constant, and the ensemble is sampled correctly. A stage begins
//! with the last maximum change Δ of the previous stage. At the start of the run Δ is the standard deviation √(kTβ/V)
//! of ln V, with the compressibility β and the volume V.
//!
//! A cell narrower than twice the cutoff is outside the ensemble: a move to such a cell is rejected.

use super::barostat::LARGEST_CHANGE;
use crate::cell::PeriodicCell;
use crate::system::TrialMoves;
use crate::vec3::Vec3;

/// Number of moves of each extent at the start of a stage, during which the maximum change Δ is adapted.
pub const ADAPTING: u64 = 200;

/// Minimum number of moves of an extent before the log reports that many moves are rejected. With 40 moves a measured
/// fraction of one quarter has a standard error of 0.07.
const FEWEST_TRIALS: u64 = 40;

/// Amount by which the logarithm of the maximum change Δ increases after an accepted move, or decreases after a
/// rejected move. `tried` is the number of earlier moves. The amount falls from 0.3 to 0.04, so that the acceptance
/// with the adapted Δ varies by about 0.05 between runs.
fn adaptation(tried: u64) -> f64 {
    0.3 * (1.0 + tried as f64 / 10.0).powf(-0.7)
}

/// Parameters of a volume move, with all random numbers already drawn, so that the acceptance depends only on the cell
/// and the energy.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct VolumeTrial {
    /// index of the extent of the cell
    pub extent: usize,
    /// whether the extent includes the direction, for each of x, y, z
    pub directions: [bool; 3],
    /// target pressure P₀, kJ/mol/nm³
    pub pressure: f64,
    /// surface tension γ₀ of the xy plane, kJ/mol/nm²
    pub surface_tension: f64,
    /// compressibility β of the material, nm³ mol/kJ
    pub compressibility: f64,
    /// thermal energy kT, kJ/mol
    pub kt: f64,
    /// change δ of the logarithm of the extent, divided by the maximum change Δ; between −1 and 1
    pub change: f64,
    /// uniform random number between 0 and 1; the move is accepted if this number is less than exp(−w/kT), where w is
    /// the work of the move
    pub threshold: f64,
    /// time step of the run, ps
    pub timestep: f64,
}

impl VolumeTrial {
    /// Change δ of the logarithm of the extent in a cell of volume `volume` (nm³). Before the first move, the maximum
    /// change Δ is set to its initial value.
    pub fn change_of(&self, moves: &mut TrialMoves, volume: f64) -> f64 {
        if moves.largest == 0.0 {
            moves.largest = (self.kt * self.compressibility / volume).sqrt();
        }
        moves.largest = moves.largest.min(self.dimensions() * (1.0 + LARGEST_CHANGE).ln());
        self.change * moves.largest
    }

    /// Length factors of the cell along x, y, z for a change δ = `change` of the logarithm of the extent.
    pub fn factors(&self, change: f64) -> Vec3 {
        let factor = (change / self.dimensions()).exp();
        self.directions.map(|included| if included { factor } else { 1.0 }).into()
    }

    /// Number of directions of the extent.
    fn dimensions(&self) -> f64 {
        self.directions.into_iter().filter(|included| *included).count() as f64
    }

    /// Whether a move that changes the logarithm of the extent by `change` and the potential energy by `energy`
    /// (kJ/mol) is accepted. `molecules` is the number N of molecules.
    pub fn is_accepted(&self, change: f64, energy: f64, [before, after]: [&PeriodicCell; 2], molecules: usize) -> bool {
        let area = |cell: &PeriodicCell| cell.volume() / cell.rows()[2].z;
        let external = self.pressure * (after.volume() - before.volume());
        let tension = self.surface_tension * (area(after) - area(before));
        let work = energy + external - tension - (molecules as f64 + 1.0) * self.kt * change;
        // the comparison is false if the work is NaN, so that the move is rejected
        self.threshold < (-work / self.kt).exp()
    }

    /// Counts a move that is rejected because an atom would interact with two periodic images of another atom. A cell
    /// with two interacting images of an atom is outside the sampled ensemble.
    pub fn refuse_too_small(moves: &mut TrialMoves) {
        moves.too_small += 1;
        Self::count(moves, false);
    }

    /// Whether more than a quarter of the moves were rejected because the cell would be too small. Half of all moves
    /// shrink the cell, so that a quarter of all moves is half of the shrinking moves.
    pub fn is_hindered(moves: &TrialMoves) -> bool {
        moves.tried >= FEWEST_TRIALS && 4 * moves.too_small > moves.tried
    }

    /// Counts an accepted or rejected move, and adapts the maximum change Δ.
    pub fn count(moves: &mut TrialMoves, accepted: bool) {
        if moves.tried < ADAPTING {
            let change = adaptation(moves.tried);
            moves.largest *= if accepted { change } else { -change }.exp();
        }
        moves.tried += 1;
        moves.accepted += u64::from(accepted);
    }
}

#[cfg(test)]
mod tests;
