//! Protonation of residues at a pH.
//!
//! Asp, Glu, His and Lys are protonated at a pH below their pKa. The pKa is the value in water or the value in the
//! environment ([`super::pka`]). Cys is protonated unless it is part of a disulfide or coordinates a metal. If one ring
//! nitrogen of neutral His coordinates a metal, the hydrogen is on the second nitrogen. Otherwise the tautomer with the
//! higher score of contacts is chosen ([`super::contact`]).

use md_engine::error::Problem;

use super::Protonation;
use super::pka::{Ionizable, Pka};
use super::table::{BRIDGED, Entry, Table};
use crate::structure::Structure;

/// Residues whose variant depends on the pH: residue name, variant at a pH below the pKa, variant at a pH above the
/// pKa, and ionisable group. Neutral His has two variants (HID and HIE), and the variant with the higher score of
/// contacts is chosen.
const TITRATABLE: [(&str, &str, &str, Ionizable); 4] = [
    ("ASP", "ASH", "ASP", Ionizable::Asp),
    ("GLU", "GLH", "GLU", Ionizable::Glu),
    ("HIS", "HIP", "HIE", Ionizable::His),
    ("LYS", "LYS", "LYN", Ionizable::Lys),
];

/// Source of the pKa values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PkaModel {
    /// values in water
    Water,
    /// values shifted by the environment in the protein
    Environment,
}

/// Chosen variant of a residue.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// index of the residue
    pub residue: usize,
    /// name of the variant, such as `HID`
    pub variant: String,
    /// reason for the choice
    pub reason: Reason,
}

/// Reason for the choice of a variant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// the user or the file named the variant
    Given,
    /// the sulfur is bonded to another sulfur
    Disulfide,
    /// the residue has its usual variant, because no variant of the residue depends on the pH
    Usual,
    /// the pH is below or above the given pKa
    Pka(f64),
    /// the chosen tautomer has the higher score of contacts; the value is the difference of the scores, Å²
    Tautomer(f64),
    /// an atom of the residue coordinates a metal
    Metal,
    /// the residue is at the end of a chain, where force fields have no template for the variant that the given pKa
    /// requires
    End(f64),
}

/// Chooses the variant of every residue that has several variants. Residues without a value in `pkas` have the pKa in
/// water. Neutral His becomes HIE at first; later the scores of HID and HIE are compared.
pub(super) fn choose(
    structure: &Structure,
    bonded: &[Vec<u32>],
    table: &Table,
    settings: &Protonation,
    pkas: &[Pka],
) -> Result<Vec<Choice>, Problem> {
    let mut choices = vec![];
    let residue_of = structure.residue_of_atoms();
    for (index, residue) in structure.residues.iter().enumerate() {
        let ends = || ["N", "C"].iter().filter_map(|name| structure.atom_named(index, name));
        let given = settings.given.iter().find(|(at, _)| *at == index).map(|(_, name)| name);
        let found = table.find(&residue.name).filter(|(entry, _)| !entry.variants.is_empty());
        let Some((entry, named)) = found else {
            if let Some(name) = given {
                let problem = Problem::new(format!("{} has no variant {name}", structure.residue_label(index)));
                return Err(problem.help("only ASP, CYS, GLU, HIS and LYS have variants"));
            }
            continue;
        };
        let (variant, reason) = match (given, named) {
            (Some(name), _) if name == BRIDGED && !is_bridged(structure, bonded, index) => {
                let label = structure.residue_label(index);
                let message = format!("{label} has no disulfide bond, which the variant {BRIDGED} needs");
                return Err(Problem::new(message).help(
                    "name both cysteines CYX in the file or add an SSBOND record to make the bond, or choose CYM for the \
                     thiolate or CYS for the thiol",
                ));
            }
            (Some(name), _) if entry.variants.contains(name) => (name.as_str(), Reason::Given),
            (Some(name), _) => {
                let problem = Problem::new(format!("{} has no variant {name}", structure.residue_label(index)));
                return Err(problem.help(format!("its variants are {}", entry.variants.join(", "))));
            }
            (None, Some(name)) => (name, Reason::Given),
            (None, None) => match by_environment(structure, bonded, index, entry, settings.ph, pkas) {
                (variant, Reason::Pka(pka))
                    if residue.name != "HIS"
                        && variant != residue.name
                        && ends().any(|atom| is_end(structure, bonded, &residue_of, atom)) =>
                {
                    (residue.name.as_str(), Reason::End(pka))
                }
                chosen => chosen,
            },
        };
        choices.push(Choice { residue: index, variant: variant.to_owned(), reason });
    }
    Ok(choices)
}

/// Whether a sulfur of a residue is bonded to another sulfur.
fn is_bridged(structure: &Structure, bonded: &[Vec<u32>], index: usize) -> bool {
    let is_sulfur = |atom: usize| structure.atoms[atom].element == 16;
    let bridged = |atom: usize| is_sulfur(atom) && bonded[atom].iter().any(|&other| is_sulfur(other as usize));
    structure.residue_atoms(index).any(bridged)
}

/// Chooses the variant of a residue by its bonds and the pH.
fn by_environment<'a>(
    structure: &'a Structure,
    bonded: &[Vec<u32>],
    index: usize,
    entry: &'a Entry,
    ph: f64,
    pkas: &[Pka],
) -> (&'a str, Reason) {
    let name = structure.residues[index].name.as_str();
    if name == "CYS" && is_bridged(structure, bonded, index) {
        return (BRIDGED, Reason::Disulfide);
    }
    match TITRATABLE.iter().find(|(residue, ..)| *residue == name) {
        Some(&(_, protonated, other, group)) => {
            let of_residue = pkas.iter().skip(pkas.partition_point(|pka| pka.residue < index));
            let shifted = of_residue.take_while(|pka| pka.residue == index).find(|pka| pka.group == group);
            let pka = shifted.map_or(group.in_water(), Pka::value);
            (if ph < pka { protonated } else { other }, Reason::Pka(pka))
        }
        None => (&entry.variants[0], Reason::Usual),
    }
}

/// Returns the names of the hydrogens of each atom. The residues of `choices` must be in ascending order.
pub(super) fn hydrogens(
    structure: &Structure,
    bonded: &[Vec<u32>],
    table: &Table,
    choices: &[Choice],
) -> Result<Vec<Vec<String>>, Problem> {
    let mut names = vec![vec![]; structure.atoms.len()];
    let residue_of = structure.residue_of_atoms();
    for (index, residue) in structure.residues.iter().enumerate() {
        let Some((entry, _)) = table.find(&residue.name) else { continue };
        let choice = choices.binary_search_by_key(&index, |choice| choice.residue);
        let variant = choice.ok().map(|choice| choices[choice].variant.as_str());
        for hydrogen in &entry.hydrogens {
            let in_variant =
                hydrogen.variants.is_empty() || hydrogen.variants.iter().any(|name| Some(name.as_str()) == variant);
            if !in_variant {
                continue;
            }
            let Some(parent) = structure.atom_named(index, &hydrogen.parent) else {
                if hydrogen.is_terminal {
                    continue;
                }
                let label = structure.residue_label(index);
                return Err(Problem::new(format!("{label} lacks its atom {}", hydrogen.parent)));
            };
            if !hydrogen.is_terminal || is_end(structure, bonded, &residue_of, parent) {
                names[parent].push(hydrogen.name.clone());
            }
        }
    }
    Ok(names)
}

/// Fails if an atom that is bonded to another residue would have too many bonds with its hydrogens. `wanted` lists the
/// hydrogens of all atoms.
pub(super) fn check_valences(
    structure: &Structure,
    bonded: &[Vec<u32>],
    wanted: &[Vec<String>],
) -> Result<(), Problem> {
    let residue_of = structure.residue_of_atoms();
    for (atom, hydrogens) in wanted.iter().enumerate().filter(|(_, hydrogens)| !hydrogens.is_empty()) {
        let most = match structure.atoms[atom].element {
            6 | 7 => 4,
            8 | 16 => 2,
            _ => continue,
        };
        let is_other = |&&other: &&u32| residue_of[other as usize] != residue_of[atom];
        let Some(&other) = bonded[atom].iter().find(is_other) else { continue };
        if bonded[atom].len() + hydrogens.len() > most {
            let [label, other] = [atom, other as usize].map(|atom| structure.atom_label(atom));
            let name = &structure.residues[residue_of[atom] as usize].name;
            let message = format!("{label} is bonded to {other}, and md build has no form of {name} with this bond");
            let help = format!(
                "remove the LINK, CONECT or _struct_conn record if the atoms are not bonded; otherwise give {name} a name \
                 of its own, and add a force-field file with its template (--forcefield amber14,FILE.xml)"
            );
            return Err(Problem::new(message).help(help));
        }
    }
    Ok(())
}

/// Whether a chain ends at an atom. The atom must not be bonded to another residue, and an oxygen must have only one
/// bond.
fn is_end(structure: &Structure, bonded: &[Vec<u32>], residue_of: &[u32], atom: usize) -> bool {
    let to_others = bonded[atom].iter().any(|&other| residue_of[other as usize] != residue_of[atom]);
    !to_others && (structure.atoms[atom].element != 8 || bonded[atom].len() == 1)
}
