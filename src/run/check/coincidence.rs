//! Check for interacting or bonded atoms at the same position. The force between two atoms at the same position has no
//! defined direction, so nothing pushes the atoms apart. The energy of interacting atoms is not defined, and the energy
//! of a bond has a maximum there.

use crate::constraint::lengths;
use crate::error::{Error, Result};
use crate::system::{State, System};
use rayon::prelude::*;

/// Inverse of the resolution with which coordinates are compared, 1/nm. Coordinates count as equal if they round to the
/// same multiple of 10⁻⁹ nm. Coordinate files have a far coarser resolution than 10⁻⁹ nm.
const PER_NM: f64 = 1e9;
/// Maximum number of atoms at the same position whose pairs are checked. If more than [`MOST`] atoms are at the same
/// position, the remaining atoms are ignored, so that the number of pairs stays small.
const MOST: usize = 100;

/// Returns an instability error if two interacting or bonded atoms are at the same position or have periodic images at
/// the same position. The error names the first pair of such atoms. Constrained atoms are left out, because constraints
/// set their distance.
pub(in crate::run) fn check(system: &System, state: &State) -> Result<()> {
    let place = |i: usize| {
        let position = state.positions[i];
        let wrapped = state.cell.map_or(position, |cell| cell.wrap(position).0);
        wrapped.to_array().map(|x| (x * PER_NM).round() as i64)
    };
    let mut places: Vec<([i64; 3], usize)> =
        (0..state.positions.len()).into_par_iter().map(|i| (place(i), i)).collect();
    places.par_sort_unstable();
    let groups = places.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1);
    let pairs = groups.flat_map(|group| {
        let members = || group.iter().take(MOST).map(|&(_, i)| i);
        members().flat_map(move |i| members().filter(move |&j| i < j).map(move |j| [i, j]))
    });
    let bonded = bonded(system).filter(|&[i, j]| place(i) == place(j) && !is_constrained(system, [i, j]));
    let Some(pair) = pairs.filter(|&pair| interact(system, pair)).chain(bonded).min() else { return Ok(()) };
    let [i, j] = pair.map(|i| i as u32);
    let names = [i, j].map(|i| system.topology.numbered_name(i));
    let what = format!(
        "atoms {} and {} have the same position, so no force can separate them; move one of the atoms in the \
         coordinate file",
        names[0], names[1]
    );
    Err(Error::unstable(what, [i, j]))
}

fn interact(system: &System, [i, j]: [usize; 2]) -> bool {
    let [a, b] = [i, j].map(|i| &system.topology.atoms[i]);
    let acts = a.charge * b.charge != 0.0 || system.nonbonded.interact(a.lj_type, b.lj_type);
    acts && !system.topology.exclusions.contains(i as u32, j as u32)
}

/// Pairs of atoms, in ascending order, with a bond whose equilibrium length is not zero.
fn bonded(system: &System) -> impl Iterator<Item = [usize; 2]> {
    let terms = &system.topology.bonded;
    let bonds = terms.bonds.iter().map(|bond| (bond.atoms, bond.length * bond.force_constant));
    let g96 = terms.g96_bonds.iter().map(|bond| (bond.atoms, bond.length * bond.force_constant));
    bonds.chain(g96).filter(|&(_, tension)| tension != 0.0).map(|(mut atoms, _)| {
        atoms.sort_unstable();
        atoms.map(|i| i as usize)
    })
}

fn is_constrained(system: &System, pair: [usize; 2]) -> bool {
    let of_pair = |atoms: [u32; 2]| atoms.iter().all(|&i| pair.contains(&(i as usize)));
    lengths(&system.constraints).any(|(atoms, _)| of_pair(atoms))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sample;

    #[test]
    fn both_atoms_are_named_in_any_image() {
        let mut sample = Sample::load("water");
        assert!(check(&sample.system, &sample.state).is_ok());
        let cell = sample.state.cell.expect("a cell");
        sample.state.positions[30] = sample.state.positions[300] + cell.shift([1, 0, -1]);
        let Err(Error::Unstable { what, atoms }) = check(&sample.system, &sample.state) else { panic!("no error") };
        assert_eq!(atoms, [30, 300]);
        assert!(what.contains("atoms 31 (O of ") && what.contains("and 301 (O of "), "{what}");
    }

    #[test]
    fn excluded_atoms_and_those_without_interactions_may_coincide() {
        let mut sample = Sample::load("water");
        sample.system.topology.bonded.bonds.clear();
        // atoms 30 and 31 are the oxygen and a hydrogen of the same water molecule, whose non-bonded interaction is
        // excluded
        sample.state.positions[31] = sample.state.positions[30];
        assert!(check(&sample.system, &sample.state).is_ok());
        sample.state.positions[61] = sample.state.positions[31];
        assert!(check(&sample.system, &sample.state).is_err());
        sample.system.topology.atoms[61].charge = 0.0;
        // atom 61, a hydrogen of TIP3P, has no Lennard-Jones parameters; if its charge is also zero, it does not
        // interact with atom 30
        assert!(check(&sample.system, &sample.state).is_ok());
    }

    #[test]
    fn bonded_atoms_must_not_coincide() {
        let [flexible, rigid] = [Sample::load("water"), Sample::load("water").rigid()];
        for (mut sample, is_free) in [(flexible, true), (rigid, false)] {
            let cell = sample.state.cell.expect("a cell");
            sample.state.positions[31] = sample.state.positions[30] + cell.shift([0, 1, 0]);
            match check(&sample.system, &sample.state) {
                Err(Error::Unstable { atoms, .. }) => assert!(is_free && atoms == [30, 31], "{atoms:?}"),
                other => assert!(!is_free && other.is_ok(), "{other:?}"),
            }
            // a bond of length zero has its minimum at this position
            sample.system.topology.bonded.bonds.iter_mut().for_each(|bond| bond.length = 0.0);
            assert!(check(&sample.system, &sample.state).is_ok());
        }
    }
}
