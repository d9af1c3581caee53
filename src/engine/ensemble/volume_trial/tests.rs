use super::*;
use crate::ensemble::CouplingStep;
use crate::ensemble::barostat::{Barostat, BarostatKind, PressureCoupling};
use crate::ensemble::schedule::Schedule;
use crate::rng::RandomKey;
use crate::units::BOLTZMANN;

const TEMPERATURE: f64 = 300.0;
/// Target pressure of the tests, kJ/mol/nm³.
const PRESSURE: f64 = 0.06;
const MOLECULES: usize = 50;
/// Maximum deviation in standard errors. The seed is fixed, so that the test cannot fail at random.
const STANDARD_ERRORS: f64 = 4.0;
const TRIALS: u64 = 400_000;
/// Number of moves after which block means are independent. The volume decorrelates within some tens of moves.
const BLOCK: usize = 1000;

fn barostat(coupling: PressureCoupling, free: [bool; 3], surface_tension: f64) -> Barostat {
    Barostat {
        kind: BarostatKind::MonteCarlo,
        coupling,
        pressure: [PRESSURE; 3].map(Schedule::from),
        surface_tension,
        coupling_time: 0.0,
        compressibility: free.map(|free| if free { 1.0 / PRESSURE } else { 0.0 }),
        every: 1,
    }
}

fn edge(molecules: usize) -> f64 {
    (molecules as f64 * BOLTZMANN * TEMPERATURE / PRESSURE).cbrt()
}

/// Returns the edges of the cell of an ideal gas after each move with constant Δ, and the counters of the moves. If
/// three extents change, each extent has a third of the moves.
fn ideal_gas(barostat: &Barostat, molecules: usize) -> (Vec<[f64; 3]>, [TrialMoves; 3]) {
    let (mut cell, mut moves) = (PeriodicCell::orthorhombic([edge(molecules); 3]), [TrialMoves::default(); 3]);
    let mut step = |step| {
        let at = CouplingStep { time: 0.0, timestep: 0.002, key: RandomKey { seed: 3, step } };
        let trial = barostat.trial(TEMPERATURE, at);
        let moves = &mut moves[trial.extent];
        let change = trial.change_of(moves, cell.volume());
        let stretched = cell.stretched(trial.factors(change));
        let accepted = trial.is_accepted(change, 0.0, [&cell, &stretched], molecules);
        VolumeTrial::count(moves, accepted);
        cell = if accepted { stretched } else { cell };
        let [a, b, c] = cell.rows();
        [a.x, b.y, c.z]
    };
    let edges = (0..TRIALS).map(&mut step).skip(4 * ADAPTING as usize).collect();
    (edges, moves)
}

/// Mean of a quantity minus its expected value, in standard errors estimated from block means.
fn off(values: impl Iterator<Item = f64>, expected: f64) -> f64 {
    let values: Vec<f64> = values.collect();
    let blocks: Vec<f64> = values.chunks_exact(BLOCK).map(|block| block.iter().sum::<f64>() / BLOCK as f64).collect();
    let n = blocks.len() as f64;
    let mean = blocks.iter().sum::<f64>() / n;
    let variance = blocks.iter().map(|block| (block - mean).powi(2)).sum::<f64>() / (n * (n - 1.0));
    (mean - expected) / variance.sqrt()
}

/// Tests that values have the distribution Γ(N+1), with mean and variance N+1. The test would detect an error of five
/// percent.
fn assert_gamma(values: &[f64], what: &str) {
    let shape = MOLECULES as f64 + 1.0;
    let mean = off(values.iter().copied(), shape);
    let variance = off(values.iter().map(|value| (value - shape).powi(2)), shape);
    assert!(mean.abs() < STANDARD_ERRORS && variance.abs() < STANDARD_ERRORS, "{what}: {mean} and {variance}");
    let wrong = off(values.iter().map(|value| 1.05 * value), shape);
    assert!(wrong.abs() > STANDARD_ERRORS, "{what}: five percent are {wrong} standard errors");
}

#[test]
fn volume_follows_the_ensemble() {
    for coupling in [PressureCoupling::Isotropic, PressureCoupling::SemiIsotropic, PressureCoupling::Anisotropic] {
        let (edges, moves) = ideal_gas(&barostat(coupling, [true; 3], 0.0), MOLECULES);
        let scale = PRESSURE / (BOLTZMANN * TEMPERATURE);
        let volumes: Vec<f64> = edges.iter().map(|[x, y, z]| x * y * z * scale).collect();
        assert_gamma(&volumes, &format!("{coupling:?}"));
        for (directions, moves) in coupling.extents().iter().zip(&moves) {
            let share = moves.accepted as f64 / moves.tried as f64;
            // because the gas has few molecules, an acceptance of one half may need a larger change of a single
            // direction than the limit allows
            let most = directions.len() as f64 * (1.0 + LARGEST_CHANGE).ln();
            let as_wanted = (0.3..0.7).contains(&share) || (moves.largest > 0.9 * most && share > 0.5);
            assert!(as_wanted, "{share} accepted along {directions:?}, {}", moves.largest);
            let expected = TRIALS as f64 / coupling.extents().len() as f64;
            assert!((moves.tried as f64 / expected - 1.0).abs() < 0.01);
        }
        let alike = edges.iter().all(|[x, y, _]| (x / y - 1.0).abs() < 1e-9);
        assert_eq!(alike, coupling != PressureCoupling::Anisotropic);
    }
}

#[test]
fn the_shape_of_a_fluid_diffuses_as_estimated() {
    // number of molecules that is large enough that no change of a length reaches the limit
    const MANY: usize = 5000;
    for coupling in [PressureCoupling::SemiIsotropic, PressureCoupling::Anisotropic] {
        let barostat = barostat(coupling, [true; 3], 0.0);
        let (edges, _) = ideal_gas(&barostat, MANY);
        // time step of 1 ps, with a volume move in every step
        let expected = barostat.shape_diffusion(TEMPERATURE, edge(MANY).powi(3), 1.0).unwrap();
        let shapes: Vec<f64> = edges.iter().step_by(BLOCK).map(|[x, _, z]| (x / z).ln()).collect();
        let squares = shapes.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum::<f64>();
        let found = squares / ((shapes.len() - 1) * BLOCK) as f64;
        // the mean of the squares of 400 changes has a standard error of 7 %, and the estimate has an error of the same
        // size
        assert!((found / expected - 1.0).abs() < STANDARD_ERRORS * 0.07, "{coupling:?}: {found} for {expected}");
    }
}

#[test]
fn area_follows_the_ensemble_under_a_surface_tension() {
    for surface_tension in [0.0, 0.25 * PRESSURE * edge(MOLECULES), -0.5 * PRESSURE * edge(MOLECULES)] {
        let barostat = barostat(PressureCoupling::SemiIsotropic, [true, true, false], surface_tension);
        let (edges, _) = ideal_gas(&barostat, MOLECULES);
        assert!(edges.iter().all(|edges| edges[2] == edge(MOLECULES)));
        let scale = (PRESSURE * edge(MOLECULES) - surface_tension) / (BOLTZMANN * TEMPERATURE);
        let areas: Vec<f64> = edges.iter().map(|[x, y, _]| x * y * scale).collect();
        assert_gamma(&areas, &format!("{surface_tension}"));
    }
}

#[test]
fn energies_that_are_no_numbers_are_refused() {
    let at = CouplingStep { time: 0.0, timestep: 0.002, key: RandomKey { seed: 1, step: 1 } };
    let trial = barostat(PressureCoupling::Isotropic, [true; 3], 0.0).trial(TEMPERATURE, at);
    let cell = PeriodicCell::orthorhombic([3.0; 3]);
    for energy in [f64::NAN, f64::INFINITY] {
        assert!(!trial.is_accepted(0.0, energy, [&cell, &cell], 10));
    }
    assert!(trial.is_accepted(0.0, 0.0, [&cell, &cell], 10));
}

#[test]
fn the_largest_change_stays_after_the_adaptation() {
    for (tried, adapts) in [(0, true), (ADAPTING - 1, true), (ADAPTING, false), (10 * ADAPTING, false)] {
        for accepted in [true, false] {
            let mut moves = TrialMoves { largest: 0.01, tried, accepted: 0, too_small: 0 };
            VolumeTrial::count(&mut moves, accepted);
            assert_eq!(moves.largest != 0.01, adapts);
            assert_eq!((moves.tried, moves.accepted), (tried + 1, u64::from(accepted)));
        }
    }
}
