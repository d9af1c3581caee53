//! Formatting of numbers, and writing of long texts that several threads format.

use std::fmt::Write as _;
use std::io::{Error, ErrorKind, Result, Write};
use std::ops::RangeInclusive;

use rayon::prelude::*;

use crate::error::Problem;

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
    append: impl Fn(usize, &[T], &mut String) -> Result<()> + Sync,
) -> Result<()> {
    for (turn, items) in items.chunks(PIECES * PIECE).enumerate() {
        let pieces = items.par_chunks(PIECE).enumerate().map(|(piece, items)| {
            let mut text = String::new();
            append((turn * PIECES + piece) * PIECE, items, &mut text).map(|()| text)
        });
        for text in pieces.collect::<Vec<Result<String>>>() {
            out.write_all(text?.as_bytes())?;
        }
    }
    Ok(())
}

/// Columns of a number in a text format.
pub(super) struct Columns {
    pub(super) width: usize,
    /// smallest and largest number of decimals; a number that is too long with the largest number of decimals is
    /// written with fewer
    pub(super) decimals: RangeInclusive<usize>,
}

impl Columns {
    /// Appends a number. If the number does not fit, appends nothing and returns `None`. Fortran would write asterisks,
    /// which no program can read.
    #[must_use]
    pub(super) fn push(&self, value: f64, text: &mut String) -> Option<()> {
        let (start, width) = (text.len(), self.width);
        for decimals in self.decimals.clone().rev().filter(|_| value.is_finite()) {
            // writing to a String cannot fail
            let _ = write!(text, "{value:width$.decimals$}");
            if text.len() - start <= width {
                return Some(());
            }
            text.truncate(start);
        }
        None
    }

    /// Appends the values of a quantity of an atom, for example its position. `shown` describes the quantity in an
    /// error message, and `index` is the index of the atom (from 0).
    pub(super) fn push_of_atom(&self, values: [f64; 3], index: usize, shown: &str, text: &mut String) -> Result<()> {
        let pushed = values.into_iter().try_for_each(|value| self.push(value, text));
        pushed.ok_or_else(|| self.no_room(&format!("atom {}: the {shown}", index + 1), &values))
    }

    /// Returns the numbers of a cell in columns.
    pub(super) fn of_cell(&self, values: &[f64], shown: &str) -> Result<String> {
        let mut text = String::new();
        let pushed = values.iter().try_for_each(|&value| self.push(value, &mut text));
        pushed.map(|()| text).ok_or_else(|| self.no_room(&format!("the {shown} of the cell"), values))
    }

    fn no_room(&self, what: &str, values: &[f64]) -> Error {
        let message = format!("{what} {values:?} cannot be written in columns of {} characters", self.width);
        let problem = Problem::new(message).help(
            "write mmCIF (.cif) or a trajectory (.h5md, .nc), whose numbers may be of any size; if the run was \
             unstable, correct its cause",
        );
        Error::new(ErrorKind::InvalidData, problem)
    }
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
            Ok(())
        };
        write_in_pieces(&items, &mut out, append).unwrap();
        let expected: String = items.iter().map(|item| format!("{item}\n")).collect();
        assert!(out == expected.as_bytes());
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        let columns = Columns { width: 8, decimals: 0..=3 };
        for (value, expected) in [
            (1.0, Some("   1.000")),
            (-12_345.678, Some("-12345.7")),
            (99_999_999.0, Some("99999999")),
            (100_000_000.0, None),
            (-99_999_999.0, None),
            (f64::NAN, None),
            (f64::INFINITY, None),
        ] {
            let mut text = String::new();
            assert_eq!(columns.push(value, &mut text).map(|()| text.as_str()), expected, "{value}");
            assert_eq!(text, expected.unwrap_or_default());
        }
        let exact = Columns { width: 8, decimals: 3..=3 };
        assert!(exact.push(9999.0, &mut String::new()).is_some() && exact.push(10_000.0, &mut String::new()).is_none());
        let error = columns.push_of_atom([1.0, 1e12, 2.0], 4, "position (Å)", &mut String::new()).unwrap_err();
        assert!(error.to_string().contains("atom 5: the position (Å) [1.0, 1000000000000.0, 2.0] cannot"), "{error}");
    }
}
