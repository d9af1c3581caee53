//! Writer of GROMACS topologies (`.top`): one file without includes, with every parameter in the line of its term.
//!
//! A number is written as the shortest text that is read as the same `f64`. `[ defaults ]` has no generated pairs. `[
//! nonbond_params ]` lists every pair of types whose parameters the combination rule does not give to 10⁻¹². Each
//! distinct molecule is a `[ moleculetype ]`; molecules that differ in residue numbers only are not distinct, as in
//! GROMACS. The writer fails for terms that the format cannot express: virtual sites in a local frame, correction
//! maps on atoms that are not a chain of five, and 12-6-4 ions.
//!
//! A rigid water is written as `[ settles ]`. The lengths of a water may come from bonded terms, as in AMBER
//! topologies, where the input of a run determines whether water is rigid. The bonded terms of such a water are
//! written for `-DFLEXIBLE`, as in the water models of GROMACS.

mod atom_types;
mod molecule;
mod parts;
mod sites;
mod water;

use std::fmt::Write as _;

use super::Parsed;
use crate::error::Problem;
use crate::system::Description;

use atom_types::AtomTypes;
use parts::Parts;

/// Returns the text of a topology.
pub(in crate::format) fn write(description: &Description) -> Parsed<String> {
    let topology = &description.topology;
    if !description.nonbonded.c4.is_empty() {
        let problem = Problem::new("a GROMACS topology cannot hold the r^-4 terms of 12-6-4 ions");
        return Err(problem.help("write a prmtop"));
    }
    let types = AtomTypes::new(description)?;
    let parts = Parts::new(topology);
    let mut text = format!("; GROMACS topology, written by md {}\n", env!("CARGO_PKG_VERSION"));
    if topology.charmm {
        // the macro of CHARMM force fields in GROMACS
        text.push_str("#define _FF_CHARMM\n");
    }
    types.write(description, &mut text);
    for (index, (molecule, name)) in parts.distinct.iter().zip(&parts.names).enumerate() {
        molecule::write((molecule, name), (&types, parts.first_atom(index)), &mut text)?;
    }
    let title = topology.title.split_whitespace().collect::<Vec<_>>().join(" ");
    let title = title.trim_start_matches(['[', ';', '#', '*']).replace([';', '\\'], " ");
    let _ = writeln!(text, "\n[ system ]\n{}", if title.trim().is_empty() { "system" } else { title.trim() });
    text.push_str("\n[ molecules ]\n");
    for &(index, copies) in &parts.sequence {
        let _ = writeln!(text, "{:<16} {copies}", parts.names[index]);
    }
    Ok(text)
}

/// Number that is written as the shortest text that is read as the same value.
struct Number(f64);

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // for numbers outside this range the text with an exponent is shortest
        match self.0.abs() {
            0.0 => write!(f, "0"),
            size if (1e-4..1e9).contains(&size) => write!(f, "{}", self.0),
            _ => write!(f, "{:e}", self.0),
        }
    }
}

/// Returns a word without special meaning in the format: without blanks and comments, never empty.
fn word(name: &str) -> String {
    let word: String = name.chars().map(|c| if c.is_whitespace() || c == ';' || c == '\\' { '_' } else { c }).collect();
    match word.chars().next() {
        None => "X".to_owned(),
        Some('#' | '[' | '*' | '"') => format!("_{word}"),
        _ => word,
    }
}

/// Makes a name unique among the names in `taken`, ignoring case.
fn unique(name: String, taken: &mut std::collections::HashSet<String>) -> String {
    let mut candidate = name.clone();
    let mut number = 2;
    while !taken.insert(candidate.to_ascii_lowercase()) {
        candidate = format!("{name}_{number}");
        number += 1;
    }
    candidate
}

/// Appends a line of words.
macro_rules! line {
    ($text:expr, $($argument:tt)*) => {{
        // writing to a String cannot fail
        let _ = writeln!($text, $($argument)*);
    }};
}
use line;
