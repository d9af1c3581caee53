//! NetCDF in its classic forms (CDF-1, CDF-2, CDF-5), as far as AMBER's files need it.
//!
//! Everything is big-endian. A header lists dimensions, attributes and variables with the place of their values; counts in
//! it have 64 bits in CDF-5, places in CDF-2 and CDF-5. The variables without records come first, each padded to four
//! bytes. A record holds the values of all other variables, in the order of the header, for one frame. Values count in
//! the unit of the variable, or else in the one AMBER prescribes, times the variable's `scale_factor`. Fill values stand for
//! values that are missing, and are read as NaN.

mod restart;

pub(super) use restart::read_restart;

use std::collections::HashMap;

use super::number;
use super::unit::Unit;
use crate::error::Problem;

/// What reading gives, or why a file cannot be read.
pub type Parsed<T> = std::result::Result<T, Problem>;

/// Tag of the list of dimensions in a header.
pub const DIMENSIONS: u32 = 10;
/// Tag of the list of variables in a header.
pub const VARIABLES: u32 = 11;
/// Tag of a list of attributes in a header.
pub const ATTRIBUTES: u32 = 12;

/// External type: characters.
pub const CHAR: u32 = 2;
/// External type: `f32`.
pub const FLOAT: u32 = 5;
/// External type: `f64`.
pub const DOUBLE: u32 = 6;

/// Bytes of a value of an external type.
fn width(kind: u32) -> Parsed<u64> {
    match kind {
        1 | CHAR | 7 => Ok(1),
        3 | 8 => Ok(2),
        4 | FLOAT | 9 => Ok(4),
        DOUBLE | 10 | 11 => Ok(8),
        _ => Err(damaged()),
    }
}

/// An attribute: its type and its values as they lie in the file.
pub struct Attribute<'a> {
    name: &'a [u8],
    kind: u32,
    values: &'a [u8],
}

/// A variable.
pub struct Variable<'a> {
    /// its name in the file
    pub name: &'a [u8],
    /// lengths of its dimensions, the one of records left out
    pub shape: Vec<u64>,
    /// whether there are values in each record
    pub has_records: bool,
    attributes: Vec<Attribute<'a>>,
    kind: u32,
    /// bytes of its values, those of one record
    pub size: u64,
    /// place of the first
    pub begin: u64,
}

/// The header of a file.
pub struct Header<'a> {
    /// names and lengths; the dimension of length 0 is that of records
    pub dimensions: Vec<(&'a [u8], u64)>,
    attributes: Vec<Attribute<'a>>,
    /// variables in the order of the file
    pub variables: Vec<Variable<'a>>,
}

impl<'a> Header<'a> {
    /// From the first bytes of a file, which must have all of it.
    pub fn read(bytes: &'a [u8]) -> Parsed<Self> {
        let mut cursor = Cursor::new(bytes)?;
        let dimensions = cursor.dimensions()?;
        let attributes = cursor.attributes()?;
        let variables = cursor.list(VARIABLES, |cursor| cursor.variable(&dimensions))?;
        if let Some(inside) = variables.iter().find(|variable| variable.begin < cursor.at as u64) {
            let problem = inside.problem(&format!("begins at byte {}, inside the header", inside.begin));
            return Err(
                problem.help(format!("values come after the header of {} bytes; copy the file again", cursor.at))
            );
        }
        once("dimension", dimensions.iter().map(|(name, _)| *name))?;
        once("attribute", attributes.iter().map(|attribute| attribute.name))?;
        once("variable", variables.iter().map(|variable| variable.name))?;
        for variable in &variables {
            once("attribute", variable.attributes.iter().map(|attribute| attribute.name))
                .map_err(|problem| variable.problem(&problem.message))?;
        }
        Ok(Self { dimensions, attributes, variables })
    }

    /// The attribute of this name as text; empty where there is none.
    pub fn text(&self, name: &str) -> String {
        let found = self.attributes.iter().find(|attribute| attribute.name == name.as_bytes());
        found.map_or(String::new(), Attribute::text)
    }

    /// The variable of this name.
    pub fn variable(&self, name: &str) -> Option<&Variable<'a>> {
        self.variables.iter().find(|variable| variable.name == name.as_bytes())
    }

    /// Place and bytes of the first record; `None` where there are no records, or none that can be.
    pub fn record(&self) -> Option<(u64, u64)> {
        let records = || self.variables.iter().filter(|variable| variable.has_records);
        let begin = records().map(|variable| variable.begin).min()?;
        // the only variable of records is not padded
        let padding = if records().count() == 1 { 1 } else { 4 };
        let size = records()
            .try_fold(0u64, |sum, variable| sum.checked_add(variable.size.checked_next_multiple_of(padding)?))?;
        (size > 0).then_some((begin, size))
    }
}

/// Refuses a name that stands twice in a list of the header.
fn once<'n>(what: &str, names: impl Iterator<Item = &'n [u8]>) -> Parsed<()> {
    let mut places = HashMap::new();
    for (place, name) in names.enumerate() {
        if let Some(first) = places.insert(name, place) {
            let [first, place] = [first + 1, place + 1];
            let message = format!("the {what} {} stands twice: at place {first} and {place}", number::quoted(name));
            return Err(Problem::new(message).help("copy the file again"));
        }
    }
    Ok(())
}

/// Names of the dimensions of a file, by its first bytes; none if it is no NetCDF.
pub fn dimension_names(beginning: &[u8]) -> Vec<&[u8]> {
    let found = Cursor::new(beginning).and_then(|mut cursor| cursor.dimensions());
    found.unwrap_or_default().into_iter().map(|(name, _)| name).collect()
}

/// How the values of a variable are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers {
    /// bytes of each
    pub width: usize,
    /// what they are multiplied by
    pub scale: f64,
    /// stored in place of values that are missing, in addition to [`FILL`]
    pub fill: f64,
}

/// NetCDF's own fill value of real numbers, which `f32` holds exactly.
const FILL: f64 = 9.969_209_968_386_869e36;

impl Numbers {
    /// Those of so many bytes; NaN for those that are missing.
    pub fn of(self, bytes: &[u8]) -> impl Iterator<Item = f64> + '_ {
        bytes.chunks_exact(self.width).map(big_endian).map(move |value| match value == FILL || value == self.fill {
            true => f64::NAN,
            false => self.scale * value,
        })
    }
}

impl Variable<'_> {
    fn attribute(&self, name: &str) -> Option<&Attribute<'_>> {
        self.attributes.iter().find(|attribute| attribute.name == name.as_bytes())
    }

    /// A problem with it.
    pub fn problem(&self, what: &str) -> Problem {
        Problem::new(format!("variable `{}`: {what}", self.name.escape_ascii()))
    }

    /// Where its values end, with their padding.
    fn end(&self) -> u64 {
        self.begin.saturating_add(self.size.checked_next_multiple_of(4).unwrap_or(u64::MAX))
    }

    /// How its values are stored and brought to this unit; refused unless they are real numbers in a unit like it. AMBER's
    /// lengths are Å, and others are refused: programs that do not look at units would take them for Å.
    pub fn numbers(&self, unit: &str) -> Parsed<Numbers> {
        let mut to_unit = 1.0;
        if let Some(text) = self.attribute("units").map(Attribute::text) {
            let units = Unit::parse(&text).zip(Unit::parse(unit));
            let units = units.filter(|(found, wanted)| found.is_like(wanted) && found.length == wanted.length);
            let (found, wanted) = units
                .ok_or_else(|| self.problem(&format!("expected the unit {unit}, found {}", text.escape_default())))?;
            // exactly 1 where both are the same
            to_unit = found.factor / wanted.factor;
        }
        let number = |name: &str| match self.attribute(name) {
            Some(found) => {
                found.number().map(Some).ok_or_else(|| self.problem(&format!("{name} is not a finite number")))
            }
            None => Ok(None),
        };
        let scale = to_unit * number("scale_factor")?.unwrap_or(1.0);
        let fill = number("_FillValue").ok().flatten().unwrap_or(FILL);
        match self.kind {
            FLOAT => Ok(Numbers { width: 4, scale, fill }),
            DOUBLE => Ok(Numbers { width: 8, scale, fill }),
            _ => Err(self.problem("expected real numbers")),
        }
    }
}

impl Attribute<'_> {
    fn text(&self) -> String {
        match self.kind {
            CHAR => String::from_utf8_lossy(self.values).trim_end_matches('\0').trim().to_owned(),
            _ => String::new(),
        }
    }

    fn number(&self) -> Option<f64> {
        let width = match self.kind {
            FLOAT => 4,
            DOUBLE => 8,
            _ => return None,
        };
        self.values.get(..width).map(big_endian).filter(|value| value.is_finite())
    }
}

/// A float of four or eight bytes.
fn big_endian(bytes: &[u8]) -> f64 {
    match *bytes {
        [a, b, c, d] => f64::from(f32::from_be_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => f64::from_be_bytes([a, b, c, d, e, f, g, h]),
        _ => f64::NAN,
    }
}

fn damaged() -> Problem {
    Problem::new("the NetCDF header is damaged or cut off").help("copy the file again")
}

/// Reads a header from its beginning.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// counts have 64 bits
    wide_counts: bool,
    /// places have 64 bits
    wide_places: bool,
}

impl<'a> Cursor<'a> {
    /// Behind the number of records.
    fn new(bytes: &'a [u8]) -> Parsed<Self> {
        let (wide_counts, wide_places) = match bytes {
            [b'C', b'D', b'F', 1, ..] => (false, false),
            [b'C', b'D', b'F', 2, ..] => (false, true),
            [b'C', b'D', b'F', 5, ..] => (true, true),
            _ => {
                let message = "this kind of NetCDF is not read, expected a classic format (CDF-1, CDF-2 or CDF-5)";
                return Err(Problem::new(message).help("convert it with `nccopy -k classic`"));
            }
        };
        let mut cursor = Self { bytes, at: 4, wide_counts, wide_places };
        cursor.count()?;
        Ok(cursor)
    }

    fn take(&mut self, length: u64) -> Parsed<&'a [u8]> {
        let end = usize::try_from(length).ok().and_then(|length| self.at.checked_add(length)).ok_or_else(damaged)?;
        let taken = self.bytes.get(self.at..end).ok_or_else(damaged)?;
        self.at = end;
        Ok(taken)
    }

    fn integer(&mut self, bytes: u64) -> Parsed<u64> {
        Ok(self.take(bytes)?.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    fn word(&mut self) -> Parsed<u32> {
        self.integer(4).map(|value| value as u32)
    }

    fn count(&mut self) -> Parsed<u64> {
        self.integer(if self.wide_counts { 8 } else { 4 })
    }

    /// Bytes padded to a multiple of four.
    fn padded(&mut self, length: u64) -> Parsed<&'a [u8]> {
        let taken = self.take(length)?;
        self.take(length.wrapping_neg() % 4)?;
        Ok(taken)
    }

    fn name(&mut self) -> Parsed<&'a [u8]> {
        let length = self.count()?;
        self.padded(length)
    }

    fn dimensions(&mut self) -> Parsed<Vec<(&'a [u8], u64)>> {
        self.list(DIMENSIONS, |cursor| Ok((cursor.name()?, cursor.count()?)))
    }

    fn attributes(&mut self) -> Parsed<Vec<Attribute<'a>>> {
        self.list(ATTRIBUTES, |cursor| {
            let name = cursor.name()?;
            let kind = cursor.word()?;
            let length = cursor.count()?.checked_mul(width(kind)?).ok_or_else(damaged)?;
            Ok(Attribute { name, kind, values: cursor.padded(length)? })
        })
    }

    fn variable(&mut self, dimensions: &[(&[u8], u64)]) -> Parsed<Variable<'a>> {
        let name = self.name()?;
        let (mut shape, mut has_records) = (vec![], false);
        for place in 0..self.count()? {
            let index = usize::try_from(self.count()?).map_err(|_| damaged())?;
            match dimensions.get(index).ok_or_else(damaged)? {
                // records are the first dimension
                (_, 0) if place == 0 => has_records = true,
                (_, 0) => return Err(damaged()),
                (_, length) => shape.push(*length),
            }
        }
        let attributes = self.attributes()?;
        let kind = self.word()?;
        // the stored size repeats what the dimensions say
        self.count()?;
        let begin = self.integer(if self.wide_places { 8 } else { 4 })?;
        let size = shape.iter().try_fold(width(kind)?, |size, &length| size.checked_mul(length)).ok_or_else(damaged)?;
        Ok(Variable { name, shape, has_records, attributes, kind, size, begin })
    }

    /// A tagged list; an absent one is two zeros. Nothing is reserved by the length it claims.
    fn list<T>(&mut self, tag: u32, mut read: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let (found, length) = (self.word()?, self.count()?);
        if found != tag && (found, length) != (0, 0) {
            return Err(damaged());
        }
        let mut items = vec![];
        for _ in 0..length {
            items.push(read(self)?);
        }
        Ok(items)
    }
}
