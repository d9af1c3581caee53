//! Settings of a foreign file, and table of the keys that the foreign program knows.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use crate::error::Problem;
use crate::error::nearest;

/// Keys of the foreign program with the same default and treatment.
#[derive(Debug)]
pub(super) struct Key {
    /// names as in the manual of the program, separated by blanks; a final `*` of a name matches any ending
    names: &'static str,
    /// default value of each key in the foreign program
    pub(super) default: &'static str,
    /// how the translation treats the keys
    pub(super) fate: Fate,
}

/// How the translation treats a foreign key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    /// the translation reads the key and sets the equivalent keys of `md`
    Carried,
    /// the key has no meaning for `md`, whatever its value; the field is the reason
    NoUse(&'static str),
    /// `md` lacks the feature of the key. A value that is the default or disables the feature causes no remark. The
    /// field is the reason, and says what `md` does instead
    Absent(&'static str),
    /// the key is a detail of a feature that `md` lacks; the field is the name of the key that enables the feature
    Part(&'static str),
}

/// Creates keys that the translation reads.
pub(super) const fn carried(names: &'static str, default: &'static str) -> Key {
    Key { names, default, fate: Fate::Carried }
}

/// Creates keys without meaning for `md`.
pub(super) const fn no_use(names: &'static str, why: &'static str) -> Key {
    Key { names, default: "", fate: Fate::NoUse(why) }
}

/// Creates the keys of features that `md` lacks. The value `default` disables each feature.
pub(super) const fn absent(names: &'static str, default: &'static str, why: &'static str) -> Key {
    Key { names, default, fate: Fate::Absent(why) }
}

/// Creates keys that are details of an absent feature; `of` is the key of this feature.
pub(super) const fn part(names: &'static str, of: &'static str) -> Key {
    Key { names, default: "", fate: Fate::Part(of) }
}

/// Normalised values that disable a feature; the last value is the empty value.
const OFF: [&str; 6] = ["no", "none", "false", "off", "inactive", ""];

impl Key {
    fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.names.split_whitespace()
    }

    fn fits(&self, folded_name: &str) -> bool {
        self.names().any(|name| match name.strip_suffix('*') {
            Some(start) => folded_name.starts_with(&folded(start)),
            None => folded_name == folded(name),
        })
    }

    /// Whether the value is the default of the key, or disables the feature.
    pub(super) fn is_off(&self, value: &str) -> bool {
        let same = |word: &str, other: &str| {
            folded(word) == folded(other) || (real(word).is_some() && real(word) == real(other))
        };
        let is_off =
            |word: &str| OFF.contains(&folded(word).as_str()) || words(self.default).any(|off| same(word, off));
        words(value).all(is_off)
    }
}

/// Entry of a foreign file: a key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// name of the key as written
    pub(super) name: String,
    /// value as written, without surrounding blanks
    pub(super) value: String,
    /// line number, from 1
    pub(super) line: usize,
}

/// Table of keys in sections. The first key that matches a name is used.
pub(super) type Keys = &'static [&'static [Key]];

/// All settings of a file.
pub(super) struct Settings {
    pub(super) path: PathBuf,
    keys: Keys,
    entries: Vec<Entry>,
    /// parts of an mdin file outside the translated namelists: other namelists, and cards
    pub(super) others: Vec<Entry>,
}

impl Settings {
    /// Creates the settings from the entries of a file. Returns a [`Problem`] if a key occurs twice. A setting without
    /// a value has the default of the foreign program.
    pub(super) fn new(path: PathBuf, keys: Keys, entries: Vec<Entry>) -> Result<Self, Problem> {
        let mut names = HashMap::new();
        for Entry { name, line, .. } in &entries {
            if let Some(first) = names.insert(folded(name), line) {
                let problem = Problem::new(format!("{name} is set twice; the first setting is in line {first}"));
                return Err(problem.in_file(&path).at_line(*line).help("keep one of them"));
            }
        }
        Ok(Settings { path, keys, entries, others: vec![] })
    }

    /// Returns the key of the table that matches a name.
    fn key(&self, name: &str) -> Option<&'static Key> {
        let name = folded(name);
        self.keys.iter().flat_map(|keys| keys.iter()).find(|key| key.fits(&name))
    }

    /// Returns the entry of a setting; `None` if the file sets no value of the setting.
    pub(super) fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| alike(&entry.name, name) && !entry.value.is_empty())
    }

    /// Returns the value of a setting, or the default of the foreign program.
    pub(super) fn value(&self, name: &str) -> &str {
        let default = || self.key(name).expect("a translation reads only keys of the table").default;
        self.entry(name).map_or_else(default, |entry| &entry.value)
    }

    /// Quotes a setting as `rvdw = 1.2`, or as `rvdw = 1 (default)`.
    pub(super) fn quoted(&self, name: &str) -> String {
        let value = shortened(self.value(name));
        match self.entry(name) {
            Some(entry) => format!("{} = {value}", entry.name),
            None if value.is_empty() => format!("no {name}"),
            None => format!("{name} = {value} (default)"),
        }
    }

    /// Whether the value of the key is the default of the key, or disables the feature of the key.
    pub(super) fn is_off(&self, name: &str) -> bool {
        self.key(name).is_none_or(|key| key.is_off(self.value(name)))
    }

    /// Returns the settings whose names are not in `spoken`, each with its key in the table. `spoken` holds the
    /// normalised names of the settings that the translation has treated.
    pub(super) fn rest(&self, spoken: &HashSet<String>) -> Vec<(&Entry, &'static Key)> {
        let rest = self.entries.iter().filter(|entry| !spoken.contains(&folded(&entry.name)));
        rest.filter_map(|entry| Some((entry, self.key(&entry.name)?))).collect()
    }

    /// Returns a problem for every key that the foreign program does not know.
    pub(super) fn unknown(&self) -> Vec<Problem> {
        let unknown = self.entries.iter().filter(|entry| self.key(&entry.name).is_none());
        let problem = |entry: &Entry| {
            let known = self.keys.iter().flat_map(|keys| keys.iter()).flat_map(Key::names);
            let near = nearest(&entry.name, known).map(|near| format!("did you mean \"{near}\"?"));
            let problem = Problem::new(format!("unknown key \"{}\"", shortened(&entry.name)));
            let help =
                near.unwrap_or_else(|| "neither md nor the manual of the program has a key with this name".to_owned());
            problem.in_file(&self.path).at_line(entry.line).help(help)
        };
        unknown.map(problem).collect()
    }
}

/// Normalises a word: removes the differences that GROMACS and AMBER ignore, which are case, dashes and underscores.
pub(super) fn folded(word: &str) -> String {
    letters(word).collect()
}

fn letters(word: &str) -> impl Iterator<Item = char> {
    word.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase())
}

fn alike(word: &str, other: &str) -> bool {
    letters(word).eq(letters(other))
}

/// Returns the words of a value, which are separated by blanks or commas.
pub(super) fn words(value: &str) -> impl Iterator<Item = &str> {
    value.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty())
}

/// Parses a finite number. The exponent may begin with `d`, as in Fortran.
pub(super) fn real(word: &str) -> Option<f64> {
    let plain = word.replace(['d', 'D'], "e");
    // the words "inf" and "nan", which Rust parses, are refused
    plain.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// Returns at most the first 60 characters of a text, so that the text fits into a message.
pub(super) fn shortened(text: &str) -> &str {
    const MOST: usize = 60;
    text.char_indices().nth(MOST).map_or(text, |(end, _)| &text[..end])
}
