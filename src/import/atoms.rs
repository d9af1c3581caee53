//! Conversion of lists of atoms to selections.

use std::fmt::Write;

/// Largest number of ranges of consecutive atoms in one selection. The limit bounds the cost of a selection, which
/// compares every atom with every range.
pub(super) const MOST_RANGES: usize = 1000;

/// Returns a selection such as `index 0-9 15` for atoms whose numbers count from 1; `None` if there are no atoms, or
/// too many ranges.
pub(super) fn indices(atoms: &[u32]) -> Option<String> {
    let mut pieces = pieces(atoms);
    pieces.pop().filter(|_| pieces.is_empty())
}

/// Returns selections that together select the atoms: several selections if the atoms form too many ranges for one
/// selection.
pub(super) fn pieces(atoms: &[u32]) -> Vec<String> {
    let mut atoms = atoms.to_vec();
    atoms.sort_unstable();
    atoms.dedup();
    let ranges: Vec<&[u32]> = atoms.chunk_by(|a, b| a + 1 == *b).collect();
    ranges.chunks(MOST_RANGES).map(selection).collect()
}

/// Returns the selection of the atoms in ranges of consecutive atoms.
fn selection(ranges: &[&[u32]]) -> String {
    let mut text = "index".to_owned();
    for range in ranges {
        let (first, last) = (range[0] - 1, range[range.len() - 1] - 1);
        // writing to a String does not fail
        let _ = if first == last { write!(text, " {first}") } else { write!(text, " {first}-{last}") };
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
mod tests {
    use super::*;

    #[test]
    fn atoms_become_ranges() {
        for (atoms, expected) in
            [(&[1, 2, 3, 7, 9, 10][..], Some("index 0-2 6 8-9")), (&[5, 4, 4], Some("index 3-4")), (&[], None)]
        {
            assert_eq!(indices(atoms).as_deref(), expected);
        }
        let odd: Vec<u32> = (0..=MOST_RANGES as u32).map(|k| 2 * k + 1).collect();
        assert!(indices(&odd).is_none() && indices(&odd[1..]).is_some());
        assert_eq!(pieces(&odd), [indices(&odd[..MOST_RANGES]), indices(&odd[MOST_RANGES..])].map(Option::unwrap));
    }
}
