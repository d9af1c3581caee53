//! Tests of unstable systems: exit code 4, a message about the atoms that cause the failure, a file with their
//! surroundings, and an intact checkpoint.

use std::path::Path;

use crate::case::Case;
use md::format::{read_coordinates, write_rst7};

/// Settings with lists that expire by displacement, whose lifetimes do not depend on the longest timestep of the plan.
const FORCES: &str = "[run]\nthreads = 2\n[forces]\ncutoff = \"0.8 nm\"\nlist = { buffer = \"0.08 nm\" }\n";
/// Radius in Å of the surroundings that the file shows, around the atoms that cause the failure.
const REACH: f64 = 8.0;

fn stage(name: &str, steps: u32, timestep: &str, velocities: &str) -> String {
    format!(
        "[[stage]]\nname = \"{name}\"\nkind = \"dynamics\"\nsteps = {steps}\ntimestep = \"{timestep}\"\n{velocities}\n"
    )
}

/// Serial numbers and positions (Å) of the atoms of a PDB file.
fn atoms(path: &Path) -> Vec<(usize, [f64; 3])> {
    let text = std::fs::read_to_string(path).unwrap();
    let records = text.lines().filter(|line| line.starts_with("ATOM") || line.starts_with("HETATM"));
    let number = |text: &str| text.trim().parse::<f64>().unwrap();
    let atom = |line: &str| (number(&line[6..11]) as usize, [30, 38, 46].map(|at| number(&line[at..at + 8])));
    records.map(atom).collect()
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|d| (a[d] - b[d]).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn a_run_that_blows_up_ends_with_4_and_keeps_the_good_checkpoint() {
    let generate = |kelvin: &str| format!("velocities = \"generate\"\ntemperature = \"{kelvin}\"");
    let good = stage("good", 10, "1 fs", &generate("300 K"));
    // with flexible bonds, a timestep that is too long is refused before the run starts
    let bad = [
        ("none", stage("bad", 100, "1 fs", &generate("3e8 K")), "atom "),
        ("h-bonds", stage("bad", 100, "60 fs", ""), "cannot be satisfied"),
    ];
    for (constraints, bad, cause) in bad {
        let forces = format!("{FORCES}constraints = \"{constraints}\"\n");
        let case = Case::new("water", &format!("{forces}{good}{bad}"));
        let message = case.ends_with(4, &[]);
        for part in ["error: step 1", cause, "of HOH", "largest energy term", "out/unstable.pdb", "help: "] {
            assert!(message.contains(part), "{part} in {message}");
        }
        let found = atoms(&case.path("out/unstable.pdb"));
        assert!(found.len() >= 3 && found.len() < 774, "{} atoms", found.len());
        // the state before the failed stage equals the state after a run without the failed stage
        let kept = case.state("out");
        case.rewrite("water", &format!("{forces}{good}"));
        case.ends_with(0, &["--output-dir", "alone"]);
        assert!(kept == case.state("alone"), "the checkpoint is not that of the end of the good stage");
        assert_eq!(kept.step, 10);
        let status: serde_json::Value =
            serde_json::from_slice(&std::fs::read(case.path("out/status.json")).unwrap()).unwrap();
        assert_eq!(status["state"], "failed");
    }
}

#[test]
fn overlapping_atoms_are_named() {
    let systems = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems");
    let [topology, start] = ["argon/argon.prmtop.xz", "argon/argon.rst7.xz"].map(|file| systems.join(file));
    let case = Case::new("argon", "");
    let mut coordinates = read_coordinates(&start, None, None).unwrap();
    // the atoms are 0.02 nm apart, across the boundary of the cell
    let (cell, [a, b]) = (coordinates.cell.unwrap(), [40, 333]);
    coordinates.positions[a] = md::vec3::vec3(0.005, 1.0, 1.0);
    coordinates.positions[b] = md::vec3::vec3(-0.015, 1.0, 1.0) + cell.shift([1, 0, 0]);
    let mut file = std::fs::File::create(case.path("overlap.rst7")).unwrap();
    write_rst7(&coordinates, &mut file).unwrap();
    let generate = "velocities = \"generate\"\ntemperature = \"100 K\"";
    let rest = format!("{FORCES}{}", stage("a", 100, "2 fs", generate));
    case.write_input(&topology, &case.path("overlap.rst7"), &rest);
    let message = case.ends_with(4, &[]);
    for part in ["step 0, 0.0000 ps", "atom 41 (", "atom 334 (", "energy term lj, "] {
        assert!(message.contains(part), "{part} in {message}");
    }
    let found = atoms(&case.path("out/unstable.pdb"));
    let place = |atom: usize| found.iter().find(|(serial, _)| *serial == atom + 1).unwrap().1;
    // the two atoms are 0.2 Å apart in the file, which has a resolution of 0.001 Å
    assert!((distance(place(a), place(b)) - 0.2).abs() < 2e-3, "both in the same image");
    // 512 atoms in a cell of 2.92 nm have about 44 atoms within 0.8 nm
    assert!((20..90).contains(&found.len()), "{} atoms", found.len());
    assert!(found.iter().all(|(_, r)| distance(*r, place(a)).min(distance(*r, place(b))) < REACH + 2e-3));
    // after a minimisation the run from the same coordinates succeeds
    let minimize = "[[stage]]\nname = \"m\"\nkind = \"minimize\"\nsteps = 200\n";
    case.write_input(
        &topology,
        &case.path("overlap.rst7"),
        &rest.replacen("[[stage]]", &format!("{minimize}[[stage]]"), 1),
    );
    case.ends_with(0, &["--force"]);
}

/// Tests that a run whose cell has become too large for the columns of `final.rst7` ends with exit code 4, and writes
/// no file with asterisks.
#[test]
fn a_system_that_has_expanded_beyond_the_columns_is_unstable() {
    let couplings = "velocities = \"generate\"\ntemperature = \"100 K\"\n\
                     thermostat = { temperature = \"100 K\", coupling_time = \"0.5 ps\" }\n\
                     barostat = { kind = \"c-rescale\", pressure = \"-100000 bar\", coupling_time = \"0.5 ps\" }";
    let case = Case::new("argon", &format!("{FORCES}{}", stage("a", 10_000, "2 fs", couplings)));
    let message = case.ends_with(4, &[]);
    for part in ["step 10000", "the simulation has blown up", "final.rst7", "atom 1: the position", "cannot be written"]
    {
        assert!(message.contains(part), "{part} in {message}");
    }
    assert!(!case.path("out/final.rst7").exists() && !case.path("out/final.pdb").exists());
    assert!(case.path("out/checkpoint.md").exists());
}
