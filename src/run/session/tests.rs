//! Tests of whole runs on an emulated GPU.

use super::*;
use crate::backend::cuda::Kernel;
use crate::config::{Config, Override};
use crate::prepare::{ConstrainedTerms, Prepared};
use crate::run::control::signals::Requests;
use crate::run::output::{Report, Reporter};
use crate::run::session::load;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Settings of a periodic system whose cell is 2 nm wide.
const PERIODIC: &str = r#"
[forces]
cutoff = "0.8 nm"
pme = { spacing = "0.15 nm" }
constraints = "h-bonds"
[output]
energies = { every = "4 fs" }
trajectory = { every = "8 fs" }
"#;
const DOWN: &str = r#"
[[stage]]
name = "down"
kind = "minimize"
steps = 5
"#;
const NPT: &str = r#"
[[stage]]
name = "npt"
kind = "dynamics"
duration = "40 fs"
timestep = "2 fs"
velocities = "generate"
thermostat = { temperature = "300 K", coupling_time = "0.1 ps" }
barostat = { pressure = "1 bar", coupling_time = "2 ps" }
"#;

/// Settings of a stage with position restraints that are released within 30 fs.
const RELEASED: &str = r#"
position_restraints = { select = "protein", force_constant = [["0 ps", "2000 kJ/mol/nm^2"], ["30 fs", "0 kJ/mol/nm^2"]] }
"#;

/// Settings of a stage with frozen atoms and without a barostat.
const FROZEN: &str = r#"frozen = "resid 1""#;

/// Input of a run in vacuum at constant energy.
const VACUUM: &str = r#"
[forces]
cutoff = "none"
electrostatics = "plain"
constraints = "none"
[output]
energies = { every = "2 fs" }
trajectory = "none"
[[stage]]
name = "nve"
kind = "dynamics"
duration = "120 fs"
timestep = "0.5 fs"
velocities = "generate"
temperature = "300 K"
"#;

/// Test run with an output folder and an input file.
struct Case {
    folder: TempDir,
    text: String,
}

impl Case {
    fn new(system: &str, rest: &str) -> Self {
        let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems").join(system);
        let [topology, coordinates] = ["prmtop", "rst7"].map(|kind| files.join(format!("{system}.{kind}.xz")));
        let text = format!("[system]\ntopology = {topology:?}\ncoordinates = {coordinates:?}\n{rest}");
        Case { folder: tempfile::tempdir().unwrap(), text }
    }

    /// Runs all stages. With `steps`, each stage ends after at most `steps` steps.
    fn run(&self, engine: Engine, steps: Option<u64>) -> Result<Outcome> {
        self.run_with(engine, steps, vec![])
    }

    /// Runs all stages as [`Self::run`] does, with additional reporters.
    fn run_with(&self, engine: Engine, steps: Option<u64>, reporters: Vec<Box<dyn Reporter>>) -> Result<Outcome> {
        let out = Override::text_option("--output-dir", "output.directory", &self.path("").to_string_lossy());
        let most = steps.map(|steps| Override::option("--steps", "", "run.max_steps", steps.to_string()));
        let overrides: Vec<Override> = most.into_iter().chain([out]).collect();
        let config = Config::parse(&self.text, &self.path("input.toml"), &overrides).map_err(Error::Input)?;
        let Prepared { system, state: start, alternatives, left_out } = load(&config.plan, ConstrainedTerms::Drop)?;
        let job = Job {
            plan: &config.plan,
            system: Arc::new(system),
            alternatives,
            start,
            left_out,
            input: &self.text,
            effective: &config.effective,
            compare: &|_| vec![],
            force: false,
            no_append: false,
            reporters,
            exchange: None,
            requests: Requests::default(),
            started: Instant::now(),
        };
        run(job, engine, |path| RunLog::open(path, None), Progress::new(false, std::time::Duration::MAX))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("out").join(name)
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn summary(&self) -> Summary {
        Summary::read(&self.path("summary.json")).unwrap()
    }

    /// Returns the values of the column `name` of the energy table.
    fn column(&self, name: &str) -> Vec<f64> {
        let text = self.text("energies.csv");
        let mut lines = text.lines();
        let index = lines.next().unwrap().split(',').position(|column| column.starts_with(name)).unwrap();
        lines.map(|line| line.split(',').nth(index).unwrap().parse().unwrap()).collect()
    }
}

fn gpu() -> Engine {
    Engine::with_gpu(0, false)
}

fn processor() -> Engine {
    Engine::on(1).unwrap()
}

#[test]
fn the_log_tells_how_well_constraints_hold() {
    for kind in ["all-bonds", "h-angles"] {
        let case = Case::new("peptide-vacuum", &VACUUM.replace("\"none\"\n[output]", &format!("\"{kind}\"\n[output]")));
        assert_eq!(case.run(processor(), Some(40)).unwrap(), Outcome::Finished);
        let log = case.text("run.log");
        let line = log.lines().find(|line| line.contains("largest relative deviation")).expect("a line for the stage");
        let number = line.split_once("deviation ").unwrap().1.split(' ').next().unwrap();
        let deviation: f64 = number.parse().unwrap();
        // constraints limit the relative error of squared lengths to 2e-6. The relative error of a length is half of
        // the relative error of the squared length, to first order
        assert!(deviation > 0.0 && deviation < 1.01e-6, "{kind}: {line}");
    }
}

/// Reporter whose file cannot be created, because the disk is full.
struct WithoutSpace;

impl Reporter for WithoutSpace {
    fn name(&self) -> &str {
        "notes.txt"
    }

    fn wants(&self, _step: &StepInfo) -> Quantities {
        Quantities::default()
    }

    fn report(&mut self, _report: &Report<'_>) -> Result<()> {
        Ok(())
    }

    fn open(&mut self, run: &RunInfo<'_>, _checkpointed: Option<crate::observe::extent::Mark>) -> Result<()> {
        Err(Error::io(&run.file(self.name()), "No space left on device (os error 28)"))
    }
}

#[test]
fn a_full_disk_at_the_start_comes_with_advice() {
    let case = Case::new("peptide-vacuum", VACUUM);
    let error = case.run_with(processor(), Some(1), vec![Box::new(WithoutSpace)]).expect_err("a full disk");
    let text = error.to_string();
    assert!(error.exit_code() == 5 && text.contains("notes.txt") && text.contains("free some space"), "{text}");
    assert_eq!(case.run(processor(), Some(1)).unwrap(), Outcome::Finished);
}

#[test]
fn a_run_on_a_gpu_in_pieces_is_the_same_run() {
    let whole = compare_pieces("peptide-charged", &format!("{PERIODIC}{NPT}{RELEASED}"));
    assert!(whole.column("position_restraint")[3] > 0.0 && whole.column("restraint_work")[3] < 0.0);
    compare_pieces("tip4pew", &format!("{PERIODIC}{NPT}"));
    let langevin = NPT.replace("coupling_time = \"0.1 ps\"", "kind = \"langevin\", friction = \"10 1/ps\"");
    let heated = langevin.replace("\"300 K\", kind", "[[\"0 fs\", \"200 K\"], [\"20 fs\", \"300 K\"]], kind");
    assert!(heated != langevin && langevin != NPT);
    compare_pieces("tip4pew", &format!("{PERIODIC}{heated}"));
}

/// Compares an uninterrupted run on a GPU with the same run in several pieces. Returns the uninterrupted run.
fn compare_pieces(system: &str, rest: &str) -> Case {
    let [whole, pieces] = [(); 2].map(|()| Case::new(system, rest));
    assert_eq!(whole.run(gpu(), None).unwrap(), Outcome::Finished);
    for steps in [Some(3), Some(9), Some(14), None] {
        assert_eq!(pieces.run(gpu(), steps).unwrap(), Outcome::Finished);
    }
    assert_eq!(pieces.run(gpu(), None).unwrap(), Outcome::Unchanged);
    assert_eq!(whole.summary().final_state_hash, pieces.summary().final_state_hash);
    for file in ["energies.csv", "final.rst7"] {
        assert_eq!(whole.text(file), pieces.text(file), "{file}");
    }
    let [a, b] = [&whole, &pieces].map(|case| {
        let file = hdf5::File::open(case.path("trajectory.h5md")).unwrap();
        file.dataset("coordinates").unwrap().read_raw::<f32>().unwrap()
    });
    assert!(a.len() > 3 && a == b);
    whole
}

#[test]
fn frozen_atoms_stay_on_a_gpu() {
    let barostat = NPT.lines().find(|line| line.starts_with("barostat")).unwrap();
    let frozen = NPT.replace(barostat, FROZEN);
    let whole = compare_pieces("peptide-charged", &format!("{PERIODIC}{frozen}"));
    let file = hdf5::File::open(whole.path("trajectory.h5md")).unwrap();
    let coordinates = file.dataset("coordinates").unwrap();
    let (atoms, values) = (coordinates.shape()[1], coordinates.read_raw::<f32>().unwrap());
    let [first, last] = [&values[..3 * atoms], &values[values.len() - 3 * atoms..]];
    assert!(first[..3] == last[..3] && first != last);
}

#[test]
fn stages_follow_each_other_on_a_gpu() {
    let case = Case::new("peptide-charged", &format!("{PERIODIC}{DOWN}{NPT}"));
    assert_eq!(case.run(gpu(), None).unwrap(), Outcome::Finished);
    let device = case.summary().device;
    assert!(device.contains("A GPU"), "{device}");
    assert!(case.text("run.log").contains("on emulated GPU"), "{}", case.text("run.log"));
    let potential = case.column("potential");
    let [first, last] = [potential[0], *potential.last().unwrap()];
    assert!(first.is_finite() && first != last, "{potential:?}");
    assert_eq!(case.column("step").last(), Some(&20.0));
}

/// Allowed difference between energies of two runs, relative to the sum of the absolute energy terms. The value is
/// twice the project's limit for interactions in `f32`, since each of the two energies may have an error as large as
/// the limit.
const ENERGY: f64 = 2e-6;

#[test]
fn a_run_goes_from_a_gpu_to_the_processor_and_back() {
    let [stays, moves] = [(); 2].map(|()| Case::new("peptide-vacuum", VACUUM));
    stays.run(processor(), None).unwrap();
    for (engine, steps) in [(gpu(), Some(61)), (processor(), Some(125)), (gpu(), None)] {
        assert_eq!(moves.run(engine, steps).unwrap(), Outcome::Finished);
    }
    assert_eq!(moves.text("run.log").matches("a different kind of device").count(), 2);
    let [a, b] = [&stays, &moves].map(|case| case.column("conserved"));
    let terms = ["bond", "angle", "proper", "improper", "lj", "coulomb", "kinetic"];
    let scale: f64 = terms.iter().map(|term| moves.column(term)[0].abs()).sum();
    assert_eq!((a.len(), b.len()), (61, 61));
    for (a, b) in a.iter().zip(&b) {
        assert!((a - b).abs() <= ENERGY * scale, "{a} against {b} of {scale}");
    }
    let [first, last] = [0, 60].map(|row| moves.column("kinetic")[row]);
    assert!((first - last).abs() > 1e3 * ENERGY * scale, "nothing moves");
}

#[test]
fn a_gpu_that_computes_wrong_is_left_or_refused() {
    let case = Case::new("peptide-charged", &format!("{PERIODIC}{NPT}"));
    let number = Kernel::PairLorentzBerthelotSums as u32;
    let error = case.run(Engine::with_gpu(number, false), None).expect_err("it was asked for");
    assert!(error.exit_code() == 6 && error.to_string().contains("differ"), "{error}");
    assert_eq!(case.run(Engine::with_gpu(number, true), None).unwrap(), Outcome::Finished);
    let summary = case.summary();
    assert!(summary.device.starts_with("CPU"), "{}", summary.device);
    assert!(summary.warnings.iter().any(|warning| warning.contains("differ")), "{:?}", summary.warnings);
}
