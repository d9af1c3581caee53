//! The interaction that a mesh sums: Coulomb (PME), or dispersion (LJ-PME).

use std::f64::consts::PI;

use crate::term::Special;
use crate::units::COULOMB;

/// Interaction that a mesh sums over all images. The Ewald splitting makes the interaction smooth at r = 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshPotential {
    /// Coulomb: C q_i q_j erf(αr)/r, charges in e
    Coulomb,
    /// dispersion: −c_i c_j (1 − g(αr))/r⁶ with g(x) = (1 + x² + x⁴/2) exp(−x²), and c = √c6 in kJ^½/mol^½ nm³
    /// instead of charges (Essmann et al., J. Chem. Phys. 103, 8577 (1995), §IV; Wennberg et al., J. Chem. Theory
    /// Comput. 9, 3527 (2013))
    Dispersion,
}

/// Sums over the charges of a mesh, of which its self energy and its net charge follow. The charges are in e for
/// Coulomb, and √c6 in kJ^½/mol^½ nm³ for dispersion.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChargeSums {
    /// sum of the charges
    pub net: f64,
    /// sum of the squares of the charges
    pub squares: f64,
}

impl ChargeSums {
    /// Returns the sums over the given charges.
    pub fn of(charges: impl Iterator<Item = f64>) -> Self {
        charges.fold(Self::default(), |ChargeSums { net, squares }, charge| ChargeSums {
            net: net + charge,
            squares: squares + charge * charge,
        })
    }
}

impl MeshPotential {
    /// Returns the constant factor of the interaction: Coulomb's constant C in kJ nm/mol/e², or 1 for dispersion.
    pub fn constant(self) -> f64 {
        match self {
            MeshPotential::Coulomb => COULOMB,
            MeshPotential::Dispersion => 1.0,
        }
    }

    /// Returns the Fourier transform T of the interaction at the squared wave number m² = `squared` (1/nm²). `gaussian`
    /// is the value of [`gaussian`] at the same m². In the formulas b = π|m|/α.
    ///
    /// Coulomb: T = (C/π) exp(−b²)/m². The Coulomb transform T is zero at m = 0; [`MeshPotential::plasma_energy`]
    /// returns the energy of the term m = 0. Dispersion: T = −π^{3/2} α³/3 [(1 − 2b²) exp(−b²) + 2 √π b³ erfc(b)] =
    /// −π^{3/2} α³/3 t(b).
    #[inline(always)]
    pub fn transform(self, squared: f64, gaussian: f64, alpha: f64) -> f64 {
        match self {
            MeshPotential::Coulomb if squared == 0.0 => 0.0,
            MeshPotential::Coulomb => COULOMB / PI * gaussian / squared,
            MeshPotential::Dispersion => -PI.powf(1.5) / 3.0 * alpha.powi(3) * shape(squared, gaussian, alpha).max(0.0),
        }
    }

    /// Returns the factor f (nm²) of the virial T (δ − f m⊗m) at m² = `squared` (1/nm²): f = −2 dT/d(m²)/T, with the
    /// transform T of the interaction and the unit matrix δ.
    ///
    /// Coulomb: f = 2(1 + b²)/m² with b = π|m|/α; f is zero at m = 0. Dispersion: f = −t′(b)/t(b) b/m² = 6 (π/α)²
    /// [exp(−b²) − √π b erfc(b)]/t(b), with b = π|m|/α and t(b) from [`MeshPotential::transform`].
    #[inline(always)]
    pub fn virial_factor(self, squared: f64, alpha: f64) -> f64 {
        let ratio_squared = (PI / alpha).powi(2);
        match self {
            MeshPotential::Coulomb if squared == 0.0 => 0.0,
            MeshPotential::Coulomb => 2.0 * (1.0 / squared + ratio_squared),
            MeshPotential::Dispersion => {
                let gaussian = gaussian(squared, alpha);
                let shape = shape(squared, gaussian, alpha);
                // for large b the difference of both terms is 3 exp(−b²)/2b², which is zero if exp(−b²) is below the
                // smallest f64
                if shape > 0.0 { 6.0 * ratio_squared * (gaussian - tail(squared, alpha)) / shape } else { 0.0 }
            }
        }
    }

    /// Returns the self-energy correction (kJ/mol) of a mesh: −C α/√π Σ q² for Coulomb, or α⁶/12 Σ c6 for dispersion.
    /// The correction removes the interaction of each charge with itself, which the mesh includes.
    pub fn self_energy(self, alpha: f64, ChargeSums { squares, .. }: ChargeSums) -> f64 {
        match self {
            MeshPotential::Coulomb => -COULOMB * alpha / PI.sqrt() * squares,
            MeshPotential::Dispersion => alpha.powi(6) / 12.0 * squares,
        }
    }

    /// Returns the energy −C π Q²/(2 V α²) (kJ/mol) of a net charge Q and the plasma that neutralises it, in a cell of
    /// V nm³. The virial is this energy times the unit matrix. For dispersion the energy is zero: no plasma is needed,
    /// because the mesh includes the term m = 0.
    pub fn plasma_energy(self, alpha: f64, ChargeSums { net, .. }: ChargeSums, volume: f64) -> f64 {
        match self {
            MeshPotential::Coulomb => -COULOMB * PI * net * net / (2.0 * volume * alpha * alpha),
            MeshPotential::Dispersion => 0.0,
        }
    }
}

/// Returns the Gaussian exp(−b²) at m² = `squared` (1/nm²), with b = π|m|/α.
#[inline(always)]
pub fn gaussian(squared: f64, alpha: f64) -> f64 {
    (-(PI / alpha).powi(2) * squared).exp()
}

/// Returns √π b erfc(b) with b = π|m|/α at m² = `squared` (1/nm²).
fn tail(squared: f64, alpha: f64) -> f64 {
    let b = PI / alpha * squared.sqrt();
    PI.sqrt() * b * Special::erfc(b)
}

/// Returns the function t(b) in the Fourier transform of the dispersion ([`MeshPotential::transform`]).
fn shape(squared: f64, gaussian: f64, alpha: f64) -> f64 {
    let b2 = (PI / alpha).powi(2) * squared;
    (1.0 - 2.0 * b2) * gaussian + 2.0 * b2 * tail(squared, alpha)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::dispersion_off_mesh;

    fn transform(potential: MeshPotential, squared: f64, alpha: f64) -> f64 {
        potential.transform(squared, gaussian(squared, alpha), alpha)
    }

    #[test]
    fn the_transform_is_that_of_the_potential() {
        // the transform is compared with the integral 4π ∫ V(r) r² sin(2πmr)/(2πmr) dr up to 40 nm; larger r contribute
        // −4π/3r³ to the integral of −r⁻⁶ at m = 0, and a negligible amount at other m
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
            let [transform, whole] =
                [wave * wave, 0.0].map(|squared| transform(MeshPotential::Dispersion, squared, alpha));
            assert!((integral - transform).abs() < 1e-6 * whole.abs(), "{wave}: {integral} {transform}");
        }
    }

    #[test]
    fn the_virial_factor_is_the_slope_of_the_transform() {
        for potential in [MeshPotential::Coulomb, MeshPotential::Dispersion] {
            for squared in [0.5, 2.0, 9.0, 30.0] {
                let at = |squared: f64| transform(potential, squared, 3.0).abs().ln();
                let h = 1e-5 * squared;
                let slope = (at(squared + h) - at(squared - h)) / (2.0 * h);
                let factor = potential.virial_factor(squared, 3.0);
                assert!((factor / (-2.0 * slope) - 1.0).abs() < 1e-7, "{potential:?} {squared}: {factor} {slope}");
            }
        }
        // the transform underflows to zero far beyond the wave vectors of a grid
        assert_eq!(transform(MeshPotential::Dispersion, 1e4, 3.0), -0.0);
        assert_eq!(MeshPotential::Dispersion.virial_factor(1e4, 3.0), 0.0);
    }
}
