//! AMBER NetCDF: positions, velocities and forces in `f32`, one record of a classic NetCDF file per frame.
//!
//! The module [`crate::format::netcdf`] reads the header, which gives offset, width and unit of each variable in a
//! record. Files are written as CDF-2 by the conventions `AMBER` 1.0: lengths in Å, velocities in AMBER's unit of
//! 20.455 Å/ps, forces in kcal/mol/Å, times in `f32`. In addition to the conventions, md writes the step number of each
//! frame, and the identifier of the run as an attribute of the file. After a crash the number of frames in the header
//! is wrong, so md computes the number of frames from the size of the file.

use std::fs::File;
use std::io::{BufReader, Read};

use super::index::Index;
use super::records::{Checked, Created, Facts, Found, Layout, Records};
use super::{Contents, Fields, Format, Frame, Holds, Precision, StoredFrame};
use crate::cell::PeriodicCell;
use crate::format::netcdf::{
    ATTRIBUTES, CHAR, DIMENSIONS, DOUBLE, FLOAT, Header, Numbers, VARIABLES, Variable, dimension_names,
};
use crate::units::{ANGSTROM, KCAL};
use crate::vec3::Vec3;

/// Description of the AMBER NetCDF format, for the list of all formats.
pub(super) const FORMAT: Format = Format {
    name: "AMBER NetCDF",
    extension: "nc",
    atom_bytes: 12,
    frame_bytes: 64,
    holds: Holds { velocities: true, forces: true, lossless: true, ..Holds::POSITIONS },
    files: &Records {
        name: "AMBER NetCDF",
        recognises: |beginning| dimension_names(beginning).contains(&b"frame".as_slice()),
        create: NetCdf::create,
        open: NetCdf::open,
    },
};

/// Maximum size of the header, in bytes.
const HEADER: u64 = 1 << 20;
/// Maximum number of atoms, which keeps the size of a variable below 2³¹ bytes.
const MOST_ATOMS: usize = i32::MAX as usize / 12;
/// Number of Å/ps in AMBER's unit of velocities.
const VELOCITY: f64 = 20.455;
const RUN_ID: &str = "run_id";

/// Byte offset, number type and unit of a variable in a record.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    /// byte offset from the start of the record
    offset: usize,
    numbers: Numbers,
    /// factor from the unit of the file to internal units
    unit: f64,
}

/// Properties of an AMBER NetCDF file that are the same for all frames.
struct NetCdf {
    atoms: usize,
    /// size of a record, which is a frame, in bytes
    record: usize,
    /// size in bytes of the field that stores the number of records
    count_bytes: usize,
    positions: Place,
    velocities: Option<Place>,
    forces: Option<Place>,
    /// offsets and units of the lengths and of the angles of the cell in a record; `None` without a cell
    cell: Option<[Place; 2]>,
    time: Option<Place>,
    step: Option<Place>,
}

impl Place {
    /// Reads `count` numbers of a variable from a record, and converts the numbers to internal units. The record must
    /// be large enough.
    fn numbers<'b>(&self, record: &'b [u8], count: usize) -> impl Iterator<Item = f64> + use<'b> {
        let (unit, bytes) = (self.unit, self.offset..self.offset + count * self.numbers.width);
        self.numbers.of(&record[bytes]).map(move |value| value * unit)
    }

    /// Converts numbers from internal units, and writes the converted numbers to a record. The record must be large
    /// enough.
    fn write(&self, record: &mut [u8], values: impl Iterator<Item = f64>) {
        let scale = 1.0 / (self.unit * self.numbers.scale);
        for (bytes, value) in record[self.offset..].chunks_exact_mut(self.numbers.width).zip(values) {
            match bytes.len() {
                4 => bytes.copy_from_slice(&((value * scale) as f32).to_be_bytes()),
                _ => bytes.copy_from_slice(&(value * scale).to_be_bytes()),
            }
        }
    }

    /// Reads one vector for each atom from a record.
    fn vectors(&self, record: &[u8], atoms: usize, found: &mut Vec<Vec3>) -> Checked<()> {
        let mut numbers = self.numbers(record, 3 * atoms);
        for atom in 1..=atoms {
            let vector = Vec3::from([0; 3].map(|_| numbers.next().unwrap_or(f64::NAN)));
            if !vector.is_finite() {
                return Err(format!("a value of atom {atom} is missing or not finite"));
            }
            found.push(vector);
        }
        Ok(())
    }

    /// Whether all numbers of the first `vectors` vectors are NaN, which marks the vectors of a record as missing.
    fn is_missing(&self, record: &[u8], vectors: usize) -> bool {
        self.numbers(record, 3 * vectors).all(f64::is_nan)
    }

    fn three(&self, record: &[u8]) -> [f64; 3] {
        let mut numbers = self.numbers(record, 3);
        [0; 3].map(|_| numbers.next().unwrap_or(f64::NAN))
    }
}

impl NetCdf {
    /// Creates the properties of a file from its header. Returns the properties and the byte offset of the first
    /// record.
    fn new(header: &Header<'_>, count_bytes: usize) -> Checked<(Self, u64)> {
        let (begin, record) = header.record().ok_or("the file has no frames, and no variables for frames")?;
        let record = usize::try_from(record).map_err(|_| "the frames are too large")?;
        let place = |variable: &Variable<'_>, unit_name: &str, unit: f64| -> Checked<Place> {
            let numbers = variable.numbers(unit_name).map_err(|problem| problem.message)?;
            Ok(Place { offset: (variable.begin - begin) as usize, numbers, unit })
        };
        // finds a variable by its name, and returns its offset and unit; a variable with a wrong shape is an error
        let find = |name: &str, shape: &[u64], unit_name: &str, unit: f64| -> Checked<Option<Place>> {
            let Some(found) = header.variable(name) else { return Ok(None) };
            if !found.has_records || found.shape != shape {
                return Err(format!("variable `{name}` has the dimensions {:?}, expected {shape:?}", found.shape));
            }
            let offset = found.begin - begin;
            if offset.checked_add(found.size).is_none_or(|end| end > record as u64) {
                return Err(format!("variable `{name}` is not inside the record"));
            }
            place(found, unit_name, unit).map(Some)
        };
        let atoms = header.variable("coordinates").and_then(|found| found.shape.first().copied());
        let atoms = atoms.filter(|atoms| (1..=MOST_ATOMS as u64).contains(atoms));
        let atoms = atoms.ok_or("the file has no positions (`coordinates`), or too many positions")?;
        let vectors = [atoms, 3];
        let positions = find("coordinates", &vectors, "angstrom", ANGSTROM)?.ok_or("it has no positions")?;
        let cell = match (find("cell_lengths", &[3], "angstrom", ANGSTROM)?, find("cell_angles", &[3], "degree", 1.0)?)
        {
            (Some(lengths), Some(angles)) => Some([lengths, angles]),
            (None, None) => None,
            _ => return Err("expected both cell_lengths and cell_angles, or neither".to_owned()),
        };
        let layout = Self {
            atoms: atoms as usize,
            record,
            count_bytes,
            positions,
            velocities: find("velocities", &vectors, "angstrom/picosecond", ANGSTROM)?,
            forces: find("forces", &vectors, "kilocalorie/mole/angstrom", KCAL / ANGSTROM)?,
            cell,
            time: find("time", &[], "picosecond", 1.0)?,
            step: find("step", &[], "step", 1.0)?,
        };
        Ok((layout, begin))
    }

    fn create(contents: &Contents<'_>) -> Checked<Created> {
        let atoms = contents.topology.atoms.len();
        if !(1..=MOST_ATOMS).contains(&atoms) {
            return Err(format!("the trajectory has {atoms} atoms, but AMBER NetCDF stores 1 to {MOST_ATOMS} atoms"));
        }
        let bytes = header(contents);
        let header = Header::read(&bytes).map_err(|problem| problem.message)?;
        let (layout, _) = Self::new(&header, 4)?;
        Ok((Box::new(layout), bytes))
    }

    fn open(file: &mut BufReader<File>, length: u64) -> Checked<Found> {
        let mut bytes = vec![];
        file.by_ref().take(HEADER).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        let header = Header::read(&bytes).map_err(|problem| problem.message)?;
        let (layout, begin) = Self::new(&header, if bytes.get(3) == Some(&5) { 8 } else { 4 })?;
        if begin > length {
            return Err("the file ends in its header".to_owned());
        }
        let (velocities, forces) = (layout.velocities.is_some(), layout.forces.is_some());
        let facts = Facts {
            fields: Some(Fields { velocities, forces, image: false }),
            has_times: layout.time.is_some(),
            is_indexed: layout.time.is_none(),
            is_double: layout.positions.numbers.width == 8,
            counted: counted(&bytes, layout.count_bytes),
            run_id: Some(header.text(RUN_ID)).filter(|id| !id.is_empty()),
            ..Facts::new(layout.atoms, Some(Precision::Lossless))
        };
        let index = Index::equal(begin, length, layout.record as u64);
        Ok((Box::new(layout), facts, index))
    }
}

impl Layout for NetCdf {
    fn encode(&mut self, frame: &Frame<'_>, placed: &[[f32; 3]], bytes: &mut Vec<u8>) -> Checked<()> {
        bytes.resize(self.record, 0);
        self.positions.write(bytes, placed.as_flattened().iter().map(|&value| f64::from(value)));
        for (place, values) in [(self.velocities, frame.velocities), (self.forces, frame.forces)] {
            let Some(place) = place else { continue };
            if values.len() != self.atoms {
                return Err(format!(
                    "the frame has {} velocities or forces, but the file has {} atoms",
                    values.len(),
                    self.atoms
                ));
            }
            place.write(bytes, values.iter().flat_map(|r| r.to_array()));
        }
        if let (Some([lengths, angles]), Some(cell)) = (self.cell, frame.cell) {
            let numbers = cell.lengths_angles();
            lengths.write(bytes, numbers.0.into_iter());
            angles.write(bytes, numbers.1.into_iter());
        }
        for (place, value) in [(self.time, frame.time), (self.step, frame.step as f64)] {
            if let Some(place) = place {
                place.write(bytes, std::iter::once(value));
            }
        }
        Ok(())
    }

    fn decode(&self, index: usize, bytes: &[u8], frame: &mut StoredFrame) -> Checked<()> {
        frame.clear();
        self.positions.vectors(bytes, self.atoms, &mut frame.positions)?;
        for (place, found) in [(self.velocities, &mut frame.velocities), (self.forces, &mut frame.forces)] {
            if let Some(place) = place.filter(|place| !place.is_missing(bytes, self.atoms)) {
                place.vectors(bytes, self.atoms, found)?;
            }
        }
        if let Some(cell) = self.cell {
            let [lengths, angles] = cell.map(|place| place.three(bytes));
            if lengths != [0.0; 3] && !cell[0].is_missing(bytes, 1) {
                let found = PeriodicCell::from_lengths_angles(lengths, angles);
                frame.cell =
                    Some(found.ok_or_else(|| {
                        format!("the lengths {lengths:?} nm and angles {angles:?}° do not form a cell")
                    })?);
            }
        }
        // the index of the frame replaces a time or a step number that the file does not store
        let number = |place: Option<Place>| {
            let value = place.and_then(|place| place.numbers(bytes, 1).next());
            value.filter(|value| value.is_finite()).unwrap_or(index as f64)
        };
        (frame.time, frame.step) = (number(self.time), number(self.step) as i64);
        Ok(())
    }

    fn counts(&self, count: u64, _last_step: Option<u64>) -> Option<(u64, Vec<u8>)> {
        let bytes = match self.count_bytes {
            8 => count.to_be_bytes().to_vec(),
            // a number of frames that does not fit into 32 bits is clamped; md computes the number of frames from the
            // size of the file
            _ => (count.min(u64::from(u32::MAX) - 1) as u32).to_be_bytes().to_vec(),
        };
        Some((4, bytes))
    }
}

/// Returns the number of records that a header states; the number follows the four bytes of the magic number. Returns
/// `None` if all bits of the number are set, which means that the number is not known.
fn counted(header: &[u8], bytes: usize) -> Option<u64> {
    let field = header.get(4..4 + bytes)?;
    let is_known = field.iter().any(|&byte| byte != u8::MAX);
    is_known.then(|| field.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

/// Value of an attribute that md writes.
#[derive(Clone, Copy)]
enum Value<'a> {
    Text(&'a str),
    Number(f64),
}

/// Variable of a file that md writes.
struct Written<'a> {
    name: &'a str,
    dimensions: &'a [u32],
    kind: u32,
    attributes: &'a [(&'a str, Value<'a>)],
    /// size in bytes of the values of the variable, a multiple of four; for a record variable, the size of its values
    /// in one record
    size: u64,
    /// values of a variable that is not a record variable
    values: &'a [u8],
}

/// Index of the dimension of the frames in the header; the constants after `FRAME` are the indices of the other
/// dimensions.
const FRAME: u32 = 0;
const SPATIAL: u32 = 1;
const ATOM: u32 = 2;
const LABEL: u32 = 3;
const CELL_SPATIAL: u32 = 4;
const CELL_ANGULAR: u32 = 5;

/// Returns the bytes before the first record of a new file: the header, and the values of the variables that are not
/// record variables.
fn header(contents: &Contents<'_>) -> Vec<u8> {
    let atoms = contents.topology.atoms.len() as u64;
    let labels = |name, dimensions, values: &'static [u8]| Written {
        name,
        dimensions,
        kind: CHAR,
        attributes: &[],
        size: values.len() as u64,
        values,
    };
    let numbers =
        |name, dimensions, kind, attributes, size| Written { name, dimensions, kind, attributes, size, values: &[] };
    let vectors = |name, attributes| numbers(name, &[FRAME, ATOM, SPATIAL], FLOAT, attributes, 12 * atoms);
    let scale = ("scale_factor", Value::Number(VELOCITY));
    let velocity = [("units", Value::Text("angstrom/picosecond")), scale];
    let mut variables = vec![
        labels("spatial", &[SPATIAL], b"xyz\0"),
        labels("cell_spatial", &[CELL_SPATIAL], b"abc\0"),
        labels("cell_angular", &[CELL_ANGULAR, LABEL], b"alphabeta gamma\0"),
        numbers("time", &[FRAME], FLOAT, &[("units", Value::Text("picosecond"))], 4),
        numbers("step", &[FRAME], DOUBLE, &[("units", Value::Text("step"))], 8),
        vectors("coordinates", &[("units", Value::Text("angstrom"))]),
    ];
    if contents.fields.velocities {
        variables.push(vectors("velocities", &velocity));
    }
    if contents.fields.forces {
        variables.push(vectors("forces", &[("units", Value::Text("kilocalorie/mole/angstrom"))]));
    }
    if contents.periodic {
        let (length, angle) = (&[("units", Value::Text("angstrom"))], &[("units", Value::Text("degree"))]);
        variables.push(numbers("cell_lengths", &[FRAME, CELL_SPATIAL], DOUBLE, length, 24));
        variables.push(numbers("cell_angles", &[FRAME, CELL_ANGULAR], DOUBLE, angle, 24));
    }
    // the offsets in the header depend on the length of the header, but the length does not depend on the offsets, so
    // the length is computed with offset 0
    let length = lists(contents, &variables, 0).len() as u64;
    let mut bytes = lists(contents, &variables, length);
    variables.iter().for_each(|variable| bytes.extend(variable.values));
    bytes
}

/// Returns the lists of dimensions, attributes and variables, as the header contains them. The first variable begins at
/// byte `place`, and each further variable begins where the previous variable ends.
fn lists(contents: &Contents<'_>, variables: &[Written<'_>], mut place: u64) -> Vec<u8> {
    let provenance = contents.provenance;
    let title = contents.topology.title.trim();
    let mut out = b"CDF\x02\0\0\0\0".to_vec();
    let dimensions = [
        ("frame", 0),
        ("spatial", 3),
        ("atom", contents.topology.atoms.len() as u32),
        ("label", 5),
        ("cell_spatial", 3),
        ("cell_angular", 3),
    ];
    push_words(&mut out, &[DIMENSIONS, dimensions.len() as u32]);
    for (name, length) in dimensions {
        push_text(&mut out, name);
        push_words(&mut out, &[length]);
    }
    let attributes = [
        ("title", Value::Text(if title.is_empty() { "md trajectory" } else { title })),
        ("application", Value::Text("md")),
        ("program", Value::Text("md")),
        ("programVersion", Value::Text(&provenance.version)),
        ("Conventions", Value::Text("AMBER")),
        ("ConventionVersion", Value::Text("1.0")),
        (RUN_ID, Value::Text(&provenance.run_id)),
    ];
    push_attributes(&mut out, &attributes);
    push_words(&mut out, &[VARIABLES, variables.len() as u32]);
    for variable in variables {
        push_text(&mut out, variable.name);
        push_words(&mut out, &[variable.dimensions.len() as u32]);
        push_words(&mut out, variable.dimensions);
        push_attributes(&mut out, variable.attributes);
        push_words(&mut out, &[variable.kind, variable.size as u32]);
        out.extend(place.to_be_bytes());
        place += variable.size;
    }
    out
}

fn push_words(out: &mut Vec<u8>, words: &[u32]) {
    out.extend(words.iter().flat_map(|word| word.to_be_bytes()));
}

/// Appends the length of a text and the text, padded to a multiple of four bytes.
fn push_text(out: &mut Vec<u8>, text: &str) {
    push_words(out, &[text.len() as u32]);
    out.extend(text.bytes());
    out.resize(out.len().next_multiple_of(4), 0);
}

fn push_attributes(out: &mut Vec<u8>, attributes: &[(&str, Value<'_>)]) {
    match attributes.len() {
        0 => push_words(out, &[0, 0]),
        count => push_words(out, &[ATTRIBUTES, count as u32]),
    }
    for (name, value) in attributes {
        push_text(out, name);
        match value {
            Value::Text(text) => {
                push_words(out, &[CHAR]);
                push_text(out, text);
            }
            Value::Number(number) => {
                push_words(out, &[DOUBLE, 1]);
                out.extend(number.to_be_bytes());
            }
        }
    }
}
