//! Tests of the import of GROMACS stages that do not begin at the time 0. `md` counts time from the start of the stage.

use md::restraint::{Potential, Well};

use super::{ImportedExt, text};

/// Tests annealing between points at the times 100 ps, 120 ps and 200 ps of GROMACS in a stage that begins at 110 ps.
#[test]
fn annealing_counts_from_the_start_of_the_stage() {
    let imported = text(
        "x.mdp",
        "tinit = 100\ninit-step = 5000\ndt = 0.002\ntcoupl = v-rescale\ntc-grps = System\nref-t = 300\ntau-t = 1\n\
         annealing = single\nannealing-npoints = 3\nannealing-time = 100 120 200\nannealing-temp = 100 300 400",
    );
    let thermostat = imported.dynamics().thermostat.as_ref().unwrap();
    assert_eq!(thermostat.temperature.points(), [(0.0, 200.0), (10.0, 300.0), (90.0, 400.0)]);
    assert!(imported.text.contains("tinit + init-step dt"), "{}", imported.text);
    assert_eq!(imported.differing(), ["tinit", "init-step"]);
}

/// Tests references that move from the time 0 of GROMACS, in a stage that begins at 20 ps.
#[test]
fn moving_references_are_those_at_the_start_of_the_stage() {
    let pulled = |lines: &str| {
        let groups = "pull = yes\npull-group1-name = Protein\npull-group2-name = Water\npull-coord1-groups = 1 2";
        text("x.mdp", &format!("tinit = 10\ninit-step = 5000\ndt = 0.002\n{groups}\npull-coord1-k = 1000\n{lines}"))
    };
    let center = |lines: &str| match pulled(lines).plan.stages[0].restraints[0].potential {
        Potential::Well(Well { center, .. }) => center.unwrap(),
        Potential::Force(force) => panic!("a constant force {force}"),
    };
    // 1 nm + 0.01 nm/ps · 20 ps
    let moving = center("pull-coord1-init = 1\npull-coord1-rate = 0.01");
    assert!((moving - 1.2).abs() < 1e-12, "{moving}");
    assert_eq!(center("pull-coord1-init = 1"), 1.0);
    let relative = pulled("pull-coord1-start = yes\npull-coord1-rate = 0.01");
    assert!(relative.remark("pull").text.contains("an offset from the initial value"), "{:?}", relative.remarks);
}
