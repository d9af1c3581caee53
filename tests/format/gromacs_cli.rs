//! Tests of commands with GROMACS files.

use std::io::Read;
use std::path::Path;

use assert_cmd::Command;

fn md(folder: &Path) -> Command {
    let mut command = Command::cargo_bin("md").unwrap();
    command.current_dir(folder).env_remove("MD_SIMD").env_remove("GMXLIB").env("NO_COLOR", "1");
    command
}

/// Runs a command and returns its exit code and standard error, with the lines of each message joined.
fn failure(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = md(folder).args(arguments).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> = message.split(['\n', '\u{2502}']).map(str::trim).filter(|line| !line.is_empty()).collect();
    (output.status.code(), lines.join(" "))
}

/// Tests messages that quote titles and headings, which may contain any text of any length.
#[test]
fn what_files_hold_reaches_the_terminal_without_control_characters_and_not_at_any_length() {
    let folder = tempfile::tempdir().unwrap();
    let (escape, long) = ("\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}1m", "x".repeat(1 << 20));
    let atom = "    1AR     AR    1   0.100   0.100   0.100\n";
    let (title, heading) = (format!("{escape} {long}"), format!("[ {escape}{long} ]"));
    for (name, text) in [
        ("title.gro", format!("{title}\n    1\n{atom}   3.0 3.0 3.0\n")),
        ("heading.top", format!("[ defaults ]\n1 2 yes 0.5 0.8333\n{heading}\n")),
        ("word.top", format!("{title}\n[ defaults ]\n")),
        ("include.top", format!("#include \"{title}\"\n[ defaults ]\n")),
        ("input.toml", format!("[system]\ntopology = \"{long}\"\n[{long}]\n{escape}\n")),
        ("x.mdp", format!("dt = 0.002\n{title}\n")),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
        let command = match name.rsplit('.').next() {
            Some("toml") => "check",
            Some("mdp") => "import",
            _ => "info",
        };
        let output = md(folder.path()).args([command, name]).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(!said.is_empty() && said.chars().all(|c| c == '\n' || !c.is_control()), "{name}: {said:?}");
        assert!(said.len() < 2048 + 512, "{name}: {} bytes", said.len());
    }
}

/// The atoms have no charges, and a 1-4 pair of function type 2 has charges of 1 and −0.5 e of its own, 0.25 nm apart.
#[test]
fn pairs_keep_their_own_charges_among_atoms_without_charges() {
    let folder = tempfile::tempdir().unwrap();
    let atoms: String = (1..=2).map(|k| format!("{k} C 1 MOL C{k} 1 0.0 12.01\n")).collect();
    let topology = format!(
        "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nC 12.01 0.0 A 0.3 0.1\n[ moleculetype ]\nMOL 0\n[ atoms ]\n{atoms}\
         [ pairs ]\n1 2 2 0.5 1.0 -1.0 0.3 0.0\n[ system ]\nx\n[ molecules ]\nMOL 1\n"
    );
    let coordinates = "x\n    2\n    1MOL     C1    1   1.000   1.000   1.000\n    1MOL     C2    2   1.250   1.000   1.000\n\
                       \x20  3.0 3.0 3.0\n";
    std::fs::write(folder.path().join("x.top"), topology).unwrap();
    std::fs::write(folder.path().join("x.gro"), coordinates).unwrap();
    std::fs::write(folder.path().join("x.toml"), "[system]\ntopology = \"x.top\"\ncoordinates = \"x.gro\"\n").unwrap();
    for precision in ["mixed", "double"] {
        let output = md(folder.path()).args(["energy", "x.toml", "--precision", precision]).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let found = said.lines().find_map(|line| line.strip_prefix("coulomb_14 ")).unwrap().trim();
        // C q q′/r with C = 138.935 kJ/mol nm/e²
        let expected = -0.5 * md::units::COULOMB / 0.25;
        assert!((found.parse::<f64>().unwrap() / expected - 1.0).abs() < 1e-6, "{precision}: {said}");
    }
}

#[test]
fn gromacs_files_are_checked_computed_described_and_run() {
    let folder = tempfile::tempdir().unwrap();
    let peptide = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/peptide-charged");
    let stage = "[[stage]]\nkind = \"dynamics\"\nsteps = 4\ntimestep = \"1 fs\"\nvelocities = \"generate\"\ntemperature = \"300 K\"\n";
    // the topology includes a file from a folder that only GMXLIB names
    std::fs::create_dir(folder.path().join("library")).unwrap();
    let mut text = String::new();
    let packed = std::fs::read(peptide.join("peptide-charged.top.xz")).unwrap();
    lzma_rust2::XzReader::new(&packed[..], true).read_to_string(&mut text).unwrap();
    std::fs::write(folder.path().join("library/all.itp"), text).unwrap();
    std::fs::write(folder.path().join("system.top"), "; GROMACS\n#include \"all.itp\"\n").unwrap();
    let coordinates = peptide.join("peptide-charged.gro.xz");
    let input = format!(
        "[system]\ntopology = \"system.top\"\ncoordinates = {coordinates:?}\n[forces]\npme = {{ spacing = \"0.15 nm\" }}\n{stage}"
    );
    std::fs::write(folder.path().join("input.toml"), input).unwrap();
    let (code, message) = failure(folder.path(), &["check", "input.toml"]);
    assert!(code == Some(2) && message.contains("#include \"all.itp\": no such file in"), "{message}");
    let library = |arguments: &[&str]| {
        let output = md(folder.path()).env("GMXLIB", "library").args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(library(&["check", "input.toml"]).contains("729 atoms"));
    // reference: OpenMM's sum in tests/systems/peptide-charged/ref.json
    let energies = library(&["energy", "input.toml", "--precision", "double", "--set", "system.define=[\"FLEXIBLE\"]"]);
    let bonds = energies.lines().find_map(|line| line.strip_prefix("bond ")).unwrap().trim().parse::<f64>().unwrap();
    assert!((bonds / 35.112_226_199_315_32 - 1.0).abs() < 1e-6, "{energies}");
    assert!(library(&["info", "system.top"]).starts_with("GROMACS topology (top)\n"));
    assert!(library(&["info", coordinates.to_str().unwrap()]).starts_with("GROMACS coordinates (gro)\n"));
    library(&["run", "input.toml"]);
    // the search path is not part of the physics, so that a run continues after the path has changed
    library(&["run", "input.toml", "--set", "stage.dynamics.steps=8", "--set", "system.include=[\"library\"]"]);
    let (code, message) = failure(
        folder.path(),
        &["energy", "input.toml", "--set", "system.define=[\"FLEXIBEL\"]", "--set", "system.include=[\"library\"]"],
    );
    assert!(code == Some(2) && message.contains("FLEXIBEL"), "{message}");
}
