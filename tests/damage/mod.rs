//! Damaged copies of good files.

use proptest::prelude::*;

/// A change to a file: a byte is overwritten, a range is removed or repeated, or the end is cut off.
#[derive(Clone, Debug)]
pub(crate) enum Damage {
    Overwrite(prop::sample::Index, u8),
    Remove(prop::sample::Index, usize),
    Repeat(prop::sample::Index, usize),
    Cut(prop::sample::Index),
}

/// Strategy that generates one to five changes.
pub(crate) fn damage() -> impl Strategy<Value = Vec<Damage>> {
    let index = any::<prop::sample::Index>;
    // digits, signs and separators reach more code of a reader than arbitrary bytes
    let byte = prop_oneof![any::<u8>(), prop::sample::select(b"0123456789-+.*%E \n".to_vec())];
    let one = prop_oneof![
        4 => (index(), byte).prop_map(|(at, byte)| Damage::Overwrite(at, byte)),
        1 => (index(), 1..100usize).prop_map(|(at, length)| Damage::Remove(at, length)),
        1 => (index(), 1..100usize).prop_map(|(at, length)| Damage::Repeat(at, length)),
        1 => index().prop_map(Damage::Cut),
    ];
    prop::collection::vec(one, 1..6)
}

/// Returns the bytes of `original` after the given changes.
pub(crate) fn apply(original: &[u8], damages: &[Damage]) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for damage in damages {
        if bytes.is_empty() {
            break;
        }
        match damage {
            Damage::Overwrite(at, byte) => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Damage::Remove(at, length) => {
                let at = at.index(bytes.len());
                bytes.drain(at..(at + length).min(bytes.len()));
            }
            Damage::Repeat(at, length) => {
                let at = at.index(bytes.len());
                let piece = bytes[at..(at + length).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            Damage::Cut(at) => bytes.truncate(at.index(bytes.len())),
        }
    }
    bytes
}
