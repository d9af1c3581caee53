//! Tests of several trajectories in several formats. Each trajectory has its own name, and is continued, refused or
//! moved aside separately.

use std::fs;

use md::observe::trajectory::h5md::info;
use md::observe::trajectory::{Format, StoredFrame, open};
use md::run::Checkpoint;
use md::vec3::Vec3;

use crate::case::{Case, signal, wait_for};

const NAMES: [&str; 8] =
    ["trajectory.h5md", "oxygens.h5md", "fine.xtc", "all.dcd", "full.trr", "full.nc", "oxygens.pdb", "energies.csv"];
const OUTPUT: &str = "energies = { every = \"20 fs\" }\n\
    trajectory = [{ every = \"60 fs\" }, { file = \"fine.xtc\", every = \"20 fs\", precision = \"0.0001 nm\" }, \
    { file = \"all.dcd\", every = \"30 fs\" }, \
    { file = \"full.trr\", every = \"60 fs\", velocities = true, forces = true }, \
    { file = \"full.nc\", every = \"30 fs\", velocities = true, forces = true }, \
    { file = \"oxygens.pdb\", every = \"20 fs\", select = \"name O\", precision = \"0.001 nm\" }, \
    { file = \"oxygens.h5md\", every = \"60 fs\", select = \"name O\", velocities = true, images = true }]";

fn input(output: &str, duration: &str) -> String {
    format!(
        "[run]\nthreads = 1\n[forces]\ncutoff = \"0.8 nm\"\npme = {{ spacing = \"0.15 nm\" }}\n[output]\n{output}\n\
         [[stage]]\nname = \"a\"\nkind = \"dynamics\"\nduration = \"{duration}\"\ntimestep = \"2 fs\"\n\
         velocities = \"generate\"\nthermostat = {{ temperature = \"300 K\", coupling_time = \"0.1 ps\" }}"
    )
}

fn case() -> Case {
    Case::new("water", &input(OUTPUT, "0.3 ps"))
}

/// Returns the bytes of the files that a run extends, without the identity of the run. An H5MD file is represented by
/// its frames.
fn grown(case: &Case, directory: &str) -> Vec<Vec<u8>> {
    let read = |name: &&str| {
        let path = case.path(directory).join(name);
        let mut bytes = fs::read(&path).unwrap();
        if let Some(id) = Format::of_file(&path).ok().and_then(|format| format.files.run_id(&path)) {
            let at = bytes.windows(id.len()).position(|window| window == id.as_bytes()).unwrap();
            bytes[at..at + id.len()].fill(0);
        }
        bytes
    };
    let frames = |name: &&str| {
        let frames = hdf5::File::open(case.path(directory).join(name)).unwrap();
        let coordinates = frames.dataset("coordinates").unwrap().read_raw::<f32>().unwrap();
        coordinates.iter().flat_map(|value| value.to_le_bytes()).collect()
    };
    NAMES[..2].iter().map(frames).chain(NAMES[2..].iter().map(read)).collect()
}

#[test]
fn a_run_in_pieces_leaves_the_same_bytes_in_every_format() {
    let case = case();
    case.ends_with(0, &["--output-dir", "whole"]);
    let whole = grown(&case, "whole");
    let mut trajectory = open(&case.path("whole/fine.xtc")).unwrap();
    assert_eq!((trajectory.frames(), trajectory.atoms()), (16, 774));
    assert_eq!(open(&case.path("whole/all.dcd")).unwrap().frames(), 11);
    for (name, parts) in
        [("fine.xtc", ["XTC", "16, ", "positions to 0.0001 nm, cell"]), ("all.dcd", ["DCD", "11, ", "32 bits, cell"])]
    {
        let path = case.path("whole").join(name);
        let found = Format::of_file(&path).unwrap().files.describe(&path).unwrap();
        let text = format!("{} {:?}", found.title, found.lines);
        assert!(parts.iter().all(|part| text.contains(part)) && text.contains("step 150, 0.3 ps"), "{text}");
    }
    // all files hold the same states: H5MD, TRR in f32, XTC rounded to 0.0001 nm, DCD and NetCDF in f32 of Å
    let mut frame = StoredFrame::default();
    trajectory.read(15, &mut frame).unwrap();
    for (name, index, tolerance) in [
        ("trajectory.h5md", 5, 0.5e-4 + 1e-6),
        ("all.dcd", 10, 0.5e-4 + 1e-6),
        ("full.trr", 5, 0.5e-4 + 1e-6),
        ("full.nc", 10, 0.5e-4 + 1e-6),
    ] {
        let mut other = StoredFrame::default();
        open(&case.path("whole").join(name)).unwrap().read(index, &mut other).unwrap();
        assert_eq!((other.step, frame.step), (150, 150));
        assert!((other.time - frame.time).abs() < 1e-6, "{name}");
        let away = |(a, b): (&md::vec3::Vec3, &md::vec3::Vec3)| (*a - *b).to_array().map(f64::abs);
        let farthest = frame.positions.iter().zip(&other.positions).flat_map(away).fold(0.0, f64::max);
        assert!(farthest < tolerance, "{name}: {farthest}");
    }
    selections_are_those_of_the_system(&case);
    for steps in ["1", "37", "60", "113"] {
        case.ends_with(0, &["--steps", steps]);
    }
    case.ends_with(0, &[]);
    assert!(grown(&case, "out") == whole);
    let messages = case.ends_with(0, &[]);
    assert!(messages.contains("already finished"), "{messages}");
    let written = Checkpoint::read(&case.path("out/checkpoint.md")).unwrap().unwrap().body.written;
    let counts: Vec<(&str, u64)> = written.iter().map(|(name, mark)| (name.as_str(), mark.extent.count)).collect();
    let expected = [("all.dcd", 11), ("energies.csv", 16), ("fine.xtc", 16), ("full.nc", 11), ("full.trr", 6)];
    assert_eq!(counts[..5], expected);
    assert_eq!(counts[5..], [("oxygens.h5md", 6), ("oxygens.pdb", 16), ("trajectory.h5md", 6)]);
    // neither the formats nor the number of trajectories change the run
    case.rewrite("water", &input("trajectory = \"none\"", "0.3 ps"));
    case.ends_with(0, &["--output-dir", "none"]);
    assert_eq!(case.summary("none").final_state_hash, case.summary("whole").final_state_hash);
}

/// Checks trajectories of selected atoms: oxygens have the same positions as in the file with all atoms, and velocities
/// and forces are the same in all files.
fn selections_are_those_of_the_system(case: &Case) {
    let read = |name: &str, index: usize| {
        let mut frame = StoredFrame::default();
        open(&case.path("whole").join(name)).unwrap().read(index, &mut frame).unwrap();
        frame
    };
    let (all, other) = (read("full.trr", 5), read("full.nc", 10));
    let scale = |values: &[Vec3]| values.iter().map(|v| v.norm()).fold(0.0, f64::max);
    for (a, b) in [(&all.velocities, &other.velocities), (&all.forces, &other.forces)] {
        let largest = scale(a);
        assert!(a.len() == 774 && largest > 0.1);
        assert!(a.iter().zip(b).all(|(a, b)| (*a - *b).norm() < 1e-6 * largest));
    }
    let (oxygens, models) = (read("oxygens.h5md", 5), read("oxygens.pdb", 15));
    assert_eq!((oxygens.positions.len(), models.positions.len(), oxygens.velocities.len()), (258, 258, 258));
    for (index, atom) in (0..774).step_by(3).enumerate() {
        assert!((oxygens.positions[index] - all.positions[atom]).norm() < 1e-6);
        assert!((models.positions[index] - all.positions[atom]).norm() < 1e-4);
        assert!((oxygens.velocities[index] - all.velocities[atom]).norm() < 1e-6);
    }
    let topology = open(&case.path("whole/oxygens.h5md")).unwrap().topology().cloned().unwrap();
    assert!(topology.atoms.iter().all(|atom| atom.element == 8 && (atom.mass - 16.0).abs() < 0.01));
    assert_eq!((topology.residues.len(), topology.connectivity.len()), (258, 0));
}

#[test]
fn stages_write_at_their_own_intervals_into_the_same_files() {
    let stage = |name: &str, output: &str| {
        format!(
            "[[stage]]\nname = \"{name}\"\nkind = \"dynamics\"\nsteps = 20\ntimestep = \"2 fs\"\n{output}\n\
             thermostat = {{ temperature = \"300 K\", coupling_time = \"0.1 ps\" }}\n"
        )
    };
    let trajectories = "[{ every = \"8 fs\" }, { file = \"even.dcd\", every = \"20 fs\" }]";
    let input = |outputs: [&str; 3]| {
        let [a, b, c] = outputs;
        let stages = [stage("a", &format!("velocities = \"generate\"\n{a}")), stage("b", b), stage("c", c)].concat();
        let head = "[run]\nthreads = 1\n[forces]\ncutoff = \"0.8 nm\"\npme = { spacing = \"0.15 nm\" }\n";
        format!("{head}[output]\nenergies = {{ every = \"20 fs\" }}\ntrajectory = {trajectories}\n{stages}")
    };
    let quiet = "output = { trajectory = \"none\", energies = { every = \"40 fs\" } }";
    let coarse = "output = { trajectory = { file = \"trajectory.h5md\", every = \"40 fs\" }, energies = \"none\" }";
    let case = Case::new("water", &input([quiet, "", coarse]));
    case.ends_with(0, &["--output-dir", "whole"]);
    let steps = |directory: &str, name: &str| {
        let mut trajectory = open(&case.path(directory).join(name)).unwrap();
        let (mut frame, frames) = (StoredFrame::default(), trajectory.frames());
        let step = |index| trajectory.read(index, &mut frame).map(|()| frame.step).unwrap();
        (0..frames).map(step).collect::<Vec<_>>()
    };
    let rows = |directory: &str| case.column(directory, "step").iter().map(|step| *step as u64).collect::<Vec<_>>();
    assert_eq!(steps("whole", "trajectory.h5md"), [20, 24, 28, 32, 36, 40, 60]);
    assert_eq!(open(&case.path("whole/even.dcd")).unwrap().frames(), 2 + 3);
    // the row at the end of stage b is written, because stage c writes no rows
    assert_eq!(rows("whole"), [0, 20, 30, 40]);
    let averages = &case.summary("whole").stages;
    assert_eq!((averages[0].averages.is_empty(), averages[2].averages.is_empty()), (false, true));
    // a run in pieces gives the same files, and the run does not depend on its output
    for steps in ["7", "13"] {
        case.ends_with(0, &["--steps", steps, "--output-dir", "pieces"]);
    }
    case.rewrite("water", &input(["", "", ""]));
    case.ends_with(0, &["--output-dir", "all"]);
    assert_eq!(case.summary("all").final_state_hash, case.summary("whole").final_state_hash);
    assert_eq!(rows("all").len(), 3 * 2 + 1);
}

#[test]
fn temperature_groups_have_columns_in_table_and_frames() {
    let stage = |name: &str, rest: &str| {
        format!("[[stage]]\nname = \"{name}\"\nkind = \"dynamics\"\nsteps = 20\ntimestep = \"2 fs\"\n{rest}\n")
    };
    let groups =
        "thermostat = { temperature = \"300 K\", groups = [{ select = \"resid 1-86\", temperature = \"350 K\" }] }";
    let head = "[run]\nthreads = 1\n[forces]\ncutoff = \"0.8 nm\"\npme = { spacing = \"0.15 nm\" }\n\
        [output]\nenergies = { every = \"20 fs\" }\ntrajectory = { every = \"20 fs\" }\n";
    let bare = format!("{head}{}", stage("a", "velocities = \"generate\"\ntemperature = \"300 K\""));
    let both = format!("{bare}{}", stage("b", groups));
    let case = Case::new("water", &both);
    case.ends_with(0, &[]);
    let column = |name: &str| case.column("out", name);
    let [all, rest, group] = ["", "_rest", "_resid_1_86"].map(|name| column(&format!("temperature{name} (K)")));
    // the rows are at steps 0 and 10 of the first stage, which has no temperature groups, and at steps 0, 10 and 20 of
    // the second stage
    assert!(rest[..2].iter().chain(&group[..2]).all(|value| value.is_nan()));
    for row in 2..5 {
        // the group has a third of the molecules and of the degrees of freedom
        let mean = (2.0 * rest[row] + group[row]) / 3.0;
        assert!((mean / all[row] - 1.0).abs() < 1e-8, "{mean} of {}", all[row]);
        assert!((rest[row] - group[row]).abs() > 1e-3);
    }
    let file = hdf5::File::open(case.path("out/trajectory.h5md")).unwrap();
    for (name, column) in [("rest", &rest), ("resid_1_86", &group)] {
        let values = file.dataset(&format!("observables/temperature_{name}/value")).unwrap().read_raw::<f64>().unwrap();
        assert_eq!(values.len(), 5);
        let same = |(a, b): (&f64, &f64)| a.is_nan() && b.is_nan() || (a - b).abs() < 1e-6;
        assert!(values.iter().zip(column).all(same), "{values:?} {column:?}");
    }
    let averages: Vec<String> =
        case.summary("out").stages.iter().flat_map(|stage| &stage.averages).map(|a| a.name.clone()).collect();
    assert_eq!(averages.iter().filter(|name| *name == "temperature_rest").count(), 1);
    // files that were begun without temperature groups cannot get such groups later
    for (energies, file) in [("{ every = \"20 fs\" }", "energies.csv"), ("\"none\"", "trajectory.h5md")] {
        let with = |input: &str| input.replace("energies = { every = \"20 fs\" }", &format!("energies = {energies}"));
        let directory = format!("later-{file}");
        case.rewrite("water", &with(&bare));
        case.ends_with(0, &["--output-dir", &directory]);
        case.rewrite("water", &with(&both));
        let messages = case.ends_with(2, &["--output-dir", &directory]);
        assert!(messages.contains(file) && messages.contains("--no-append"), "{messages}");
    }
}

#[test]
fn a_killed_run_goes_on_in_every_file() {
    let case = Case::new("water", &input(OUTPUT, "1.2 ps"));
    case.ends_with(0, &["--output-dir", "whole"]);
    for frames in [1, 9, 30] {
        let mut child = case.start(&[]);
        let size = || fs::metadata(case.path("out/fine.xtc")).map_or(0, |found| found.len());
        let enough = frames * 3000;
        wait_for("frames", || size() > enough || child.try_wait().unwrap().is_some());
        signal(&child, "KILL");
        child.wait().unwrap();
    }
    case.ends_with(0, &[]);
    assert!(grown(&case, "out") == grown(&case, "whole"));
}

#[test]
fn every_file_is_checked_by_its_name() {
    let case = case();
    case.ends_with(0, &["--steps", "70"]);
    let good = case.contents("out");
    let restore = || good.iter().for_each(|(name, bytes)| fs::write(case.path("out").join(name), bytes).unwrap());
    for name in ["fine.xtc", "all.dcd", "full.trr", "full.nc", "oxygens.pdb"] {
        let path = case.path("out").join(name);
        let bytes = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let messages = case.ends_with(2, &[]);
        assert!(messages.contains(name) && messages.contains("this file is missing"), "{messages}");
        let mut changed = bytes.clone();
        let middle = bytes.len() / 2;
        changed[middle] ^= 1;
        fs::write(&path, &changed).unwrap();
        let before = case.contents("out");
        let messages = case.ends_with(2, &[]);
        assert!(messages.contains(name), "{messages}");
        for other in NAMES {
            assert!(
                case.contents("out")[other.as_ref() as &std::path::Path] == before[other.as_ref() as &std::path::Path]
            );
        }
        restore();
    }
    // files of another run are detected: XTC by its frames, DCD by its title
    case.ends_with(0, &["--output-dir", "other", "--seed", "9"]);
    fs::copy(case.path("other/all.dcd"), case.path("out/all.dcd")).unwrap();
    assert!(case.ends_with(2, &[]).contains("all.dcd"));
    restore();
    case.ends_with(0, &[]);
    // damage is also detected after the end of the run
    let mut bytes = fs::read(case.path("out/fine.xtc")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(case.path("out/fine.xtc"), bytes).unwrap();
    assert!(case.ends_with(2, &[]).contains("fine.xtc"));
}

#[test]
fn outputs_come_and_go_by_name() {
    let case = case();
    case.ends_with(0, &["--steps", "60"]);
    let counts = |name: &str| open(&case.path("out").join(name)).unwrap().frames();
    assert_eq!(counts("fine.xtc"), 7);
    // a file that is no longer requested stays, and is continued when it is requested again
    case.rewrite("water", &input("trajectory = \"none\"\nenergies = \"none\"", "0.3 ps"));
    case.ends_with(0, &["--steps", "90"]);
    assert_eq!(counts("fine.xtc"), 7);
    case.rewrite("water", &input(OUTPUT, "0.3 ps"));
    case.ends_with(0, &["--steps", "100"]);
    assert_eq!(counts("fine.xtc"), 9);
    // a second trajectory is added to a run that has already begun
    let more = OUTPUT.replace("trajectory = [", "trajectory = [{ file = \"late.dcd\", every = \"20 fs\" }, ");
    case.rewrite("water", &input(&more, "0.3 ps"));
    case.ends_with(0, &["--steps", "120"]);
    let mut frame = StoredFrame::default();
    open(&case.path("out/late.dcd")).unwrap().read(0, &mut frame).unwrap();
    assert_eq!((frame.step, counts("late.dcd")), (100, 3));
    // settings that differ from those of an existing file are refused
    let other = more.replace("\"0.0001 nm\"", "\"0.001 nm\"");
    case.rewrite("water", &input(&other, "0.3 ps"));
    let messages = case.ends_with(2, &[]);
    assert!(
        messages.contains("fine.xtc") && messages.contains("the settings of an existing trajectory cannot change"),
        "{messages}"
    );
    // other atoms are refused even if their number is the same
    let hydrogens = more.replace("\"name O\", precision", "\"name H1\", precision");
    case.rewrite("water", &input(&hydrogens, "0.3 ps"));
    let messages = case.ends_with(2, &[]);
    assert!(messages.contains("select of oxygens.pdb: name O -> name H1"), "{messages}");
    case.rewrite("water", &input(&other, "0.3 ps"));
    case.ends_with(0, &["--no-append"]);
    for name in ["fine.part1.xtc", "all.part1.dcd", "late.part1.dcd", "trajectory.part1.h5md", "energies.part1.csv"] {
        assert!(case.path("out").join(name).exists(), "{name}");
    }
    open(&case.path("out/fine.xtc")).unwrap().read(0, &mut frame).unwrap();
    assert_eq!((frame.step, counts("fine.xtc"), counts("fine.part1.xtc")), (120, 4, 11));
    // --force moves the whole folder aside, and a file at its place prevents a run from starting
    case.ends_with(0, &["--force"]);
    assert!(case.path("out.bak1/fine.part1.xtc").exists());
    fs::create_dir(case.path("used")).unwrap();
    fs::copy(case.path("out/fine.xtc"), case.path("used/fine.xtc")).unwrap();
    let messages = case.ends_with(2, &["--output-dir", "used"]);
    assert!(messages.contains("this directory contains output"), "{messages}");
}

#[test]
fn image_flags_are_kept_in_h5md_and_refused_elsewhere() {
    let case = case();
    case.rewrite("water", &input("trajectory = { every = \"20 fs\", images = true }", "0.3 ps"));
    case.ends_with(0, &["--steps", "20"]);
    // a run that continues also stores images
    case.ends_with(0, &["--steps", "40"]);
    let found = info(&case.path("out/trajectory.h5md")).unwrap();
    assert!(found.fields.image && found.frames == 5, "{found:?}");
    let xtc = "trajectory = { file = \"images.xtc\", every = \"20 fs\", images = true }";
    case.rewrite("water", &input(xtc, "0.3 ps"));
    let messages = case.ends_with(2, &["--force"]);
    assert!(messages.contains("XTC files cannot store images"), "{messages}");
}
