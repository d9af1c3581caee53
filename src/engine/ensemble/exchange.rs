//! Replica exchange: replicas of a system swap thermodynamic states.
//!
//! A state k has a temperature, optionally a pressure, and a Hamiltonian. The probability density of state k is
//! exp(−uₖ) with uₖ(x, V) = (Uₖ(x) + Pₖ V)/kTₖ. Replicas a and b in the states i and j swap their states with the
//! probability min(1, exp(−Δ)), where Δ = uᵢ(b) + uⱼ(a) − uᵢ(a) − uⱼ(b). This swap probability leaves the product of
//! all densities invariant. If all states have the same Hamiltonian and pressure, this swap probability is that of
//! Sugita and Okamoto (Chem. Phys. Lett. 314, 141, 1999, doi:10.1016/S0009-2614(99)01123-9). If pressures differ, the
//! swap probability is that of Okabe, Kawata, Okamoto and Mikami (Chem. Phys. Lett. 335, 435, 2001,
//! doi:10.1016/S0009-2614(01)00055-0). Kinetic energies cancel in the exponent Δ of the swap probability, because the
//! velocities of a replica that goes from the temperature T to T' are multiplied by √(T'/T).
//!
//! Neighbouring states in the list of states try to swap their replicas: states 1–2, 3–4, ... at odd exchange attempts
//! (counted from 1), and states 2–3, 4–5, ... at even exchange attempts.
//!
//! The work of a swap is added to the work of the thermostat. A swap multiplies velocities between two steps, so that
//! the work is computed as in [`super::rescaling`].

use super::rescaling::scaling_work;
use super::velocities::kinetic_energy;
use crate::rng::{Purpose, Stream};
use crate::system::State;
use crate::units::BOLTZMANN;
use serde::{Deserialize, Serialize};

/// Replica exchange in the last stage of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// steps between exchange attempts
    pub every: u64,
    /// seed of the random numbers of all exchange attempts
    pub seed: u64,
    /// conditions of each state; neighbours in this list may swap, and replica k begins in state k
    pub states: Vec<Conditions>,
}

/// Temperature and pressure of a state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// temperature, K
    pub temperature: f64,
    /// pressure, kJ/mol/nm³; `None` at constant volume
    pub pressure: Option<f64>,
}

impl Conditions {
    /// Reduced potential u = (U + PV)/kT of a state for the energy U (kJ/mol) and the volume V (nm³) of a replica.
    fn reduced(&self, energy: f64, volume: f64) -> f64 {
        (energy + self.pressure.unwrap_or(0.0) * volume) / (BOLTZMANN * self.temperature)
    }
}

/// Energies and volume of a replica, from which an exchange attempt is decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    /// potential energy of the replica with the Hamiltonian of its current state, kJ/mol
    pub own: f64,
    /// potential energy of the replica with the Hamiltonian of the state that the swap would give it, kJ/mol
    pub other: f64,
    /// volume, nm³; zero without a cell
    pub volume: f64,
}

/// Result of an exchange attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// state of each replica after the exchange attempt
    pub states: Vec<usize>,
    /// exchange probability of each pair of neighbouring states k and k+1, at index k; `None` for pairs that did not
    /// try to swap
    pub probabilities: Vec<Option<f64>>,
}

/// Iterates over the lower state k of each pair of states (k, k+1) that try to swap their replicas at exchange attempt
/// `attempt`.
fn pairs(attempt: u64, states: usize) -> impl Iterator<Item = usize> {
    let first = if attempt.is_multiple_of(2) { 1 } else { 0 };
    (first..states.saturating_sub(1)).step_by(2)
}

/// State with which `state` tries to swap its replica at exchange attempt `attempt`, among `states` states. The result
/// is `None` if `state` does not take part in this attempt.
pub fn neighbour(attempt: u64, state: usize, states: usize) -> Option<usize> {
    pairs(attempt, states).find_map(|low| match state {
        _ if state == low => Some(low + 1),
        _ if state == low + 1 => Some(low),
        _ => None,
    })
}

impl Exchange {
    /// Number (from 1) of the exchange attempt that is due before a step of the stage; `None` if no attempt is due.
    pub fn attempt_at(&self, step: u64) -> Option<u64> {
        (step > 0 && step.is_multiple_of(self.every)).then(|| step / self.every)
    }

    /// Decides which replicas swap their states in an exchange attempt. `states` are the current states of the
    /// replicas. Each random number depends only on the seed, the number of the attempt, and the pair of states.
    pub fn decide(&self, attempt: u64, states: &[usize], offers: &[Offer]) -> Attempt {
        let count = self.states.len();
        let mut holder = vec![0; count];
        states.iter().enumerate().for_each(|(replica, &state)| holder[state] = replica);
        let mut decided = Attempt { states: states.to_vec(), probabilities: vec![None; count.saturating_sub(1)] };
        for low in pairs(attempt, count) {
            let [i, j] = [&self.states[low], &self.states[low + 1]];
            let [a, b] = [holder[low], holder[low + 1]];
            let [of_a, of_b] = [offers[a], offers[b]];
            let delta = i.reduced(of_b.other, of_b.volume) + j.reduced(of_a.other, of_a.volume)
                - i.reduced(of_a.own, of_a.volume)
                - j.reduced(of_b.own, of_b.volume);
            let chance = (-delta).exp();
            let probability = if chance.is_nan() { 0.0 } else { chance.min(1.0) };
            decided.probabilities[low] = Some(probability);
            if Stream::new(self.seed, Purpose::Exchange, attempt, low as u32).uniform() < probability {
                (decided.states[a], decided.states[b]) = (low + 1, low);
            }
        }
        decided
    }

    /// The highest temperature of any state, K.
    pub fn highest_temperature(&self) -> f64 {
        self.states.iter().map(|state| state.temperature).fold(0.0, f64::max)
    }

    /// Factor for the velocities of a replica that goes from state `from` to state `to`.
    pub fn velocity_factor(&self, from: usize, to: usize) -> f64 {
        (self.states[to].temperature / self.states[from].temperature).sqrt()
    }
}

/// Multiplies velocities between two steps by a factor λ, and adds the work to the work of the thermostat. `groups` is
/// the number of temperature groups. The part (λ²−1) K of the work, where K is the kinetic energy before the
/// multiplication, is added to the work of the thermostat at once. The rest of the work is added in the next step, for
/// which the coefficient 1 − 1/λ is stored ([`super::rescaling`]). If a thermostat has scaled the velocities by λ'
/// since the previous step, the stored coefficient is 1 − 1/(λ λ').
pub fn scale_velocities(state: &mut State, masses: &[f64], factor: f64, groups: usize) {
    let coupling = &mut state.coupling;
    coupling.thermostat_work += scaling_work(kinetic_energy(masses, &state.velocities), factor);
    coupling.pending_rescaling.resize(groups.max(1), 0.0);
    coupling.pending_rescaling.iter_mut().for_each(|pending| *pending = 1.0 - (1.0 - *pending) / factor);
    state.velocities.iter_mut().for_each(|v| *v = *v * factor);
}

/// Mean exchange probability of two temperatures (K) for a potential energy that fluctuates like harmonic degrees of
/// freedom. With the heat capacity C = f k/2 of f degrees of freedom and normally distributed energies, the exponent Δ
/// has the mean m = C (T₂−T₁)²/(k T₁T₂) and the variance 2m. The mean exchange probability ⟨min(1, exp(−Δ))⟩ is then
/// erfc(√m/2). D. A. Kofke, J. Chem. Phys. 117, 6911 (2002), doi:10.1063/1.1507776.
pub fn harmonic_acceptance(degrees_of_freedom: usize, [low, high]: [f64; 2]) -> f64 {
    let mean = 0.5 * degrees_of_freedom as f64 * (high - low).powi(2) / (low * high);
    libm::erfc(0.5 * mean.sqrt())
}

#[cfg(test)]
mod tests;
