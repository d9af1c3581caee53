//! A system in compact form: units that occur many times, such as molecules of water, are stored once.

use super::{
    Atom, BondedTerms, CmapGrid, Constraint, Constraints, Exclusions, ForceSettings, Molecules, Nonbonded, Settle,
    System, Topology, VirtualSite,
};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ops::Range;

/// Content of units that are equal except for the numbers of their atoms. A unit is a shortest range of consecutive
/// atoms that no term, exclusion, constraint, virtual site or molecule leaves. Usually a unit is a molecule. In all
/// fields of a kind the first atom of the unit has the number 0.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UnitKind {
    /// atoms, all in residue 0
    pub atoms: Vec<Atom>,
    /// bonded terms, without the grids of the correction maps
    pub bonded: BondedTerms,
    /// excluded pairs
    pub exclusions: Exclusions,
    /// rigid waters
    pub settles: Vec<Settle>,
    /// constraints outside rigid waters
    pub constraints: Vec<Constraint>,
    /// virtual sites
    pub virtual_sites: Vec<VirtualSite>,
    /// groups that one rank holds together ([`System::rank_groups`])
    groups: Molecules,
    molecules: Molecules,
    /// molecules that consist of several rank groups, in ascending order
    shared: Vec<u32>,
}

/// Numbers of the first atom, rank group, molecule and shared molecule of a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Place {
    atom: u32,
    group: u32,
    molecule: u32,
    shared: u32,
}

impl UnitKind {
    /// Returns the place after `units` units of this kind that begin at `first`.
    fn after(&self, first: Place, units: u32) -> Place {
        Place {
            atom: first.atom + units * self.atoms.len() as u32,
            group: first.group + units * self.groups.len() as u32,
            molecule: first.molecule + units * self.molecules.len() as u32,
            shared: first.shared + units * self.shared.len() as u32,
        }
    }

    /// Renumbers the atoms of the terms, so that atom `first` has the number 0, and finds the shared molecules.
    fn numbered_from(mut self, first: u32) -> Self {
        let number = |atom: u32| atom - first;
        self.bonded.renumber(number);
        self.settles.iter_mut().for_each(|settle| settle.atoms = settle.atoms.map(number));
        self.constraints.iter_mut().for_each(|constraint| constraint.atoms = constraint.atoms.map(number));
        for VirtualSite { site, construction } in &mut self.virtual_sites {
            *site = number(*site);
            construction.atoms_mut().iter_mut().for_each(|atom| *atom = number(*atom));
        }
        let (groups, molecules) = (&self.groups, &self.molecules);
        let is_shared = |&molecule: &u32| {
            let group = |&atom: &u32| groups.of_atom(atom as usize);
            let atoms = molecules.atoms(molecule as usize);
            atoms.iter().any(|atom| group(atom) != group(&atoms[0]))
        };
        self.shared = (0..molecules.len() as u32).filter(is_shared).collect();
        self
    }
}

/// Consecutive units of one kind.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Block {
    first: Place,
    kind: u32,
    units: u32,
}

/// A unit of a system.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
    /// content of the unit
    pub kind: &'a UnitKind,
    first: Place,
}

impl Unit<'_> {
    /// Returns the number in the system of an atom of the unit.
    pub fn number(&self, atom: u32) -> u32 {
        self.first.atom + atom
    }
}

/// A system whose units are stored once for each kind. The memory grows with the number of kinds, and not with the
/// number of atoms if units of a kind follow each other.
///
/// The names of residues and everything else that no force depends on are not stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CompactSystem {
    kinds: Vec<UnitKind>,
    /// blocks, ascending
    blocks: Vec<Block>,
    /// place after the last unit
    end: Place,
    nonbonded: Nonbonded,
    /// grids of the correction maps of all kinds
    cmap_grids: Vec<CmapGrid>,
    /// cutoffs, electrostatics, corrections
    pub settings: ForceSettings,
    /// relative tolerance of constraint lengths
    pub tolerance: f64,
}

impl CompactSystem {
    /// Finds the units of a system, and the units that are equal.
    pub fn new(system: &System) -> Self {
        let System { topology, nonbonded, constraints, settings } = system;
        let (groups, molecules) = rayon::join(|| system.rank_groups(), || topology.molecules());
        let units = units(topology, &groups, &molecules);
        let mut unit_of = vec![0; topology.atoms.len()];
        (0..).zip(&units).for_each(|(unit, range)| unit_of[range.clone()].fill(unit));
        let unit = |atom: u32| unit_of[atom as usize] as usize;
        let mut bonded = topology.bonded.by_part(units.len(), unit).into_iter();
        let mut settles = by_unit(&constraints.settles, units.len(), |settle| unit(settle.atoms[0])).into_iter();
        let mut bonds = by_unit(&constraints.bonds, units.len(), |bond| unit(bond.atoms[0])).into_iter();
        let mut sites = by_unit(&topology.virtual_sites, units.len(), |site| unit(site.site)).into_iter();
        let mut compact = CompactSystem {
            kinds: vec![],
            blocks: vec![],
            end: Place::default(),
            nonbonded: nonbonded.clone(),
            cmap_grids: topology.bonded.cmap_grids.clone(),
            settings: *settings,
            tolerance: constraints.tolerance,
        };
        let mut known = HashMap::new();
        for range in units {
            let terms = UnitKind {
                atoms: topology.atoms[range.clone()].iter().map(|&atom| Atom { residue: 0, ..atom }).collect(),
                bonded: bonded.next().unwrap_or_default(),
                exclusions: topology.exclusions.within(range.clone()),
                settles: settles.next().unwrap_or_default(),
                constraints: bonds.next().unwrap_or_default(),
                virtual_sites: sites.next().unwrap_or_default(),
                groups: groups.within(range.clone()),
                molecules: molecules.within(range.clone()),
                shared: vec![],
            };
            compact.push(terms.numbered_from(range.start as u32), &mut known);
        }
        compact
    }

    /// Adds a unit. `known` has the number of each kind, with the bytes of the kind as key.
    fn push(&mut self, kind: UnitKind, known: &mut HashMap<Vec<u8>, u32>) {
        let bytes = postcard::to_stdvec(&kind).expect("plain data can be serialised");
        let number = *known.entry(bytes).or_insert_with(|| {
            self.kinds.push(kind);
            self.kinds.len() as u32 - 1
        });
        let first = self.end;
        self.end = self.kinds[number as usize].after(first, 1);
        match self.blocks.last_mut() {
            Some(last) if last.kind == number => last.units += 1,
            _ => self.blocks.push(Block { first, kind: number, units: 1 }),
        }
    }

    /// Returns the number of atoms.
    pub fn atoms(&self) -> usize {
        self.end.atom as usize
    }

    /// Returns the number of groups that one rank holds together ([`System::rank_groups`]).
    pub fn groups(&self) -> usize {
        self.end.group as usize
    }

    /// Returns the number of molecules.
    pub fn molecules(&self) -> usize {
        self.end.molecule as usize
    }

    /// Returns the number of shared molecules: molecules that consist of several rank groups.
    pub fn shared_molecules(&self) -> usize {
        self.end.shared as usize
    }

    /// Returns the number of bonded terms.
    pub fn terms(&self) -> usize {
        self.sum(|kind| kind.bonded.total())
    }

    /// Returns the number of excluded pairs.
    pub fn exclusions(&self) -> usize {
        self.sum(|kind| kind.exclusions.len())
    }

    /// Returns the sum of `of` over all units.
    fn sum(&self, of: impl Fn(&UnitKind) -> usize) -> usize {
        self.blocks.iter().map(|block| block.units as usize * of(&self.kinds[block.kind as usize])).sum()
    }

    /// Returns the number of atoms of each Lennard-Jones type.
    pub fn lj_type_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.nonbonded.types];
        for block in &self.blocks {
            let atoms = &self.kinds[block.kind as usize].atoms;
            atoms.iter().for_each(|atom| counts[atom.lj_type as usize] += block.units as usize);
        }
        counts
    }

    /// Returns the unit with the element `number`, where `count` returns the number of elements before a place.
    fn unit(&self, number: u32, count: impl Fn(Place) -> u32) -> Unit<'_> {
        let block = self.blocks.partition_point(|block| count(block.first) <= number) - 1;
        let Block { first, kind, .. } = self.blocks[block];
        let kind = &self.kinds[kind as usize];
        let elements = count(kind.after(Place::default(), 1));
        Unit { kind, first: kind.after(first, (number - count(first)) / elements) }
    }

    fn unit_of_atom(&self, atom: u32) -> Unit<'_> {
        self.unit(atom, |place| place.atom)
    }

    /// Returns an atom.
    pub fn atom(&self, atom: u32) -> &Atom {
        let unit = self.unit_of_atom(atom);
        &unit.kind.atoms[(atom - unit.first.atom) as usize]
    }

    /// Returns the atoms of a rank group, ascending.
    pub fn group(&self, group: u32) -> impl ExactSizeIterator<Item = u32> + Clone + '_ {
        let unit = self.unit(group, |place| place.group);
        let atoms = unit.kind.groups.atoms((group - unit.first.group) as usize);
        atoms.iter().map(move |&atom| unit.number(atom))
    }

    /// Returns the number of the molecule of an atom. If the molecule consists of several rank groups, also
    /// returns its number among the molecules with this property.
    pub fn molecule_of(&self, atom: u32) -> (u32, Option<u32>) {
        let Unit { kind, first } = self.unit_of_atom(atom);
        let molecule = kind.molecules.of_atom((atom - first.atom) as usize) as u32;
        let shared = kind.shared.binary_search(&molecule).ok().map(|place| first.shared + place as u32);
        (first.molecule + molecule, shared)
    }

    /// Returns all units, in the order of their atoms.
    pub fn units(&self) -> impl Iterator<Item = Unit<'_>> {
        self.blocks.iter().flat_map(|&Block { first, kind, units }| {
            let kind = &self.kinds[kind as usize];
            (0..units).map(move |unit| Unit { kind, first: kind.after(first, unit) })
        })
    }

    /// Returns all units that contain some of `atoms`, in the order of their atoms.
    pub fn units_of(&self, atoms: &[u32]) -> Vec<Unit<'_>> {
        let mut units: Vec<Unit> = vec![];
        for &atom in atoms {
            let last =
                units.last().filter(|unit| (atom.wrapping_sub(unit.first.atom) as usize) < unit.kind.atoms.len());
            if last.is_none() {
                units.push(self.unit_of_atom(atom));
            }
        }
        units.sort_unstable_by_key(|unit| unit.first.atom);
        units.dedup_by_key(|unit| unit.first.atom);
        units
    }

    /// Returns a system without atoms that has the parameters and settings of this system.
    pub fn without_atoms(&self) -> System {
        let bonded = BondedTerms { cmap_grids: self.cmap_grids.clone(), ..BondedTerms::default() };
        let topology = Topology { bonded, ..Topology::default() };
        let constraints = Constraints { tolerance: self.tolerance, ..Constraints::default() };
        System { topology, nonbonded: self.nonbonded.clone(), constraints, settings: self.settings }
    }
}

/// Returns the atoms of each unit.
fn units(topology: &Topology, groups: &Molecules, molecules: &Molecules) -> Vec<Range<usize>> {
    // for each atom, the last atom that a term or another set of atoms connects with this atom
    let mut last: Vec<u32> = (0..topology.atoms.len() as u32).collect();
    let mut connect = |atoms: &[u32]| {
        let (low, high) = atoms.iter().fold((u32::MAX, 0), |(low, high), &atom| (low.min(atom), high.max(atom)));
        if let Some(last) = last.get_mut(low as usize) {
            *last = high.max(*last);
        }
    };
    topology.bonded.for_each(&mut connect);
    topology.exclusions.pairs().for_each(|pair| connect(&pair));
    for sets in [groups, molecules] {
        (0..sets.len()).for_each(|set| connect(sets.atoms(set)));
    }
    let (mut units, mut first, mut end) = (vec![], 0, 0);
    for (atom, last) in last.into_iter().enumerate() {
        end = end.max(last as usize + 1);
        if end == atom + 1 {
            units.push(first..end);
            first = end;
        }
    }
    units
}

/// Returns the elements of `list` that belong to each unit.
fn by_unit<T: Clone>(list: &[T], units: usize, unit: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    let mut result = vec![vec![]; units];
    list.iter().for_each(|element| result[unit(element)].push(element.clone()));
    result
}

#[cfg(test)]
mod tests;
