//! AMBER topologies (`prmtop`, `parm7`): AMBER force fields from ff94 to ff19SB, and CHARMM force fields written by
//! CHAMBER or ParmEd.
//!
//! A file is accepted only if the reader knows every energy term in the file. Therefore an unknown section is an error.
//! Units and signs are converted to those of the engine (`½k` instead of `k`, nm, kJ/mol, e). Stored charges are
//! divided by 18.2223, also in CHAMBER files. The module `sections` splits the columns, and the other modules interpret
//! the values.

mod atoms;
mod bonded;
mod chamber;
mod cmap;
mod columns;
mod dihedral;
mod extra_points;
mod flags;
mod nonbonded;
mod pointers;
mod residues;
mod sections;
mod whole;
mod writer;

pub(super) use writer::write;

use std::path::Path;

use super::options::TopologyOptions;
use crate::error::Problem;
use crate::system::{BoxKind, CellHint, Description, Topology};

use nonbonded::Tables;
use pointers::Pointers;
use sections::{Parsed, Sections};

/// Name of the section with the force field.
const FORCE_FIELD: &str = "FORCE_FIELD_TYPE";

/// Value of [`FORCE_FIELD`] in CHAMBER files of md with terms of the kinds that CHARMM has, but of another force
/// field. The conventions of CHARMM for cutoffs do not apply to such a file. Other programs look for the word CHARMM.
const OTHER_FIELD: &str = " 1 CHARMM  terms of another force field";

/// Whether the bytes are those of an AMBER topology.
pub(super) fn is_topology(bytes: &[u8]) -> bool {
    ["%VERSION", "%FLAG", "%COMMENT"].iter().any(|word| bytes.starts_with(word.as_bytes()))
}

/// Whether the bytes look like those of an AMBER topology before version 7: after a title, lines of twelve integers
/// with six columns each.
pub(super) fn is_old_topology(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|&byte| byte == b'\n').skip(1);
    let is_integer = |field: &[u8]| std::str::from_utf8(field).is_ok_and(|text| text.trim().parse::<u32>().is_ok());
    let is_row = |line: &[u8]| line.trim_ascii_end().len() == 72 && line.trim_ascii_end().chunks(6).all(is_integer);
    [lines.next(), lines.next()].iter().all(|line| line.is_some_and(is_row))
}

/// Reads the bytes of an AMBER topology. `path` names the file in messages.
pub(super) fn read(path: &Path, bytes: &[u8], options: &TopologyOptions) -> Parsed<Description> {
    options.are_used(&[], path)?;
    let sections = Sections::split(path, bytes)?;
    flags::check(&sections)?;
    let pointers = Pointers::read(&sections)?;
    let title = sections.get("TITLE").or_else(|| sections.get("CTITLE")).map(|section| section.text());
    let chamber = sections.get("CTITLE").is_some();
    whole::check(&sections, &pointers, chamber)?;
    let tables = Tables::read(&sections, &pointers, chamber)?;
    let (atoms, (exclusions, bonds)) = rayon::join(
        || atoms::read(&sections, &pointers, &tables.atom_types),
        || (atoms::exclusions(&sections, &pointers), bonded::bonds(&sections, &pointers)),
    );
    let (atoms, residues) = atoms?;
    let (title, exclusions) = (title.unwrap_or_default(), exclusions?);
    let is_other = sections.get(FORCE_FIELD).is_some_and(|section| section.text() == OTHER_FIELD.trim());
    let chain_labels = residues::labels(&sections, pointers.residues)?;
    let charmm = chamber && !is_other;
    let mut topology = Topology { title, charmm, atoms, residues, chain_labels, exclusions, ..Topology::default() };
    topology.bonded.bonds = bonds?;
    topology.connectivity = bonded::connectivity(&topology);
    topology.virtual_sites = extra_points::read(&sections, &topology)?;
    bonded::read_angles(&sections, &pointers, &mut topology)?;
    dihedral::read(&sections, &pointers, &tables, chamber, &mut topology)?;
    chamber::read(&sections, &mut topology)?;
    cmap::read(&sections, &mut topology)?;
    whole::check_cmap(&sections, &topology)?;
    let cell_hint = cell_hint(&sections, pointers.box_kind)?;
    Ok(Description { topology, nonbonded: tables.pairs, cell_hint, nameless: false })
}

/// Reads the section BOX_DIMENSIONS, which has β in degrees, then a, b, c in Å. The edges a, b, c are ignored,
/// because they belong to the cell at the time when the topology was written.
fn cell_hint(sections: &Sections<'_>, kind: BoxKind) -> Parsed<CellHint> {
    let Some(section) = sections.get("BOX_DIMENSIONS").filter(|_| kind != BoxKind::None) else {
        return Ok(CellHint { kind, angle_degrees: None });
    };
    let values = section.reals(4)?;
    // β alone does not determine the other angles of a triclinic box
    Ok(CellHint { kind, angle_degrees: (kind != BoxKind::Triclinic).then_some(values[0]) })
}

/// Returns an error about a feature that is valid in AMBER but that md does not support.
fn unsupported(problem: Problem, help: &str) -> Problem {
    problem.help(format!("md does not support this feature of AMBER; {help}"))
}
