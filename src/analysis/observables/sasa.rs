//! Solvent-accessible surface area.
//!
//! Each atom has a sphere whose radius is the sum of the radii of the atom and of the probe. Points of equal area
//! represent the surface of the sphere. The accessible area is the area of all points that are inside no other sphere
//! (Shrake & Rupley, J. Mol. Biol. 79, 351 (1973), doi:10.1016/0022-2836(73)90011-9).

mod sphere;

use self::sphere::{Cap, Sphere};
use super::{Input, Options};
use crate::analysis::findings::{Array, Axis, Findings, Layer, Plot, TIME, Values};
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::statistics::Summary;
use crate::analysis::system::{AnalysedSystem, Group};
use crate::error::{Problem, Result};
use crate::neighbours::Neighbours;
use crate::observe::trajectory::StoredFrame;
use crate::system::Atom;
use std::f64::consts::PI;

/// Radii of the elements from hydrogen to uranium, in pm, as in MDTraj 1.11: van der Waals radii of Bondi, J. Phys.
/// Chem. 68, 441 (1964), doi:10.1021/j100785a001, and Mantina et al., J. Phys. Chem. A 113, 5806 (2009),
/// doi:10.1021/jp8111556; ionic radii of Shannon, Acta Cryst. A 32, 751 (1976), doi:10.1107/S0567739476001551, for
/// Li, Be, Na, Mg, Cl, K, Ca, Cs and Ba; 200 pm for elements whose radius is not known.
#[rustfmt::skip]
const RADII: [u16; 92] = [
    120, 140,
    76, 59, 192, 170, 155, 152, 147, 154,
    102, 86, 184, 210, 180, 180, 181, 188,
    138, 114, 211, 200, 200, 200, 200, 200, 200, 163, 140, 139, 187, 211, 185, 190, 185, 202,
    303, 249, 200, 200, 200, 200, 200, 200, 200, 163, 172, 158, 193, 217, 206, 206, 198, 216,
    167, 149, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200,
    200, 200, 200, 200, 200, 200, 175, 166, 155, 196, 202, 207, 197, 202, 220,
    348, 283, 200, 200, 200, 186,
];

/// Number of the largest spherical caps, which are tested before all other caps. The largest caps alone cover the
/// spheres of most atoms inside a protein completely.
const FIRST: usize = 16;

/// Results: sasa (nm², over time) and sasa_residue (nm², time × residue), with the residues (0-based)
#[derive(Debug, clap::Args)]
pub(super) struct SasaOptions {
    /// Selection of the atoms that form the surface; all other atoms are ignored
    #[arg(long, value_name = "TEXT", default_value = "protein")]
    select: String,
    /// Selection of the atoms whose area is reported, among the atoms of --select; default: the same as --select
    #[arg(long, value_name = "TEXT")]
    of: Option<String>,
    /// Radius of the probe
    #[arg(long, value_name = "LENGTH", value_parser = super::length, default_value = "0.14 nm")]
    probe: f64,
    /// Number of points on the sphere of each atom
    #[arg(long, value_name = "N", default_value_t = 960, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    points: u32,
}

impl Options for SasaOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        let group = input.system.group(&self.select)?;
        let of = input.system.group(self.of.as_ref().unwrap_or(&self.select))?;
        Ok(Box::new(SurfaceArea::new(input.system, group, of, self.probe, self.points as usize)?))
    }
}

/// Observable of the area that the center of a spherical probe can reach.
#[derive(Clone, Debug)]
struct SurfaceArea {
    group: Group,
    /// selection of the reported atoms, as text
    of: String,
    probe: f64,
    /// sum of the radius of each atom and the radius of the probe, nm; zero for massless sites, which have no surface
    radii: Vec<f64>,
    /// reported residue of each atom of the group, as an index into `residues`; `None` for atoms that are not reported
    reported: Vec<Option<usize>>,
    /// reported residues (0-based)
    residues: Vec<u32>,
    sphere: Sphere,
    totals: Vec<f64>,
    of_residues: Vec<f32>,
}

impl SurfaceArea {
    fn new(system: &AnalysedSystem<'_>, group: Group, of: Group, probe: f64, points: usize) -> Result<Self> {
        let atoms = &system.topology().atoms;
        let radius = |&index: &u32| {
            let Atom { element, mass, .. } = atoms[index as usize];
            if element == 0 && mass > 0.0 {
                let name = system.topology().atom_name(index);
                let problem = Problem::new(format!("the element of atom {name} is not known, so it has no radius"));
                return Err(problem.help("select atoms with elements, or use a topology that has elements").into());
            }
            let known = usize::from(element).checked_sub(1).map(|place| RADII.get(place).copied().unwrap_or(200));
            Ok(known.map_or(0.0, |picometres| f64::from(picometres) * 1e-3 + probe))
        };
        let radii = group.atoms.iter().map(radius).collect::<Result<Vec<f64>>>()?;
        if let Some(other) = of.atoms.iter().find(|atom| group.atoms.binary_search(atom).is_err()) {
            let name = system.topology().atom_name(*other);
            let problem = Problem::new(format!(
                "atom {name} of the selection \"{}\" is not in the selection \"{}\"",
                of.text, group.text
            ));
            return Err(problem.help("--of selects a part of the atoms of --select").into());
        }
        let mut residues: Vec<u32> = of.atoms.iter().map(|&atom| atoms[atom as usize].residue).collect();
        residues.dedup();
        let reported = |atom: &u32| {
            of.atoms.binary_search(atom).ok()?;
            residues.binary_search(&atoms[*atom as usize].residue).ok()
        };
        let reported = group.atoms.iter().map(reported).collect();
        let sphere = Sphere::new(points);
        Ok(Self { group, of: of.text, probe, radii, reported, residues, sphere, totals: vec![], of_residues: vec![] })
    }
}

impl Observable for SurfaceArea {
    /// area of each residue, nm²
    type Sample = Vec<f64>;

    fn memory(&self, frames: usize) -> f64 {
        (size_of::<f32>() * self.residues.len()) as f64 * frames as f64
    }

    fn atoms_used(&self) -> usize {
        self.group.end()
    }

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        let largest = self.radii.iter().copied().fold(0.0, f64::max);
        if let Some(cell) = frame.cell.filter(|cell| largest > cell.max_cutoff()) {
            let message = format!("in the frame at {} ps, an atom with the probe is wider than the cell", frame.time);
            let probe = cell.max_cutoff() - (largest - self.probe);
            return Err(Problem::new(message).help(format!("choose --probe of at most {probe:.3} nm")).into());
        }
        let positions = self.group.positions(frame);
        let mut areas = vec![0.0; self.residues.len()];
        if largest == 0.0 {
            return Ok(areas);
        }
        let grid = Neighbours::new(frame.cell.as_ref(), &positions, 2.0 * largest);
        let (mut caps, mut open) = (vec![], vec![]);
        for (atom, (&position, &radius)) in positions.iter().zip(&self.radii).enumerate() {
            let Some(residue) = self.reported[atom].filter(|_| radius > 0.0) else { continue };
            caps.clear();
            grid.visit(position, |other, direction| {
                let (square, reach) = (direction.norm_squared(), self.radii[other as usize]);
                let is_same = other as usize == atom && square < 1e-12;
                if reach > 0.0 && !is_same && square < (radius + reach).powi(2) {
                    // a point R u on the sphere of radius R is inside the sphere of radius R' of the neighbour at d if
                    // u·d > (R² + d² − R'²)/(2 R)
                    let threshold = (radius * radius + square - reach * reach) / (2.0 * radius);
                    caps.push(Cap { direction, threshold });
                }
            });
            // if all radii are similar, the nearest neighbours cover the largest caps
            if caps.len() > FIRST {
                caps.select_nth_unstable_by(FIRST, |a: &Cap, b| a.threshold.total_cmp(&b.threshold));
            }
            let fraction = self.sphere.free_points(&caps, &mut open) as f64 / self.sphere.count() as f64;
            areas[residue] += 4.0 * PI * radius * radius * fraction;
        }
        Ok(areas)
    }

    fn add(&mut self, areas: Self::Sample) -> Result<()> {
        self.totals.push(areas.iter().sum());
        self.of_residues.extend(areas.iter().map(|&area| area as f32));
        Ok(())
    }

    fn finish(&mut self, passed: &Passed) -> Result<Findings> {
        let (frames, residues) = (self.totals.len(), self.residues.len());
        let summary = Summary::of(&self.totals);
        let mut means = vec![0.0; residues];
        for frame in self.of_residues.chunks_exact(residues) {
            means.iter_mut().zip(frame).for_each(|(mean, &area)| *mean += f64::from(area) / frames as f64);
        }
        let numbers: Vec<f64> = self.residues.iter().map(|&residue| f64::from(residue)).collect();
        let plots = vec![
            Plot::over_time(
                format!("Solvent-accessible surface area: {}", self.of),
                Axis::new("area / nm²"),
                summary.layers(&passed.times, &self.totals),
            ),
            Plot {
                suffix: "residues",
                title: format!("Mean accessible area of residues: {}", self.of),
                x: Axis::new("residue (from 0)").of_whole_numbers(),
                y: Axis::new("area / nm²"),
                layers: vec![Layer::Bars { label: String::new(), x: numbers, y: means.clone() }],
            },
        ];
        let of_residues = Values::Single(std::mem::take(&mut self.of_residues));
        Ok(Findings {
            numbers: vec![summary.number("sasa", "nm2")],
            summary: summary.lines("nm²"),
            warnings: vec![],
            plots,
            settings: vec![
                ("select", self.group.text.clone()),
                ("of", self.of.clone()),
                ("probe", format!("{} nm", self.probe)),
                ("points", self.sphere.count().to_string()),
            ],
            arrays: vec![
                Array::new("sasa", [(TIME, frames)], self.totals.clone(), "nm+2"),
                Array::new("sasa_residue", [(TIME, frames), ("residue", residues)], of_residues, "nm+2"),
                Array::new("sasa_residue_mean", [("residue", residues)], means, "nm+2"),
                Array::new("residue", [("residue", residues)], self.residues.clone(), ""),
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::system::Images;
    use crate::cell::PeriodicCell;
    use crate::system::{Name, Residue, Topology};
    use crate::vec3::{Vec3, vec3};

    fn area(elements: &[u8], positions: Vec<Vec3>, cell: Option<PeriodicCell>, points: usize) -> Vec<f64> {
        let name = Name::new("X");
        let atom = |(residue, &element): (usize, &u8)| Atom {
            name,
            type_name: name,
            element,
            mass: f64::from(element),
            charge: 0.0,
            lj_type: 0,
            residue: residue as u32,
        };
        let residue = |first| Residue { name, number: 1, first };
        let topology = Topology {
            atoms: elements.iter().enumerate().map(atom).collect(),
            residues: (0..elements.len() as u32).map(residue).collect(),
            ..Topology::default()
        };
        let system = AnalysedSystem::new(&topology, Images::AsStored);
        let group = system.group_of("all", (0..elements.len() as u32).collect());
        let surface = SurfaceArea::new(&system, group.clone(), group, 0.14, points).unwrap();
        surface.measure(&StoredFrame { cell, positions, ..StoredFrame::default() }).unwrap()
    }

    /// The sphere of radius R has the area 4πR². Another sphere of radius S at the distance d covers a cap of height
    /// R − (R² + d² − S²)/(2d), whose area is 2πR times its height (Archimedes).
    #[test]
    fn two_spheres_cover_caps_of_each_other() {
        let (carbon, oxygen) = (0.17 + 0.14, 0.152 + 0.14);
        let free = |r: f64, s: f64, d: f64| 2.0 * PI * r * (r + (r * r + d * d - s * s) / (2.0 * d));
        let cell = PeriodicCell::orthorhombic([4.0; 3]);
        for (d, expected) in [
            (1.0, [4.0 * PI * carbon * carbon, 4.0 * PI * oxygen * oxygen]),
            (0.3, [free(carbon, oxygen, 0.3), free(oxygen, carbon, 0.3)]),
        ] {
            // the spheres overlap across a face of the cell
            let positions = vec![vec3(3.9, 1.0, 1.0), vec3(3.9 + d - 4.0, 1.0, 1.0)];
            let areas = area(&[6, 8, 0], [positions, vec![vec3(3.9, 1.0, 1.0)]].concat(), Some(cell), 100_000);
            for (found, expected) in areas.iter().zip(expected) {
                // discretisation error: about √N of the areas of N points are crossed by the border of a cap
                assert!((found / expected - 1.0).abs() < 2e-3, "{d}: {found} for {expected}");
            }
            assert_eq!(areas[2], 0.0, "a massless site has no surface");
        }
    }

    #[test]
    fn atoms_inside_others_have_no_area() {
        // a hydrogen near the center of a carbon has no accessible surface
        assert_eq!(area(&[6, 1], vec![Vec3::ZERO, vec3(0.01, 0.0, 0.0)], None, 960)[1], 0.0);
    }
}
