//! Where the time of steps goes. A recorded step shows nothing of what is inside; so one step in the life of a list is
//! done launch by launch, each between two events, and counts for all others. Its launches do not overlap, while those
//! of a recorded step do: phases together may take longer than the step.

use super::device::{Span, Timing};
use super::kernel::Kernel;
use crate::backend::Phases;

/// Quiet steps after a search before one is timed: until then the device waits for the host, which had to wait for the
/// length of the list, and events would measure that.
const SETTLED: u32 = 5;

/// Steps, and the time of some of them.
#[derive(Default)]
pub(super) struct Clock {
    steps: u64,
    samples: u64,
    /// seconds in the steps that were timed
    sampled: Phases,
    /// seconds of all searches and prunings
    search: f64,
    /// quiet steps since the last search
    quiet: u32,
}

impl Clock {
    /// Lists are new.
    pub(super) fn search(&mut self) {
        self.quiet = 0;
    }

    /// A step more; whether to time it, if it is a `quiet` one.
    pub(super) fn step(&mut self, quiet: bool) -> bool {
        self.steps += 1;
        self.quiet += u32::from(quiet);
        let timed = quiet && self.quiet == SETTLED;
        self.samples += u64::from(timed);
        timed
    }

    /// So many of the last steps have not been done.
    pub(super) fn undo(&mut self, steps: u64) {
        self.steps -= steps.min(self.steps);
    }

    /// What launches have taken.
    pub(super) fn add(&mut self, spans: &[Span]) {
        for &Span { timing, kernel, seconds } in spans {
            match timing {
                Timing::Lists => self.search += seconds,
                Timing::Step => *phase(&mut self.sampled, kernel) += seconds,
            }
        }
    }

    /// Seconds of all steps.
    pub(super) fn phases(&self) -> Phases {
        let steps = if self.samples > 0 { self.steps as f64 / self.samples as f64 } else { 0.0 };
        Phases { search: self.search, ..self.sampled.scaled(steps) }
    }
}

/// Which phase a kernel of a step belongs to. Constraints are part of the move, and the move part of those of chains.
fn phase(phases: &mut Phases, kernel: Kernel) -> &mut f64 {
    match kernel {
        Kernel::Pack => &mut phases.reduce,
        Kernel::Spread4 | Kernel::Spread5 | Kernel::Spread6 | Kernel::Spread8 | Kernel::ConvertGrid => {
            &mut phases.pme_spread
        }
        Kernel::Solve | Kernel::SolveSums => &mut phases.pme_solve,
        Kernel::Gather4 | Kernel::Gather5 | Kernel::Gather6 | Kernel::Gather8 => &mut phases.pme_gather,
        Kernel::Bonded | Kernel::BondedSums => &mut phases.bonded,
        Kernel::PairGeometric
        | Kernel::PairGeometricSums
        | Kernel::PairLorentzBerthelot
        | Kernel::PairLorentzBerthelotSums
        | Kernel::PairTypeTable
        | Kernel::PairTypeTableSums => &mut phases.pairs,
        Kernel::AdvanceChains | Kernel::AdvanceChainsSums => &mut phases.constraints,
        _ => &mut phases.update,
    }
}
