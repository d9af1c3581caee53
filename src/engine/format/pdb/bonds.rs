//! Bonds from the CONECT records of a PDB file.

use std::collections::HashMap;

use super::lines::{AtomLine, record, text};
use crate::format::alternative::Alternative;
use crate::format::text::without_mark;

/// Number of columns of a serial number in a CONECT record.
const SERIAL: usize = 5;
/// First column of each serial number in a CONECT record. A record contains the serial number of an atom and of up to
/// four atoms that are bonded to this atom.
const CONECT: [usize; 5] = [6, 11, 16, 21, 26];

/// Returns the pairs of atoms that CONECT records join, as indices in the first model. Each pair appears once, with
/// the smaller index first.
///
/// A pair is left out if one of its serial numbers belongs to no atom, or to several atoms. Most files state only the
/// bonds of some residues.
pub(in crate::format) fn read_bonds(bytes: &[u8]) -> Vec<[u32; 2]> {
    let bytes = without_mark(bytes);
    let serials = serials(bytes);
    let mut bonds = vec![];
    for line in bytes.split(|&byte| byte == b'\n') {
        let (name, line) = record(line);
        if &name != b"CONECT" {
            continue;
        }
        let atoms = CONECT.map(|start| serials.get(text(line, start..start + SERIAL)).copied().flatten());
        let [Some(atom), others @ ..] = atoms else { continue };
        let others = others.into_iter().flatten().filter(|&other| other != atom);
        bonds.extend(others.map(|other| [atom.min(other), atom.max(other)]));
    }
    bonds.sort_unstable();
    bonds.dedup();
    bonds
}

/// Returns the atom with each serial number in the first model. The value is `None` if several atoms have the serial
/// number.
fn serials(bytes: &[u8]) -> HashMap<&str, Option<u32>> {
    let (mut found, mut alternative, mut count) = (HashMap::new(), Alternative::default(), 0);
    for line in bytes.split(|&byte| byte == b'\n') {
        let (name, line) = record(line);
        match &name {
            b"ATOM  " | b"HETATM" => {
                let atom = AtomLine::new(line);
                if alternative.is_taken(atom.residue(), atom.location()) {
                    let place = found.entry(atom.serial_number()).or_insert(Some(count));
                    *place = place.filter(|&first| first == count);
                    count += 1;
                }
            }
            b"ENDMDL" => break,
            b"END   " | b"MODEL " if count > 0 => break,
            _ => {}
        }
    }
    found
}
