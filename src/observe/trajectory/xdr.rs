//! Common part of the formats of GROMACS: words in network byte order, one after the other.

use std::fs::File;
use std::io::{BufReader, Seek};

/// Returns word `at`, by index.
pub(super) fn word(bytes: &[u8], at: usize) -> Option<[u8; 4]> {
    bytes.get(4 * at..4 * at + 4)?.try_into().ok()
}

/// Returns the integer in word `at`, by index.
pub(super) fn integer(bytes: &[u8], at: usize) -> Option<i32> {
    word(bytes, at).map(i32::from_be_bytes)
}

/// Seeks to an offset, within the buffer if possible.
pub(super) fn go_to(file: &mut BufReader<File>, place: u64) -> Result<(), String> {
    let moved = file.stream_position().and_then(|here| file.seek_relative(place as i64 - here as i64));
    moved.map_err(|error| error.to_string())
}
