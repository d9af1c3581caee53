//! Frame of a trajectory as it is read from a file.

use crate::cell::PeriodicCell;
use crate::vec3::Vec3;

/// Frame as read from a file, with atoms in topology order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredFrame {
    /// number of steps since the start of the run
    pub step: i64,
    /// simulated time, ps
    pub time: f64,
    /// unit cell; `None` for a frame without a cell
    pub cell: Option<PeriodicCell>,
    /// positions, nm
    pub positions: Vec<Vec3>,
    /// velocities, nm/ps; empty for a frame without velocities
    pub velocities: Vec<Vec3>,
    /// forces, kJ/mol/nm; empty for a frame without forces
    pub forces: Vec<Vec3>,
}

impl StoredFrame {
    /// Removes the cell and all atoms, and keeps the allocated memory for the next frame.
    pub(super) fn clear(&mut self) {
        self.cell = None;
        [&mut self.positions, &mut self.velocities, &mut self.forces].into_iter().for_each(Vec::clear);
    }

    /// Sets the cell from lattice vectors (nm) in lower-triangular form. If all vectors are zero, the frame gets no
    /// cell. The error says that the vectors do not form a cell.
    pub(super) fn set_cell(&mut self, rows: [Vec3; 3]) -> Result<(), String> {
        self.cell = PeriodicCell::from_rows(rows);
        if self.cell.is_some() || rows == [Vec3::ZERO; 3] {
            return Ok(());
        }
        let vectors = rows.map(|Vec3 { x, y, z }| format!("({x} {y} {z})")).join(", ");
        Err(format!("the lattice vectors {vectors} nm do not form a cell"))
    }

    /// Sets the cell from lattice vectors (nm) in any orientation. Lattice vectors that are not lower-triangular are
    /// rotated together with positions, velocities and forces; positions, velocities and forces must therefore be read
    /// before the call. Returns `None` if the vectors cannot form a periodic cell.
    pub(super) fn take_lattice(&mut self, rows: [Vec3; 3]) -> Option<()> {
        if let Some(cell) = PeriodicCell::from_rows(rows) {
            self.cell = Some(cell);
            return Some(());
        }
        let (cell, axes) = PeriodicCell::from_vectors(rows)?;
        self.cell = Some(cell);
        for vector in [&mut self.positions, &mut self.velocities, &mut self.forces].into_iter().flatten() {
            *vector = Vec3::from(axes.map(|axis| vector.dot(axis)));
        }
        Some(())
    }
}
