//! Impropers of CHARMM, which are listed by the atom names of residues and patches.

use std::collections::HashMap;

use super::literal::Literal;
use super::{Tables, map};

/// An improper: for each of the four atoms, the offset of its residue from the current residue, and the atom name.
pub(in crate::forcefield) type NamedImproper = [(i64, String); 4];
/// Classes of the four atoms; `None` stands for any class.
type Classes = [Option<String>; 4];

/// Parameters of an improper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::forcefield) enum ImproperParameters {
    /// periodic energy k (1 + cos(nφ − φ₀)) of the torsion φ: periodicity n, phase φ₀ (rad), force constant k (kJ/mol)
    Periodic { periodicity: u8, phase: f64, force_constant: f64 },
    /// harmonic energy ½ k (φ − φ₀)² of the torsion φ: equilibrium angle φ₀ (rad), force constant k (kJ/mol/rad²)
    Harmonic { angle: f64, force_constant: f64 },
}

/// Impropers of residues and patches by atom names, and their parameters by atom classes.
#[derive(Clone, Debug)]
pub(in crate::forcefield) struct CharmmImpropers {
    of_residues: HashMap<String, Vec<NamedImproper>>,
    of_patches: HashMap<String, Vec<NamedImproper>>,
    deleted: HashMap<String, Vec<NamedImproper>>,
    residue_order: HashMap<String, u32>,
    patch_order: HashMap<String, u32>,
    parameters: [HashMap<Classes, ImproperParameters>; 2],
}

impl CharmmImpropers {
    pub(super) fn read(tables: &Tables) -> Option<Self> {
        let impropers = |key: &Literal, value: &Literal| {
            let list = value.tuple()?.iter().map(named_improper).collect::<Option<_>>()?;
            Some((key.text()?.to_owned(), list))
        };
        let order = |key: &Literal, value: &Literal| Some((key.text()?.to_owned(), value.number()? as u32));
        let periodic = |key: &Literal, value: &Literal| {
            let [n, phase, k] = value.items::<3>()?;
            let periodicity = n.number().filter(|n| (0.0..=32.0).contains(n) && n.fract() == 0.0)? as u8;
            let (phase, force_constant) = (phase.number()?, k.number()?);
            Some((classes(key)?, ImproperParameters::Periodic { periodicity, phase, force_constant }))
        };
        let harmonic = |key: &Literal, value: &Literal| {
            let [parameters] = value.items::<1>()?;
            let [k, angle] = parameters.items::<2>()?;
            let (angle, force_constant) = (angle.number()?, 2.0 * k.number()?);
            Some((classes(key)?, ImproperParameters::Harmonic { angle, force_constant }))
        };
        Some(Self {
            of_residues: map(tables, "residue_impropers", impropers)?,
            of_patches: map(tables, "patch_impropers", impropers)?,
            deleted: map(tables, "delete_impropers", impropers)?,
            residue_order: map(tables, "residue_order", order)?,
            patch_order: map(tables, "patch_order", order)?,
            parameters: [
                map(tables, "periodic_improper_types", periodic)?,
                map(tables, "harmonic_improper_types", harmonic)?,
            ],
        })
    }

    /// Returns the impropers of a residue; `names` holds the names of the residue template and of the applied patches.
    pub(in crate::forcefield) fn of_templates(&self, names: &[&str]) -> Vec<&NamedImproper> {
        let sorted = |known: &HashMap<String, Vec<NamedImproper>>, order: &HashMap<String, u32>| {
            let mut found: Vec<&str> = names.iter().copied().filter(|&name| known.contains_key(name)).collect();
            found.sort_by_key(|&name| (order.get(name).copied().unwrap_or(u32::MAX), name));
            found.dedup();
            found
        };
        let mut impropers: Vec<&NamedImproper> = vec![];
        for name in sorted(&self.of_residues, &self.residue_order) {
            extend(&mut impropers, &self.of_residues[name]);
        }
        for name in sorted(&self.of_patches, &self.patch_order) {
            if let Some(deleted) = self.deleted.get(name) {
                impropers.retain(|improper| !deleted.contains(improper));
            }
            extend(&mut impropers, &self.of_patches[name]);
        }
        impropers
    }

    /// Returns the periodic and the harmonic parameters of an improper whose atoms have these classes. Parameters with
    /// fewer wildcards have precedence.
    pub(in crate::forcefield) fn parameters(&self, classes: [&str; 4]) -> [Option<ImproperParameters>; 2] {
        // sets of wildcard positions in the order of OpenMM: by size, then in lexicographic order
        let mut sets: Vec<Vec<usize>> = (0u32..16).map(|set| (0..4).filter(|k| set >> k & 1 == 1).collect()).collect();
        sets.sort_by_key(|set| (set.len(), set.clone()));
        let key = |set: &Vec<usize>| -> Classes {
            std::array::from_fn(|k| (!set.contains(&k)).then(|| classes[k].to_owned()))
        };
        let keys: Vec<Classes> = sets.iter().map(key).collect();
        self.parameters.each_ref().map(|table| keys.iter().find_map(|key| table.get(key)).copied())
    }
}

/// Adds those impropers of `more` that `impropers` does not contain yet.
fn extend<'a>(impropers: &mut Vec<&'a NamedImproper>, more: &'a [NamedImproper]) {
    for improper in more {
        if !impropers.contains(&improper) {
            impropers.push(improper);
        }
    }
}

fn named_improper(literal: &Literal) -> Option<NamedImproper> {
    let atom = |item: &Literal| {
        let [offset, name] = item.items::<2>()?;
        Some((offset.number()? as i64, name.text()?.to_owned()))
    };
    let [a, b, c, d] = literal.items::<4>()?;
    Some([atom(a)?, atom(b)?, atom(c)?, atom(d)?])
}

fn classes(literal: &Literal) -> Option<Classes> {
    let class = |item: &Literal| match item {
        Literal::Text(name) => Some(Some(name.clone())),
        Literal::None => Some(None),
        _ => None,
    };
    let [a, b, c, d] = literal.items::<4>()?;
    Some([class(a)?, class(b)?, class(c)?, class(d)?])
}
