//! The mean local density, for systems that do not fill their cell.

use crate::cell::PeriodicCell;
use crate::vec3::Vec3;
use rayon::prelude::*;

/// Number of atoms per parallel task.
const ATOMS: usize = 4096;

/// Returns the volume N/ρ (nm³) that the N atoms fill. The mean local density is ρ = ⟨ρ(r_i)⟩ = Σ nₖ²/(N v): the cell
/// is divided into boxes of volume v and of a width of about `width` (nm), and box k contains nₖ atoms. For a liquid
/// that fills the cell the result is smaller than the volume of the cell by the fraction Var(n)/⟨n⟩², due to
/// fluctuations of nₖ (1 % for boxes of 0.9 nm in water). For a slab or a droplet in vacuum the result is the volume of
/// the liquid.
pub fn filled_volume(cell: Option<&PeriodicCell>, positions: &[Vec3], width: f64) -> f64 {
    let boxes = cell.map(|cell| cell.face_distances().map(|length| (length / width).floor().max(1.0)));
    let place = |r: &Vec3| match (cell, boxes) {
        (Some(cell), Some([a, b, c])) => {
            let s = cell.to_fractional(cell.wrap(*r).0);
            [s.x * a, s.y * b, s.z * c]
        }
        _ => [r.x / width, r.y / width, r.z / width],
    };
    let key = |r: &Vec3| place(r).map(|along| along.floor() as i64);
    let mut keys: Vec<[i64; 3]> = positions.par_iter().with_min_len(ATOMS).map(key).collect();
    keys.par_sort_unstable();
    let squares: f64 = keys.chunk_by(|a, b| a == b).map(|atoms| (atoms.len() as f64).powi(2)).sum();
    let volume = match (cell, boxes) {
        (Some(cell), Some(boxes)) => cell.volume() / boxes.iter().product::<f64>(),
        _ => width.powi(3),
    };
    (positions.len() as f64).powi(2) * volume / squares.max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};
    use crate::vec3::vec3;

    const WIDTH: f64 = 0.9;
    /// Edge of the cubic cell of the tests, nm.
    const EDGE: f64 = 6.0;
    const ATOMS: usize = 20_000;
    /// Tolerance of the filled volume for independent atoms. The relative variance Var(n)/⟨n⟩² is 1/⟨n⟩ = 1/93 in boxes
    /// of 1 nm³, and its mean over 216 boxes has a relative standard error of √(2/216). The tolerance is four standard
    /// errors.
    const FLUCTUATION: f64 = (1.0 + 4.0 * 0.096) / 93.0;
    /// Tolerance for a slab that is three boxes high and whose surface cuts through boxes. Boxes at the surface have
    /// a lower density.
    const SURFACE: f64 = 0.2;

    /// Returns random, independent positions of atoms in the part of the cell between z = 0 and z = `top` (nm).
    fn scattered(top: f64) -> Vec<Vec3> {
        let mut random = Stream::new(3, Purpose::Test, 0, 0);
        let mut along = |edge: f64| random.between(0.0, edge);
        (0..ATOMS).map(|_| vec3(along(EDGE), along(EDGE), along(top))).collect()
    }

    #[test]
    fn a_liquid_fills_its_cell() {
        let volume = filled_volume(Some(&PeriodicCell::orthorhombic([EDGE; 3])), &scattered(EDGE), WIDTH);
        let missing = 1.0 - volume / EDGE.powi(3);
        assert!((0.0..FLUCTUATION).contains(&missing), "{missing}");
    }

    #[test]
    fn a_slab_does_not_fill_it_however_high_the_cell_is_or_whether_there_is_one() {
        let (top, positions) = (2.7, scattered(2.7));
        let cells = [6.0, 20.0, 1e9].map(|height| Some(PeriodicCell::orthorhombic([EDGE, EDGE, height])));
        for cell in cells.into_iter().chain([None]) {
            let excess = filled_volume(cell.as_ref(), &positions, WIDTH) / (EDGE * EDGE * top) - 1.0;
            assert!(excess.abs() < SURFACE, "{excess} in {cell:?}");
        }
    }
}
