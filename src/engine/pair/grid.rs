//! Spatial sorting: each atom is assigned to a slot of a block, and the position of each block is computed.

use super::region::Region;
use crate::arrays::map;
use crate::cell::PeriodicCell;
use crate::memory::{self, prefetch};
use crate::simd::{Aligned16, LANES};
use crate::vec3::{Vec3, vec3};
use rayon::prelude::*;
use wide::f32x4;

/// Number of slots of a block (j side of a cluster pair).
pub const BLOCK: usize = 8;
/// Number of slots of a cluster (i side of a cluster pair). A block consists of two clusters.
pub const CLUSTER: usize = 4;
/// Value that marks a slot without an atom.
pub const NO_ATOM: u32 = u32::MAX;

/// Block centers are multiples of this length (nm), so that `f32` represents the difference between two centers exactly
/// up to 16 µm.
pub const CENTRE_QUANTUM: f64 = 1.0 / 1024.0;
/// Side of a column in units of (1/density)^(1/3). The side of a column lies between the sides of cubic clusters
/// (4^(1/3)) and cubic blocks (8^(1/3)). With the side 1.9, lists of water have the fewest SIMD vectors of pairs.
const COLUMN_SIDE: f64 = 1.9;
/// Approximate number of columns along the side of a tile.
const TILE: usize = 16;
/// Smallest offset (nm) of an empty slot from the center of its block along each axis, beyond any cutoff. With offsets
/// below 100 nm, powers of distances up to r⁻¹⁴ are normal numbers. Intel processors take about 150 clock cycles for a
/// multiplication whose result is subnormal.
const NOWHERE: f32 = 50.0;
/// Difference (nm) between the offsets of consecutive empty slots along each axis.
const APART: f32 = 1.0;
/// Number of offsets of empty slots. Two empty slots have the same offset if their numbers differ by a multiple of this
/// number, and their blocks are then rarely near each other.
const OFFSETS: usize = 50;

/// Prefetch distance, in slots, of the loop that packs positions.
const PREFETCH_DISTANCE: usize = 64;
/// Number of atoms per parallel task, for work of a few operations per atom.
const ATOMS: usize = 4096;

/// Bounding box with edges along x, y and z, given by its lower and upper corner.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// smallest coordinates, nm
    pub low: [f32; 3],
    /// largest coordinates, nm
    pub high: [f32; 3],
}

impl Bounds {
    const EMPTY: Bounds = Bounds { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3] };

    fn include(&mut self, p: [f32; 3]) {
        for (k, value) in p.into_iter().enumerate() {
            self.low[k] = self.low[k].min(value);
            self.high[k] = self.high[k].max(value);
        }
    }

    fn union(mut self, other: &Bounds) -> Bounds {
        for k in 0..3 {
            self.low[k] = self.low[k].min(other.low[k]);
            self.high[k] = self.high[k].max(other.high[k]);
        }
        self
    }
}

/// Bounds of [`LANES`] consecutive blocks: the lowest x, y and z of each block, then the highest x, y and z. In an
/// empty block the lower bound of each coordinate is above the upper bound.
pub(super) type BoundsOfBlocks = [Aligned16; 6];

/// Order of the columns of a grid. Columns of one tile (a rectangle of columns) are consecutive, so that the data of
/// neighbouring columns are likely to be in cache.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tiles {
    /// number of columns along the first and the second lattice vector
    pub columns: [usize; 2],
    /// number of columns along each side of a tile; tiles at the upper ends of the grid may have fewer columns
    side: [usize; 2],
}

impl Tiles {
    pub(super) fn new(columns: [usize; 2]) -> Self {
        Tiles { columns, side: columns.map(|n| n.div_ceil((n / TILE).max(1))) }
    }

    /// Returns the index of the column (x, y) in the order of the columns, tile after tile.
    #[inline(always)]
    pub fn column(&self, x: usize, y: usize) -> usize {
        let Tiles { columns: [nx, ny], side: [a, b] } = *self;
        let [first_x, first_y] = [x - x % a, y - y % b];
        let [a, b] = [a.min(nx - first_x), b.min(ny - first_y)];
        first_x * ny + first_y * a + (x - first_x) * b + (y - first_y)
    }
}

/// Atoms sorted into columns of blocks, in one or two sections. Atoms with Lennard-Jones interactions but without a
/// charge may be kept in a second section, so that no block contains both charged and uncharged atoms. The sorting is
/// valid for the lifetime of a list.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// columns of each section along the first two lattice directions; no columns in the second section if it is
    /// unused
    pub tiles: [Tiles; 2],
    /// first block of each column, followed by the total number of blocks. Columns are in the order of
    /// [`Tiles::column`], section after section in each zone
    pub column_starts: Vec<u32>,
    /// first block of each zone, followed by the total number of blocks
    pub zone_starts: Vec<u32>,
    /// region that is divided into columns; `None` for the whole cell, where all atoms are in one zone
    pub region: Option<Region>,
    /// atom of each slot; [`NO_ATOM`] for an empty slot
    pub slot_atom: Vec<u32>,
    /// slot that holds each atom
    pub atom_slot: Vec<u32>,
    /// lattice image (na, nb, nc) of each atom: wrapped position = position − shift(image)
    pub images: Vec<[i32; 3]>,
    /// center of each block (nm), whose coordinates are multiples of [`CENTRE_QUANTUM`]
    pub centers: Vec<[f32; 3]>,
    /// bounds of each i-cluster (wrapped coordinates); in an empty cluster the lower bound of each coordinate is above
    /// the upper bound
    pub cluster_bounds: Vec<Bounds>,
    /// bounds of all blocks
    pub(super) block_bounds: Vec<BoundsOfBlocks>,
    /// bit masks of [`LANES`] consecutive blocks each: the bit of a block is set if the block has Lennard-Jones
    /// interactions
    pub(super) lj_blocks: Vec<u16>,
    /// origin of each slot in unwrapped coordinates: packed offset = position − origin
    origins: Vec<Vec3>,
    /// column of each atom, and depth of the atom in the column
    keys: Vec<(u32, u32)>,
    /// sort key of the atom in each slot, column after column; the key consists of the depth of the atom in the column
    /// and the atom number
    sorted: Vec<u64>,
    /// next free index in `sorted` for each column; used only while atoms are sorted into columns
    filled: Vec<u32>,
    /// number of times that the atoms have been sorted
    generation: u64,
}

impl Grid {
    /// Returns the number of times that the atoms have been sorted. Block numbers in a pair list are valid only until
    /// the next sort.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.slot_atom.len() / BLOCK
    }

    /// Returns the number of blocks of home atoms in the first section.
    pub fn main_blocks(&self) -> usize {
        self.column_starts.get(self.first_column(0, 1)).map_or(0, |&block| block as usize)
    }

    /// Returns the number of blocks of home atoms. Without domains all blocks are blocks of home atoms.
    pub fn home_blocks(&self) -> usize {
        self.zone_starts[1] as usize
    }

    /// Returns the number of columns of a zone.
    fn columns(&self) -> usize {
        self.first_column(0, self.tiles.len())
    }

    /// Returns the first column of a section of a zone, in the order of columns.
    #[inline(always)]
    pub(super) fn first_column(&self, zone: usize, section: usize) -> usize {
        let (mut all, mut before) = (0, 0);
        for (number, tiles) in self.tiles.iter().enumerate() {
            let columns = tiles.columns[0] * tiles.columns[1];
            all += columns;
            before += if number < section { columns } else { 0 };
        }
        zone * all + before
    }

    /// Returns the zone of a block, and whether the block is in the first section.
    #[inline(always)]
    pub(super) fn part_of(&self, block: usize) -> (usize, bool) {
        let mut zone = 0;
        while self.zone_starts.get(zone + 1).is_some_and(|&start| start as usize <= block) {
            zone += 1;
        }
        (zone, block < self.column_starts[self.first_column(zone, 1)] as usize)
    }

    /// Sorts all atoms, or the atoms of [`Grid::region`] if a region is set. `first[atom]` is true for atoms with
    /// Lennard-Jones interactions; one or two of these atoms are in the first half of their cluster. Atoms for which
    /// `apart[atom]` is true go to the second section, which stays empty if `apart` is empty. Without a periodic cell
    /// the bounding box of the atoms is divided into columns, and there are no periodic images.
    pub fn build(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3], first: &[bool], apart: &[bool]) {
        self.generation += 1;
        let frame = cell.copied().unwrap_or_else(|| bounding_cell(positions));
        let origin = if cell.is_some() { Vec3::ZERO } else { lower_corner(positions) };
        self.choose_columns(&frame, positions.len(), apart);
        let (tiles, columns, region) = (self.tiles, self.columns(), self.region.as_ref());
        let starts = [0, self.first_column(0, 1)];
        let atoms = positions.par_iter().enumerate().with_min_len(ATOMS).map(|(atom, &r)| {
            let (s, zone, shift) = match region {
                Some(region) => {
                    let wrapped = region.wrapped(&frame, positions, atom as u32);
                    let s = region.part(frame.to_fractional(wrapped));
                    (s, region.zone_of(atom as u32), region.images[atom])
                }
                None => {
                    let (wrapped, shift) = if cell.is_some() { frame.wrap(r) } else { (r, [0; 3]) };
                    (frame.to_fractional(wrapped - origin), 0, shift)
                }
            };
            let section = usize::from(apart.get(atom) == Some(&true));
            let [nx, ny] = tiles[section].columns;
            let along = |s: f64, n: usize| ((s * n as f64) as usize).min(n - 1);
            let place = tiles[section].column(along(s.x, nx), along(s.y, ny));
            let column = zone * columns + starts[section] + place;
            (shift, (column as u32, ascending(s.z as f32)))
        });
        atoms.unzip_into_vecs(&mut self.images, &mut self.keys);
        self.fill_slots(cell, positions, first);
        self.measure(cell, positions);
        self.mark_lj(first);
        self.place(cell);
    }

    /// Chooses the number of columns of each section, so that columns are square with the side [`COLUMN_SIDE`].
    fn choose_columns(&mut self, frame: &PeriodicCell, atoms: usize, apart: &[bool]) {
        let apart = apart.iter().filter(|&&apart| apart).count();
        let extents: [f64; 3] = std::array::from_fn(|k| self.region.as_ref().map_or(1.0, |region| region.extent(k)));
        let volume = frame.volume() * extents.iter().product::<f64>();
        let faces = frame.face_distances();
        let tiles = |atoms: usize| {
            let side = COLUMN_SIDE * (volume / atoms as f64).cbrt();
            Tiles::new([0, 1].map(|k| ((faces[k] * extents[k] / side).round() as usize).clamp(1, 4096)))
        };
        self.tiles = [tiles((atoms - apart).max(1)), if apart > 0 { tiles(apart) } else { Tiles::default() }];
    }

    /// Finds the blocks with Lennard-Jones interactions.
    fn mark_lj(&mut self, first: &[bool]) {
        let has_lj = |atoms: &[u32]| atoms.iter().any(|&atom| atom != NO_ATOM && first[atom as usize]);
        let blocks = self.slot_atom.chunks(BLOCK * LANES);
        self.lj_blocks.clear();
        self.lj_blocks.extend(blocks.map(|blocks| {
            let lanes = blocks.chunks_exact(BLOCK).enumerate();
            lanes.fold(0, |bits, (lane, atoms)| bits | u16::from(has_lj(atoms)) << lane)
        }));
    }

    /// Sorts atoms into columns by counting sort, and then sorts the atoms of each column by depth and atom number.
    fn fill_slots(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3], first: &[bool]) {
        let (columns, zones) = (self.columns(), self.region.as_ref().map_or(1, Region::zones));
        self.column_starts.clear();
        self.column_starts.resize(zones * columns + 1, 0);
        self.keys.iter().for_each(|&(column, _)| self.column_starts[column as usize] += 1);
        let mut blocks = 0;
        for start in &mut self.column_starts {
            (*start, blocks) = (blocks, blocks + start.div_ceil(BLOCK as u32));
        }
        self.zone_starts.clear();
        self.zone_starts.extend((0..=zones).map(|zone| self.column_starts[zone * columns]));
        self.sorted.clear();
        memory::resize(&mut self.sorted, blocks as usize * BLOCK, u64::MAX);
        self.filled.clear();
        self.filled.extend(self.column_starts.iter().map(|&start| start * BLOCK as u32));
        for (atom, &(column, depth)) in self.keys.iter().enumerate() {
            let next = &mut self.filled[column as usize];
            self.sorted[*next as usize] = u64::from(depth) << 32 | atom as u64;
            *next += 1;
        }
        sort_columns(&self.column_starts, &mut self.sorted);
        memory::resize(&mut self.slot_atom, self.sorted.len(), NO_ATOM);
        let images = &self.images;
        let clusters = self.slot_atom.par_chunks_exact_mut(CLUSTER).zip(self.sorted.par_chunks_exact(CLUSTER));
        clusters.with_min_len(ATOMS / CLUSTER).for_each(|(atoms, sorted)| {
            // the lower 32 bits of the key are the atom number, or all ones for an empty slot
            atoms.iter_mut().zip(sorted).for_each(|(atom, &key)| *atom = key as u32);
            atoms.sort_by_key(|&atom| if atom == NO_ATOM { 2 } else { u8::from(!first[atom as usize]) });
            let foremost = atoms.iter().filter(|&&atom| atom != NO_ATOM && first[atom as usize]).count();
            pair_neighbours(atoms, foremost, |atom| wrapped(cell, positions, images, atom));
        });
        memory::resize(&mut self.atom_slot, self.keys.len(), 0);
        for (slot, &atom) in self.slot_atom.iter().enumerate() {
            if atom != NO_ATOM {
                self.atom_slot[atom as usize] = slot as u32;
            }
        }
    }

    /// Computes bounds and centers of clusters and blocks.
    fn measure(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3]) {
        let blocks = self.blocks();
        memory::resize(&mut self.centers, blocks, [0.0; 3]);
        memory::resize(&mut self.cluster_bounds, 2 * blocks, Bounds::EMPTY);
        let images = &self.images;
        let of_blocks = self.slot_atom.par_chunks_exact(BLOCK).zip(self.cluster_bounds.par_chunks_exact_mut(2));
        let of_blocks = of_blocks.zip(&mut self.centers);
        of_blocks.with_min_len(ATOMS / BLOCK).for_each(|((block, clusters), center)| {
            let mut ends = (Vec3::splat(f64::INFINITY), Vec3::splat(f64::NEG_INFINITY));
            for (cluster, bounds) in block.chunks_exact(CLUSTER).zip(clusters) {
                *bounds = Bounds::EMPTY;
                for &atom in cluster.iter().filter(|&&atom| atom != NO_ATOM) {
                    let r = wrapped(cell, positions, images, atom);
                    bounds.include(r.map(|v| v as f32).to_array());
                    ends.0 = vec3(ends.0.x.min(r.x), ends.0.y.min(r.y), ends.0.z.min(r.z));
                    ends.1 = vec3(ends.1.x.max(r.x), ends.1.y.max(r.y), ends.1.z.max(r.z));
                }
            }
            let quantise = |v: f64| ((v / CENTRE_QUANTUM).round() * CENTRE_QUANTUM) as f32;
            *center = ((ends.0 + ends.1) * 0.5).map(quantise).to_array();
        });
        memory::resize(&mut self.block_bounds, blocks.div_ceil(LANES), [Aligned16::default(); 6]);
        let groups = self.block_bounds.par_iter_mut().zip(self.cluster_bounds.par_chunks(2 * LANES));
        groups.with_min_len(ATOMS / (BLOCK * LANES)).for_each(|(bounds, clusters)| {
            for lane in 0..LANES {
                let clusters = clusters.get(2 * lane..2 * lane + 2).unwrap_or(&[]);
                let whole = clusters.iter().fold(Bounds::EMPTY, |whole, cluster| whole.union(cluster));
                for k in 0..3 {
                    (bounds[k].0[lane], bounds[k + 3].0[lane]) = (whole.low[k], whole.high[k]);
                }
            }
        });
    }

    /// Recomputes the origin of every slot for the current cell. The origin is the center of the block plus the
    /// lattice shift of the periodic image of the atom.
    pub fn place(&mut self, cell: Option<&PeriodicCell>) {
        let (images, centers) = (&self.images, &self.centers);
        let slots = self.slot_atom.par_iter().enumerate().with_min_len(ATOMS);
        let origins = slots.map(|(slot, &atom)| {
            let center = Vec3::from(map(centers[slot / BLOCK], f64::from));
            let image = if atom == NO_ATOM { [0; 3] } else { images[atom as usize] };
            match cell {
                Some(cell) if image != [0; 3] => center + cell.shift(image),
                _ => center,
            }
        });
        origins.collect_into_vec(&mut self.origins);
    }

    /// Computes the offsets (nm) of the slots of a block from the center of the block, as eight x, eight y and eight z,
    /// rounded from `f64` differences. `to` is aligned as in [`AlignedArrays`](crate::simd::AlignedArrays).
    #[inline(always)]
    pub fn pack_block(&self, block: usize, positions: &[Vec3], to: &mut [f32; 24]) {
        let mut offsets = [[0.0; BLOCK]; 3];
        for lane in 0..BLOCK {
            let slot = block * BLOCK + lane;
            if let Some(&later) = self.slot_atom.get(slot + PREFETCH_DISTANCE) {
                prefetch(positions, later as usize);
            }
            let atom = self.slot_atom[slot];
            let offset = if atom == NO_ATOM {
                [NOWHERE + APART * (slot % OFFSETS) as f32; 3]
            } else {
                (positions[atom as usize] - self.origins[slot]).map(|v| v as f32).to_array()
            };
            for (lanes, value) in offsets.iter_mut().zip(offset) {
                lanes[lane] = value;
            }
        }
        // a few wide stores write the data, because a store buffer holds only about sixty stores, and each store stays
        // in the buffer until other caches have released the cache line
        let to: &mut [f32x4] = bytemuck::cast_slice_mut(to);
        for (to, lanes) in to.chunks_exact_mut(2).zip(offsets) {
            let [a, b, c, d, e, f, g, h] = lanes;
            to[0] = f32x4::new([a, b, c, d]);
            to[1] = f32x4::new([e, f, g, h]);
        }
    }
}

/// Reorders the atoms of a full cluster so that atoms 0 and 1, and atoms 2 and 3, are near each other. Pair lists
/// contain the blocks near each of these two pairs. One or two foremost atoms stay in the first half.
fn pair_neighbours(atoms: &mut [u32], foremost: usize, position: impl Fn(u32) -> Vec3) {
    // the two foremost atoms fill the first half
    if atoms.contains(&NO_ATOM) || foremost == 2 {
        return;
    }
    let r: [Vec3; CLUSTER] = std::array::from_fn(|k| position(atoms[k]));
    let apart = |[a, b]: [usize; 2]| (r[a] - r[b]).norm();
    let pairings = [[[0, 1], [2, 3]], [[0, 2], [1, 3]], [[0, 3], [1, 2]]];
    let length = |pairs: &[[usize; 2]; 2]| pairs.iter().map(|&pair| apart(pair)).sum::<f64>();
    let [[a, b], [c, d]] = *pairings.iter().min_by(|p, q| length(p).total_cmp(&length(q))).expect("three pairings");
    let order = [atoms[a], atoms[b], atoms[c], atoms[d]];
    atoms.copy_from_slice(&order);
}

/// Returns an integer key that sorts in the order of `value`, also for negative numbers.
fn ascending(value: f32) -> u32 {
    let bits = value.to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

/// Sorts the slots of each column. `starts` are the first blocks of the columns and the end of the last column.
fn sort_columns(starts: &[u32], slots: &mut [u64]) {
    let columns = starts.len() - 1;
    if slots.len() <= ATOMS || columns == 1 {
        let mut rest = slots;
        for ends in starts.windows(2) {
            let (column, others) = rest.split_at_mut((ends[1] - ends[0]) as usize * BLOCK);
            column.sort_unstable();
            rest = others;
        }
        return;
    }
    let middle = columns / 2;
    let (low, high) = slots.split_at_mut((starts[middle] - starts[0]) as usize * BLOCK);
    rayon::join(|| sort_columns(&starts[..=middle], low), || sort_columns(&starts[middle..], high));
}

#[inline(always)]
fn wrapped(cell: Option<&PeriodicCell>, positions: &[Vec3], images: &[[i32; 3]], atom: u32) -> Vec3 {
    let r = positions[atom as usize];
    match cell {
        Some(cell) if images[atom as usize] != [0; 3] => r - cell.shift(images[atom as usize]),
        _ => r,
    }
}

fn lower_corner(positions: &[Vec3]) -> Vec3 {
    positions.iter().fold(Vec3::splat(f64::INFINITY), |a, r| vec3(a.x.min(r.x), a.y.min(r.y), a.z.min(r.z)))
}

/// Returns a rectangular cell just larger than the extent of the atoms.
fn bounding_cell(positions: &[Vec3]) -> PeriodicCell {
    let low = lower_corner(positions);
    let high =
        positions.iter().fold(Vec3::splat(f64::NEG_INFINITY), |a, r| vec3(a.x.max(r.x), a.y.max(r.y), a.z.max(r.z)));
    // each edge is at least as long as a bond, so that flat molecules still have a volume
    let edge = |low: f64, high: f64| if high >= low { (high - low) * 1.001 + 0.1 } else { 1.0 };
    PeriodicCell::orthorhombic([edge(low.x, high.x), edge(low.y, high.y), edge(low.z, high.z)])
}
