//! Selection of constraints, and the number of remaining degrees of freedom.

use crate::error::{Error, Problem, Result};
use crate::system::{Constraint, Constraints, Settle, Topology};
use std::collections::HashMap;

/// Atomic number of hydrogen.
const HYDROGEN: u8 = 1;
/// Atomic number of oxygen.
const OXYGEN: u8 = 8;

/// Number of distances between the three atoms of a water.
const SIDES: usize = 3;

/// Relative difference below which two lengths in input files are treated as equal. Programs write lengths with at
/// least eight digits.
const SAME_LENGTH: f64 = 1e-6;

/// The bonds that are constrained, as selected by the key `constraints` of the input file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConstraintKind {
    /// no bonds are constrained
    #[default]
    None,
    /// bonds with a hydrogen are constrained
    HBonds,
    /// all bonds are constrained
    AllBonds,
    /// all bonds and the angles H-X-H and H-O-X are constrained, as in GROMACS; an angle is constrained by a constraint
    /// between its outer atoms
    HAngles,
}

/// Selects constraints: the constraints in the topology, and the bonds or angles that `kind` names.
///
/// With `rigid_water` every water becomes a [`Settle`], whatever `kind` is, and the bonds of waters are not added to
/// the other constraints. Without `rigid_water` only waters whose three sides are constrained in the topology become a
/// [`Settle`]. The constraint lengths come from the bond terms and the constraints in the topology. The H–H length of a
/// water may also follow from the H–O–H angle. Bonds to massless sites are not constrained, since the positions of
/// virtual sites are computed. The tolerance is the default of [`Constraints`].
pub fn derive(topology: &Topology, kind: ConstraintKind, rigid_water: bool) -> Result<Constraints> {
    let residue = |atom: u32| topology.atoms[atom as usize].residue as usize;
    let rigid = rigid_waters(topology, rigid_water).into_iter().enumerate();
    let mut waters: Vec<Option<WaterShape>> =
        rigid.map(|(residue, is_rigid)| is_rigid.then(|| WaterShape::of(topology, residue))).collect();
    measure_waters(topology, &mut waters)?;
    let mut settles = vec![];
    let mut problems = vec![];
    for water in waters.iter().flatten() {
        match water.settle(topology) {
            Ok(settle) => settles.push(settle),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        // all waters have the same problem, so that one message is enough
        problems.truncate(1);
        return Err(Error::Input(problems));
    }
    let chosen = |(atoms, _): &([u32; 2], f64)| {
        let [a, b] = atoms.map(|i| &topology.atoms[i as usize]);
        let chosen = match kind {
            ConstraintKind::None => false,
            ConstraintKind::HBonds => a.element == HYDROGEN || b.element == HYDROGEN,
            ConstraintKind::AllBonds | ConstraintKind::HAngles => true,
        };
        chosen && a.mass > 0.0 && b.mass > 0.0
    };
    let chosen = topology.bonded.bond_lengths().filter(chosen);
    let own = topology.constraints.iter().map(|constraint| (constraint.atoms, constraint.length));
    let flexible = |(atoms, _): &([u32; 2], f64)| atoms.iter().all(|&i| waters[residue(i)].is_none());
    let mut bonds = vec![];
    for ([i, j], length) in own.chain(chosen).filter(flexible) {
        if !(length > 0.0 && length.is_finite()) {
            let message = format!("the bond between atoms {} and {} has length {length} nm", i + 1, j + 1);
            return Err(Problem::new(message)
                .help("give the bond a positive length, because the bond is constrained")
                .into());
        }
        bonds.push(Constraint { atoms: [i.min(j), i.max(j)], length });
    }
    let mut bonds = without_repetition(bonds)?;
    if kind == ConstraintKind::HAngles {
        let angles = angles_with_hydrogen(topology, &bonds);
        bonds.extend(angles);
        bonds = without_repetition(bonds)?;
    }
    Ok(Constraints { settles, bonds, ..Constraints::default() })
}

/// Returns for each residue whether it is a rigid water. With `rigid_water` every water is rigid. Otherwise the waters
/// are rigid whose three sides are constrained in the topology, as in `[ settles ]` of GROMACS.
pub(super) fn rigid_waters(topology: &Topology, rigid_water: bool) -> Vec<bool> {
    let residue = |atom: u32| topology.atoms[atom as usize].residue as usize;
    let mut sides = vec![0; topology.residues.len()];
    for [i, j] in topology.constraints.iter().map(|constraint| constraint.atoms.map(residue)) {
        sides[i] += usize::from(i == j);
    }
    let is_rigid = |(index, sides)| (rigid_water || sides == SIDES) && topology.is_water(index);
    sides.into_iter().enumerate().map(is_rigid).collect()
}

/// Maximum number of independent angles at one atom. In methane there are six angles between four hydrogens, of which
/// the sixth depends on the other five.
const INDEPENDENT_ANGLES: usize = 5;

/// Constraints between the outer atoms of the angles H-X-H and H-O-X. Only angles with both bonds in `bonds` are
/// used. `bonds` must be sorted.
fn angles_with_hydrogen(topology: &Topology, bonds: &[Constraint]) -> Vec<Constraint> {
    let element = |atom: u32| topology.atoms[atom as usize].element;
    let length = |i: u32, j: u32| {
        let index = bonds.binary_search_by_key(&[i.min(j), i.max(j)], |bond| bond.atoms).ok()?;
        Some(bonds[index].length)
    };
    let mut at_vertex: HashMap<u32, usize> = HashMap::new();
    let mut found = vec![];
    for ([i, vertex, k], angle) in topology.bonded.angle_values() {
        let hydrogens = [i, vertex, k].into_iter().filter(|&atom| element(atom) == HYDROGEN).count();
        if hydrogens < 2 && !(hydrogens == 1 && element(vertex) == OXYGEN) {
            continue;
        }
        let (Some(a), Some(b)) = (length(i, vertex), length(vertex, k)) else { continue };
        let angles = at_vertex.entry(vertex).or_default();
        if *angles < INDEPENDENT_ANGLES && length(i, k).is_none() {
            *angles += 1;
            let distance = (a * a + b * b - 2.0 * a * b * angle.cos()).sqrt();
            found.push(Constraint { atoms: [i.min(k), i.max(k)], length: distance });
        }
    }
    found
}

/// Sorts constraints by atoms, and removes repetitions.
fn without_repetition(mut bonds: Vec<Constraint>) -> Result<Vec<Constraint>> {
    bonds.sort_by_key(|c| c.atoms);
    let contradict = |pair: &&[Constraint]| pair[0].atoms == pair[1].atoms && !agree(pair[0].length, pair[1].length);
    if let Some([a, b]) = bonds.windows(2).find(contradict) {
        let message = format!(
            "atoms {} and {} have two bonds of different lengths, {} and {} nm",
            a.atoms[0] + 1,
            a.atoms[1] + 1,
            a.length,
            b.length
        );
        return Err(Problem::new(message)
            .help("give both bonds the same length, because the bond is constrained")
            .into());
    }
    bonds.dedup_by_key(|c| c.atoms);
    Ok(bonds)
}

fn agree(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME_LENGTH * a.abs()
}

/// Geometry of a water, as given by its bonded terms.
#[derive(Clone, Copy, Debug)]
struct WaterShape {
    /// atoms in the order O, H, H
    atoms: [u32; 3],
    /// O–H length of each hydrogen, nm
    oh: [Option<f64>; 2],
    /// H–H length, nm
    hh: Option<f64>,
    /// H–O–H angle, rad
    angle: Option<f64>,
}

impl WaterShape {
    fn of(topology: &Topology, residue: usize) -> Self {
        let mut atoms = topology.residue_atoms(residue).filter(|&i| topology.atoms[i].mass > 0.0).map(|i| i as u32);
        let mut atoms = [0; 3].map(|_: u32| atoms.next().unwrap_or_default());
        // the oxygen comes first; the sort is stable, so that the hydrogens keep their order
        atoms.sort_by_key(|&i| topology.atoms[i as usize].element != OXYGEN);
        Self { atoms, oh: [None; 2], hh: None, angle: None }
    }

    fn settle(&self, topology: &Topology) -> std::result::Result<Settle, Problem> {
        let [o, h1, h2] = self.atoms;
        let problem = |what: &str| {
            let residue = &topology.residues[topology.atoms[o as usize].residue as usize];
            Problem::new(format!("water {} {} (atom {}) cannot be rigid: {what}", residue.name, residue.number, o + 1))
                .help("give the bonds of the water, or set rigid_water = false")
        };
        let [Some(oh), Some(other)] = self.oh else {
            return Err(problem("no O-H bond length is known"));
        };
        if !agree(oh, other) {
            return Err(problem("the two O-H bonds of the water differ in length"));
        }
        let from_angle = self.angle.map(|angle| 2.0 * oh * (0.5 * angle).sin());
        let Some(hh) = self.hh.or(from_angle) else {
            return Err(problem("neither an H-H bond nor an H-O-H angle is known"));
        };
        if !(oh > 0.0 && hh > 0.0 && hh < 2.0 * oh) {
            return Err(problem("the O-H and H-H lengths of the water do not form a triangle"));
        }
        Ok(Settle { atoms: [o, h1, h2], oh, hh })
    }
}

/// Collects the lengths and angles of all waters in one pass over the terms.
fn measure_waters(topology: &Topology, waters: &mut [Option<WaterShape>]) -> Result<()> {
    let residue = |atom: u32| topology.atoms[atom as usize].residue as usize;
    let constraints = topology.constraints.iter().map(|constraint| (constraint.atoms, constraint.length));
    for ([i, j], length) in topology.bonded.bond_lengths().chain(constraints) {
        if residue(i) != residue(j) {
            if let Some(water) = waters[residue(i)].as_ref().or(waters[residue(j)].as_ref()) {
                let message = format!("the water at atom {} is bonded to another residue", water.atoms[0] + 1);
                return Err(Problem::new(message).help("set rigid_water = false").into());
            }
            continue;
        }
        let Some(water) = &mut waters[residue(i)] else { continue };
        let [o, h1, h2] = water.atoms;
        let is = |a, b| [i, j] == [a, b] || [i, j] == [b, a];
        if is(o, h1) {
            water.oh[0] = Some(length);
        } else if is(o, h2) {
            water.oh[1] = Some(length);
        } else if is(h1, h2) {
            water.hh = Some(length);
        }
    }
    for ([a, vertex, b], angle) in topology.bonded.angle_values() {
        let Some(water) = &mut waters[residue(vertex)] else { continue };
        let [o, h1, h2] = water.atoms;
        if vertex == o && ([a, b] == [h1, h2] || [a, b] == [h2, h1]) {
            water.angle = Some(angle);
        }
    }
    Ok(())
}

/// Motion of the whole system that is removed from the velocities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum RemovedMotion {
    /// no motion is removed
    Nothing,
    /// the velocity of the center of mass is removed
    Translation,
    /// the velocity of the center of mass and the rotation about the center of mass are removed; for systems without a
    /// cell
    TranslationAndRotation,
}

/// Number of degrees of freedom, counted as in GROMACS: 3N minus the number of constraints minus the degrees of
/// freedom of the removed motion of the whole system.
///
/// The number N in 3N counts the atoms with mass. Removing the velocity of the center of mass removes 3 degrees of
/// freedom. Removing both the velocity and the rotation removes 6 degrees of freedom, or 5 for two atoms and 3 for one
/// atom.
pub fn degrees_of_freedom(topology: &Topology, constraints: &Constraints, removed: RemovedMotion) -> usize {
    let massive = topology.atoms.iter().filter(|a| a.mass > 0.0).count();
    let removed = match (removed, massive) {
        (RemovedMotion::Nothing, _) => 0,
        (RemovedMotion::Translation, _) | (RemovedMotion::TranslationAndRotation, 0 | 1) => 3,
        (RemovedMotion::TranslationAndRotation, 2) => 5,
        (RemovedMotion::TranslationAndRotation, _) => 6,
    };
    (3 * massive).saturating_sub(constraints.count() + removed)
}
