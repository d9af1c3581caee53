//! Writer of GROMACS structures (`.gro`): positions to 0.001 nm, velocities to 0.0001 nm/ps.

use std::fmt::Write as _;
use std::io::{Result, Write};

use crate::cell::PeriodicCell;
use crate::format::text::{Columns, write_in_pieces};
use crate::system::Topology;
use crate::vec3::Vec3;

/// Smallest atom or residue number that does not fit into five columns, where the numbers start again at 0.
/// [`NEGATIVE_NUMBERS`] is the same without sign for negative residue numbers, whose sign takes a column.
const NUMBERS: usize = 100_000;
const NEGATIVE_NUMBERS: i32 = 10_000;

/// Columns of a position (nm), and of a velocity (nm/ps). All numbers of a file have the same number of decimals,
/// because readers take the width of the columns from the distance between decimal points.
const POSITION: Columns = Columns { width: 8, decimals: 3..=3 };
const VELOCITY: Columns = Columns { width: 8, decimals: 4..=4 };
/// Columns of a number of the box, after a blank. The box is read as words.
const BOX: Columns = Columns { width: 9, decimals: 0..=5 };

/// Writes the given atoms, which must be in ascending order. `positions` (nm) and `velocities` (nm/ps, or empty) have
/// an element for every atom of the topology. If there is no cell, the box is written as zeros. Returns an error that
/// contains a [`crate::error::Problem`] if a number does not fit into its columns.
pub fn write_gro(
    topology: &Topology,
    atoms: impl IntoIterator<Item = usize>,
    positions: &[Vec3],
    velocities: &[Vec3],
    cell: Option<&PeriodicCell>,
    title: &str,
    out: &mut impl Write,
) -> Result<()> {
    let title: String = title.chars().filter(|c| !c.is_control()).take(200).collect();
    let atoms: Vec<usize> = atoms.into_iter().collect();
    writeln!(out, "{title}\n{:5}", atoms.len())?;
    write_in_pieces(&atoms, out, |index, piece, text| {
        for (number, &i) in (index + 1..).zip(piece) {
            let atom = &topology.atoms[i];
            let residue = &topology.residues[atom.residue as usize];
            // writing to a String cannot fail
            let _ = write!(
                text,
                "{:5}{:<5.5}{:>5.5}{:5}",
                residue.number % if residue.number < 0 { NEGATIVE_NUMBERS } else { NUMBERS as i32 },
                residue.name.as_str(),
                atom.name.as_str(),
                number % NUMBERS,
            );
            POSITION.push_of_atom(positions[i].to_array(), i, "position (nm)", text)?;
            if let Some(velocity) = velocities.get(i) {
                VELOCITY.push_of_atom(velocity.to_array(), i, "velocity (nm/ps)", text)?;
            }
            text.push('\n');
        }
        Ok(())
    })?;
    let [a, b, c] = cell.map_or([[0.0; 3]; 3], |cell| cell.rows().map(Vec3::to_array));
    // the diagonal elements, followed by the other elements in the order v1y v1z v2x v2z v3x v3y if the cell is not
    // rectangular
    let rest = [a[1], a[2], b[0], b[2], c[0], c[1]];
    let numbers = [a[0], b[1], c[2]].into_iter().chain(rest).take(if rest == [0.0; 6] { 3 } else { 9 });
    let numbers: Result<Vec<String>> = numbers.map(|value| BOX.of_cell(&[value], "box (nm)")).collect();
    writeln!(out, " {}", numbers?.join(" "))
}
