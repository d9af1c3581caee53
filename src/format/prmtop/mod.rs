//! AMBER topologies (`prmtop`, `parm7`): AMBER force fields from ff94 to ff19SB, and CHARMM ones written by CHAMBER
//! or ParmEd.
//!
//! [`read_prmtop`] accepts a file only if every energy term in it is understood: an unknown section is an error,
//! never a silent omission. Units and signs are changed to the engine's on the way (`½k` instead of `k`, nm, kJ/mol,
//! e); the constant 18.2223 in stored charges is divided out in CHAMBER files as well.
//! `sections` cuts the columns, the other files give them meaning.

mod atoms;
mod bonded;
mod chamber;
mod cmap;
mod columns;
mod dihedral;
mod flags;
mod nonbonded;
mod pointers;
mod sections;
mod whole;

use std::path::Path;

use crate::error::{Problem, Result};
use crate::system::{Nonbonded, Topology};
use crate::units::ANGSTROM;

use nonbonded::Tables;
use pointers::Pointers;
use sections::{Parsed, Sections};

/// Everything an AMBER topology says.
#[derive(Clone, Debug)]
pub struct AmberTopology {
    /// atoms, bonded terms, exclusions
    pub topology: Topology,
    /// Lennard-Jones tables
    pub nonbonded: Nonbonded,
    /// what the file says about the box; the sizes are often stale, the coordinate file decides
    pub cell_hint: CellHint,
    /// written by CHAMBER: a CHARMM force field
    pub chamber: bool,
}

/// The box as the topology remembers it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellHint {
    /// IFBOX
    pub kind: BoxKind,
    /// edges in nm, from when the topology was written
    pub lengths: Option<[f64; 3]>,
    /// one angle for the box in degrees; old coordinate files give no angles and mean this one
    pub angle_degrees: Option<f64>,
}

/// IFBOX: the kind of periodic box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxKind {
    /// vacuum or implicit solvent
    None,
    /// all angles 90°
    Rectangular,
    /// all angles acos(−1/3)
    TruncatedOctahedron,
    /// any angles
    Triclinic,
}

/// What to do about virtual sites, whose geometry the format does not hold.
const EXTRA_POINTS_HELP: &str = "the format does not say where they sit; use a model without extra points, such as \
                                 TIP3P, SPC/E or OPC3 water";

/// Read an AMBER topology, compressed or not.
pub fn read_prmtop(path: &Path) -> Result<AmberTopology> {
    let bytes = super::read(path)?;
    Ok(parse(path, &bytes)?)
}

fn parse(path: &Path, bytes: &[u8]) -> Parsed<AmberTopology> {
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
    let mut topology = Topology { title, charmm: chamber, atoms, residues, exclusions, ..Topology::default() };
    topology.bonded.bonds = bonds?;
    topology.connectivity = bonded::connectivity(&topology);
    bonded::read_angles(&sections, &pointers, &mut topology)?;
    dihedral::read(&sections, &pointers, &tables, chamber, &mut topology)?;
    chamber::read(&sections, &mut topology)?;
    cmap::read(&sections, &mut topology)?;
    whole::check_cmap(&sections, &topology)?;
    let cell_hint = cell_hint(&sections, pointers.box_kind)?;
    Ok(AmberTopology { topology, nonbonded: tables.pairs, cell_hint, chamber })
}

/// BOX_DIMENSIONS: β, a, b, c in degrees and Å.
fn cell_hint(sections: &Sections<'_>, kind: BoxKind) -> Parsed<CellHint> {
    let Some(section) = sections.get("BOX_DIMENSIONS").filter(|_| kind != BoxKind::None) else {
        return Ok(CellHint { kind, lengths: None, angle_degrees: None });
    };
    let values = section.reals(4)?;
    let lengths = [values[1], values[2], values[3]].map(|edge| edge * ANGSTROM);
    // β alone says nothing of the other angles of a triclinic box
    let angle_degrees = (kind != BoxKind::Triclinic).then_some(values[0]);
    Ok(CellHint { kind, lengths: Some(lengths), angle_degrees })
}

/// A problem with something that is valid in AMBER but not computed here.
fn unsupported(problem: Problem, help: &str) -> Problem {
    problem.help(format!("md does not support this; {help}"))
}
