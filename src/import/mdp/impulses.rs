//! Translation of GROMACS' multiple time steps.

use super::Draft;
use crate::ensemble::multiple_time_steps::MultipleTimeSteps;
use crate::run::{Dynamics, StageOutput, misplaced};

/// Value of `mts-level2-forces` that `md` can translate exactly: only the long-range nonbonded (reciprocal-space)
/// forces are computed at the longer interval.
const LONG_RANGE: &str = "longrange-nonbonded";

/// Allowed values of `mts-level2-factor`, the interval in steps. An interval of 1 is not allowed, because GROMACS
/// refuses an interval of 1.
const EVERY: std::ops::RangeInclusive<u32> = 2..=100;

/// Returns the stage with multiple time steps, if the file requests multiple time steps. The function must be called
/// after all other settings of the stage are translated.
pub(super) fn translate(draft: &mut Draft<'_>, stage: Dynamics) -> Dynamics {
    if !draft.flag("mts") {
        return stage;
    }
    let (levels, every) = (draft.whole("mts-levels"), draft.whole("mts-level2-factor"));
    if levels != 2 {
        draft.unsupported("mts-levels", &levels.to_string(), "GROMACS has only two levels");
        return stage;
    }
    let Some(every) = u32::try_from(every).ok().filter(|every| EVERY.contains(every)) else {
        draft.unsupported("mts-level2-factor", &every.to_string(), "expected 2 to 100, or mts = no");
        return stage;
    };
    let impulses = Dynamics { multiple_time_steps: Some(MultipleTimeSteps { every }), ..stage };
    if let Some(problem) = misplaced(&draft.plan, &impulses, &StageOutput::default()).first() {
        let why = problem.message.trim_start_matches("multiple_time_steps: ");
        draft.differs("mts", format!("md computes all forces at every step: {why}"));
        return Dynamics { multiple_time_steps: None, ..impulses };
    }
    let names = ["mts", "mts-levels", "mts-level2-forces", "mts-level2-factor"];
    draft.carried("stage.multiple_time_steps", &names);
    if draft.words("mts-level2-forces") != [LONG_RANGE] {
        draft.differs(
            "mts-level2-forces",
            "md computes only reciprocal-space forces less often: all other forces act at every step",
        );
    }
    impulses
}
