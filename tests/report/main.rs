//! Tests of `md report`: the page of a run has the same numbers as `md analyze` and pandas, and the right verdicts.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[path = "../python/probe.rs"]
mod probe;
#[path = "../program/mod.rs"]
mod program;
mod verdicts;

use std::path::{Path, PathBuf};
use std::process::Command;

use assert_cmd::cargo::CommandCargoExt;
use probe::python_has;
use program::md;

fn system(name: &str) -> (PathBuf, PathBuf) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems").join(name);
    (folder.join(format!("{name}.prmtop.xz")), folder.join(format!("{name}.rst7.xz")))
}

/// Writes an input file for a system of the tests.
fn input(folder: &Path, name: &str, rest: &str) {
    let (topology, coordinates) = system(name);
    let text = format!("[system]\ntopology = {topology:?}\ncoordinates = {coordinates:?}\n{rest}");
    std::fs::write(folder.join("input.toml"), text).unwrap();
}

fn page(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("out/report.html")).unwrap()
}

/// Runs the first command on the page that begins with `beginning`. Returns the mean that the command prints.
fn mean_by_caption(folder: &Path, page: &str, beginning: &str) -> String {
    let begin = page.find(beginning).unwrap_or_else(|| panic!("{beginning}"));
    let command = page[begin..].split("</code>").next().unwrap().replace("&quot;", "\"");
    let words: Vec<&str> = command.split_whitespace().skip(1).chain(["--no-plots", "--force"]).collect();
    let printed = md(folder, &words).unwrap();
    printed.lines().find(|line| line.starts_with("mean")).unwrap().to_owned()
}

/// Settings of a short run of a peptide in water.
const RUN: &str = "[forces]\ncutoff = \"0.8 nm\"\n\
    [output]\ntrajectory = { every = \"0.1 ps\" }\nenergies = { every = \"0.05 ps\" }\n\
    [[stage]]\nname = \"heat\"\nkind = \"dynamics\"\nduration = \"1 ps\"\ntimestep = \"2 fs\"\nvelocities = \"generate\"\n\
    thermostat = { kind = \"v-rescale\", temperature = \"300 K\", coupling_time = \"0.1 ps\" }\n\
    [[stage]]\nname = \"production\"\nkind = \"dynamics\"\nduration = \"3 ps\"\ntimestep = \"2 fs\"\n\
    thermostat = { kind = \"v-rescale\", temperature = \"300 K\", coupling_time = \"0.1 ps\" }\n\
    barostat = { kind = \"c-rescale\", pressure = \"1 bar\", coupling_time = \"1 ps\" }\n";

#[test]
fn numbers_are_those_of_other_programs() {
    let folder = tempfile::tempdir().unwrap();
    input(folder.path(), "peptide-charged", RUN);
    md(folder.path(), &["run", "input.toml"]).unwrap();
    let text = page(folder.path());
    assert!(text.len() < 1_500_000, "{}", text.len());
    // the page loads nothing from the network: links to publications are its only addresses
    for part in text.split("http").skip(1) {
        assert!(part.starts_with("s://doi.org/") || part.starts_with("://www.w3.org/"), "{}", &part[..40]);
    }
    for part in [
        "kept rigid with SETTLE",
        "Bonds to hydrogen were constrained",
        "Ramachandran",
        "structure-data",
        "Bussi et al. 2007",
        "@article{ESSMANN_1995",
    ] {
        assert!(text.contains(part), "{part}");
    }
    // a single residue has no secondary structure, and its only superposed atom does not fluctuate
    assert!(!text.contains("Secondary structure") && !text.contains("Fluctuation of atoms"));
    // the numbers in a figure's caption equal those that its command prints
    let mean = mean_by_caption(folder.path(), &text, "md analyze rmsd ");
    assert!(text.contains(&mean), "{mean}");
    md(folder.path(), &["analyze", "energies", "--stage", "2", "out/energies.csv", "--no-plots"]).unwrap();
    if python_has("pandas") {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/check_report.py");
        let arguments = ["out/report.html", "out/energies.csv", "energies.csv", "2"];
        let check = Command::new("python3").arg(script).args(arguments).current_dir(folder.path()).output().unwrap();
        assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
    }
}

/// Tests the commands in captions for an XTC file. These commands must name the topology, because an XTC file has no
/// atom names.
#[test]
fn captions_of_other_formats_can_be_run() {
    let folder = tempfile::tempdir().unwrap();
    let vacuum = "[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"\n\
                  [output]\ntrajectory = { file = \"trajectory.xtc\", every = \"5 steps\" }\n\
                  [[stage]]\nkind = \"dynamics\"\nsteps = 20\ntimestep = \"1 fs\"\n";
    input(folder.path(), "peptide-vacuum", vacuum);
    md(folder.path(), &["run", "input.toml"]).unwrap();
    let text = page(folder.path());
    let mean = mean_by_caption(folder.path(), &text, "md analyze rg ");
    assert!(text.contains(&mean), "{mean}");
    // the system has no water
    assert!(text.contains("Bonds to hydrogen were constrained") && !text.contains("SETTLE"));
}

/// Tests that a page has the energies of all parts if the second part has more columns than the first part.
#[test]
fn parts_with_other_columns_are_on_one_page() {
    let folder = tempfile::tempdir().unwrap();
    let vacuum = "[run]\nthreads = 1\n[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"\n\
                  [output]\ntrajectory = \"none\"\nenergies = { every = \"5 steps\" }\n";
    let stage = |name: &str, thermostat: &str| {
        format!(
            "[[stage]]\nname = \"{name}\"\nkind = \"dynamics\"\nsteps = 100\ntimestep = \"1 fs\"\n\
             thermostat = {{ temperature = \"300 K\"{thermostat} }}\n"
        )
    };
    let first = format!("{vacuum}{}velocities = \"generate\"\n", stage("first", ""));
    input(folder.path(), "peptide-vacuum", &first);
    md(folder.path(), &["run", "input.toml"]).unwrap();
    let groups = ", groups = { select = \"index 0-9\", temperature = \"310 K\" }";
    input(folder.path(), "peptide-vacuum", &(first + &stage("second", groups)));
    md(folder.path(), &["run", "input.toml", "--no-append"]).unwrap();
    let text = page(folder.path());
    assert!(!text.contains("the columns differ") && text.contains("temperature_"), "the energies are missing");
    for number in ["1", "2"] {
        let parts = ["out/energies.part1.csv", "out/energies.csv"];
        let words = [&["analyze", "energies"], &parts[..], &["--stage", number, "--no-plots", "--force"]].concat();
        let printed = md(folder.path(), &words).unwrap();
        assert!(printed.contains("21 rows"), "{printed}");
        assert_eq!(printed.contains("temperature_"), number == "2", "{printed}");
    }
}

#[test]
fn a_run_in_new_files_has_the_page_of_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let vacuum = "[run]\nthreads = 1\n[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"\n\
                  [output]\ntrajectory = { file = \"trajectory.xtc\", every = \"5 steps\" }\nenergies = { every = \"5 steps\" }\n\
                  [[stage]]\nkind = \"minimize\"\nsteps = 20\n\
                  [[stage]]\nkind = \"dynamics\"\nsteps = 200\ntimestep = \"1 fs\"\nvelocities = \"generate\"\n\
                  temperature = \"300 K\"\n";
    input(folder.path(), "peptide-vacuum", vacuum);
    md(folder.path(), &["run", "input.toml", "--output-dir", "whole"]).unwrap();
    md(folder.path(), &["run", "input.toml", "--steps", "60"]).unwrap();
    for steps in [&["--steps", "130"][..], &[]] {
        md(folder.path(), &[&["run", "input.toml", "--no-append"], steps].concat()).unwrap();
    }
    assert!(folder.path().join("out/energies.part2.csv").exists());
    let pages = ["whole", "out"].map(|name| {
        md(folder.path(), &["report", name]).unwrap();
        std::fs::read_to_string(folder.path().join(name).join("report.html")).unwrap()
    });
    let between =
        |page: &str, begin: &str, end: &str| page.split_once(begin).unwrap().1.split(end).next().unwrap().to_owned();
    let [whole, parts] = pages.each_ref().map(|page| between(page, "The trajectory has ", " frames"));
    assert_eq!((whole.as_str(), parts.as_str()), ("41", "41"));
    let [whole, parts] = pages.each_ref().map(|page| between(page, "Averages of the production stage", "</table>"));
    assert_eq!(whole, parts);
    // a row of a minimisation in the numbers below each of the two pictures for the start and for each step
    let [whole, parts] = pages.each_ref().map(|page| between(page, "id=\"minimisation\"", "</section>"));
    assert_eq!(whole, parts);
    assert!(whole.contains("Energy of the minimisation") && whole.contains("force_tolerance of "), "{whole}");
    // the commands on the page name all parts, and so does the default energy table
    let [whole, parts] = pages.each_ref().map(|page| mean_by_caption(folder.path(), page, "md analyze rg "));
    assert_eq!(whole, parts);
    let mean = |files: &[&str]| {
        let printed = md(folder.path(), &[&["analyze", "energies", "--no-plots", "--force"], files].concat()).unwrap();
        printed.lines().find(|line| line.starts_with("potential")).unwrap().to_owned()
    };
    let whole = mean(&["whole/energies.csv"]);
    let named = ["out/energies.part1.csv", "out/energies.part2.csv", "out/energies.csv"];
    assert_eq!([mean(&named), mean(&["out/trajectory.xtc"])], [whole.clone(), whole.clone()]);
    assert_ne!(mean(&["out/energies.part1.csv"]), whole);
    let separate = ["analyze", "energies", "--force", "out/energies.csv", "out/energies.part1.csv"];
    let (code, message) = md(folder.path(), &separate).unwrap_err();
    assert!(code == 2 && message.contains("in the order of time"), "{message}");
}

#[test]
fn every_ending_has_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let vacuum = "[forces]\ncutoff = \"none\"\nelectrostatics = \"off\"\n[output]\ntrajectory = { every = \"500 steps\" }\n\
                  [[stage]]\nkind = \"dynamics\"\nsteps = 400\ntimestep = \"1 fs\"\n";
    input(folder.path(), "peptide-vacuum", vacuum);
    // the run has only one frame, and too few rows for averages
    md(folder.path(), &["run", "input.toml"]).unwrap();
    let text = page(folder.path());
    assert!(text.contains("There are no averages") && text.contains(">finished<"), "{text}");
    assert!(text.contains("Secondary structure") && text.contains("Fluctuation of atoms"), "{text}");
    assert!(text.contains("Coulomb interactions were left out."), "{text}");
    // the status file simulates a run whose process has disappeared
    let status = folder.path().join("out/status.json");
    let running = std::fs::read_to_string(&status).unwrap().replace("\"finished\"", "\"running\"");
    std::fs::write(&status, running.replace("\"process\": ", "\"process\": 99999")).unwrap();
    std::fs::remove_file(folder.path().join("out/summary.json")).unwrap();
    md(folder.path(), &["report", "out"]).unwrap();
    assert!(page(folder.path()).contains("interrupted: the process disappeared"));
    // a damaged table of energies causes a warning
    std::fs::write(folder.path().join("out/energies.csv"), "nonsense\n").unwrap();
    md(folder.path(), &["report", "out"]).unwrap();
    assert!(page(folder.path()).contains("the file is not an energy table"));
    // the page of a finished run is written again only if it is missing or older than the end of the run
    md(folder.path(), &["run", "input.toml", "--force"]).unwrap();
    std::fs::remove_file(folder.path().join("out/report.html")).unwrap();
    md(folder.path(), &["run", "input.toml"]).unwrap();
    assert!(page(folder.path()).contains(">finished<"));
    std::fs::write(folder.path().join("out/report.html"), "mine").unwrap();
    md(folder.path(), &["run", "input.toml"]).unwrap();
    assert_eq!(page(folder.path()), "mine");
    let (code, message) = md(folder.path(), &["report", "."]).unwrap_err();
    assert!(code == 2 && message.contains("not the output of a run"), "{message}");
}

#[test]
fn a_run_may_end_without_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let vacuum = "[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"\n[output]\nreport = false\n\
                  [[stage]]\nkind = \"dynamics\"\nsteps = 10\ntimestep = \"1 fs\"\n";
    input(folder.path(), "peptide-vacuum", vacuum);
    md(folder.path(), &["run", "input.toml"]).unwrap();
    assert!(!folder.path().join("out/report.html").exists());
    // if the page cannot be written, the run succeeds with a warning
    input(folder.path(), "peptide-vacuum", &vacuum.replace("false", "true").replace("steps = 10", "steps = 20"));
    std::fs::create_dir(folder.path().join("out/report.html")).unwrap();
    let output = Command::cargo_bin("md").unwrap().current_dir(folder.path()).args(["run", "input.toml"]).output();
    let output = output.unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && message.contains("report.html could not be written"), "{message}");
}

#[test]
fn replicas_stand_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let exchange = "[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"\n[output]\ntrajectory = { every = \"100 steps\" }\n\
        [[stage]]\nkind = \"dynamics\"\nsteps = 400\ntimestep = \"1 fs\"\nvelocities = \"generate\"\n\
        thermostat = { kind = \"langevin\", temperature = \"300 K\", friction = \"1 1/ps\" }\n\
        [ensemble]\ntemperature = [\"300 K\", \"310 K\", \"320 K\"]\nexchange = { every = \"20 steps\" }\n";
    input(folder.path(), "peptide-vacuum", exchange);
    md(folder.path(), &["run", "input.toml"]).unwrap();
    let text = page(folder.path());
    for part in ["Moves between states", "Walks of the replicas", "replica-3/report.html", "20 attempts"] {
        assert!(text.contains(part), "{part}");
    }
    assert!(folder.path().join("out/replica-1/report.html").is_file());
}
