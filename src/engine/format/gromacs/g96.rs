//! GROMOS-96 coordinates (`.g96`) as GROMACS writes them. The file consists of blocks that begin with their name and
//! end with `END`.
//!
//! | block | content |
//! |---|---|
//! | `TITLE` | title |
//! | `TIMESTEP` | step, and time in ps |
//! | `POSITION`, `VELOCITY` | for each atom 24 columns of names and numbers, then three numbers of 15 columns in nm or nm/ps |
//! | `POSITIONRED`, `VELOCITYRED` | as `POSITION` and `VELOCITY`, without the names |
//! | `BOX` | box as in `.gro` |
//!
//! Lines that begin with `#` are comments.

use super::Parsed;
use super::gro::cell_of_box;
use crate::error::Problem;
use crate::format::coordinates::{Coordinates, FARTHEST, FASTEST, Label, ResidueNumbers, scaled, too_long};
use crate::format::number;
use crate::system::Name;
use crate::vec3::Vec3;

/// Number of columns that the names of an atom take. [`WIDTH`] is the number of columns of a coordinate.
const LABELS: usize = 24;
const WIDTH: usize = 15;
/// Columns of the residue number. [`RESIDUE`] has the columns of the residue name, and [`NAME`] has the columns of the
/// atom name.
const NUMBER: std::ops::Range<usize> = 0..5;
const RESIDUE: std::ops::Range<usize> = 6..11;
const NAME: std::ops::Range<usize> = 12..17;

/// Whether the bytes are those of a `.g96` file.
pub(in crate::format) fn is_g96(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|&byte| byte == b'\n').map(|line| line.trim_ascii());
    lines.next() == Some(b"TITLE") && lines.any(|line| line == b"POSITION" || line == b"POSITIONRED")
}

/// Reads coordinates from the bytes of a `.g96` file.
pub(in crate::format) fn read(bytes: &[u8]) -> Parsed<Coordinates> {
    let mut coordinates = Coordinates::default();
    let lines = bytes.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let mut lines = lines.zip(1..).filter(|(line, _)| !line.starts_with(b"#"));
    let mut seen: Vec<&[u8]> = vec![];
    while let Some((name, number)) = lines.next() {
        let name = name.trim_ascii();
        if name.is_empty() {
            continue;
        }
        if seen.contains(&name) {
            let problem = Problem::new(format!("a second block {}", number::quoted(name))).at_line(number);
            return Err(problem.help("use a file with one frame, which gmx trjconv -dump writes"));
        }
        seen.push(name);
        let mut block = vec![];
        loop {
            match lines.next() {
                Some((b"END", _)) => break,
                Some(line) => block.push(line),
                None => {
                    let problem = Problem::new(format!("the block {} has no END", number::quoted(name)));
                    return Err(problem.at_line(number).help("the file seems cut off: copy it again"));
                }
            }
        }
        match name {
            b"TITLE" => {
                let title = block.iter().map(|(line, _)| String::from_utf8_lossy(line).trim().to_owned());
                coordinates.title = title.collect::<Vec<_>>().join(" ");
            }
            b"TIMESTEP" => coordinates.time = Some(time(&block, number)?),
            b"POSITION" => {
                coordinates.positions = vectors(&block, LABELS, FARTHEST)?;
                coordinates.labels = labels(&block);
            }
            b"POSITIONRED" => coordinates.positions = vectors(&block, 0, FARTHEST)?,
            b"VELOCITY" => coordinates.velocities = Some(vectors(&block, LABELS, FASTEST)?),
            b"VELOCITYRED" => coordinates.velocities = Some(vectors(&block, 0, FASTEST)?),
            b"BOX" => {
                let values = numbers(&block, number)?;
                let problem = || Problem::new(format!("the box has {} numbers, expected 3 or 9", values.len()));
                let cell = cell_of_box(&values).unwrap_or_else(|| Err(problem()));
                let cell = cell.map_err(|problem| problem.at_line(number))?;
                (coordinates.cell, coordinates.left_out.vectors) = cell;
            }
            _ => {
                let problem = Problem::new(format!("the block {} is unknown", number::quoted(name))).at_line(number);
                let help = "known blocks are TITLE, TIMESTEP, POSITION, POSITIONRED, VELOCITY, VELOCITYRED and BOX; \
                            gmx editconf writes such files";
                return Err(problem.help(help));
            }
        }
    }
    let (atoms, of_velocities) = (coordinates.positions.len(), coordinates.velocities.as_ref().map(Vec::len));
    match of_velocities {
        _ if atoms == 0 => Err(Problem::new("the file has no positions")),
        Some(other) if other != atoms => {
            let message = format!("the file has {atoms} positions, but {other} velocities");
            Err(Problem::new(message).help("the file is damaged"))
        }
        _ => Ok(coordinates),
    }
}

type Block<'a> = [(&'a [u8], usize)];

/// Reads the step and the time (ps) of a `TIMESTEP` block. Returns the time.
fn time(block: &Block<'_>, number: usize) -> Parsed<f64> {
    let values = numbers(block, number)?;
    match values[..] {
        [_, time] => Ok(time),
        _ => Err(Problem::new("expected the step and the time in ps").at_line(number)),
    }
}

/// Reads all numbers of a block.
fn numbers(block: &Block<'_>, number: usize) -> Parsed<Vec<f64>> {
    let words = block.iter().flat_map(|(line, _)| line.split(u8::is_ascii_whitespace)).filter(|word| !word.is_empty());
    let values: Option<Vec<f64>> = words.map(number::real).collect();
    values.ok_or_else(|| Problem::new("expected numbers in this block").at_line(number))
}

/// Reads the names of the atoms from the lines of a `POSITION` block; empty if an atom has no name.
fn labels(block: &Block<'_>) -> Vec<Label> {
    let mut numbers = ResidueNumbers::new(NUMBER.len() as u32);
    let label = |&(line, _): &(&[u8], usize)| {
        let name = Name::new(&String::from_utf8_lossy(&line[NAME]));
        let label = Label { name, ..Label::default() }.in_residue(&line[RESIDUE], &line[NUMBER], &line[NUMBER]);
        Label { number: numbers.next(label.chain, number::integer(&line[NUMBER])), ..label }
    };
    let labels: Vec<Label> = block.iter().map(label).collect();
    let has_names = labels.iter().all(|label| !label.name.as_str().is_empty());
    if has_names { labels } else { vec![] }
}

/// Reads three numbers from each line of a block, after the first `labels` columns.
fn vectors(block: &Block<'_>, labels: usize, most: f64) -> Parsed<Vec<Vec3>> {
    let mut vectors = Vec::with_capacity(block.len());
    for &(line, number) in block {
        let mut values = [0.0; 3];
        for (k, value) in values.iter_mut().enumerate() {
            let start = labels + k * WIDTH;
            let field = line.get(start..start + WIDTH).unwrap_or_default();
            *value = number::real(field).filter(|_| !field.ends_with(b" ")).ok_or_else(|| {
                let message = format!(
                    "number {} of the atom: expected a number in columns {} to {}",
                    k + 1,
                    start + 1,
                    start + WIDTH
                );
                Problem::new(message).at_line(number)
            })?;
        }
        if line.get(labels + 3 * WIDTH..).is_some_and(|rest| !rest.trim_ascii().is_empty()) {
            return Err(Problem::new("the atom has more than three numbers").at_line(number));
        }
        let vector = scaled(&values, 1.0, most);
        vectors.push(vector.ok_or_else(|| too_long(vectors.len(), &values).at_line(number))?);
    }
    Ok(vectors)
}
