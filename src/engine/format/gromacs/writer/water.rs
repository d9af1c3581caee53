//! Rigid waters for `[ settles ]` of GROMACS topologies.

use crate::system::Topology;

/// Relative difference below which two lengths count as equal. The tolerance allows for numbers in topology files that
/// are rounded to eight digits.
const SAME_LENGTH: f64 = 1e-6;

/// Distances between the atoms of a rigid water.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RigidWater {
    /// O–H distance, nm
    pub(super) oh: f64,
    /// H–H distance, nm
    pub(super) hh: f64,
    /// whether the distances come from bonded terms, so that a run may treat the water as flexible
    pub(super) by_terms: bool,
}

impl RigidWater {
    /// Returns the distances in a molecule that consists of one water. Returns `None` if the oxygen does not come
    /// before the hydrogens and all sites, if two of these atoms interact, or if a distance is unknown.
    pub(super) fn of(molecule: &Topology) -> Option<Self> {
        let in_order = molecule.atoms.iter().map(|atom| atom.element).take(3).eq([8, 1, 1]);
        // readers of `[ settles ]` exclude all pairs of the three atoms
        let excludes = |[i, j]: [u32; 2]| molecule.exclusions.of(i as usize).contains(&j);
        let are_excluded = || [[0, 1], [0, 2], [1, 2]].into_iter().all(excludes);
        if molecule.residues.len() != 1 || !in_order || !molecule.is_water(0) || !are_excluded() {
            return None;
        }
        let by_terms = molecule.constraints.is_empty();
        let lengths: Vec<([u32; 2], f64)> = match by_terms {
            true => molecule.bonded.bond_lengths().collect(),
            false => molecule.constraints.iter().map(|side| (side.atoms, side.length)).collect(),
        };
        let length = |i: u32, j: u32| {
            let mut found = lengths.iter().filter(|(atoms, _)| *atoms == [i, j] || *atoms == [j, i]);
            found.next().map(|(_, length)| *length)
        };
        let (oh, other) = (length(0, 1)?, length(0, 2)?);
        let angle = molecule.bonded.angle_values().find(|(atoms, _)| atoms[1] == 0).filter(|_| by_terms);
        let hh = length(1, 2).or(angle.map(|(_, angle)| 2.0 * oh * (0.5 * angle).sin()))?;
        let alike = if by_terms { (oh - other).abs() <= SAME_LENGTH * oh } else { oh == other && lengths.len() == 3 };
        (alike && hh > 0.0 && hh < 2.0 * oh).then_some(Self { oh, hh, by_terms })
    }
}
