//! Reader of a topology, which passes each line to the reader of the directive above the line.

use std::collections::HashMap;
use std::path::Path;

use super::directive::{Directive, POSITION_RESTRAINTS, Part, directive, unsupported};
use super::fields::Fields;
use super::force_field::ForceField;
use super::intermolecular::Intermolecular;
use super::molecule::MoleculeType;
use super::preprocessor::{self, Line};
use super::whole::{Copies, expand};
use super::{Parsed, TopologyOptions, leap_order};
use crate::error::{Problem, nearest};
use crate::format::number;
use crate::system::Description;

/// Macro that the CHARMM force fields of GROMACS define.
const CHARMM: &str = "_FF_CHARMM";

/// Reads the topology at a path, and the files that it includes.
pub(in crate::format) fn read(path: &Path, bytes: &[u8], options: &TopologyOptions) -> Parsed<Description> {
    options.are_used(&["define"], path)?;
    let molecules = options.molecules.as_ref();
    let force_field = molecules.map(|found| ForceField::of_molecules(found.factors14)).unwrap_or_default();
    let mut reader = Reader { held: options.atoms, force_field, ..Reader::default() };
    let macros = preprocessor::read(path, bytes, options, &mut |line| reader.line(line))?;
    if molecules.is_some() && reader.molecules.is_empty() {
        reader.molecules = (0..reader.types.len()).map(|index| (index, 1)).collect();
    }
    let between = reader.between.map(Intermolecular::into_terms).unwrap_or_default();
    let whole = expand(&reader.force_field, &reader.types, &reader.molecules, between, options.atoms);
    let (mut topology, nonbonded) = whole.map_err(|problem| problem.in_file(path))?;
    topology.title = reader.title;
    topology.replaced = reader.replaced;
    topology.charmm = macros.contains(CHARMM) || !topology.bonded.urey_bradleys.is_empty();
    Ok(Description { topology, nonbonded, ..Description::default() })
}

#[derive(Default)]
struct Reader {
    part: Part,
    /// directive of the present section
    directive: Option<Directive>,
    /// heading of the present section, as `[ atoms ]`
    heading: String,
    force_field: ForceField,
    types: Vec<MoleculeType>,
    /// index of each molecule type by name
    by_name: HashMap<String, usize>,
    title: String,
    molecules: Vec<Copies>,
    /// number of atoms in the coordinate file, if known
    held: Option<usize>,
    /// terms of `[ intermolecular_interactions ]`; `None` until this section begins
    between: Option<Intermolecular>,
    /// file and line of each row that replaces parameters of an earlier row
    replaced: Vec<String>,
}

impl Reader {
    fn line(&mut self, &Line { text: line, macros, quotable, path, number }: &Line<'_>) -> Parsed<()> {
        if let Some((directive, part)) = directive(line, self.part)? {
            (self.directive, self.part) = (Some(directive), part);
            line.clone_into(&mut self.heading);
            if directive == Directive::Intermolecular && self.between.is_none() {
                self.between = Some(Intermolecular::new(&self.types, &self.molecules, self.held)?);
            }
            return Ok(());
        }
        let Some(directive) = self.directive else {
            // at the beginning of GROMACS' force-field files, a line that begins with `*` is a comment
            if line.starts_with('*') {
                return Ok(());
            }
            let message = format!("{} is before the first heading", number::quoted(line.as_bytes()));
            return Err(
                Problem::new(message).help("a topology begins with [ defaults ], or an #include of a force field")
            );
        };
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let fields = Fields::new(&words);
        match (directive, self.part) {
            (Directive::Unsupported(help), _) => Err(unsupported(&self.heading, help)),
            (Directive::PositionRestraints, _) => Err(unsupported(&self.heading, POSITION_RESTRAINTS)),
            (Directive::ImplicitSolvent, _) => Ok(()),
            (Directive::System, _) => {
                if self.title.is_empty() && quotable {
                    line.clone_into(&mut self.title);
                }
                Ok(())
            }
            (Directive::Molecules, _) => self.read_molecules(fields),
            (Directive::MoleculeType, _) => self.begin_molecule(fields),
            (Directive::MoleculeTypeRead, _) => Err(Problem::new("[ moleculetype ] has more than one line")),
            (_, Part::ForceField) => {
                if self.force_field.line(directive, fields)? {
                    self.replaced.push(format!("{}:{number}", path.display()));
                }
                Ok(())
            }
            _ => {
                self.force_field.leap_order = macros.contains(leap_order::MACRO);
                match (&mut self.between, self.types.last_mut()) {
                    (Some(between), _) => between.line(&mut self.force_field, directive, fields),
                    (None, Some(molecule)) => molecule.line(&mut self.force_field, directive, fields),
                    (None, None) => Err(Problem::new("there is no [ moleculetype ] before this line")),
                }
            }
        }
    }

    fn begin_molecule(&mut self, fields: Fields<'_, '_>) -> Parsed<()> {
        let molecule = MoleculeType::new(fields)?;
        if self.by_name.insert(molecule.name.clone(), self.types.len()).is_some() {
            let message = format!("two molecule types have the name {}", molecule.name);
            return Err(Problem::new(message).help("is a file included twice?"));
        }
        self.types.push(molecule);
        // only one line may follow `[ moleculetype ]`, and the atoms must come after the heading `[ atoms ]`
        self.directive = Some(Directive::MoleculeTypeRead);
        Ok(())
    }

    /// Reads a line of `[ molecules ]`: the name of a molecule type and the number of copies.
    fn read_molecules(&mut self, mut fields: Fields<'_, '_>) -> Parsed<()> {
        let name = fields.word("the name of a molecule type")?;
        let number = fields.integer("a number of molecules")?;
        fields.end()?;
        let copies = usize::try_from(number).map_err(|_| Problem::new(format!("{number} molecules")))?;
        self.molecules.push((self.find(name)?, copies));
        Ok(())
    }

    /// Returns the molecule type with a name. The case of letters is ignored, unless the names of two molecule types
    /// differ in case only.
    fn find(&self, name: &str) -> Parsed<usize> {
        if let Some(&index) = self.by_name.get(name) {
            return Ok(index);
        }
        let mut alike = self.types.iter().enumerate().filter(|(_, other)| other.name.eq_ignore_ascii_case(name));
        if let (Some((index, _)), None) = (alike.next(), alike.next()) {
            return Ok(index);
        }
        let problem = Problem::new(format!("there is no [ moleculetype ] {}", number::quoted(name.as_bytes())));
        Err(match nearest(name, self.types.iter().map(|other| other.name.as_str())) {
            Some(near) => problem.help(format!("did you mean {near}?")),
            None => problem.help("is the #include of the file with this molecule type missing?"),
        })
    }
}
