//! Restriction of a system to the part that one rank computes.

use super::local::Local;
use crate::backend::local_terms::LocalTerms;
use crate::cell::PeriodicCell;
use crate::system::{Constraints, Exclusions, System, Topology};
use crate::vec3::Vec3;

/// Value in the map [`Numbers`] for an atom that is not on this rank.
const ELSEWHERE: u32 = u32::MAX;

/// Map from topology indices to local indices of atoms.
#[derive(Debug, Default)]
pub(super) struct Numbers(Vec<u32>);

impl Numbers {
    /// Assigns local indices in the order of `local`, for a topology of `atoms` atoms.
    pub(super) fn assign(&mut self, atoms: usize, local: &[u32]) {
        self.0.clear();
        self.0.resize(atoms, ELSEWHERE);
        local.iter().zip(0..).for_each(|(&atom, number)| self.0[atom as usize] = number);
    }

    /// Returns the local index of each atom; for an atom that is not on this rank, the value is larger than all local
    /// indices.
    pub(super) fn as_slice(&self) -> &[u32] {
        &self.0
    }

    fn of(&self, atom: u32) -> u32 {
        self.0[atom as usize]
    }

    /// Returns whether all of `atoms` have local indices less than `count`.
    fn are_below(&self, atoms: &[u32], count: usize) -> bool {
        atoms.iter().all(|&atom| (self.of(atom) as usize) < count)
    }
}

/// Returns the system of the home atoms, with constraints and virtual sites but without interactions.
pub(super) fn at_home(system: &System, numbers: &Numbers, atoms: &[u32]) -> System {
    let number = |atom: u32| numbers.of(atom);
    let home = |those: &[u32]| numbers.are_below(those, atoms.len());
    let Constraints { settles, bonds, tolerance } = &system.constraints;
    let mut constraints = Constraints { settles: vec![], bonds: vec![], tolerance: *tolerance };
    constraints.settles.extend(settles.iter().filter(|water| home(&water.atoms)));
    constraints.bonds.extend(bonds.iter().filter(|bond| home(&bond.atoms)));
    constraints.settles.iter_mut().for_each(|water| water.atoms = water.atoms.map(number));
    constraints.bonds.iter_mut().for_each(|bond| bond.atoms = bond.atoms.map(number));
    let mut virtual_sites: Vec<_> =
        system.topology.virtual_sites.iter().filter(|site| home(&[site.site])).cloned().collect();
    for site in &mut virtual_sites {
        site.site = number(site.site);
        site.construction.atoms_mut().iter_mut().for_each(|atom| *atom = number(*atom));
    }
    let atoms = atoms.iter().map(|&atom| system.topology.atoms[atom as usize]).collect();
    let topology = Topology { atoms, virtual_sites, ..Topology::default() };
    System { topology, constraints, nonbonded: Default::default(), settings: system.settings }
}

/// Selects the terms between local atoms that this rank, and no other rank, computes. A term is selected if all of its
/// atoms are local and nearest images of each other. Along each divided direction, at least one atom of the term must
/// also be below the upper face of the domain.
pub(super) fn select_terms(
    system: &System,
    numbers: &Numbers,
    Local { atoms, region, .. }: &Local,
    cell: &PeriodicCell,
    positions: &[Vec3],
) -> LocalTerms {
    let is_ours = |those: &[u32]| {
        if numbers.are_below(those, region.home()) {
            return true;
        }
        if !numbers.are_below(those, atoms.len()) {
            return false;
        }
        let zones = those.iter().fold(region.zones() - 1, |zones, &atom| zones & region.zone_of(numbers.of(atom)));
        let at = |atom: u32| region.wrapped(cell, positions, numbers.of(atom));
        zones == 0
            && those[1..].iter().all(|&atom| {
                let d = at(atom) - at(those[0]);
                let images = cell.to_fractional(d - cell.image_within_cutoff(d)).to_array();
                (0..3).all(|k| !region.divided[k] || images[k].abs() < 0.5)
            })
    };
    let mut bonded = system.topology.bonded.of_those(is_ours);
    bonded.renumber(|atom| numbers.of(atom));
    let number = |[i, j]: [u32; 2]| [numbers.of(i).min(numbers.of(j)), numbers.of(i).max(numbers.of(j))];
    let all = &system.topology.exclusions;
    let known = atoms.iter().flat_map(|&i| all.of(i as usize).iter().map(move |&j| [i, j]));
    let known: Vec<[u32; 2]> = known.filter(|pair| numbers.are_below(pair, atoms.len())).collect();
    let mut excluded: Vec<[u32; 2]> =
        known.iter().filter(|pair| is_ours(&pair[..])).map(|&pair| number(pair)).collect();
    excluded.sort_unstable();
    let exclusions = Exclusions::from_pairs(atoms.len(), known.into_iter().map(number));
    let atoms = atoms.iter().map(|&atom| system.topology.atoms[atom as usize]).collect();
    LocalTerms { topology: Topology { atoms, bonded, exclusions, ..Topology::default() }, excluded }
}
