//! Choices of the user about the contents of an entry.

/// Options of the user that select contents of the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// identifier of the biological assembly to build; `None` for the atoms as in the file
    pub assembly: Option<String>,
    /// whether waters are kept
    pub waters: bool,
    /// whether residues that are neither water nor part of a polymer are kept
    pub hetero: bool,
    /// names of residues other than water that are kept even if `hetero` is false
    pub kept: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { assembly: None, waters: true, hetero: true, kept: vec![] }
    }
}
