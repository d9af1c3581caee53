//! Monte Carlo barostats: trial moves of the volume, or of the area of x and y and of the height, or of three lengths.
//!
//! A trial picks an extent s of the cell at random among those that may change, and changes ε = ln s by δ, uniform in ±Δ. The
//! cell is stretched along the directions of s, and with it the centres of mass of whole molecules; what is inside a molecule
//! keeps its distances. In p(s) Π ds ∝ V^N exp(−(U + P₀V − γ₀A)/kT) Π ds, over the positions of N centres relative to the
//! cell, the trial is accepted with the probability min(1, exp(−w/kT)),
//!   w = ΔU + P₀ ΔV − γ₀ ΔA − (N+1) kT δ,
//! with N+1 in place of N since δ is uniform in ε, not in s. Otherwise everything is as before, to the bit.
//! J. Åqvist et al., Chem. Phys. Lett. 384, 288 (2004), doi:10.1016/j.cplett.2003.12.039; K.-H. Chow, D. M. Ferguson, Comput.
//! Phys. Commun. 91, 283 (1995), doi:10.1016/0010-4655(95)00059-O.
//!
//! Time. The trial takes place at the time t of a step's positions, before its forces move anything: U is that of x(t). The
//! velocities of leapfrog, v(t−½), stay, as in OpenMM and AMBER. They are independent of the volume; of x(t) they know to
//! first order in dt, v(t) = v(t−½) + ½ dt F/m, so that a trial heats the system by a part of (F dt)²/m that is second order
//! in δ, which the thermostat takes out.
//!
//! Work. ½ Σ m v(t−½)·v(t+½) + U, which leapfrog conserves, becomes larger by ΔU + ½ dt Σ v(t−½)·ΔF: this is booked, F without
//! forces of constraints, whose part is second order in dt.
//!
//! Detailed balance needs a Δ that does not depend on what was accepted. In the first [`ADAPTING`] trials of each extent in a
//! stage Δ follows the acceptance, towards one in two; from then on it stays, and the samples are those of the ensemble. The last Δ of a stage
//! is the first of the next; the very first is √(kTβ/V), the fluctuation of ε.
//!
//! A cell narrower than twice the cutoff is outside the ensemble: a trial that leads there is refused.

use super::barostat::LARGEST_CHANGE;
use crate::cell::PeriodicCell;
use crate::system::TrialMoves;
use crate::vec3::Vec3;

/// Trials of an extent at the start of a stage in which the largest change is adapted.
pub const ADAPTING: u64 = 200;

/// Trials of an extent after which it is told that most are refused: a part of a quarter then has an error of 0.07.
const FEWEST_TRIALS: u64 = 40;

/// By which ln Δ grows with an accepted trial, and falls with a refused one, after so many: from 0.3 to 0.04, which leaves a
/// scatter of some 0.05 of the acceptance.
fn adaptation(tried: u64) -> f64 {
    0.3 * (1.0 + tried as f64 / 10.0).powf(-0.7)
}

/// A trial of which all is known but the cell and the energy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VolumeTrial {
    /// which of the extents of the cell
    pub extent: usize,
    /// its directions
    pub directions: &'static [usize],
    /// P₀, kJ/mol/nm³
    pub pressure: f64,
    /// γ₀ of x and y, kJ/mol/nm²
    pub surface_tension: f64,
    /// β of the material, nm³ mol/kJ
    pub compressibility: f64,
    /// kJ/mol
    pub kt: f64,
    /// δ/Δ, between −1 and 1
    pub change: f64,
    /// uniform between 0 and 1: accepted where it is less than exp(−w/kT)
    pub threshold: f64,
    /// ps
    pub timestep: f64,
}

impl VolumeTrial {
    /// δ in a cell of this volume (nm³); sets Δ before the first trial.
    pub fn change_of(&self, moves: &mut TrialMoves, volume: f64) -> f64 {
        if moves.largest == 0.0 {
            moves.largest = (self.kt * self.compressibility / volume).sqrt();
        }
        moves.largest = moves.largest.min(self.directions.len() as f64 * (1.0 + LARGEST_CHANGE).ln());
        self.change * moves.largest
    }

    /// Length factors along x, y, z.
    pub fn factors(&self, change: f64) -> Vec3 {
        let mut factors = [1.0; 3];
        let factor = (change / self.directions.len() as f64).exp();
        self.directions.iter().for_each(|&direction| factors[direction] = factor);
        factors.into()
    }

    /// Whether a change of ε by `change` and of the energy by `energy` (kJ/mol) is accepted for so many molecules.
    pub fn is_accepted(&self, change: f64, energy: f64, [before, after]: [&PeriodicCell; 2], molecules: usize) -> bool {
        let area = |cell: &PeriodicCell| cell.volume() / cell.rows()[2].z;
        let external = self.pressure * (after.volume() - before.volume());
        let tension = self.surface_tension * (area(after) - area(before));
        let work = energy + external - tension - (molecules as f64 + 1.0) * self.kt * change;
        // false for what is not a number
        self.threshold < (-work / self.kt).exp()
    }

    /// Counts a trial refused because an atom would meet two images of another: such cells have the probability zero.
    pub fn refuse_too_small(moves: &mut TrialMoves) {
        moves.too_small += 1;
        Self::count(moves, false);
    }

    /// Whether most of the trials that shrink the cell, half of all, were refused because it would be too small.
    pub fn is_hindered(moves: &TrialMoves) -> bool {
        moves.tried >= FEWEST_TRIALS && 4 * moves.too_small > moves.tried
    }

    /// Counts a trial, and adapts Δ.
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
