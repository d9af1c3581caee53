use super::*;
use crate::constraint::ConstraintPlan;
use crate::system::{Constraint, Constraints};

/// Energy surface that is defined by a function of the positions. Forces are set to zero before each call of the
/// function.
struct Analytic<F>(F);

impl<F: FnMut(&[Vec3], &mut [Vec3]) -> f64> Surface for Analytic<F> {
    fn evaluate(&mut self, positions: &mut [Vec3], forces: &mut [Vec3]) -> Result<f64> {
        forces.fill(Vec3::ZERO);
        Ok((self.0)(positions, forces))
    }
}

const SIGMA: f64 = 0.34;

/// Returns energy and forces of Lennard-Jones atoms with ε = 1 kJ/mol and σ = 0.34 nm, over all pairs.
fn lennard_jones(positions: &[Vec3], forces: &mut [Vec3]) -> f64 {
    let mut energy = 0.0;
    for i in 0..positions.len() {
        for j in 0..i {
            let d = positions[i] - positions[j];
            let inverse = 1.0 / d.norm_squared();
            let s6 = (SIGMA * SIGMA * inverse).powi(3);
            energy += 4.0 * s6 * (s6 - 1.0);
            let force = d * (24.0 * s6 * (2.0 * s6 - 1.0) * inverse);
            forces[i] += force;
            forces[j] -= force;
        }
    }
    energy
}

fn scattered(count: u32, size: f64, seed: u64) -> Vec<Vec3> {
    let at = |i| {
        let mut stream = Stream::new(seed, Purpose::Test, 0, i);
        vec3(stream.uniform(), stream.uniform(), stream.uniform()) * size
    };
    (0..count).map(at).collect()
}

fn minimize(settings: MinimizeSettings, start: Vec<Vec3>, surface: &mut impl Surface, limit: u64) -> Minimizer {
    let mut minimizer = Minimizer::new(settings, start, surface).unwrap();
    while minimizer.steps() < limit && minimizer.step(surface).unwrap() == Status::Running {}
    minimizer
}

#[test]
fn lennard_jones_clusters_reach_their_minima() {
    // exact minima of 2, 3 and 4 atoms, in which all pairs are at the optimal distance and have an energy of −1 kJ/mol
    for (count, energy) in [(2, -1.0), (3, -3.0), (4, -6.0)] {
        let settings = MinimizeSettings { force_tolerance: 1e-6, ..MinimizeSettings::default() };
        let done = minimize(settings, scattered(count, 0.6, 1), &mut Analytic(lennard_jones), 2000);
        assert_eq!(done.status(), Status::Converged);
        // the curvature is k ≈ 57 ε/σ², so the error of the energy for a force F = 1e-6 is F²/2k = 1e-15
        assert!((done.energy() - energy).abs() < 1e-13, "{} after {}", done.energy(), done.steps());
    }
}

#[test]
fn icosahedron_of_thirteen() {
    // the energy of the icosahedral minimum of 13 atoms is −44.326801 ε according to the Cambridge Cluster Database (D.
    // J. Wales, J. P. K. Doye, J. Phys. Chem. A 101, 5111 (1997))
    let golden = 0.5 * (1.0 + 5.0f64.sqrt());
    let mut start = vec![Vec3::ZERO];
    for (a, b) in [(1.0, golden), (-1.0, golden), (1.0, -golden), (-1.0, -golden)] {
        start.extend([vec3(0.0, a, b), vec3(a, b, 0.0), vec3(b, 0.0, a)].map(|v| v * (0.55 * SIGMA)));
    }
    for (r, shake) in start.iter_mut().zip(scattered(13, 0.08, 3)) {
        *r += shake;
    }
    let settings = MinimizeSettings { force_tolerance: 1e-4, ..MinimizeSettings::default() };
    let done = minimize(settings, start, &mut Analytic(lennard_jones), 500);
    assert_eq!(done.status(), Status::Converged);
    println!("LJ13 after {}", done.steps());
    // the published value has six decimals
    assert!((done.energy() + 44.326_801).abs() < 1e-6, "{} after {}", done.energy(), done.steps());
}

#[test]
fn curved_valley_is_followed_to_its_end() {
    // Rosenbrock's function in (x, y) of each atom, with its minimum 0 at (1, 1)
    let mut valley = Analytic(|positions: &[Vec3], forces: &mut [Vec3]| {
        let mut energy = 0.0;
        for (r, f) in positions.iter().zip(forces) {
            let (a, b) = (1.0 - r.x, r.y - r.x * r.x);
            energy += a * a + 100.0 * b * b + r.z * r.z;
            *f = vec3(2.0 * a + 400.0 * b * r.x, -200.0 * b, -2.0 * r.z);
        }
        energy
    });
    let start = vec![vec3(-1.2, 1.0, 0.3), vec3(0.0, 0.5, 0.0), vec3(2.0, 2.0, -1.0)];
    let settings = MinimizeSettings { force_tolerance: 1e-7, max_displacement: 0.2, ..MinimizeSettings::default() };
    let done = minimize(settings, start, &mut valley, 500);
    assert_eq!(done.status(), Status::Converged, "{:?}", done.max_force());
    for r in done.positions() {
        // the softest curvature is 0.4, so the distance from the minimum is F/0.4 for a remaining force F
        assert!((*r - vec3(1.0, 1.0, 0.0)).norm() < 1e-6);
    }
}

#[test]
fn impossible_starts_are_survived() {
    let close = scattered(20, 1e-3, 8);
    let same = vec![vec3(1.0, 2.0, 3.0); 13];
    let mut touching = scattered(30, 1.0, 5);
    touching[4] = touching[9];
    touching[5] = touching[6] + vec3(1e-40, 0.0, 0.0);
    for start in [close, same, touching] {
        let settings = MinimizeSettings { force_tolerance: 1e-2, ..MinimizeSettings::default() };
        let mut surface = Analytic(lennard_jones);
        let mut minimizer = Minimizer::new(settings, start, &mut surface).unwrap();
        let mut before = minimizer.positions().to_vec();
        while minimizer.status() == Status::Running && minimizer.steps() < 5000 {
            minimizer.step(&mut surface).unwrap();
            for (a, b) in minimizer.positions().iter().zip(&before) {
                // the relative tolerance of 1e-9 allows for the rounding error of the sum of position and displacement
                assert!((*a - *b).norm() <= settings.max_displacement * (1.0 + 1e-9));
            }
            before.clone_from_slice(minimizer.positions());
        }
        assert_eq!(minimizer.status(), Status::Converged, "{:?} {}", minimizer.max_force(), minimizer.energy());
        assert!(minimizer.energy() < -20.0, "bound, if not in the best way: {}", minimizer.energy());
    }
}

/// Test surface: a spring holds atom 0 at the origin, a weight pulls atom 1 down, and a rigid rod joins the two atoms.
struct Pendulum(ConstraintPlan);

const SPRING: f64 = 500.0;
const WEIGHT: f64 = 20.0;
const ROD: f64 = 0.15;

impl Surface for Pendulum {
    fn evaluate(&mut self, positions: &mut [Vec3], forces: &mut [Vec3]) -> Result<f64> {
        forces[0] = positions[0] * -SPRING;
        forces[1] = vec3(0.0, 0.0, -WEIGHT);
        Ok(0.5 * SPRING * positions[0].norm_squared() + WEIGHT * positions[1].z)
    }

    fn satisfy(&mut self, reference: &[Vec3], positions: &mut [Vec3]) -> bool {
        self.0.satisfy(reference, positions).is_ok()
    }

    fn enforce(&mut self, positions: &mut [Vec3]) -> Result<()> {
        let reference = positions.to_vec();
        self.0.satisfy(&reference, positions).map_err(Into::into)
    }

    fn project(&mut self, positions: &[Vec3], vectors: &mut [Vec3]) {
        self.0.project(positions, vectors).unwrap();
    }
}

#[test]
fn constraints_hold_at_the_minimum() {
    let constraints = Constraints {
        bonds: vec![Constraint { atoms: [0, 1], length: ROD }],
        tolerance: 1e-12,
        ..Constraints::default()
    };
    let mut pendulum = Pendulum(ConstraintPlan::new(&constraints, &[1.0, 1.0]).unwrap());
    let start = vec![vec3(0.1, 0.05, 0.1), vec3(0.15, 0.1, 0.25)];
    let settings = MinimizeSettings { force_tolerance: 1e-5, ..MinimizeSettings::default() };
    let done = minimize(settings, start, &mut pendulum, 500);
    assert_eq!(done.status(), Status::Converged);
    let hanging = vec3(0.0, 0.0, -WEIGHT / SPRING);
    // the softest curvature of the energy is the curvature of the swinging pendulum, WEIGHT/ROD = 133 kJ/mol/nm²
    assert!((done.positions()[0] - hanging).norm() < 1e-6);
    assert!((done.positions()[1] - hanging + vec3(0.0, 0.0, ROD)).norm() < 1e-6);
    assert!(((done.positions()[1] - done.positions()[0]).norm() - ROD).abs() < 1e-12);
}

#[test]
fn stopping_and_resuming_changes_no_bit() {
    let settings = MinimizeSettings { force_tolerance: 1e-6, ..MinimizeSettings::default() };
    let mut start = scattered(20, 0.8, 2);
    start[3] = start[4];
    let mut surface = Analytic(lennard_jones);
    let straight = minimize(settings, start.clone(), &mut surface, 120);
    let mut halting = Minimizer::new(settings, start, &mut surface).unwrap();
    while halting.steps() < straight.steps() {
        let stored = postcard::to_stdvec(&halting).unwrap();
        halting = postcard::from_bytes(&stored).unwrap();
        halting.step(&mut surface).unwrap();
    }
    assert!(straight.positions() == halting.positions());
    assert_eq!(straight.energy(), halting.energy());
}

#[test]
fn rounded_energies_do_not_stop_the_descent() {
    // energies in f32 with a large constant added, as in sums over a large system, and forces in f32
    let mut rounded = Analytic(|positions: &[Vec3], forces: &mut [Vec3]| {
        let energy = lennard_jones(positions, forces) - 1000.0;
        forces.iter_mut().for_each(|f| *f = f.map(|c| f64::from(c as f32)));
        f64::from(energy as f32)
    });
    let settings = MinimizeSettings { force_tolerance: 1e-2, energy_precision: 1e-7, ..MinimizeSettings::default() };
    let done = minimize(settings, scattered(20, 0.8, 2), &mut rounded, 2000);
    assert_eq!(done.status(), Status::Converged, "{:?} after {}", done.max_force(), done.steps());
}

#[test]
fn the_limit_of_the_arithmetic_ends_the_descent() {
    // forces have errors of up to 5e-4 kJ/mol/nm and are therefore never zero, and energies have errors of 1e-7. The
    // tolerance of 1e-6 kJ/mol/nm cannot be reached
    let mut noisy = Analytic(|positions: &[Vec3], forces: &mut [Vec3]| {
        let energy = lennard_jones(positions, forces) - 1000.0;
        forces.iter_mut().for_each(|f| *f = f.map(|c| ((c * 1e3).floor() + 0.5) * 1e-3));
        f64::from(energy as f32)
    });
    for energy_precision in [1e-12, 1e-7] {
        let settings = MinimizeSettings { force_tolerance: 1e-6, energy_precision, ..MinimizeSettings::default() };
        let done = minimize(settings, scattered(20, 0.8, 2), &mut noisy, 5000);
        println!("noisy: {:?} after {}", done.max_force(), done.steps());
        assert_eq!(done.status(), Status::Stalled, "{:?} after {}", done.max_force(), done.steps());
        // the exact force at the minimum is as small as the errors of force and energy allow
        let mut forces = vec![Vec3::ZERO; 20];
        lennard_jones(done.positions(), &mut forces);
        assert!(largest(&forces) < 0.5, "{}", largest(&forces));
    }
}
