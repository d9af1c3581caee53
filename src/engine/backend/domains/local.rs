//! Local atoms of a rank: home atoms, which are in its domain, and halo atoms, which are home atoms of neighbouring
//! ranks.
//!
//! Atoms connected by constraints, and the atoms from which a virtual site is constructed with this site, form one
//! group ([`crate::system::System::rank_groups`]). The home of a group is the domain that contains the center of the
//! group.

use super::division::Division;
use super::halo::{Halo, Stage};
use crate::cell::PeriodicCell;
use crate::pair::Region;
use crate::ranks::Ranks;
use crate::system::CompactSystem;
use crate::vec3::Vec3;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Local atoms: home atoms, group by group in the order of the topology, then the halo atoms of each zone.
#[derive(Debug, Default)]
pub(super) struct Local {
    /// topology indices of the home groups
    pub(super) groups: Vec<u32>,
    /// topology indices of the local atoms
    pub(super) atoms: Vec<u32>,
    pub(super) region: Region,
}

/// Rank groups that migrate from one rank to another rank.
#[derive(Default, Serialize, Deserialize)]
struct Migrants {
    groups: Vec<u32>,
    positions: Vec<Vec3>,
    /// vectors of the migrating atoms in each additional array; empty if the array has no vectors
    others: Vec<Vec<Vec3>>,
}

/// Rank groups of this rank that another rank needs in its halo.
#[derive(Serialize, Deserialize)]
struct HaloGroups {
    /// number of groups in each zone
    counts: Vec<u32>,
    groups: Vec<u32>,
    /// lattice images of the groups along the divided directions
    images: Vec<[i32; 3]>,
    positions: Vec<Vec3>,
}

/// Returns the mean position of the atoms of a group.
pub(super) fn center(positions: impl Iterator<Item = Vec3> + Clone) -> Vec3 {
    positions.clone().sum::<Vec3>() / positions.count().max(1) as f64
}

/// Returns the largest distance (nm) between the center of a group and one of its atoms.
pub(super) fn group_radius(positions: impl Iterator<Item = Vec3> + Clone) -> f64 {
    let center = center(positions.clone());
    positions.map(|r| (r - center).norm_squared()).fold(0.0, f64::max).sqrt()
}

/// Data from which local atoms are chosen: ranks, cell, division and groups.
#[derive(Clone, Copy)]
pub(super) struct DivisionContext<'a> {
    pub(super) ranks: &'a Ranks,
    pub(super) division: &'a Division,
    pub(super) cell: &'a PeriodicCell,
    /// whole system, for its rank groups
    pub(super) system: &'a CompactSystem,
}

impl DivisionContext<'_> {
    /// Returns the home groups of each rank. `positions` are the positions of all atoms.
    pub(super) fn homes(&self, positions: &[Vec3]) -> Vec<Vec<u32>> {
        let mut homes = vec![vec![]; self.ranks.count()];
        for group in 0..self.system.groups() as u32 {
            let center = center(self.system.group(group).map(|atom| positions[atom as usize]));
            homes[self.division.home_of(self.cell.to_fractional(center)).0].push(group);
        }
        homes
    }

    /// Returns, for each of `groups`, the group and the range of its atoms in arrays that hold the groups one after
    /// another.
    fn ranges<'a>(&'a self, groups: &'a [u32]) -> impl Iterator<Item = (u32, Range<usize>)> + 'a {
        let mut end = 0;
        groups.iter().map(move |&group| {
            let start = end;
            end += self.system.group(group).len();
            (group, start..end)
        })
    }

    /// Sends groups to their new home ranks, with their positions and with their vectors in the arrays `others`, each
    /// of which may be empty. All ranks call this function together.
    pub(super) fn migrate(&self, groups: &mut Vec<u32>, positions: &mut Vec<Vec3>, others: &mut [&mut Vec<Vec3>]) {
        let mut leaving: Vec<Option<Migrants>> = (0..self.ranks.count()).map(|_| None).collect();
        for (group, range) in self.ranges(groups) {
            let (rank, _) =
                self.division.home_of(self.cell.to_fractional(center(positions[range.clone()].iter().copied())));
            let nobody = || Migrants { others: vec![vec![]; others.len()], ..Migrants::default() };
            let to = leaving[rank].get_or_insert_with(nobody);
            to.groups.push(group);
            to.positions.extend_from_slice(&positions[range.clone()]);
            for (to, array) in to.others.iter_mut().zip(&*others) {
                to.extend_from_slice(array.get(range.clone()).unwrap_or(&[]));
            }
        }
        let arrived: Vec<Migrants> = self.ranks.exchange_some(leaving).into_iter().flatten().collect();
        let mut sorted: Vec<(u32, usize, Range<usize>)> = arrived
            .iter()
            .enumerate()
            .flat_map(|(from, migrants)| self.ranges(&migrants.groups).map(move |(group, at)| (group, from, at)))
            .collect();
        sorted.sort_unstable_by_key(|(group, ..)| *group);
        groups.clear();
        positions.clear();
        others.iter_mut().for_each(|array| array.clear());
        for (group, from, range) in sorted {
            groups.push(group);
            positions.extend_from_slice(&arrived[from].positions[range.clone()]);
            for (array, arrived) in others.iter_mut().zip(&arrived[from].others) {
                array.extend_from_slice(arrived.get(range.clone()).unwrap_or(&[]));
            }
        }
    }

    /// Returns the largest distance (nm) of an atom from the center of its group, over the groups of this rank.
    pub(super) fn group_radius(&self, groups: &[u32], positions: &[Vec3]) -> f64 {
        let of = |range: Range<usize>| group_radius(positions[range].iter().copied());
        self.ranges(groups).map(|(_, range)| of(range)).fold(0.0, f64::max)
    }

    /// Adds the halo groups to the home groups `home`, and adds the positions of the halo groups to `positions`. Halo
    /// groups are less than `reach` (nm) beyond the upper faces of the domain. All ranks call this function together.
    /// Directions are handled one after another; groups that are received along one direction are passed on along the
    /// next direction.
    pub(super) fn add_halo(&self, home: Vec<u32>, reach: f64, positions: &mut Vec<Vec3>) -> (Local, Halo) {
        let (rank, faces) = (self.ranks.rank(), self.cell.face_distances());
        let divided = self.division.divided();
        let [low, ends] = self.division.ends(rank);
        let mut region = Region { low, high: ends, divided, ..Region::default() };
        let mut groups = home;
        let fractional = |range: &Range<usize>, positions: &[Vec3]| {
            self.cell.to_fractional(center(positions[range.clone()].iter().copied()))
        };
        let mut images: Vec<[i32; 3]> =
            self.ranges(&groups).map(|(_, range)| self.division.home_of(fractional(&range, positions)).1).collect();
        // number of groups in all zones up to and including each zone
        let mut zones = vec![groups.len()];
        let mut stages = vec![];
        for direction in (0..3).filter(|&k| divided[k]) {
            let thickness = reach / faces[direction];
            region.high[direction] = ends[direction] + thickness;
            let [below, above] = self.division.neighbours(rank, direction);
            // groups within `thickness` of the lower face of this domain belong to the halo of the rank below; if the
            // cell boundary lies between the two domains, the rank below needs the next image of these groups
            let shift = i32::from(self.division.coordinates(rank)[direction] == 0);
            let mut loan =
                HaloGroups { counts: vec![0; zones.len()], groups: vec![], images: vec![], positions: vec![] };
            let mut send: Vec<u32> = vec![];
            for (index, (group, range)) in self.ranges(&groups).enumerate() {
                let s = fractional(&range, positions).to_array()[direction] - f64::from(images[index][direction]);
                if s >= low[direction] + thickness {
                    continue;
                }
                let mut image = images[index];
                image[direction] -= shift;
                loan.counts[zones.partition_point(|&end| end <= index)] += 1;
                loan.groups.push(group);
                loan.images.push(image);
                loan.positions.extend_from_slice(&positions[range.clone()]);
                send.extend(range.map(|atom| atom as u32));
            }
            let received = self.ranks.exchange_any(below, &loan, above);
            for count in &received.counts {
                zones.push(zones.last().expect("zone 0") + *count as usize);
            }
            groups.extend(received.groups);
            images.extend(received.images);
            let first = positions.len();
            positions.extend(received.positions);
            stages.push(Stage { below, above, send, receive: first..positions.len() });
        }
        self.set_zones(&mut region, &groups, &images, &zones, positions);
        let atoms = groups.iter().flat_map(|&group| self.system.group(group)).collect();
        groups.truncate(zones[0]);
        (Local { groups, atoms, region }, Halo { stages })
    }

    /// Stores the lattice images and zones of the local atoms.
    fn set_zones(&self, region: &mut Region, groups: &[u32], images: &[[i32; 3]], zones: &[usize], positions: &[Vec3]) {
        region.zone_starts.push(0);
        let mut end = 0;
        for (index, (_, range)) in self.ranges(groups).enumerate() {
            while zones[region.zone_starts.len() - 1] <= index {
                region.zone_starts.push(range.start as u32);
            }
            for r in &positions[range.clone()] {
                let s = self.cell.to_fractional(*r).map(f64::floor).to_array();
                let image = std::array::from_fn(|k| if region.divided[k] { images[index][k] } else { s[k] as i32 });
                region.images.push(image);
            }
            end = range.end;
        }
        region.zone_starts.resize(zones.len() + 1, end as u32);
    }
}

#[cfg(test)]
mod tests;
