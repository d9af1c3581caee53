use super::*;
use crate::vec3::{Vec3, vec3};

/// Maximum deviation in standard errors. The seeds are fixed, so that the test cannot fail at random.
const STANDARD_ERRORS: f64 = 4.0;

fn exchange(states: Vec<Conditions>) -> Exchange {
    Exchange { every: 10, seed: 5, states }
}

fn at(temperature: f64) -> Conditions {
    Conditions { temperature, pressure: None }
}

/// Energies and volume of a replica, for states with the same Hamiltonian.
fn offer(energy: f64, volume: f64) -> Offer {
    Offer { own: energy, other: energy, volume }
}

#[test]
fn neighbours_alternate() {
    assert_eq!(pairs(1, 5).collect::<Vec<_>>(), [0, 2]);
    assert_eq!(pairs(2, 5).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(pairs(2, 2).count() + pairs(7, 1).count() + pairs(1, 0).count(), 0);
    assert_eq!([0, 1, 2, 3, 4].map(|state| neighbour(1, state, 5)), [Some(1), Some(0), Some(3), Some(2), None]);
    assert_eq!([0, 1, 2, 3, 4].map(|state| neighbour(2, state, 5)), [None, Some(2), Some(1), Some(4), Some(3)]);
    let exchange = exchange(vec![at(300.0); 2]);
    assert_eq!([0, 5, 10, 15, 20].map(|step| exchange.attempt_at(step)), [None, None, Some(1), None, Some(2)]);
}

/// Compares exchange probabilities with the formulas of Sugita and Okamoto and of Okabe et al., for given energies and
/// volumes.
#[test]
fn probabilities_are_those_of_the_papers() {
    let [t1, t2] = [300.0, 330.0];
    let [b1, b2] = [t1, t2].map(|t| 1.0 / (BOLTZMANN * t));
    let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-12, "{a} {b}");
    let probability = |exchange: &Exchange, offers: [Offer; 2]| {
        // the order of replicas must not matter: replica 1 is in state 0
        let decided = exchange.decide(1, &[1, 0], &[offers[1], offers[0]]);
        assert_eq!(decided.probabilities.len(), 1);
        decided.probabilities[0].unwrap()
    };
    // the formula of Sugita and Okamoto is Δ = (β₂ − β₁)(U₁ − U₂) with β = 1/kT; the lower temperature has the lower
    // energy
    let temperatures = exchange(vec![at(t1), at(t2)]);
    near(probability(&temperatures, [offer(-100.0, 0.0), offer(-92.0, 0.0)]), ((b2 - b1) * 8.0).exp());
    assert_eq!(probability(&temperatures, [offer(-92.0, 0.0), offer(-100.0, 0.0)]), 1.0);
    assert_eq!(probability(&temperatures, [offer(f64::NAN, 0.0), offer(-100.0, 0.0)]), 0.0);
    // the formula of Okabe et al. is Δ = (β₂ − β₁)(U₁ − U₂) + (β₂P₂ − β₁P₁)(V₁ − V₂) with β = 1/kT
    let (p1, p2) = (0.06, 60.0);
    let of = |temperature, pressure| Conditions { temperature, pressure: Some(pressure) };
    let pressures = exchange(vec![of(t1, p1), of(t2, p2)]);
    let delta = (b2 - b1) * (-100.0 + 92.0) + (b2 * p2 - b1 * p1) * (27.2 - 27.1);
    near(probability(&pressures, [offer(-100.0, 27.2), offer(-92.0, 27.1)]), (-delta).exp());
    // for two Hamiltonians at one temperature and replicas a and b, Δ = β (U₁(b) + U₂(a) − U₁(a) − U₂(b))
    let hamiltonians = exchange(vec![at(t1); 2]);
    let [a, b] = [(-50.0, -45.5), (-47.0, -48.0)].map(|(own, other)| Offer { own, other, volume: 1.0 });
    near(probability(&hamiltonians, [a, b]), (-b1 * (-48.0 + -45.5 + 50.0 + 47.0)).exp());
}

/// Tests replicas of n harmonic degrees of freedom, whose energies are drawn between attempts from the distribution
/// Gamma(n/2) in units of kT. Each state must keep its distribution, and the acceptance of neighbours must be the
/// integral over both distributions.
#[test]
fn harmonic_degrees_of_freedom_are_swapped_as_often_as_they_should() {
    let (temperatures, shape, attempts) = ([300.0, 360.0, 430.0], 4.0, 40_000u64);
    let exchange = exchange(temperatures.map(at).to_vec());
    let (mut states, mut accepted, mut probability) = (vec![0, 1, 2], [0.0; 2], [0.0; 2]);
    let mut moments = [[0.0; 2]; 3];
    for attempt in 1..=attempts {
        let energies: Vec<f64> = (states.iter().enumerate())
            .map(|(replica, &state): (usize, &usize)| {
                let mut stream = Stream::new(3, Purpose::Test, attempt, replica as u32);
                BOLTZMANN * temperatures[state] * stream.gamma(shape)
            })
            .collect();
        let offers: Vec<Offer> = energies.iter().map(|&energy| offer(energy, 0.0)).collect();
        let decided = exchange.decide(attempt, &states, &offers);
        for (pair, tried) in decided.probabilities.iter().enumerate() {
            let Some(chance) = tried else { continue };
            let swapped = states.iter().zip(&decided.states).any(|(a, b)| *a == pair && *b == pair + 1);
            accepted[pair] += f64::from(u8::from(swapped));
            probability[pair] += chance;
        }
        states = decided.states;
        for (replica, &state) in states.iter().enumerate() {
            let reduced = energies[replica] / (BOLTZMANN * temperatures[state]);
            moments[state][0] += reduced;
            moments[state][1] += reduced * reduced;
        }
    }
    let tried = attempts as f64 / 2.0;
    for pair in 0..2 {
        let expected = mean_probability(temperatures[pair], temperatures[pair + 1], shape);
        let error = STANDARD_ERRORS * (expected * (1.0 - expected) / tried).sqrt();
        for found in [accepted[pair] / tried, probability[pair] / tried] {
            assert!((found - expected).abs() < error, "pair {pair}: {found}, expected {expected} ± {error}");
        }
    }
    let samples = attempts as f64;
    for [first, second] in moments {
        let (mean, variance) = (first / samples, second / samples - (first / samples).powi(2));
        // independent samples of Gamma(a) have the variance a, and their squared deviations have the variance 2 a² +
        // 6 a
        assert!((mean - shape).abs() < STANDARD_ERRORS * (shape / samples).sqrt(), "mean {mean}");
        let error = ((2.0 * shape * shape + 6.0 * shape) / samples).sqrt();
        assert!((variance - shape).abs() < STANDARD_ERRORS * error, "variance {variance}");
    }
}

/// Returns the mean exchange probability ∫∫ p₁(U₁) p₂(U₂) min(1, exp((β₁−β₂)(U₁−U₂))) of two Gamma distributions p₁ and
/// p₂, by the rectangle rule.
fn mean_probability(low: f64, high: f64, shape: f64) -> f64 {
    // integration limit: energies are in units of kT at the lower temperature, and both distributions are negligible
    // beyond 60
    let (ratio, steps, end) = (low / high, 1500, 60.0);
    let width = end / f64::from(steps);
    let density = |beta: f64| -> Vec<(f64, f64)> {
        let points = (0..steps).map(|k| (f64::from(k) + 0.5) * width);
        points
            .map(|u| (u, (shape * beta.ln() + (shape - 1.0) * u.ln() - beta * u - libm::lgamma(shape)).exp()))
            .collect()
    };
    let (first, second) = (density(1.0), density(ratio));
    let mut sum = 0.0;
    for (u1, p1) in &first {
        sum += p1 * second.iter().map(|(u2, p2)| p2 * ((1.0 - ratio) * (u1 - u2)).exp().min(1.0)).sum::<f64>();
    }
    sum * width * width
}

#[test]
fn the_estimate_is_near_the_integral() {
    for (degrees, high) in [(60, 320.0), (60, 400.0), (20, 450.0)] {
        let (estimate, exact) =
            (harmonic_acceptance(degrees, [300.0, high]), mean_probability(300.0, high, 0.5 * degrees as f64));
        assert!((estimate - exact).abs() < 0.02, "{degrees} {high}: {estimate} {exact}");
    }
}

#[test]
fn velocities_are_scaled_and_the_work_is_booked() {
    let mut state = State { velocities: vec![vec3(1.0, 0.0, 0.0), vec3(0.0, -2.0, 0.0)], ..State::default() };
    let masses = [2.0, 3.0];
    scale_velocities(&mut state, &masses, 1.5, 1);
    assert_eq!(state.velocities[1], vec3(0.0, -3.0, 0.0));
    // the kinetic energy was 7 kJ/mol
    assert_eq!(state.coupling.thermostat_work, 1.25 * 7.0);
    assert_eq!(state.coupling.pending_rescaling, [1.0 - 1.0 / 1.5]);
    // two factors before the next step have the same effect as a single factor equal to their product
    scale_velocities(&mut state, &masses, 0.8, 1);
    let both: f64 = 1.5 * 0.8;
    assert!((state.coupling.thermostat_work - (both * both - 1.0) * 7.0).abs() < 1e-14);
    assert!((state.coupling.pending_rescaling[0] - (1.0 - 1.0 / both)).abs() < 1e-15);
    assert!(state.velocities.iter().all(|v: &Vec3| v.is_finite()));
    let mut groups = State::default();
    scale_velocities(&mut groups, &[], 2.0, 3);
    assert_eq!(groups.coupling.pending_rescaling, [0.5; 3]);
}
