//! Ryckaert–Bellemans torsions.

use super::{Dihedral, Real};
use crate::vec3::Vec3;

/// Ryckaert–Bellemans torsion E = Σ C_n cosⁿ ψ for n from 0 to 5, with ψ = φ − π, so that trans is 0, and C_n =
/// `coefficients` (kJ/mol). Returns the forces on i, j, k, l (kJ/mol/nm) and E.
///
/// Ryckaert & Bellemans, Chem. Phys. Lett. 30, 123 (1975). With cos ψ = −cos φ the slope is dE/dφ = sin φ Σ n C_n
/// cosⁿ⁻¹ ψ, which has no singularity.
#[inline(always)]
pub fn ryckaert_bellemans<T: Real>(displacements: [Vec3<T>; 3], coefficients: [T; 6]) -> ([Vec3<T>; 4], T) {
    let dihedral = Dihedral::new(displacements);
    let cosine = -dihedral.cosine;
    let (mut energy, mut slope) = (T::constant(0.0), T::constant(0.0));
    for n in 0..6 {
        slope = slope * cosine + energy;
        energy = energy * cosine + coefficients[5 - n];
    }
    (dihedral.forces(slope * dihedral.sine), energy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::dual::Dual;
    use crate::term::testing::{chain, check, check_finite, random};
    use crate::vec3::vec3;

    /// Coefficients C₀ to C₅ of butane from Ryckaert and Bellemans (1975), kJ/mol.
    const BUTANE: [f64; 6] = [9.2789, 12.1557, -13.1202, -3.0597, 26.2403, -31.4950];

    fn term([i, j, k, l]: [Vec3<Dual>; 4]) -> ([Vec3<Dual>; 4], Dual) {
        ryckaert_bellemans([i - j, k - j, l - k], BUTANE.map(Dual::constant))
    }

    #[test]
    fn force_is_the_gradient() {
        let mut random = random(7);
        for _ in 0..100 {
            check(chain(&mut random), term);
        }
    }

    #[test]
    fn collinear_atoms_give_finite_forces() {
        check_finite([0.0, 0.1, 0.2, 0.3].map(|a| vec3(a, 0.0, 0.0)), term);
    }

    #[test]
    fn energy_is_the_textbook_sum() {
        let mut random = random(8);
        for _ in 0..100 {
            let [i, j, k, l] = chain(&mut random);
            let displacements = [i - j, k - j, l - k];
            let psi = Dihedral::new(displacements).angle() - std::f64::consts::PI;
            let (_, energy) = ryckaert_bellemans(displacements, BUTANE);
            let expected: f64 = (0..6).map(|n| BUTANE[n as usize] * psi.cos().powi(n)).sum();
            assert!((energy - expected).abs() < 1e-13, "{psi}: {energy} against {expected}");
        }
    }
}
