//! Macros of the preprocessor: `#define NAME text` replaces the whole word NAME in later lines.
//!
//! Words are sequences of letters, digits and `_`. The text that replaces a macro is searched for macros again, so
//! that a macro may use other macros. A macro without text is never replaced and is used by `#ifdef` only.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::Parsed;
use crate::error::Problem;

/// Maximum length of a line after the replacement of macros, in bytes. A line with a correction map of 24 by 24
/// numbers has some 10 000 bytes.
const LONGEST_LINE: usize = 1 << 20;
/// Largest depth to which macros may use other macros.
const DEEPEST: usize = 64;
/// Largest number of replacements in one line. For nested macros that each use the next macro twice, the number of
/// replacements exceeds this limit long before the line exceeds [`LONGEST_LINE`].
const MOST_IN_LINE: usize = 1 << 16;
/// Largest number of replacements in all lines. The limit allows one or two replacements in each of a few million
/// lines. The maximum number of replacements takes a few seconds.
const MOST_IN_ALL: usize = 1 << 23;

/// All macros that are defined at a given line of the topology.
#[derive(Default)]
pub(super) struct Macros {
    texts: HashMap<String, Rc<str>>,
    /// number of defined macros that have a text, and so replace words
    replacing: usize,
    /// macros defined by the user that no file has used yet
    unused: HashSet<String>,
    /// number of replacements in all lines that have been read
    replacements: usize,
}

impl Macros {
    /// Defines the macros of the user, each `NAME` or `NAME=text`.
    pub(super) fn from_options(defines: &[String]) -> Parsed<Self> {
        let mut macros = Macros::default();
        for define in defines {
            let (name, text) = define.split_once('=').unwrap_or((define, ""));
            let name = name.trim();
            if name.is_empty() || !name.bytes().all(is_word) {
                let problem = Problem::new(format!("system.define: {define:?} is not the name of a macro"));
                return Err(problem.help("write \"NAME\" or \"NAME=text\", without -D"));
            }
            macros.define(name, text.trim());
            macros.unused.insert(name.to_owned());
        }
        Ok(macros)
    }

    /// Defines a macro, or redefines it.
    pub(super) fn define(&mut self, name: &str, text: &str) {
        self.undefine(name);
        self.replacing += usize::from(!text.is_empty());
        self.texts.insert(name.to_owned(), text.into());
    }

    /// Removes a macro.
    pub(super) fn undefine(&mut self, name: &str) {
        let text = self.texts.remove(name);
        self.replacing -= usize::from(text.is_some_and(|text| !text.is_empty()));
    }

    /// Whether the macro is defined.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.texts.contains_key(name)
    }

    /// Whether the macro is defined. The call marks the macro as used.
    pub(super) fn ask(&mut self, name: &str) -> bool {
        self.unused.remove(name);
        self.contains(name)
    }

    /// Fails if the user has defined a macro that no file has used.
    pub(super) fn check_used(&self) -> Parsed<()> {
        let Some(name) = self.unused.iter().min() else { return Ok(()) };
        let message = format!("system.define has {name}, but no file of this topology uses this macro");
        Err(Problem::new(message).help("correct the spelling, or remove the macro"))
    }

    /// Returns the text with all macros replaced.
    pub(super) fn replace<'t>(&mut self, text: &'t str) -> Parsed<Cow<'t, str>> {
        if self.replacing == 0 || !words(text).any(|(_, word)| self.text_of(word).is_some()) {
            return Ok(Cow::Borrowed(text));
        }
        let mut out = String::new();
        let most = MOST_IN_ALL.min(self.replacements + MOST_IN_LINE);
        self.replace_into(text, &mut vec![], most, &mut out)?;
        Ok(Cow::Owned(out))
    }

    fn text_of(&self, word: &str) -> Option<&Rc<str>> {
        self.texts.get(word).filter(|text| !text.is_empty())
    }

    /// Appends the text with its macros replaced, up to `most` replacements. `within` are the macros whose text is
    /// being searched for further macros.
    fn replace_into(&mut self, text: &str, within: &mut Vec<Rc<str>>, most: usize, out: &mut String) -> Parsed<()> {
        let mut copied = 0;
        for (start, word) in words(text) {
            let Some(replacement) = self.text_of(word).cloned() else { continue };
            if within.iter().any(|name| **name == *word) {
                let message =
                    format!("the text of macro {word} contains the macro itself: {} -> {word}", within.join(" -> "));
                return Err(Problem::new(message).help("correct its #define line"));
            }
            if within.len() >= DEEPEST {
                let message =
                    format!("macros contain each other more than {DEEPEST} levels deep, from {} on", within[0]);
                return Err(Problem::new(message).help("correct their #define lines"));
            }
            if self.replacements >= most {
                return Err(too_many(within.first().map_or(word, |name| name), most));
            }
            self.replacements += 1;
            out.push_str(&text[copied..start]);
            copied = start + word.len();
            self.unused.remove(word);
            within.push(word.into());
            self.replace_into(&replacement, within, most, out)?;
            within.pop();
            if out.len() > LONGEST_LINE {
                let message = format!("macros make this line longer than {LONGEST_LINE} bytes");
                return Err(Problem::new(message).help("correct the #define lines of the macros in this line"));
            }
        }
        out.push_str(&text[copied..]);
        Ok(())
    }
}

/// Returns the error for too many replacements of macros, in one line or in all lines together.
fn too_many(word: &str, most: usize) -> Problem {
    let message = match most {
        MOST_IN_ALL => format!("the macros of this topology are replaced more than {MOST_IN_ALL} times"),
        _ => format!("{word} and the macros in its text need more than {MOST_IN_LINE} replacements in this line"),
    };
    Problem::new(message).help("correct the #define lines: does each macro contain the next macro twice?")
}

/// Whether a character is a letter, a digit or `_`, and so belongs to a word.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Iterates over the words of a text, with the byte offset of each word.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + bytes[at..].iter().position(|&byte| is_word(byte))?;
        let length = bytes[start..].iter().position(|&byte| !is_word(byte)).unwrap_or(bytes.len() - start);
        at = start + length;
        Some((start, &text[start..at]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn macros(defines: &[(&str, &str)]) -> Macros {
        let mut macros = Macros::default();
        defines.iter().for_each(|(name, text)| macros.define(name, text));
        macros
    }

    #[test]
    fn whole_words_are_replaced_also_in_replacements() {
        let mut macros = macros(&[("gb_2", "0.1 187"), ("A", "gb_2 gb_2"), ("EMPTY", "")]);
        for (text, expected) in [
            ("1 2 2 gb_2", "1 2 2 0.1 187"),
            ("gb_20 xgb_2 gb_2", "gb_20 xgb_2 0.1 187"),
            ("A-A", "0.1 187 0.1 187-0.1 187 0.1 187"),
            ("EMPTY a", "EMPTY a"),
            ("µ gb_2 µ", "µ 0.1 187 µ"),
        ] {
            assert_eq!(macros.replace(text).unwrap(), expected);
        }
        macros.undefine("gb_2");
        assert_eq!(macros.replace("gb_2").unwrap(), "gb_2");
    }

    #[test]
    fn macros_without_end_are_refused() {
        let mut circle = macros(&[("A", "B"), ("B", "C 1"), ("C", "2 A")]);
        let problem = circle.replace("A").unwrap_err().to_string();
        assert!(problem.contains("A -> B -> C -> A"), "{problem}");
        let names: Vec<String> = (0..64).map(|level| format!("M{level}")).collect();
        let texts: Vec<String> = (1..65).map(|level| format!("M{level} M{level}")).collect();
        let doubling: Vec<(&str, &str)> =
            names.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
        let problem = macros(&doubling).replace("M0").unwrap_err().to_string();
        assert!(problem.contains("M0 and the macros in its text need more than 65536"), "{problem}");
        // many lines, each with few replacements
        let mut few = macros(&[("A", "1")]);
        few.replacements = MOST_IN_ALL - 1;
        assert_eq!(few.replace("A").unwrap(), "1");
        let problem = few.replace("A").unwrap_err().to_string();
        assert!(problem.contains("this topology are replaced more than 8388608 times"), "{problem}");
        // a few macros, each replaced by a long text
        let long = "1 ".repeat(1 << 17);
        let problem = macros(&[("A", long.as_str())]).replace("A A A A A").unwrap_err().to_string();
        assert!(problem.contains("longer than"), "{problem}");
        let names: Vec<String> = (0..100_001).map(|level| format!("M{level}")).collect();
        let chain: Vec<(&str, &str)> = names.windows(2).map(|pair| (pair[0].as_str(), pair[1].as_str())).collect();
        let problem = macros(&chain).replace("M0").unwrap_err().to_string();
        assert!(problem.contains("macros contain each other more than 64 levels deep, from M0 on"), "{problem}");
    }
}
