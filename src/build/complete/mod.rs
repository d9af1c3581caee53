//! Completion of a structure: atoms that are missing, and ends of chains.
//!
//! Heavy atoms of standard residues are rebuilt from ideal residues: what the known atoms fix is moved there rigidly,
//! and the remaining torsions are those with the least repulsion among the usual ones. Chains of amino acids end with
//! OXT or with a cap; chains of nucleotides begin with O5'. Residues that are missing within a chain are never bridged.
//! What cannot be completed is refused, residue by residue.

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

use crate::entry::{Cleaned, GapPlace};

pub use caps::Caps;

/// Number of faults that an error lists.
const LISTED: usize = 8;

/// Completes a structure, or says what it lacks.
pub(crate) fn complete(cleaned: &mut Cleaned, caps: Caps) -> Result<(), Problem> {
    phosphate::remove_first(cleaned);
    let mut faults = heavy::rebuild(cleaned);
    if faults.is_empty() {
        faults.extend(caps::cap(cleaned, caps));
        oxt::add_oxt(cleaned);
    }
    let label = |residue: u32| cleaned.structure.residue_label(residue as usize);
    let gaps = cleaned.gaps.iter().filter_map(|gap| match gap.place {
        GapPlace::Inner { after, before } => {
            let count = gap.count.map_or("residues are".to_owned(), |count| match count {
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
    let mut help = vec![];
    if !gaps.is_empty() {
        help.push("cap the sides of missing amino acids with --cap ACE,NME, or model the loop with another program");
    }
    if !faults.is_empty() {
        help.push("complete these residues with another program, for example PDBFixer, or remove them from the file");
    }
    if !unknown.is_empty() {
        help.push(
            "give the bonds by CONECT records or _chem_comp_bond, or leave out other molecules with --drop-hetero",
        );
    }
    let faults: Vec<String> = gaps.into_iter().chain(faults).chain(unknown).collect();
    if faults.is_empty() {
        return Ok(());
    }
    let more = faults.len().saturating_sub(LISTED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let message = format!("the structure is not complete: {}{more}", faults[..faults.len().min(LISTED)].join("; "));
    Err(Problem::new(message).help(help.join("; ")))
}
