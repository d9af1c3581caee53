//! Cluster-pair lists.
//!
//! A list entry is an i-cluster with the j-blocks near it. Every unordered pair of atoms within the list radius is in
//! exactly one entry. An entry lists a pair of atoms if the block of the i-cluster comes before the other block in the
//! order of zone, image and block number. In a domain, a pair of atoms is listed only if the zone numbers of the two
//! atoms have no common bit ([`super::region`]). The entries of consecutive blocks form a chunk.

use super::grid::Grid;
use std::ops::Range;

/// Largest index of a lattice image along each direction in a pair search: indices are −2 … 2.
pub(super) const REACH: i32 = 2;
/// Number of lattice shifts, 5³.
pub const SHIFTS: usize = 125;
/// Number of blocks whose entries form one chunk.
pub(super) const CHUNK_BLOCKS: usize = 16;

/// Returns the index of the lattice shift (na, nb, nc), where na, nb and nc are −2 … 2. The index of (0, 0, 0) is
/// `SHIFTS / 2`.
#[inline(always)]
pub fn shift_index(image: [i32; 3]) -> usize {
    let side = 2 * REACH + 1;
    (((image[0] + REACH) * side + image[1] + REACH) * side + image[2] + REACH) as usize
}

/// Returns the lattice shift (na, nb, nc) that has the index `index` in [`shift_index`].
#[inline(always)]
pub fn shift_image(index: usize) -> [i32; 3] {
    let (index, side) = (index as i32, 2 * REACH + 1);
    [index / (side * side) - REACH, index / side % side - REACH, index % side - REACH]
}

/// Rows (atoms) of an i-cluster with Lennard-Jones interactions. One or two such atoms are in the first half of their
/// cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LjRows {
    /// no row has Lennard-Jones interactions
    None,
    /// the first row, or the first two rows, have Lennard-Jones interactions
    Half,
    /// more than two rows have Lennard-Jones interactions
    All,
}

impl LjRows {
    /// Returns the number of SIMD vectors, of two rows each, that have Lennard-Jones interactions.
    #[inline(always)]
    pub fn vectors(self) -> usize {
        self as usize
    }
}

/// An i-cluster, displaced by a lattice shift, and its j-blocks.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// index of the i-cluster
    pub cluster: u32,
    /// index of the lattice shift of the i-cluster, see [`shift_index`]
    pub shift: u8,
    /// rows of the i-cluster with Lennard-Jones interactions
    pub lj_rows: LjRows,
    /// whether pairs of this entry may have Coulomb interactions
    pub coulomb: bool,
    /// range of the masked j-blocks in [`ListChunk::masked`]
    pub masked: [u32; 2],
    /// bounds of four ranges in [`ListChunk::plain`]: blocks within the radius of only the first SIMD vector of two
    /// i-atoms; blocks within the radius of both SIMD vectors; blocks within the radius of only the second SIMD vector;
    /// blocks beyond the Coulomb radius but within the Lennard-Jones radius
    pub plain: [u32; 5],
}

impl Entry {
    /// Returns the range of the blocks in [`ListChunk::plain`] within the radius of both SIMD vectors of i-atoms.
    #[inline(always)]
    pub fn both(&self) -> Range<usize> {
        self.plain[1] as usize..self.plain[2] as usize
    }

    /// Returns the range of the blocks in [`ListChunk::plain`] that are within the radius of the SIMD vector of i-atoms
    /// with index `half`, but not within the radius of the other SIMD vector.
    #[inline(always)]
    pub fn single(&self, half: usize) -> Range<usize> {
        self.plain[2 * half] as usize..self.plain[2 * half + 1] as usize
    }

    /// Returns the range of all blocks in [`ListChunk::plain`] that are within the radius of the SIMD vector of i-atoms
    /// with index `half`.
    #[inline(always)]
    pub fn row(&self, half: usize) -> Range<usize> {
        self.plain[half] as usize..self.plain[half + 2] as usize
    }

    /// Returns the range of the blocks in [`ListChunk::plain`] within the Lennard-Jones but not the Coulomb radius.
    #[inline(always)]
    pub fn far(&self) -> Range<usize> {
        self.plain[3] as usize..self.plain[4] as usize
    }

    /// Returns the ranges of the blocks in [`ListChunk::plain`] that have Lennard-Jones interactions only: one range of
    /// blocks for both SIMD vectors of i-atoms, and one range for each SIMD vector alone.
    #[inline(always)]
    pub fn uncharged(&self) -> (Range<usize>, [Range<usize>; 2]) {
        match (self.coulomb, self.lj_rows) {
            (true, LjRows::All) => (self.far(), [0..0, 0..0]),
            (true, _) => (0..0, [self.far(), 0..0]),
            (false, LjRows::All) => (self.both(), [self.single(0), self.single(1)]),
            (false, LjRows::Half) => (0..0, [self.row(0), 0..0]),
            (false, LjRows::None) => (0..0, [0..0, 0..0]),
        }
    }

    /// Returns the number of SIMD vectors of sixteen pairs in the j-blocks without a mask.
    pub fn vectors(&self) -> usize {
        2 * self.both().len() + self.single(0).len() + self.single(1).len() + self.lj_rows.vectors() * self.far().len()
    }
}

/// A j-block with an interaction mask: some of its atom pairs with the i-cluster are excluded, or were very close at
/// pruning. Bit 8i + j of a mask stands for the pair of atom i of the cluster and atom j of the block.
#[derive(Clone, Copy, Debug)]
pub struct MaskedPair {
    /// index of the j-block
    pub block: u32,
    /// bit mask of the pairs that interact
    pub interacting: u32,
    /// bit mask of the excluded pairs, which need the Ewald correction
    pub excluded: u32,
    /// whether a pair may be an exception to the Lennard-Jones combination rule
    pub excepted: bool,
}

/// The entries of [`CHUNK_BLOCKS`] consecutive blocks.
#[derive(Clone, Debug, Default)]
pub struct ListChunk {
    /// list entries, each an i-cluster with its j-blocks
    pub entries: Vec<Entry>,
    /// j-blocks with masks, of all entries
    pub masked: Vec<MaskedPair>,
    /// j-blocks without a mask, of all entries, in which all pairs interact
    pub plain: Vec<u32>,
}

impl ListChunk {
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.masked.clear();
        self.plain.clear();
    }

    /// Returns the number of SIMD vectors of sixteen pairs in the chunk.
    pub fn vectors(&self) -> usize {
        2 * self.masked.len() + self.entries.iter().map(Entry::vectors).sum::<usize>()
    }

    /// Returns the estimated cost of the chunk, in units of the cost of sixteen pairs.
    pub fn weight(&self) -> usize {
        2 * (self.masked.len() + self.entries.len()) + self.vectors()
    }
}

/// A pair list, divided into chunks.
#[derive(Clone, Debug, Default)]
pub struct PairList {
    /// chunks of [`CHUNK_BLOCKS`] blocks each
    pub chunks: Vec<ListChunk>,
    generation: u64,
}

impl PairList {
    /// Allocates empty chunks for all blocks of a grid.
    pub fn resize(&mut self, grid: &Grid) {
        self.generation = grid.generation();
        self.chunks.resize_with(grid.blocks().div_ceil(CHUNK_BLOCKS), ListChunk::default);
    }

    /// Panics unless the list was built after the last sort of the grid. The block numbers of an older list are not
    /// valid.
    pub fn assert_of(&self, grid: &Grid) {
        assert_eq!(self.generation, grid.generation(), "atoms were sorted after the search of this pair list");
    }

    /// Divides the chunks into `parts` contiguous ranges of about equal cost ([`ListChunk::weight`]).
    pub fn split(&self, parts: usize, ranges: &mut Vec<Range<usize>>) {
        let total: usize = self.chunks.iter().map(ListChunk::weight).sum();
        ranges.clear();
        let (mut start, mut done) = (0, 0);
        for part in 1..=parts {
            let mut end = start;
            while end < self.chunks.len() && (part == parts || done * parts < total * part) {
                done += self.chunks[end].weight();
                end += 1;
            }
            ranges.push(start..end);
            start = end;
        }
    }

    /// Returns the number of atom pairs that kernels compute, including pairs beyond the cutoff.
    pub fn slots(&self) -> usize {
        self.chunks.iter().map(|chunk| 16 * chunk.vectors()).sum()
    }
}
