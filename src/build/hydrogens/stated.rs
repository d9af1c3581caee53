//! Comparison of the chosen protonation with the hydrogens of the input, which are replaced.

use super::protonation::{Choice, Reason};
use super::table::{Entry, Hydrogen, Table};
use crate::structure::Structure;

/// A residue whose hydrogens in the input state another protonation than the chosen one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// index of the residue
    pub residue: usize,
    /// hydrogens of the input that the chosen variant lacks
    pub extra: Vec<String>,
    /// hydrogens of the chosen variant that the input lacks
    pub absent: Vec<String>,
    /// variant with the hydrogens of the input; `None` if no variant has exactly these hydrogens
    pub variant: Option<String>,
}

/// Returns the residues whose hydrogens in the input contradict the chosen variants. `structure` has the hydrogens of
/// the input. A residue without a hydrogen of a variant states its protonation only if the input has all hydrogens that
/// every variant of the residue has. Variants that the user or the file names are not compared.
pub(super) fn contradictions(structure: &Structure, table: &Table, choices: &[Choice]) -> Vec<Contradiction> {
    let compared = choices.iter().filter(|choice| choice.reason != Reason::Given);
    let of_choice = |choice: &Choice| {
        let (entry, _) = table.find(&structure.residues[choice.residue].name)?;
        let has = |hydrogen: &&Hydrogen| structure.atom_named(choice.residue, &hydrogen.name).is_some();
        let within_chain = || entry.hydrogens.iter().filter(|hydrogen| !hydrogen.is_terminal);
        let is_complete = within_chain().filter(|hydrogen| hydrogen.variants.is_empty() && hydrogen.name != "H");
        let is_complete = is_complete.into_iter().all(|hydrogen| has(&hydrogen));
        let stated: Vec<&str> =
            within_chain().filter(|hydrogen| !hydrogen.variants.is_empty()).filter(has).map(name).collect();
        let chosen = of_variant(entry, &choice.variant);
        let without = |a: &[&str], b: &[&str]| -> Vec<String> {
            a.iter().filter(|name| !b.contains(name)).map(|name| name.to_string()).collect()
        };
        let (extra, absent) = (without(&stated, &chosen), without(&chosen, &stated));
        if extra.is_empty() && (absent.is_empty() || !is_complete) {
            return None;
        }
        let variant = entry.variants.iter().find(|variant| of_variant(entry, variant) == stated);
        Some(Contradiction { residue: choice.residue, extra, absent, variant: variant.cloned() })
    };
    compared.filter_map(of_choice).collect()
}

fn name(hydrogen: &Hydrogen) -> &str {
    &hydrogen.name
}

/// Returns the hydrogens that a variant has, and that some other variant lacks.
fn of_variant<'a>(entry: &'a Entry, variant: &str) -> Vec<&'a str> {
    let has = |hydrogen: &&Hydrogen| !hydrogen.is_terminal && hydrogen.variants.iter().any(|name| name == variant);
    entry.hydrogens.iter().filter(has).map(name).collect()
}
