//! Rebuilds missing heavy atoms of standard residues.

use std::f64::consts::PI;

use md_engine::vec3::Vec3;

use super::completion;
use super::edit::{Edit, NewAtom, no_longer_missing};
use super::growth::{Axis, Growth, Places, cut, grow};
use super::ideal::{Ideal, ideal};
use super::surroundings::{CLASH, Room, Surroundings};
use crate::entry::{Cleaned, Decision, MissingAtoms, standard_residue};
use crate::geometry::{opposite, torsion, unit};

/// Atoms without which a residue cannot be rebuilt: backbones of amino acids, and backbones and sugars of nucleotides.
/// The conformation of the sugar differs between nucleotides, so that no single ideal sugar fits all of them.
const BACKBONES: [&[&str]; 2] = [&["N", "CA", "C"], &["P", "O5'", "C5'", "C4'", "C3'", "O3'", "C1'", "C2'", "O4'"]];
/// Atoms from which the search for known atoms of a residue begins: CA of amino acids, C3' of nucleotides.
const ROOTS: [&str; 2] = ["CA", "C3'"];
/// Length of the bond C=O of the backbone, nm (Engh & Huber, Acta Cryst. A47, 392 (1991),
/// doi:10.1107/S0108767391001071).
pub(super) const CARBONYL: f64 = 0.1231;
/// Length of the bonds P–OP1 and P–OP2, nm, and the angle between them, rad (119.6°; Gelbin et al., J. Am. Chem. Soc.
/// 118, 519 (1996), doi:10.1021/ja9528846).
const PHOSPHORYL: f64 = 0.1485;
const BETWEEN_OXYGENS: f64 = 2.087_413_785;
/// Staggered torsions (rad) about bonds between tetrahedral atoms: gauche (±60°) and trans (180°).
const STAGGERED: [f64; 3] = [-PI / 3.0, PI, PI / 3.0];
/// Number of torsions that are tried about a bond if at least one of its two atoms is planar.
const TURNS: usize = 12;
/// Deviations (rad) from the chosen torsions; the deviations are tried if an atom of another residue is nearer than
/// [`TIGHT`].
const DEVIATIONS: [f64; 4] = [-PI / 18.0, PI / 18.0, -PI / 9.0, PI / 9.0];
const TIGHT: f64 = 0.3;
/// Number of rounds in which deviations of each torsion are tried.
const ROUNDS: usize = 2;
/// Names of the side-chain atoms that define the torsions χ₁, χ₂ and so on, after N, CA and CB (IUPAC-IUB, Biochemistry
/// 9, 3471 (1970), doi:10.1021/bi00820a001).
const SIDE_CHAINS: [(&str, &[&str]); 17] = [
    ("ARG", &["CG", "CD", "NE", "CZ"]),
    ("ASN", &["CG", "OD1"]),
    ("ASP", &["CG", "OD1"]),
    ("CYS", &["SG"]),
    ("GLN", &["CG", "CD", "OE1"]),
    ("GLU", &["CG", "CD", "OE1"]),
    ("HIS", &["CG", "ND1"]),
    ("ILE", &["CG1", "CD1"]),
    ("LEU", &["CG", "CD1"]),
    ("LYS", &["CG", "CD", "CE", "NZ"]),
    ("MET", &["CG", "SD", "CE"]),
    ("PHE", &["CG", "CD1"]),
    ("SER", &["OG"]),
    ("THR", &["OG1"]),
    ("TRP", &["CG", "CD1"]),
    ("TYR", &["CG", "CD1"]),
    ("VAL", &["CG1"]),
];

/// A residue that is rebuilt.
struct Rebuilding<'a> {
    ideal: &'a Ideal,
    /// positions of known atoms
    start: Places,
    /// atoms whose positions are computed
    grown: Vec<usize>,
    surroundings: Surroundings<'a>,
}

/// A conformation of the residue, with its score.
struct Found {
    torsions: Vec<f64>,
    places: Places,
    room: Room,
}

/// Rebuilds the missing atoms of standard residues, starting with the residues that lack the fewest atoms. The function
/// does not add the atom OXT, which [`super::oxt`] adds. Returns the reasons why residues cannot be rebuilt.
pub(super) fn rebuild(cleaned: &mut Cleaned) -> Vec<String> {
    let mut missing: Vec<MissingAtoms> = cleaned.missing_atoms.clone();
    missing.sort_by_key(|missing| missing.names.len());
    let mut faults = vec![];
    let mut waters = vec![];
    for MissingAtoms { residue, names } in missing {
        let names: Vec<&str> = names.iter().map(String::as_str).filter(|name| *name != "OXT").collect();
        if names.is_empty() {
            continue;
        }
        match rebuild_residue(cleaned, residue as usize, &names) {
            Ok(clashing) => waters.extend(clashing),
            Err(reason) => {
                let label = cleaned.structure.residue_label(residue as usize);
                faults.push(format!("{label} lacks {}, {reason}", names.join(", ")));
            }
        }
    }
    if faults.is_empty() {
        remove_waters(cleaned, &waters);
    }
    faults
}

/// Returns the labels of two bonded atoms of different residues if the bond takes the place of a missing atom, as the
/// isopeptide bond of a glutamate takes the place of OE2. Bonds of the chain and disulfides take no places.
fn replaced(cleaned: &Cleaned, residue: usize, names: &[&str]) -> Option<[String; 2]> {
    let structure = &cleaned.structure;
    let own = structure.residue_atoms(residue);
    let of_missing = |atom: &str| {
        let bonds = standard_residue(&structure.residues[residue].name).map(|standard| &standard.bonds[..]);
        let joins = |[a, b]: &[String; 2]| {
            (a == atom && names.contains(&b.as_str())) || (b == atom && names.contains(&a.as_str()))
        };
        bonds.unwrap_or_default().iter().any(joins)
    };
    let outer = structure.bonds.iter().map(|&[a, b]| [a as usize, b as usize]);
    let mut outer = outer.filter(|[a, b]| own.contains(a) != own.contains(b));
    let pair = outer.find_map(|[a, b]| {
        let [a, b] = if own.contains(&a) { [a, b] } else { [b, a] };
        let name = structure.atoms[a].name.as_str();
        (!["C", "N", "P", "O3'", "SG"].contains(&name) && of_missing(name)).then_some([a, b])
    })?;
    Some(pair.map(|atom| structure.atom_label(atom)))
}

/// Rebuilds a residue. Returns the positions of waters that clash with the rebuilt atoms.
fn rebuild_residue(cleaned: &mut Cleaned, residue: usize, names: &[&str]) -> Result<Vec<Vec3>, String> {
    let name = cleaned.structure.residues[residue].name.clone();
    let ideal = ideal(&name).ok_or("and md has no template of the residue")?;
    if let Some([atom, other]) = replaced(cleaned, residue, names) {
        return Err(format!("but {atom} is bonded to {other}, and md build has no form of {name} with this bond"));
    }
    let is_wanted = |name: &str| names.contains(&name) || cleaned.structure.atom_named(residue, name).is_some();
    let ideal = &ideal.restricted(&name, is_wanted);
    let backbone = BACKBONES.iter().find_map(|atoms| names.iter().find(|name| atoms.contains(*name)));
    if let Some(atom) = backbone {
        return Err(format!("and the residue cannot be placed without {atom}"));
    }
    let own: Vec<Option<usize>> = ideal.names.iter().map(|name| cleaned.structure.atom_named(residue, name)).collect();
    let mut start: Places = own.iter().map(|atom| atom.map(|atom| cleaned.positions[atom])).collect();
    let root = ROOTS
        .iter()
        .find_map(|name| ideal.index(name))
        .ok_or("and the residue is neither an amino acid nor a nucleotide")?;
    let center = start[root].ok_or("and the residue has no atom CA or C3'")?;
    carbonyl(cleaned, residue, ideal, &own, &mut start);
    phosphate(cleaned, residue, ideal, &own, &mut start);
    let cut = cut(ideal, &mut start, root);
    let grown = (0..own.len()).filter(|&atom| own[atom].is_none() || cut.contains(&atom)).collect();
    let surroundings = Surroundings::new(cleaned, residue, ideal, &own, center);
    let rebuilding = Rebuilding { ideal, start, grown, surroundings };
    let mut found = rebuilding.best(true)?;
    let mut waters = vec![];
    if found.room.has_clash() {
        found = rebuilding.best(false)?;
        waters = rebuilding.surroundings.waters(&found.places, &rebuilding.grown);
    }
    if let Some((distance, atom)) = found.room.nearest.filter(|_| found.room.has_clash()) {
        let residues = cleaned.structure.residue_of_atoms();
        let other = cleaned.structure.residue_label(residues[atom] as usize);
        return Err(format!("and all conformations of the residue clash with {other} ({distance:.2} nm)"));
    }
    let waters = waters.into_iter().map(|atom| cleaned.positions[atom]).collect();
    let (decision, edit) = rebuilding.result(&found, &own, cleaned, residue);
    cleaned.decisions.push(decision);
    for (&atom, place) in own.iter().zip(&found.places) {
        if let (Some(atom), Some(place)) = (atom, place) {
            cleaned.positions[atom] = *place;
        }
    }
    no_longer_missing(cleaned, |missing| missing == residue, |name| name != "OXT");
    edit.apply(cleaned);
    Ok(waters)
}

/// Returns the position of a further neighbour of the atom `center`: an atom of another residue, or OXT.
fn linked(cleaned: &Cleaned, residue: usize, center: usize) -> Option<Vec3> {
    let own = cleaned.structure.residue_atoms(residue);
    let other = |&[a, b]: &[u32; 2]| match (a as usize == center, b as usize == center) {
        (true, _) => Some(b as usize),
        (_, true) => Some(a as usize),
        _ => None,
    };
    let outside = cleaned.structure.bonds.iter().filter_map(other).find(|atom| !own.contains(atom));
    let third = outside.or_else(|| cleaned.structure.atom_named(residue, "OXT"));
    third.map(|atom| cleaned.positions[atom])
}

/// Places the carbonyl oxygen of the backbone opposite to the two other neighbours of C. The first neighbour is CA; the
/// second neighbour is N of the next residue, or OXT. No oxygen is placed if the second neighbour is missing.
fn carbonyl(cleaned: &Cleaned, residue: usize, ideal: &Ideal, own: &[Option<usize>], start: &mut Places) {
    let [Some(alpha), Some(carbon), Some(oxygen)] = ["CA", "C", "O"].map(|name| ideal.index(name)) else { return };
    let (Some(alpha), Some(at), Some(center), None) = (start[alpha], start[carbon], own[carbon], start[oxygen]) else {
        return;
    };
    if let Some(third) = linked(cleaned, residue, center) {
        start[oxygen] = Some(opposite(at, [alpha, third], CARBONYL));
    }
}

/// Places the missing oxygens of a phosphate between two nucleotides. If both oxygens are missing, OP1 is placed on the
/// side to which a vector product points: the bond from P to O3' of the preceding nucleotide, times the bond from P to
/// O5'. If only one oxygen is missing, the missing oxygen is placed on the side opposite to the known oxygen.
fn phosphate(cleaned: &Cleaned, residue: usize, ideal: &Ideal, own: &[Option<usize>], start: &mut Places) {
    let [Some(atom), Some(ester), Some(first), Some(second)] = ["P", "O5'", "OP1", "OP2"].map(|name| ideal.index(name))
    else {
        return;
    };
    let (Some(center), Some(ester), Some(at)) = (own[atom], start[ester], start[atom]) else { return };
    let Some(other) = linked(cleaned, residue, center) else { return };
    let (u, v) = (unit(ester - at), unit(other - at));
    let (away, side) = (unit((u + v) * -1.0), unit(v.cross(u)));
    let (sin, cos) = (0.5 * BETWEEN_OXYGENS).sin_cos();
    let on = |sign: f64| at + (away * cos + side * (sign * sin)) * PHOSPHORYL;
    let sign_of = |known: Vec3| side.dot(known - at).signum();
    let [a, b] = [start[first], start[second]];
    start[first] = a.or_else(|| Some(on(b.map_or(1.0, |known| -sign_of(known)))));
    start[second] = b.or_else(|| Some(on(a.map_or(-1.0, |known| -sign_of(known)))));
}

impl Rebuilding<'_> {
    /// Returns the torsions (rad) that are tried about an axis.
    fn candidates(&self, axis: Axis) -> Vec<f64> {
        let [_, outer, near, _] = axis.atoms;
        if self.ideal.is_planar(outer) || self.ideal.is_planar(near) {
            return (0..TURNS).map(|k| 2.0 * PI * k as f64 / TURNS as f64).collect();
        }
        STAGGERED.to_vec()
    }

    fn with(&self, torsions: Vec<f64>, places: Places, with_waters: bool) -> Found {
        let room = self.surroundings.room(&places, &self.grown, with_waters);
        Found { torsions, places, room }
    }

    /// Returns the conformation with the lowest score, or the first such conformation if several have the same score.
    fn best(&self, with_waters: bool) -> Result<Found, String> {
        let mut best: Option<Found> = None;
        let mut open: Vec<Vec<f64>> = vec![vec![]];
        while let Some(torsions) = open.pop() {
            let mut places = self.start.clone();
            match grow(self.ideal, &mut places, &torsions) {
                Growth::Complete => {
                    let found = self.with(torsions, places, with_waters);
                    if best.as_ref().is_none_or(|best| found.room.score < best.room.score) {
                        best = Some(found);
                    }
                }
                Growth::Open(axis) => {
                    let longer = |torsion: f64| torsions.iter().copied().chain([torsion]).collect();
                    open.extend(self.candidates(axis).into_iter().rev().map(longer));
                }
                Growth::Stuck => {
                    return Err("and the known atoms do not fix the positions of the missing atoms".to_owned());
                }
            }
        }
        let best = best.ok_or("and no conformation of the residue was found")?;
        Ok(self.refined(best, with_waters))
    }

    /// Varies the torsions of a conformation by [`DEVIATIONS`] while an atom of another residue is nearer than
    /// [`TIGHT`].
    fn refined(&self, mut best: Found, with_waters: bool) -> Found {
        for _ in 0..ROUNDS {
            if best.room.nearest.is_none_or(|(distance, _)| distance > TIGHT) {
                break;
            }
            for turned in 0..best.torsions.len() {
                for deviation in DEVIATIONS {
                    let mut torsions = best.torsions.clone();
                    torsions[turned] += deviation;
                    let mut places = self.start.clone();
                    if grow(self.ideal, &mut places, &torsions) != Growth::Complete {
                        continue;
                    }
                    let found = self.with(torsions, places, with_waters);
                    if found.room.score < best.room.score {
                        best = found;
                    }
                }
            }
        }
        best
    }

    /// Returns the decision that reports a conformation, and the edit that adds the new atoms.
    fn result(&self, found: &Found, own: &[Option<usize>], cleaned: &Cleaned, residue: usize) -> (Decision, Edit) {
        let named = |is_new: bool| -> Vec<&str> {
            let atoms = self.grown.iter().filter(|&&atom| own[atom].is_none() == is_new);
            atoms.map(|&atom| self.ideal.names[atom].as_str()).collect()
        };
        let (new, moved) = (named(true), named(false));
        let mut why = vec!["the entry lacks these atoms".to_owned()];
        if !moved.is_empty() {
            why.push(format!("known atoms beyond the missing atoms were placed again: {}", moved.join(", ")));
        }
        why.extend(self.rotamer(found, &cleaned.structure.residues[residue].name));
        why.extend(
            found
                .room
                .nearest
                .map(|(distance, _)| format!("the nearest atom of another residue is {distance:.2} nm away")),
        );
        let what = format!("rebuilt {}", new.join(", "));
        let decision = completion(&cleaned.structure, residue, what, why.join("; "));
        let added =
            self.grown.iter().filter(|&&atom| own[atom].is_none()).filter_map(|&atom| {
                Some(NewAtom { name: self.ideal.names[atom].clone(), position: found.places[atom]? })
            });
        let mut edit = Edit::default();
        edit.added.insert(residue, added.collect());
        (decision, edit)
    }

    /// Describes the torsions of the side chain; `None` if no side-chain torsion was chosen.
    fn rotamer(&self, found: &Found, name: &str) -> Option<String> {
        let (_, ends) = SIDE_CHAINS.iter().find(|(residue, _)| *residue == name)?;
        let path: Vec<&str> = ["N", "CA", "CB"].into_iter().chain(ends.iter().copied()).collect();
        let places: Vec<Vec3> = path.iter().map(|name| found.places[self.ideal.index(name)?]).collect::<Option<_>>()?;
        let degrees = |at: &[Vec3]| torsion([at[0], at[1], at[2], at[3]]).to_degrees().round() as i32;
        let chi: Vec<String> = places.windows(4).map(|at| degrees(at).to_string()).collect();
        (!found.torsions.is_empty()).then(|| format!("rotamer {}", chi.join(" ")))
    }
}

/// Removes each water that has an atom at one of the positions `waters`.
fn remove_waters(cleaned: &mut Cleaned, waters: &[Vec3]) {
    let mut edit = Edit::default();
    for residue in 0..cleaned.structure.residues.len() {
        let atoms = cleaned.structure.residue_atoms(residue);
        if !atoms.clone().any(|atom| waters.contains(&cleaned.positions[atom])) {
            continue;
        }
        edit.removed.extend(atoms);
        let why = format!("the water was within {CLASH} nm of rebuilt atoms");
        cleaned.decisions.push(completion(&cleaned.structure, residue, "removed this water", why));
    }
    if !edit.removed.is_empty() {
        edit.apply(cleaned);
    }
}
