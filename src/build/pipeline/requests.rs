//! Residues that the user names in options.

use md_engine::error::{Problem, Result};

use super::ResidueName;
use crate::entry::caps::is_cap;
use crate::entry::{Cleaned, Decision, Subject};
use crate::hydrogens;
use crate::structure::{Residue, Structure};

/// Returns the index of the residue that the user names in an option. Caps have no variants and cannot be turned.
fn find(structure: &Structure, name: &ResidueName, help: &str) -> Result<usize> {
    let is_named = |residue: &Residue| {
        let chain = &structure.chains[residue.chain as usize];
        let address = (chain, residue.number, residue.insertion_code);
        address == (&name.chain, name.number, name.insertion_code) && !is_cap(&residue.name)
    };
    let problem = || {
        let code = name.insertion_code.map(String::from).unwrap_or_default();
        Problem::new(format!("there is no residue {}{code} in chain {:?}", name.number, name.chain)).help(help)
    };
    Ok(structure.residues.iter().position(is_named).ok_or_else(problem)?)
}

/// Advice for residues of `--variant` that are not in the structure.
const VARIANT_HELP: &str = "--variant names a residue as CHAIN:NUMBER=VARIANT";

/// Residue names that state a protonation without a variant in the table of hydrogens: neutral arginine, and
/// tyrosinate.
const WITHOUT_VARIANT: [&str; 3] = ["ARGN", "ARN", "TYM"];

/// Returns the index and the variant of each residue whose protonation variant is given, either by the user or by the
/// residue name in the file.
pub(super) fn variants(cleaned: &Cleaned, given: &[(ResidueName, String)]) -> Result<Vec<(usize, String)>> {
    let structure = &cleaned.structure;
    let mut found = vec![];
    for (name, variant) in given {
        let index = find(structure, name, VARIANT_HELP)?;
        found.push((index, hydrogens::variant_of_name(variant).unwrap_or(variant).to_owned()));
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

/// Variants of cysteine without a disulfide bond: the thiol and the thiolate.
const WITHOUT_BRIDGE: [&str; 2] = ["CYS", "CYM"];

/// Removes the disulfide bonds of the cysteines for which the user requests a variant of [`WITHOUT_BRIDGE`].
pub(super) fn open_disulfides(cleaned: &mut Cleaned, given: &[(ResidueName, String)]) -> Result<()> {
    for (name, variant) in given.iter().filter(|(_, variant)| WITHOUT_BRIDGE.contains(&variant.as_str())) {
        let index = find(&cleaned.structure, name, VARIANT_HELP)?;
        let atoms = cleaned.structure.residue_atoms(index);
        let has = |pair: &[u32; 2]| pair.iter().any(|&atom| atoms.contains(&(atom as usize)));
        for pair in cleaned.disulfides.extract_if(.., |pair| has(pair)) {
            cleaned.structure.bonds.retain(|bond| *bond != pair);
            let place = pair.map(|atom| cleaned.structure.atom_label(atom as usize)).join(" and ");
            let why = format!("the variant {variant} of a cysteine was asked for");
            cleaned.decisions.push(Decision::new(Subject::Bonds, place, "removed the disulfide bond", why));
        }
    }
    Ok(())
}

/// Returns the indices of the residues whose side chains the user requests to flip, without duplicates.
pub(super) fn flips(cleaned: &Cleaned, given: &[ResidueName]) -> Result<Vec<usize>> {
    let index = |name| find(&cleaned.structure, name, "--flip names a residue as CHAIN:NUMBER");
    let mut found = given.iter().map(index).collect::<Result<Vec<usize>>>()?;
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::ResidueInfo;
    use crate::structure::Atom;

    /// Returns two cysteines with a disulfide bond and a third cysteine, each of one atom.
    fn cysteines() -> Cleaned {
        let residue = |number: i32| Residue {
            name: "CYS".into(),
            number,
            insertion_code: None,
            chain: 0,
            first: number as u32 - 1,
        };
        let info =
            ResidueInfo { kind: None, is_polymer: true, given_name: "CYS".into(), position: None, is_rebuilt: false };
        let structure = Structure {
            chains: vec!["A".into()],
            residues: (1..=3).map(residue).collect(),
            atoms: vec![Atom { name: "SG".into(), element: 16 }; 3],
            bonds: vec![[0, 1]],
        };
        Cleaned { structure, residues: vec![info; 3], disulfides: vec![[0, 1]], ..Cleaned::default() }
    }

    fn named(number: i32, insertion_code: Option<char>, variant: &str) -> (ResidueName, String) {
        (ResidueName { chain: "A".into(), number, insertion_code }, variant.to_owned())
    }

    #[test]
    fn the_variants_of_a_thiol_and_a_thiolate_remove_a_disulfide() {
        let mut cleaned = cysteines();
        open_disulfides(&mut cleaned, &[named(1, None, "CYX"), named(3, None, "CYS")]).unwrap();
        assert_eq!((cleaned.disulfides.len(), cleaned.structure.bonds.len(), cleaned.decisions.len()), (1, 1, 0));
        open_disulfides(&mut cleaned, &[named(2, None, "CYS")]).unwrap();
        assert_eq!((cleaned.disulfides.len(), cleaned.structure.bonds.len()), (0, 0));
        let said = cleaned.decisions[0].to_string();
        assert!(said.contains("CYS 1 of chain A and SG of CYS 2 of chain A: removed the disulfide bond"), "{said}");
        let mut cleaned = cysteines();
        open_disulfides(&mut cleaned, &[named(1, None, "CYM")]).unwrap();
        assert_eq!((cleaned.disulfides.len(), cleaned.structure.bonds.len()), (0, 0));
        assert!(cleaned.decisions[0].why.contains("the variant CYM"), "{}", cleaned.decisions[0]);
    }

    #[test]
    fn caps_are_not_the_residues_of_an_option() {
        let mut cleaned = cysteines();
        let (first, second) = cleaned.structure.residues.split_at_mut(1);
        (first[0].name, first[0].number) = ("NME".into(), second[0].number);
        assert_eq!(variants(&cleaned, &[named(2, None, "CYX")]).unwrap(), [(1, "CYX".to_owned())]);
        assert_eq!(flips(&cleaned, &[named(2, None, "").0]).unwrap(), [1]);
        cleaned.structure.residues[0].number = 0;
        let message = variants(&cleaned, &[named(0, None, "CYX")]).unwrap_err().to_string();
        assert!(message.contains("there is no residue 0 in chain"), "{message}");
    }

    #[test]
    fn names_of_other_programs_are_variants() {
        let cleaned = cysteines();
        assert_eq!(variants(&cleaned, &[named(3, None, "CYM")]).unwrap(), [(2, "CYM".to_owned())]);
        assert_eq!(variants(&cleaned, &[named(3, None, "XYZ")]).unwrap(), [(2, "XYZ".to_owned())]);
        let message = variants(&cleaned, &[named(3, Some('B'), "CYX")]).unwrap_err().to_string();
        assert!(message.contains("there is no residue 3B in chain"), "{message}");
    }
}
