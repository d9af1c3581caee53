//! Completion of a structure: missing heavy atoms are rebuilt, and chain ends get OXT or caps.
//!
//! Missing heavy atoms of standard residues are rebuilt from ideal residues. Rigid units are superposed on the known
//! atoms. For the remaining torsions, the combination of usual values with the least repulsion is chosen. Chains of
//! amino acids end with OXT or with a cap; chains of nucleotides begin with O5'. Residues that are missing within a
//! chain are not rebuilt. A structure with a residue that cannot be completed is refused; the message lists these
//! residues.

mod caps;
mod edit;
mod geometry;
mod growth;
mod heavy;
mod ideal;
mod oxt;
mod phosphate;
mod surroundings;
#[cfg(test)]
mod tests;

use md_engine::error::Problem;

use crate::entry::{Cleaned, Decision, GapPlace, Subject};
use crate::structure::Structure;

pub use caps::Caps;

/// Largest number of problems that an error lists.
const LISTED: usize = 8;

/// Advice for residues that are missing within a chain, with and without caps.
const GAP_HELP: &str =
    "cap both sides of missing amino acids with --cap ACE,NME, or model the loop with another program";
const CAP_HELP: &str = "caps need amino acids and room: remove the residues beside the gap from the file, or model the loop \
                        with another program";
/// Advice for residues that cannot be rebuilt.
const RESIDUE_HELP: &str =
    "complete these residues with another program, for example PDBFixer, or remove them from the file";
/// Advice for residues whose bonds are unknown.
const BOND_HELP: &str =
    "give the parameters of these molecules with --ligand, or leave out other molecules with --drop-hetero";

/// Completes a structure. Fails with a list of the residues, gaps and bonds that cannot be completed.
pub(crate) fn complete(cleaned: &mut Cleaned, caps: Caps) -> Result<(), Problem> {
    phosphate::remove_first(cleaned);
    let residues = heavy::rebuild(cleaned);
    let capped = if residues.is_empty() { caps::cap(cleaned, caps) } else { vec![] };
    oxt::add_oxt(cleaned);
    let label = |residue: u32| cleaned.structure.residue_label(residue as usize);
    let gaps = cleaned.gaps.iter().filter_map(|gap| match gap.place {
        GapPlace::Inner { after, before } => {
            let count = gap.count.map_or("a bond of the chain is".to_owned(), |count| match count {
                1 => "1 residue is".to_owned(),
                count => format!("{count} residues are"),
            });
            Some(format!("{count} missing between {} and {}", label(after), label(before)))
        }
        GapPlace::Start { .. } | GapPlace::End { .. } => None,
    });
    let gaps: Vec<String> = gaps.collect();
    let unknown = cleaned.unsupported.iter().map(|found| format!("the bonds of {} are unknown", label(found.residue)));
    let unknown: Vec<String> = unknown.collect();
    let helps = [
        (!gaps.is_empty() && caps == Caps::None, GAP_HELP),
        (!gaps.is_empty() && caps != Caps::None, CAP_HELP),
        (!residues.is_empty(), RESIDUE_HELP),
        (!unknown.is_empty(), BOND_HELP),
    ];
    let help: Vec<&str> = helps.iter().filter(|(applies, _)| *applies).map(|(_, help)| *help).collect();
    let faults: Vec<String> = gaps.into_iter().chain(capped).chain(residues).chain(unknown).collect();
    if faults.is_empty() {
        return Ok(());
    }
    let more = faults.len().saturating_sub(LISTED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let message = format!("the structure is not complete: {}{more}", faults[..faults.len().min(LISTED)].join("; "));
    Err(Problem::new(message).help(help.join("; ")))
}

/// Returns a decision that reports the completion of a residue.
fn completion(structure: &Structure, residue: usize, what: impl Into<String>, why: impl Into<String>) -> Decision {
    Decision::new(Subject::Completion, structure.residue_label(residue), what, why)
}
