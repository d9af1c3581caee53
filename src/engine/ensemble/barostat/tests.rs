use super::*;
use crate::ensemble::rescaling::{Bath, scaling_work, velocity_rescale};
use crate::ensemble::schedule::Schedule;
use crate::vec3::vec3;

/// Maximum deviation in standard errors. The seed is fixed, so that the test cannot fail at random.
const STANDARD_ERRORS: f64 = 4.0;
const TEMPERATURE: f64 = 300.0;
/// Target pressure of the tests, kJ/mol/nm³.
const PRESSURE: f64 = 0.06;

/// Volumes (in units of kT/P₀) of an ideal gas of `count` atoms with a thermostat and a barostat: one volume after each
/// coupling.
fn ideal_gas(count: usize, steps: u64, interval: f64) -> Vec<f64> {
    let kt = BOLTZMANN * TEMPERATURE;
    // β = 1/P₀ is the compressibility of the ideal gas, so that the volume relaxes with the coupling time τ = 1 ps
    let target = Target { pressure: PRESSURE, compressibility: 1.0 / PRESSURE, coupling_time: 1.0 };
    let mut volume = count as f64 * kt / PRESSURE;
    let mut kinetic = 1.5 * count as f64 * kt;
    (0..steps)
        .map(|step| {
            let degrees_of_freedom = 3.0 * count as f64;
            let bath = Bath { degrees_of_freedom, temperature: TEMPERATURE, coupling_time: 0.05 };
            let factor = velocity_rescale(bath, interval, RandomKey { seed: 23, step }, 0).factor(kinetic).unwrap();
            kinetic += scaling_work(kinetic, factor);
            let measured = pressure(kinetic, 0.0, volume);
            let relaxation = stochastic_rescale(target, TEMPERATURE, interval, RandomKey { seed: 23, step }, 0);
            let factor = relaxation.length_factor(measured, volume, 3).unwrap();
            kinetic /= factor * factor;
            volume *= factor.powi(3);
            volume * PRESSURE / kt
        })
        .collect()
}

/// Deviations of the mean and the variance of `values` from those of the distribution Γ(shape), in standard errors.
/// `independent` is the number of independent values. The Euler step makes the variance of the volume larger by the
/// fraction `discretisation`.
fn off_gamma(values: &[f64], shape: f64, independent: f64, discretisation: f64) -> [f64; 2] {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - shape).powi(2)).sum::<f64>() / n;
    // the fourth central moment of Γ(k) is 3 k (k + 2); squared deviations decorrelate twice as fast as the
    // deviations, so that the estimate of the variance has twice as many independent values
    let error = ((3.0 * shape * (shape + 2.0) - shape * shape) / (2.0 * independent)).sqrt();
    let beyond = ((variance - shape).abs() - shape * discretisation).max(0.0);
    [(mean - shape) / (shape / independent).sqrt(), beyond / error]
}

fn assert_gamma(values: &[f64], shape: f64, independent: f64, discretisation: f64) {
    let off = off_gamma(values, shape, independent, discretisation);
    assert!(off.iter().all(|off| off.abs() < STANDARD_ERRORS), "off by {off:?} standard errors");
    // the test would detect a pressure that is wrong by five percent
    let wrong: Vec<f64> = values.iter().map(|value| value * 1.05).collect();
    let off = off_gamma(&wrong, shape, independent, discretisation);
    assert!(off[0].abs() > STANDARD_ERRORS, "a deviation of five percent equals {} standard errors", off[0]);
}

#[test]
fn ideal_gas_has_the_volumes_of_the_ensemble() {
    // p(V) ∝ V^N exp(−P₀V/kT) is a Γ(N+1) distribution, whose mean and variance are N + 1 in units of kT/P₀; without
    // the drift term kT/2V of λ mean and variance would be N
    for count in [50usize, 400] {
        let (interval, steps) = (0.01, 4_000_000u64);
        let values = ideal_gas(count, steps, interval);
        // with the relaxation time of 1 ps, the mean has 1/(2·1 ps) independent values per ps
        assert_gamma(&values, count as f64 + 1.0, steps as f64 * interval / 2.0, interval);
    }
}

/// Ideal gas with a barostat. The kinetic energy of the gas does not fluctuate and equals its canonical mean.
struct Gas {
    barostat: Barostat,
    count: f64,
    cell: PeriodicCell,
}

/// Interval between couplings of a [`Gas`], ps. `STEPS` is the number of couplings.
const INTERVAL: f64 = 0.01;
const STEPS: u64 = 2_000_000;

impl Gas {
    /// Makes a gas with the compressibility of an ideal gas along the `free` directions of x, y, z, and τ of 1 ps.
    fn new(coupling: PressureCoupling, free: [bool; 3], surface_tension: f64) -> Self {
        let barostat = Barostat {
            kind: BarostatKind::CRescale,
            coupling,
            pressure: [PRESSURE; 3].map(Schedule::from),
            surface_tension,
            coupling_time: 1.0,
            compressibility: free.map(|free| if free { 1.0 / PRESSURE } else { 0.0 }),
            every: 1,
        };
        let count = 50.0;
        let edge = (count * BOLTZMANN * TEMPERATURE / PRESSURE).cbrt();
        Gas { barostat, count, cell: PeriodicCell::orthorhombic([edge; 3]) }
    }

    fn edges(&self) -> [f64; 3] {
        let [a, b, c] = self.cell.rows();
        [a.x, b.y, c.z]
    }

    /// Runs the gas, and returns the edges of the cell (nm) after each coupling.
    fn sample(&mut self) -> Vec<[f64; 3]> {
        let step = |step| {
            let measured = Vec3::splat(self.count * BOLTZMANN * TEMPERATURE / self.cell.volume());
            let at = CouplingStep { time: 0.0, timestep: INTERVAL, key: RandomKey { seed: 5, step } };
            let scaling = self.barostat.scaling(TEMPERATURE, at);
            self.cell = self.cell.stretched(scaling.factors(measured, &self.cell).unwrap().lengths);
            self.edges()
        };
        (0..STEPS).map(step).collect()
    }
}

/// Mean-square change of a quantity over 1 ps.
fn diffusion(values: &[f64]) -> f64 {
    let window = (1.0 / INTERVAL) as usize;
    let starts: Vec<f64> = values.iter().step_by(window).copied().collect();
    starts.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum::<f64>() / (starts.len() - 1) as f64
}

/// Relative standard error of the mean square of normally distributed changes, with one change for each ps of the run.
fn diffusion_error() -> f64 {
    (2.0 / (STEPS as f64 * INTERVAL)).sqrt()
}

#[test]
fn volume_follows_the_ensemble_and_the_shape_diffuses_freely() {
    // the volume has the distribution Γ(N+1), for which ⟨1/V⟩ is P₀/NkT. Let ε₁ and ε₂ be the logarithms of two extents
    // of n₁ and n₂ directions, with the compressibilities β n₁/3 and β n₂/3. The difference ε₁/n₁ − ε₂/n₂ = ln L_x − ln
    // L_z has no drift, and the square of the noise of this difference is 2kTβ/3Vτ (1/n₁ + 1/n₂) dt
    for (coupling, inverses) in [(PressureCoupling::SemiIsotropic, 1.5), (PressureCoupling::Anisotropic, 2.0)] {
        let mut gas = Gas::new(coupling, [true; 3], 0.0);
        let (count, kt) = (gas.count, BOLTZMANN * TEMPERATURE);
        let edges = gas.sample();
        let volumes: Vec<f64> = edges.iter().map(|[x, y, z]| x * y * z * PRESSURE / kt).collect();
        // the relaxation rates of the extents add up to the rate of the volume, 1/ps
        assert_gamma(&volumes, count + 1.0, STEPS as f64 * INTERVAL / 2.0, INTERVAL);
        let shapes: Vec<f64> = edges.iter().map(|[x, _, z]| (x / z).ln()).collect();
        let expected = 2.0 / (3.0 * count) * inverses;
        assert!(
            (gas.barostat.shape_diffusion(TEMPERATURE, count * kt / PRESSURE, INTERVAL).unwrap() / expected - 1.0)
                .abs()
                < 1e-12
        );
        let ratio = diffusion(&shapes) / expected;
        assert!((ratio - 1.0).abs() < STANDARD_ERRORS * diffusion_error(), "{coupling:?}: {ratio}");
        let alike = edges.iter().all(|[x, y, _]| (x / y - 1.0).abs() < 1e-9);
        assert_eq!(alike, coupling == PressureCoupling::SemiIsotropic);
    }
}

#[test]
fn area_follows_the_ensemble_under_a_surface_tension() {
    // the area A has the distribution p(A) ∝ A^N exp(−(P₀L − γ₀)A/kT) at a fixed height L and surface tension γ₀
    let height = Gas::new(PressureCoupling::SemiIsotropic, [true; 3], 0.0).edges()[2];
    for surface_tension in [0.0, 0.25 * PRESSURE * height, -0.5 * PRESSURE * height] {
        let mut gas = Gas::new(PressureCoupling::SemiIsotropic, [true, true, false], surface_tension);
        let stiffness = PRESSURE * height - surface_tension;
        let scale = stiffness / (BOLTZMANN * TEMPERATURE);
        let edges = gas.sample();
        assert!(edges.iter().all(|edge| edge[2] == height));
        let areas: Vec<f64> = edges.iter().map(|[x, y, _]| x * y * scale).collect();
        // without surface tension the area relaxes at the rate 2/3τ; a positive surface tension makes the relaxation
        // slower, and a negative surface tension makes the relaxation faster
        let rate = 2.0 / 3.0 * stiffness / (PRESSURE * height);
        assert_gamma(&areas, gas.count + 1.0, STEPS as f64 * INTERVAL * rate / 2.0, INTERVAL * rate);
    }
}

#[test]
fn one_length_follows_the_ensemble() {
    let mut gas = Gas::new(PressureCoupling::Anisotropic, [false, false, true], 0.0);
    let [width, depth, _] = gas.edges();
    let scale = PRESSURE * width * depth / (BOLTZMANN * TEMPERATURE);
    let heights: Vec<f64> = gas.sample().iter().map(|edge| edge[2] * scale).collect();
    assert_gamma(&heights, gas.count + 1.0, STEPS as f64 * INTERVAL / 6.0, INTERVAL / 3.0);
}

/// Energy and force (minus the gradient of the energy) of a coupled pair of oscillators with masses 1 and frequencies
/// near 1.
fn oscillators(r: Vec3) -> (f64, Vec3) {
    const COUPLING: f64 = 0.5;
    (0.5 * r.norm_squared() + COUPLING * r.x * r.y, -r - vec3(r.y, r.x, 0.0) * COUPLING)
}

/// Error of the work of scaling [`oscillators`] in one leapfrog step, divided by ln μ. The exact work is the change
/// of the invariant of leapfrog.
fn work_error(timestep: f64, change: f64, velocity_factor: impl Fn(f64) -> f64, phase: f64) -> f64 {
    let invariant = |r: Vec3, before: Vec3, after: Vec3| 0.5 * before.dot(after) + oscillators(r).0;
    let kinetic = |a: Vec3, b: Vec3| a.stretched(b) * 0.5;
    let virial = |r: Vec3| r.stretched(oscillators(r).1);
    let r = vec3(phase.cos(), (2.0 * phase).sin(), 0.0) * std::f64::consts::FRAC_1_SQRT_2;
    let before = vec3(-phase.sin(), (3.0 * phase).cos(), 0.0) * std::f64::consts::FRAC_1_SQRT_2;
    let after = before + oscillators(r).1 * timestep;
    // the scaling stretches along x, and compresses by half as much along y
    let lengths = vec3(1.0 + change, 1.0 - 0.5 * change, 1.0);
    let factors = ScaleFactors { lengths, velocities: lengths.map(velocity_factor) };
    let faster = after.stretched(factors.velocities);
    let next = r.stretched(factors.lengths) + faster * timestep;
    let later = faster + oscillators(next).1 * timestep;
    let exact = invariant(next, faster, later) - invariant(r, before, after);
    let half = |r: Vec3| ScaleFactors::half_potential_work(lengths.map(f64::ln), virial(r));
    let work = factors.kinetic_work(kinetic(after, after), kinetic(before, after)) + half(r) + half(next);
    (work - exact) / change
}

#[test]
fn work_is_exact_to_second_order() {
    for phase in (0..12).map(|k| f64::from(k) * std::f64::consts::PI / 6.0 + 0.1) {
        for velocity_factor in [|factor: f64| 1.0 / factor, |_| 1.0] {
            // the mean of ΔU(t) and ΔU(t+dt) differs from ΔU(t+½) by dt²/8 times the second derivative of ΔU, which
            // is here at most 4 ln μ times the coupling constant; every other error of second order is smaller
            let of = |timestep: f64, change: f64| work_error(timestep, change, velocity_factor, phase).abs();
            assert!(of(0.1, 1e-5) < 0.02 && of(0.01, 1e-5) < 2e-4, "at {phase}: {}", of(0.1, 1e-5));
            // the trapezoidal rule integrates e^x and e^2x with an error of at most 4/3 ln² μ for oscillators with
            // energies of one half
            assert!(of(1e-4, 1e-2) < 2e-4, "at {phase}: {}", of(1e-4, 1e-2));
        }
    }
}

#[test]
fn weak_coupling_in_closed_form() {
    let target = Target { pressure: 1.0, compressibility: 0.1, coupling_time: 2.0 };
    for directions in [1, 2, 3] {
        let factor = berendsen(target, 0.02).length_factor(3.0, 30.0, directions).unwrap();
        assert!((factor.powi(directions as i32) - (1.0 + 0.1 * 0.01 * 2.0)).abs() < 1e-15);
    }
    let gas = Gas::new(PressureCoupling::SemiIsotropic, [true; 3], 0.0);
    let barostat = Barostat { kind: BarostatKind::Berendsen, coupling_time: 2.0, ..gas.barostat };
    let at = CouplingStep { time: 0.0, timestep: 0.02, key: RandomKey { seed: 1, step: 1 } };
    let scaling = barostat.scaling(TEMPERATURE, at);
    let factors = scaling.factors(vec3(2.0 * PRESSURE, 0.0, 4.0 * PRESSURE), &gas.cell).unwrap();
    // x and y are scaled by their mean pressure, and each length has a third of the compressibility
    assert_eq!((factors.lengths.x, factors.lengths.y), (1.0, 1.0));
    assert!((factors.lengths.z - (1.0 + 0.01 / 3.0 * 3.0)).abs() < 1e-12, "{}", factors.lengths.z);
    assert_eq!(factors.velocities, Vec3::splat(1.0));
}

#[test]
fn a_cell_that_would_be_torn_is_refused() {
    let target = Target { pressure: 1.0, compressibility: 1.0, coupling_time: 1.0 };
    for measured in [1e6, -1e6, f64::NAN] {
        assert!(berendsen(target, 0.1).length_factor(measured, 1.0, 3).is_err());
        let key = RandomKey { seed: 1, step: 1 };
        assert!(stochastic_rescale(target, 300.0, 0.1, key, 0).length_factor(measured, 1.0, 1).is_err());
    }
}
