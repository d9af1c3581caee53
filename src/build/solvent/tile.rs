//! The equilibrated box of water whose copies fill a cell.
//!
//! The box is cubic and periodic and contains rigid TIP3P waters at 300 K and 1 bar. `data/water.py` makes the file and
//! describes its format.

use std::io::Read;

use md_engine::error::Problem;
use md_engine::vec3::{Vec3, vec3};

/// Contents of the file `water.bin`, compressed with xz.
const PACKED: &[u8] = include_bytes!("../data/water.bin.xz");
/// Unit of length in the file of the box, nm.
const UNIT: f64 = 1e-5;

/// Geometry of a rigid water.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaterGeometry {
    /// distance of the oxygen to each hydrogen, nm
    pub oxygen_hydrogen: f64,
    /// distance between the hydrogens, nm
    pub hydrogen_hydrogen: f64,
}

impl WaterGeometry {
    /// Geometry of the water molecule in the gas phase, which TIP3P, TIP4P and TIP4P-Ew use: 0.09572 nm and 104.52° (W.
    /// L. Jorgensen et al., J. Chem. Phys. 79, 926 (1983), doi:10.1063/1.445869).
    pub const TIP3P: Self = Self { oxygen_hydrogen: 0.09572, hydrogen_hydrogen: 0.151_390_065_452_732 };

    /// Refuses distances that do not form a triangle, and O–H distances outside the range from 0.05 nm to 0.15 nm.
    pub(super) fn check(&self) -> Result<(), Problem> {
        let Self { oxygen_hydrogen: leg, hydrogen_hydrogen: base } = *self;
        if (0.05..=0.15).contains(&leg) && 0.0 < base && base < 2.0 * leg {
            return Ok(());
        }
        Err(Problem::new(format!("a water molecule cannot have {leg} nm from O to H and {base} nm from H to H"))
            .help("give the distances in nm, such as 0.09572 and 0.15139"))
    }

    /// Returns the positions of O, H, H of a molecule with this geometry. The oxygen is at `oxygen`; the plane and the
    /// orientation of the molecule are those of `water`.
    fn shaped(&self, oxygen: Vec3, water: &[Vec3; 3]) -> [Vec3; 3] {
        let [o, first, second] = *water;
        let bisector = (first + second) * 0.5 - o;
        let bisector = bisector / bisector.norm();
        let across = first - second;
        let across = across - bisector * across.dot(bisector);
        let half = 0.5 * self.hydrogen_hydrogen;
        let along = bisector * (self.oxygen_hydrogen.powi(2) - half * half).sqrt();
        let side = across * (half / across.norm());
        [oxygen, oxygen + along + side, oxygen + along - side]
    }
}

/// A cubic periodic box of whole waters, with all oxygens in the box.
pub(super) struct Tile {
    /// edge of the box, nm
    pub(super) edge: f64,
    /// positions of O, H, H of each water, nm
    pub(super) waters: Vec<[Vec3; 3]>,
}

impl Tile {
    /// Reads the built-in box of water.
    pub(super) fn read() -> Self {
        let mut bytes = vec![];
        lzma_rust2::XzReader::new(PACKED, false).read_to_end(&mut bytes).expect("the file of this package is intact");
        let words = bytes.chunks_exact(4).map(|word| i32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        let numbers: Vec<f64> = words.skip(1).map(|word| f64::from(word) * UNIT).collect();
        let site = |at: &[f64]| vec3(at[0], at[1], at[2]);
        let waters = numbers[1..].chunks_exact(9).map(|m| [site(m), site(&m[3..]), site(&m[6..])]).collect();
        Self { edge: numbers[0], waters }
    }

    /// Number of molecules per nm³.
    pub(super) fn density(&self) -> f64 {
        self.waters.len() as f64 / self.edge.powi(3)
    }

    /// Returns the waters whose oxygen position satisfies `inside`, from an infinite lattice of copies of the box. Only
    /// boxes that overlap the region between the corners `low` and `high` (nm) are searched. Distances between oxygens
    /// are multiplied by `scale`, and the returned molecules have the geometry `geometry`.
    pub(super) fn waters_between(
        &self,
        [low, high]: [Vec3; 2],
        scale: f64,
        geometry: &WaterGeometry,
        inside: impl Fn(Vec3) -> bool,
    ) -> Vec<[Vec3; 3]> {
        let edge = self.edge * scale;
        let shaped: Vec<[Vec3; 3]> = self.waters.iter().map(|water| geometry.shaped(water[0] * scale, water)).collect();
        let (first, last) = (low.map(|v| (v / edge).floor() as i64), high.map(|v| (v / edge).floor() as i64));
        let mut found = vec![];
        for i in first.x..=last.x {
            for j in first.y..=last.y {
                for k in first.z..=last.z {
                    let corner = vec3(i as f64, j as f64, k as f64) * edge;
                    let moved = shaped.iter().map(|water| water.map(|site| site + corner));
                    found.extend(moved.filter(|water| inside(water[0])));
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use md_engine::cell::PeriodicCell;
    use md_engine::neighbours::Neighbours;

    #[test]
    fn the_box_has_the_density_of_tip3p() {
        let tile = Tile::read();
        assert_eq!(tile.waters.len(), 900);
        // the density of TIP3P is 0.982 g/cm³ at 298 K (Jorgensen 1983), or 32.8 molecules per nm³; with PME the
        // density is 0.985 g/cm³
        let density = tile.density();
        assert!((density / 32.9 - 1.0).abs() < 0.015, "{density}");
    }

    #[test]
    fn molecules_of_the_box_are_whole_rigid_and_apart() {
        let tile = Tile::read();
        for water in &tile.waters {
            let [o, first, second] = *water;
            let lengths = [(first - o).norm(), (second - o).norm(), (first - second).norm()];
            let expected = [0.09572, 0.09572, 0.15139];
            assert!(lengths.iter().zip(expected).all(|(a, b)| (a - b).abs() < 2.0 * UNIT), "{lengths:?}");
            assert!(o.to_array().iter().all(|v| (0.0..=tile.edge).contains(v)));
        }
        let oxygens: Vec<Vec3> = tile.waters.iter().map(|water| water[0]).collect();
        let near = Neighbours::new(Some(&PeriodicCell::orthorhombic([tile.edge; 3])), &oxygens, 0.235);
        for (index, &oxygen) in oxygens.iter().enumerate() {
            near.visit(oxygen, |other, _| assert_eq!(other as usize, index));
        }
    }

    #[test]
    fn geometry_of_a_model_is_exact() {
        let tile = Tile::read();
        // geometry of SPC/E: an O–H length of 0.1 nm and an angle of 109.47°
        let model = WaterGeometry { oxygen_hydrogen: 0.1, hydrogen_hydrogen: 0.163_299 };
        for water in &tile.waters {
            let [o, first, second] = model.shaped(water[0], water);
            assert!(((first - o).norm() - 0.1).abs() < 1e-12 && ((second - o).norm() - 0.1).abs() < 1e-12);
            assert!(((first - second).norm() - 0.163_299).abs() < 1e-12);
            assert!((first - water[1]).norm() < 0.01 && (second - water[2]).norm() < 0.01);
        }
        assert!(model.check().is_ok());
        let flawed = [[0.1, 0.2], [f64::NAN, 0.15], [0.9572, 1.5139], [0.1, 0.0]];
        for [oxygen_hydrogen, hydrogen_hydrogen] in flawed {
            assert!(WaterGeometry { oxygen_hydrogen, hydrogen_hydrogen }.check().is_err());
        }
    }
}
