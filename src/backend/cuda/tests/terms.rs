//! Functions of the kernels in `f32` against their twins in `f64`. Bonded terms are compared in `src/term/tests.rs`.

use crate::backend::cuda::emulator;
use crate::ensemble::thermostat::{Bath, Rescaling, berendsen, velocity_rescale};
use crate::pme::spline;
use crate::term::rounded::{Rounded, UNIT};
use crate::term::testing::random;
use crate::term::{ewald_excluded, inverse_norm};

/// Roundings that the correction of an excluded pair may be off by, relative to 2α/√π (energy) and α³ (force): erf and
/// exp are right to four units each, and their difference in the force is magnified by 1/(αr)², four where the series ends.
const ENERGY_ROUNDINGS: f64 = 8.0;
const FORCE_ROUNDINGS: f64 = 8.0 * std::f64::consts::FRAC_2_SQRT_PI * 4.0;

/// The same operations on both sides, six of them, each of which a compiler may fuse with the next.
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
    let bath = Bath { degrees_of_freedom: 300, temperature: 300.0 };
    for step in 0..2000 {
        // down to energies at which noise alone decides, and turns velocities around
        let kinetic = if step == 0 { 0.0 } else { bath.target() * 10f64.powf(random.between(-6.0, 1.0)) };
        for rescaling in [velocity_rescale(bath, 0.02, 0.1, 1, step), berendsen(bath, 0.02, 0.1)] {
            let Rescaling { kept, along, across } = rescaling;
            let [ours] = emulator::library().term("rescaling_factor_f64", &[kept, along, across, kinetic]);
            let theirs = rescaling.factor(kinetic).unwrap();
            assert!((ours - theirs).abs() <= FACTOR_ROUNDINGS * f64::EPSILON * theirs.abs(), "{ours} for {theirs}");
        }
    }
}

/// Values and slopes of one order, within what rounding allows.
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
