//! Temperature groups: atoms that share a heat bath.

use crate::constraint::RemovedMotion;
use crate::error::Problem;
use crate::system::System;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// Temperature group of each atom, and number of degrees of freedom of each group. Group 0 contains all atoms that
/// are in no other group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TemperatureGroups {
    /// group of each atom; empty if all atoms are in group 0
    of_atom: Vec<u8>,
    degrees_of_freedom: Vec<f64>,
}

/// List of values with one value for each temperature group. Lists of up to four values need no heap memory.
pub type PerGroup<T> = SmallVec<[T; 4]>;

/// Maximum number of groups in addition to group 0.
pub const MOST_GROUPS: usize = u8::MAX as usize;

impl TemperatureGroups {
    /// Creates temperature groups from lists of atoms, one list for each group except group 0. Returns an error if an
    /// atom is in two groups, or if atoms connected by constraints are in different groups.
    ///
    /// The number of degrees of freedom of a group is three times its number of atoms with mass, minus its number of
    /// constraints. If motion of the whole system is removed, the removed degrees of freedom are subtracted from all
    /// groups in proportion to their numbers of degrees of freedom, as in GROMACS.
    pub fn new(system: &System, removed: RemovedMotion, groups: &[Vec<u32>]) -> Result<Self, Problem> {
        let (topology, constraints) = (&system.topology, &system.constraints);
        let total = crate::constraint::degrees_of_freedom(topology, constraints, removed) as f64;
        if groups.is_empty() {
            return Ok(TemperatureGroups { of_atom: vec![], degrees_of_freedom: vec![total] });
        }
        if groups.len() > MOST_GROUPS {
            return Err(Problem::new(format!("there are too many temperature groups ({})", groups.len()))
                .help(format!("at most {MOST_GROUPS} temperature groups are possible")));
        }
        let mut of_atom = vec![0u8; topology.atoms.len()];
        for (group, atoms) in (1u8..).zip(groups) {
            for &atom in atoms {
                let now = std::mem::replace(&mut of_atom[atom as usize], group);
                if now != 0 {
                    return Err(Problem::new(format!("atom {} is in temperature groups {now} and {group}", atom + 1))
                        .help("an atom can be in only one temperature group: make the selections disjoint"));
                }
            }
        }
        let mut free = vec![0.0; groups.len() + 1];
        for (atom, group) in topology.atoms.iter().zip(&of_atom) {
            free[usize::from(*group)] += if atom.mass > 0.0 { 3.0 } else { 0.0 };
        }
        let waters = constraints.settles.iter().map(|water| (&water.atoms[..], 3.0));
        for (atoms, count) in waters.chain(constraints.bonds.iter().map(|bond| (&bond.atoms[..], 1.0))) {
            let group = of_atom[atoms[0] as usize];
            if let Some(other) = atoms.iter().find(|&&atom| of_atom[atom as usize] != group) {
                let message = format!(
                    "a constraint connects atoms {} and {}, which are in different temperature groups",
                    atoms[0] + 1,
                    other + 1
                );
                return Err(Problem::new(message).help("select whole molecules, for example \"protein\" or \"water\""));
            }
            free[usize::from(group)] -= count;
        }
        let all: f64 = free.iter().sum();
        let share = if all > 0.0 { total / all } else { 0.0 };
        Ok(TemperatureGroups { of_atom, degrees_of_freedom: free.iter().map(|f| f * share).collect() })
    }

    /// Temperature groups of a subset of the atoms. The atoms are renumbered in the order of `atoms`. The degrees of
    /// freedom remain those of the whole system.
    pub fn part(&self, atoms: &[u32]) -> Self {
        let of_atom = atoms.iter().map(|&atom| self.of_atom(atom as usize) as u8).collect();
        TemperatureGroups { of_atom, degrees_of_freedom: self.degrees_of_freedom.clone() }
    }

    /// Temperature group of an atom.
    #[inline(always)]
    pub fn of_atom(&self, atom: usize) -> usize {
        self.of_atom.get(atom).map_or(0, |group| usize::from(*group))
    }

    /// Degrees of freedom of each temperature group. The list has at least one group.
    pub fn degrees_of_freedom(&self) -> &[f64] {
        &self.degrees_of_freedom
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepare::AtomSpec;
    use crate::system::{Constraint, LennardJones};
    use crate::vec3::vec3;

    /// System of four atoms, with a constraint between the last two.
    fn system() -> System {
        let mut builder = System::builder();
        builder.lj_type("X", LennardJones::from_sigma_epsilon(0.3, 1.0));
        for index in 0..4 {
            let position = vec3(0.5 * f64::from(index), 0.0, 0.0);
            builder.atom(AtomSpec { name: "X", element: 18, mass: 40.0, position, ..AtomSpec::default() });
        }
        let mut system = builder.build().unwrap().system;
        system.constraints.bonds = vec![Constraint { atoms: [2, 3], length: 0.5 }];
        system
    }

    #[test]
    fn degrees_of_freedom_are_shared() {
        let system = system();
        let all = TemperatureGroups::new(&system, RemovedMotion::Translation, &[]).unwrap();
        assert_eq!(all.degrees_of_freedom(), [8.0]);
        let groups = TemperatureGroups::new(&system, RemovedMotion::Translation, &[vec![2, 3], vec![1]]).unwrap();
        assert_eq!((0..4).map(|atom| groups.of_atom(atom)).collect::<Vec<_>>(), [0, 2, 1, 1]);
        // the groups have 3, 5 and 3 degrees of freedom, from which the 3 removed degrees of freedom of the whole
        // system are subtracted in proportion
        let expected = [3.0, 5.0, 3.0].map(|free| free * 8.0 / 11.0);
        assert!(groups.degrees_of_freedom().iter().zip(expected).all(|(free, wanted)| (free - wanted).abs() < 1e-12));
        let kept = TemperatureGroups::new(&system, RemovedMotion::Nothing, &[vec![1, 0]]).unwrap();
        assert_eq!(kept.degrees_of_freedom(), [5.0, 6.0]);
    }

    #[test]
    fn an_atom_has_one_group_and_constraints_stay_in_it() {
        let of = |groups: &[Vec<u32>]| TemperatureGroups::new(&system(), RemovedMotion::Nothing, groups);
        let twice = of(&[vec![0, 1], vec![1]]).expect_err("twice").to_string();
        assert!(twice.contains("atom 2 is in temperature groups 1 and 2"), "{twice}");
        let cut = of(&[vec![2]]).expect_err("cut").to_string();
        assert!(cut.contains("a constraint connects atoms 3 and 4"), "{cut}");
    }
}
