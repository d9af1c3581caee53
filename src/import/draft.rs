//! State of a translation: the settings of the foreign file, the plan that follows from them, and the remarks for the
//! user.
//!
//! Every setting of the foreign file is treated in one of four ways. A setting may be carried over, and is then quoted
//! as a comment beside the resulting key of the input file ([`Draft::carried`]). `md` may do something different from
//! the setting ([`Draft::differs`]). A setting may have no meaning for `md` ([`Draft::no_use`]). A setting may also be
//! an error of the foreign file ([`Draft::problem`]).

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use super::Files;
use super::settings::{Entry, Fate, Key, Settings, folded, real, shortened, words};
use crate::config::key::Kind;
use crate::config::keys;
use crate::error::Problem;
use crate::run::{ElectrostaticsSpec, Plan, PositionRestraint, Restraint, Setting};
use crate::system::DispersionCorrection;

/// Remark on a setting of the foreign file that is not simply carried over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// name of the setting in the foreign file
    pub key: String,
    /// value of the setting as written in the file; the default of the foreign program if the file does not set it
    pub value: String,
    /// line of the setting; `None` if the remark is on the default of a setting that the file does not contain
    pub line: Option<usize>,
    /// files and lines with this setting, if several files are translated
    pub places: Vec<Place>,
    /// true if `md` does something different; false if the setting has no meaning for `md`
    pub differs: bool,
    /// reason for the remark, and what `md` does instead
    pub text: String,
}

impl Remark {
    fn on(entry: &Entry, differs: bool, text: String) -> Self {
        let (key, value, line) = (entry.name.clone(), shortened(&entry.value).to_owned(), Some(entry.line));
        Remark { key, value, line, places: vec![], differs, text }
    }
}

/// Position of a setting in one of several files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// path of the file
    pub file: PathBuf,
    /// line in the file; `None` for the default of a setting that the file does not contain
    pub line: Option<usize>,
}

/// Translation of one foreign file, while it is in progress.
pub(super) struct Draft<'a> {
    settings: &'a Settings,
    /// further files that belong to the foreign input, such as the topology
    pub(super) files: &'a Files,
    /// plan that follows from the settings
    pub(super) plan: Plan,
    /// whether the foreign program draws a random seed, so that the seed of the plan is not used
    pub(super) random_seed: bool,
    /// selection of the atoms that the stage freezes
    pub(super) frozen: Option<String>,
    /// collective restraints of the stage
    pub(super) restraints: Vec<Restraint>,
    /// position restraints of the stage
    pub(super) position_restraints: Vec<PositionRestraint>,
    /// comments on keys of the input file of `md`
    notes: BTreeMap<&'static str, Note>,
    remarks: Vec<Remark>,
    /// normalised names of foreign keys that have been treated
    spoken: HashSet<String>,
    /// normalised names of foreign keys that have a problem
    wrong: HashSet<String>,
    problems: Vec<Problem>,
}

/// Comment on a key of the input file of `md`.
struct Note {
    text: String,
    /// number of the first line of the foreign file that the comment quotes
    line: Option<usize>,
}

/// Result of the translation of one foreign file.
pub(super) struct Finished {
    pub(super) plan: Plan,
    /// whether the foreign program draws a random seed
    pub(super) random_seed: bool,
    pub(super) remarks: Vec<Remark>,
    notes: BTreeMap<&'static str, Note>,
    pub(super) path: PathBuf,
}

impl Finished {
    /// Returns the comment on a key of the input file of `md`.
    pub(super) fn note(&self, key: &str) -> Option<String> {
        self.notes.get(key).map(|note| note.text.clone())
    }

    /// Returns the number of the first line of the foreign file that determines a key of the input file.
    pub(super) fn line(&self, key: &str) -> Option<usize> {
        self.notes.get(key).and_then(|note| note.line)
    }

    /// Rewrites a problem with a key of the input file so that the problem names the setting of the foreign file from
    /// which the key follows.
    pub(super) fn problem(&self, key: &str, problem: Problem) -> Problem {
        let from = self.notes.get(key).map_or(String::new(), |note| format!(" (from {})", note.text));
        let message = format!("{}{from}", problem.message);
        Problem { file: Some(self.path.clone()), line: self.line(key), span: None, message, ..problem }
    }
}

impl<'a> Draft<'a> {
    pub(super) fn new(settings: &'a Settings, files: &'a Files, plan: Plan) -> Self {
        Draft {
            settings,
            files,
            plan,
            random_seed: false,
            frozen: None,
            restraints: vec![],
            position_restraints: vec![],
            notes: BTreeMap::new(),
            remarks: vec![],
            spoken: HashSet::new(),
            wrong: HashSet::new(),
            problems: settings.unknown(),
        }
    }

    /// Sets the plan to compute all pairs of atoms without a cutoff.
    pub(super) fn all_pairs(&mut self) {
        let forces = &mut self.plan.forces;
        (forces.cutoff, forces.cutoff_lj) = (Setting::Given(None), Setting::Given(None));
        forces.electrostatics = ElectrostaticsSpec::Plain;
        forces.dispersion_correction = Setting::Given(DispersionCorrection::Off);
    }

    /// Returns the path of the foreign file.
    pub(super) fn path(&self) -> &'a Path {
        &self.settings.path
    }

    /// Whether the foreign file sets the key.
    pub(super) fn is_given(&self, name: &str) -> bool {
        self.settings.entry(name).is_some()
    }

    /// Returns the value of a key as written in the foreign file, or the default of the foreign program.
    pub(super) fn text(&self, name: &str) -> &'a str {
        self.settings.value(name)
    }

    /// Returns the value of a key as a normalised word, without the differences that the foreign program ignores: case,
    /// dashes and underscores.
    pub(super) fn word(&self, name: &str) -> String {
        folded(self.text(name))
    }

    /// Returns the words of the value of a key, which are separated by blanks or commas.
    pub(super) fn words(&self, name: &str) -> Vec<&'a str> {
        words(self.text(name)).collect()
    }

    /// Returns the value of a boolean key. A value that is not a boolean is recorded as a problem.
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

    /// Returns the numbers that are the value of a key, separated by blanks. A value that is not a list of numbers is
    /// recorded as a problem.
    pub(super) fn reals(&mut self, name: &str) -> Vec<f64> {
        let mut values = vec![];
        for word in self.words(name) {
            match real(word) {
                Some(value) => values.push(value),
                None => {
                    let message = format!("{name}: \"{}\" is not a finite number", shortened(word));
                    self.problem(name, message, "expected a number");
                }
            }
        }
        values
    }

    /// Returns the number that is the value of a key. A value that is not a number is recorded as a problem.
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

    /// Returns the integer that is the value of a key. A value that is not an integer is recorded as a problem.
    pub(super) fn whole(&mut self, name: &str) -> i64 {
        // above 2^53, consecutive integers are no longer distinct in f64
        const MOST: f64 = 9e15;
        let value = self.real(name);
        if value.fract() != 0.0 || value.abs() > MOST {
            self.problem(name, format!("{name} = {value} is not a whole number"), "expected a whole number of steps");
            return 0;
        }
        value as i64
    }

    /// Returns the non-negative integer that is the value of a key. A negative or fractional value is recorded as a
    /// problem.
    pub(super) fn count(&mut self, name: &str) -> u64 {
        let value = self.whole(name);
        u64::try_from(value).unwrap_or_else(|_| {
            self.problem(name, format!("{name} = {value} is negative"), "expected zero or a positive number");
            0
        })
    }

    /// Checks that a value, in internal units, of the foreign setting `name` is allowed for the key `key` of the input
    /// file. Records a problem if the value is not allowed.
    pub(super) fn admitted(&mut self, key: &str, name: &str, value: f64) -> f64 {
        let range = match keys::find(key).map(|key| &key.kind) {
            Some(Kind::Quantity(_, range) | Kind::Schedule(_, range) | Kind::Number(range)) => *range,
            _ => return value,
        };
        if !range.contains(value) {
            let message = format!("{name} = {} is not allowed: {key} must be {}", self.text(name), range.words);
            self.problem(name, message, "correct the file, or import another file");
        }
        value
    }

    /// Returns the numeric value of the foreign setting `name`. This number becomes the value of the key `key` of the
    /// input file, without a conversion of units. Records a problem if the value is not allowed for this key.
    pub(super) fn quantity(&mut self, key: &'static str, name: &str) -> f64 {
        let value = self.real(name);
        self.admitted(key, name, value);
        self.carried(key, &[name]);
        value
    }

    /// Records that the foreign settings `names` became the key `key` of the input file.
    pub(super) fn carried(&mut self, key: &'static str, names: &[&str]) {
        self.carried_as(key, names, "");
    }

    /// Records the same as [`Self::carried`], with a few words on the conversion.
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

    /// Records that `md` does something different from the setting `name`.
    pub(super) fn differs(&mut self, name: &str, text: impl Into<String>) {
        self.remark(name, true, text.into());
    }

    /// Records that the setting `name` has no meaning for `md`. Does nothing if the file does not contain the setting.
    pub(super) fn no_use(&mut self, name: &str, text: impl Into<String>) {
        if self.is_given(name) {
            self.remark(name, false, text.into());
        }
    }

    /// Returns the entries whose names are not in the table of keys, in the order of the file.
    pub(super) fn others(&self) -> &'a [Entry] {
        &self.settings.others
    }

    /// Records the treatment of an entry that is not in the table of keys. `differs` is true if `md` does something
    /// different, and `text` is the reason.
    pub(super) fn other(&mut self, entry: &Entry, differs: bool, text: &str) {
        self.remarks.push(Remark::on(entry, differs, text.to_owned()));
    }

    fn remark(&mut self, name: &str, differs: bool, text: String) {
        let entry = self.settings.entry(name);
        let key = entry.map_or(name, |entry| &entry.name).to_owned();
        let value = shortened(self.text(name)).to_owned();
        let line = entry.map(|entry| entry.line);
        self.remarks.push(Remark { key, value, line, places: vec![], differs, text });
        self.spoken.insert(folded(name));
    }

    /// Records an error of the foreign file in the setting `name`. Later errors in the same setting are not reported.
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

    /// Records that `md` does not support the value `value` of the setting `name`.
    pub(super) fn unsupported(&mut self, name: &str, value: &str, help: &str) {
        self.problem(name, format!("{name} = {} is not supported", shortened(value)), help);
    }

    /// Records an error in a file that belongs to the input.
    pub(super) fn fault(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Finishes the translation, with remarks on the settings that have not been treated.
    pub(super) fn finish(mut self) -> Result<Finished, Vec<Problem>> {
        for (entry, key) in self.settings.rest(&self.spoken) {
            let (differs, text) = self.fate(key, &entry.value);
            self.remarks.push(Remark::on(entry, differs, text));
        }
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        self.remarks.sort_by_key(|remark| (!remark.differs, remark.line.unwrap_or(usize::MAX)));
        let Draft { settings, plan, random_seed, notes, remarks, .. } = self;
        Ok(Finished { plan, random_seed, remarks, notes, path: settings.path.clone() })
    }

    fn fate(&self, key: &Key, value: &str) -> (bool, String) {
        match key.fate {
            Fate::Carried => (false, "the setting has no effect with the other settings of this file".to_owned()),
            Fate::NoUse(why) => (false, why.to_owned()),
            Fate::Absent(why) if !key.is_off(value) => (true, why.to_owned()),
            Fate::Absent(_) => (false, "md does the same".to_owned()),
            Fate::Part(of) if self.settings.is_off(of) => {
                (false, format!("the setting has no effect, because {of} is off"))
            }
            Fate::Part(of) => (true, format!("the setting belongs to {of}, which is not translated")),
        }
    }
}
