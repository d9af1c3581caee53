//! Fields of a line: words, numbers and atoms, separated by blanks.

use super::Parsed;
use super::directive::unknown_function;
use crate::error::Problem;
use crate::format::number;

/// Words of a line that have not been read yet.
#[derive(Clone, Copy)]
pub(super) struct Fields<'w, 't> {
    words: &'w [&'t str],
}

impl<'w, 't> Fields<'w, 't> {
    pub(super) fn new(words: &'w [&'t str]) -> Self {
        Fields { words }
    }

    /// Returns the words of the line that have not been read.
    pub(super) fn rest(&self) -> &'w [&'t str] {
        self.words
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Reads the next word of the line. `what` names the expected word in the error.
    pub(super) fn word(&mut self, what: &str) -> Parsed<&'t str> {
        let (first, rest) = self.words.split_first().ok_or_else(|| missing(what))?;
        self.words = rest;
        Ok(first)
    }

    /// Reads the next word as a number.
    pub(super) fn real(&mut self, what: &str) -> Parsed<f64> {
        real(self.word(what)?, what)
    }

    /// Reads the next word as a whole number.
    pub(super) fn integer(&mut self, what: &str) -> Parsed<i32> {
        let word = self.word(what)?;
        number::integer(word.as_bytes()).ok_or_else(|| not(what, "a whole number of up to nine digits", word))
    }

    /// Reads the next word as the function type of a directive that has only function type 1. `name` names the
    /// directive in the error.
    pub(super) fn function_one(&mut self, name: &str) -> Parsed<()> {
        match self.word("the function type")? {
            "1" => Ok(()),
            other => Err(unknown_function(name, other, "1")),
        }
    }

    /// Reads the next word as an atom number from 1 to `count`. Returns the atom number counted from 0.
    pub(super) fn atom(&mut self, count: usize) -> Parsed<u32> {
        let atom = self.integer("an atom")?;
        match u32::try_from(atom) {
            Ok(number @ 1..) if number as usize <= count => Ok(number - 1),
            _ => Err(Problem::new(format!("atom {atom} is not between 1 and {count}")).help(
                "atoms are numbered from 1 in each [ moleculetype ], and through the whole system in [ \
                 intermolecular_interactions ]; is a file included in the wrong place?",
            )),
        }
    }

    /// Reads the next `N` words as atom numbers, which must all be different.
    pub(super) fn atoms<const N: usize>(&mut self, count: usize) -> Parsed<[u32; N]> {
        let mut atoms = [0; N];
        for k in 0..N {
            atoms[k] = self.atom(count)?;
            if atoms[..k].contains(&atoms[k]) {
                return Err(Problem::new(format!("the line names atom {} twice", atoms[k] + 1)));
            }
        }
        Ok(atoms)
    }

    /// Fails if the line has words that have not been read.
    pub(super) fn end(&self) -> Parsed<()> {
        match self.words.first() {
            Some(word) => {
                Err(Problem::new(format!("{} is not expected in this line", number::quoted(word.as_bytes()))))
            }
            None => Ok(()),
        }
    }
}

/// Reads a word as a number.
pub(super) fn real(word: &str, what: &str) -> Parsed<f64> {
    number::real(word.as_bytes()).ok_or_else(|| not(what, "a number", word))
}

fn missing(what: &str) -> Problem {
    Problem::new(format!("the line ends, but {what} is expected"))
}

fn not(what: &str, kind: &str, word: &str) -> Problem {
    let problem = Problem::new(format!("{what}: expected {kind}, found {}", number::quoted(word.as_bytes())));
    match word.bytes().next() {
        Some(first) if first.is_ascii_alphabetic() => {
            problem.help("if this is the name of a macro, its #define is missing")
        }
        _ => problem,
    }
}
