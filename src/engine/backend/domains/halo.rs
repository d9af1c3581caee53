//! Halo exchange in every step: positions of halo atoms are received from neighbouring ranks, and forces on halo atoms
//! are sent back.

use crate::ranks::{Purpose, Ranks};
use crate::vec3::Vec3;
use std::ops::Range;

/// Halo exchange along one direction.
#[derive(Debug)]
pub(super) struct Stage {
    /// rank on the lower side, to which positions are sent
    pub(super) below: usize,
    /// rank on the upper side, from which positions are received
    pub(super) above: usize,
    /// local indices of the atoms whose positions are sent
    pub(super) send: Vec<u32>,
    /// range of the local atoms whose positions are received
    pub(super) receive: Range<usize>,
}

/// Halo exchange along all divided directions, in the order in which positions are exchanged.
#[derive(Debug, Default)]
pub(super) struct Halo {
    pub(super) stages: Vec<Stage>,
}

impl Halo {
    /// Receives the positions of halo atoms and stores them behind the positions of the home atoms. All ranks call this
    /// function together.
    pub(super) fn fetch(&self, ranks: &Ranks, positions: &mut [Vec3], buffer: &mut Vec<Vec3>) {
        let ranks = ranks.for_purpose(Purpose::HaloPositions);
        for Stage { below, above, send, receive } in &self.stages {
            buffer.clear();
            buffer.extend(send.iter().map(|&atom| positions[atom as usize]));
            let received = bytemuck::cast_slice_mut(&mut positions[receive.clone()]);
            ranks.exchange(*below, bytemuck::cast_slice(buffer), *above, received);
        }
    }

    /// Sends the forces on halo atoms to their home ranks and adds the forces received to the forces on the home atoms.
    /// The directions are handled in the reverse order of the exchange of positions. All ranks call this function
    /// together.
    pub(super) fn return_forces(&self, ranks: &Ranks, forces: &mut [Vec3], buffer: &mut Vec<Vec3>) {
        let ranks = ranks.for_purpose(Purpose::HaloForces);
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
