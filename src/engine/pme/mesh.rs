//! RMS error of forces interpolated on a grid, relative to the Ewald sum.

use std::f64::consts::{PI, TAU};

use super::ChargeStructure;
use crate::units::COULOMB;

/// Mean squared errors of the mesh force for unit charges.
///
/// For charges at r₁ and r₂ the mesh gives the potential Σ_m Ĝ(m) Σ_{n,n′} (u_n u_n′/S²) e^{2πi[(m+nK)·r₂ −
/// (m+n′K)·r₁]}. Ĝ is the reciprocal-space Ewald factor, and K is the number of grid points. u_n is the transform of
/// the spline at the n-th alias of m, which is sinc(m/K + n) to the power of the spline order. S = Σ u_n is the sum of
/// the transforms over all aliases n. The exact potential has only the term n = n′ = 0 with weight 1. The squared force
/// error is averaged over both positions, and source charges are weighted by their structure factor. The mean square is
/// a sum over m of products of one-dimensional sums, as in Hockney & Eastwood and in Wang, Dohm & Holm. The sum per
/// volume depends only on α and the grid spacings, so the sum is computed for a box of [`BOX`] points along each axis.
/// The terms of the potential with n − n′ = ±1 give the self-force, whose error is stored separately.
pub(super) struct MeshError {
    /// error of the force between pairs of charges, (kJ/mol/nm)² nm³/e⁴
    pub(super) pair: f64,
    /// error due to the force of the mesh charge of an atom on the same atom, (kJ/mol/nm)²/e⁴
    pub(super) own: f64,
}

/// Number of points, along each axis, of the box for which the error sums are computed. The number is odd so that no
/// wave vector lies on the boundary of the Brillouin zone, where S = 0 for odd spline orders. For α·spacing ≥ 0.1 the
/// Gaussian is as wide as one wave vector or wider, so that the sums approximate integrals to a few per cent.
const BOX: i32 = 25;
/// Number of aliases on each side of a wave number. The contribution of the first neglected alias is smaller than the
/// contribution of the last included alias by a factor of (3/4)^(2·order).
const ALIASES: i32 = 3;

/// Sums over the aliases of one wave number along one dimension.
#[derive(Clone, Copy)]
struct Line {
    /// wave number m, 1/nm
    wave: f64,
    /// Σ u_n²/S², with the transform u_n of the spline at alias n and S = Σ u_n
    square: f64,
    /// Σ u_n² (m + n/h)²/S² over the aliases n of wave number m on a grid with the spacing h, 1/nm²
    slope: f64,
    /// u_0²/S²: the share of the wave number itself (alias 0), with u_n and S as in `square`
    own: f64,
    /// Σ u_n u_{n−1}/S²: products of neighbouring aliases, with u_n and S as in `square`
    neighbour: f64,
}

impl Line {
    fn new(k: i32, spacing: f64, order: usize) -> Self {
        let length = f64::from(BOX) * spacing;
        let transform = |n: i32| {
            let x = PI * (f64::from(k) / f64::from(BOX) + f64::from(n));
            if x == 0.0 { 1.0 } else { (x.sin() / x).powi(order as i32) }
        };
        let aliases = -ALIASES..=ALIASES;
        let scale = aliases.clone().map(transform).sum::<f64>().powi(-2);
        let wave = |n: i32| f64::from(k + n * BOX) / length;
        Self {
            wave: wave(0),
            square: scale * aliases.clone().map(|n| transform(n).powi(2)).sum::<f64>(),
            slope: scale * aliases.clone().map(|n| (transform(n) * wave(n)).powi(2)).sum::<f64>(),
            own: scale * transform(0).powi(2),
            neighbour: scale * aliases.map(|n| transform(n) * transform(n - 1)).sum::<f64>(),
        }
    }
}

impl MeshError {
    pub(super) fn new(alpha: f64, spacing: [f64; 3], order: usize, structure: &ChargeStructure) -> Self {
        let lines = spacing.map(|h| (0..=BOX).map(|k| Line::new(k, h, order)).collect::<Vec<_>>());
        let volume: f64 = spacing.iter().map(|h| f64::from(BOX) * h).product();
        let (mut pair, mut own) = (0.0, [0.0; 3]);
        for (i, a) in lines[0].iter().enumerate() {
            for (j, b) in lines[1].iter().enumerate() {
                for (k, c) in lines[2].iter().enumerate() {
                    // the sums are equal for the wave numbers k and −k along each axis
                    let copies = [i, j, k].iter().map(|&k| if k == 0 { 1.0 } else { 2.0 }).product::<f64>();
                    let squared = a.wave * a.wave + b.wave * b.wave + c.wave * c.wave;
                    if squared == 0.0 {
                        continue;
                    }
                    let green = COULOMB / (PI * volume) * (-PI * PI * squared / (alpha * alpha)).exp() / squared;
                    let inside = [i, j, k].iter().all(|&k| 2 * k < BOX as usize);
                    let charge = structure.at(squared.sqrt());
                    let error = if inside { Self::inside(a, b, c, squared, charge) } else { squared * charge };
                    pair += copies * green * green * TAU * TAU * error;
                    if inside {
                        own[0] += copies * green * a.neighbour * b.square * c.square;
                        own[1] += copies * green * a.square * b.neighbour * c.square;
                        own[2] += copies * green * a.square * b.square * c.neighbour;
                    }
                }
            }
        }
        // the self-force along an axis is amplitude · sin(2π position/spacing), and its mean square is half of the
        // squared amplitude
        let own = own.iter().zip(spacing).map(|(sum, h)| 0.5 * (TAU / h * sum).powi(2)).sum();
        Self { pair: pair * volume, own }
    }

    /// Returns the squared error at a wave vector that the grid represents, in units of (2π Ĝ)² with the
    /// reciprocal-space Ewald factor Ĝ. Contributions of source charges at this wave vector are weighted with the
    /// structure factor `charge`. Contributions at aliases of the wave vector are not weighted: the wavelength of an
    /// alias is shorter than any molecule, so that charges count as uncorrelated.
    fn inside(a: &Line, b: &Line, c: &Line, squared: f64, charge: f64) -> f64 {
        let (product, own) = (a.square * b.square * c.square, a.own * b.own * c.own);
        let slopes = a.slope * b.square * c.square + a.square * b.slope * c.square + a.square * b.square * c.slope;
        // on fine grids the terms below are differences of nearly equal numbers, and rounding can make these
        // differences negative
        let right_source = (slopes * own - 2.0 * own * squared + squared).max(0.0);
        let aliased_source = slopes * (product - own).max(0.0);
        charge * right_source + aliased_source
    }
}
