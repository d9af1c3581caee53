//! Tests of the input file. Invalid files contain the expected message in a comment on the line of the mistake.

mod damage;

use std::path::Path;
use std::time::Duration;

use md::config::{Config, Override, physics_diff, template};
use md::ensemble::thermostat::ThermostatKind;
use md::error::Problem;
use md::observe::files::{ENERGIES, RESTRAINTS};
use md::prepare::{ElectrostaticsSpec, ForceOptions, LjPmeSpec, PmeSpec, Setting, TuningMethod};
use md::run::{Device, Interval, Plan, Precision, StageKind, Velocities};
use md::system::{DispersionCorrection, ListPolicy, PmeParameters};
use proptest::prelude::*;

/// Beginning of the comment with the expected message.
const MARK: &str = "# ERROR: ";

const INPUT: &str = "/somewhere/input.toml";

fn parse(text: &str) -> Result<Config, Vec<Problem>> {
    Config::parse(text, Path::new(INPUT), &[])
}

fn parse_set(text: &str, settings: &[&str]) -> Result<Config, Vec<Problem>> {
    let overrides: Result<Vec<Override>, Problem> = settings.iter().map(|text| Override::set(text)).collect();
    Config::parse(text, Path::new(INPUT), &overrides.map_err(|problem| vec![problem])?)
}

fn plan(text: &str) -> Plan {
    parse(text).unwrap_or_else(|problems| panic!("{problems:?}")).plan
}

#[test]
fn bad_files_are_refused_at_the_fault() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let expected: Vec<(usize, &str)> = text
            .lines()
            .enumerate()
            .filter_map(|(index, line)| line.split_once(MARK).map(|(_, message)| (index + 1, message)))
            .collect();
        assert!(!expected.is_empty(), "{name} expects nothing");
        let problems = Config::parse(&text, &path, &[]).map(|_| ()).expect_err(&name);
        for (line, message) in &expected {
            let here = problems.iter().any(|p| p.line == Some(*line) && p.to_string().contains(message));
            assert!(here, "{name}:{line}: expected {message}\nfound {problems:#?}");
        }
        assert_eq!(problems.len(), expected.len(), "{name}: {problems:#?}");
        count += 1;
    }
    assert!(count >= 30, "only {count} files");
}

const SYSTEM: &str = "[system]\ntopology = \"a.prmtop\"\ncoordinates = \"a.rst7\"\n";

/// An input file that sets as many keys as possible to values other than their defaults.
const EVERYTHING: &str = r#"
system = { topology = "a.prmtop", coordinates = "sub/a.rst7" }
[forces]
cutoff = "9 A"
cutoff_lj = "1.2 nm"
pme = { alpha = "3.1 1/nm", grid = [64, 0x40, 72], order = 6 }
lj_modifier = "none"
coulomb_modifier = "none"
dispersion_correction = "non-excluded"
constraints = "none"
hydrogen_mass = "3.024 amu"
constraint_tolerance = 1e-8
list = { buffer = "0.1 nm" }
[run]
seed = 7
device = "cuda:1"
threads = 3
pin = true
tuning = "measure"
reproducible = false
simd = "avx2"
max_time = "1.5 h"
max_steps = 12
[output]
directory = '''/tmp/with "quotes" and \'''
trajectory = { every = "500 steps", velocities = true, forces = true, precision = "0.001 nm" }
energies = "none"
checkpoint = { every = "30 s" }
[[stage]]
kind = "minimize"
steps = 10
[[stage]]
name = "heat"
kind = "dynamics"
duration = "50 ps"
timestep = "2 fs"
velocities = "generate"
thermostat = { kind = "berendsen", temperature = "300 K", coupling_time = "0.1 ps", every = 5 }
barostat = { kind = "c-rescale", pressure = "1 atm" }
com_removal = "none"
[ensemble]
at_once = 2
replica = [{ name = "near", set = { "forces.cutoff" = "8 A", "run.seed" = 0x10, "stage.heat.thermostat" = { temperature = "3 K" } } }, {}]
"#;

#[test]
fn lennard_jones_by_pme_has_a_mesh_of_its_own() {
    let correction = |lines: &str| {
        let files = "system = { topology = \"a.prmtop\", coordinates = \"a.rst7\" }";
        plan(&format!("{files}\n[forces]\ndispersion_correction = \"pme\"\n{lines}")).forces.dispersion_correction
    };
    let spacing = |spacing, order| Setting::Given(DispersionCorrection::Pme(LjPmeSpec::Spacing { spacing, order }));
    assert_eq!(correction(""), spacing(0.12, 4));
    assert_eq!(correction("lj_pme = { spacing = \"1 A\", order = 6 }"), spacing(0.1, 6));
    let explicit = PmeParameters { alpha: 3.2, grid: [32, 30, 40], order: 5 };
    assert_eq!(
        correction("lj_pme = { alpha = \"3.2 1/nm\", grid = [32, 30, 40] }"),
        Setting::Given(DispersionCorrection::Pme(LjPmeSpec::Explicit(explicit)))
    );
}

#[test]
fn a_full_file_becomes_the_plan_it_describes() {
    let plan = plan(EVERYTHING);
    assert_eq!(plan.system.coordinates, Path::new("/somewhere/sub/a.rst7"));
    assert_eq!(plan.forces.cutoff, Setting::Given(Some(0.9)));
    let explicit = PmeSpec::Explicit { alpha: 3.1, grid: [64, 64, 72], order: 6 };
    assert_eq!(plan.forces.electrostatics, ElectrostaticsSpec::Pme(explicit));
    assert_eq!(plan.forces.dispersion_correction, Setting::Given(DispersionCorrection::NonExcluded));
    assert!(!plan.forces.rigid_water, "default follows constraints");
    assert_eq!(plan.forces.list, ListPolicy::Exact { buffer: 0.1 });
    assert_eq!(plan.run.tuning, TuningMethod::Measure);
    assert_eq!((plan.run.seed, plan.run.device, plan.run.threads), (7, Device::Cuda(1), Some(3)));
    assert_eq!((plan.run.max_time, plan.run.max_steps), (Some(Duration::from_secs(5400)), Some(12)));
    assert_eq!(plan.output.trajectories[0].every, Interval::Steps(500));
    assert_eq!(plan.output.energies, None);
    assert_eq!(plan.stages[0].name, "minimize");
    let StageKind::Dynamics(heat) = &plan.stages[1].kind else { panic!("a dynamics stage") };
    assert_eq!((heat.steps, heat.timestep, heat.com_removal), (25_000, 0.002, None));
    assert_eq!(heat.velocities, Velocities::Generate { temperature: 300.0 });
    assert_eq!(heat.thermostat.as_ref().unwrap().kind, ThermostatKind::Berendsen);
}

#[test]
fn defaults_are_those_documented() {
    let plan = plan(SYSTEM);
    assert_eq!((plan.forces.cutoff, plan.forces.cutoff_lj), (Setting::ForceField, Setting::ForceField));
    assert_eq!(plan.forces.lj_modifier, Setting::ForceField);
    assert_eq!(plan.forces.dispersion_correction, Setting::ForceField);
    assert_eq!(plan.forces.electrostatics, ElectrostaticsSpec::Pme(PmeSpec::ForceError(5e-4)));
    assert!(plan.forces.rigid_water);
    let ListPolicy::Drift { tolerance, pressure_tolerance, interval } = plan.forces.list else {
        panic!("a fixed life")
    };
    assert_eq!((tolerance, interval), (0.005, None));
    // 0.5 bar, multiplied by the Avogadro constant, in kJ/mol/nm³
    assert!((pressure_tolerance - 0.5 * 0.060_221_407_6).abs() < 1e-12, "{pressure_tolerance}");
    assert_eq!((plan.run.precision, plan.run.tuning), (Precision::Mixed, TuningMethod::Model));
    assert_eq!(plan.output.directory, Path::new("/somewhere/out"));
    assert!(plan.stages.is_empty());
}

#[test]
fn trajectories_are_one_or_several_by_their_names() {
    let files = |output: &str| {
        let trajectories = plan(&format!("{SYSTEM}[output]\n{output}\n")).output.trajectories;
        trajectories.into_iter().map(|options| (options.file, options.precision)).collect::<Vec<_>>()
    };
    let named = |file: &str, precision| (file.to_owned(), precision);
    assert_eq!(files(""), [named("trajectory.h5md", None)]);
    assert_eq!(files("trajectory = \"none\""), []);
    assert_eq!(files("trajectory = { format = \"h5md\", every = \"1 ps\" }"), [named("trajectory.h5md", None)]);
    // XTC rounds positions to 0.001 nm, unless the input requests another precision
    assert_eq!(files("trajectory = { file = \"a.xtc\" }"), [named("a.xtc", Some(0.001))]);
    assert_eq!(files("trajectory = { format = \"dcd\" }"), [named("trajectory.dcd", None)]);
    let list = "trajectory = [{}, { file = \"b.xtc\", precision = \"0.0001 nm\" }]";
    assert_eq!(files(list), [named("trajectory.h5md", None), named("b.xtc", Some(0.0001))]);
    let headed = "directory = \"o\"\n[[output.trajectory]]\nfile = \"a.dcd\"\n[[output.trajectory]]";
    assert_eq!(files(headed), [named("a.dcd", None), named("trajectory.h5md", None)]);
}

#[test]
fn a_stage_writes_what_the_run_does_unless_it_says_otherwise() {
    let stage = |name: &str, output: &str| {
        format!("[[stage]]\nname = \"{name}\"\nkind = \"dynamics\"\nsteps = 9\ntimestep = \"2 fs\"\n{output}\n")
    };
    let run = "[output]\ntrajectory = [{ file = \"a.xtc\", every = \"4 ps\" }, { file = \"b.dcd\", every = \"5 ps\" }]\n\
        restraints = \"none\"\ncheckpoint = { every = \"7 min\" }\n";
    let stages = [
        stage("as-run", ""),
        stage("quiet", "output = { trajectory = \"none\", energies = \"none\", restraints = \"none\" }"),
        stage("both", "output = { trajectory = { every = \"3 steps\" }, checkpoint = { every = \"1 min\" } }"),
        stage("one", "output.trajectory = { file = \"b.dcd\", every = \"none\" }\noutput.energies.every = \"2 ps\""),
    ];
    let text = format!("{SYSTEM}{run}{}", stages.concat());
    let Config { plan, effective, .. } = parse(&text).unwrap_or_else(|problems| panic!("{problems:?}"));
    let every = |name: &str| [0, 1, 2, 3].map(|stage| plan.intervals(name).of_stage(stage));
    let (time, steps) = (|ps| Some(Interval::Time(ps)), Some(Interval::Steps(3)));
    assert_eq!(every("a.xtc"), [time(4.0), None, steps, time(4.0)]);
    assert_eq!(every("b.dcd"), [time(5.0), None, steps, None]);
    assert_eq!(every(ENERGIES), [time(1.0), None, time(1.0), time(2.0)]);
    assert_eq!(every(RESTRAINTS), [None; 4]);
    assert_eq!([1, 2].map(|stage| plan.checkpoints(stage).every.as_secs()), [420, 60]);
    // the effective configuration contains the key, whose value may change when a run continues
    let again = Config::parse(&effective, Path::new("/elsewhere/effective.toml"), &[]).unwrap().plan;
    assert_eq!(again, plan);
    let other =
        parse_set(&text, &["stage.both.output.trajectory.every=\"1 ps\"", "stage.quiet.output.energies=\"none\""]);
    let other = other.unwrap_or_else(|problems| panic!("{problems:?}")).plan;
    assert_ne!(other, plan);
    assert_eq!(physics_diff(&plan, &other), Vec::<String>::new());
}

#[test]
fn vacuum_needs_only_a_cutoff_of_none() {
    let plan = plan(&format!("{SYSTEM}[forces]\ncutoff = \"none\"\n"));
    assert_eq!((plan.forces.cutoff, plan.forces.cutoff_lj), (Setting::Given(None), Setting::Given(None)));
    assert_eq!(plan.forces.electrostatics, ElectrostaticsSpec::Plain);
    assert_eq!(plan.forces.dispersion_correction, Setting::Given(DispersionCorrection::Off));
}

#[test]
fn the_effective_configuration_reads_back_to_the_same_plan() {
    let vacuum = format!("{SYSTEM}[forces]\ncutoff = \"none\"\n");
    let field = format!("{SYSTEM}[forces]\nelectrostatics = \"reaction-field\"\npermittivity = \"infinity\"\n");
    let several = format!("{SYSTEM}[output]\ntrajectory = [{{ file = \"a.xtc\" }}, {{ every = \"2 ps\" }}]\n");
    for text in [SYSTEM, EVERYTHING, &vacuum, &field, &several, &template("a.prmtop", "a \"b\".rst7")] {
        let first = parse(text).unwrap_or_else(|problems| panic!("{problems:?}"));
        // paths in the effective configuration are absolute, so it can be read from another folder
        let second = Config::parse(&first.effective, Path::new("/elsewhere/effective.toml"), &[])
            .unwrap_or_else(|problems| panic!("{}\n{problems:?}", first.effective));
        assert_eq!(first.plan, second.plan);
        let replicas = |config: Config| {
            let replicas = config.ensemble.map(|ensemble| ensemble.replicas).unwrap_or_default();
            replicas.into_iter().map(|replica| (replica.name, replica.description)).collect::<Vec<_>>()
        };
        assert_eq!(replicas(first), replicas(second));
    }
}

#[test]
fn the_effective_configuration_spells_out_defaults() {
    let text = parse(SYSTEM).unwrap().effective;
    for line in
        ["cutoff = \"force-field\"  # default", "pme = { force_error = 5e-4 }  # default", "seed = 1  # default"]
    {
        assert!(text.lines().any(|written| written == line), "{line} in\n{text}");
    }
}

#[test]
fn replicas_with_states_have_settings_of_their_own() {
    let stage = "[[stage]]\nname = \"a\"\nkind = \"dynamics\"\nsteps = 10\ntimestep = \"2 fs\"\n\
                 thermostat = { temperature = \"300 K\" }\n";
    let ensemble = "[ensemble]\nranks_per_replica = 3\ntemperature = [\"300 K\", \"310 K\"]\nexchange = { every = \"5 steps\" }\n\
                    replica = [{}, { name = \"b\", set = { \"system.coordinates\" = \"b.rst7\" } }]\n";
    let found = parse(&format!("{SYSTEM}{stage}{ensemble}")).unwrap_or_else(|problems| panic!("{problems:?}"));
    let found = found.ensemble.unwrap();
    assert_eq!((found.ranks_per_replica, found.is_exchange()), (3, true));
    let [first, second] = &found.replicas[..] else { panic!("two replicas") };
    assert_eq!((first.name.as_str(), second.name.as_str()), ("replica-1", "b"));
    assert_eq!(second.description, "310 K, system.coordinates = \"b.rst7\", seed 2");
    let keys: Vec<&str> = second.overrides.iter().map(|setting| setting.key.as_str()).collect();
    assert_eq!(keys, ["stage.a.thermostat.temperature", "system.coordinates", "run.seed", "output.directory"]);
    // a replica sets nothing that the list of states sets, or from which the scale of its solute follows
    let solutes = "solute_temperature = [\"300 K\", \"400 K\"]";
    let scaled = "[forces]\nscaled_solute = { select = \"protein\" }\n";
    for (list, set) in [
        ("temperature = [\"300 K\", \"310 K\"]", "\"stage.a.thermostat.temperature\" = \"350 K\""),
        ("temperature = [\"300 K\", \"310 K\"]", "\"stage.a.thermostat\" = { temperature = \"350 K\" }"),
        (solutes, "\"stage.a.thermostat.temperature\" = \"350 K\""),
        (solutes, "\"forces.scaled_solute.factor\" = 0.5"),
    ] {
        let text = format!("{SYSTEM}{scaled}{stage}[ensemble]\n{list}\nreplica = [{{}}, {{ set = {{ {set} }} }}]\n");
        let problems = parse(&text).expect_err(set);
        assert!(problems.iter().any(|problem| problem.to_string().contains("follows from the lists")), "{problems:?}");
    }
}

#[test]
fn a_plan_survives_storage() {
    let plan = plan(EVERYTHING);
    let bytes = postcard::to_allocvec(&plan).unwrap();
    assert_eq!(postcard::from_bytes::<Plan>(&bytes).unwrap(), plan);
}

#[test]
fn options_are_laid_over_the_file() {
    let settings = [
        "forces.cutoff='1 nm'",
        "run.threads=5",
        "output.directory=\"/else/where\"",
        "output.trajectory.every=\"20 ps\"",
        "stage.heat.duration=\"100 ps\"",
        "stage.1.steps=99",
        "stage.heat.thermostat.temperature=\"310 K\"",
        "forces.pme={ force_error = 1e-4 }",
    ];
    let plan = parse_set(EVERYTHING, &settings).unwrap_or_else(|problems| panic!("{problems:?}")).plan;
    assert_eq!((plan.forces.cutoff, plan.run.threads), (Setting::Given(Some(1.0)), Some(5)));
    assert_eq!(plan.forces.electrostatics, ElectrostaticsSpec::Pme(PmeSpec::ForceError(1e-4)));
    assert_eq!(plan.output.directory, Path::new("/else/where"));
    assert_eq!(plan.output.trajectories[0].every, Interval::Time(20.0));
    let StageKind::Minimize(first) = &plan.stages[0].kind else { panic!("a minimisation") };
    assert_eq!(first.steps, 99);
    let StageKind::Dynamics(heat) = &plan.stages[1].kind else { panic!("a dynamics stage") };
    assert_eq!((heat.steps, heat.thermostat.as_ref().unwrap().temperature.at(0.0)), (50_000, 310.0));
    // an element of a list has a number, counted from 1
    let plan = parse_set(EVERYTHING, &["forces.pme={alpha=\"3.1 nm^-1\",grid=[20,21,22]}", "forces.pme.grid.2=24"]);
    let electrostatics = plan.unwrap_or_else(|problems| panic!("{problems:?}")).plan.forces.electrostatics;
    let ElectrostaticsSpec::Pme(PmeSpec::Explicit { grid, .. }) = electrostatics else { panic!("{electrostatics:?}") };
    assert_eq!(grid, [20, 24, 22]);
}

#[test]
fn bad_options_say_how_to_write_them() {
    let table = [
        ("forces.cutoff", "expected KEY=VALUE"),
        ("=3", "expected KEY=VALUE"),
        (
            "forces.cutoff=0.9 nm",
            "write the text in two pairs of quotes, because the shell removes the outer pair: --set \
             forces.cutoff='\"0.9 nm\"'",
        ),
        ("forces.cutoff=0.9", "--set forces.cutoff=0.9: forces.cutoff: missing unit"),
        ("forces.cutof=\"1 nm\"", "did you mean \"cutoff\"?"),
        ("stage.cool.steps=3", "there is no stage \"cool\" (the stages are minimize, heat, or numbers from 1 to 2)"),
        ("stage.3.steps=3", "there is no stage \"3\""),
        ("stage.0.steps=3", "there is no stage \"0\""),
        ("stage=3", "stage: expected sections with the heading [[stage]]; found a whole number"),
        ("forces=3", "forces: expected keys in braces"),
        ("a..b=3", "unknown key \"a\""),
        ("forces.pme.grid.x=3", "this key holds a list of 3, and x is not the number of an element"),
        ("forces.pme.grid.4=3", "this key holds a list of 3, and 4 is not the number of an element"),
        ("a.a.a.a.a.a.a.a.a=3", "the dotted key has more levels"),
    ];
    for (setting, expected) in table {
        let problems = parse_set(EVERYTHING, &[setting]).map(|_| ()).expect_err(setting);
        assert_eq!(problems.len(), 1, "{setting}: {problems:?}");
        assert!(problems[0].to_string().contains(expected), "{setting}: {}", problems[0]);
    }
}

#[test]
fn any_text_is_answered_without_a_panic() {
    for nested in ["a = ".to_owned() + &"[".repeat(100_000), vec!["a"; 100_000].join(".") + " = 1"] {
        assert!(parse(&nested).is_err());
    }
    // the parser must handle each prefix of a valid file, and the file with each byte changed
    for end in (0..EVERYTHING.len()).filter(|end| EVERYTHING.is_char_boundary(*end)) {
        let _ = parse(&EVERYTHING[..end]);
        let mut bytes = EVERYTHING.as_bytes().to_vec();
        bytes[end] ^= 1 << (end % 7);
        let _ = parse(&String::from_utf8_lossy(&bytes));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_are_read_or_refused_in_words(damages in damage::damage()) {
        let text = damage::apply(EVERYTHING.as_bytes(), &damages);
        if let Err(problems) = parse(&String::from_utf8_lossy(&text)) {
            prop_assert!(!problems.is_empty() && problems.iter().all(|problem| !problem.message.is_empty()));
        }
    }
}

#[test]
fn problems_are_found_at_their_lines_however_many() {
    let unknown: String = (0..2000).map(|i| format!("key{i} = 1\n")).collect();
    let problems = parse(&format!("{unknown}{SYSTEM}")).map(|_| ()).unwrap_err();
    assert_eq!(problems.len(), 2000);
    assert!(problems.iter().enumerate().all(|(index, problem)| problem.line == Some(index + 1)));
    let stages = "[[stage]]\nkind = \"minimize\"\n".repeat(500);
    let problems = parse(&format!("{SYSTEM}{stages}")).map(|_| ()).unwrap_err();
    assert_eq!(problems.len(), 499, "all but the first have a name that is taken");
}

/// Tests numbers outside the range of any experiment or model. The squares and products of such numbers would not be
/// finite.
#[test]
fn quantities_outside_the_physical_range_are_refused_with_the_range() {
    for (setting, expected) in [
        (
            "stage.heat.thermostat.temperature=\"1e30 K\"",
            "\"1e30 K\" is outside the physical range of a temperature: the magnitude must be at most",
        ),
        (
            "stage.heat.thermostat.coupling_time=\"1e300 ps\"",
            "the physical range of a time: the magnitude must be at most",
        ),
        (
            "stage.heat.thermostat.temperature=[[\"0 ps\", \"300 K\"], [\"1e30 ps\", \"310 K\"]]",
            "the physical range of a time",
        ),
        ("stage.heat.duration=\"1e200 ns\"", "the physical range of a time"),
        (
            "stage.heat.barostat.pressure=\"-1e30 bar\"",
            "the physical range of a pressure: the magnitude must be at most",
        ),
        ("forces.cutoff=\"1e30 nm\"", "the physical range of a length: the magnitude must be at most"),
        ("stage.heat.timestep=\"1e-300 fs\"", "the physical range of a time: the magnitude must be at least"),
        ("forces.cutoff=\"1e-9 nm\"", "forces.cutoff must be greater than zero, more than 0.01 nm"),
        ("run.max_time=\"1e300 h\"", "the physical range of a wall-clock time"),
    ] {
        let problems = parse_set(EVERYTHING, &[setting]).map(|_| ()).expect_err(setting);
        let found = problems.iter().any(|problem| problem.message.contains(expected));
        assert!(found, "{setting}: {problems:?}");
    }
}

#[test]
fn continuing_allows_output_and_length_but_no_other_physics() {
    let old = plan(EVERYTHING);
    let with = |settings: &[&str]| parse_set(EVERYTHING, settings).unwrap_or_else(|p| panic!("{p:?}")).plan;
    let allowed = with(&[
        "stage.heat.duration=\"1 ns\"",
        "output.energies={ every = \"2 ps\" }",
        "output.directory=\"/new\"",
        "run.threads=1",
        "run.max_steps=100",
        "forces.cutoff=\"0.9 nm\"",
        "forces.cutoff_lj=\"12 A\"",
        "system.topology=\"/moved/a.prmtop\"",
    ]);
    assert_eq!(physics_diff(&old, &allowed), Vec::<String>::new());
    let changes = [
        ("forces.cutoff=\"1 nm\"", "forces.cutoff: \"0.9 nm\" -> \"1 nm\""),
        ("stage.heat.timestep=\"1 fs\"", "stage.heat.timestep: \"2 fs\" -> \"1 fs\""),
        ("stage.heat.thermostat.temperature=\"310 K\"", "stage.heat.thermostat.temperature: \"300 K\" -> \"310 K\""),
        ("run.seed=8", "run.seed: 7 -> 8"),
        ("forces.hydrogen_mass=\"2 amu\"", "forces.hydrogen_mass: \"3.024 amu\" -> \"2 amu\""),
        ("stage.1.steps=5", "stage.minimize.steps: 10 -> 5"),
        ("system.topology=\"b.prmtop\"", "b.prmtop"),
        ("forces.pme={ force_error = 1e-4 }", "forces.pme.force_error: not set -> 0.0001"),
    ];
    for (setting, expected) in changes {
        let found = physics_diff(&old, &with(&[setting]));
        assert!(found.iter().any(|line| line.contains(expected)), "{setting}: {found:?}");
    }
}

/// The key `output` of a stage may change in a continued run, but not a stage with this name. Large seeds differ by
/// less than the rounding error of a floating-point number.
#[test]
fn a_stage_named_output_and_a_large_seed_are_compared() {
    let text = |timestep: &str, output: &str, seed: &str| {
        format!(
            "{SYSTEM}[run]\nseed = {seed}\n[[stage]]\nname = \"output\"\nkind = \"dynamics\"\nsteps = 10\n\
             timestep = \"{timestep}\"\noutput = {{ energies = {{ every = \"{output}\" }} }}\n"
        )
    };
    let old = plan(&text("2 fs", "0.1 ps", "8000000000000000"));
    assert_eq!(physics_diff(&old, &plan(&text("2 fs", "0.2 ps", "8000000000000000"))), Vec::<String>::new());
    let found = physics_diff(&old, &plan(&text("1 fs", "0.1 ps", "8000000000000001")));
    for part in ["stage.output.timestep", "run.seed"] {
        assert!(found.iter().any(|line| line.contains(part)), "{part}: {found:?}");
    }
}

#[test]
fn options_in_code_have_the_defaults_of_the_input_file() {
    assert_eq!(plan(SYSTEM).forces, ForceOptions::default());
    assert_eq!(plan(SYSTEM).run.tuning, TuningMethod::default());
    let all_pairs = plan(&format!("{SYSTEM}[forces]\ncutoff = \"none\"\n")).forces;
    assert_eq!(all_pairs, ForceOptions::all_pairs());
}

/// Walls of a torsion on both sides of 180 degrees: the range from 150 to -150 degrees is that from 150 to 210 degrees.
#[test]
fn walls_of_a_torsion_across_180_degrees_are_explained() {
    let with = |kind: &str, groups: &str, [lower, upper]: [&str; 2]| {
        let stage = "[[stage]]\nkind = \"dynamics\"\nsteps = 9\ntimestep = \"2 fs\"\n";
        parse(&format!(
            "{SYSTEM}{stage}[[stage.restraints]]\nkind = \"{kind}\"\ngroups = [{groups}]\nlower = \"{lower}\"\nupper = \
             \"{upper}\"\nforce_constant = \"9 kJ/mol/rad^2\"\n"
        ))
    };
    let groups = "\"index 0\", \"index 1\", \"index 2\", \"index 3\"";
    let help = |found: Result<Config, Vec<Problem>>| found.unwrap_err()[0].help.clone().unwrap();
    let torsion = help(with("torsion", groups, ["150 deg", "-150 deg"]));
    assert!(torsion.contains("write upper = \"210 deg\""), "{torsion}");
    assert!(with("torsion", groups, ["150 deg", "210 deg"]).is_ok());
    assert_eq!(help(with("angle", &groups[..groups.len() - 11], ["150 deg", "90 deg"])), "exchange the two values");
}
