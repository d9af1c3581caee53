//! Writers of PDB structures, and of the models of PDB trajectories.

use std::fmt::Write as _;
use std::io::{Result, Write};

use super::connections;
use crate::cell::PeriodicCell;
use crate::format::element;
use crate::format::text::{Columns, write_in_pieces};
use crate::system::{Atom, Topology};
use crate::units::ANGSTROM;
use crate::vec3::Vec3;

/// Number of different serial numbers in five columns. [`RESIDUE_NUMBERS`] is the number of different residue numbers
/// in four columns, and [`NEGATIVE_NUMBERS`] is the number of those with a sign. Numbering restarts at 0 after the
/// largest number, as viewers expect.
const SERIALS: usize = 100_000;
const RESIDUE_NUMBERS: i32 = 10_000;
const NEGATIVE_NUMBERS: i32 = 1000;

/// Columns of a coordinate (Å), of an edge (Å) and of an angle (°) of the cell.
const COORDINATE: Columns = Columns { width: 8, decimals: 0..=3 };
const EDGE: Columns = Columns { width: 9, decimals: 0..=3 };
const ANGLE: Columns = Columns { width: 7, decimals: 0..=2 };

/// Writes `positions` (nm) as PDB records. Polymers ([`Topology::chains`]) have `ATOM` records and end with `TER`.
/// Molecules of one residue (water, ions, ligands) have `HETATM` records. `CONECT` records state the bonds that do not
/// follow from names. Chain identifiers and insertion codes are written if they have one character. Returns an error
/// that contains a [`crate::error::Problem`] if a number does not fit into its columns, even with fewer decimals.
pub fn write_pdb(
    topology: &Topology,
    positions: &[Vec3],
    cell: Option<&PeriodicCell>,
    title: &str,
    out: &mut impl Write,
) -> Result<()> {
    write_pdb_of(topology, 0..topology.atoms.len(), positions, cell, title, out)
}

/// Writes the given atoms in the same way as [`write_pdb`]. `atoms` must be in ascending order, and `positions` (nm)
/// holds the positions of all atoms of the topology.
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
        out.write_all(cell_record(cell)?.as_bytes())?;
    }
    let chains = Chains::new(topology);
    let atoms: Vec<usize> = atoms.into_iter().collect();
    write_in_pieces(&atoms, out, |index, piece, text| {
        let mut last = index.checked_sub(1).map(|before| atoms[before]);
        for &i in piece {
            chains.push_head(last.replace(i), i, text);
            push_position(positions[i].to_array(), i, text)?;
            push_tail(topology, i, text);
        }
        Ok(())
    })?;
    let end = atoms.last().map_or("", |&last| chains.end(last));
    writeln!(out, "{end}{}END", connections::records(topology, &atoms))
}

/// Returns the CRYST1 record of a cell.
fn cell_record(cell: &PeriodicCell) -> Result<String> {
    let (lengths, angles) = cell.lengths_angles();
    let lengths = EDGE.of_cell(&lengths.map(|length| length / ANGSTROM), "edges (Å)")?;
    let angles = ANGLE.of_cell(&angles, "angles (°)")?;
    Ok(format!("CRYST1{lengths}{angles} P 1           1\n"))
}

/// Text of the atom records of a model. The positions of each model are written into a copy of this text.
pub struct AtomRecords {
    text: Vec<u8>,
    /// byte offset in `text` at which the position of each atom begins
    places: Vec<usize>,
}

/// Number of bytes of a position in an atom record.
const POSITION: usize = 24;

impl AtomRecords {
    /// Prepares the records of the given atoms, in ascending order.
    pub fn new(topology: &Topology, atoms: impl IntoIterator<Item = usize>) -> Self {
        let chains = Chains::new(topology);
        let (mut text, mut places, mut last) = (String::new(), vec![], None);
        for atom in atoms {
            chains.push_head(last.replace(atom), atom, &mut text);
            places.push(text.len());
            text.extend([' '; POSITION]);
            push_tail(topology, atom, &mut text);
        }
        text.push_str(last.map_or("", |last| chains.end(last)));
        Self { text: text.into_bytes(), places }
    }

    /// Appends model `number` (from 0) with the atoms at `positions` (nm). Returns an error if a number does not fit
    /// into its columns.
    pub fn write_model(
        &self,
        number: u64,
        title: &str,
        cell: Option<&PeriodicCell>,
        positions: &[[f32; 3]],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        // the model number has eight columns, so that numbering restarts at 0 after 99 999 999
        let number = (number + 1) % 100_000_000;
        out.extend(format!("MODEL {number:8}\nTITLE     {title}\n").bytes());
        if let Some(cell) = cell {
            out.extend(cell_record(cell)?.bytes());
        }
        let start = out.len();
        out.extend(&self.text);
        let mut text = String::new();
        for (index, (place, position)) in self.places.iter().zip(positions).enumerate() {
            text.clear();
            push_position(position.map(f64::from), index, &mut text)?;
            out[start + place..][..POSITION].copy_from_slice(text.as_bytes());
        }
        out.extend(b"ENDMDL\n");
        Ok(())
    }
}

/// Chains of a topology, which decide the kinds of atom records and the places of `TER` records.
struct Chains<'a> {
    topology: &'a Topology,
    /// number of the chain of each residue, and whether the chain is a polymer
    of_residue: Vec<(usize, bool)>,
}

/// Record at the end of a polymer.
const END_OF_CHAIN: &str = "TER\n";

impl<'a> Chains<'a> {
    fn new(topology: &'a Topology) -> Self {
        let chains = topology.chains().into_iter().enumerate();
        let of_residue = chains.flat_map(|(index, (residues, alone))| residues.map(move |_| (index, !alone)));
        Self { topology, of_residue: of_residue.collect() }
    }

    /// Returns the chain of an atom, and whether the chain is a polymer.
    fn of_atom(&self, atom: usize) -> (usize, bool) {
        self.of_residue[self.topology.atoms[atom].residue as usize]
    }

    /// Returns the character that identifies the chain of an atom in its record.
    fn identifier(&self, atom: usize) -> char {
        let label = self.topology.chain_labels.get(self.topology.atoms[atom].residue as usize);
        label.map_or(' ', |label| one_column(label.chain.as_str()))
    }

    /// Returns the record after an atom that is the last atom of the file or of its chain.
    fn end(&self, last: usize) -> &'static str {
        if self.of_atom(last).1 { END_OF_CHAIN } else { "" }
    }

    /// Appends the part of an atom record before the position. `before` is the previous atom. A `TER` record is written
    /// first if a polymer ends with the previous atom. A `TER` record is also written before a polymer if the molecules
    /// before it have the same identifier, because other programs take all of them for one chain.
    fn push_head(&self, before: Option<usize>, index: usize, text: &mut String) {
        let topology = self.topology;
        let (chain, is_polymer) = self.of_atom(index);
        if let Some(before) = before.filter(|&before| self.of_atom(before).0 != chain) {
            let is_same = is_polymer && self.identifier(before) == self.identifier(index);
            text.push_str(if is_same { END_OF_CHAIN } else { self.end(before) });
        }
        let record = if is_polymer { "ATOM  " } else { "HETATM" };
        let atom = &topology.atoms[index];
        let residue = &topology.residues[atom.residue as usize];
        let label = topology.chain_labels.get(atom.residue as usize).copied().unwrap_or_default();
        // writing to a String cannot fail
        let _ = write!(
            text,
            "{record}{:5} {} {:<4}{}{:4}{}   ",
            (index + 1) % SERIALS,
            name_columns(atom),
            format!("{:>3.4}", residue.name),
            self.identifier(index),
            residue.number % if residue.number < 0 { NEGATIVE_NUMBERS } else { RESIDUE_NUMBERS },
            label.insertion_code.filter(char::is_ascii_graphic).unwrap_or(' '),
        );
    }
}

/// Returns the identifier if it is a single printable ASCII character, and a blank otherwise.
fn one_column(identifier: &str) -> char {
    match identifier.as_bytes() {
        &[byte] if byte.is_ascii_graphic() => char::from(byte),
        _ => ' ',
    }
}

/// Appends the position (nm) of atom `index` (from 0), converted to Å, in 24 columns.
fn push_position(position: [f64; 3], index: usize, text: &mut String) -> Result<()> {
    COORDINATE.push_of_atom(position.map(|value| value / ANGSTROM), index, "position (Å)", text)
}

/// Appends the part of an atom record after the position.
fn push_tail(topology: &Topology, index: usize, text: &mut String) {
    let symbol = element::symbol(topology.atoms[index].element).to_ascii_uppercase();
    // writing to a String cannot fail
    let _ = writeln!(text, "  1.00  0.00          {symbol:>2}");
}

/// Returns an atom name in four columns. The element symbol is right-aligned in the first two columns. For example, the
/// name CA begins in the second column for a Cα atom, and in the first column for calcium.
fn name_columns(atom: &Atom) -> String {
    let (name, symbol) = (atom.name.as_str(), element::symbol(atom.element));
    let two_letters = symbol.len() == 2 && name.get(..2).is_some_and(|start| start.eq_ignore_ascii_case(symbol));
    if two_letters || name.len() >= 4 { format!("{name:<4.4}") } else { format!(" {name:<3}") }
}
