//! Energy of a polar hydrogen in its surroundings: Coulomb terms of polar atoms, and a repulsion.
//!
//! The energy is used only to rank possible positions of polar hydrogens, before any force field is chosen. Charges are
//! therefore approximate: the charge of a polar hydrogen is 0.4 e, and [`charge_of`] returns the charges of heavy
//! atoms. With these charges, N–H, C=O, water and hydroxyl groups are neutral, and ionic groups have their net charge.

use std::collections::HashMap;

use md_engine::units::COULOMB;
use md_engine::vec3::Vec3;

use crate::structure::Structure;

/// Charge of a hydrogen that is bonded to N, O or S, in e.
const POLAR_HYDROGEN: f64 = 0.4;
/// Charges (e) of halogens and of metal ions, by atomic number.
const IONS: [(u8, f64); 16] = [
    (9, -0.2),
    (17, -1.0),
    (35, -1.0),
    (53, -1.0),
    (11, 1.0),
    (19, 1.0),
    (12, 2.0),
    (20, 2.0),
    (25, 2.0),
    (26, 2.0),
    (27, 2.0),
    (28, 2.0),
    (29, 2.0),
    (30, 2.0),
    (48, 2.0),
    (80, 2.0),
];
/// Relative permittivity within the structure.
const PERMITTIVITY: f64 = 4.0;
/// Largest distance (nm) at which atoms contribute to the energy.
const REACH: f64 = 0.6;
/// Shortest distance (nm) between atoms in the energy, so that atoms at one place have a finite energy.
const SHORTEST: f64 = 0.01;
/// Length of the longest bond of a polar hydrogen (S–H), rounded up, nm.
const LONGEST_BOND: f64 = 0.14;
/// Largest distance (nm) between an atom and the atoms that contribute to the energy of its hydrogens. The value is
/// also the edge of the cubes of the neighbour search.
const AROUND: f64 = REACH + LONGEST_BOND;
/// Distances (nm) at which the repulsion is 1 kJ/mol: first between a hydrogen and a heavy atom, then between two
/// hydrogens. A distance is the sum of the radius of a polar hydrogen and the radius of another atom.
const CONTACT: f64 = 0.22;
const CONTACT_OF_HYDROGENS: f64 = 0.18;

/// An atom that contributes to the energy of hydrogens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) position: Vec3,
    /// charge, e
    charge: f64,
    pub(super) is_hydrogen: bool,
    /// index of the atom in the structure; for a hydrogen, index of the atom to which the hydrogen is bonded
    pub(super) atom: usize,
}

/// All atoms that contribute to energies, sorted into cubes with an edge of [`AROUND`] for the neighbour search.
pub(super) struct Surroundings {
    sources: Vec<Source>,
    cubes: HashMap<[i32; 3], Vec<usize>>,
}

/// Returns the indices of the cube that contains a position.
fn cube(position: Vec3) -> [i32; 3] {
    position.map(|x| (x / AROUND).floor() as i32).to_array()
}

/// Atoms that do not contribute to the energy of a hydrogen: the atom to which the hydrogen is bonded, and the
/// neighbours of that atom.
pub(super) struct Excluded<'a> {
    pub(super) parent: usize,
    pub(super) neighbours: &'a [u32],
}

impl Surroundings {
    /// Collects the atoms of a structure. `wanted` lists, for each atom, the names of the hydrogens that have not been
    /// added yet.
    pub(super) fn new(structure: &Structure, positions: &[Vec3], bonded: &[Vec<u32>], wanted: &[Vec<String>]) -> Self {
        let mut surroundings = Surroundings { sources: vec![], cubes: HashMap::new() };
        for (atom, &position) in positions.iter().enumerate() {
            // hydrogens that are already in the structure belong to residues that the table of hydrogens does not
            // contain
            if let (1, [parent]) = (structure.atoms[atom].element, bonded[atom].as_slice()) {
                surroundings.add_hydrogen(*parent as usize, structure.atoms[*parent as usize].element, position);
                continue;
            }
            let charge = charge_of(structure, bonded, atom, wanted);
            surroundings.add(Source { position, charge, is_hydrogen: false, atom });
        }
        surroundings
    }

    fn add(&mut self, source: Source) {
        self.cubes.entry(cube(source.position)).or_default().push(self.sources.len());
        self.sources.push(source);
    }

    /// Adds a hydrogen that is bonded to the atom `parent` with the atomic number `element`. Returns the index of the
    /// hydrogen.
    pub(super) fn add_hydrogen(&mut self, parent: usize, element: u8, position: Vec3) -> usize {
        let charge = if matches!(element, 7 | 8 | 16) { POLAR_HYDROGEN } else { 0.0 };
        self.add(Source { position, charge, is_hydrogen: true, atom: parent });
        self.sources.len() - 1
    }

    /// Moves a hydrogen that `add_hydrogen` has added.
    pub(super) fn move_hydrogen(&mut self, index: usize, position: Vec3) {
        let old = cube(self.sources[index].position);
        if let Some(members) = self.cubes.get_mut(&old) {
            members.retain(|&member| member != index);
        }
        self.sources[index].position = position;
        self.cubes.entry(cube(position)).or_default().push(index);
    }

    /// Returns the atoms that contribute to the energy of the hydrogens bonded to an atom at `position`.
    pub(super) fn around(&self, position: Vec3, excluded: &Excluded<'_>) -> Neighbourhood {
        let is_felt = |source: &&Source| {
            let is_own = source.atom == excluded.parent;
            !is_own && (source.is_hydrogen || !excluded.neighbours.contains(&(source.atom as u32)))
        };
        Neighbourhood(self.near(position).filter(is_felt).map(Felt::from).collect())
    }

    /// Returns the positions of hydrogen-bond acceptors within a distance (nm), sorted by distance. The atom `except`
    /// is left out.
    pub(super) fn acceptors(&self, position: Vec3, within: f64, except: usize) -> Vec<Vec3> {
        let accepts = |source: &&Source| source.charge < 0.0 && source.atom != except;
        let distance = |source: &Source| (source.position - position).norm();
        let mut found: Vec<(f64, Vec3)> = self
            .near(position)
            .filter(accepts)
            .map(|source| (distance(source), source.position))
            .filter(|(distance, _)| *distance < within)
            .collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        found.into_iter().map(|(_, position)| position).collect()
    }

    /// Returns the atoms within [`AROUND`] of a position, in a fixed order.
    fn near(&self, position: Vec3) -> impl Iterator<Item = &Source> {
        self.within(position, AROUND)
    }

    /// Returns the atoms within a radius (nm) of a position, in a fixed order.
    pub(super) fn within(&self, position: Vec3, radius: f64) -> impl Iterator<Item = &Source> {
        let [x, y, z] = cube(position);
        let most = (radius / AROUND).ceil().max(1.0) as i32;
        let edge = 2 * most + 1;
        let offsets = (0..edge.pow(3)).map(move |k| [k / (edge * edge), k / edge % edge, k % edge].map(|i| i - most));
        let members = offsets.filter_map(move |[i, j, k]| {
            let cube = [x.checked_add(i)?, y.checked_add(j)?, z.checked_add(k)?];
            self.cubes.get(&cube)
        });
        let near = members.flatten().map(|&index| &self.sources[index]);
        near.filter(move |source| (source.position - position).norm_squared() < radius * radius)
    }
}

/// Coefficients of the energy q/r + (c/r)¹² of a polar hydrogen at the distance r from an atom.
struct Felt {
    position: Vec3,
    /// q, kJ/mol nm
    charge: f64,
    /// c², nm²
    squared_contact: f64,
}

impl From<&Source> for Felt {
    fn from(source: &Source) -> Self {
        let contact = if source.is_hydrogen { CONTACT_OF_HYDROGENS } else { CONTACT };
        // the distance between hydrogen and acceptor in a hydrogen bond is shorter than the distance in other contacts
        let contact = if source.charge < 0.0 { 0.8 * contact } else { contact };
        Felt {
            position: source.position,
            charge: COULOMB * POLAR_HYDROGEN * source.charge / PERMITTIVITY,
            squared_contact: contact * contact,
        }
    }
}

/// Atoms that contribute to the energy of the hydrogens of one atom.
pub(super) struct Neighbourhood(Vec<Felt>);

impl Neighbourhood {
    /// Computes the energy of a polar hydrogen at a position, kJ/mol.
    pub(super) fn energy(&self, position: Vec3) -> f64 {
        let of = |felt: &Felt| {
            let squared = (felt.position - position).norm_squared();
            let inverse = 1.0 / squared.max(SHORTEST * SHORTEST);
            let energy = felt.charge * inverse.sqrt() + (felt.squared_contact * inverse).powi(6);
            // a selection instead of a branch, which the processor cannot predict
            if squared < REACH * REACH { energy } else { 0.0 }
        };
        self.0.iter().map(of).sum()
    }
}

/// Returns the charge of a heavy atom in e.
fn charge_of(structure: &Structure, bonded: &[Vec<u32>], atom: usize, wanted: &[Vec<String>]) -> f64 {
    let element = |atom: u32| structure.atoms[atom as usize].element;
    let heavy = |atom: usize| bonded[atom].iter().filter(|&&other| element(other) != 1).count();
    let hydrogens = |atom: usize| wanted[atom].len() + bonded[atom].len() - heavy(atom);
    // a terminal oxygen has one heavy neighbour and no hydrogen
    let is_end = |&other: &u32| element(other) == 8 && heavy(other as usize) == 1 && hydrogens(other as usize) == 0;
    let count = |of: usize, test: &dyn Fn(&u32) -> bool| bonded[of].iter().filter(|other| test(other)).count();
    let number = hydrogens(atom) as f64;
    match structure.atoms[atom].element {
        6 if count(atom, &is_end) > 0 => 0.6,
        6 if count(atom, &|&other| element(other) == 7) == 3 => 1.0,
        6 if count(atom, &|&other| element(other) == 8 && hydrogens(other as usize) == 1) > 0 => 0.2,
        7 if heavy(atom) + hydrogens(atom) == 4 => 1.0 - 0.4 * number,
        7 if heavy(atom) == 3 => 0.0,
        7 => -0.4 * number.max(1.0),
        8 => match heavy(atom) {
            0 => -0.8,
            1 if number == 0.0 && bonded[atom].iter().any(|&other| count(other as usize, &is_end) > 1) => -0.8,
            1 => -0.6,
            _ => -0.4,
        },
        15 => 1.4,
        16 => -0.4 * number.max(0.5),
        other => IONS.iter().find(|(number, _)| *number == other).map_or(0.0, |(_, charge)| *charge),
    }
}
