//! Bonds that the file states, and that are cut because one of the two residues was left out.

use std::collections::BTreeSet;

use md_engine::vec3::Vec3;

use super::decision::{Decision, Subject};
use super::draft::Draft;
use super::links::Places;
use super::metals::is_metal;
use super::model::{Address, Entry, LinkKind};

/// Reports each bond of the file between a residue of the structure and a residue that was left out. Bonds of metals
/// and bonds longer than `longest` (nm) do not count as covalent bonds.
pub(super) fn report(draft: &Draft<'_>, places: &Places<'_>, longest: f64, decisions: &mut Vec<Decision>) {
    let mut reported: BTreeSet<(u32, String)> = BTreeSet::new();
    let is_bond = |kind| matches!(kind, LinkKind::Covalent | LinkKind::Connection);
    for link in draft.entry.links.iter().filter(|link| is_bond(link.kind) && !link.is_symmetry) {
        let [a, b] = &link.ends;
        for (kept, dropped) in [(a, b), (b, a)] {
            let Some(atom) = places.first(kept).filter(|_| !places.has_residue(dropped)) else { continue };
            let (Some(here), Some(there)) = (find(draft.entry, kept), find(draft.entry, dropped)) else { continue };
            let has_metal = is_metal(here.0) || is_metal(there.0);
            if has_metal || (here.1 - there.1).norm() > longest {
                continue;
            }
            let Address { chain, residue, number, insertion_code, atom: name } = dropped;
            let other = super::choose::label(residue, *number, *insertion_code, chain);
            if reported.insert((atom, format!("{name} of {other}"))) {
                let place = draft.structure.atom_label(atom as usize);
                let why = format!("{residue} was left out; md build completes the valence of {}", kept.atom);
                decisions.push(Decision::new(Subject::Bonds, place, format!("cut the bond to {name} of {other}"), why));
            }
        }
    }
}

/// Returns the atomic number and the position of an atom of the entry.
fn find(entry: &Entry, address: &Address) -> Option<(u8, Vec3)> {
    let chains = entry.chains.iter().filter(|chain| chain.id == address.chain);
    let mut residues = chains.flat_map(|chain| &chain.residues).filter(|residue| {
        (residue.number, residue.insertion_code, &residue.name)
            == (address.number, address.insertion_code, &address.residue)
    });
    residues.find_map(|residue| {
        let atom = residue.atoms.iter().find(|atom| atom.name == address.atom)?;
        Some((atom.element, atom.position))
    })
}
