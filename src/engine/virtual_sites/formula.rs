//! Position of a virtual site, and distribution of the force on the site over its atoms, for each [`Construction`].
//!
//! Forces are propagated backwards through the steps that compute the position (reverse-mode differentiation). A
//! force F on û = u/|u| becomes the force (F − û (û·F))/|u| on u. A force F on p = u × v becomes v × F on u and F × u
//! on v.

use crate::system::Construction;
use crate::term::{Real, inverse_norm};
use crate::vec3::Vec3;

/// Computes the position (nm) of a virtual site from the positions of its atoms. `at` returns the position (nm) of an
/// atom.
///
/// The kinds of virtual sites of GROMACS are those of H. J. C. Berendsen, W. F. van Gunsteren, in "Molecular Liquids:
/// Dynamics and Interactions", Reidel (1984). The manuals of GROMACS and OpenMM define the kinds as [`Construction`]
/// does.
#[inline(always)]
pub fn position<T: Real>(construction: &Construction, at: impl Fn(u32) -> Vec3<T>) -> Vec3<T> {
    let number = T::constant;
    match construction {
        Construction::Average2 { atoms, weights } => weighted(atoms, weights, at),
        Construction::Average3 { atoms, weights } => weighted(atoms, weights, at),
        Construction::Average { atoms, weights } => weighted(atoms, weights, at),
        Construction::FixedDistance2 { atoms: [i, j], distance } => {
            at(*i) + unit(at(*j) - at(*i)).0 * number(*distance)
        }
        Construction::FixedDistance3 { atoms, weight, distance } => {
            let [i, j, k] = atoms.map(at);
            i + unit((j - i) + (k - j) * number(*weight)).0 * number(*distance)
        }
        Construction::FixedAngle3 { atoms, angle, distance } => {
            let [i, j, k] = atoms.map(at);
            let along = unit(j - i).0;
            let across = unit((k - j) - along * along.dot(k - j)).0;
            i + along * number(distance * angle.cos()) + across * number(distance * angle.sin())
        }
        Construction::OutOfPlane { atoms, weights: [a, b], cross } => {
            let [i, j, k] = atoms.map(at);
            let (ij, ik) = (j - i, k - i);
            i + ij * number(*a) + ik * number(*b) + ij.cross(ik) * number(*cross)
        }
        Construction::FixedDistance4 { atoms, weights: [a, b], distance } => {
            let [i, j, k, l] = atoms.map(at);
            let (ja, jb) = ((k - i) * number(*a) - (j - i), (l - i) * number(*b) - (j - i));
            i + unit(ja.cross(jb)).0 * number(*distance)
        }
        Construction::LocalFrame { atoms, weights, position } => {
            let (origin, frame) = Frame::new(atoms, weights, at);
            let [x, y, z] = frame.axes();
            let [p1, p2, p3] = position.map(number);
            origin + x * p1 + y * p2 + z * p3
        }
    }
}

/// Distributes the force (kJ/mol/nm) on a site over the atoms from which the site is constructed. `add` is called with
/// each atom and the force on this atom.
#[inline(always)]
pub fn spread(construction: &Construction, at: impl Fn(u32) -> Vec3, force: Vec3, mut add: impl FnMut(u32, Vec3)) {
    let mut weigh = |atoms: &[u32], weights: &[f64]| {
        atoms.iter().zip(weights).for_each(|(&atom, &weight)| add(atom, force * weight));
    };
    match construction {
        Construction::Average2 { atoms, weights } => weigh(atoms, weights),
        Construction::Average3 { atoms, weights } => weigh(atoms, weights),
        Construction::Average { atoms, weights } => weigh(atoms, weights),
        Construction::FixedDistance2 { atoms: [i, j], distance } => {
            let of_ij = through_unit(at(*j) - at(*i), force * *distance);
            add(*i, force - of_ij);
            add(*j, of_ij);
        }
        Construction::FixedDistance3 { atoms: [i, j, k], weight, distance } => {
            let s = (at(*j) - at(*i)) + (at(*k) - at(*j)) * *weight;
            let of_s = through_unit(s, force * *distance);
            add(*i, force - of_s);
            add(*j, of_s * (1.0 - weight));
            add(*k, of_s * *weight);
        }
        Construction::FixedAngle3 { atoms: [i, j, k], angle, distance } => {
            let (ij, jk) = (at(*j) - at(*i), at(*k) - at(*j));
            let along = unit(ij).0;
            // force on s = r_jk − û (û·r_jk), where û is the unit vector along r_ij
            let of_s = through_unit(jk - along * along.dot(jk), force * (distance * angle.sin()));
            let of_along = force * (distance * angle.cos()) - of_s * along.dot(jk) - jk * along.dot(of_s);
            let (of_ij, of_jk) = (through_unit(ij, of_along), of_s - along * along.dot(of_s));
            add(*i, force - of_ij);
            add(*j, of_ij - of_jk);
            add(*k, of_jk);
        }
        Construction::OutOfPlane { atoms: [i, j, k], weights: [a, b], cross } => {
            let (ij, ik) = (at(*j) - at(*i), at(*k) - at(*i));
            let of_ij = force * *a + ik.cross(force) * *cross;
            let of_ik = force * *b + force.cross(ij) * *cross;
            add(*i, force - of_ij - of_ik);
            add(*j, of_ij);
            add(*k, of_ik);
        }
        Construction::FixedDistance4 { atoms: [i, j, k, l], weights: [a, b], distance } => {
            let (ij, ik, il) = (at(*j) - at(*i), at(*k) - at(*i), at(*l) - at(*i));
            let (ja, jb) = (ik * *a - ij, il * *b - ij);
            let of_cross = through_unit(ja.cross(jb), force * *distance);
            let (of_ja, of_jb) = (jb.cross(of_cross), of_cross.cross(ja));
            let (of_ij, of_ik, of_il) = (-(of_ja + of_jb), of_ja * *a, of_jb * *b);
            add(*i, force - of_ij - of_ik - of_il);
            add(*j, of_ij);
            add(*k, of_ik);
            add(*l, of_il);
        }
        Construction::LocalFrame { atoms, weights, position } => {
            let [of_u, of_v] = Frame::new(atoms, weights, at).1.through(force, *position);
            for (&atom, &[w, u, v]) in atoms.iter().zip(weights) {
                add(atom, force * w + of_u * u + of_v * v);
            }
        }
    }
}

/// Computes the weighted sum Σ w r of the positions of `atoms`.
#[inline(always)]
fn weighted<T: Real>(atoms: &[u32], weights: &[f64], at: impl Fn(u32) -> Vec3<T>) -> Vec3<T> {
    let zero = Vec3::splat(T::constant(0.0));
    atoms.iter().zip(weights).fold(zero, |sum, (&atom, &weight)| sum + at(atom) * T::constant(weight))
}

/// Returns u/|u| and 1/|u|.
#[inline(always)]
fn unit<T: Real>(u: Vec3<T>) -> (Vec3<T>, T) {
    let inverse = inverse_norm(u.norm_squared());
    (u * inverse, inverse)
}

/// Returns the force on u that results from the force `factor` on the unit vector u/|u|.
#[inline(always)]
fn through_unit(u: Vec3, factor: Vec3) -> Vec3 {
    let (along, inverse) = unit(u);
    (factor - along * along.dot(factor)) * inverse
}

/// Vectors u and v that define the local frame of a site.
struct Frame<T> {
    u: Vec3<T>,
    v: Vec3<T>,
}

impl<T: Real> Frame<T> {
    /// Returns the origin of the local frame, and the vectors of the frame. The origin and both vectors are weighted
    /// sums of the positions of the atoms.
    fn new(atoms: &[u32], weights: &[[f64; 3]], at: impl Fn(u32) -> Vec3<T>) -> (Vec3<T>, Self) {
        let zero = Vec3::splat(T::constant(0.0));
        let [origin, u, v] = atoms.iter().zip(weights).fold([zero; 3], |sums, (&atom, weights)| {
            let r = at(atom);
            std::array::from_fn(|k| sums[k] + r * T::constant(weights[k]))
        });
        (origin, Frame { u, v })
    }

    fn axes(&self) -> [Vec3<T>; 3] {
        let (x, z) = (unit(self.u).0, unit(self.u.cross(self.v)).0);
        [x, z.cross(x), z]
    }
}

impl Frame<f64> {
    /// Returns the forces on the frame vectors u and v that result from a force on the site, whose coordinates in the
    /// local frame are `p1`, `p2` and `p3` (nm).
    fn through(&self, force: Vec3, [p1, p2, p3]: [f64; 3]) -> [Vec3; 2] {
        let ([x, _, z], Frame { u, v }) = (self.axes(), self);
        // the frame vector ŷ is ẑ × x̂
        let of_y = force * p2;
        let of_z = force * p3 + x.cross(of_y);
        let of_x = force * p1 + of_y.cross(z);
        let of_cross = through_unit(u.cross(*v), of_z);
        [through_unit(*u, of_x) + v.cross(of_cross), of_cross.cross(*u)]
    }
}
