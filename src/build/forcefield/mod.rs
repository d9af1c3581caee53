//! Force fields in OpenMM's XML format, and systems made with them.
//!
//! A force field consists of atom types, templates of residues, patches of templates, and parameters of the energy
//! terms. [`ForceField::read`] reads files, or built-in force fields. [`ForceField::describe`] finds the template of
//! each residue of a [`Structure`] and makes the same energy terms as OpenMM's `ForceField.createSystem`, without
//! constraints. The algorithm and the format are those of the OpenMM User Guide, chapter "Creating Force Fields"
//! (Eastman et al., J. Phys. Chem. B 128, 109 (2024), doi:10.1021/acs.jpcb.3c06662).
//!
//! Units are nm, ps, amu, kJ/mol, e and rad. An unknown element of a file is an error, because energies would be wrong
//! if the element were ignored. Implicit solvents and `<InitializationScript>` are ignored.
//!
//! Results differ from OpenMM's in four cases. If several templates match, md uses the templates with the fewest
//! patches. A bond without parameters is an error. A correction map is applied in the direction of its parameters, even
//! if the atoms of the chain have descending indices. If several sets of parameters match equally well, the order of
//! the files decides.
//!
//! ```
//! use md_build::forcefield::ForceField;
//! use md_build::structure::{Atom, Residue, Structure};
//!
//! # fn main() -> md_engine::error::Result<()> {
//! let atom = |name: &str, element| Atom { name: name.to_owned(), element };
//! let water = Structure {
//!     chains: vec!["W".to_owned()],
//!     residues: vec![Residue { name: "HOH".to_owned(), number: 1, insertion_code: None, chain: 0, first: 0 }],
//!     atoms: vec![atom("O", 8), atom("H1", 1), atom("H2", 1)],
//!     bonds: vec![[0, 1], [0, 2]],
//! };
//! let field = ForceField::read(&["amber14/tip3p.xml"])?;
//! let description = field.describe(&water)?;
//! assert_eq!(description.topology.atoms[0].charge, -0.834);
//! assert_eq!(description.topology.bonded.angles.len(), 1);
//! # Ok(())
//! # }
//! ```

mod assignment;
mod atom_types;
mod bonded;
mod builtin;
mod charmm_terms;
mod clusters;
mod connectivity;
mod create;
mod difference;
mod excluded;
mod files;
mod improper_order;
mod interactions;
mod isomorphism;
mod matching;
mod molecules;
mod nonbonded;
mod patch;
mod residues;
mod script;
mod tables;
mod template;
mod templates;
#[cfg(test)]
mod tests;
mod torsions;
mod typed;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use md_engine::error::{Parsed, Problem, Result};
use md_engine::format::Factors14;
use md_engine::format::xml::{Document, Node};
use md_engine::system::Description;

use crate::structure::{Structure, neighbours};
use atom_types::AtomTypes;
use bonded::Bonded;
use files::File;
pub use molecules::MoleculeFiles;
use molecules::MoleculeTerms;
use nonbonded::{Charges, LennardJones};
use script::Script;
use templates::Templates;
use torsions::AllTorsions;

/// Elements that are ignored when forces are read. Types, templates, patches, included files and scripts are read by
/// other functions. Initialization scripts (checks of versions, implicit solvents) and the information about the file
/// are not needed.
const IGNORED: [&str; 7] = ["AtomTypes", "Residues", "Patches", "Info", "Include", "InitializationScript", "Script"];
/// Elements of implicit solvents. The elements are ignored, because md supports only explicit solvents.
const IMPLICIT_SOLVENTS: [&str; 2] = ["GBSAOBCForce", "CustomGBForce"];

/// A force field.
#[derive(Clone, Debug, Default)]
pub struct ForceField {
    types: AtomTypes,
    templates: Templates,
    bonded: Bonded,
    torsions: AllTorsions,
    charges: Charges,
    lennard_jones: LennardJones,
    scripts: Vec<Script>,
    /// terms of the molecules that topology files describe, by the name of the template
    molecules: HashMap<Arc<str>, MoleculeTerms>,
}

impl ForceField {
    /// Returns the names of the built-in force-field files.
    pub fn builtin() -> impl Iterator<Item = &'static str> {
        builtin::names()
    }

    /// Reads files, which together form a force field. A name is either the path of a file, which may be compressed, or
    /// a name that [`ForceField::builtin`] returns.
    pub fn read<P: AsRef<Path>>(names: &[P]) -> Result<Self> {
        let names: Vec<PathBuf> = names.iter().map(|name| name.as_ref().to_owned()).collect();
        let files = files::read(&names)?;
        let documents = files.iter().map(|File { path, bytes }| Document::parse(path, bytes));
        let documents = documents.collect::<Parsed<Vec<Document<'_>>>>()?;
        let mut field = Self::default();
        let all = |name: &'static str| {
            let children = documents.iter().flat_map(|document| document.root().children());
            children.filter(move |child| child.name() == name)
        };
        for list in all("AtomTypes") {
            field.types.read(&list)?;
        }
        for list in all("Residues") {
            field.templates.read_residues(&list, &field.types)?;
        }
        for list in all("Patches") {
            field.templates.read_patches(&list, &field.types)?;
        }
        field.templates.finish();
        for child in documents.iter().flat_map(|document| document.root().children()) {
            field.read_force(&child)?;
        }
        for node in all("Script") {
            field.scripts.push(script::read(&node)?);
        }
        Ok(field)
    }

    fn read_force(&mut self, force: &Node<'_>) -> Parsed<()> {
        let types = &self.types;
        match force.name() {
            "HarmonicBondForce" => self.bonded.read_bonds(force, types),
            "HarmonicAngleForce" => self.bonded.read_angles(force, types),
            "AmoebaUreyBradleyForce" => self.bonded.read_urey_bradleys(force, types),
            "CMAPTorsionForce" => self.bonded.read_cmaps(force, types),
            "PeriodicTorsionForce" => self.torsions.read_periodic(force, types),
            "RBTorsionForce" => self.torsions.read_ryckaert_bellemans(force, types),
            "CustomTorsionForce" => self.torsions.read_custom(force, types),
            "NonbondedForce" => self.charges.read(force, types),
            "LennardJonesForce" => self.lennard_jones.read(force, types),
            name if IGNORED.contains(&name) || IMPLICIT_SOLVENTS.contains(&name) => Ok(()),
            _ => {
                let problem =
                    force.problem("md does not support this force, and energies without the force would be wrong");
                Err(problem.help("use a force field without this force, such as AMBER or CHARMM36"))
            }
        }
    }

    /// Returns the factors of 1-4 interactions; `None` if no file has charges.
    fn factors14(&self) -> Option<Factors14> {
        let [coulomb, usual] = self.charges.scales14?;
        Some(Factors14 { coulomb, lennard_jones: self.lennard_jones.scale14.unwrap_or(usual) })
    }

    /// Returns whether a residue template has this name.
    pub fn has_template(&self, name: &str) -> bool {
        self.templates.named(name).is_some()
    }

    /// Returns the indices of the residues of a structure that match no template.
    pub(crate) fn unmatched(&self, structure: &Structure) -> Result<Vec<usize>> {
        structure.check()?;
        matching::unmatched(structure, &neighbours(structure.atoms.len(), &structure.bonds), &self.templates)
    }

    /// Makes the energy terms of a structure, which must have all hydrogens, bonds and virtual sites.
    pub fn describe(&self, structure: &Structure) -> Result<Description> {
        create::description(self, structure)
    }
}

/// Returns the error for an unknown element of a force.
fn unknown(node: &Node<'_>, force: &Node<'_>) -> Problem {
    node.problem(format!("is unknown in <{}>", force.name()))
        .help("remove the element, or use a force field without this element")
}
