//! Filling of a periodic cell with water.
//!
//! Copies of an equilibrated box of water fill the cell. Waters that clash across the periodic boundary of the cell are
//! removed. This removal alone would make the density too low. All distances between waters are therefore scaled by at
//! most a few percent, so that the density in a cell without a solute equals the density of the box.
//!
//! A water clashes with the solute if one of its atoms is nearer to a solute atom than 0.57 times the sum of the two
//! van-der-Waals radii. `gmx solvate` uses the same criterion; its manual states that the factor 0.57 gives solvated
//! proteins a density of about 1000 g/l. `Modeller` of OpenMM applies the full sum of the radii to oxygens. The full
//! sum would exclude waters that form hydrogen bonds with the solute, and would leave a gap around the solute. A
//! minimisation resolves the close contacts that remain.

use md_engine::cell::PeriodicCell;
use md_engine::error::Problem;
use md_engine::neighbours::Neighbours;
use md_engine::vec3::Vec3;

use super::limits;
use super::radius::{HYDROGEN, OXYGEN};
use super::tile::{Tile, WaterGeometry};

/// Factor by which the sum of two van-der-Waals radii is multiplied: the default of the option `-scale` of `gmx
/// solvate` (manual of GROMACS 2024).
const RADIUS_SCALE: f64 = 0.57;
/// Van-der-Waals radii (nm) of the atoms O, H and H of a water.
const WATER_RADII: [f64; 3] = [OXYGEN, HYDROGEN, HYDROGEN];
/// Largest radius of a solute atom, nm. The radii of elements are below 0.3 nm; beads of coarse models are larger.
const LARGEST_RADIUS: f64 = 5.0;

/// Smallest distance (nm) between oxygens across a boundary. Oxygens of liquid water are at least 0.24 nm apart.
const OXYGENS_APART: f64 = 0.22;
/// Smallest distance (nm) between any two atoms of different waters across a boundary. An energy minimisation can
/// separate atoms that are at least this far apart.
const ATOMS_APART: f64 = 0.08;

/// Smallest and largest factor by which distances between waters are scaled. Within these bounds, scaled distances
/// between oxygens of the box stay above [`OXYGENS_APART`].
const SCALES: [f64; 2] = [0.95, 1.03];
/// Largest accepted deviation of the number of waters from the expected number, as a fraction of the expected number.
const DENSITY_TOLERANCE: f64 = 0.003;
/// Largest number of scale factors that are tried.
const ATTEMPTS: usize = 4;

/// An atom of the solute, which excludes waters from its surroundings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoluteAtom {
    /// position, nm
    pub position: Vec3,
    /// van-der-Waals radius, nm; [`super::bondi_radius`] returns radii of elements
    pub radius: f64,
}

/// Returns the positions (nm) of O, H, H of waters that fill the cell around the solute. Molecules are whole, and their
/// oxygens are inside the cell. The result depends only on the arguments.
pub fn fill(cell: &PeriodicCell, solute: &[SoluteAtom], geometry: &WaterGeometry) -> Result<Vec<[Vec3; 3]>, Problem> {
    limits::check_cell(cell)?;
    geometry.check()?;
    let positions: Vec<Vec3> = solute.iter().map(|atom| atom.position).collect();
    limits::check_positions(&positions)?;
    if let Some(index) = solute.iter().position(|atom| !(0.0..=LARGEST_RADIUS).contains(&atom.radius)) {
        return Err(Problem::new(format!("atom {} has a radius of {} nm", index + 1, solute[index].radius))
            .help(format!("give van-der-Waals radii from 0 to {LARGEST_RADIUS} nm")));
    }
    let mut waters = waters_of(cell, geometry);
    if solute.is_empty() {
        return Ok(waters);
    }
    let largest = solute.iter().map(|atom| atom.radius).fold(0.0, f64::max);
    let ranges = WATER_RADII.map(|radius| RADIUS_SCALE * (radius + largest));
    let atoms = Neighbours::new(Some(cell), &positions, ranges[0]);
    waters.retain(|water| {
        !(0..3).any(|site| {
            atoms.any_within(water[site], ranges[site], |atom, displacement| {
                displacement.norm_squared()
                    < (RADIUS_SCALE * (WATER_RADII[site] + solute[atom as usize].radius)).powi(2)
            })
        })
    });
    Ok(waters)
}

/// Returns the waters that fill a cell without a solute.
fn waters_of(cell: &PeriodicCell, geometry: &WaterGeometry) -> Vec<[Vec3; 3]> {
    let tile = Tile::read();
    let wanted = tile.density() * cell.volume();
    let corners: Vec<Vec3> = (0..8).map(|i| cell.shift([i & 1, i >> 1 & 1, i >> 2])).collect();
    let region = super::extent::bounds(&corners).unwrap_or_default();
    let is_inside = |oxygen: Vec3| cell.to_fractional(oxygen).to_array().iter().all(|s| (0.0..1.0).contains(s));
    let mut scale = 1.0;
    let mut best: Option<(f64, Vec<[Vec3; 3]>)> = None;
    for _ in 0..ATTEMPTS {
        let mut waters = tile.waters_between(region, scale, geometry, is_inside);
        remove_clashes(cell, &mut waters);
        let ratio = waters.len() as f64 / wanted;
        let deviation = (ratio - 1.0).abs();
        if best.as_ref().is_none_or(|(least, _)| deviation < *least) {
            best = Some((deviation, waters));
        }
        if deviation < DENSITY_TOLERANCE {
            break;
        }
        scale = (scale * ratio.cbrt()).clamp(SCALES[0], SCALES[1]);
    }
    best.map(|(_, waters)| waters).unwrap_or_default()
}

/// Removes waters that clash with earlier waters across the boundary of the cell.
fn remove_clashes(cell: &PeriodicCell, waters: &mut Vec<[Vec3; 3]>) {
    let arm = waters.iter().take(1).map(|[o, h, _]| (*h - *o).norm()).fold(0.0, f64::max);
    let range = OXYGENS_APART.max(ATOMS_APART + 2.0 * arm);
    let widths = cell.face_distances();
    let is_near_face = |oxygen: Vec3| {
        let s = cell.to_fractional(oxygen).to_array();
        s.iter().zip(widths).any(|(s, width)| s.min(1.0 - s) * width < range)
    };
    let skin: Vec<usize> = (0..waters.len()).filter(|&index| is_near_face(waters[index][0])).collect();
    let oxygens: Vec<Vec3> = skin.iter().map(|&index| waters[index][0]).collect();
    let near = Neighbours::new(Some(cell), &oxygens, range);
    let mut removed = vec![false; waters.len()];
    for at in 0..skin.len() {
        let index = skin[at];
        removed[index] = near.any_within(oxygens[at], range, |other, displacement| {
            let other = other as usize;
            other < at
                && !removed[skin[other]]
                && (displacement.norm_squared() < OXYGENS_APART.powi(2)
                    || atoms_meet(cell, &waters[index], &waters[skin[other]]))
        });
    }
    let mut index = 0;
    waters.retain(|_| {
        index += 1;
        !removed[index - 1]
    });
}

fn atoms_meet(cell: &PeriodicCell, water: &[Vec3; 3], other: &[Vec3; 3]) -> bool {
    water.iter().any(|&p| other.iter().any(|&q| cell.minimum_image(p - q).norm_squared() < ATOMS_APART.powi(2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solvent::{CellPlan, Shape, Size};
    use md_engine::vec3::vec3;
    use proptest::prelude::*;

    const TIP3P: WaterGeometry = WaterGeometry::TIP3P;
    const SHAPES: [Shape; 4] = [Shape::Cube, Shape::Rectangular, Shape::Octahedron, Shape::Dodecahedron];

    fn cell(shape: Shape, distance: f64) -> PeriodicCell {
        CellPlan { shape, size: Size::Distance(distance), orient: false }.around(&[]).unwrap().cell
    }

    fn density_error(cell: &PeriodicCell, waters: usize, excluded: f64) -> f64 {
        waters as f64 / (cell.volume() - excluded) / Tile::read().density() - 1.0
    }

    #[test]
    fn cells_without_solute_have_the_density_of_water() {
        for shape in SHAPES {
            for distance in [2.5, 3.0, 4.1, 6.7] {
                let cell = cell(shape, distance);
                let error = density_error(&cell, fill(&cell, &[], &TIP3P).unwrap().len(), 0.0);
                assert!(error.abs() < 0.03, "{shape:?} {distance} {error}");
            }
        }
        let cell = PeriodicCell::orthorhombic([3.3, 4.2, 6.1]);
        let error = density_error(&cell, fill(&cell, &[], &TIP3P).unwrap().len(), 0.0);
        assert!(error.abs() < 0.03, "{error}");
    }

    #[test]
    fn water_around_a_sphere_has_the_density_of_water() {
        for shape in SHAPES {
            let cell = cell(shape, 5.5);
            let sphere = SoluteAtom { position: cell.to_cartesian(Vec3::splat(0.5)), radius: 1.8 };
            let waters = fill(&cell, &[sphere], &TIP3P).unwrap();
            let contact = RADIUS_SCALE * (sphere.radius + OXYGEN);
            assert!(waters.iter().all(|water| (water[0] - sphere.position).norm() >= contact));
            let error = density_error(&cell, waters.len(), 4.0 / 3.0 * std::f64::consts::PI * contact.powi(3));
            assert!(error.abs() < 0.03, "{shape:?} {error}");
        }
    }

    /// Tests that every octant of the cell has the density of water, so that no region is empty.
    #[test]
    fn water_is_spread_evenly() {
        for shape in SHAPES {
            let cell = cell(shape, 5.3);
            let mut counts = [0; 8];
            for water in fill(&cell, &[], &TIP3P).unwrap() {
                let s = cell.to_fractional(water[0]).map(|v| usize::from(v >= 0.5));
                counts[s.x + 2 * s.y + 4 * s.z] += 1;
            }
            let expected = counts.iter().sum::<usize>() as f64 / 8.0;
            assert!(counts.iter().all(|&count| (count as f64 / expected - 1.0).abs() < 0.06), "{counts:?}");
        }
    }

    #[test]
    fn no_atoms_clash_across_boundaries() {
        for shape in SHAPES {
            let cell = cell(shape, 2.3);
            let waters = fill(&cell, &[], &TIP3P).unwrap();
            for (index, water) in waters.iter().enumerate() {
                for other in &waters[..index] {
                    assert!(cell.minimum_image(water[0] - other[0]).norm() >= OXYGENS_APART);
                    for &p in water {
                        assert!(other.iter().all(|&q| cell.minimum_image(p - q).norm() >= ATOMS_APART));
                    }
                }
                assert!(cell.to_fractional(water[0]).to_array().iter().all(|s| (0.0..1.0).contains(s)));
            }
        }
    }

    #[test]
    fn no_atom_of_a_water_is_within_the_solute() {
        let cell = cell(Shape::Octahedron, 3.0);
        // solute atoms outside of the cell act through their periodic images
        let place = |i: u32| vec3(0.4 * f64::from(i % 3), 7.0 + 0.3 * f64::from(i / 3), -0.2 * f64::from(i));
        let solute: Vec<SoluteAtom> =
            (0..9).map(|i| SoluteAtom { position: place(i), radius: 0.1 + 0.02 * f64::from(i) }).collect();
        let (all, some) = (fill(&cell, &[], &TIP3P).unwrap(), fill(&cell, &solute, &TIP3P).unwrap());
        let clashes = |water: &[Vec3; 3]| {
            (0..3).any(|site| {
                solute.iter().any(|atom| {
                    let distance = cell.minimum_image(water[site] - atom.position).norm();
                    distance < RADIUS_SCALE * (atom.radius + WATER_RADII[site])
                })
            })
        };
        let expected: Vec<[Vec3; 3]> = all.iter().copied().filter(|water| !clashes(water)).collect();
        assert!(some == expected && some.len() < all.len());
    }

    #[test]
    fn the_same_input_gives_the_same_waters() {
        let cell = cell(Shape::Dodecahedron, 4.0);
        assert_eq!(fill(&cell, &[], &TIP3P), fill(&cell, &[], &TIP3P));
    }

    #[test]
    fn impossible_input_is_refused_with_advice() {
        let refused = |edge: f64, atom: SoluteAtom| {
            let problem = fill(&PeriodicCell::orthorhombic([edge, 3.0, 3.0]), &[atom], &TIP3P).unwrap_err();
            assert!(problem.help.is_some());
        };
        let good = SoluteAtom { position: Vec3::ZERO, radius: 0.1 };
        for edge in [0.5, -1.0, 0.0, f64::NAN, f64::INFINITY, 1e9] {
            refused(edge, good);
        }
        for radius in [-0.1, f64::NAN, 50.0] {
            refused(3.0, SoluteAtom { radius, ..good });
        }
        refused(3.0, SoluteAtom { position: vec3(f64::NAN, 0.0, 0.0), ..good });
    }

    proptest::proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn any_solute_is_solvated_or_refused(
            shape in prop::sample::select(SHAPES.to_vec()),
            distance in 1.5f64..2.5,
            raw in prop::collection::vec(([-9.0f64..9.0, -9.0..9.0, -9.0..9.0], -0.01f64..1.0), 0..9),
        ) {
            let cell = cell(shape, distance);
            let solute: Vec<SoluteAtom> = raw.into_iter().map(|(p, radius)| SoluteAtom { position: p.into(), radius }).collect();
            if let Ok(waters) = fill(&cell, &solute, &TIP3P) {
                prop_assert!(waters.len() as f64 <= 1.2 * 33.0 * cell.volume());
            }
        }
    }
}
