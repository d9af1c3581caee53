//! Directions, frames, angles and positions of atoms that follow from positions of other atoms. All functions also
//! return finite values if atoms coincide or lie on a line.

use md_engine::vec3::{Vec3, vec3};

/// Returns a unit vector in the direction of `v`, or along x if `v` is zero.
pub(crate) fn unit(v: Vec3) -> Vec3 {
    let norm = v.norm();
    if norm > 1e-9 { v * (1.0 / norm) } else { vec3(1.0, 0.0, 0.0) }
}

/// Returns two unit vectors that are perpendicular to a unit vector and to each other. The first vector is in the plane
/// of `axis` and `toward`.
pub(crate) fn perpendicular(axis: Vec3, toward: Vec3) -> [Vec3; 2] {
    let side = toward - axis * axis.dot(toward);
    let helper = if axis.x.abs() < 0.9 { vec3(1.0, 0.0, 0.0) } else { vec3(0.0, 1.0, 0.0) };
    let first = if side.norm() > 1e-6 { unit(side) } else { unit(helper - axis * axis.dot(helper)) };
    [first, axis.cross(first)]
}

/// An orthonormal frame with an origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    origin: Vec3,
    axes: [Vec3; 3],
}

impl Frame {
    /// Returns the frame whose first axis points from `origin` to `toward`, and whose second axis points to the side of
    /// the position `side`.
    pub(crate) fn new(origin: Vec3, toward: Vec3, side: Vec3) -> Self {
        let first = unit(toward - origin);
        let [second, third] = perpendicular(first, side - origin);
        Self { origin, axes: [first, second, third] }
    }

    /// Returns the frame at `origin` whose first axis bisects the angle between the directions to `a` and `b`. The
    /// bisector distributes the difference between two unequal angles evenly over `a` and `b`.
    pub(crate) fn between(origin: Vec3, a: Vec3, b: Vec3) -> Self {
        let (u, v) = (unit(a - origin), unit(b - origin));
        Self::new(origin, origin + u + v, a)
    }

    /// Transforms a position from this frame to the frame `to`.
    pub(crate) fn moved(&self, to: &Self, position: Vec3) -> Vec3 {
        let offset = position - self.origin;
        let [x, y, z] = self.axes.map(|axis| axis.dot(offset));
        to.origin + to.axes[0] * x + to.axes[1] * y + to.axes[2] * z
    }
}

/// Returns the position of an atom d with the bond length `length` (nm) of c–d, the angle `angle` of b–c–d, and the
/// torsion `torsion` of a–b–c–d. Angles are in rad.
pub(crate) fn placed([a, b, c]: [Vec3; 3], length: f64, angle: f64, torsion: f64) -> Vec3 {
    let Frame { axes: [along, side, other], .. } = Frame::new(c, b, c + (a - b));
    let across = side * torsion.cos() + other * -torsion.sin();
    c + (along * angle.cos() + across * angle.sin()) * length
}

/// Returns the angle (rad) between the directions from `b` to `a` and from `b` to `c`.
pub(crate) fn angle(a: Vec3, b: Vec3, c: Vec3) -> f64 {
    unit(a - b).dot(unit(c - b)).clamp(-1.0, 1.0).acos()
}

/// Returns the torsion (rad) of four atoms, with the sign convention of IUPAC.
pub(crate) fn torsion([a, b, c, d]: [Vec3; 4]) -> f64 {
    let axis = unit(c - b);
    let (u, v) = (a - b, d - c);
    let (u, v) = (u - axis * axis.dot(u), v - axis * axis.dot(v));
    axis.dot(u.cross(v)).atan2(u.dot(v))
}

/// Returns the position at the distance `length` (nm) from `center`, in the plane of `center` and `others` and opposite
/// to `others`.
pub(crate) fn opposite(center: Vec3, others: [Vec3; 2], length: f64) -> Vec3 {
    let sum = unit(others[0] - center) + unit(others[1] - center);
    center - unit(sum) * length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torsions_have_the_sign_of_iupac() {
        // in the view along b-c, a must rotate clockwise by 90 degrees to cover d, so the torsion is +90 degrees
        let [a, b, c] = [vec3(0.0, 1.0, 0.0), vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 1.0)];
        let d = vec3(-1.0, 0.0, 1.0);
        assert!((torsion([a, b, c, d]).to_degrees() - 90.0).abs() < 1e-9);
        for degrees in [-170.0f64, -60.0, 0.0, 35.0, 90.0, 179.0] {
            let d = placed([a, b, c], 0.15, 1.9, degrees.to_radians());
            assert!((torsion([a, b, c, d]).to_degrees() - degrees).abs() < 1e-6, "{degrees}");
            assert!((angle(b, c, d) - 1.9).abs() < 1e-9 && ((d - c).norm() - 0.15).abs() < 1e-12);
        }
    }

    #[test]
    fn frames_keep_distances_and_handedness() {
        let from = Frame::between(vec3(1.0, 0.0, 0.0), vec3(2.0, 0.5, 0.0), vec3(1.0, 1.0, 1.0));
        let to = Frame::between(vec3(0.0, 3.0, 1.0), vec3(0.0, 3.0, 2.0), vec3(1.0, 3.5, 1.0));
        let points = [[0.1, 0.2, 0.3], [1.0, -1.0, 0.5], [0.0, 2.0, 0.0], [0.3, 0.3, -0.9]].map(Vec3::from);
        let moved = points.map(|point| from.moved(&to, point));
        let volume = |p: [Vec3; 4]| (p[1] - p[0]).dot((p[2] - p[0]).cross(p[3] - p[0]));
        assert!((volume(points) - volume(moved)).abs() < 1e-12);
        assert!(((points[0] - points[1]).norm() - (moved[0] - moved[1]).norm()).abs() < 1e-12);
    }
}
