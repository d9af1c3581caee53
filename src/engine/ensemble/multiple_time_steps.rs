//! Multiple time steps: the forces of reciprocal space act as an impulse at every n-th step.
//!
//! The forces of the meshes (PME, and LJ-PME if used) change slowly. The mesh forces are computed only at the steps of
//! a stage that are multiples of n, and are multiplied by n. All other forces, including the corrections of excluded
//! pairs, act at every step. With the fast forces F and the mesh forces S, the propagator of one cycle of r-RESPA is
//! exp(½ n dt S·∂p) [exp(½ dt F·∂p) exp(dt v·∂x) exp(½ dt F·∂p)]ⁿ exp(½ n dt S·∂p). The propagator is a symmetric
//! product of the flows of parts of the Hamiltonian. The r-RESPA integrator is reversible, conserves phase-space
//! volume, and conserves an energy that differs from the true energy by O((n dt)²). The kicks between two drifts can be
//! combined. Leapfrog with the half-step velocities v(t+½dt), written v(t+½), is then v(t+½) = v(t−½) + (dt/m) (F(t) +
//! w S(t)). The weight w of the mesh forces S is n at steps that are multiples of n, and 0 at other steps. M.
//! Tuckerman, B. J. Berne, G. J. Martyna, J. Chem. Phys. 97, 1990 (1992), doi:10.1063/1.463137; H. Grubmüller, H.
//! Heller, A. Windemuth, K. Schulten, Mol. Simul. 6, 121 (1991), doi:10.1080/08927029108022142. GROMACS (`mts`) and
//! OpenMM (`MTSIntegrator`) use the same scheme. Impulses resonate with vibrations of a period of 2 n dt (T. Schlick,
//! E. Barth, M. Mandziuk, Annu. Rev. Biophys. Biomol. Struct. 26, 181 (1997), doi:10.1146/annurev.biophys.26.1.181): n
//! dt must stay well below half a period of the fastest vibration, which is 5 fs for an unconstrained bond to hydrogen.
//!
//! Energies and virials at the time t of a step are computed from the sum F + S of the fast forces F and the mesh
//! forces S, even if the weight w of the mesh forces at this step is not 1:
//! - The reported energy and virial are those of F + S, the sum of the fast forces and the mesh forces. Kinetic
//!   energies are computed from the half-step velocities of the run. At an impulse the mean of v(t−½) and v(t+½) is the
//!   velocity of the r-RESPA cycle at t. The mean kinetic energy of both half steps exceeds the kinetic energy at t by
//!   Σ dt²/8m (F + n S)². If S acted at every step, the mean kinetic energy would exceed the kinetic energy at t by Σ
//!   dt²/8m (F + S)².
//! - Between impulses of the mesh forces S every n steps, the velocities differ by up to ½ n dt S/m from the velocities
//!   under a steady force S (except in the middle of a cycle with n = 2). Energies are therefore measured only at
//!   impulses. A measurement at another step would require an additional computation of the mesh forces S.
//! - Constraint forces respond to the forces that act in a step: F + w S, with the fast forces F and the mesh forces S
//!   of weight w. The reported constraint virial is the constraint virial of the step, minus (w − 1) times the virial
//!   of the constraint forces that respond to S alone. The constraint forces respond linearly to S. The part that
//!   responds to S alone is m Δa, where Δa is the change that the constraints at x(t) make to the acceleration S/m.
//!   With this constraint virial the atomic pressure of rigid groups is exactly the pressure of the group centers.
//!
//! Barostats and thermostats that multiply velocities act only at the end of the last step of a cycle, before the next
//! impulse. A barostat needs the virial at that step, so that the mesh forces S are computed at that step, too. The
//! second half of the work of a barostat needs the virial at the next step, which has an impulse. Monte Carlo volume
//! moves need the mesh energy and the mesh forces S before and after the volume move. A velocity factor λ that
//! multiplies v(t−½) before an impulse at t changes v(t+½) from v(t−½) + (dt/m) (F + n S) to λ v(t−½) + (dt/m) (F + n
//! S). The work of the factor λ, which contains the forces F + w S of the next step, is therefore exact with w = n.
//!
//! Friction, noise and collisions refresh velocities in the middle of any drift ([`super::refreshment`]). Consider the
//! cycle of n steps between the impulse of the mesh forces S₀ at t and the impulse of the mesh forces Sₙ at t + n dt.
//! In the drift from x(t+j dt) to x(t+(j+1) dt), 0 ≤ j < n, the thermostat changes the velocities from vⱼ to v′ⱼ = vⱼ +
//! Δⱼ. The work of the thermostat in the cycle is Σⱼ [K(v′ⱼ) − K(vⱼ)] + ½ dt Σⱼ Δⱼ·[(j+½) Sₙ − (n−j−½) S₀], where K is
//! the kinetic energy. The sum over Δⱼ·[…] is needed because velocities after an impulse are ahead of the velocities
//! under a steady force S. By the middle of drift j, half an impulse has changed the velocities by ½ n dt S/m, whereas
//! a steady force S would have changed the velocities by (j+½) dt S/m. With the lead ℓ = (n−1−2j) dt S/2m of the
//! velocities, the change of the energy is ½ m (v′−ℓ)² − ½ m (v−ℓ)² = ½ m (v′² − v²) − m ℓ·Δ.
//!
//! The work of refreshed velocities is derived for mesh forces S that change within a cycle of n steps, from S₀ at the
//! first impulse of the cycle to Sₙ at the next impulse. The work ½ n dt S·(v + v′) of an impulse is shared equally
//! between both adjacent cycles. The potential energy of the mesh forces S decreases in a cycle by ½ (S₀ + Sₙ)·(x(t + n
//! dt) − x(t)). The expression for the decrease is exact if S is linear in x. The atoms move with the velocities vⱼ in
//! the first half of drift j, and with v′ⱼ = vⱼ + Δⱼ in the second half. The change of the total energy in a cycle is
//! the sum of the work of the thermostat, which depends on Δⱼ, and of terms that are present even without a thermostat.
//! The terms that are present even without a thermostat stay bounded. With impulses at every step (n = 1), the terms
//! Δⱼ·S of the work add up to ¼ dt Δ·(S₁ − S₀), whose average is zero. The terms Δⱼ·S are therefore included only for
//! multiple time steps (n of at least 2). The conserved quantity is the energy minus the work of the thermostat: G.
//! Bussi, M. Parrinello, Phys. Rev. E 75, 056707 (2007), doi:10.1103/PhysRevE.75.056707. The term of the work that
//! contains S₀ is added in the step of the velocity change Δⱼ, and the term that contains Sₙ is added at the next
//! impulse.
//!
//! If the mesh forces are not linear in the positions, the trapezoidal rule is not exact, and friction dissipates the
//! resulting error of the integrator. The conserved quantity of a peptide in water with a friction of 10/ps drifts by
//! 1.4(7), 3.7(6) and 14.5 kJ/mol/ps with impulses every 6, 8 and 10 fs. With a friction of 2/ps and impulses every 8
//! fs the conserved quantity drifts by 0.3(6) kJ/mol/ps (measured at commit `96af19d`).

use serde::{Deserialize, Serialize};

/// Multiple-time-step settings of reciprocal space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MultipleTimeSteps {
    /// number of steps between impulses; with the value 1 all forces act at every step
    pub every: u32,
}

impl MultipleTimeSteps {
    /// Returns the role of the mesh forces in a step of a stage. `measured` is true if the step needs the energy or the
    /// virial.
    pub fn at(self, step: u64, measured: bool) -> LongRange {
        match self.every {
            0 | 1 => LongRange::Ordinary,
            every if super::is_due(every, step) => LongRange::Apart { weight: every },
            _ if measured => LongRange::Apart { weight: 0 },
            _ => LongRange::Skipped,
        }
    }
}

/// Weights of the mesh forces in the work of velocities that change in the middle of drift j = `step` of a cycle of n =
/// `length` steps. The first weight is j+½, for the forces of the next impulse, and the second weight is n−j−½, for the
/// forces of the previous impulse.
pub fn lead_weights(length: u32, step: u32) -> [f64; 2] {
    let since = f64::from(step) + 0.5;
    [since, f64::from(length) - since]
}

/// Additional work (kJ/mol) of velocity changes between impulses of the mesh forces. The work arises because velocities
/// after an impulse are ahead of the velocities under a steady force. The work is ½ dt times `product`, which is the
/// weighted sum Σ S·Δ (kJ/mol/ps) over all atoms, with the mesh forces S and the velocity changes Δ.
pub fn lead_work(timestep: f64, product: f64) -> f64 {
    0.5 * timestep * product
}

/// Role of the mesh forces of reciprocal space in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum LongRange {
    /// mesh forces act in this step like all other forces
    #[default]
    Ordinary,
    /// reciprocal space is not computed in this step
    Skipped,
    /// mesh forces are stored separately from all other forces, and are multiplied by a weight
    Apart {
        /// weight of the impulse; zero if only energy and virial are needed
        weight: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impulses_are_counted_from_the_start_of_a_stage() {
        let found = |every, measured| [0, 1, 2, 3, 4].map(|step| MultipleTimeSteps { every }.at(step, measured));
        let [none, idle, kick] = [LongRange::Skipped, LongRange::Apart { weight: 0 }, LongRange::Apart { weight: 2 }];
        assert_eq!(found(1, true), [LongRange::Ordinary; 5]);
        assert_eq!(found(2, false), [kick, none, kick, none, kick]);
        assert_eq!(found(2, true), [kick, idle, kick, idle, kick]);
        // the weights of the mesh forces in a cycle add up to the number of steps of the cycle
        let weight = |step| match (MultipleTimeSteps { every: 3 }.at(step, true)) {
            LongRange::Apart { weight } => weight,
            _ => 1,
        };
        assert_eq!((0..3).map(weight).sum::<u32>(), 3);
    }
}
