//! Reading of 32-bit words in network byte order (XDR), of which the binary formats of GROMACS consist.

use std::fs::File;
use std::io::{BufReader, Read, Seek};

use super::records::Checked;

/// Returns the four-byte word with the 0-based index `at`; `None` beyond the end.
pub(super) fn word(bytes: &[u8], at: usize) -> Option<[u8; 4]> {
    bytes.get(4 * at..4 * at + 4)?.try_into().ok()
}

/// Returns the integer in the four-byte word with the 0-based index `at`.
pub(super) fn integer(bytes: &[u8], at: usize) -> Option<i32> {
    word(bytes, at).map(i32::from_be_bytes)
}

/// Moves the read position to byte offset `place` of the file. The read buffer is kept if it contains this offset.
pub(super) fn go_to(file: &mut BufReader<File>, place: u64) -> Checked<()> {
    let moved = file.stream_position().and_then(|here| file.seek_relative(place as i64 - here as i64));
    moved.map_err(|error| error.to_string())
}

/// Header of a frame, with the number of atoms and the size of the frame in bytes.
pub(super) struct FrameHead<H> {
    pub(super) atoms: usize,
    pub(super) bytes: u64,
    pub(super) rest: H,
}

/// Finds the frames of a file of `length` bytes that consists of frames with the same number of atoms. `read` receives
/// up to `most` bytes from the beginning of a frame, and the byte offset of the frame; `read` returns the header. The
/// result of `read` is `None` if the file ends before the end of the frame; an error of `read` describes the damage.
/// `found` is called with the header of each complete frame and the byte offset of its end. Returns the number of
/// atoms, or 0 if there is no frame, and a description of the damage after the last frame.
pub(super) fn find_frames<H>(
    file: &mut BufReader<File>,
    length: u64,
    most: usize,
    read: impl Fn(&[u8], u64) -> Checked<Option<FrameHead<H>>>,
    mut found: impl FnMut(H, u64),
) -> Checked<(usize, Option<String>)> {
    let (mut start, mut bytes, mut atoms) = (0, vec![], 0);
    while start < length {
        go_to(file, start)?;
        bytes.clear();
        file.by_ref().take(most as u64).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        let damage = match read(&bytes, start) {
            Ok(Some(head)) if atoms == 0 || head.atoms == atoms => {
                let Some(end) = start.checked_add(head.bytes).filter(|&end| end <= length) else { break };
                (atoms, start) = (head.atoms, end);
                found(head.rest, end);
                continue;
            }
            Ok(Some(head)) => {
                format!("byte {start}: a frame has {} atoms, and frames before it have {atoms}", head.atoms)
            }
            Ok(None) => break,
            Err(damage) => damage,
        };
        return Ok((atoms, Some(damage)));
    }
    Ok((atoms, None))
}
