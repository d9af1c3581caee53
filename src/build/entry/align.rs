//! Alignment of observed residues with the sequence of their chain.
//!
//! Residue numbers minus a common offset are used as positions in the sequence if all residue names at these positions
//! agree. Otherwise the alignment of the observed residues with the highest score is used (S. B. Needleman and C. D.
//! Wunsch, J. Mol. Biol. 48, 443 (1970)), with low gap costs at chain breaks.

use super::names::{CARRIERS, standard};

/// Largest product of the lengths of a sequence and of a chain that are aligned. The limit bounds the time and the
/// memory (64 MiB).
const MOST_PAIRS: usize = 16 << 20;

/// Scores of matches, mismatches and gaps in an alignment. The exact values of the scores do not matter: a match
/// outweighs a gap at a chain break, and a gap elsewhere costs more than a few mismatches.
const MATCH: i32 = 4;
const MISMATCH: i32 = -4;
const GAP_AT_BREAK: i32 = 1;
const GAP: i32 = 12;
const UNALIGNED: i32 = 6;
/// Score of an impossible alignment.
const NONE: i32 = i32::MIN / 2;

/// A residue of a chain that has atoms.
pub(super) struct Observed<'a> {
    pub(super) name: &'a str,
    pub(super) number: i32,
    pub(super) has_code: bool,
    /// whether the residue is not bonded to the preceding residue
    pub(super) is_after_break: bool,
}

/// Returns, for each observed residue, its position in the sequence, or `None` if the residue is not in the sequence.
/// The result is `None` if the sequence and the chain are too long to align.
pub(super) fn align(sequence: &[&str], observed: &[Observed<'_>]) -> Option<Vec<Option<usize>>> {
    if sequence.len().saturating_mul(observed.len()) > MOST_PAIRS {
        return None;
    }
    let sequence: Vec<&str> = sequence.iter().map(|name| comparable(name)).collect();
    let names: Vec<&str> = observed.iter().map(|residue| comparable(residue.name)).collect();
    let of_numbers = by_numbers(&sequence, &names, observed);
    Some(of_numbers.unwrap_or_else(|| by_score(&sequence, &names, observed)))
}

/// Returns a residue name for comparisons. The sequence in a file may have nonstandard names of standard residues. The
/// sequence may also have RNA names for nucleotides of DNA. Residues that carry a sugar have names of GLYCAM.
fn comparable(name: &str) -> &str {
    let name = standard(name, &[]).map_or(name, |standard| standard.name.as_str());
    let name = CARRIERS.iter().find(|(_, _, carrier)| *carrier == name).map_or(name, |(residue, ..)| residue);
    match name {
        "DA" => "A",
        "DC" => "C",
        "DG" => "G",
        name => name,
    }
}

/// Whether two names in sequences stand for the same residue.
pub(super) fn is_same(a: &str, b: &str) -> bool {
    comparable(a) == comparable(b)
}

/// Returns the positions in the sequence that equal the residue numbers minus a common offset. If several offsets are
/// possible, an offset at which the sequence begins with number 1 is preferred; otherwise the first possible offset is
/// used.
fn by_numbers(sequence: &[&str], names: &[&str], observed: &[Observed<'_>]) -> Option<Vec<Option<usize>>> {
    let [first, .., last] = observed else { return None };
    let ascends = observed.windows(2).all(|pair| pair[0].number < pair[1].number);
    let span = usize::try_from(i64::from(last.number) - i64::from(first.number)).ok()?;
    if !ascends || observed.iter().any(|residue| residue.has_code) || span >= sequence.len() {
        return None;
    }
    let steps: Vec<usize> =
        observed.iter().map(|residue| (i64::from(residue.number) - i64::from(first.number)) as usize).collect();
    let fits = |start: &usize| steps.iter().zip(names).all(|(step, name)| sequence[start + step] == *name);
    let mut starts = (0..sequence.len() - span).filter(fits);
    let numbered = usize::try_from(first.number - 1).ok();
    let found = starts.next()?;
    let start =
        if numbered == Some(found) { found } else { starts.find(|&start| numbered == Some(start)).unwrap_or(found) };
    Some(steps.iter().map(|step| Some(start + step)).collect())
}

/// Returns the positions in the sequence by the alignment with the highest score.
fn by_score(sequence: &[&str], names: &[&str], observed: &[Observed<'_>]) -> Vec<Option<usize>> {
    let length = sequence.len();
    if length == 0 || names.is_empty() {
        return vec![None; names.len()];
    }
    // column j + 1 holds the best score of alignments whose last aligned position is j, and column 0 holds the best
    // score of alignments without aligned positions
    let columns = length + 1;
    let mut scores = vec![NONE; columns];
    scores[0] = 0;
    // for each residue and each column, the column of the preceding residue in the best alignment; `u32::MAX` if the
    // residue is not aligned
    let mut before = vec![u32::MAX; columns * names.len()];
    for (i, name) in names.iter().enumerate() {
        let (gap, jump) = match i {
            0 => (0, None),
            _ => {
                let jump = i64::from(observed[i].number) - i64::from(observed[i - 1].number);
                (if observed[i].is_after_break { GAP_AT_BREAK } else { GAP }, usize::try_from(jump).ok())
            }
        };
        let mut next: Vec<i32> = scores.iter().map(|score| (score - UNALIGNED).max(NONE)).collect();
        // column with the best score among the columns before `column - 1`; a step from this column leaves a gap in the
        // sequence
        let mut best = 0;
        for column in 1..columns {
            if column >= 2 && scores[column - 2] > scores[best] {
                best = column - 2;
            }
            let mut from = (scores[column - 1], column - 1);
            let with_gap = scores[best] - if best == 0 { 0 } else { gap };
            if column >= 2 && with_gap > from.0 {
                from = (with_gap, best);
            }
            // a gap at a break of the chain costs nothing if its length agrees with the residue numbers
            if let Some(old) =
                jump.filter(|&jump| jump > 1 && jump < column && observed[i].is_after_break).map(|jump| column - jump)
                && scores[old] >= from.0
            {
                from = (scores[old], old);
            }
            let score = from.0 + if sequence[column - 1] == *name { MATCH } else { MISMATCH };
            if score > next[column] {
                next[column] = score;
                before[i * columns + column] = from.1 as u32;
            }
        }
        scores = next;
    }
    let mut column = (0..columns).max_by_key(|&column| (scores[column], std::cmp::Reverse(column))).unwrap_or(0);
    let mut found = vec![None; names.len()];
    for i in (0..names.len()).rev() {
        let from = before[i * columns + column];
        if from != u32::MAX {
            found[i] = Some(column - 1);
            column = from as usize;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aligned(sequence: &str, observed: &[(&'static str, i32, bool)]) -> Vec<Option<usize>> {
        let residue = |&(name, number, is_after_break): &(&'static str, i32, bool)| Observed {
            name,
            number,
            has_code: false,
            is_after_break,
        };
        let observed: Vec<Observed<'_>> = observed.iter().map(residue).collect();
        align(&sequence.split(' ').collect::<Vec<_>>(), &observed).unwrap()
    }

    #[test]
    fn numbers_decide_where_they_can() {
        let sequence = "GLY GLY GLY ALA GLY GLY";
        assert_eq!(aligned(sequence, &[("GLY", 2, false), ("GLY", 3, false)]), [Some(1), Some(2)]);
        assert_eq!(aligned(sequence, &[("GLY", 103, true), ("ALA", 104, false)]), [Some(2), Some(3)]);
    }

    #[test]
    fn breaks_decide_where_numbers_do_not() {
        // the numbers of the observed residues have no gap, although residues are missing between the observed residues
        let found = aligned("MET ALA SER GLY GLY LYS", &[("ALA", 1, false), ("GLY", 2, true), ("LYS", 3, false)]);
        assert_eq!(found, [Some(1), Some(4), Some(5)]);
        // a residue that is not in the sequence stays unaligned
        let found =
            aligned("ALA SER GLY", &[("ACE", 0, false), ("ALA", 1, false), ("SER", 1, false), ("GLY", 2, false)]);
        assert_eq!(found, [None, Some(0), Some(1), Some(2)]);
        // a mutation is a mismatch
        let found = aligned("ALA SER GLY", &[("ALA", 1, false), ("THR", 2, false), ("GLY", 3, false)]);
        assert_eq!(found, [Some(0), Some(1), Some(2)]);
    }
}
