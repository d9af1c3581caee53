//! New conformations for lipids that clash with the solute.
//!
//! A lipid that clashes with the solute is removed as a whole, although a part of its area often lies beside the
//! solute. A large solute would therefore be surrounded by gaps. A gap is filled if another conformation of the
//! lipid fits near the place of the removed lipid. The conformations are those of all lipids of the patch, turned
//! about the normal of the bilayer. Conformations of the opposite leaflet are turned upside down. All
//! conformations keep their heights.

use std::f64::consts::TAU;

use md_engine::arrays::from_fn;
use md_engine::vec3::{Vec3, vec3};

use super::place::{ATOMS_APART, Crowd, HEAVY_APART, Lattice, Layout, Obstacles, Removed};
use super::voxels::Voxels;

/// Number of rotations about the normal that are tried for each conformation.
const ROTATIONS: usize = 24;
/// Distance (nm) between adjacent places that are tried, a quarter of the thickness of a hydrocarbon chain.
const SPACING: f64 = 0.1;
/// Largest distance (nm) of a lipid from the place of the removed lipid. Lipids are about 0.8 nm apart, so that the
/// places around two adjacent removed lipids overlap.
const FARTHEST: f64 = 0.5;
/// Edge (nm) of the voxels that rule out nearly all conformations before distances are computed. A heavy atom may be
/// ruled out although its distance from another heavy atom is larger than [`HEAVY_APART`], by up to the diagonal.
const VOXEL: f64 = 0.04;

impl Lattice<'_> {
    /// Gives lipids that clash with the solute another conformation, if one fits between the solute and the other
    /// lipids, until a leaflet has as many lipids as it has room for. `room` is the number of lipids, with fractions,
    /// for which the solute leaves area in the upper and in the lower leaflet.
    pub(super) fn refit(&self, layout: &mut Layout, obstacles: &Obstacles, room: [f64; 2]) {
        let clashing: Vec<usize> =
            (0..layout.lipids.len()).filter(|&index| layout.removed[index] == Some(Removed::Clash)).collect();
        let conformations = [true, false].map(|upper| self.conformations(upper));
        for index in clashing {
            let upper = layout.is_upper[index];
            let leaflet = usize::from(!upper);
            if layout.left(upper) as f64 + 0.5 > room[leaflet] {
                continue;
            }
            if let Some(lipid) = self.other_conformation(layout, obstacles, index, &conformations[leaflet]) {
                layout.lipids[index] = lipid;
                layout.removed[index] = None;
                layout.refitted[leaflet] += 1;
            }
        }
    }

    /// Returns the positions (nm) of a lipid in another conformation near its place; `None` if none of the
    /// `conformations` fits.
    fn other_conformation(
        &self,
        layout: &Layout,
        obstacles: &Obstacles,
        index: usize,
        conformations: &[Vec<Vec3>],
    ) -> Option<Vec<Vec3>> {
        let is_heavy = self.patch.heavy();
        let axis = center(&layout.lipids[index]);
        let place = vec3(axis.x, axis.y, self.middle);
        let reach = FARTHEST + conformations.iter().flatten().map(|site| site.x.hypot(site.y)).fold(0.0, f64::max);
        let heights = conformations.iter().flatten().map(|site| site.z);
        let heights = heights.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], z| [low.min(z), high.max(z)]);
        let (heavy, all) = self.atoms_near(layout, &is_heavy, place, reach);
        let others = Crowd::new(self.cell, &heavy, &all);
        let mut blocked = Voxels::new(vec3(-reach, -reach, heights[0]), vec3(reach, reach, heights[1]), VOXEL);
        for &site in obstacles.heavy.iter().chain(&heavy) {
            blocked.mark(self.cell.minimum_image(site - place), HEAVY_APART);
        }
        let turns: [_; ROTATIONS] = from_fn(|turn| (TAU * turn as f64 / ROTATIONS as f64).sin_cos());
        for [x, y] in places() {
            let axis = place + vec3(x, y, 0.0);
            if obstacles.sections.is_pore(self.cell.wrap(axis).0) {
                continue;
            }
            for conformation in conformations {
                for (sin, cos) in turns {
                    let turned = |p: &Vec3| vec3(cos * p.x - sin * p.y + x, sin * p.x + cos * p.y + y, p.z);
                    let mut sites = conformation.iter().zip(&is_heavy);
                    if sites.any(|(site, is_heavy)| *is_heavy && blocked.contains(turned(site))) {
                        continue;
                    }
                    let lipid: Vec<Vec3> =
                        conformation.iter().map(|site| self.cell.wrap(turned(site) + place).0).collect();
                    let excluded = |(&site, &is_heavy): (&Vec3, &bool)| {
                        obstacles.crowd.excludes(site, is_heavy) || others.excludes(site, is_heavy)
                    };
                    if !obstacles.is_in_pore(&lipid) && !lipid.iter().zip(&is_heavy).any(excluded) {
                        return Some(self.whole(conformation.iter().map(|site| turned(site) + place).collect()));
                    }
                }
            }
        }
        None
    }

    /// Returns the conformations (nm) of all lipids of the patch for a leaflet. The mean position of each has
    /// x = y = 0, and the middle of the bilayer has z = 0.
    fn conformations(&self, upper: bool) -> Vec<Vec<Vec3>> {
        let conformation = |(lipid, is_upper): (&Vec<Vec3>, bool)| {
            let axis = center(lipid);
            // turning by 180° about x changes the leaflet, and keeps the chirality
            let sign = if is_upper == upper { 1.0 } else { -1.0 };
            lipid.iter().map(|site| vec3(site.x - axis.x, sign * (site.y - axis.y), sign * site.z)).collect()
        };
        self.patch.lipids.iter().zip(self.patch.is_upper()).map(conformation).collect()
    }

    /// Returns the positions (nm) of the heavy atoms and of all atoms of the remaining lipids of both leaflets whose
    /// distance from the normal through `place` is at most `reach` (nm) plus the distances of clashes.
    fn atoms_near(&self, layout: &Layout, is_heavy: &[bool], place: Vec3, reach: f64) -> (Vec<Vec3>, Vec<Vec3>) {
        let remaining = layout.lipids.iter().zip(&layout.removed).filter(|(_, removed)| removed.is_none());
        let (mut heavy, mut all) = (vec![], vec![]);
        for (&site, &is_heavy) in remaining.flat_map(|(lipid, _)| lipid.iter().zip(is_heavy)) {
            let d = self.cell.minimum_image(site - place);
            if d.x.hypot(d.y) <= reach + HEAVY_APART.max(ATOMS_APART) {
                all.push(site);
                heavy.extend(is_heavy.then_some(site));
            }
        }
        (heavy, all)
    }
}

/// Mean position (nm) of the atoms of a lipid.
fn center(lipid: &[Vec3]) -> Vec3 {
    lipid.iter().fold(Vec3::ZERO, |sum, &site| sum + site) * (1.0 / lipid.len().max(1) as f64)
}

/// Returns displacements (nm) along x and y on a square grid, the shortest first.
fn places() -> Vec<[f64; 2]> {
    let most = (FARTHEST / SPACING) as i32;
    let grid = (-most..=most).flat_map(|i| (-most..=most).map(move |j| [i, j].map(|k| f64::from(k) * SPACING)));
    let mut places: Vec<[f64; 2]> = grid.filter(|[x, y]| x.hypot(*y) <= FARTHEST).collect();
    places.sort_by(|a, b| a[0].hypot(a[1]).total_cmp(&b[0].hypot(b[1])));
    places
}
