//! Formatting of numbers, and writing of long texts that several threads format.

use std::fmt::Write as _;
use std::io::{Result, Write};

use rayon::prelude::*;

/// Number of items that one thread formats at a time. The number is even, so that a piece always ends at the end of a
/// line in formats with two items per line.
const PIECE: usize = 4096;
/// Number of formatted pieces that are in memory at the same time.
const PIECES: usize = 64;

/// Byte-order mark with which some editors begin UTF-8 files.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns a text without its byte-order mark.
pub(super) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
}

/// Removes the byte-order mark from a text.
pub(super) fn remove_mark(bytes: &mut Vec<u8>) {
    let mark = bytes.len() - without_mark(bytes).len();
    bytes.drain(..mark);
}

/// Formats the items in parallel by calls of `append(index, items, text)`, and writes the texts in the order of the
/// items. `append` is called with a sequence of consecutive items and the index of the first item of the sequence.
pub(super) fn write_in_pieces<T: Sync>(
    items: &[T],
    out: &mut impl Write,
    append: impl Fn(usize, &[T], &mut String) + Sync,
) -> Result<()> {
    for (turn, items) in items.chunks(PIECES * PIECE).enumerate() {
        let pieces = items.par_chunks(PIECE).enumerate().map(|(piece, items)| {
            let mut text = String::new();
            append((turn * PIECES + piece) * PIECE, items, &mut text);
            text
        });
        for text in pieces.collect::<Vec<String>>() {
            out.write_all(text.as_bytes())?;
        }
    }
    Ok(())
}

/// Appends a number in `width` characters with `decimals` decimals. If the number is too long, it is written with
/// fewer decimals.
pub(super) fn push_fixed(value: f64, width: usize, decimals: usize, text: &mut String) {
    let start = text.len();
    for decimals in (0..=decimals).rev() {
        // writing to a String cannot fail
        let _ = write!(text, "{value:width$.decimals$}");
        if text.len() - start <= width {
            return;
        }
        text.truncate(start);
    }
    // as in Fortran, a number that does not fit even without decimals is written as asterisks
    text.extend(std::iter::repeat_n('*', width));
}

/// Returns a number formatted by [`push_fixed`].
pub(super) fn fixed(value: f64, width: usize, decimals: usize) -> String {
    let mut text = String::new();
    push_fixed(value, width, decimals, &mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_in_order() {
        let items: Vec<usize> = (0..PIECES * PIECE + PIECE + 1).collect();
        let mut out = vec![];
        let append = |index: usize, items: &[usize], text: &mut String| {
            assert_eq!(items[0], index);
            items.iter().for_each(|item| text.push_str(&format!("{item}\n")));
        };
        write_in_pieces(&items, &mut out, append).unwrap();
        let expected: String = items.iter().map(|item| format!("{item}\n")).collect();
        assert!(out == expected.as_bytes());
    }
}
