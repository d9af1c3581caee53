//! AMBER coordinates as text: `inpcrd`, `rst7`.
//!
//! The file has a title, a line with the number of atoms (and optionally the time in ps), and then lines of six
//! `F12.7` numbers: positions in Å, optionally velocities in Å per 1/20.455 ps, and optionally a line with the box.
//! Only the number of lines shows which of the optional parts are present.

use std::io::Write;

use super::coordinates::{
    Coordinates, FARTHEST, FASTEST, LeftOut, cell_of, has_other_vectors, is_dummy, scaled, too_long,
};
use super::number;
use super::text::{Columns, write_in_pieces};
use crate::cell::PeriodicCell;
use crate::error::{Parsed, Problem};
use crate::units::{AMBER_VELOCITY, ANGSTROM};
use crate::vec3::Vec3;

/// Number of columns of a number. [`PER_LINE`] is the number of numbers per line.
const WIDTH: usize = 12;
const PER_LINE: usize = 6;
/// Columns of a number that this module writes. Numbers that are too large for `F12.7` have fewer decimals.
const COLUMNS: Columns = Columns { width: WIDTH, decimals: 0..=7 };

/// Letters that occur in numbers: exponents, NaN and infinity.
const LETTERS: &[u8] = b"eEdDnNaAiIfF";

/// Whether the bytes are those of a coordinate file in text form. The second line of a coordinate file in text form
/// begins with a number of atoms, and the third line contains no names.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    let mut lines = bytes.splitn(4, |&byte| byte == b'\n').skip(1);
    let count = lines.next().unwrap_or_default();
    let numbers = lines.next().unwrap_or_default();
    let first = count.split(u8::is_ascii_whitespace).find(|word| !word.is_empty());
    first.is_some_and(|word| word.iter().all(u8::is_ascii_digit))
        && !numbers.iter().any(|byte| byte.is_ascii_alphabetic() && !LETTERS.contains(byte))
}

/// Reads AMBER coordinates in text form.
pub(super) fn read_text(bytes: &[u8], box_angle: Option<f64>) -> Parsed<Coordinates> {
    let mut lines: Vec<&[u8]> = bytes.split(|&b| b == b'\n').map(|l| l.strip_suffix(b"\r").unwrap_or(l)).collect();
    while lines.last().is_some_and(|line| line.trim_ascii().is_empty()) {
        lines.pop();
    }
    let (atoms, time) = counts(lines.get(1).copied().unwrap_or_default())?;
    let numbers = Numbers { lines: &lines[2..], first_line: 3 };
    let block = atoms.div_ceil(PER_LINE / 3);
    if numbers.lines.len() < block {
        let message = format!("expected {block} lines for {atoms} atoms, found {}", numbers.lines.len());
        return Err(Problem::new(message).at_line(lines.len()).help("the file seems cut off: copy it again"));
    }
    let positions = numbers.vectors(0, atoms, ANGSTROM, FARTHEST)?;
    let (velocities_at, box_at) = match numbers.lines.len() - block {
        0 => (None, None),
        1 if block == 1 && !numbers.looks_like_box(1)? => (Some(block), None),
        1 => (None, Some(block)),
        more if more == block => (Some(block), None),
        more if more == block + 1 => (Some(block), Some(2 * block)),
        more => {
            let message = format!("{more} lines follow the positions, expected 0, 1, {block} or {}", block + 1);
            return Err(Problem::new(message).at_line(3 + block).help("the file is damaged or of another kind"));
        }
    };
    let (cell, vectors) = match box_at {
        Some(at) => numbers.cell(at, box_angle)?,
        None => (None, false),
    };
    Ok(Coordinates {
        title: String::from_utf8_lossy(lines[0]).trim().to_owned(),
        time,
        positions,
        velocities: velocities_at.map(|at| numbers.vectors(at, atoms, AMBER_VELOCITY, FASTEST)).transpose()?,
        cell,
        left_out: LeftOut { vectors, ..LeftOut::default() },
        ..Coordinates::default()
    })
}

/// Parses the second line, which has the number of atoms in any width, and optionally the time in ps.
fn counts(line: &[u8]) -> Parsed<(usize, Option<f64>)> {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let problem = |message: String| {
        Problem::new(message).at_line(2).help("expected an AMBER inpcrd/rst7 file: title, number of atoms, coordinates")
    };
    let first = words.next().unwrap_or_default();
    let atoms = number::integer(first).filter(|&atoms| atoms > 0);
    let atoms =
        atoms.ok_or_else(|| problem(format!("expected the number of atoms, found {}", number::quoted(line))))?;
    let time = words.next().map(|word| {
        number::real(word).ok_or_else(|| problem(format!("expected the time in ps, found {}", number::quoted(word))))
    });
    Ok((atoms as usize, time.transpose()?))
}

/// Lines of six numbers after the two heading lines.
struct Numbers<'a> {
    lines: &'a [&'a [u8]],
    first_line: usize,
}

impl Numbers<'_> {
    /// Reads `atoms` vectors from line `at` on, and converts them to the engine's units by the factor `unit`. A
    /// converted vector that is longer than `most` is an error.
    fn vectors(&self, at: usize, atoms: usize, unit: f64, most: f64) -> Parsed<Vec<Vec3>> {
        let mut vectors = Vec::with_capacity(atoms);
        while vectors.len() < atoms {
            let line = at + vectors.len() / 2;
            let here = (atoms - vectors.len()).min(2);
            let values = self.row(line, 3 * here)?;
            for triple in values[..3 * here].as_chunks().0 {
                let vector = scaled(triple, unit, most);
                let too_long = || too_long(vectors.len(), triple).at_line(self.first_line + line);
                vectors.push(vector.ok_or_else(too_long)?);
            }
        }
        Ok(vectors)
    }

    /// Reads the first `count` numbers of a line. The rest of the line must be blank.
    fn row(&self, line: usize, count: usize) -> Parsed<[f64; PER_LINE]> {
        let text = self.lines[line];
        let problem = |message: String| Problem::new(message).at_line(self.first_line + line);
        let mut values = [0.0; PER_LINE];
        for (column, value) in values.iter_mut().take(count).enumerate() {
            let field = text.get(column * WIDTH..((column + 1) * WIDTH).min(text.len())).unwrap_or_default();
            *value = number::real(field).ok_or_else(|| {
                let place = format!("number {} of the line", column + 1);
                if field.contains(&b'*') {
                    problem(format!("{place} was too large for its 12 columns (****)"))
                        .help("image the coordinates back into the box before writing them, or write NetCDF")
                } else if field.trim_ascii().is_empty() {
                    problem(format!("expected {count} numbers, found {column}")).help("the file is damaged or cut off")
                } else {
                    problem(format!("{place}: expected a number in 12 columns, found {}", number::quoted(field)))
                }
            })?;
            if field.len() < WIDTH || field.ends_with(b" ") {
                let message = format!("number {} of the line does not fill its {WIDTH} columns", column + 1);
                return Err(problem(message).help("the file is damaged or cut off"));
            }
        }
        if text.get(count * WIDTH..).is_some_and(|rest| !rest.trim_ascii().is_empty()) {
            return Err(problem(format!("expected {count} numbers, found more")));
        }
        Ok(values)
    }

    /// Whether a line has the numbers of a box. In a file with one or two atoms, a single line after the positions may
    /// have velocities or a box. A box has angles above 20° and positive edges. No velocity reaches 20 Å per 1/20.455
    /// ps, because the velocity of a hydrogen at 300 K is about 0.8 Å per 1/20.455 ps.
    fn looks_like_box(&self, line: usize) -> Parsed<bool> {
        let filled = self.lines[line].trim_ascii_end().len().div_ceil(WIDTH);
        if filled != PER_LINE {
            return Ok(false);
        }
        let values = self.row(line, PER_LINE)?;
        Ok(values[..3].iter().all(|&edge| edge > 0.0) && values[3..].iter().all(|&angle| angle > 20.0))
    }

    /// Reads the box, and says whether the cell has other lattice vectors than the file.
    fn cell(&self, line: usize, box_angle: Option<f64>) -> Parsed<(Option<PeriodicCell>, bool)> {
        let problem = |message: &str| Problem::new(message).at_line(self.first_line + line);
        let filled = self.lines[line].trim_ascii_end().len().div_ceil(WIDTH);
        let values = match filled {
            3 => {
                let mut values = self.row(line, 3)?;
                let angle = box_angle.ok_or_else(|| {
                    problem("the box has edges but no angles").help("give the box six numbers: a b c alpha beta gamma")
                })?;
                values[3..].fill(angle);
                values
            }
            _ => self.row(line, PER_LINE)?,
        };
        let [a, b, c, alpha, beta, gamma] = values;
        if is_dummy([a, b, c]) {
            return Ok((None, false));
        }
        let (edges, angles) = ([a, b, c].map(|edge| edge * ANGSTROM), [alpha, beta, gamma]);
        let cell = cell_of(edges, angles);
        cell.map(|cell| (Some(cell), has_other_vectors(&cell, edges, angles))).ok_or_else(|| {
            problem("these edges and angles do not form a box")
                .help("expected a b c in Å, then alpha beta gamma in degrees")
        })
    }
}

/// Writes coordinates in text form. Numbers that are too large for `F12.7` are written with fewer decimals. Fortran and
/// C programs can read these numbers. Returns an error that contains a [`Problem`] if a number does not fit even
/// without decimals.
pub fn write_rst7(coordinates: &Coordinates, out: &mut impl Write) -> std::io::Result<()> {
    let title: String = coordinates.title.chars().filter(|c| !c.is_control()).take(80).collect();
    writeln!(out, "{title}")?;
    write!(out, "{:6}", coordinates.positions.len())?;
    match coordinates.time {
        Some(time) => writeln!(out, "{:>15}", exponential(time))?,
        None => writeln!(out)?,
    }
    write_vectors(&coordinates.positions, ANGSTROM, "position (Å)", out)?;
    if let Some(velocities) = &coordinates.velocities {
        write_vectors(velocities, AMBER_VELOCITY, "velocity (Å per 1/20.455 ps)", out)?;
    }
    if let Some(cell) = &coordinates.cell {
        let (lengths, angles) = cell.lengths_angles();
        let lengths = COLUMNS.of_cell(&lengths.map(|length| length / ANGSTROM), "edges (Å)")?;
        writeln!(out, "{lengths}{}", COLUMNS.of_cell(&angles, "angles (°)")?)?;
    }
    Ok(())
}

fn write_vectors(vectors: &[Vec3], unit: f64, shown: &str, out: &mut impl Write) -> std::io::Result<()> {
    write_in_pieces(vectors, out, |first, vectors, text| {
        for (at, vector) in vectors.iter().enumerate() {
            COLUMNS.push_of_atom(vector.to_array().map(|value| value / unit), first + at, shown, text)?;
            if (at + 1) % (PER_LINE / 3) == 0 || at + 1 == vectors.len() {
                text.push('\n');
            }
        }
        Ok(())
    })
}

/// Formats a number like C's `%.7E`: `1.0000000E+02`.
fn exponential(value: f64) -> String {
    let text = format!("{value:.7E}");
    match text.split_once('E') {
        Some((mantissa, exponent)) => {
            let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
            format!("{mantissa}E{sign}{digits:0>2}")
        }
        None => text,
    }
}
