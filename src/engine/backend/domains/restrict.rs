//! Restriction of a system to the part that one rank computes.

use super::local::Local;
use crate::backend::local_terms::LocalTerms;
use crate::cell::PeriodicCell;
use crate::system::{
    BondedTerms, CompactSystem, Constraint, Constraints, Exclusions, Settle, System, Topology, VirtualSite, ordered,
};
use crate::vec3::Vec3;

/// Number of atoms of a correction map (CMAP), the term with the most atoms.
const CMAP_ATOMS: usize = 8;
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
}

/// Returns the system of the home atoms, with constraints and virtual sites but without interactions.
pub(super) fn at_home(system: &CompactSystem, numbers: &Numbers, atoms: &[u32]) -> System {
    let mut constraints = Constraints { settles: vec![], bonds: vec![], tolerance: system.tolerance };
    let mut virtual_sites = vec![];
    for unit in system.units_of(atoms) {
        let number = |atom: u32| numbers.of(unit.number(atom));
        let home = |those: &[u32]| those.iter().all(|&atom| (number(atom) as usize) < atoms.len());
        let settles = unit.kind.settles.iter().filter(|water| home(&water.atoms));
        constraints.settles.extend(settles.map(|water| Settle { atoms: water.atoms.map(number), ..*water }));
        let bonds = unit.kind.constraints.iter().filter(|bond| home(&bond.atoms));
        constraints.bonds.extend(bonds.map(|bond| Constraint { atoms: bond.atoms.map(number), ..*bond }));
        for VirtualSite { site, construction } in unit.kind.virtual_sites.iter().filter(|site| home(&[site.site])) {
            let mut construction = construction.clone();
            construction.atoms_mut().iter_mut().for_each(|atom| *atom = number(*atom));
            virtual_sites.push(VirtualSite { site: number(*site), construction });
        }
    }
    let atoms = atoms.iter().map(|&atom| *system.atom(atom)).collect();
    let topology = Topology { atoms, virtual_sites, ..Topology::default() };
    System { topology, constraints, nonbonded: Default::default(), settings: system.settings }
}

/// Selects the terms between local atoms that this rank, and no other rank, computes. A term is selected if all of its
/// atoms are local and nearest images of each other. Along each divided direction, at least one atom of the term must
/// also be below the upper face of the domain.
pub(super) fn select_terms(
    system: &CompactSystem,
    numbers: &Numbers,
    Local { atoms, region, .. }: &Local,
    cell: &PeriodicCell,
    positions: &[Vec3],
) -> LocalTerms {
    // whether this rank computes a term of atoms with these local indices
    let is_ours = |those: &[u32]| {
        let largest = those.iter().fold(0, |largest, &number| largest.max(number)) as usize;
        if largest < region.home() {
            return true;
        }
        if largest >= atoms.len() {
            return false;
        }
        let zones = those.iter().fold(region.zones() - 1, |zones, &number| zones & region.zone_of(number));
        let at = |number: u32| region.wrapped(cell, positions, number);
        zones == 0
            && those[1..].iter().all(|&number| {
                let d = at(number) - at(those[0]);
                let images = cell.to_fractional(d - cell.minimum_image(d)).to_array();
                (0..3).all(|k| !region.divided[k] || images[k].abs() < 0.5)
            })
    };
    let (mut bonded, mut known, mut excluded) = (BondedTerms::default(), vec![], vec![]);
    for unit in system.units_of(atoms) {
        let number = |atom: u32| numbers.of(unit.number(atom));
        let ours = |those: &[u32]| {
            let mut numbers = [0; CMAP_ATOMS];
            numbers.iter_mut().zip(those).for_each(|(to, &atom)| *to = number(atom));
            is_ours(&numbers[..those.len()])
        };
        bonded.append_those(&unit.kind.bonded, ours, number);
        for pair in unit.kind.exclusions.pairs().map(|pair| ordered(pair.map(number))) {
            if (pair[1] as usize) < atoms.len() {
                known.push(pair);
                excluded.extend(Some(pair).filter(|pair| is_ours(pair)));
            }
        }
    }
    excluded.sort_unstable();
    let exclusions = Exclusions::from_pairs(atoms.len(), known);
    let atoms = atoms.iter().map(|&atom| *system.atom(atom)).collect();
    LocalTerms { topology: Topology { atoms, bonded, exclusions, ..Topology::default() }, excluded }
}
