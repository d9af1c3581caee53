//! Collective variables: functions of the positions of atoms, with their gradients.
//!
//! Distances, angles and torsions are between the centers of mass of groups; a group may be a single atom. Positions
//! are not wrapped, and molecules are whole. At the start of a stage, the molecules of a group are shifted to periodic
//! images that are close to each other ([`crate::image`]). The chosen images do not change during the stage. The
//! displacement between two centers is the minimum image. If centers coincide or are collinear, so that a direction is
//! undefined, the gradient is zero, as in OpenMM.

use crate::cell::{PeriodicCell, displacement};
use crate::image::{Image, Parts};
use crate::superpose::{correlation, rotation};
use crate::system::Molecules;
use crate::term::{Dihedral, bend};
use crate::vec3::{Mat3, Vec3};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Largest rounding error (nm or rad) of a center, which is a sum of a few numbers of at most 10.
const ROUNDING: f64 = 1e-12;

/// Kinds of collective variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VariableKind {
    /// distance between two centers, nm
    Distance,
    /// angle of three centers, with the vertex at the second center, rad, from 0 to π
    Angle,
    /// torsion of four centers, IUPAC sign, rad, from −π to π
    Torsion,
    /// root-mean-square deviation from a reference after the best superposition, nm
    Rmsd,
}

impl VariableKind {
    /// Number of groups of atoms that the variable needs.
    pub fn groups(self) -> usize {
        match self {
            VariableKind::Rmsd => 1,
            VariableKind::Distance => 2,
            VariableKind::Angle => 3,
            VariableKind::Torsion => 4,
        }
    }

    /// Whether the variable is an angle, in rad.
    pub fn is_angular(self) -> bool {
        matches!(self, VariableKind::Angle | VariableKind::Torsion)
    }

    /// Whether a center of a restraint of the variable is in the range of the variable, in nm or rad. Torsions are
    /// periodic, so that every center is in their range.
    pub fn admits(self, center: f64) -> bool {
        match self {
            VariableKind::Angle => (-ROUNDING..=PI + ROUNDING).contains(&center),
            VariableKind::Torsion => true,
            VariableKind::Distance | VariableKind::Rmsd => center >= -ROUNDING,
        }
    }

    /// Describes the range of the variable.
    pub fn range(self) -> &'static str {
        match self {
            VariableKind::Angle => "angles are between 0 and 180 deg",
            VariableKind::Torsion => "torsions are between -180 and 180 deg",
            VariableKind::Distance | VariableKind::Rmsd => "distances and RMSDs are never negative",
        }
    }

    /// Name of the kind of variable in files.
    pub fn name(self) -> &'static str {
        match self {
            VariableKind::Distance => "distance",
            VariableKind::Angle => "angle",
            VariableKind::Torsion => "torsion",
            VariableKind::Rmsd => "rmsd",
        }
    }
}

/// Flags for the components x, y, z of the displacement from which a distance is computed, as `pull-coord-dim` in
/// GROMACS.
pub type Components = [bool; 3];

/// Cell, positions and images at which a variable is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Configuration<'a> {
    /// periodic cell; `None` without periodic boundaries
    pub cell: Option<&'a PeriodicCell>,
    /// positions of all atoms, nm, not wrapped
    pub positions: &'a [Vec3],
    /// images of the molecules of the variable's groups, as returned by [`Variable::gather`]
    pub images: &'a [Image],
}

/// Atoms of a group, sorted by molecule. The atom `around`, if any, determines the periodic images of the molecules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Members {
    atoms: Vec<u32>,
    parts: Parts,
    around: Option<u32>,
}

impl Members {
    /// Makes a group of atoms. Each molecule of the group is shifted to the periodic image nearest to the atom
    /// `around`. If `around` is `None`, the images are chosen along the shortest distances between the molecules.
    pub fn new(atoms: Vec<u32>, molecules: &Molecules, around: Option<u32>) -> Self {
        let parts = Parts::new(molecules, &atoms);
        Members { atoms, parts, around }
    }

    /// Lattice images to which the molecules of the group are shifted, chosen for the given positions.
    fn gather(&self, cell: Option<&PeriodicCell>, positions: &[Vec3]) -> Vec<Image> {
        let Some(cell) = cell else { return vec![[0; 3]; self.parts.len()] };
        let own = self.positions(positions);
        match self.around {
            Some(atom) => self.parts.gather_around(cell, &own, positions[atom as usize]),
            None => self.parts.gather(cell, &own),
        }
    }

    fn positions(&self, positions: &[Vec3]) -> Vec<Vec3> {
        self.atoms.iter().map(|&atom| positions[atom as usize]).collect()
    }

    /// Positions (nm) of the atoms at the start of a stage, with each molecule shifted to its lattice image.
    pub fn gathered(&self, cell: Option<&PeriodicCell>, positions: &[Vec3]) -> Vec<Vec3> {
        let mut own = self.positions(positions);
        if let Some(cell) = cell {
            self.parts.shift(cell, &self.gather(Some(cell), positions), &mut own);
        }
        own
    }

    /// The atoms of the group by molecule.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Whether a group of several molecules, which has no central atom, extends over more than half of the cell along
    /// any cell vector. The user of a wide group may have intended other periodic images of the molecules.
    pub fn is_wide(&self, cell: &PeriodicCell, positions: &[Vec3]) -> bool {
        let fractions: Vec<Vec3> =
            self.gathered(Some(cell), positions).iter().map(|r| cell.to_fractional(*r)).collect();
        let extent = |axis: usize| {
            let values = || fractions.iter().map(|s| s.to_array()[axis]);
            values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)
        };
        self.around.is_none() && self.parts.len() > 1 && (0..3).any(|axis| extent(axis) > 0.5)
    }

    /// Index of each atom in the list of atoms of the group, and position (nm) of the atom in the lattice image of the
    /// molecule.
    fn placed<'a>(&'a self, at: Configuration<'a>) -> impl Iterator<Item = (usize, Vec3)> + 'a {
        self.parts.iter().zip(at.images).flat_map(move |(part, image)| {
            let shift = at.cell.map_or(Vec3::ZERO, |cell| cell.shift(*image));
            part.iter().map(move |&place| {
                let atom = self.atoms[place as usize];
                (place as usize, at.positions[atom as usize] + shift)
            })
        })
    }

    /// Position (nm) of the first atom of the group.
    fn first(&self, at: Configuration<'_>) -> Vec3 {
        self.placed(at).next().map_or(Vec3::ZERO, |(_, r)| r)
    }
}

/// A group of atoms, represented by its center of mass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    members: Members,
    /// mass fraction of each atom
    shares: Vec<f64>,
}

impl Group {
    /// Makes a group of atoms with masses. Each molecule of the group is shifted to the periodic image nearest to the
    /// atom `around`. If `around` is `None`, the images are chosen along the shortest distances between the molecules.
    /// Returns `None` if the total mass is zero.
    pub fn new(atoms: &[u32], mass: impl Fn(u32) -> f64, molecules: &Molecules, around: Option<u32>) -> Option<Self> {
        let total: f64 = atoms.iter().map(|&atom| mass(atom)).sum();
        let massive: Vec<u32> = atoms.iter().copied().filter(|&atom| mass(atom) > 0.0).collect();
        (total > 0.0).then(|| {
            let shares = massive.iter().map(|&atom| mass(atom) / total).collect();
            Group { members: Members::new(massive, molecules, around), shares }
        })
    }

    /// Center of mass. The center is computed from differences to the position of the first atom, so that rounding
    /// errors are small even far from the origin.
    fn center(&self, at: Configuration<'_>) -> Vec3 {
        let first = self.members.first(at);
        first + self.members.placed(at).map(|(place, r)| (r - first) * self.shares[place]).sum::<Vec3>()
    }

    fn push(&self, force: Vec3, forces: &mut [Vec3]) {
        for (&atom, &share) in self.members.atoms.iter().zip(&self.shares) {
            forces[atom as usize] += force * share;
        }
    }
}

/// Atoms with equal weights, and their reference positions, for a root-mean-square deviation (RMSD).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Superposed {
    members: Members,
    /// reference position of each atom relative to the center of all reference positions, nm
    references: Vec<Vec3>,
}

impl Superposed {
    /// Makes a set of at least one atom with reference positions (nm). The caller must already have shifted the
    /// molecules of the reference structure to the correct periodic images.
    pub fn new(members: Members, references: &[Vec3]) -> Self {
        let center = references.iter().copied().sum::<Vec3>() / references.len() as f64;
        Superposed { members, references: references.iter().map(|r| *r - center).collect() }
    }

    /// Returns the reference position of each atom relative to the center of all reference positions, nm.
    pub fn references(&self) -> &[Vec3] {
        &self.references
    }

    /// Returns the root-mean-square deviation, the rows of the rotation Rᵀ that rotates references onto atoms, and the
    /// center of the atoms.
    fn find(&self, at: Configuration<'_>) -> (f64, [Vec3; 3], Vec3) {
        let (count, first) = (self.references.len() as f64, self.members.first(at));
        let offset: Vec3 = self.members.placed(at).map(|(_, r)| r - first).sum();
        let center = first + offset / count;
        // rotation of the reference positions onto the atoms
        let turn =
            rotation(&correlation(self.members.placed(at).map(|(place, r)| (self.references[place], r - center))));
        let rows = [0, 1, 2].map(|i| Vec3::from([0, 1, 2].map(|j| turn[(i, j)])));
        let square = |(place, r): (usize, Vec3)| (r - center - turned(&rows, self.references[place])).norm_squared();
        let sum: f64 = self.members.placed(at).map(square).sum();
        ((sum / count).sqrt(), rows, center)
    }
}

fn turned(rows: &[Vec3; 3], r: Vec3) -> Vec3 {
    Vec3::from(rows.map(|row| row.dot(r)))
}

/// A collective variable and its groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Variable {
    /// distance between two centers, computed from some or all components of the displacement
    Distance([Group; 2], Components),
    /// angle between three centers
    Angle([Group; 3]),
    /// torsion of four centers
    Torsion([Group; 4]),
    /// root-mean-square deviation from a reference structure
    Rmsd(Superposed),
}

/// Value of a variable, with the data needed to compute its forces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VariableValue {
    /// value ξ, nm or rad
    pub value: f64,
    slope: Slope,
    /// whether the minimum image of a displacement is ambiguous, because another periodic image may be equally short
    pub ambiguous: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Slope {
    /// derivatives ∂ξ/∂R of a variable ξ that depends on the centers R of its groups, and the sum Σ R⊗∂ξ/∂R for the
    /// virial
    Centers([Vec3; 4], Mat3),
    /// derivatives ∂ξ/∂r = (r − c − Rᵀ y)/(N ξ) of an RMSD ξ over N atoms, with the position r and the reference
    /// position y of an atom, the center c of the atoms, and the rotation Rᵀ of references onto atoms. The
    /// superposition minimises the deviation, so that the derivative of the rotation does not contribute (Coutsias,
    /// Seok and Dill, J. Comput. Chem. 25, 1849 (2004), doi:10.1002/jcc.20110)
    Superposed { rows: [Vec3; 3], center: Vec3, scale: f64 },
}

/// RMSD (nm) below which rounding errors determine the direction of the RMSD gradient.
const SAME: f64 = 1e-10;

/// A distance longer than this fraction of the shortest distance between opposite faces of the cell is ambiguous,
/// because another periodic image may be as short. GROMACS uses the same fraction.
const NEAREST: f64 = 0.49;

impl Variable {
    /// Kind of the variable.
    pub fn kind(&self) -> VariableKind {
        match self {
            Variable::Distance(..) => VariableKind::Distance,
            Variable::Angle(_) => VariableKind::Angle,
            Variable::Torsion(_) => VariableKind::Torsion,
            Variable::Rmsd(_) => VariableKind::Rmsd,
        }
    }

    /// Lattice images of the molecules of all groups at the start of a stage ([`Configuration::images`]).
    pub fn gather(&self, cell: Option<&PeriodicCell>, positions: &[Vec3]) -> Vec<Image> {
        self.members().flat_map(|members| members.gather(cell, positions)).collect()
    }

    /// Atoms whose positions determine the variable, and the atoms that determine the periodic images of molecules. The
    /// index of an atom that is in several groups is repeated.
    pub fn atoms(&self) -> impl Iterator<Item = u32> + '_ {
        self.members().flat_map(|members| members.atoms.iter().copied().chain(members.around))
    }

    /// Evaluates the variable.
    pub fn find(&self, at: Configuration<'_>) -> VariableValue {
        let cell = at.cell;
        let nearest = |from: Vec3, to: Vec3| displacement(cell, to - from);
        match self {
            Variable::Distance(groups, components) => {
                let [a, b] = centers(groups, at);
                let Counted { whole, counted, ambiguous } = Counted::new(cell, b - a, *components);
                let value = counted.norm();
                let direction = if value > 0.0 { counted / value } else { Vec3::ZERO };
                let slope =
                    Slope::Centers([-direction, direction, Vec3::ZERO, Vec3::ZERO], Mat3::outer(whole, direction));
                VariableValue { value, slope, ambiguous }
            }
            Variable::Angle(groups) => {
                let [a, b, c] = centers(groups, at);
                let [u, v] = [nearest(b, a), nearest(b, c)];
                let (value, [du, dv]) = bend([u, v]);
                let virial = Mat3::outer(u, du) + Mat3::outer(v, dv);
                let ambiguous = [u, v].iter().any(|d| is_ambiguous(cell, *d, ALL));
                VariableValue { value, slope: Slope::Centers([du, -(du + dv), dv, Vec3::ZERO], virial), ambiguous }
            }
            Variable::Torsion(groups) => {
                let [a, b, c, d] = centers(groups, at);
                let [ij, kj, lk] = [nearest(b, a), nearest(b, c), nearest(c, d)];
                let dihedral = Dihedral::new([ij, kj, lk]);
                let [di, _, dk, dl] = dihedral.gradient;
                // the displacement from j to l is the sum of the displacements from k to l and from j to k
                let virial = Mat3::outer(ij, di) + Mat3::outer(kj, dk) + Mat3::outer(kj + lk, dl);
                let ambiguous = [ij, kj, lk].iter().any(|d| is_ambiguous(cell, *d, ALL));
                VariableValue { value: dihedral.angle(), slope: Slope::Centers(dihedral.gradient, virial), ambiguous }
            }
            Variable::Rmsd(superposed) => {
                let (value, rows, center) = superposed.find(at);
                let scale = if value > SAME { 1.0 / (superposed.references.len() as f64 * value) } else { 0.0 };
                VariableValue { value, slope: Slope::Superposed { rows, center, scale }, ambiguous: false }
            }
        }
    }

    /// Longest distance (nm) whose minimum image is unambiguous, for a distance in a periodic cell. Restraint forces of
    /// longer distances are refused.
    pub fn longest_distance(&self, cell: Option<&PeriodicCell>) -> Option<f64> {
        match self {
            Variable::Distance(_, components) => cell.map(|cell| {
                let lattice = projected(cell, *components);
                longest_distance(lattice.as_ref().unwrap_or(cell), *components)
            }),
            _ => None,
        }
    }

    /// Adds the atomic forces (kJ/mol/nm) that result from the generalised force `force` = −dE/dξ to `forces`. The
    /// configuration must be the one for which `found` was computed. Returns the virial of the added forces, kJ/mol.
    pub fn push(&self, found: &VariableValue, force: f64, at: Configuration<'_>, forces: &mut [Vec3]) -> Mat3 {
        if force == 0.0 {
            return Mat3::ZERO;
        }
        match (self, &found.slope) {
            (Variable::Rmsd(superposed), Slope::Superposed { rows, center, scale }) => {
                let mut virial = Mat3::ZERO;
                for (place, r) in superposed.members.placed(at) {
                    let arm = r - *center;
                    let push = (arm - turned(rows, superposed.references[place])) * (*scale * force);
                    forces[superposed.members.atoms[place] as usize] += push;
                    virial += Mat3::outer(arm, push);
                }
                virial
            }
            (_, Slope::Centers(gradients, virial)) => {
                for (group, gradient) in self.groups().iter().zip(gradients) {
                    group.push(*gradient * force, forces);
                }
                virial.scaled(force)
            }
            _ => unreachable!("the derivatives belong to a variable of the same kind"),
        }
    }

    /// Members of all groups of the variable.
    fn members(&self) -> impl Iterator<Item = &Members> {
        let superposed = match self {
            Variable::Rmsd(superposed) => Some(&superposed.members),
            _ => None,
        };
        self.groups().iter().map(|group| &group.members).chain(superposed)
    }

    fn groups(&self) -> &[Group] {
        match self {
            Variable::Distance(groups, _) => groups,
            Variable::Angle(groups) => groups,
            Variable::Torsion(groups) => groups,
            Variable::Rmsd(_) => &[],
        }
    }
}

/// Centers of mass of all groups. `at.images` holds the images of the molecules of all groups, group by group.
fn centers<const N: usize>(groups: &[Group; N], at: Configuration<'_>) -> [Vec3; N] {
    let mut images = at.images;
    groups.each_ref().map(|group| {
        let (own, rest) = images.split_at(group.members.parts.len());
        images = rest;
        group.center(Configuration { images: own, ..at })
    })
}

const ALL: Components = [true; 3];

fn masked(d: Vec3, components: Components) -> Vec3 {
    let [x, y, z] = d.to_array();
    let keep = |value: f64, kept: bool| if kept { value } else { 0.0 };
    Vec3 { x: keep(x, components[0]), y: keep(y, components[1]), z: keep(z, components[2]) }
}

/// Displacement between two centers, and its components from which a distance is computed.
struct Counted {
    /// displacement in a periodic image, nm
    whole: Vec3,
    /// the selected components of `whole`; the others are zero
    counted: Vec3,
    /// whether another periodic image of the selected components may be as short
    ambiguous: bool,
}

impl Counted {
    /// Finds the shortest periodic image of the selected components of a displacement. If the lattice has no projection
    /// onto these components (see [`projected`]), the image that is shortest in all components is taken, and is
    /// ambiguous if another image may be as short in all components: the selected components of the two images would
    /// differ, and with these the energy.
    fn new(cell: Option<&PeriodicCell>, between: Vec3, components: Components) -> Self {
        let whole = displacement(cell, between);
        let Some(cell) = cell.filter(|_| components != ALL) else {
            let counted = masked(whole, components);
            return Counted { whole, counted, ambiguous: is_ambiguous(cell, counted, components) };
        };
        match projected(cell, components) {
            Some(lattice) => {
                let counted = lattice.minimum_image(masked(whole, components));
                let whole = whole - masked(whole, components) + counted;
                Counted { whole, counted, ambiguous: is_ambiguous(Some(&lattice), counted, components) }
            }
            None => {
                let counted = masked(whole, components);
                Counted { whole, counted, ambiguous: is_ambiguous(Some(cell), whole, ALL) }
            }
        }
    }
}

/// Returns the lattice of the selected components of all lattice vectors, completed by vectors along the other axes.
/// Returns `None` if a vector of another axis has selected components: a displacement along this vector would change
/// the selected components by a fraction of the lattice vectors along them. This is so for x, y, xy and xz in a
/// truncated octahedron.
fn projected(cell: &PeriodicCell, components: Components) -> Option<PeriodicCell> {
    let axes = [Vec3 { x: 1.0, y: 0.0, z: 0.0 }, Vec3 { x: 0.0, y: 1.0, z: 0.0 }, Vec3 { x: 0.0, y: 0.0, z: 1.0 }];
    let mut rows = cell.rows().map(|row| masked(row, components));
    for k in (0..3).filter(|&k| !components[k]) {
        if rows[k] != Vec3::ZERO {
            return None;
        }
        rows[k] = axes[k] * cell.rows()[k].norm();
    }
    PeriodicCell::from_rows(rows)
}

/// Whether the minimum image of a displacement is ambiguous in the selected components, because another periodic image
/// may be shorter.
fn is_ambiguous(cell: Option<&PeriodicCell>, d: Vec3, components: Components) -> bool {
    cell.is_some_and(|cell| d.norm() > longest_distance(cell, components))
}

/// Longest distance (nm) in the selected components whose minimum image is unambiguous.
fn longest_distance(cell: &PeriodicCell, components: Components) -> f64 {
    let faces = cell.face_distances();
    NEAREST * (0..3).filter(|&i| components[i]).map(|i| faces[i]).fold(f64::INFINITY, f64::min)
}
