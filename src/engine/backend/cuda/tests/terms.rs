//! Tests that compare functions of the kernels in `f32` with the functions of the CPU in `f64`.
//! `src/engine/term/tests.rs` compares bonded terms.

use crate::backend::cuda::emulator;
use crate::ensemble::barostat::{self, Relaxation, Target, stochastic_rescale};
use crate::ensemble::motion::angular_velocity;
use crate::ensemble::rescaling::{Bath, Rescaling, berendsen, velocity_rescale};
use crate::pair::ListSchedule;
use crate::pme::spline;
use crate::rng::RandomKey;
use crate::term::rounded::{Rounded, UNIT};
use crate::term::testing::random;
use crate::term::{ewald_excluded, inverse_norm};
use crate::vec3::{Vec3, vec3};

/// Tolerance of the correction of an excluded pair, in units of rounding errors relative to 2α/√π (energy) and α³
/// (force). erf and exp are each accurate to four units. In the force the error of the difference of erf and exp is
/// magnified by 1/(αr)², which is four at the distance where the power series ends.
const ENERGY_ROUNDINGS: f64 = 8.0;
const FORCE_ROUNDINGS: f64 = 8.0 * std::f64::consts::FRAC_2_SQRT_PI * 4.0;

/// Tolerance of the factor of a velocity rescaling, in units of rounding errors. Device and host do the same six
/// operations, and a compiler may fuse each operation with the next one.
const FACTOR_ROUNDINGS: f64 = 6.0;

#[test]
fn excluded_pairs() {
    let mut random = random(11);
    for _ in 0..20_000 {
        let (charges, r, alpha) =
            (random.between(-80.0, 80.0) as f32, random.between(0.0, 1.2) as f32, random.between(2.5, 4.0) as f32);
        let r2 = r * r;
        let [force, energy] = emulator::library().term("term_excluded", &[charges, r2, alpha]);
        let [charges, r2, alpha] = [charges, r2, alpha].map(f64::from);
        let exact = ewald_excluded(charges, r2, inverse_norm(r2), alpha);
        let energy_scale = charges.abs() * alpha * std::f64::consts::FRAC_2_SQRT_PI;
        let force_scale = charges.abs() * alpha.powi(3);
        assert!((f64::from(energy) - exact.1).abs() <= ENERGY_ROUNDINGS * UNIT * energy_scale, "{r} nm: {energy}");
        assert!((f64::from(force) - exact.0).abs() <= FORCE_ROUNDINGS * UNIT * force_scale, "{r} nm: {force}");
    }
}

#[test]
fn factors_of_a_thermostat() {
    let mut random = random(13);
    let bath = Bath { degrees_of_freedom: 300.0, temperature: 300.0, coupling_time: 0.1 };
    for step in 0..2000 {
        // the range of kinetic energies extends down to values at which noise alone determines the factor and may
        // reverse velocities
        let kinetic = if step == 0 { 0.0 } else { bath.target() * 10f64.powf(random.between(-6.0, 1.0)) };
        for rescaling in [velocity_rescale(bath, 0.02, RandomKey { seed: 1, step }, 0), berendsen(bath, 0.02)] {
            let Rescaling { kept, along, across } = rescaling;
            let [ours] = emulator::library().term("rescaling_factor_f64", &[kept, along, across, kinetic]);
            let theirs = rescaling.factor(kinetic).unwrap();
            assert!((ours - theirs).abs() <= FACTOR_ROUNDINGS * f64::EPSILON * theirs.abs(), "{ours} for {theirs}");
        }
    }
}

/// Tolerance of the length factor of a barostat, in units of rounding errors. Device and host do the same ten
/// operations on numbers near one, and the cube root is accurate to one unit.
const DILATION_ROUNDINGS: f64 = 12.0;

#[test]
fn factors_of_a_barostat() {
    let mut random = random(14);
    let target = Target { pressure: 0.06, compressibility: 7.5e-4, coupling_time: 0.5 };
    let mut scaled = 0.0f64;
    for step in 0..2000 {
        let (measured, volume) = (random.between(-40.0, 40.0), 10f64.powf(random.between(0.0, 4.0)));
        let stochastic = stochastic_rescale(target, 300.0, 0.02, RandomKey { seed: 1, step }, 0);
        for relaxation in [stochastic, barostat::berendsen(target, 0.02)] {
            let Relaxation { rate, pressure, thermal, noise, stochastic } = relaxation;
            let stochastic = f64::from(u8::from(stochastic));
            let directions = 1 + step as usize % 3;
            let input = [rate, pressure, thermal, noise, stochastic, directions as f64, measured, volume];
            let [ours] = emulator::library().term("length_factor_f64", &input);
            let theirs = relaxation.length_factor(measured, volume, directions).unwrap();
            assert!((ours - theirs).abs() <= DILATION_ROUNDINGS * f64::EPSILON, "{ours} for {theirs}");
            scaled = scaled.max((theirs - 1.0).abs());
        }
    }
    assert!(scaled > 1e-4, "a change of {scaled} tells nothing");
}

#[test]
fn the_end_of_a_list() {
    let mut random = random(15);
    let mut ended = [0; 2];
    for _ in 0..2000 {
        let lists = ListSchedule::exact(random.between(0.9, 1.2));
        let (scale, squared) = (random.between(0.7, 1.1), random.between(0.0, 0.02));
        let [ours]: [f64; 1] = emulator::library().term("may_miss_f64", &[lists.outer, 0.9, scale, squared]);
        let theirs = lists.may_miss(0.9, scale, squared);
        assert_eq!(ours != 0.0, theirs);
        ended[usize::from(theirs)] += 1;
    }
    assert!(ended.into_iter().all(|times| times > 100), "{ended:?}");
}

/// Tolerance of the angular velocity in units of rounding errors. The tolerance includes the error of the inverse of an
/// inertia tensor whose moments differ by a factor of at most ten. Most errors are far smaller.
const ROTATION_ROUNDINGS: f64 = 1e3;

/// Returns the angular velocity ω from the device, for atoms at the given positions.
fn turning(masses: &[f64], positions: &[Vec3], velocities: &[Vec3]) -> Vec3 {
    let mean = |vectors: &[Vec3]| crate::ensemble::motion::weighted_mean(masses, vectors);
    let (center, drift) = (mean(positions), mean(velocities));
    let (mut i, mut momentum) = ([0.0; 6], Vec3::ZERO);
    for ((m, r), v) in masses.iter().zip(positions).zip(velocities) {
        let r = *r - center;
        momentum += r.cross(*v - drift) * *m;
        let square = r.norm_squared();
        let tensor = [square - r.x * r.x, -r.x * r.y, -r.x * r.z, square - r.y * r.y, -r.y * r.z, square - r.z * r.z];
        i.iter_mut().zip(tensor).for_each(|(sum, part)| *sum += m * part);
    }
    let input = [i[0], i[1], i[2], i[3], i[4], i[5], momentum.x, momentum.y, momentum.z];
    let [x, y, z] = emulator::library().term("angular_velocity_f64", &input);
    vec3(x, y, z)
}

#[test]
fn rotation_of_the_whole() {
    let mut random = random(16);
    let mut vector = |size: f64| Vec3::from([0; 3].map(|_| random.between(-size, size)));
    for number in [3, 5, 50] {
        let masses: Vec<f64> = (0..number).map(|k| 1.0 + f64::from(k % 4)).collect();
        let positions: Vec<Vec3> = masses.iter().map(|_| vector(1.0)).collect();
        let velocities: Vec<Vec3> = masses.iter().map(|_| vector(1.0)).collect();
        let exact = angular_velocity(&masses, &positions, &velocities);
        let off = (turning(&masses, &positions, &velocities) - exact).norm();
        assert!(off <= ROTATION_ROUNDINGS * f64::EPSILON * exact.norm(), "{off:e} of {exact:?}");
    }
    // atoms on a line, and atoms at one point
    let axis = vec3(1.0, 2.0, 3.0);
    let (masses, positions) = ([1.0, 16.0, 1.0], [axis * -0.1, axis * 0.02, axis * 0.15]);
    let velocities = positions.map(|r| vec3(2.0, -1.0, 0.0).cross(r));
    let exact = angular_velocity(&masses, &positions, &velocities);
    assert!((turning(&masses, &positions, &velocities) - exact).norm() < ROTATION_ROUNDINGS * f64::EPSILON);
    assert_eq!(turning(&[2.0], &[axis], &[axis]), Vec3::ZERO);
}

/// Checks that values and slopes of splines of one order are correct within rounding errors.
fn check_spline<const N: usize, const OUT: usize>(name: &str) {
    let mut random = random(12);
    for _ in 0..2000 {
        let fraction = random.between(0.0, 1.0) as f32;
        let found: [f32; OUT] = emulator::library().term(name, &[fraction]);
        let (value, slope) = spline::<Rounded, N>(Rounded::exact(fraction));
        for (found, Rounded { value, error }) in found.iter().zip(value.iter().chain(&slope)) {
            assert!((f64::from(*found) - value).abs() <= *error, "order {N} at {fraction}: {found} for {value}");
            assert!(*error < 100.0 * UNIT, "a bound of {error} tests nothing");
        }
    }
}

#[test]
fn splines() {
    check_spline::<4, 8>("spline_4");
    check_spline::<5, 10>("spline_5");
    check_spline::<6, 12>("spline_6");
    check_spline::<8, 16>("spline_8");
}
