//! The geometry of four atoms in a chain: dihedral angle and its gradient.

use super::{Real, inverse_norm};
use crate::vec3::Vec3;

/// Dihedral angle φ of atoms i-j-k-l with the IUPAC sign: cis is 0, trans is π, and φ > 0 if l is clockwise from i
/// when looking from j to k.
#[derive(Clone, Copy, Debug)]
pub struct Dihedral<T> {
    /// cosine of the dihedral angle φ
    pub cosine: T,
    /// sine of the dihedral angle φ
    pub sine: T,
    /// gradient ∂φ/∂r for i, j, k, l in rad/nm
    pub gradient: [Vec3<T>; 4],
}

/// Limit of |u × g|² (nm⁴) below which three atoms are collinear and φ is undefined. With bonds of 0.1 nm the limit
/// corresponds to a sine of 10⁻⁷, the error that f32 displacements (10⁻⁸ nm) cause in the cross product.
const COLLINEAR: f64 = 1e-18;

impl<T: Real> Dihedral<T> {
    /// Computes the dihedral from the displacements `ij` = r_i − r_j, `kj` = r_k − r_j and `lk` = r_l − r_k (nm).
    ///
    /// With g = −kj, a = ij × g, b = lk × g (Blondel & Karplus, J. Comput. Chem. 17, 1132 (1996)): cos φ =
    /// a·b/(|a||b|), sin φ = −|g| ij·b/(|a||b|), ∂φ/∂r_i = −|g| a/a², ∂φ/∂r_l = |g| b/b². If three atoms are collinear,
    /// φ is set to 0, and the gradient for the end atom (i or l) of the three atoms is set to zero.
    #[inline(always)]
    pub fn new([ij, kj, lk]: [Vec3<T>; 3]) -> Self {
        let (zero, one) = (T::constant(0.0), T::constant(1.0));
        let g = -kj;
        let (a, b) = (ij.cross(g), lk.cross(g));
        let (inverse_a2, inverse_b2) = (inverse_square(a.norm_squared()), inverse_square(b.norm_squared()));
        let inverse_ab = (inverse_a2 * inverse_b2).sqrt();
        let defined = zero.less(inverse_ab);
        let g2 = g.norm_squared();
        let inverse_g = inverse_norm(g2);
        let length_g = g2 * inverse_g;

        let toward_i = a * -(length_g * inverse_a2);
        let toward_l = b * (length_g * inverse_b2);
        let along = a * (ij.dot(g) * inverse_a2 * inverse_g) - b * (lk.dot(g) * inverse_b2 * inverse_g);
        Self {
            cosine: T::select(defined, a.dot(b) * inverse_ab, one),
            sine: -(length_g * ij.dot(b) * inverse_ab),
            gradient: [toward_i, along - toward_i, -(along + toward_l), toward_l],
        }
    }

    /// The angle φ in (−π, π].
    #[inline(always)]
    pub fn angle(&self) -> T {
        self.sine.atan2(self.cosine)
    }

    /// Forces on i, j, k, l (kJ/mol/nm) for dE/dφ = `slope` (kJ/mol/rad).
    #[inline(always)]
    pub fn forces(&self, slope: T) -> [Vec3<T>; 4] {
        // `map` is not used, because its closure may be compiled as a separate function without the instruction set of
        // the caller
        let ([i, j, k, l], torque) = (self.gradient, -slope);
        [i * torque, j * torque, k * torque, l * torque]
    }
}

/// Returns 1/`square`, or zero if `square` is so small that atoms are collinear.
#[inline(always)]
fn inverse_square<T: Real>(square: T) -> T {
    let collinear = square.less(T::constant(COLLINEAR));
    T::select(collinear, T::constant(0.0), T::select(collinear, T::constant(1.0), square).recip())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3::vec3;

    /// Four atoms with a given dihedral angle about the z axis.
    fn at(phi: f64) -> Dihedral<f64> {
        Dihedral::new([vec3(0.1, 0.0, -0.03), vec3(0.0, 0.0, 0.15), vec3(0.12 * phi.cos(), 0.12 * phi.sin(), 0.05)])
    }

    #[test]
    fn sign_is_that_of_iupac() {
        // seen along +z, the rotation from x to y is clockwise
        for phi in [-3.0, -1.5, -1e-9, 0.0, 0.3, 2.0, 3.1] {
            let dihedral = at(phi);
            assert!((dihedral.angle() - phi).abs() < 1e-15, "{phi}: {dihedral:?}");
            assert!((dihedral.cosine.powi(2) + dihedral.sine.powi(2) - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn collinear_atoms_have_no_gradient() {
        let dihedral = Dihedral::new([vec3(0.0, 0.0, 0.1), vec3(0.0, 0.0, 0.1), vec3(0.1, 0.0, 0.0)]);
        assert_eq!(dihedral.angle(), 0.0);
        assert_eq!(dihedral.gradient[0], Vec3::ZERO);
        assert!(dihedral.gradient.iter().all(|g| g.is_finite()));
    }
}
