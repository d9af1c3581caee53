//! SHAKE: constraints between a center and up to four leaves (a heavy atom and its hydrogens), solved for eight SHAKE
//! clusters at a time.
//!
//! The leaves are coupled only through the center, so that a SHAKE cluster of n bonds is an n×n problem. The unknowns
//! are the Lagrange multipliers λ_j of the conditions |s_i + Σ_j (w_c + δ_ij w_i) λ_j d_j| = L_i, one for each leaf i
//! with the constraint length L_i. The vectors d_i and s_i are the bond vectors (leaf − center) of leaf i at the start
//! of the step and after the unconstrained update, and w_c and w_i are the inverse masses of the center and of leaf i.
//! Newton's method is iterated until all constraints are satisfied, with the matrix A_ij = d_i·d_j (w_c + δ_ij w_i) of
//! the bond vectors d and inverse masses w. The iteration is a matrix form of SHAKE (J.-P. Ryckaert, G. Ciccotti, H. J.
//! C. Berendsen, J. Comput. Phys. 23, 327 (1977), doi:10.1016/0021-9991(77)90098-5). The matrix A is computed from the
//! bond vectors at the start of the step, so that the matrix is symmetric and is the same in all iterations. The matrix
//! is factored only once per step. Each iteration multiplies the error by about the angle (rad) by which a bond rotates
//! in a step. In a time step of 2 fs a bond rotates by about 0.05 rad.

use super::lanes::{LANES, Lanes};
use crate::vec3::Vec3;

/// Maximum number of leaves of a SHAKE cluster: the four hydrogens of methane and ammonium.
pub(super) const MAX_LEAVES: usize = 4;

/// Maximum number of iterations. A SHAKE cluster that has not converged after this number of iterations is an error.
/// Each iteration reduces the error by a factor of ten even for bonds that rotate by 0.1 rad in a step.
const MAX_ITERATIONS: usize = 50;

/// Masses and lengths of eight SHAKE clusters of `N` leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShakeShape<const N: usize> {
    /// inverse mass of the center, 1/amu
    pub(super) inverse_center_mass: Lanes,
    /// inverse masses of the leaves, 1/amu
    pub(super) inverse_leaf_mass: [Lanes; N],
    /// squared constraint lengths, nm²
    pub(super) length_squared: [Lanes; N],
}

/// Factors of the symmetric matrix A = L D Lᵀ of Newton's method: the unit lower triangular matrix L, and the inverse
/// of the diagonal matrix D. The elements of A are A_ij = d_i·d_j (w_c + δ_ij w_i), with the bond vectors d at the
/// start of the step and the inverse masses w of center and leaf.
struct Factored<const N: usize> {
    lower: [[Lanes; N]; N],
    inverse_diagonal: [Lanes; N],
}

impl<const N: usize> Factored<N> {
    #[inline(always)]
    fn new(shape: &ShakeShape<N>, bonds: &[Vec3<Lanes>; N]) -> Self {
        let mut lower = [[Lanes::ZERO; N]; N];
        let mut inverse_diagonal = [Lanes::ZERO; N];
        for j in 0..N {
            for i in j..N {
                let mass = if i == j {
                    shape.inverse_center_mass + shape.inverse_leaf_mass[i]
                } else {
                    shape.inverse_center_mass
                };
                let mut sum = bonds[i].dot(bonds[j]) * mass;
                for k in 0..j {
                    // row j of `lower` holds all L_jk, and row i holds the elements L_ik that are already computed;
                    // each product L_ik L_jk is multiplied by D_k
                    sum -= lower[i][k] * lower[j][k] / inverse_diagonal[k];
                }
                if i == j {
                    inverse_diagonal[j] = Lanes::splat(1.0) / sum;
                } else {
                    lower[i][j] = sum * inverse_diagonal[j];
                }
            }
        }
        Self { lower, inverse_diagonal }
    }

    #[inline(always)]
    fn solve(&self, mut b: [Lanes; N]) -> [Lanes; N] {
        for i in 0..N {
            for k in 0..i {
                b[i] -= self.lower[i][k] * b[k];
            }
        }
        for i in (0..N).rev() {
            b[i] = b[i] * self.inverse_diagonal[i];
            for k in i + 1..N {
                b[i] -= self.lower[k][i] * b[k];
            }
        }
        b
    }
}

/// Displacements of the center and of each leaf for given Lagrange multipliers.
#[inline(always)]
fn push<const N: usize>(
    shape: &ShakeShape<N>,
    bonds: &[Vec3<Lanes>; N],
    multipliers: &[Lanes; N],
) -> (Vec3<Lanes>, [Vec3<Lanes>; N]) {
    let mut center = Vec3::splat(Lanes::ZERO);
    let mut leaves = [center; N];
    for i in 0..N {
        let force = bonds[i] * multipliers[i];
        center -= force * shape.inverse_center_mass;
        leaves[i] = force * shape.inverse_leaf_mass[i];
    }
    (center, leaves)
}

/// Residual (L² − |s|²)/2 (nm²) of each bond vector s with the constraint length L. For a small error of the bond
/// length, the magnitude of the residual is about L² times the relative error of the bond length.
#[inline(always)]
fn residuals<const N: usize>(shape: &ShakeShape<N>, bonds: &[Vec3<Lanes>; N]) -> [Lanes; N] {
    let mut residual = [Lanes::ZERO; N];
    for i in 0..N {
        residual[i] = (shape.length_squared[i] - bonds[i].norm_squared()) * Lanes::splat(0.5);
    }
    residual
}

/// Displacements (nm) that satisfy the constraints of a block of SHAKE clusters.
pub(super) struct ShakeSolution<const N: usize> {
    /// displacement of the center
    pub(super) center: Vec3<Lanes>,
    /// displacements of the leaves
    pub(super) leaves: [Vec3<Lanes>; N],
    /// leaf and lane of the bond with the largest initial error, if some bond did not converge
    pub(super) failed: Option<(usize, usize)>,
}

/// Computes corrections of the positions after the unconstrained update. `old` and `new` are the bond vectors leaf −
/// center (nm) at the start of the step and after the unconstrained update. `tolerance` is the relative tolerance of
/// the lengths.
#[inline(always)]
pub(super) fn shake<const N: usize>(
    shape: &ShakeShape<N>,
    old: &[Vec3<Lanes>; N],
    new: &[Vec3<Lanes>; N],
    tolerance: f64,
) -> ShakeSolution<N> {
    iterate(shape, &Factored::new(shape, old), old, new, tolerance)
}

/// Iterates Newton's method, where `factored` is the factored matrix A of the bond vectors `old`.
#[inline(always)]
fn iterate<const N: usize>(
    shape: &ShakeShape<N>,
    factored: &Factored<N>,
    old: &[Vec3<Lanes>; N],
    new: &[Vec3<Lanes>; N],
    tolerance: f64,
) -> ShakeSolution<N> {
    let mut multipliers = [Lanes::ZERO; N];
    let mut current = *new;
    let mut failed = None;
    for iteration in 0..=MAX_ITERATIONS {
        let residual = residuals(shape, &current);
        let mut converged = true;
        for i in 0..N {
            converged &= residual[i].within(shape.length_squared[i] * Lanes::splat(tolerance));
        }
        if converged {
            break;
        }
        if iteration == MAX_ITERATIONS {
            failed = worst(&residuals(shape, new));
            break;
        }
        let change = factored.solve(residual);
        for i in 0..N {
            multipliers[i] += change[i];
        }
        let (center, leaves) = push(shape, old, &multipliers);
        for i in 0..N {
            current[i] = new[i] + (leaves[i] - center);
        }
    }
    let (center, leaves) = push(shape, old, &multipliers);
    ShakeSolution { center, leaves, failed }
}

/// Corrections of velocities (nm/ps) that make the time derivatives of all constrained distances zero. `bonds` (nm) and
/// `velocities` (nm/ps) are differences leaf − center.
#[inline(always)]
pub(super) fn project<const N: usize>(
    shape: &ShakeShape<N>,
    bonds: &[Vec3<Lanes>; N],
    velocities: &[Vec3<Lanes>; N],
) -> ShakeSolution<N> {
    projected(shape, &Factored::new(shape, bonds), bonds, velocities)
}

/// Computes the velocity corrections of [`project`], where `factored` is the factored matrix A of the bond vectors.
#[inline(always)]
fn projected<const N: usize>(
    shape: &ShakeShape<N>,
    factored: &Factored<N>,
    bonds: &[Vec3<Lanes>; N],
    velocities: &[Vec3<Lanes>; N],
) -> ShakeSolution<N> {
    let mut stretch = [Lanes::ZERO; N];
    for i in 0..N {
        stretch[i] = -bonds[i].dot(velocities[i]);
    }
    let multipliers = factored.solve(stretch);
    let (center, leaves) = push(shape, bonds, &multipliers);
    let mut finite = true;
    for i in 0..N {
        finite &= multipliers[i].is_finite();
    }
    let failed = if finite { None } else { worst(&multipliers) };
    ShakeSolution { center, leaves, failed }
}

/// Returns the changes of velocities (nm/ps) and the remaining changes of positions (nm) that satisfy the constraints
/// at the end of a drift ([`super::Drift`]). `bonds` (nm) and `velocities` (nm/ps) are differences leaf − center, and
/// `half` is half of the time step in ps.
#[inline(always)]
pub(super) fn finish_drift<const N: usize>(
    shape: &ShakeShape<N>,
    bonds: &[Vec3<Lanes>; N],
    velocities: &[Vec3<Lanes>; N],
    half: Lanes,
    tolerance: f64,
) -> [ShakeSolution<N>; 2] {
    let mut middle = *bonds;
    for i in 0..N {
        middle[i] -= velocities[i] * half;
    }
    let factored = Factored::new(shape, &middle);
    let projection = projected(shape, &factored, &middle, velocities);
    let mut end = *bonds;
    for i in 0..N {
        end[i] += (projection.leaves[i] - projection.center) * half;
    }
    let rest = iterate(shape, &factored, &middle, &end, tolerance);
    [projection, rest]
}

/// Returns the index of the leaf and the index of the lane at which the magnitude of `values` is largest. A lane with
/// NaN counts as larger than any number.
#[cold]
fn worst<const N: usize>(values: &[Lanes; N]) -> Option<(usize, usize)> {
    let magnitude = |(leaf, lane): (usize, usize)| values[leaf].0[lane].abs();
    // in the total order of floats, NaN with a positive sign comes after infinity
    (0..N)
        .flat_map(|leaf| (0..LANES).map(move |lane| (leaf, lane)))
        .max_by(|&a, &b| magnitude(a).total_cmp(&magnitude(b)))
}
