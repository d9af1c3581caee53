//! Changes to the bytes of an undamaged file. Some changes are at random positions, and further changes affect numbers
//! and lines, which readers interpret.

use std::ops::Range;

use md::rng::Stream;

/// Texts that replace a number in a text file.
const WRITTEN: [&str; 24] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "99",
    "255",
    "65536",
    "999999",
    "2000000000",
    "2147483647",
    "-2147483648",
    "4294967295",
    "99999999999999999999",
    "0.0",
    "1e308",
    "-1e308",
    "1e-320",
    "1e9999",
    "nan",
    "inf",
    "0x10",
    "*****",
];
/// Values that replace a word in a binary file.
const STORED: [u64; 14] = [
    0,
    1,
    2,
    9,
    255,
    1 << 16,
    1 << 20,
    1 << 28,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 40,
    (1 << 63) - 1,
    u64::MAX,
];
/// Bytes that have a special meaning in text files.
const TELLING: &[u8] = b"0123456789-+.*%#&;!\\\"<>[]()=,E \t\n";
/// Maximum size in bytes of a range that is removed, repeated or moved.
const PIECE: usize = 400;

/// Returns a random integer in 0..`n`.
pub(crate) fn below(random: &mut Stream, n: usize) -> usize {
    (random.bits() % n.max(1) as u64) as usize
}

fn one_of<T: Copy>(random: &mut Stream, all: &[T]) -> T {
    all[below(random, all.len())]
}

/// Changes the bytes at one to four random positions.
pub(crate) fn mutate(bytes: &mut Vec<u8>, random: &mut Stream) {
    // text files contain no control characters such as NUL
    let is_text = !bytes.iter().take(4096).any(|&byte| byte < b'\t');
    for _ in 0..1 + below(random, 4) {
        if bytes.is_empty() {
            return;
        }
        match below(random, 12) {
            0 => bytes.truncate(below(random, bytes.len())),
            1 => drop(bytes.drain(piece(bytes.len(), random))),
            2 => insert(bytes, piece(bytes.len(), random), random),
            3 => {
                let at = below(random, bytes.len());
                bytes[at] = random.bits() as u8;
            }
            kind if is_text => change_text(bytes, kind, random),
            _ => change_word(bytes, random),
        }
    }
}

/// Returns a random range within `length` bytes.
fn piece(length: usize, random: &mut Stream) -> Range<usize> {
    let start = below(random, length);
    start..(start + 1 + below(random, PIECE)).min(length)
}

/// Inserts a copy of a range of bytes at another position.
fn insert(bytes: &mut Vec<u8>, piece: Range<usize>, random: &mut Stream) {
    let at = below(random, bytes.len());
    let copy = bytes[piece].to_vec();
    bytes.splice(at..at, copy);
}

fn change_text(bytes: &mut Vec<u8>, kind: usize, random: &mut Stream) {
    let at = below(random, bytes.len());
    let (line, word) = (around(bytes, at, |byte| byte == b'\n'), around(bytes, at, |byte| byte.is_ascii_whitespace()));
    match kind {
        4 => bytes[at] = one_of(random, TELLING),
        5 => drop(bytes.drain(line)),
        6 => {
            let copy = [b"\n", &bytes[line.clone()]].concat();
            bytes.splice(line.end..line.end, copy);
        }
        7 => {
            let other = below(random, bytes.len());
            let other = around(bytes, other, |byte| byte.is_ascii_whitespace());
            let copy = bytes[other].to_vec();
            bytes.splice(word, copy);
        }
        _ => {
            // replaces the next number, keeping the width of its column
            let next = (word.start..bytes.len()).find(|&at| bytes[at].is_ascii_digit()).unwrap_or(at);
            let mut number = around(bytes, next, |byte| byte.is_ascii_whitespace());
            let new = one_of(random, &WRITTEN).as_bytes();
            if below(random, 2) == 0 {
                number.start = number.end.saturating_sub(new.len().max(number.len()));
                let filled = [&vec![b' '; number.len().saturating_sub(new.len())], new].concat();
                bytes.splice(number, filled);
            } else {
                bytes.splice(number, new.iter().copied());
            }
        }
    }
}

/// Returns the range around a position that is limited on both sides by the nearest bytes for which `ends` is true.
fn around(bytes: &[u8], at: usize, ends: impl Fn(u8) -> bool) -> Range<usize> {
    let start = bytes[..at].iter().rposition(|&byte| ends(byte)).map_or(0, |end| end + 1);
    let end = bytes[at..].iter().position(|&byte| ends(byte)).map_or(bytes.len(), |end| at + end);
    start.min(end)..end
}

/// Overwrites a word of one to eight bytes with a number, mostly at a multiple of four.
fn change_word(bytes: &mut [u8], random: &mut Stream) {
    let width = one_of(random, &[1, 2, 4, 4, 8]);
    let mut at = below(random, bytes.len());
    if below(random, 4) > 0 {
        at &= !3;
    }
    // half of the words are in the header, which is small and determines how the rest is read
    if below(random, 2) == 0 {
        at %= 256;
    }
    let Some(place) = bytes.get_mut(at..at + width) else { return };
    let value = if below(random, 3) == 0 { random.bits() } else { one_of(random, &STORED) };
    match below(random, 2) {
        0 => place.copy_from_slice(&value.to_le_bytes()[..width]),
        _ => place.copy_from_slice(&value.to_be_bytes()[8 - width..]),
    }
}
