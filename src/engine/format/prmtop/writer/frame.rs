//! Writer of the sections that describe the cell and the molecules.

use super::sections::Text;
use crate::cell::PeriodicCell;
use crate::format::parts::{chemical_links, starts};
use crate::system::Topology;
use crate::units::ANGSTROM;

/// Tolerance in degrees for the angles of a box. The tolerance allows for the rounding of angles in AMBER topologies,
/// which have seven decimals.
const SAME_ANGLE: f64 = 1e-5;

/// Value of IFBOX for a cell that is neither rectangular nor a truncated octahedron.
const OTHER_SHAPE: usize = 3;

/// Returns the value of IFBOX: 1 for a rectangular box, 2 for a truncated octahedron, and 3 for any other box.
pub(super) fn shape(cell: &PeriodicCell) -> usize {
    let (_, angles) = cell.lengths_angles();
    let octahedron = (-1.0_f64 / 3.0).acos().to_degrees();
    let all = |wanted: f64| angles.iter().all(|angle| (angle - wanted).abs() < SAME_ANGLE);
    if all(90.0) {
        1
    } else if all(octahedron) {
        2
    } else {
        OTHER_SHAPE
    }
}

/// Returns a sentence about the angles of a cell that `BOX_DIMENSIONS` does not contain; `None` if all angles follow
/// from the section.
pub(super) fn loss(cell: &PeriodicCell) -> Option<String> {
    let loss = "BOX_DIMENSIONS holds only one of the three angles of this cell: other programs must take the cell from \
                the coordinates";
    (shape(cell) == OTHER_SHAPE).then(|| loss.to_owned())
}

/// Writes `SOLVENT_POINTERS`, `ATOMS_PER_MOLECULE` and `BOX_DIMENSIONS`. Waters are the solvent.
pub(super) fn write(topology: &Topology, cell: &PeriodicCell, text: &mut Text) {
    let starts = starts(topology.atoms.len(), |see| chemical_links(topology, see));
    let molecules = starts.len() - 1;
    let water = (0..topology.residues.len()).find(|&residue| topology.is_water(residue));
    let solute_residues = water.unwrap_or(topology.residues.len());
    let first_atom = water.map_or(topology.atoms.len(), |residue| topology.residues[residue].first as usize);
    let first_solvent = starts[..molecules].partition_point(|&start| (start as usize) < first_atom) + 1;
    text.integers_as("SOLVENT_POINTERS", 3, 8, [solute_residues, molecules, first_solvent]);
    text.integers("ATOMS_PER_MOLECULE", starts.windows(2).map(|range| (range[1] - range[0]) as usize));
    let (lengths, [_, beta, _]) = cell.lengths_angles();
    let [a, b, c] = lengths.map(|length| length / ANGSTROM);
    text.reals("BOX_DIMENSIONS", [beta, a, b, c]);
}
