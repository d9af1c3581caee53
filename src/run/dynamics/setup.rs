//! Settings of a stage of dynamics (integration, couplings, random seed), without the settings of the force
//! computation.

use crate::constraint::{RemovedMotion, degrees_of_freedom};
use crate::ensemble::groups::TemperatureGroups;
use crate::ensemble::thermostat::Thermostat;
use crate::error::Problem;
use crate::run::dynamics::frozen::FrozenGroups;
use crate::run::plan::{Dynamics, Plan, Velocities};
use crate::select::select;
use crate::system::{State, System};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Settings of a stage of dynamics (integration, couplings, random seed), without the settings of the force
/// computation.
#[derive(Clone)]
pub struct Setup<'a> {
    /// time step, thermostat, barostat and other settings of the integration
    pub dynamics: &'a Dynamics,
    /// seed of the random numbers of thermostat and barostat
    pub seed: u64,
    /// motion of the whole system that is removed
    pub removed_motion: RemovedMotion,
    /// number of degrees of freedom that remain after constraints and the removal of center-of-mass motion
    pub degrees_of_freedom: usize,
    /// temperature groups of the thermostat: sets of atoms that share a heat bath
    pub temperature_groups: Arc<TemperatureGroups>,
    /// frozen groups of atoms that constraints would connect
    pub frozen: FrozenGroups,
}

impl<'a> Setup<'a> {
    /// Creates the setup for a system without frozen groups, with or without a periodic cell. Returns an error if a
    /// selection of the thermostat does not fit the system.
    pub fn new(system: &System, dynamics: &'a Dynamics, seed: u64, periodic: bool) -> Result<Self, Problem> {
        let removed = dynamics.removed_motion(periodic);
        let selections = dynamics.thermostat.iter().flat_map(Thermostat::selections);
        let groups: Result<Vec<_>, Problem> = selections.map(|text| select(&system.topology, text)).collect();
        let groups = groups.and_then(|groups| TemperatureGroups::new(system, removed, &groups)).map_err(|problem| {
            let message = format!("thermostat.groups: {}", problem.message);
            Problem { message, ..problem }
        })?;
        Ok(Setup {
            dynamics,
            seed,
            removed_motion: removed,
            degrees_of_freedom: degrees_of_freedom(&system.topology, &system.constraints, removed),
            temperature_groups: Arc::new(groups),
            frozen: FrozenGroups::default(),
        })
    }
}

/// Returns the seed of the random numbers of thermostats and barostats, for a new run of `plan` that starts from
/// `start`: the first 64 bits of the SHA-256 hash of the seed of the plan, the cell, the positions and the velocities.
/// Velocities are left out if the first stage of dynamics generates velocities.
///
/// A run that starts from the final state of an earlier run counts its steps from zero again. With the same seed, the
/// random forces of the two runs would be equal in each step. The final state of the earlier run has already responded
/// to these forces, and equal forces synchronise trajectories (B. P. Uberuaga, M. Anghel, A. F. Voter, J. Chem. Phys.
/// 120, 6363 (2004), doi:10.1063/1.1690241; D. J. Sindhikara et al., J. Chem. Theory Comput. 5, 1624 (2009),
/// doi:10.1021/ct800573m). Runs from different states therefore draw independent random numbers.
pub(in crate::run) fn noise_seed(plan: &Plan, start: &State) -> u64 {
    let mut hash = Sha256::new();
    hash.update(plan.run.seed.to_le_bytes());
    for row in start.cell.iter().flat_map(|cell| cell.rows()) {
        hash.update(bytemuck::bytes_of(&row));
    }
    hash.update(bytemuck::cast_slice::<_, u8>(&start.positions));
    if plan.dynamics().next().is_some_and(|(_, first)| first.velocities == Velocities::File) {
        hash.update(bytemuck::cast_slice::<_, u8>(&start.velocities));
    }
    hash.finalize().iter().take(8).fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::PeriodicCell;
    use crate::run::plan::{RunOptions, Stage, StageKind, StageOutput};
    use crate::vec3::{Vec3, vec3};

    #[test]
    fn the_seed_of_the_noise_follows_from_all_that_the_run_starts_from() {
        let start = State {
            cell: Some(PeriodicCell::orthorhombic([2.0; 3])),
            positions: vec![Vec3::ZERO, vec3(0.4, 0.0, 0.0)],
            velocities: vec![Vec3::ZERO, vec3(0.0, 0.1, 0.0)],
            ..State::default()
        };
        let moved = State { positions: vec![Vec3::ZERO, vec3(0.4 + 1e-15, 0.0, 0.0)], ..start.clone() };
        let faster = State { velocities: vec![Vec3::ZERO, vec3(0.0, 0.2, 0.0)], ..start.clone() };
        let larger = State { cell: Some(PeriodicCell::orthorhombic([2.1; 3])), ..start.clone() };
        let with = |seed: u64, velocities: Velocities, state: &State| {
            let stage = Stage {
                name: String::new(),
                kind: StageKind::Dynamics(Dynamics { velocities, ..Dynamics::default() }),
                position_restraints: vec![],
                restraints: vec![],
                frozen: None,
                output: StageOutput::default(),
            };
            let run = RunOptions { seed, ..RunOptions::default() };
            noise_seed(&Plan { run, stages: vec![stage], ..Plan::default() }, state)
        };
        let of = |state: &State| with(1, Velocities::File, state);
        assert_eq!(of(&start), of(&start.clone()));
        let generate = Velocities::Generate { temperature: 300.0 };
        let others =
            [of(&moved), of(&faster), of(&larger), with(2, Velocities::File, &start), with(1, generate, &start), 1];
        let all: std::collections::HashSet<u64> = others.into_iter().chain([of(&start)]).collect();
        assert_eq!(all.len(), others.len() + 1);
        // velocities that the run replaces have no influence
        assert_eq!(with(1, generate, &faster), with(1, generate, &start));
    }
}
