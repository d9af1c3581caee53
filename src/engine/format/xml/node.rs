//! Elements of an XML file, with functions that read and check their attributes.

use std::path::Path;

use super::Parsed;
use crate::arrays;
use crate::error::Problem;
use crate::format::number;

/// Element of an XML file.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    node: roxmltree::Node<'a, 'a>,
    path: &'a Path,
}

impl<'a> Node<'a> {
    pub(super) fn root(tree: &'a roxmltree::Document<'a>, path: &'a Path) -> Self {
        Node { node: tree.root_element(), path }
    }

    /// Returns the name of the element.
    pub fn name(&self) -> &'a str {
        self.node.tag_name().name()
    }

    /// Returns an error about this element.
    pub fn problem(&self, message: impl std::fmt::Display) -> Problem {
        Problem::new(format!("<{}>: {message}", self.name())).in_file(self.path).at_line(self.line())
    }

    /// Returns the 1-based line number of the element. The cost of a call grows with the length of the text before the
    /// element.
    pub fn line(&self) -> usize {
        self.node.document().text_pos_at(self.node.range().start).row as usize
    }

    /// Iterates over the child elements.
    pub fn children(&self) -> impl Iterator<Item = Node<'a>> + use<'a> {
        let path = self.path;
        self.node.children().filter(roxmltree::Node::is_element).map(move |node| Node { node, path })
    }

    /// Finds the child element `name` and iterates over its children. Fails if the element has no child element `name`,
    /// or several.
    pub fn list(&self, name: &str) -> Parsed<impl Iterator<Item = Node<'a>> + use<'a>> {
        let mut parts = self.children().filter(|child| child.name() == name);
        let part = parts.next();
        if let (Some(first), Some(second)) = (part, parts.next()) {
            let message = format!("a second part <{name}>, the first is in line {}", first.line());
            return Err(second.problem(message).help("join them"));
        }
        Ok(part.ok_or_else(|| self.problem(format!("lacks its part <{name}>")))?.children())
    }

    /// Returns the text between the tags of the element, up to its first child.
    pub fn content(&self) -> &'a str {
        self.node.text().unwrap_or_default()
    }

    /// Returns the value of an attribute; `None` if the element does not have this attribute.
    pub fn attribute(&self, attribute: &str) -> Option<&'a str> {
        self.node.attribute(attribute)
    }

    /// Iterates over the names of the attributes.
    pub fn attributes(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.node.attributes().map(|attribute| attribute.name())
    }

    /// Returns an attribute that the element must have.
    pub fn text(&self, attribute: &str) -> Parsed<&'a str> {
        self.node.attribute(attribute).ok_or_else(|| self.problem(format!("lacks its attribute {attribute}")))
    }

    /// Reads an attribute as a finite number.
    pub fn real(&self, attribute: &str) -> Parsed<f64> {
        let text = self.text(attribute)?;
        let message =
            || self.problem(format!("{attribute} is {}, not a finite number", number::quoted(text.as_bytes())));
        number::real(text.as_bytes()).ok_or_else(message)
    }

    /// Reads several attributes as finite numbers.
    pub fn reals<const N: usize>(&self, attributes: [&str; N]) -> Parsed<[f64; N]> {
        arrays::try_from_fn(|k| self.real(attributes[k]))
    }

    /// Reads an attribute as a whole number from 0 to `count` − 1.
    pub fn index(&self, attribute: &str, count: usize) -> Parsed<u32> {
        let text = self.text(attribute)?;
        let index = text.parse::<u32>().ok().filter(|&index| (index as usize) < count);
        let message = || {
            let last = count.saturating_sub(1);
            self.problem(format!("{attribute} is {}, not between 0 and {last}", number::quoted(text.as_bytes())))
        };
        index.ok_or_else(message)
    }

    /// Reads attributes as the numbers of different particles, from 0 to `count` − 1.
    pub fn particles<const N: usize>(&self, attributes: [&str; N], count: usize) -> Parsed<[u32; N]> {
        let mut particles = [0; N];
        for (k, attribute) in attributes.into_iter().enumerate() {
            particles[k] = self.index(attribute, count)?;
            if particles[..k].contains(&particles[k]) {
                return Err(self.problem(format!("names particle {} twice", particles[k])));
            }
        }
        Ok(particles)
    }

    /// Reads the attributes `prefix1`, `prefix2`, … up to the first number that is missing.
    pub fn numbered<T>(&self, prefix: &str, value: impl Fn(&str) -> Parsed<T>) -> Parsed<Vec<T>> {
        let names = (1..).map(|k| format!("{prefix}{k}"));
        names.take_while(|name| self.node.has_attribute(name.as_str())).map(|name| value(&name)).collect()
    }
}
