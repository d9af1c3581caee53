//! Cross-sections of a solute that spans a bilayer. The cross-sections define the area from which the solute excludes
//! lipids, and the pores of the solute.
//!
//! A spherical probe is rolled around the van-der-Waals spheres of the solute, in slices at constant z. The radius of
//! the probe ([`PROBE`]) is that of a hydrocarbon chain. A position of the center of the probe in a slice is blocked,
//! open or enclosed. The position is blocked if the probe overlaps with the solute. An open position is connected to
//! the outside by a path of unblocked positions in the slice. An enclosed position is neither blocked nor connected to
//! the outside. A pore is the region that the probe covers while its center is at enclosed positions. The excluded area
//! is the region that the probe cannot cover while its center is at open positions. Pores are therefore part of the
//! excluded area.

use md_engine::vec3::{Vec3, vec3};

use super::super::extent;

/// Radius (nm) of the probe: the van-der-Waals radius of a methylene group, half of the distance of 0.4 nm between
/// hydrocarbon chains in contact (A. Bondi, J. Phys. Chem. 68, 441 (1964), doi:10.1021/j100785a001).
const PROBE: f64 = 0.2;
/// Distance (nm) between the centers of slices: half of the probe's radius.
const THICKNESS: f64 = 0.1;
/// Edge (nm) of the square pixels of a slice: a quarter of the probe's radius.
const PIXEL: f64 = 0.05;
/// Width (pixels) of the rim around the solute; the rim is always open.
const RIM: usize = 2;

/// Kind of a position of the center of the probe in a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// a path in the slice connects the position to the outside
    Open,
    /// the probe overlaps with the solute
    Blocked,
    /// the position is neither blocked nor connected to the outside
    Enclosed,
}

/// A slice of the solute at constant z. The pixels of a slice are stored row by row along x.
struct Slice {
    places: Vec<Place>,
    is_pore: Vec<bool>,
    /// excluded area, which lipids cannot occupy, nm²
    area: f64,
}

/// All slices of a solute.
pub(super) struct Sections {
    /// x and y of the first pixel, and lower bound in z of the first slice, nm
    origin: Vec3,
    /// number of pixels of a slice along x and y
    counts: [usize; 2],
    slices: Vec<Slice>,
}

impl Sections {
    /// Computes the slices between the heights `low` and `high` (nm). Each sphere has a center and a radius (nm).
    pub(super) fn new(spheres: &[(Vec3, f64)], [low, high]: [f64; 2]) -> Self {
        let corners: Vec<Vec3> = spheres.iter().flat_map(|&(p, r)| [p - Vec3::splat(r), p + Vec3::splat(r)]).collect();
        let [first, last] = extent::bounds(&corners).unwrap_or_default();
        let margin = PROBE + RIM as f64 * PIXEL;
        let origin = vec3(first.x - margin, first.y - margin, low);
        let pixels = |length: f64| ((length + 2.0 * margin) / PIXEL).ceil() as usize;
        let counts = [pixels(last.x - first.x), pixels(last.y - first.y)];
        let number = ((high - low) / THICKNESS).ceil().max(0.0) as usize;
        let mut sections = Self { origin, counts, slices: vec![] };
        sections.slices = (0..number).map(|index| sections.slice(spheres, sections.height(index))).collect();
        sections
    }

    /// Height of the center of a slice, nm.
    fn height(&self, index: usize) -> f64 {
        self.origin.z + (index as f64 + 0.5) * THICKNESS
    }

    /// Calls `found` with the index of each pixel whose center is within a distance (nm) of a point.
    fn for_each_within(&self, [x, y]: [f64; 2], distance: f64, mut found: impl FnMut(usize)) {
        let range = |center: f64, origin: f64, count: usize| {
            let pixel = |v: f64| ((v - origin) / PIXEL).floor().clamp(0.0, count as f64 - 1.0) as usize;
            pixel(center - distance)..=pixel(center + distance)
        };
        let center = |origin: f64, index: usize| origin + (index as f64 + 0.5) * PIXEL;
        for j in range(y, self.origin.y, self.counts[1]) {
            let rest = distance * distance - (center(self.origin.y, j) - y).powi(2);
            for i in range(x, self.origin.x, self.counts[0]) {
                if (center(self.origin.x, i) - x).powi(2) <= rest {
                    found(j * self.counts[0] + i);
                }
            }
        }
    }

    fn slice(&self, spheres: &[(Vec3, f64)], height: f64) -> Slice {
        let [width, rows] = self.counts;
        let mut places = vec![Place::Enclosed; width * rows];
        for (center, radius) in spheres {
            let square = (radius + PROBE).powi(2) - (center.z - height).powi(2);
            if square > 0.0 {
                self.for_each_within([center.x, center.y], square.sqrt(), |pixel| places[pixel] = Place::Blocked);
            }
        }
        // flood fill: the rim is open, and so are all unblocked pixels that a path of neighbouring pixels connects to
        // the rim
        let mut pending = vec![0];
        while let Some(pixel) = pending.pop() {
            if places[pixel] != Place::Enclosed {
                continue;
            }
            places[pixel] = Place::Open;
            let (i, j) = (pixel % width, pixel / width);
            let sides = [(i > 0, pixel.wrapping_sub(1)), (i + 1 < width, pixel + 1)];
            let ends = [(j > 0, pixel.wrapping_sub(width)), (j + 1 < rows, pixel + width)];
            pending.extend(sides.iter().chain(&ends).filter(|(exists, _)| *exists).map(|(_, next)| *next));
        }
        let (from_open, is_pore) = (self.covered(&places, Place::Open), self.covered(&places, Place::Enclosed));
        let area = from_open.iter().filter(|covered| !**covered).count() as f64 * PIXEL * PIXEL;
        Slice { places, is_pore, area }
    }

    /// Returns, for each pixel, whether the probe covers the pixel from a position of the given kind. Circles are drawn
    /// only around positions at the border of a region. The circles at the border and the region itself already cover
    /// all pixels of the circles around inner positions.
    fn covered(&self, places: &[Place], kind: Place) -> Vec<bool> {
        let [width, rows] = self.counts;
        let mut covered: Vec<bool> = places.iter().map(|&place| place == kind).collect();
        for pixel in (0..places.len()).filter(|&pixel| places[pixel] == kind) {
            let (i, j) = (pixel % width, pixel / width);
            let inner = (1..width - 1).contains(&i) && (1..rows - 1).contains(&j);
            if inner && [pixel - 1, pixel + 1, pixel - width, pixel + width].iter().all(|&next| places[next] == kind) {
                continue;
            }
            let center = |origin: f64, index: usize| origin + (index as f64 + 0.5) * PIXEL;
            let at = [center(self.origin.x, i), center(self.origin.y, j)];
            self.for_each_within(at, PROBE, |pixel| covered[pixel] = true);
        }
        covered
    }

    /// Returns the slice and the pixel of a point; `None` outside of all slices.
    fn at(&self, point: Vec3) -> Option<(&Slice, usize)> {
        let s = point - self.origin;
        let index = |length: f64, unit: f64| (length >= 0.0).then_some((length / unit) as usize);
        let (i, j) = (index(s.x, PIXEL)?, index(s.y, PIXEL)?);
        let slice = self.slices.get(index(s.z, THICKNESS)?)?;
        (i < self.counts[0] && j < self.counts[1]).then_some((slice, j * self.counts[0] + i))
    }

    /// Returns the kind of the position of a point; points outside of all slices are open.
    pub(super) fn place(&self, point: Vec3) -> Place {
        self.at(point).map_or(Place::Open, |(slice, pixel)| slice.places[pixel])
    }

    /// Whether a point is in a pore.
    pub(super) fn is_pore(&self, point: Vec3) -> bool {
        self.at(point).is_some_and(|(slice, pixel)| slice.is_pore[pixel])
    }

    /// Returns the mean excluded area (nm²) of the slices between two heights (nm).
    pub(super) fn mean_area(&self, [low, high]: [f64; 2]) -> f64 {
        let is_between = |index: &usize| (low..high).contains(&self.height(*index));
        let areas: Vec<f64> = (0..self.slices.len()).filter(is_between).map(|index| self.slices[index].area).collect();
        areas.iter().sum::<f64>() / areas.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    /// Returns rods parallel to z with the given axes and radius. Each rod consists of spheres that are 0.02 nm apart.
    fn rods(axes: &[[f64; 2]], radius: f64) -> Vec<(Vec3, f64)> {
        let along = |&[x, y]: &[f64; 2]| (-60..60).map(move |k| (vec3(x, y, 0.02 * f64::from(k)), radius));
        axes.iter().flat_map(along).collect()
    }

    /// Returns the axes of `count` rods on a circle around (3, −2).
    fn ring(count: u32, radius: f64) -> Vec<[f64; 2]> {
        let angles = (0..count).map(|k| 2.0 * PI * f64::from(k) / f64::from(count));
        angles.map(|angle| [3.0 + radius * angle.cos(), -2.0 + radius * angle.sin()]).collect()
    }

    #[test]
    fn the_area_of_a_rod_is_that_of_a_circle() {
        for radius in [0.2, 0.5, 1.3] {
            let sections = Sections::new(&rods(&[[0.7, -4.0]], radius), [-1.0, 1.0]);
            let area = sections.mean_area([-0.8, 0.8]);
            // the tolerance is the area of half of the boundary pixels, because a boundary pixel counts completely or
            // not at all
            let tolerance = 2.0 * PI * radius * PIXEL * 0.5;
            assert!((area - PI * radius * radius).abs() < tolerance, "{radius} {area}");
            assert_eq!(sections.place(vec3(0.7, -4.0, 0.0)), Place::Blocked);
            assert_eq!(sections.place(vec3(0.7 + radius + 0.25, -4.0, 0.0)), Place::Open);
            assert_eq!([-3.0, 3.0].map(|z| sections.place(vec3(0.7, -4.0, z))), [Place::Open; 2]);
        }
    }

    /// Tests the area between two rods of radius r whose axes are d apart. A probe of radius p touches both rods if the
    /// center of the probe is at the height h = √((r + p)² − d²/4) above the line between the axes. The three centers
    /// form a triangle with the area d h/2. The area of the groove on one side is the area of the triangle, minus two
    /// sectors r²α/2 of the rods and one sector p²(π − 2α)/2 of the probe, with tan α = 2h/d.
    #[test]
    fn the_groove_between_two_rods_is_rounded_by_the_probe() {
        let (radius, apart) = (0.4f64, 0.9f64);
        let sections = Sections::new(&rods(&[[0.0, 0.0], [apart, 0.0]], radius), [-1.0, 1.0]);
        let height = ((radius + PROBE).powi(2) - apart * apart / 4.0).sqrt();
        let angle = (2.0 * height / apart).atan();
        let half = apart * height / 2.0 - radius * radius * angle - PROBE * PROBE * (PI - 2.0 * angle) / 2.0;
        let expected = 2.0 * PI * radius * radius + 2.0 * half;
        let area = sections.mean_area([-0.8, 0.8]);
        assert!((area - expected).abs() < 4.0 * PI * radius * PIXEL * 0.5, "{area} {expected}");
    }

    #[test]
    fn a_ring_of_rods_has_a_pore_and_a_broken_ring_has_none() {
        let closed = ring(12, 1.2);
        let sections = Sections::new(&rods(&closed, 0.2), [-1.0, 1.0]);
        let middle = vec3(3.0, -2.0, 0.0);
        assert!(sections.place(middle) == Place::Enclosed && sections.is_pore(middle));
        assert!(sections.is_pore(middle + vec3(0.9, 0.0, 0.0)) && !sections.is_pore(middle + vec3(1.2, 0.0, 0.0)));
        // a gap between rods that are 0.62 nm apart is too narrow for a probe with a diameter of 0.4 nm, so the
        // excluded area is the whole disk within the ring of rods
        let area = sections.mean_area([-0.8, 0.8]);
        assert!(area > PI * 1.2 * 1.2 && area < PI * 1.4 * 1.4, "{area}");
        let broken = Sections::new(&rods(&closed[1..], 0.2), [-1.0, 1.0]);
        assert!(broken.place(middle) == Place::Open && !broken.is_pore(middle));
        assert!(broken.mean_area([-0.8, 0.8]) < area - 2.0);
    }

    #[test]
    fn nothing_has_no_area() {
        let sections = Sections::new(&[], [-1.0, 1.0]);
        assert_eq!((sections.mean_area([-1.0, 1.0]), sections.place(Vec3::ZERO)), (0.0, Place::Open));
        // a solute outside of all slices
        let sections = Sections::new(&[(vec3(0.0, 0.0, 5.0), 0.2)], [-1.0, 1.0]);
        assert_eq!(sections.mean_area([-1.0, 1.0]), 0.0);
    }
}
