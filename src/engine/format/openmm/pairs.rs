//! Detection of pairs of particles that occur twice in a list.

use std::collections::HashMap;

use super::Parsed;
use crate::format::xml::Node;

/// Set of the pairs of particles in a list, which detects repeated pairs.
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
