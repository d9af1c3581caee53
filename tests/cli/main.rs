//! Tests of the `md` program as users run it: exit codes, messages, files.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test stops at the first surprise")]

mod check;
mod energy;
mod help;

use std::io::Read;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

fn md(folder: &Path) -> Command {
    let mut command = Command::cargo_bin("md").unwrap();
    command.current_dir(folder).env_remove("MD_SIMD").env("NO_COLOR", "1");
    command
}

/// Runs a command that must fail, and that must neither write to standard output nor panic. Returns its exit code and
/// standard error.
#[track_caller]
fn failure(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let output = md(folder).args(arguments).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.stdout.is_empty(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    assert!(!message.contains("panicked"), "{arguments:?}: {message}");
    (output.status.code().unwrap(), message)
}

#[track_caller]
fn success(folder: &Path, arguments: &[&str]) -> String {
    let output = md(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the path of a folder in `tests/systems`.
fn system(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems").join(name)
}

/// Writes an input file for a reference system to `folder`. Its `[forces]` section contains the lines `forces`.
fn write_input(folder: &Path, system: &Path, forces: &str) {
    let file = |ending| system.join(format!("{}{ending}", system.file_name().unwrap().to_string_lossy()));
    let (topology, coordinates) = (file(".prmtop.xz"), file(".rst7.xz"));
    let text = format!("[system]\ntopology = {topology:?}\ncoordinates = {coordinates:?}\n[forces]\n{forces}\n");
    std::fs::write(folder.join("input.toml"), text).unwrap();
}

const MINIMIZE: &str = "\n[[stage]]\nkind = \"minimize\"\n";

#[test]
fn wrong_usage_exits_with_2() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&[][..], &["fly"], &["run"], &["run", "input.toml", "--steps", "-1"], &["energy", "--json"]] {
        assert_eq!(failure(folder.path(), arguments).0, 2, "{arguments:?}");
    }
}

#[test]
fn a_bad_file_is_quoted_with_line_and_column_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        format!("[system]\ntopology = \"a.prmtop\"\ncoordinates = \"a.rst7\"\n[forces]\ncutof = 0.9\n{MINIMIZE}");
    std::fs::write(folder.path().join("input.toml"), text).unwrap();
    for command in ["run", "check", "energy"] {
        let (code, message) = failure(folder.path(), &[command, "input.toml"]);
        assert_eq!(code, 2, "{message}");
        for part in ["input.toml:5:1", "cutof = 0.9", "did you mean \"cutoff\"?", "does not exist", "a.prmtop"] {
            assert!(message.contains(part), "{part} in {message}");
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "only the input file is there");
}

#[test]
fn a_missing_or_binary_input_file_is_an_input_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("binary"), [0u8, 255, 10, 200]).unwrap();
    std::fs::write(folder.path().join("production.toml"), MINIMIZE).unwrap();
    std::fs::write(folder.path().join("md.mdp"), "dt = 0.002\nnsteps = 5\n").unwrap();
    let topology = system("water").join("water.prmtop.xz");
    for (name, part) in [
        ("nothing.toml", "md new"),
        ("prodution.toml", "did you mean \"production.toml\"?"),
        ("md.mdp", "md import md.mdp"),
        (topology.to_str().unwrap(), "its format is AMBER topology"),
        ("binary", "not valid UTF-8"),
        (".", "this is a folder"),
        ("/dev/zero", "pipes and devices are not read"),
    ] {
        let (code, message) = failure(folder.path(), &["check", name]);
        assert_eq!(code, 2, "{message}");
        // messages are wrapped at any blank, so the words are compared
        let words: Vec<&str> = message.split_whitespace().filter(|word| *word != "│").collect();
        assert!(words.join(" ").contains(part), "{part} in {message}");
    }
}

#[test]
fn options_and_environment_are_checked_like_keys() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t"), "").unwrap();
    let text = format!("[system]\ntopology = \"t\"\ncoordinates = \"t\"\n{MINIMIZE}");
    std::fs::write(folder.path().join("input.toml"), text).unwrap();
    let cases = [
        (&["--device", "abacus"][..], "--device abacus: run.device: \"abacus\" is not a device"),
        (&["--max-hours", "-1"], "--max-hours -1 h: run.max_time must be greater than zero"),
        (&["--max-hours=nan"], "run.max_time"),
        (&["--threads", "0"], "--threads 0: run.threads must be a whole number"),
        (&["--threads", "65535"], "--threads 65535: run.threads must be a whole number"),
        (&["--set", "nonsense"], "expected KEY=VALUE"),
    ];
    for (options, part) in cases {
        let (code, message) = failure(folder.path(), &[&["run", "input.toml"], options].concat());
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(code == 2 && message.contains(part), "{options:?}: {message}");
    }
    let output = md(folder.path()).env("MD_SIMD", "sse9").args(["check", "input.toml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("MD_SIMD sse9: run.simd"));
}

#[test]
fn run_needs_stages() {
    let system = system("peptide-vacuum");
    let folder = tempfile::tempdir().unwrap();
    write_input(folder.path(), &system, "cutoff = \"none\"");
    let (code, message) = failure(folder.path(), &["run", "input.toml"]);
    assert!(code == 2 && message.contains("there is nothing to run"), "{message}");
}

#[test]
fn new_writes_a_starter_and_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    success(folder.path(), &["new"]);
    let written = std::fs::read_to_string(folder.path().join("input.toml")).unwrap();
    assert!(written.contains("[[stage]]"));
    let (code, message) = failure(folder.path(), &["new"]);
    assert!(code == 2 && message.contains("already"), "{message}");
    assert_eq!(std::fs::read_to_string(folder.path().join("input.toml")).unwrap(), written);
}

#[test]
fn a_cell_that_does_not_fit_the_settings_is_refused() {
    let system = system("water");
    let folder = tempfile::tempdir().unwrap();
    write_input(folder.path(), &system, "cutoff = \"4 nm\"");
    let (code, message) = failure(folder.path(), &["energy", "input.toml", "--precision", "double"]);
    assert!(code == 2 && message.contains("cutoff is 4 nm"), "{message}");
    write_input(folder.path(), &system, "cutoff = \"none\"");
    let (code, message) = failure(folder.path(), &["check", "input.toml"]);
    assert!(code == 2 && message.contains("with a periodic cell"), "{message}");
}

/// Relative tolerance of energies. md and OpenMM use double precision and the same rounded parameters (eight to nine
/// digits in files), so only the order of summation differs. The project requires 1e-7.
const ENERGY_TOLERANCE: f64 = 1e-7;
/// Relative tolerance of forces: RMS of the difference divided by the RMS force. The value is the same as for energies.
const FORCE_TOLERANCE: f64 = 1e-7;

/// Compares `md energy` with OpenMM's double-precision Reference platform.
fn agrees_with_openmm(name: &str, case: &str, energy: &str) {
    let system = system(name);
    let reference: serde_json::Value =
        serde_json::from_slice(&std::fs::read(system.join("ref.json")).unwrap()).unwrap();
    let case_data = &reference["cases"][case];
    let forces = if case == "nocutoff" {
        "cutoff = \"none\"".to_owned()
    } else {
        format!(
            "cutoff = \"{} nm\"\npme = {{ alpha = \"{} 1/nm\", grid = {}, order = 5 }}\nlj_modifier = \"none\"\ncoulomb_modifier = \"none\"\ndispersion_correction = true",
            case_data["cutoff_nm"], case_data["alpha_per_nm"], case_data["grid"]
        )
    };
    let folder = tempfile::tempdir().unwrap();
    write_input(folder.path(), &system, &forces);
    let arguments = ["energy", "input.toml", "--precision", "double", "--json", "e.json", "--forces", "f.npy"];
    assert!(success(folder.path(), &arguments).contains("potential"));
    let report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("e.json")).unwrap()).unwrap();
    let keys: Vec<&str> = report.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["atoms", "cell", "energies", "pme", "virial"]);
    let value = |term: &str| report["energies"][term].as_f64().unwrap();
    let scale: f64 = ["bond", "angle", "proper", "improper", "lj", "coulomb"].iter().map(|t| value(t).abs()).sum();
    let difference = (value("potential") - case_data[energy].as_f64().unwrap()).abs() / scale;
    assert!(difference < ENERGY_TOLERANCE, "{name}: energies differ by {difference:.1e}");
    let computed = vectors(&folder.path().join("f.npy"));
    let expected = vectors(&system.join(format!("forces_{case}.npy")));
    assert_eq!(computed.len(), expected.len());
    let square: f64 = expected.iter().map(|f| f * f).sum();
    let error: f64 = computed.iter().zip(&expected).map(|(a, b)| (a - b).powi(2)).sum();
    let relative = (error / square).sqrt();
    println!("{name}: energy {difference:.1e}, force {relative:.1e}");
    assert!(relative < FORCE_TOLERANCE, "{name}: forces differ by {relative:.1e}");
}

/// Returns the vectors of a float64 `.npy` file.
fn vectors(path: &Path) -> Vec<f64> {
    let bytes = std::fs::read(path).unwrap();
    let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    bytes[header..].chunks_exact(8).map(|chunk| f64::from_le_bytes(chunk.try_into().unwrap())).collect()
}

#[test]
fn energy_in_vacuum_agrees_with_openmm() {
    agrees_with_openmm("peptide-vacuum", "nocutoff", "total");
}

#[test]
fn energy_with_pme_agrees_with_openmm() {
    for name in ["peptide-ff19sb", "peptide-charmm36", "peptide-charged", "salt-displaced", "argon"] {
        agrees_with_openmm(name, "5e-04", "total_with_dispcorr");
    }
}

#[test]
fn constraints_leave_out_the_energy_of_fixed_bonds() {
    let system = system("water");
    let folder = tempfile::tempdir().unwrap();
    write_input(folder.path(), &system, "constraints = \"h-bonds\"");
    let bond = |options: &[&str]| {
        let arguments = [&["energy", "input.toml", "--precision", "double", "--json", "e.json"], options].concat();
        success(folder.path(), &arguments);
        let bytes = std::fs::read(folder.path().join("e.json")).unwrap();
        let report: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        report["energies"]["bond"].as_f64().unwrap()
    };
    assert!(bond(&[]) > 0.0, "positions are rounded, so rigid bonds are a little off their length");
    assert_eq!(bond(&["--constraints"]), 0.0);
}

/// Tests a rigid water with a bond length of 0.09572 nm and an angle of 104.52°, in which one O-H distance is stretched
/// to 0.1 nm. The stretch is 0.1/0.09572 − 1 = 4.47 %, and the distance of the hydrogens changes by 2 %.
#[test]
fn energy_says_that_a_rigid_water_is_not_rigid() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let atoms = "1 OW 1 SOL OW 1\n2 HW 1 SOL HW1 1\n3 HW 1 SOL HW2 1\n";
    let types = "OW 8 15.9994 -0.834 A 0.315 0.6364\nHW 1 1.008 0.417 A 0 0\n";
    let rest = "[ settles ]\n1 1 0.09572 0.15139\n[ exclusions ]\n1 2 3\n2 3\n[ system ]\nx\n[ molecules ]\nSOL 1\n";
    let top = format!("[ defaults ]\n1 2\n[ atomtypes ]\n{types}[ moleculetype ]\nSOL 2\n[ atoms ]\n{atoms}{rest}");
    write("w.top", &top);
    let files = "[system]\ntopology = \"w.top\"\ncoordinates = \"w.gro\"\n";
    write("input.toml", &format!("{files}[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"\n"));
    let said = |oh: f64| {
        let places = [("OW", [0.0, 0.0]), ("HW1", [oh, 0.0]), ("HW2", [-0.023_999, 0.092_662])].into_iter().zip(1..);
        let line = |((name, [x, y]), k): ((&str, [f64; 2]), i32)| {
            format!("    1SOL  {name:>5}{k:>5}{:12.7}{:12.7}{:12.7}\n", 1.0 + x, 1.0 + y, 1.0)
        };
        write("w.gro", &format!("water\n3\n{}0 0 0\n", places.map(line).collect::<String>()));
        let output = md(folder.path()).args(["energy", "input.toml"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(said(0.1).contains("deviate from their lengths by up to 4.47 %"), "{}", said(0.1));
    assert!(!said(0.095_72).contains("deviate"));
}

#[test]
fn info_and_check_describe_the_system() {
    let folder = tempfile::tempdir().unwrap();
    write_input(folder.path(), &system("peptide-charged"), "");
    let text = success(folder.path(), &["check", "input.toml", "--effective"]);
    // The source of the system states 729 atoms and net charge −1. The peptide has 6 + 12 + 6 atoms, so there are
    // (729 − 24) / 3 = 235 waters.
    for part in ["729 atoms", "net charge -1 e", "235 rigid waters", "cutoff = \"force-field\"  # default", "memory "] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let topology = system("peptide-charged").join("peptide-charged.prmtop.xz");
    assert!(success(folder.path(), &["info", topology.to_str().unwrap()]).contains("Lorentz-Berthelot"));
    let coordinates = system("octahedron").join("octahedron.rst7.xz");
    assert!(success(folder.path(), &["info", coordinates.to_str().unwrap()]).contains("109.47"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "check writes nothing");
}

#[test]
fn check_says_what_a_referee_would() {
    let folder = tempfile::tempdir().unwrap();
    let stage = "[[stage]]\nkind = \"dynamics\"\nsteps = 1\ntimestep = \"2 fs\"\nvelocities = \"generate\"\n\
                 temperature = \"300 K\"\ncom_removal = \"none\"";
    write_input(folder.path(), &system("peptide-charged"), stage);
    let text = success(folder.path(), &["check", "input.toml"]);
    assert!(text.contains("warning      the net charge is -1.000 e"), "{text}");
    // There are 729 atoms, 235 rigid waters, and 11 constraints on the hydrogens of the peptide. No degrees of
    // freedom are subtracted for the center of mass.
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("constraints")).collect();
    assert!(lines.len() == 1 && lines[0].contains("11 distance constraints; 1471 degrees of freedom"), "{lines:?}");
    write_input(folder.path(), &system("peptide-charged"), &format!("constraints = \"none\"\n{stage}"));
    let (code, message) = failure(folder.path(), &["check", "input.toml"]);
    assert!(code == 2 && message.contains("the timestep of 2 fs is too long for"), "{message}");
}

#[test]
fn every_input_file_of_this_project_passes_the_check() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for folder in ["inputs", "validation"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let input = entry.unwrap().path().join("input.toml");
            if input.is_file() {
                success(root, &["check", input.to_str().unwrap()]);
                count += 1;
            }
        }
    }
    assert!(count >= 4, "only {count} input files found");
}

/// Input of two short stages of a peptide in vacuum.
const SHORT_RUN: &str = r#"
[output]
trajectory = { every = "2 steps", velocities = true }
energies = { every = "2 steps" }
[[stage]]
kind = "minimize"
steps = 3
[[stage]]
name = "warm"
kind = "dynamics"
steps = 10
timestep = "1 fs"
velocities = "generate"
temperature = "300 K"
"#;

#[test]
fn info_describes_what_a_run_wrote_and_repair_leaves_it_good() {
    let folder = tempfile::tempdir().unwrap();
    write_input(folder.path(), &system("peptide-vacuum"), &format!("cutoff = \"none\"\n{SHORT_RUN}"));
    success(folder.path(), &["run", "input.toml", "--quiet", "--threads", "1"]);
    // expected output for the frames at steps 0, 2, … 10 of the dynamics stage
    let cases = [
        ("trajectory.h5md", &["closed", "frames       6,", "step 10,", "velocities", "temperature"][..]),
        ("checkpoint.md", &["stage        2 of 2, warm: 10 steps done", "cell         none"]),
        ("summary.json", &["finished", "warm (dynamics, 10 steps)", "kJ/mol"]),
        ("final.rst7", &["AMBER coordinates", "velocities half a step before", "velocities   yes"]),
        ("final.pdb", &["PDB\n", "final state at 0.010 ps", "cell         none"]),
        ("status.json", &["finished", "stage        2 of 2, warm: step 10 of 10"]),
        ("minimisation.csv", &["stage 1, steps 0 to ", "kJ/mol/nm at the end, on atom "]),
        // the file has rows for the steps 0, 2, … 10
        ("energies.csv", &["rows         6", "steps        0 to 10, 0 to 0.01 ps", "means of stage 2", "temperature"]),
    ];
    for (name, parts) in cases {
        let text = success(folder.path(), &["info", &format!("out/{name}")]);
        for part in parts {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
    for name in ["run.log", "effective.toml"] {
        let (code, message) = failure(folder.path(), &["info", &format!("out/{name}")]);
        let expected = if name == "run.log" { "the log of a run" } else { "md info reads checkpoint.md" };
        assert!(code == 2 && message.contains(expected), "{message}");
    }
    // marks the file as open for writing, as a killed writer leaves a file. Byte 11 of superblock version 3 (HDF5 File
    // Format Specification 3.0) has bit 0 = open for writing, and bit 2 = concurrent readers allowed
    let path = folder.path().join("out/trajectory.h5md");
    let good = std::fs::read(&path).unwrap();
    let mut killed = good.clone();
    killed[11] = 0b101;
    std::fs::write(&path, &killed).unwrap();
    assert!(success(folder.path(), &["repair", "out/trajectory.h5md"]).contains("frames       6,"));
    assert!(success(folder.path(), &["verify", "out/trajectory.h5md"]).contains("6 frames match their checksums"));
    assert!(success(folder.path(), &["verify", "out/checkpoint.md"]).contains("matches its checksum"));
    assert_eq!(std::fs::read(&path).unwrap(), good, "the same file as before");
    for (name, fault) in [("input.toml", "unknown format of a trajectory"), ("out/energies.csv", "a table of a run")] {
        let (code, message) = failure(folder.path(), &["repair", name]);
        assert!(code == 2 && message.contains(fault), "{message}");
    }
}

#[test]
fn a_device_that_is_not_there_is_a_device_error() {
    let folder = tempfile::tempdir().unwrap();
    write_input(folder.path(), &system("peptide-vacuum"), &format!("cutoff = \"none\"\n{SHORT_RUN}"));
    for arguments in
        [["run", "input.toml", "--device", "cuda:63"], ["check", "input.toml", "--set", "run.device='cuda:63'"]]
    {
        let (code, message) = failure(folder.path(), &arguments);
        assert!(code == 6 && message.contains("device cuda:63 cannot be used: "), "{message}");
    }
    assert!(!folder.path().join("out").exists(), "nothing was begun");
    success(folder.path(), &["run", "input.toml", "--quiet"]);
    let log = std::fs::read_to_string(folder.path().join("out/run.log")).unwrap();
    assert!(log.contains("(automatic: "), "{log}");
}

#[test]
fn pinned_threads_need_processors() {
    let folder = tempfile::tempdir().unwrap();
    write_input(folder.path(), &system("peptide-vacuum"), "cutoff = \"none\"\n[run]\npin = true");
    success(folder.path(), &["energy", "input.toml", "--set", "run.threads=1"]);
    let threads = std::thread::available_parallelism().unwrap().get() + 1;
    let (code, message) = failure(folder.path(), &["energy", "input.toml", "--set", &format!("run.threads={threads}")]);
    assert!(code == 2 && message.contains(&format!("{threads} threads need {threads} processors")), "{message}");
}

#[test]
fn more_threads_than_the_machine_can_run_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    write_input(folder.path(), &system("peptide-vacuum"), "cutoff = \"none\"");
    for arguments in [
        &["check", "input.toml", "--set", "run.threads=4096"][..],
        &["energy", "input.toml", "--set", "run.threads=4096"],
        &["analyze", "rmsd", "none.h5md", "--threads", "65535"],
    ] {
        let (code, message) = failure(folder.path(), arguments);
        assert!(code == 2 && message.contains("threads are too many: this process may use"), "{message}");
    }
}

#[test]
fn pipes_and_devices_are_refused_before_they_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in ["pipe", "/dev/zero"] {
        let (code, message) = failure(folder.path(), &["info", path]);
        assert!(code == 2 && message.contains("not a regular file"), "{path}: {message}");
        let text = format!("[system]\ntopology = {path:?}\ncoordinates = {path:?}\n");
        std::fs::write(folder.path().join("input.toml"), text).unwrap();
        let (code, message) = failure(folder.path(), &["check", "input.toml"]);
        assert!(code == 2 && message.matches("is not a regular file").count() == 2, "{path}: {message}");
        let (code, message) = failure(folder.path(), &["check", path]);
        assert!(code == 2 && message.contains("not a regular file"), "{path}: {message}");
    }
}

#[test]
fn a_packed_file_that_grows_too_much_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let zeros = vec![0; 16 << 20];
    let packed = ruzstd::encoding::compress_to_vec(zeros.as_slice(), ruzstd::encoding::CompressionLevel::Fastest);
    assert!(packed.len() * 2000 < zeros.len(), "{} bytes", packed.len());
    std::fs::write(folder.path().join("bomb"), packed).unwrap();
    let (code, message) = failure(folder.path(), &["info", "bomb"]);
    assert!(code == 2 && message.contains("at most 2000 times the packed size"), "{message}");
}

#[test]
fn of_very_many_problems_some_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let unknown: String = (0..50_000).map(|i| format!("key{i} = 1\n")).collect();
    std::fs::write(folder.path().join("input.toml"), unknown).unwrap();
    let (code, message) = failure(folder.path(), &["check", "input.toml"]);
    // key19 is not shown, because the missing section [system] comes first and counts as a problem
    let shown = |key: &str| message.contains(&format!("unknown key \"{key}\""));
    assert!(code == 2 && shown("key18") && !shown("key19"), "{message}");
    assert!(message.ends_with("and 49981 more problems\n"), "{message}");
}

#[test]
fn pipes_are_no_trajectories() {
    let folder = tempfile::tempdir().unwrap();
    assert!(std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap().success());
    for arguments in [&["info", "pipe"][..], &["verify", "pipe"], &["repair", "pipe"], &["analyze", "rmsd", "pipe"]] {
        let output = md(folder.path()).args(arguments).timeout(std::time::Duration::from_secs(60)).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && message.contains("not a regular file"), "{arguments:?}: {message}");
    }
}

/// Tests a forged trajectory, in which a block was changed together with its checksum, so that HDF5 2.2.0 divides by
/// zero.
#[test]
fn a_forged_file_that_ends_its_library_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let packed = include_bytes!("../damage/forged.h5md.xz");
    let mut forged = vec![];
    lzma_rust2::XzReader::new(&packed[..], true).read_to_end(&mut forged).unwrap();
    std::fs::write(folder.path().join("forged.h5md"), &forged).unwrap();
    let (code, message) = failure(folder.path(), &["repair", "forged.h5md"]);
    assert!(code == 5 && message.contains("forged.h5md") && message.contains("damaged"), "{code} {message}");
}
