//! Elements of the XML file, with functions that read and check their attributes.

use std::collections::HashMap;
use std::path::Path;

use super::Parsed;
use crate::error::Problem;
use crate::format::number;

/// Element of the XML file.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    node: roxmltree::Node<'a, 'a>,
    path: &'a Path,
}

impl<'a> Node<'a> {
    pub(super) fn root(document: &'a roxmltree::Document<'a>, path: &'a Path) -> Self {
        Node { node: document.root_element(), path }
    }

    pub(super) fn name(&self) -> &'a str {
        self.node.tag_name().name()
    }

    /// Returns an error about this element.
    pub(super) fn problem(&self, message: impl std::fmt::Display) -> Problem {
        Problem::new(format!("<{}>: {message}", self.name())).in_file(self.path).at_line(self.line())
    }

    /// Returns the 1-based line number of the element. The call searches the text from its beginning.
    pub(super) fn line(&self) -> usize {
        self.node.document().text_pos_at(self.node.range().start).row as usize
    }

    /// Iterates over the child elements.
    pub(super) fn children(&self) -> impl Iterator<Item = Node<'a>> + use<'a> {
        let path = self.path;
        self.node.children().filter(roxmltree::Node::is_element).map(move |node| Node { node, path })
    }

    /// Iterates over the children of the child element `name`. Fails if there is no such child element, or if there
    /// are several.
    pub(super) fn list(&self, name: &str) -> Parsed<impl Iterator<Item = Node<'a>> + use<'a>> {
        let mut parts = self.children().filter(|child| child.name() == name);
        let part = parts.next();
        if let (Some(first), Some(second)) = (part, parts.next()) {
            let message = format!("a second part <{name}>, the first is in line {}", first.line());
            return Err(second.problem(message).help("join them"));
        }
        Ok(part.ok_or_else(|| self.problem(format!("lacks its part <{name}>")))?.children())
    }

    pub(super) fn text(&self, attribute: &str) -> Parsed<&'a str> {
        self.node.attribute(attribute).ok_or_else(|| self.problem(format!("lacks its attribute {attribute}")))
    }

    pub(super) fn real(&self, attribute: &str) -> Parsed<f64> {
        let text = self.text(attribute)?;
        let message =
            || self.problem(format!("{attribute} is {}, not a finite number", number::quoted(text.as_bytes())));
        number::real(text.as_bytes()).ok_or_else(message)
    }

    pub(super) fn reals<const N: usize>(&self, attributes: [&str; N]) -> Parsed<[f64; N]> {
        let mut values = [0.0; N];
        for (value, attribute) in values.iter_mut().zip(attributes) {
            *value = self.real(attribute)?;
        }
        Ok(values)
    }

    /// Reads an attribute as a whole number from 0 to `count` − 1.
    pub(super) fn index(&self, attribute: &str, count: usize) -> Parsed<u32> {
        let text = self.text(attribute)?;
        let index = text.parse::<u32>().ok().filter(|&index| (index as usize) < count);
        let message = || {
            let last = count.saturating_sub(1);
            self.problem(format!("{attribute} is {}, not between 0 and {last}", number::quoted(text.as_bytes())))
        };
        index.ok_or_else(message)
    }

    /// Reads attributes as the numbers of different particles, from 0 to `count` − 1.
    pub(super) fn particles<const N: usize>(&self, attributes: [&str; N], count: usize) -> Parsed<[u32; N]> {
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
    pub(super) fn numbered<T>(&self, prefix: &str, value: impl Fn(&str) -> Parsed<T>) -> Parsed<Vec<T>> {
        let names = (1..).map(|k| format!("{prefix}{k}"));
        names.take_while(|name| self.node.has_attribute(name.as_str())).map(|name| value(&name)).collect()
    }
}

/// Set of the pairs of particles in a list, by which a repeated pair is found.
#[derive(Default)]
pub(super) struct Pairs<'a>(HashMap<[u32; 2], Node<'a>>);

impl<'a> Pairs<'a> {
    /// Adds a pair. Fails if the pair is already in the set.
    pub(super) fn add(&mut self, [a, b]: [u32; 2], node: Node<'a>) -> Parsed<()> {
        match self.0.insert([a.min(b), a.max(b)], node) {
            Some(first) => {
                let message =
                    format!("the pair of particles {a} and {b} occurs twice, the first is in line {}", first.line());
                Err(node.problem(message).help("remove one of them"))
            }
            None => Ok(()),
        }
    }
}
