//! Writer of GROMACS topologies (`.top`). The topology is one file without includes, and every parameter is in the
//! line of its term.
//!
//! A number is written as the shortest text that is parsed as the same `f64`. `gen-pairs` is `no` in `[ defaults ]`. `[
//! nonbond_params ]` lists every pair of types whose parameters have a relative difference of more than 10⁻¹² from the
//! values of the combination rule. Each distinct molecule is a `[ moleculetype ]`. As in GROMACS, molecules that differ
//! only in their residue numbers are copies of one molecule type. The writer fails for terms that the format cannot
//! express: virtual sites in a local frame, correction maps on atoms that are not a chain of five, and 12-6-4 ions.
//!
//! A rigid water is written as `[ settles ]`. The O–H and H–H distances of a water may come from bonded terms, as in
//! AMBER topologies, where the input of a run determines whether water is rigid. The bonded terms of such a water are
//! also written, and are used if the macro `FLEXIBLE` is defined, as in the water models of GROMACS.

mod atom_types;
mod losses;
mod molecule;
mod parts;
mod sites;
mod water;

use std::fmt::Write as _;

use super::Parsed;
use crate::error::Problem;
use crate::format::known::WrittenTopology;
use crate::system::Description;

use atom_types::AtomTypes;
use parts::Parts;

/// Writes a GROMACS topology.
pub(in crate::format) fn write(description: &Description) -> Parsed<WrittenTopology> {
    let topology = &description.topology;
    if !description.nonbonded.c4.is_empty() {
        let problem = Problem::new("a GROMACS topology cannot hold the r^-4 terms of 12-6-4 ions");
        return Err(problem.help("write a prmtop"));
    }
    let types = AtomTypes::new(description)?;
    let parts = Parts::new(topology);
    let mut text = format!("; GROMACS topology, written by md {}\n", env!("CARGO_PKG_VERSION"));
    if topology.charmm {
        // `_FF_CHARMM` is the macro that the CHARMM force fields of GROMACS define
        text.push_str("#define _FF_CHARMM\n");
    }
    types.write(description, &mut text);
    for (index, (molecule, name)) in parts.distinct.iter().zip(&parts.names).enumerate() {
        molecule::write(molecule, name, &types, parts.firsts[index], &mut text)?;
    }
    let title = topology.title.split_whitespace().collect::<Vec<_>>().join(" ");
    let title = title.trim_start_matches(['[', ';', '#', '*']).replace([';', '\\'], " ");
    let _ = writeln!(text, "\n[ system ]\n{}", if title.trim().is_empty() { "system" } else { title.trim() });
    text.push_str("\n[ molecules ]\n");
    for &(index, copies) in &parts.sequence {
        let _ = writeln!(text, "{:<16} {copies}", parts.names[index]);
    }
    Ok(WrittenTopology { text, losses: losses::losses(topology, &types, &parts) })
}

/// Number that is written as the shortest text that is parsed as the same value.
struct Number(f64);

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // a magnitude below 1e-4 or of at least 1e9 is shortest with an exponent
        match self.0.abs() {
            0.0 => write!(f, "0"),
            size if (1e-4..1e9).contains(&size) => write!(f, "{}", self.0),
            _ => write!(f, "{:e}", self.0),
        }
    }
}

/// Returns a word that has no special meaning in the format. The word contains no blanks and no comment characters,
/// and is never empty.
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

/// Appends a line to a text, with arguments as for `writeln!`.
macro_rules! line {
    ($text:expr, $($argument:tt)*) => {{
        // writing to a String cannot fail
        let _ = writeln!($text, $($argument)*);
    }};
}
use line;
