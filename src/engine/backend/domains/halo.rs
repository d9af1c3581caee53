//! What a rank needs of its neighbours in every step: the positions of their atoms, and the return of forces on these.

use crate::ranks::Ranks;
use crate::vec3::Vec3;
use std::ops::Range;

/// One direction.
#[derive(Debug)]
pub(super) struct Stage {
    /// rank that is sent to, on the lower side
    pub(super) below: usize,
    /// rank that sends here
    pub(super) above: usize,
    /// atoms that are sent
    pub(super) send: Vec<u32>,
    /// atoms that are received
    pub(super) receive: Range<usize>,
}

/// All directions, in the order in which positions go.
#[derive(Debug, Default)]
pub(super) struct Halo {
    pub(super) stages: Vec<Stage>,
}

impl Halo {
    /// Brings the positions of the other ranks' atoms behind those of the atoms at home; collective.
    pub(super) fn fetch(&self, ranks: &Ranks, positions: &mut [Vec3], buffer: &mut Vec<Vec3>) {
        for Stage { below, above, send, receive } in &self.stages {
            buffer.clear();
            buffer.extend(send.iter().map(|&atom| positions[atom as usize]));
            let received = bytemuck::cast_slice_mut(&mut positions[receive.clone()]);
            ranks.exchange(*below, bytemuck::cast_slice(buffer), *above, received);
        }
    }

    /// Adds the forces on those atoms that other ranks have computed to the forces at home, the other way; collective.
    pub(super) fn give_back(&self, ranks: &Ranks, forces: &mut [Vec3], buffer: &mut Vec<Vec3>) {
        for Stage { below, above, send, receive } in self.stages.iter().rev() {
            buffer.clear();
            buffer.resize(send.len(), Vec3::ZERO);
            let own = bytemuck::cast_slice(&forces[receive.clone()]);
            ranks.exchange(*above, own, *below, bytemuck::cast_slice_mut(buffer));
            for (&atom, force) in send.iter().zip(&*buffer) {
                forces[atom as usize] += *force;
            }
        }
    }
}
