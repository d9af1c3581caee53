//! Tests the input with steps of 4 fs that the documentation recommends: `inputs/ala2-water/4fs.toml`.

use std::path::Path;

use md::config::Config;
use md::prepare::{ConstrainedTerms, Prepared};
use md::run::{Dynamics, Engine, Wanted, load, refuse};

/// Drift tolerance in kJ/mol/ps per atom. The conserved energy of these 2,047 atoms fluctuates by 7 kJ/mol RMS with a
/// correlation time of some 0.2 ps, so the slope over 4 ps has an error of 7·10⁻⁴. The tolerance is four times this
/// error. Over 40 ps the drift is (2 ± 2)·10⁻⁵.
const DRIFT: f64 = 3e-3;

fn slope(rows: &[(f64, f64)]) -> f64 {
    let n = rows.len() as f64;
    let (time, energy) = rows.iter().fold((0.0, 0.0), |(a, b), (t, e)| (a + t / n, b + e / n));
    let covariance: f64 = rows.iter().map(|(t, e)| (t - time) * (e - energy)).sum();
    covariance / rows.iter().map(|(t, _)| (t - time).powi(2)).sum::<f64>()
}

#[test]
fn the_input_for_4_fs_has_heavy_hydrogens_and_keeps_its_energy() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("inputs/ala2-water/4fs.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let plan = Config::parse(&text, &path, &[]).unwrap().plan;
    let Prepared { system, mut state, .. } = load(&plan, ConstrainedTerms::Drop).unwrap();
    refuse(&plan, &system).unwrap();
    let (_, production) = plan.dynamics().last().unwrap();
    assert_eq!(production.timestep, 0.004);
    // the 12 hydrogens of the solute have repartitioned masses, the hydrogens of water keep their masses, and the total
    // mass is unchanged
    let topology = &system.topology;
    let hydrogens = topology.atoms.iter().filter(|atom| atom.element == 1);
    assert_eq!(hydrogens.filter(|atom| atom.mass == 3.024).count(), 12);
    let light = mass(&text.replace("hydrogen_mass", "# hydrogen_mass"), &path);
    assert!((topology.atoms.iter().map(|atom| atom.mass).sum::<f64>() / light - 1.0).abs() < 1e-12);
    // the system is heated as in the input file and then runs at constant energy
    let engine = Engine::on(2).unwrap();
    let (_, heat) = plan.dynamics().next().unwrap();
    let mut heating = engine.simulation(&plan, &system, heat, &mut state).unwrap();
    for _ in 0..500 {
        heating.step(Wanted::default(), |_| Ok(())).unwrap();
    }
    heating.download(&mut state).unwrap();
    let long = Dynamics { timestep: production.timestep, ..Dynamics::default() };
    let mut simulation = engine.simulation(&plan, &system, &long, &mut state).unwrap();
    let mut rows = vec![];
    for step in 0..1000 {
        let energies = step % 2 == 0;
        let now = simulation.step(Wanted { energies }, |_| Ok(())).unwrap();
        rows.extend(energies.then_some((simulation.time(), now.conserved)));
    }
    let drift = slope(&rows) / topology.atoms.len() as f64;
    println!("{drift:e} kJ/mol/ps for each atom");
    assert!(drift.abs() < DRIFT, "{drift:e} kJ/mol/ps for each atom");
}

/// Returns the mass of a system in amu.
fn mass(text: &str, path: &Path) -> f64 {
    let plan = Config::parse(text, path, &[]).unwrap().plan;
    let Prepared { system, .. } = load(&plan, ConstrainedTerms::Drop).unwrap();
    system.topology.atoms.iter().map(|atom| atom.mass).sum()
}
