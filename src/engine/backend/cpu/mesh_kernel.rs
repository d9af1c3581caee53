//! Kernels that spread charges onto the mesh and gather forces from the mesh, sixteen slots (two blocks of eight atoms)
//! at a time.

use super::mesh_grid::Padded;
use crate::arrays::{from_fn, map};
use crate::cell::PeriodicCell;
use crate::pair::{BLOCK, Grid};
use crate::pme::{reciprocal_rows, spline};
use crate::simd::{Arithmetic, Float, Kernel, LANES, Simd};
use crate::vec3::Vec3;
use std::ops::Range;

/// Atoms and mesh, as input of the kernels that spread charges and gather forces.
#[derive(Clone, Copy)]
pub(super) struct MeshAtoms<'a> {
    pub grid: &'a Grid,
    pub cell: &'a PeriodicCell,
    /// offsets of the atoms from the centers of their blocks, nm
    pub packed: &'a [[f32; 24]],
    pub charges: &'a [[f32; 8]],
    pub padded: Padded,
}

/// Mesh positions of sixteen slots.
struct MeshPositions<F> {
    /// integer parts of the atom's grid coordinates along each direction
    points: [[u32; LANES]; 3],
    /// index, in the padded mesh, of the grid point at the integer parts of the atom's grid coordinates
    index: [usize; LANES],
    /// fractional part of the atom's grid coordinate along each direction
    fraction: [F; 3],
}

/// Conversion of offsets (nm) into grid coordinates, given by the gradients of the grid coordinates, 1/nm.
struct Frame {
    gradient: [Vec3; 3],
    /// gradients of the grid coordinates in single precision, rounded once so that no batch must round the gradients
    /// again
    rounded: [[f32; 3]; 3],
}

impl Frame {
    #[inline(always)]
    fn new(atoms: &MeshAtoms<'_>) -> Self {
        let reciprocal = reciprocal_rows(atoms.cell);
        let gradient = from_fn(|d| reciprocal[d] * atoms.padded.size[d] as f64);
        Frame { gradient, rounded: map(gradient, |gradient| map(gradient.to_array(), |v| v as f32)) }
    }

    /// Returns the component along `axis` of the gradient of grid coordinate `d`.
    #[inline(always)]
    fn at<S: Simd>(&self, d: usize, axis: usize) -> S::F {
        S::F::splat(self.rounded[d][axis])
    }

    /// Returns the integer part and the fraction of grid coordinate `d` of a block center.
    #[inline(always)]
    fn center(&self, d: usize, center: [f32; 3]) -> (f32, f32) {
        let place = self.gradient[d].dot(Vec3::from(map(center, f64::from)));
        let whole = floor(place);
        (whole as f32, (place - whole) as f32)
    }
}

/// Rounds down without a library call. The conversion to `i64` cannot overflow, because blocks are at most a few
/// cells away from the origin.
#[inline(always)]
fn floor(s: f64) -> f64 {
    let truncated = s as i64 as f64;
    if truncated > s { truncated - 1.0 } else { truncated }
}

impl MeshAtoms<'_> {
    /// Computes the mesh positions of the sixteen slots of two blocks. Grid coordinates of block centers are computed
    /// in `f64`, and grid coordinates of atoms relative to the block center in `f32`, so that a large cell does not
    /// reduce the precision. The results are clamped to the mesh. The results for empty slots have no meaning.
    #[inline(always)]
    fn places<S: Simd>(&self, frame: &Frame, blocks: [usize; 2]) -> MeshPositions<S::F> {
        let packed = [&self.packed[blocks[0]], &self.packed[blocks[1]]];
        let centers = [self.grid.centers[blocks[0]], self.grid.centers[blocks[1]]];
        let mut offset = [S::F::splat(0.0); 3];
        for axis in 0..3 {
            offset[axis] = S::F::load_halves(component(packed[0], axis), component(packed[1], axis));
        }
        let mut fraction = offset;
        let mut points = [[0; LANES]; 3];
        for d in 0..3 {
            let (low, high) = (frame.center(d, centers[0]), frame.center(d, centers[1]));
            let place = offset[0].mul_add(frame.at::<S>(d, 0), S::F::two(low.1, high.1));
            let place = offset[1].mul_add(frame.at::<S>(d, 1), place);
            let place = offset[2].mul_add(frame.at::<S>(d, 2), place);
            let whole = place.floor();
            fraction[d] = place - whole;
            let (zero, size) = (S::F::splat(0.0), S::F::splat(self.padded.size[d] as f32));
            let point = whole + S::F::two(low.0, high.0);
            let point = point + size.keep(point.lt(zero));
            let point = (point - size).select(S::F::splat(self.padded.size[d] as f32 - 0.5).lt(point), point);
            let last = S::F::splat(self.padded.size[d] as f32 - 1.0);
            point.max(zero).min(last).store_whole(&mut points[d]);
        }
        let Padded { row, plane, .. } = self.padded;
        let mut index = [0; LANES];
        for k in 0..LANES {
            index[k] = points[0][k] as usize * plane + points[1][k] as usize * row + points[2][k] as usize;
        }
        MeshPositions { points, index, fraction }
    }
}

/// Returns the offsets of the eight atoms of a block along `axis`.
#[inline(always)]
fn component(packed: &[f32; 24], axis: usize) -> &[f32; BLOCK] {
    let (parts, _) = packed.as_chunks::<BLOCK>();
    &parts[axis]
}

/// Spline weights or slopes of sixteen atoms along one direction, padded with zeros to a multiple of four per atom. The
/// group of four weights with index `g` of atom `a` begins at `[g][a % 4][a − a % 4]`.
#[derive(Clone, Copy)]
struct Weights([[[f32; LANES]; 4]; 2]);

impl Weights {
    /// Weights of zero, as the initial value before the first use.
    const NONE: Self = Weights([[[0.0; LANES]; 4]; 2]);

    #[inline(always)]
    fn fill<S: Simd, const N: usize>(&mut self, weights: [S::F; N]) {
        for g in 0..N.div_ceil(4) {
            let mut four = [S::F::splat(0.0); 4];
            for j in 0..4.min(N - 4 * g) {
                four[j] = weights[4 * g + j];
            }
            four = S::F::transpose4(four);
            for k in 0..4 {
                four[k].store(&mut self.0[g][k]);
            }
        }
    }

    /// Returns the group of four weights with index `g` of one atom.
    #[inline(always)]
    fn four(&self, lane: usize, g: usize) -> &[f32; 4] {
        let (fours, _) = self.0[g][lane % 4].as_chunks::<4>();
        &fours[lane / 4]
    }

    /// Returns all P = 4 or 8 weights of an atom, including the padding.
    #[inline(always)]
    fn of<const P: usize>(&self, lane: usize) -> [f32; P] {
        let mut weights = [0.0; P];
        for g in 0..P / 4 {
            let four = self.four(lane, g);
            for k in 0..4 {
                weights[4 * g + k] = four[k];
            }
        }
        weights
    }

    #[inline(always)]
    fn at(&self, lane: usize, j: usize) -> f32 {
        self.four(lane, j / 4)[j % 4]
    }
}

/// Spreads the charges of a range of blocks onto a padded mesh, and records the points at which a spline begins, along
/// as many directions as `begins` has elements. B-splines of order N use rows of P points, where P is N rounded up to a
/// multiple of four.
pub(super) struct Spread<'a, const N: usize, const P: usize> {
    pub atoms: MeshAtoms<'a>,
    pub blocks: Range<usize>,
    pub to: &'a mut [f32],
    pub begins: &'a mut [Vec<bool>],
}

/// Sixteen slots whose charges are spread together.
#[derive(Clone, Copy)]
struct Batch {
    index: [usize; LANES],
    /// weights along x, weights along y, and products of the weights along z with the charge
    weights: [Weights; 3],
    charge: [f32; LANES],
}

impl Batch {
    /// A batch of zeros, as the initial value before the first use.
    const NONE: Self = Batch { index: [0; LANES], weights: [Weights::NONE; 3], charge: [0.0; LANES] };
}

/// Number of batches that are spread alternately. Splines of neighbouring atoms overlap, and a load that partly
/// overlaps a pending store stalls until the store completes (failed store forwarding). Atoms whose charges are spread
/// one after the other are therefore in distant blocks.
const STREAMS: usize = 4;
/// Number of consecutive blocks among which the alternating batches are distributed. The batches are several columns
/// apart, but the part of the mesh that these blocks touch stays in cache.
const WINDOW: usize = 1024;

impl<const N: usize, const P: usize> Kernel for Spread<'_, N, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Spread { atoms, blocks, to, begins } = self;
        let frame = Frame::new(&atoms);
        let mut batch = [Batch::NONE; STREAMS];
        for window in blocks.clone().step_by(WINDOW) {
            let window = window..(window + WINDOW).min(blocks.end);
            let stride = window.len().div_ceil(2).div_ceil(STREAMS);
            for turn in 0..stride {
                for stream in 0..STREAMS {
                    let first = window.start + 2 * (stream * stride + turn);
                    fill_batch::<S, N>(&atoms, &frame, first..window.end, begins, &mut batch[stream]);
                }
                for lane in 0..LANES {
                    for batch in &batch {
                        if batch.charge[lane] != 0.0 {
                            spread_one::<S, N, P>(batch, lane, atoms.padded, to);
                        }
                    }
                }
            }
        }
    }
}

/// Prepares a batch from the first two blocks of `blocks`, or from a single block if only one block is left.
#[inline(always)]
fn fill_batch<S: Simd, const N: usize>(
    atoms: &MeshAtoms<'_>,
    frame: &Frame,
    blocks: Range<usize>,
    begins: &mut [Vec<bool>],
    batch: &mut Batch,
) {
    let (first, last, none) = (blocks.start, blocks.end - 1, [0.0; BLOCK]);
    let charge_of = |block: usize| if block <= last { &atoms.charges[block] } else { &none };
    let charge = S::F::load_halves(charge_of(first), charge_of(first + 1));
    let places = atoms.places::<S>(frame, [first.min(last), (first + 1).min(last)]);
    for d in 0..3 {
        let (mut value, _) = spline::<S::F, N>(places.fraction[d]);
        if d == 2 {
            for j in 0..N {
                value[j] = value[j] * charge;
            }
        }
        batch.weights[d].fill::<S, N>(value);
    }
    batch.index = places.index;
    charge.store(&mut batch.charge);
    for d in 0..begins.len() {
        let begins = &mut begins[d];
        for lane in 0..LANES {
            begins[places.points[d][lane] as usize] |= batch.charge[lane] != 0.0;
        }
    }
}

#[inline(always)]
fn spread_one<S: Simd, const N: usize, const P: usize>(batch: &Batch, lane: usize, padded: Padded, to: &mut [f32]) {
    let [wx, wy, wz] = &batch.weights;
    let (base, weights) = (batch.index[lane], wz.of::<P>(lane));
    for i in 0..N {
        let mut z = weights;
        for k in 0..P {
            z[k] *= wx.at(lane, i);
        }
        for j in 0..N {
            let to = &mut to[base + i * padded.plane + j * padded.row..][..P];
            for k in 0..P {
                to[k] = S::fma(wy.at(lane, j), z[k], to[k]);
            }
        }
    }
}

/// Gathers forces on a range of blocks from the padded potential, and adds the forces to `forces`. The first element of
/// `forces` belongs to the first block of the range.
pub(super) struct Gather<'a, const N: usize, const P: usize> {
    pub atoms: MeshAtoms<'a>,
    pub blocks: Range<usize>,
    pub from: &'a [f32],
    pub forces: &'a mut [[f32; 24]],
}

impl<const N: usize, const P: usize> Kernel for Gather<'_, N, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Gather { atoms, blocks, from, forces } = self;
        let frame = Frame::new(&atoms);
        let mut weights = [[Weights::NONE; 2]; 3];
        let mut sums = [[S::F::splat(0.0); LANES]; 3];
        for first in blocks.clone().step_by(2) {
            let pair = [first, (first + 1).min(blocks.end - 1)];
            let places = atoms.places::<S>(&frame, pair);
            for d in 0..3 {
                let (value, slope) = spline::<S::F, N>(places.fraction[d]);
                weights[d][0].fill::<S, N>(value);
                weights[d][1].fill::<S, N>(slope);
            }
            let slopes = if N == 4 {
                slopes_of_four::<S>(&atoms.padded, from, &places.index, &weights, &mut sums)
            } else {
                slopes::<S, N, P>(&atoms.padded, from, &places.index, &weights)
            };
            // force on an atom: F = −q ∇φ
            let charge = -S::F::load_halves(&atoms.charges[pair[0]], &atoms.charges[pair[1]]);
            let along = [charge * slopes[0], charge * slopes[1], charge * slopes[2]];
            for axis in 0..3 {
                let c = |d: usize| frame.at::<S>(d, axis);
                let mut force = [0.0; LANES];
                along[0].mul_add(c(0), along[1].mul_add(c(1), along[2] * c(2))).store(&mut force);
                for (half, block) in pair.into_iter().enumerate().take(blocks.end - first) {
                    let to = &mut forces[block - blocks.start][axis * BLOCK..][..BLOCK];
                    for lane in 0..BLOCK {
                        to[lane] += force[half * BLOCK + lane];
                    }
                }
            }
        }
    }
}

/// Returns ∂φ/∂u, with potential φ and grid coordinates u, along the three grid directions for sixteen atoms, with
/// splines of order 4. One vector holds the four by four points of an x-plane, and the sums of sixteen atoms are
/// reduced together. The inputs are spline weights and slopes along x, y, z. `sums` is scratch memory with one vector
/// for each atom and direction. The caller reuses the memory, because initialising three kilobytes takes time.
#[inline(always)]
fn slopes_of_four<S: Simd>(
    padded: &Padded,
    from: &[f32],
    index: &[usize; LANES],
    weights: &[[Weights; 2]; 3],
    sums: &mut [[S::F; LANES]; 3],
) -> [S::F; 3] {
    let zero = S::F::splat(0.0);
    for lane in 0..LANES {
        let four = |d: usize, slope: usize| weights[d][slope].four(lane, 0);
        let (wy, dy) = (S::F::spread4(four(1, 0)), S::F::spread4(four(1, 1)));
        let (wz, dz) = (S::F::load_four_times(four(2, 0)), S::F::load_four_times(four(2, 1)));
        let (mut along, mut across) = (zero, zero);
        for i in 0..4 {
            let plane = &from[index[lane] + i * padded.plane..][..3 * padded.row + 4];
            let mut rows = [&[0f32; 4]; 4];
            for (j, row) in rows.iter_mut().enumerate() {
                match plane[j * padded.row..j * padded.row + 4].try_into() {
                    Ok(points) => *row = points,
                    Err(_) => unreachable!("a slice of four"),
                }
            }
            let points = S::F::load_rows4(rows);
            across = points.mul_add(S::F::splat(four(0, 0)[i]), across);
            along = points.mul_add(S::F::splat(four(0, 1)[i]), along);
        }
        sums[0][lane] = along * (wy * wz);
        sums[1][lane] = across * (dy * wz);
        sums[2][lane] = across * (wy * dz);
    }
    [S::F::sums16(&sums[0]), S::F::sums16(&sums[1]), S::F::sums16(&sums[2])]
}

/// Returns ∂φ/∂u as [`slopes_of_four`] does, for splines of any order, row by row.
#[inline(always)]
fn slopes<S: Simd, const N: usize, const P: usize>(
    padded: &Padded,
    from: &[f32],
    index: &[usize; LANES],
    weights: &[[Weights; 2]; 3],
) -> [S::F; 3] {
    let mut sums = [[0f32; LANES]; 3];
    for lane in 0..LANES {
        let at = |d: usize, slope: usize, j: usize| weights[d][slope].at(lane, j);
        // three sums over the x points and y points of the spline, for each z point: with slopes along x, with slopes
        // along y, and with weights only
        let mut columns = [[0f32; P]; 3];
        for i in 0..N {
            let mut plane = [[0f32; P]; 2];
            for j in 0..N {
                let row = &from[index[lane] + i * padded.plane + j * padded.row..][..P];
                for k in 0..P {
                    plane[0][k] = S::fma(row[k], at(1, 0, j), plane[0][k]);
                    plane[1][k] = S::fma(row[k], at(1, 1, j), plane[1][k]);
                }
            }
            for k in 0..P {
                columns[0][k] = S::fma(plane[0][k], at(0, 1, i), columns[0][k]);
                columns[1][k] = S::fma(plane[1][k], at(0, 0, i), columns[1][k]);
                columns[2][k] = S::fma(plane[0][k], at(0, 0, i), columns[2][k]);
            }
        }
        for d in 0..3 {
            let mut products = weights[2][usize::from(d == 2)].of::<P>(lane);
            for k in 0..P {
                products[k] *= columns[d][k];
            }
            let mut width = P / 2;
            while width > 0 {
                for k in 0..width {
                    products[k] += products[k + width];
                }
                width /= 2;
            }
            sums[d][lane] = products[0];
        }
    }
    [S::F::load(&sums[0]), S::F::load(&sums[1]), S::F::load(&sums[2])]
}
