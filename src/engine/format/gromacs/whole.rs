//! Assembly of the whole system from molecule types: the copies of molecule types that `[ molecules ]` lists, and the
//! table of Lennard-Jones parameters of the atom types in use.

use std::collections::HashSet;
use std::collections::hash_map::{Entry, HashMap};

use super::Parsed;
use super::force_field::ForceField;
use super::molecule::MoleculeType;
use crate::error::Problem;
use crate::system::{BondedTerms, ChainLabel, CmapGrid, Exclusions, Nonbonded, Residue, Topology, VirtualSite};

/// Largest number of atoms of a system, the same as for AMBER topologies.
const MOST_ATOMS: usize = 1 << 25;

/// Index of a molecule type, and number of consecutive copies of this type.
pub(super) type Copies = (usize, usize);

/// Creates the system, with its terms between molecules. `held` is the number of atoms in the coordinate file, if
/// known. An error in a molecule type is returned without file and line.
pub(super) fn expand(
    force_field: &ForceField,
    types: &[MoleculeType],
    molecules: &[Copies],
    mut between: BondedTerms,
    held: Option<usize>,
) -> Parsed<(Topology, Nonbonded)> {
    let atoms = count(types, molecules, held)?;
    let mut whole =
        Whole { topology: Topology::default(), exclusions: vec![], next_number: first_free(types, molecules) };
    whole.topology.atoms.reserve_exact(atoms);
    let mut parts: HashMap<usize, Part<'_>> = HashMap::new();
    let mut reduced = ReducedTypes::new(force_field);
    let mut excluded = 0u64;
    for &(index, copies) in molecules.iter().filter(|(_, copies)| *copies > 0) {
        let part = match parts.entry(index) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(Part::new(&types[index], &mut reduced)?),
        };
        excluded = excluded.saturating_add((part.exclusions.len() as u64).saturating_mul(copies as u64));
        Exclusions::check_number(excluded, atoms).map_err(|problem| {
            let message = format!("with {copies} copies of molecule {}, {}", types[index].name, problem.message);
            Problem { message, ..problem }
        })?;
        whole.append(part, copies);
    }
    let mut topology = whole.topology;
    if topology.chain_labels.iter().all(|label| label.insertion_code.is_none()) {
        topology.chain_labels.clear();
    }
    topology.bonded.append(&mut between);
    topology.exclusions = Exclusions::from_pairs(atoms, whole.exclusions);
    topology.bonded.cmap_grids = used_grids(&mut topology, &force_field.cmaps.grids);
    Ok((topology, reduced.table()?))
}

/// Returns the number of atoms of all molecules. Fails if the number of atoms exceeds [`MOST_ATOMS`] or differs from
/// the number of atoms in the coordinate file.
pub(super) fn count(types: &[MoleculeType], molecules: &[Copies], held: Option<usize>) -> Parsed<usize> {
    let atoms = molecules.iter().try_fold(0usize, |sum, &(index, copies)| {
        sum.checked_add(types[index].topology.atoms.len().checked_mul(copies)?)
    });
    let atoms = atoms.filter(|&atoms| atoms <= MOST_ATOMS).ok_or_else(|| {
        Problem::new(format!("[ molecules ] lists more than {MOST_ATOMS} atoms"))
            .help("correct the numbers of molecules")
    })?;
    if atoms == 0 {
        return Err(Problem::new("the topology has no atoms").help("list molecules and their numbers in [ molecules ]"));
    }
    match held.filter(|&held| held != atoms) {
        Some(held) => Err(Problem::new(format!("[ molecules ] lists {atoms} atoms, but the coordinates have {held}"))
            .help("correct the numbers of molecules; topology and coordinates must belong together")),
        None => Ok(atoms),
    }
}

/// Molecule type with the data that all of its copies share.
struct Part<'a> {
    molecule: &'a MoleculeType,
    /// Lennard-Jones type of each atom
    lj_types: Vec<u32>,
    connectivity: Vec<[u32; 2]>,
    exclusions: Vec<[u32; 2]>,
}

impl<'a> Part<'a> {
    fn new(molecule: &'a MoleculeType, reduced: &mut ReducedTypes<'_>) -> Parsed<Self> {
        molecule.check()?;
        let lj_types = molecule.topology.atoms.iter().map(|atom| reduced.add(atom.lj_type)).collect();
        let (connectivity, exclusions) = (molecule.connectivity(), molecule.exclusions()?);
        Ok(Part { molecule, lj_types, connectivity, exclusions })
    }
}

struct Whole {
    topology: Topology,
    exclusions: Vec<[u32; 2]>,
    /// residue number of the next molecule that has a single residue
    next_number: i32,
}

impl Whole {
    fn append(&mut self, part: &Part<'_>, copies: usize) {
        let one = &part.molecule.topology;
        let (first, size) = (self.topology.atoms.len() as u32, one.atoms.len() as u32);
        let topology = &mut self.topology;
        let single = one.residues.len() == 1;
        for copy in 0..copies as u32 {
            let (atom, residue) = (first + copy * size, topology.residues.len() as u32);
            topology.atoms.extend(one.atoms.iter().zip(&part.lj_types).map(|(atom, &lj_type)| {
                let mut atom = *atom;
                (atom.residue, atom.lj_type) = (atom.residue + residue, lj_type);
                atom
            }));
            for own in &one.residues {
                let number = if single { self.next_number } else { own.number };
                topology.residues.push(Residue { number, first: own.first + atom, ..*own });
            }
            // a number that the reader gives has no insertion code
            let code = |label: &ChainLabel| label.insertion_code.filter(|_| !single);
            let labels = one.chain_labels.iter().map(|label| ChainLabel { insertion_code: code(label), ..*label });
            topology.chain_labels.extend(labels);
            self.next_number = self.next_number.saturating_add(i32::from(single));
            let moved = |pair: &[u32; 2]| pair.map(|i| i + atom);
            topology.connectivity.extend(part.connectivity.iter().map(moved));
            self.exclusions.extend(part.exclusions.iter().map(moved));
            topology.constraints.extend(one.constraints.iter().map(|constraint| {
                let mut constraint = *constraint;
                constraint.atoms = moved(&constraint.atoms);
                constraint
            }));
            topology.virtual_sites.extend(one.virtual_sites.iter().map(|site| {
                let VirtualSite { site, mut construction } = site.clone();
                construction.atoms_mut().iter_mut().for_each(|i| *i += atom);
                VirtualSite { site: site + atom, construction }
            }));
        }
        topology.bonded.append_copies(&one.bonded, first, size, copies as u32);
    }
}

/// Returns the residue number of the first molecule that consists of a single residue, such as a water or an ion. As in
/// GROMACS, molecules of one residue have larger residue numbers than all other molecules.
fn first_free(types: &[MoleculeType], molecules: &[Copies]) -> i32 {
    let used = molecules.iter().filter(|(_, copies)| *copies > 0).map(|&(index, _)| &types[index].topology.residues);
    let numbers = used.filter(|residues| residues.len() > 1).flatten().map(|residue| residue.number);
    numbers.max().unwrap_or(0).saturating_add(1)
}

/// Returns the correction-map grids that terms use, and changes the grid numbers of the terms accordingly.
fn used_grids(topology: &mut Topology, grids: &[CmapGrid]) -> Vec<CmapGrid> {
    let mut places = vec![None; grids.len()];
    let mut used = vec![];
    for term in &mut topology.bonded.cmaps {
        let old = term.grid as usize;
        term.grid = *places[old].get_or_insert_with(|| {
            used.push(grids[old].clone());
            used.len() as u32 - 1
        });
    }
    used
}

/// Lennard-Jones types in use, with equal types merged.
struct ReducedTypes<'a> {
    force_field: &'a ForceField,
    special: HashSet<u32>,
    /// index in the force field of each kept Lennard-Jones type
    kept: Vec<u32>,
    by_type: HashMap<u32, u32>,
    by_key: HashMap<[u64; 2], u32>,
}

impl<'a> ReducedTypes<'a> {
    fn new(force_field: &'a ForceField) -> Self {
        let special = force_field.special_types();
        ReducedTypes { force_field, special, kept: vec![], by_type: HashMap::new(), by_key: HashMap::new() }
    }

    /// Returns the index of a force-field type among the Lennard-Jones types in use. A new type is added.
    fn add(&mut self, kind: u32) -> u32 {
        let Self { force_field, special, kept, by_type, by_key } = self;
        *by_type.entry(kind).or_insert_with(|| {
            let mut keep = || {
                kept.push(kind);
                kept.len() as u32 - 1
            };
            if special.contains(&kind) {
                return keep();
            }
            *by_key.entry(force_field.lennard_jones_key(kind)).or_insert_with(keep)
        })
    }

    fn table(&self) -> Parsed<Nonbonded> {
        let types = self.kept.len();
        Nonbonded::check_types(types)?;
        Nonbonded::from_pairs(types, |a, b| self.force_field.lennard_jones(self.kept[a], self.kept[b]))
    }
}
