//! Check for interacting atoms at the same position. The force between two atoms at the same position has no defined
//! direction, so nothing pushes the atoms apart, and the energy of the two atoms is not defined.

use crate::error::{Error, Result};
use crate::system::{State, System};
use rayon::prelude::*;

/// Inverse of the resolution with which coordinates are compared, 1/nm. Coordinates count as equal if they round to the
/// same multiple of 10⁻⁹ nm. Coordinate files have a far coarser resolution than 10⁻⁹ nm.
const PER_NM: f64 = 1e9;
/// Maximum number of atoms at the same position whose pairs are checked. If more than [`MOST`] atoms are at the same
/// position, the remaining atoms are ignored, so that the number of pairs stays small.
const MOST: usize = 100;

/// Returns an instability error if two interacting atoms are at the same position or have periodic images at the same
/// position. The error names the first pair of interacting atoms at the same position.
pub(in crate::run) fn check(system: &System, state: &State) -> Result<()> {
    let place = |(i, &r)| {
        let wrapped = state.cell.map_or(r, |cell| cell.wrap(r).0);
        (wrapped.to_array().map(|x| (x * PER_NM).round() as i64), i)
    };
    let mut places: Vec<([i64; 3], usize)> = state.positions.par_iter().enumerate().map(place).collect();
    places.par_sort_unstable();
    let groups = places.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1);
    let pairs = groups.flat_map(|group| {
        let members = || group.iter().take(MOST).map(|&(_, i)| i);
        members().flat_map(move |i| members().filter(move |&j| i < j).map(move |j| [i, j]))
    });
    let Some(pair) = pairs.filter(|&pair| interact(system, pair)).min() else { return Ok(()) };
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
}
