//! NetCDF in its classic forms (CDF-1, CDF-2, CDF-5). The reader supports only the features that AMBER files need.
//!
//! All values are big-endian. A header lists dimensions, attributes and variables with the file offsets of their
//! values. Counts in the header have 64 bits in CDF-5 and 32 bits in the other forms. Offsets have 64 bits in CDF-2 and
//! CDF-5, and 32 bits in CDF-1. The values of variables without records come first, and the values of each variable are
//! padded to a multiple of four bytes. A record holds one frame: the values of all variables with records, in the order
//! of the header. Values are in the unit that the variable states. If the variable states no unit, values are in the
//! unit that AMBER prescribes. Values are multiplied by the variable's `scale_factor`. Fill values mark missing values;
//! the reader returns NaN for a fill value.

mod restart;

pub(super) use restart::read_restart;

use std::collections::HashMap;

use super::number;
use super::unit::Unit;
use crate::error::Problem;

/// Result of reading a NetCDF file. The error is the reason why the file cannot be read.
pub type Parsed<T> = std::result::Result<T, Problem>;

/// Tag that begins the list of dimensions in a header.
pub const DIMENSIONS: u32 = 10;
/// Tag that begins the list of variables in a header.
pub const VARIABLES: u32 = 11;
/// Tag that begins a list of attributes in a header.
pub const ATTRIBUTES: u32 = 12;

/// Number of the data type of characters in a header.
pub const CHAR: u32 = 2;
/// Number of the data type `f32` in a header.
pub const FLOAT: u32 = 5;
/// Number of the data type `f64` in a header.
pub const DOUBLE: u32 = 6;

/// Returns the number of bytes of one value of a data type.
fn width(kind: u32) -> Parsed<u64> {
    match kind {
        1 | CHAR | 7 => Ok(1),
        3 | 8 => Ok(2),
        4 | FLOAT | 9 => Ok(4),
        DOUBLE | 10 | 11 => Ok(8),
        _ => Err(damaged()),
    }
}

/// An attribute with its type and its raw values.
pub struct Attribute<'a> {
    name: &'a [u8],
    kind: u32,
    values: &'a [u8],
}

/// A variable in the header of a NetCDF file.
pub struct Variable<'a> {
    /// name of the variable in the file
    pub name: &'a [u8],
    /// lengths of the dimensions of the variable, without the record dimension
    pub shape: Vec<u64>,
    /// whether every record holds values of the variable
    pub has_records: bool,
    attributes: Vec<Attribute<'a>>,
    kind: u32,
    /// number of bytes of all values of the variable; for a record variable, number of bytes of the values in one
    /// record
    pub size: u64,
    /// file offset of the first value
    pub begin: u64,
}

/// The header of a NetCDF file.
pub struct Header<'a> {
    /// names and lengths of the dimensions; the record dimension has length 0
    pub dimensions: Vec<(&'a [u8], u64)>,
    attributes: Vec<Attribute<'a>>,
    /// variables in the order of the file
    pub variables: Vec<Variable<'a>>,
}

impl<'a> Header<'a> {
    /// Parses the header from the first bytes of a file, which must contain the whole header.
    pub fn read(bytes: &'a [u8]) -> Parsed<Self> {
        let mut cursor = Cursor::new(bytes)?;
        let dimensions = cursor.dimensions()?;
        let attributes = cursor.attributes()?;
        let variables = cursor.list(VARIABLES, |cursor| cursor.variable(&dimensions))?;
        if let Some(inside) = variables.iter().find(|variable| variable.begin < cursor.at as u64) {
            let problem = inside.problem(&format!("the values begin at byte {}, inside the header", inside.begin));
            return Err(problem.help(format!(
                "values must come after the header, which has {} bytes; copy the file again",
                cursor.at
            )));
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

    /// Returns the text of a global attribute. The text is empty if there is no such attribute.
    pub fn text(&self, name: &str) -> String {
        let found = self.attributes.iter().find(|attribute| attribute.name == name.as_bytes());
        found.map_or(String::new(), Attribute::text)
    }

    /// Returns the variable with this name.
    pub fn variable(&self, name: &str) -> Option<&Variable<'a>> {
        self.variables.iter().find(|variable| variable.name == name.as_bytes())
    }

    /// Returns the file offset of the first record and the size of a record in bytes. Returns `None` if there are no
    /// records, or if the size of a record is zero or overflows.
    pub fn record(&self) -> Option<(u64, u64)> {
        let records = || self.variables.iter().filter(|variable| variable.has_records);
        let begin = records().map(|variable| variable.begin).min()?;
        // if there is only one record variable, its values are not padded
        let padding = if records().count() == 1 { 1 } else { 4 };
        let size = records()
            .try_fold(0u64, |sum, variable| sum.checked_add(variable.size.checked_next_multiple_of(padding)?))?;
        (size > 0).then_some((begin, size))
    }
}

/// Returns an error if the same name occurs twice in a list of the header.
fn once<'n>(what: &str, names: impl Iterator<Item = &'n [u8]>) -> Parsed<()> {
    let mut places = HashMap::new();
    for (place, name) in names.enumerate() {
        if let Some(first) = places.insert(name, place) {
            let [first, place] = [first + 1, place + 1];
            let message = format!(
                "the {what} {} occurs twice in the header, as number {first} and as number {place}",
                number::quoted(name)
            );
            return Err(Problem::new(message).help("copy the file again"));
        }
    }
    Ok(())
}

/// Returns the names of the dimensions of a NetCDF file with these first bytes; the list is empty for other files.
pub fn dimension_names(beginning: &[u8]) -> Vec<&[u8]> {
    let found = Cursor::new(beginning).and_then(|mut cursor| cursor.dimensions());
    found.unwrap_or_default().into_iter().map(|(name, _)| name).collect()
}

/// Storage format of the values of a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers {
    /// bytes per value
    pub width: usize,
    /// factor that converts stored values to the requested unit
    pub scale: f64,
    /// stored value that marks missing values, in addition to the default fill value [`FILL`]
    pub fill: f64,
}

/// Default fill value of NetCDF for real numbers. `f32` represents this number exactly.
const FILL: f64 = 9.969_209_968_386_869e36;

impl Numbers {
    /// Converts raw bytes to values. Missing values become NaN.
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

    /// Returns an error about this variable.
    pub fn problem(&self, what: &str) -> Problem {
        let problem = Problem::new(format!("variable `{}`: {what}", self.name.escape_ascii()));
        problem
            .help("the file does not follow AMBER's convention; write the file again with AMBER, cpptraj or MDAnalysis")
    }

    /// Returns the file offset of the end of the values, with their padding.
    fn end(&self) -> u64 {
        self.begin.saturating_add(self.size.checked_next_multiple_of(4).unwrap_or(u64::MAX))
    }

    /// Returns the storage format of the values, with the factor that converts the values to the given unit.
    ///
    /// # Errors
    ///
    /// Returns an error if the values are not real numbers, or if their unit belongs to another kind of quantity.
    /// Lengths must be in Å, as AMBER prescribes, because some programs do not read units and assume Å.
    pub fn numbers(&self, unit: &str) -> Parsed<Numbers> {
        let mut to_unit = 1.0;
        if let Some(text) = self.attribute("units").map(Attribute::text) {
            let units = Unit::parse(&text).zip(Unit::parse(unit));
            let units = units.filter(|(found, wanted)| found.is_like(wanted) && found.length == wanted.length);
            let (found, wanted) = units
                .ok_or_else(|| self.problem(&format!("expected the unit {unit}, found {}", text.escape_default())))?;
            // the quotient is exactly 1 if both units are the same
            to_unit = found.factor / wanted.factor;
        }
        let number = |name: &str| match self.attribute(name) {
            Some(found) => {
                found.number().map(Some).ok_or_else(|| self.problem(&format!("{name} is not a finite number")))
            }
            None => Ok(None),
        };
        if number("add_offset")?.is_some_and(|offset| offset != 0.0) {
            return Err(self.problem("add_offset is not 0, and AMBER's convention has no offsets"));
        }
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

/// Converts a big-endian float of four or eight bytes.
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

/// Reader of the header of a NetCDF file, from its beginning.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// whether counts have 64 bits
    wide_counts: bool,
    /// whether file offsets have 64 bits
    wide_places: bool,
}

impl<'a> Cursor<'a> {
    /// Checks the format of the file, and places the cursor after the field with the number of records.
    fn new(bytes: &'a [u8]) -> Parsed<Self> {
        let (wide_counts, wide_places) = match bytes {
            [b'C', b'D', b'F', 1, ..] => (false, false),
            [b'C', b'D', b'F', 2, ..] => (false, true),
            [b'C', b'D', b'F', 5, ..] => (true, true),
            _ => {
                let message =
                    "md does not read this kind of NetCDF file, expected a classic format (CDF-1, CDF-2 or CDF-5)";
                return Err(Problem::new(message).help("convert the file with `nccopy -k classic`"));
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

    /// Returns the next `length` bytes, and skips the padding up to the next multiple of four bytes.
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
                // the record dimension must be the first dimension of a variable
                (_, 0) if place == 0 => has_records = true,
                (_, 0) => return Err(damaged()),
                (_, length) => shape.push(*length),
            }
        }
        let attributes = self.attributes()?;
        let kind = self.word()?;
        // the stored size is skipped, because the size of a variable follows from its dimensions
        self.count()?;
        let begin = self.integer(if self.wide_places { 8 } else { 4 })?;
        let size = shape.iter().try_fold(width(kind)?, |size, &length| size.checked_mul(length)).ok_or_else(damaged)?;
        Ok(Variable { name, shape, has_records, attributes, kind, size, begin })
    }

    /// Reads a list that begins with a tag. Two zeros stand for an absent list. No memory is reserved in advance,
    /// because the number of items in a damaged file may be wrong.
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
