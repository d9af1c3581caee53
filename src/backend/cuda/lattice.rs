//! The cell as kernels see it.

use super::layout::{Lattice, ORIGIN_QUANTUM};
use crate::cell::PeriodicCell;
use crate::pair::{SHIFTS, shift_image};
use crate::pme::reciprocal_rows;
use crate::units::COULOMB;
use bytemuck::Zeroable;
use std::f64::consts::PI;

/// The lattice of a cell; all zeros where there is none.
pub(super) fn lattice(cell: Option<&PeriodicCell>) -> Lattice {
    let Some(cell) = cell else { return Lattice::zeroed() };
    let [a, b, c] = cell.rows();
    let [star_a, star_b, star_c] = reciprocal_rows(cell);
    Lattice {
        ax: a.x,
        bx: b.x,
        by: b.y,
        cx: c.x,
        cy: c.y,
        cz: c.z,
        inverse_width: cell.face_distances().map(f64::recip),
        reciprocal: [star_a.x, star_a.y, star_a.z, star_b.y, star_b.z, star_c.z].map(|v| v as f32),
        coulomb_over_pi_volume: (COULOMB / (PI * cell.volume())) as f32,
        periodic: 1,
    }
}

/// All lattice shifts, each as a multiple of [`ORIGIN_QUANTUM`] and the rest.
pub(super) fn shifts(cell: Option<&PeriodicCell>) -> Vec<[f32; 4]> {
    let parts = |index: usize| {
        let shift = cell.map(|cell| cell.shift(shift_image(index))).unwrap_or_default().to_array();
        let high = shift.map(|v| (v / ORIGIN_QUANTUM).round() * ORIGIN_QUANTUM);
        let padded = |v: [f64; 3]| [v[0] as f32, v[1] as f32, v[2] as f32, 0.0];
        [padded(high), padded([0, 1, 2].map(|k| shift[k] - high[k]))]
    };
    (0..SHIFTS).flat_map(parts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cuda::layout::CENTRAL_SHIFT;

    #[test]
    fn shifts_are_split_exactly() {
        let cell = PeriodicCell::from_lengths_angles([6.217; 3], [109.471_220_6; 3]).unwrap();
        let table = shifts(Some(&cell));
        for index in 0..SHIFTS {
            let exact = cell.shift(shift_image(index)).to_array();
            for k in 0..3 {
                let (high, low) = (f64::from(table[2 * index][k]), f64::from(table[2 * index + 1][k]));
                // half a quantum rounded to 24 bits
                assert!((high + low - exact[k]).abs() < ORIGIN_QUANTUM / 2.0 / 16_777_216.0);
                assert_eq!((high / ORIGIN_QUANTUM).fract(), 0.0);
            }
        }
        assert_eq!(shift_image(CENTRAL_SHIFT as usize), [0; 3]);
    }
}
