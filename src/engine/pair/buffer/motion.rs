//! Atom classes for the buffer estimate: displacements of atoms by free flight or rotation, and sums of interaction
//! parameters over pairs of classes.

use crate::system::{Constraints, System, VirtualSite};
use std::collections::BTreeMap;

/// Bin width of charges, e. Atoms with charges in the same bin belong to one class, which has the mean charge of its
/// atoms.
const CHARGE_BIN: f64 = 0.1;

/// Atoms with the same motion and the same interactions.
#[derive(Clone)]
pub(super) struct Class {
    pub count: f64,
    /// mean charge, e
    pub charge: f64,
    pub lj_type: u32,
    pub motion: Motion,
}

/// Motion of an atom: free flight of a point mass, or free flight of a rigid group together with rotation about the
/// center of the group.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Motion {
    /// translating mass, amu: the mass of the group for atoms with constraints
    pub translating: f64,
    /// mass of the atom (amu) and its distance from the center of rotation (nm); only for atoms with constraints
    pub rotating: Option<(f64, f64)>,
}

impl Motion {
    /// Returns the variance (nm²) of the displacement along one direction after `time` (ps). At short times the
    /// rotational part equals the variance of free flight in two of three directions. At long times the rotational part
    /// approaches 2 r²/3, the variance of x₁ − x₂ for two random, independent points on a sphere of radius r.
    pub(super) fn variance(&self, kt: f64, time: f64) -> f64 {
        let free = kt * time * time / self.translating;
        let rotation = self.rotating.map_or(0.0, |(mass, radius)| {
            let square = radius * radius;
            2.0 / 3.0 * square * (1.0 - (-kt * time * time / (mass * square)).exp())
        });
        free + rotation
    }

    /// Returns an integer key that is equal for equal motions.
    fn key(&self) -> (u64, u64) {
        let rotating = self.rotating.unwrap_or((0.0, 0.0));
        let turning = (rotating.0 * 10.0).round() as u64 * 1000 + (rotating.1 * 200.0).round() as u64;
        ((self.translating * 10.0).round() as u64, turning)
    }
}

/// Sums of interaction parameters over all pairs in which one atom has the first motion and the other atom has the
/// second motion.
#[derive(Clone)]
pub(super) struct Pairs {
    pub motions: [Motion; 2],
    /// sums of C6 in kJ/mol nm⁶, C12 in kJ/mol nm¹² and C4 in kJ/mol nm⁴
    pub lj: [f64; 3],
    /// sum of the magnitudes of products of charges, e²
    pub charges: f64,
}

/// Returns sums of interaction parameters over all pairs of atoms, one element for each pair of motions.
pub(super) fn pairs(system: &System, classes: &[Class]) -> Vec<Pairs> {
    let mut found = BTreeMap::new();
    for (index, a) in classes.iter().enumerate() {
        for (other, b) in classes[..=index].iter().enumerate() {
            let count = if other == index { 0.5 * a.count * b.count } else { a.count * b.count };
            let mut motions = [a.motion, b.motion];
            motions.sort_by_key(Motion::key);
            let empty = Pairs { motions, lj: [0.0; 3], charges: 0.0 };
            let pairs = found.entry(motions.map(|motion| motion.key())).or_insert(empty);
            let (c6, c12) = system.nonbonded.pair(a.lj_type, b.lj_type);
            pairs.lj[0] += count * c6;
            pairs.lj[1] += count * c12;
            pairs.lj[2] += count * system.nonbonded.c4(a.lj_type, b.lj_type);
            pairs.charges += count * (a.charge * b.charge).abs();
        }
    }
    found.into_values().collect()
}

/// Returns the atoms of a system sorted into classes.
pub(super) fn classes(system: &System) -> Vec<Class> {
    let mut found: BTreeMap<(u32, i64, (u64, u64)), Class> = BTreeMap::new();
    let motions = motions(system);
    for (atom, motion) in system.topology.atoms.iter().zip(motions) {
        let key = (atom.lj_type, (atom.charge / CHARGE_BIN).round() as i64, motion.key());
        let class = found.entry(key).or_insert(Class { count: 0.0, charge: 0.0, lj_type: atom.lj_type, motion });
        class.count += 1.0;
        class.charge += (atom.charge - class.charge) / class.count;
    }
    found.into_values().collect()
}

/// Returns the motion of each atom. An atom flies freely, or is the light end of a constraint and rotates about the
/// center of its group. A virtual site that is a weighted average of atoms moves as if these atoms flew independently;
/// its effective mass is 1/Σ(w²/m), with the weights w and the masses m of the atoms.
pub(super) fn motions(system: &System) -> Vec<Motion> {
    let mass = |i: u32| system.topology.atoms[i as usize].mass;
    let mut motions: Vec<Motion> =
        system.topology.atoms.iter().map(|atom| Motion { translating: atom.mass, rotating: None }).collect();
    let mut hold = |light: u32, heavy: u32, length: f64| {
        let group = mass(light) + mass(heavy);
        let radius = length * mass(heavy) / group;
        motions[light as usize] = Motion { translating: group, rotating: Some((mass(light), radius)) };
    };
    let Constraints { settles, bonds, .. } = &system.constraints;
    for settle in settles {
        let [oxygen, first, second] = settle.atoms;
        hold(first, oxygen, settle.oh);
        hold(second, oxygen, settle.oh);
    }
    for bond in bonds {
        let [i, j] = bond.atoms;
        // if both ends of a constraint have similar masses, free flight is the conservative estimate
        if mass(i) < 0.5 * mass(j) {
            hold(i, j, bond.length);
        } else if mass(j) < 0.5 * mass(i) {
            hold(j, i, bond.length);
        }
    }
    // masses of atoms and effective masses of virtual sites
    let mut masses: Vec<f64> = system.topology.atoms.iter().map(|atom| atom.mass).collect();
    for VirtualSite { site, construction } in &system.topology.virtual_sites {
        let (site, mass) = (*site as usize, |atom: u32| masses[atom as usize]);
        (motions[site], masses[site]) = match construction.average() {
            Some((atoms, weights)) => {
                let inverse =
                    atoms.iter().zip(weights).map(|(&atom, weight)| weight * weight / mass(atom)).sum::<f64>();
                (Motion { translating: 1.0 / inverse, rotating: None }, 1.0 / inverse)
            }
            // a virtual site that is not a weighted average moves like the lightest of its constructing atoms
            None => {
                let lightest = construction.atoms().iter().min_by(|&&a, &&b| mass(a).total_cmp(&mass(b)));
                lightest.map_or((motions[site], 0.0), |&atom| (motions[atom as usize], mass(atom)))
            }
        };
    }
    motions
}
