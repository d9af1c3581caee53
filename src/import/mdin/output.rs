//! Translation of AMBER's trajectory and energy output.

use super::Draft;
use crate::run::{Interval, TrajectoryOptions};

/// Value of `ntwv` and `ntwf` with which AMBER writes velocities and forces to the file of positions.
const SAME_FILE: i64 = -1;

pub(super) fn translate(draft: &mut Draft<'_>) {
    let positions = draft.count("ntwx");
    let [velocities, forces] = ["ntwv", "ntwf"].map(|name| draft.whole(name));
    let every = [velocities, forces].into_iter().filter_map(|every| u64::try_from(every).ok()).chain([positions]);
    let mut names = vec!["ntwx"];
    let mut trajectories = vec![];
    if let Some(every) = { every }.filter(|&every| every > 0).min() {
        for (name, steps) in [("ntwv", velocities), ("ntwf", forces)] {
            if steps > 0 {
                draft.differs(
                    name,
                    format!("md writes velocities and forces into the frames of the trajectory, every {every} steps"),
                );
            } else if steps == SAME_FILE {
                names.push(name);
            }
        }
        if positions > 0 && positions != every {
            draft.differs("ntwx", format!("md writes all contents of a file at one interval: {every} steps"));
        }
        let selected = draft.count("ntwprt");
        if selected > 0 {
            names.push("ntwprt");
        }
        if draft.whole("ioutfm") == 0 {
            draft.differs("ioutfm", "frames are written as NetCDF, which AMBER programs can read");
        }
        draft.no_use(
            "iwrap",
            "md writes whole molecules in the cell; md convert --unwrap removes the jumps of molecules across the cell",
        );
        trajectories.push(TrajectoryOptions {
            file: "trajectory.nc".to_owned(),
            every: Interval::Steps(every),
            velocities: velocities != 0,
            forces: forces != 0,
            images: false,
            precision: None,
            select: (selected > 0).then(|| format!("index 0-{}", selected - 1)),
        });
    }
    draft.carried("output.trajectory", &names);
    draft.plan.output.trajectories = trajectories;
    let energies = draft.count("ntpr");
    draft.carried("output.energies", &["ntpr"]);
    draft.plan.output.energies = (energies > 0).then_some(Interval::Steps(energies));
}
