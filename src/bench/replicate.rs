//! Replication of periodic systems along the cell vectors.

use crate::cell::PeriodicCell;
use crate::system::{Atom, BondedTerms, Constraint, Exclusions, Residue, Settle, State, System, Topology};
use crate::vec3::Vec3;

/// Replicates a system and its state along the cell vectors a, b and c, with `copies` cells along each vector. Returns
/// `None` for a system without a cell. Settings are copied unchanged. The caller must update settings that depend on
/// the cell, such as the PME grid.
pub fn replicate(system: &System, state: &State, copies: [usize; 3]) -> Option<(System, State)> {
    let [a, b, c] = state.cell?.rows();
    let [na, nb, nc] = copies;
    let cell = PeriodicCell::from_rows([a * na as f64, b * nb as f64, c * nc as f64])?;
    let cells = (0..na).flat_map(|i| (0..nb).flat_map(move |j| (0..nc).map(move |k| [i, j, k])));
    let shifts: Vec<Vec3> = cells.map(|[i, j, k]| a * i as f64 + b * j as f64 + c * k as f64).collect();
    let atoms = system.topology.atoms.len();
    let every = |one: &[Vec3]| -> Vec<Vec3> { shifts.iter().flat_map(|_| one).copied().collect() };
    let positions = shifts.iter().flat_map(|&shift| state.positions.iter().map(move |&r| r + shift)).collect();
    let state = State { cell: Some(cell), positions, velocities: every(&state.velocities), ..state.clone() };
    let mut larger = system.clone();
    larger.topology = topology(&system.topology, shifts.len());
    let settles = copied(&system.constraints.settles, shifts.len(), atoms);
    let shifted = |(offset, settle): (u32, &Settle)| Settle { atoms: settle.atoms.map(|i| i + offset), ..*settle };
    larger.constraints.settles = settles.map(shifted).collect();
    let bonds = copied(&system.constraints.bonds, shifts.len(), atoms);
    let shifted = |(offset, bond): (u32, &Constraint)| Constraint { atoms: bond.atoms.map(|i| i + offset), ..*bond };
    larger.constraints.bonds = bonds.map(shifted).collect();
    Some((larger, state))
}

/// Iterates over `copies` copies of the list `one`. Each item of the iterator is an element of the list, and the number
/// of atoms in the preceding copies. The atom indices of the element must be shifted by this number.
fn copied<T>(one: &[T], copies: usize, atoms: usize) -> impl Iterator<Item = (u32, &T)> {
    (0..copies).flat_map(move |copy| one.iter().map(move |element| ((copy * atoms) as u32, element)))
}

fn topology(one: &Topology, copies: usize) -> Topology {
    let (atoms, residues) = (one.atoms.len(), one.residues.len() as u32);
    let mut all = one.clone();
    let numbered = |(index, atom): (usize, Atom)| {
        let residue = atom.residue + (index / atoms) as u32 * residues;
        Atom { residue, ..atom }
    };
    all.atoms = copied(&one.atoms, copies, atoms).map(|(_, atom)| *atom).enumerate().map(numbered).collect();
    all.residues = copied(&one.residues, copies, atoms)
        .zip(1i32..)
        .map(|((offset, residue), number)| Residue { first: residue.first + offset, number, ..*residue })
        .collect();
    all.connectivity =
        copied(&one.connectivity, copies, atoms).map(|(offset, pair)| pair.map(|i| i + offset)).collect();
    all.bonded = bonded(&one.bonded, copies, atoms);
    let excluded: Vec<[u32; 2]> = one.exclusions.pairs().collect();
    let pairs = copied(&excluded, copies, atoms).map(|(offset, pair)| pair.map(|i| i + offset));
    all.exclusions = Exclusions::from_pairs(atoms * copies, pairs);
    all
}

fn bonded(one: &BondedTerms, copies: usize, atoms: usize) -> BondedTerms {
    let mut all = BondedTerms { cmap_grids: one.cmap_grids.clone(), ..BondedTerms::default() };
    for copy in 0..copies {
        let mut terms = one.clone();
        terms.renumber(|atom| atom + (copy * atoms) as u32);
        all.append(&mut terms);
    }
    all
}
