//! Reader of the position restraints of a topology. The restraints of `[ position_restraints ]` in all molecule types
//! are returned for the atoms of the whole system. Position restraints are not part of the system itself.
//!
//! Function types are those of the GROMACS reference manual, "Topology file", table of interactions. Type 1 is
//! harmonic, ½ Σ kᵢ dᵢ², with the force constants kᵢ and displacements dᵢ along x, y and z. Type 2 is flat-bottomed,
//! with a geometry, a radius and a force constant k. Macros determine which sections are used, and the text of a macro
//! may be a force constant.

use std::path::Path;

use super::directive::{Directive, Part, directive, unknown_function};
use super::fields::Fields;
use super::function::same_state;
use super::{Parsed, TopologyOptions, preprocessor};
use crate::error::Problem;

/// Largest total number of position restraints in all copies of molecules. The limit allows a few restraints for each
/// atom of the largest systems.
const MOST: usize = 1 << 26;
/// Number of the flat-bottomed geometry in which the distance includes all three directions (sphere).
const SPHERE: i32 = 1;

/// Position restraint of an atom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtomRestraint {
    /// 0-based index of the atom in the whole system
    pub atom: u32,
    /// form of the energy of the restraint
    pub shape: RestraintShape,
}

/// Form of the energy of a restraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RestraintShape {
    /// harmonic, with force constants along x, y and z in kJ/mol/nm²
    Harmonic([f64; 3]),
    /// flat-bottomed restraint with a spherical region
    Sphere {
        /// radius in nm. If the radius is positive, a force acts at distances larger than the radius. If the radius is
        /// negative, a force acts at distances smaller than the magnitude of the radius
        radius: f64,
        /// force constant, kJ/mol/nm²
        force_constant: f64,
    },
    /// flat-bottomed restraint with a cylinder or a layer as its region
    OtherFlatBottom,
}

/// Reads the position restraints of the topology at `path`, in the order of the atoms of the system.
pub(in crate::format) fn read(path: &Path, bytes: &[u8], options: &TopologyOptions) -> Parsed<Vec<AtomRestraint>> {
    let mut reader = Reader::default();
    preprocessor::read(path, bytes, options, &mut |line| reader.line(line.text))?;
    Ok(reader.restraints)
}

/// Number of atoms and position restraints of a molecule type.
struct Molecule {
    name: String,
    atoms: usize,
    restraints: Vec<AtomRestraint>,
}

#[derive(Default)]
struct Reader {
    part: Part,
    directive: Option<Directive>,
    types: Vec<Molecule>,
    /// number of atoms of the molecules read up to now
    atoms: usize,
    restraints: Vec<AtomRestraint>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Parsed<()> {
        if let Some((directive, part)) = directive(line, self.part)? {
            (self.directive, self.part) = (Some(directive), part);
            return Ok(());
        }
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let mut fields = Fields::new(&words);
        match (self.directive, self.types.last_mut()) {
            (Some(Directive::MoleculeType), _) => {
                let name = fields.word("a name")?.to_owned();
                self.types.push(Molecule { name, atoms: 0, restraints: vec![] });
            }
            (Some(Directive::Atoms), Some(molecule)) => molecule.atoms += 1,
            (Some(Directive::PositionRestraints), Some(molecule)) => {
                let restraint = restraint(fields, molecule.atoms)?;
                molecule.restraints.push(restraint);
            }
            (Some(Directive::Molecules), _) => self.molecules(fields)?,
            _ => {}
        }
        Ok(())
    }

    /// Reads a line of `[ molecules ]`: the name of a molecule type and the number of copies.
    fn molecules(&mut self, mut fields: Fields<'_, '_>) -> Parsed<()> {
        let name = fields.word("the name of a molecule type")?;
        let copies = fields.integer("a number of molecules")?;
        let copies = usize::try_from(copies).map_err(|_| Problem::new(format!("{copies} molecules")))?;
        let exact = self.types.iter().find(|molecule| molecule.name == name);
        let molecule = exact.or_else(|| self.types.iter().find(|molecule| molecule.name.eq_ignore_ascii_case(name)));
        let molecule = molecule.ok_or_else(|| Problem::new(format!("there is no [ moleculetype ] {name}")))?;
        let last = molecule.atoms.checked_mul(copies).and_then(|atoms| atoms.checked_add(self.atoms));
        let last = last.filter(|&last| u32::try_from(last).is_ok());
        let last = last.ok_or_else(|| Problem::new("the molecules have more than 4 billion atoms"))?;
        if molecule.restraints.len().saturating_mul(copies) > MOST - self.restraints.len() {
            return Err(Problem::new(format!("more than {MOST} atoms are restrained")));
        }
        for first in (self.atoms..last).step_by(molecule.atoms.max(1)) {
            let moved = |one: &AtomRestraint| AtomRestraint { atom: one.atom + first as u32, ..*one };
            self.restraints.extend(molecule.restraints.iter().map(moved));
        }
        self.atoms = last;
        Ok(())
    }
}

/// Reads a position restraint. The line of a restraint has the atom, the function type and the parameters.
fn restraint(mut fields: Fields<'_, '_>, atoms: usize) -> Parsed<AtomRestraint> {
    let atom = fields.atom(atoms)?;
    let shape = match fields.word("the function type")? {
        "1" => {
            let mut along = || fields.real("a force constant");
            let first = [along()?, along()?, along()?];
            if !fields.is_empty() {
                let mut along = || fields.real("a force constant of state B");
                same_state(&first, &[along()?, along()?, along()?])?;
            }
            RestraintShape::Harmonic(first)
        }
        "2" => {
            let geometry = fields.integer("a geometry")?;
            let (radius, force_constant) = (fields.real("a radius")?, fields.real("a force constant")?);
            if geometry == SPHERE {
                RestraintShape::Sphere { radius, force_constant }
            } else {
                RestraintShape::OtherFlatBottom
            }
        }
        other => return Err(unknown_function("[ position_restraints ]", other, "1 (harmonic) and 2 (flat-bottomed)")),
    };
    fields.end()?;
    Ok(AtomRestraint { atom, shape })
}
