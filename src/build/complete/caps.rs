//! Caps of peptide chains: acetyl (ACE) before the first residue of a chain segment, and N-methyl (NME) after the last
//! residue.
//!
//! Bond lengths and angles are those of peptides (Engh & Huber, Acta Cryst. A47, 392 (1991),
//! doi:10.1107/S0108767391001071). Peptide bonds are trans.

use std::collections::{BTreeSet, HashMap};
use std::f64::consts::PI;

use md_engine::vec3::Vec3;

use super::completion;
use super::edit::{Edit, NewAtom, NewResidue, no_longer_missing};
use super::heavy::CARBONYL;
use super::surroundings::CLASH;
use crate::entry::caps::{Numbers, number_of_cap};
use crate::entry::{Cleaned, GapPlace, ResidueKind};
use crate::geometry::{opposite, placed};
use crate::structure::{Structure, neighbours};

/// Lengths of the bonds C–N, CA–C and N–CA, nm.
const PEPTIDE: f64 = 0.1329;
const CARBON: f64 = 0.1525;
const NITROGEN: f64 = 0.1458;
/// Angles C–N–CA and CA–C–N, rad (121.7° and 116.2°).
const AT_NITROGEN: f64 = 2.124_065_699_677;
const AT_CARBON: f64 = 2.028_072_590_817;
/// Number of torsions about the bond N–CA that are tried for an acetyl group.
const TURNS: usize = 36;

/// Rule that decides which ends of peptide chains get caps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Caps {
    /// no caps: structures in which residues are missing within a chain are refused
    #[default]
    None,
    /// caps at both sides of missing residues within a chain
    Gaps,
    /// caps at both sides of missing residues, and at the ends of each chain
    GapsAndEnds,
}

/// Residues to which ACE is added, and residues to which NME is added.
#[derive(Default)]
struct Ends {
    acetyl: BTreeSet<usize>,
    methyl: BTreeSet<usize>,
}

/// Adds caps to the structure. Gaps that now have caps are removed from the list of gaps. Returns the reasons why caps
/// cannot be added.
pub(super) fn cap(cleaned: &mut Cleaned, caps: Caps) -> Vec<String> {
    if caps == Caps::None {
        return vec![];
    }
    let ends = ends(cleaned, caps);
    let mut edit = Edit::default();
    let mut faults = vec![];
    for &residue in &ends.methyl {
        match methyl(cleaned, residue) {
            Ok(cap) => drop(edit.after.insert(residue, cap)),
            Err(reason) => faults.push(format!("NME after {} {reason}", cleaned.structure.residue_label(residue))),
        }
        edit.removed.extend(cleaned.structure.atom_named(residue, "OXT"));
    }
    let methyls: Vec<Vec3> = edit.after.values().flat_map(|cap| cap.atoms.iter().map(|atom| atom.position)).collect();
    for &residue in &ends.acetyl {
        match acetyl(cleaned, residue, &methyls) {
            Ok(cap) => drop(edit.before.insert(residue, cap)),
            Err(reason) => faults.push(format!("ACE before {} {reason}", cleaned.structure.residue_label(residue))),
        }
    }
    if !faults.is_empty() {
        return faults;
    }
    number(cleaned, &mut edit);
    let all = edit
        .before
        .iter()
        .map(|(at, new)| (at, "before", new))
        .chain(edit.after.iter().map(|(at, new)| (at, "after", new)));
    for (&residue, side, new) in all {
        let what = format!("added the cap {} {side} this residue", new.name);
        cleaned.decisions.push(completion(&cleaned.structure, residue, what, "caps were asked for"));
    }
    let is_open = |place: GapPlace| match place {
        GapPlace::Inner { after, before } => {
            !ends.methyl.contains(&(after as usize)) || !ends.acetyl.contains(&(before as usize))
        }
        _ => true,
    };
    cleaned.gaps.retain(|gap| is_open(gap.place));
    no_longer_missing(cleaned, |residue| ends.methyl.contains(&residue), |name| name == "OXT");
    edit.apply(cleaned);
    vec![]
}

/// Gives the caps numbers that no other residue of their chains has.
fn number(cleaned: &Cleaned, edit: &mut Edit) {
    let Structure { chains, residues, .. } = &cleaned.structure;
    let mut taken: HashMap<&str, Numbers> = HashMap::new();
    for residue in residues {
        let numbers = taken.entry(&chains[residue.chain as usize]).or_default();
        numbers.insert((residue.number, residue.insertion_code));
    }
    for (caps, step) in [(&mut edit.after, 1), (&mut edit.before, -1)] {
        for (&at, cap) in caps {
            let capped = &residues[at];
            let numbers = taken.entry(&chains[capped.chain as usize]).or_default();
            (cap.number, cap.insertion_code) = number_of_cap(numbers, capped.number, step);
        }
    }
}

/// Finds the residues to which caps are added: amino acids with all backbone atoms.
fn ends(cleaned: &Cleaned, caps: Caps) -> Ends {
    let structure = &cleaned.structure;
    let is_link = |residue: usize| {
        let is_polymer = cleaned.residues[residue].is_polymer;
        let is_amino = cleaned.residues[residue].kind == Some(ResidueKind::Protein);
        is_polymer && is_amino && ["N", "CA", "C"].iter().all(|name| structure.atom_named(residue, name).is_some())
    };
    let mut ends = Ends::default();
    for gap in &cleaned.gaps {
        if let GapPlace::Inner { after, before } = gap.place
            && is_link(after as usize)
            && is_link(before as usize)
        {
            ends.methyl.insert(after as usize);
            ends.acetyl.insert(before as usize);
        }
    }
    if caps == Caps::GapsAndEnds {
        let bonded = neighbours(structure.atoms.len(), &structure.bonds);
        let residue_of = structure.residue_of_atoms();
        let is_free = |residue: usize, name: &str| {
            let is_other = |&atom: &u32| residue_of[atom as usize] as usize != residue;
            structure.atom_named(residue, name).is_some_and(|atom| !bonded[atom].iter().any(is_other))
        };
        let links: Vec<usize> = (0..structure.residues.len()).filter(|&residue| is_link(residue)).collect();
        ends.acetyl.extend(links.iter().filter(|&&residue| is_free(residue, "N")));
        ends.methyl.extend(links.iter().filter(|&&residue| is_free(residue, "C")));
    }
    ends
}

/// Returns the smallest distance (nm) between the positions `places` and heavy atoms of the structure. Atoms of residue
/// `near` with the names `names` do not count, because bonds or angles fix their distances.
fn room(cleaned: &Cleaned, places: &[Vec3], near: usize, names: &[&str]) -> f64 {
    let Cleaned { structure, positions, .. } = cleaned;
    let own = structure.residue_atoms(near);
    let counts = |&atom: &usize| {
        let is_near = own.contains(&atom) && names.contains(&structure.atoms[atom].name.as_str());
        !is_near && structure.atoms[atom].element != 1
    };
    let others = (0..positions.len()).filter(counts).map(|atom| positions[atom]);
    nearest(places, others)
}

/// Returns the smallest distance (nm) between two sets of positions.
fn nearest(places: &[Vec3], others: impl Iterator<Item = Vec3>) -> f64 {
    let distances = others.flat_map(|other| places.iter().map(move |place| (*place - other).norm()));
    distances.fold(f64::INFINITY, f64::min)
}

fn clash_of(distance: f64) -> Result<(), String> {
    match distance < CLASH {
        true => Err(format!("clashes with other atoms ({distance:.2} nm)")),
        false => Ok(()),
    }
}

/// Returns the positions of the atoms `names` of a residue; fails if one of these atoms is missing.
fn backbone<const N: usize>(cleaned: &Cleaned, residue: usize, names: [&str; N]) -> Result<[Vec3; N], String> {
    let mut found = [Vec3::default(); N];
    for (place, name) in found.iter_mut().zip(names) {
        let atom = cleaned.structure.atom_named(residue, name);
        *place = cleaned.positions[atom.ok_or_else(|| format!("needs its atom {name}"))?];
    }
    Ok(found)
}

/// Returns a cap without a number.
fn new_residue<const N: usize>(name: &'static str, atoms: [(&str, Vec3); N]) -> NewResidue {
    let atoms = atoms.map(|(name, position)| NewAtom { name: name.to_owned(), position });
    NewResidue { name, number: 0, insertion_code: None, atoms: atoms.into() }
}

/// Returns an acetyl group on N. The torsion about N–CA maximizes the smallest distance of the acetyl group to atoms of
/// the structure and to `others`. In proline the ring fixes the torsion about N–CA.
fn acetyl(cleaned: &Cleaned, residue: usize, others: &[Vec3]) -> Result<NewResidue, String> {
    let [nitrogen, alpha, end] = backbone(cleaned, residue, ["N", "CA", "C"])?;
    let carbons: Vec<Vec3> = match backbone(cleaned, residue, ["CD", "N"]) {
        Ok([delta, _]) if cleaned.structure.residues[residue].name == "PRO" => {
            vec![opposite(nitrogen, [alpha, delta], PEPTIDE)]
        }
        _ => {
            let turn =
                |k: usize| placed([end, alpha, nitrogen], PEPTIDE, AT_NITROGEN, 2.0 * PI * k as f64 / TURNS as f64);
            (0..TURNS).map(turn).collect()
        }
    };
    let mut best: Option<(f64, [Vec3; 3])> = None;
    for carbon in carbons {
        let methyl = placed([alpha, nitrogen, carbon], CARBON, AT_CARBON, PI);
        let places = [carbon, opposite(carbon, [nitrogen, methyl], CARBONYL), methyl];
        let distance =
            room(cleaned, &places, residue, &["N", "CA", "CD"]).min(nearest(&places, others.iter().copied()));
        if best.is_none_or(|(most, _)| distance > most) {
            best = Some((distance, places));
        }
    }
    let (distance, [carbon, oxygen, methyl]) = best.ok_or("has no place")?;
    clash_of(distance)?;
    Ok(new_residue("ACE", [("CH3", methyl), ("C", carbon), ("O", oxygen)]))
}

/// Returns an N-methyl group on C, opposite to CA and O.
fn methyl(cleaned: &Cleaned, residue: usize) -> Result<NewResidue, String> {
    let [alpha, carbon, oxygen] = backbone(cleaned, residue, ["CA", "C", "O"])?;
    let nitrogen = opposite(carbon, [alpha, oxygen], PEPTIDE);
    let methyl = placed([alpha, carbon, nitrogen], NITROGEN, AT_NITROGEN, PI);
    clash_of(room(cleaned, &[nitrogen, methyl], residue, &["CA", "C", "O", "OXT"]))?;
    Ok(new_residue("NME", [("N", nitrogen), ("C", methyl)]))
}
