//! GROMACS coordinates as text (`.gro`). The file has a title, the number of atoms, a line for each atom, and the
//! box.
//!
//! The line of an atom has residue number, residue name, atom name and atom number in 5 columns each, then positions in
//! nm and optionally velocities in nm/ps. The width of positions and velocities follows from the distance between their
//! decimal points. Atom and residue numbers start again at 0 after 99 999. Atom numbers are ignored, because the order
//! of the atoms is that of the topology. The box is `v1x v2y v3z`, followed by `v1y v1z v2x v2z v3x v3y` if the cell is
//! not rectangular. A box of zeros means that there is no cell. The title may contain the time, as in `t= 10.0`.

use rayon::prelude::*;

use super::Parsed;
use crate::cell::PeriodicCell;
use crate::error::Problem;
use crate::format::coordinates::{
    Coordinates, FARTHEST, FASTEST, Label, LeftOut, ResidueNumbers, is_dummy, time_of_title, too_long,
};
use crate::format::number;
use crate::system::Name;
use crate::units::ANGSTROM;
use crate::vec3::{Vec3, vec3};

/// Columns of the residue number. [`RESIDUE`] has the columns of the residue name, and [`NAME`] has the columns of the
/// atom name.
const NUMBER: std::ops::Range<usize> = 0..5;
const RESIDUE: std::ops::Range<usize> = 5..10;
const NAME: std::ops::Range<usize> = 10..15;
/// Number of columns before the positions and velocities of an atom.
const LABELS: usize = 20;

/// Whether the bytes are those of a `.gro` file. The first columns of the third line of a `.gro` file hold names and
/// whole numbers. AMBER coordinates can have the same first two lines, but have a real number in the first columns of
/// the third line.
pub(in crate::format) fn is_gro(bytes: &[u8]) -> bool {
    let mut lines = bytes.splitn(4, |&byte| byte == b'\n');
    let (Some(_), Some(count), Some(atom)) = (lines.next(), lines.next(), lines.next()) else { return false };
    let whole = |field: &[u8]| number::integer(field).is_some();
    let Some((labels, numbers)) = atom.split_at_checked(LABELS) else { return false };
    whole(count) && whole(&labels[..5]) && whole(&labels[15..]) && numbers.contains(&b'.')
}

/// Reads coordinates from the bytes of a `.gro` file.
pub(in crate::format) fn read(bytes: &[u8]) -> Parsed<Coordinates> {
    let mut lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
    while lines.last().is_some_and(|line| line.trim_ascii().is_empty()) {
        lines.pop();
    }
    let (title, count) = match lines.as_slice() {
        [title, count, ..] => (String::from_utf8_lossy(title).trim().to_owned(), count),
        _ => return Err(Problem::new("expected a title and the number of atoms").help("the file seems cut off")),
    };
    let atoms = number::integer(count).and_then(|count| usize::try_from(count).ok()).filter(|&atoms| atoms > 0);
    let atoms = atoms.ok_or_else(|| {
        Problem::new(format!("expected the number of atoms, found {}", number::quoted(count))).at_line(2)
    })?;
    let Some((rows, rest)) = lines[2..].split_at_checked(atoms) else {
        let message = format!("expected {atoms} lines of atoms and the box, found {}", lines.len() - 2);
        return Err(Problem::new(message).at_line(lines.len()).help("the file seems cut off: copy it again"));
    };
    let box_line = 3 + atoms;
    let (cell, vectors) = match rest {
        [] => {
            return Err(Problem::new("the line of the box is missing")
                .at_line(box_line - 1)
                .help("the file seems cut off"));
        }
        [line] => read_box(line).map_err(|problem| problem.at_line(box_line))?,
        _ => {
            let problem = Problem::new("the file continues after the box").at_line(box_line + 1);
            return Err(problem.help("use a file with one frame, which gmx trjconv -dump writes"));
        }
    };
    let columns = Columns::of(rows[0]).map_err(|problem| problem.at_line(3))?;
    let (positions, velocities) = columns.read(rows)?;
    let label = |row: &&[u8]| {
        let name = Name::new(&String::from_utf8_lossy(&row[NAME]));
        Label { name, ..Label::default() }.in_residue(&row[RESIDUE], &row[NUMBER], &row[NUMBER])
    };
    let mut labels: Vec<Label> = rows.par_iter().map(label).collect();
    let mut numbers = ResidueNumbers::new(NUMBER.len() as u32);
    for (label, row) in labels.iter_mut().zip(rows) {
        label.number = numbers.next(label.chain, number::integer(&row[NUMBER]));
    }
    Ok(Coordinates {
        time: time_of_title(&title),
        title,
        labels,
        positions,
        velocities,
        cell,
        left_out: LeftOut { vectors, ..LeftOut::default() },
    })
}

/// Layout of positions and velocities in the line of an atom.
struct Columns {
    width: usize,
    velocities: bool,
}

impl Columns {
    /// Determines the layout from the line of the first atom.
    fn of(line: &[u8]) -> Parsed<Self> {
        let numbers = line.get(LABELS..).unwrap_or_default();
        let points: Vec<usize> = (0..numbers.len()).filter(|&at| numbers[at] == b'.').collect();
        let width = match points[..] {
            [first, second, third, ..] if third - second == second - first => second - first,
            _ => {
                let message = "expected x, y and z after column 20, with evenly spaced decimal points";
                return Err(Problem::new(message));
            }
        };
        match points.len() {
            3 | 6 => Ok(Columns { width, velocities: points.len() == 6 }),
            other => Err(Problem::new(format!("expected 3 or 6 numbers after column 20, found {other}"))),
        }
    }

    fn read(&self, rows: &[&[u8]]) -> Parsed<(Vec<Vec3>, Option<Vec<Vec3>>)> {
        let found: Vec<Option<[Vec3; 2]>> = rows.par_iter().map(|line| self.vectors(line).ok()).collect();
        if let Some(index) = found.iter().position(Option::is_none) {
            let problem = self.vectors(rows[index]).err();
            return Err(problem.unwrap_or_else(|| Problem::new("the line changes")).at_line(3 + index));
        }
        let positions: Vec<Vec3> = found.iter().flatten().map(|[position, _]| *position).collect();
        let velocities = || found.iter().flatten().map(|[_, velocity]| *velocity).collect();
        for (index, [position, velocity]) in found.iter().flatten().enumerate() {
            for (vector, most) in [(position, FARTHEST), (velocity, FASTEST)] {
                if vector.norm() > most {
                    return Err(too_long(index, &vector.to_array()).at_line(3 + index));
                }
            }
        }
        Ok((positions, self.velocities.then(velocities)))
    }

    /// Reads the position and the velocity from the line of an atom. The velocity is zero if the file has no
    /// velocities.
    fn vectors(&self, line: &[u8]) -> Parsed<[Vec3; 2]> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let count = if self.velocities { 6 } else { 3 };
        let mut values = [0.0; 6];
        for (k, value) in values[..count].iter_mut().enumerate() {
            let start = LABELS + k * self.width;
            let field = line.get(start..line.len().min(start + self.width)).unwrap_or_default();
            // the width of the field is checked, because a truncated field could still be parsed as a number
            let whole = field.len() == self.width && !field.ends_with(b" ");
            *value = number::real(field).filter(|_| whole).ok_or_else(|| {
                let what = if field.trim_ascii().is_empty() { "nothing".into() } else { number::quoted(field) };
                let message =
                    format!("number {} of the atom: expected a number in {} columns, found {what}", k + 1, self.width);
                Problem::new(message).help(
                    "the lines of all atoms must have as many numbers as the line of the first \
                    atom, in columns of the same width",
                )
            })?;
        }
        if line.get(LABELS + count * self.width..).is_some_and(|rest| !rest.trim_ascii().is_empty()) {
            let problem = Problem::new(format!("the atom has more than {count} numbers"));
            return Err(
                problem.help("all atoms must have as many numbers as the first atom: velocities for all, or for none")
            );
        }
        Ok([vec3(values[0], values[1], values[2]), vec3(values[3], values[4], values[5])])
    }
}

/// Reads the cell from three or nine numbers, see [`cell_of_box`].
fn read_box(line: &[u8]) -> Parsed<(Option<PeriodicCell>, bool)> {
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let values: Option<Vec<f64>> = words.map(number::real).collect();
    let problem = || Problem::new(format!("expected the box, 3 or 9 numbers in nm, found {}", number::quoted(line)));
    cell_of_box(&values.ok_or_else(problem)?).ok_or_else(problem)?
}

/// Relative difference of a lattice vector that is a rounding error.
const SAME_VECTOR: f64 = 1e-3;

/// Returns the cell from the values `v1x v2y v3z`, optionally followed by `v1y v1z v2x v2z v3x v3y`. A box in a `.g96`
/// file has its values in the same order. The flag says whether the cell has other lattice vectors than the file. There
/// is no cell if all values are zero, or if the box is a placeholder ([`is_dummy`]). The outer `Option` is `None` if
/// the number of values is neither three nor nine.
pub(super) fn cell_of_box(values: &[f64]) -> Option<Parsed<(Option<PeriodicCell>, bool)>> {
    let rows = match *values {
        [a, b, c] => [vec3(a, 0.0, 0.0), vec3(0.0, b, 0.0), vec3(0.0, 0.0, c)],
        [ax, by, cz, ay, az, bx, bz, cx, cy] => [vec3(ax, ay, az), vec3(bx, by, bz), vec3(cx, cy, cz)],
        _ => return None,
    };
    let edges = [values[0], values[1], values[2]].map(|edge| edge / ANGSTROM);
    if is_dummy(edges) && values[3..].iter().all(|&value| value == 0.0) {
        return Some(Ok((None, false)));
    }
    let cell = PeriodicCell::from_rows(rows).filter(|_| rows.iter().all(|row| row.norm() <= FARTHEST));
    let has_other = |cell: &PeriodicCell| {
        let differs = |(own, row): (Vec3, Vec3)| (own - row).norm() > SAME_VECTOR * row.norm();
        cell.rows().into_iter().zip(rows).any(differs)
    };
    Some(cell.map(|cell| (Some(cell), has_other(&cell))).ok_or_else(|| {
        let help = "expected v1x v2y v3z above zero, and v1y = v1z = v2z = 0; gmx editconf writes such boxes";
        Problem::new(format!("{values:?} do not form a box")).help(help)
    }))
}
