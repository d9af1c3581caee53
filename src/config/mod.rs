//! Reader of the input file: from TOML text to a checked [`Plan`]. All problems are reported at once.
//!
//! The text is parsed to raw values with their positions (`raw`). Presets are expanded to stages (`stages`).
//! Command-line options and the settings of a replica (`replicas`) override raw values. Values are checked against the
//! table of keys ([`keys`], `resolve`) and assembled into a plan (`build`). [`crate::run::load`] reads the files that a
//! plan names. Problems that are found after the input file was read get their positions from [`Source`]. Start reading
//! the code at [`Config::parse`].

mod build;
mod check;
mod diff;
mod dynamics;
mod effective;
mod exchange;
mod help;
pub mod key;
pub mod keys;
mod multiple_time_steps;
mod place;
mod raw;
mod replicas;
mod resolve;
mod restraints;
mod seed;
mod source;
mod stage_output;
mod stages;
mod state_lists;
mod template;
mod value;
mod words;
mod write;

use std::path::{Path, PathBuf};

pub use diff::physics_diff;
pub use effective::{GivenSetting, given};
pub use help::{KeyEntry, describe, key_entries, overview};
pub use place::Place;
pub use raw::Override;
pub use replicas::{Ensemble, Replica};
pub use source::Source;
pub use template::template;
pub use value::{Entry, Table, Value};
pub use write::{Line, spell_restraint, write};

use self::source::Newlines;
use crate::error::{Error, Problem, Result};
use crate::format::file;
use crate::run::Plan;

/// Input file after all checks that need no other file.
#[derive(Clone, Debug)]
pub struct Config {
    /// computations and outputs of the run
    pub plan: Plan,
    /// the whole configuration with every default, as TOML from which the same plan can be read
    pub effective: String,
    /// replicas of `[ensemble]`; `plan` has the settings that all replicas share
    pub ensemble: Option<Ensemble>,
    /// whether the run writes an HTML report at its end (`output.report`)
    pub report: bool,
    /// random seed of `plan`, which is drawn anew each time the file is read; `None` if the file does not request a
    /// random seed
    pub drawn_seed: Option<u64>,
    /// files that the input file names
    files: Vec<PathBuf>,
    /// locations of the keys in the input file
    pub source: Source,
}

/// Conditions under which an input file is read.
#[derive(Clone, Copy)]
struct Reading {
    /// whether the files that the input file names must exist
    files: bool,
    /// whether the file is read for a single replica; the resulting configuration then has no ensemble
    replica: bool,
}

/// Largest input file in bytes. Usual input files are a page of text, so a larger file is probably a mistake.
const LARGEST_FILE: u64 = 1 << 20;

impl Config {
    /// Reads an input file and applies `overrides`. The files that the input file names must exist.
    pub fn read(path: &Path, overrides: &[Override]) -> Result<Self> {
        let text = read_text(path)?;
        Self::parse_with(&text, path, overrides, Reading { files: true, replica: false }).map_err(Error::Input)
    }

    /// Reads the input file of an ensemble for a single replica. `overrides` contains the settings of this replica.
    pub fn read_replica(path: &Path, overrides: &[Override]) -> Result<Self> {
        let text = read_text(path)?;
        Self::parse_with(&text, path, overrides, Reading { files: true, replica: true }).map_err(Error::Input)
    }

    /// Parses an input file from text, as if the text were in the file `path`. The files that the text names need not
    /// exist.
    pub fn parse(text: &str, path: &Path, overrides: &[Override]) -> std::result::Result<Self, Vec<Problem>> {
        Self::parse_with(text, path, overrides, Reading { files: false, replica: false })
    }

    fn parse_with(
        text: &str,
        path: &Path,
        overrides: &[Override],
        reading: Reading,
    ) -> std::result::Result<Self, Vec<Problem>> {
        let mut problems = vec![];
        let newlines = Newlines::of(text);
        let config = Self::checked(text, path, overrides, reading, &mut problems);
        match config {
            Some(config) if problems.is_empty() => Ok(config),
            _ => {
                // problems are sorted by their position in the file; problems of command-line options come last
                problems.sort_by_key(|problem| problem.span.as_ref().map_or(usize::MAX, |span| span.start));
                // each repetition of a stage has the same problems
                problems.dedup();
                Err(problems.into_iter().map(|problem| newlines.located(problem, path)).collect())
            }
        }
    }

    fn checked(
        text: &str,
        path: &Path,
        overrides: &[Override],
        reading: Reading,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let mut root = raw::parse(text).map_err(|problem| problems.push(problem)).ok()?;
        // presets and repetitions are set before they are expanded, all other keys in the expanded stages
        let (before, after): (Vec<&Override>, Vec<&Override>) =
            overrides.iter().partition(|option| stages::is_expanded(&option.key));
        before.into_iter().for_each(|option| problems.extend(option.apply(&mut root).err()));
        stages::expand(&mut root).map_err(|problem| problems.push(problem)).ok()?;
        after.into_iter().for_each(|option| problems.extend(option.apply(&mut root).err()));
        let drawn_seed = seed::draw(&mut root).unwrap_or_else(|problem| {
            problems.push(problem);
            None
        });
        if reading.replica {
            replicas::remove(&mut root);
        }
        let base = path.parent().unwrap_or(Path::new(""));
        let mut resolver = resolve::Resolver { base, problems: std::mem::take(problems) };
        let table = resolver.root(&root);
        *problems = resolver.problems;
        let named = check::named_files(&table);
        if reading.files {
            problems.extend(check::missing_files(&named));
        }
        let files = named.iter().map(|file| file.path.into()).collect();
        let plan = build::plan(&table, problems)?;
        let ensemble = replicas::ensemble(&table, &plan, problems);
        let report = table.table("output")?.boolean("report")?;
        let source = Source::new(path, text, root);
        Some(Self { plan, effective: effective::write(&table), ensemble, report, drawn_seed, files, source })
    }

    /// Returns the path of the input file and of every file that the input file names.
    pub fn inputs(&self) -> impl Iterator<Item = &Path> {
        [self.source.path()].into_iter().chain(self.files.iter().map(PathBuf::as_path))
    }
}

/// Returns the text of an input file.
pub fn read_text(path: &Path) -> Result<String> {
    let bytes = file::read(path, LARGEST_FILE).map_err(|error| not_read(path, &error))?;
    String::from_utf8(bytes).map_err(|error| {
        let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
        Problem::new("the file is not valid UTF-8 text").in_file(path).at_line(line).into()
    })
}

fn not_read(path: &Path, error: &std::io::Error) -> Error {
    let help = match check::neighbour(path).filter(|_| error.kind() == std::io::ErrorKind::NotFound) {
        Some(name) => format!("did you mean \"{name}\"?"),
        None => "expected a TOML text of at most 1 MiB; `md new input.toml` writes a starter file".to_owned(),
    };
    Problem::new(format!("cannot read the input file: {error}")).in_file(path).help(help).into()
}
