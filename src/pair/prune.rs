//! Distance tests of whole blocks, and the pruning of a list by them.

use super::grid::{BLOCK, CLUSTER, Grid};
use super::list::{Entry, ListChunk, shift_image};
use crate::cell::PeriodicCell;
use crate::simd::{Float, Kernel, Level, Simd, dispatch};
use crate::vec3::Vec3;

/// An i-cluster in registers, for distance tests against blocks.
pub(super) struct Probe<S: Simd> {
    x: [[S::F; 2]; 3],
    /// block centre plus lattice shift, nm
    pub(super) centre: [f32; 3],
    /// nm²
    pub(super) radius_squared: f32,
}

impl<S: Simd> Probe<S> {
    #[inline(always)]
    pub(super) fn new(grid: &Grid, packed: &[[f32; 24]], cluster: usize, shift: Vec3, radius: f64) -> Self {
        let block = &packed[cluster / 2];
        let base = cluster % 2 * CLUSTER;
        let shift = shift.map(|v| v as f32).to_array();
        let centre = std::array::from_fn(|k| grid.centres[cluster / 2][k] + shift[k]);
        let mut x = [[S::F::splat(0.0); 2]; 3];
        for (k, halves) in x.iter_mut().enumerate() {
            let rows = &block[k * BLOCK + base..][..CLUSTER];
            *halves = [S::F::two(rows[0], rows[1]), S::F::two(rows[2], rows[3])];
        }
        Probe { x, centre, radius_squared: (radius * radius).min(1e30) as f32 }
    }

    /// Pairs inside the radius: bit 8 i + j for atom i of the cluster and j of the block.
    #[inline(always)]
    pub(super) fn hits(&self, grid: &Grid, packed: &[[f32; 24]], block: usize) -> u32 {
        let there = &packed[block];
        let mut j = [S::F::splat(0.0); 3];
        for k in 0..3 {
            let Ok(lanes) = <&[f32; 8]>::try_from(&there[k * BLOCK..(k + 1) * BLOCK]) else { unreachable!() };
            j[k] = S::F::load_twice(lanes) - S::F::splat(self.centre[k] - grid.centres[block][k]);
        }
        let limit = S::F::splat(self.radius_squared);
        let mut bits = 0;
        for half in (0..2).rev() {
            let mut d = j;
            for k in 0..3 {
                d[k] = self.x[k][half] - j[k];
            }
            let r2 = d[2].mul_add(d[2], d[1].mul_add(d[1], d[0] * d[0]));
            bits = bits << 16 | u32::from(S::F::bits(r2.lt(limit)));
        }
        bits
    }
}

/// Keep of `outer` what is within `radius` nm now. Masked blocks stay: they are few, and exclusions must be met.
pub fn prune_chunk(
    level: Level,
    grid: &Grid,
    packed: &[[f32; 24]],
    cell: Option<&PeriodicCell>,
    radius: f64,
    outer: &ListChunk,
    inner: &mut ListChunk,
) {
    inner.clear();
    dispatch(level, Prune { grid, packed, cell, radius, outer, inner });
}

struct Prune<'a> {
    grid: &'a Grid,
    packed: &'a [[f32; 24]],
    cell: Option<&'a PeriodicCell>,
    radius: f64,
    outer: &'a ListChunk,
    inner: &'a mut ListChunk,
}

impl Kernel for Prune<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Prune { grid, packed, cell, radius, outer, inner } = self;
        inner.masked.extend_from_slice(&outer.masked);
        for entry in &outer.entries {
            let shift = cell.map_or(Vec3::ZERO, |cell| cell.shift(shift_image(entry.shift as usize)));
            let probe = Probe::<S>::new(grid, packed, entry.cluster as usize, shift, radius);
            let plain =
                sort_hits(&mut inner.plain, &outer.plain[entry.both()], |block| probe.hits(grid, packed, block));
            if plain[3] > plain[0] || entry.masked[1] > entry.masked[0] {
                inner.entries.push(Entry { plain, ..*entry });
            }
        }
    }
}

/// Append the blocks that `hits` finds near: first those near both vectors of atoms, then those near only the first,
/// then only the second; returns the bounds. Without a branch on the outcome, which no processor could foresee.
#[inline(always)]
fn sort_hits(to: &mut Vec<u32>, blocks: &[u32], hits: impl Fn(usize) -> u32) -> [u32; 4] {
    let (start, room) = (to.len(), blocks.len());
    to.resize(start + 3 * room, 0);
    let found = &mut to[start..];
    let mut counts = [0; 3];
    for &block in blocks {
        let bits = hits(block as usize);
        let near = [bits & 0xffff != 0, bits >> 16 != 0];
        for (class, member) in [near[0] & near[1], near[0] & !near[1], near[1] & !near[0]].into_iter().enumerate() {
            found[class * room + counts[class]] = block;
            counts[class] += usize::from(member);
        }
    }
    let bounds = [0, counts[0], counts[0] + counts[1], counts[0] + counts[1] + counts[2]].map(|n| start + n);
    to.copy_within(start + room..start + room + counts[1], bounds[1]);
    to.copy_within(start + 2 * room..start + 2 * room + counts[2], bounds[2]);
    to.truncate(bounds[3]);
    bounds.map(|n| n as u32)
}
