//! Frozen atoms, which do not move during a stage.
//!
//! A frozen atom has mass zero, like a virtual site, and the integrator does not accelerate it. The velocity of a
//! frozen atom is zero, so the atom has no kinetic energy and no degrees of freedom, and thermostats leave it at
//! rest. Constraints among frozen atoms are dropped.
//!
//! Pressure. The virial W = Σ r⊗F contains the forces F on frozen atoms. In a rigid molecule these forces are large and
//! without meaning, because constraint forces would balance them. A frozen group of atoms that constraints would
//! connect therefore contributes to the virial like a rigid body at rest: only the total force on the group counts, at
//! the center of mass. The forces F on the atoms of the group contribute Σ (r − R)⊗F less, where R is the center of
//! mass ([`FrozenGroups`]). If all groups are rigid bodies and all velocities are zero, the trace of the virial is that
//! of the same positions without frozen atoms. The kinetic part 2K of the pressure does not contain frozen atoms.

use crate::ensemble::motion::weighted_mean;
use crate::error::{Problem, Result};
use crate::run::plan::Stage;
use crate::select::select;
use crate::system::{State, System};
use crate::vec3::{Mat3, Vec3};
use std::borrow::Cow;

/// Displacements r − R (nm) of the atoms of frozen constraint groups from the center of mass R of their group. The
/// displacements are constant, because frozen atoms do not move and barostats are excluded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrozenGroups {
    displacements: Vec<(u32, Vec3)>,
}

impl FrozenGroups {
    /// Finds the frozen groups of atoms that the constraints of `system` connect. `frozen` is the system that
    /// [`frozen_system`] returned, and `state` has the positions in the stage. There are no groups if both systems are
    /// the same.
    pub fn new(system: &System, frozen: &System, state: &State) -> Self {
        let (atoms, held) = (&system.topology.atoms, &frozen.topology.atoms);
        let is_frozen = |&atom: &u32| atoms[atom as usize].mass != held[atom as usize].mass;
        let mut displacements = vec![];
        if !(0..atoms.len() as u32).any(|atom| is_frozen(&atom)) {
            return FrozenGroups { displacements };
        }
        let groups = system.constrained_groups();
        for group in (0..groups.len()).map(|group| groups.atoms(group)).filter(|group| group.len() > 1) {
            if !group.iter().any(is_frozen) {
                continue;
            }
            let masses: Vec<f64> = group.iter().map(|&atom| atoms[atom as usize].mass).collect();
            let positions: Vec<Vec3> = group.iter().map(|&atom| state.positions[atom as usize]).collect();
            let center = weighted_mean(&masses, &positions);
            displacements.extend(group.iter().zip(positions).map(|(&atom, position)| (atom, position - center)));
        }
        FrozenGroups { displacements }
    }

    /// Returns the part Σ (r − R)⊗F (kJ/mol) of the virial of the forces within the groups. `forces` has the forces on
    /// all atoms in kJ/mol/nm.
    pub fn internal_virial(&self, forces: &[Vec3]) -> Mat3 {
        let part = |&(atom, displacement): &(u32, Vec3)| Mat3::outer(displacement, forces[atom as usize]);
        self.displacements.iter().map(part).fold(Mat3::ZERO, |sum, part| sum + part)
    }
}

/// Returns the system in which the frozen atoms of a stage have mass zero, which is `system` itself if the stage
/// freezes no atoms. Returns an error if the selection does not fit the system, or if the selection contains only some
/// of the atoms of a constraint.
pub fn frozen_system<'a>(stage: &Stage, system: &'a System) -> Result<Cow<'a, System>> {
    let Some(text) = &stage.frozen else { return Ok(Cow::Borrowed(system)) };
    let refuse = |problem: Problem| {
        let message = format!("key frozen of stage \"{}\": {}", stage.name, problem.message);
        stage.at_key(Problem { message, ..problem }, &["frozen"])
    };
    let mut frozen = vec![false; system.topology.atoms.len()];
    select(&system.topology, text).map_err(refuse)?.iter().for_each(|&atom| frozen[atom as usize] = true);
    let mut held = system.clone();
    for (atom, frozen) in held.topology.atoms.iter_mut().zip(&mut frozen) {
        // virtual sites already have mass zero and do not count as frozen
        *frozen &= atom.mass > 0.0;
        if *frozen {
            atom.mass = 0.0;
        }
    }
    if !frozen.contains(&true) {
        let message = format!("\"{text}\" selects only virtual sites");
        return Err(refuse(Problem::new(message).help("freeze the atoms that define the virtual sites")).into());
    }
    if held.topology.atoms.iter().all(|atom| atom.mass == 0.0) {
        let help = "leave some atoms out of the selection";
        return Err(refuse(Problem::new("all atoms are frozen, and none can move").help(help)).into());
    }
    let mut torn = None;
    let mut moves = |atoms: &[u32]| {
        let count = atoms.iter().filter(|&&atom| frozen[atom as usize]).count();
        if count > 0 && count < atoms.len() {
            torn.get_or_insert_with(|| atoms.to_vec());
        }
        count == 0
    };
    held.constraints.settles.retain(|water| moves(&water.atoms));
    held.constraints.bonds.retain(|bond| moves(&bond.atoms));
    if let Some(atoms) = torn {
        let is = |held: bool| atoms.iter().find(|&&atom| frozen[atom as usize] == held).map_or(0, |atom| atom + 1);
        let message = format!(
            "a constraint joins atom {}, which is frozen, and atom {}, which is not frozen",
            is(true),
            is(false)
        );
        let help = "freeze both atoms or none of them (for example hydrogens together with their heavy atoms), or \
                    choose fewer constraints in forces.constraints";
        return Err(refuse(Problem::new(message).help(help)).into());
    }
    Ok(Cow::Owned(held))
}

/// Sets the velocities of frozen atoms to zero. `frozen` is the system that [`frozen_system`] returned.
pub(in crate::run) fn stop(system: &System, frozen: &System, state: &mut State) {
    let atoms = system.topology.atoms.iter().zip(&frozen.topology.atoms);
    for (velocity, (atom, held)) in state.velocities.iter_mut().zip(atoms) {
        if held.mass != atom.mass {
            *velocity = Vec3::ZERO;
        }
    }
}
