//! GROMACS topologies (`.top`, `.itp`) and coordinates (`.gro`, `.g96`).
//!
//! ```text
//! file -> preprocessor (preprocessor, macros) -> lines below headings (directive), in three parts:
//!         force field      force_field, bonded_types, cmap
//!         molecule types   molecule, function, virtual_sites
//!         system           whole, intermolecular
//! ```
//!
//! Position restraints are read separately (`position_restraints`). Units of GROMACS files are those of the engine,
//! except for angles, which are in degrees. A line that the reader does not understand is an error that names file and
//! line, so that no interaction is skipped silently. Formats are those of the GROMACS reference manual, chapters
//! "Topologies" and "File formats".

mod bonded_types;
mod cmap;
mod directive;
mod fields;
mod force_field;
mod function;
mod g96;
mod gro;
mod gro_writer;
mod intermolecular;
mod leap_order;
mod macros;
mod molecule;
mod position_restraints;
mod preprocessor;
mod topology;
mod virtual_sites;
mod whole;
mod writer;

pub(super) use g96::{is_g96, read as read_g96};
pub(super) use gro::{is_gro, read as read_gro};
pub use gro_writer::write_gro;
pub(super) use position_restraints::read as read_position_restraints;
pub use position_restraints::{AtomRestraint, RestraintShape};
pub(super) use topology::read as read_topology;
pub(super) use writer::write as write_topology;

use super::options::TopologyOptions;
use crate::error::Parsed;

/// Whether the bytes are those of a topology. After comments, which in force fields may also begin with `*`, the
/// first line must be a known heading or a preprocessor command.
pub(super) fn is_topology(bytes: &[u8]) -> bool {
    const COMMANDS: [&str; 6] = ["include", "define", "undef", "ifdef", "ifndef", "endif"];
    let lines = bytes.split(|&byte| byte == b'\n').map(|line| line.trim_ascii());
    let first = lines.map(|line| std::str::from_utf8(line).unwrap_or_default());
    let first = { first }.find(|line| !(line.is_empty() || line.starts_with([';', '*'])));
    let is_command = |line: &str| {
        let command = line.strip_prefix('#').map(str::trim_start);
        command.is_some_and(|found| COMMANDS.iter().any(|command| found.starts_with(command)))
    };
    first.is_some_and(|line| is_command(line) || directive::is_heading(line))
}
