//! Tests of the self-checks of a run: warnings, and the comparison of the first step with the reference backend.

use crate::case::Case;

const STAGE: &str = "[forces]\npme = { spacing = \"0.15 nm\" }\n[output]\ntrajectory = \"none\"\n[[stage]]\nname = \"a\"\n\
                     kind = \"dynamics\"\nsteps = 60\ntimestep = \"2 fs\"\nvelocities = \"generate\"\n\
                     thermostat = { temperature = \"300 K\" }\n";

#[test]
fn the_first_step_of_every_part_is_compared_with_the_reference() {
    let case = Case::new("peptide-charged", STAGE);
    let lines = || {
        let log = std::fs::read_to_string(case.path("out").join("run.log")).unwrap();
        log.lines()
            .filter(|line| line.starts_with("force check against ") && line.contains(" on 729 atoms"))
            .map(str::to_owned)
            .collect()
    };
    case.ends_with(0, &["--steps", "13"]);
    let first: Vec<String> = lines();
    assert!(first.len() == 1 && first[0].contains(" of the energies"), "{first:?}");
    // the run continues from a step within the lifetimes of the outer and of the inner list
    case.ends_with(0, &[]);
    assert_eq!(lines().len(), 2);
    // a run in double precision has no comparison with the reference backend
    let double = Case::new("peptide-vacuum", &STAGE.replace("pme = { spacing = \"0.15 nm\" }", "cutoff = \"none\""));
    double.ends_with(0, &["--set", "run.precision=\"double\"", "--steps", "1"]);
    let log = std::fs::read_to_string(double.path("out").join("run.log")).unwrap();
    assert!(!log.contains("force check"), "{log}");
}

#[test]
fn warnings_are_in_the_log_and_the_summary() {
    let case = Case::new("peptide-charged", STAGE);
    let shown = case.ends_with(0, &["--steps", "1"]);
    assert!(shown.contains("Warning: the net charge is -1.000 e"), "{shown}");
    let warnings = case.summary("out").warnings;
    assert!(warnings.len() == 1 && warnings[0].contains("net charge"), "{warnings:?}");
}

#[test]
fn a_timestep_too_long_for_flexible_bonds_is_refused_before_anything_is_written() {
    let case = Case::new("peptide-charged", &STAGE.replace("[forces]\n", "[forces]\nconstraints = \"none\"\n"));
    let shown = case.ends_with(2, &[]);
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("the timestep of 2 fs") && words.contains("steps, fewer than 5"), "{words}");
    assert!(!case.path("out").exists());
    case.ends_with(0, &["--steps", "1", "--set", "stage.a.timestep=\"0.5 fs\""]);
}

/// Tests waters of equal orientation on a cubic lattice, whose Coulomb energy is less than a hundredth of its direct
/// part and of its reciprocal part.
#[test]
fn a_lattice_of_water_is_no_defect() {
    const EDGE: usize = 7;
    const SPACING: f64 = 0.31066;
    let atoms = [("OW", -0.834, 15.9994), ("HW", 0.417, 1.008), ("HW", 0.417, 1.008)];
    let molecule = [[0.15533, 0.15533, 0.15533], [0.1547984, 0.1550692, 0.2510482], [0.2380263, 0.1133288, 0.1316757]];
    let names = ["O", "H1", "H2"];
    let number = EDGE.pow(3);
    let mut topology = "[ defaults ]\n1 2 no\n[ atomtypes ]\nOW 8 15.9994 0 A 0.315061 0.636386\nHW 1 1.008 0 A 0 0\n\
                        [ moleculetype ]\nSOL 2\n[ atoms ]\n"
        .to_owned();
    for (index, (name, (kind, charge, mass))) in names.iter().zip(atoms).enumerate() {
        topology += &format!("{0} {kind} 1 SOL {name} {0} {charge} {mass}\n", index + 1);
    }
    topology +=
        "[ settles ]\n1 1 0.09572 0.151390065\n[ exclusions ]\n1 2 3\n2 1 3\n3 1 2\n[ system ]\nwater\n[ molecules ]\n";
    topology += &format!("SOL {number}\n");
    let mut coordinates = format!("lattice\n{}\n", 3 * number);
    for site in 0..number {
        let shift = [site / (EDGE * EDGE), site / EDGE % EDGE, site % EDGE].map(|n| n as f64 * SPACING);
        for (index, (name, at)) in names.iter().zip(molecule).enumerate() {
            let [x, y, z] = [0, 1, 2].map(|k| at[k] + shift[k]);
            let atom = 3 * site + index + 1;
            coordinates += &format!("{:>5}{:<5}{name:>5}{atom:>5}{x:12.7}{y:12.7}{z:12.7}\n", site + 1, "SOL");
        }
    }
    coordinates += &format!("{0:.5} {0:.5} {0:.5}\n", EDGE as f64 * SPACING);
    let case = Case::new("water", "");
    let [top, gro] = ["water.top", "water.gro"].map(|name| case.path(name));
    std::fs::write(&top, topology).unwrap();
    std::fs::write(&gro, coordinates).unwrap();
    case.write_input(&top, &gro, STAGE);
    case.ends_with(0, &["--steps", "1"]);
}
