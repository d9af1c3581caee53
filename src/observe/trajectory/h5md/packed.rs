//! Reading of frames in their stored form, and decoding without the HDF5 library.
//!
//! The HDF5 library decodes one frame at a time under its global lock, and its scale-offset filter needs 2 ms for
//! 70,000 numbers, because it moves single bytes and evaluates a power for each number. In this module the HDF5 library
//! only copies the stored bytes of a frame. [`Decoder`] decodes the bytes on any thread, and returns the same values
//! bit for bit as the HDF5 library.
//!
//! Only the storage formats that md writes are decoded. All other frames are read by the HDF5 library: frames in other
//! storage formats, and frames that the decoder does not accept. If the HDF5 library cannot read a frame either, the
//! error of the HDF5 library describes the fault.

use std::ops::Range;

use flate2::{Decompress, FlushDecompress, Status};
use hdf5::Dataset;
use hdf5::filters::{Filter, ScaleOffset};

use super::datasets::Datasets;
use super::series::Series;
use crate::cell::PeriodicCell;
use crate::observe::trajectory::{StoredFrame, widen};
use crate::vec3::Vec3;

/// Number of padding bytes after the stored bytes of a row, so that every packed number can be read as part of a word
/// of eight bytes.
const PADDING: usize = 8;
/// Size in bytes of the header of a row that the scale-offset filter has packed. The header holds the number of bits
/// per value, the size in bytes of the smallest value, and the smallest value.
const SCALED_HEADER: usize = 21;
/// Number of packed integers that are converted together, a whole number of SIMD registers.
const GROUP: usize = 8;
/// Largest number of decimals n for which 10ⁿ is exact in `f32`.
const EXACT_DECIMALS: u8 = 10;

/// Decoder of the stored rows of a time series of vectors. Each row is divided into pieces, which are HDF5 chunks.
pub(super) struct Decoder {
    storage: Storage,
    /// number of values in a piece. The last piece of a row ends with values that belong to no atom
    values: usize,
    /// number of atoms in a piece
    width: usize,
    /// number of pieces in a row
    pieces: usize,
}

/// HDF5 filters with which a time series is stored.
#[derive(Clone, Copy)]
enum Storage {
    Plain,
    /// shuffle filter, then deflate filter
    Deflated,
    /// scale-offset filter: a value is the smallest value of the row plus an integer multiple of 1/`scale`. The largest
    /// possible integer stands for the value `missing`
    Scaled {
        scale: f32,
        missing: Option<f32>,
    },
}

/// Stored bytes of one piece of a row of a time series.
#[derive(Default)]
struct Piece {
    bytes: Vec<u8>,
    /// number of stored bytes in `bytes`; padding follows the stored bytes
    length: usize,
    /// bit mask of the HDF5 filters that were skipped for this piece
    mask: u32,
}

/// Frame in its stored form, before decoding.
#[derive(Default)]
pub(super) struct Packed {
    step: i64,
    time: f64,
    cell: Option<PeriodicCell>,
    /// stored pieces of the rows of positions, velocities and forces
    rows: [Vec<Piece>; 3],
    inflated: Vec<u8>,
    values: Vec<f32>,
}

/// Steps, times and cells of a range of frames, which are read in one call.
#[derive(Default)]
pub(super) struct Block {
    frames: Range<usize>,
    steps: Vec<i64>,
    times: Vec<f64>,
    cells: Vec<f64>,
}

/// Number of frames in a block, equal to the number of rows in a chunk of a time series with few numbers per frame.
const BLOCK: usize = 64;

/// Reader of frames in their stored form, and decoder of these frames.
pub(super) struct Unpacker {
    /// decoders of positions, velocities and forces; `None` for a field that the file does not have
    decoders: [Option<Decoder>; 3],
    is_periodic: bool,
    /// number of atoms in a frame
    atoms: usize,
    /// number of atoms that are read, from the first atom of a frame on
    wanted: usize,
}

impl Unpacker {
    /// Creates a reader; `None` if the file has storage formats that md does not write.
    pub(super) fn new(data: &Datasets) -> Option<Self> {
        let atoms = data.atoms();
        let of = |series: Option<&Series>| series.map_or(Some(None), |series| Decoder::new(series, atoms).map(Some));
        let [velocities, forces] = data.velocities_and_forces();
        let decoders = [of(Some(&data.positions))?, of(velocities)?, of(forces)?];
        Some(Self { decoders, is_periodic: data.is_periodic(), atoms, wanted: atoms })
    }

    /// Requests that later calls read only the first `atoms` atoms of a frame.
    pub(super) fn limit(&mut self, atoms: usize) {
        self.wanted = atoms.min(self.atoms);
    }

    /// Reads the stored bytes of frame `index` of a file with `frames` frames. Returns an error if only the HDF5
    /// library can read this frame.
    pub(super) fn read(
        &self,
        data: &Datasets,
        block: &mut Block,
        index: usize,
        frames: usize,
        packed: &mut Packed,
    ) -> Result<(), ()> {
        if index >= frames {
            return Err(());
        }
        if !block.frames.contains(&index) {
            let first = index - index % BLOCK;
            let range = first..(first + BLOCK).min(frames);
            *block = Block::default();
            (block.steps, block.times, block.cells) = data.small_rows(range.clone()).map_err(drop)?;
            block.frames = range;
        }
        let place = index - block.frames.start;
        (packed.step, packed.time) = (block.steps[place], block.times[place]);
        packed.cell = match (self.is_periodic, block.cells.as_chunks::<3>().0.get(3 * place..3 * place + 3)) {
            (false, _) => None,
            (true, Some(&[a, b, c])) => Some(PeriodicCell::from_rows([a, b, c].map(Vec3::from)).ok_or(())?),
            _ => return Err(()),
        };
        let [velocities, forces] = data.velocities_and_forces();
        let all_series = [Some(&data.positions), velocities, forces];
        for ((series, decoder), row) in all_series.into_iter().zip(&self.decoders).zip(&mut packed.rows) {
            let (Some(series), Some(decoder)) = (series, decoder) else { continue };
            row.resize_with(decoder.pieces_of(self.wanted), Piece::default);
            for (number, piece) in row.iter_mut().enumerate() {
                (piece.length, piece.mask) =
                    series.stored_chunk(index as u64, number, &mut piece.bytes).map_err(drop)?;
                piece.bytes.resize(piece.bytes.len().max(piece.length + PADDING), 0);
            }
        }
        Ok(())
    }

    /// Decodes the stored bytes of a frame. Returns an error if only the HDF5 library can read this frame.
    pub(super) fn decode(&self, packed: &mut Packed, frame: &mut StoredFrame) -> Result<(), ()> {
        (frame.step, frame.time, frame.cell) = (packed.step, packed.time, packed.cell);
        let fields = [&mut frame.positions, &mut frame.velocities, &mut frame.forces];
        for ((decoder, row), field) in self.decoders.iter().zip(&packed.rows).zip(fields) {
            field.clear();
            let Some(decoder) = decoder else { continue };
            field.reserve(self.wanted);
            for (piece, first) in row.iter().zip((0..).step_by(decoder.width)) {
                decoder.decode(piece, &mut packed.inflated, &mut packed.values).ok_or(())?;
                let atoms = decoder.width.min(self.wanted - first);
                widen(&packed.values.as_chunks().0[..atoms], field);
            }
        }
        Ok(())
    }
}

impl Decoder {
    /// Creates the decoder of a time series of vectors of `atoms` atoms; `None` if the time series has a storage format
    /// that md does not write.
    fn new(series: &Series, atoms: usize) -> Option<Self> {
        let dataset = &series.dataset;
        let is_f32 = hdf5::Datatype::from_type::<f32>().ok()? == dataset.dtype().ok()?;
        if !is_f32 || !cfg!(target_endian = "little") || !series.is_packed() || series.row_values() != 3 * atoms {
            return None;
        }
        let (width, pieces) = (series.chunk_width, series.pieces());
        let values = 3 * width;
        let storage = match dataset.filters()[..] {
            [] => Storage::Plain,
            [Filter::Shuffle, Filter::Deflate(_)] => Storage::Deflated,
            [Filter::ScaleOffset(ScaleOffset::FloatDScale(decimals))] if decimals <= EXACT_DECIMALS => {
                let scale = 10f32.powi(decimals.into());
                Storage::Scaled { scale, missing: missing_value(dataset, values, decimals)? }
            }
            _ => return None,
        };
        Some(Self { storage, values, width, pieces })
    }

    /// Returns the number of pieces that hold the first `atoms` atoms of a row.
    fn pieces_of(&self, atoms: usize) -> usize {
        atoms.div_ceil(self.width).min(self.pieces)
    }

    /// Decodes a piece into `values`; `None` if the piece does not have the right number of finite values.
    fn decode(&self, piece: &Piece, inflated: &mut Vec<u8>, values: &mut Vec<f32>) -> Option<()> {
        let stored = piece.bytes.get(..piece.length)?;
        values.clear();
        match (self.storage, piece.mask) {
            (Storage::Plain, 0) | (Storage::Scaled { .. }, 0b1) | (Storage::Deflated, 0b11) => plain(stored, values),
            (Storage::Scaled { scale, missing }, 0) => {
                unpack(piece, self.values, scale, missing, values)?;
            }
            (Storage::Deflated, 0) => unshuffle(self.inflate(stored, inflated)?, values),
            (Storage::Deflated, 0b01) => plain(self.inflate(stored, inflated)?, values),
            (Storage::Deflated, 0b10) => unshuffle(stored, values),
            _ => return None,
        }
        let is_finite = |value: &f32| value.is_finite();
        // finite values are counted without branches, because practically all files have only finite values
        let finite = values.iter().map(|value| usize::from(is_finite(value))).sum::<usize>();
        (values.len() == self.values && finite == self.values).then_some(())
    }

    /// Inflates a deflated piece; `None` if the result does not have exactly the size of a piece.
    fn inflate<'a>(&self, stored: &[u8], inflated: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        inflated.resize(self.values * size_of::<f32>(), 0);
        let mut stream = Decompress::new(true);
        let status = stream.decompress(stored, inflated, FlushDecompress::Finish).ok()?;
        (status == Status::StreamEnd && stream.total_out() == inflated.len() as u64).then_some(inflated)
    }
}

/// Appends `f32` values that are stored one after the other. Bytes after the last complete value are ignored.
fn plain(bytes: &[u8], values: &mut Vec<f32>) {
    values.extend(bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)));
}

/// Appends `f32` values that the shuffle filter has stored: the first bytes of all values, then the second bytes of all
/// values, and so on.
fn unshuffle(bytes: &[u8], values: &mut Vec<f32>) {
    let count = bytes.len() / 4;
    let byte = |place: usize| bytes[place * count..(place + 1) * count].iter();
    let words = byte(0).zip(byte(1)).zip(byte(2).zip(byte(3)));
    values.extend(words.map(|((&a, &b), (&c, &d))| f32::from_le_bytes([a, b, c, d])));
}

/// Appends `count` values of a row that the scale-offset filter has packed. The header of the row gives the number of
/// bits per integer and the smallest value. The packed integers follow the header, each with its highest bit first. The
/// padding after the stored bytes is read, but does not influence the values.
fn unpack(piece: &Piece, count: usize, scale: f32, missing: Option<f32>, values: &mut Vec<f32>) -> Option<()> {
    let Piece { bytes, length, .. } = piece;
    let bits = u32::from_le_bytes(*bytes.first_chunk::<4>()?) as usize;
    let smallest = f32::from_le_bytes(*bytes.get(5..)?.first_chunk::<4>()?);
    let available = length.checked_sub(SCALED_HEADER)?;
    // byte 4 of the header is the size of the smallest value, which must be eight bytes
    if bytes[4] != 8 || bits > 32 || (bits * count).div_ceil(8) > available {
        return None;
    }
    let packed = &bytes[SCALED_HEADER..];
    if bits == 32 {
        plain(&packed[..4 * count], values);
        return Some(());
    }
    if bits == 0 {
        return None;
    }
    let largest = (1u32 << bits) - 1;
    values.resize(count, 0.0);
    for (block, values) in values.chunks_mut(GROUP).enumerate() {
        let mut multiples = [0u32; GROUP];
        for (i, multiple) in multiples.iter_mut().enumerate().take(values.len()) {
            let bit = (block * GROUP + i) * bits;
            let word: [u8; 8] = *packed[bit / 8..].first_chunk().expect("the padding follows the last number");
            *multiple = (u64::from_be_bytes(word) << (bit % 8) >> (64 - bits)) as u32;
        }
        for (value, &multiple) in values.iter_mut().zip(&multiples) {
            let found = multiple as i32 as f32 / scale + smallest;
            *value = missing.filter(|_| multiple == largest).unwrap_or(found);
        }
    }
    Some(())
}

/// Returns the missing value of a scale-offset filter: the value that the filter encodes as the largest integer. The
/// inner `None` means that the filter has no missing value. The outer `None` means that the filter has other parameters
/// than `values` values of 32 bits and `decimals` decimals.
fn missing_value(dataset: &Dataset, values: usize, decimals: u8) -> Option<Option<f32>> {
    const PARAMETERS: usize = 20;
    let properties = dataset.dcpl().ok()?;
    let mut found = [0u32; PARAMETERS];
    let (mut flags, mut count) = (0, PARAMETERS);
    let status = hdf5::sync::sync(|| {
        // SAFETY: the handle lives through the call and the lock of the HDF5 library is held; at most `count`
        // parameters are written to `found`, which has that size; no name and no configuration are requested.
        unsafe {
            hdf5_sys::h5p::H5Pget_filter_by_id2(
                properties.id(),
                hdf5_sys::h5z::H5Z_FILTER_SCALEOFFSET,
                &raw mut flags,
                &raw mut count,
                found.as_mut_ptr(),
                0,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
            )
        }
    });
    // parameters of the filter: kind of scaling, decimals, values in a chunk, class (floating point), size in bytes,
    // sign, byte order
    let expected = [0, u32::from(decimals), u32::try_from(values).ok()?, 1, 4, 0, 0];
    if status < 0 || count != PARAMETERS || found[..7] != expected || found[7] > 1 {
        return None;
    }
    Some((found[7] == 1).then_some(f32::from_bits(found[8])))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes rows of `values` with the filters `filters` in chunks of `width` atoms, and checks that [`Decoder`]
    /// returns the same values as the HDF5 library for each row. `masks` has the mask of skipped filters for each row.
    fn decoded(filters: &[Filter], width: usize, values: &[f32], masks: &[u32]) {
        let folder = tempfile::tempdir().expect("a folder");
        let file = super::super::hdf::options().create(folder.path().join("a.h5")).expect("a file");
        let atoms = values.len() / 3 / masks.len();
        let rows =
            hdf5::SimpleExtents::new([hdf5::Extent::resizable(0), hdf5::Extent::fixed(atoms), hdf5::Extent::fixed(3)]);
        let dataset = file.new_dataset::<f32>().chunk([1, width, 3]).set_filters(filters).shape(rows);
        dataset.create("a").expect("a dataset");
        file.flush().expect("a file with its size");
        let series = Series::open(&file, "a").expect("a series");
        for (index, row) in values.chunks(3 * atoms).enumerate() {
            series.append(index, row).expect("a written row");
        }
        let decoder = Decoder::new(&series, atoms).expect("storage of md");
        let (mut piece, mut inflated, mut found) = (Piece::default(), vec![], vec![]);
        for (index, &mask) in masks.iter().enumerate() {
            let expected = series.row::<f32>(index).expect("a row");
            let pieces: Vec<&[f32]> = expected.chunks(3 * width).collect();
            assert_eq!(decoder.pieces_of(atoms), pieces.len());
            for (number, expected) in pieces.into_iter().enumerate() {
                (piece.length, piece.mask) =
                    series.stored_chunk(index as u64, number, &mut piece.bytes).expect("a stored piece");
                piece.bytes.resize(piece.length + PADDING, 0xff);
                assert_eq!(piece.mask, mask, "{filters:?}");
                decoder.decode(&piece, &mut inflated, &mut found).expect("a decoded piece");
                assert_eq!(found.len(), 3 * width);
                let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<u32>>();
                assert_eq!(bits(&found[..expected.len()]), bits(expected));
                // the decoder refuses a piece with missing bytes, so that the HDF5 library must read the piece
                piece.length -= 2;
                assert_eq!(decoder.decode(&piece, &mut inflated, &mut found), None, "{filters:?}");
            }
        }
        assert!(Decoder::new(&series, atoms + 1).is_none());
    }

    #[test]
    fn all_storage_of_md_is_decoded_without_the_library() {
        // three rows: the first has small integers, the second has integers that need all bits, and the third has
        // missing values
        let rows =
            [[0.25, -0.5, 0.125, 3.0, 1.0, 2.0], [1e-6, -3e7, 2e7, 1.0, 2.0, 0.1], [0.0, 5.0, 0.0, 6.0, 7.0, 0.0]];
        let values = rows.as_flattened();
        decoded(&[], 2, values, &[0; 3]);
        for decimals in [3, 4] {
            decoded(&[Filter::ScaleOffset(ScaleOffset::FloatDScale(decimals))], 2, values, &[0; 3]);
        }
        let same: Vec<f32> = (0..600).map(|i| if i < 300 { 1.0 } else { i as f32 }).collect();
        // rows of 100 atoms, stored in one chunk, or in three chunks of which the last is partly empty
        for width in [100, 40] {
            decoded(&[], width, &same, &[0; 2]);
            decoded(&[Filter::Shuffle, Filter::Deflate(1)], width, &same, &[0; 2]);
            decoded(&[Filter::ScaleOffset(ScaleOffset::FloatDScale(3))], width, &same, &[0; 2]);
        }
    }

    #[test]
    fn multiples_are_read_from_the_highest_bit_on() {
        // four integers of five bits: 1, 2, 31 (missing) and 16; the smallest value is 10 and the scale is 2
        let mut bytes = vec![5, 0, 0, 0, 8];
        bytes.extend(10f32.to_le_bytes());
        bytes.resize(SCALED_HEADER, 0);
        bytes.extend([0b0000_1000, 0b1011_1111, 0b0000_0000]);
        let length = bytes.len();
        bytes.extend([0xff; PADDING]);
        let (piece, mut found) = (Piece { bytes, length, mask: 0 }, vec![]);
        unpack(&piece, 4, 2.0, Some(-7.0), &mut found).expect("four values");
        assert_eq!(found, [10.5, 11.0, -7.0, 18.0]);
        found.clear();
        unpack(&piece, 4, 2.0, None, &mut found).expect("four values");
        assert_eq!(found, [10.5, 11.0, 25.5, 18.0]);
        assert!(unpack(&piece, 5, 2.0, None, &mut found).is_none());
    }
}
