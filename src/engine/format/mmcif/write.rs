//! Writer of PDBx/mmCIF structures, with positions to 0.00001 Å.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{Result, Write};

use crate::cell::PeriodicCell;
use crate::format::element;
use crate::format::text::write_in_pieces;
use crate::system::Topology;
use crate::units::ANGSTROM;
use crate::vec3::Vec3;

/// Names of the columns in the loop of atoms, in the order in which they are written, separated by blanks.
const COLUMNS: &str = "group_PDB id type_symbol label_atom_id label_alt_id label_comp_id label_asym_id \
    label_entity_id label_seq_id pdbx_PDB_ins_code Cartn_x Cartn_y Cartn_z occupancy \
    B_iso_or_equiv auth_seq_id auth_comp_id auth_asym_id auth_atom_id pdbx_PDB_model_num";

/// Writes the given atoms, which must be in ascending order. `positions` (nm) holds the positions of all atoms of the
/// topology. Atoms in molecules of one residue (water, ions, ligands) are written as `HETATM`, and atoms of polymers
/// ([`Topology::chains`]) as `ATOM`. Residues keep the chain, number and insertion code of the topology if no two
/// residues have all three in common. Otherwise chains are called A, B and so on. A chain keeps the residue numbers of
/// the topology if the numbers ascend within the chain. The residues of a chain whose numbers do not ascend are
/// numbered from 1.
pub fn write_mmcif(
    topology: &Topology,
    atoms: impl IntoIterator<Item = usize>,
    positions: &[Vec3],
    cell: Option<&PeriodicCell>,
    title: &str,
    out: &mut impl Write,
) -> Result<()> {
    writeln!(out, "data_md\n#\n_entry.id md\n_struct.entry_id md\n_struct.title {}\n#", value(title))?;
    if let Some(cell) = cell {
        let (lengths, angles) = cell.lengths_angles();
        writeln!(out, "_cell.entry_id md")?;
        for (name, length) in ["a", "b", "c"].into_iter().zip(lengths) {
            writeln!(out, "_cell.length_{name} {:.5}", length / ANGSTROM)?;
        }
        for (name, angle) in ["alpha", "beta", "gamma"].into_iter().zip(angles) {
            writeln!(out, "_cell.angle_{name} {angle:.7}")?;
        }
        writeln!(out, "#\n_symmetry.entry_id md\n_symmetry.space_group_name_H-M 'P 1'\n#")?;
    }
    writeln!(out, "loop_")?;
    COLUMNS.split(' ').try_for_each(|column| writeln!(out, "_atom_site.{column}"))?;
    let places = places(topology);
    let atoms: Vec<usize> = atoms.into_iter().collect();
    write_in_pieces(&atoms, out, |index, piece, text| {
        for (number, &atom) in (index + 1..).zip(piece) {
            push_atom(topology, &places, number, atom, positions[atom], text);
        }
        Ok(())
    })?;
    writeln!(out, "#")
}

/// Identifiers of a residue: its chain, and its number in the chain.
struct Place {
    /// letters that identify the chain
    asym: String,
    /// number of the residue in the chain, from 1; `None` for molecules of one residue
    sequence: Option<usize>,
    /// chain, number and insertion code of the residue as the author of the structure has given them
    chain: String,
    number: i64,
    insertion_code: Option<char>,
}

/// Whether chain, number and insertion code distinguish all residues.
fn is_identified(topology: &Topology) -> bool {
    let labels = &topology.chain_labels;
    let mut seen = HashSet::with_capacity(labels.len());
    labels.len() == topology.residues.len()
        && topology.residues.iter().zip(labels).all(|(residue, label)| {
            let chain = label.chain.as_str();
            !chain.is_empty() && seen.insert((chain, residue.number, label.insertion_code))
        })
}

/// Returns the identifiers of each residue.
fn places(topology: &Topology) -> Vec<Place> {
    let mut places = Vec::with_capacity(topology.residues.len());
    let is_identified = is_identified(topology);
    for (index, (residues, are_molecules)) in topology.chains().into_iter().enumerate() {
        let numbers = topology.residues[residues.clone()].iter().map(|residue| i64::from(residue.number));
        let ascend = numbers.clone().zip(numbers.clone().skip(1)).all(|(number, next)| number < next);
        for ((sequence, residue), number) in (1..).zip(residues).zip(numbers) {
            let label = topology.chain_labels.get(residue).filter(|_| is_identified);
            places.push(Place {
                asym: letters(index),
                sequence: (!are_molecules).then_some(sequence),
                chain: label.map_or_else(|| letters(index), |label| label.chain.as_str().to_owned()),
                number: if ascend || is_identified { number } else { sequence as i64 },
                insertion_code: label.and_then(|label| label.insertion_code),
            });
        }
    }
    places
}

/// Returns the letters that identify a chain: A, B … Z, AA, AB …
fn letters(index: usize) -> String {
    let last = char::from(b'A' + (index % 26) as u8);
    if index < 26 { last.to_string() } else { letters(index / 26 - 1) + &last.to_string() }
}

fn push_atom(topology: &Topology, places: &[Place], number: usize, index: usize, r: Vec3, text: &mut String) {
    let atom = &topology.atoms[index];
    let (place, residue) = (&places[atom.residue as usize], &topology.residues[atom.residue as usize]);
    let (name, residue) = (value(atom.name.as_str()), value(residue.name.as_str()));
    let group = if place.sequence.is_some() { "ATOM" } else { "HETATM" };
    // X stands for an unknown element
    let symbol = Some(element::symbol(atom.element)).filter(|symbol| !symbol.is_empty()).unwrap_or("X");
    let sequence = place.sequence.map_or(Cow::Borrowed("."), |sequence| sequence.to_string().into());
    let Place { asym, number: of_residue, .. } = place;
    let (chain, code) = (value(&place.chain), place.insertion_code.filter(char::is_ascii_alphanumeric).unwrap_or('?'));
    let [x, y, z] = r.to_array().map(|value| value / ANGSTROM);
    // writing to a String cannot fail
    let _ = writeln!(
        text,
        "{group} {number} {symbol} {name} . {residue} {asym} ? {sequence} {code} {x:.5} {y:.5} {z:.5} 1.00 0.00 \
         {of_residue} {residue} {chain} {name} 1"
    );
}

/// Returns a text as a CIF value, quoted if necessary. Line breaks become blanks.
fn value(text: &str) -> Cow<'_, str> {
    let begins = |word: &str| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let is_plain = !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_graphic())
        && !text.starts_with(['_', '#', '$', '\'', '"', '[', ']', ';'])
        && !["?", "."].contains(&text)
        && !["data_", "save_", "loop_", "global_", "stop_"].into_iter().any(begins);
    if is_plain {
        return text.into();
    }
    let text: String = text.chars().map(|c| if c.is_ascii_graphic() { c } else { ' ' }).collect();
    // in a text with both kinds of quotes, double quotes are replaced by single quotes
    let (quote, text) = if text.contains('\'') { ('"', text.replace('"', "'")) } else { ('\'', text) };
    format!("{quote}{text}{quote}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_where_they_must_be() {
        for (text, expected) in [
            ("CA", "CA"),
            ("O5'", "O5'"),
            ("H5''", "H5''"),
            ("C\"A", "C\"A"),
            ("", "''"),
            ("?", "'?'"),
            (".", "'.'"),
            ("_x", "'_x'"),
            ("'N", "\"'N\""),
            ("Loop_", "'Loop_'"),
            ("data_1", "'data_1'"),
            (";x", "';x'"),
            ("two words\n;", "'two words ;'"),
            ("it's", "it's"),
            ("it's \"x\" t= 1", "\"it's 'x' t= 1\""),
            ("näme", "'n me'"),
        ] {
            assert_eq!(value(text), expected);
        }
    }

    #[test]
    fn chains_beyond_z_have_two_letters() {
        let found: Vec<String> = [0, 25, 26, 51, 52, 701, 702].into_iter().map(letters).collect();
        assert_eq!(found, ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
    }
}
