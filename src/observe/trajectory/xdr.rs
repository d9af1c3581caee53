//! Reading of 32-bit words in network byte order (XDR), of which the binary formats of GROMACS consist.

use std::fs::File;
use std::io::{BufReader, Seek};

/// Returns the four-byte word with the 0-based index `at`; `None` beyond the end.
pub(super) fn word(bytes: &[u8], at: usize) -> Option<[u8; 4]> {
    bytes.get(4 * at..4 * at + 4)?.try_into().ok()
}

/// Returns the integer in the four-byte word with the 0-based index `at`.
pub(super) fn integer(bytes: &[u8], at: usize) -> Option<i32> {
    word(bytes, at).map(i32::from_be_bytes)
}

/// Moves the read position to byte offset `place` of the file. The read buffer is kept if it contains this offset.
pub(super) fn go_to(file: &mut BufReader<File>, place: u64) -> Result<(), String> {
    let moved = file.stream_position().and_then(|here| file.seek_relative(place as i64 - here as i64));
    moved.map_err(|error| error.to_string())
}
