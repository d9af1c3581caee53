//! Atom types, atom classes, and patterns. A pattern selects the atoms to which parameters apply.

use std::collections::HashMap;

use md_engine::error::Problem;
use md_engine::format::element;
use md_engine::format::xml::Node;

use super::Parsed;

/// An atom type.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AtomType {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// atomic number; 0 for virtual sites
    pub(super) element: u8,
    /// mass in amu
    pub(super) mass: f64,
}

/// Type and class of an atom, as indices into the tables of [`AtomTypes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Kind {
    pub(super) of_type: u32,
    pub(super) class: u32,
}

/// Atoms to which a parameter applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// all atoms
    Any,
    /// atoms of a type
    Type(u32),
    /// atoms of a class
    Class(u32),
}

impl Pattern {
    pub(super) fn matches(self, atom: Kind) -> bool {
        match self {
            Pattern::Any => true,
            Pattern::Type(of_type) => of_type == atom.of_type,
            Pattern::Class(class) => class == atom.class,
        }
    }
}

/// Whether each pattern matches the atom at the same position in `atoms`.
pub(super) fn all_match<const N: usize>(patterns: &[Pattern; N], atoms: [Kind; N]) -> bool {
    patterns.iter().zip(atoms).all(|(pattern, atom)| pattern.matches(atom))
}

/// Whether each pattern matches the atom at the same position, with `atoms` in the given or in the reversed order.
pub(super) fn match_either_way<const N: usize>(patterns: &[Pattern; N], mut atoms: [Kind; N]) -> bool {
    all_match(patterns, atoms) || {
        atoms.reverse();
        all_match(patterns, atoms)
    }
}

/// All atom types of a force field.
#[derive(Clone, Debug, Default)]
pub(super) struct AtomTypes {
    types: Vec<AtomType>,
    by_name: HashMap<String, u32>,
    classes: Vec<String>,
    class_by_name: HashMap<String, u32>,
}

impl AtomTypes {
    /// Adds the types of an element `<AtomTypes>`. A type may be defined twice if both definitions agree.
    pub(super) fn read(&mut self, list: &Node<'_>) -> Parsed<()> {
        for node in list.children() {
            if node.name() != "Type" {
                return Err(node.problem("expected <Type>"));
            }
            let name = node.text("name")?;
            let class = self.class_number(node.text("class")?);
            let number = match node.attribute("element") {
                None | Some("") => 0,
                Some(symbol) => match element::number(symbol) {
                    0 => return Err(node.problem(format!("{symbol} is not a chemical element"))),
                    number => number,
                },
            };
            let of_type = self.types.len() as u32;
            let (mass, kind) = (node.real("mass")?, Kind { of_type, class });
            if mass < 0.0 {
                return Err(node.problem(format!("the mass {mass} is negative")));
            }
            let found = AtomType { name: name.to_owned(), kind, element: number, mass };
            let Some(&known) = self.by_name.get(name) else {
                self.by_name.insert(name.to_owned(), of_type);
                self.types.push(found);
                continue;
            };
            let known = &self.types[known as usize];
            if (known.kind.class, known.element, known.mass) != (class, number, mass) {
                let problem = node.problem(format!("the atom type {name} is already defined, with other properties"));
                return Err(problem.help("use only one of the files that define the atom type"));
            }
        }
        Ok(())
    }

    /// Adds a type with a name that no other type has, and returns its index. `mass` is in amu.
    pub(super) fn add(&mut self, name: &str, class: &str, element: u8, mass: f64) -> u32 {
        let of_type = self.types.len() as u32;
        let kind = Kind { of_type, class: self.class_number(class) };
        self.by_name.insert(name.to_owned(), of_type);
        self.types.push(AtomType { name: name.to_owned(), kind, element, mass });
        of_type
    }

    fn class_number(&mut self, name: &str) -> u32 {
        if let Some(&class) = self.class_by_name.get(name) {
            return class;
        }
        let class = self.classes.len() as u32;
        self.classes.push(name.to_owned());
        self.class_by_name.insert(name.to_owned(), class);
        class
    }

    /// Returns the type with the given index.
    pub(super) fn get(&self, of_type: u32) -> &AtomType {
        &self.types[of_type as usize]
    }

    /// Returns the name of the class of an atom.
    pub(super) fn class_name(&self, kind: Kind) -> &str {
        &self.classes[kind.class as usize]
    }

    /// Returns the index of the class with the given name; `None` if the class is unknown.
    pub(super) fn class(&self, name: &str) -> Option<u32> {
        self.class_by_name.get(name).copied()
    }

    /// Returns the index of the type with the given name; `None` if no type has this name.
    pub(super) fn named(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied()
    }

    /// Returns the index of the type that the attribute `type` names.
    pub(super) fn type_of(&self, node: &Node<'_>) -> Parsed<u32> {
        let name = node.text("type")?;
        self.named(name).ok_or_else(|| {
            let problem = node.problem(format!("the atom type {name} is not defined"));
            problem.help("read the file that defines the type together with this file")
        })
    }

    /// Reads N patterns: the first pattern from the attribute `class1` or `type1`, the second pattern from `class2` or
    /// `type2`, and so on. Returns `None` if one of the names is neither a class nor a type; the parameter then applies
    /// to no atoms.
    pub(super) fn patterns<const N: usize>(&self, node: &Node<'_>) -> Parsed<Option<[Pattern; N]>> {
        let mut patterns = [Pattern::Any; N];
        for (k, pattern) in patterns.iter_mut().enumerate() {
            match self.pattern(node, &format!("{}", k + 1))? {
                Some(found) => *pattern = found,
                None => return Ok(None),
            }
        }
        Ok(Some(patterns))
    }

    /// Reads the pattern in the attribute `class` or `type` with a suffix. Returns `None` for names of unknown classes
    /// or types.
    pub(super) fn pattern(&self, node: &Node<'_>, suffix: &str) -> Parsed<Option<Pattern>> {
        let attribute = |prefix: &str| node.attribute(&format!("{prefix}{suffix}"));
        match (attribute("class"), attribute("type")) {
            (Some(""), None) | (None, Some("")) => Ok(Some(Pattern::Any)),
            (Some(name), None) => Ok(self.class(name).map(Pattern::Class)),
            (None, Some(name)) => Ok(self.named(name).map(Pattern::Type)),
            (Some(_), Some(_)) => Err(two_names(node, suffix)),
            (None, None) => {
                let problem = node.problem(format!("the attribute class{suffix} or type{suffix} is missing"));
                Err(problem.help("an empty class stands for all atoms"))
            }
        }
    }
}

fn two_names(node: &Node<'_>, suffix: &str) -> Problem {
    node.problem(format!("the attributes class{suffix} and type{suffix} exclude each other"))
        .help("remove one of the two attributes")
}
