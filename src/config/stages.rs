//! Expansion of presets and repeated stages.
//!
//! Stages are expanded before options of the command line are applied and before any checks. `md check --effective`
//! shows the resulting stages. Command-line options can change each of the expanded stages.

use super::raw::{Member, Node, Raw, parse_at, stage_name};
use crate::error::Problem;
use crate::error::nearest;

/// Presets: name, purpose, and stages as TOML. `$temperature`, `$pressure` and `$select` are replaced by the settings
/// of the user; the defaults are in [`SETTINGS`].
pub(super) const PRESETS: [(&str, &str, &str); 1] = [(
    "equilibrate-protein",
    "minimisation, heating and relaxation at constant pressure of a protein in water, whose restraints are then released",
    r#"[
    { name = "minimize", kind = "minimize", position_restraints = { select = $select } },
    { name = "heat", kind = "dynamics", duration = "50 ps", timestep = "1 fs", velocities = "generate", temperature = "10 K",
      output = { trajectory = "none" },
      thermostat = { temperature = [["0 ps", "10 K"], ["40 ps", $temperature]], coupling_time = "0.1 ps" },
      position_restraints = { select = $select } },
    { name = "density", kind = "dynamics", duration = "100 ps", timestep = "2 fs", output = { trajectory = "none" },
      thermostat = { temperature = $temperature, coupling_time = "0.1 ps" },
      barostat = { pressure = $pressure, coupling_time = "2 ps" },
      position_restraints = { select = $select } },
    { name = "release", kind = "dynamics", duration = "100 ps", timestep = "2 fs", output = { trajectory = "none" },
      thermostat = { temperature = $temperature, coupling_time = "0.1 ps" },
      barostat = { pressure = $pressure, coupling_time = "2 ps" },
      position_restraints = { select = $select,
        force_constant = [["0 ps", "1000 kJ/mol/nm^2"], ["100 ps", "0 kJ/mol/nm^2"]] } },
    { name = "relax", kind = "dynamics", duration = "100 ps", timestep = "2 fs", output = { trajectory = "none" },
      thermostat = { temperature = $temperature, coupling_time = "1 ps" },
      barostat = { pressure = $pressure, coupling_time = "5 ps" } },
    ]"#,
)];

/// Keys allowed with `preset`, and their defaults as TOML.
const SETTINGS: [(&str, &str); 3] =
    [("temperature", "\"300 K\""), ("pressure", "\"1 bar\""), ("select", "\"protein and heavy\"")];

/// Largest number of repetitions of a stage. Each repetition is a stage in the log and in file names.
const MOST: i64 = 1000;

/// Whether [`expand`] reads the value of this dotted key: the list of stages, or the preset or the repetitions of a
/// stage.
pub(super) fn is_expanded(key: &str) -> bool {
    let names: Vec<&str> = key.split('.').map(str::trim).collect();
    matches!(names[..], ["stage"] | ["stage", _, "preset" | "repeat"])
}

/// Replaces presets and repeated stages in the raw input file.
pub(super) fn expand(root: &mut Raw) -> Result<(), Problem> {
    let Node::Table(members) = &mut root.node else { return Ok(()) };
    let Some(stages) = members.iter_mut().find(|member| member.name == "stage") else { return Ok(()) };
    let Node::Array(items) = &mut stages.value.node else { return Ok(()) };
    let mut expanded = Vec::with_capacity(items.len());
    let mut of_presets = vec![];
    for stage in items.drain(..) {
        let is_preset = is_preset(&stage);
        for stage in preset(stage)? {
            let repetitions = repeated(stage)?;
            of_presets.extend(repetitions.iter().map(|_| is_preset));
            expanded.extend(repetitions);
        }
    }
    different_names(&mut expanded, &of_presets);
    *items = expanded;
    Ok(())
}

fn is_preset(stage: &Raw) -> bool {
    matches!(&stage.node, Node::Table(members) if members.iter().any(|member| member.name == "preset"))
}

/// Appends a number to the name of a preset stage if another stage has the same name, such as minimize-2 after
/// minimize.
fn different_names(stages: &mut [Raw], of_presets: &[bool]) {
    let of_user = stages.iter().zip(of_presets).filter(|(_, of_preset)| !**of_preset);
    let mut taken: Vec<String> = of_user.map(|(stage, _)| stage_name(stage)).collect();
    for (stage, _) in stages.iter_mut().zip(of_presets).filter(|(_, of_preset)| **of_preset) {
        let name = stage_name(stage);
        let mut names = std::iter::once(name.clone()).chain((2..).map(|number| format!("{name}-{number}")));
        let Some(free) = names.find(|name| !taken.contains(name)) else { continue };
        if let Node::Table(members) = &mut stage.node {
            let of_name = members.iter_mut().filter(|member| member.name == "name");
            of_name.for_each(|member| member.value.node = Node::Text(free.clone()));
        }
        taken.push(free);
    }
}

/// Returns the stages of the preset that a stage names; a stage without a preset is returned unchanged.
fn preset(stage: Raw) -> Result<Vec<Raw>, Problem> {
    let Node::Table(members) = &stage.node else { return Ok(vec![stage]) };
    let Some(preset) = members.iter().find(|member| member.name == "preset") else { return Ok(vec![stage]) };
    let names = || PRESETS.iter().map(|(name, _, _)| *name);
    let Node::Text(name) = &preset.value.node else {
        let problem = Problem::new(format!("stage.preset: expected a text, not {}", preset.value.node.type_name()));
        return Err(preset.value.place.problem(problem));
    };
    let Some((_, _, text)) = PRESETS.iter().find(|(known, _, _)| known == name) else {
        let help = match nearest(name, names()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("known presets: {}", names().collect::<Vec<_>>().join(", ")),
        };
        return Err(preset.value.place.problem(Problem::new(format!("there is no preset \"{name}\"")).help(help)));
    };
    let known = |name: &str| name == "preset" || SETTINGS.iter().any(|(setting, _)| *setting == name);
    if let Some(other) = members.iter().find(|member| !known(&member.name)) {
        let problem = Problem::new(format!("\"{}\" cannot be combined with a preset", other.name));
        let help = "only temperature, pressure and select can be set; to change other keys, copy the stages of the \
                    preset from the output of `md check --effective`";
        return Err(other.name_place.problem(problem.help(help)));
    }
    let mut list = parse_at(
        &SETTINGS
            .iter()
            .fold((*text).to_owned(), |text, (name, _)| text.replace(&format!("${name}"), &format!("\"${name}\""))),
        &preset.value.place,
    )?;
    substitute(&mut list, members)?;
    match list.node {
        Node::Array(stages) => Ok(stages),
        _ => unreachable!("every preset is a list of stages: a test reads all presets"),
    }
}

/// Replaces texts `"$name"` by the setting of the user, or by the default.
fn substitute(raw: &mut Raw, given: &[Member]) -> Result<(), Problem> {
    match &mut raw.node {
        Node::Text(text) => {
            if let Some((name, default)) = SETTINGS.iter().find(|(name, _)| text.strip_prefix('$') == Some(name)) {
                *raw = match given.iter().find(|member| member.name == *name) {
                    Some(member) => member.value.clone(),
                    None => parse_at(default, &raw.place)?,
                };
            }
            Ok(())
        }
        Node::Array(items) => items.iter_mut().try_for_each(|item| substitute(item, given)),
        Node::Table(members) => members.iter_mut().try_for_each(|member| substitute(&mut member.value, given)),
        _ => Ok(()),
    }
}

/// Returns the repetitions of a stage, numbered from 1.
fn repeated(mut stage: Raw) -> Result<Vec<Raw>, Problem> {
    let name = stage_name(&stage);
    let Node::Table(members) = &mut stage.node else { return Ok(vec![stage]) };
    let Some(index) = members.iter().position(|member| member.name == "repeat") else { return Ok(vec![stage]) };
    let Member { value, name_place, .. } = members.remove(index);
    let times = match value.node {
        Node::Number { integer: Some(times), .. } if (1..=MOST).contains(&times) => times,
        _ => {
            let problem = Problem::new(format!("stage.repeat must be a whole number from 1 to {MOST}"));
            return Err(value.place.problem(problem));
        }
    };
    // an error about the name of a repetition points at the name, if there is one
    let named = members.iter().find(|member| member.name == "name");
    let [place, name_place] =
        named.map_or([value.place, name_place], |name| [name.value.place.clone(), name.name_place.clone()]);
    members.retain(|member| member.name != "name");
    let numbered = |number: i64| {
        let mut stage = stage.clone();
        if let Node::Table(members) = &mut stage.node {
            let value = Raw { node: Node::Text(format!("{name}-{number}")), place: place.clone() };
            members.push(Member { name: "name".to_owned(), name_place: name_place.clone(), value });
        }
        stage
    };
    Ok((1..=times).map(numbered).collect())
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Override};
    use crate::error::Problem;
    use crate::run::{Plan, StageKind};
    use std::path::Path;

    const SYSTEM: &str = "[system]\ntopology = \"t\"\ncoordinates = \"c\"\n";

    fn read(text: &str, options: &[&str]) -> Result<(Plan, String), Vec<Problem>> {
        let options: Vec<Override> = options.iter().map(|text| Override::set(text).unwrap()).collect();
        let config = Config::parse(&format!("{SYSTEM}{text}"), Path::new("/base/input.toml"), &options)?;
        Ok((config.plan, config.effective))
    }

    fn names(plan: &Plan) -> Vec<&str> {
        plan.stages.iter().map(|stage| stage.name.as_str()).collect()
    }

    #[test]
    fn every_preset_is_a_plan_and_its_stages_are_shown() {
        for (preset, words, _) in super::PRESETS {
            assert!(!words.is_empty());
            let text = format!("[[stage]]\npreset = \"{preset}\"\ntemperature = \"310 K\"\nselect = \"resid 1-9\"");
            let (plan, effective) = read(&text, &[]).unwrap();
            assert_eq!(names(&plan), ["minimize", "heat", "density", "release", "relax"]);
            assert_eq!(plan.stages[3].position_restraints[0].select, "resid 1-9");
            let StageKind::Dynamics(heat) = &plan.stages[1].kind else { panic!("heat is dynamics") };
            let temperature = &heat.thermostat.as_ref().unwrap().temperature;
            assert_eq!([temperature.at(0.0), temperature.at(40.0)], [10.0, 310.0]);
            // the effective configuration describes the same plan as the input file
            let again = Config::parse(&effective, Path::new("/base/input.toml"), &[]).unwrap();
            assert_eq!(again.plan, plan);
        }
    }

    #[test]
    fn stages_of_presets_have_names_that_no_other_stage_has() {
        let preset = "[[stage]]\npreset = \"equilibrate-protein\"\n";
        let (plan, _) = read(&format!("{preset}[[stage]]\nkind = \"minimize\"\n{preset}"), &[]).unwrap();
        let first = ["minimize-2", "heat", "density", "release", "relax", "minimize"];
        let second = ["minimize-3", "heat-2", "density-2", "release-2", "relax-2"];
        assert_eq!(names(&plan), [&first[..], &second].concat());
    }

    #[test]
    fn stages_are_repeated_and_can_be_named() {
        let stage = "[[stage]]\nname = \"prod\"\nkind = \"dynamics\"\nsteps = 10\ntimestep = \"2 fs\"\nrepeat = 3\n";
        let (plan, _) = read(stage, &["stage.prod-2.steps=20"]).unwrap();
        assert_eq!(names(&plan), ["prod-1", "prod-2", "prod-3"]);
        let steps = plan.dynamics().map(|(_, stage)| stage.steps);
        assert_eq!(steps.collect::<Vec<_>>(), [10, 20, 10]);
        let (plan, _) = read(stage, &["stage.prod.repeat=2", "stage.prod-2.steps=20"]).unwrap();
        assert_eq!(names(&plan), ["prod-1", "prod-2"]);
        let (plan, _) = read(stage, &["stage=[{name=\"min\", kind=\"minimize\", repeat=2}]"]).unwrap();
        assert_eq!(names(&plan), ["min-1", "min-2"]);
    }

    #[test]
    fn presets_and_repetitions_of_options_are_expanded_or_refused() {
        let stage = "[[stage]]\nname = \"first\"\nkind = \"minimize\"\n";
        for option in
            ["stage.first.preset=\"nonsense\"", "stage.first.preset=\"equilibrate-protein\"", "stage.first.repeat=0"]
        {
            read(stage, &[option]).expect_err(option);
        }
        let (plan, _) = read(stage, &["stage=[{preset=\"equilibrate-protein\"}]"]).unwrap();
        assert!(plan.stages.len() > 1);
    }

    #[test]
    fn mistakes_have_their_place() {
        for (text, message) in [
            ("[[stage]]\npreset = \"equilibrate-protien\"", "did you mean \"equilibrate-protein\"?"),
            ("[[stage]]\npreset = \"equilibrate-protein\"\nduration = \"1 ns\"", "\"duration\" cannot be combined"),
            ("[[stage]]\npreset = 5", "expected a text, not a whole number"),
            ("[[stage]]\nkind = \"minimize\"\nrepeat = 0", "from 1 to 1000"),
            ("[[stage]]\npreset = \"equilibrate-protein\"\ntemperature = \"-4 K\"", "greater than zero"),
        ] {
            let problems = read(text, &[]).expect_err(text);
            let found = problems[0].to_string();
            assert!(found.contains(message) || problems[0].help.as_deref() == Some(message), "{text}: {found}");
            assert!(problems[0].line >= Some(4), "{text}: {:?}", problems[0].line);
        }
    }
}
