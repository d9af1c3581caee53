//! Conversion of the cell to and from the device. The device computes the quantities derived from its rows
//! (`kernels/ensemble.cu`): a barostat changes the cell there, and an uploaded cell must give the same bits.

use super::layout::Lattice;
use crate::cell::PeriodicCell;
use crate::vec3::vec3;
use bytemuck::Zeroable;

/// The rows of a cell; all zeros where there is none.
pub(super) fn lattice(cell: Option<&PeriodicCell>) -> Lattice {
    let Some(cell) = cell else { return Lattice::zeroed() };
    let [a, b, c] = cell.rows();
    Lattice { ax: a.x, bx: b.x, by: b.y, cx: c.x, cy: c.y, cz: c.z, periodic: 1, ..Lattice::zeroed() }
}

/// The cell with these rows, if there is one. They already are those of a reduced cell.
pub(super) fn cell(lattice: &Lattice) -> Option<PeriodicCell> {
    let &Lattice { ax, bx, by, cx, cy, cz, .. } = lattice;
    let rows = [vec3(ax, 0.0, 0.0), vec3(bx, by, 0.0), vec3(cx, cy, cz)];
    if lattice.periodic == 0 { None } else { PeriodicCell::from_rows(rows) }
}
