//! Reader of `[ intermolecular_interactions ]`: bonded terms between molecules, with atoms numbered through the whole
//! system.
//!
//! GROMACS treats the section as a molecule type of the size of the system. Constraints and interactions that exclude
//! pairs are not allowed in the section (reference manual, chapter "Topologies", "Intermolecular interactions"). This
//! reader also treats the section as a molecule type of the size of the system. Parameters may also be looked up in the
//! force field, because the types and charges of the atoms are known.

use super::Parsed;
use super::directive::Directive;
use super::fields::Fields;
use super::force_field::ForceField;
use super::molecule::MoleculeType;
use super::whole::{Copies, count};
use crate::error::Problem;
use crate::system::{BondedTerms, Residue};

/// Terms of `[ intermolecular_interactions ]` that have been read. Atom numbers count all atoms of the system.
pub(super) struct Intermolecular {
    system: MoleculeType,
}

impl Intermolecular {
    /// Creates the section without terms, on the atoms of all molecules. `held` is the number of atoms in the
    /// coordinate file, if it is known.
    pub(super) fn new(types: &[MoleculeType], molecules: &[Copies], held: Option<usize>) -> Parsed<Self> {
        let mut system = MoleculeType::default();
        let whole = &mut system.topology;
        whole.atoms.reserve_exact(count(types, molecules, held)?);
        for &(index, copies) in molecules {
            let one = &types[index].topology;
            for _ in 0..copies {
                let (atom, residue) = (whole.atoms.len() as u32, whole.residues.len() as u32);
                whole.residues.extend(one.residues.iter().map(|own| Residue { first: own.first + atom, ..*own }));
                whole.atoms.extend(one.atoms.iter().map(|own| {
                    let mut own = *own;
                    own.residue += residue;
                    own
                }));
            }
        }
        Ok(Intermolecular { system })
    }

    /// Reads a line below a directive of the section.
    pub(super) fn line(
        &mut self,
        force_field: &mut ForceField,
        directive: Directive,
        fields: Fields<'_, '_>,
    ) -> Parsed<()> {
        self.system.line(force_field, directive, fields)?;
        if self.system.has_chemical_bonds() {
            let problem = Problem::new("[ intermolecular_interactions ] has a chemical bond, which excludes pairs");
            return Err(problem.help("use function type 6, or put both molecules into one [ moleculetype ]"));
        }
        Ok(())
    }

    pub(super) fn into_terms(self) -> BondedTerms {
        self.system.topology.bonded
    }
}
