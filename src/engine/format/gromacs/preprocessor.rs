//! The preprocessor of GROMACS topologies, which processes `#include`, `#define`, `#undef`, `#ifdef`, `#ifndef`,
//! `#else`, `#endif`, lines continued by `\`, and comments after `;`.
//!
//! An included file is searched for in the folder of the including file, then in the folders of the files that include
//! the including file, and then along the search path. An error names the file, the line, and the chain of including
//! files. An `#include` may name any file of the user, also a private file. Therefore messages do not quote text of an
//! included file before its first heading.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::directive::is_heading;
use super::macros::{Macros, is_word};
use super::{Parsed, TopologyOptions};
use crate::error::{Error, Problem};

/// Largest depth to which files may include other files.
const DEEPEST: usize = 64;
/// Largest number of included files. A file is counted each time it is included. CHARMM-GUI writes one file for each
/// lipid.
const MOST_FILES: usize = 10_000;
/// Maximum total size of all files in bytes, after the replacement of macros. A topology describes each kind of
/// molecule once, however many copies there are.
const MOST_BYTES: usize = 1 << 30;
/// Factor by which the bytes of each repeated inclusion of a file are multiplied in the total size that [`MOST_BYTES`]
/// limits. The bytes of the first inclusion have a factor of 1. Further inclusions of a file take time, but no memory.
const REPEATED: usize = 8;
/// Maximum number of bytes that the replacement of macros may add to all lines together. The limit allows about ten
/// additional bytes in each of a few million lines.
const MOST_REPLACED: usize = 1 << 26;

/// Line that is neither empty nor a command of the preprocessor.
pub(super) struct Line<'l> {
    /// text of the line without comment, with macros replaced, and without blanks at the ends
    pub(super) text: &'l str,
    /// macros that are defined at this line
    pub(super) macros: &'l Macros,
    /// whether messages may quote the line; true in the topology file itself, and in included files that have
    /// topology headings
    pub(super) quotable: bool,
    /// file that contains the line
    pub(super) path: &'l Path,
    /// 1-based number of the line
    pub(super) number: usize,
}

/// Function that receives each line of the preprocessed topology.
pub(super) type Sink<'s> = dyn FnMut(&Line<'_>) -> Parsed<()> + 's;

/// Reads a file with all files that it includes. Returns the macros that are defined at the end of the file.
pub(super) fn read(path: &Path, bytes: &[u8], options: &TopologyOptions, sink: &mut Sink<'_>) -> Parsed<Macros> {
    let macros = Macros::from_options(&options.define)?;
    let mut preprocessor = Preprocessor {
        search: &options.include,
        macros,
        open: vec![],
        files: 1,
        seen: HashSet::new(),
        bytes: 0,
        replaced: 0,
    };
    preprocessor.file(path, bytes, sink)?;
    preprocessor.macros.check_used().map_err(|problem| problem.in_file(path))?;
    Ok(preprocessor.macros)
}

struct Preprocessor<'a> {
    search: &'a [PathBuf],
    macros: Macros,
    /// files that are being read: the topology file, followed by the chain of included files, each of which is included
    /// by the previous file
    open: Vec<Open>,
    files: usize,
    /// real paths of the files that have been read
    seen: HashSet<PathBuf>,
    bytes: usize,
    /// number of bytes that the replacement of macros has added to all lines together
    replaced: usize,
}

/// A file that is being read.
struct Open {
    path: PathBuf,
    /// number of the line that is being read
    line: usize,
    /// whether messages may quote the file; true for the topology file itself, and for an included file after its
    /// first heading
    quotable: bool,
}

/// An open `#ifdef` or `#ifndef`, whose `#endif` has not been read yet.
struct Condition {
    line: usize,
    /// whether the lines around the condition are read
    outside: bool,
    /// whether the lines in the present branch of the condition are read
    active: bool,
    is_else: bool,
}

impl Preprocessor<'_> {
    fn file(&mut self, path: &Path, bytes: &[u8], sink: &mut Sink<'_>) -> Parsed<()> {
        let is_new = self.seen.insert(path.canonicalize().unwrap_or_else(|_| path.to_owned()));
        let weight = if is_new { 1 } else { REPEATED };
        // an error about the size is reported at the line that includes this file
        self.count(weight * bytes.len()).map_err(|problem| match self.open.is_empty() {
            true => problem.in_file(path),
            false => self.located(problem),
        })?;
        self.open.push(Open { path: path.to_owned(), line: 0, quotable: self.open.is_empty() });
        let text = String::from_utf8_lossy(bytes);
        let mut conditions: Vec<Condition> = vec![];
        let mut lines = text.lines().zip(1..);
        while let Some((line, number)) = lines.next() {
            self.at(number);
            let line = line.trim();
            if let Some(command) = line.strip_prefix('#') {
                self.command(command, &mut conditions, sink).map_err(|problem| self.located(problem))?;
            } else if conditions.last().is_none_or(|condition| condition.active) {
                let line = continued(line, &mut lines).map_err(|problem| self.located(problem))?;
                self.line(&line, sink).map_err(|problem| self.located(problem))?;
            }
        }
        if let Some(condition) = conditions.last() {
            self.at(condition.line);
            return Err(self.located(Problem::new("#ifdef without #endif in the same file")));
        }
        self.open.pop();
        Ok(())
    }

    fn line(&mut self, line: &str, sink: &mut Sink<'_>) -> Parsed<()> {
        let line = without_comment(line);
        if line.is_empty() {
            return Ok(());
        }
        let before = line.len();
        let line = self.macros.replace(line)?;
        self.count(line.len())?;
        self.replaced += line.len().saturating_sub(before);
        if self.replaced > MOST_REPLACED {
            let message = format!("macros have made lines longer by more than {} MiB", MOST_REPLACED >> 20);
            return Err(Problem::new(message).help("correct the #define lines with long texts"));
        }
        match without_comment(&line) {
            "" => Ok(()),
            text => {
                let Some(open) = self.open.last_mut() else { return Ok(()) };
                open.quotable |= is_heading(text);
                sink(&Line { text, macros: &self.macros, quotable: open.quotable, path: &open.path, number: open.line })
            }
        }
    }

    /// Processes a line that begins with `#`.
    fn command(&mut self, command: &str, conditions: &mut Vec<Condition>, sink: &mut Sink<'_>) -> Parsed<()> {
        let command = without_comment(command);
        let (word, rest) = command.split_once(|c: char| c.is_whitespace() || "\"<".contains(c)).map_or(
            (command, ""),
            // a quotation mark directly after the command, without a blank, belongs to the argument of the command
            |(word, _)| (word, command[word.len()..].trim()),
        );
        let active = conditions.last().is_none_or(|condition| condition.active);
        let name = rest.split_whitespace().next().unwrap_or_default();
        let alone = |word: &str| Problem::new(format!("#{word} without #ifdef or #ifndef before it in this file"));
        match word {
            "ifdef" | "ifndef" | "define" | "undef" if name.is_empty() => {
                return Err(Problem::new(format!("#{word} without the name of a macro")));
            }
            "ifdef" | "ifndef" => {
                let taken = active && self.macros.ask(name) == (word == "ifdef");
                let line = self.open.last().map_or(0, |open| open.line);
                conditions.push(Condition { line, outside: active, active: taken, is_else: false });
            }
            "else" => {
                let condition = conditions.last_mut().filter(|condition| !condition.is_else);
                let condition = condition.ok_or_else(|| alone(word))?;
                condition.is_else = true;
                condition.active = condition.outside && !condition.active;
            }
            "endif" => {
                conditions.pop().ok_or_else(|| alone(word))?;
            }
            "if" | "elif" => {
                let problem = Problem::new(format!("#{word} is unknown to the preprocessor of GROMACS topologies"));
                return Err(problem.help("write #ifdef, #ifndef, #else and #endif"));
            }
            _ if !active => {}
            "include" => return self.include(rest, sink).map_err(|problem| self.placed(problem)),
            "define" if !name.bytes().all(is_word) => {
                let problem = Problem::new(format!("{name} is not the name of a macro"));
                return Err(problem.help("a name has only letters, digits and `_`; macros have no arguments"));
            }
            "define" => self.macros.define(name, rest[name.len()..].trim()),
            "undef" => self.macros.undefine(name),
            _ => return Err(Problem::new(format!("#{word} is unknown to the preprocessor of GROMACS topologies"))),
        }
        Ok(())
    }

    fn include(&mut self, rest: &str, sink: &mut Sink<'_>) -> Parsed<()> {
        let closing = match rest.chars().next() {
            Some('"') => '"',
            Some('<') => '>',
            _ => return Err(Problem::new("expected #include \"FILE\"")),
        };
        let name = rest[1..].split_once(closing).map(|(name, _)| name).filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| Problem::new(format!("expected #include \"FILE\", closed by {closing}")))?;
        let path = self.find(name)?;
        let same = |open: &Path| {
            open == path || open.canonicalize().is_ok_and(|open| Ok(open) == path.canonicalize().map_err(drop))
        };
        if self.open.iter().any(|open| same(&open.path)) {
            let message = format!("#include {name:?}: this file includes itself");
            return Err(Problem::new(message).help("remove one of the two #include lines"));
        }
        if self.open.len() >= DEEPEST {
            return Err(Problem::new(format!("files include each other more than {DEEPEST} levels deep")));
        }
        self.files += 1;
        if self.files > MOST_FILES {
            return Err(Problem::new(format!("more than {MOST_FILES} files are included")));
        }
        // the error is reported at the line that includes the file
        let bytes = crate::format::read(&path).map_err(|error| match error {
            Error::Input(mut problems) if !problems.is_empty() => {
                let problem = problems.swap_remove(0);
                let message = format!("{}: {}", path.display(), problem.message);
                Problem { file: None, line: None, message, ..problem }
            }
            other => Problem::new(other.to_string()),
        })?;
        self.file(&path, &bytes, sink)
    }

    /// Finds the included file with this name. The folder of the including file is searched first, then the folders of
    /// the files that include the including file, and then the search path.
    fn find(&self, name: &str) -> Parsed<PathBuf> {
        let open = self.open.iter().rev().map(|open| open.path.parent().unwrap_or(Path::new("")));
        let mut folders: Vec<&Path> = vec![];
        for folder in open.chain(self.search.iter().map(PathBuf::as_path)) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        if let Some(path) = folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file()) {
            return Ok(path);
        }
        let shown =
            |folder: &&Path| if folder.as_os_str().is_empty() { ".".into() } else { folder.display().to_string() };
        let looked: Vec<String> = folders.iter().map(shown).collect();
        let help = "give the folder of the file in system.include, or in the environment variable GMXLIB";
        Err(Problem::new(format!("#include {name:?}: no such file in {}", looked.join(", "))).help(help))
    }

    /// Adds `bytes` to the number of bytes that have been read. Fails if the total number of bytes exceeds
    /// [`MOST_BYTES`].
    fn count(&mut self, bytes: usize) -> Parsed<()> {
        self.bytes += bytes;
        if self.bytes <= MOST_BYTES {
            return Ok(());
        }
        let message = format!(
            "the topology and all included files have more than {} MiB; a file that is included again counts \
             {REPEATED} times",
            MOST_BYTES >> 20
        );
        Err(Problem::new(message).help("is a file included over and over?"))
    }

    fn at(&mut self, line: usize) {
        if let Some(last) = self.open.last_mut() {
            last.line = line;
        }
    }

    /// Adds file and line to an error. If messages may not quote the file, a general text that quotes nothing replaces
    /// the text of the error.
    fn located(&self, problem: Problem) -> Problem {
        if problem.line.is_some() || self.open.last().is_none_or(|open| open.quotable) {
            return self.placed(problem);
        }
        let unquoted = Problem::new("this line of an included file cannot be read");
        self.placed(Problem {
            file: problem.file,
            help: Some(
                "the line is not shown, because the file has no topology heading before it; is this the right file?"
                    .into(),
            ),
            ..unquoted
        })
    }

    /// Adds file and line to an error, and the chain of includes that leads to this file.
    fn placed(&self, mut problem: Problem) -> Problem {
        if problem.line.is_some() {
            return problem;
        }
        let mut places = self.open.iter().rev();
        let Some(Open { path: file, line, .. }) = places.next() else { return problem };
        let chain: Vec<String> = places.map(|open| format!("{}:{}", open.path.display(), open.line)).collect();
        if !chain.is_empty() {
            problem.message = format!("{}; included from {}", problem.message, chain.join(", from "));
        }
        match problem.file {
            // if a file could not be read, the error already names this file
            Some(_) => problem,
            None => problem.in_file(file).at_line(*line),
        }
    }
}

/// Returns the part of a line before the comment.
fn without_comment(line: &str) -> &str {
    line.split_once(';').map_or(line, |(line, _)| line).trim()
}

/// Returns a line joined with its continuation lines. Fails if a preprocessor command stands between these lines.
fn continued<'t>(line: &'t str, lines: &mut impl Iterator<Item = (&'t str, usize)>) -> Parsed<Cow<'t, str>> {
    let Some(start) = line.strip_suffix('\\') else { return Ok(Cow::Borrowed(line)) };
    let mut whole = start.to_owned();
    for (next, _) in lines {
        if next.trim_start().starts_with('#') {
            let problem = Problem::new("a preprocessor command stands between the lines of a continued line");
            return Err(problem.help("write the whole line in each branch of the condition"));
        }
        whole.push(' ');
        match next.trim().strip_suffix('\\') {
            Some(part) => whole.push_str(part),
            None => {
                whole.push_str(next);
                break;
            }
        }
    }
    Ok(Cow::Owned(whole))
}
