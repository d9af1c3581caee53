//! Tests of runs that start from the final state of an earlier run.

use std::path::Path;

use crate::case::Case;

/// Number of atoms without interactions.
const ATOMS: u32 = 100;

/// Writes a gas without interactions to `folder`, with coordinates without velocities.
fn write_gas(folder: &Path) {
    let mut text = format!("gas\n{ATOMS}\n");
    for atom in 0..ATOMS {
        let place = [atom % 5, atom / 5 % 5, atom / 25].map(|k| 0.4 + 0.8 * f64::from(k));
        let [x, y, z] = place;
        text += &format!("{0:5}{1:<5}{1:>5}{0:5}{x:8.3}{y:8.3}{z:8.3}\n", atom + 1, "X");
    }
    std::fs::write(folder.join("atoms.gro"), text + "   8.00000   8.00000   8.00000\n").unwrap();
    let types = "[ defaults ]\n1 2 no 1.0 1.0\n[ atomtypes ]\nX 6 20.0 0.0 A 0.3 0.0\n";
    let molecule = "[ moleculetype ]\nX 0\n[ atoms ]\n1 X 1 X X 1 0.0 20.0\n";
    let system = format!("{types}{molecule}[ system ]\ngas\n[ molecules ]\nX {ATOMS}\n");
    std::fs::write(folder.join("atoms.top"), system).unwrap();
}

/// Correlation coefficient of the velocities of two runs.
fn correlation(case: &Case, directories: [&str; 2]) -> f64 {
    let [a, b] = directories.map(|directory| {
        let state = case.state(directory);
        state.velocities.iter().flat_map(|v| [v.x, v.y, v.z]).collect::<Vec<f64>>()
    });
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
}

/// Two runs one after another with the default seed. In a gas without interactions, velocities after many relaxation
/// times depend on the random numbers only, so that equal random numbers would give equal velocities.
#[test]
fn a_run_from_the_end_of_another_has_independent_noise() {
    let forces = "[run]\nthreads = 1\n[forces]\ncutoff = \"0.3 nm\"\nelectrostatics = \"off\"\n\
        dispersion_correction = false\n[output]\ntrajectory = \"none\"\nenergies = { every = \"0.1 ps\" }\n";
    // the correlation of the velocities of an atom decays to exp(-20) in 2 ps
    let stage = |thermostat: &str, velocities: &str| {
        format!(
            "{forces}[[stage]]\nkind = \"dynamics\"\nsteps = 1000\ntimestep = \"2 fs\"\ncom_removal = \"none\"\n\
             velocities = \"{velocities}\"\nthermostat = {{ {thermostat}, temperature = \"300 K\" }}\n"
        )
    };
    for thermostat in ["kind = \"langevin\", friction = \"10 1/ps\"", "kind = \"andersen\", coupling_time = \"0.1 ps\""]
    {
        let case = Case::new("water", "");
        write_gas(&case.path(""));
        let topology = case.path("atoms.top");
        case.write_input(&topology, &case.path("atoms.gro"), &stage(thermostat, "generate"));
        case.ends_with(0, &["--output-dir", "first"]);
        case.ends_with(0, &["--output-dir", "same"]);
        assert_eq!(case.summary("first").final_state_hash, case.summary("same").final_state_hash);
        for file in ["checkpoint.md", "final.rst7"] {
            case.write_input(&topology, &case.path("first").join(file), &stage(thermostat, "file"));
            let [second, parts] = ["second", "parts"].map(|name| format!("{name}-{file}"));
            case.ends_with(0, &["--output-dir", &second]);
            // four standard errors of the correlation of independent numbers
            let most = 4.0 / (3.0 * f64::from(ATOMS)).sqrt();
            let found = correlation(&case, ["first", &second]);
            println!("{thermostat} {file}: correlation {found:.4}");
            assert!(found.abs() < most, "{thermostat} {file}: {found}");
            // a continued run draws the random numbers of the uninterrupted run
            for steps in ["300", "1000"] {
                case.ends_with(0, &["--output-dir", &parts, "--steps", steps]);
            }
            assert_eq!(case.summary(&second).final_state_hash, case.summary(&parts).final_state_hash);
        }
    }
}
