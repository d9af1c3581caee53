//! Work moved between the direct sum and the mesh: a Coulomb cutoff inside that of Lennard-Jones.
//!
//! A shorter Coulomb cutoff with a larger α and a finer grid gives the same force error. Between the two cutoffs only
//! Lennard-Jones interactions are left, which few atoms of water have; so on a CPU, where pairs take most of a step,
//! the grid may do more. The choice is made by a cost model, not by timing: the same on every run.

use super::ErrorModel;
use super::parameters::cost;
use crate::system::PmeParameters;

/// Cutoffs that are tried, as fractions of the one given.
const FRACTIONS: [f64; 6] = [0.95, 0.9, 0.85, 0.8, 0.75, 0.7];
/// Lists reach as if cutoffs were this much longer (nm): blocks are kept whole.
const BLOCK_REACH: f64 = 0.25;
/// Clock cycles of the pair kernel per atom, atom/nm³ and nm³ of reach cubed; measured on Zen 4 with AVX-512: DHFR, 0.9 nm, 850 per atom.
const CYCLES_PER_PAIR_VOLUME: f64 = 5.7;
/// Cost of a pair block that only Lennard-Jones interactions reach against one with both, in water and protein.
const FAR_COST: f64 = 0.4;
/// Clock cycles per atom and step for sorting the lists by two distances.
const SPLIT_COST: f64 = 30.0;
/// A change must save this part of the pair and mesh work: models of cost are no better.
const WORTHWHILE: f64 = 0.03;

/// A Coulomb cutoff (nm), and PME parameters to go with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Balance {
    /// nm
    pub cutoff: f64,
    /// α, grid and order
    pub parameters: PmeParameters,
}

/// The cheapest balance whose direct and reciprocal force errors are at most those of `given`, whose cutoff is also that
/// of Lennard-Jones. `given` itself where nothing is clearly cheaper.
pub fn balance(model: &ErrorModel, given: Balance) -> Balance {
    let target = model.estimate(&given.parameters);
    let step = |choice: &Balance| {
        let reach = |cutoff: f64| (cutoff + BLOCK_REACH).powi(3);
        let [near, far] = [reach(choice.cutoff), reach(given.cutoff) - reach(choice.cutoff)];
        let pairs = CYCLES_PER_PAIR_VOLUME * model.density() * (near + FAR_COST * far);
        let split = if far > 0.0 { SPLIT_COST } else { 0.0 };
        model.atoms() * (pairs + split) + cost(model.atoms(), &choice.parameters)
    };
    let candidate = |fraction: f64| {
        let cutoff = fraction * given.cutoff;
        let parameters = model.with_cutoff(cutoff).cheapest(target).ok()?;
        Some(Balance { cutoff, parameters })
    };
    let best = FRACTIONS.into_iter().filter_map(candidate).min_by(|a, b| step(a).total_cmp(&step(b)));
    match best {
        Some(best) if step(&best) < (1.0 - WORTHWHILE) * step(&given) => best,
        _ => given,
    }
}
