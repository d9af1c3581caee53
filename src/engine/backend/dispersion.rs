//! Long-range dispersion correction: Lennard-Jones energy and virial beyond the cutoff, for a uniform density.

use std::f64::consts::PI;

use crate::system::{DispersionCorrection, LjModifier, System};
use crate::term::LjSwitch;

/// The dispersion correction of a system as a function of the volume.
///
/// For N atoms in the volume V, with averages ⟨c⟩ over pairs and g(r) = 1 beyond the cutoff r_c, the tail of the r⁻⁶
/// term is E₆ = −2πN²⟨c6⟩/(3 V r_c³), and the tail of the r⁻¹² term is E₁₂ = 2πN²⟨c12⟩/(9 V r_c⁹) (Allen & Tildesley,
/// Computer Simulation of Liquids, §2.8).
///
/// A potential shift also raises the energy of every pair inside the cutoff. The correction subtracts the potential
/// shift for the 4πr_c³N/(3V) − 1 neighbours of each atom within the cutoff r_c (−1 because an atom is not its own
/// neighbour). With the shift, the correction of the r⁻⁶ term with the tail E₆ is 2E₆ + N⟨c6⟩/(2r_c⁶). With the shift,
/// the correction of the r⁻¹² term with the tail E₁₂ is 4E₁₂ − N⟨c12⟩/(2r_c¹²).
///
/// The r⁻⁴ term of 12-6-4 ions has the tail E₄ = −2πN²⟨c4⟩/(V r_c) beyond the cutoff r_c. With a potential shift, the
/// correction of the r⁻⁴ term with the tail E₄ is 4/3 E₄ + N⟨c4⟩/(2r_c⁴). The trace of the virial of the r⁻⁴ correction
/// is four times the tail E₄ of the r⁻⁴ term.
///
/// The virial W of the correction is the virial of the forces that the cutoff removes. With the tails E₆ and E₁₂ of the
/// r⁻⁶ and r⁻¹² terms, the trace is tr W = 6E₆ + 12E₁₂, with or without a shift. With a potential shift tr W equals −3V
/// dE/dV, where E is the energy of the correction.
///
/// With a switch the correction also contains the energy that the switch removes, 2πN²/V ∫ (U − U_switched) r² dr up to
/// the cutoff r_c, with the pair potential U and g(r) = 1. A force switch shifts the energy of all pairs closer than
/// the switching distance r₁ by the same amount. The correction for a switch leaves out the pair of an atom with
/// itself, as the correction for a potential shift does. With a switch, the energy is continuous at the cutoff, and the
/// trace of the virial W is −3V dE/dV.
#[derive(Clone, Copy, Debug, Default)]
pub struct DispersionTail {
    /// volume-dependent part of the energy (all but `constant`) times the volume, kJ/mol nm³
    energy: f64,
    /// each diagonal element of the virial times volume, kJ/mol nm³
    virial: f64,
    /// part of the energy that does not depend on the volume, kJ/mol
    constant: f64,
}

impl DispersionTail {
    /// Computes the correction for the Lennard-Jones modifier and the cutoff in the settings of the system. The
    /// correction is zero without a cutoff, and zero with LJ-PME.
    pub fn new(system: &System) -> Self {
        let settings = &system.settings;
        let Some(cutoff) = settings.cutoff_lj else { return Self::default() };
        let [c4, c6, c12] = match settings.dispersion_correction {
            DispersionCorrection::Off | DispersionCorrection::Pme(_) => return Self::default(),
            DispersionCorrection::AllPairs => average_over_all_pairs(system),
            DispersionCorrection::NonExcluded => [0.0, average_over_interacting_pairs(system), 0.0],
        };
        let atoms = system.topology.atoms.len() as f64;
        let sixth = -2.0 * PI * atoms * atoms * c6 / (3.0 * cutoff.powi(3));
        let twelfth = 2.0 * PI * atoms * atoms * c12 / (9.0 * cutoff.powi(9));
        if let Some((switch, from)) = settings.lj_switch().zip(settings.lj_modifier.switch_distance()) {
            let [[of_sixth, shift_6], [of_twelfth, shift_12]] = taken_by(&switch, from, cutoff);
            let taken = 2.0 * PI * atoms * atoms * (12.0 * c12 * of_twelfth - 6.0 * c6 * of_sixth);
            let energy = sixth + twelfth + taken;
            let constant = -0.5 * atoms * (12.0 * c12 * shift_12 - 6.0 * c6 * shift_6);
            return Self { energy, virial: energy, constant };
        }
        let fourth = -2.0 * PI * atoms * atoms * c4 / cutoff;
        let virial = 4.0 / 3.0 * fourth + 2.0 * sixth + 4.0 * twelfth;
        match settings.lj_modifier {
            LjModifier::PotentialShift => {
                let at_cutoff = c4 / cutoff.powi(4) + c6 / cutoff.powi(6) - c12 / cutoff.powi(12);
                let constant = 0.5 * atoms * at_cutoff;
                Self { energy: virial, virial, constant }
            }
            _ => Self { energy: fourth + sixth + twelfth, virial, constant: 0.0 },
        }
    }

    /// Returns the energy (kJ/mol) and each diagonal element of the virial (kJ/mol) at `volume` (nm³).
    pub fn at(&self, volume: f64) -> (f64, f64) {
        (self.energy / volume + self.constant, self.virial / volume)
    }
}

/// Returns two numbers for each of α = 6 and α = 12: the integral ∫ ΔV r² dr (nm³⁻ᵅ) up to the cutoff, and the constant
/// value of ΔV (nm⁻ᵅ) below the switching distance `from`. ΔV is the energy that a switch removes from r⁻ᵅ/α.
fn taken_by(switch: &LjSwitch<f64>, from: f64, cutoff: f64) -> [[f64; 2]; 2] {
    let missing = |r: f64| {
        let [sixth, twelfth] = switch.radial(r * r, 1.0 / r).energy;
        [r.powi(-6) / 6.0 - sixth, r.powi(-12) / 12.0 - twelfth]
    };
    let shift = missing(from);
    let width = (cutoff - from) / f64::from(INTERVALS);
    let mut taken = shift.map(|shift| shift * from.powi(3) / 3.0);
    for k in 0..=INTERVALS {
        let r = from + f64::from(k) * width;
        // Simpson's rule
        let weight = if k % INTERVALS == 0 { 1.0 } else { f64::from(2 + k % 2 * 2) };
        for (sum, missing) in taken.iter_mut().zip(missing(r)) {
            *sum += weight / 3.0 * width * missing * r * r;
        }
    }
    [0, 1].map(|k| [taken[k], shift[k]])
}

/// Number of intervals of Simpson's rule between the switching distance and the cutoff. The relative error of the
/// integral is 10⁻¹¹ if the switching distance is half the cutoff.
const INTERVALS: u32 = 1000;

/// Returns the sums of c4, c6 and c12 over all ordered pairs of atoms (self pairs included), and the sums over the self
/// pairs alone.
fn sums(system: &System) -> ([f64; 3], [f64; 3]) {
    let count: Vec<f64> = system.lj_type_counts().into_iter().map(|count| count as f64).collect();
    let (mut pairs, mut own) = ([0.0; 3], [0.0; 3]);
    for (a, &atoms_a) in count.iter().enumerate() {
        for (b, &atoms_b) in count.iter().enumerate() {
            let (c6, c12) = system.nonbonded.pair(a as u32, b as u32);
            let c4 = system.nonbonded.c4(a as u32, b as u32);
            for (power, c) in [c4, c6, c12].into_iter().enumerate() {
                pairs[power] += atoms_a * atoms_b * c;
                if a == b {
                    own[power] += atoms_a * c;
                }
            }
        }
    }
    (pairs, own)
}

/// Returns ⟨c4⟩, ⟨c6⟩ and ⟨c12⟩ over the N(N + 1)/2 unordered pairs, self pairs included, as OpenMM does.
fn average_over_all_pairs(system: &System) -> [f64; 3] {
    let atoms = system.topology.atoms.len() as f64;
    let (pairs, own) = sums(system);
    [0, 1, 2].map(|power| (pairs[power] + own[power]) / (atoms * (atoms + 1.0)).max(1.0))
}

/// Returns ⟨c6⟩ over the pairs of different atoms that are not excluded, as GROMACS does.
fn average_over_interacting_pairs(system: &System) -> f64 {
    let topology = &system.topology;
    let atoms = topology.atoms.len() as f64;
    let (pairs, own) = sums(system);
    let lj_type = |i: u32| topology.atoms[i as usize].lj_type;
    let excluded: f64 = topology.exclusions.pairs().map(|[i, j]| system.nonbonded.pair(lj_type(i), lj_type(j)).0).sum();
    let number = 0.5 * atoms * (atoms - 1.0) - topology.exclusions.len() as f64;
    if number > 0.0 { (0.5 * (pairs[1] - own[1]) - excluded) / number } else { 0.0 }
}
