//! DCD, the binary format of CHARMM, NAMD and X-PLOR: positions in `f32`, in Å.
//!
//! The file is a sequence of Fortran records, each between two copies of its length. The file begins with a header of
//! 84 bytes (`CORD` and twenty words), title lines, and the number of atoms. Each frame has the cell, if there is one,
//! then all x coordinates, all y coordinates, and all z coordinates. Record lengths have 32 or 64 bits; byte order is
//! big or little endian. The words of the header, counted from 0, are:
//!
//! | word | meaning | | word | meaning |
//! |---|---|---|---|---|
//! | 0 | frames; wrong after a crash, so md uses the file size | | 9 | timestep in 0.0489 ps (`f64` in X-PLOR) |
//! | 1, 2 | step of the first frame, steps between frames | | 10 | whether frames have a cell |
//! | 3 | step of the last frame | | 11 | whether a fourth coordinate follows z |
//! | 8 | number of fixed atoms, which are left out | | 19 | version of CHARMM; 0 in X-PLOR |
//!
//! A cell is stored as six `f64`: A, γ, B, β, α, C, with the angles in degrees or as their cosines. CHARMM stores
//! instead the lower triangle of the shape matrix, a symmetric matrix whose rows are the lattice vectors. Programs
//! other than CHARMM write a version number of at most 24, so a file with a later version has shape matrices. In a file
//! with an earlier version, a shape matrix is recognised because its elements are impossible as cell angles. A frame
//! with a shape matrix is rotated as a whole, so that its lattice vectors get the lower-triangular form of
//! [`PeriodicCell`].
//!
//! md writes cosines of cell angles, as NAMD does, and 32-bit lengths in little endian. Frames do not store their
//! times, which readers compute from the header. If the time of a written frame differs from the time that readers
//! compute, md gives a warning. Files with fixed atoms are refused.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use super::index::Index;
use super::records::{Checked, Created, Facts, Found, Layout, Records};
use super::{Contents, Format, Frame, Holds, Precision, StoredFrame};
use crate::cell::PeriodicCell;
use crate::units::ANGSTROM;
use crate::vec3::{Vec3, vec3};

/// Description of the DCD format, for the list of all formats.
pub(super) const FORMAT: Format = Format {
    name: "DCD",
    extension: "dcd",
    atom_bytes: 12,
    frame_bytes: 80,
    holds: Holds { lossless: true, times: false, ..Holds::POSITIONS },
    files: &Records {
        name: "DCD",
        recognises: |beginning| Encoding::of(beginning).is_some(),
        create: Dcd::create,
        open: Dcd::open,
    },
};

/// Size of the header record in bytes.
const HEADER: usize = 84;
/// Number of characters of a title line.
const LINE: usize = 80;
/// Size of the cell record in bytes.
const CELL: usize = 48;
/// Time unit of DCD files in ps. The unit follows from lengths in Å, energies in kcal/mol and masses in amu:
/// 0.1/√4.184.
const TIME: f64 = 0.048_888_212_9;
/// Relative rounding error of times in `f32`, including the rounding error of the time step in the header.
const TIME_ROUNDING: f64 = 1e-6;
/// Allowed difference between the time of a frame and the time that readers compute, as a fraction of the interval
/// between frames.
const SPACING_ROUNDING: f64 = 1e-3;
/// Warning about frames whose steps or times differ from the steps or times that readers compute from the header.
const UNEVEN: &str = "DCD stores one interval for all frames, counted from step 0: programs will read wrong times or \
    steps of some frames; .h5md, .xtc, .trr and .nc store the time of each frame";
/// Text that precedes the identifier of the run in the title lines.
const RUN: &str = "md run ";
/// Maximum number of atoms, so that record lengths stay below 2³¹ bytes.
const MOST_ATOMS: usize = (i32::MAX / 4) as usize;
/// Range (degrees) in which a stored number may be a cell angle; the angles of a reduced cell are between 60° and 120°.
/// Numbers outside this range belong to a shape matrix.
const ANGLES: std::ops::RangeInclusive<f64> = 20.0..=160.0;
/// Largest version number that programs other than CHARMM write to the header; md writes this number.
const OTHERS: i32 = 24;

/// Byte order and width of record lengths in a DCD file.
#[derive(Clone, Copy)]
struct Encoding {
    little: bool,
    /// size of the length field of a record, in bytes
    marker: usize,
}

impl Encoding {
    /// Recognises the encoding from the length of the first record and the word after this length.
    fn of(beginning: &[u8]) -> Option<Self> {
        let marks = |&Encoding { little, marker }: &Encoding| {
            let mut length = vec![0u8; marker];
            length[if little { 0 } else { marker - 1 }] = HEADER as u8;
            beginning.starts_with(&length) && beginning[marker..].starts_with(b"CORD")
        };
        [(true, 4), (false, 4), (true, 8), (false, 8)]
            .map(|(little, marker)| Encoding { little, marker })
            .into_iter()
            .find(marks)
    }

    fn bytes<const N: usize>(self, bytes: &[u8], at: usize) -> Option<[u8; N]> {
        let mut found: [u8; N] = bytes.get(at..at + N)?.try_into().ok()?;
        if !self.little {
            found.reverse();
        }
        Some(found)
    }

    fn integer(self, bytes: &[u8], at: usize) -> Option<i32> {
        self.bytes(bytes, at).map(i32::from_le_bytes)
    }

    fn single(self, bytes: &[u8], at: usize) -> Option<f32> {
        self.bytes(bytes, at).map(f32::from_le_bytes)
    }

    fn double(self, bytes: &[u8], at: usize) -> Option<f64> {
        self.bytes(bytes, at).map(f64::from_le_bytes)
    }

    fn length(self, bytes: &[u8], at: usize) -> Option<u64> {
        match self.marker {
            4 => self.bytes(bytes, at).map(|length| u64::from(u32::from_le_bytes(length))),
            _ => self.bytes(bytes, at).map(u64::from_le_bytes),
        }
    }

    /// Returns the size of the title in bytes. The title record begins at byte `begin`, and `given` is the value of its
    /// length fields before and after the title. Some programs write the length of a title of two lines, even if the
    /// title has another number of lines. The true length of the title then follows from the number of title lines.
    fn title(self, file: &mut BufReader<File>, begin: u64, given: u64, length: u64) -> Checked<u64> {
        let marker = self.marker as u64;
        let mut number_at = |at: u64, bytes: usize| -> Checked<Vec<u8>> {
            let mut found = vec![0; bytes];
            let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut found));
            read.map(|()| found).map_err(|_| "the file ends in its header".to_owned())
        };
        let lines = self.integer(&number_at(begin + marker, 4)?, 0).and_then(|lines| u64::try_from(lines).ok());
        let by_lines = lines.map(|lines| 4 + LINE as u64 * lines);
        for bytes in [Some(given), by_lines].into_iter().flatten() {
            let end = begin + marker + bytes.min(length);
            if end + marker <= length && self.length(&number_at(end, self.marker)?, 0) == Some(given) {
                return Ok(bytes);
            }
        }
        match given > length {
            true => Err("the file ends in its header".to_owned()),
            false => Err(format!(
                "the title is damaged: its length is neither {given} bytes nor the length that its number of \
                 lines gives"
            )),
        }
    }

    /// Returns the contents of a record of `expected` bytes at offset `at`, and the offset of the next record.
    fn record(self, bytes: &[u8], at: usize, expected: usize) -> Checked<(&[u8], usize)> {
        let (start, end) = (at + self.marker, at + self.marker + expected);
        let lengths = [self.length(bytes, at), self.length(bytes, end)];
        match bytes.get(start..end) {
            Some(record) if lengths == [Some(expected as u64); 2] => Ok((record, end + self.marker)),
            _ => Err(format!(
                "expected a record of {expected} bytes, found lengths {:?} and {:?}",
                lengths[0], lengths[1]
            )),
        }
    }
}

/// Properties of a DCD file that are the same for all frames.
struct Dcd {
    encoding: Encoding,
    atoms: usize,
    periodic: bool,
    /// whether cells are stored as shape matrices, according to the version number in the header
    shape: bool,
    /// whether frames have a fourth coordinate for each atom after x, y and z
    fourth: bool,
    /// step number of the first frame; `None` before the first frame is written
    first_step: Option<i64>,
    /// number of steps between frames
    interval: i64,
    /// time step, ps
    timestep: f64,
    /// step number of the last frame written; `None` before the first frame
    last_step: Option<i64>,
    /// whether a frame was written whose step or time differs from the value that readers compute from the header
    is_uneven: bool,
}

impl Dcd {
    /// Returns the size of a frame in bytes.
    fn frame(&self) -> u64 {
        let record = |bytes: usize| (2 * self.encoding.marker + bytes) as u64;
        let cell = if self.periodic { record(CELL) } else { 0 };
        cell + (3 + u64::from(self.fourth)) * record(4 * self.atoms)
    }

    /// Sets the cell of a frame from the six stored numbers. The positions of the frame must be read before the cell,
    /// because a shape matrix also rotates the positions. If all lengths are zero, the frame has no cell.
    fn take_cell(&self, numbers: [f64; 6], frame: &mut StoredFrame) -> Checked<()> {
        let [a, gamma, b, beta, alpha, c] = numbers;
        let lengths = [a, b, c].map(|length| length * ANGSTROM);
        if lengths == [0.0; 3] {
            return Ok(());
        }
        if !(self.shape && is_shape(numbers)) {
            frame.cell = cell_of_angles(lengths, [alpha, beta, gamma]);
        }
        if frame.cell.is_some() {
            return Ok(());
        }
        let [xx, xy, yy, xz, yz, zz] = numbers.map(|value| value * ANGSTROM);
        let rows = [vec3(xx, xy, xz), vec3(xy, yy, yz), vec3(xz, yz, zz)];
        frame.take_lattice(rows).ok_or_else(|| format!("the numbers {numbers:?} do not form a cell"))
    }

    /// Returns words 0 to 3 of the header: number of frames, step of the first frame, steps between frames, and step of
    /// the last frame.
    fn counts_words(&self, count: u64, last_step: i64) -> [u8; 16] {
        // numbers too large for a word are clamped to the largest `i32`; readers compute the number of frames from the
        // size of the file
        let words = [count as i64, self.first_step.unwrap_or(0), self.interval, last_step];
        let mut bytes = [0; 16];
        for (word, value) in bytes.chunks_exact_mut(4).zip(words) {
            let value = value.min(i64::from(i32::MAX)) as i32;
            word.copy_from_slice(&if self.encoding.little { value.to_le_bytes() } else { value.to_be_bytes() });
        }
        bytes
    }

    fn create(contents: &Contents<'_>) -> Checked<Created> {
        let atoms = contents.topology.atoms.len();
        if !(1..=MOST_ATOMS).contains(&atoms) {
            return Err(format!("the trajectory has {atoms} atoms, but DCD stores 1 to {MOST_ATOMS} atoms"));
        }
        let layout = Dcd {
            encoding: Encoding { little: true, marker: 4 },
            atoms,
            periodic: contents.periodic,
            shape: false,
            fourth: false,
            first_step: None,
            interval: i64::try_from(contents.spacing.steps).unwrap_or(i64::MAX),
            timestep: contents.spacing.timestep,
            last_step: None,
            is_uneven: false,
        };
        let mut header = [0; HEADER];
        header[..4].copy_from_slice(b"CORD");
        header[4..20].copy_from_slice(&layout.counts_words(0, 0));
        header[40..44].copy_from_slice(&((layout.timestep / TIME) as f32).to_le_bytes());
        header[44..48].copy_from_slice(&i32::from(layout.periodic).to_le_bytes());
        // this version number shows readers that the header was not written by CHARMM
        header[80..84].copy_from_slice(&OTHERS.to_le_bytes());
        let mut title = 2i32.to_le_bytes().to_vec();
        for line in
            [format!("{RUN}{}", contents.provenance.run_id), format!("written by md {}", contents.provenance.version)]
        {
            title.extend(line.bytes().chain(std::iter::repeat(b' ')).take(LINE));
        }
        let mut bytes = vec![];
        for record in [&header[..], &title, &(atoms as i32).to_le_bytes()] {
            push_record(&mut bytes, record);
        }
        Ok((Box::new(layout), bytes))
    }

    fn open(file: &mut BufReader<File>, length: u64) -> Checked<Found> {
        let mut start = vec![];
        let failed = |error: std::io::Error| error.to_string();
        file.by_ref().take(HEADER as u64 + 24).read_to_end(&mut start).map_err(failed)?;
        let encoding = Encoding::of(&start).ok_or("the file is not a DCD file")?;
        let (words, at) =
            encoding.record(&start, 0, HEADER).map_err(|reason| format!("the header is damaged: {reason}"))?;
        let integer = |word: usize| encoding.integer(words, 4 + 4 * word).unwrap_or(0);
        let title = encoding.length(&start, at).ok_or("the file ends in its header")?;
        let (marker, begin) = (encoding.marker as u64, at as u64);
        let title = encoding.title(file, begin, title, length)?;
        let after = begin + 2 * marker + title + 2 * marker + 4;
        // the record must end before the end of the file
        if after > length {
            return Err("the file ends in its header".to_owned());
        }
        file.seek(SeekFrom::Start(begin)).map_err(failed)?;
        let mut rest = vec![0; (after - begin) as usize];
        file.read_exact(&mut rest).map_err(failed)?;
        let (start, end) = (encoding.marker, encoding.marker + title as usize);
        let text = rest.get(start..end).unwrap_or_default();
        let (count, _) = encoding
            .record(&rest, end + encoding.marker, 4)
            .map_err(|reason| format!("the number of atoms is damaged: {reason}"))?;
        let atoms = encoding.integer(count, 0).and_then(|atoms| usize::try_from(atoms).ok());
        let atoms =
            atoms.filter(|atoms| (1..=MOST_ATOMS).contains(atoms)).ok_or("the file has no atoms, or too many atoms")?;
        if integer(8) != 0 {
            return Err(format!(
                "{} atoms are fixed and left out of the frames; md reads only complete frames",
                integer(8)
            ));
        }
        let charmm = integer(19) != 0;
        let step = if charmm { encoding.single(words, 40).map(f64::from) } else { encoding.double(words, 40) };
        let mut layout = Dcd {
            encoding,
            atoms,
            periodic: charmm && integer(10) != 0,
            shape: integer(19) > OTHERS,
            fourth: charmm && integer(11) != 0,
            first_step: None,
            interval: i64::from(integer(2).max(1)),
            timestep: step.filter(|step| step.is_finite()).unwrap_or(0.0) * TIME,
            last_step: None,
            is_uneven: false,
        };
        let size = layout.frame();
        let index = Index::equal(after, length, size);
        layout.first_step = (index.count() > 0).then(|| i64::from(integer(1)));
        // a program that does not know the times of the frames writes consecutive step numbers, which begin at 0 or 1,
        // and an arbitrary time step
        let is_counting = layout.interval == 1 && layout.first_step.is_some_and(|step| (0..=1).contains(&step));
        let facts = Facts {
            has_times: layout.timestep > 0.0 && !is_counting,
            doubtful_interval: (layout.timestep > 0.0 && is_counting).then_some(layout.timestep),
            is_indexed: true,
            counted: u64::try_from(integer(0)).ok(),
            run_id: run_id(text.get(4..).unwrap_or_default()),
            ..Facts::new(atoms, Some(Precision::Lossless))
        };
        Ok((Box::new(layout), facts, index))
    }
}

impl Layout for Dcd {
    fn continues(&self, contents: &Contents<'_>) -> Checked<()> {
        let spacing = contents.spacing;
        // the relative tolerance is 10⁻⁶, because the header stores the time step in `f32`
        let same_step = (self.timestep - spacing.timestep).abs() <= 1e-6 * spacing.timestep;
        if same_step && u64::try_from(self.interval) == Ok(spacing.steps) {
            return Ok(());
        }
        let describe = |steps: u64, timestep: f64| format!("a frame every {steps} steps of {:.3} fs", 1e3 * timestep);
        let (found, wanted) =
            (describe(self.interval.unsigned_abs(), self.timestep), describe(spacing.steps, spacing.timestep));
        Err(format!("the file has {found}, the run requests {wanted}, and DCD stores only one interval"))
    }

    fn encode(&mut self, frame: &Frame<'_>, placed: &[[f32; 3]], bytes: &mut Vec<u8>) -> Checked<()> {
        let step = i64::try_from(frame.step).ok();
        self.first_step = self.first_step.or(step);
        let is_next = self.last_step.is_none_or(|last| step == last.checked_add(self.interval));
        let away = (frame.time - frame.step as f64 * self.timestep).abs();
        let tolerance = TIME_ROUNDING * frame.time.abs() + SPACING_ROUNDING * self.interval as f64 * self.timestep;
        // the header has 32 bits for the step of the first frame and for the interval
        let is_cut = [self.first_step.unwrap_or(i64::MAX), self.interval].iter().any(|&n| n > i64::from(i32::MAX));
        self.is_uneven |= !is_next || away > tolerance || is_cut;
        self.last_step = step;
        if let Some(cell) = frame.cell {
            let ([a, b, c], [alpha, beta, gamma]) = cell.lengths_angles();
            let cosine = |angle: f64| if angle == 90.0 { 0.0 } else { angle.to_radians().cos() };
            let record = [a / ANGSTROM, cosine(gamma), b / ANGSTROM, cosine(beta), cosine(alpha), c / ANGSTROM];
            push_record(bytes, record.map(f64::to_le_bytes).as_flattened());
        }
        for axis in 0..3 {
            let length = (4 * placed.len() as u32).to_le_bytes();
            bytes.extend(length);
            bytes.extend(placed.iter().flat_map(|r| ((f64::from(r[axis]) / ANGSTROM) as f32).to_le_bytes()));
            bytes.extend(length);
        }
        Ok(())
    }

    fn decode(&self, index: usize, bytes: &[u8], frame: &mut StoredFrame) -> Checked<()> {
        let (encoding, mut at) = (self.encoding, 0);
        frame.clear();
        let mut numbers = [0.0; 6];
        if self.periodic {
            let (record, next) = encoding.record(bytes, at, CELL)?;
            numbers = std::array::from_fn(|i| encoding.double(record, 8 * i).unwrap_or(0.0));
            at = next;
        }
        frame.positions.resize(self.atoms, Vec3::ZERO);
        for axis in 0..3 {
            let (record, next) = encoding.record(bytes, at, 4 * self.atoms)?;
            for (atom, (r, &bytes)) in frame.positions.iter_mut().zip(record.as_chunks().0).enumerate() {
                let value = if encoding.little { f32::from_le_bytes(bytes) } else { f32::from_be_bytes(bytes) };
                if !value.is_finite() {
                    return Err(format!("atom {} has no position", atom + 1));
                }
                *[&mut r.x, &mut r.y, &mut r.z][axis] = ANGSTROM * f64::from(value);
            }
            at = next;
        }
        self.take_cell(numbers, frame)?;
        frame.step = self.first_step.unwrap_or(0).saturating_add((index as i64).saturating_mul(self.interval));
        frame.time = if self.timestep > 0.0 { frame.step as f64 * self.timestep } else { index as f64 };
        Ok(())
    }

    fn warning(&self) -> Option<&'static str> {
        self.is_uneven.then_some(UNEVEN)
    }

    fn counts(&self, count: u64, last_step: Option<u64>) -> Option<(u64, Vec<u8>)> {
        let first = self.first_step.unwrap_or(0);
        let last = last_step.and_then(|step| i64::try_from(step).ok());
        let last = last.unwrap_or(first.saturating_add(count.saturating_sub(1) as i64 * self.interval));
        Some((self.encoding.marker as u64 + 4, self.counts_words(count, last).to_vec()))
    }
}

fn push_record(bytes: &mut Vec<u8>, record: &[u8]) {
    let length = (record.len() as u32).to_le_bytes();
    bytes.extend(length);
    bytes.extend(record);
    bytes.extend(length);
}

/// Returns the identifier of the run from the title lines.
fn run_id(title: &[u8]) -> Option<String> {
    let id = title.chunks(LINE).find_map(|line| std::str::from_utf8(line).ok()?.strip_prefix(RUN))?.trim();
    (!id.is_empty()).then(|| id.to_owned())
}

/// Returns the cell with the edge lengths `lengths` (nm) and the angles `angles`, given in degrees or as cosines;
/// `None` if no cell has these lengths and angles.
fn cell_of_angles(lengths: [f64; 3], angles: [f64; 3]) -> Option<PeriodicCell> {
    if angles.iter().all(|value| (-1.0..=1.0).contains(value)) {
        // with the arc sine, a cosine of 0 gives exactly 90°
        return PeriodicCell::from_lengths_angles(lengths, angles.map(|cosine| 90.0 - cosine.asin().to_degrees()));
    }
    let is_cell = angles.iter().all(|angle| ANGLES.contains(angle));
    is_cell.then(|| PeriodicCell::from_lengths_angles(lengths, angles))?
}

/// Whether six numbers can be the elements of a shape matrix: the matrix is positive definite, the angles of its
/// lattice are possible for a cell, and no off-diagonal element is 90, which would be a right angle in degrees.
fn is_shape([xx, xy, yy, xz, yz, zz]: [f64; 6]) -> bool {
    let rows @ [a, b, c] = [vec3(xx, xy, xz), vec3(xy, yy, yz), vec3(xz, yz, zz)];
    let angle = |u: Vec3, v: Vec3| (u.dot(v) / (u.norm() * v.norm())).acos().to_degrees();
    let is_definite = xx > 0.0 && xx * yy > xy * xy && a.cross(b).dot(c) > 0.0;
    let has_angles = [angle(b, c), angle(a, c), angle(a, b)].iter().all(|angle| ANGLES.contains(angle));
    is_definite && has_angles && rows.iter().all(|row| row.is_finite()) && ![xy, xz, yz].contains(&90.0)
}
