//! Bonded parameters by atom types: `[ bondtypes ]`, `[ angletypes ]`, `[ dihedraltypes ]`, `[ constrainttypes ]`.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::Parsed;
use super::function::Parameters;
use crate::error::Problem;

/// Wildcard that matches any atom type, written as `X` in a file.
pub(super) const ANY: u32 = u32::MAX;

/// Parameter tables of a directive, by function type.
pub(super) type Tables<const N: usize> = BTreeMap<u8, TypeTable<N>>;

/// Parameters of one function type by atom types. A row matches the types of a term in forward and in reverse order.
#[derive(Default)]
pub(super) struct TypeTable<const N: usize> {
    parameters: Vec<Parameters>,
    /// blocks of consecutive rows with the same atom types, as ranges of `parameters`
    blocks: Vec<([u32; N], Range<usize>)>,
    /// index of each block by its atom types
    by_types: HashMap<[u32; N], usize>,
    /// indices of the blocks with wildcards ([`ANY`])
    general: Vec<usize>,
    /// cached results of look-ups among the blocks with wildcards
    found: HashMap<[u32; N], Option<usize>>,
}

impl<const N: usize> TypeTable<N> {
    /// Adds a row. If an earlier row has the same types, the new row replaces the earlier row, and the function returns
    /// whether the parameters of the two rows differ. With `multiple`, consecutive rows of the same types in the same
    /// order form a block, whose rows are terms of one interaction; a row that repeats an earlier row of the block is
    /// left out. A second block of the same types is refused, unless the first block has a single row and the second
    /// block repeats this row.
    pub(super) fn add(&mut self, types: [u32; N], parameters: Parameters, multiple: bool) -> Parsed<bool> {
        self.found.clear();
        let key = canonical(types);
        let Some(&index) = self.by_types.get(&key) else {
            self.by_types.insert(key, self.blocks.len());
            if types.contains(&ANY) {
                self.general.push(self.blocks.len());
            }
            self.blocks.push((types, self.parameters.len()..self.parameters.len() + 1));
            self.parameters.push(parameters);
            return Ok(false);
        };
        let continues = index + 1 == self.blocks.len() && self.blocks[index].0 == types;
        let rows = &mut self.blocks[index].1;
        if multiple && continues {
            // grompp leaves out a row that repeats an earlier row of its block
            if !self.parameters[rows.clone()].contains(&parameters) {
                rows.end += 1;
                self.parameters.push(parameters);
            }
        } else if !multiple {
            let before = &mut self.parameters[rows.clone()];
            let replaced = before.iter().any(|row| *row != parameters);
            before.fill(parameters);
            return Ok(replaced);
        } else if self.parameters[rows.clone()] != [parameters] {
            let message = "two blocks of function type 9 have the same atom types and different parameters";
            return Err(Problem::new(message).help("remove one of the two blocks, or put their lines together"));
        }
        Ok(false)
    }

    /// Finds the rows for these atom types. Among the matching blocks with the fewest wildcards, the earliest block is
    /// used. Returns the rows, and the types of the rows (with wildcards) in the order of `types`.
    pub(super) fn find(&mut self, types: [u32; N]) -> Option<(&[Parameters], [u32; N])> {
        let key = canonical(types);
        let index = match self.by_types.get(&key) {
            Some(&index) => index,
            None => {
                (*self.found.entry(key).or_insert_with(|| {
                    let exact = |&&index: &&usize| matches(self.blocks[index].0, types).map(|(number, _)| number);
                    // `max_by_key` returns the last of several equal elements, so the blocks are searched in reverse
                    // order to find the earliest block
                    let candidates = self.general.iter().rev().filter(|index| exact(index).is_some());
                    candidates.max_by_key(|index| exact(index)).copied()
                }))?
            }
        };
        let (row, range) = &self.blocks[index];
        Some((&self.parameters[range.clone()], matches(*row, types)?.1))
    }
}

/// Returns the smaller of the types and the reversed types, which is the key of a term in both directions.
fn canonical<const N: usize>(types: [u32; N]) -> [u32; N] {
    let mut reversed = types;
    reversed.reverse();
    types.min(reversed)
}

/// Returns the number of types of the row that are not wildcards, and the types of the row in the matching direction.
/// Returns `None` if the row matches in neither direction.
fn matches<const N: usize>(row: [u32; N], types: [u32; N]) -> Option<(usize, [u32; N])> {
    let agree = |row: [u32; N]| {
        let fits = row.iter().zip(&types).all(|(row, own)| row == own || *row == ANY);
        fits.then(|| (row.iter().filter(|&&row| row != ANY).count(), row))
    };
    let mut reversed = row;
    reversed.reverse();
    agree(row).or_else(|| agree(reversed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(first: f64) -> Parameters {
        [first, 0.0, 0.0, 0.0, 0.0, 0.0]
    }

    fn first(table: &mut TypeTable<4>, types: [u32; 4]) -> Option<Vec<f64>> {
        table.find(types).map(|(rows, _)| rows.iter().map(|row| row[0]).collect())
    }

    #[test]
    fn exact_rows_win_then_those_with_fewer_wildcards_then_the_first() {
        let mut table = TypeTable::<4>::default();
        for (types, value) in [
            ([ANY, 1, 2, ANY], 1.0),
            ([ANY, 1, 2, 3], 2.0),
            ([0, 1, 2, 3], 3.0),
            ([4, 1, 2, ANY], 4.0),
            ([ANY, ANY, 2, 5], 5.0),
            ([ANY, 1, ANY, 5], 6.0),
        ] {
            table.add(types, parameters(value), false).unwrap();
        }
        for (types, expected) in [
            ([0, 1, 2, 3], Some(3.0)),
            ([3, 2, 1, 0], Some(3.0)),
            ([9, 1, 2, 3], Some(2.0)),
            ([3, 2, 1, 9], Some(2.0)),
            ([9, 1, 2, 9], Some(1.0)),
            // both rows match with one wildcard, so that the earlier row is used
            ([4, 1, 2, 3], Some(2.0)),
            ([4, 1, 2, 9], Some(4.0)),
            ([9, 1, 2, 5], Some(1.0)),
            ([9, 8, 2, 5], Some(5.0)),
            ([9, 8, 7, 5], None),
        ] {
            assert_eq!(first(&mut table, types), expected.map(|value| vec![value]), "{types:?}");
        }
    }

    #[test]
    fn later_rows_replace_earlier_ones_and_blocks_of_several_terms_stay_whole() {
        let mut table = TypeTable::<4>::default();
        table.add([0, 1, 2, 3], parameters(1.0), false).unwrap();
        table.add([5, 5, 5, 5], parameters(9.0), false).unwrap();
        table.add([3, 2, 1, 0], parameters(2.0), false).unwrap();
        assert_eq!(first(&mut table, [0, 1, 2, 3]), Some(vec![2.0]));
        for value in [1.0, 2.0, 3.0] {
            table.add([7, 7, 7, 8], parameters(value), true).unwrap();
        }
        table.add([6, 6, 6, 6], parameters(1.0), true).unwrap();
        assert_eq!(first(&mut table, [8, 7, 7, 7]), Some(vec![1.0, 2.0, 3.0]));
        assert!(table.add([7, 7, 7, 8], parameters(4.0), true).is_err());
        table.add([5, 5, 5, 5], parameters(9.0), true).expect("the same again");
        table.add([6, 6, 6, 6], parameters(2.0), true).expect("the block goes on");
    }
}
