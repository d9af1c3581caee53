//! Spreading charges to the mesh and gathering forces from it, sixteen atoms (two blocks) at a time.

use super::mesh::Padded;
use crate::cell::PeriodicCell;
use crate::pair::{BLOCK, Grid, NO_ATOM};
use crate::pme::{reciprocal_rows, spline};
use crate::simd::{Float, Kernel, LANES, Simd};
use crate::vec3::Vec3;
use std::ops::Range;

/// What both kernels read.
#[derive(Clone, Copy)]
pub(super) struct MeshAtoms<'a> {
    pub grid: &'a Grid,
    pub cell: &'a PeriodicCell,
    pub positions: &'a [Vec3],
    pub charges: &'a [[f32; 8]],
    pub padded: Padded,
}

/// Places of sixteen slots on the mesh.
struct Places {
    /// grid point below the atom, per direction
    point: [[u32; LANES]; 3],
    /// fraction of the way to the next point
    fraction: [[f32; LANES]; 3],
    charge: [f32; LANES],
}

impl<'a> MeshAtoms<'a> {
    /// Fractions are formed in `f64`, so that they do not lose digits in a large cell. Empty slots have no charge.
    #[inline(always)]
    fn places(&self, reciprocal: &[Vec3; 3], blocks: Range<usize>) -> Places {
        let mut places = Places { point: [[0; LANES]; 3], fraction: [[0.0; LANES]; 3], charge: [0.0; LANES] };
        for (lane, slot) in (blocks.start * BLOCK..blocks.end * BLOCK).enumerate() {
            let atom = self.grid.slot_atom[slot];
            if atom == NO_ATOM {
                continue;
            }
            let r = self.positions[atom as usize];
            places.charge[lane] = self.charges[slot / BLOCK][slot % BLOCK];
            for axis in 0..3 {
                let s = reciprocal[axis].dot(r);
                let size = self.padded.size[axis];
                let place = (s - floor(s)) * size as f64;
                // rounding can make the product reach the size
                let point = (place as u32).min(size as u32 - 1);
                places.point[axis][lane] = point;
                places.fraction[axis][lane] = (place - f64::from(point)) as f32;
            }
        }
        places
    }
}

/// Round down without a library call: positions are a few cells from the origin at most.
#[inline(always)]
fn floor(s: f64) -> f64 {
    let truncated = s as i64 as f64;
    if truncated > s { truncated - 1.0 } else { truncated }
}

/// Spline weights and slopes of sixteen atoms along one direction, [element][lane].
struct Weights<const N: usize> {
    value: [[f32; LANES]; N],
    slope: [[f32; LANES]; N],
}

impl<const N: usize> Weights<N> {
    #[inline(always)]
    fn new<S: Simd>(fraction: &[f32; LANES]) -> Self {
        let (value, slope) = spline::<S::F, N>(S::F::load(fraction));
        let mut weights = Weights { value: [[0.0; LANES]; N], slope: [[0.0; LANES]; N] };
        for j in 0..N {
            value[j].store(&mut weights.value[j]);
            slope[j].store(&mut weights.slope[j]);
        }
        weights
    }

    #[inline(always)]
    fn values_of(&self, lane: usize) -> [f32; N] {
        let mut out = [0.0; N];
        for j in 0..N {
            out[j] = self.value[j][lane];
        }
        out
    }

    #[inline(always)]
    fn slopes_of(&self, lane: usize) -> [f32; N] {
        let mut out = [0.0; N];
        for j in 0..N {
            out[j] = self.slope[j][lane];
        }
        out
    }
}

/// Charges of a run of blocks onto a padded grid; `touched` planes are marked.
pub(super) struct Spread<'a, const N: usize> {
    pub atoms: MeshAtoms<'a>,
    pub blocks: Range<usize>,
    pub to: &'a mut [f32],
    pub touched: &'a mut [bool],
}

impl<const N: usize> Kernel for Spread<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Spread { atoms, blocks, to, touched } = self;
        let reciprocal = reciprocal_rows(atoms.cell);
        let Padded { row, plane, .. } = atoms.padded;
        let mut first = blocks.start;
        while first < blocks.end {
            let pair = first..(first + 2).min(blocks.end);
            first += 2;
            let places = atoms.places(&reciprocal, pair);
            let wx = Weights::<N>::new::<S>(&places.fraction[0]);
            let wy = Weights::<N>::new::<S>(&places.fraction[1]);
            let wz = Weights::<N>::new::<S>(&places.fraction[2]);
            for lane in 0..LANES {
                let charge = places.charge[lane];
                if charge == 0.0 {
                    continue;
                }
                let [px, py, pz] = [0, 1, 2].map(|axis| places.point[axis][lane] as usize);
                let (x, y, z) = (wx.values_of(lane), wy.values_of(lane), wz.values_of(lane));
                let base = px * plane + py * row + pz;
                for i in 0..N {
                    touched[px + i] = true;
                    let qx = charge * x[i];
                    for j in 0..N {
                        let qxy = qx * y[j];
                        let to = &mut to[base + i * plane + j * row..][..N];
                        for k in 0..N {
                            to[k] = S::fma(qxy, z[k], to[k]);
                        }
                    }
                }
            }
        }
    }
}

/// Forces on a run of blocks from the padded potential, stored in `forces` (indexed from the run's first block).
pub(super) struct Gather<'a, const N: usize> {
    pub atoms: MeshAtoms<'a>,
    pub blocks: Range<usize>,
    pub from: &'a [f32],
    pub forces: &'a mut [[f32; 24]],
}

impl<const N: usize> Kernel for Gather<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Gather { atoms, blocks, from, forces } = self;
        let reciprocal = reciprocal_rows(atoms.cell);
        // gradient of the grid coordinates, 1/nm, with the sign of a force
        let per_step = [0, 1, 2].map(|d| reciprocal[d] * -(atoms.padded.size[d] as f64));
        let mut first = blocks.start;
        while first < blocks.end {
            let pair = first..(first + 2).min(blocks.end);
            let places = atoms.places(&reciprocal, pair.clone());
            let wx = Weights::<N>::new::<S>(&places.fraction[0]);
            let wy = Weights::<N>::new::<S>(&places.fraction[1]);
            let wz = Weights::<N>::new::<S>(&places.fraction[2]);
            let slopes = if N == 4 {
                slopes_of_four::<S, N>(&atoms.padded, from, &places, [&wx, &wy, &wz])
            } else {
                slopes::<S, N>(&atoms.padded, from, &places, [&wx, &wy, &wz])
            };
            let charge = S::F::load(&places.charge);
            let along = [charge * slopes[0], charge * slopes[1], charge * slopes[2]];
            let mut force = [[0.0; LANES]; 3];
            for axis in 0..3 {
                let c = |d: usize| S::F::splat(per_step[d].to_array()[axis] as f32);
                along[0].mul_add(c(0), along[1].mul_add(c(1), along[2] * c(2))).store(&mut force[axis]);
            }
            for (half, block) in pair.enumerate() {
                let to = &mut forces[block - blocks.start];
                for axis in 0..3 {
                    for lane in 0..BLOCK {
                        to[axis * BLOCK + lane] = force[axis][half * BLOCK + lane];
                    }
                }
            }
            first += 2;
        }
    }
}

/// ∂φ/∂u along the three grid directions for sixteen atoms, order 4: one vector holds the four by four points of a
/// plane, and sixteen atoms' sums are folded together.
#[inline(always)]
fn slopes_of_four<S: Simd, const N: usize>(
    padded: &Padded,
    from: &[f32],
    places: &Places,
    weights: [&Weights<N>; 3],
) -> [S::F; 3] {
    let zero = S::F::splat(0.0);
    let mut sums = [[zero; LANES]; 3];
    for lane in 0..LANES {
        let [px, py, pz] = [0, 1, 2].map(|axis| places.point[axis][lane] as usize);
        let base = px * padded.plane + py * padded.row + pz;
        let four = |w: &[[f32; LANES]; N]| [w[0][lane], w[1][lane], w[2][lane], w[3][lane]];
        let (wy, dy) = (S::F::spread4(&four(&weights[1].value)), S::F::spread4(&four(&weights[1].slope)));
        let (wz, dz) =
            (S::F::load_four_times(&four(&weights[2].value)), S::F::load_four_times(&four(&weights[2].slope)));
        let (mut along, mut across) = (zero, zero);
        for i in 0..4 {
            let plane = &from[base + i * padded.plane..][..3 * padded.row + 4];
            let mut rows = [&[0f32; 4]; 4];
            for (j, row) in rows.iter_mut().enumerate() {
                match plane[j * padded.row..j * padded.row + 4].try_into() {
                    Ok(points) => *row = points,
                    Err(_) => unreachable!("a slice of four"),
                }
            }
            let points = S::F::load_rows4(rows);
            across = points.mul_add(S::F::splat(weights[0].value[i][lane]), across);
            along = points.mul_add(S::F::splat(weights[0].slope[i][lane]), along);
        }
        sums[0][lane] = along * (wy * wz);
        sums[1][lane] = across * (dy * wz);
        sums[2][lane] = across * (wy * dz);
    }
    [S::F::sums16(&sums[0]), S::F::sums16(&sums[1]), S::F::sums16(&sums[2])]
}

/// As [`slopes_of_four`] for any order, row by row.
#[inline(always)]
fn slopes<S: Simd, const N: usize>(
    padded: &Padded,
    from: &[f32],
    places: &Places,
    weights: [&Weights<N>; 3],
) -> [S::F; 3] {
    let mut sums = [[0f32; LANES]; 3];
    for lane in 0..LANES {
        let [px, py, pz] = [0, 1, 2].map(|axis| places.point[axis][lane] as usize);
        let base = px * padded.plane + py * padded.row + pz;
        let [value, slope] = [weights.map(|w| w.values_of(lane)), weights.map(|w| w.slopes_of(lane))];
        for i in 0..N {
            let mut across = [0f32; 3];
            for j in 0..N {
                let row = &from[base + i * padded.plane + j * padded.row..][..N];
                let (mut plain, mut sloped) = (0.0, 0.0);
                for k in 0..N {
                    plain = S::fma(row[k], value[2][k], plain);
                    sloped = S::fma(row[k], slope[2][k], sloped);
                }
                across[0] = S::fma(plain, value[1][j], across[0]);
                across[1] = S::fma(plain, slope[1][j], across[1]);
                across[2] = S::fma(sloped, value[1][j], across[2]);
            }
            sums[0][lane] = S::fma(across[0], slope[0][i], sums[0][lane]);
            sums[1][lane] = S::fma(across[1], value[0][i], sums[1][lane]);
            sums[2][lane] = S::fma(across[2], value[0][i], sums[2][lane]);
        }
    }
    [S::F::load(&sums[0]), S::F::load(&sums[1]), S::F::load(&sums[2])]
}
