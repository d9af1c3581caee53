//! Exchange of mesh planes among ranks. A rank spreads its charges on all planes near its atoms, but transforms only
//! the planes of its slab ([`super::slabs`]): charges on other planes are sent to the ranks that transform these
//! planes, and the potential on these planes is sent back. Only the part of a plane near the atoms of the rank is sent.
//! Ranks without common planes exchange no messages.

use super::mesh_grid::{Padded, SpreadBuffer};
use super::slabs::Slabs;
use crate::simd::{Aligned16, LANES};

/// Planes that this rank exchanges with the other ranks in an evaluation, and buffers.
pub(super) struct PlaneExchange {
    /// number of planes, of rows in a plane, and of vectors in a row; rows and vectors include the padding
    sizes: [usize; 3],
    /// marks of planes, rows and vectors, one after another: 1 if this rank has charges there, otherwise 0
    own_marks: Vec<u8>,
    /// marks of all ranks, in rank order
    marks: Vec<u8>,
    to_send: Vec<Aligned16>,
    received: Vec<Aligned16>,
}

impl PlaneExchange {
    /// Prepares the exchange of the planes of a mesh among `ranks` ranks.
    pub(super) fn new(ranks: usize, padded: &Padded) -> Self {
        let sizes = [padded.size[0], padded.plane / padded.row, padded.row / LANES];
        let marks: usize = sizes.iter().sum();
        PlaneExchange {
            sizes,
            own_marks: vec![0; marks],
            marks: vec![0; marks * ranks],
            to_send: vec![],
            received: vec![],
        }
    }

    /// Sums the charges of this rank over the buffers `own`, and sends each plane of the sums to the rank that
    /// transforms the plane. The charges that other ranks send for the planes of this rank are summed in `received`.
    /// All ranks call this function together.
    pub(super) fn send_charges(
        &mut self,
        slabs: &Slabs,
        own: &[SpreadBuffer],
        received: &mut SpreadBuffer,
        padded: &Padded,
    ) {
        let places = self.sizes.into_iter().enumerate().flat_map(|(d, size)| (0..size).map(move |at| (d, at)));
        for (mark, (d, at)) in self.own_marks.iter_mut().zip(places) {
            *mark = u8::from(own.iter().any(|buffer| [&buffer.touched, &buffer.rows, &buffer.vectors][d][at]));
        }
        slabs.ranks.gather_equal(&self.own_marks, &mut self.marks);
        received.clear(padded);
        let this = slabs.ranks.rank();
        for (to, from) in slabs.ranks.partners() {
            self.to_send.clear();
            let (planes, part) = self.common(slabs, this, to);
            for x in planes {
                let of_plane: Vec<_> = own.iter().filter(|buffer| buffer.touched[x]).collect();
                let first = self.plane(x);
                self.to_send.extend(part.iter().map(|&vector| {
                    let at = first + vector;
                    of_plane.iter().map(|buffer| buffer.grid[at]).reduce(sum).unwrap_or_default()
                }));
            }
            let (planes, part) = self.common(slabs, from, this);
            self.exchange(slabs, [to, from], planes.len() * part.len());
            let mut charges = self.received.iter();
            for x in planes {
                received.touched[x] = true;
                for (&vector, charges) in part.iter().zip(&mut charges) {
                    let to = &mut received.grid[self.plane(x) + vector];
                    *to = sum(*to, *charges);
                    received.rows[vector / self.sizes[2]] = true;
                }
            }
        }
    }

    /// Sends the potential on the planes of this rank to the ranks that have charges on these planes. All ranks call
    /// this function together, after [`Self::send_charges`].
    pub(super) fn send_potential(&mut self, slabs: &Slabs, potential: &mut [Aligned16]) {
        let this = slabs.ranks.rank();
        for (to, from) in slabs.ranks.partners() {
            self.to_send.clear();
            let (planes, part) = self.common(slabs, to, this);
            for x in planes {
                let plane = &potential[self.plane(x)..];
                self.to_send.extend(part.iter().map(|&vector| plane[vector]));
            }
            let (planes, part) = self.common(slabs, this, from);
            self.exchange(slabs, [to, from], planes.len() * part.len());
            let mut received = self.received.iter();
            for x in planes {
                for (&vector, received) in part.iter().zip(&mut received) {
                    potential[self.plane(x) + vector] = *received;
                }
            }
        }
    }

    /// Returns the index of the first vector of plane x.
    fn plane(&self, x: usize) -> usize {
        x * self.sizes[1] * self.sizes[2]
    }

    /// Returns the planes of the slab of rank `slab` on which rank `charges` has charges, and the vectors of each of
    /// these planes on which it may have charges.
    fn common(&self, slabs: &Slabs, charges: usize, slab: usize) -> (Vec<usize>, Vec<usize>) {
        let marks = &self.marks[charges * self.own_marks.len()..][..self.own_marks.len()];
        let (of_planes, marks) = marks.split_at(self.sizes[0]);
        let (of_rows, of_vectors) = marks.split_at(self.sizes[1]);
        let planes: Vec<usize> = slabs.x(slab).filter(|&x| of_planes[x] == 1).collect();
        if planes.is_empty() {
            return (planes, vec![]);
        }
        let marked = |marks: &[u8]| (0..marks.len()).filter(|&at| marks[at] == 1).collect::<Vec<usize>>();
        let (rows, vectors, row) = (marked(of_rows), marked(of_vectors), self.sizes[2]);
        (planes, rows.into_iter().flat_map(|y| vectors.iter().map(move |z| y * row + z)).collect())
    }

    /// Sends the vectors in `to_send` to rank `to`, and receives `vectors` vectors from rank `from`.
    fn exchange(&mut self, slabs: &Slabs, [to, from]: [usize; 2], vectors: usize) {
        self.received.resize(vectors, Aligned16::default());
        let received = bytemuck::cast_slice_mut(&mut self.received);
        slabs.ranks.exchange(to, bytemuck::cast_slice(&self.to_send), from, received);
    }
}

fn sum(a: Aligned16, b: Aligned16) -> Aligned16 {
    Aligned16(std::array::from_fn(|lane| a.0[lane] + b.0[lane]))
}
