//! Distance tests of whole blocks, and pruning of a list by such tests.

use super::grid::{BLOCK, Bounds, CLUSTER, Grid};
use super::list::{Entry, ListChunk, MaskedPair, shift_image};
use super::table;
use crate::arrays::{from_fn, map};
use crate::cell::PeriodicCell;
use crate::simd::{Arithmetic, Float, Kernel, LANES, Level, Simd, dispatch};
use crate::vec3::Vec3;
use std::hint::black_box;
use std::ops::Range;

/// Smallest value (nm) of the distance below which a pair is close. The value is shorter than a hydrogen bond, so that
/// there are few close pairs.
const CLOSE: f64 = 0.15;
/// Smallest difference (nm) between the distance of close pairs and the start of the tables. No pair of an unmasked
/// block moves by this difference before the next pruning: at 300 K hydrogen moves 0.003 nm in 2 fs.
const MARGIN: f64 = 0.06;

/// Returns the distance (nm) below which a pair is close: pruning turns a block with a close pair into a masked block.
/// In masked blocks kernels raise distances to the lowest distance of their tables, and use both parts of the tables.
/// In other blocks kernels use only the upper part, which must not begin at more than the distance of the pairs. If the
/// upper part begins where atoms are in contact, all pairs are close.
pub(super) fn close(reach: Reach) -> f64 {
    let longest = reach.coulomb.max(reach.lj);
    // without a cutoff there are no tables
    if !longest.is_finite() {
        return CLOSE;
    }
    let start = table::start(longest).sqrt();
    if start > IN_CONTACT { f64::INFINITY } else { CLOSE.max(start + MARGIN) }
}

/// Distance (nm) that atoms without a bond do not come below: hydrogen bonds are longer than 0.15 nm.
const IN_CONTACT: f64 = 0.125;

/// An i-cluster in registers, for distance tests against blocks.
pub(super) struct Probe<S: Simd> {
    x: [[S::F; 2]; 3],
    /// block center plus lattice shift, nm
    pub(super) center: [f32; 3],
    /// `center` in all lanes
    centers: [S::F; 3],
    /// squared list radius, nm²
    pub(super) radius_squared: f32,
}

/// Radii within which pruning keeps pairs: cutoffs plus the buffer of the list, in nm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// radius for Coulomb interactions
    pub coulomb: f64,
    /// radius for Lennard-Jones interactions
    pub lj: f64,
}

impl<S: Simd> Probe<S> {
    #[inline(always)]
    pub(super) fn new(grid: &Grid, packed: &[[f32; 24]], cluster: usize, shift: Vec3, radius: f64) -> Self {
        let block = &packed[cluster / 2];
        let base = cluster % 2 * CLUSTER;
        let shift = shift.map(|v| v as f32).to_array();
        let center = from_fn(|k| grid.centers[cluster / 2][k] + shift[k]);
        let (mut x, mut centers) = ([[S::F::splat(0.0); 2]; 3], [S::F::splat(0.0); 3]);
        for k in 0..3 {
            // `black_box` hides the value from the compiler, which would otherwise subtract centers as scalars and
            // broadcast each difference by a permutation
            centers[k] = black_box(S::F::splat(center[k]));
        }
        for (k, halves) in x.iter_mut().enumerate() {
            let rows = &block[k * BLOCK + base..][..CLUSTER];
            *halves = [S::F::two(rows[0], rows[1]), S::F::two(rows[2], rows[3])];
        }
        Probe { x, center, centers, radius_squared: squared(radius) }
    }

    /// Returns whether any pair of the i-cluster and the block is within the radius.
    #[inline(always)]
    pub(super) fn hits(&self, grid: &Grid, packed: &[[f32; 24]], block: usize) -> bool {
        let [first, second] = self.distances(grid, packed, block);
        self.any(first.min(second), self.radius_squared) != 0
    }

    /// Returns the squared distances (nm²) between the block and each of the two SIMD vectors of i-atoms.
    #[inline(always)]
    fn distances(&self, grid: &Grid, packed: &[[f32; 24]], block: usize) -> [S::F; 2] {
        let there = &packed[block];
        let mut j = [S::F::splat(0.0); 3];
        for k in 0..3 {
            let Ok(lanes) = <&[f32; 8]>::try_from(&there[k * BLOCK..(k + 1) * BLOCK]) else { unreachable!() };
            let between = self.centers[k].uniform() - S::F::splat(grid.centers[block][k]);
            j[k] = S::F::load_twice(lanes) - between;
        }
        let mut squares = [S::F::splat(0.0); 2];
        for half in 0..2 {
            let mut d = j;
            for k in 0..3 {
                d[k] = self.x[k][half] - j[k];
            }
            squares[half] = d[2].mul_add(d[2], d[1].mul_add(d[1], d[0] * d[0]));
        }
        squares
    }

    /// Returns a number that is not zero if any squared distance is below `limit` (nm²).
    #[inline(always)]
    fn any(&self, r2: S::F, limit: f32) -> u16 {
        S::F::any(r2.lt(S::F::splat(limit)))
    }

    /// Returns the pairs whose squared distance `r2` is below `limit` (nm²), as bits: bit 8 i + j for atom i of the
    /// SIMD vector and atom j of the block.
    #[inline(always)]
    fn bits(&self, r2: S::F, limit: f32) -> u16 {
        S::F::bits(r2.lt(S::F::splat(limit)))
    }
}

/// The bounds of an i-cluster in registers, for distance tests against the bounds of blocks.
pub(super) struct BoundsProbe<S: Simd> {
    low: [S::F; 3],
    high: [S::F; 3],
    /// squared list radius, nm²
    radius_squared: f32,
    /// whether only blocks with Lennard-Jones interactions are tested
    lj_only: bool,
}

impl<S: Simd> BoundsProbe<S> {
    #[inline(always)]
    pub(super) fn new(bounds: &Bounds, shift: Vec3, radius: f64, lj_only: bool) -> Self {
        let shift = shift.map(|v| v as f32).to_array();
        let (mut low, mut high) = ([S::F::splat(0.0); 3], [S::F::splat(0.0); 3]);
        for k in 0..3 {
            (low[k], high[k]) = (S::F::splat(bounds.low[k] + shift[k]), S::F::splat(bounds.high[k] + shift[k]));
        }
        BoundsProbe { low, high, radius_squared: squared(radius), lj_only }
    }

    /// Stores the blocks whose bounds are within the radius at the start of `near`, and returns their number. `near`
    /// has [`LANES`] more elements than there are blocks.
    #[inline(always)]
    pub(super) fn hits(&self, grid: &Grid, blocks: Range<usize>, near: &mut [u32]) -> usize {
        let mut count = 0;
        if blocks.is_empty() {
            return count;
        }
        let groups = blocks.start / LANES..blocks.end.div_ceil(LANES);
        for group in groups {
            let (first, bounds) = (group * LANES, &grid.block_bounds[group]);
            let mut r2 = S::F::splat(0.0);
            for k in 0..3 {
                let below = S::F::load(&bounds[k].0) - self.high[k];
                let above = self.low[k] - S::F::load(&bounds[k + 3].0);
                let gap = below.max(above).max(S::F::splat(0.0));
                r2 = gap.mul_add(gap, r2);
            }
            let mut bits = S::F::bits(r2.lt(S::F::splat(self.radius_squared)));
            bits &= u16::MAX << blocks.start.saturating_sub(first);
            bits &= u16::MAX >> (first + LANES).saturating_sub(blocks.end);
            if self.lj_only {
                bits &= grid.lj_blocks[first / LANES];
            }
            let Some(to) = near[count..].first_chunk_mut() else { unreachable!("near is longer than the blocks") };
            count += S::compress(from_fn(|lane| (first + lane) as u32), bits, to);
        }
        count
    }
}

/// Returns the square of a radius. The result is a finite number even for an infinite radius.
fn squared(radius: f64) -> f32 {
    (radius * radius).min(1e30) as f32
}

/// Input of pruning.
#[derive(Clone, Copy)]
pub struct PruneInput<'a> {
    /// sorted atoms
    pub grid: &'a Grid,
    /// offsets (nm) of the slots of each block from its center
    pub packed: &'a [[f32; 24]],
    /// periodic cell; `None` without periodic images
    pub cell: Option<&'a PeriodicCell>,
    /// bit mask of each block: the bit of an atom is set if the atom has Lennard-Jones interactions
    pub lj_lanes: &'a [u8],
    /// distances within which pairs are kept
    pub reach: Reach,
}

/// Prunes a chunk: copies the blocks of `outer` that are now within the radii to `inner`, sorted into the ranges of
/// [`Entry::plain`]. Masked blocks with excluded pairs are always copied, because excluded pairs must be corrected at
/// any distance; such blocks are few. Blocks with a close pair become masked blocks.
pub fn prune_chunk(level: Level, input: PruneInput<'_>, outer: &ListChunk, inner: &mut ListChunk) {
    let close_squared = squared(close(input.reach));
    if input.reach.coulomb < input.reach.lj {
        dispatch(level, Prune::<true> { input, close_squared, outer, inner });
    } else {
        dispatch(level, Prune::<false> { input, close_squared, outer, inner });
    }
}

/// Kernel of pruning. `FAR` states whether blocks can be beyond the Coulomb radius but within the Lennard-Jones radius.
struct Prune<'a, const FAR: bool> {
    input: PruneInput<'a>,
    /// square of the distance of [`close`], nm²
    close_squared: f32,
    outer: &'a ListChunk,
    inner: &'a mut ListChunk,
}

impl<const FAR: bool> Kernel for Prune<'_, FAR> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Prune { input: PruneInput { grid, packed, cell, lj_lanes, reach }, close_squared, outer, inner } = self;
        let ListChunk { entries, masked, plain } = inner;
        entries.clear();
        masked.clear();
        // elements beyond `filled` are leftovers of the last pruning and are not read
        let mut filled = 0;
        for entry in &outer.entries {
            let first_masked = masked.len() as u32;
            let shift = cell.map_or(Vec3::ZERO, |cell| cell.shift(shift_image(entry.shift as usize)));
            let cluster = entry.cluster as usize;
            let near = match (FAR, entry.coulomb) {
                (_, false) => reach.lj,
                (true, _) => reach.coulomb,
                (false, _) => reach.coulomb.max(reach.lj),
            };
            let probe = Probe::<S>::new(grid, packed, cluster, shift, near);
            let far = (reach.lj * reach.lj) as f32;
            let farthest = probe.radius_squared.max(far.min(f32::MAX));
            for pair in &outer.masked[entry.masked[0] as usize..entry.masked[1] as usize] {
                let squares = probe.distances(grid, packed, pair.block as usize);
                if pair.interacting != u32::MAX || probe.any(squares[0].min(squares[1]), farthest) != 0 {
                    masked.push(*pair);
                }
            }
            // the mask of a SIMD vector of two i-atoms has one byte for each i-atom
            let lj_rows = lj_lanes[cluster / 2] >> (cluster % 2 * CLUSTER);
            let lj_rows = map([0, 1], |half| {
                (0xff * u16::from(lj_rows >> (2 * half) & 1)) | (0xff00 * u16::from(lj_rows >> (2 * half + 1) & 1))
            });
            let classify = |blocks: &[u32]| {
                // a number for each block, which is zero if the block has no such pair
                let (mut close, mut near, mut lj) = ([0; LANES], [[0; LANES]; 2], [[0; LANES]; 2]);
                for lane in 0..blocks.len().min(LANES) {
                    let block = blocks[lane] as usize;
                    let squares = probe.distances(grid, packed, block);
                    close[lane] = probe.any(squares[0].min(squares[1]), close_squared);
                    for half in 0..2 {
                        near[half][lane] = probe.any(squares[half], probe.radius_squared);
                        if FAR {
                            let lanes = 0x101 * u16::from(lj_lanes[block]);
                            lj[half][lane] = probe.bits(squares[half], far) & lj_rows[half] & lanes;
                        }
                    }
                }
                let (close, near, lj) =
                    (S::not_zero(&close), map(near, |words| S::not_zero(&words)), map(lj, |words| S::not_zero(&words)));
                let mut left: u16 = close;
                while left != 0 {
                    let block = blocks[left.trailing_zeros() as usize];
                    masked.push(MaskedPair { block, interacting: u32::MAX, excluded: 0, excepted: false });
                    left &= left - 1;
                }
                let (any, first, second) = ((near[0] | near[1]) & !close, near[0] | lj[0], near[1] | lj[1]);
                [any & first & !second, any & first & second, any & second & !first, (lj[0] | lj[1]) & !any & !close]
            };
            let found = sort_blocks::<S, FAR>(plain, filled, &outer.plain[entry.both()], classify);
            filled = found[4] as usize;
            let masked = [first_masked, masked.len() as u32];
            if found[4] > found[0] || masked[1] > masked[0] {
                entries.push(Entry { plain: found, masked, ..*entry });
            }
        }
        plain.truncate(filled);
    }
}

/// Writes the blocks within the radii to `to[start..]`, one range after the other as in [`Entry::plain`], and returns
/// the bounds of the ranges. `classify` finds the range of each of up to sixteen blocks. The code has no branches,
/// since a processor cannot predict the range of a block.
#[inline(always)]
#[allow(clippy::manual_memcpy, reason = "`copy_from_slice` is not always inlined")]
fn sort_blocks<S: Simd, const FAR: bool>(
    to: &mut Vec<u32>,
    start: usize,
    blocks: &[u32],
    mut classify: impl FnMut(&[u32]) -> [u16; 4],
) -> [u32; 5] {
    let (classes, capacity) = (if FAR { 4 } else { 3 }, blocks.len() + LANES);
    if to.len() < start + classes * capacity {
        to.resize(start + classes * capacity, 0);
    }
    let found = &mut to[start..][..classes * capacity];
    let mut counts = [0; 4];
    for group in blocks.chunks(LANES) {
        let mut values = [0; LANES];
        match group.first_chunk() {
            Some(sixteen) => values = *sixteen,
            None => {
                for lane in 0..group.len().min(LANES) {
                    values[lane] = group[lane];
                }
            }
        }
        let bits = classify(group);
        for class in 0..classes {
            let Some(to) = found[class * capacity + counts[class]..].first_chunk_mut() else {
                unreachable!("there is room for one more group")
            };
            counts[class] += S::compress(values, bits[class], to);
        }
    }
    let (mut bounds, mut end) = ([start as u32; 5], 0);
    for class in 0..4 {
        let count = counts[class];
        // the first range is already in place; the other ranges are moved in groups of sixteen blocks, and no group
        // overwrites blocks that are moved later
        let groups = if class > 0 { count.div_ceil(LANES) } else { 0 };
        for group in 0..groups {
            let from = found[class * capacity + group * LANES..].first_chunk::<LANES>().copied();
            let (Some(from), Some(to)) = (from, found[end + group * LANES..].first_chunk_mut()) else {
                unreachable!("there is room for one more group")
            };
            *to = from;
        }
        end += count;
        bounds[class + 1] = (start + end) as u32;
    }
    bounds
}
