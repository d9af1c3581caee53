//! Charge mesh of one thread, padded for splines that extend beyond the upper faces of the cell.

use crate::memory;
use crate::simd::{Aligned16, LANES};
use crate::system::PmeParameters;
use std::ops::Range;

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

    /// Copies the first rows of a plane into the padding behind its last row, and the first points of every row into
    /// the padding behind the last point.
    pub(super) fn fill_overhang(&self, plane: &mut [f32]) {
        let Padded { size: [_, ny, nz], row, over, .. } = *self;
        // a plain loop over the few padding points of a row is faster than a slice copy, which would be a call for each
        // row
        for z in 0..over {
            for y in 0..ny {
                plane[y * row + nz + z] = plane[y * row + z];
            }
        }
        plane.copy_within(..over * row, ny * row);
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
    /// whether there are charges on each x-plane
    pub touched: Vec<bool>,
    /// whether there are charges on each row of the touched planes, by y; all other rows are zero
    pub rows: Vec<bool>,
    /// whether there are charges on each vector of the touched rows, by z; marked only with several ranks
    pub vectors: Vec<bool>,
    /// whether the spline of any atom begins at each point along x; with several ranks also along y and z, because a
    /// rank sends only the parts of planes near its atoms
    pub begins: Vec<Vec<bool>>,
}

impl SpreadBuffer {
    /// Creates a buffer without charges. `shared` is true if several ranks share the mesh.
    pub(super) fn new(padded: &Padded, shared: bool) -> Self {
        let directions = if shared { 3 } else { 1 };
        SpreadBuffer {
            grid: padded.grid(),
            touched: vec![false; padded.planes],
            rows: vec![false; padded.plane / padded.row],
            vectors: vec![false; padded.row / LANES],
            begins: padded.size[..directions].iter().map(|&points| vec![false; points]).collect(),
        }
    }

    /// Removes all charges.
    pub(super) fn clear(&mut self, padded: &Padded) {
        let row = padded.row / LANES;
        let planes = self.grid.chunks_exact_mut(padded.plane / LANES).zip(&self.touched);
        for (plane, _) in planes.filter(|(_, touched)| **touched) {
            for rows in runs(&self.rows) {
                plane[rows.start * row..rows.end * row].fill(Aligned16::default());
            }
        }
        [&mut self.touched, &mut self.rows, &mut self.vectors].into_iter().for_each(|marks| marks.fill(false));
        self.begins.iter_mut().for_each(|begins| begins.fill(false));
    }

    /// Marks the planes, rows and vectors that splines of order `order` reach, including the periodic images of points
    /// in the padding.
    pub(super) fn mark(&mut self, order: usize, padded: &Padded) {
        let Self { touched, rows, vectors, begins, .. } = self;
        let begins = &*begins;
        let points = |d: usize| (0..padded.size[d]).filter(move |&point| begins[d][point]);
        points(0).for_each(|x| touched[x..x + order].fill(true));
        if begins.len() == 1 {
            rows.fill(true);
            return;
        }
        for y in points(1) {
            rows[y..y + order].fill(true);
            rows[..(y + order).saturating_sub(padded.size[1])].fill(true);
        }
        for z in points(2) {
            vectors[z / LANES..(z + order).div_ceil(LANES)].fill(true);
            vectors[..(z + order).saturating_sub(padded.size[2]).div_ceil(LANES)].fill(true);
        }
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
                for rows in runs(&self.rows) {
                    let rows = x * plane + rows.start * row..x * plane + rows.end * row;
                    add(&mut inside[rows.clone()], &overhang[rows]);
                }
            }
        }
        for (plane, _) in grid.chunks_exact_mut(plane).zip(&self.touched).take(nx).filter(|(_, touched)| **touched) {
            let (inside, overhang) = plane.split_at_mut(ny * row);
            let (rows, padding) = self.rows.split_at(ny);
            for rows in runs(padding) {
                let rows = rows.start * row..rows.end * row;
                add(&mut inside[rows.clone()], &overhang[rows]);
            }
            for (row, _) in inside.chunks_exact_mut(row).zip(rows).filter(|(_, touched)| **touched) {
                // `over` is small, and for few elements a plain loop is faster than `add`
                for z in 0..over {
                    row[z] += row[nz + z];
                }
            }
        }
    }
}

/// Returns the ranges of consecutive marks that are set.
fn runs(marks: &[bool]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut end = 0;
    let runs = marks.chunk_by(|a, b| a == b).map(move |run| {
        end += run.len();
        (run[0], end - run.len()..end)
    });
    runs.filter(|(is_set, _)| *is_set).map(|(_, range)| range)
}

/// Adds `from` to `to`, element by element.
pub(super) fn add(to: &mut [f32], from: &[f32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}
