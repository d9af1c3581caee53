//! Time of each phase of a step, compared with the roofline of the machine.

use serde::{Deserialize, Serialize};

use super::roofline::Roofline;
use crate::backend::{StepCounts, Work, useful_pairs};
use crate::run::Measured;
use crate::system::System;

/// Phase of a step, such as the pair forces, with its time and its speed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseRow {
    /// name of the phase, as in `summary.json`
    pub name: String,
    /// wall time per step, µs
    pub us_per_step: f64,
    /// fraction of the wall time of a step
    pub share: f64,
    /// operations and bytes of the phase per step, computed by formula from counts of pairs, atoms and grid points
    pub work: Work,
    /// arithmetic intensity of the phase, operations per byte
    pub intensity: f64,
    /// speed that the phase reaches, GFLOP/s
    pub gflops: f64,
    /// speed of the phase as a fraction of the largest speed that the roofline allows for the arithmetic intensity and
    /// the amount of data of the phase
    pub roof_share: f64,
}

/// Phases of a step, and a diagnosis of the bottleneck.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// phases in the order of a step. In double precision phases have no counts of operations, because the reference
    /// backend does not count operations
    pub phases: Vec<PhaseRow>,
    /// number of pairs within the cutoff divided by the number of pairs computed
    pub useful_pairs: Option<f64>,
    /// fraction of the wall time that is spent in all phases of a step together
    pub compute_share: f64,
    /// diagnosis: the bottleneck, and how to improve it
    pub bottleneck: String,
}

impl StepReport {
    pub(super) fn new(
        system: &System,
        volume: Option<f64>,
        measured: &Measured,
        steps: u64,
        parts: usize,
        roofline: &Roofline,
    ) -> Self {
        let steps = steps as f64;
        let wall = measured.seconds.iter().sum::<f64>() / steps;
        let searches = measured.searches as f64 / steps;
        let prunes = if measured.schedule.is_exact() { searches } else { 1.0 / f64::from(measured.schedule.prune) };
        let counts = StepCounts { system, parts, pairs: measured.pairs, searches, prunes, meshes: measured.meshes };
        let slots = measured.pairs.slots as f64;
        let works = if slots > 0.0 { counts.work().map(|(_, work)| work) } else { [Work::default(); 9] };
        let timed = measured.phases.named().into_iter().zip(works);
        let phases: Vec<PhaseRow> =
            timed.map(|((name, seconds), work)| phase(name, seconds / steps, wall, work, roofline)).collect();
        let compute_share = phases.iter().map(|phase| phase.share).sum();
        let useful_pairs = (slots > 0.0).then(|| useful_pairs(system, volume) / slots);
        let bottleneck = match useful_pairs {
            Some(_) => bottleneck(&phases, compute_share, useful_pairs),
            None => "The double-precision reference backend does not count its operations.".to_owned(),
        };
        StepReport { phases, useful_pairs, compute_share, bottleneck }
    }
}

fn phase(name: &str, seconds: f64, wall: f64, work: Work, roofline: &Roofline) -> PhaseRow {
    let speed = if seconds > 0.0 { work.flops / seconds } else { 0.0 };
    let roof = roofline.roof(&work);
    PhaseRow {
        name: name.into(),
        us_per_step: seconds * 1e6,
        share: seconds / wall,
        work,
        intensity: if work.bytes > 0.0 { work.flops / work.bytes } else { 0.0 },
        gflops: speed * 1e-9,
        roof_share: if roof > 0.0 { speed / roof } else { 0.0 },
    }
}

/// Limit for the fraction of the wall time that is spent in phases. Below this limit, the time outside the phases is
/// reported as the main problem.
const LOW_COMPUTE: f64 = 0.85;
/// Limit for the speed of a phase as a fraction of the speed that the roofline allows. Above this limit, the speed of
/// the phase counts as near the roofline.
const NEAR_ROOF: f64 = 0.5;

/// Describes the phase that takes most time: whether its speed is near the roofline, and how to speed up the phase.
fn bottleneck(phases: &[PhaseRow], compute_share: f64, useful_pairs: Option<f64>) -> String {
    let Some(largest) = phases.iter().max_by(|a, b| a.share.total_cmp(&b.share)) else { return String::new() };
    if compute_share < LOW_COMPUTE {
        return format!(
            "{:.0} % of the time is outside all phases: threads or GPU kernels are starting, waiting, or sharing the \
             device with other programs; fewer threads or a larger system would help.",
            100.0 * (1.0 - compute_share)
        );
    }
    let PhaseRow { name, share, roof_share, .. } = largest;
    let place =
        format!("{name} takes {:.0} % of a step at {:.0} % of its roofline speed", 100.0 * share, 100.0 * roof_share);
    if largest.work.flops == 0.0 {
        return format!("{name} takes {:.0} % of a step.", 100.0 * share);
    }
    let waste = useful_pairs.filter(|_| name == "pairs").map_or(String::new(), |useful| {
        format!(", and {:.0} % of its pairs are beyond the cutoff", 100.0 * (1.0 - useful).max(0.0))
    });
    let help = match (name.as_str(), *roof_share > NEAR_ROOF) {
        ("pairs", true) => "only fewer pairs would help: a shorter cutoff with a finer mesh, or tighter pair lists",
        ("pairs", false) => "fewer operations per pair and tighter pair lists would help, but faster memory would not",
        ("pme_spread" | "pme_solve" | "pme_gather", _) => "a coarser mesh with a longer cutoff would help",
        ("search", _) => "a longer lifetime of the pair lists would help",
        (_, true) => "the memory bandwidth limits the speed, so only moving less data would help",
        (_, false) => "more operations in parallel would help",
    };
    format!("{place}{waste}; {help}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, share: f64, roof_share: f64) -> PhaseRow {
        let work = Work { flops: 1.0, bytes: 1.0 };
        PhaseRow { name: name.into(), us_per_step: 1.0, share, work, intensity: 1.0, gflops: 1.0, roof_share }
    }

    #[test]
    fn the_sentence_names_the_largest_phase_or_the_gaps() {
        let phases = [row("pairs", 0.5, 0.3), row("pme_solve", 0.4, 0.1)];
        let text = bottleneck(&phases, 0.95, Some(0.6));
        assert!(text.starts_with("pairs takes 50 % of a step at 30 % of its roofline speed, and 40 %"), "{text}");
        assert!(bottleneck(&phases, 0.6, Some(0.6)).starts_with("40 % of the time is outside"));
        let mesh = bottleneck(&[row("pairs", 0.2, 0.3), row("pme_solve", 0.7, 0.6)], 0.95, None);
        assert!(mesh.contains("pme_solve takes 70 %") && mesh.contains("coarser mesh"), "{mesh}");
    }
}
