//! Translation of GROMACS' trajectory and energy output.

use super::groups::Groups;
use super::{Draft, shortened};
use crate::run::{Interval, TrajectoryOptions};

pub(super) fn translate(draft: &mut Draft<'_>, known: &Groups) {
    let [positions, velocities, forces] = ["nstxout", "nstvout", "nstfout"].map(|name| draft.count(name));
    let mut trajectories = vec![];
    let mut names = vec![];
    if let Some(every) = [positions, velocities, forces].into_iter().filter(|&every| every > 0).min() {
        trajectories.push(TrajectoryOptions {
            file: "trajectory.trr".to_owned(),
            every: Interval::Steps(every),
            velocities: velocities > 0,
            forces: forces > 0,
            images: false,
            precision: None,
            select: None,
        });
        for (name, steps) in [("nstxout", positions), ("nstvout", velocities), ("nstfout", forces)] {
            if steps > 0 && steps != every {
                draft.differs(name, format!("md writes all contents of a file at one interval: {every} steps"));
            } else if steps > 0 || name == "nstxout" {
                names.push(name);
            }
        }
        if positions == 0 {
            draft.differs("nstxout", "frames always contain positions");
        }
    }
    let compressed = draft.count("nstxout-compressed");
    if compressed > 0 {
        names.push("nstxout-compressed");
        let precision = draft.real("compressed-x-precision");
        if draft.is_given("compressed-x-precision") {
            names.push("compressed-x-precision");
        }
        let step = 1.0 / precision;
        trajectories.push(TrajectoryOptions {
            file: "trajectory.xtc".to_owned(),
            every: Interval::Steps(compressed),
            velocities: false,
            forces: false,
            images: false,
            // the quotient is rounded, because its last digits have rounding errors
            precision: Some(format!("{step:.6e}").parse().unwrap_or(step)),
            select: selection(draft, known, &mut names),
        });
        draft.admitted("output.trajectory.precision", "compressed-x-precision", step);
    }
    if trajectories.is_empty() {
        names = vec!["nstxout", "nstvout", "nstfout", "nstxout-compressed"];
    }
    draft.carried("output.trajectory", &names);
    draft.plan.output.trajectories = trajectories;
    let energies = draft.count("nstenergy");
    draft.carried("output.energies", &["nstenergy"]);
    draft.plan.output.energies = (energies > 0).then_some(Interval::Steps(energies));
}

/// Returns the selection of the atoms in compressed frames; `None` for all atoms.
fn selection(draft: &mut Draft<'_>, known: &Groups, names: &mut Vec<&str>) -> Option<String> {
    let groups = draft.words("compressed-x-grps");
    if groups.is_empty() {
        return None;
    }
    if groups.iter().any(|group| group.eq_ignore_ascii_case("system")) {
        names.push("compressed-x-grps");
        return None;
    }
    let Some(selections) = known.selections(&groups) else {
        let text = format!(
            "the groups are unknown ({}), so all atoms are written; set select instead of {}",
            known.reason(&groups),
            shortened(&groups.join(" "))
        );
        draft.differs("compressed-x-grps", text);
        return None;
    };
    names.push("compressed-x-grps");
    Some(selections.join(" or "))
}
