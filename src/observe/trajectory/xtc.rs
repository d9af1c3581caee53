//! XTC, the compressed format of GROMACS: positions as packed integer multiples of 0.001 nm (or 0.0001 nm).
//!
//! A frame is a header of 14 words in network byte order (magic number, number of atoms, step number, time in ps,
//! lattice vectors in nm, number of atoms again), the precision in 1/nm, the smallest and largest integers, and the
//! packed integers. In frames of up to nine atoms, positions are stored as plain `f32` instead. The file has no header.
//! The package `md-xtc` packs and unpacks the integers.
//!
//! Step numbers have 32 bits, so only the low 32 bits of larger step numbers are stored; the reader completes them
//! ([`Steps`]). Times are `f32`. Cells of other programs that are not lower-triangular are refused.

use std::fs::File;
use std::io::BufReader;

use md_xtc::{Header, Magic, PLAIN, PRELUDE};

use super::index::Index;
use super::records::{Checked, Created, Facts, Found, Layout, Records};
use super::xdr::{FrameHead, Search, Steps, integer, word};
use super::{Contents, Format, Frame, Holds, Precision, StoredFrame, widen};
use crate::vec3::Vec3;

/// Description of the XTC format, for the list of all formats.
pub(super) const FORMAT: Format = Format {
    name: "XTC",
    extension: "xtc",
    atom_bytes: 12,
    frame_bytes: 96,
    holds: Holds { rounded: true, ..Holds::POSITIONS },
    files: &Records {
        name: "XTC",
        recognises: |beginning| integer(beginning, 0).is_some_and(|magic| Magic::try_from(magic).is_ok()),
        create: Xtc::create,
        open: Xtc::open,
    },
};

/// Properties of an XTC file that are the same for all frames.
struct Xtc {
    atoms: usize,
    /// number of atoms that are unpacked, from the first atom on
    wanted: usize,
    /// precision of the first frame; `None` before the first frame
    precision: Option<Precision>,
    steps: Steps,
}

/// Numbers in the header of a frame.
struct Head {
    /// precision in 1/nm; `None` in frames whose positions are stored as `f32`
    scale: Option<f32>,
    step: i32,
    time: f32,
}

/// Returns the factor (1/nm) by which positions are multiplied before they are rounded to integers.
fn scale(precision: Precision) -> f32 {
    match precision {
        Precision::Decimals4 => 10_000.0,
        Precision::Raw | Precision::Lossless | Precision::Decimals3 => 1000.0,
    }
}

/// Reads the header of a frame from the first bytes of the frame, which begins at byte `start` of a file of `length`
/// bytes. Returns `None` if the file ends before the end of the frame.
fn head(head: &[u8], start: u64, length: u64) -> Checked<Option<FrameHead<Head>>> {
    let Some(magic) = integer(head, 0) else { return Ok(None) };
    let wide = match Magic::try_from(magic) {
        Ok(magic) => magic == Magic::Xtc2023,
        Err(_) => return Err(format!("byte {start}: a frame begins with the number 1995 or 2023, found {magic}")),
    };
    let (Some(atoms), Some(again)) = (integer(head, 1), integer(head, 13)) else { return Ok(None) };
    let count = usize::try_from(atoms).ok().filter(|&atoms| atoms > 0);
    let Some(atoms) = count.filter(|_| atoms == again) else {
        return Err(format!("byte {start}: the number of atoms, {atoms}, is repeated as {again}"));
    };
    let single = |at: usize| word(head, at).map(f32::from_be_bytes);
    let (step, time) = (integer(head, 2).unwrap_or(0), single(3).unwrap_or(0.0));
    let plain = Header::SIZE as u64 + 12 * atoms as u64;
    if atoms <= PLAIN {
        let rest = Head { scale: None, step, time };
        return Ok((start + plain <= length).then_some(FrameHead { atoms, bytes: plain, rest }));
    }
    let at = (Header::SIZE + PRELUDE) / 4;
    let packed = match (wide, word(head, at), word(head, at + 1)) {
        (false, Some(low), _) => u64::from(u32::from_be_bytes(low)),
        (true, Some(high), Some(low)) => u64::from(u32::from_be_bytes(high)) << 32 | u64::from(u32::from_be_bytes(low)),
        _ => return Ok(None),
    };
    let before = (Header::SIZE + PRELUDE) as u64 + if wide { 8 } else { 4 };
    let bytes = packed.checked_next_multiple_of(4).and_then(|packed| packed.checked_add(before));
    let rest = Head { scale: single(Header::SIZE / 4), step, time };
    Ok(bytes.filter(|&bytes| bytes <= length - start).map(|bytes| FrameHead { atoms, bytes, rest }))
}

impl Xtc {
    fn create(contents: &Contents<'_>) -> Checked<Created> {
        let atoms = contents.topology.atoms.len();
        if atoms == 0 || i32::try_from(atoms).is_err() {
            return Err(format!("the trajectory has {atoms} atoms, but XTC stores 1 to 2147483647 atoms"));
        }
        Ok((
            Box::new(Self { atoms, wanted: atoms, precision: Some(contents.precision), steps: Steps::default() }),
            vec![],
        ))
    }

    fn open(file: &mut BufReader<File>, length: u64) -> Checked<Found> {
        let (mut precision, mut finest, mut steps) = (None, 0f32, Steps::default());
        let mut index = Index::default();
        let search = Search {
            length,
            most: Header::SIZE + PRELUDE + 8,
            magic: &[Magic::XTC_1995, Magic::XTC_2023],
            read: |bytes: &[u8], start| head(bytes, start, length),
        };
        let atoms = search.frames(file, &mut index, |index, Head { scale, step, time }, end| {
            precision.get_or_insert(scale);
            finest = finest.max(scale.unwrap_or(0.0));
            steps.add(index.ends.len(), step, time.into());
            index.ends.push(end);
        })?;
        let known = [Precision::Decimals3, Precision::Decimals4];
        let precision = known.into_iter().find(|&known| precision == Some(Some(scale(known))));
        let resolution = (finest > 0.0).then(|| 1.0 / f64::from(finest));
        let facts = Facts { resolution, ..Facts::new(atoms, precision) };
        Ok((Box::new(Self { atoms, wanted: usize::MAX, precision, steps }), facts, index))
    }
}

impl Layout for Xtc {
    fn encode(&mut self, frame: &Frame<'_>, placed: &[[f32; 3]], bytes: &mut Vec<u8>) -> Checked<()> {
        let natoms = placed.len();
        let rows = frame.cell.map_or([[0.0; 3]; 3], |cell| cell.rows().map(|row| row.to_array()));
        let mut boxvec = [0.0; 9];
        boxvec.iter_mut().zip(rows.as_flattened()).for_each(|(single, &value)| *single = value as f32);
        let step = (frame.step & u64::from(u32::MAX)) as u32;
        let magic = md_xtc::magic_for(natoms);
        let header = Header { magic, natoms, step, time: frame.time as f32, boxvec, natoms_repeated: natoms };
        bytes.extend(header.to_be_bytes());
        if natoms <= PLAIN {
            bytes.extend(placed.as_flattened().iter().flat_map(|value| value.to_be_bytes()));
            return Ok(());
        }
        md_xtc::pack(bytes, placed, scale(self.precision.unwrap_or_default()))
    }

    fn limit(&mut self, atoms: usize) {
        self.wanted = atoms;
    }

    fn decode(&self, index: usize, bytes: &[u8], frame: &mut StoredFrame) -> Checked<()> {
        let length = bytes.len() as u64;
        if head(bytes, 0, length)?.is_none_or(|head| head.bytes != length) {
            return Err("the size in the header of the frame is wrong".to_owned());
        }
        let read = md_xtc::unpack(bytes, self.atoms, self.wanted)?;
        // the values are combined by `&` instead of `&&`, so that the loop has no branch for each value
        let is_finite = read.positions.iter().fold(read.time.is_finite(), |all, value| all & value.is_finite());
        if !is_finite {
            return Err("a position or the time is not a number".to_owned());
        }
        frame.step = self.steps.step(index, read.step as i32);
        frame.time = f64::from(read.time);
        frame.clear();
        widen(read.positions.as_chunks().0, &mut frame.positions);
        frame.set_cell(read.boxvec_cols_2d().map(|row| Vec3::from(row.map(f64::from))))
    }
}
