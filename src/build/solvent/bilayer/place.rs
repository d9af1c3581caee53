//! Placement of a bilayer patch around a solute: the shift and rotation at which the fewest lipids are removed.
//!
//! A lipid is removed if it clashes with the solute. A lipid is also removed if more atoms of the lipid are in enclosed
//! regions of the cross-sections (pores) than in open regions. Lipids that clash return in another conformation if one
//! fits ([`super::refit`]). Finally, lipids are removed from the leaflet with the larger total area of lipids and
//! solute, until the total areas of the two leaflets differ by at most half the area of a lipid. The lipids nearest to
//! the solute are removed first.

use md_engine::cell::PeriodicCell;
use md_engine::neighbours::Neighbours;
use md_engine::vec3::{Vec3, vec3};

use super::super::extent::bounds;
use super::patch::Patch;
use super::section::{Place, Sections};
use super::voxels::Voxels;

/// Smallest distance (nm) between heavy atoms of a lipid and of the solute. If the heavy atoms of lipid and solute are
/// at least this far apart, no lipid chain can pass through a ring. If a bond of 0.154 nm passes through the center of
/// a benzene ring (radius 0.14 nm), the atoms of the bond are at most √(0.14² + 0.077²) = 0.16 nm from the atoms of the
/// ring.
pub(super) const HEAVY_APART: f64 = 0.2;
/// Smallest distance (nm) between any atoms of a lipid and of the solute. An energy minimisation can separate atoms
/// that are at least this far apart.
pub(super) const ATOMS_APART: f64 = 0.1;
/// Edge (nm) of the voxels that tell whether a position may be too close to the solute.
const VOXEL: f64 = 0.05;
/// Number of shifts of the patch that are tried along each edge. Each shift is tried with and without a rotation by
/// 180° about the normal.
const SHIFTS: usize = 8;
/// Initial range (nm) of the search for solute atoms near a lipid. The range is doubled until an atom is found.
const FIRST_RANGE: f64 = 0.5;

/// Atoms that exclude atoms of a lipid.
pub(super) struct Crowd {
    heavy: Neighbours,
    all: Neighbours,
}

impl Crowd {
    /// Sorts the positions (nm) of heavy atoms, and the positions of all atoms.
    pub(super) fn new(cell: &PeriodicCell, heavy: &[Vec3], all: &[Vec3]) -> Self {
        Self {
            heavy: Neighbours::new(Some(cell), heavy, HEAVY_APART),
            all: Neighbours::new(Some(cell), all, ATOMS_APART),
        }
    }

    /// Whether an atom of a lipid is too close to an atom of the crowd.
    pub(super) fn excludes(&self, site: Vec3, is_heavy: bool) -> bool {
        is_heavy && self.heavy.any_within(site, HEAVY_APART, |_, _| true)
            || self.all.any_within(site, ATOMS_APART, |_, _| true)
    }
}

/// Atoms and cross-sections of the solute, which exclude lipids.
pub(super) struct Obstacles {
    cell: PeriodicCell,
    /// positions in the cell that may be too close to an atom of the solute
    near: Voxels,
    pub(super) crowd: Crowd,
    /// positions of the heavy atoms, nm
    pub(super) heavy: Vec<Vec3>,
    pub(super) sections: Sections,
}

impl Obstacles {
    /// Makes obstacles from the positions (nm) of the heavy atoms, the positions of all atoms, and the cross-sections
    /// of the solute.
    pub(super) fn new(cell: &PeriodicCell, heavy: &[Vec3], all: &[Vec3], sections: Sections) -> Self {
        let [low, high] = bounds(all).unwrap_or_default();
        let mut near = Voxels::new(low - Vec3::splat(HEAVY_APART), high + Vec3::splat(HEAVY_APART), VOXEL);
        heavy.iter().for_each(|&site| near.mark(site, HEAVY_APART));
        all.iter().for_each(|&site| near.mark(site, ATOMS_APART));
        Self { cell: *cell, near, crowd: Crowd::new(cell, heavy, all), heavy: heavy.to_vec(), sections }
    }

    /// Returns the reason why a lipid must be removed; `None` if the lipid can stay.
    fn reason(&self, lipid: &[Vec3], is_heavy: &[bool]) -> Option<Removed> {
        let wrapped: Vec<Vec3> = lipid.iter().map(|&site| self.cell.wrap(site).0).collect();
        let mut near = wrapped.iter().zip(is_heavy).filter(|(site, _)| self.near.contains(**site));
        if near.any(|(&site, &is_heavy)| self.crowd.excludes(site, is_heavy)) {
            return Some(Removed::Clash);
        }
        self.is_in_pore(&wrapped).then_some(Removed::Pore)
    }

    /// Whether more atoms of a lipid are in pores than in open regions. The positions (nm) are in the cell.
    pub(super) fn is_in_pore(&self, lipid: &[Vec3]) -> bool {
        let count = |kind| lipid.iter().filter(|site| self.sections.place(**site) == kind).count();
        count(Place::Enclosed) > count(Place::Open)
    }

    /// Distance (nm) between the heavy atoms of a lipid and the nearest heavy atom of the solute. The search extends at
    /// least to `limit` (nm); the result is infinite if no atom is found.
    fn distance(&self, lipid: &[Vec3], is_heavy: &[bool], limit: f64) -> f64 {
        let mut range = FIRST_RANGE;
        loop {
            let mut nearest = f64::INFINITY;
            for (&site, _) in lipid.iter().zip(is_heavy).filter(|(_, is_heavy)| **is_heavy) {
                self.crowd.heavy.any_within(site, range, |_, displacement| {
                    nearest = nearest.min(displacement.norm_squared());
                    false
                });
            }
            if nearest.is_finite() || range > limit {
                return nearest.sqrt();
            }
            range *= 2.0;
        }
    }
}

/// Reason why a lipid is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removed {
    /// the lipid clashes with the solute
    Clash,
    /// the lipid is in a pore of the solute
    Pore,
    /// the solute occupies more area in the other leaflet
    Balance,
}

/// Copies of a patch that form a bilayer without the solute.
pub(super) struct Lattice<'a> {
    pub(super) cell: &'a PeriodicCell,
    pub(super) patch: &'a Patch,
    /// numbers of copies of the patch along x and y
    pub(super) copies: [usize; 2],
    /// height of the middle of the bilayer in the cell, nm
    pub(super) middle: f64,
}

/// A bilayer around the solute: all lipids, including removed lipids with the reason for the removal.
pub(super) struct Layout {
    pub(super) lipids: Vec<Vec<Vec3>>,
    pub(super) is_upper: Vec<bool>,
    pub(super) removed: Vec<Option<Removed>>,
    /// numbers of lipids in the upper and in the lower leaflet that were refitted ([`super::refit`])
    pub(super) refitted: [usize; 2],
}

impl Layout {
    /// Number of lipids that are not removed from a leaflet.
    pub(super) fn left(&self, upper: bool) -> usize {
        let kept = self.is_upper.iter().zip(&self.removed);
        kept.filter(|(is_upper, removed)| **is_upper == upper && removed.is_none()).count()
    }

    /// Number of lipids of a leaflet that are removed for a reason.
    pub(super) fn count(&self, upper: bool, reason: Removed) -> usize {
        let all = self.is_upper.iter().zip(&self.removed);
        all.filter(|(is_upper, removed)| **is_upper == upper && **removed == Some(reason)).count()
    }

    fn total(&self) -> usize {
        self.removed.iter().flatten().count()
    }

    /// Number of lipids to remove from the upper leaflet, so that the upper leaflet has `excess` lipids more than the
    /// lower leaflet. A negative number means removal from the lower leaflet.
    fn surplus(&self, excess: i64) -> i64 {
        self.left(true) as i64 - self.left(false) as i64 - excess
    }
}

impl Lattice<'_> {
    /// Returns the lipids of all copies of the patch, and whether each lipid is in the upper leaflet. The copies are
    /// shifted by fractions of the edges of the patch. If `turned`, the patch is rotated by 180° about the normal.
    fn lipids(&self, shift: [f64; 2], turned: bool) -> (Vec<Vec<Vec3>>, Vec<bool>) {
        let sign = if turned { -1.0 } else { 1.0 };
        let [a, b] = self.patch.edges;
        let (mut lipids, mut is_upper) = (vec![], vec![]);
        for i in 0..self.copies[0] {
            for j in 0..self.copies[1] {
                let corner = vec3((i as f64 + shift[0]) * a, (j as f64 + shift[1]) * b, self.middle);
                let moved = |site: &Vec3| vec3(sign * site.x, sign * site.y, site.z) + corner;
                let copied = self.patch.lipids.iter().map(|lipid| self.whole(lipid.iter().map(moved).collect()));
                lipids.extend(copied);
                is_upper.extend(self.patch.is_upper());
            }
        }
        (lipids, is_upper)
    }

    /// Translates a lipid by lattice vectors so that its first atom is in the cell.
    pub(super) fn whole(&self, mut lipid: Vec<Vec3>) -> Vec<Vec3> {
        let shift = lipid.first().map_or(Vec3::ZERO, |&first| self.cell.wrap(first).0 - first);
        lipid.iter_mut().for_each(|site| *site += shift);
        lipid
    }

    /// Finds the shift and rotation at which the fewest lipids are removed. If several shifts and rotations are equally
    /// good, the function uses the first of these layouts. `room` is the number of lipids, with fractions, for which
    /// the solute leaves area in the upper and in the lower leaflet. The difference of both numbers is the number by
    /// which the upper leaflet exceeds the lower leaflet.
    pub(super) fn best(&self, obstacles: &Obstacles, room: [f64; 2]) -> Layout {
        let excess = (room[0] - room[1]).round() as i64;
        let fraction = |index: usize| index as f64 / SHIFTS as f64;
        let removed = |layout: &Layout| layout.total() as u64 + layout.surplus(excess).unsigned_abs();
        let mut best = self.layout(obstacles, [0.0; 2], false);
        for index in 1..2 * SHIFTS * SHIFTS {
            let shift = [fraction(index / 2 % SHIFTS), fraction(index / 2 / SHIFTS)];
            let next = self.layout(obstacles, shift, index % 2 == 1);
            if removed(&next) < removed(&best) {
                best = next;
            }
        }
        self.refit(&mut best, obstacles, room);
        self.balance(&mut best, obstacles, excess);
        best
    }

    fn layout(&self, obstacles: &Obstacles, shift: [f64; 2], turned: bool) -> Layout {
        let is_heavy = self.patch.heavy();
        let (lipids, is_upper) = self.lipids(shift, turned);
        let removed = lipids.iter().map(|lipid| obstacles.reason(lipid, &is_heavy)).collect();
        Layout { lipids, is_upper, removed, refitted: [0; 2] }
    }

    /// Removes lipids from the leaflet with too many lipids, beginning with the lipids nearest to the solute.
    fn balance(&self, layout: &mut Layout, obstacles: &Obstacles, excess: i64) {
        let surplus = layout.surplus(excess);
        if surplus == 0 {
            return;
        }
        let is_heavy = self.patch.heavy();
        let limit = self.cell.face_distances().into_iter().sum();
        let candidates = (0..layout.lipids.len()).filter(|&index| layout.is_upper[index] == (surplus > 0));
        let candidates = candidates.filter(|&index| layout.removed[index].is_none());
        let mut nearest: Vec<(f64, usize)> =
            candidates.map(|index| (obstacles.distance(&layout.lipids[index], &is_heavy, limit), index)).collect();
        nearest.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (_, index) in nearest.into_iter().take(surplus.unsigned_abs() as usize) {
            layout.removed[index] = Some(Removed::Balance);
        }
    }
}
