//! Tests that a run, before it continues or reports that it has finished, verifies that every file belongs to the run
//! and is complete.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use md::observe::status::Status;
use md::observe::trajectory::h5md::{TrajectoryWriter, info};
use md::run::Checkpoint;

use crate::case::{Case, assert_same};

const OUTPUT: &str = "energies = { every = \"20 fs\" }\ntrajectory = { every = \"60 fs\", velocities = true }";

fn input(output: &str) -> String {
    format!(
        "[run]\nthreads = 1\n[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"\n[output]\n{output}\n[[stage]]\n\
         name = \"a\"\nkind = \"dynamics\"\nduration = \"0.3 ps\"\ntimestep = \"2 fs\"\nvelocities = \"generate\"\n\
         thermostat = {{ temperature = \"300 K\", coupling_time = \"0.1 ps\" }}"
    )
}

fn case() -> Case {
    Case::new("peptide-vacuum", &input(OUTPUT))
}

/// Restores the original contents of every file.
fn restore(case: &Case, files: &BTreeMap<PathBuf, Vec<u8>>) {
    files.iter().for_each(|(name, bytes)| fs::write(case.path("out").join(name), bytes).unwrap());
}

fn checkpoint(case: &Case) -> Checkpoint {
    Checkpoint::read(&case.path("out/checkpoint.md")).unwrap().unwrap().body
}

/// Action that damages a file.
type Damage<'a> = Box<dyn Fn() + 'a>;

/// Returns changes that a user may make to files that a run extends, each with the expected message.
fn damages(case: &Case) -> [(&'static str, Damage<'_>); 6] {
    let (energies, trajectory) = (case.path("out/energies.csv"), case.path("out/trajectory.h5md"));
    let text = fs::read_to_string(&energies).unwrap();
    let row = text.lines().nth(2).unwrap().to_owned();
    let cut: String = text.lines().take(2).map(|line| format!("{line}\n")).collect();
    let edited = text.replacen(&row, &row.replace(",1,", ",1,1"), 1);
    assert_ne!(text, edited);
    case.ends_with(0, &["--output-dir", "other"]);
    let (first, second, third, fourth) = (energies.clone(), energies.clone(), energies, trajectory.clone());
    let other = case.path("other/trajectory.h5md");
    [
        (
            "the table has 1 rows, but the checkpoint was written after",
            Box::new(move || fs::write(&first, &cut).unwrap()),
        ),
        (
            "rows differ from the rows at the time of the checkpoint",
            Box::new(move || fs::write(&second, &edited).unwrap()),
        ),
        ("energies.csv: this file is missing", Box::new(move || fs::remove_file(&third).unwrap())),
        ("trajectory.h5md: this file is missing", Box::new(move || fs::remove_file(&fourth).unwrap())),
        ("belongs to another run", {
            let trajectory = trajectory.clone();
            Box::new(move || assert!(fs::copy(&other, &trajectory).unwrap() > 0))
        }),
        ("trajectory.h5md", Box::new(move || fs::write(&trajectory, b"no trajectory").unwrap())),
    ]
}

#[test]
fn a_run_that_goes_on_refuses_files_that_are_not_as_it_left_them() {
    let case = case();
    case.ends_with(0, &["--steps", "70"]);
    let good = case.contents("out");
    for (expected, damage) in damages(&case) {
        restore(&case, &good);
        damage();
        let before = case.contents("out");
        let messages = case.ends_with(2, &[]);
        assert!(messages.contains(expected), "{expected}: {messages}");
        // all files are unchanged except for the log
        let same =
            |(name, bytes): (&PathBuf, &Vec<u8>)| name == Path::new("run.log") || before.get(name) == Some(bytes);
        assert!(case.contents("out").iter().all(same), "{expected}: something was written");
    }
    restore(&case, &good);
    case.ends_with(0, &[]);
    assert_same(&case.record("other"), &case.record("out"));
}

#[test]
fn a_finished_run_checks_every_file_before_it_says_so() {
    let case = case();
    case.ends_with(0, &[]);
    let good = case.contents("out");
    let record = case.record("out");
    // result files that the run can write again are restored
    for name in ["final.rst7", "final.pdb", "summary.json", "status.json"] {
        fs::remove_file(case.path("out").join(name)).unwrap();
        let messages = case.ends_with(0, &[]);
        assert!(!messages.contains("already finished"), "{name}: {messages}");
        assert_same(&record, &case.record("out"));
        for name in ["final.rst7", "final.pdb"] {
            assert!(case.contents("out")[Path::new(name)] == good[Path::new(name)], "{name}");
        }
    }
    // changes to files that the run cannot write again are refused
    for (expected, damage) in damages(&case) {
        restore(&case, &good);
        damage();
        let messages = case.ends_with(2, &[]);
        assert!(messages.contains(expected), "{expected}: {messages}");
    }
    restore(&case, &good);
    fs::write(case.path("out/final.pdb"), "END\n").unwrap();
    let messages = case.ends_with(2, &[]);
    assert!(messages.contains("changed after the run had finished"), "{messages}");
    restore(&case, &good);
    let messages = case.ends_with(0, &[]);
    assert!(messages.contains("already finished"), "{messages}");
}

/// Tests a trajectory that was left open by a kill between the writing of the summary and the end of the run, as with
/// an older version of md.
#[test]
fn a_trajectory_left_open_behind_a_summary_is_completed() {
    let case = case();
    case.ends_with(0, &[]);
    let record = case.record("out");
    let path = case.path("out/trajectory.h5md");
    let writer = TrajectoryWriter::append(&path, Some(checkpoint(&case).written["trajectory.h5md"].extent)).unwrap();
    fs::copy(&path, case.path("open.h5md")).unwrap();
    drop(writer);
    fs::rename(case.path("open.h5md"), &path).unwrap();
    assert!(!info(&path).unwrap().closed);
    case.ends_with(0, &[]);
    assert!(info(&path).unwrap().closed);
    assert_same(&record, &case.record("out"));
}

#[test]
fn one_identity_in_every_file() {
    let (a, b) = (case(), case());
    let identity = |case: &Case| {
        let id = checkpoint(case).run_id;
        assert!(id.len() == 32 && id.bytes().all(|digit| digit.is_ascii_hexdigit()), "{id}");
        assert_eq!(case.summary("out").run_id, id);
        assert_eq!(Status::read(&case.path("out/status.json")).unwrap().run_id, id);
        assert_eq!(info(&case.path("out/trajectory.h5md")).unwrap().run_id, id);
        id
    };
    a.ends_with(0, &["--steps", "40"]);
    b.ends_with(0, &["--steps", "40"]);
    let first = identity(&a);
    assert_ne!(first, identity(&b));
    a.ends_with(0, &[]);
    assert_eq!(identity(&a), first);
    a.ends_with(0, &["--force"]);
    assert_ne!(identity(&a), first);
}

#[test]
fn changed_output_is_honoured_or_refused() {
    let case = case();
    case.ends_with(0, &["--steps", "30"]);
    let frames = |name: &str| info(&case.path("out").join(name)).unwrap();
    assert_eq!(frames("trajectory.h5md").frames, 2);
    // if an output is switched off, its files stay, and the output continues these files when it is switched on again
    case.rewrite("peptide-vacuum", &input("energies = \"none\"\ntrajectory = \"none\""));
    case.ends_with(0, &["--steps", "90"]);
    assert!(frames("trajectory.h5md").closed && frames("trajectory.h5md").frames == 2);
    assert_eq!(case.rows("out"), 4);
    case.rewrite("peptide-vacuum", &input(&OUTPUT.replace("\"20 fs\"", "\"10 fs\"")));
    case.ends_with(0, &["--steps", "100"]);
    assert_eq!(case.column("out", "step"), [0.0, 10.0, 20.0, 30.0, 90.0, 95.0, 100.0]);
    assert_eq!(frames("trajectory.h5md").last.unwrap().0, 90);
    // data that an existing file cannot store are refused, or are written to a new file on request
    case.rewrite("peptide-vacuum", &input(&OUTPUT.replace("velocities = true", "velocities = false")));
    let before = case.contents("out");
    let messages = case.ends_with(2, &[]);
    assert!(
        messages.contains("the settings of an existing trajectory cannot change") && messages.contains("--no-append"),
        "{messages}"
    );
    assert!(case.contents("out").keys().eq(before.keys()));
    case.ends_with(0, &["--no-append"]);
    let (old, new) = (frames("trajectory.part1.h5md"), frames("trajectory.h5md"));
    assert_eq!((old.frames, old.fields.velocities, new.fields.velocities), (3, true, false));
    assert_eq!((new.first.unwrap().0, new.last.unwrap().0), (120, 150));
    case.ends_with(0, &["--output-dir", "whole"]);
    assert!(case.state("out") == case.state("whole"));
    // a missing file is reported even if no more frames are written
    fs::remove_file(case.path("out/trajectory.h5md")).unwrap();
    case.rewrite("peptide-vacuum", &input("trajectory = \"none\""));
    let messages = case.ends_with(0, &[]);
    assert!(messages.contains("trajectory.h5md is missing"), "{messages}");
}

/// Multiplies the first value of a section of an AMBER topology by `factor`.
fn with_first(text: &str, section: &str, factor: f64) -> String {
    let flag = text.find(&format!("%FLAG {section}\n")).unwrap();
    let start = flag + text[flag..].match_indices('\n').nth(1).unwrap().0 + 1;
    let value: f64 = text[start..start + 16].trim().parse().unwrap();
    format!("{}{:16.8E}{}", &text[..start], value * factor, &text[start + 16..])
}

#[test]
fn another_force_field_is_refused_and_named() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/peptide-vacuum");
    let case = case();
    let (topology, start) = (case.path("p.prmtop"), folder.join("peptide-vacuum.rst7.xz"));
    let good = String::from_utf8(md::format::read(&folder.join("peptide-vacuum.prmtop.xz")).unwrap()).unwrap();
    fs::write(&topology, &good).unwrap();
    // a change of any energy term of the topology is detected
    let flexible = input(OUTPUT).replace("[output]", "constraints = \"none\"\n[output]");
    case.write_input(&topology, &start, &flexible.replace("\"2 fs\"", "\"1 fs\""));
    case.ends_with(0, &["--steps", "40"]);
    for (section, part) in [
        ("BOND_FORCE_CONSTANT", "bonds: parameters differ"),
        ("ANGLE_EQUIL_VALUE", "angles: parameters differ"),
        ("DIHEDRAL_FORCE_CONSTANT", "torsions: parameters differ"),
        ("LENNARD_JONES_ACOEF", "Lennard-Jones parameters: C12 differ"),
        ("CHARGE", "atoms: charges differ"),
    ] {
        fs::write(&topology, with_first(&good, section, 1.01)).unwrap();
        let messages = case.ends_with(2, &[]);
        assert!(messages.contains(part) && messages.contains("--force"), "{section}: {messages}");
    }
    fs::write(&topology, &good).unwrap();
    case.ends_with(0, &[]);
}
