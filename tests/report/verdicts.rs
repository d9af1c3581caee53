//! Tests of the verdicts of `md report` on correct runs, and on runs with deliberate errors.

use super::{input, md, page};

/// Returns the names of the checks that a page reports as problems.
fn problems(page: &str) -> Vec<String> {
    let items = page.split("<li class=\"problem\">").skip(1);
    let aspect = |item: &str| Some(item.split_once("<strong>")?.1.split_once("</strong>")?.0.to_owned());
    items.filter_map(aspect).collect()
}

/// Runs an input and returns the problems of its page.
fn problems_of(system: &str, rest: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    input(folder.path(), system, rest);
    md(folder.path(), &["run", "input.toml"]).unwrap();
    problems(&page(folder.path()))
}

/// Returns a stage of dynamics with the given settings.
fn stage(steps: u32, timestep: &str, couplings: &str) -> String {
    format!(
        "[[stage]]\nname = \"production\"\nkind = \"dynamics\"\nsteps = {steps}\ntimestep = \"{timestep}\"\n\
         velocities = \"generate\"\n{couplings}"
    )
}

const OUTPUT: &str = "[output]\nenergies = { every = \"20 steps\" }\ntrajectory = { every = \"200 steps\" }\n";
const V_RESCALE: &str = "thermostat = { kind = \"v-rescale\", temperature = \"300 K\", coupling_time = \"0.1 ps\" }\n";

#[test]
fn a_good_run_has_no_problem() {
    let vacuum = format!(
        "[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"\n{OUTPUT}{}",
        stage(10_000, "2 fs", "thermostat = { kind = \"langevin\", temperature = \"300 K\", friction = \"5 1/ps\" }\n")
    );
    assert_eq!(problems_of("peptide-vacuum", &vacuum), [] as [&str; 0]);
}

#[test]
fn a_flexible_bond_needs_short_steps() {
    let forces = "[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"\nconstraints = \"none\"\n";
    // a timestep of 1.2 fs makes 7.5 steps per period of 9.0 fs; fewer than 5 are refused
    let text = format!("{forces}{OUTPUT}{}", stage(1000, "1.2 fs", V_RESCALE));
    assert!(problems_of("peptide-vacuum", &text).contains(&"Time step".to_owned()));
}

#[test]
fn a_short_cutoff_and_a_cell_without_counter_ions() {
    let text = format!("[forces]\ncutoff = \"0.6 nm\"\n{OUTPUT}{}", stage(400, "2 fs", V_RESCALE));
    let found = problems_of("peptide-charged", &text);
    assert!(found.contains(&"Cutoff".to_owned()), "{found:?}");
}

#[test]
fn a_collapsing_cell() {
    // 20,000 bar compress water by a third; Berendsen's barostat in production is a separate problem
    let barostat = "barostat = { kind = \"berendsen\", pressure = \"20000 bar\", coupling_time = \"0.5 ps\" }\n";
    let text =
        format!("[forces]\ncutoff = \"0.8 nm\"\n{OUTPUT}{}", stage(1000, "2 fs", &(V_RESCALE.to_owned() + barostat)));
    let found = problems_of("peptide-charged", &text);
    for aspect in ["Volume of the cell", "Ensemble of the production stage"] {
        assert!(found.contains(&aspect.to_owned()), "{found:?}");
    }
}

#[test]
fn a_hot_solute() {
    let thermostat = "thermostat = { kind = \"langevin\", temperature = \"300 K\", friction = \"50 1/ps\", \
                      groups = [{ select = \"protein\", temperature = \"400 K\", friction = \"50 1/ps\" }] }\n";
    let text = format!("[forces]\ncutoff = \"0.8 nm\"\n{OUTPUT}{}", stage(2000, "2 fs", thermostat));
    let folder = tempfile::tempdir().unwrap();
    input(folder.path(), "peptide-charged", &text);
    md(folder.path(), &["run", "input.toml"]).unwrap();
    // each group is at its own target
    let found = problems(&page(folder.path()));
    assert!(!found.contains(&"Temperatures of the parts".to_owned()), "{found:?}");
    // the same table with a solute that is hotter by 400 K
    let table = folder.path().join("out/energies.csv");
    let mut lines: Vec<String> = std::fs::read_to_string(&table).unwrap().lines().map(str::to_owned).collect();
    let place = lines[0].split(',').position(|name| name.starts_with("temperature_protein")).unwrap();
    for line in &mut lines[1..] {
        let mut values: Vec<String> = line.split(',').map(str::to_owned).collect();
        values[place] = (values[place].parse::<f64>().unwrap() + 400.0).to_string();
        *line = values.join(",");
    }
    std::fs::write(&table, lines.join("\n") + "\n").unwrap();
    md(folder.path(), &["report", "out"]).unwrap();
    let found = problems(&page(folder.path()));
    for aspect in ["Temperatures of the parts", "Temperature of a group"] {
        assert!(found.contains(&aspect.to_owned()), "{found:?}");
    }
}

#[test]
fn each_temperature_group_is_compared_with_its_own_target() {
    // no atom is outside the groups, and the stages list the groups in different orders
    let groups = |groups: [(&str, u32); 2]| {
        let group = |(select, kelvin): (&str, u32)| {
            format!("{{ select = \"{select}\", temperature = \"{kelvin} K\", friction = \"50 1/ps\" }}")
        };
        let list = groups.map(group).join(", ");
        format!(
            "thermostat = {{ kind = \"langevin\", temperature = \"150 K\", friction = \"50 1/ps\", groups = [{list}] }}\n"
        )
    };
    let first = groups([("protein", 600), ("not protein", 300)]);
    let second = groups([("not protein", 300), ("protein", 600)]);
    let first = stage(20, "2 fs", &first).replace("production", "first");
    let text = format!("[forces]\ncutoff = \"0.8 nm\"\n{OUTPUT}{first}{}", stage(4000, "2 fs", &second));
    let found = problems_of("peptide-charged", &text);
    assert!(!found.contains(&"Temperature of a group".to_owned()), "{found:?}");
}

#[test]
fn a_restraint_that_tears() {
    let restraint = "restraints = [{ kind = \"distance\", groups = [\"index 1\", \"index 10\"], at = \"8 nm\", \
                     force_constant = \"100 kJ/mol/nm^2\" }]\n";
    let forces = "[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"\n";
    let text = format!("{forces}{OUTPUT}{}", stage(1000, "1 fs", &(V_RESCALE.to_owned() + restraint)));
    let found = problems_of("peptide-vacuum", &text);
    assert!(found.contains(&"Restraint".to_owned()), "{found:?}");
}
