//! Positions, velocities and cell: what every reader of coordinates returns.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use super::known::{COORDINATES, MODELS, recognise};
use super::number;
use crate::cell::PeriodicCell;
use crate::error::{Problem, Result};
use crate::system::Name;
use crate::vec3::{Vec3, vec3};

pub use crate::units::{FARTHEST, FASTEST};

/// Result of a reading step.
type Parsed<T> = std::result::Result<T, Problem>;

/// Positions and what goes with them, in topology order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coordinates {
    /// title line
    pub title: String,
    /// ps
    pub time: Option<f64>,
    /// nm
    pub positions: Vec<Vec3>,
    /// nm/ps
    pub velocities: Option<Vec<Vec3>>,
    /// `None` where there is no box
    pub cell: Option<PeriodicCell>,
    /// of all atoms, or none where the format has no names; [`super::check_order`] compares them with a topology
    pub labels: Vec<Label>,
    /// of the file, and not here
    pub left_out: LeftOut,
}

/// What a file holds beyond the structure that was read from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// models after the first, where one was asked for
    pub models: usize,
    /// atoms at alternative locations: of each residue the first location is taken
    pub atoms: usize,
}

/// What a coordinate file calls an atom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// name of the atom
    pub name: Name,
    /// atomic number; 0 where the file does not tell
    pub element: u8,
    /// name of its residue
    pub residue: Name,
    /// number of its residue; 0 where it is no number
    pub number: i32,
    /// differs where chain, number or insertion code of the residue differ
    pub place: u64,
}

impl Label {
    /// Whether both are of one residue, if they follow each other.
    pub(super) fn is_of_residue(&self, other: &Self) -> bool {
        (self.residue, self.number, self.place) == (other.residue, other.number, other.place)
    }

    /// With the name of the residue, and what tells it from others: its number as text, and anything else.
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

/// Read a coordinate file of any known format, compressed or not; the format is told by the content.
///
/// `expected_atoms` is the size of the topology it belongs to, where there is one. `box_angle` (degrees) completes
/// a box given by its edges only, as old files do; [`crate::system::CellHint::angle_degrees`] holds it. Fails with a
/// [`Problem`] that names file and line.
pub fn read_coordinates(path: &Path, expected_atoms: Option<usize>, box_angle: Option<f64>) -> Result<Coordinates> {
    let bytes = super::read(path)?;
    let coordinates = recognise(COORDINATES, "coordinate", &bytes).and_then(|format| (format.read)(&bytes, box_angle));
    let coordinates = coordinates.and_then(|coordinates| of_topology(coordinates, expected_atoms));
    Ok(coordinates.map_err(|problem| problem.in_file(path))?)
}

/// [`read_coordinates`] of all models of a file, at least one, with the same number of atoms in each.
pub fn read_models(path: &Path, expected_atoms: Option<usize>) -> Result<Vec<Coordinates>> {
    let bytes = super::read(path)?;
    let models = recognise(COORDINATES, "coordinate", &bytes).and_then(|format| {
        match MODELS.into_iter().find(|(name, _)| *name == format.name) {
            Some((_, read)) => read(&bytes),
            None => (format.read)(&bytes, None).map(|only| vec![only]),
        }
    });
    let models = models
        .and_then(|models| models.into_iter().map(|model| of_topology(model, expected_atoms)).collect::<Parsed<_>>());
    Ok(models.map_err(|problem| problem.in_file(path))?)
}

/// Coordinates with as many atoms as the topology has, if it is known.
fn of_topology(coordinates: Coordinates, expected_atoms: Option<usize>) -> Parsed<Coordinates> {
    let found = coordinates.positions.len();
    match expected_atoms.filter(|&expected| expected != found) {
        Some(expected) => Err(Problem::new(format!("holds {found} atoms, but the topology has {expected}"))
            .help("topology and coordinates must belong together")),
        None => Ok(coordinates),
    }
}

/// Three numbers of a file times `unit`; `None` where that is longer than `most`, or no number.
pub(super) fn scaled(&[x, y, z]: &[f64; 3], unit: f64, most: f64) -> Option<Vec3> {
    let vector = vec3(x, y, z) * unit;
    (vector.norm() <= most).then_some(vector)
}

/// The problem of such numbers, those of atom `index`.
pub(super) fn too_long(index: usize, triple: &[f64; 3]) -> Problem {
    Problem::new(format!("atom {}: {triple:?} is beyond all bounds (1 mm, or the speed of light)", index + 1))
        .help("the file is damaged, or the run that wrote it was unstable")
}

/// The cell of edges in nm and angles in degrees; `None` where they make none, or one beyond [`FARTHEST`].
pub fn cell_of(lengths: [f64; 3], angles: [f64; 3]) -> Option<PeriodicCell> {
    lengths.iter().all(|&edge| edge <= FARTHEST).then(|| PeriodicCell::from_lengths_angles(lengths, angles))?
}

/// Whether edges in Å stand for no cell, as in structures that are no crystals.
pub(super) fn is_dummy(lengths: [f64; 3]) -> bool {
    lengths == [1.0; 3] || lengths == [0.0; 3]
}

/// The time in ps behind a `t=` of a title, as GROMACS writes it.
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
