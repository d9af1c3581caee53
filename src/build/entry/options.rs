//! Choices of the user about the contents of an entry.

/// Options of the user that select contents of the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// identifier of the biological assembly to build; `None` if no assembly is built
    pub assembly: Option<String>,
    /// whether waters are kept
    pub waters: bool,
    /// whether hetero residues are kept: residues that are neither waters nor part of a polymer
    pub hetero: bool,
    /// names of residues other than water that are kept even if `hetero` is false
    pub kept: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { assembly: None, waters: true, hetero: true, kept: vec![] }
    }
}
