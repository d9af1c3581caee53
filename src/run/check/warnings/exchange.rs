//! Warning about neighbouring states of a replica exchange that are too far apart.

use crate::constraint::degrees_of_freedom;
use crate::ensemble::exchange::harmonic_acceptance;
use crate::run::dynamics::frozen::frozen_system;
use crate::run::plan::Plan;
use crate::system::{State, System};
use std::borrow::Cow;

/// Minimum predicted acceptance of exchange attempts. A lower acceptance causes a warning, because replicas would
/// rarely change their thermodynamic state. Replica exchange is usually set up for an acceptance of about 0.2.
const LOW_ACCEPTANCE: f64 = 0.05;

/// Estimates the acceptance for each pair of neighbouring states with different temperatures. Each item of the result
/// has the index, from 0, of the lower state of the pair, and the acceptance. The potential energy is assumed to be
/// harmonic in all degrees of freedom. The real acceptance is lower in liquids, because the potential energy of a
/// liquid fluctuates more than a harmonic potential energy.
pub fn estimated_acceptances(plan: &Plan, system: &System, state: &State) -> Vec<(usize, f64)> {
    let (Some(exchange), Some(stage)) = (&plan.exchange, plan.stages.last()) else { return vec![] };
    let Some(dynamics) = stage.dynamics() else { return vec![] };
    let system = frozen_system(stage, system).unwrap_or(Cow::Borrowed(system));
    let removed = dynamics.removed_motion(state.cell.is_some());
    let free = degrees_of_freedom(&system.topology, &system.constraints, removed);
    let pairs = exchange.states.windows(2).map(|pair| [pair[0].temperature, pair[1].temperature]).enumerate();
    pairs.filter(|(_, [a, b])| a != b).map(|(low, pair)| (low, harmonic_acceptance(free, pair))).collect()
}

/// Warns of neighbouring temperatures that are so far apart that hardly any exchange between them is accepted.
pub(super) fn distant_states(plan: &Plan, system: &System, state: &State) -> Option<String> {
    let states = &plan.exchange.as_ref()?.states;
    let estimates = estimated_acceptances(plan, system, state);
    let (low, worst) = estimates.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, p)| *p < LOW_ACCEPTANCE)?;
    let [a, b] = [states[low].temperature, states[low + 1].temperature];
    Some(format!(
        "at most about {:.1} % of the exchange attempts between {a} K and {b} K will be accepted; add temperatures \
         between {a} K and {b} K, so that about 20 % are accepted",
        100.0 * worst
    ))
}
