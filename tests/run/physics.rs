//! Conservation laws and temperatures, in short runs.

use md::observe::statistics::Average;

use crate::case::Case;

fn input(run: &str, forces: &str, stage: &str) -> String {
    format!(
        "[run]\nthreads = 1\n{run}\n[forces]\n{forces}\n[[stage]]\nname = \"a\"\nkind = \"dynamics\"\n\
         velocities = \"generate\"\n{stage}"
    )
}

const PERIODIC: &str = "cutoff = \"0.8 nm\"\npme = { spacing = \"0.12 nm\", order = 5 }";
const VACUUM: &str = "cutoff = \"none\"\nelectrostatics = \"plain\"";

/// RMS distance of a column from its line of least squares.
fn fluctuation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let (mean, middle) = (values.iter().sum::<f64>() / n, 0.5 * (n - 1.0));
    let products: f64 = values.iter().enumerate().map(|(i, v)| (i as f64 - middle) * (v - mean)).sum();
    let slope = products / (n * (n * n - 1.0) / 12.0);
    let squares: f64 = values.iter().enumerate().map(|(i, v)| (v - mean - slope * (i as f64 - middle)).powi(2)).sum();
    (squares / n).sqrt()
}

/// Fluctuations of the conserved energy with two time steps over the same time.
fn fluctuations(system: &str, run: &str, forces: &str, timesteps: [&str; 2], duration: &str) -> [f64; 2] {
    timesteps.map(|timestep| {
        let stage = format!(
            "temperature = \"300 K\"\ntimestep = \"{timestep}\"\nduration = \"{duration}\"\n\
             [output]\nenergies = {{ every = \"{}\" }}\ntrajectory = \"none\"",
            timesteps[0]
        );
        let case = Case::new(system, &input(run, &format!("{forces}\nconstraints = \"none\""), &stage));
        case.ends_with(0, &[]);
        let conserved = case.column("out", "conserved (kJ/mol)");
        let found = fluctuation(&conserved);
        println!("{system} {run} {timestep}: {} rows, fluctuation {found:.5} kJ/mol", conserved.len());
        found
    })
}

#[test]
fn fluctuation_grows_with_the_square_of_the_time_step() {
    for (system, run, forces, timesteps, duration) in [
        ("peptide-vacuum", "precision = \"double\"", VACUUM, ["0.5 fs", "0.25 fs"], "5 ps"),
        ("peptide-vacuum", "", VACUUM, ["0.5 fs", "0.25 fs"], "5 ps"),
        ("water", "", PERIODIC, ["0.5 fs", "0.25 fs"], "1 ps"),
    ] {
        let [long, short] = fluctuations(system, run, forces, timesteps, duration);
        println!("{system} {run}: ratio {:.3}", long / short);
    }
}

fn average(case: &Case, name: &str) -> Average {
    let stage = case.summary("out").stages.pop().unwrap();
    stage.averages.into_iter().find(|average| average.name == name).unwrap()
}

#[test]
fn conserved_quantities_of_coupled_runs() {
    for barostat in ["", "barostat = { pressure = \"1 bar\", coupling_time = \"1 ps\" }"] {
        let stage = format!(
            "duration = \"8 ps\"\ntimestep = \"2 fs\"\nthermostat = {{ temperature = \"300 K\", coupling_time = \"0.1 ps\" }}\n\
             {barostat}\n[output]\nenergies = {{ every = \"20 fs\" }}\ntrajectory = \"none\""
        );
        let case = Case::new("water", &input("", PERIODIC, &stage));
        let start = std::time::Instant::now();
        case.ends_with(0, &[]);
        println!("{barostat}: {:?}", start.elapsed());
        for name in ["conserved", "total", "temperature", "pressure", "volume"] {
            let a = average(&case, name);
            println!("  {name}: {:.4} ± {:?}, fluctuation {:.4}, drift {:.5} /ps", a.mean, a.error, a.fluctuation, a.drift);
        }
    }
    let stage = "duration = \"40 ps\"\ntimestep = \"2 fs\"\nthermostat = { temperature = \"300 K\", coupling_time = \"0.1 ps\" }\n\
        [output]\nenergies = { every = \"20 fs\" }\ntrajectory = \"none\"";
    let case = Case::new("peptide-vacuum", &input("", VACUUM, stage));
    let start = std::time::Instant::now();
    case.ends_with(0, &[]);
    println!("vacuum: {:?}", start.elapsed());
    for name in ["conserved", "total", "temperature"] {
        let a = average(&case, name);
        println!("  {name}: {:.4} ± {:?}, fluctuation {:.4}, drift {:.5} /ps", a.mean, a.error, a.fluctuation, a.drift);
    }
}
