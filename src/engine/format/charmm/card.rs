//! Coordinates as CHARMM cards (`.crd`, `.cor`).
//!
//! A card has a title of lines that begin with `*`, the number of atoms, and one line per atom with its names and its
//! position in Å in fixed columns. Files with more than 99,999 atoms, or with names of more than four characters, use
//! the wider columns of `EXT`.

use std::ops::Range;

use super::Parsed;
use crate::error::Problem;
use crate::format::coordinates::{Coordinates, FARTHEST, Label, scaled, too_long};
use crate::format::number;
use crate::system::{ChainLabel, Name};
use crate::units::ANGSTROM;

/// Minimum number of words of an atom line. A complete atom line has atom number, residue index, residue name, atom
/// name, x, y, z, segment, residue number in the segment, and weight. Segments may be blank.
const FEWEST_WORDS: usize = 8;

/// Columns of an atom line, 0-based.
struct Columns {
    /// number of the residue, counted from 1 in the whole file
    index: Range<usize>,
    residue: Range<usize>,
    name: Range<usize>,
    /// first column and width of the coordinates x, y, z
    coordinates: (usize, usize),
    segment: Range<usize>,
    /// number of the residue in its segment
    number: Range<usize>,
}

/// Columns of the usual format, `I5,I5,1X,A4,1X,A4,3F10.5,1X,A4,1X,A4,F10.5`. [`EXTENDED`] has the columns of the wider
/// format `EXT`, `I10,I10,2X,A8,2X,A8,3F20.10,2X,A8,2X,A8,F20.10`.
const USUAL: Columns =
    Columns { index: 5..10, residue: 11..15, name: 16..20, coordinates: (20, 10), segment: 51..55, number: 56..60 };
const EXTENDED: Columns = Columns {
    index: 10..20,
    residue: 22..30,
    name: 32..40,
    coordinates: (40, 20),
    segment: 102..110,
    number: 112..120,
};

/// Coordinate in Å that CHARMM writes for atoms without a position.
const UNDEFINED: f64 = 9999.0;

impl Columns {
    /// Returns the names and numbers of the atom of a line.
    fn label(&self, line: &[u8]) -> Label {
        let field = |columns: &Range<usize>| {
            line.get(columns.start..columns.end.min(line.len())).unwrap_or_default().trim_ascii()
        };
        let text = |columns| Name::new(&String::from_utf8_lossy(field(columns)));
        let number = [field(&self.number), field(&self.index)].into_iter().find(|number| !number.is_empty());
        let chain = ChainLabel { segment: text(&self.segment), ..ChainLabel::default() };
        let label = Label { name: text(&self.name), chain, ..Label::default() };
        label.in_residue(field(&self.residue), number.unwrap_or_default(), (field(&self.index), field(&self.segment)))
    }
}

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
    let (mut positions, mut labels) = (vec![], vec![]);
    let (first, width) = columns.coordinates;
    for (line, text) in lines {
        let [x, y, z] = [0, 1, 2].map(|k| {
            let start = first + k * width;
            number::real(text.get(start..(start + width).min(text.len())).unwrap_or_default())
        });
        let (Some(x), Some(y), Some(z)) = (x, y, z) else {
            let message = format!("expected three coordinates, each {width} columns wide, from column {}", first + 1);
            return Err(Problem::new(format!("{message}, found {}", number::quoted(text))).at_line(line));
        };
        let label = columns.label(text);
        if [x, y, z] == [UNDEFINED; 3] {
            let atom = positions.len() + 1;
            let message = format!("atom {atom} ({} of {} {}) has no position", label.name, label.residue, label.number);
            return Err(Problem::new(message).at_line(line).help("build its coordinates in CHARMM (IC BUILD, HBUILD)"));
        }
        labels.push(label);
        let position = scaled(&[x, y, z], ANGSTROM, FARTHEST);
        positions.push(position.ok_or_else(|| too_long(positions.len(), &[x, y, z]).at_line(line))?);
    }
    if positions.len() != count {
        let message = format!("expected {count} atoms, found {}", positions.len());
        return Err(Problem::new(message).at_line(line).help("the file seems cut off: copy it again"));
    }
    Ok(Coordinates { title, positions, labels, ..Coordinates::default() })
}
