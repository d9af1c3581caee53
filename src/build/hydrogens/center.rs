//! Positions of hydrogens that follow from the heavy atoms.
//!
//! Tetrahedral atoms have ideal angles, acos(−1/3). Hydrogens of a planar atom lie in the plane of the neighbours of
//! this atom, at equal angles. Bond lengths are those of AMBER (Cornell et al., J. Am. Chem. Soc. 117, 5179 (1995),
//! doi:10.1021/ja00124a002).

use std::f64::consts::PI;

use md_engine::vec3::{Vec3, vec3};

use crate::geometry::{perpendicular, unit};

/// Length of the bond of a hydrogen to C, N, O and S, in nm.
const LENGTHS: [(u8, f64); 4] = [(6, 0.109), (7, 0.101), (8, 0.096), (16, 0.1336)];
/// Length (nm) of bonds of hydrogens to other elements (P–H).
const OTHER_LENGTH: f64 = 0.142;
/// Angle between two bonds of a tetrahedral atom: acos(−1/3), in rad.
const TETRAHEDRAL: f64 = 1.910_633_236_249_018_6;
/// Angle C–S–H in rad (96°, Cornell et al.).
const AT_SULFUR: f64 = 1.675_516_081_914_556;
/// Angle C–O–H in rad (108.5°, Cornell et al.).
const AT_OXYGEN: f64 = 1.893_682_238_413_847;
/// Angle H–O–H of water in rad (104.52°, TIP3P).
const IN_WATER: f64 = 1.824_218_134_184_473_5;

/// An atom to which hydrogens are bonded.
#[derive(Clone, Debug)]
pub(super) struct Center {
    /// position, nm
    pub(super) position: Vec3,
    /// atomic number
    pub(super) element: u8,
    /// whether the bonds of the atom lie in a plane
    pub(super) is_planar: bool,
    /// positions of the heavy atoms that are bonded to the atom
    pub(super) neighbours: Vec<Vec3>,
    /// position of a second heavy atom, bonded to the only neighbour of the center; `None` if no second heavy atom
    /// exists or if the center has several neighbours
    pub(super) beyond: Option<Vec3>,
    /// whether the bonds of the only neighbour lie in a plane; used only if the center has one neighbour
    pub(super) neighbour_is_planar: bool,
}

/// Possible positions of the hydrogens of an atom.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// fixed positions in nm
    Fixed(Vec<Vec3>),
    /// hydrogens that rotate together about the bond between their parent atom and the only neighbour of the parent
    /// atom
    Turning(Turn),
    /// hydrogens of a water molecule, which can have any orientation
    Water { length: f64, angle: f64 },
}

/// Hydrogens that rotate together about the bond between their parent atom and the only neighbour of the parent atom.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    center: Vec3,
    /// unit vector of the bond, away from the neighbour
    axis: Vec3,
    /// two unit vectors perpendicular to the axis; the first vector points to the side of the atom beyond the neighbour
    across: [Vec3; 2],
    length: f64,
    /// angle between the bond and the bonds of the hydrogens, rad
    angle: f64,
    /// torsion of each hydrogen minus the torsion of the first hydrogen, rad
    pub(super) phases: Vec<f64>,
    /// torsions of the first hydrogen that are tried, rad
    pub(super) torsions: Vec<f64>,
}

impl Turn {
    /// Returns the positions of the hydrogens, given the torsion (rad) of the first hydrogen relative to the atom
    /// beyond the neighbour.
    pub(super) fn positions(&self, torsion: f64) -> Vec<Vec3> {
        let along = self.axis * (self.length * -self.angle.cos());
        let radius = self.length * self.angle.sin();
        let place = |phase: &f64| {
            let (sin, cos) = (torsion + phase).sin_cos();
            self.center + along + (self.across[0] * cos + self.across[1] * sin) * radius
        };
        self.phases.iter().map(place).collect()
    }
}

impl Center {
    /// Returns the length (nm) of the bonds between the center and its hydrogens.
    pub(super) fn length(&self) -> f64 {
        LENGTHS.iter().find(|(element, _)| *element == self.element).map_or(OTHER_LENGTH, |(_, length)| *length)
    }

    /// Returns the possible positions of `count` hydrogens.
    pub(super) fn place(&self, count: usize) -> Place {
        let length = self.length();
        match (self.neighbours.as_slice(), count) {
            ([], 2) if self.element == 8 => Place::Water { length, angle: IN_WATER },
            ([neighbour], _) => Place::Turning(self.turn(*neighbour, count)),
            ([a, b], 2) => {
                let (u, v) = (unit(*a - self.position), unit(*b - self.position));
                let (opposite, normal) = (unit((u + v) * -1.0), unit(u.cross(v)));
                let (sin, cos) = (0.5 * TETRAHEDRAL).sin_cos();
                let place = |sign: f64| self.position + (opposite * cos + normal * (sign * sin)) * length;
                Place::Fixed(vec![place(1.0), place(-1.0)])
            }
            ([a, b], 1) if !self.is_planar => {
                let (u, v) = (unit(*a - self.position), unit(*b - self.position));
                let (sin, cos) = (0.5 * TETRAHEDRAL).sin_cos();
                let direction = unit((u + v) * -1.0) * cos + unit(u.cross(v)) * sin;
                Place::Fixed(vec![self.position + direction * length])
            }
            (neighbours, _) => {
                let sum = neighbours.iter().fold(vec3(0.0, 0.0, 0.0), |sum, &to| sum + unit(to - self.position));
                Place::Fixed(self.around(unit(sum * -1.0), count))
            }
        }
    }

    /// Returns the positions of `count` hydrogens. The first bond has the given direction, and all angles between bonds
    /// are tetrahedral.
    fn around(&self, direction: Vec3, count: usize) -> Vec<Vec3> {
        let [across, other] = perpendicular(direction, vec3(0.0, 0.0, 1.0));
        let place = |k: usize| {
            if k == 0 {
                return self.position + direction * self.length();
            }
            let (sin, cos) = (2.0 * PI * k as f64 / (count - 1).max(1) as f64).sin_cos();
            let side = (across * cos + other * sin) * TETRAHEDRAL.sin();
            self.position + (direction * TETRAHEDRAL.cos() + side) * self.length()
        };
        (0..count).map(place).collect()
    }

    /// Returns the hydrogens of an atom that rotate about the bond between the atom and its only neighbour. Hydrogens
    /// of a planar atom, and of a hydroxyl or thiol group at a planar atom, lie in the plane of the bonds of the
    /// neighbour. Hydrogens of all other hydroxyl and thiol groups and of ammonium groups rotate freely. All other
    /// hydrogens are staggered.
    fn turn(&self, neighbour: Vec3, count: usize) -> Turn {
        let axis = unit(self.position - neighbour);
        let beyond = self.beyond.unwrap_or(neighbour + vec3(0.0, 0.0, 1.0));
        let across = perpendicular(axis, beyond - neighbour);
        let angle = match (self.element, self.is_planar, count) {
            (8, _, 1) => AT_OXYGEN,
            (16, _, 1) => AT_SULFUR,
            (_, true, _) => 2.0 * PI / 3.0,
            _ => TETRAHEDRAL,
        };
        let equal = |of: usize| move |k: usize| 2.0 * PI * k as f64 / of as f64;
        let steps = |from: f64, to: f64, count: usize| -> Vec<f64> {
            (0..count).map(|k| from + (to - from) * k as f64 / count as f64).collect()
        };
        let (phases, torsions): (Vec<f64>, Vec<f64>) = if self.is_planar {
            ((0..count).map(equal(2)).collect(), if count == 1 { vec![PI, 0.0] } else { vec![0.0] })
        } else {
            let phases = (0..count).map(equal(3)).collect();
            let torsions = match (self.element, count) {
                (8 | 16, 1) if self.neighbour_is_planar => vec![PI, 0.0],
                (8 | 16, 1) => steps(0.0, 2.0 * PI, 36),
                (7, 3) => steps(0.0, 2.0 * PI / 3.0, 12),
                (_, 3) => vec![PI],
                _ => vec![PI, PI / 3.0, -PI / 3.0],
            };
            (phases, torsions)
        };
        Turn { center: self.position, axis, across, length: self.length(), angle, phases, torsions }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn center(element: u8, is_planar: bool, neighbours: &[Vec3]) -> Center {
        let position = vec3(1.0, 2.0, 3.0);
        Center {
            position,
            element,
            is_planar,
            neighbours: neighbours.iter().map(|&offset| position + offset).collect(),
            beyond: (neighbours.len() == 1).then(|| position + neighbours[0] + vec3(0.1, 0.05, 0.0)),
            neighbour_is_planar: false,
        }
    }

    fn fixed(center: &Center, count: usize) -> Vec<Vec3> {
        match center.place(count) {
            Place::Fixed(places) => places.iter().map(|&place| place - center.position).collect(),
            Place::Turning(turn) => {
                turn.positions(turn.torsions[0]).iter().map(|&place| place - center.position).collect()
            }
            Place::Water { .. } => panic!("no water"),
        }
    }

    /// Returns the angle between two vectors in degrees.
    fn angle(a: Vec3, b: Vec3) -> f64 {
        (a.dot(b) / (a.norm() * b.norm())).acos().to_degrees()
    }

    #[test]
    fn tetrahedral_atoms_have_their_angles() {
        let tetrahedron = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
        let corners = tetrahedron.map(|corner| Vec3::from(corner) * 0.09);
        for known in 1..=3 {
            let center = center(6, false, &corners[..known]);
            let found = fixed(&center, 4 - known);
            assert_eq!(found.len(), 4 - known);
            for (k, &h) in found.iter().enumerate() {
                assert!((h.norm() - 0.109).abs() < 1e-12);
                for &other in corners[..known].iter().chain(&found[..k]) {
                    assert!((angle(h, other) - 109.471_220_634).abs() < 1e-6, "{known}: {}", angle(h, other));
                }
            }
        }
    }

    #[test]
    fn planar_atoms_keep_hydrogens_in_the_plane() {
        let [a, b] = [vec3(0.14, 0.0, 0.0), vec3(-0.07, 0.121_243_556_529_821_4, 0.0)];
        let [h] = fixed(&center(6, true, &[a, b]), 1)[..] else { panic!("one hydrogen") };
        assert!((angle(h, a) - 120.0).abs() < 1e-6 && (angle(h, b) - 120.0).abs() < 1e-6 && h.z.abs() < 1e-12);
        let [first, second] = fixed(&center(7, true, &[a]), 2)[..] else { panic!("two hydrogens") };
        assert!((angle(first, second) - 120.0).abs() < 1e-6 && first.z.abs() < 1e-12 && second.z.abs() < 1e-12);
    }

    #[test]
    fn hydroxyl_groups_turn_at_their_angle() {
        let oxygen = center(8, false, &[vec3(0.143, 0.0, 0.0)]);
        let Place::Turning(turn) = oxygen.place(1) else { panic!("it turns") };
        assert_eq!(turn.torsions.len(), 36);
        for &torsion in &turn.torsions {
            let [h] = turn.positions(torsion)[..] else { panic!("one hydrogen") };
            let h = h - oxygen.position;
            assert!((angle(h, vec3(0.143, 0.0, 0.0)) - 108.5).abs() < 1e-6 && (h.norm() - 0.096).abs() < 1e-12);
        }
    }
}
