//! TRR, the full-precision format of GROMACS: positions, velocities and forces in `f32` or `f64`.
//!
//! A frame begins with a magic number and a text, followed by thirteen words in network byte order: the sizes in bytes
//! of ten blocks (input, energies, box, virial, pressure, topology, symbols, positions, velocities, forces), then the
//! number of atoms, the step number and the number of energies. The thirteen words are followed by the time (ps), the
//! coupling parameter λ, and the non-empty blocks in the order of their sizes in the header. All numbers of a frame
//! have the same width, which follows from the sizes of its blocks. The file has no header.
//!
//! md writes `f32`. Step numbers have 32 bits, so only the low 32 bits of larger step numbers are stored; the reader
//! completes them ([`Steps`]). GROMACS may write positions less often than velocities or forces; md skips and counts
//! records without positions.

use std::fs::File;
use std::io::BufReader;

use super::index::Index;
use super::records::{Checked, Created, Facts, Found, Layout, Records};
use super::xdr::{FrameHead, Search, Steps, integer};
use super::{Contents, Fields, Format, Frame, Holds, Precision, StoredFrame};
use crate::vec3::Vec3;

/// Description of the TRR format, for the list of all formats.
pub(super) const FORMAT: Format = Format {
    name: "TRR",
    extension: "trr",
    atom_bytes: 12,
    frame_bytes: 120,
    holds: Holds { velocities: true, forces: true, lossless: true, ..Holds::POSITIONS },
    files: &Records {
        name: "TRR",
        recognises: |beginning| integer(beginning, 0) == Some(MAGIC),
        create: Trr::create,
        open: Trr::open,
    },
};

const MAGIC: i32 = 1993;
const TEXT: &[u8; 12] = b"GMX_trn_file";
/// Number of bytes of a frame before the block sizes: magic number, length of the version text with its final zero,
/// length of the version text without the final zero, and the version text.
const BEGINNING: usize = 12 + TEXT.len();
/// Number of 32-bit words with the block sizes and counts of a frame.
const WORDS: usize = 13;
/// Maximum number of atoms, which keeps the size of a block of `f32` below 2³¹ bytes.
const MOST_ATOMS: usize = i32::MAX as usize / 12;

/// Properties of a TRR file that are the same for all frames.
struct Trr {
    /// optional fields of the first frame; `None` before the first frame
    fields: Option<Fields>,
    steps: Steps,
}

/// Header of a TRR frame.
#[derive(Clone, Copy)]
struct Head {
    atoms: usize,
    step: i32,
    /// size in bytes of a floating-point number in this frame: 4 or 8
    width: usize,
    /// sizes in bytes of the blocks of box, virial, pressure, positions, velocities and forces
    blocks: [usize; 6],
}

/// Index of the box in [`Head::blocks`]; the constants after `BOX` are the indices of positions, velocities and forces.
const BOX: usize = 0;
const POSITIONS: usize = 3;
const VELOCITIES: usize = 4;
const FORCES: usize = 5;

impl Head {
    /// Reads the header from the first bytes of a frame; `None` if there are not enough bytes.
    fn read(bytes: &[u8]) -> Checked<Option<Self>> {
        let Some(magic) = integer(bytes, 0) else { return Ok(None) };
        if magic != MAGIC {
            return Err(format!("a frame begins with the number {MAGIC}, found {magic}"));
        }
        let Some(words) = bytes.get(BEGINNING..BEGINNING + 4 * WORDS) else { return Ok(None) };
        if &bytes[12..BEGINNING] != TEXT {
            return Err("not a GROMACS frame: unexpected text in the header".to_owned());
        }
        let word = |at: usize| integer(words, at).unwrap_or(-1);
        let size = |at: usize| usize::try_from(word(at)).map_err(|_| format!("invalid block size {}", word(at)));
        let atoms = usize::try_from(word(10)).ok().filter(|&atoms| atoms > 0);
        let atoms = atoms.ok_or_else(|| format!("invalid number of atoms {}", word(10)))?;
        if [0, 1, 5, 6].into_iter().any(|at| word(at) != 0) {
            return Err("the frame contains more than positions, velocities, forces and box".to_owned());
        }
        let blocks = [size(2)?, size(3)?, size(4)?, size(7)?, size(8)?, size(9)?];
        let counts = [9, 9, 9, 3 * atoms, 3 * atoms, 3 * atoms];
        let present = blocks.iter().zip(counts).find(|(size, _)| **size > 0);
        let width = present.map_or(4, |(size, count)| size / count);
        let fits = |(size, count): (&usize, usize)| *size == 0 || *size == width * count;
        if ![4, 8].contains(&width) || !blocks.iter().zip(counts).all(fits) {
            return Err(format!("block sizes of {blocks:?} bytes do not match {atoms} atoms"));
        }
        Ok(Some(Self { atoms, step: word(11), width, blocks }))
    }

    /// Returns the byte offset of block `index` from the start of the frame.
    fn start(&self, index: usize) -> usize {
        BEGINNING + 4 * WORDS + 2 * self.width + self.blocks[..index].iter().sum::<usize>()
    }

    /// Returns the size of the frame in bytes, including its header.
    fn bytes(&self) -> usize {
        self.start(self.blocks.len())
    }

    fn fields(&self) -> Fields {
        Fields { velocities: self.blocks[VELOCITIES] > 0, forces: self.blocks[FORCES] > 0, image: false }
    }

    /// Returns element `index` of the array of numbers that begins at byte offset `start` of a frame.
    fn number(&self, bytes: &[u8], start: usize, index: usize) -> f64 {
        let at = start + index * self.width;
        // every number is inside the frame, because `bytes` has the length that the header gives
        match bytes.get(at..at + self.width) {
            Some(&[a, b, c, d]) => f64::from(f32::from_be_bytes([a, b, c, d])),
            Some(&[a, b, c, d, e, f, g, h]) => f64::from_be_bytes([a, b, c, d, e, f, g, h]),
            _ => f64::NAN,
        }
    }

    /// Reads the vectors of block `index` of a frame; an empty block has no vectors.
    fn vectors(&self, bytes: &[u8], index: usize, found: &mut Vec<Vec3>) -> Checked<()> {
        let (start, count) = (self.start(index), self.blocks[index] / (3 * self.width));
        let vector = |i: usize| Vec3::from([0, 1, 2].map(|axis| self.number(bytes, start, 3 * i + axis)));
        found.extend((0..count).map(vector));
        match found.iter().position(|vector| !vector.is_finite()) {
            Some(atom) => Err(format!("a value of atom {} is not finite", atom + 1)),
            None => Ok(()),
        }
    }
}

impl Trr {
    fn create(contents: &Contents<'_>) -> Checked<Created> {
        let atoms = contents.topology.atoms.len();
        if !(1..=MOST_ATOMS).contains(&atoms) {
            return Err(format!("the trajectory has {atoms} atoms, but TRR stores 1 to {MOST_ATOMS} atoms"));
        }
        Ok((Box::new(Self { fields: Some(contents.fields), steps: Steps::default() }), vec![]))
    }

    fn open(file: &mut BufReader<File>, length: u64) -> Checked<Found> {
        let (mut first, mut skipped, mut steps) = (None, 0, Steps::default());
        let mut index = Index::default();
        let read = |bytes: &[u8], start| {
            let head = Head::read(bytes).map_err(|damage| format!("byte {start}: {damage}"))?;
            let with_time = |head: Head| (head, head.number(bytes, BEGINNING + 4 * WORDS, 0));
            Ok(head.map(|head| FrameHead { atoms: head.atoms, bytes: head.bytes() as u64, rest: with_time(head) }))
        };
        let search = Search { length, most: BEGINNING + 4 * WORDS + 8, magic: &[MAGIC], read };
        let atoms = search.frames(file, &mut index, |index, (head, time), end| {
            if head.blocks[POSITIONS] > 0 {
                first.get_or_insert(head);
                steps.add(index.ends.len(), head.step, time);
                index.ends.push(end);
            } else {
                // a record without positions is skipped: its bytes count as part of the previous frame, or of the
                // header if there is no previous frame
                skipped += 1;
                index.end_last_at(end);
            }
        })?;
        let fields = first.map(|head| head.fields());
        let is_double = first.is_some_and(|head| head.width == 8);
        let facts = Facts { fields, is_double, skipped, ..Facts::new(atoms, Some(Precision::Lossless)) };
        Ok((Box::new(Self { fields, steps }), facts, index))
    }
}

impl Layout for Trr {
    fn encode(&mut self, frame: &Frame<'_>, placed: &[[f32; 3]], bytes: &mut Vec<u8>) -> Checked<()> {
        let atoms = placed.len();
        let fields = self.fields.unwrap_or_default();
        let size = |present: bool, count: usize| if present { (4 * count) as i32 } else { 0 };
        let step = (frame.step & u64::from(u32::MAX)) as u32 as i32;
        let vectors = 3 * atoms;
        let (x, v, f) = (size(true, vectors), size(fields.velocities, vectors), size(fields.forces, vectors));
        bytes.extend([MAGIC, TEXT.len() as i32 + 1, TEXT.len() as i32].map(i32::to_be_bytes).as_flattened());
        bytes.extend(TEXT);
        let words: [i32; WORDS] = [0, 0, size(true, 9), 0, 0, 0, 0, x, v, f, atoms as i32, step, 0];
        bytes.extend(words.map(i32::to_be_bytes).as_flattened());
        // time in ps, and coupling parameter λ
        bytes.extend([frame.time as f32, 0.0].map(f32::to_be_bytes).as_flattened());
        let rows = frame.cell.map_or([[0.0; 3]; 3], |cell| cell.rows().map(Vec3::to_array));
        bytes.extend(rows.as_flattened().iter().flat_map(|&value| (value as f32).to_be_bytes()));
        bytes.extend(placed.as_flattened().iter().flat_map(|value| value.to_be_bytes()));
        for (present, name, values) in
            [(fields.velocities, "velocities", frame.velocities), (fields.forces, "forces", frame.forces)]
        {
            if !present {
                continue;
            }
            if values.len() != atoms {
                return Err(format!("the frame has {} {name}, but the file has {atoms} atoms", values.len()));
            }
            bytes.extend(values.iter().flat_map(|r| r.to_array()).flat_map(|value| (value as f32).to_be_bytes()));
        }
        Ok(())
    }

    fn decode(&self, index: usize, bytes: &[u8], frame: &mut StoredFrame) -> Checked<()> {
        let head = Head::read(bytes)?.ok_or("the frame is cut off")?;
        frame.clear();
        frame.step = self.steps.step(index, head.step);
        frame.time = head.number(bytes, BEGINNING + 4 * WORDS, 0);
        if !frame.time.is_finite() {
            return Err("the time is not a number".to_owned());
        }
        if head.blocks[BOX] > 0 {
            let start = head.start(BOX);
            let rows = [0, 1, 2].map(|row| Vec3::from([0, 1, 2].map(|i| head.number(bytes, start, 3 * row + i))));
            frame.set_cell(rows)?;
        }
        head.vectors(bytes, POSITIONS, &mut frame.positions)?;
        head.vectors(bytes, VELOCITIES, &mut frame.velocities)?;
        head.vectors(bytes, FORCES, &mut frame.forces)
    }
}
