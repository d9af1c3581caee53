//! Measures the time of each phase of a step. The kernels of a CUDA graph cannot be timed individually. Once per
//! lifetime of the pair lists, one step is therefore launched kernel by kernel, with CUDA events before and after each
//! kernel. The times of all other steps are estimated from the times measured in the timed step. Kernels of the timed
//! step do not overlap, but kernels of a graph do, so the sum of the phases may exceed the time of a step.

use super::device::{Span, Timing};
use super::kernel::Kernel;
use crate::backend::Phases;

/// Number of steps without output between a pair search and the timed step. During a pair search the host waits for the
/// length of the list. In the first steps after the search the device therefore waits for launches by the host, and the
/// measured times would include this wait.
const WARM_UP_STEPS: u32 = 5;

/// Counts all steps, counts the timed steps, and sums the times of the phases over the timed steps.
#[derive(Default)]
pub(super) struct Clock {
    steps: u64,
    samples: u64,
    /// seconds spent in each phase of the timed steps
    sampled: Phases,
    /// time of all pair searches and prunings of the pair lists, s
    search: f64,
    /// number of steps without output since the last pair search
    quiet: u32,
}

impl Clock {
    /// Restarts the warm-up after new lists were built.
    pub(super) fn lists_built(&mut self) {
        self.quiet = 0;
    }

    /// Counts a step, and returns whether this step must be timed. `quiet` is true if the step has no output.
    pub(super) fn step(&mut self, quiet: bool) -> bool {
        self.steps += 1;
        self.quiet += u32::from(quiet);
        let timed = quiet && self.quiet == WARM_UP_STEPS;
        self.samples += u64::from(timed);
        timed
    }

    /// Subtracts the last `steps` launched steps from the count of steps, because the device skipped these steps after
    /// the pair lists had expired.
    pub(super) fn undo(&mut self, steps: u64) {
        self.steps -= steps.min(self.steps);
    }

    /// Adds the measured times of kernel launches to the times of their phases.
    pub(super) fn add(&mut self, spans: &[Span]) {
        for &Span { timing, kernel, seconds } in spans {
            match timing {
                Timing::Lists => self.search += seconds,
                Timing::Step => *phase(&mut self.sampled, kernel) += seconds,
            }
        }
    }

    /// Returns the time of each phase, summed over all steps, in seconds.
    pub(super) fn phases(&self) -> Phases {
        let steps = if self.samples > 0 { self.steps as f64 / self.samples as f64 } else { 0.0 };
        Phases { search: self.search, ..self.sampled.scaled(steps) }
    }
}

/// Returns the entry of `phases` to which the time of a kernel belongs. The pair kernels also compute the bonded terms,
/// whose time counts as `pairs`. The time of SETTLE and SHAKE clusters counts as `update`, and the time of coupled
/// constraints counts as `constraints`.
fn phase(phases: &mut Phases, kernel: Kernel) -> &mut f64 {
    match kernel {
        Kernel::Pack
        | Kernel::AddHostForces
        | Kernel::AddHostForcesSums
        | Kernel::SpreadSites
        | Kernel::SpreadSitesSums => &mut phases.reduce,
        Kernel::Spread4 | Kernel::Spread5 | Kernel::Spread6 | Kernel::Spread8 | Kernel::ConvertGrid => {
            &mut phases.pme_spread
        }
        Kernel::TransformPlanes
        | Kernel::SolveLines
        | Kernel::SolveLinesSums
        | Kernel::RestorePlanes
        | Kernel::Solve
        | Kernel::SolveSums => &mut phases.pme_solve,
        Kernel::Gather4 | Kernel::Gather5 | Kernel::Gather6 | Kernel::Gather8 => &mut phases.pme_gather,
        Kernel::PairGeometric
        | Kernel::PairGeometricSums
        | Kernel::PairLorentzBerthelot
        | Kernel::PairLorentzBerthelotSums
        | Kernel::PairTypeTable
        | Kernel::PairTypeTableSums
        | Kernel::PairForceSwitch
        | Kernel::PairForceSwitchSums
        | Kernel::PairPotentialSwitch
        | Kernel::PairPotentialSwitchSums => &mut phases.pairs,
        Kernel::AdvanceCoupled
        | Kernel::AdvanceCoupledSums
        | Kernel::AdvanceCoupledRefreshed
        | Kernel::AdvanceCoupledRefreshedSums
        | Kernel::RefreshCoupled => &mut phases.constraints,
        _ => &mut phases.update,
    }
}
