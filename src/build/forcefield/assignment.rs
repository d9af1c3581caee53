//! Types and parameters that templates assign to the atoms of a structure.

use std::sync::Arc;

use md_engine::system::VirtualSite;

use super::isomorphism::ResidueGraph;
use super::template::Template;

/// An atom with the data that its template assigns.
#[derive(Clone, Debug)]
pub(super) struct AssignedAtom {
    /// name of the atom in the template
    pub(super) name: Arc<str>,
    /// index of the atom type
    pub(super) of_type: u32,
    /// charge (e), σ (nm) and ε (kJ/mol), where the template states them
    pub(super) parameters: [Option<f64>; 3],
    /// index of the atom in the template
    pub(super) place: u32,
}

/// A virtual site of the structure.
#[derive(Clone, Debug)]
pub(super) struct AssignedSite {
    pub(super) site: VirtualSite,
    /// atom whose exclusions the site shares
    pub(super) exclude_with: u32,
}

/// Names of the template of a residue, and of the patches applied to the template.
#[derive(Clone, Debug)]
pub(super) struct TemplateNames {
    pub(super) residue: Arc<str>,
    pub(super) patches: Vec<Arc<str>>,
}

/// Data that templates assign to the atoms of a structure.
#[derive(Clone, Debug, Default)]
pub(super) struct Assignment {
    pub(super) atoms: Vec<Option<AssignedAtom>>,
    pub(super) sites: Vec<AssignedSite>,
    /// constrained pairs and their distances in nm
    pub(super) constraints: Vec<([u32; 2], f64)>,
    /// names of the template of each residue; `None` for a residue that a patch of several residues has matched
    pub(super) names: Vec<Option<TemplateNames>>,
}

impl Assignment {
    pub(super) fn new(atoms: usize, residues: usize) -> Self {
        Self { atoms: vec![None; atoms], names: vec![None; residues], ..Self::default() }
    }

    /// Records that a template matches a graph. `found` holds the index of the template atom for each atom of the
    /// graph.
    pub(super) fn record(&mut self, graph: &ResidueGraph<'_>, template: &Template, found: &[u32]) {
        let mut atom_of = vec![0; template.atoms.len()];
        for (&atom, &place) in graph.atoms.iter().zip(found) {
            atom_of[place as usize] = atom;
            let data = &template.atoms[place as usize];
            let (name, of_type, parameters) = (data.name.clone(), data.of_type, data.parameters);
            self.atoms[atom as usize] = Some(AssignedAtom { name, of_type, parameters, place });
        }
        let of = |place: u32| atom_of[place as usize];
        for site in &template.sites {
            let mut construction = site.construction.clone();
            construction.atoms_mut().iter_mut().for_each(|atom| *atom = of(*atom));
            let assigned = VirtualSite { site: of(site.index), construction };
            self.sites.push(AssignedSite { site: assigned, exclude_with: of(site.exclude_with) });
        }
        self.constraints.extend(template.constraints.iter().map(|([a, b], distance)| ([of(*a), of(*b)], *distance)));
    }

    /// Records the names of the template of a residue and of its patches.
    pub(super) fn name(&mut self, residue: usize, template: &Template) {
        let names = TemplateNames { residue: template.name.clone(), patches: template.patches.clone() };
        self.names[residue] = Some(names);
    }
}
