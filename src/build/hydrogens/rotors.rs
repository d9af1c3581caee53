//! Torsions of hydroxyl, thiol, ammonium and other groups, and orientations of water molecules. The hydrogens get the
//! positions with the lowest energy ([`Surroundings`]).

use std::f64::consts::PI;

use md_engine::vec3::{Vec3, vec3};

use super::Added;
use super::center::Place;
use super::energy::{Excluded, Surroundings};
use crate::geometry::{perpendicular, unit};

/// Number of rounds; each round rotates every group once to its lowest energy in the current surroundings.
const ROUNDS: usize = 3;
/// Maximum number of hydrogen-bond acceptors that are tried as targets of the first hydrogen of a water.
const ACCEPTORS: usize = 4;
/// Maximum distance (nm) from the oxygen of a water to an acceptor.
const REACH: f64 = 0.35;
/// Number of rotations of a water that are tried about the bond between the oxygen and the first hydrogen.
const TURNS: usize = 12;
/// Directions that are tried for the first hydrogen of a water, in addition to the directions to acceptors.
const DIRECTIONS: [[f64; 3]; 6] =
    [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]];

/// Hydrogens that are bonded to one atom, and whose positions do not follow from the heavy atoms alone.
pub(super) struct Rotor<'a> {
    /// index, atomic number and position (nm) of the atom to which the hydrogens are bonded
    pub(super) parent: usize,
    pub(super) element: u8,
    pub(super) position: Vec3,
    /// heavy atoms that are bonded to the parent
    pub(super) neighbours: &'a [u32],
    /// names of the hydrogens
    pub(super) names: Vec<String>,
    pub(super) place: Place,
}

impl Rotor<'_> {
    /// Whether the hydrogens have several possible positions.
    pub(super) fn turns(&self) -> bool {
        match &self.place {
            Place::Fixed(_) => false,
            Place::Turning(turn) => turn.torsions.len() > 1,
            Place::Water { .. } => true,
        }
    }

    /// Returns the positions (nm) of the hydrogens that are tried, `[candidate][hydrogen]`.
    pub(super) fn candidates(&self, surroundings: &Surroundings) -> Vec<Vec<Vec3>> {
        match &self.place {
            Place::Fixed(places) => vec![places.clone()],
            Place::Turning(turn) => turn.torsions.iter().map(|&torsion| turn.positions(torsion)).collect(),
            Place::Water { length, angle } => {
                let acceptors = surroundings.acceptors(self.position, REACH, self.parent);
                let acceptors = acceptors.into_iter().take(ACCEPTORS).map(|to| unit(to - self.position));
                let directions: Vec<Vec3> = acceptors.chain(DIRECTIONS.map(Vec3::from)).collect();
                directions.iter().flat_map(|&first| self.waters(first, *length, *angle)).collect()
            }
        }
    }

    /// Returns orientations of a water whose first hydrogen has the given direction.
    fn waters(&self, first: Vec3, length: f64, angle: f64) -> Vec<Vec<Vec3>> {
        let across = perpendicular(first, vec3(0.0, 0.0, 1.0));
        let second = |k: usize| {
            let (sin, cos) = (2.0 * PI * k as f64 / TURNS as f64).sin_cos();
            first * angle.cos() + (across[0] * cos + across[1] * sin) * angle.sin()
        };
        (0..TURNS).map(|k| [first, second(k)].map(|to| self.position + to * length).to_vec()).collect()
    }

    /// Returns the candidate positions with the lowest energy. If several candidates have the same lowest energy, the
    /// function returns the first of these candidates.
    fn best(&self, surroundings: &Surroundings) -> Vec<Vec3> {
        let excluded = Excluded { parent: self.parent, neighbours: self.neighbours };
        let around = surroundings.around(self.position, &excluded);
        // consecutive candidates of a water share the position of the first hydrogen
        let mut known: Option<(Vec3, f64)> = None;
        let mut energy = |places: &Vec<Vec3>| {
            let Some((&first, others)) = places.split_first() else { return 0.0 };
            let of_first = match known {
                Some((place, energy)) if place == first => energy,
                _ => around.energy(first),
            };
            known = Some((first, of_first));
            of_first + others.iter().map(|&place| around.energy(place)).sum::<f64>()
        };
        let candidates = self.candidates(surroundings).into_iter().map(|places| (energy(&places), places));
        let best = candidates.min_by(|a, b| a.0.total_cmp(&b.0));
        best.map(|(_, places)| places).unwrap_or_default()
    }
}

/// Rotates all groups to their lowest energies, one after the other, in several rounds. In the first round, the energy
/// of a group includes only interactions with groups that are already placed.
pub(super) fn place(rotors: &[Rotor<'_>], surroundings: &mut Surroundings) -> Vec<Added> {
    let mut places: Vec<Vec<Vec3>> = vec![];
    let mut numbers: Vec<Vec<usize>> = vec![];
    for rotor in rotors {
        let found = rotor.best(surroundings);
        let add = |&place: &Vec3| surroundings.add_hydrogen(rotor.parent, rotor.element, place);
        numbers.push(found.iter().map(add).collect());
        places.push(found);
    }
    for _ in 1..ROUNDS {
        for (rotor, (places, numbers)) in rotors.iter().zip(places.iter_mut().zip(&numbers)) {
            *places = rotor.best(surroundings);
            numbers.iter().zip(&*places).for_each(|(&number, &place)| surroundings.move_hydrogen(number, place));
        }
    }
    let all = rotors.iter().zip(places);
    let of_rotor = |(rotor, places): (&Rotor<'_>, Vec<Vec3>)| {
        let parent = rotor.parent;
        let added = move |(name, position): (String, Vec3)| Added { name, parent, position };
        rotor.names.clone().into_iter().zip(places).map(added)
    };
    all.flat_map(of_rotor).collect()
}
