//! Locations of keys in the input file, for problems that are found after the file was read.

use std::path::{Path, PathBuf};

use super::place::Place;
use super::raw::{Node, Raw, stage_name};
use crate::error::{Error, KeyPath, Problem};

/// Byte offsets of the line ends of a text.
#[derive(Clone, Debug)]
pub(super) struct Newlines(Vec<usize>);

impl Newlines {
    /// Returns the line ends of `text`.
    pub(super) fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// Adds the file `path` and the line to a problem that has a position in the input file. A problem without a
    /// position, for example in an option of the command line, is returned unchanged.
    pub(super) fn located(&self, problem: Problem, path: &Path) -> Problem {
        match &problem.span {
            Some(span) => {
                let line = 1 + self.0.partition_point(|&at| at < span.start);
                problem.in_file(path).at_line(line)
            }
            None => problem,
        }
    }
}

/// Keys of an input file and of the command line, with their locations. Presets and repeated stages are expanded.
#[derive(Clone, Debug)]
pub struct Source {
    path: PathBuf,
    newlines: Newlines,
    root: Raw,
}

impl Source {
    pub(super) fn new(path: &Path, text: &str, root: Raw) -> Self {
        Self { path: path.to_owned(), newlines: Newlines::of(text), root }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds the locations in the input file, or the options of the command line, to the problems of an error that name
    /// a key. Problems that have a location already, and other errors, are returned unchanged.
    pub fn locate(&self, error: Error) -> Error {
        match error {
            Error::Input(problems) => Error::Input(problems.into_iter().map(|problem| self.located(problem)).collect()),
            other => other,
        }
    }

    fn located(&self, problem: Problem) -> Problem {
        match problem.key.as_ref().and_then(|key| self.place(key)) {
            Some(place) if problem.file.is_none() => self.newlines.located(place.problem(problem), &self.path),
            _ => problem,
        }
    }

    /// Returns the place of a key. If the key has the default value, returns the place of the innermost table or list
    /// that contains the key and is given; `None` if this is the whole file.
    fn place(&self, KeyPath(key): &KeyPath) -> Option<&Place> {
        let (mut inner, mut list) = (&self.root, "");
        let mut place = None;
        for name in key {
            let found = match &inner.node {
                Node::Table(members) => members.iter().find(|member| member.name == *name).map(|member| &member.value),
                Node::Array(stages) if list == "stage" => stages.iter().find(|stage| stage_name(stage) == *name),
                Node::Array(items) => name.parse().ok().and_then(|number: usize| items.get(number.checked_sub(1)?)),
                _ => None,
            };
            match found {
                Some(raw) => {
                    (inner, place) = (raw, Some(&raw.place));
                    list = name;
                }
                // a list with a single element may be given without brackets
                None if name == "1" => (),
                None => break,
            }
        }
        place.filter(|place| **place != Place::Default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Override};

    const TEXT: &str = r#"[system]
topology = "t"
coordinates = "c"
[forces]
cutoff = "1 nm"
[[stage]]
name = "heat"
kind = "dynamics"
steps = 1
timestep = "1 fs"
frozen = "protein"
position_restraints = { select = "water" }
"#;

    fn shown(key: &[&str], overrides: &[Override]) -> String {
        let config = Config::parse(TEXT, Path::new("input.toml"), overrides).expect("a valid file");
        config.source.locate(Problem::new("fault").of_key(key).into()).to_string()
    }

    #[test]
    fn keys_have_lines_and_options() {
        assert_eq!(shown(&["forces", "cutoff"], &[]), "input.toml:5: fault");
        assert_eq!(shown(&["stage", "heat", "frozen"], &[]), "input.toml:11: fault");
        assert_eq!(shown(&["stage", "heat", "position_restraints", "1", "select"], &[]), "input.toml:12: fault");
        // a key with the default value has no line of its own
        assert_eq!(shown(&["forces", "hydrogen_mass"], &[]), "input.toml:4: fault");
        assert_eq!(shown(&["run", "device"], &[]), "fault");
        assert_eq!(shown(&[], &[]), "fault");
        let option = Override::set("forces.cutoff='1.1 nm'").unwrap();
        assert_eq!(shown(&["forces", "cutoff"], &[option]), "--set forces.cutoff='1.1 nm': fault");
    }

    #[test]
    fn a_location_is_not_replaced() {
        let config = Config::parse(TEXT, Path::new("input.toml"), &[]).expect("a valid file");
        let problem = Problem::new("fault").in_file(Path::new("c.gro")).of_key(&["forces", "cutoff"]);
        assert_eq!(config.source.locate(problem.into()).to_string(), "c.gro: fault");
    }
}
