//! Conversion of groups of atoms to selections. The groups come from an index file; without an index file, the default
//! groups of GROMACS are used.
//!
//! An index file has headings `[ name ]`, each followed by the numbers of the atoms of the group, from 1. Case is
//! ignored in the names of groups.

use std::path::Path;

use super::{Draft, shortened};
use crate::error::Problem;
use crate::format::file;
use crate::import::atoms::{MOST_RANGES, indices};

/// GROMACS' default groups and equivalent selections (`src/gromacs/topology/index.cpp`: the backbone consists of N,
/// CA and C; the main chain includes the oxygens of the carboxyl groups).
const DEFAULTS: [(&str, &str); 12] = [
    ("system", "all"),
    ("protein", "protein"),
    ("c-alpha", "protein and name CA"),
    ("backbone", "protein and name N CA C"),
    ("mainchain", "protein and name N CA C O O1 O2 OC1 OC2 OT OXT"),
    ("water", "water"),
    ("sol", "water"),
    ("non-water", "not water"),
    ("ion", "ion"),
    ("water_and_ions", "water or ion"),
    ("non-protein", "not protein"),
    ("protein-h", "protein and heavy"),
];

/// Largest index file in bytes, enough for all atoms of the largest systems in several groups.
const LARGEST_FILE: u64 = 1 << 30;

/// Groups to which an mdp file can refer by name.
pub(super) enum Groups {
    Default,
    OfFile(Vec<Group>),
}

/// Group of an index file.
pub(super) struct Group {
    name: String,
    /// atoms, counted from 1
    atoms: Vec<u32>,
}

impl Groups {
    /// Reads the groups of the index file that belongs to the input.
    pub(super) fn of(draft: &mut Draft<'_>) -> Self {
        let Some(path) = &draft.files.index else { return Groups::Default };
        match read(path) {
            Ok(groups) => Groups::OfFile(groups),
            Err(problem) => {
                draft.fault(problem.in_file(path));
                Groups::Default
            }
        }
    }

    /// Returns a selection of the atoms of a group; `None` if the group does not exist, is empty, or has too many
    /// ranges of consecutive atoms.
    pub(super) fn selection(&self, name: &str) -> Option<String> {
        match self {
            Groups::Default => {
                let known = DEFAULTS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
                known.map(|(_, words)| (*words).to_owned())
            }
            Groups::OfFile(groups) => {
                let mut named = groups.iter().filter(|group| group.name.eq_ignore_ascii_case(name));
                // two groups of the same name count as unknown, because GROMACS refuses an ambiguous name
                named.next().filter(|_| named.next().is_none()).and_then(|group| indices(&group.atoms))
            }
        }
    }

    /// Returns why an index file does not define the group; `None` if the file defines it, and without an index file.
    pub(super) fn missing(&self, name: &str) -> Option<String> {
        let Groups::OfFile(groups) = self else { return None };
        match groups.iter().filter(|group| group.name.eq_ignore_ascii_case(name)).count() {
            0 => Some(format!("the index file has no group {name}")),
            1 => None,
            _ => Some(format!("the index file has several groups {name}")),
        }
    }

    /// Returns why one of the groups with these names has no selection, for a remark.
    pub(super) fn reason(&self, names: &[&str]) -> String {
        if matches!(self, Groups::Default) {
            return "give the index file with --index".to_owned();
        }
        let of_group = |name: &&str| match self.missing(name) {
            None if self.selection(name).is_none() => {
                Some(format!("the group {name} is empty or has more than {MOST_RANGES} ranges of consecutive atoms"))
            }
            missing => missing,
        };
        names.iter().find_map(of_group).unwrap_or_default()
    }

    /// Returns the selections of the groups with these names; `None` if one of the groups has no selection.
    pub(super) fn selections(&self, names: &[&str]) -> Option<Vec<String>> {
        names.iter().map(|name| self.selection(name)).collect()
    }
}

fn read(path: &Path) -> Result<Vec<Group>, Problem> {
    let bytes = file::read(path, LARGEST_FILE).map_err(|error| {
        Problem::new(format!("cannot read the file: {error}")).help("expected a GROMACS index file")
    })?;
    let mut groups: Vec<Group> = vec![];
    for (index, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
        let line = line.trim();
        let problem = |message: String| {
            let help = "expected headings [ NAME ], each followed by atom numbers, which count from 1";
            Problem::new(message).at_line(index + 1).help(help)
        };
        if let Some(heading) = line.strip_prefix('[') {
            let name =
                heading.strip_suffix(']').ok_or_else(|| problem("a heading lacks its closing bracket".to_owned()))?;
            groups.push(Group { name: name.trim().to_owned(), atoms: vec![] });
            continue;
        }
        for word in line.split_whitespace() {
            let number = word.parse().ok().filter(|&number: &u32| number > 0);
            let number = number.ok_or_else(|| problem(format!("\"{}\" is not an atom number", shortened(word))))?;
            let group =
                groups.last_mut().ok_or_else(|| problem("there are atoms before the first heading".to_owned()))?;
            group.atoms.push(number);
        }
    }
    Ok(groups)
}
