//! SETTLE: the analytic solution of the constraints of a rigid three-site water, for eight waters at a time.
//!
//! The three constraint forces of a water act along the sides of the triangle at the start of the step (the old
//! triangle). Constraint forces change neither the center of mass nor the heights of the atoms above the plane of the
//! old triangle. The unknown is a rigid rotation with three angles. The angles φ and ψ follow from the heights of the
//! atoms. The angle θ within the plane follows from the moment Σ m r × Δr about the normal of the plane, with the
//! masses m, positions r and displacements Δr of the atoms. Constraint forces do not change this moment. S. Miyamoto,
//! P. A. Kollman, J. Comput. Chem. 13, 952 (1992), doi:10.1002/jcc.540130805.
//!
//! The new triangle is built from the constrained side lengths and an orthonormal frame. The sides of the new triangle
//! are therefore exact to rounding, even if the sides of the old triangle have errors. SETTLE does not iterate.

use super::lanes::Lanes;
use crate::arrays::map;
use crate::vec3::Vec3;

/// Geometry and masses of one kind of rigid water, with derived quantities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettleShape {
    /// mass of each hydrogen, amu
    hydrogen_mass: f64,
    /// oxygen mass, amu
    oxygen_mass: f64,
    /// mass of one hydrogen as a fraction of the mass of the molecule
    hydrogen_fraction: f64,
    /// hydrogen mass / oxygen mass
    mass_ratio: f64,
    /// inverse of the distance between the center of mass and the oxygen, 1/nm
    inverse_up: f64,
    /// distance from the center of mass to the line through the hydrogens, nm
    down: f64,
    /// half of the H–H distance, nm, and the inverse of the H–H distance, 1/nm
    aside: [f64; 2],
}

impl SettleShape {
    /// Makes a shape from masses (amu) and sides (nm). The result is `None` if a mass or a side is not positive or not
    /// finite, or if the sides do not form a triangle.
    pub fn new([oxygen_mass, hydrogen_mass]: [f64; 2], oh: f64, hh: f64) -> Option<Self> {
        let positive = [oxygen_mass, hydrogen_mass, oh, hh].iter().all(|&v| v > 0.0 && v.is_finite());
        let height = (oh * oh - 0.25 * hh * hh).sqrt();
        if !positive || height.is_nan() || height == 0.0 {
            return None;
        }
        let total = oxygen_mass + 2.0 * hydrogen_mass;
        Some(Self {
            hydrogen_mass,
            oxygen_mass,
            hydrogen_fraction: hydrogen_mass / total,
            mass_ratio: hydrogen_mass / oxygen_mass,
            inverse_up: total / (2.0 * hydrogen_mass * height),
            down: oxygen_mass / total * height,
            aside: [0.5 * hh, 1.0 / hh],
        })
    }

    /// Mass of each hydrogen in amu.
    #[inline(always)]
    pub(super) fn hydrogen_mass(&self) -> f64 {
        self.hydrogen_mass
    }
}

/// Position corrections (O, H, H; nm) that make the triangles `new` rigid.
///
/// `old` holds the triangles at the start of the step, which give the directions of the constraint forces. `old` and
/// `new` are unwrapped positions of whole molecules, so that minimum images are not needed. The result is NaN in
/// lanes whose water rotated too far in one step (by 90° or more).
#[inline(always)]
pub fn settle(shape: &SettleShape, old: [Vec3<Lanes>; 3], new: [Vec3<Lanes>; 3]) -> [Vec3<Lanes>; 3] {
    let one = Lanes::splat(1.0);
    let inverse_up = Lanes::splat(shape.inverse_up);
    let [aside, inverse_width] = map(shape.aside, Lanes::splat);
    let (down, hydrogen_fraction) = (Lanes::splat(shape.down), Lanes::splat(shape.hydrogen_fraction));
    let old_b = old[1] - old[0];
    let old_c = old[2] - old[0];
    // new positions relative to the center of mass of the water, computed from differences of positions, so that
    // rounding errors do not grow with the coordinates
    let new_b = new[1] - new[0];
    let new_c = new[2] - new[0];
    let a1 = -(new_b + new_c) * hydrogen_fraction;
    let (b1, c1) = (new_b + a1, new_c + a1);

    // axes of a coordinate frame with z along the normal of the old plane, and with the new oxygen in the yz plane
    let normal = old_b.cross(old_c);
    let ez = normal * (one / normal.norm_squared().sqrt());
    let across = a1.cross(ez);
    let ex = across * (one / across.norm_squared().sqrt());
    let ey = ez.cross(ex);
    let (xb0, yb0, xc0, yc0) = (old_b.dot(ex), old_b.dot(ey), old_c.dot(ex), old_c.dot(ey));
    let za1 = a1.dot(ez);
    let (xb1, yb1, zb1) = (b1.dot(ex), b1.dot(ey), b1.dot(ez));
    let (xc1, yc1, zc1) = (c1.dot(ex), c1.dot(ey), c1.dot(ez));

    // the triangle in its reference orientation is tilted by φ about x and by ψ about y to the new heights of its atoms
    let sin_phi = za1 * inverse_up;
    let cos_phi = (one - sin_phi * sin_phi).sqrt();
    let sin_psi = (zb1 - zc1) * inverse_width / cos_phi;
    let cos_psi = (one - sin_psi * sin_psi).sqrt();
    let xb2 = -(aside * cos_psi);
    let (level, lift) = (-(down * cos_phi), aside * sin_psi * sin_phi);
    let (yb2, yc2) = (level - lift, level + lift);

    // rotation by θ within the plane: the moment γ about z is conserved, which requires α sin θ + β cos θ = γ with the
    // coefficients α and β of the tilted triangle
    let alpha = xb2 * (xb0 - xc0) + yb0 * yb2 + yc0 * yc2;
    let beta = xb2 * (yc0 - yb0) + xb0 * yb2 + xc0 * yc2;
    let gamma = xb0 * yb1 - xb1 * yb0 + xc0 * yc1 - xc1 * yc0;
    let square = alpha * alpha + beta * beta;
    let sin_theta = (alpha * gamma - beta * (square - gamma * gamma).sqrt()) / square;
    let cos_theta = (one - sin_theta * sin_theta).sqrt();

    let b3 = ex * (xb2 * cos_theta - yb2 * sin_theta) + ey * (xb2 * sin_theta + yb2 * cos_theta) + ez * zb1;
    let c3 = ex * (-(xb2 * cos_theta) - yc2 * sin_theta) + ey * (yc2 * cos_theta - xb2 * sin_theta) + ez * zc1;
    let (db, dc) = (b3 - b1, c3 - c1);
    // the correction of the oxygen follows from momentum conservation, so that momentum is conserved exactly; with a
    // correction from the angles, the rounding error of the oxygen position would change the momentum
    [-(db + dc) * Lanes::splat(shape.mass_ratio), db, dc]
}

/// Corrections of the velocities (O, H, H; nm/ps) that make the time derivatives of all side lengths zero. The
/// triangles at `positions` (nm) need not have the side lengths of the rigid water. The result is NaN or infinite in
/// lanes whose triangle is flat.
///
/// Each side d from atom i to atom j has a multiplier μ, which changes the velocities of atoms i and j by −μ d/mᵢ and
/// +μ d/mⱼ. The three conditions d·(vⱼ − vᵢ) = 0 are symmetric linear equations for the multipliers. The equations are
/// solved by Gaussian elimination, with masses in units of the hydrogen mass.
#[inline(always)]
pub(super) fn project(
    shape: &SettleShape,
    positions: [Vec3<Lanes>; 3],
    velocities: [Vec3<Lanes>; 3],
) -> [Vec3<Lanes>; 3] {
    let (one, ratio) = (Lanes::splat(1.0), Lanes::splat(shape.mass_ratio));
    // sides from the oxygen to both hydrogens, and from the first to the second hydrogen
    let (b, c) = (positions[1] - positions[0], positions[2] - positions[0]);
    let e = c - b;
    let (vb, vc) = (velocities[1] - velocities[0], velocities[2] - velocities[0]);
    let (bb, cc, ee) = (b.norm_squared() * (one + ratio), c.norm_squared() * (one + ratio), e.norm_squared());
    let (bc, be, ce) = (b.dot(c) * ratio, -b.dot(e), c.dot(e));
    // elimination of the first multiplier, and then of the second multiplier
    let inverse = one / bb;
    let (lc, le) = (bc * inverse, be * inverse);
    let (cc, ce, ee) = (cc - lc * bc, ce - lc * be, ee + ee - le * be);
    let inverse_c = one / cc;
    let me = ce * inverse_c;
    let stretch_b = -b.dot(vb);
    let stretch_c = -c.dot(vc) - lc * stretch_b;
    let stretch_e = -e.dot(vc - vb) - le * stretch_b - me * stretch_c;
    let of_e = stretch_e / (ee - me * ce);
    let of_c = stretch_c * inverse_c - me * of_e;
    let of_b = stretch_b * inverse - lc * of_c - le * of_e;
    let (db, dc) = (b * of_b - e * of_e, c * of_c + e * of_e);
    [-(db + dc) * ratio, db, dc]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraint::lanes::{gather, lane};
    use crate::rng::{Purpose, Stream};
    use crate::vec3::vec3;

    const MASSES: [f64; 2] = [15.9994, 1.008];
    const OH: f64 = 0.095_72;
    const HH: f64 = 0.151_390_065_2;

    fn tip3p() -> SettleShape {
        SettleShape::new(MASSES, OH, HH).unwrap()
    }

    /// Tolerance of the sides, nm. The tolerance allows a few rounding errors (relative 2⁻⁵³) of a length of 0.1 nm,
    /// and the rounding errors of positions of up to 10 nm. Near 10 nm, adjacent floating-point numbers differ by
    /// 1.8e-15 nm.
    const SIDE_TOLERANCE: f64 = 1e-14;

    fn random_water(index: u32) -> ([Vec3; 3], [Vec3; 3]) {
        let mut stream = Stream::new(7, Purpose::Test, 0, index);
        let mut gauss = || vec3(stream.gaussian(), stream.gaussian(), stream.gaussian());
        let e1 = gauss();
        let e1 = e1 / e1.norm();
        let e2 = gauss();
        let e2 = e2 - e1 * e1.dot(e2);
        let e2 = e2 / e2.norm();
        let height = (OH.powi(2) - HH.powi(2) / 4.0).sqrt();
        let origin = gauss() * 3.0;
        let old = [origin, origin + e1 * height + e2 * (HH / 2.0), origin + e1 * height - e2 * (HH / 2.0)];
        // thermal displacement in a step of 2 fs at about 600 K
        let new = [old[0] + gauss() * 0.0012, old[1] + gauss() * 0.0045, old[2] + gauss() * 0.0045];
        (old, new)
    }

    /// Positions of eight waters before a step, their positions after the unconstrained step, and the corrections of
    /// the positions after the step.
    type Block = ([[Vec3; 3]; 8], [[Vec3; 3]; 8], [Vec3<Lanes>; 3]);

    fn blocks(count: u32) -> impl Iterator<Item = Block> {
        (0..count).map(|block| {
            let waters: [_; 8] = std::array::from_fn(|i| random_water(block * 8 + i as u32));
            let (old, new) = (waters.map(|w| w.0), waters.map(|w| w.1));
            let correction = settle(
                &tip3p(),
                std::array::from_fn(|k| gather(|i| old[i][k])),
                std::array::from_fn(|k| gather(|i| new[i][k])),
            );
            (old, new, correction)
        })
    }

    #[test]
    fn sides_are_right_and_momentum_is_kept() {
        for (_, new, correction) in blocks(1000) {
            for i in 0..8 {
                let d = correction.map(|c| lane(c, i));
                let r: [Vec3; 3] = std::array::from_fn(|k| new[i][k] + d[k]);
                for (a, b, length) in [(0, 1, OH), (0, 2, OH), (1, 2, HH)] {
                    assert!(((r[a] - r[b]).norm() - length).abs() < SIDE_TOLERANCE);
                }
                let momentum = d[0] * MASSES[0] + (d[1] + d[2]) * MASSES[1];
                // tolerance for corrections of about 1e-3 nm and masses of about 16 amu
                assert!(momentum.norm() < 1e-17);
            }
        }
    }

    #[test]
    fn forces_act_along_the_old_sides() {
        // corrections Δ of all atoms lie in the old plane (Δ·normal = 0), and the moment Σ m r_old × Δ is zero, as
        // for any central forces
        for (old, _, correction) in blocks(100) {
            for i in 0..8 {
                let d = correction.map(|c| lane(c, i));
                let (b, c) = (old[i][1] - old[i][0], old[i][2] - old[i][0]);
                let normal = b.cross(c) / b.cross(c).norm();
                for v in d {
                    assert!(v.dot(normal).abs() < SIDE_TOLERANCE);
                }
                assert!((b.cross(d[1]) + c.cross(d[2])).norm() < SIDE_TOLERANCE);
            }
        }
    }

    #[test]
    fn what_is_no_triangle_is_refused() {
        for (masses, oh, hh) in
            [(MASSES, OH, 2.0 * OH), (MASSES, OH, f64::NAN), (MASSES, 0.0, HH), ([0.0, 1.0], OH, HH), (MASSES, OH, 0.2)]
        {
            assert_eq!(SettleShape::new(masses, oh, hh), None);
        }
    }

    #[test]
    fn a_water_turned_over_is_reported_not_settled() {
        let (old, _) = random_water(0);
        let mut new = old;
        new[1] += vec3(5.0, 0.0, 0.0);
        new[0] -= vec3(0.0, 5.0, 3.0);
        let d = settle(&tip3p(), old.map(|v| gather(|_| v)), new.map(|v| gather(|_| v)));
        assert!(!d.iter().all(|v| v.x.is_finite() && v.y.is_finite() && v.z.is_finite()));
    }

    #[test]
    fn projected_velocities_do_not_stretch_the_sides() {
        let (old, new) = random_water(3);
        let velocities: [Vec3; 3] = std::array::from_fn(|k| (new[k] - old[k]) / 0.002);
        let lanes = |vectors: [Vec3; 3]| vectors.map(|v| gather(|_| v));
        let changes = project(&tip3p(), lanes(old), lanes(velocities));
        let v: [Vec3; 3] = std::array::from_fn(|k| velocities[k] + lane(changes[k], 0));
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            assert!((old[a] - old[b]).dot(v[a] - v[b]).abs() < SIDE_TOLERANCE * 10.0);
        }
        let momentum = |v: [Vec3; 3]| v[0] * MASSES[0] + (v[1] + v[2]) * MASSES[1];
        assert!((momentum(v) - momentum(velocities)).norm() < 1e-12);
    }
}
