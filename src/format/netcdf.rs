//! AMBER NetCDF restarts: the classic format's header (CDF-1, CDF-2) and the few variables a restart has.
//!
//! Everything is big-endian; a header lists dimensions, attributes and variables with the place of their values.
//! Values count in the units AMBER prescribes times the variable's `scale_factor`.

use super::coordinates::{Coordinates, FARTHEST, FASTEST, cell_of, scaled, too_long};
use crate::error::Problem;
use crate::units::ANGSTROM;
use crate::vec3::Vec3;

type Parsed<T> = std::result::Result<T, Problem>;

/// Tags of the three lists in a header.
const DIMENSIONS: u32 = 10;
const VARIABLES: u32 = 11;
const ATTRIBUTES: u32 = 12;

/// External types of interest.
const CHAR: u32 = 2;
const FLOAT: u32 = 5;
const DOUBLE: u32 = 6;

/// Bytes of a value of an external type.
fn width(kind: u32) -> Parsed<usize> {
    match kind {
        1 | CHAR => Ok(1),
        3 => Ok(2),
        4 | FLOAT => Ok(4),
        DOUBLE => Ok(8),
        _ => Err(damaged()),
    }
}

/// Read a restart from the bytes of a file that begins with `CDF`.
pub(super) fn read_restart(bytes: &[u8]) -> Parsed<Coordinates> {
    let file = Header::read(bytes)?;
    if file.dimensions.iter().any(|dimension| dimension.0 == b"frame") {
        return Err(Problem::new("this is a trajectory of several frames, expected a restart")
            .help("write one frame of it as a restart, for instance with cpptraj"));
    }
    let positions = file.vectors("coordinates", "angstrom", FARTHEST)?;
    let positions = positions.ok_or_else(|| Problem::new("the file holds no variable `coordinates`"))?;
    let velocities = file.vectors("velocities", "angstrom/picosecond", FASTEST)?;
    if velocities.as_ref().is_some_and(|velocities| velocities.len() != positions.len()) {
        return Err(Problem::new("velocities and coordinates differ in number"));
    }
    let triple = |name: &str, unit: &str| -> Parsed<Option<[f64; 3]>> {
        let values = file.values(name, unit)?;
        let wrong = || Problem::new(format!("variable `{name}`: expected three numbers"));
        values.map(|values| values.try_into().map_err(|_| wrong())).transpose()
    };
    let cell = match (triple("cell_lengths", "angstrom")?, triple("cell_angles", "degree")?) {
        (Some([0.0, 0.0, 0.0]), _) | (None, None) => None,
        (Some(lengths), Some(angles)) => {
            let cell = cell_of(lengths.map(|length| length * ANGSTROM), angles);
            Some(cell.ok_or_else(|| Problem::new("cell_lengths and cell_angles make no box"))?)
        }
        _ => return Err(Problem::new("expected both cell_lengths and cell_angles, or neither")),
    };
    let time = file.values("time", "picosecond")?.and_then(|values| values.first().copied());
    Ok(Coordinates { title: file.title(), time, positions, velocities, cell })
}

/// An attribute: its type and its values as they lie in the file.
struct Attribute<'a> {
    name: &'a [u8],
    kind: u32,
    values: &'a [u8],
}

struct Variable<'a> {
    name: &'a [u8],
    /// number of values; `None` if it varies with the record
    length: Option<usize>,
    attributes: Vec<Attribute<'a>>,
    kind: u32,
    begin: usize,
}

struct Header<'a> {
    bytes: &'a [u8],
    dimensions: Vec<(&'a [u8], usize)>,
    attributes: Vec<Attribute<'a>>,
    variables: Vec<Variable<'a>>,
}

impl<'a> Header<'a> {
    fn read(bytes: &'a [u8]) -> Parsed<Self> {
        let wide = match bytes.get(3) {
            Some(1) => false,
            Some(2) => true,
            _ => {
                return Err(Problem::new(
                    "this kind of NetCDF is not read, expected the classic format (CDF-1 or CDF-2)",
                )
                .help("convert it with `nccopy -k classic`"));
            }
        };
        // magic (4 bytes), then the number of records
        let mut cursor = Cursor { bytes, at: 8 };
        let dimensions = cursor.list(DIMENSIONS, |cursor| Ok((cursor.name()?, cursor.size()?)))?;
        let attributes = cursor.attributes()?;
        let variables = cursor.list(VARIABLES, |cursor| {
            let name = cursor.name()?;
            let mut length = Some(1usize);
            for _ in 0..cursor.size()? {
                let index = cursor.size()?;
                let &(_, size) = dimensions.get(index).ok_or_else(damaged)?;
                // size 0 marks the record dimension
                length = length.filter(|_| size > 0).and_then(|length| length.checked_mul(size));
            }
            let attributes = cursor.attributes()?;
            let kind = cursor.word()?;
            cursor.word()?; // the stored size repeats what the dimensions say
            let begin = if wide { cursor.long()? } else { cursor.size()? };
            Ok(Variable { name, length, attributes, kind, begin })
        })?;
        let header = Self { bytes, dimensions, attributes, variables };
        header.check_length()?;
        Ok(header)
    }

    /// Refuses bytes behind the last variable: something was put in. Where a variable has records, their number is not
    /// read, and how long the file should be is unknown.
    fn check_length(&self) -> Parsed<()> {
        let mut end = 0;
        for variable in &self.variables {
            let Some(length) = variable.length else { return Ok(()) };
            let size = length.checked_mul(width(variable.kind)?).and_then(|size| size.checked_next_multiple_of(4));
            end = end.max(size.and_then(|size| size.checked_add(variable.begin)).ok_or_else(damaged)?);
        }
        let found = self.bytes.len();
        if found <= end {
            return Ok(());
        }
        let message = format!("the file has {found} bytes, its header announces {end}");
        Err(Problem::new(message).help("the file is damaged: copy it again"))
    }

    fn title(&self) -> String {
        let title = self.attributes.iter().find(|attribute| attribute.name == b"title");
        title.map_or(String::new(), |title| title.text())
    }

    /// Vectors of a variable with three numbers per atom in Å or Å/ps, none longer than `most` in nm.
    fn vectors(&self, name: &str, unit_name: &str, most: f64) -> Parsed<Option<Vec<Vec3>>> {
        let Some(values) = self.values(name, unit_name)? else { return Ok(None) };
        let (triples, rest) = values.as_chunks::<3>();
        if triples.is_empty() || !rest.is_empty() {
            return Err(Problem::new(format!("variable `{name}`: expected three numbers per atom")));
        }
        let vector = |(atom, triple)| scaled(triple, ANGSTROM, most).ok_or_else(|| too_long(atom, triple));
        triples.iter().enumerate().map(vector).collect::<Parsed<_>>().map(Some)
    }

    /// All values of a variable, scaled; `None` if it is not there.
    fn values(&self, name: &str, unit: &str) -> Parsed<Option<Vec<f64>>> {
        let Some(variable) = self.variables.iter().find(|variable| variable.name == name.as_bytes()) else {
            return Ok(None);
        };
        let problem = |what: &str| Problem::new(format!("variable `{name}`: {what}"));
        let attribute = |name: &[u8]| variable.attributes.iter().find(|attribute| attribute.name == name);
        if let Some(found) =
            attribute(b"units").map(Attribute::text).filter(|found| found.trim_end_matches('s') != unit)
        {
            return Err(problem(&format!("expected the unit {unit}, found {}", found.escape_default())));
        }
        let scale = match attribute(b"scale_factor") {
            Some(scale) => scale.number().ok_or_else(|| problem("scale_factor is not a finite number"))?,
            None => 1.0,
        };
        let length = variable.length.ok_or_else(|| problem("varies with a record, expected a single frame"))?;
        let width = match variable.kind {
            FLOAT => 4,
            DOUBLE => 8,
            _ => return Err(problem("expected real numbers")),
        };
        let end = length.checked_mul(width).and_then(|size| size.checked_add(variable.begin));
        let data = end.and_then(|end| self.bytes.get(variable.begin..end));
        let data = data.ok_or_else(|| problem("reaches beyond the end of the file").help("the file seems cut off"))?;
        let values: Vec<f64> = data.chunks_exact(width).map(|value| scale * big_endian(value)).collect();
        match values.iter().position(|value| !value.is_finite()) {
            Some(index) => Err(problem(&format!("value {} is not finite", index + 1))),
            None => Ok(Some(values)),
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

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, length: usize) -> Parsed<&'a [u8]> {
        let end = self.at.checked_add(length).ok_or_else(damaged)?;
        let taken = self.bytes.get(self.at..end).ok_or_else(damaged)?;
        self.at = end;
        Ok(taken)
    }

    fn word(&mut self) -> Parsed<u32> {
        let bytes = self.take(4)?;
        Ok(bytes.iter().fold(0, |value, &byte| value << 8 | u32::from(byte)))
    }

    fn size(&mut self) -> Parsed<usize> {
        Ok(self.word()? as usize)
    }

    fn long(&mut self) -> Parsed<usize> {
        let bytes = self.take(8)?;
        let value = bytes.iter().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
        usize::try_from(value).map_err(|_| damaged())
    }

    /// Bytes padded to a multiple of four.
    fn padded(&mut self, length: usize) -> Parsed<&'a [u8]> {
        let taken = self.take(length)?;
        self.take(length.wrapping_neg() % 4)?;
        Ok(taken)
    }

    fn name(&mut self) -> Parsed<&'a [u8]> {
        let length = self.size()?;
        self.padded(length)
    }

    fn attributes(&mut self) -> Parsed<Vec<Attribute<'a>>> {
        self.list(ATTRIBUTES, |cursor| {
            let name = cursor.name()?;
            let kind = cursor.word()?;
            let length = cursor.size()?.checked_mul(width(kind)?).ok_or_else(damaged)?;
            Ok(Attribute { name, kind, values: cursor.padded(length)? })
        })
    }

    /// A tagged list; an absent one is two zero words. Nothing is reserved by the length it claims.
    fn list<T>(&mut self, tag: u32, mut read: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let (found, length) = (self.word()?, self.size()?);
        if found != tag && (found, length) != (0, 0) {
            return Err(damaged());
        }
        (0..length).map(|_| read(self)).collect()
    }
}
