//! State at the start of a stage of dynamics: constraints and velocities.
//!
//! Leapfrog velocities belong to the half step before the positions: v(−½dt) = (x(0) − x(−dt))/dt, where x(−dt)
//! satisfies the constraints too. Velocities that are generated or read from a file are therefore used as v(−½dt), from
//! which x(−dt) is computed. Constraints are applied to x(−dt) along the bonds at x(0), and the constrained x(−dt)
//! gives v(−½dt). Velocities that are already consistent with the constraints do not change.
//!
//! A projection of the velocities on the constraints at x(0) would give v(0), the velocities at the time of the
//! positions, instead of v(−½dt). With v(0) in place of v(−½dt), half of the centripetal force and half of its virial
//! would be missing at the first step.

use crate::constraint::{ConstraintPlan, RemovedMotion, degrees_of_freedom, largest_deviation};
use crate::ensemble::motion::{remove_translation, remove_translation_and_rotation};
use crate::ensemble::velocities::{kinetic_energy, maxwell_boltzmann};
use crate::error::Result;
use crate::run::plan::{Dynamics, Velocities};
use crate::system::{ImpulseCycle, State, System};
use crate::units::BOLTZMANN;
use crate::vec3::Vec3;

/// Allowed relative error of the kinetic energy of generated velocities: the rounding error of a sum in `f64` over a
/// million atoms.
const KINETIC: f64 = 1e-12;
/// Maximum number of times that velocities are rescaled to the exact kinetic energy. Each rescaling multiplies the
/// error by the square of the angle by which a bond turns in a step. This square is 10⁻³ rad² at ordinary temperatures.
const SCALINGS: usize = 20;

/// Factor by which a distance must deviate more than the tolerance of the constraints before positions are moved. In
/// positions of an earlier stage with the same constraints, distances deviate by about the tolerance.
const VIOLATED: f64 = 100.0;

/// Prepares the state at the start of a stage: applies constraints if the positions do not satisfy them, and generates
/// velocities if the stage requests them. The positions are unchanged if the function returns an error.
///
/// Positions of the first stage come from a file. Positions of a later stage may violate constraints if atoms had been
/// frozen, because the constraints between frozen atoms are left out. `continues` says whether the state is that at the
/// end of a stage of dynamics with the same time step, whose velocities satisfy the constraints. Velocities of a stage
/// with another time step, or from before a minimisation, do not.
pub(in crate::run) fn prepare(
    system: &System,
    options: &Dynamics,
    seed: u64,
    continues: bool,
    state: &mut State,
) -> Result<()> {
    let masses: Vec<f64> = system.topology.atoms.iter().map(|atom| atom.mass).collect();
    let constraints = ConstraintPlan::new(&system.constraints, &masses)?;
    let is_violated =
        largest_deviation(&system.constraints, &state.positions) > VIOLATED * system.constraints.tolerance;
    let must_satisfy = state.step == 0 || is_violated;
    // the counts of Monte Carlo volume moves start at zero in each stage
    state.coupling.trials.iter_mut().for_each(|moves| (moves.tried, moves.accepted, moves.too_small) = (0, 0, 0));
    if must_satisfy {
        let reference = state.positions.clone();
        if let Err(failure) = constraints.satisfy(&reference, &mut state.positions) {
            state.positions = reference;
            return Err(failure.into());
        }
    }
    if let Velocities::Generate { temperature } = options.velocities {
        let step = state.step;
        state.velocities = (masses.iter().enumerate())
            .map(|(atom, &mass)| maxwell_boltzmann(seed, step, atom as u32, mass, temperature))
            .collect();
        // newly generated velocities have no pending work of a thermostat
        state.coupling.pending_rescaling.clear();
        state.cycle = ImpulseCycle::default();
        constraints.project(&state.positions, &mut state.velocities)?;
        let removed = options.removed_motion(state.cell.is_some());
        match removed {
            RemovedMotion::Nothing => 0.0,
            RemovedMotion::Translation => remove_translation(&masses, &mut state.velocities),
            RemovedMotion::TranslationAndRotation => {
                remove_translation_and_rotation(&masses, &state.positions, &mut state.velocities)
            }
        };
        let free = degrees_of_freedom(&system.topology, &system.constraints, removed);
        let wanted = 0.5 * free as f64 * BOLTZMANN * temperature;
        heat(&constraints, &masses, options.timestep, wanted, state)?;
    } else if must_satisfy || !continues {
        // atoms of a state without velocities start at rest
        state.velocities.resize(masses.len(), Vec3::ZERO);
        state.velocities = constrained(&constraints, options.timestep, &state.positions, &state.velocities)?;
    }
    Ok(())
}

/// Changes velocities so that they satisfy the constraints over a step of `timestep` (ps) and have exactly the kinetic
/// energy `wanted` (kJ/mol).
fn heat(constraints: &ConstraintPlan, masses: &[f64], timestep: f64, wanted: f64, state: &mut State) -> Result<()> {
    let State { positions, velocities, .. } = state;
    for _ in 0..SCALINGS {
        *velocities = constrained(constraints, timestep, positions, velocities)?;
        let kinetic = kinetic_energy(masses, velocities);
        if kinetic == 0.0 || (kinetic / wanted - 1.0).abs() < KINETIC {
            break;
        }
        let factor = (wanted / kinetic).sqrt();
        velocities.iter_mut().for_each(|v| *v = *v * factor);
    }
    Ok(())
}

/// Returns velocities v(−½dt) with which the constraints hold at both ends of the step of `timestep` (ps), by the
/// method in the module documentation.
fn constrained(
    constraints: &ConstraintPlan,
    timestep: f64,
    positions: &[Vec3],
    velocities: &[Vec3],
) -> Result<Vec<Vec3>> {
    let mut before: Vec<Vec3> = positions.iter().zip(velocities).map(|(r, v)| *r - *v * timestep).collect();
    let free = before.clone();
    constraints.satisfy(positions, &mut before)?;
    // only the displacement by constraints is divided by the time step, so velocities of unconstrained atoms stay
    // exact. Division of the difference x(0) − x(−dt) by the time step would add rounding errors
    let change = free.iter().zip(&before).map(|(free, before)| (*free - *before) / timestep);
    Ok(velocities.iter().zip(change).map(|(v, change)| *v + change).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sample;

    const TIMESTEP: f64 = 0.002;
    const TEMPERATURE: f64 = 300.0;
    /// Tolerance of velocities, nm/ps: the default constraint tolerance of 10⁻⁶ times a length of 0.1 nm, divided by
    /// the time step, times two. The factor two is needed because both atoms of a constraint are displaced.
    const SAME: f64 = 2.0 * 1e-6 * 0.1 / TIMESTEP;

    fn start(sample: &Sample, velocities: Velocities, state: &State) -> State {
        started(sample, velocities, TIMESTEP, true, state)
    }

    fn started(sample: &Sample, velocities: Velocities, timestep: f64, continues: bool, state: &State) -> State {
        let options = Dynamics { steps: 1, timestep, velocities, ..Dynamics::default() };
        let mut state = state.clone();
        prepare(&sample.system, &options, 11, continues, &mut state).expect("a good start");
        state
    }

    #[test]
    fn velocities_lead_from_positions_that_have_their_constraints() {
        for sample in [Sample::load("water").rigid(), Sample::load("peptide-vacuum").all_bonds()] {
            let drawn = start(&sample, Velocities::Generate { temperature: TEMPERATURE }, &sample.state);
            let read = start(&sample, Velocities::File, &sample.state);
            for State { positions, velocities, .. } in [&drawn, &read] {
                let before: Vec<Vec3> = positions.iter().zip(velocities).map(|(r, v)| *r - *v * TIMESTEP).collect();
                let constraints = &sample.system.constraints;
                let waters = constraints.settles.iter().flat_map(|w| {
                    let [o, h1, h2] = w.atoms;
                    [([o, h1], w.oh), ([o, h2], w.oh), ([h1, h2], w.hh)]
                });
                for (atoms, length) in waters.chain(constraints.bonds.iter().map(|c| (c.atoms, c.length))) {
                    let [i, j] = atoms.map(|atom| before[atom as usize]);
                    // the relative tolerance of squared lengths is twice the relative tolerance of lengths
                    assert!(((i - j).norm() / length - 1.0).abs() < 2e-6, "{} nm for {length}", (i - j).norm());
                }
            }
            // velocities at half steps, as md writes them to a file
            let again = start(&sample, Velocities::File, &drawn);
            let changes = again.velocities.iter().zip(&drawn.velocities).map(|(a, b)| (*a - *b).norm());
            assert!(changes.fold(0.0, f64::max) < SAME);
        }
    }

    /// After a stage with frozen waters, their bonds still have the lengths of the file.
    #[test]
    fn released_atoms_satisfy_their_constraints_and_gain_no_energy() {
        let sample = Sample::load("water").rigid();
        let mut state = start(&sample, Velocities::Generate { temperature: TEMPERATURE }, &sample.state);
        state.step = 1000;
        let kept = start(&sample, Velocities::File, &state);
        assert_eq!((&kept.positions, &kept.velocities), (&state.positions, &state.velocities));
        let masses: Vec<f64> = sample.system.topology.atoms.iter().map(|atom| atom.mass).collect();
        let kinetic = kinetic_energy(&masses, &state.velocities);
        for water in &sample.system.constraints.settles[..100] {
            let [o, h, _] = water.atoms.map(|atom| atom as usize);
            let bond = state.positions[h] - state.positions[o];
            state.positions[h] += bond * 0.1;
        }
        let released = start(&sample, Velocities::File, &state);
        assert!(largest_deviation(&sample.system.constraints, &released.positions) < 2e-6);
        // a correction of 0.01 nm in the first step would add 10 kJ/mol for each of the hydrogens
        let gained = kinetic_energy(&masses, &released.velocities) - kinetic;
        assert!(gained.abs() < 0.05 * kinetic, "{gained} of {kinetic} kJ/mol");
    }

    /// After a stage with another time step, velocities are those of a run that starts from the state.
    #[test]
    fn velocities_fit_the_time_step_of_their_stage() {
        let sample = Sample::load("water").rigid();
        let first = start(&sample, Velocities::Generate { temperature: TEMPERATURE }, &sample.state);
        let expected = started(&sample, Velocities::File, 0.5 * TIMESTEP, false, &first);
        let later = State { step: 1000, ..first.clone() };
        let found = started(&sample, Velocities::File, 0.5 * TIMESTEP, false, &later);
        let largest = |a: &State, b: &State| {
            let changes = a.velocities.iter().zip(&b.velocities).map(|(a, b)| (*a - *b).norm());
            changes.fold(0.0, f64::max)
        };
        // positions of the first step are made to satisfy the constraints again, within their tolerance
        assert!(largest(&found, &expected) < 2.0 * SAME);
        // the time steps differ by 1 fs, in which a hydrogen of water at 2 nm/ps and its velocity turn by 0.02 rad
        assert!(largest(&found, &first) > 1e-2);
    }

    #[test]
    fn generated_velocities_have_exactly_their_temperature_and_no_motion_of_the_whole() {
        let sample = Sample::load("water").rigid();
        let state = start(&sample, Velocities::Generate { temperature: TEMPERATURE }, &sample.state);
        let masses: Vec<f64> = sample.system.topology.atoms.iter().map(|atom| atom.mass).collect();
        // a rigid water has six degrees of freedom
        let wanted = 0.5 * (2.0 * masses.len() as f64 - 3.0) * BOLTZMANN * TEMPERATURE;
        assert!((kinetic_energy(&masses, &state.velocities) / wanted - 1.0).abs() < KINETIC);
        let momentum: Vec3 = masses.iter().zip(&state.velocities).map(|(m, v)| *v * *m).sum();
        // the constraint corrections of 774 atoms of water conserve momentum up to rounding errors of 1e-16 nm per time
        // step
        assert!(momentum.norm() < 1e-9, "{momentum:?}");
    }
}
