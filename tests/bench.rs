//! Tests of `md bench`: the systems that it builds, the counts of operations, the files that it writes, and the
//! comparison with an older report.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use md::backend::{Reference, Workload, useful_pairs};
use md::bench::{Case, Range, Report, replicate};
use md::config::Config;
use md::observe::summary::Summary;
use md::prepare::{ConstrainedTerms, Prepared};
use md::run::load;
use md::system::{Electrostatics, State, System};

fn files(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems").join(name);
    let [topology, coordinates] = ["prmtop", "rst7"].map(|kind| folder.join(format!("{name}.{kind}.xz")));
    format!("[system]\ntopology = {topology:?}\ncoordinates = {coordinates:?}\n")
}

fn water(forces: &str) -> (System, State) {
    let text = format!("{}[forces]\n{forces}\n", files("water"));
    let plan = Config::parse(&text, Path::new("input.toml"), &[]).unwrap().plan;
    let Prepared { system, state, .. } = load(&plan, ConstrainedTerms::Keep).unwrap();
    (system, state)
}

#[test]
fn eight_copies_have_eight_times_the_energy_and_the_same_forces() {
    let forces = "cutoff = \"0.8 nm\"\nconstraints = \"h-bonds\"\ndispersion_correction = false\n\
        pme = { alpha = \"3.2 1/nm\", grid = [20, 20, 20], order = 5 }";
    let (system, state) = water(forces);
    let (mut larger, all) = replicate(&system, &state, [2, 2, 2]).unwrap();
    let Electrostatics::Pme(pme) = &mut larger.settings.electrostatics else { panic!("PME was asked for") };
    // twice as many grid points over twice the length keep the grid spacing
    pme.grid = [40, 40, 40];
    let workload = Workload { energy: true, virial: false, ..Workload::FORCES };
    let evaluate = |system: &System, state: &State| {
        Reference::new(system).unwrap().evaluate(state.cell.as_ref(), &state.positions, workload)
    };
    let (one, eight) = (evaluate(&system, &state), evaluate(&larger, &all));
    // tolerance for rounding errors of f64 in sums of about 10⁵ terms whose absolute values add up to a hundred times
    // the sum: 1e-16 · 10⁵ · 100
    const ROUNDING: f64 = 1e-9;
    for ((name, a), (_, b)) in one.energies.named().zip(eight.energies.named()) {
        assert!((b - 8.0 * a).abs() <= ROUNDING * 8.0 * a.abs(), "{name}: 8 × {a} and {b}");
    }
    let size = (one.forces.iter().map(|f| f.norm_squared()).sum::<f64>() / one.forces.len() as f64).sqrt();
    for (atom, force) in eight.forces.iter().enumerate() {
        let difference = (*force - one.forces[atom % one.forces.len()]).norm();
        assert!(difference < ROUNDING * size, "atom {atom}: {difference}");
    }
    assert_eq!(larger.constraints.settles.len(), 8 * system.constraints.settles.len());
    assert_eq!(larger.topology.residues.len(), 8 * system.topology.residues.len());
    let last = larger.constraints.settles.last().unwrap().atoms.map(|i| larger.topology.atoms[i as usize].residue);
    assert_eq!(last, [larger.topology.residues.len() as u32 - 1; 3]);
    assert_eq!(larger.topology.exclusions.len(), 8 * system.topology.exclusions.len());
}

#[test]
fn useful_pairs_are_those_within_the_cutoff() {
    const CUTOFF: f64 = 0.9;
    let (system, state) = water("cutoff = \"0.9 nm\"");
    let cell = state.cell.unwrap();
    let mut count = 0usize;
    for i in 0..state.positions.len() {
        for j in i + 1..state.positions.len() {
            let near = cell.minimum_image(state.positions[i] - state.positions[j]).norm() < CUTOFF;
            count += usize::from(near && !system.topology.exclusions.contains(i as u32, j as u32));
        }
    }
    // Tolerance for the remaining structure of the liquid: g(r) differs from 1 by 1 % in the last 0.1 nm below the
    // cutoff, where 30 % of the pairs are.
    const STRUCTURE: f64 = 0.003;
    let expected = useful_pairs(&system, Some(cell.volume()));
    assert!((expected / count as f64 - 1.0).abs() < STRUCTURE, "{expected} and {count}");
}

#[test]
fn a_system_that_is_not_here_is_named() {
    let problem = Case::find("47k").unwrap().missing(&[PathBuf::from("nowhere")]).unwrap().to_string();
    assert!(problem.contains("inputs/benchmarks/47k/47k.prmtop.xz"), "{problem}");
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("inputs");
    for name in md::bench::NAMES {
        assert_eq!(Case::find(name).unwrap().missing(std::slice::from_ref(&inputs)), None, "{name}");
    }
}

fn md(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::cargo_bin("md").unwrap();
    command.current_dir(folder).env_remove("MD_SIMD").env("NO_COLOR", "1").arg("bench").args(arguments);
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

const STAGE: &str = "[[stage]]\nkind = \"dynamics\"\nsteps = 10\ntimestep = \"2 fs\"\n\
    velocities = \"generate\"\ntemperature = \"300 K\"\n";

/// Tests that a later stage is timed with the velocities of the preceding stage, because the coordinate file has no
/// velocities.
#[test]
fn a_later_stage_is_timed_with_velocities_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let later = STAGE.replace("velocities = \"generate\"\ntemperature = \"300 K\"\n", "name = \"later\"\n");
    let text = format!("{}[forces]\nelectrostatics = \"off\"\n{STAGE}{later}", files("argon"));
    std::fs::write(folder.path().join("input.toml"), text).unwrap();
    let (code, out, err) = md(folder.path(), &["input.toml", "--steps", "2", "--repeats", "1", "--json", "a.json"]);
    assert_eq!(code, Some(0), "{out}{err}");
}

#[test]
fn an_input_file_is_timed_and_compared_and_nothing_else_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{}[forces]\nconstraints = \"h-bonds\"\n{STAGE}", files("water"));
    std::fs::write(folder.path().join("water.toml"), text).unwrap();
    let short = ["water.toml", "--steps", "3", "--repeats", "1", "--threads", "1,2", "--simd", "portable"];
    let first = [&short[..], &["--json", "a.json", "--roofline", "a.svg", "--phases"]].concat();
    let (code, out, err) = md(folder.path(), &first);
    assert_eq!(code, Some(0), "{err}");
    for part in ["ns/day", "too short to measure", "roof %", "of the computed pairs are within the cutoff"] {
        assert!(out.contains(part), "{part} in {out}");
    }
    let path = folder.path().join("a.json");
    let mut report: Report = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(report.rows.iter().map(|row| row.threads).collect::<Vec<_>>(), [1, 2]);
    let row = &report.rows[0];
    assert_eq!((row.steps, row.repeats, row.simd.as_str()), (3, 1, "portable"));
    // 2 fs per step and 86,400 s per day; the tolerance allows for the rounding of a few operations
    assert!((row.ns_per_day.median * row.us_per_step / (2e-6 * 86_400.0 * 1e6) - 1.0).abs() < 1e-12, "{row:?}");
    assert!(
        row.step
            .phases
            .iter()
            .all(|phase| phase.us_per_step == 0.0 || phase.name == "bonded" || phase.work.flops > 0.0)
    );
    let svg = std::fs::read_to_string(folder.path().join("a.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains(">pairs</text>"), "{svg}");

    // pretend that the older program was faster, then slower, by a factor of 10⁹, which no load of the machine causes
    for (factor, expected) in [(1e9, 1), (1e-18, 0)] {
        for row in &mut report.rows {
            let range = &mut row.ns_per_day;
            *range = Range { median: range.median * factor, min: range.min * factor, max: range.max * factor };
        }
        std::fs::write(&path, serde_json::to_vec(&report).unwrap()).unwrap();
        let (code, out, err) = md(folder.path(), &[&short[..], &["--compare", "a.json", "--markdown"]].concat());
        assert_eq!(code, Some(expected), "{out}{err}");
        assert_eq!(err.contains("slower: water.toml, 1 threads, portable, cpu"), expected == 1, "{err}");
        assert!(out.contains("| water.toml |"), "{out}");
    }
    // no row of the older report has two threads, and then none has the system
    report.rows.truncate(1);
    let other = ["water.toml", "--steps", "3", "--repeats", "1", "--threads", "2", "--simd", "portable"];
    for (name, part) in [
        ("water.toml", "2 threads, portable, cpu, and in the older report with 1 threads"),
        ("b", "the older report has no measurement of water.toml with 774 atoms"),
    ] {
        report.rows[0].name = name.to_owned();
        std::fs::write(&path, serde_json::to_vec(&report).unwrap()).unwrap();
        let (code, _, err) = md(folder.path(), &[&other[..], &["--compare", "a.json"]].concat());
        let err = err.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(code == Some(2) && err.contains("nothing can be compared") && err.contains(part), "{code:?} {err}");
    }
    let mut left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a.json", "a.svg", "water.toml"]);
}

/// Tests the forecast of the speed on several ranks: the forecast is the sum of its parts, and an impossible domain
/// decomposition is reported.
#[test]
fn the_speed_on_several_ranks_is_forecast() {
    let mut command = Command::cargo_bin("md").unwrap();
    command.args(["bench", "water-3k", "--threads", "1", "--repeats", "1"]);
    command.args(["--steps", "40", "--ranks", "2,64", "--cores", "4", "--network", "1.5,10"]);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("ranks of 4 cores, each as fast as the measured 1 core, with messages of 1.50 us"), "{text}");
    let row = |ranks: &str| text.lines().find(|line| line.trim_start().starts_with(ranks)).unwrap().to_owned();
    let (_, numbers) = { row("2  ") }.split_once("domains").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let numbers: Vec<f64> = numbers.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [_, _, step, parts @ ..] = &numbers[..] else { panic!("{text}") };
    // the tolerance allows for the rounding of each printed number to a microsecond
    assert!(parts.len() == 4 && (parts.iter().sum::<f64>() - step).abs() <= 2.5, "{text}");
    assert!(row("64 ").contains("cannot be divided among 64 ranks"), "{text}");
}

#[test]
fn the_summary_of_a_run_counts_work_too() {
    let folder = tempfile::tempdir().unwrap();
    let forces = "[forces]\nconstraints = \"h-bonds\"\n[output]\ntrajectory = \"none\"\n";
    std::fs::write(folder.path().join("input.toml"), format!("{}{forces}{STAGE}", files("water"))).unwrap();
    let mut command = Command::cargo_bin("md").unwrap();
    command.current_dir(folder.path()).args(["run", "input.toml", "--quiet", "--threads", "1"]).assert().success();
    let summary = Summary::read(&folder.path().join("out/summary.json")).unwrap();
    let flops = |name: &str| summary.phases.iter().find(|phase| phase.name == name).unwrap().work.unwrap().flops;
    // Each of 774 atoms in 8 nm³ has 145 partners within 0.9 nm, if each pair is counted once. The test assumes at
    // least 6 floating-point operations per pair. The operations of SETTLE for 258 waters are counted exactly by the
    // formula.
    assert!(flops("pairs") > 6.0 * 774.0 * 145.0);
    assert_eq!(flops("constraints"), 320.0 * 258.0);
    let useful = summary.useful_pairs.unwrap();
    assert!(useful > 0.1 && useful < 1.0, "{useful}");
}

#[test]
fn a_system_without_cutoff_survives_its_json() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{}[forces]\ncutoff = \"none\"\n{STAGE}", files("peptide-vacuum"));
    std::fs::write(folder.path().join("vacuum.toml"), text).unwrap();
    let arguments = ["vacuum.toml", "--steps", "2", "--repeats", "1", "--json", "a.json"];
    assert_eq!(md(folder.path(), &arguments).0, Some(0));
    let (code, out, err) = md(folder.path(), &[&arguments[..5], &["--compare", "a.json", "--phases"]].concat());
    assert!(matches!(code, Some(0 | 1)) && out.contains("of 1 rows are slower"), "{code:?} {out}{err}");
}

/// Whether the NVIDIA driver is installed.
fn has_driver() -> bool {
    // SAFETY: opens and closes an NVIDIA library by name, which only the driver installs
    unsafe { libloading::Library::new("libcuda.so.1") }.is_ok()
}

#[test]
fn mistakes_are_input_errors() {
    let folder = tempfile::tempdir().unwrap();
    let topology = folder.path().join("water.prmtop.xz");
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/water/water.prmtop.xz"), &topology)
        .unwrap();
    let still = files("water").replace("topology = ", "topology = \"water.prmtop.xz\" # ");
    std::fs::write(folder.path().join("still.toml"), format!("{still}[forces]\n")).unwrap();
    std::fs::write(folder.path().join("no.json"), "{}").unwrap();
    let cases = [
        (&["dhrf"][..], 2, "did you mean dhfr?"),
        (&["still.toml"], 2, "no stage of dynamics"),
        (&["dhfr", "--compare", "no.json"], 2, "not a report of md bench"),
        (&["dhfr", "--compare", "none.json"], 2, "did you mean no.json?"),
        (&["still.toml", "--json", "still.toml"], 2, "input and output are the same file"),
        (&["still.toml", "--roofline", topology.to_str().unwrap()], 2, "input and output are the same file"),
        (&["dhfr", "--threads", "0"], 2, "--threads"),
        (&["dhfr", "--steps", "0"], 2, "--steps"),
        (&["dhfr", "--device", "cuda:63"], 6, "device cuda:63 cannot be used: "),
        (&["core", "--device", "cuda:63"], 6, if has_driver() { "there is no device cuda:63" } else { "libcuda" }),
        (&["core", "--device", "gpu"], 2, "\"cuda\" or \"cuda:1\""),
    ];
    for (arguments, code, part) in cases {
        let (ended, out, err) = md(folder.path(), arguments);
        assert!(ended == Some(code) && err.contains(part), "{arguments:?}: {ended:?} {out}{err}");
    }
}
