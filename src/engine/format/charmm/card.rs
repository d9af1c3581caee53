//! Coordinates as CHARMM cards (`.crd`, `.cor`).
//!
//! A card has a title of lines that begin with `*`, the number of atoms, and one line per atom with its position in Å
//! in fixed columns. Files with more than 99,999 atoms, or with names of more than four characters, use the wider
//! columns of `EXT`.

use super::Parsed;
use crate::error::Problem;
use crate::format::coordinates::{Coordinates, FARTHEST, scaled, too_long};
use crate::format::number;
use crate::units::ANGSTROM;

/// Minimum number of words of an atom line. A complete atom line has atom number, residue index, residue name, atom
/// name, x, y, z, segment, residue number in the segment, and weight. Segments may be blank.
const FEWEST_WORDS: usize = 8;

/// First column (0-based) and width of the coordinates x, y, z in the usual format `I5,I5,1X,A4,1X,A4,3F10.5`.
/// [`EXTENDED`] has the first column and the width in the wider format `EXT`, `I10,I10,2X,A8,2X,A8,3F20.10`.
const USUAL: (usize, usize) = (20, 10);
const EXTENDED: (usize, usize) = (40, 20);

/// Returns the lines after the title, each with its 1-based number.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = bytes.split(|&b| b == b'\n').enumerate().map(|(index, line)| (index + 1, line.trim_ascii_end()));
    lines.filter(|(_, line)| !line.is_empty()).skip_while(|(_, line)| line.starts_with(b"*"))
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// Whether the bytes are those of a CHARMM card: a title, a line with a number, and an atom line.
pub(crate) fn is_card(bytes: &[u8]) -> bool {
    let mut lines = lines(bytes).map(|(_, line)| line);
    let counted = |line: &[u8]| words(line).next().and_then(number::integer).is_some();
    bytes.starts_with(b"*")
        && lines.next().is_some_and(counted)
        && lines.next().is_some_and(|line| words(line).count() >= FEWEST_WORDS)
}

/// Reads the positions from the bytes of a card.
pub(crate) fn read_card(bytes: &[u8]) -> Parsed<Coordinates> {
    let title = bytes.split(|&b| b == b'\n').next().unwrap_or_default();
    let title = String::from_utf8_lossy(title).trim_start_matches('*').trim().to_owned();
    let mut lines = lines(bytes);
    let (line, counts) = lines.next().ok_or_else(|| Problem::new("expected the number of atoms"))?;
    let count = words(counts).next().and_then(number::integer).and_then(|count| usize::try_from(count).ok());
    let problem =
        || Problem::new(format!("expected the number of atoms, found {}", number::quoted(counts))).at_line(line);
    let count = count.filter(|&count| count > 0).ok_or_else(problem)?;
    let extended = words(counts).any(|word| word.eq_ignore_ascii_case(b"EXT"));
    let columns = if extended { EXTENDED } else { USUAL };
    let mut positions = vec![];
    for (line, text) in lines {
        let [x, y, z] = [0, 1, 2].map(|k| {
            let start = columns.0 + k * columns.1;
            number::real(text.get(start..(start + columns.1).min(text.len())).unwrap_or_default())
        });
        let (Some(x), Some(y), Some(z)) = (x, y, z) else {
            let message =
                format!("expected three coordinates, each {} columns wide, from column {}", columns.1, columns.0 + 1);
            return Err(Problem::new(format!("{message}, found {}", number::quoted(text))).at_line(line));
        };
        let position = scaled(&[x, y, z], ANGSTROM, FARTHEST);
        positions.push(position.ok_or_else(|| too_long(positions.len(), &[x, y, z]).at_line(line))?);
    }
    if positions.len() != count {
        let message = format!("expected {count} atoms, found {}", positions.len());
        return Err(Problem::new(message).at_line(line).help("the file seems cut off: copy it again"));
    }
    Ok(Coordinates { title, positions, ..Coordinates::default() })
}
