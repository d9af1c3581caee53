//! Tests that tuning changes only the speed: all candidate settings have the requested accuracy, and a run keeps its
//! chosen setting.

use std::path::Path;

use md::backend::{Reference, Workload};
use md::config::Config;
use md::observe::tuning::{Setting, Trial, Tuning};
use md::pair::{BufferEstimate, ListErrors, ListSchedule};
use md::pme::{ChargeStructure, ErrorModel, Splitting};
use md::prepare::{ConstrainedTerms, Prepared};
use md::run::{Checkpoint, load};
use md::system::{Electrostatics, ForceSettings, State, System};
use md::units::BAR;
use md::vec3::{Vec3, rms_difference};

use crate::case::{Case, assert_same};

const SPACING: f64 = 0.15;
const CUTOFF: f64 = 0.8;
const TEMPERATURE: f64 = 300.0;
const TIMESTEP: f64 = 0.002;
/// Energy drift tolerance in kJ/mol/ps per atom.
const TOLERANCE: f64 = 0.005;
/// Tolerance of energies with other lists, in kJ/mol: the drift tolerance for each of 1500 atoms over 66 steps of 2
/// fs.
const LIST_ERROR: f64 = TOLERANCE * 1500.0 * 66.0 * TIMESTEP;

fn stage(name: &str) -> String {
    format!(
        "[[stage]]\nname = \"{name}\"\nkind = \"dynamics\"\nduration = \"0.4 ps\"\ntimestep = \"2 fs\"\n\
         velocities = \"generate\"\nthermostat = {{ temperature = \"{TEMPERATURE} K\", coupling_time = \"0.1 ps\" }}\n"
    )
}

fn input(tuning: &str) -> String {
    format!(
        "[run]\nthreads = 1\ntuning = \"{tuning}\"\n\
         [forces]\ncutoff = \"{CUTOFF} nm\"\npme = {{ spacing = \"{SPACING} nm\" }}\n\
         [output]\nenergies = {{ every = \"20 fs\" }}\ntrajectory = {{ every = \"60 fs\", velocities = true }}\n{}",
        stage("first")
    )
}

fn checkpoint(case: &Case) -> Checkpoint {
    Checkpoint::read(&case.path("out/checkpoint.md")).unwrap().unwrap().body
}

/// Returns the tuning result from the checkpoint, and checks that the summary agrees with this result.
fn tuning(case: &Case) -> Tuning {
    let (stored, told) = (checkpoint(case).tuning.unwrap(), case.summary("out").tuning.unwrap());
    assert_eq!((&stored.method, stored.tried.len()), (&told.method, told.tried.len()));
    assert_eq!(told.chosen.pme.unwrap().parameters.grid, stored.chosen.pme.unwrap().parameters.grid);
    stored
}

fn loaded() -> (System, State) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/water");
    let files = "[system]\ntopology = \"water.prmtop.xz\"\ncoordinates = \"water.rst7.xz\"\n";
    let plan = Config::parse(&(files.to_owned() + &input("measure")), &folder.join("input.toml"), &[]).unwrap().plan;
    let Prepared { system, state, .. } = load(&plan, ConstrainedTerms::Keep).unwrap();
    (system, state)
}

fn with(system: &System, splitting: Splitting) -> System {
    let settings = ForceSettings {
        cutoff: Some(splitting.cutoff),
        electrostatics: Electrostatics::Pme(splitting.parameters),
        ..system.settings
    };
    System { settings, ..system.clone() }
}

fn forces(system: &System, state: &State) -> Vec<Vec3> {
    Reference::new(system).unwrap().evaluate(state.cell.as_ref(), &state.positions, Workload::default()).forces
}

fn splitting(trial: &Trial) -> Splitting {
    trial.setting.pme.unwrap()
}

#[test]
fn whatever_is_tried_is_as_accurate_as_asked_for() {
    let case = Case::new("water", &input("measure"));
    let messages = case.ends_with(0, &["--steps", "2"]);
    assert!(messages.contains("tuning = \"measure\": pair lists rebuilt every"), "{messages}");
    let Tuning { tried, chosen, measured_gain, seconds, .. } = tuning(&case);
    let (system, state) = loaded();
    let charges: Vec<f64> = system.topology.atoms.iter().map(|atom| atom.charge).collect();
    let cell = state.cell.as_ref().unwrap();
    let model = |cutoff| {
        let structure = ChargeStructure::sample(cell, &state.positions, &charges);
        ErrorModel::new(cell, cutoff, &charges, structure)
    };
    let allowed = model(CUTOFF).named_by_spacing(SPACING, 4);
    let usual = forces(&with(&system, splitting(&tried[0])), &state);
    let timed: Vec<&Trial> = tried.iter().filter(|trial| trial.measured.is_some()).collect();
    for trial in &timed {
        let (splitting, lists) = (splitting(trial), trial.setting.lists);
        let estimate = model(splitting.cutoff).estimate(&splitting.parameters);
        // the number of grid points is rounded up from the spacing in the input, and α follows from the actual spacing
        assert!(estimate.direct <= allowed.direct * (1.0 + 1e-9), "{splitting:?}");
        assert!(estimate.reciprocal <= allowed.reciprocal, "{splitting:?}");
        // both force calculations have at most the allowed error, so the difference is bounded
        let difference = rms_difference(&forces(&with(&system, splitting), &state), &usual);
        assert!(difference < 2.0 * allowed.total(), "{splitting:?}: {difference} of {allowed:?}");
        let system = with(&system, splitting);
        let needed = BufferEstimate::new(&system, cell.volume(), TEMPERATURE, TIMESTEP).with_lifetimes(
            ListErrors { drift: TOLERANCE, pressure: 0.5 * BAR },
            lists.rebuild,
            lists.prune,
        );
        assert!(lists.outer >= needed.outer && lists.inner >= needed.inner, "{lists:?} {needed:?}");
    }
    assert!(timed.iter().any(|trial| splitting(trial).cutoff < CUTOFF), "{tried:?}");
    assert!(timed.iter().any(|trial| trial.setting.lists.rebuild != timed[0].setting.lists.rebuild), "{tried:?}");
    assert!(timed.iter().any(|trial| trial.setting == chosen));
    assert!(measured_gain.is_some_and(|gain| gain >= 0.0) && seconds > 0.0);
}

/// Returns a case that was started with a shorter cutoff than that of the input file, a setting that tuning may not
/// have chosen.
fn begun_with_another_cutoff() -> (Case, Setting) {
    let case = Case::new("water", &input("measure"));
    case.ends_with(0, &["--steps", "0"]);
    let path = case.path("out/checkpoint.md");
    let mut checkpoint = checkpoint(&case);
    let tuning = checkpoint.tuning.as_mut().unwrap();
    let shorter = |trial: &&Trial| trial.measured.is_some() && splitting(trial).cutoff < CUTOFF;
    let setting = tuning.tried.iter().find(shorter).unwrap().setting;
    tuning.chosen = setting;
    checkpoint.position.schedule = Some(setting.lists);
    checkpoint.write(&path).unwrap();
    (case, setting)
}

#[test]
fn a_choice_is_kept_bit_for_bit_and_by_later_stages() {
    let (case, setting) = begun_with_another_cutoff();
    std::fs::create_dir(case.path("parts")).unwrap();
    for (name, bytes) in case.contents("out") {
        std::fs::write(case.path("parts").join(name), bytes).unwrap();
    }
    case.ends_with(0, &["--steps", "200"]);
    for part in ["37", "100", "101", "200"] {
        case.ends_with(0, &["--steps", part, "--output-dir", "parts"]);
    }
    assert_same(&case.record("out"), &case.record("parts"));
    case.rewrite("water", &(input("measure") + &stage("second")));
    case.ends_with(0, &[]);
    let summary = case.summary("out");
    assert_eq!((summary.stages.len(), summary.pme.unwrap().grid), (2, setting.pme.unwrap().parameters.grid));
    assert_eq!(tuning(&case).chosen, setting);
    // only the lifetimes are compared, because list radii depend on the velocities at the start of the stage
    let lifetimes = |lists: ListSchedule| (lists.rebuild, lists.prune);
    assert_eq!(checkpoint(&case).position.schedule.map(lifetimes), Some(lifetimes(setting.lists)));
}

#[test]
fn without_tuning_lists_and_order_are_the_usual_ones() {
    for (method, pme) in
        [("off", "force_error = 5e-4"), ("model", "force_error = 5e-4"), ("off", "spacing = \"0.15 nm\"")]
    {
        let input = input(method).replace(&format!("spacing = \"{SPACING} nm\""), pme);
        let case = Case::new("water", &input);
        case.ends_with(0, &["--steps", "1"]);
        let Tuning { method, tried, chosen, predicted_gain, measured_gain, .. } = tuning(&case);
        let usual = tried[0].setting;
        assert_eq!((usual.lists.rebuild, usual.lists.prune), (20, 20));
        assert_eq!(usual.pme.unwrap().parameters.order, 4);
        assert_eq!(measured_gain, None);
        if method == "off" {
            assert_eq!((tried.len(), chosen, predicted_gain), (1, usual, 0.0));
        } else {
            assert!(tried.len() > 3 && predicted_gain > 0.0, "{tried:?}");
            assert!(tried.iter().any(|trial| trial.setting == chosen));
        }
        assert_eq!(case.summary("out").pme.unwrap().grid, chosen.pme.unwrap().parameters.grid);
    }
}

#[test]
fn explicit_parameters_and_fixed_lifetimes_are_not_touched() {
    let explicit = "pme = { alpha = \"3.5 1/nm\", grid = [18, 18, 18], order = 5 }\nlist = { interval = 30 }";
    let input = input("measure").replace(&format!("pme = {{ spacing = \"{SPACING} nm\" }}"), explicit);
    let case = Case::new("water", &input);
    case.ends_with(0, &["--steps", "1"]);
    let tried = tuning(&case).tried;
    assert!(tried.len() > 2, "{tried:?}");
    for trial in &tried {
        let Splitting { cutoff, parameters } = splitting(trial);
        assert_eq!((cutoff, parameters.alpha, parameters.grid, parameters.order), (CUTOFF, 3.5, [18; 3], 5));
        assert_eq!(trial.setting.lists.rebuild, 30);
    }
}

#[test]
fn a_run_that_comes_from_a_gpu_has_the_lists_of_a_processor() {
    let case = Case::new("water", &input("model"));
    case.ends_with(0, &["--steps", "33"]);
    let own = checkpoint(&case);
    assert_eq!(own.lists_on_gpu, Some(false));
    let mut foreign = own.clone();
    let lists = ListSchedule { rebuild: 50, prune: 25, outer: 1.0, inner: 0.95, lookahead: 0.0 };
    foreign.lists_on_gpu = Some(true);
    foreign.position.schedule = Some(lists);
    foreign.tuning.as_mut().unwrap().chosen.lists = lists;
    foreign.write(&case.path("out/checkpoint.md")).unwrap();
    let messages = case.ends_with(0, &["--steps", "66"]);
    assert!(
        messages.contains("on a different kind of device (GPU or CPU), so a new pair list schedule is chosen"),
        "{messages}"
    );
    let now = checkpoint(&case);
    assert_eq!((now.lists_on_gpu, now.position.schedule), (own.lists_on_gpu, own.position.schedule));
    assert_eq!(now.tuning.unwrap().chosen, own.tuning.unwrap().chosen);
    // forces agree within rounding errors during the whole run, so the pairs that lists miss are negligible
    let uninterrupted = Case::new("water", &input("model"));
    uninterrupted.ends_with(0, &["--steps", "66"]);
    let (a, b) = (case.column("out", "conserved (kJ/mol)"), uninterrupted.column("out", "conserved (kJ/mol)"));
    let largest = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(a.len() == b.len() && largest < LIST_ERROR, "{largest} kJ/mol");
}
