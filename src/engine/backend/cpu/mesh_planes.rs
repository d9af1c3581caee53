//! Exchange of mesh planes among ranks. A rank spreads its charges on all planes near its atoms, but transforms only
//! the planes of its slab ([`super::slabs`]): charges on other planes are sent to the ranks that transform these
//! planes, and the potential on these planes is sent back. Ranks without common planes exchange no messages.

use super::mesh_grid::{self, Padded, SpreadBuffer};
use super::slabs::Slabs;
use crate::simd::{Aligned16, LANES};

/// Planes that this rank exchanges with the other ranks in an evaluation, and buffers.
pub(super) struct PlaneExchange {
    /// number of vectors in a plane
    plane: usize,
    /// marks of the planes of the mesh: 1 for a plane on which this rank has charges, otherwise 0
    own_marks: Vec<u8>,
    /// marks of all ranks, in rank order
    marks: Vec<u8>,
    to_send: Vec<Aligned16>,
    received: Vec<Aligned16>,
}

impl PlaneExchange {
    /// Prepares the exchange of the planes of a mesh among `ranks` ranks.
    pub(super) fn new(ranks: usize, padded: &Padded) -> Self {
        let planes = padded.size[0];
        PlaneExchange {
            plane: padded.plane / LANES,
            own_marks: vec![0; planes],
            marks: vec![0; planes * ranks],
            to_send: vec![],
            received: vec![],
        }
    }

    /// Sums the charges of this rank over the buffers `own`, and sends each plane of the sums to the rank that
    /// transforms the plane. The charges that other ranks send for the planes of this rank are summed in `received`.
    /// All ranks call this function together.
    pub(super) fn send_charges(&mut self, slabs: &Slabs, own: &[SpreadBuffer], received: &mut SpreadBuffer) {
        for (x, mark) in self.own_marks.iter_mut().enumerate() {
            *mark = u8::from(own.iter().any(|buffer| buffer.touched[x]));
        }
        slabs.ranks.gather_equal(&self.own_marks, &mut self.marks);
        received.touched.fill(false);
        for (to, from) in slabs.ranks.partners() {
            self.to_send.clear();
            for x in self.common(slabs, slabs.ranks.rank(), to) {
                let (start, of) = (self.to_send.len(), self.of(x));
                let mut charges = own.iter().filter(|buffer| buffer.touched[x]).map(|buffer| &buffer.grid[of.clone()]);
                self.to_send.extend_from_slice(charges.next().expect("a marked plane has charges"));
                charges.for_each(|charges| add(&mut self.to_send[start..], charges));
            }
            let planes = self.common(slabs, from, slabs.ranks.rank());
            self.exchange(slabs, [to, from], planes.len());
            for (x, charges) in planes.into_iter().zip(self.received.chunks_exact(self.plane)) {
                let sum = &mut received.grid[self.of(x)];
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
    pub(super) fn send_potential(&mut self, slabs: &Slabs, potential: &mut [Aligned16]) {
        for (to, from) in slabs.ranks.partners() {
            self.to_send.clear();
            for x in self.common(slabs, to, slabs.ranks.rank()) {
                self.to_send.extend_from_slice(&potential[self.of(x)]);
            }
            let planes = self.common(slabs, slabs.ranks.rank(), from);
            self.exchange(slabs, [to, from], planes.len());
            for (x, received) in planes.into_iter().zip(self.received.chunks_exact(self.plane)) {
                potential[self.of(x)].copy_from_slice(received);
            }
        }
    }

    /// Returns the range of the vectors of plane x.
    fn of(&self, x: usize) -> std::ops::Range<usize> {
        x * self.plane..(x + 1) * self.plane
    }

    /// Returns the planes of the slab of rank `slab` on which rank `charges` has charges.
    fn common(&self, slabs: &Slabs, charges: usize, slab: usize) -> Vec<usize> {
        let marks = &self.marks[charges * self.own_marks.len()..][..self.own_marks.len()];
        slabs.x(slab).filter(|&x| marks[x] == 1).collect()
    }

    /// Sends the planes in `to_send` to rank `to`, and receives `planes` planes from rank `from`.
    fn exchange(&mut self, slabs: &Slabs, [to, from]: [usize; 2], planes: usize) {
        self.received.resize(planes * self.plane, Aligned16::default());
        let received = bytemuck::cast_slice_mut(&mut self.received);
        slabs.ranks.exchange(to, bytemuck::cast_slice(&self.to_send), from, received);
    }
}

fn add(to: &mut [Aligned16], from: &[Aligned16]) {
    mesh_grid::add(bytemuck::cast_slice_mut(to), bytemuck::cast_slice(from));
}
