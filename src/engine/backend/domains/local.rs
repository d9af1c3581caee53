//! Local atoms of a rank: home atoms, which are in its domain, and halo atoms, which are home atoms of neighbouring
//! ranks.
//!
//! Atoms connected by constraints, and the atoms from which a virtual site is constructed with this site, form one
//! group ([`crate::system::System::rank_groups`]). The home of a group is the domain that contains the center of the
//! group.

use super::division::Division;
use super::halo::{Halo, Zone};
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
#[derive(Default, Serialize, Deserialize)]
struct HaloGroups {
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

/// Returns all combinations of one or more divided directions, as marks of the directions. The number of a combination,
/// counted from one, has a bit for each divided direction.
fn combinations(divided: [bool; 3]) -> impl Iterator<Item = [bool; 3]> {
    let directions: Vec<usize> = (0..3).filter(|&k| divided[k]).collect();
    (1..1 << directions.len()).map(move |number: usize| {
        let mut marks = [false; 3];
        directions.iter().enumerate().for_each(|(bit, &k)| marks[k] = number >> bit & 1 == 1);
        marks
    })
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
    /// groups are less than `reach` (nm) beyond the upper faces of the domain. The halo has a zone for each combination
    /// of divided directions: the groups in a zone are beyond the upper faces along these directions, and are home
    /// groups of one neighbouring rank. All ranks call this function together.
    pub(super) fn add_halo(&self, home: Vec<u32>, reach: f64, positions: &mut Vec<Vec3>) -> (Local, Halo) {
        let (rank, divided) = (self.ranks.rank(), self.division.divided());
        let [low, ends] = self.division.ends(rank);
        let coordinates = self.division.coordinates(rank);
        let thickness = self.cell.face_distances().map(|distance| reach / distance);
        let high = std::array::from_fn(|k| if divided[k] { ends[k] + thickness[k] } else { ends[k] });
        let mut region = Region { low, high, divided, ..Region::default() };
        // lattice image of each home group, and the fractional coordinates of its center in this image
        let place = |(_, range): (u32, Range<usize>)| {
            let center = self.cell.to_fractional(center(positions[range].iter().copied()));
            let (_, image) = self.division.home_of(center);
            let s = center.to_array();
            (image, [0, 1, 2].map(|k| s[k] - f64::from(image[k])))
        };
        let places: Vec<([i32; 3], [f64; 3])> = self.ranges(&home).map(place).collect();
        let mut groups = home.clone();
        let mut images: Vec<[i32; 3]> = places.iter().map(|(image, _)| *image).collect();
        // number of groups in all zones up to and including each zone
        let mut ends_of_zones = vec![groups.len()];
        let mut zones = vec![];
        for beyond in combinations(divided) {
            let [below, above] = self.division.neighbours(rank, beyond);
            // groups near the lower faces of this domain belong to the halo of the rank below; if a boundary of the
            // cell lies between the two domains, the rank below needs the next image of these groups
            let shift = [0, 1, 2].map(|k| i32::from(beyond[k] && coordinates[k] == 0));
            let mut loan = HaloGroups::default();
            let mut send: Vec<u32> = vec![];
            for ((group, range), (image, s)) in self.ranges(&home).zip(&places) {
                if (0..3).all(|k| !beyond[k] || s[k] < low[k] + thickness[k]) {
                    loan.groups.push(group);
                    loan.images.push([0, 1, 2].map(|k| image[k] - shift[k]));
                    loan.positions.extend_from_slice(&positions[range.clone()]);
                    send.extend(range.map(|atom| atom as u32));
                }
            }
            let received = self.ranks.exchange_any(below, &loan, above);
            groups.extend(received.groups);
            images.extend(received.images);
            ends_of_zones.push(groups.len());
            zones.push(Zone { below, above, send, atoms: received.positions.len() });
            positions.extend(received.positions);
        }
        self.set_zones(&mut region, &groups, &images, &ends_of_zones, positions);
        let atoms = groups.iter().flat_map(|&group| self.system.group(group)).collect();
        (Local { groups: home, atoms, region }, Halo::new(zones))
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
