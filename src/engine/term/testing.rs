//! Checks invariants of every term over random geometries: force = −dE/dx, no net force, no net torque.

use super::dual::{Dual, dual};
use crate::rng::{Purpose, Stream};
use crate::vec3::Vec3;

/// Tolerance of the comparison of forces with derivatives of the energy. Dual numbers and the analytic force differ
/// only by the rounding of a few dozen operations. Forces in the tests are up to 10⁵ kJ/mol/nm. The sine of every angle
/// is at least 0.05, so that no geometry is close to a singularity.
pub(crate) const TOLERANCE: f64 = 1e-11;

/// Random numbers of one test.
pub(crate) fn random(seed: u64) -> Stream {
    Stream::new(seed, Purpose::Test, 0, 0)
}

/// A random point in a cube around the origin with the half width `half` (nm).
fn point(random: &mut Stream, half: f64) -> Vec3 {
    Vec3::from([(); 3].map(|()| random.between(-half, half)))
}

/// A chain of points 0.1 to 0.16 nm apart. The sine of each angle is at least 0.05.
pub(crate) fn chain<const N: usize>(random: &mut Stream) -> [Vec3; N] {
    loop {
        let mut points = [point(random, 1.0); N];
        for i in 1..N {
            let step = point(random, 1.0);
            points[i] = points[i - 1] + step * (random.between(0.1, 0.16) / step.norm());
        }
        let bent = points.windows(3).all(|p| {
            let (u, v) = (p[0] - p[1], p[2] - p[1]);
            u.cross(v).norm() > 0.05 * u.norm() * v.norm()
        });
        if bent {
            return points;
        }
    }
}

/// A term of N atoms: a function from positions to forces and energy.
pub(crate) trait Term<const N: usize>: Fn([Vec3<Dual>; N]) -> ([Vec3<Dual>; N], Dual) {}
impl<const N: usize, F: Fn([Vec3<Dual>; N]) -> ([Vec3<Dual>; N], Dual)> Term<N> for F {}

/// Asserts force = −dE/dx, Σ F = 0 and Σ r × F = 0.
pub(crate) fn check<const N: usize>(positions: [Vec3; N], term: impl Term<N>) {
    let constant = |r: Vec3| r.map(|x| dual(x, 0.0));
    let (forces, _) = term(positions.map(constant));
    let forces = forces.map(|f| f.map(|x| x.value));
    let scale = 1.0 + forces.iter().map(|f| f.norm()).sum::<f64>();
    for (atom, force) in forces.iter().enumerate() {
        for axis in 0..3 {
            let mut moved = positions.map(constant);
            let mut r = moved[atom].to_array();
            r[axis].slope = 1.0;
            moved[atom] = r.into();
            let (_, energy) = term(moved);
            let error = (force.to_array()[axis] + energy.slope).abs() / scale;
            assert!(error < TOLERANCE, "atom {atom} axis {axis}: {} against {}", force.to_array()[axis], -energy.slope);
        }
    }
    let net: Vec3 = forces.into_iter().sum();
    let torque: Vec3 = positions.iter().zip(forces).map(|(r, f)| r.cross(f)).sum();
    assert!(net.norm() / scale < TOLERANCE, "net force {net:?}");
    assert!(torque.norm() / scale < TOLERANCE, "net torque {torque:?}");
}

/// Asserts that forces and energy are finite.
pub(crate) fn check_finite<const N: usize>(positions: [Vec3; N], term: impl Term<N>) {
    let (forces, energy) = term(positions.map(|r| r.map(|x| dual(x, 0.0))));
    assert!(energy.value.is_finite(), "{energy:?}");
    assert!(forces.iter().all(|f| f.map(|x| x.value).is_finite()), "{forces:?}");
}
