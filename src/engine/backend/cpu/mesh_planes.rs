//! Exchange of mesh planes among ranks. A rank spreads its charges on all planes near its atoms, but transforms only
//! the planes of its slab ([`super::slabs`]): charges on other planes are sent to the ranks that transform these
//! planes, and the potential on these planes is sent back.

use super::mesh_grid::{self, Padded, SpreadBuffer};
use super::slabs::Slabs;
use crate::ranks::Ranks;
use crate::simd::{Aligned16, LANES};

/// Planes that this rank exchanges with the other ranks in an evaluation, and buffers.
pub(super) struct PlaneExchange {
    /// number of vectors in a plane
    plane: usize,
    /// marks of the planes of this rank, one vector for each of the other ranks: 1 for a plane on which the other rank
    /// has charges, otherwise 0
    wanted: Vec<Vec<u8>>,
    /// marks of the planes of the other ranks, one vector for each of the other ranks: 1 for a plane on which this rank
    /// has charges, otherwise 0
    lent: Vec<Vec<u8>>,
    to_send: Vec<Aligned16>,
    received: Vec<Aligned16>,
}

impl PlaneExchange {
    /// Prepares the exchange of the planes of a mesh among `ranks` ranks.
    pub(super) fn new(ranks: usize, padded: &Padded) -> Self {
        let marks = vec![vec![0; padded.size[0]]; ranks];
        let plane = padded.plane / LANES;
        PlaneExchange { plane, wanted: marks.clone(), lent: marks, to_send: vec![], received: vec![] }
    }

    /// Sends the charges of this rank, which are the sums over the buffers `own`, on each plane to the rank that
    /// transforms the plane. The sums of the charges of the other ranks on the planes of this rank are stored in
    /// `received`. All ranks call this function together.
    pub(super) fn send_charges(&mut self, slabs: &Slabs, own: &[SpreadBuffer], received: &mut SpreadBuffer) {
        let plane = self.plane;
        let of = |x: usize| x * plane..(x + 1) * plane;
        received.touched.fill(false);
        for (to, from) in partners(&slabs.ranks) {
            self.to_send.clear();
            let marks = &mut self.lent[to];
            marks.fill(0);
            for x in slabs.x(to) {
                let mut buffers = own.iter().filter(|buffer| buffer.touched[x]);
                let Some(first) = buffers.next() else { continue };
                marks[x] = 1;
                let start = self.to_send.len();
                self.to_send.extend_from_slice(&first.grid[of(x)]);
                buffers.for_each(|buffer| add(&mut self.to_send[start..], &buffer.grid[of(x)]));
            }
            slabs.ranks.exchange(to, marks, from, &mut self.wanted[from]);
            self.exchange_data(&slabs.ranks, [to, from], marked(&self.wanted[from]).count());
            for (x, charges) in marked(&self.wanted[from]).zip(self.received.chunks_exact(plane)) {
                let sum = &mut received.grid[of(x)];
                if received.touched[x] {
                    add(sum, charges)
                } else {
                    sum.copy_from_slice(charges)
                }
                received.touched[x] = true;
            }
        }
    }

    /// Sends the potential on the planes of this rank to the ranks that have charges on these planes. All ranks call
    /// this function together, after [`Self::send_charges`].
    pub(super) fn send_potential(&mut self, ranks: &Ranks, potential: &mut [Aligned16]) {
        let plane = self.plane;
        let of = |x: usize| x * plane..(x + 1) * plane;
        for (to, from) in partners(ranks) {
            self.to_send.clear();
            for x in marked(&self.wanted[to]) {
                self.to_send.extend_from_slice(&potential[of(x)]);
            }
            self.exchange_data(ranks, [to, from], marked(&self.lent[from]).count());
            for (x, received) in marked(&self.lent[from]).zip(self.received.chunks_exact(plane)) {
                potential[of(x)].copy_from_slice(received);
            }
        }
    }

    /// Sends the planes in `to_send` to one rank and receives `planes` planes from another rank.
    fn exchange_data(&mut self, ranks: &Ranks, [to, from]: [usize; 2], planes: usize) {
        self.received.resize(planes * self.plane, Aligned16::default());
        ranks.exchange(to, bytemuck::cast_slice(&self.to_send), from, bytemuck::cast_slice_mut(&mut self.received));
    }
}

/// Returns the pairs of a rank to send to and a rank to receive from, in an order in which the ranks meet.
fn partners(ranks: &Ranks) -> impl Iterator<Item = (usize, usize)> {
    let (rank, count) = (ranks.rank(), ranks.count());
    (1..count).map(move |step| ((rank + step) % count, (rank + count - step) % count))
}

/// Returns the numbers of the marked planes.
fn marked(marks: &[u8]) -> impl Iterator<Item = usize> {
    marks.iter().enumerate().filter(|(_, mark)| **mark == 1).map(|(x, _)| x)
}

fn add(to: &mut [Aligned16], from: &[Aligned16]) {
    mesh_grid::add(bytemuck::cast_slice_mut(to), bytemuck::cast_slice(from));
}
