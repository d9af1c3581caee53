//! Charge mesh of one thread, padded for splines that extend beyond the upper faces of the cell.

use crate::memory;
use crate::simd::{Aligned16, LANES};
use crate::system::PmeParameters;

/// Strides and sizes of a mesh that is padded for splines that extend beyond the upper faces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Padded {
    /// number of grid points of the periodic mesh along x, y and z
    pub size: [usize; 3],
    /// number of grid points by which a spline may extend beyond the last point along each direction
    pub over: usize,
    /// number of floats from one z-row to the next, a multiple of the vector length
    pub row: usize,
    /// number of floats from one x-plane to the next
    pub plane: usize,
    /// number of x-planes, including the padding
    pub planes: usize,
}

impl Padded {
    pub(super) fn new(parameters: &PmeParameters) -> Self {
        let PmeParameters { grid: [nx, ny, nz], order, .. } = *parameters;
        let over = order - 1;
        // charges are spread and forces are gathered in groups of four points, so rows are padded to multiples of four
        // points
        let row = (nz + order.next_multiple_of(4) - 1).next_multiple_of(LANES);
        Padded { size: parameters.grid, over, row, plane: (ny + over) * row, planes: nx + over }
    }

    /// Allocates all planes, filled with zeros. Planes to which nothing is written take no memory: with several ranks,
    /// the planes far from the atoms of this rank.
    pub(super) fn grid(&self) -> Vec<Aligned16> {
        memory::zeros(self.plane * self.planes / LANES)
    }
}

/// Mesh onto which one thread spreads the charges of its blocks.
pub(super) struct SpreadBuffer {
    /// private charge mesh
    pub grid: Vec<Aligned16>,
    /// whether this thread has spread charges onto each x-plane
    pub touched: Vec<bool>,
    /// whether the spline of any atom begins at each x-plane
    pub begins: Vec<bool>,
}

impl SpreadBuffer {
    /// Creates a buffer without charges.
    pub(super) fn new(padded: &Padded) -> Self {
        let marks = |planes| vec![false; planes];
        SpreadBuffer { grid: padded.grid(), touched: marks(padded.planes), begins: marks(padded.size[0]) }
    }

    /// Adds the values in the padding beyond the upper faces to their periodic images inside the mesh. The padding
    /// along z keeps its values.
    pub(super) fn fold(&mut self, padded: &Padded) {
        let Padded { size: [nx, ny, nz], row, plane, over, .. } = *padded;
        let grid: &mut [f32] = bytemuck::cast_slice_mut(&mut self.grid);
        for x in 0..over {
            if self.touched[nx + x] {
                self.touched[x] = true;
                let (inside, overhang) = grid.split_at_mut(nx * plane);
                add(&mut inside[x * plane..][..plane], &overhang[x * plane..][..plane]);
            }
        }
        for (plane, _) in grid.chunks_exact_mut(plane).zip(&self.touched).take(nx).filter(|(_, touched)| **touched) {
            let (inside, overhang) = plane.split_at_mut(ny * row);
            add(&mut inside[..over * row], overhang);
            for row in inside.chunks_exact_mut(row) {
                // `over` is small, and for few elements a plain loop is faster than `add`
                for z in 0..over {
                    row[z] += row[nz + z];
                }
            }
        }
    }
}

/// Adds `from` to `to`, element by element.
pub(super) fn add(to: &mut [f32], from: &[f32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}
