//! Parameters of molecules that a topology file describes completely, such as a ligand.
//!
//! A molecule of one residue becomes a template. This template is matched to residues in the same way as the templates
//! of a force field. The topology file defines the bonded terms, the 1-4 pairs and the exclusions of the molecule.
//! Interactions with other molecules use only the charges and Lennard-Jones parameters of the molecule. Lennard-Jones
//! parameters of pairs of atoms of different molecules follow from the rule of Lorentz and Berthelot, as in the force
//! fields of OpenMM's format.

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;

use md_engine::error::{Problem, Result};
use md_engine::format::{Molecules, TopologyOptions, read_topology_with};
use md_engine::system::{BondedTerms, CombinationRule, Description, Topology};

use super::atom_types::Pattern;
use super::nonbonded::LjAtom;
use super::template::{Template, TemplateAtom};
use super::typed::Typed;
use super::{ForceField, Parsed};
use crate::structure::{Atom, Component};

/// Files with the parameters of a molecule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MoleculeFiles {
    /// topology file of a system that contains the molecule
    pub topology: PathBuf,
    /// parameter files, if the topology needs such files (CHARMM)
    pub parameters: Vec<PathBuf>,
}

/// Terms of the energy within a molecule. Atom indices are those of the template of the molecule.
#[derive(Clone, Debug, Default)]
pub(super) struct MoleculeTerms {
    /// bonded terms with 1-4 pairs
    bonded: BondedTerms,
    /// excluded pairs of atoms, which have no non-bonded interactions other than 1-4 interactions
    excluded: Vec<[u32; 2]>,
}

impl ForceField {
    /// Adds molecules of a topology to the force field. A molecule is added if it consists of one residue and the
    /// residue name is in `wanted`. Returns the names that were found. Each molecule replaces a template of the same
    /// name.
    ///
    /// # Errors
    /// Fails if the topology has no wanted molecule, or if a molecule has unsupported terms: virtual sites,
    /// constraints, correction maps, or Lennard-Jones parameters that the rule of Lorentz and Berthelot does not give.
    pub fn add_molecules(&mut self, files: &MoleculeFiles, wanted: &BTreeSet<String>) -> Result<Vec<String>> {
        let molecules = self.factors14().map(|factors14| Molecules { factors14, residues: wanted.clone() });
        let options = TopologyOptions { parameters: files.parameters.clone(), molecules, ..Default::default() };
        let description = read_topology_with(&files.topology, &options)?;
        let in_file = |problem: Problem| problem.in_file(&files.topology);
        let mut names: Vec<String> = vec![];
        let topology = &description.topology;
        let molecules = topology.molecules();
        for atoms in (0..molecules.len()).map(|molecule| molecules.atoms(molecule)) {
            let residue = topology.atoms[atoms[0] as usize].residue as usize;
            let name = topology.residues[residue].name.as_str();
            let is_residue = atoms.iter().map(|&atom| atom as usize).eq(topology.residue_atoms(residue));
            if !is_residue || !wanted.contains(name) || names.iter().any(|known| known == name) {
                continue;
            }
            self.add_molecule(&description, name, atoms[0]..atoms[0] + atoms.len() as u32).map_err(in_file)?;
            names.push(name.to_owned());
        }
        if names.is_empty() {
            let list = |names: BTreeSet<&str>| names.into_iter().collect::<Vec<&str>>().join(", ");
            let found = list(topology.residues.iter().map(|residue| residue.name.as_str()).collect());
            let problem = Problem::new("the topology has no ligand of the entry");
            let help = match list(wanted.iter().map(String::as_str).collect()) {
                none if none.is_empty() => "the entry has no ligands".to_owned(),
                names => format!(
                    "a ligand is a molecule of one residue; the ligands of the entry are {names}, and the residues of the topology are {found}"
                ),
            };
            return Err(in_file(problem).help(help).into());
        }
        Ok(names)
    }

    /// Adds the molecule that consists of the given atoms of a description.
    fn add_molecule(&mut self, description: &Description, name: &str, atoms: std::ops::Range<u32>) -> Parsed<()> {
        let topology = &description.topology;
        check(description, name, &atoms)?;
        let local = |atom: u32| atom - atoms.start;
        let mut template = Template { name: name.into(), is_of_topology: true, ..Template::default() };
        for atom in &topology.atoms[atoms.start as usize..atoms.end as usize] {
            let type_name = format!("{name}:{}", atom.name);
            let of_type = self.types.add(&type_name, atom.type_name.as_str(), atom.element, atom.mass);
            let (sigma, epsilon) = description.nonbonded.sigma_epsilon(atom.lj_type, atom.lj_type);
            let pattern = Pattern::Type(of_type);
            if self.lennard_jones.scale14.is_some() {
                let usual = [sigma, epsilon];
                self.lennard_jones.atoms.insert(pattern, LjAtom { usual, of_pairs14: usual });
                self.charges.atoms.insert(pattern, [Some(atom.charge), Some(1.0), Some(0.0)]);
            } else {
                self.charges.atoms.insert(pattern, [Some(atom.charge), Some(sigma), Some(epsilon)]);
            }
            template.atoms.push(TemplateAtom {
                name: atom.name.as_str().into(),
                of_type,
                element: atom.element,
                parameters: [None; 3],
                bonded: vec![],
                external: 0,
            });
        }
        let bonds = topology.connectivity.iter().filter(|bond| atoms.contains(&bond[0]));
        bonds.for_each(|&bond| template.add_bond(bond.map(local)));
        let mut bonded = topology.bonded.of_those(|term| atoms.contains(&term[0]));
        bonded.renumber(local);
        let partners = |atom: u32| topology.exclusions.of(atom as usize).iter().map(move |&other| [atom, other]);
        let excluded = atoms.clone().flat_map(partners).map(|pair| pair.map(local)).collect();
        self.molecules.insert(template.name.clone(), MoleculeTerms { bonded, excluded });
        self.templates.add(template);
        Ok(())
    }

    /// Returns the name of the template that fulfils `is_name` and whose bonds to other residues are at the atoms
    /// `links`; `None` if there is no such template.
    pub(crate) fn template_with_links(
        &self,
        is_name: impl Fn(&str) -> bool,
        links: &BTreeSet<String>,
    ) -> Option<String> {
        let has_links = |template: &&Template| {
            let names = template.external_bonds.iter().map(|&atom| &*template.atoms[atom as usize].name);
            names.collect::<BTreeSet<&str>>() == links.iter().map(String::as_str).collect()
        };
        let found = self.templates.all().iter().filter(|template| is_name(&template.name)).find(has_links)?;
        Some(found.name.to_string())
    }

    /// Returns the atoms and bonds of the template with this name. Returns `None` if no template has this name.
    pub fn component(&self, name: &str) -> Option<Component> {
        let template = self.templates.named(name)?;
        let atom = |atom: &TemplateAtom| Atom { name: atom.name.to_string(), element: atom.element };
        let (atoms, bonds) = (template.atoms.iter().map(atom).collect(), template.bonds.clone());
        Some(Component { name: name.to_owned(), atoms, bonds })
    }
}

/// Fails if a molecule has unsupported terms, or two atoms with the same name.
fn check(description: &Description, name: &str, atoms: &std::ops::Range<u32>) -> Parsed<()> {
    let topology = &description.topology;
    let is_own = |atom: &u32| atoms.contains(atom);
    let unsupported = [
        ("virtual sites", topology.virtual_sites.iter().any(|site| is_own(&site.site))),
        ("constraints", topology.constraints.iter().any(|constraint| is_own(&constraint.atoms[0]))),
        ("correction maps", topology.bonded.cmaps.iter().any(|term| is_own(&term.atoms[0]))),
    ];
    if let Some((what, _)) = unsupported.iter().find(|(_, has)| *has) {
        let problem = Problem::new(format!("the molecule {name} has {what}, which md build cannot take over"));
        return Err(problem.help("use parameters without them"));
    }
    let mut known = HashSet::new();
    let mut types: Vec<u32> = vec![];
    for atom in atoms.clone() {
        let atom = &topology.atoms[atom as usize];
        if !known.insert(atom.name.as_str()) {
            let problem = Problem::new(format!("the molecule {name} has two atoms named {}", atom.name));
            return Err(problem.help("give each atom of the molecule a different name"));
        }
        types.push(atom.lj_type);
    }
    types.sort_unstable();
    types.dedup();
    match description.nonbonded.exceptions(CombinationRule::LorentzBerthelot, &types) {
        Some(exceptions) if exceptions.is_empty() => Ok(()),
        _ => {
            let message =
                format!("the rule of Lorentz and Berthelot does not give the Lennard-Jones parameters of {name}");
            let help = "use parameters for AMBER or CHARMM force fields, which are combined by this rule";
            Err(Problem::new(message).help(help))
        }
    }
}

impl Typed<'_> {
    /// Returns the terms of each molecule that a topology file describes and, for each atom of the template of the
    /// molecule, the index of the atom in the structure.
    fn molecules(&self) -> impl Iterator<Item = (&MoleculeTerms, Vec<u32>)> {
        let residues = (0..self.structure.residues.len()).filter(|&residue| self.is_molecule(residue));
        residues.filter_map(|residue| {
            let names = self.assignment.names[residue].as_ref()?;
            let range = self.structure.residue_atoms(residue);
            let mut atom_of = vec![0; range.len()];
            range.for_each(|atom| atom_of[self.atoms[atom].place as usize] = atom as u32);
            Some((self.field.molecules.get(&names.residue)?, atom_of))
        })
    }

    /// Adds the bonded terms and 1-4 pairs of molecules that topology files describe.
    pub(super) fn add_molecules(&self, topology: &mut Topology) {
        for (terms, atom_of) in self.molecules() {
            let mut bonded = terms.bonded.clone();
            bonded.renumber(|place| atom_of[place as usize]);
            topology.bonded.append_copies(&bonded, 0, 0, 1);
        }
    }

    /// Returns the excluded pairs of atoms in molecules that topology files describe.
    pub(super) fn excluded_in_molecules(&self) -> impl Iterator<Item = [u32; 2]> {
        self.molecules().flat_map(|(terms, atom_of)| {
            terms.excluded.iter().map(|pair| pair.map(|place| atom_of[place as usize])).collect::<Vec<_>>()
        })
    }
}
