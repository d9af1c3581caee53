//! Atom selections, such as `protein and name CA`.
//!
//! ```text
//! selection := all-of ("or" all-of)*        all-of := one ("and" one)*
//! one       := "not" one | "(" selection ")" | word | list
//! word      := all | protein | backbone | nucleic | water | ion | lipid | hydrogen | heavy
//! list      := name X … | resname X … | element X … | resid N … | index N …       N may be a range, 5-17
//! ```
//!
//! `resid` is the residue number as printed in files. `index` counts atoms from 0. Ranges include both ends.
//! `protein`, `nucleic`, `water`, `ion` and `lipid` select by residue name ([`residues`]). `water` also selects every
//! residue of one oxygen and two hydrogens with any name. The other keywords have the same meaning as in MDAnalysis.
//! Names are case-sensitive, keywords are not.

mod residues;

use crate::error::Problem;
use crate::format::element::symbol;
use crate::system::{Residue, Topology};
use residues::Kind;
use std::collections::HashSet;
use std::ops::RangeInclusive;

/// Names of backbone atoms.
const BACKBONE: [&str; 4] = ["N", "CA", "C", "O"];
/// Keywords of the language, which end a list of names.
const WORDS: [&str; 19] = [
    "and", "or", "not", "(", ")", "all", "protein", "backbone", "nucleic", "water", "ion", "lipid", "hydrogen",
    "heavy", "name", "resname", "element", "resid", "index",
];
/// Maximum depth of nested parentheses and "not". The depth is limited because every level is a recursive call.
const DEEPEST: usize = 100;
/// Maximum product of the number of parts of a selection and the number of atoms. A selection at this limit takes
/// several seconds.
const MOST_TESTS: usize = 1 << 31;

/// Returns the atoms (0-based, ascending) that the text selects. Returns a [`Problem`] that quotes the text if the
/// text is wrong or selects no atom.
///
/// ```
/// use md_engine::prepare::AtomSpec;
/// use md_engine::select::select;
/// use md_engine::system::System;
///
/// let mut builder = System::builder();
/// builder.lj_type("none", Default::default());
/// for (name, element, mass) in [("C", 6, 12.011), ("H1", 1, 1.008), ("H2", 1, 1.008)] {
///     builder.atom(AtomSpec { name, element, mass, ..AtomSpec::default() });
/// }
/// let topology = builder.build()?.system.topology;
/// assert_eq!(select(&topology, "hydrogen and not name H2")?, [1]);
/// # Ok::<(), md_engine::error::Error>(())
/// ```
pub fn select(topology: &Topology, text: &str) -> Result<Vec<u32>, Problem> {
    let padded = text.replace('(', " ( ").replace(')', " ) ");
    let mut parser = Parser { topology, text, words: padded.split_whitespace().collect(), next: 0, depth: 0, parts: 0 };
    let chosen = parser.any_of()?;
    if let Some(word) = parser.peek() {
        return Err(
            parser.problem(&format!("expected \"and\", \"or\" or the end of the selection, but found \"{word}\""))
        );
    }
    let atoms: Vec<u32> = (0u32..).zip(&chosen).filter(|(_, chosen)| **chosen).map(|(i, _)| i).collect();
    if atoms.is_empty() {
        return Err(parser.problem("no atom is selected"));
    }
    Ok(atoms)
}

/// Maximum number of characters that a message quotes from a selection, and from the faulty part of the selection.
const LONGEST_QUOTE: usize = 300;

struct Parser<'a> {
    topology: &'a Topology,
    text: &'a str,
    words: Vec<&'a str>,
    next: usize,
    depth: usize,
    /// number of words and lists that were parsed already
    parts: usize,
}

impl<'a> Parser<'a> {
    fn any_of(&mut self) -> Result<Vec<bool>, Problem> {
        let mut chosen = self.all_of()?;
        while self.accept("or") {
            chosen.iter_mut().zip(self.all_of()?).for_each(|(chosen, more)| *chosen |= more);
        }
        Ok(chosen)
    }

    fn all_of(&mut self) -> Result<Vec<bool>, Problem> {
        let mut chosen = self.one()?;
        while self.accept("and") {
            chosen.iter_mut().zip(self.one()?).for_each(|(chosen, also)| *chosen &= also);
        }
        Ok(chosen)
    }

    fn one(&mut self) -> Result<Vec<bool>, Problem> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.problem(&format!("more than {DEEPEST} levels of \"not\" and parentheses")));
        }
        self.parts += 1;
        let atoms = self.topology.atoms.len();
        if self.parts.saturating_mul(atoms) > MOST_TESTS {
            let message = format!("a selection from {atoms} atoms can have at most {} parts", self.parts - 1);
            return Err(self
                .problem(&format!("{message}: list names or numbers after one keyword, for example index 1 5 7-20")));
        }
        let word = self.peek().ok_or_else(|| self.problem("the text ends where a selection was expected"))?;
        self.next += 1;
        let chosen = match word.to_ascii_lowercase().as_str() {
            "not" => self.one()?.into_iter().map(|chosen| !chosen).collect(),
            "(" => {
                let inner = self.any_of()?;
                if !self.accept(")") {
                    return Err(self.problem("a parenthesis is not closed"));
                }
                inner
            }
            "all" => self.atoms(|_| true),
            "backbone" => {
                let protein = self.residues(Kind::Protein);
                self.atoms(|i| protein[self.residue(i)] && BACKBONE.contains(&self.name(i)))
            }
            "hydrogen" => self.atoms(|i| self.topology.atoms[i].element == 1),
            "heavy" => self.atoms(|i| self.topology.atoms[i].element > 1),
            "name" => self.named(|parser, i| parser.name(i))?,
            "resname" => self.named(|parser, i| parser.topology.residues[parser.residue(i)].name.as_str())?,
            "element" => self.named(|parser, i| symbol(parser.topology.atoms[i].element))?,
            "resid" => {
                let ranges = self.ranges()?;
                self.numbered(ranges, |i| i64::from(self.topology.residues[self.residue(i)].number))
            }
            "index" => self.indices()?,
            word => {
                let kind = Kind::of_word(word);
                let chosen = self.residues(kind.ok_or_else(|| self.problem(&no_word(word)))?);
                self.atoms(|i| chosen[self.residue(i)])
            }
        };
        self.depth -= 1;
        Ok(chosen)
    }

    fn atoms(&self, choose: impl Fn(usize) -> bool) -> Vec<bool> {
        (0..self.topology.atoms.len()).map(choose).collect()
    }

    /// Selects atoms whose text is one of the following words.
    fn named(&mut self, text: impl for<'p> Fn(&'p Self, usize) -> &'p str) -> Result<Vec<bool>, Problem> {
        let wanted: HashSet<&str> = self.list()?.into_iter().collect();
        Ok(self.atoms(|i| wanted.contains(&text(self, i))))
    }

    /// Selects atoms whose index is in one of the following ranges. Returns a problem if a range contains an index
    /// that no atom has.
    fn indices(&mut self) -> Result<Vec<bool>, Problem> {
        let ranges = self.ranges()?;
        let last = self.topology.atoms.len() as i64 - 1;
        if let Some(outside) = ranges.iter().find(|range| *range.start() < 0 || *range.end() > last) {
            let (first, end) = outside.clone().into_inner();
            return Err(
                self.problem(&format!("index {first} to {end} is out of range: atoms are numbered 0 to {last}"))
            );
        }
        Ok(self.numbered(ranges, |i| i as i64))
    }

    /// Selects atoms whose number is in one of the ranges.
    fn numbered(&self, mut ranges: Vec<RangeInclusive<i64>>, number: impl Fn(usize) -> i64) -> Vec<bool> {
        ranges.sort_unstable_by_key(|range| *range.start());
        let mut merged: Vec<RangeInclusive<i64>> = vec![];
        for range in ranges {
            match merged.last_mut() {
                Some(last) if range.start() <= last.end() => *last = *last.start()..=*last.end().max(range.end()),
                _ => merged.push(range),
            }
        }
        self.atoms(|i| {
            let number = number(i);
            // the ranges are disjoint and sorted, so that only the last range that begins at or before `number` can
            // contain `number`
            let after = merged.partition_point(|range| *range.start() <= number);
            after > 0 && merged[after - 1].contains(&number)
        })
    }

    /// Parses the following numbers and ranges.
    fn ranges(&mut self) -> Result<Vec<RangeInclusive<i64>>, Problem> {
        let words = self.list()?.into_iter();
        let ranges = words.map(|word| match range(word) {
            Some(range) if range.is_empty() => Err(self.problem(&format!("the range {word} ends before it begins"))),
            Some(range) => Ok(range),
            None => Err(self.problem(&format!("\"{word}\" is neither a number nor a range such as 5-17"))),
        });
        ranges.collect()
    }

    /// Parses the words up to the next keyword. There must be at least one word.
    fn list(&mut self) -> Result<Vec<&'a str>, Problem> {
        let begin = self.next;
        while self.peek().is_some_and(|word| !WORDS.contains(&word.to_ascii_lowercase().as_str())) {
            self.next += 1;
        }
        if self.next == begin {
            return Err(self.problem(&format!("\"{}\" needs at least one value", self.words[begin - 1])));
        }
        Ok(self.words[begin..self.next].to_vec())
    }

    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.next).copied()
    }

    fn accept(&mut self, expected: &str) -> bool {
        let found = self.peek().is_some_and(|word| word.eq_ignore_ascii_case(expected));
        self.next += usize::from(found);
        found
    }

    fn residue(&self, atom: usize) -> usize {
        self.topology.atoms[atom].residue as usize
    }

    fn name(&self, atom: usize) -> &str {
        self.topology.atoms[atom].name.as_str()
    }

    /// Returns for each residue whether it is of this kind.
    fn residues(&self, kind: Kind) -> Vec<bool> {
        let is = |(index, residue): (usize, &Residue)| {
            kind.has(residue.name.as_str()) || (kind == Kind::Water && self.topology.is_water(index))
        };
        self.topology.residues.iter().enumerate().map(is).collect()
    }

    fn problem(&self, what: &str) -> Problem {
        Problem::new(format!("selection \"{}\": {}", shortened(self.text), shortened(what))).help(
            "keywords: all protein backbone nucleic water ion lipid hydrogen heavy; name, resname, element, resid, \
             index with values; and, or, not, parentheses; for example \"protein and heavy and resid 5-17\"",
        )
    }
}

/// Shortens a text that is too long for a message to its beginning.
fn shortened(text: &str) -> String {
    let beginning: String = text.chars().take(LONGEST_QUOTE).collect();
    if beginning.len() < text.len() { beginning + "…" } else { beginning }
}

fn no_word(word: &str) -> String {
    format!("\"{word}\" is not a selection keyword")
}

/// Parses `5`, `5-17` or `-3`.
fn range(word: &str) -> Option<RangeInclusive<i64>> {
    if let Ok(number) = word.parse() {
        return Some(number..=number);
    }
    // a leading minus is the sign of the number
    let dash = 1 + word.get(1..)?.find('-')?;
    Some(word[..dash].parse().ok()?..=word[dash + 1..].parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{Atom, Name, Residue};

    /// A topology with the residues ALA 1 (N H CA C O), LIG 7 (CA, a calcium), and two waters 8 and 9.
    fn topology() -> Topology {
        let mut topology = Topology::default();
        let water = vec![("O", 8), ("H1", 1), ("H2", 1)];
        let residues = [
            ("ALA", 1, vec![("N", 7), ("H", 1), ("CA", 6), ("C", 6), ("O", 8)]),
            ("LIG", 7, vec![("CA", 20)]),
            ("WAT", 8, water.clone()),
            ("WAT", 9, water),
        ];
        for (residue, (name, number, atoms)) in (0u32..).zip(residues) {
            let first = topology.atoms.len() as u32;
            topology.residues.push(Residue { name: Name::new(name), number, first });
            topology.atoms.extend(atoms.iter().map(|&(name, element)| Atom {
                name: Name::new(name),
                type_name: Name::default(),
                element,
                mass: 1.0,
                charge: 0.0,
                lj_type: 0,
                residue,
            }));
        }
        topology
    }

    #[test]
    fn words_choose_atoms() {
        for (text, expected) in [
            ("all", (0..12).collect::<Vec<u32>>()),
            ("protein", vec![0, 1, 2, 3, 4]),
            ("backbone", vec![0, 2, 3, 4]),
            ("water and not hydrogen", vec![6, 9]),
            ("ION or lipid or nucleic or water", (6..12).collect()),
            ("name CA", vec![2, 5]),
            ("NAME CA AND element Ca", vec![5]),
            ("protein and name CA C", vec![2, 3]),
            ("resname LIG or resid 9", vec![5, 9, 10, 11]),
            ("index 0-2 11", vec![0, 1, 2, 11]),
            ("resid -5-7 and heavy", vec![0, 2, 3, 4, 5]),
            ("index 9-11 0-5 2 3-4 11 7 0", vec![0, 1, 2, 3, 4, 5, 7, 9, 10, 11]),
            // "and" has a higher precedence than "or"
            ("name CA or water and name O", vec![2, 5, 6, 9]),
            ("(name CA or water)and name O", vec![6, 9]),
            ("not not (protein)", vec![0, 1, 2, 3, 4]),
        ] {
            assert_eq!(select(&topology(), text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn long_lists_choose_what_short_ones_do() {
        let names = "X ".repeat(300_000) + "CA";
        assert_eq!(select(&topology(), &format!("name {names}")).unwrap(), [2, 5]);
        let numbers: Vec<String> = (0..300_000).map(|k| (k % 3).to_string()).collect();
        assert_eq!(select(&topology(), &format!("index {}", numbers.join(" "))).unwrap(), [0, 1, 2]);
    }

    #[test]
    fn mistakes_are_named() {
        for (text, expected) in [
            ("", "ends where a selection"),
            ("protein and", "ends where a selection"),
            ("protien", "\"protien\" is not a selection keyword"),
            ("name", "\"name\" needs at least one value"),
            ("name and protein", "\"name\" needs at least one value"),
            ("(protein", "not closed"),
            ("protein)", "\")\" follows"),
            ("protein water", "\"water\" follows"),
            ("resid x", "\"x\" is neither"),
            ("resid 9-7", "9-7 ends before it begins"),
            ("index 3 5-12", "index 5 to 12 is out of range: atoms are numbered 0 to 11"),
            ("index -1", "index -1 to -1 is out of range"),
            ("resid 3-", "\"3-\" is neither"),
            ("resid é", "\"é\" is neither"),
            ("resid 99999999999999999999", "is neither"),
            ("name ca", "no atom is selected"),
        ] {
            let problem = select(&topology(), text).unwrap_err().to_string();
            assert!(problem.contains(expected), "{text}: {problem}");
        }
        let mut large = topology();
        large.atoms = vec![large.atoms[0]; 1 << 20];
        let parts = "not all or ".repeat(3000) + "all";
        let problem = select(&large, &parts).unwrap_err().to_string();
        assert!(problem.contains("a selection from 1048576 atoms can have at most 2048 parts"), "{}", &problem[..100]);
        let deep = "(".repeat(1_000_000);
        let message = select(&topology(), &deep).unwrap_err().message;
        assert!(message.contains("((…\": more than 100 levels") && message.len() < 1000, "{message}");
    }
}
