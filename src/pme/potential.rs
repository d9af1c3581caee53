//! What a mesh sums: Coulomb interactions, or dispersion (LJ-PME).

use std::f64::consts::PI;

use crate::term::Special;
use crate::units::COULOMB;

/// An interaction that is summed over all images, smooth at r = 0 by the Ewald splitting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshPotential {
    /// C q_i q_j erf(αr)/r, charges in e
    Coulomb,
    /// −c_i c_j (1 − g(αr))/r⁶ with g(x) = (1 + x² + x⁴/2) exp(−x²) and c = √c6 in kJ^½/mol^½ nm³ in place of charges (Essmann et
    /// al., J. Chem. Phys. 103, 8577 (1995), §IV; Wennberg et al., J. Chem. Theory Comput. 9, 3527 (2013))
    Dispersion,
}

impl MeshPotential {
    /// The constant factor: C in kJ nm/mol/e², or 1.
    pub fn constant(self) -> f64 {
        match self {
            MeshPotential::Coulomb => COULOMB,
            MeshPotential::Dispersion => 1.0,
        }
    }

    /// The Fourier transform T at m² = `squared` (1/nm²), with f (nm²) of the virial T (δ − f m⊗m).
    ///
    /// Coulomb: T = (C/π) exp(−b²)/m², f = 2(1 + b²)/m², with b = π|m|/α; zeros at m = 0, where the plasma term takes its
    /// place. Dispersion: T = −π^{3/2} α³/3 [(1 − 2b²) exp(−b²) + 2 √π b³ erfc(b)] = −π^{3/2} α³/3 t(b) and
    /// f = −t′(b)/t(b) b/m² = 6 (π/α)² [exp(−b²) − √π b erfc(b)]/t(b).
    #[inline]
    pub(super) fn transform(self, squared: f64, alpha: f64) -> (f64, f64) {
        let ratio = PI / alpha;
        let b2 = ratio * ratio * squared;
        let gaussian = (-b2).exp();
        match self {
            MeshPotential::Coulomb if squared == 0.0 => (0.0, 0.0),
            MeshPotential::Coulomb => (COULOMB / PI * gaussian / squared, 2.0 * (1.0 + b2) / squared),
            MeshPotential::Dispersion => {
                let b = b2.sqrt();
                let tail = PI.sqrt() * b * Special::erfc(b);
                let shape = (1.0 - 2.0 * b2) * gaussian + 2.0 * b2 * tail;
                // both terms cancel to 3 exp(−b²)/2b², and are zero where exp(−b²) is below the smallest number
                let virial = if shape > 0.0 { 6.0 * ratio * ratio * (gaussian - tail) / shape } else { 0.0 };
                (-PI.powf(1.5) / 3.0 * alpha.powi(3) * shape.max(0.0), virial)
            }
        }
    }

    /// The energy (kJ/mol) by which a mesh with these charges is too low or too high, as it counts each with itself:
    /// −C α/√π Σ q², or α⁶/12 Σ c6.
    pub fn self_energy(self, alpha: f64, charges: &[f64]) -> f64 {
        let squares = charges.iter().map(|q| q * q).sum::<f64>();
        match self {
            MeshPotential::Coulomb => -COULOMB * alpha / PI.sqrt() * squares,
            MeshPotential::Dispersion => alpha.powi(6) / 12.0 * squares,
        }
    }

    /// −C π Q²/(2 V α²) in kJ/mol: a net charge Q against its neutralising plasma in a cell of V nm³. Its virial is this
    /// energy times the unit matrix. Dispersion has no plasma: its mesh counts m = 0.
    pub fn plasma_energy(self, alpha: f64, charges: &[f64], volume: f64) -> f64 {
        match self {
            MeshPotential::Coulomb => {
                let net: f64 = charges.iter().sum();
                -COULOMB * PI * net * net / (2.0 * volume * alpha * alpha)
            }
            MeshPotential::Dispersion => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::dispersion_off_mesh;

    #[test]
    fn the_transform_is_that_of_the_potential() {
        // 4π ∫ V(r) r² sin(2πmr)/(2πmr) dr up to 40 nm; beyond, −r⁻⁶ has −4π/3r³ of it where m is zero, else next to nothing
        let (alpha, step) = (2.5, 2e-4);
        for wave in [0.0, 0.3, 1.1, 2.0] {
            let integral: f64 = (1..200_000)
                .map(|k| {
                    let r = f64::from(k) * step;
                    let phase = 2.0 * PI * wave * r;
                    let sinc = if phase == 0.0 { 1.0 } else { phase.sin() / phase };
                    -dispersion_off_mesh(1.0, r * r, 1.0 / (r * r), alpha).1 * 4.0 * PI * r * r * sinc * step
                })
                .sum();
            let tail = if wave == 0.0 { -4.0 * PI / (3.0 * 40f64.powi(3)) } else { 0.0 };
            let integral = integral + tail;
            let transform = MeshPotential::Dispersion.transform(wave * wave, alpha).0;
            let whole = MeshPotential::Dispersion.transform(0.0, alpha).0;
            assert!((integral - transform).abs() < 1e-6 * whole.abs(), "{wave}: {integral} {transform}");
        }
    }

    #[test]
    fn the_virial_factor_is_the_slope_of_the_transform() {
        for potential in [MeshPotential::Coulomb, MeshPotential::Dispersion] {
            for squared in [0.5, 2.0, 9.0, 30.0] {
                let at = |squared: f64| potential.transform(squared, 3.0).0.abs().ln();
                let h = 1e-5 * squared;
                let slope = (at(squared + h) - at(squared - h)) / (2.0 * h);
                let factor = potential.transform(squared, 3.0).1;
                assert!((factor / (-2.0 * slope) - 1.0).abs() < 1e-7, "{potential:?} {squared}: {factor} {slope}");
            }
        }
        // far beyond what a grid holds nothing is left
        assert_eq!(MeshPotential::Dispersion.transform(1e4, 3.0), (-0.0, 0.0));
    }
}
