//! Long-range dispersion: the Lennard-Jones energy and virial beyond the cutoff, for a uniform density.

use std::f64::consts::PI;

use crate::system::{DispersionCorrection, Modifier, System};

/// The correction of a frozen system; only the volume is left open.
///
/// With ⟨c⟩ averaged over pairs of N atoms and g(r) = 1 beyond the cutoff r_c, the tails are
/// E₆ = −2πN²⟨c6⟩/(3 V r_c³) and E₁₂ = 2πN²⟨c12⟩/(9 V r_c⁹) (Allen & Tildesley, Computer Simulation of Liquids, §2.8).
/// A potential-shift has also lifted every pair inside the cutoff; giving that back for 4πr_c³N/(3V) − 1 neighbours each (the atom
/// itself is none) makes the totals 2E₆ + N⟨c6⟩/(2r_c⁶) and 4E₁₂ − N⟨c12⟩/(2r_c¹²).
/// The virial is that of the missing forces, tr W = 6E₆ + 12E₁₂, whatever the modifier; with the potential-shift it is −3V dE/dV.
#[derive(Clone, Copy, Debug, Default)]
pub struct DispersionTail {
    /// E₆ V, kJ/mol nm³
    sixth: f64,
    /// E₁₂ V, kJ/mol nm³
    twelfth: f64,
    /// the parts of the energy that E₆ and E₁₂ are counted with
    counted: [f64; 2],
    /// kJ/mol, whatever the volume
    constant: f64,
}

impl DispersionTail {
    /// For the mode and the cutoff of the system's settings; zero where there is no cutoff.
    pub fn new(system: &System) -> Self {
        let settings = &system.settings;
        let Some(cutoff) = settings.cutoff_lj else { return Self::default() };
        let (c6, c12) = match settings.dispersion_correction {
            DispersionCorrection::Off => return Self::default(),
            DispersionCorrection::AllPairs => average_over_all_pairs(system),
            DispersionCorrection::NonExcluded => (average_over_interacting_pairs(system), 0.0),
        };
        let atoms = system.topology.atoms.len() as f64;
        let sixth = -2.0 * PI * atoms * atoms * c6 / (3.0 * cutoff.powi(3));
        let twelfth = 2.0 * PI * atoms * atoms * c12 / (9.0 * cutoff.powi(9));
        match settings.lj_modifier {
            Modifier::None => Self { sixth, twelfth, counted: [1.0, 1.0], constant: 0.0 },
            Modifier::PotentialShift => Self {
                sixth,
                twelfth,
                counted: [2.0, 4.0],
                constant: 0.5 * atoms * (c6 / cutoff.powi(6) - c12 / cutoff.powi(12)),
            },
        }
    }

    /// Energy (kJ/mol) and each diagonal element of the virial (kJ/mol) at a volume in nm³.
    pub fn at(&self, volume: f64) -> (f64, f64) {
        let (sixth, twelfth) = (self.sixth / volume, self.twelfth / volume);
        (self.counted[0] * sixth + self.counted[1] * twelfth + self.constant, 2.0 * sixth + 4.0 * twelfth)
    }
}

/// Σ over ordered pairs of atoms (with themselves) and over atoms, of c6 and c12.
fn sums(system: &System) -> ([f64; 2], [f64; 2]) {
    let mut count = vec![0.0; system.nonbonded.types];
    for atom in &system.topology.atoms {
        count[atom.lj_type as usize] += 1.0;
    }
    let (mut pairs, mut own) = ([0.0; 2], [0.0; 2]);
    for (a, &atoms_a) in count.iter().enumerate() {
        for (b, &atoms_b) in count.iter().enumerate() {
            let (c6, c12) = system.nonbonded.pair(a as u32, b as u32);
            for (power, c) in [c6, c12].into_iter().enumerate() {
                pairs[power] += atoms_a * atoms_b * c;
                if a == b {
                    own[power] += atoms_a * c;
                }
            }
        }
    }
    (pairs, own)
}

/// ⟨c6⟩ and ⟨c12⟩ over the N(N + 1)/2 unordered pairs that count each atom with itself, as OpenMM does.
fn average_over_all_pairs(system: &System) -> (f64, f64) {
    let atoms = system.topology.atoms.len() as f64;
    let (pairs, own) = sums(system);
    let average = |power: usize| (pairs[power] + own[power]) / (atoms * (atoms + 1.0)).max(1.0);
    (average(0), average(1))
}

/// ⟨c6⟩ over the pairs of different atoms that are not excluded, as GROMACS does.
fn average_over_interacting_pairs(system: &System) -> f64 {
    let topology = &system.topology;
    let atoms = topology.atoms.len() as f64;
    let (pairs, own) = sums(system);
    let lj_type = |i: u32| topology.atoms[i as usize].lj_type;
    let excluded: f64 = topology.exclusions.pairs().map(|[i, j]| system.nonbonded.pair(lj_type(i), lj_type(j)).0).sum();
    let number = 0.5 * atoms * (atoms - 1.0) - topology.exclusions.len() as f64;
    if number > 0.0 { (0.5 * (pairs[0] - own[0]) - excluded) / number } else { 0.0 }
}
