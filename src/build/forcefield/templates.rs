//! All templates and patches of a force field.

use std::collections::HashMap;
use std::sync::Arc;

use md_engine::error::Problem;
use md_engine::format::xml::Node;

use super::Parsed;
use super::atom_types::AtomTypes;
use super::patch::{self, Patch, ReadPatch};
use super::residues::{self, ReadTemplate};
use super::template::{Composition, Template};

/// Largest number of patches that may be applied to a template.
const MOST_PATCHES: usize = 64;
/// Largest number of combinations of templates and patches that are tried.
const MOST_COMBINATIONS: usize = 1_000_000;

/// Name of a patch that may be applied to a template, and index of the residue within the patch.
type Allowed = (Arc<str>, usize);

/// Templates and patches.
#[derive(Clone, Debug, Default)]
pub(super) struct Templates {
    list: Vec<Template>,
    levels: HashMap<Arc<str>, i32>,
    by_composition: HashMap<Composition, Vec<usize>>,
    pub(super) patches: Vec<Patch>,
    /// names of templates, each with its allowed patches in the order of the files
    allowed: Vec<(Arc<str>, Vec<Allowed>)>,
    allowed_index: HashMap<Arc<str>, usize>,
}

impl Templates {
    /// Adds the templates of an element `<Residues>`.
    pub(super) fn read_residues(&mut self, list: &Node<'_>, types: &AtomTypes) -> Parsed<()> {
        for node in list.children() {
            let ReadTemplate { template, level, allowed } = residues::read(&node, types)?;
            let name = template.name.clone();
            for (patch, residue) in allowed {
                self.allow(&node, name.clone(), patch, residue)?;
            }
            match self.levels.get(&name) {
                Some(&known) if level < known => continue,
                Some(&known) if level == known => {
                    let problem =
                        node.problem(format!("the template {name} is defined twice with the override level {level}"));
                    return Err(
                        problem.help("use only one of the files, or give one of the templates a higher `override`")
                    );
                }
                Some(_) => self.list.retain(|known| known.name != name),
                None => {}
            }
            self.levels.insert(name, level);
            self.list.push(template);
        }
        Ok(())
    }

    /// Adds the patches of an element `<Patches>`.
    pub(super) fn read_patches(&mut self, list: &Node<'_>, types: &AtomTypes) -> Parsed<()> {
        for node in list.children() {
            let ReadPatch { patch, applies_to } = patch::read(&node, types)?;
            for (template, residue) in applies_to {
                self.allow(&node, template, patch.name.clone(), residue)?;
            }
            if self.patches.iter().any(|known| known.name == patch.name) {
                return Err(node
                    .problem(format!("the patch {} is defined twice", patch.name))
                    .help("use only one of the files"));
            }
            self.patches.push(patch);
        }
        Ok(())
    }

    fn allow(&mut self, node: &Node<'_>, template: Arc<str>, patch: Arc<str>, residue: usize) -> Parsed<()> {
        let index = *self.allowed_index.entry(template.clone()).or_insert_with(|| {
            self.allowed.push((template, vec![]));
            self.allowed.len() - 1
        });
        let patches = &mut self.allowed[index].1;
        if !patches.contains(&(patch.clone(), residue)) {
            patches.push((patch, residue));
        }
        match patches.len() > MOST_PATCHES {
            true => Err(node.problem(format!("a residue allows more than {MOST_PATCHES} patches"))),
            false => Ok(()),
        }
    }

    /// Sorts the templates by composition, after all files are read.
    pub(super) fn finish(&mut self) {
        for (index, template) in self.list.iter().enumerate() {
            self.by_composition.entry(template.composition()).or_default().push(index);
        }
    }

    /// Adds a template to which no patch may be applied, after all files are read. A template of the same name is
    /// replaced.
    pub(super) fn add(&mut self, template: Template) {
        if let Some(index) = self.list.iter().position(|known| known.name == template.name) {
            self.by_composition.values_mut().for_each(|list| list.retain(|&known| known != index));
            self.allowed_index.remove(&template.name);
        }
        self.by_composition.entry(template.composition()).or_default().push(self.list.len());
        self.list.push(template);
    }

    /// Returns all templates, without patches applied.
    pub(super) fn all(&self) -> &[Template] {
        &self.list
    }

    /// Returns the templates with the given numbers of atoms of each element, without patches applied.
    pub(super) fn of_composition(&self, composition: &Composition) -> impl Iterator<Item = &Template> + use<'_> {
        let indices = self.by_composition.get(composition).map(Vec::as_slice).unwrap_or_default();
        indices.iter().map(|&index| &self.list[index])
    }

    fn patch(&self, name: &str) -> Option<usize> {
        self.patches.iter().position(|patch| &*patch.name == name)
    }

    /// Returns the template with this name, without patches applied.
    pub(super) fn named(&self, name: &str) -> Option<&Template> {
        self.list.iter().rev().find(|template| &*template.name == name)
    }

    /// Calls `see` with every template that results from patches of a single residue, either one patch or several
    /// combined patches. The order of the templates is that of OpenMM. Patches are combined only if no two of the
    /// patches add, change or remove the same atom. Templates are skipped if no combination of patches, including
    /// patches of several residues, can give them one of the wanted compositions.
    pub(super) fn for_each_patched(
        &self,
        wanted: &[Composition],
        mut see: impl FnMut(Template),
    ) -> Result<(), Problem> {
        let mut budget = MOST_COMBINATIONS;
        for template in &self.list {
            let Some(&index) = self.allowed_index.get(&template.name) else { continue };
            if !self.may_become(template, &self.allowed[index].1, wanted) {
                continue;
            }
            let patches = self.allowed[index].1.iter().filter_map(|(name, _)| self.patch(name));
            let mut patches: Vec<usize> = patches.filter(|&patch| self.patches[patch].residues == 1).collect();
            patches.sort_unstable();
            patches.dedup();
            let patches: Vec<&Patch> = patches.into_iter().map(|patch| &self.patches[patch]).collect();
            combine(template, &patches, &[], &mut budget, &mut see)?;
        }
        Ok(())
    }

    /// Returns whether the numbers of atoms that patches add and remove allow one of the wanted compositions. Some
    /// combinations of patches are impossible, so that `true` may be returned although no combination gives a wanted
    /// composition.
    fn may_become(&self, template: &Template, allowed: &[Allowed], wanted: &[Composition]) -> bool {
        let mut fewest = [0; 256];
        template.atoms.iter().for_each(|atom| fewest[usize::from(atom.element)] += 1);
        let mut most = fewest;
        for (name, residue) in allowed {
            let Some(patch) = self.patch(name) else { continue };
            let (added, removed) = self.patches[patch].elements(template, *residue);
            added.for_each(|element| most[usize::from(element)] += 1);
            removed.for_each(|element| fewest[usize::from(element)] -= 1);
        }
        wanted.iter().any(|composition| {
            let mut counts = [0; 256];
            composition.iter().for_each(|&(element, count)| counts[usize::from(element)] = count as i32);
            (1..counts.len()).all(|element| (fewest[element]..=most[element]).contains(&counts[element]))
        })
    }

    /// Returns the unpatched templates to which `patch` may be applied; `residue` is the index of the residue within
    /// the patch.
    pub(super) fn allowing(&self, patch: &Patch, residue: usize) -> impl Iterator<Item = &Template> {
        let name = patch.name.clone();
        let allows = move |patches: &[Allowed]| patches.contains(&(name.clone(), residue));
        let names = self.allowed.iter().filter(move |(_, patches)| allows(patches)).map(|(template, _)| template);
        names.filter_map(|template| self.named(template))
    }
}

/// Applies all combinations of patches to a template. The recursion depth is at most the number of patches, which is
/// small.
fn combine(
    template: &Template,
    patches: &[&Patch],
    touched: &[Arc<str>],
    budget: &mut usize,
    see: &mut impl FnMut(Template),
) -> Result<(), Problem> {
    let Some((first, rest)) = patches.split_first() else { return Ok(()) };
    let free = !first.touched.iter().any(|name| touched.contains(name));
    let patched = if free { first.apply(template, 0) } else { None };
    *budget = budget.checked_sub(1).ok_or_else(|| {
        let problem = Problem::new(format!("patches of the force field give more than {MOST_COMBINATIONS} templates"));
        problem.help("allow fewer patches for each residue")
    })?;
    if let Some(patched) = &patched {
        see(patched.clone());
    }
    combine(template, rest, touched, budget, see)?;
    if let Some(patched) = patched {
        let touched: Vec<Arc<str>> = touched.iter().chain(&first.touched).cloned().collect();
        combine(&patched, rest, &touched, budget, see)?;
    }
    Ok(())
}
