//! Bonds that a PDB file states in `CONECT` records: all bonds but those of amino acids, nucleotides and waters, which
//! follow from the names of atoms and residues.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::system::Topology;
use crate::system::polymer::{has_backbone, is_chain_bond};

/// Largest serial number that fits into its five columns.
const MOST_SERIAL: u32 = 99_999;
/// Maximum number of bonded atoms in a record.
const PARTNERS: usize = 4;

/// Returns the records with the bonds of the given atoms, which must be in ascending order. Bonds of atoms whose serial
/// numbers have more than five digits are left out.
pub(super) fn records(topology: &Topology, atoms: &[usize]) -> String {
    let is_known: Vec<bool> = (0..topology.residues.len()).map(|residue| is_known(topology, residue)).collect();
    let name = |atom: u32| topology.atoms[atom as usize].name.as_str();
    let is_stated = |&[a, b]: &[u32; 2]| {
        let [of_a, of_b] = [a, b].map(|atom| topology.atoms[atom as usize].residue as usize);
        let is_of_chain = is_chain_bond([name(a), name(b)]);
        let is_written = |atom: u32| atom < MOST_SERIAL && atoms.binary_search(&(atom as usize)).is_ok();
        let follows = is_known[of_a] && is_known[of_b] && (of_a == of_b || is_of_chain);
        !follows && is_written(a) && is_written(b)
    };
    let mut partners: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &[a, b] in topology.connectivity.iter().filter(|pair| is_stated(pair)) {
        partners.entry(a).or_default().push(b);
        partners.entry(b).or_default().push(a);
    }
    let mut text = String::new();
    for (atom, mut others) in partners {
        others.sort_unstable();
        for others in others.chunks(PARTNERS) {
            // writing to a String cannot fail
            let _ = write!(text, "CONECT{:5}", atom + 1);
            for other in others {
                let _ = write!(text, "{:5}", other + 1);
            }
            text.push('\n');
        }
    }
    text
}

/// Whether a residue is an amino acid, a nucleotide or a water.
fn is_known(topology: &Topology, residue: usize) -> bool {
    let atoms = &topology.atoms[topology.residue_atoms(residue)];
    topology.is_water(residue) || has_backbone(|name| atoms.iter().any(|atom| atom.name.as_str() == name))
}
