//! Patches: changes to templates, for example for the ends of a chain or a disulfide bridge.

use std::collections::HashMap;
use std::sync::Arc;

use md_engine::format::xml::Node;
use md_engine::system::Construction;

use super::Parsed;
use super::atom_types::AtomTypes;
use super::residues::{Atoms, read_atom, read_site, residue_number};
use super::template::{Site, Template, TemplateAtom};

/// Largest number of residues that one patch may change.
const MOST_RESIDUES: usize = 4;

/// An atom of a patch: index of the residue within the patch, and atom name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct PatchAtom {
    pub(super) residue: usize,
    pub(super) name: Arc<str>,
}

/// A patch of one or several residues.
#[derive(Clone, Debug, Default)]
pub(super) struct Patch {
    pub(super) name: Arc<str>,
    /// number of residues that the patch changes together
    pub(super) residues: usize,
    added: Vec<(usize, TemplateAtom)>,
    changed: Vec<(usize, TemplateAtom)>,
    removed: Vec<PatchAtom>,
    /// bonds that the patch adds, within a residue or between residues
    pub(super) added_bonds: Vec<[PatchAtom; 2]>,
    removed_bonds: Vec<[PatchAtom; 2]>,
    added_external: Vec<PatchAtom>,
    removed_external: Vec<PatchAtom>,
    /// virtual sites; their atom indices refer to a list that consists of the added atoms and then the changed atoms
    sites: Vec<Site>,
    /// names, as written in the file, of all atoms that the patch adds, changes or removes
    pub(super) touched: Vec<Arc<str>>,
}

/// A patch, and the templates to which the patch may be applied. Each template is listed by its name and by the index
/// of the residue within the patch.
pub(super) struct ReadPatch {
    pub(super) patch: Patch,
    pub(super) applies_to: Vec<(Arc<str>, usize)>,
}

/// Reads an element `<Patch>`.
pub(super) fn read(node: &Node<'_>, types: &AtomTypes) -> Parsed<ReadPatch> {
    if node.name() != "Patch" {
        return Err(node.problem("expected <Patch>"));
    }
    let residues = match node.attribute("residues") {
        None => 1,
        Some(_) => node.index("residues", MOST_RESIDUES + 1)?.max(1) as usize,
    };
    let mut patch = Patch { name: node.text("name")?.into(), residues, ..Patch::default() };
    let mut applies_to = vec![];
    let mut sites = vec![];
    for child in node.children() {
        let atom = |attribute| patch_atom(&child, attribute, residues);
        let pair = || Ok([atom("atomName1")?, atom("atomName2")?]);
        match child.name() {
            "AddAtom" | "ChangeAtom" => {
                let PatchAtom { residue, name } = atom("name")?;
                let found = TemplateAtom { name, ..read_atom(&child, types)? };
                patch.touch(&child)?;
                let list = if child.name() == "AddAtom" { &mut patch.added } else { &mut patch.changed };
                list.push((residue, found));
            }
            "RemoveAtom" => {
                patch.removed.push(atom("name")?);
                patch.touch(&child)?;
            }
            "AddBond" => patch.added_bonds.push(pair()?),
            "RemoveBond" => patch.removed_bonds.push(pair()?),
            "AddExternalBond" => patch.added_external.push(atom("atomName")?),
            "RemoveExternalBond" => patch.removed_external.push(atom("atomName")?),
            "VirtualSite" => sites.push(child),
            "ApplyToResidue" => {
                let (residue, name) = numbered(&child, child.text("name")?)?;
                applies_to.push((name.into(), residue));
            }
            _ => {
                return Err(child
                    .problem("is unknown in <Patch>")
                    .help("remove the element, or use a force field without this element"));
            }
        }
    }
    patch.read_sites(&sites)?;
    Ok(ReadPatch { patch, applies_to })
}

/// Reads an atom of a patch, such as `CB` or `2:CB`.
fn patch_atom(node: &Node<'_>, attribute: &str, residues: usize) -> Parsed<PatchAtom> {
    let (residue, name) = numbered(node, node.text(attribute)?)?;
    if residue >= residues {
        return Err(node.problem(format!(
            "the element names residue {}, but the patch has only {residues} residues",
            residue + 1
        )));
    }
    Ok(PatchAtom { residue, name: name.into() })
}

/// Reads a name that may begin with the number of a residue within the patch, such as `CYS` or `2:CYS`. Returns the
/// index of the residue, and the name.
fn numbered<'t>(node: &Node<'_>, text: &'t str) -> Parsed<(usize, &'t str)> {
    let Some((number, name)) = text.split_once(':') else { return Ok((0, text)) };
    Ok((residue_number(node, number)?, name))
}

impl Patch {
    /// Records the name of an atom that the patch adds, changes or removes. Fails if the patch names the atom twice.
    fn touch(&mut self, node: &Node<'_>) -> Parsed<()> {
        let name = node.text("name")?;
        if self.touched.iter().any(|known| &**known == name) {
            return Err(node.problem(format!("the patch {} names the atom {name} twice", self.name)));
        }
        self.touched.push(name.into());
        Ok(())
    }

    fn read_sites(&mut self, nodes: &[Node<'_>]) -> Parsed<()> {
        let Some(first) = nodes.first() else { return Ok(()) };
        if self.residues > 1 {
            let problem = first.problem("a patch of several residues cannot have a virtual site");
            return Err(problem.help("define the site in the template of the residue"));
        }
        let atoms: Vec<Arc<str>> = self.changes().map(|(_, atom)| atom.name.clone()).collect();
        let indices: HashMap<&str, u32> = atoms.iter().map(|name| &**name).zip(0..).collect();
        for node in nodes {
            self.sites.push(read_site(&Atoms { node, indices: &indices, count: atoms.len() })?);
        }
        Ok(())
    }

    /// Returns the added atoms, then the changed atoms, with the indices of their residues.
    fn changes(&self) -> impl Iterator<Item = &(usize, TemplateAtom)> {
        self.added.iter().chain(&self.changed)
    }

    /// Returns the elements of the atoms that the patch adds to the template of one residue, and the elements of the
    /// atoms that it removes. An atom whose element changes is added and removed.
    pub(super) fn elements(
        &self,
        template: &Template,
        residue: usize,
    ) -> (impl Iterator<Item = u8>, impl Iterator<Item = u8>) {
        let element = move |name: &str| template.find(name).map(|index| template.atoms[index as usize].element);
        let changed = move |(of, atom): &&(usize, TemplateAtom)| {
            *of == residue && element(&atom.name).is_some_and(|old| old != atom.element)
        };
        let added = self.added.iter().filter(move |(of, _)| *of == residue);
        let added = added.chain(self.changed.iter().filter(changed)).map(|(_, atom)| atom.element);
        let removed = self.removed.iter().filter(move |atom| atom.residue == residue).map(|atom| &atom.name);
        let removed = removed.chain(self.changed.iter().filter(changed).map(|(_, atom)| &atom.name));
        (added, removed.filter_map(move |name| element(name)))
    }

    /// Applies a patch to the template of one residue; `residue` is the index of this residue within the patch. Returns
    /// `None` if the template lacks an atom that the patch needs, or has an atom that the patch adds.
    pub(super) fn apply(&self, template: &Template, residue: usize) -> Option<Template> {
        let is = |atom: &PatchAtom, name: &str| atom.residue == residue && &*atom.name == name;
        let mut patches = template.patches.clone();
        patches.push(self.name.clone());
        let mut new = Template { name: template.name.clone(), patches, ..Template::default() };
        let mut kept: Vec<Option<u32>> = vec![];
        for atom in &template.atoms {
            let keep = !self.removed.iter().any(|removed| is(removed, &atom.name));
            kept.push(keep.then_some(new.atoms.len() as u32));
            if keep {
                new.atoms.push(TemplateAtom { bonded: vec![], external: 0, ..atom.clone() });
            }
        }
        for (_, atom) in self.added.iter().filter(|(of, _)| *of == residue) {
            if new.find(&atom.name).is_some() {
                return None;
            }
            new.atoms.push(atom.clone());
        }
        for (_, atom) in self.changed.iter().filter(|(of, _)| *of == residue) {
            let index = new.find(&atom.name)?;
            new.atoms[index as usize] = atom.clone();
        }
        // if the patch removes an atom and adds an atom with the same name, the virtual sites, bonds and constraints of
        // the atom are kept
        let moved = |old: u32| kept[old as usize].or_else(|| new_index(&new, template, old));
        let moved: Vec<Option<u32>> = (0..template.atoms.len() as u32).map(moved).collect();
        self.apply_bonds(template, residue, &moved, &mut new)?;
        self.apply_sites(template, &moved, &mut new)?;
        for ([a, b], distance) in &template.constraints {
            if let [Some(a), Some(b)] = [moved[*a as usize], moved[*b as usize]] {
                new.constraints.push(([a, b], *distance));
            }
        }
        Some(new)
    }

    fn apply_bonds(&self, old: &Template, residue: usize, moved: &[Option<u32>], new: &mut Template) -> Option<()> {
        let name = |atom: u32| &*old.atoms[atom as usize].name;
        let same = |atom: &PatchAtom, other: u32| atom.residue == residue && &*atom.name == name(other);
        for &[a, b] in &old.bonds {
            let removed = |[x, y]: &[PatchAtom; 2]| (same(x, a) && same(y, b)) || (same(x, b) && same(y, a));
            if self.removed_bonds.iter().any(removed) {
                continue;
            }
            if let [Some(a), Some(b)] = [moved[a as usize], moved[b as usize]] {
                new.add_bond([a, b]);
            }
        }
        for &atom in &old.external_bonds {
            if !self.removed_external.iter().any(|removed| same(removed, atom)) {
                new.add_external_bond(moved[atom as usize]?);
            }
        }
        for [a, b] in &self.added_bonds {
            match [a.residue == residue, b.residue == residue] {
                [true, true] => {
                    let pair = [new.find(&a.name)?, new.find(&b.name)?];
                    new.add_bond(pair);
                }
                [true, false] => new.add_external_bond(new.find(&a.name)?),
                [false, true] => new.add_external_bond(new.find(&b.name)?),
                [false, false] => {}
            }
        }
        for atom in self.added_external.iter().filter(|atom| atom.residue == residue) {
            new.add_external_bond(new.find(&atom.name)?);
        }
        Some(())
    }

    fn apply_sites(&self, old: &Template, moved: &[Option<u32>], new: &mut Template) -> Option<()> {
        for site in &old.sites {
            let place = |atom: u32| moved[atom as usize];
            if let (Some(index), Some(construction)) = (place(site.index), renumbered(&site.construction, place)) {
                new.sites.push(Site { index, construction, exclude_with: place(site.exclude_with)? });
            }
        }
        let names: Vec<&str> = self.changes().map(|(_, atom)| &*atom.name).collect();
        for site in &self.sites {
            let place = |atom: u32| new.find(names[atom as usize]);
            let index = place(site.index)?;
            let construction = renumbered(&site.construction, place)?;
            let site = Site { index, construction, exclude_with: place(site.exclude_with)? };
            new.sites.retain(|known| known.index != index);
            new.sites.push(site);
        }
        Some(())
    }
}

/// Returns the construction of a virtual site with new atom indices; `None` if an atom has no new index.
fn renumbered(construction: &Construction, place: impl Fn(u32) -> Option<u32>) -> Option<Construction> {
    let mut construction = construction.clone();
    for atom in construction.atoms_mut() {
        *atom = place(*atom)?;
    }
    Some(construction)
}

/// Returns the index, in the new template, of the atom with the same name as an atom of the old template.
fn new_index(new: &Template, old: &Template, atom: u32) -> Option<u32> {
    new.find(&old.atoms[atom as usize].name)
}
