//! Completion of a structure: missing heavy atoms are rebuilt, and chain ends get OXT or caps.
//!
//! Missing heavy atoms of standard residues are rebuilt from ideal residues. Rigid units are superposed on the known
//! atoms. For the remaining torsions, the combination of usual values with the least repulsion is chosen. Chains of
//! amino acids end with OXT or with a cap; chains of nucleotides begin with O5'. Residues that are missing within a
//! chain are not rebuilt. A structure with a residue that cannot be completed is refused; the message lists these
//! residues.

mod caps;
mod edit;
mod growth;
mod hands;
mod heavy;
mod ideal;
mod oxt;
mod phosphate;
mod surroundings;
mod terminal;
#[cfg(test)]
mod tests;

use md_engine::error::Problem;

use crate::entry::{Cleaned, Decision, Gap, GapPlace, ResidueKind, Subject};
use crate::structure::Structure;

pub use caps::Caps;

/// Largest number of problems that an error lists.
const LISTED: usize = 8;

/// Advice for residues that are missing within a chain, with and without caps.
const GAP_HELP: &str =
    "cap both sides of missing amino acids with --cap ACE,NME, or model the loop with another program";
const CAP_HELP: &str = "caps need amino acids and room: remove the residues beside the gap from the file, or model the loop \
                        with another program";
const NUCLEIC_HELP: &str =
    "add the missing nucleotides or atoms with another program, because caps are for amino acids only";
/// Advice for residues that cannot be rebuilt.
const RESIDUE_HELP: &str =
    "complete these residues with another program, for example PDBFixer, or remove them from the file";
/// Advice for residues whose bonds are unknown.
const BOND_HELP: &str =
    "give the parameters of these molecules with --ligand, or leave out other molecules with --drop-hetero";

/// Advice for residues of a chain whose bonds are unknown.
const MODIFIED_HELP: &str = "for a modified residue, add a force-field file with its template (--forcefield \
                             amber14,FILE.xml) and give its bonds by CONECT records or _chem_comp_bond, or rename it to \
                             the standard residue and remove its additional atoms";

/// Completes a structure. Fails with a list of the residues, gaps and bonds that cannot be completed.
pub(crate) fn complete(cleaned: &mut Cleaned, caps: Caps) -> Result<(), Problem> {
    hands::report(cleaned);
    phosphate::remove_first(cleaned);
    let residues = heavy::rebuild(cleaned);
    let capped = if residues.is_empty() { caps::cap(cleaned, caps) } else { vec![] };
    oxt::add_oxt(cleaned);
    terminal::report(cleaned);
    let label = |residue: u32| cleaned.structure.residue_label(residue as usize);
    let is_nucleic = |residue: u32| cleaned.residues[residue as usize].kind == Some(ResidueKind::Nucleic);
    let inner = |gap: &Gap| match gap.place {
        GapPlace::Inner { after, before } => Some((gap_text(cleaned, gap, [after, before]), is_nucleic(before))),
        GapPlace::Start { .. } | GapPlace::End { .. } => None,
    };
    let gaps: Vec<(String, bool)> = cleaned.gaps.iter().filter_map(inner).collect();
    let has_gap = |is_nucleic: bool| gaps.iter().any(|(_, nucleic)| *nucleic == is_nucleic);
    let unknown = |is_polymer: bool| {
        let of_kind = cleaned.unsupported.iter().map(|found| found.residue);
        let of_kind = of_kind.filter(|&residue| cleaned.residues[residue as usize].is_polymer == is_polymer);
        of_kind.map(|residue| format!("the bonds of {} are unknown", label(residue))).collect::<Vec<String>>()
    };
    let [modified, unknown] = [unknown(true), unknown(false)];
    let helps = [
        (has_gap(false) && caps == Caps::None, GAP_HELP),
        (has_gap(false) && caps != Caps::None, CAP_HELP),
        (has_gap(true), NUCLEIC_HELP),
        (!residues.is_empty(), RESIDUE_HELP),
        (!modified.is_empty(), MODIFIED_HELP),
        (!unknown.is_empty(), BOND_HELP),
    ];
    let help: Vec<&str> = helps.iter().filter(|(applies, _)| *applies).map(|(_, help)| *help).collect();
    let gaps = gaps.into_iter().map(|(text, _)| text);
    let faults: Vec<String> = gaps.chain(capped).chain(residues).chain(modified).chain(unknown).collect();
    if faults.is_empty() {
        return Ok(());
    }
    let more = faults.len().saturating_sub(LISTED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let message = format!("the structure is not complete: {}{more}", faults[..faults.len().min(LISTED)].join("; "));
    Err(Problem::new(message).help(help.join("; ")))
}

/// Describes a gap between two residues.
fn gap_text(cleaned: &Cleaned, gap: &Gap, ends: [u32; 2]) -> String {
    let Cleaned { structure, positions, residues, .. } = cleaned;
    let [after, before] = ends.map(|residue| structure.residue_label(residue as usize));
    let is_nucleic = residues[ends[1] as usize].kind == Some(ResidueKind::Nucleic);
    let atom = |end: usize, name: &str| structure.atom_named(ends[end] as usize, name);
    let count = match gap.count {
        Some(1) => "1 residue is".to_owned(),
        Some(count) => format!("{count} residues are"),
        None if is_nucleic => {
            return match (atom(0, "O3'"), atom(1, "P")) {
                (Some(a), Some(b)) => {
                    let distance = (positions[a] - positions[b]).norm();
                    format!("O3' of {after} and P of {before} are {distance:.3} nm apart, too far for a bond")
                }
                (_, None) => format!("{before} lacks P, which bonds it to {after}"),
                (None, _) => format!("{after} lacks O3', which bonds it to {before}"),
            };
        }
        None => "a bond of the chain is".to_owned(),
    };
    format!("{count} missing between {after} and {before}")
}

/// Returns a decision that reports the completion of a residue.
fn completion(structure: &Structure, residue: usize, what: impl Into<String>, why: impl Into<String>) -> Decision {
    Decision::new(Subject::Completion, structure.residue_label(residue), what, why)
}
