//! Search for the pairs of a list ([`super::list`]), with the exclusion masks.

use super::exception::Marks;
use super::exclusion::SymmetricExclusions;
use super::grid::{BLOCK, CLUSTER, Grid, NO_ATOM};
use super::list::{CHUNK_BLOCKS, Entry, ListChunk, LjRows, MaskedPair, REACH, shift_index};
use super::prune::{BoundsProbe, Probe};
use crate::arrays::map;
use crate::cell::PeriodicCell;
use crate::simd::{Kernel, LANES, Level, Simd, dispatch};
use crate::vec3::Vec3;

/// Input of the pair search.
#[derive(Clone, Copy)]
pub struct SearchInput<'a> {
    /// atoms sorted into blocks
    pub grid: &'a Grid,
    /// offsets (nm) of the slots of each block from its center
    pub packed: &'a [[f32; 24]],
    /// periodic cell; `None` without periodic images
    pub cell: Option<&'a PeriodicCell>,
    /// excluded pairs
    pub exclusions: &'a SymmetricExclusions,
    /// whether each atom has Lennard-Jones interactions
    pub has_lj: &'a [bool],
    /// bit masks of each cluster for exceptions to the Lennard-Jones combination rule; empty if all pairs follow the
    /// rule
    pub marks: &'a [Marks],
    /// excluded pairs [i, j], i < j, ascending, that are too far apart to be corrected in the kernels
    pub far_exclusions: &'a [[u32; 2]],
    /// upper limit (nm) of the distance of the nearest image of excluded pairs; a listed excluded pair at a longer
    /// distance gets no Ewald correction
    pub exclusion_reach: f64,
    /// list radius in nm; infinite if all pairs are listed
    pub radius: f64,
}

/// Scratch memory of one searching thread.
#[derive(Clone, Debug, Default)]
pub struct SearchScratch {
    /// stamp of each block, and index of the block in the current list entry; the index is valid only if the stamp is
    /// the current stamp
    index_of: Vec<(u32, u32)>,
    stamp: u32,
    /// blocks whose bounds are within the radius, later reduced to the blocks with an atom pair within the radius; has
    /// [`LANES`] additional elements at the end
    near: Vec<u32>,
    found: Vec<MaskedPair>,
}

impl SearchScratch {
    /// Increments the stamp, so that no block has the current stamp.
    #[inline(always)]
    fn next_stamp(&mut self) {
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.index_of.fill((0, 0));
            self.stamp = 1;
        }
    }
}

/// Finds the list entries of the blocks from `chunk * CHUNK_BLOCKS` on, and writes these entries to `out`.
pub fn search_chunk(
    level: Level,
    input: SearchInput<'_>,
    chunk: usize,
    scratch: &mut SearchScratch,
    out: &mut ListChunk,
) {
    out.clear();
    dispatch(level, Search { input, chunk, scratch, out });
}

struct Search<'a, 'b> {
    input: SearchInput<'a>,
    chunk: usize,
    scratch: &'b mut SearchScratch,
    out: &'b mut ListChunk,
}

impl Kernel for Search<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self) {
        let blocks = self.input.grid.blocks();
        self.scratch.index_of.resize(blocks, (0, 0));
        self.scratch.near.resize(blocks + LANES, 0);
        let first = self.chunk * CHUNK_BLOCKS;
        for cluster in 2 * first..2 * (first + CHUNK_BLOCKS).min(blocks) {
            if self.input.grid.slot_atom[cluster * CLUSTER] != NO_ATOM {
                self.search_cluster::<S>(cluster);
            }
        }
    }
}

/// Closed range of integers.
type Span = [i32; 2];

impl Search<'_, '_> {
    #[inline(always)]
    fn search_cluster<S: Simd>(&mut self, cluster: usize) {
        let SearchInput { grid, has_lj, .. } = self.input;
        let (zone, charged) = grid.part_of(cluster / 2);
        // if any atom of a cluster has Lennard-Jones interactions, the first atom has
        let has_lj = has_lj[grid.slot_atom[cluster * CLUSTER] as usize];
        for section in 0..grid.tiles.len() {
            let coulomb = charged && section == 0;
            if grid.tiles[section].columns != [0; 2] && (coulomb || has_lj) {
                self.search_section::<S>(cluster, zone, section, coulomb);
            }
        }
    }

    /// Searches the blocks of a section; if `coulomb` is false, only blocks with Lennard-Jones interactions are
    /// searched.
    #[inline(always)]
    fn search_section<S: Simd>(&mut self, cluster: usize, zone: usize, section: usize, coulomb: bool) {
        let grid = self.input.grid;
        let reach = self.reach(cluster, section);
        let [nx, ny] = map(grid.tiles[section].columns, |n| n as i32);
        let images = |span: Span, n: i32| [span[0].div_euclid(n), span[1].div_euclid(n)];
        let (ia, ib) = (images(reach.columns[0], nx), images(reach.columns[1], ny));
        let others = (zone + 1..grid.zone_starts.len() - 1).any(|other| other & zone == 0);
        for na in ia[0]..=ia[1] {
            for nb in ib[0]..=ib[1] {
                for nc in reach.depth_images[0]..=reach.depth_images[1] {
                    let image = [-na, -nb, -nc];
                    if !is_listed_within(zone, image) && !others {
                        continue;
                    }
                    let columns = [clip(reach.columns[0], na, nx), clip(reach.columns[1], nb, ny)];
                    self.search_image::<S>(cluster, zone, image, section, columns, coulomb);
                }
            }
        }
    }

    /// Returns the columns and the images along the third direction that may hold partners of a cluster.
    fn reach(&self, cluster: usize, section: usize) -> Reach {
        let SearchInput { grid, cell, radius, .. } = self.input;
        let [nx, ny] = map(grid.tiles[section].columns, |n| n as i32);
        let Some(cell) = cell else {
            return Reach { columns: [[0, nx - 1], [0, ny - 1]], depth_images: [0, 0] };
        };
        let bounds = &grid.cluster_bounds[cluster];
        let faces = cell.face_distances();
        let mut low = [f64::INFINITY; 3];
        let mut high = [f64::NEG_INFINITY; 3];
        for corner in 0..8usize {
            let pick = |k: usize| f64::from(if corner >> k & 1 == 0 { bounds.low[k] } else { bounds.high[k] });
            let s = cell.to_fractional([pick(0), pick(1), pick(2)].into()).to_array();
            for k in 0..3 {
                low[k] = low[k].min(s[k]);
                high[k] = high[k].max(s[k]);
            }
        }
        for k in 0..3 {
            // because bounds are rounded to f32, the margin is increased by 10⁻⁶ of the cell
            let margin = radius / faces[k] + 1e-6;
            low[k] -= margin;
            high[k] += margin;
        }
        let divided = grid.region.as_ref().map_or([false; 3], |region| region.divided);
        if let Some(region) = &grid.region {
            (low, high) = (region.part(low.into()).to_array(), region.part(high.into()).to_array());
        }
        let span = |k: usize, n: i32| {
            // columns at the ends of a domain also hold the atoms beyond these ends
            let [least, most] = if divided[k] { [0, n - 1] } else { [-REACH * n, REACH * n + n - 1] };
            [(low[k] * f64::from(n)).floor() as i32, (high[k] * f64::from(n)).floor() as i32]
                .map(|c| c.clamp(least, most))
        };
        let deepest = if divided[2] { 0 } else { REACH };
        Reach {
            columns: [span(0, nx), span(1, ny)],
            depth_images: [low[2], high[2]].map(|s| (s.floor() as i32).clamp(-deepest, deepest)),
        }
    }

    #[inline(always)]
    fn search_image<S: Simd>(
        &mut self,
        cluster: usize,
        zone: usize,
        image: [i32; 3],
        section: usize,
        columns: [Span; 2],
        coulomb: bool,
    ) {
        let SearchInput { grid, packed, cell, radius, .. } = self.input;
        let inside = is_listed_within(zone, image);
        let home = image == [0; 3] && inside;
        let shift = cell.map_or(Vec3::ZERO, |cell| cell.shift(image));
        let block_i = cluster / 2;
        let probe = Probe::<S>::new(grid, packed, cluster, shift, radius);
        self.scratch.next_stamp();
        let SearchScratch { near, found, index_of, stamp } = &mut *self.scratch;
        let mut listed = 0;
        let bounds = BoundsProbe::<S>::new(&grid.cluster_bounds[cluster], shift, radius, !coulomb);
        let tiles = grid.tiles[section];
        let first = if inside { zone } else { zone + 1 };
        for other in first..grid.zone_starts.len() - 1 {
            if other & zone != 0 {
                continue;
            }
            for x in columns[0][0]..=columns[0][1] {
                for y in columns[1][0]..=columns[1][1] {
                    let column = grid.first_column(other, section) + tiles.column(x as usize, y as usize);
                    let [start, end] = map([column, column + 1], |column| grid.column_starts[column] as usize);
                    let start = if home { start.max(block_i) } else { start };
                    listed += bounds.hits(grid, start..end, &mut near[listed..]);
                }
            }
        }
        // the loop has no branches, since a processor cannot predict the result of the distance test
        let mut hits = 0;
        for index in 0..listed {
            let block = near[index];
            near[hits] = block;
            hits += usize::from(probe.hits(grid, packed, block as usize));
        }
        let near = &near[..hits];
        let all = if home { upper_triangle(cluster) } else { u32::MAX };
        found.clear();
        for (index, &block) in near.iter().enumerate() {
            let interacting = if block as usize == block_i { all } else { u32::MAX };
            found.push(MaskedPair { block, interacting, excluded: 0, excepted: false });
            index_of[block as usize] = (*stamp, index as u32);
        }
        self.mask_exclusions(cluster, home, &probe.center);
        self.finish_entry(cluster, image, coulomb);
    }

    /// Clears the interaction bits of excluded pairs. The bit that requests the Ewald correction of a pair is set only
    /// for the nearest image of the pair. In a small cell, a pair of blocks can be listed once for each of several
    /// images.
    #[inline(always)]
    fn mask_exclusions(&mut self, cluster: usize, home: bool, center: &[f32; 3]) {
        let SearchInput { grid, packed, exclusions, far_exclusions, exclusion_reach, .. } = self.input;
        for row in 0..CLUSTER {
            let slot = cluster * CLUSTER + row;
            let atom = grid.slot_atom[slot];
            if atom == NO_ATOM {
                continue;
            }
            for &partner in exclusions.of(atom) {
                let partner_slot = grid.atom_slot[partner as usize] as usize;
                let (stamp, index) = self.scratch.index_of[partner_slot / BLOCK];
                if stamp != self.scratch.stamp || (home && partner_slot <= slot) {
                    continue;
                }
                let bit = 1 << (row * BLOCK + partner_slot % BLOCK);
                let pair = &mut self.scratch.found[index as usize];
                pair.interacting &= !bit;
                let ordered = [atom.min(partner), atom.max(partner)];
                let far = distance_squared(grid, packed, slot, center, partner_slot) > (exclusion_reach as f32).powi(2);
                if far {
                    continue;
                }
                if far_exclusions.is_empty() || far_exclusions.binary_search(&ordered).is_err() {
                    pair.excluded |= bit;
                }
            }
        }
    }

    #[inline(always)]
    fn finish_entry(&mut self, cluster: usize, image: [i32; 3], coulomb: bool) {
        if self.scratch.found.is_empty() {
            return;
        }
        let atoms = &self.input.grid.slot_atom[cluster * CLUSTER..(cluster + 1) * CLUSTER];
        let mut with_lj = 0;
        for slot in 0..CLUSTER {
            with_lj += u32::from(atoms[slot] != NO_ATOM && self.input.has_lj[atoms[slot] as usize]);
        }
        let lj_rows = match with_lj {
            0 => LjRows::None,
            1 | 2 => LjRows::Half,
            _ => LjRows::All,
        };
        let (masked, plain) = (self.out.masked.len() as u32, self.out.plain.len() as u32);
        let marks = self.input.marks;
        let excepted = |block: usize| !marks.is_empty() && marks[cluster].meet(marks[2 * block] | marks[2 * block + 1]);
        for pair in &self.scratch.found {
            let excepted = excepted(pair.block as usize);
            if pair.interacting == u32::MAX && !excepted {
                self.out.plain.push(pair.block);
            } else {
                self.out.masked.push(MaskedPair { excepted, ..*pair });
            }
        }
        let end = self.out.plain.len() as u32;
        self.out.entries.push(Entry {
            cluster: cluster as u32,
            shift: shift_index(image) as u8,
            lj_rows,
            coulomb,
            masked: [masked, self.out.masked.len() as u32],
            plain: [plain, plain, end, end, end],
        });
    }
}

/// Returns whether pairs of atoms of the same zone are listed in an image. Only home atoms (zone 0) have pairs among
/// each other. A pair of home atoms occurs in two opposite images, and only the image that is not after [0, 0, 0] in
/// lexicographic order is listed.
#[inline(always)]
fn is_listed_within(zone: usize, image: [i32; 3]) -> bool {
    zone == 0 && image <= [0; 3]
}

/// Returns the squared distance (nm²) of two slots. `center` is the shifted center of the block of the first slot.
#[inline(always)]
fn distance_squared(grid: &Grid, packed: &[[f32; 24]], slot: usize, center: &[f32; 3], other: usize) -> f32 {
    let at = |slot: usize, k: usize| packed[slot / BLOCK][k * BLOCK + slot % BLOCK];
    (0..3).map(|k| (at(slot, k) - at(other, k) + center[k] - grid.centers[other / BLOCK][k]).powi(2)).sum()
}

struct Reach {
    columns: [Span; 2],
    depth_images: Span,
}

/// Returns the part of a range of columns that lies in the lattice image `image`, shifted back to the home cell.
#[inline(always)]
fn clip(span: Span, image: i32, n: i32) -> Span {
    [(span[0] - image * n).max(0), (span[1] - image * n).min(n - 1)]
}

/// Returns the interaction mask of a cluster with its own block in the home image. Only pairs with j > i interact, so
/// that each pair is computed once.
#[inline(always)]
fn upper_triangle(cluster: usize) -> u32 {
    let first = cluster % 2 * CLUSTER;
    (0..CLUSTER).fold(0, |mask, row| mask | (0xfe << (first + row) & 0xff) << (row * BLOCK))
}
