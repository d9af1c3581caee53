//! PDB files for viewers: positions to 0.001 Å, one model.

use std::fmt::Write as _;
use std::io::{Result, Write};

use super::element;
use super::text::{fixed, push_fixed, write_in_pieces};
use crate::cell::PeriodicCell;
use crate::system::{Atom, Molecules, Topology};
use crate::units::ANGSTROM;
use crate::vec3::Vec3;

/// Serial numbers have five columns and residue numbers four; beyond that they start again at 0, as viewers expect.
const SERIALS: usize = 100_000;
const RESIDUE_NUMBERS: i32 = 10_000;

/// Write `positions` (nm) as PDB records. Molecules of one residue (water, ions, ligands) are `HETATM`; every
/// molecule ends with `TER`.
pub fn write_pdb(
    topology: &Topology,
    positions: &[Vec3],
    cell: Option<&PeriodicCell>,
    title: &str,
    out: &mut impl Write,
) -> Result<()> {
    write_pdb_of(topology, 0..topology.atoms.len(), positions, cell, title, out)
}

/// The same of some atoms only, in ascending order; `positions` are those of all.
pub fn write_pdb_of(
    topology: &Topology,
    atoms: impl IntoIterator<Item = usize>,
    positions: &[Vec3],
    cell: Option<&PeriodicCell>,
    title: &str,
    out: &mut impl Write,
) -> Result<()> {
    let title: String = title.chars().filter(|c| !c.is_control()).take(70).collect();
    writeln!(out, "TITLE     {title}")?;
    if let Some(cell) = cell {
        let (lengths, angles) = cell.lengths_angles();
        let lengths = lengths.map(|length| fixed(length / ANGSTROM, 9, 3)).concat();
        let angles = angles.map(|angle| fixed(angle, 7, 2)).concat();
        writeln!(out, "CRYST1{lengths}{angles} P 1           1")?;
    }
    let molecules = Molecules::from_bonds(topology.atoms.len(), &topology.connectivity);
    let atoms: Vec<usize> = atoms.into_iter().collect();
    write_in_pieces(&atoms, out, |index, piece, text| {
        let mut last = index.checked_sub(1).map(|before| molecules.of_atom(atoms[before]));
        for &i in piece {
            let molecule = molecules.of_atom(i);
            if last.replace(molecule).is_some_and(|last| last != molecule) {
                text.push_str("TER\n");
            }
            let members = molecules.atoms(molecule);
            let residue_of = |member: Option<&u32>| member.map(|&member| topology.atoms[member as usize].residue);
            let one_residue = residue_of(members.first()) == residue_of(members.last());
            let record = if one_residue { "HETATM" } else { "ATOM  " };
            push_atom(topology, record, i, positions[i], text);
        }
    })?;
    writeln!(out, "TER\nEND")
}

fn push_atom(topology: &Topology, record: &str, index: usize, position: Vec3, text: &mut String) {
    let atom = &topology.atoms[index];
    let residue = &topology.residues[atom.residue as usize];
    // writing to a String cannot fail
    let _ = write!(
        text,
        "{record}{:5} {} {:<4} {:4}    ",
        (index + 1) % SERIALS,
        name_columns(atom),
        format!("{:>3.4}", residue.name),
        residue.number.rem_euclid(RESIDUE_NUMBERS),
    );
    for value in position.to_array() {
        push_fixed(value / ANGSTROM, 8, 3, text);
    }
    let _ = writeln!(text, "  1.00  0.00          {:>2}", element::symbol(atom.element).to_ascii_uppercase());
}

/// Four columns: the element symbol is right-aligned in the first two, so that carbon α and calcium differ.
fn name_columns(atom: &Atom) -> String {
    let (name, symbol) = (atom.name.as_str(), element::symbol(atom.element));
    let two_letters = symbol.len() == 2 && name.get(..2).is_some_and(|start| start.eq_ignore_ascii_case(symbol));
    if two_letters || name.len() >= 4 { format!("{name:<4.4}") } else { format!(" {name:<3}") }
}
