//! Growth of a residue: the positions of missing atoms are computed from the positions of known atoms, unit by unit.
//!
//! A residue consists of rigid units. If the known atoms of a unit fix the position of the unit, the ideal unit is
//! superposed on the known atoms. If all missing atoms of the unit are bonded to one known atom with two known
//! neighbours, the frame of these three known atoms defines the superposition. Otherwise the superposition uses all
//! known atoms of the unit, of which there must be at least three. A unit with only two known atoms can rotate about
//! the bond between the two atoms, and its position depends on a torsion.

use md_engine::superpose::Superposition;
use md_engine::vec3::Vec3;

use super::ideal::{Ideal, Unit};
use crate::geometry::{Frame, angle, placed, unit};

/// Largest deviation (nm) between known atoms and their ideal unit at which [`cut`] completes the unit. A completed
/// unit connects known atoms that [`cut`] would otherwise remove. Usual deviations of bond lengths (0.002 nm) and
/// angles (2 degrees) result in a deviation of 0.006 nm.
const DEVIATION: f64 = 0.015;
/// Smallest sine of the angle between the directions to two known atoms at which the atoms do not count as collinear.
const LINE: f64 = 0.2;

/// Positions of the atoms of a residue, nm; `None` for atoms that are missing.
pub(super) type Places = Vec<Option<Vec3>>;

/// A bond about which a unit rotates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    unit: usize,
    /// the four atoms of the torsion: a known atom; the atom of the rotatable bond outside of the piece of the unit;
    /// the atom of this bond inside of the piece; the first missing atom
    pub(super) atoms: [usize; 4],
}

/// Result of [`grow`] for a list of torsions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    /// all atoms have positions
    Complete,
    /// the torsion about this axis is needed
    Open(Axis),
    /// atoms are missing, but no unit has enough known atoms to continue
    Stuck,
}

/// Completes the units that known atoms fix, then removes each known atom that has no path of known atoms to the atom
/// `root`. Returns the atoms that were removed.
pub(super) fn cut(ideal: &Ideal, places: &mut Places, root: usize) -> Vec<usize> {
    fix(ideal, places, DEVIATION);
    let mut reached = vec![root];
    let mut next = 0;
    while let Some(&atom) = reached.get(next) {
        let known = ideal.bonded[atom].iter().filter(|&&other| places[other].is_some());
        let new: Vec<usize> = known.copied().filter(|other| !reached.contains(other)).collect();
        reached.extend(new);
        next += 1;
    }
    let lost: Vec<usize> = (0..places.len()).filter(|at| places[*at].is_some() && !reached.contains(at)).collect();
    lost.iter().for_each(|&atom| places[atom] = None);
    lost
}

/// Grows a residue. `torsions` holds the torsion (rad) about each axis, in the order in which the axes are found.
pub(super) fn grow(ideal: &Ideal, places: &mut Places, torsions: &[f64]) -> Growth {
    let mut torsions = torsions.iter();
    loop {
        fix(ideal, places, f64::INFINITY);
        if places.iter().all(Option::is_some) {
            return Growth::Complete;
        }
        let Some(axis) = (0..ideal.units.len()).find_map(|unit| axis(ideal, places, unit)) else {
            return Growth::Stuck;
        };
        let Some(&torsion) = torsions.next() else { return Growth::Open(axis) };
        turn(ideal, places, axis, torsion);
    }
}

/// Completes all units whose known atoms fix the position of the unit.
fn fix(ideal: &Ideal, places: &mut Places, deviation: f64) {
    while ideal.units.iter().any(|unit| at_center(ideal, places, unit) || superposed(ideal, places, unit, deviation)) {}
}

/// Sets the position of each missing atom of a unit to the value of `position` for the index of the atom.
fn fill(places: &mut Places, unit: &Unit, position: impl Fn(usize) -> Vec3) {
    for &atom in unit.atoms.iter().filter(|&&atom| places[atom].is_none()).collect::<Vec<_>>() {
        places[atom] = Some(position(atom));
    }
}

/// Completes a unit whose missing atoms are bonded to one known atom with two known neighbours.
fn at_center(ideal: &Ideal, places: &mut Places, unit: &Unit) -> bool {
    let missing: Vec<usize> = unit.atoms.iter().copied().filter(|&atom| places[atom].is_none()).collect();
    let Some(&first) = missing.first() else { return false };
    let is_center = |&&center: &&usize| {
        places[center].is_some() && missing.iter().all(|atom| ideal.bonded[*atom].contains(&center))
    };
    let Some(&center) = ideal.bonded[first].iter().find(is_center) else { return false };
    let known = |&atom: &usize| Some((ideal.positions[atom], places[atom]?));
    let around: Vec<(Vec3, Vec3)> = ideal.bonded[center].iter().filter_map(known).collect();
    let (Some(origin), [a, b, ..]) = (places[center], &around[..]) else { return false };
    let from = Frame::between(ideal.positions[center], a.0, b.0);
    let to = Frame::between(origin, a.1, b.1);
    fill(places, unit, |atom| from.moved(&to, ideal.positions[atom]));
    true
}

/// Completes a unit by superposing the ideal unit on the known atoms. Does nothing if the known atoms are collinear or
/// deviate by more than `limit` (nm).
fn superposed(ideal: &Ideal, places: &mut Places, part: &Unit, limit: f64) -> bool {
    let known = |&atom: &usize| Some((ideal.positions[atom], places[atom]?));
    let (from, onto): (Vec<Vec3>, Vec<Vec3>) = part.atoms.iter().filter_map(known).unzip();
    if from.len() < 3 || from.len() == part.atoms.len() {
        return false;
    }
    let along = unit(from[1] - from[0]);
    if from[2..].iter().all(|&position| along.cross(unit(position - from[0])).norm() < LINE) {
        return false;
    }
    let motion = Superposition::new(&from, &onto);
    if motion.deviation(&from, &onto) > limit {
        return false;
    }
    fill(places, part, |atom| motion.apply(ideal.positions[atom]));
    true
}

/// Returns the bond about which a unit with missing atoms rotates. Among the known neighbours of the outer atom of the
/// bond, the neighbour with the lowest index is the first atom of the torsion, for example N for the side chain of an
/// amino acid.
fn axis(ideal: &Ideal, places: &Places, index: usize) -> Option<Axis> {
    let part = &ideal.units[index];
    let known = |atom: &usize| places[*atom].is_some();
    for &near in part.piece.iter().filter(|atom| known(atom)) {
        let first = ideal.bonded[near].iter().find(|atom| part.atoms.contains(atom) && !known(atom));
        let outer = ideal.bonded[near].iter().find(|atom| known(atom));
        let (Some(&first), Some(&outer)) = (first, outer) else { continue };
        let beyond = ideal.bonded[outer].iter().find(|&&atom| atom != near && places[atom].is_some());
        if let Some(&beyond) = beyond {
            return Some(Axis { unit: index, atoms: [beyond, outer, near, first] });
        }
    }
    None
}

/// Completes a unit with a torsion (rad) about its axis.
fn turn(ideal: &Ideal, places: &mut Places, axis: Axis, torsion: f64) {
    let [beyond, outer, near, first] = axis.atoms;
    let (Some(beyond), Some(b), Some(c)) = (places[beyond], places[outer], places[near]) else { return };
    let [ideal_b, ideal_c, ideal_d] = [outer, near, first].map(|atom| ideal.positions[atom]);
    let length = (ideal_d - ideal_c).norm();
    let d = placed([beyond, b, c], length, angle(ideal_b, ideal_c, ideal_d), torsion);
    let (from, to) = (Frame::new(ideal_c, ideal_b, ideal_d), Frame::new(c, b, d));
    fill(places, &ideal.units[axis.unit], |atom| from.moved(&to, ideal.positions[atom]));
}
