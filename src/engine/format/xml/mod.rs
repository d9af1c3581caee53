//! XML files: the text is checked and parsed, and attributes are read with messages that name file and line.

mod attributes;
mod node;

use std::path::Path;

pub use node::Node;

use crate::error::{Parsed, Problem};

/// A parsed XML file.
#[derive(Debug)]
pub struct Document<'a> {
    tree: roxmltree::Document<'a>,
    path: &'a Path,
}

impl<'a> Document<'a> {
    /// Parses the bytes of a file. `path` is the name of the file in messages.
    pub fn parse(path: &'a Path, bytes: &'a [u8]) -> Parsed<Self> {
        let text =
            std::str::from_utf8(bytes).map_err(|error| Problem::new(error.to_string()).in_file(path).at_line(1))?;
        attributes::check(bytes).map_err(|problem| problem.in_file(path))?;
        let tree = roxmltree::Document::parse(text).map_err(|error| {
            Problem::new(format!("not valid XML: {error}")).in_file(path).at_line(error.pos().row as usize)
        })?;
        Ok(Self { tree, path })
    }

    /// Returns the outermost element of the file.
    pub fn root(&self) -> Node<'_> {
        Node::root(&self.tree, self.path)
    }
}
