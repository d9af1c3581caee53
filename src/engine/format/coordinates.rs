//! Positions, velocities and cell of a coordinate file, as returned by every coordinate reader.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::number;
use crate::cell::PeriodicCell;
use crate::error::Problem;
use crate::system::{ChainLabel, Name};
use crate::vec3::{Vec3, vec3};

pub use crate::units::{FARTHEST, FASTEST};

/// Positions of all atoms and the other contents of a coordinate file, in topology order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coordinates {
    /// title line of the coordinate file
    pub title: String,
    /// time in ps; `None` if the file states no time
    pub time: Option<f64>,
    /// positions of all atoms in nm
    pub positions: Vec<Vec3>,
    /// velocities in nm/ps; `None` if the file has no velocities
    pub velocities: Option<Vec<Vec3>>,
    /// periodic cell; `None` if the file has no box
    pub cell: Option<PeriodicCell>,
    /// names and numbers of all atoms; empty if the format has no names. [`super::check_order`] compares these labels
    /// with a topology
    pub labels: Vec<Label>,
    /// contents of the file that were left out
    pub left_out: LeftOut,
}

/// Parts of a file that were left out when a structure was read from the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// number of models after the first, if only the first model was requested
    pub models: usize,
    /// number of atoms at alternative locations that were left out; in each residue, the first location in the file is
    /// read
    pub atoms: usize,
    /// whether the cell is the unit cell of a crystal, and the file lacks the symmetry-equivalent copies of the atoms
    /// in the unit cell
    pub symmetry: bool,
    /// whether the cell was left out because it is the cell that OpenMM gives to systems without a box
    pub default_box: bool,
    /// whether the lattice vectors of the file were replaced by other vectors of the same lattice
    pub vectors: bool,
}

/// Note for the user about a cell whose lattice vectors were replaced.
pub const OTHER_VECTORS: &str = "the cell is described by other lattice vectors of the same lattice than in the file: \
                                 md uses reduced lattice vectors, so that edges or angles differ";

/// Note for the user about a cell that was left out because it is the cell that OpenMM gives to systems without a box.
pub const DEFAULT_BOX: &str = "the cube of 2 nm in the file is the box that OpenMM gives to systems without a box, and is \
                               read as no cell; if the system has this cell, write it in another format, such as PDB";

impl LeftOut {
    /// Returns notes for the user about the differences between the cell and the file.
    pub fn of_cell(self) -> impl Iterator<Item = &'static str> {
        let vectors = self.vectors.then_some(OTHER_VECTORS);
        self.default_box.then_some(DEFAULT_BOX).into_iter().chain(vectors)
    }
}

/// Names and numbers of an atom in a coordinate file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// name of the atom
    pub name: Name,
    /// atomic number; 0 if the file states no element
    pub element: u8,
    /// name of the residue
    pub residue: Name,
    /// number of the residue, see [`ResidueNumbers`]; 0 if the residue number in the file is not a number
    pub number: i32,
    /// identifier of the chain and name of the segment
    pub chain: ChainLabel,
    /// hash of chain, residue number and insertion code, which distinguishes residues with the same name
    pub place: u64,
}

impl Label {
    /// Whether two consecutive atoms belong to the same residue.
    pub(super) fn is_of_residue(&self, other: &Self) -> bool {
        (self.residue, self.number, self.place) == (other.residue, other.number, other.place)
    }

    /// Sets the residue name, the residue number (given as text) and `place`, a hash that distinguishes the residue
    /// from other residues.
    pub(super) fn in_residue(self, name: &[u8], number: &[u8], place: impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        place.hash(&mut hasher);
        Label {
            residue: Name::new(&String::from_utf8_lossy(name)),
            number: number::integer(number).unwrap_or_default(),
            place: hasher.finish(),
            ..self
        }
    }
}

/// Reader of residue numbers in a format with few columns. Programs continue with 0 or 1 after the largest number that
/// fits into the columns. In consecutive residues of one chain, the largest number followed by 0 or 1 therefore means
/// that all following numbers of the chain are larger by one more period. If a number is smaller than the number before
/// in another way, the numbers begin anew, and are not changed.
pub(super) struct ResidueNumbers {
    /// largest number that fits into the columns
    largest: i32,
    /// chain and number of the last residue, as in the file
    last: Option<(ChainLabel, i32)>,
    /// number that is added to the numbers in the file
    added: i32,
}

impl ResidueNumbers {
    /// Begins to read a file with `digits` columns for residue numbers.
    pub(super) fn new(digits: u32) -> Self {
        ResidueNumbers { largest: 10_i32.pow(digits) - 1, last: None, added: 0 }
    }

    /// Returns the number of the residue of the next atom. `printed` is the number in the file; `None` if the file has
    /// no number. Insertion codes are ignored.
    pub(super) fn next(&mut self, chain: ChainLabel, printed: Option<i32>) -> i32 {
        let chain = ChainLabel { insertion_code: None, ..chain };
        match (self.last, printed) {
            (Some((before, last)), Some(now)) if before == chain => {
                if last == self.largest && (now == 0 || now == 1) {
                    self.added = self.added.saturating_add(self.largest + 1);
                } else if now < last {
                    self.added = 0;
                }
            }
            _ => self.added = 0,
        }
        self.last = printed.map(|now| (chain, now));
        printed.map_or(0, |now| now.saturating_add(self.added))
    }
}

/// Returns the vector times `unit`. Returns `None` if the product is longer than `most`, or if a coordinate of the
/// vector is not a number.
pub(super) fn scaled(&[x, y, z]: &[f64; 3], unit: f64, most: f64) -> Option<Vec3> {
    let vector = vec3(x, y, z) * unit;
    (vector.norm() <= most).then_some(vector)
}

/// Returns the error for a vector that [`scaled`] rejects. `index` is the index of the atom with this vector.
pub(super) fn too_long(index: usize, triple: &[f64; 3]) -> Problem {
    Problem::new(format!(
        "atom {}: {triple:?} exceeds the limit (1 mm for positions, the speed of light for velocities)",
        index + 1
    ))
    .help("the file is damaged, or the run that wrote it was unstable")
}

/// Returns the cell with the given edges (nm) and angles (degrees). Returns `None` if edges and angles do not form a
/// cell, or if an edge exceeds [`FARTHEST`].
pub fn cell_of(lengths: [f64; 3], angles: [f64; 3]) -> Option<PeriodicCell> {
    lengths.iter().all(|&edge| edge <= FARTHEST).then(|| PeriodicCell::from_lengths_angles(lengths, angles))?
}

/// Difference of an edge (relative) and of an angle (degrees) that is a rounding error. If a lattice vector is replaced
/// by another, edges or angles change by much more.
const SAME_EDGE: f64 = 1e-3;
const SAME_ANGLE: f64 = 1e-2;

/// Whether a cell has other lattice vectors than a file with the given edges (nm) and angles (degrees).
pub(super) fn has_other_vectors(cell: &PeriodicCell, lengths: [f64; 3], angles: [f64; 3]) -> bool {
    let (edges, own) = cell.lengths_angles();
    edges.iter().zip(lengths).any(|(edge, length)| (edge - length).abs() > SAME_EDGE * length)
        || own.iter().zip(angles).any(|(own, angle)| (own - angle).abs() > SAME_ANGLE)
}

/// Whether the edges (Å) are a placeholder, which means that the structure has no cell. Structures that were not solved
/// from crystals have edges of 1 Å or 0 as placeholders.
pub(super) fn is_dummy(lengths: [f64; 3]) -> bool {
    lengths == [1.0; 3] || lengths == [0.0; 3]
}

/// Names of the space group P 1, which has no symmetry except the translations of the lattice. The names are in
/// capitals and without blanks. The cell of a file that names no space group is taken for a simulation cell. Programs
/// that do not align the columns of PDB files put the number of copies into the field of the space group, as in `P 1
/// 1`.
const WITHOUT_SYMMETRY: [&str; 7] = ["", "?", ".", "1", "P1", "P11", "P111"];

/// Whether the symmetry of a crystal with the given space group puts further copies of the atoms into its cell.
/// `copies` is the number of copies of the molecule in the cell (Z). MD programs write the space group `P 1`. For Z =
/// 1, the cell contains a single copy, and the translations of the lattice alone generate the crystal.
pub(super) fn has_symmetry(group: &str, copies: &str) -> bool {
    let group: String = group.split_whitespace().collect::<String>().to_ascii_uppercase();
    !WITHOUT_SYMMETRY.contains(&group.as_str()) && copies.trim() != "1"
}

/// Returns the time in ps from a title that has the time after `t=`, as in titles that GROMACS writes.
pub(super) fn time_of_title(title: &str) -> Option<f64> {
    let at = title.rmatch_indices("t=").map(|(at, _)| at);
    let alone = |at: &usize| !title[..*at].ends_with(|before: char| before.is_alphanumeric());
    let after = at.filter(alone).find_map(|at| title[at + 2..].split_whitespace().next())?;
    number::real(after.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_may_hold_the_time() {
        for (title, expected) in [
            ("Protein in water t=   1.50000 step= 750", Some(1.5)),
            ("t=0", Some(0.0)),
            ("Best=4", None),
            ("no time, t= later", None),
            ("", None),
        ] {
            assert_eq!(time_of_title(title), expected, "{title}");
        }
    }
}
