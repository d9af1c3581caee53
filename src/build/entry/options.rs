//! Choices of the user about the contents of an entry.

/// Options of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// identifier of the assembly to build; `None` for the atoms of the file
    pub assembly: Option<String>,
    /// whether waters are kept
    pub waters: bool,
    /// whether residues that are neither water nor part of a polymer are kept
    pub hetero: bool,
    /// names of residues that are kept in any case
    pub kept: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { assembly: None, waters: true, hetero: true, kept: vec![] }
    }
}
