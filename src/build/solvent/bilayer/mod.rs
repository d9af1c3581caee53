//! A lipid bilayer around a solute, in a rectangular cell.
//!
//! The z axis is the normal of the bilayer. The middle of the bilayer is at z = 0, as in files of the database OPM.
//! Copies of an equilibrated patch fill the cell along x and y. Lipids at the boundary of the cell are therefore in
//! contact with periodic images, as in the patch. The distance between the solute and its images is at least twice the
//! padding. Along z, the cell extends beyond the outermost atoms of lipids and solute by the padding on each side.
//! Module [`place`] defines which lipids are removed, and module [`refit`] which of them return in another
//! conformation.
//!
//! Water is kept out of the hydrocarbon core, except in pores of the solute ([`section`]). The core is the region where
//! |z| is below the mean height of the carbonyl carbons.

mod patch;
mod place;
mod refit;
mod section;
#[cfg(test)]
mod tests;
mod voxels;

use md_engine::cell::PeriodicCell;
use md_engine::error::Problem;
use md_engine::vec3::{Vec3, vec3};

use super::extent::bounds;
use super::{bondi_radius, limits};
pub use patch::{Patch, lipid_names};
use place::{Lattice, Obstacles, Removed};
use section::Sections;

/// Smallest padding, nm. The padding is half of the thickness of the water layer between a bilayer and its periodic
/// image. A water layer of 1 nm suffices to hydrate the head groups of both leaflets.
const SMALLEST_PADDING: f64 = 0.5;
/// Largest area of a bilayer, nm². A bilayer of this area has about 30,000 lipids.
const LARGEST_AREA: f64 = 1e4;

/// An atom of the solute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Embedded {
    /// position, nm
    pub position: Vec3,
    /// atomic number; 0 for a virtual site
    pub element: u8,
    /// whether the atom belongs to a water; waters are left out of cross-sections
    pub is_water: bool,
}

/// Numbers of lipids in a leaflet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Leaflet {
    /// number of lipids that remain
    pub lipids: usize,
    /// number of the remaining lipids that have the conformation of another lipid, because their own conformation
    /// clashed with the solute
    pub refitted: usize,
    /// number of lipids that were removed because they clash with the solute
    pub clashing: usize,
    /// number of lipids that were removed from pores of the solute
    pub enclosed: usize,
    /// number of lipids that were removed because the solute occupies more area in the opposite leaflet
    pub balanced: usize,
    /// mean cross-section of the solute in the hydrocarbon core of the leaflet, nm²
    pub solute_area: f64,
}

/// A bilayer around a solute.
pub struct Bilayer {
    /// the periodic cell
    pub cell: PeriodicCell,
    /// translation that moves the solute into the cell, nm
    pub shift: Vec3,
    /// positions (nm) of the lipids in the cell, `[lipid][atom]`, with the upper leaflet first
    pub lipids: Vec<Vec<Vec3>>,
    /// the upper and the lower leaflet
    pub leaflets: [Leaflet; 2],
    /// numbers of copies of the patch along x and y
    pub copies: [usize; 2],
    /// half of the thickness of the hydrocarbon core, nm
    pub core: f64,
    sections: Sections,
}

impl Bilayer {
    /// Makes a bilayer from copies of a patch around a solute. `padding` (nm) is the smallest distance between the
    /// solute and the faces of the cell.
    pub fn around(patch: &Patch, solute: &[Embedded], padding: f64) -> Result<Self, Problem> {
        let positions: Vec<Vec3> = solute.iter().map(|atom| atom.position).collect();
        limits::check_positions(&positions)?;
        if !(padding >= SMALLEST_PADDING && padding.is_finite()) {
            let problem = Problem::new(format!("a padding of {padding} nm is not possible with a membrane"));
            return Err(problem.help(format!("give a padding of at least {SMALLEST_PADDING} nm, such as 1.0 nm")));
        }
        let core = patch.core();
        if !solute.iter().any(|atom| !atom.is_water && atom.position.z.abs() < core) {
            let problem =
                Problem::new(format!("no atom of the solute is within {core:.2} nm of z = 0, inside the membrane"));
            return Err(problem.help(
                "turn and move the entry so that z is the normal of the membrane and z = 0 its middle: see files of OPM",
            ));
        }
        let [low, high] = bounds(&positions).unwrap_or_default();
        let copies = [(high - low).x, (high - low).y];
        let copies = [0, 1].map(|axis| ((copies[axis] + 2.0 * padding) / patch.edges[axis]).ceil().max(1.0));
        let [a, b] = [0, 1].map(|axis| copies[axis] * patch.edges[axis]);
        if a * b > LARGEST_AREA {
            return Err(Problem::new(format!(
                "the area of the membrane would be {:.0} nm2, more than {LARGEST_AREA:.0} nm2",
                a * b
            ))
            .help("lengths are in nm; choose a smaller padding, or look for atoms far from the others"));
        }
        let reach = patch.reach();
        let [bottom, top] = [low.z.min(-reach) - padding, high.z.max(reach) + padding];
        let cell = PeriodicCell::orthorhombic([a, b, top - bottom]);
        limits::check_cell(&cell)?;
        let middle = (low + high) * 0.5;
        let shift = vec3(0.5 * a - middle.x, 0.5 * b - middle.y, -bottom);
        let (obstacles, areas) = obstacles(&cell, solute, shift, [core, reach]);
        let room = areas.map(|area| (a * b - area) / patch.area_per_lipid());
        let copies = copies.map(|count| count as usize);
        let layout = Lattice { cell: &cell, patch, copies, middle: shift.z }.best(&obstacles, room);
        let leaflet = |upper: bool, solute_area: f64| Leaflet {
            lipids: layout.left(upper),
            refitted: layout.refitted[usize::from(!upper)],
            clashing: layout.count(upper, Removed::Clash),
            enclosed: layout.count(upper, Removed::Pore),
            balanced: layout.count(upper, Removed::Balance),
            solute_area,
        };
        let leaflets = [leaflet(true, areas[0]), leaflet(false, areas[1])];
        if leaflets.iter().any(|leaflet| leaflet.lipids == 0) {
            return Err(
                Problem::new("the solute leaves no room for lipids in a leaflet").help("choose a larger padding")
            );
        }
        let kept = |upper: bool| {
            let all = layout.lipids.iter().zip(&layout.is_upper).zip(&layout.removed);
            all.filter(move |((_, is_upper), removed)| **is_upper == upper && removed.is_none()).map(|((l, _), _)| l)
        };
        let lipids = kept(true).chain(kept(false)).cloned().collect();
        Ok(Bilayer { cell, shift, lipids, leaflets, copies, core, sections: obstacles.sections })
    }

    /// Whether water may be at a position (nm) in the cell: outside of the hydrocarbon core, or in a pore of the
    /// solute.
    pub fn admits_water(&self, position: Vec3) -> bool {
        (position.z - self.shift.z).abs() > self.core || self.sections.is_pore(position)
    }
}

/// Returns the obstacles that the solute forms in the cell, and the mean cross-sections (nm²) of the solute in the
/// hydrocarbon cores of the upper and the lower leaflet.
fn obstacles(cell: &PeriodicCell, solute: &[Embedded], shift: Vec3, [core, reach]: [f64; 2]) -> (Obstacles, [f64; 2]) {
    let real = || solute.iter().filter(|atom| atom.element > 0);
    let heavy: Vec<Vec3> = real().filter(|atom| atom.element > 1).map(|atom| atom.position + shift).collect();
    let all: Vec<Vec3> = real().map(|atom| atom.position + shift).collect();
    let solid = real().filter(|atom| !atom.is_water);
    let spheres: Vec<(Vec3, f64)> = solid.map(|atom| (atom.position + shift, bondi_radius(atom.element))).collect();
    let middle = shift.z;
    let sections = Sections::new(&spheres, [middle - reach, middle + reach]);
    let areas = [sections.mean_area([middle, middle + core]), sections.mean_area([middle - core, middle])];
    (Obstacles::new(cell, &heavy, &all, sections), areas)
}
