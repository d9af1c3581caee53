//! Halo exchange in every step: positions of neighbouring ranks' atoms, and the return of forces on them.

use crate::ranks::Ranks;
use crate::vec3::Vec3;
use std::ops::Range;

/// Halo exchange along one direction.
#[derive(Debug)]
pub(super) struct Stage {
    /// rank on the lower side, to which positions are sent
    pub(super) below: usize,
    /// rank on the upper side, from which positions are received
    pub(super) above: usize,
    /// indices of the atoms that are sent
    pub(super) send: Vec<u32>,
    /// range of the atoms that are received
    pub(super) receive: Range<usize>,
}

/// Halo exchange along all divided directions, in the order of the exchange of positions.
#[derive(Debug, Default)]
pub(super) struct Halo {
    pub(super) stages: Vec<Stage>,
}

impl Halo {
    /// Receives the positions of halo atoms behind those of the home atoms. Collective.
    pub(super) fn fetch(&self, ranks: &Ranks, positions: &mut [Vec3], buffer: &mut Vec<Vec3>) {
        for Stage { below, above, send, receive } in &self.stages {
            buffer.clear();
            buffer.extend(send.iter().map(|&atom| positions[atom as usize]));
            let received = bytemuck::cast_slice_mut(&mut positions[receive.clone()]);
            ranks.exchange(*below, bytemuck::cast_slice(buffer), *above, received);
        }
    }

    /// Sends forces on halo atoms back and adds the received ones to the home atoms, in reverse order of directions.
    /// Collective.
    pub(super) fn return_forces(&self, ranks: &Ranks, forces: &mut [Vec3], buffer: &mut Vec<Vec3>) {
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
