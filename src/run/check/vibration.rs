//! Fastest vibration of a system, which limits the time step.
//!
//! Each bonded term is treated as a separate harmonic oscillator whose force constant k is the curvature at
//! equilibrium. A bond between masses m₁ and m₂ has the period 2π √(μ/k) with the reduced mass μ. An angle θ at j
//! between bonds of lengths a and b has the period 2π/√(k G) with Wilson's
//!
//! ```text
//! G = 1/(m_i a²) + 1/(m_k b²) + (1/a² + 1/b² − 2 cos θ/(a b))/m_j
//! ```
//!
//! (Wilson, Decius & Cross, Molecular Vibrations, 1955, §4-1). Coupled terms, for example in a flexible water with an
//! H–H spring, vibrate a little faster than the separate terms.

use std::f64::consts::TAU;

use crate::system::{System, Topology};

/// Harmonic vibration of one bonded term.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::run) struct Vibration {
    /// period of the vibration, ps
    pub(in crate::run) period: f64,
    /// 0-based indices of the atoms of the bonded term
    pub(in crate::run) atoms: Vec<u32>,
}

impl Vibration {
    /// Describes the vibration by the atoms of its bonded term, for example `the bond of atoms 1 (N of ALA 1), 2 (H1 of
    /// ALA 1)`.
    pub(in crate::run) fn describe(&self, topology: &Topology) -> String {
        let what = if self.atoms.len() == 2 { "bond" } else { "angle" };
        let atom = |&i: &u32| topology.numbered_name(i);
        let atoms: Vec<String> = self.atoms.iter().map(atom).collect();
        format!("the {what} of atoms {}", atoms.join(", "))
    }
}

/// Returns the vibration with the shortest period; `None` if there is no bonded term with a finite period. Before the
/// call, bonded terms between constrained atoms must have been removed from the system, because constrained atoms do
/// not vibrate.
pub(in crate::run) fn fastest(system: &System) -> Option<Vibration> {
    let terms = &system.topology.bonded;
    let mass = |i: u32| system.topology.atoms[i as usize].mass;
    let harmonic = terms.bonds.iter().chain(&terms.distances).chain(&terms.urey_bradleys);
    let stiffness = harmonic.map(|bond| (&bond.atoms, bond.force_constant));
    let stiffness = stiffness.chain(terms.g96_bonds.iter().map(|bond| (&bond.atoms, bond.curvature())));
    let stretch = stiffness.map(|(atoms, stiffness)| {
        let reduced_inverse: f64 = atoms.iter().map(|&i| 1.0 / mass(i)).sum();
        (stiffness * reduced_inverse, &atoms[..])
    });
    let lengths = Lengths::new(system);
    let stiffness = terms.angles.iter().map(|angle| (&angle.atoms, angle.angle, angle.force_constant));
    let stiffness =
        stiffness.chain(terms.g96_angles.iter().map(|angle| (&angle.atoms, angle.angle, angle.curvature())));
    let bend = stiffness.filter_map(|(atoms, angle, stiffness)| {
        let &[i, j, k] = atoms;
        let (a, b) = (lengths.of(i, j)?, lengths.of(j, k)?);
        let vertex = 1.0 / (a * a) + 1.0 / (b * b) - 2.0 * angle.cos() / (a * b);
        let inverse = 1.0 / (mass(i) * a * a) + 1.0 / (mass(k) * b * b) + vertex / mass(j);
        Some((stiffness * inverse, &atoms[..]))
    });
    // `fastest` has the largest squared angular frequency, 1/ps². Terms with virtual sites are skipped, because a
    // virtual site has no mass and the frequency would be infinite
    let fastest = stretch.chain(bend).filter(|(square, _)| square.is_finite()).max_by(|a, b| a.0.total_cmp(&b.0))?;
    (fastest.0 > 0.0).then(|| Vibration { period: TAU / fastest.0.sqrt(), atoms: fastest.1.to_vec() })
}

/// Length (nm) of each bond, constrained or not, with the indices of the two bonded atoms.
struct Lengths(Vec<([u32; 2], f64)>);

impl Lengths {
    fn new(system: &System) -> Self {
        let fixed = system.constraints.bonds.iter().map(|bond| (bond.atoms, bond.length));
        let mut lengths: Vec<_> = system
            .topology
            .bonded
            .bond_lengths()
            .chain(fixed)
            .map(|(atoms, length)| (ascending(atoms), length))
            .collect();
        lengths.sort_unstable_by_key(|(atoms, _)| *atoms);
        Lengths(lengths)
    }

    fn of(&self, i: u32, j: u32) -> Option<f64> {
        let place = self.0.binary_search_by_key(&ascending([i, j]), |(atoms, _)| *atoms).ok()?;
        Some(self.0[place].1).filter(|length| *length > 0.0)
    }
}

fn ascending([i, j]: [u32; 2]) -> [u32; 2] {
    [i.min(j), i.max(j)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{
        Angle, Atom, Bond, Constraint, Constraints, DispersionCorrection, Electrostatics, ForceSettings, G96Angle,
        G96Bond, ListPolicy, LjModifier, Modifier, Name, Nonbonded, Residue,
    };

    /// Creates a system of the atoms C, O, O on a straight line, without bonded terms.
    fn carbon_dioxide() -> System {
        let name = Name::new("CO2");
        let atom = |mass: f64| Atom { name, type_name: name, element: 6, mass, charge: 0.0, lj_type: 0, residue: 0 };
        let atoms = [12.011, 15.999, 15.999].map(atom).to_vec();
        let residues = vec![Residue { name, number: 1, first: 0 }];
        let settings = ForceSettings {
            cutoff: None,
            cutoff_lj: None,
            electrostatics: Electrostatics::Off,
            lj_modifier: LjModifier::None,
            coulomb_modifier: Modifier::None,
            dispersion_correction: DispersionCorrection::Off,
            list: ListPolicy::Exact { buffer: 0.1 },
        };
        System {
            topology: Topology { atoms, residues, ..Topology::default() },
            nonbonded: Nonbonded::default(),
            constraints: Constraints::default(),
            settings,
        }
    }

    #[test]
    fn periods_are_those_of_the_textbook() {
        let mut system = carbon_dioxide();
        assert_eq!(fastest(&system), None);
        let (length, k) = (0.116, 9e5);
        system.topology.bonded.bonds = vec![Bond { atoms: [0, 1], length, force_constant: k }];
        let found = fastest(&system).expect("a bond");
        let reduced = 12.011 * 15.999 / (12.011 + 15.999);
        assert!((found.period / (TAU * (reduced / k).sqrt()) - 1.0).abs() < 1e-12, "{found:?}");
        assert_eq!(found.describe(&system.topology), "the bond of atoms 1 (CO2 of CO2 1), 2 (CO2 of CO2 1)");
        // Landau & Lifshitz, Mechanics §24: a linear molecule with bond length l and force constant k of the angle
        // bends with ω² = 2 k (1/m_O + 2/m_C)/l²
        let angle = Angle { atoms: [1, 0, 2], angle: std::f64::consts::PI, force_constant: 4e5 };
        system.topology.bonded.angles = vec![angle];
        // the angle does not yet count as a vibration, because the length of the bond between atoms 0 and 2 is not
        // known; the constraint below sets this length
        assert_eq!(fastest(&system).expect("a bond").atoms.len(), 2);
        system.constraints.bonds = vec![Constraint { atoms: [0, 2], length }];
        let found = fastest(&system).expect("an angle");
        let square = 4e5 * (2.0 / 15.999 + 4.0 / 12.011) / (length * length);
        assert!((found.period / (TAU / square.sqrt()) - 1.0).abs() < 1e-12, "{found:?}");
        assert!(found.describe(&system.topology).starts_with("the angle of atoms 2 ("));
    }

    #[test]
    fn terms_of_gromos_vibrate_as_harmonic_ones_of_their_curvature() {
        let (length, angle, k) = (0.116, 2.0f64, 9e5);
        let harmonic = |system: &mut System| {
            let bonds = [[0, 1], [0, 2]].map(|atoms| Bond { atoms, length, force_constant: 1e3 });
            system.topology.bonded.bonds = bonds.to_vec();
        };
        let mut ours = carbon_dioxide();
        ours.topology.bonded.bonds = vec![Bond { atoms: [0, 1], length, force_constant: k }];
        let mut theirs = carbon_dioxide();
        // a quartic bond ¼ k' (r² − b²)² of length b has the expansion k' b² (r − b)² + … about r = b, which gives its
        // force constant k'
        let force_constant = k / (2.0 * length * length);
        theirs.topology.bonded.g96_bonds = vec![G96Bond { atoms: [0, 1], length, force_constant }];
        let period = |system: &System| fastest(system).expect("a vibration").period;
        assert!((period(&ours) / period(&theirs) - 1.0).abs() < 1e-12);
        harmonic(&mut ours);
        harmonic(&mut theirs);
        theirs.topology.bonded.g96_bonds.clear();
        ours.topology.bonded.angles = vec![Angle { atoms: [1, 0, 2], angle, force_constant: 4e3 }];
        // a cosine angle ½ k' (cos θ − cos θ₀)² has the expansion ½ k' sin² θ₀ (θ − θ₀)² + … about θ₀, which gives its
        // force constant k'
        let force_constant = 4e3 / (angle.sin() * angle.sin());
        theirs.topology.bonded.g96_angles = vec![G96Angle { atoms: [1, 0, 2], angle, force_constant }];
        assert_eq!(fastest(&theirs).expect("an angle").atoms.len(), 3);
        assert!((period(&ours) / period(&theirs) - 1.0).abs() < 1e-12);
    }
}
