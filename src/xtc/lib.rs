//! `md-xtc`: packed frames of XTC.
//!
//! The crate `molly` packs and unpacks positions. The functions of `molly` are generic over the reader and the writer,
//! so the Rust compiler generates their machine code in the calling package. The functions of `molly` are fast only if
//! the compiler optimises all of them in one codegen unit. This package is therefore compiled as one unit
//! (`profile.release.package.md-xtc`); in the package `md` the functions would take twice as long. The decoder of
//! `molly` does not check its input, so [`unpack`] checks each stream first.
//!
//! Three integers that are packed together become one number, `(x ny + y) nz + z`, where `ny` and `nz` are the numbers
//! of possible values of `y` and `z`. If this number has more than 64 bits, `molly` 0.7 writes another number, which no
//! decoder can read. [`pack`] writes these numbers again.

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
/// Largest number of bits of three integers that `molly` packs together as decoders expect.
const JOINT_BITS: usize = 64;
/// Largest increase of the size index inside a frame that `molly` writes.
const MOST_INCREASE: usize = 8;

type Checked<T> = Result<T, String>;

/// Returns the version of the XTC format for a number of atoms.
pub fn magic_for(atoms: usize) -> Magic {
    if atoms > molly::XTC_1995_MAX_NATOMS { Magic::Xtc2023 } else { Magic::Xtc1995 }
}

/// Packs positions (nm) with a precision of 1/`scale` nm, and appends the packed positions to the header of a frame,
/// with which `bytes` ends. Returns the reason as an error if the positions are outside of the range of the format.
pub fn pack(bytes: &mut Vec<u8>, positions: &[[f32; 3]], scale: f32) -> Checked<()> {
    check_span(positions, scale)?;
    let start = bytes.len() - Header::SIZE;
    bytes.extend(scale.to_be_bytes());
    let packed = write_compressed_positions(bytes, positions.as_flattened(), scale, magic_for(positions.len()));
    packed.map_err(|error| error.to_string())?;
    rewrite_large(&mut bytes[start..], positions, scale)
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
    if low.iter().chain(&high).any(|&value| multiple(value).abs() >= f64::from(LARGEST)) {
        return Err(format!("positions from {low:?} to {high:?} nm exceed the range of XTC"));
    }
    Ok(())
}

/// Returns the integer in the word with index `at` in network byte order.
fn integer(bytes: &[u8], at: usize) -> Option<i32> {
    let word = bytes.get(4 * at..4 * at + 4)?.try_into().ok()?;
    Some(i32::from_be_bytes(word))
}

/// Numbers before the stream of bits of a packed frame.
struct Prelude {
    /// smallest coordinates, in multiples of the precision
    low: [i32; 3],
    /// numbers of possible values of the coordinates
    sizes: [u32; 3],
    /// number of bits of a complete position
    full: usize,
    /// whether the three coordinates of a complete position are packed together
    is_joint: bool,
    /// size index of the differences in the first group, which is also the number of bits of a difference
    small: usize,
    /// offset in bytes of the stream of bits
    begin: usize,
}

impl Prelude {
    fn read(bytes: &[u8]) -> Checked<Self> {
        let at = Header::SIZE / 4;
        let number = |i: usize| integer(bytes, at + i).ok_or_else(cut_off);
        let precision = f32::from_bits(number(0)? as u32);
        if !(precision.is_finite() && precision > 0.0 && precision.recip().is_finite()) {
            return Err(format!("invalid precision {precision}"));
        }
        let (mut lows, mut sizes) = ([0; 3], [0u32; 3]);
        for axis in 0..3 {
            let (low, high) = (number(1 + axis)?, number(4 + axis)?);
            if low > high || low <= -LARGEST || high >= LARGEST {
                return Err(format!("invalid bounds {low} to {high} of the coordinates"));
            }
            (lows[axis], sizes[axis]) = (low, high.abs_diff(low) + 1);
        }
        let bits_of = |number: u128| (u128::BITS - number.leading_zeros()) as usize;
        let is_joint = sizes.iter().all(|&size| size <= LARGEST_JOINT);
        let full = match is_joint {
            true => bits_of(sizes.iter().map(|&size| u128::from(size)).product()),
            false => sizes.iter().map(|&size| bits_of(size.into())).sum(),
        };
        let small = usize::try_from(number(7)?).unwrap_or(usize::MAX);
        let is_wide = integer(bytes, 0) == Some(Magic::XTC_2023);
        let begin = Header::SIZE + PRELUDE + if is_wide { 8 } else { 4 };
        Ok(Self { low: lows, sizes, full, is_joint, small, begin })
    }
}

fn cut_off() -> String {
    "the frame is cut off".to_owned()
}

/// Group of positions in the stream of bits of a packed frame.
struct Group {
    /// index of the first atom
    first: usize,
    /// offset in bits of the complete position
    place: usize,
    /// offset in bits of the first difference
    differences: usize,
    /// number of differences
    further: usize,
    /// size index of the differences, which is also the number of bits of a difference
    small: usize,
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
    walk(bytes, &Prelude::read(bytes)?, atoms, wanted, |_| ())
}

/// Calls `found` for each group of a packed frame, up to the first `wanted` of its `atoms` positions. Returns an error
/// for the frames that [`check_packed`] refuses.
#[inline(always)]
fn walk(bytes: &[u8], prelude: &Prelude, atoms: usize, wanted: usize, mut found: impl FnMut(Group)) -> Checked<()> {
    let packed = bytes.get(prelude.begin..).ok_or_else(cut_off)?;
    let (end, mut place) = (8 * packed.len(), 0usize);
    let bits = |place: usize, count: usize| {
        (place..place + count).fold(0, |value, bit| value << 1 | usize::from(packed[bit / 8] >> (7 - bit % 8) & 1))
    };
    let (mut small, mut read, mut further) = (prelude.small, 0, 0);
    loop {
        if !(FIRSTIDX..MAGICINTS.len()).contains(&small) {
            return Err(format!("size index {small} exceeds the table of {} sizes", MAGICINTS.len()));
        }
        let (first, start, mut change) = (read, place, 1);
        place += prelude.full;
        if place + 6 > end && (place >= end || bits(place, 1) == 1) {
            return Err(cut_off());
        }
        place += 1;
        if bits(place - 1, 1) == 1 {
            let code = bits(place, 5);
            (further, change) = (code / 3, code % 3);
            place += 5;
        }
        let differences = place;
        read += 1 + further;
        place += further * small;
        if read > atoms || place > end {
            return Err(format!("found {read} positions in {place} bits instead of {atoms} positions in {end} bits"));
        }
        found(Group { first, place: start, differences, further, small });
        if read >= wanted.min(atoms) {
            return Ok(());
        }
        small = (small + change).wrapping_sub(1);
    }
}

/// Writes again all numbers of more than [`JOINT_BITS`] bits in a frame that `molly` has packed. `molly` writes the
/// right number of bits, so that no other bit of the frame changes.
fn rewrite_large(bytes: &mut [u8], positions: &[[f32; 3]], scale: f32) -> Checked<()> {
    let prelude = Prelude::read(bytes)?;
    let is_large = prelude.is_joint && prelude.full > JOINT_BITS;
    if !is_large && prelude.small + MOST_INCREASE <= JOINT_BITS {
        return Ok(());
    }
    let (atoms, mut groups) = (positions.len(), vec![]);
    walk(bytes, &prelude, atoms, atoms, |group| groups.push(group))?;
    let stream = &mut bytes[prelude.begin..];
    // the same rounding as in `molly`
    let multiples = |atom: usize| positions[atom].map(|value| (value * scale).round() as i32);
    for Group { first, place, differences, further, small } in groups {
        // the first two positions of a group with differences are exchanged
        let atom_of = |member: usize| match member {
            0 if further > 0 => first + 1,
            1 => first,
            _ => first + member,
        };
        if is_large {
            let complete = multiples(atom_of(0));
            let offsets = [0, 1, 2].map(|axis| complete[axis] - prelude.low[axis]);
            write_bits(stream, place, prelude.full, joint(offsets, prelude.sizes));
        }
        if small > JOINT_BITS {
            let size = MAGICINTS[small];
            for member in 1..=further {
                let (from, to) = (multiples(atom_of(member - 1)), multiples(atom_of(member)));
                let offsets = [0, 1, 2].map(|axis| to[axis] - from[axis] + size / 2);
                write_bits(stream, differences + (member - 1) * small, small, joint(offsets, [size as u32; 3]));
            }
        }
    }
    Ok(())
}

/// Returns the number that represents three integers, each of which is at least 0 and less than its size.
fn joint(integers: [i32; 3], sizes: [u32; 3]) -> u128 {
    let [x, y, z] = integers.map(|integer| integer as u128);
    (x * u128::from(sizes[1]) + y) * u128::from(sizes[2]) + z
}

/// Writes the lowest `count` bits of `value` at the offset `place` (in bits) of a stream. The lowest byte comes first,
/// and in each byte the highest bit comes first.
fn write_bits(stream: &mut [u8], place: usize, count: usize, value: u128) {
    for at in 0..count {
        let byte = at / 8;
        let width = (count - 8 * byte).min(8);
        let bit = value >> (8 * byte + width - 1 - at % 8) & 1;
        let (target, shift) = (&mut stream[(place + at) / 8], 7 - (place + at) % 8);
        *target = *target & !(1 << shift) | (bit as u8) << shift;
    }
}
