//! Slab decomposition of the mesh transforms among ranks. In the first and third pass of [`super::spectral`] each rank
//! holds a range of planes along x, and in the second pass a range of planes along k_y.

use super::mesh_grid::Padded;
use super::threads::partition;
use crate::compute::Split;
use crate::ranks::Ranks;
use crate::simd::{Aligned16, LANES};
use crate::system::PmeParameters;
use std::ops::Range;

/// Returns the fraction of the planes along x that the busiest of `ranks` ranks transforms.
pub(in crate::backend) fn largest_mesh_part(mesh: &PmeParameters, ranks: usize) -> f64 {
    let pairs = mesh.grid[0].div_ceil(2);
    pairs.div_ceil(ranks) as f64 / pairs as f64
}

/// Returns the mean number of bytes that a rank sends in one evaluation of PME on `ranks` ranks. `touched` is the mean
/// number of planes along x on which a rank has charges. The rank itself transforms some of the `touched` planes.
pub(in crate::backend) fn mesh_bytes_of_rank(mesh: &PmeParameters, touched: f64, ranks: usize) -> f64 {
    let (padded, [nx, ny, nz], count) = (Padded::new(mesh), mesh.grid, ranks as f64);
    let lent = (touched - nx as f64 / count).max(0.0);
    // charges are sent to the ranks that transform the planes, and the potential is sent back; in addition each rank
    // sends one byte per plane of the mesh to every other rank
    let planes = 2.0 * lent * (padded.plane * size_of::<f32>()) as f64 + (nx * (ranks - 1)) as f64;
    // the complex spectrum `[x][k_y][z]` is transposed twice
    let spectrum = nx * (ny / 2 + 1) * nz.div_ceil(LANES) * 2 * size_of::<Aligned16>();
    planes + 2.0 * spectrum as f64 * (count - 1.0) / (count * count)
}

/// Returns the planes along x of rank `rank` of `ranks`, for a mesh of `planes` planes.
fn slab(planes: usize, rank: usize, ranks: usize) -> Range<usize> {
    let Range { start, end } = partition(planes.div_ceil(2), rank, ranks);
    2 * start..(2 * end).min(planes)
}

/// Returns the number of other ranks to which rank `rank` sends charges. Rank `rank` has charges on the planes
/// `touched`. Indices in `touched` may be negative or beyond the last plane, because the mesh is periodic.
pub(in crate::backend) fn borrowers_of_rank(
    mesh: &PmeParameters,
    touched: Range<i64>,
    rank: usize,
    ranks: usize,
) -> usize {
    let planes = mesh.grid[0];
    let is_touched = |x: usize| touched.clone().any(|plane| plane.rem_euclid(planes as i64) == x as i64);
    (0..ranks).filter(|&other| other != rank && slab(planes, other, ranks).any(is_touched)).count()
}

/// Division of the mesh planes among ranks, and buffers for exchanges between the passes.
pub(super) struct Slabs {
    pub(super) ranks: Ranks,
    /// number of planes along x (n_x) and along k_y (n_y/2 + 1)
    planes: [usize; 2],
    buffers: [Vec<Aligned16>; 2],
}

impl Slabs {
    pub(super) fn new(ranks: Ranks, planes: [usize; 2]) -> Self {
        Slabs { ranks, planes, buffers: Default::default() }
    }

    /// Returns the range of planes along x of a rank. The range consists of pairs of planes; only the last plane of a
    /// mesh with an odd number of planes has no partner.
    pub(super) fn x(&self, rank: usize) -> Range<usize> {
        slab(self.planes[0], rank, self.ranks.count())
    }

    /// Returns the range of planes of a rank along k_y.
    pub(super) fn y(&self, rank: usize) -> Range<usize> {
        partition(self.planes[1], rank, self.ranks.count())
    }

    /// Returns the ranges of planes of this rank, along x and along k_y.
    pub(super) fn own(&self) -> [Range<usize>; 2] {
        [self.x(self.ranks.rank()), self.y(self.ranks.rank())]
    }

    /// Redistributes the spectrum among the ranks after the first pass. The spectrum is indexed `[x][k_y]`, with
    /// `vectors` vectors for each pair of indices. This rank receives all x for its range of k_y. All ranks call this
    /// function together.
    pub(super) fn turn_to_y(&mut self, spectrum: &mut Split, vectors: usize) {
        let (columns, [x, y]) = (self.planes[1], self.own());
        self.exchange(
            spectrum,
            [columns, vectors],
            |slabs, to| [x.clone(), slabs.y(to)],
            |slabs, from| [slabs.x(from), y.clone()],
        );
    }

    /// Redistributes the spectrum among the ranks after the second pass. The spectrum is indexed `[k_y][x]`, with
    /// `vectors` vectors for each pair of indices. This rank receives all k_y for its range of x. All ranks call this
    /// function together.
    pub(super) fn turn_to_x(&mut self, spectrum: &mut Split, vectors: usize) {
        let (columns, [x, y]) = (self.planes[0], self.own());
        self.exchange(
            spectrum,
            [columns, vectors],
            |slabs, to| [y.clone(), slabs.x(to)],
            |slabs, from| [slabs.y(from), x.clone()],
        );
    }

    /// Sends a block (a range of rows and a range of columns) of an array to each other rank, and stores the received
    /// blocks in the same array.
    fn exchange(
        &mut self,
        Split { re, im }: &mut Split,
        [columns, vectors]: [usize; 2],
        send: impl Fn(&Self, usize) -> [Range<usize>; 2],
        receive: impl Fn(&Self, usize) -> [Range<usize>; 2],
    ) {
        let part = |row: usize, range: &Range<usize>| {
            (row * columns + range.start) * vectors..(row * columns + range.end) * vectors
        };
        let [mut to_send, mut received] = std::mem::take(&mut self.buffers);
        for (to, from) in self.ranks.partners() {
            let [rows, range] = send(self, to);
            to_send.clear();
            for row in rows {
                to_send.extend_from_slice(&re[part(row, &range)]);
                to_send.extend_from_slice(&im[part(row, &range)]);
            }
            let [rows, range] = receive(self, from);
            received.resize(2 * rows.len() * range.len() * vectors, Aligned16::default());
            self.ranks.exchange(to, bytemuck::cast_slice(&to_send), from, bytemuck::cast_slice_mut(&mut received));
            let of_row = (range.len() * vectors).max(1);
            for (row, parts) in rows.zip(received.chunks_exact(2 * of_row)) {
                re[part(row, &range)].copy_from_slice(&parts[..of_row]);
                im[part(row, &range)].copy_from_slice(&parts[of_row..]);
            }
        }
        self.buffers = [to_send, received];
    }
}
