//! Residues of AMBER topologies: names, first atoms, and the numbers, chains and insertion codes that `add_pdb` of
//! AmberTools and ParmEd add.

use super::pointers::Pointers;
use super::sections::{Parsed, Sections};
use crate::system::{ChainLabel, Name, Residue};

/// Reads the residues. Residues are numbered from 1 without the section `RESIDUE_NUMBER`, and if its numbers are wider
/// than their columns, because they then cannot be separated.
pub(super) fn read(sections: &Sections<'_>, pointers: &Pointers) -> Parsed<Vec<Residue>> {
    let names = sections.require("RESIDUE_LABEL")?.names(pointers.residues)?;
    let section = sections.require("RESIDUE_POINTER")?;
    let firsts = section.integers(pointers.residues)?;
    let number_section = sections.get("RESIDUE_NUMBER");
    number_section.map_or(Ok(()), |section| section.check_length(pointers.residues, true))?;
    let numbers = number_section.and_then(|section| section.integers(pointers.residues).ok());
    if firsts.first() != Some(&1) {
        return Err(section.problem_at(0, "the first residue does not begin at atom 1"));
    }
    let mut residues = Vec::with_capacity(firsts.len());
    for (k, (&first, &name)) in firsts.iter().zip(&names).enumerate() {
        if first as usize > pointers.atoms || (k > 0 && first <= firsts[k - 1]) {
            let message = format!("residue {} begins at atom {first}, expected an ascending list of atoms", k + 1);
            return Err(section.problem_at(k, message));
        }
        let number = numbers.as_ref().map_or(k as i32 + 1, |numbers| numbers[k]);
        residues.push(Residue { name, number, first: first as u32 - 1 });
    }
    Ok(residues)
}

/// Reads the chains and insertion codes of `count` residues. The result is empty if the file has none.
pub(super) fn labels(sections: &Sections<'_>, count: usize) -> Parsed<Vec<ChainLabel>> {
    let names = |name: &str| sections.get(name).map(|section| section.labels(count)).transpose();
    let [chains, codes] = [names("RESIDUE_CHAINID")?, names("RESIDUE_ICODE")?];
    if chains.is_none() && codes.is_none() {
        return Ok(vec![]);
    }
    let of = |names: &Option<Vec<Name>>, residue: usize| names.as_ref().map_or(Name::default(), |names| names[residue]);
    let label = |residue| ChainLabel {
        chain: of(&chains, residue),
        segment: Name::default(),
        insertion_code: of(&codes, residue).as_str().chars().next(),
    };
    let labels: Vec<ChainLabel> = (0..count).map(label).collect();
    let is_blank = labels.iter().all(|label| *label == ChainLabel::default());
    Ok(if is_blank { vec![] } else { labels })
}
