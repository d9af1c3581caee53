//! `md-xtc`: packed frames of XTC.
//!
//! The crate `molly` packs and unpacks positions. The functions of `molly` are generic over the reader and the writer,
//! so the Rust compiler generates their machine code in the calling package. The functions of `molly` are fast only if
//! the compiler optimises all of them in one codegen unit. This package is therefore compiled as one unit
//! (`profile.release.package.md-xtc`); in the package `md` the functions would take twice as long. The decoder of
//! `molly` does not check its input, so [`unpack`] checks each stream first.

pub use molly::{Frame, Header, Magic};

use molly::XTCReader;
use molly::reader::{FIRSTIDX, MAGICINTS};
use molly::selection::AtomSelection;
use molly::writer::write_compressed_positions;

/// Largest number of atoms for which XTC stores positions without packing.
pub const PLAIN: usize = 9;
/// Size in bytes of the part of a frame that precedes the number of packed bytes: the precision, the bounds, and the
/// first index into the table of sizes.
pub const PRELUDE: usize = 32;
/// Largest allowed magnitude of a coordinate in multiples of the precision, so that neither differences nor sums of two
/// multiples exceed 32 bits. At a precision of 0.001 nm the limit is 268 µm.
const LARGEST: i32 = 1 << 28;
/// Largest range of the coordinates along an axis, in multiples of the precision, for which the three coordinates of a
/// position are packed together. If the range along any axis is larger, each coordinate is packed separately.
const LARGEST_JOINT: u32 = 0xff_ffff;
/// Largest number of bits of the three coordinates of a position that `molly` packs together.
const JOINT_BITS: u32 = 64;

type Checked<T> = Result<T, String>;

/// Returns the version of the XTC format for a number of atoms.
pub fn magic_for(atoms: usize) -> Magic {
    if atoms > molly::XTC_1995_MAX_NATOMS { Magic::Xtc2023 } else { Magic::Xtc1995 }
}

/// Packs positions (nm) with a precision of 1/`scale` nm, and appends the packed positions to the header of a frame in
/// `bytes`. Returns the reason as an error if the positions are outside of the range of the format.
pub fn pack(bytes: &mut Vec<u8>, positions: &[[f32; 3]], scale: f32) -> Checked<()> {
    check_span(positions, scale)?;
    bytes.extend(scale.to_be_bytes());
    let packed = write_compressed_positions(bytes, positions.as_flattened(), scale, magic_for(positions.len()));
    packed.map(|_| ()).map_err(|error| error.to_string())
}

/// Reads one frame of `atoms` atoms, and unpacks the positions of the first `wanted` atoms. Returns an error with the
/// reason if the bytes that store the unpacked positions do not form a valid frame.
pub fn unpack(bytes: &[u8], atoms: usize, wanted: usize) -> Checked<Frame> {
    if atoms > PLAIN {
        check_packed(bytes, atoms, wanted)?;
    }
    let (mut frame, mut scratch) = (Frame::default(), vec![]);
    let selection = u32::try_from(wanted).map_or(AtomSelection::All, AtomSelection::Until);
    let done = XTCReader::new(bytes).read_frame_with_scratch(&mut frame, &mut scratch, &selection);
    done.map_err(|error| error.to_string())?;
    Ok(frame)
}

/// Refuses positions that are too large for the packing.
fn check_span(placed: &[[f32; 3]], scale: f32) -> Checked<()> {
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for r in placed {
        for axis in 0..3 {
            // NaN is replaced by infinity, which is refused below, because `min` and `max` ignore NaN
            let value = if r[axis].is_nan() { f32::INFINITY } else { r[axis] };
            (low[axis], high[axis]) = (low[axis].min(value), high[axis].max(value));
        }
    }
    let multiple = |value: f32| f64::from(value) * f64::from(scale);
    let spans: Vec<f64> = (0..3).map(|axis| multiple(high[axis]) - multiple(low[axis]) + 2.0).collect();
    let is_far = low.iter().chain(&high).any(|&value| multiple(value).abs() >= f64::from(LARGEST));
    let is_joint = spans.iter().all(|&span| span <= f64::from(LARGEST_JOINT));
    if is_far || (is_joint && spans.iter().product::<f64>() >= 2f64.powi(JOINT_BITS as i32)) {
        return Err(format!("positions from {low:?} to {high:?} nm exceed the range of XTC"));
    }
    Ok(())
}

/// Returns the integer in the word with index `at` in network byte order.
fn integer(bytes: &[u8], at: usize) -> Option<i32> {
    let word = bytes.get(4 * at..4 * at + 4)?.try_into().ok()?;
    Some(i32::from_be_bytes(word))
}

/// Checks a packed frame, up to the first `wanted` of its `atoms` positions, before the frame is decoded. Refuses a
/// frame if the decoder would read beyond the last byte, unpack too many atoms, or use an index outside of the table of
/// sizes. The function assumes that the header of the frame is valid.
///
/// The stream is a sequence of groups. A group begins with a complete position, followed by one bit. If this bit is
/// set, five more bits follow. The five bits encode the number of further positions in the group, and whether the next
/// group uses fewer or more bits for further positions. If the bit is not set, the group has as many further positions
/// as the previous group. The further positions are stored as small differences between positions.
fn check_packed(bytes: &[u8], atoms: usize, wanted: usize) -> Checked<()> {
    let at = Header::SIZE / 4;
    let truncated = || "the frame is cut off".to_owned();
    let precision = integer(bytes, at).map(|word| f32::from_bits(word as u32)).ok_or_else(truncated)?;
    if !(precision.is_finite() && precision > 0.0 && precision.recip().is_finite()) {
        return Err(format!("invalid precision {precision}"));
    }
    let number = |i: usize| integer(bytes, at + 1 + i).ok_or_else(truncated);
    let mut sizes = [0u32; 3];
    for axis in 0..3 {
        let (low, high) = (number(axis)?, number(3 + axis)?);
        if low > high || low <= -LARGEST || high >= LARGEST {
            return Err(format!("invalid bounds {low} to {high} of the coordinates"));
        }
        sizes[axis] = high.abs_diff(low) + 1;
    }
    let bits_of = |number: u128| u128::BITS - number.leading_zeros();
    let full = match sizes.iter().any(|&size| size > LARGEST_JOINT) {
        true => sizes.iter().map(|&size| bits_of(size.into())).sum(),
        false => bits_of(sizes.iter().map(|&size| u128::from(size)).product()),
    };
    let wide = integer(bytes, 0) == Some(Magic::XTC_2023);
    let begin = Header::SIZE + PRELUDE + if wide { 8 } else { 4 };
    let packed = bytes.get(begin..).ok_or_else(truncated)?;
    let (end, mut place) = (8 * packed.len(), 0usize);
    let bits = |place: usize, count: usize| {
        (place..place + count).fold(0, |value, bit| value << 1 | usize::from(packed[bit / 8] >> (7 - bit % 8) & 1))
    };
    let mut small = usize::try_from(number(6)?).unwrap_or(usize::MAX);
    let (mut read, mut further) = (0, 0);
    loop {
        if !(FIRSTIDX..MAGICINTS.len()).contains(&small) {
            return Err(format!("size index {small} exceeds the table of {} sizes", MAGICINTS.len()));
        }
        let mut change = 1;
        place += full as usize;
        if place + 6 > end && (place >= end || bits(place, 1) == 1) {
            return Err(truncated());
        }
        place += 1;
        if bits(place - 1, 1) == 1 {
            let code = bits(place, 5);
            (further, change) = (code / 3, code % 3);
            place += 5;
        }
        read += 1 + further;
        place += further * small;
        if read > atoms || place > end {
            return Err(format!("found {read} positions in {place} bits instead of {atoms} positions in {end} bits"));
        }
        if read >= wanted.min(atoms) {
            return Ok(());
        }
        small = (small + change).wrapping_sub(1);
    }
}
