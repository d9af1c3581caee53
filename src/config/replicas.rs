//! Replicas of `[ensemble]`: the settings by which each replica differs from the input file.

use std::collections::HashSet;

use super::raw::{Node, Override, Raw};
use super::state_lists::{SOLUTE_TEMPERATURE, by_lists};
use super::value::{Table, report};
use super::{Config, exchange};
use crate::error::Problem;
use crate::observe::files::replica_folder;
use crate::observe::replicas::title;
use crate::run::{Dynamics, Plan, Velocities};

/// Ensemble of replicas of an input file.
#[derive(Clone, Debug)]
pub struct Ensemble {
    /// number of replicas that run at the same time; `None` if the file does not set this number
    pub at_once: Option<usize>,
    /// number of ranks that compute each replica together
    pub ranks_per_replica: usize,
    /// replicas in their order, at least one
    pub replicas: Vec<Replica>,
    /// notes on stages in which a list of `[ensemble]` changes no setting
    pub notes: Vec<String>,
    /// number of steps between exchange attempts, and the seed of the exchange; `None` without replica exchange
    exchange: Option<(u64, u64)>,
}

/// Replica of an ensemble.
#[derive(Clone, Debug)]
pub struct Replica {
    /// name in messages; the default is the name of the folder
    pub name: String,
    /// folder inside the output folder of the ensemble, such as `replica-3`
    pub folder: String,
    /// short description of the settings that distinguish the replica from other replicas
    pub description: String,
    /// settings by which the replica differs from the input file
    pub overrides: Vec<Override>,
    /// difference between the seed of the replica and the seed of the input file; `None` if the replica sets its own
    /// seed
    pub seed_after_first: Option<u64>,
}

impl Replica {
    /// Returns the title of the replica in messages: the folder name, followed by the name of the replica if the two
    /// names differ.
    pub fn title(&self) -> String {
        title(&self.folder, &self.name)
    }
}

impl Ensemble {
    /// Returns the replica named `which`. If no replica has this name, `which` may be the number of a replica, counted
    /// from 1.
    pub fn find(&self, which: &str) -> Result<&Replica, Problem> {
        let by_number = || which.parse::<usize>().ok().and_then(|number| self.replicas.get(number.checked_sub(1)?));
        self.replicas.iter().find(|replica| replica.name == which).or_else(by_number).ok_or_else(|| {
            let problem = Problem::new(format!("--replica {which}: the replica does not exist"));
            problem.help(format!("give a number from 1 to {}, or the name of a replica", self.replicas.len()))
        })
    }

    /// Whether the ensemble is a replica exchange.
    pub fn is_exchange(&self) -> bool {
        self.exchange.is_some()
    }

    /// Adds the thermodynamic states of the replica exchange to the plans of all replicas. `configs` must be in the
    /// order of the replicas. Without replica exchange the plans stay unchanged.
    pub fn join(&self, configs: &mut [Config]) {
        let Some((every, seed)) = self.exchange else { return };
        let plans: Vec<&Plan> = configs.iter().map(|config| &config.plan).collect();
        let exchange = exchange::between(&plans, every, seed);
        for config in configs {
            config.plan.exchange = Some(exchange.clone());
            let note = "# This replica exchanges states with other replicas in its last stage; a run of this file \
                        alone gives another result.\n";
            config.effective.insert_str(0, note);
        }
    }
}

/// Removes the section `[ensemble]` from the raw input file.
pub(super) fn remove(root: &mut Raw) {
    if let Node::Table(members) = &mut root.node {
        members.retain(|member| member.name != "ensemble");
    }
}

/// Settings by which one replica differs from the input file.
#[derive(Default)]
pub(super) struct Variant {
    name: Option<String>,
    pub(super) description: Vec<String>,
    pub(super) overrides: Vec<Override>,
}

/// Returns the replicas of the section `[ensemble]`; `None` without this section, or if a problem has been recorded.
pub(super) fn ensemble(root: &Table, plan: &Plan, problems: &mut Vec<Problem>) -> Option<Ensemble> {
    let table = root.table("ensemble")?;
    let mut notes = vec![];
    let lists = ["temperature", "pressure", "solute_temperature"].into_iter().find(|name| table.is_given(name));
    let ways: Vec<&str> =
        ["replicas", "replica"].into_iter().filter(|name| table.is_given(name)).chain(lists).collect();
    let variants = match ways[..] {
        ["replicas"] => by_seed(table, plan, problems)?,
        ["replica"] => table.tables("replica").iter().map(by_settings).collect(),
        [_] => by_lists(table, plan, &mut notes, problems)?,
        ["replica", _] => {
            let states = by_lists(table, plan, &mut notes, problems)?;
            with_settings(states, table, problems)?
        }
        [] => {
            let help =
                "write replicas = 4, temperature = [\"300 K\", \"310 K\"], or replica = [{ set = { ... } }, ...]";
            report(problems, table, "", "ensemble: no replicas are given", help);
            return None;
        }
        [first, second, ..] => {
            let message = format!("ensemble: {first} and {second} exclude each other");
            let help =
                "keep one of these keys; replica = [{ set = { ... } }, ...] can be combined with lists of states";
            report(problems, table, second, message, help);
            return None;
        }
    };
    if variants.is_empty() {
        report(problems, table, "replica", "ensemble.replica: the list is empty", "write replica = [{}, {}] or more");
    }
    check_names(table, problems);
    let replicas = variants.into_iter().enumerate().map(|(index, variant)| replica(index, variant, plan));
    let replicas: Vec<Replica> = replicas.collect();
    let at_once = table.integer("at_once").and_then(|number| usize::try_from(number).ok());
    let exchange = exchange::exchange(table, &replicas, plan, problems).map(|every| (every, plan.run.seed));
    let ranks_per_replica = table.integer("ranks_per_replica").map_or(1, |number| usize::try_from(number).unwrap_or(1));
    if ranks_per_replica > 1 && at_once.is_some_and(|at_once| at_once > 1) {
        let message = "ensemble: at_once and ranks_per_replica exclude each other";
        report(problems, table, "at_once", message, "remove at_once: a group of ranks computes one replica at a time");
    }
    Some(Ensemble { at_once, ranks_per_replica, replicas, notes, exchange })
}

/// Returns the replica with the given index, counted from 0. The settings of the replica include its seed and its
/// folder.
fn replica(index: usize, variant: Variant, plan: &Plan) -> Replica {
    let folder = replica_folder(index);
    let Variant { name, mut description, mut overrides } = variant;
    let name = name.unwrap_or_else(|| folder.clone());
    let has_own_seed = overrides.iter().any(|setting| setting.key == "run.seed");
    if !has_own_seed {
        let seed = plan.run.seed.saturating_add(index as u64);
        description.push(format!("seed {seed}"));
        overrides.push(Override::option("ensemble", &name, "run.seed", seed.to_string()));
    }
    // the folder is valid UTF-8, because its name is text of the input file
    let directory = plan.output.directory.join(&folder).to_string_lossy().into_owned();
    overrides.push(Override::text_option("ensemble", "output.directory", &directory));
    Replica {
        name,
        folder,
        description: description.join(", "),
        overrides,
        seed_after_first: (!has_own_seed).then_some(index as u64),
    }
}

fn by_seed(table: &Table, plan: &Plan, problems: &mut Vec<Problem>) -> Option<Vec<Variant>> {
    if plan.dynamics().count() > 0 && !plan.dynamics().any(|(_, stage)| draws(stage)) {
        let message = "ensemble.replicas: no stage draws random numbers, so that all replicas would be the same";
        report(problems, table, "replicas", message, "set velocities = \"generate\" in the first stage of dynamics");
        return None;
    }
    Some((0..table.integer("replicas")?).map(|_| Variant::default()).collect())
}

/// Whether the stage draws random numbers: for its velocities, in a stochastic thermostat, or in a barostat that
/// samples the fluctuations of an ensemble.
fn draws(stage: &Dynamics) -> bool {
    matches!(stage.velocities, Velocities::Generate { .. })
        || stage.thermostat.as_ref().is_some_and(|thermostat| thermostat.kind.facts().is_random)
        || stage.barostat.as_ref().is_some_and(|barostat| barostat.kind.facts().is_isobaric)
}

fn by_settings(table: &Table) -> Variant {
    let overrides = table.settings("set").unwrap_or_default().to_vec();
    let description = overrides.iter().map(|setting| format!("{} = {}", setting.key, setting.value)).collect();
    Variant { name: table.text("name").map(str::to_owned), description, overrides }
}

/// Settings in which replicas that exchange states may differ: they change the start of a replica, not its physics.
const FREE_IN_EXCHANGE: [&str; 2] = ["system.coordinates", "run.seed"];

/// Adds the settings of each table `ensemble.replica` to the replica of the state with the same index; `None` if a
/// problem has been recorded.
fn with_settings(states: Vec<Variant>, table: &Table, problems: &mut Vec<Problem>) -> Option<Vec<Variant>> {
    let settings = table.tables("replica");
    if settings.len() != states.len() {
        let message =
            format!("ensemble.replica has {} replicas, the lists of states have {}", settings.len(), states.len());
        let help = "write one replica for each state, with `{}` for a replica without settings";
        report(problems, table, "replica", message, help);
        return None;
    }
    let before = problems.len();
    let join = |(mut state, inner): (Variant, &Table)| {
        let Variant { name, description, overrides } = by_settings(inner);
        let other = overrides.iter().find(|setting| !FREE_IN_EXCHANGE.contains(&setting.key.as_str()));
        if let Some(other) = other.filter(|_| table.is_given("exchange")) {
            let message = format!("ensemble.replica: {} differs between replicas that exchange states", other.key);
            let help =
                format!("set only {} for each replica, or remove ensemble.exchange", FREE_IN_EXCHANGE.join(" and "));
            report(problems, inner, "set", message, &help);
        }
        // a key may also set a whole table, such as that of a thermostat
        let is_of_list = |key: &str| {
            let sets = |list: &str| list.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
            let is_bath = key.ends_with(".thermostat") || key.ends_with(".thermostat.temperature");
            (table.is_given(SOLUTE_TEMPERATURE) && is_bath) || state.overrides.iter().any(|setting| sets(&setting.key))
        };
        if let Some(twice) = overrides.iter().find(|setting| is_of_list(&setting.key)) {
            let message = format!("ensemble.replica: {} follows from the lists of states", twice.key);
            report(problems, inner, "set", message, "remove it here, or change the list");
        }
        state.name = name;
        state.description.extend(description);
        state.overrides.extend(overrides);
        state
    };
    let joined = states.into_iter().zip(settings).map(join).collect();
    (problems.len() == before).then_some(joined)
}

fn check_names(table: &Table, problems: &mut Vec<Problem>) {
    let mut names = HashSet::new();
    for (index, inner) in table.tables("replica").iter().enumerate() {
        let name = inner.text("name").map_or_else(|| replica_folder(index), str::to_owned);
        let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        if !plain || name.chars().all(|c| c.is_ascii_digit()) {
            let message = format!("ensemble.replica.name: \"{name}\" is not a valid name");
            let help = "use only letters, digits, - and _, and at least one character that is not a digit";
            report(problems, inner, "name", message, help);
        }
        if !names.insert(name.clone()) {
            let message = format!("there are two replicas named \"{name}\"");
            let help = "give each replica its own name; the default is replica-1, replica-2, ...";
            report(problems, inner, "name", message, help);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Reading};
    use crate::run::Interval;
    use std::path::Path;

    const FILE: &str = "[system]\ntopology = \"t\"\ncoordinates = \"c\"\n";
    const NPT: &str = "[[stage]]\nname = \"npt\"\nkind = \"dynamics\"\nsteps = 9\ntimestep = \"2 fs\"\n\
        velocities = \"generate\"\nthermostat = { kind = \"langevin\", temperature = \"300 K\", friction = \"2 1/ps\" }\n\
        barostat = { pressure = \"1 bar\" }\n";

    /// Returns the ensemble of an input file with the given stages, and the configuration of each replica.
    fn read(stages: &str, ensemble: &str, options: &[Override]) -> (Ensemble, Vec<Config>) {
        let (text, path) = (format!("{FILE}{stages}[ensemble]\n{ensemble}\n"), Path::new("/base/input.toml"));
        let shared = Config::parse(&text, path, options).unwrap_or_else(|problems| panic!("{problems:?}"));
        let ensemble = shared.ensemble.expect("the file has one");
        let one = |replica: &Replica| {
            let overrides = [options, &replica.overrides].concat();
            Config::parse_with(&text, path, &overrides, Reading { files: false, replica: true }).unwrap()
        };
        let configs = ensemble.replicas.iter().map(one).collect();
        (ensemble, configs)
    }

    /// Returns temperature (K) and pressure (kJ/mol/nm³) of the last stage, and the initial velocities.
    fn couplings(config: &Config) -> (f64, f64, Velocities) {
        let (_, stage) = config.plan.dynamics().next_back().unwrap();
        let pressure = stage.barostat.as_ref().map_or(0.0, |barostat| barostat.pressure[2].at(0.0));
        (stage.thermostat.as_ref().unwrap().temperature.at(0.0), pressure, stage.velocities)
    }

    #[test]
    fn seeds_and_folders_follow_from_those_of_the_file() {
        let options = [Override::set("run.seed=40").unwrap(), Override::set("output.directory=\"/data/x\"").unwrap()];
        let (ensemble, configs) = read(NPT, "replicas = 3\nat_once = 2", &options);
        assert_eq!(ensemble.at_once, Some(2));
        assert_eq!(
            ensemble.replicas.iter().map(Replica::title).collect::<Vec<_>>(),
            ["replica-1", "replica-2", "replica-3"]
        );
        for (index, config) in configs.iter().enumerate() {
            assert_eq!(config.plan.run.seed, 40 + index as u64);
            assert_eq!(config.plan.output.directory, Path::new("/data/x").join(format!("replica-{}", index + 1)));
            // the effective configuration of a replica describes the same run, without an ensemble
            let alone = Config::parse(&config.effective, Path::new("/else/effective.toml"), &[]).unwrap();
            assert!(alone.plan == config.plan && alone.ensemble.is_none() && config.ensemble.is_none());
        }
    }

    #[test]
    fn lists_set_what_is_constant_and_go_together() {
        let bar = crate::units::BAR;
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12 * b;
        let stages =
            NPT.replace("npt", "heat").replace("\"300 K\"", "[[\"0 ps\", \"10 K\"], [\"1 ps\", \"300 K\"]]") + NPT;
        let lists = "temperature = [\"300 K\", \"305 K\"]\npressure = [\"2 bar\", \"500 atm\"]";
        let (ensemble, configs) = read(&stages, lists, &[]);
        assert_eq!(ensemble.notes, ["stage \"heat\" keeps its schedule of temperatures in all replicas"]);
        assert_eq!(ensemble.replicas[1].description, "305 K, 500 atm, seed 2");
        let [first, second] = [0, 1].map(|index| couplings(&configs[index]));
        assert!(first.0 == 300.0 && near(first.1, 2.0 * bar), "{first:?}");
        assert!(second.0 == 305.0 && near(second.1, 500.0 * 1.01325 * bar), "{second:?}");
        assert_eq!(second.2, Velocities::Generate { temperature: 305.0 });
        let (name, heat) = configs[1].plan.dynamics().next().unwrap();
        let thermostat = heat.thermostat.as_ref().unwrap();
        assert_eq!((name, thermostat.temperature.at(1.0), thermostat.coupling_time), ("heat", 300.0, 0.5));
        // a separate temperature of the initial velocities stays unchanged
        let cold = NPT.replace("\"generate\"\n", "\"generate\"\ntemperature = \"10 K\"\n");
        let (_, configs) = read(&cold, "temperature = \"310 K\"", &[]);
        let (temperature, _, velocities) = couplings(&configs[0]);
        assert_eq!((temperature, velocities), (310.0, Velocities::Generate { temperature: 10.0 }));
    }

    #[test]
    fn settings_go_over_the_command_line() {
        let set = "{ \"stage.npt.thermostat.temperature\" = \"320 K\", \"stage.1.steps\" = 20, \"run.seed\" = 99, \
            \"forces.pme\" = { spacing = \"0.1 nm\" }, \"output.energies.every\" = \"5 steps\" }";
        let options = [Override::set("stage.npt.thermostat.temperature=\"400 K\"").unwrap()];
        let (ensemble, configs) = read(NPT, &format!("replica = [{{ set = {set} }}, {{ name = \"hot\" }}]"), &options);
        assert_eq!(ensemble.replicas[1].title(), "replica-2 (hot)");
        let plan = &configs[0].plan;
        assert_eq!((couplings(&configs[0]).0, plan.run.seed), (320.0, 99));
        assert_eq!(plan.dynamics().next().unwrap().1.steps, 20);
        assert_eq!(plan.output.energies.unwrap(), Interval::Steps(5));
        assert_eq!((couplings(&configs[1]).0, configs[1].plan.run.seed), (400.0, 2));
        for (which, folder) in [("hot", "replica-2"), ("1", "replica-1"), ("replica-1", "replica-1")] {
            assert_eq!(ensemble.find(which).unwrap().folder, folder);
        }
        assert!(["0", "3", "replica-2", ""].iter().all(|which| ensemble.find(which).is_err()));
    }
}
