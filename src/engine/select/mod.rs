//! Atom selections, such as `protein and name CA` or `byres within 0.5 nm of resname LIG`.
//!
//! ```text
//! selection  := all-of ("or" all-of)*              "or" may be written | or ||
//! all-of     := one ("and" one)*                   "and" may be written & or &&
//! one        := "not" one | "!" one | "(" selection ")" | class | property | expansion
//! class      := all | protein | backbone | sidechain | nucleic | water | ion | lipid | hydrogen | heavy
//! property   := (name | resname | element | type | chain | segid) value …
//!             | resid (residue | range of residues) …
//!             | (index | molecule) (number | range) …
//!             | (resid | index | molecule | mass | charge) comparison number
//! expansion  := byres one | same (residue | molecule | chain) as one | bonded to one
//!             | around length of one | within length of one
//! residue    := 60 | 60A                           with insertion code
//! range      := 5-17 | 5:17 | 5 to 17              comparison := == | != | < | <= | > | >=
//! ```
//!
//! `resid` is the residue number in files, followed by the insertion code if the residue has one: `resid 60` does not
//! select the residue 60A, and `resid 60-61` selects 60, 60A and 61, as in MDAnalysis. A comparison of `resid` ignores
//! insertion codes. `index` counts atoms from 0, and `molecule` counts molecules from
//! 0 in the order of their first atoms ([`Topology::molecules`]). Ranges include both ends. In a value, `*` stands for
//! any text and `?` for any character, unless the value is in quotes or is the name of an atom. Names are
//! case-sensitive, keywords are not.
//!
//! `protein`, `nucleic`, `water`, `ion` and `lipid` select by residue name ([`residues`]). `water` also selects every
//! residue of one oxygen and two hydrogens with any name. `sidechain` is the protein without its caps, its backbone,
//! and the hydrogens and terminal oxygens on the backbone. Any other keyword that MDAnalysis also has means the same
//! as in MDAnalysis.
//!
//! An expansion (`around`, `within`, `byres` and the like) must be the last part of a selection or in parentheses,
//! because programs disagree on how many of the following words an expansion includes. `around` leaves out the atoms of
//! the inner selection, and `within` keeps the atoms of the inner selection. Distances are measured between nearest
//! periodic images. Without positions ([`select_at`]), a selection with distances is refused, unless [`fix`] has stored
//! the selected atoms in the topology.

mod evaluate;
mod expression;
mod foreign;
mod parser;
mod residues;
#[cfg(test)]
mod tests;
mod words;

use crate::cell::PeriodicCell;
use crate::error::Problem;
use crate::system::{FixedSelection, Topology};
use crate::vec3::Vec3;
use evaluate::Evaluation;
use parser::{Fault, parse};

/// Maximum product of the number of parts of a selection and the number of atoms. The evaluation of a selection at this
/// limit takes several seconds.
const MOST_TESTS: usize = 1 << 31;

/// Positions (nm) of all atoms, and the periodic cell.
#[derive(Clone, Copy, Debug)]
pub struct Geometry<'a> {
    /// positions in topology order, in any periodic images
    pub positions: &'a [Vec3],
    /// periodic cell; `None` without periodic boundaries
    pub cell: Option<&'a PeriodicCell>,
}

/// Returns the atoms (0-based, ascending) that the text selects. Returns a [`Problem`] that quotes the text if the text
/// is wrong or selects no atom, or if the text has a distance that was not evaluated by [`fix`].
///
/// ```
/// use md_engine::prepare::AtomSpec;
/// use md_engine::select::select;
/// use md_engine::system::System;
///
/// let mut builder = System::builder();
/// builder.lj_type("none", Default::default());
/// for (name, element, mass) in [("C", 6, 12.011), ("H1", 1, 1.008), ("H2", 1, 1.008)] {
///     builder.atom(AtomSpec { name, element, mass, ..AtomSpec::default() });
/// }
/// let topology = builder.build()?.system.topology;
/// assert_eq!(select(&topology, "hydrogen and not name H2")?, [1]);
/// # Ok::<(), md_engine::error::Error>(())
/// ```
pub fn select(topology: &Topology, text: &str) -> Result<Vec<u32>, Problem> {
    match topology.fixed_selections.iter().find(|fixed| fixed.text == text) {
        Some(fixed) => Ok(fixed.atoms.clone()),
        None => evaluate(topology, None, text),
    }
}

/// Returns the atoms that the text selects, like [`select`], with distances between the positions of `geometry`.
pub fn select_at(topology: &Topology, geometry: Geometry<'_>, text: &str) -> Result<Vec<u32>, Problem> {
    evaluate(topology, Some(geometry), text)
}

/// Evaluates the texts that need positions and stores the selected atoms in the topology, so that [`select`] returns
/// the same atoms from then on. Texts that need no positions, and texts with errors, are skipped.
pub fn fix<'a>(
    topology: &mut Topology,
    geometry: Geometry<'_>,
    texts: impl IntoIterator<Item = &'a str>,
) -> Result<(), Problem> {
    for text in texts {
        let is_known = topology.fixed_selections.iter().any(|fixed| fixed.text == text);
        if !is_known && needs_positions(text) {
            let atoms = select_at(topology, geometry, text)?;
            topology.fixed_selections.push(FixedSelection { text: text.to_owned(), atoms });
        }
    }
    Ok(())
}

/// Whether the atoms that the text selects depend on positions. The result is false for a text with errors.
pub fn needs_positions(text: &str) -> bool {
    parse(text).is_ok_and(|(expression, _)| expression.needs_positions())
}

fn evaluate(topology: &Topology, geometry: Option<Geometry<'_>>, text: &str) -> Result<Vec<u32>, Problem> {
    let located = |fault: Fault| problem(text, &fault);
    let (expression, parts) = parse(text).map_err(located)?;
    let atoms = topology.atoms.len();
    if parts.saturating_mul(atoms) > MOST_TESTS {
        let message = format!("a selection from {atoms} atoms can have at most {} parts", MOST_TESTS / atoms);
        let what = format!("{message}: list names or numbers after one keyword, for example \"index 1 5 7-20\"");
        return Err(located(Fault { what, place: 0..0 }));
    }
    let chosen = Evaluation::new(topology, geometry).of(&expression).map_err(located)?;
    let atoms: Vec<u32> = (0u32..).zip(&chosen).filter(|(_, chosen)| **chosen).map(|(i, _)| i).collect();
    if atoms.is_empty() {
        let what = "no atom is selected".to_owned();
        let help = "`md select all FILE` counts the residues of the system";
        return Err(located(Fault { what, place: 0..0 }).help(help));
    }
    Ok(atoms)
}

/// Maximum number of characters that a message quotes before the faulty part of a selection. The faulty part, and the
/// text after the faulty part, are each quoted up to twice this number of characters.
const LONGEST_QUOTE: usize = 150;

/// Converts a fault of a selection to a problem, whose message quotes the text with marks around the faulty part.
fn problem(text: &str, fault: &Fault) -> Problem {
    let Fault { what, place } = fault;
    let (before, part, after) = (&text[..place.start], &text[place.clone()], &text[place.end..]);
    let whole = place.is_empty() || part.len() == text.len();
    let end: String = before.chars().rev().take(LONGEST_QUOTE).collect();
    let end: String = end.chars().rev().collect();
    let end = if end.len() < before.len() { format!("…{end}") } else { end };
    let quote = match (whole, place.is_empty() && place.start == text.len()) {
        (true, false) => shortened(text),
        (_, true) => end,
        _ => format!("{end}>>{}<<{}", shortened(part), shortened(after)),
    };
    Problem::new(format!("selection \"{quote}\": {}", shortened(what))).help(
        "keywords: all protein backbone sidechain nucleic water ion lipid hydrogen heavy; name, resname, element, type, \
         chain, segid, resid, index, molecule with values; mass, charge with a comparison; and, or, not, parentheses; \
         byres, same residue as, same molecule as, same chain as, bonded to, around 0.5 nm of, within 0.5 nm of; for \
         example \"protein and heavy and resid 5-17\"",
    )
}

/// Returns the beginning of a text that is too long for a message.
fn shortened(text: &str) -> String {
    let beginning: String = text.chars().take(2 * LONGEST_QUOTE).collect();
    if beginning.len() < text.len() { beginning + "…" } else { beginning }
}
