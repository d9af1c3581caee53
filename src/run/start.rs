//! The state at the start of a stage of dynamics.

use super::plan::{Dynamics, Velocities};
use crate::constraint::{ConstraintPlan, RemovedMotion, degrees_of_freedom};
use crate::ensemble::motion::{remove_translation, remove_translation_and_rotation};
use crate::ensemble::velocities::{kinetic_energy, maxwell_boltzmann};
use crate::error::Result;
use crate::system::{State, System};
use crate::units::BOLTZMANN;

/// Constraints at the first stage, velocities where they are to be drawn. Where that fails the positions are as before.
pub(super) fn prepare(system: &System, options: &Dynamics, seed: u64, state: &mut State) -> Result<()> {
    let masses: Vec<f64> = system.topology.atoms.iter().map(|atom| atom.mass).collect();
    let constraints = ConstraintPlan::new(&system.constraints, &masses)?;
    let first = state.step == 0;
    if first {
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
        constraints.project(&state.positions, &mut state.velocities)?;
        let removed = options.removed_motion(state.cell.is_some());
        match removed {
            RemovedMotion::Nothing => 0.0,
            RemovedMotion::Translation => remove_translation(&masses, &mut state.velocities),
            RemovedMotion::TranslationAndRotation => {
                remove_translation_and_rotation(&masses, &state.positions, &mut state.velocities)
            }
        };
        // exactly the temperature asked for, as far as the degrees of freedom go
        let free = degrees_of_freedom(&system.topology, &system.constraints, removed);
        let (kinetic, wanted) =
            (kinetic_energy(&masses, &state.velocities), 0.5 * free as f64 * BOLTZMANN * temperature);
        if kinetic > 0.0 {
            let factor = (wanted / kinetic).sqrt();
            state.velocities.iter_mut().for_each(|v| *v = *v * factor);
        }
    } else if first {
        constraints.project(&state.positions, &mut state.velocities)?;
    }
    Ok(())
}
