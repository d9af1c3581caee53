//! Changes to the atoms and residues of a cleaned structure. All indices of atoms and residues are updated.

use std::collections::{BTreeMap, HashSet};

use md_engine::vec3::Vec3;

use crate::entry::{Cleaned, GapPlace, ResidueInfo, ResidueKind, standard_residue};
use crate::structure::{Atom, Residue};

/// An atom that is added to a residue.
#[derive(Clone, Debug)]
pub(super) struct NewAtom {
    pub(super) name: String,
    /// position, nm
    pub(super) position: Vec3,
}

/// A residue that is added to a chain.
#[derive(Clone, Debug)]
pub(super) struct NewResidue {
    /// name of a standard residue
    pub(super) name: &'static str,
    pub(super) number: i32,
    pub(super) insertion_code: Option<char>,
    pub(super) atoms: Vec<NewAtom>,
}

/// Changes that are made together. All indices refer to the structure before the changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Edit {
    /// atoms that are removed; a residue without atoms is removed as well
    pub(super) removed: HashSet<usize>,
    /// atoms that are added to residues
    pub(super) added: BTreeMap<usize, Vec<NewAtom>>,
    /// residues that are inserted before the residue with the given index; the atom C of the new residue is bonded to
    /// this following residue
    pub(super) before: BTreeMap<usize, NewResidue>,
    /// residues that are inserted after the residue with the given index; the atom N of the new residue is bonded to
    /// this preceding residue
    pub(super) after: BTreeMap<usize, NewResidue>,
}

/// Returns the atomic number of a heavy atom of a standard residue. The first letter of the atom name gives the
/// element.
pub(super) fn element_of(name: &str) -> u8 {
    match name.as_bytes().first() {
        Some(b'N') => 7,
        Some(b'O') => 8,
        Some(b'P') => 15,
        Some(b'S') => 16,
        _ => 6,
    }
}

/// Removes atoms from the list of missing atoms: all atoms whose residue index satisfies `is_residue` and whose name
/// satisfies `is_name`.
pub(super) fn no_longer_missing(
    cleaned: &mut Cleaned,
    is_residue: impl Fn(usize) -> bool,
    is_name: impl Fn(&str) -> bool,
) {
    for missing in cleaned.missing_atoms.iter_mut().filter(|missing| is_residue(missing.residue as usize)) {
        missing.names.retain(|name| !is_name(name));
    }
    cleaned.missing_atoms.retain(|missing| !missing.names.is_empty());
}

/// Atoms and residues after the changes, with the new index of each old atom and residue.
#[derive(Default)]
struct Made {
    residues: Vec<Residue>,
    infos: Vec<ResidueInfo>,
    atoms: Vec<Atom>,
    positions: Vec<Vec3>,
    new_atom: Vec<Option<u32>>,
    new_residue: Vec<Option<u32>>,
    /// new indices of the residues to which atoms were added
    changed: Vec<usize>,
    /// new index of each residue with a peptide bond to the next residue, if one of these two residues was added
    joined: Vec<usize>,
    /// whether each atom of the new structure is an added atom
    is_added: Vec<bool>,
}

impl Made {
    fn add(&mut self, atoms: &[NewAtom]) {
        for NewAtom { name, position } in atoms {
            self.atoms.push(Atom { name: name.clone(), element: element_of(name) });
            self.positions.push(*position);
            self.is_added.push(true);
        }
    }

    fn add_residue(&mut self, new: &NewResidue, chain: u32) {
        self.changed.push(self.residues.len());
        let (name, first) = (new.name.to_owned(), self.atoms.len() as u32);
        self.residues.push(Residue { name, number: new.number, insertion_code: new.insertion_code, chain, first });
        let given_name = new.name.to_owned();
        let kind = Some(ResidueKind::Protein);
        self.infos.push(ResidueInfo { kind, is_polymer: true, given_name, position: None, is_rebuilt: true });
        self.add(&new.atoms);
    }

    /// Copies residue `index` and applies the changes of this residue.
    fn take(&mut self, cleaned: &Cleaned, edit: &Edit, index: usize) {
        let old = &cleaned.structure.residues[index];
        if let Some(new) = edit.before.get(&index) {
            self.joined.push(self.residues.len());
            self.add_residue(new, old.chain);
        }
        let first = self.atoms.len();
        for atom in cleaned.structure.residue_atoms(index) {
            let is_kept = !edit.removed.contains(&atom);
            self.new_atom.push(is_kept.then_some(self.atoms.len() as u32));
            if is_kept {
                self.atoms.push(cleaned.structure.atoms[atom].clone());
                self.positions.push(cleaned.positions[atom]);
                self.is_added.push(false);
            }
        }
        let mut info = cleaned.residues[index].clone();
        if let Some(atoms) = edit.added.get(&index) {
            self.changed.push(self.residues.len());
            self.add(atoms);
            info.is_rebuilt |= atoms.iter().any(|atom| atom.name != "OXT");
        }
        let is_kept = self.atoms.len() > first;
        self.new_residue.push(is_kept.then_some(self.residues.len() as u32));
        if is_kept {
            self.residues.push(Residue { first: first as u32, ..old.clone() });
            self.infos.push(info);
        }
        if let Some(new) = edit.after.get(&index) {
            self.joined.push(self.residues.len() - 1);
            self.add_residue(new, old.chain);
        }
    }
}

impl Edit {
    /// Applies the changes to a structure. The bonds of added atoms are taken from the table of standard residues.
    pub(super) fn apply(&self, cleaned: &mut Cleaned) {
        let mut made = Made::default();
        for index in 0..cleaned.structure.residues.len() {
            made.take(cleaned, self, index);
        }
        let Made { residues, infos, atoms, positions, new_atom, new_residue, changed, joined, is_added } = made;
        let pair = |pair: &[u32; 2]| Some([new_atom[pair[0] as usize]?, new_atom[pair[1] as usize]?]);
        let structure = &mut cleaned.structure;
        structure.bonds = structure.bonds.iter().filter_map(pair).collect();
        (structure.residues, structure.atoms, cleaned.residues, cleaned.positions) =
            (residues, atoms, infos, positions);
        for index in changed {
            let Some(standard) = standard_residue(&structure.residues[index].name) else { continue };
            for [a, b] in &standard.bonds {
                let (Some(a), Some(b)) = (structure.atom_named(index, a), structure.atom_named(index, b)) else {
                    continue;
                };
                if is_added[a] || is_added[b] {
                    structure.bonds.push([a.min(b) as u32, a.max(b) as u32]);
                }
            }
        }
        for index in joined {
            if let (Some(a), Some(b)) = (structure.atom_named(index, "C"), structure.atom_named(index + 1, "N")) {
                structure.bonds.push([a as u32, b as u32]);
            }
        }
        cleaned.disulfides = cleaned.disulfides.iter().filter_map(pair).collect();
        renumber(cleaned, &new_atom, &new_residue);
    }
}

/// Replaces old indices by new indices in the lists of metals, gaps and residues.
fn renumber(cleaned: &mut Cleaned, new_atom: &[Option<u32>], new_residue: &[Option<u32>]) {
    cleaned.metal_sites.retain_mut(|site| {
        site.donors.retain_mut(|(atom, _)| new_atom[*atom as usize].inspect(|new| *atom = *new).is_some());
        new_atom[site.metal as usize].inspect(|new| site.metal = *new).is_some()
    });
    let moved = |residue: &mut u32| new_residue[*residue as usize].inspect(|new| *residue = *new).is_some();
    cleaned.missing_atoms.retain_mut(|missing| moved(&mut missing.residue));
    cleaned.unsupported.retain_mut(|found| moved(&mut found.residue));
    cleaned.gaps.retain_mut(|gap| match &mut gap.place {
        GapPlace::Start { before } => moved(before),
        GapPlace::Inner { after, before } => moved(after) && moved(before),
        GapPlace::End { after } => moved(after),
    });
}
