//! Tests of the output directory: existing files are safe, and the contents of files can be read.

use std::path::Path;
use std::process::Command;

use crate::case::{Case, assert_same};
use crate::probe::python_has;

const VACUUM: &str = "[run]\nthreads = 1\n[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"\n\
    [output]\nenergies = { every = \"20 fs\" }\ntrajectory = { every = \"60 fs\", velocities = true }";

fn stage(name: &str, duration: &str) -> String {
    format!(
        "\n[[stage]]\nname = \"{name}\"\nkind = \"dynamics\"\nduration = \"{duration}\"\ntimestep = \"2 fs\"\n\
         velocities = \"generate\"\nthermostat = {{ temperature = \"300 K\", coupling_time = \"0.1 ps\" }}"
    )
}

fn case() -> Case {
    Case::new("peptide-vacuum", &(VACUUM.to_owned() + &stage("a", "0.3 ps")))
}

#[test]
fn a_finished_run_is_left_alone_and_moved_aside_when_forced() {
    let case = case();
    case.ends_with(0, &[]);
    let first = case.contents("out");
    assert!(case.summary("out").ns_per_day.is_some_and(|speed| speed > 0.0));
    for arguments in [&[][..], &["--steps", "100"], &["--max-hours", "1e-9"]] {
        let messages = case.ends_with(0, arguments);
        assert!(messages.contains("already finished"), "{messages}");
        assert!(case.contents("out") == first, "{arguments:?} touched a finished run");
    }
    let record = case.record("out");
    for aside in ["out.bak1", "out.bak2"] {
        case.ends_with(0, &["--force"]);
        assert_same(&record, &case.record("out"));
        assert_same(&record, &case.record(aside));
    }
    assert!(case.contents("out.bak1") == first);
    // a result file that was deleted is written again
    std::fs::remove_file(case.path("out/final.pdb")).unwrap();
    case.ends_with(0, &[]);
    assert!(case.contents("out")[Path::new("final.pdb")] == first[Path::new("final.pdb")]);
    assert_same(&record, &case.record("out"));
}

/// Tests pipes and devices with the name of an output file. A run would block on a pipe, and fill a device without end.
#[test]
fn pipes_and_devices_in_the_output_folder_are_refused() {
    // a pipe or device with the name of a temporary file of the run is removed
    for name in ["run.log", ".md.lock", ".status.json.tmp", ".checkpoint.md.tmp", ".effective.toml.tmp"] {
        for device in [false, true] {
            let (code, expected) = match (name.ends_with(".tmp"), device) {
                (true, _) => (0, "finished"),
                (false, true) => (2, "symbolic link"),
                (false, false) => (5, "not a regular file"),
            };
            let case = case();
            std::fs::create_dir(case.path("out")).unwrap();
            let path = case.path("out").join(name);
            if device {
                std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
            } else {
                assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
            }
            let messages = case.ends_with(code, &[]);
            assert!((code == 0 || messages.contains(name)) && messages.contains(expected), "{name}: {messages}");
        }
    }
}

#[test]
fn longer_stages_and_new_ones_continue() {
    let (long, short) = (case(), case());
    let stages = stage("a", "0.5 ps") + &stage("b", "0.1 ps");
    let rewrite = |case: &Case, stages: &str| case.rewrite("peptide-vacuum", &(VACUUM.to_owned() + stages));
    rewrite(&long, &stages);
    long.ends_with(0, &[]);
    short.ends_with(0, &[]);
    rewrite(&short, &stage("a", "0.5 ps"));
    short.ends_with(0, &[]);
    rewrite(&short, &stages);
    short.ends_with(0, &[]);
    // in the run in which stage a was the last stage, stage a also wrote a row at its last step
    let rows = |case: &Case| case.record("out").energies.lines().filter(|l| !l.starts_with("250,0.500000,1")).count();
    assert_eq!(rows(&long), rows(&short));
    assert_eq!(
        (long.record("out").hash, long.record("out").times),
        (short.record("out").hash, short.record("out").times)
    );
    let before = short.contents("out");
    rewrite(&short, &(stage("a", "0.6 ps") + &stage("b", "0.1 ps")));
    let messages = short.ends_with(2, &[]);
    assert!(messages.contains("stage.a.steps: 250 -> 300, but this stage is already finished"), "{messages}");
    assert!(short.contents("out") == before);
    rewrite(&short, &(stage("a", "0.5 ps") + &stage("new", "0.1 ps") + &stage("b", "0.1 ps")));
    let messages = short.ends_with(2, &[]);
    assert!(messages.contains("other settings: stage \"new\" was added before stage \"b\" help:"), "{messages}");
}

#[test]
fn other_physics_is_refused_and_other_output_is_not() {
    let case = case();
    case.ends_with(0, &["--steps", "70"]);
    let before = case.contents("out");
    let input = std::fs::read_to_string(case.path("input.toml")).unwrap();
    let write = |from: &str, to: &str| {
        assert!(input.contains(from), "{from}");
        std::fs::write(case.path("input.toml"), input.replace(from, to)).unwrap();
    };
    for (from, to, part) in [
        ("\"300 K\"", "\"310 K\"", "stage.a.thermostat.temperature: \"300 K\" -> \"310 K\""),
        ("\"2 fs\"", "\"1 fs\"", "stage.a.timestep: \"2 fs\" -> \"1 fs\""),
        ("threads = 1", "threads = 1\nseed = 9", "run.seed: "),
    ] {
        write(from, to);
        let messages = case.ends_with(2, &[]);
        assert!(messages.contains(part) && messages.contains("--force"), "{messages}");
        assert!(case.contents("out") == before);
    }
    write("\"60 fs\"", "\"30 fs\"");
    case.ends_with(0, &[]);
    let other = case.summary("out").final_state_hash;
    write("\"2 fs\"", "\"2 fs\"");
    case.ends_with(0, &["--output-dir", "whole"]);
    assert_eq!(other, case.summary("whole").final_state_hash);
}

#[test]
fn output_without_a_checkpoint_is_not_touched() {
    let case = case();
    case.ends_with(0, &[]);
    for name in ["checkpoint.md", "checkpoint.prev.md"] {
        std::fs::remove_file(case.path("out").join(name)).unwrap();
    }
    let before = case.contents("out");
    let messages = case.ends_with(2, &[]);
    assert!(messages.contains("no checkpoint to continue from"), "{messages}");
    assert!(case.contents("out") == before);
    case.ends_with(0, &["--force"]);
    assert!(case.contents("out.bak1") == before);
}

#[test]
fn a_damaged_checkpoint_leads_back_to_the_one_before_or_stops() {
    let (case, whole) = (case(), case());
    whole.ends_with(0, &[]);
    for steps in ["40", "80"] {
        case.ends_with(0, &["--steps", steps]);
    }
    std::fs::write(case.path("out/checkpoint.md"), b"MDCHECKP?").unwrap();
    let messages = case.ends_with(0, &[]);
    assert!(messages.contains("is used instead"), "{messages}");
    assert_same(&whole.record("out"), &case.record("out"));
    // only the checkpoint of the start is left, but output of later steps exists and must not be overwritten
    case.ends_with(0, &["--steps", "40", "--output-dir", "early"]);
    std::fs::write(case.path("early/checkpoint.md"), b"MDCHECKP?").unwrap();
    let before = case.contents("early");
    case.ends_with(2, &["--output-dir", "early"]);
    assert!(case.contents("early") == before);
}

#[test]
fn one_process_per_directory() {
    let case = case();
    case.ends_with(0, &["--steps", "20"]);
    let lock = md::observe::lock::OutputLock::acquire(&case.path("out")).unwrap();
    let before = case.contents("out");
    for arguments in [&[][..], &["--force"]] {
        let messages = case.ends_with(2, arguments);
        assert!(messages.contains(&format!("in use by process {}", std::process::id())), "{messages}");
    }
    assert!(case.contents("out") == before && !case.path("out.bak1").exists());
    drop(lock);
    case.ends_with(0, &[]);
}

#[test]
fn a_folder_that_cannot_be_made_or_filled_ends_with_5() {
    let case = case();
    case.ends_with(5, &["--output-dir", "/proc/md"]);
    std::fs::write(case.path("file"), "").unwrap();
    case.ends_with(5, &["--output-dir", "file/out"]);
    let whole = {
        case.ends_with(0, &["--output-dir", "whole"]);
        case.record("whole")
    };
    // a limit on file sizes, in blocks of 512 or 1024 bytes, simulates a full disk
    for blocks in ["0", "8", "40"] {
        let program = assert_cmd::cargo::cargo_bin("md");
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec {program:?} run input.toml --output-dir full");
        let output = Command::new("sh").args(["-c", &script]).current_dir(case.path("")).output().unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(5), "{blocks}: {messages}");
        assert!(!messages.contains("panicked"), "{messages}");
    }
    // the run continues without loss when the disk has space again
    case.ends_with(0, &["--output-dir", "full"]);
    assert_same(&whole, &case.record("full"));
}

#[test]
fn bad_input_leaves_no_folder() {
    let case = case();
    case.rewrite("peptide-vacuum", &format!("[forces]\ncutoff = \"0.8 nm\"{}", stage("a", "1 ps")));
    let messages = case.ends_with(2, &[]);
    // only a single word is compared, because messages are wrapped
    assert!(messages.contains("cell"), "{messages}");
    assert!(!case.path("out").exists());
}

/// Tolerance of the potential energy in kJ/mol. Positions move by up to 1e-8 nm when rst7 rounds them and constraints
/// are applied to the rounded positions. With forces of 1000 kJ/mol/nm on 774 atoms, which add up like a random walk,
/// energies change by 3e-4 kJ/mol; rounding of f32 terms adds 1e-7 of 1e4 kJ/mol.
const POTENTIAL: f64 = 3e-3;
/// Tolerance of the kinetic energy in kJ/mol. If half-step velocities are used at the full step, constraints remove
/// their components along bonds, because the bonds rotate by ω dt/2 between half step and full step: waters rotate by
/// about 0.04 rad in 2 fs, so the loss is (0.02)² of the rotational half of 1400 kJ/mol.
const KINETIC: f64 = 0.5;
/// Tolerance in nm³ of a volume of 8 nm³ that is printed with six decimals.
const VOLUME: f64 = 2e-6;

#[test]
fn a_checkpoint_serves_as_coordinates() {
    let forces = "[run]\nthreads = 1\n[forces]\ncutoff = \"0.8 nm\"\npme = { spacing = \"0.15 nm\" }\n\
        [output]\nenergies = { every = \"2 fs\" }";
    let minimize = "\n[[stage]]\nname = \"m\"\nkind = \"minimize\"\nsteps = 5";
    let case = Case::new("water", &format!("{forces}{minimize}{}", stage("a", "40 fs")));
    case.ends_with(0, &[]);
    // the summary has the energy and the largest force of the last line of the minimisation in the log
    let log = std::fs::read_to_string(case.path("out/run.log")).unwrap();
    let line = log.lines().find(|line| line.contains("stopped at the maximum number of steps after 5 steps")).unwrap();
    let averages = &case.summary("out").stages[0].averages;
    for (average, before) in averages.iter().zip(["energy ", "largest force "]) {
        let printed: f64 = line.split(before).nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        assert!((average.mean / printed - 1.0).abs() < 1e-4, "{average:?} {line}");
    }
    assert_eq!(averages.len(), 2);
    let system = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/water/water.prmtop.xz");
    let continued = stage("b", "4 fs").replace("velocities = \"generate\"", "velocities = \"file\"");
    for file in ["checkpoint.md", "final.rst7"] {
        case.write_input(&system, &case.path("out").join(file), &format!("{forces}{continued}"));
        case.ends_with(0, &["--output-dir", &format!("from-{file}")]);
        for (name, tolerance) in
            [("potential (kJ/mol)", POTENTIAL), ("kinetic (kJ/mol)", KINETIC), ("volume (nm^3)", VOLUME)]
        {
            let (before, after) = (case.column("out", name), case.column(&format!("from-{file}"), name));
            let (last, first) = (before[before.len() - 1], after[0]);
            assert!((last - first).abs() < tolerance, "{file} {name}: {last} {first}");
        }
    }
    // a checkpoint of a system with other atoms is refused
    std::fs::copy(case.path("out/checkpoint.md"), case.path("other.md")).unwrap();
    let peptide = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/peptide-vacuum/peptide-vacuum.prmtop.xz");
    case.write_input(&peptide, &case.path("other.md"), &format!("{forces}{continued}"));
    let messages = case.ends_with(2, &["--output-dir", "other"]);
    assert!(messages.contains("774 atoms, but the topology has 74"), "{messages}");
}

/// Tests the final structure with MDAnalysis. The test is skipped if Python or MDAnalysis is missing, unless
/// `MD_REQUIRE_PYTHON=1`.
#[test]
fn mdanalysis_reads_the_final_structure() {
    if !python_has("MDAnalysis") {
        return;
    }
    let case = case();
    case.ends_with(0, &[]);
    let script = "import MDAnalysis as m\n\
        p, r = m.Universe('out/final.pdb'), m.Universe('out/final.pdb', 'out/final.rst7', format='RESTRT')\n\
        t = m.Universe('out/final.pdb', 'out/trajectory.h5md', convert_units=True)\n\
        t.trajectory[-1]\n\
        d = abs(p.atoms.positions - r.atoms.positions).max()\n\
        # PDB has three decimals\n\
        assert p.atoms.n_atoms == 74 and d < 6e-4, d\n\
        assert len(t.trajectory) == 6, len(t.trajectory)\n\
        # the last frame is that of step 150, the end; the trajectory has f32\n\
        assert abs(t.atoms.positions - r.atoms.positions).max() < 1e-4\n";
    let output =
        Command::new("python3").args(["-W", "ignore", "-c", script]).current_dir(case.path("")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_final_structure_may_be_a_gro_file_too() {
    let case = Case::new(
        "peptide-vacuum",
        &(VACUUM.replace("[output]\n", "[output]\nfinal_gro = true\n") + &stage("a", "0.06 ps")),
    );
    case.ends_with(0, &[]);
    let read = |name: &str| md::format::read_coordinates(&case.path("out").join(name), None, None).unwrap();
    let (gro, rst7) = (read("final.gro"), read("final.rst7"));
    assert_eq!(gro.positions.len(), rst7.positions.len());
    let pairs = [(gro.positions, rst7.positions), (gro.velocities.unwrap(), rst7.velocities.unwrap())];
    // positions have three decimals in nm, velocities four in nm/ps; the tolerance is half of the last decimal
    for ((a, b), rounding) in pairs.into_iter().zip([5.1e-4, 5.1e-5]) {
        let near = |(a, b): (&md::vec3::Vec3, &md::vec3::Vec3)| (*a - *b).to_array().iter().all(|d| d.abs() < rounding);
        assert!(a.iter().zip(&b).all(near), "{a:?}");
    }
    assert!(case.summary("out").files.contains_key("final.gro"));
    assert!(case.ends_with(0, &[]).contains("already finished"));
}
