//! Halo exchange in every step: positions of halo atoms are received from neighbouring ranks, and forces on halo atoms
//! are sent back. Each zone of the halo is one message, and all messages travel while the rank computes.

use crate::ranks::{Purpose, Ranks};
use crate::vec3::Vec3;

/// Zone of the halo: halo atoms that one neighbouring rank holds.
#[derive(Debug)]
pub(super) struct Zone {
    /// rank whose halo has atoms of this rank in the same zone
    pub(super) below: usize,
    /// home rank of the halo atoms
    pub(super) above: usize,
    /// local indices of the home atoms whose positions are sent
    pub(super) send: Vec<u32>,
    /// number of halo atoms whose positions are received
    pub(super) atoms: usize,
}

/// Zones of the halo, in the order of the halo atoms.
#[derive(Debug, Default)]
pub(super) struct Halo {
    pub(super) zones: Vec<Zone>,
    /// positions that are sent or forces that are received, zone by zone
    buffer: Vec<Vec3>,
}

impl Halo {
    /// Creates a halo of the given zones.
    pub(super) fn new(zones: Vec<Zone>) -> Self {
        Halo { zones, buffer: vec![] }
    }

    /// Receives the positions of the halo atoms in `halo` and sends positions of the home atoms `home`. Calls `work`
    /// while the messages travel. All ranks call this function together.
    pub(super) fn fetch(&mut self, ranks: &Ranks, home: &[Vec3], halo: &mut [Vec3], work: impl FnOnce()) {
        let Halo { zones, buffer } = self;
        buffer.clear();
        buffer.extend(zones.iter().flat_map(|zone| &zone.send).map(|&atom| home[atom as usize]));
        let below = zones.iter().map(|zone| (zone.below, zone.send.len()));
        let above = zones.iter().map(|zone| (zone.above, zone.atoms));
        ranks.for_purpose(Purpose::HaloPositions).exchange_during(buffer, below, halo, above, work);
    }

    /// Sends the forces on the halo atoms `halo` to their home ranks, and adds the forces that other ranks send to the
    /// forces on the home atoms `home`. Calls `work` with the forces on the home atoms while the messages travel. All
    /// ranks call this function together.
    pub(super) fn return_forces(
        &mut self,
        ranks: &Ranks,
        home: &mut [Vec3],
        halo: &[Vec3],
        work: impl FnOnce(&mut [Vec3]),
    ) {
        let Halo { zones, buffer } = self;
        buffer.resize(zones.iter().map(|zone| zone.send.len()).sum(), Vec3::ZERO);
        let above = zones.iter().map(|zone| (zone.above, zone.atoms));
        let below = zones.iter().map(|zone| (zone.below, zone.send.len()));
        ranks.for_purpose(Purpose::HaloForces).exchange_during(halo, above, buffer, below, || work(home));
        for (&atom, force) in zones.iter().flat_map(|zone| &zone.send).zip(buffer) {
            home[atom as usize] += *force;
        }
    }
}
