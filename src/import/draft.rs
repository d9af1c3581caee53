//! A translation in progress: the settings of the foreign file, the plan that becomes of them, and what is to be said.
//!
//! Every setting of the file ends in one of four ways: it is carried over and stands as a comment beside the key that it
//! became ([`Draft::carried`]); `md` differs ([`Draft::differs`]); it has no use for it; or the file is wrong there.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use super::Files;
use super::settings::{Entry, Fate, Key, Settings, folded, real, shortened, words};
use crate::config::key::Kind;
use crate::config::keys;
use crate::error::Problem;
use crate::run::{Plan, PositionRestraint, Restraint};

/// What is said about a setting of the file that is not simply carried over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// its key
    pub key: String,
    /// its value; as in the file, or the default of the program
    pub value: String,
    /// its line; `None` where the default of the program is meant
    pub line: Option<usize>,
    /// where several files are translated, those that it is said of
    pub places: Vec<Place>,
    /// true: `md` does something else; false: the setting means nothing to it
    pub differs: bool,
    /// why, and what `md` does instead
    pub text: String,
}

/// A setting of one of several files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// the file
    pub file: PathBuf,
    /// its line; `None` where the default of the program is meant
    pub line: Option<usize>,
}

/// The translation of one file.
pub(super) struct Draft<'a> {
    settings: &'a Settings,
    /// that go with the input
    pub(super) files: &'a Files,
    /// what becomes of it
    pub(super) plan: Plan,
    /// atoms that the stage freezes
    pub(super) frozen: Option<String>,
    /// restraints of the stage
    pub(super) restraints: Vec<Restraint>,
    /// atoms that the stage holds near references
    pub(super) position_restraints: Vec<PositionRestraint>,
    /// comments on keys of the input file
    notes: BTreeMap<&'static str, Note>,
    remarks: Vec<Remark>,
    /// folded names of keys of which something has been said
    spoken: HashSet<String>,
    /// folded names of keys that have a problem
    wrong: HashSet<String>,
    problems: Vec<Problem>,
}

/// A comment on a key.
struct Note {
    text: String,
    /// the first line of the file that it quotes
    line: Option<usize>,
}

/// What a translation gives.
pub(super) struct Finished {
    pub(super) plan: Plan,
    pub(super) remarks: Vec<Remark>,
    notes: BTreeMap<&'static str, Note>,
    pub(super) path: PathBuf,
}

impl Finished {
    /// The comment on a key.
    pub(super) fn note(&self, key: &str) -> Option<String> {
        self.notes.get(key).map(|note| note.text.clone())
    }

    /// The first line that became a key.
    pub(super) fn line(&self, key: &str) -> Option<usize> {
        self.notes.get(key).and_then(|note| note.line)
    }

    /// A problem with a key, at the setting that it follows from.
    pub(super) fn problem(&self, key: &str, problem: Problem) -> Problem {
        let from = self.notes.get(key).map_or(String::new(), |note| format!(" (from {})", note.text));
        let Problem { message, help, .. } = problem;
        Problem {
            file: Some(self.path.clone()),
            line: self.line(key),
            span: None,
            message: format!("{message}{from}"),
            help,
        }
    }
}

impl<'a> Draft<'a> {
    pub(super) fn new(settings: &'a Settings, files: &'a Files, plan: Plan) -> Self {
        let (notes, remarks, spoken, wrong) = (BTreeMap::new(), vec![], HashSet::new(), HashSet::new());
        let (frozen, restraints, position_restraints, problems) = (None, vec![], vec![], settings.unknown());
        Draft {
            settings,
            files,
            plan,
            frozen,
            restraints,
            position_restraints,
            notes,
            remarks,
            spoken,
            wrong,
            problems,
        }
    }

    /// The file that is translated.
    pub(super) fn path(&self) -> &'a Path {
        &self.settings.path
    }

    /// True where the file sets the key to something.
    pub(super) fn is_given(&self, name: &str) -> bool {
        self.settings.entry(name).is_some()
    }

    /// The value as written, or the default.
    pub(super) fn text(&self, name: &str) -> &'a str {
        self.settings.value(name)
    }

    /// The value without what the program ignores in words: case, dashes and underscores.
    pub(super) fn word(&self, name: &str) -> String {
        folded(self.text(name))
    }

    /// The values between blanks or commas.
    pub(super) fn words(&self, name: &str) -> Vec<&'a str> {
        words(self.text(name)).collect()
    }

    /// Yes or no.
    pub(super) fn flag(&mut self, name: &str) -> bool {
        let word = self.word(name);
        match word.as_str() {
            "yes" | "true" | "on" => true,
            "no" | "false" | "off" => false,
            _ => {
                self.problem(name, format!("{name} is \"{}\"", self.text(name)), "expected yes or no");
                false
            }
        }
    }

    /// Numbers between blanks.
    pub(super) fn reals(&mut self, name: &str) -> Vec<f64> {
        let mut values = vec![];
        for word in self.words(name) {
            match real(word) {
                Some(value) => values.push(value),
                None => {
                    let message = format!("{name}: \"{}\" is no finite number", shortened(word));
                    self.problem(name, message, "expected a number");
                }
            }
        }
        values
    }

    /// One number.
    pub(super) fn real(&mut self, name: &str) -> f64 {
        let before = self.problems.len();
        match self.reals(name).as_slice() {
            [value] => *value,
            values => {
                if self.problems.len() == before {
                    self.problem(name, format!("{name} has {} values", values.len()), "expected one number");
                }
                0.0
            }
        }
    }

    /// One whole number.
    pub(super) fn whole(&mut self, name: &str) -> i64 {
        // beyond 2^53 neighbouring whole numbers are no longer distinct
        const MOST: f64 = 9e15;
        let value = self.real(name);
        if value.fract() != 0.0 || value.abs() > MOST {
            self.problem(name, format!("{name} = {value} is no whole number"), "expected a whole number of steps");
            return 0;
        }
        value as i64
    }

    /// A whole number that counts.
    pub(super) fn count(&mut self, name: &str) -> u64 {
        let value = self.whole(name);
        u64::try_from(value).unwrap_or_else(|_| {
            self.problem(name, format!("{name} = {value}"), "expected a number that is not negative");
            0
        })
    }

    /// Checks that a value in internal units is one that a key of the input file admits.
    pub(super) fn admitted(&mut self, key: &str, name: &str, value: f64) -> f64 {
        let range = match keys::find(key).map(|key| &key.kind) {
            Some(Kind::Quantity(_, range) | Kind::Schedule(_, range) | Kind::Number(range)) => *range,
            _ => return value,
        };
        if !range.contains(value) {
            let message = format!("{name} = {}: {key} must be {}", self.text(name), range.words);
            self.problem(name, message, "correct the file, or import another");
        }
        value
    }

    /// The settings of these names became a key of the input file.
    pub(super) fn carried(&mut self, key: &'static str, names: &[&str]) {
        self.carried_as(key, names, "");
    }

    /// The same with a few words on what became of them.
    pub(super) fn carried_as(&mut self, key: &'static str, names: &[&str], words: &str) {
        debug_assert!(keys::find(key).is_some(), "{key} is a key of the input file");
        let lines = names.iter().filter_map(|name| Some(self.settings.entry(name)?.line));
        let line = lines.min();
        let quoted: Vec<String> = names.iter().map(|name| self.settings.quoted(name)).collect();
        let parts = [quoted.join(", "), words.to_owned()];
        let text = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
        self.notes.insert(key, Note { text, line });
        self.spoken.extend(names.iter().map(|name| folded(name)));
    }

    /// `md` does something else than this setting says.
    pub(super) fn differs(&mut self, name: &str, text: impl Into<String>) {
        self.remark(name, true, text.into());
    }

    /// The setting means nothing to `md`. Nothing is said of one that is not there.
    pub(super) fn no_use(&mut self, name: &str, text: impl Into<String>) {
        if self.is_given(name) {
            self.remark(name, false, text.into());
        }
    }

    /// What stands in the file and is no setting, in its order.
    pub(super) fn others(&self) -> &'a [Entry] {
        &self.settings.others
    }

    /// What became of something that is no setting: whether `md` does something else, and why.
    pub(super) fn other(&mut self, entry: &Entry, differs: bool, text: &str) {
        let Entry { name, value, line } = entry;
        let (key, value, line, text) = (name.clone(), shortened(value).to_owned(), Some(*line), text.to_owned());
        self.remarks.push(Remark { key, value, line, places: vec![], differs, text });
    }

    fn remark(&mut self, name: &str, differs: bool, text: String) {
        let entry = self.settings.entry(name);
        let key = entry.map_or(name, |entry| &entry.name).to_owned();
        let value = shortened(self.text(name)).to_owned();
        let line = entry.map(|entry| entry.line);
        self.remarks.push(Remark { key, value, line, places: vec![], differs, text });
        self.spoken.insert(folded(name));
    }

    /// The file is wrong in a setting. What follows from it is not reported again.
    pub(super) fn problem(&mut self, name: &str, message: impl Into<String>, help: &str) {
        if !self.wrong.insert(folded(name)) {
            return;
        }
        let problem = Problem::new(message).in_file(&self.settings.path).help(help);
        self.problems.push(match self.settings.entry(name) {
            Some(entry) => problem.at_line(entry.line),
            None => problem,
        });
    }

    /// A file that goes with the input is wrong.
    pub(super) fn fault(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Says what becomes of the settings that the translation has not spoken of.
    pub(super) fn finish(mut self) -> Result<Finished, Vec<Problem>> {
        for (entry, key) in self.settings.rest(&self.spoken) {
            let (differs, text) = self.fate(key, &entry.value);
            let (key, value, line) = (entry.name.clone(), shortened(&entry.value).to_owned(), Some(entry.line));
            self.remarks.push(Remark { key, value, line, places: vec![], differs, text });
        }
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        self.remarks.sort_by_key(|remark| (!remark.differs, remark.line.unwrap_or(usize::MAX)));
        let Draft { settings, plan, notes, remarks, .. } = self;
        Ok(Finished { plan, remarks, notes, path: settings.path.clone() })
    }

    fn fate(&self, key: &Key, value: &str) -> (bool, String) {
        match key.fate {
            Fate::Carried => (false, "without effect beside the other settings of this file".to_owned()),
            Fate::NoUse(why) => (false, why.to_owned()),
            Fate::Absent { why } if !key.is_off(value) => (true, why.to_owned()),
            Fate::Absent { .. } => (false, "as in md".to_owned()),
            Fate::Part(of) if self.settings.is_off(of) => (false, format!("without effect: {of} is off")),
            Fate::Part(of) => (true, format!("belongs to {of}, which is not carried over")),
        }
    }
}
