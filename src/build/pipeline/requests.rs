//! Residues that the user names in options.

use md_engine::error::{Problem, Result};

use super::ResidueName;
use crate::entry::Cleaned;
use crate::hydrogens;
use crate::structure::{Residue, Structure};

/// Returns the index of the residue that the user names in an option.
fn find(structure: &Structure, name: &ResidueName, help: &str) -> Result<usize> {
    let is_named = |residue: &Residue| {
        let chain = &structure.chains[residue.chain as usize];
        (chain, residue.number, residue.insertion_code) == (&name.chain, name.number, name.insertion_code)
    };
    let problem = || Problem::new(format!("there is no residue {} in chain {:?}", name.number, name.chain)).help(help);
    Ok(structure.residues.iter().position(is_named).ok_or_else(problem)?)
}

/// Residue names that state a protonation without a variant in the table of hydrogens: neutral arginine, and
/// tyrosinate.
const WITHOUT_VARIANT: [&str; 3] = ["ARGN", "ARN", "TYM"];

/// Returns the index and the variant of each residue whose protonation variant is given, either by the user or by the
/// residue name in the file.
pub(super) fn variants(cleaned: &Cleaned, given: &[(ResidueName, String)]) -> Result<Vec<(usize, String)>> {
    let structure = &cleaned.structure;
    let mut found = vec![];
    for (name, variant) in given {
        let index = find(structure, name, "--variant names a residue as CHAIN:NUMBER=VARIANT")?;
        found.push((index, variant.clone()));
    }
    for (index, info) in cleaned.residues.iter().enumerate() {
        if WITHOUT_VARIANT.contains(&info.given_name.as_str()) {
            let label = structure.residue_label(index);
            let message = format!("the name {} of {label} states an unusual protonation", info.given_name);
            let help =
                "md build has only the usual protonation of arginine and tyrosine; rename the residue to choose it";
            return Err(Problem::new(message).help(help).into());
        }
        let named =
            hydrogens::variant_of_name(&info.given_name).filter(|_| info.given_name != structure.residues[index].name);
        if let Some(variant) = named.filter(|_| found.iter().all(|(other, _)| *other != index)) {
            found.push((index, variant.to_owned()));
        }
    }
    Ok(found)
}

/// Returns the indices of the residues whose side chains the user requests to flip, without duplicates.
pub(super) fn flips(cleaned: &Cleaned, given: &[ResidueName]) -> Result<Vec<usize>> {
    let index = |name| find(&cleaned.structure, name, "--flip names a residue as CHAIN:NUMBER");
    let mut found = given.iter().map(index).collect::<Result<Vec<usize>>>()?;
    found.sort_unstable();
    found.dedup();
    Ok(found)
}
