//! Exchange of charges and potential among ranks. A rank spreads its charges on all mesh points near its atoms, but
//! transforms only its pencils ([`super::pencils`]): charges elsewhere are sent to the ranks that transform them, and
//! the potential there is sent back. A rank sends only the parts of planes near its atoms. Ranks without common points
//! exchange no messages.

use super::mesh_grid::{Padded, SpreadBuffer};
use super::pencils::Pencils;
use crate::simd::{Aligned16, LANES};

/// Mesh points that this rank exchanges with the other ranks in an evaluation, and buffers.
pub(super) struct MeshExchange {
    /// number of planes, of rows in a plane, and of blocks in a row, without the padding
    sizes: [usize; 3],
    /// marks of planes, rows and blocks, one after another: 1 if this rank has charges there, otherwise 0
    own_marks: Vec<u8>,
    /// marks of all ranks, in rank order
    marks: Vec<u8>,
    /// points in common with the partners of each exchange: points whose charges this rank sends, and points for which
    /// it receives charges; the potential takes the opposite way
    common: Vec<[Common; 2]>,
    to_send: Vec<Aligned16>,
    received: Vec<Aligned16>,
}

/// Mesh points on which one rank has charges and which another rank transforms: some planes, and in each of them the
/// same vectors.
#[derive(Default)]
struct Common {
    /// indices of the first vectors of the planes
    planes: Vec<usize>,
    /// indices of vectors relative to the first vector of a plane
    vectors: Vec<usize>,
}

impl Common {
    fn indices(&self) -> impl Iterator<Item = usize> + '_ {
        self.planes.iter().flat_map(|plane| self.vectors.iter().map(move |vector| plane + vector))
    }

    fn len(&self) -> usize {
        self.planes.len() * self.vectors.len()
    }
}

impl MeshExchange {
    /// Prepares the exchange of a mesh among `ranks` ranks.
    pub(super) fn new(ranks: usize, padded: &Padded) -> Self {
        let [nx, ny, nz] = padded.size;
        let sizes = [nx, ny, nz.div_ceil(LANES)];
        let marks: usize = sizes.iter().sum();
        MeshExchange {
            sizes,
            own_marks: vec![0; marks],
            marks: vec![0; marks * ranks],
            common: (1..ranks).map(|_| Default::default()).collect(),
            to_send: vec![],
            received: vec![],
        }
    }

    /// Sums the charges of this rank over the buffers `own`, and sends the sums to the ranks that transform them. The
    /// charges that other ranks send for the pencils of this rank are summed in `received`. Calls `work` while the
    /// messages travel. All ranks call this function together, after [`Self::find_common`].
    pub(super) fn send_charges(
        &mut self,
        pencils: &Pencils,
        own: &[SpreadBuffer],
        received: &mut SpreadBuffer,
        padded: &Padded,
        work: impl FnOnce(),
    ) {
        received.clear(padded);
        let Self { common, to_send, received: arrived, .. } = self;
        let [plane, row] = [padded.plane / LANES, padded.row / LANES];
        to_send.clear();
        for [sent, _] in common.iter() {
            for &first in &sent.planes {
                let of_plane: Vec<_> = own.iter().filter(|buffer| buffer.touched[first / plane]).collect();
                to_send.extend(sent.vectors.iter().map(|vector| {
                    let charges = of_plane.iter().map(|buffer| buffer.grid[first + vector]);
                    charges.reduce(|sum, charge| sum + charge).unwrap_or_default()
                }));
            }
        }
        let partners = || common.iter().zip(pencils.ranks.partners());
        let to = partners().map(|([sent, _], (to, _))| (to, sent.len()));
        let from = partners().map(|([_, arriving], (_, from))| (from, arriving.len()));
        arrived.resize(from.clone().map(|(_, vectors)| vectors).sum(), Aligned16::default());
        pencils.ranks.exchange_during(to_send, to, arrived, from, work);
        let mut arrived = arrived.iter();
        for [_, arriving] in common.iter() {
            for (at, charges) in arriving.indices().zip(&mut arrived) {
                received.grid[at] = received.grid[at] + *charges;
            }
            arriving.planes.iter().for_each(|first| received.touched[first / plane] = true);
            arriving.vectors.iter().for_each(|vector| received.rows[vector / row] = true);
        }
    }

    /// Sends the potential on the pencils of this rank to the ranks that have charges there. Fills the padding of the
    /// planes on which this rank has charges. Calls `work` while the messages travel. All ranks call this function
    /// together, after [`Self::send_charges`].
    pub(super) fn send_potential(
        &mut self,
        pencils: &Pencils,
        potential: &mut [Aligned16],
        padded: &Padded,
        work: impl FnOnce(),
    ) {
        let Self { common, to_send, received, .. } = self;
        to_send.clear();
        to_send.extend(common.iter().flat_map(|[_, sent]| sent.indices()).map(|at| potential[at]));
        let partners = || common.iter().zip(pencils.ranks.partners());
        let to = partners().map(|([_, sent], (_, to))| (to, sent.len()));
        let from = partners().map(|([arriving, _], (from, _))| (from, arriving.len()));
        received.resize(from.clone().map(|(_, vectors)| vectors).sum(), Aligned16::default());
        pencils.ranks.exchange_during(to_send, to, received, from, work);
        let places = common.iter().flat_map(|[arriving, _]| arriving.indices());
        places.zip(received).for_each(|(at, received)| potential[at] = *received);
        for (plane, &mark) in potential.chunks_exact_mut(padded.plane / LANES).zip(&self.own_marks[..self.sizes[0]]) {
            if mark == 1 {
                padded.fill_overhang(bytemuck::cast_slice_mut(plane));
            }
        }
    }

    /// Finds the points that this rank has in common with each other rank, from the marks of all ranks. All ranks call
    /// this function together.
    pub(super) fn find_common(&mut self, pencils: &Pencils, own: &[SpreadBuffer], padded: &Padded) {
        let places = self.sizes.into_iter().enumerate().flat_map(|(d, size)| (0..size).map(move |at| (d, at)));
        for (mark, (d, at)) in self.own_marks.iter_mut().zip(places) {
            *mark = u8::from(own.iter().any(|buffer| [&buffer.touched, &buffer.rows, &buffer.vectors][d][at]));
        }
        pencils.ranks.gather_equal(&self.own_marks, &mut self.marks);
        let ([nx, ny, _], this) = (self.sizes, pencils.ranks.rank());
        let [plane, row] = [padded.plane / LANES, padded.row / LANES];
        for (both, (to, from)) in self.common.iter_mut().zip(pencils.ranks.partners()) {
            for (common, [charges, pencil]) in both.iter_mut().zip([[this, to], [from, this]]) {
                let (of_planes, marks) = self.marks[charges * self.own_marks.len()..].split_at(nx);
                let (of_rows, of_blocks) = marks.split_at(ny);
                common.planes.clear();
                common.vectors.clear();
                common.planes.extend(pencils.division.x(pencil).filter(|&x| of_planes[x] == 1).map(|x| x * plane));
                if common.planes.is_empty() {
                    continue;
                }
                for y in (0..ny).filter(|&y| of_rows[y] == 1) {
                    let blocks = pencils.division.z(pencil).filter(|&block| of_blocks[block] == 1);
                    common.vectors.extend(blocks.map(|block| y * row + block));
                }
            }
        }
    }
}
