//! Peptide bonds between residues, found from the bonds of the topology or, if the bonds are unknown, from distances.

use crate::analysis::system::AnalysedSystem;
use crate::cell::{PeriodicCell, displacement};
use crate::system::Topology;
use crate::vec3::Vec3;

/// Largest length (nm) of a peptide bond (DSSP).
const PEPTIDE_BOND: f64 = 0.25;

/// Whether the atoms C and N of two residues, at the positions `c` and `n` (nm), are near enough for a peptide bond.
pub(super) fn is_peptide_bond(cell: Option<&PeriodicCell>, c: Vec3, n: Vec3) -> bool {
    displacement(cell, n - c).norm() <= PEPTIDE_BOND
}

/// Returns, for each residue, the preceding residue of the chain, whose atom C is bonded to the atom N of the residue.
/// If the atom N has no bonds in the topology, the previous residue in the file counts as the preceding residue,
/// provided that C and N are near enough for a peptide bond in the first frame.
pub(super) fn preceding(system: &AnalysedSystem<'_>) -> Vec<Option<usize>> {
    let topology = system.topology();
    let mut before = vec![None; topology.residues.len()];
    let mut has_bonds = vec![false; topology.atoms.len()];
    for &[i, j] in &topology.connectivity {
        for (carbon, nitrogen) in [(i, j), (j, i)] {
            has_bonds[nitrogen as usize] = true;
            let [carbon, nitrogen] = [carbon, nitrogen].map(|atom| &topology.atoms[atom as usize]);
            let is_peptide = carbon.name.as_str() == "C" && nitrogen.name.as_str() == "N";
            if is_peptide && carbon.residue != nitrogen.residue {
                before[nitrogen.residue as usize] = Some(carbon.residue as usize);
            }
        }
    }
    let Some(frame) = system.first_frame() else { return before };
    for residue in 1..before.len() {
        let (c, n) = (named(topology, residue - 1, "C"), named(topology, residue, "N"));
        if let (Some(c), Some(n)) = (c, n)
            && !has_bonds[n]
            && let (Some(&c), Some(&n)) = (frame.positions.get(c), frame.positions.get(n))
            && is_peptide_bond(frame.cell.as_ref(), c, n)
        {
            before[residue] = Some(residue - 1);
        }
    }
    before
}

/// Returns the index of the atom of a residue with the given name.
pub(super) fn named(topology: &Topology, residue: usize, name: &str) -> Option<usize> {
    topology.residue_atoms(residue).find(|&atom| topology.atoms[atom].name.as_str() == name)
}
