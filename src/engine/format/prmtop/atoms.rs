//! Atoms, residues and exclusions of AMBER topologies.

use super::pointers::Pointers;
use super::residues;
use super::sections::{Parsed, Section, Sections};
use crate::format::element;
use crate::system::{Atom, Exclusions, Residue};
use crate::units::AMBER_CHARGE;

/// Reads the atoms in file order, and their residues.
pub(super) fn read(
    sections: &Sections<'_>,
    pointers: &Pointers,
    lj_types: &[u32],
) -> Parsed<(Vec<Atom>, Vec<Residue>)> {
    let count = pointers.atoms;
    let residues = residues::read(sections, pointers)?;
    let names = sections.require("ATOM_NAME")?.names(count)?;
    let charges = sections.require("CHARGE")?.reals(count)?;
    let masses = masses(sections.require("MASS")?, count)?;
    let type_names = sections.require("AMBER_ATOM_TYPE")?.names(count)?;
    let numbers = match sections.get("ATOMIC_NUMBER") {
        Some(section) => section.integers(count)?,
        None => vec![-1; count],
    };
    let mut residue = 0;
    let atoms = (0..count).map(|i| {
        while residues.get(residue + 1).is_some_and(|next| next.first as usize <= i) {
            residue += 1;
        }
        Atom {
            name: names[i],
            type_name: type_names[i],
            // −1 means "unknown" in files written by ParmEd
            element: match u8::try_from(numbers[i]) {
                Ok(number) if number > 0 => number,
                _ => element::guess(names[i], masses[i]),
            },
            mass: masses[i],
            charge: charges[i] / AMBER_CHARGE,
            lj_type: lj_types[i],
            residue: residue as u32,
        }
    });
    Ok((atoms.collect(), residues))
}

/// Reads the masses of the atoms. Extra points have a mass of zero.
fn masses(section: &Section<'_>, count: usize) -> Parsed<Vec<f64>> {
    let masses = section.reals(count)?;
    match masses.iter().position(|&mass| mass < 0.0) {
        Some(atom) => Err(section.problem_at(atom, format!("atom {} has the mass {}", atom + 1, masses[atom]))),
        None => Ok(masses),
    }
}

/// Reads the pairs excluded from the non-bonded sum. One list has the excluded partners of the first atom, then the
/// partners of the second atom, and so on. The entry of an atom without excluded partners is a single 0.
pub(super) fn exclusions(sections: &Sections<'_>, pointers: &Pointers) -> Parsed<Exclusions> {
    let counts_section = sections.require("NUMBER_EXCLUDED_ATOMS")?;
    let list_section = sections.require("EXCLUDED_ATOMS_LIST")?;
    let counts = counts_section.integers(pointers.atoms)?;
    let list = list_section.integers(pointers.excluded)?;
    let mut pairs = Vec::with_capacity(list.len());
    let mut next = 0;
    for (i, &count) in counts.iter().enumerate() {
        let end = usize::try_from(count).ok().map(|count| next + count).filter(|&end| end <= list.len());
        let Some(end) = end else {
            let message = format!("atom {} has {count} exclusions, but the list holds {} in all", i + 1, list.len());
            return Err(counts_section.problem_at(i, message));
        };
        for (k, &partner) in list.iter().enumerate().take(end).skip(next) {
            if partner < 0 || partner as usize > pointers.atoms || partner as usize == i + 1 {
                let message = format!("atom {} cannot exclude atom {partner}", i + 1);
                return Err(list_section.problem_at(k, message));
            }
            if partner > 0 {
                pairs.push([i as u32, partner as u32 - 1]);
            }
        }
        next = end;
    }
    if next != list.len() {
        let message = format!("the numbers of exclusions add up to {next}, but the list holds {}", list.len());
        return Err(counts_section.problem(message));
    }
    Ok(Exclusions::from_pairs(pointers.atoms, pairs))
}
