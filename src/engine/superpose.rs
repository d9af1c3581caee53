//! Optimal superposition of two sets of points.
//!
//! Let a and b be two sets of points with weights w, both centered at the origin, and let M = Σ w a⊗b be the
//! correlation matrix. The squared deviation after a rotation R of the points a is Σ w |R a − b|² = G_a + G_b − 2 tr(R
//! M), where G_a = Σ w |a|² and G_b = Σ w |b|². The deviation is least where tr(R M) = λ, the largest eigenvalue of a 4
//! × 4 matrix built from M (Kearsley, Acta Cryst. A45, 208 (1989), doi:10.1107/S0108767388010128).

use nalgebra::{Matrix3, SVD, Vector3};

use crate::vec3::Vec3;

/// Correlation matrix M_ij = Σ w a_i b_j, indexed as `[i][j]`.
pub type Correlation = [[f64; 3]; 3];

/// Returns the correlation matrix of pairs (w a, b), summed in the order of the pairs.
pub fn correlation(pairs: impl IntoIterator<Item = (Vec3, Vec3)>) -> Correlation {
    let mut m = [[0.0; 3]; 3];
    for (a, b) in pairs {
        for (row, a) in m.iter_mut().zip(a.to_array()) {
            row.iter_mut().zip(b.to_array()).for_each(|(sum, b)| *sum += a * b);
        }
    }
    m
}

/// Maximum number of Newton steps. Usually 5 to 10 steps are enough. If two eigenvalues are equal, each step only
/// halves the error, and the 53 bits of an f64 then need about 53 steps.
const MOST_STEPS: usize = 60;
/// Relative change of λ below which the Newton iteration has converged: a few rounding errors.
const ARRIVED: f64 = 1e-14;

/// Computes λ = max tr(R M) over all rotations R; `bound` is (G_a + G_b)/2, which λ cannot exceed.
///
/// λ is the largest root of the matrix' characteristic polynomial (Theobald, Acta Cryst. A61, 478 (2005),
/// doi:10.1107/S0108767305015266). Written with invariants of M, the equation is (λ² − |M|²)² = 8 λ det M + 4 |cof M|²,
/// where |·| is the Frobenius norm and cof M is the cofactor matrix. The roots are ±s₁ ± s₂ ± s₃ with the singular
/// values s of M; the number of minus signs is even, or odd if det M < 0. Newton's method started at `bound` approaches
/// the largest root monotonically from above.
pub fn overlap(m: &Correlation, bound: f64) -> f64 {
    let cofactor = |i: usize, j: usize| {
        let ([i1, i2], [j1, j2]) = ([(i + 1) % 3, (i + 2) % 3], [(j + 1) % 3, (j + 2) % 3]);
        m[i1][j1] * m[i2][j2] - m[i1][j2] * m[i2][j1]
    };
    let (mut square, mut cofactor_square, mut determinant) = (0.0, 0.0, 0.0);
    for i in 0..3 {
        for j in 0..3 {
            square += m[i][j] * m[i][j];
            cofactor_square += cofactor(i, j) * cofactor(i, j);
        }
        determinant += m[0][i] * cofactor(0, i);
    }
    let mut root = bound;
    for _ in 0..MOST_STEPS {
        let excess = root * root - square;
        let value = excess * excess - 8.0 * determinant * root - 4.0 * cofactor_square;
        let slope = 4.0 * root * excess - 8.0 * determinant;
        let step = value / slope;
        // the iteration has converged, or rounding errors have made the step negative; the step is NaN if M and `bound`
        // are zero
        if step.is_nan() || step <= ARRIVED * root {
            break;
        }
        root -= step;
    }
    root
}

/// Returns the rotation R of the points a for which tr(R M) is largest (Kabsch, Acta Cryst. A32, 922 (1976),
/// doi:10.1107/S0567739476001873). M must be finite.
pub fn rotation(m: &Correlation) -> Matrix3<f64> {
    let svd = SVD::new(Matrix3::from_fn(|i, j| m[i][j]), true, true);
    let (Some(u), Some(v)) = (svd.u, svd.v_t.map(|v| v.transpose())) else { return Matrix3::identity() };
    // with the singular value decomposition M = U S Vᵀ, the rotation R = V D Uᵀ maximises tr(R M); D is the identity,
    // or changes the sign of the smallest singular value if V Uᵀ is a reflection
    let mut signs = Matrix3::identity();
    if u.determinant() * v.determinant() < 0.0 {
        let least = svd.singular_values.imin();
        signs[(least, least)] = -1.0;
    }
    v * signs * u.transpose()
}

/// Rigid motion r ↦ R (r − c) + c' that superposes points with the center c on points with the center c', with equal
/// weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Superposition {
    rotation: Matrix3<f64>,
    from: Vec3,
    onto: Vec3,
}

impl Superposition {
    /// Superposes `points` on the points `onto` (nm). Both sets have the same number of points, which is at least
    /// one.
    pub fn new(points: &[Vec3], onto: &[Vec3]) -> Self {
        let [from, center] = [points, onto].map(|points| points.iter().copied().sum::<Vec3>() / points.len() as f64);
        let m = correlation(points.iter().zip(onto).map(|(&a, &b)| (a - from, b - center)));
        Self { rotation: rotation(&m), from, onto: center }
    }

    /// Rotates a direction: returns R v.
    pub fn turn(&self, v: Vec3) -> Vec3 {
        Vec3::from(<[f64; 3]>::from(self.rotation * Vector3::from(v.to_array())))
    }

    /// Applies the motion to a position, nm.
    pub fn apply(&self, r: Vec3) -> Vec3 {
        self.onto + self.turn(r - self.from)
    }

    /// Returns the root-mean-square deviation after the superposition, nm.
    pub fn deviation(&self, points: &[Vec3], onto: &[Vec3]) -> f64 {
        let squares = points.iter().zip(onto).map(|(a, b)| (self.apply(*a) - *b).norm_squared());
        (squares.sum::<f64>() / points.len() as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Matrix4, Rotation3, SymmetricEigen};

    fn correlation_and_bound(a: &[Vector3<f64>], b: &[Vector3<f64>]) -> (Correlation, f64) {
        let m = a.iter().zip(b).map(|(a, b)| a * b.transpose()).sum::<Matrix3<f64>>();
        let bound = 0.5 * a.iter().chain(b).map(|r| r.norm_squared()).sum::<f64>();
        ([0, 1, 2].map(|i| [0, 1, 2].map(|j| m[(i, j)])), bound)
    }

    fn points(count: usize, seed: f64) -> Vec<Vector3<f64>> {
        let point = |i: usize| {
            let t = seed + i as f64;
            Vector3::new((1.3 * t).sin(), (2.1 * t + 0.4).cos(), (0.7 * t * t).sin())
        };
        let all: Vec<_> = (0..count).map(point).collect();
        let center = all.iter().sum::<Vector3<f64>>() / count as f64;
        all.into_iter().map(|r| r - center).collect()
    }

    /// Returns the largest eigenvalue of Kearsley's matrix, in the quaternion form of Horn, J. Opt. Soc. Am. A 4, 629
    /// (1987).
    fn horn(m: &Correlation) -> f64 {
        let [[xx, xy, xz], [yx, yy, yz], [zx, zy, zz]] = *m;
        #[rustfmt::skip]
        let n = Matrix4::new(
            xx + yy + zz, yz - zy,      zx - xz,       xy - yx,
            yz - zy,      xx - yy - zz, xy + yx,       zx + xz,
            zx - xz,      xy + yx,      yy - xx - zz,  yz + zy,
            xy - yx,      zx + xz,      yz + zy,       zz - xx - yy,
        );
        SymmetricEigen::new(n).eigenvalues.max()
    }

    /// Tolerance for the rounding of about a hundred operations on numbers of about 10.
    const ROUNDING: f64 = 1e-12;
    /// Tolerance if two eigenvalues are equal: ten times the square root of the rounding error 10⁻¹⁶ · 10² of the
    /// polynomial.
    const MEETING: f64 = 1e-6;

    #[test]
    fn overlap_and_rotation_are_the_eigenvalue_and_its_rotation() {
        for seed in 0..50 {
            let (a, b) = (points(7, f64::from(seed)), points(7, 31.0 + f64::from(seed)));
            let (m, bound) = correlation_and_bound(&a, &b);
            let (expected, r) = (horn(&m), rotation(&m));
            assert!((overlap(&m, bound) - expected).abs() < ROUNDING * bound, "{seed}");
            let trace = (r * Matrix3::from_fn(|i, j| m[i][j])).trace();
            assert!((trace - expected).abs() < ROUNDING * bound, "{seed}: {trace} for {expected}");
            assert!((r.determinant() - 1.0).abs() < ROUNDING);
        }
    }

    #[test]
    fn turned_points_come_back() {
        let turn = Rotation3::from_euler_angles(0.3, -1.1, 2.5);
        let a = points(5, 0.2);
        let b: Vec<_> = a.iter().map(|r| turn * r).collect();
        let (m, bound) = correlation_and_bound(&a, &b);
        assert!((overlap(&m, bound) / bound - 1.0).abs() < ROUNDING);
        assert!((rotation(&m) - turn.matrix()).norm() < ROUNDING);
    }

    #[test]
    fn a_superposition_undoes_a_rigid_motion() {
        let turn = Rotation3::from_euler_angles(-0.4, 2.0, 0.9);
        let moved = |r: &Vec3| Vec3::from(<[f64; 3]>::from(turn * Vector3::from(r.to_array()))) + Vec3::splat(3.0);
        let a: Vec<Vec3> = points(6, 1.0).iter().map(|r| Vec3::from([r.x - 2.0, r.y, r.z])).collect();
        let b: Vec<Vec3> = a.iter().map(moved).collect();
        let found = Superposition::new(&a, &b);
        assert!(found.deviation(&a, &b) < ROUNDING && (found.apply(a[3]) - b[3]).norm() < ROUNDING);
    }

    #[test]
    fn mirror_images_planes_and_lines_have_their_overlap() {
        let a = points(6, 3.0);
        let flat: Vec<_> = a.iter().map(|r| Vector3::new(r.x, r.y, 0.0)).collect();
        let line: Vec<_> = a.iter().map(|r| Vector3::new(r.x, 0.0, 0.0)).collect();
        let mirror = |points: &[Vector3<f64>]| points.iter().map(|r| -r).collect::<Vec<_>>();
        // the mirror image of points in space cannot be rotated onto the points, but the mirror image of points in a
        // plane or on a line can be rotated onto the points
        for (points, same) in [(&a, false), (&flat, true), (&line, true)] {
            let (m, bound) = correlation_and_bound(points, &mirror(points));
            assert!((overlap(&m, bound) - horn(&m)).abs() < MEETING * bound);
            assert_eq!((overlap(&m, bound) / bound - 1.0).abs() < MEETING, same);
            let r = rotation(&m);
            assert!((r.determinant() - 1.0).abs() < ROUNDING);
        }
        assert_eq!(overlap(&[[0.0; 3]; 3], 0.0), 0.0);
    }
}
