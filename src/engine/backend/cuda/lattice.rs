//! Conversion of the cell to and from the device. The device itself computes all quantities that are derived from the
//! lattice vectors (`kernels/ensemble.cu`). A barostat changes the cell on the device, and the same cell uploaded from
//! the host must give the same derived quantities, bit for bit.

use super::layout::Lattice;
use crate::cell::PeriodicCell;
use crate::vec3::vec3;
use bytemuck::Zeroable;

/// Returns the lattice vectors (rows) of a cell as the structure for the device. All vectors are zero if there is no
/// cell.
pub(super) fn lattice(cell: Option<&PeriodicCell>) -> Lattice {
    let Some(cell) = cell else { return Lattice::zeroed() };
    let [a, b, c] = cell.rows();
    Lattice { ax: a.x, bx: b.x, by: b.y, cx: c.x, cy: c.y, cz: c.z, periodic: 1, ..Lattice::zeroed() }
}

/// Returns the cell with the given lattice vectors (rows); `None` if the rows are zero. The rows must form a reduced
/// cell.
pub(super) fn cell(lattice: &Lattice) -> Option<PeriodicCell> {
    let &Lattice { ax, bx, by, cx, cy, cz, .. } = lattice;
    let rows = [vec3(ax, 0.0, 0.0), vec3(bx, by, 0.0), vec3(cx, cy, cz)];
    if lattice.periodic == 0 { None } else { PeriodicCell::from_rows(rows) }
}
