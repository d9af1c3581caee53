//! Tests that every example builds, runs and prints correct numbers.

#[path = "python/probe.rs"]
mod probe;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Names of the examples with their arguments.
const EXAMPLES: &[(&str, &[&str])] =
    &[("argon", &[]), ("external_force", &[]), ("single_point", &["inputs/ala2-vacuum/input.toml"])];

/// Python packages that are imported by the Python examples and by the program that checks these examples.
const PACKAGES: &str =
    "MDAnalysis, mdtraj, tables, h5py, h5netcdf, pandas, xarray, matplotlib, nbformat, nbclient, ipykernel";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Builds the examples, unless `cargo test` has already built the examples, and returns their folder.
fn programs() -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_md")).parent().expect("a folder of programs");
    let profile = match folder.file_name().expect("a profile").to_string_lossy() {
        debug if debug == "debug" => "dev".into(),
        other => other,
    };
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--examples", "--profile", &*profile]).current_dir(root());
    let status = cargo.arg("--target-dir").arg(folder.parent().expect("a target folder")).status();
    assert!(status.is_ok_and(|status| status.success()), "the examples do not build");
    folder.join("examples")
}

/// Returns the output of an example.
fn output(name: &str, arguments: &[&str]) -> String {
    let program = programs().join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let output = Command::new(program).args(arguments).current_dir(root()).output().expect("a program");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Returns the number between `beginning` and `unit` on the line that starts with `beginning`.
fn number(text: &str, beginning: &str, unit: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(beginning)?.split(unit).next());
    line.unwrap_or_else(|| panic!("{beginning} in {text}")).trim().parse().expect("a number")
}

/// Returns the Rust sources in a folder of the package.
fn sources(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

#[test]
fn every_example_is_run_here_or_included_in_another_test() {
    let read = |path: PathBuf| std::fs::read_to_string(path).expect("a source");
    let tests: String = sources("tests").into_iter().map(read).collect();
    for path in sources("examples") {
        let name = path.file_stem().expect("a name").to_string_lossy();
        let included = tests.contains(&format!("#[path = \"../examples/{name}.rs\"]"));
        assert!(included || EXAMPLES.iter().any(|(known, _)| *known == name), "add examples/{name}.rs to EXAMPLES");
    }
    for (name, arguments) in EXAMPLES {
        assert!(!output(name, arguments).is_empty(), "{name} prints nothing");
    }
}

/// U/N in kJ/mol of the Lennard-Jones fluid at ρσ³ = 0.81408 and kT/ε = 0.78667, which is −5.8377 ε by the equation
/// of state of J. K. Johnson, J. A. Zollweg and K. E. Gubbins, Mol. Phys. 78, 591 (1993),
/// doi:10.1080/00268979300100411; ε/k is 120 K.
const LIQUID: f64 = -5.8245;
/// Tolerance of U/N in kJ/mol: three times the root of the sum of squares of three errors. The equation of state
/// deviates by 0.006 from NIST's Monte Carlo results at ρσ³ = 0.776, kT/ε = 0.85. The mean over 40 ps of 864 atoms has
/// a standard error of 0.006: U/N fluctuates by kT √(1.3/864) = 0.03, and 40 ps are some 25 correlation times of 1.5
/// ps. The assumption of a uniform fluid beyond the cutoff of 2.65 σ is accurate to 2 % of the correction of 0.37.
const LIQUID_TOLERANCE: f64 = 0.034;

/// Lattice sums of the face-centered cubic lattice over r⁻⁶ and r⁻¹², in units of the nearest distance (J. E. Jones and
/// A. E. Ingham, Proc. R. Soc. A 107, 636 (1925)).
const LATTICE_SUMS: [f64; 2] = [14.45392, 12.13188];
/// Tolerance in kJ/mol of the lattice energy. With the uniform density of the dispersion correction there are 62.2
/// atoms within the cutoff of 0.9 nm, while the lattice has 54. The error of the correction is half of V(0.9 nm), at
/// most 0.0115 ε, for each of the 8.2 atoms by which these numbers differ.
const LATTICE_TOLERANCE: f64 = 0.5 * 8.2 * 0.0115;

#[test]
fn argon_has_the_energy_of_its_lattice_and_of_its_liquid() {
    let text = output("argon", &[]);
    let epsilon = 120.0 * 8.314_462_618e-3;
    let ratio: f64 = 0.34 / (0.57802 / 2f64.sqrt());
    let expected = 2.0 * epsilon * (LATTICE_SUMS[1] * ratio.powi(12) - LATTICE_SUMS[0] * ratio.powi(6));
    let lattice = number(&text, "lattice energy ", "kJ/mol");
    assert!((lattice - expected).abs() < LATTICE_TOLERANCE, "{lattice} for {expected} kJ/mol");
    let liquid = number(&text, "mean potential energy ", "kJ/mol");
    assert!((liquid - LIQUID).abs() < LIQUID_TOLERANCE, "{liquid} for {LIQUID} kJ/mol");
}

/// Tolerance of the mean energy in kT per atom: three standard errors. The potential energy of 375 oscillators
/// fluctuates by √(375/2)/125 = 0.11, and 800 ps contain about 14² independent values with a correlation time of about
/// 2 ps.
const TRAP_TOLERANCE: f64 = 3.0 * 0.11 / 14.0;

#[test]
fn a_gas_in_a_trap_has_half_kt_in_each_direction() {
    let energy = number(&output("external_force", &[]), "mean energy", "kT");
    assert!((energy - 1.5).abs() < TRAP_TOLERANCE, "{energy}");
}

#[test]
fn python_examples_run_and_their_numbers_are_right() {
    if !probe::python_has(PACKAGES) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new("python3");
    command.arg(root().join("tests/python/run_examples.py")).arg(env!("CARGO_BIN_EXE_md")).arg(folder.path());
    let output = command.output().expect("a program");
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}{errors}");
    assert_eq!([text.matches(": same").count(), text.matches(": ran").count()], [5, 2], "{text}");
}
