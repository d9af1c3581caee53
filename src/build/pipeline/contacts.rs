//! Separation of overlapping hydrogens. Heavy atoms of an entry may be so near that two hydrogens which follow from
//! them overlap. The hydrogens are then rotated about their heavy atoms, away from each other, at constant bond
//! lengths.

use md_engine::vec3::{Vec3, vec3};

use crate::entry::{Decision, Grid, SAME_PLACE, Subject};
use crate::structure::{Structure, neighbours};

/// Distance (nm) to which overlapping atoms are separated. The minimisation separates them further.
const SEPARATED: f64 = 0.1;
/// Rotation (rad) of a hydrogen in one step, 2°, and the largest number of steps for a pair of atoms. The rotation of
/// a hydrogen is at most 40°.
const STEP: f64 = 0.034_906_585;
const STEPS: usize = 20;
/// Sine of the angle between a bond and the line to another atom below which the other atom counts as on this line.
const ON_LINE: f64 = 0.1;
/// Largest number of rounds. A rotated hydrogen may overlap with another atom, from which the next round separates it.
const ROUNDS: usize = 8;

/// Separates overlapping atoms if at least one of them is a hydrogen that `is_placed` accepts by its index. Only these
/// hydrogens move.
pub(super) fn separate(
    structure: &Structure,
    positions: &mut [Vec3],
    is_placed: impl Fn(usize) -> bool,
) -> Vec<Decision> {
    let bonded = neighbours(structure.atoms.len(), &structure.bonds);
    // the heavy atom of a hydrogen that may move
    let parent = |atom: u32| match bonded[atom as usize][..] {
        [parent] if structure.atoms[atom as usize].element == 1 && is_placed(atom as usize) => Some(parent as usize),
        _ => None,
    };
    let mut decisions = vec![];
    for _ in 0..ROUNDS {
        let pairs = overlaps(positions, &parent);
        for &(distance, a, b) in &pairs {
            let turn = |atom: u32, other: u32, side: f64| {
                let place = |atom: u32| positions[atom as usize];
                Some((atom, Turn::new(positions[parent(atom)?], place(atom), place(other), side)?))
            };
            let turns: Vec<(u32, Turn)> = [turn(a, b, 1.0), turn(b, a, -1.0)].into_iter().flatten().collect();
            for step in 1..=STEPS {
                turns.iter().for_each(|(atom, turn)| positions[*atom as usize] = turn.position(step as f64 * STEP));
                if (positions[a as usize] - positions[b as usize]).norm() >= SEPARATED {
                    break;
                }
            }
            let label = |atom: u32| structure.atom_label(atom as usize);
            let heavy = [a, b].map(|atom| parent(atom).unwrap_or(atom as usize));
            let why = format!(
                "md build placed hydrogens {distance:.3} nm apart, because {} and {} are {:.3} nm apart; look at these \
                 residues, and minimise before dynamics",
                structure.atom_label(heavy[0]),
                structure.atom_label(heavy[1]),
                (positions[heavy[0]] - positions[heavy[1]]).norm()
            );
            let place = format!("{} and {}", label(a), label(b));
            decisions.push(Decision::new(Subject::Completion, place, "moved the hydrogens apart", why));
        }
        if pairs.is_empty() {
            break;
        }
    }
    decisions
}

/// Returns the pairs of overlapping atoms of which at least one may move, with their distances (nm).
fn overlaps(positions: &[Vec3], parent: &impl Fn(u32) -> Option<usize>) -> Vec<(f64, u32, u32)> {
    let grid = Grid::new(positions, 0..positions.len() as u32, SAME_PLACE);
    let mut pairs = vec![];
    for atom in (0..positions.len() as u32).filter(|&atom| parent(atom).is_some()) {
        let others = grid.around(atom).into_iter().filter(|&(_, other)| other > atom || parent(other).is_none());
        pairs.extend(others.map(|(distance, other)| (distance, atom, other)));
    }
    pairs
}

/// Rotation of a hydrogen about its heavy atom, away from another atom.
struct Turn {
    parent: Vec3,
    /// length of the bond, nm
    length: f64,
    /// unit vectors along the bond, and perpendicular to the bond
    along: Vec3,
    away: Vec3,
}

impl Turn {
    /// Returns `None` if the hydrogen is at the place of its heavy atom. If the other atom is on the line of the bond,
    /// every rotation separates the two atoms; `side`, 1 or -1, then chooses one of two opposite rotations.
    fn new(parent: Vec3, hydrogen: Vec3, other: Vec3, side: f64) -> Option<Self> {
        let bond = hydrogen - parent;
        let length = bond.norm();
        let along = bond * (1.0 / length);
        let across = |direction: Vec3| direction - along * direction.dot(along);
        let candidates = [
            (across(hydrogen - other), ON_LINE * (hydrogen - other).norm()),
            (across(vec3(side, 0.0, 0.0)), 0.5),
            (across(vec3(0.0, side, 0.0)), 0.0),
        ];
        let (away, _) = candidates.into_iter().find(|(direction, smallest)| direction.norm() > *smallest)?;
        Some(Self { parent, length, along, away: away * (1.0 / away.norm()) })
    }

    /// Returns the position of the hydrogen after a rotation by `angle` (rad).
    fn position(&self, angle: f64) -> Vec3 {
        self.parent + (self.along * angle.cos() + self.away * angle.sin()) * self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::{Atom, Residue};

    /// Two groups N–H. The first group is on the x axis; the second nitrogen and its hydrogen are given (nm).
    fn groups(nitrogen: Vec3, hydrogen: Vec3) -> (Structure, Vec<Vec3>) {
        let atom = |name: &str, element| Atom { name: name.into(), element };
        let residue = |number, first| Residue { name: "ALA".into(), number, insertion_code: None, chain: 0, first };
        let structure = Structure {
            chains: vec!["A".into()],
            residues: vec![residue(1, 0), residue(2, 2)],
            atoms: vec![atom("N", 7), atom("H", 1), atom("N", 7), atom("H", 1)],
            bonds: vec![[0, 1], [2, 3]],
        };
        (structure, vec![vec3(0.0, 0.0, 0.0), vec3(0.101, 0.0, 0.0), nitrogen, hydrogen])
    }

    #[test]
    fn overlapping_hydrogens_rotate_apart_at_constant_bond_lengths() {
        for (nitrogen, hydrogen) in [
            // side by side, and on one line
            (vec3(0.22, -0.12, 0.0), vec3(0.16445, -0.035_647, 0.0)),
            (vec3(0.272, 0.0, 0.0), vec3(0.171, 0.0, 0.0)),
        ] {
            let (structure, mut positions) = groups(nitrogen, hydrogen);
            let lengths = |positions: &[Vec3]| [[1, 0], [3, 2]].map(|[a, b]| (positions[a] - positions[b]).norm());
            let before = lengths(&positions);
            let decisions = separate(&structure, &mut positions, |_| true);
            assert!((positions[1] - positions[3]).norm() >= SEPARATED, "{positions:?}");
            // the two square roots of a rotation err by a few units of the last place
            assert!(lengths(&positions).iter().zip(before).all(|(after, before)| (after - before).abs() < 1e-12));
            let text = decisions[0].to_string();
            assert!(text.starts_with("H of ALA 1 of chain A and H of ALA 2 of chain A: moved the hydrogens apart"));
            assert!(text.contains("because N of ALA 1 of chain A and N of ALA 2 of chain A are 0."), "{text}");
        }
    }

    #[test]
    fn only_placed_hydrogens_that_overlap_move() {
        let overlapping = groups(vec3(0.272, 0.0, 0.0), vec3(0.171, 0.0, 0.0));
        let (structure, mut positions) = overlapping.clone();
        assert_eq!(separate(&structure, &mut positions, |_| false), []);
        assert_eq!(positions, overlapping.1);
        separate(&structure, &mut positions, |atom| atom == 1);
        assert_eq!(positions[3], overlapping.1[3]);
        assert!((positions[1] - positions[3]).norm() >= SEPARATED);
        let (structure, mut positions) = groups(vec3(0.3, 0.0, 0.0), vec3(0.199, 0.0, 0.0));
        assert_eq!(separate(&structure, &mut positions, |_| true), []);
    }
}
