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

/// Returns the mean number of bytes that a rank sends in one evaluation of PME on `ranks` ranks. `touched` are the mean
/// numbers of points along x, y and z on which a rank has charges, and `domains` are the numbers of domains along these
/// directions. The rank itself transforms some of the touched planes along x.
pub(in crate::backend) fn mesh_bytes_of_rank(mesh: &PmeParameters, touched: [f64; 3], domains: [usize; 3]) -> f64 {
    let ranks: usize = domains.iter().product();
    let (padded, [nx, ny, nz], count) = (Padded::new(mesh), mesh.grid, ranks as f64);
    let lent = (touched[0] - nx as f64 / count).max(0.0);
    let [rows, vectors] = [padded.plane / padded.row, padded.row / LANES];
    // Points that begin anywhere in a vector. The last domain along a direction has charges in the padding and on their
    // periodic images.
    let last = |k: usize| 1.0 / domains[k] as f64;
    let of_plane = (touched[1] + padded.over as f64 * last(1)).min(rows as f64);
    let of_row = ((touched[2] - 1.0) / LANES as f64 + 1.0 + last(2)).min(vectors as f64);
    // charges are sent to the ranks that transform the planes, and the potential is sent back; in addition each rank
    // sends one byte per plane, row and vector of the mesh to every other rank
    let marks = ((nx + rows + vectors) * (ranks - 1)) as f64;
    let planes = 2.0 * lent * of_plane * of_row * size_of::<Aligned16>() as f64 + marks;
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

    /// Returns arrays for [`Self::turn_to_y`], with `vectors` vectors for each x and k_y.
    pub(super) fn turned_to_y(&self, vectors: usize) -> Turned {
        let ([nx, half], [x, y]) = (self.planes, self.own());
        self.turned(vectors, x.len() * half, nx * y.len())
    }

    /// Returns arrays for [`Self::turn_to_x`], with `vectors` vectors for each k_y and x.
    pub(super) fn turned_to_x(&self, vectors: usize) -> Turned {
        let ([nx, half], [x, y]) = (self.planes, self.own());
        self.turned(vectors, y.len() * nx, half * x.len())
    }

    fn turned(&self, vectors: usize, before: usize, after: usize) -> Turned {
        let after = (self.ranks.count() > 1).then(|| Split::new(after * vectors));
        Turned { vectors, before: Split::new(before * vectors), after }
    }

    /// Redistributes the spectrum among the ranks after the first pass. Before, the spectrum is indexed `[x][k_y]` for
    /// all k_y and the x of this rank; afterwards it is indexed `[x][k_y]` for all x and the k_y of this rank. All
    /// ranks call this function together.
    pub(super) fn turn_to_y(&mut self, spectrum: &mut Turned) {
        self.exchange(spectrum, self.planes[1], Self::x, Self::y);
    }

    /// Redistributes the spectrum among the ranks after the second pass. Before, the spectrum is indexed `[k_y][x]` for
    /// all x and the k_y of this rank; afterwards it is indexed `[k_y][x]` for all k_y and the x of this rank. All
    /// ranks call this function together.
    pub(super) fn turn_to_x(&mut self, spectrum: &mut Turned) {
        self.exchange(spectrum, self.planes[0], Self::y, Self::x);
    }

    /// Sends a range of columns of `before` to each other rank, and stores the received rows in `after`. `before` has
    /// `columns` columns. `rows_of` and `columns_of` return the rows in `before` and the columns in `after` of a rank.
    fn exchange(
        &mut self,
        Turned { vectors, before, after }: &mut Turned,
        columns: usize,
        rows_of: impl Fn(&Self, usize) -> Range<usize>,
        columns_of: impl Fn(&Self, usize) -> Range<usize>,
    ) {
        let (Some(after), rank) = (after, self.ranks.rank()) else { return };
        let (own_rows, own_columns) = (rows_of(self, rank), columns_of(self, rank));
        let cut =
            |of: &Range<usize>, row: usize| (row * columns + of.start) * *vectors..(row * columns + of.end) * *vectors;
        let place =
            |rows: &Range<usize>| rows.start * own_columns.len() * *vectors..rows.end * own_columns.len() * *vectors;
        let [mut to_send, mut received] = std::mem::take(&mut self.buffers);
        let parts = [&before.re, &before.im];
        for (to, from) in self.ranks.partners() {
            let sent = columns_of(self, to);
            to_send.clear();
            for part in parts {
                (0..own_rows.len()).for_each(|row| to_send.extend_from_slice(&part[cut(&sent, row)]));
            }
            let place = place(&rows_of(self, from));
            received.resize(2 * place.len(), Aligned16::default());
            self.ranks.exchange(to, bytemuck::cast_slice(&to_send), from, bytemuck::cast_slice_mut(&mut received));
            let (re, im) = received.split_at(place.len());
            after.re[place.clone()].copy_from_slice(re);
            after.im[place].copy_from_slice(im);
        }
        for (part, after) in parts.into_iter().zip([&mut after.re, &mut after.im]) {
            let kept = after[place(&own_rows)].chunks_exact_mut((own_columns.len() * *vectors).max(1));
            kept.enumerate().for_each(|(row, to)| to.copy_from_slice(&part[cut(&own_columns, row)]));
        }
        self.buffers = [to_send, received];
    }
}

/// Spectrum before and after its redistribution among the ranks.
pub(super) struct Turned {
    /// number of vectors for each row and column
    vectors: usize,
    /// all columns, and the rows of this rank
    before: Split,
    /// all rows, and the columns of this rank; `None` on a single rank, where nothing is redistributed
    after: Option<Split>,
}

impl Turned {
    /// Returns the spectrum before its redistribution.
    pub(super) fn before(&mut self) -> &mut Split {
        &mut self.before
    }

    /// Returns the spectrum after its redistribution.
    pub(super) fn after(&self) -> &Split {
        self.after.as_ref().unwrap_or(&self.before)
    }
}
