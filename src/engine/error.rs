//! Errors. Each kind of error requires a different response of the user, and has its own exit code.
//!
//! Functions that read or check input return [`Problem`]s. A problem has a location, a message that says what was
//! expected, and advice how to fix it. All problems of the configuration are reported together. An [`Error`] ends a
//! command, and contains problems of the input or describes another failure.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, Serializer};

/// Fault of the input, with its location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// file at fault; `None` if the fault is not in a file
    #[serde(serialize_with = "lossy_option")]
    pub file: Option<PathBuf>,
    /// 1-based line in the file
    pub line: Option<usize>,
    /// byte range in the file, for input whose text is quoted in messages (TOML)
    pub span: Option<std::ops::Range<usize>>,
    /// key of the input file whose value is at fault, for problems found after the input file was read. The command
    /// that prints the problem looks up the location of the key.
    pub key: Option<Box<KeyPath>>,
    /// the fault, and what was expected
    pub message: String,
    /// how to fix the fault
    pub help: Option<String>,
}

/// Names of the tables and lists that contain a key of the input file, and of the key, such as `stage`, `heat`,
/// `frozen`. Elements of lists other than `stage` have numbers from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyPath(pub Vec<String>);

impl Problem {
    /// Creates a problem without a location.
    pub fn new(message: impl Into<String>) -> Self {
        Self { file: None, line: None, span: None, key: None, message: message.into(), help: None }
    }

    /// Sets the file.
    pub fn in_file(mut self, path: &Path) -> Self {
        self.file = Some(path.to_owned());
        self
    }

    /// Sets the 1-based line.
    pub fn at_line(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    /// Sets the byte range in the file.
    pub fn at_span(mut self, span: std::ops::Range<usize>) -> Self {
        self.span = Some(span);
        self
    }

    /// Sets the key of the input file whose value is at fault, unless a key has been set already.
    pub fn of_key(mut self, names: &[&str]) -> Self {
        self.key.get_or_insert_with(|| Box::new(KeyPath(names.iter().map(|&name| name.to_owned()).collect())));
        self
    }

    /// Sets the advice on how to fix the fault.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Result of reading or parsing input, with a [`Problem`] as the error.
pub type Parsed<T> = std::result::Result<T, Problem>;

/// Maximum length of a message in bytes.
pub const LONGEST: usize = 2000;

/// Returns the maximum number of typing errors in `name`: one error per three letters, but at least two. With more
/// errors, `name` is not taken for a known name. The maximum allows transposed, doubled and forgotten letters, but is
/// too small to match different words.
pub fn typing_errors(name: &str) -> usize {
    (name.chars().count() / 3).max(2)
}

/// Returns the known name closest to `name`, if the names are so similar that `name` may be a typing error. Case is
/// ignored.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (letters, allowed) = (name.chars().count(), typing_errors(name));
    let name = name.to_lowercase();
    known
        .into_iter()
        // names that differ too much in length are skipped, because their edit distance is at least the difference of
        // the lengths
        .filter(|candidate| letters < 2 * candidate.chars().count())
        .map(|candidate| (strsim::damerau_levenshtein(&name, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.chars().count())
        .min()
        .map(|(_, candidate)| candidate)
}

/// Makes a text from a file safe to show in a terminal. Escape sequences replace control characters (except tabs and
/// line ends) and the Unicode marks of the writing direction. A text of more than `most` bytes is cut off, and the
/// length of the whole text is appended.
pub fn printable(text: &str, most: usize) -> String {
    let is_plain = |c: char| {
        matches!(c, '\n' | '\t') || !(c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
    };
    let mut shown = String::new();
    for (at, c) in text.char_indices() {
        if shown.len() + c.len_utf8() > most {
            shown.push_str(&format!("… ({} more bytes)", text.len() - at));
            break;
        }
        if is_plain(c) {
            shown.push(c);
        } else {
            shown.extend(c.escape_default());
        }
    }
    shown
}

/// Applies [`printable`] to each line.
pub fn printable_lines(text: &str) -> String {
    text.split('\n').map(|line| printable(line, LONGEST)).collect::<Vec<String>>().join("\n")
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}", file.display())?;
            if let Some(line) = self.line {
                write!(f, ":{line}")?;
            }
            write!(f, ": ")?;
        }
        write!(f, "{}", self.message)?;
        if let Some(help) = &self.help {
            write!(f, " ({help})")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Error::Input(vec![problem])
    }
}

/// Error that ends a command. The variant determines the exit code.
#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
pub enum Error {
    /// the input or the usage is wrong (exit 2); lists all problems found, at least one
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Input(Vec<Problem>),
    /// the simulation blew up (exit 4)
    #[error("{what}")]
    Unstable {
        /// description of the failure
        what: String,
        /// atoms (0-based) at which the failure occurred; empty if unknown
        atoms: Vec<u32>,
    },
    /// a file could not be read or written (exit 5)
    #[error("{path}: {reason}", path = .path.display())]
    Io {
        /// file that could not be read or written
        #[serde(serialize_with = "lossy")]
        path: PathBuf,
        /// message of the operating system or the library
        reason: String,
    },
    /// the accelerator failed (exit 6)
    #[error("{0}")]
    Device(String),
    /// a bug of this program (exit 1)
    #[error("{0}; this is a defect of md, please report it")]
    Internal(String),
}

impl Error {
    /// Creates an input/output error at `path`.
    pub fn io(path: &Path, reason: impl std::fmt::Display) -> Self {
        Error::Io { path: path.to_owned(), reason: reason.to_string() }
    }

    /// Creates an [`Error::Unstable`] for the given atoms (0-based), which may be empty.
    pub fn unstable(what: impl std::fmt::Display, atoms: impl Into<Vec<u32>>) -> Self {
        Error::Unstable { what: what.to_string(), atoms: atoms.into() }
    }

    /// Prefixes the message with `whom`, which names the part of the program that failed.
    pub fn of(self, whom: &str) -> Self {
        let said = |what: String| format!("{whom}: {what}");
        match self {
            Error::Input(problems) => {
                Error::Input(problems.into_iter().map(|p| Problem { message: said(p.message), ..p }).collect())
            }
            Error::Unstable { what, atoms } => Error::Unstable { what: said(what), atoms },
            Error::Io { path, reason } => Error::Io { path, reason: said(reason) },
            Error::Device(what) => Error::Device(said(what)),
            Error::Internal(what) => Error::Internal(said(what)),
        }
    }

    /// Returns the process exit code of this error.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Input(_) => 2,
            Error::Unstable { .. } => 4,
            Error::Io { .. } => 5,
            Error::Device(_) => 6,
            Error::Internal(_) => 1,
        }
    }
}

/// Result with the crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Serialises a path as the text that is displayed for it, because a path need not be valid Unicode.
fn lossy<S: Serializer>(path: &Path, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

fn lossy_option<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_shown_no_control_characters() {
        let hostile = "a\u{1b}]0;title\u{7}\r\u{9b}2J\u{202e}b\tc\nd é …";
        let shown = printable(hostile, LONGEST);
        assert_eq!(shown, "a\\u{1b}]0;title\\u{7}\\r\\u{9b}2J\\u{202e}b\tc\nd é …");
        assert_eq!(printable(&shown, LONGEST), shown);
    }

    #[test]
    fn long_texts_are_cut_and_say_so() {
        assert_eq!(printable("abcdef", 6), "abcdef");
        assert_eq!(printable("abcdef", 4), "abcd… (2 more bytes)");
        assert_eq!(printable("ééé", 3), "é… (4 more bytes)");
        let long = format!("short\n{}\nend", "x".repeat(1 << 20));
        let shown = printable_lines(&long);
        assert!(shown.len() < LONGEST + 60 && shown.starts_with("short\nxx") && shown.ends_with("\nend"), "{shown}");
    }
}
