//! Switched Lennard-Jones interactions, which go to zero between two distances.

use super::Real;

/// A switch of the Lennard-Jones interaction between the distances r₁ and r_c (nm). A switch is evaluated only for r ≤
/// r_c.
#[derive(Clone, Copy, Debug)]
pub enum LjSwitch<T> {
    /// switch of the force
    Force(ForceSwitch<T>),
    /// switch of the potential
    Potential(PotentialSwitch<T>),
}

/// The force switch adds a polynomial to the force of r⁻ᵅ, so that the force and its derivative are continuous at r₁
/// and vanish at r_c (GROMACS reference manual, "Modified non-bonded interactions"). CHARMM's force fields are used
/// with the force switch. With t = max(r − r₁, 0):
///
/// F(r) = α/rᵅ⁺¹ + A t² + B t³,  V(r) = 1/rᵅ − A t³/3 − B t⁴/4 − C,
/// A = −α [(α + 4) r_c − (α + 1) r₁]/[r_cᵅ⁺² (r_c − r₁)²],  B = α [(α + 3) r_c − (α + 1) r₁]/[r_cᵅ⁺² (r_c − r₁)³],
/// C such that V(r_c) = 0. The constants A, B and C are stored for α = 6 and 12, divided by α.
#[derive(Clone, Copy, Debug)]
pub struct ForceSwitch<T> {
    /// switching distance r₁, nm
    pub from: T,
    /// coefficient A of (r − r₁)² in the force, divided by α, for the powers α = 6 and 12
    pub square: [T; 2],
    /// coefficient B of (r − r₁)³ in the force, divided by α, for the powers α = 6 and 12
    pub cube: [T; 2],
    /// constant C that makes the potential zero at the cutoff, divided by α, for the powers α = 6 and 12
    pub shift: [T; 2],
}

/// The potential switch multiplies the potential by S = 1 − 10x³ + 15x⁴ − 6x⁵, x = max(r − r₁, 0)/(r_c − r₁)
/// (OpenMM's switching function, GROMACS' Potential-switch).
#[derive(Clone, Copy, Debug)]
pub struct PotentialSwitch<T> {
    /// switching distance r₁, nm
    pub from: T,
    /// inverse width 1/(r_c − r₁) of the switching range, 1/nm
    pub inverse_width: T,
}

/// Switched radial functions r⁻ᵅ/α for α = 6 and 12: the potentials V, and the forces divided by the distance, f/r
/// (nm⁻⁸, nm⁻¹⁴). The interaction of a pair is −6 c6 times the function for α = 6, plus 12 c12 times the function for α
/// = 12.
#[derive(Clone, Copy, Debug)]
pub struct LjRadial<T> {
    /// force over distance, f/r
    pub force: [T; 2],
    /// switched potential V
    pub energy: [T; 2],
}

impl LjSwitch<f64> {
    /// Makes the force switch from `from` to `cutoff`, nm.
    pub fn force(from: f64, cutoff: f64) -> Self {
        LjSwitch::Force(ForceSwitch::new(from, cutoff))
    }

    /// Makes the potential switch from `from` to `cutoff`, nm.
    pub fn potential(from: f64, cutoff: f64) -> Self {
        LjSwitch::Potential(PotentialSwitch::new(from, cutoff))
    }

    /// Third derivative V‴ of the switched potential r⁻ᵅ/α at the cutoff (nm), for α = 6 and 12. V, V′ and V″ are zero
    /// at the cutoff.
    pub fn third_derivative(&self, cutoff: f64) -> [f64; 2] {
        [0, 1].map(|k| {
            let power = [6, 12][k];
            let alpha = f64::from(power);
            match *self {
                LjSwitch::Force(ForceSwitch { from, square, cube, .. }) => {
                    let curvature = (alpha + 1.0) * (alpha + 2.0) * cutoff.powi(-(power + 3));
                    -(curvature + 2.0 * square[k] + 6.0 * cube[k] * (cutoff - from))
                }
                // third derivative of the switching function S at the cutoff: S‴ = −60/(r_c − r₁)³
                LjSwitch::Potential(PotentialSwitch { inverse_width, .. }) => {
                    -60.0 * inverse_width.powi(3) * cutoff.powi(-power) / alpha
                }
            }
        })
    }

    /// The radial functions at a distance up to the cutoff, from r² (nm²) and 1/r.
    pub fn radial<T: Real>(&self, r2: T, inverse_r: T) -> LjRadial<T> {
        match self {
            LjSwitch::Force(switch) => switch.constant().radial(r2, inverse_r),
            LjSwitch::Potential(switch) => switch.constant().radial(r2, inverse_r),
        }
    }
}

impl ForceSwitch<f64> {
    /// Makes the switch from `from` to `cutoff`, nm.
    pub fn new(from: f64, cutoff: f64) -> Self {
        let width = cutoff - from;
        let scale = |power: i32| cutoff.powi(-(power + 2)) / (width * width);
        let square = [6, 12].map(|power| {
            let alpha = f64::from(power);
            -((alpha + 4.0) * cutoff - (alpha + 1.0) * from) * scale(power)
        });
        let cube = [6, 12].map(|power| {
            let alpha = f64::from(power);
            ((alpha + 3.0) * cutoff - (alpha + 1.0) * from) * scale(power) / width
        });
        let shift = [0, 1].map(|k| {
            let power = [6, 12][k];
            cutoff.powi(-power) / f64::from(power) - square[k] / 3.0 * width.powi(3) - cube[k] / 4.0 * width.powi(4)
        });
        ForceSwitch { from, square, cube, shift }
    }

    /// Converts the constants of the switch to another number type.
    #[inline(always)]
    pub fn constant<T: Real>(&self) -> ForceSwitch<T> {
        let pair = |[a, b]: [f64; 2]| [T::constant(a), T::constant(b)];
        let ForceSwitch { from, square, cube, shift } = *self;
        ForceSwitch { from: T::constant(from), square: pair(square), cube: pair(cube), shift: pair(shift) }
    }
}

impl PotentialSwitch<f64> {
    /// Makes the switch from `from` to `cutoff`, nm.
    pub fn new(from: f64, cutoff: f64) -> Self {
        PotentialSwitch { from, inverse_width: 1.0 / (cutoff - from) }
    }

    /// Converts the constants of the switch to another number type.
    #[inline(always)]
    pub fn constant<T: Real>(&self) -> PotentialSwitch<T> {
        PotentialSwitch { from: T::constant(self.from), inverse_width: T::constant(self.inverse_width) }
    }
}

/// Returns r⁻⁶, r⁻⁸, and the pair r⁻⁶/6 and r⁻¹²/12.
#[inline(always)]
fn powers<T: Real>(inverse_r: T) -> (T, T, [T; 2]) {
    let inverse2 = inverse_r * inverse_r;
    let inverse6 = inverse2 * inverse2 * inverse2;
    let (sixth, twelfth) = (T::constant(1.0 / 6.0), T::constant(1.0 / 12.0));
    (inverse6, inverse6 * inverse2, [inverse6 * sixth, inverse6 * inverse6 * twelfth])
}

impl<T: Real> ForceSwitch<T> {
    /// The radial functions at a distance up to the cutoff, from r² (nm²) and 1/r.
    #[inline(always)]
    pub fn radial(&self, r2: T, inverse_r: T) -> LjRadial<T> {
        let c = T::constant;
        let ForceSwitch { from, square, cube, shift } = *self;
        let (inverse6, inverse8, [sixth, twelfth]) = powers(inverse_r);
        let t = (r2 * inverse_r - from).positive_part();
        let (t2, t2_over_r) = (t * t, t * t * inverse_r);
        let added = [cube[0].mul_add(t, square[0]), cube[1].mul_add(t, square[1])];
        let (third, fourth) = (c(1.0 / 3.0), c(0.25));
        let integral =
            [(cube[0] * fourth).mul_add(t, square[0] * third), (cube[1] * fourth).mul_add(t, square[1] * third)];
        let t3 = t2 * t;
        LjRadial {
            force: [t2_over_r.mul_add(added[0], inverse8), inverse8.mul_add(inverse6, t2_over_r * added[1])],
            energy: [sixth - t3.mul_add(integral[0], shift[0]), twelfth - t3.mul_add(integral[1], shift[1])],
        }
    }
}

impl<T: Real> PotentialSwitch<T> {
    /// The radial functions at a distance up to the cutoff, from r² (nm²) and 1/r.
    #[inline(always)]
    pub fn radial(&self, r2: T, inverse_r: T) -> LjRadial<T> {
        let c = T::constant;
        let PotentialSwitch { from, inverse_width } = *self;
        let (inverse6, inverse8, [sixth, twelfth]) = powers(inverse_r);
        let x = ((r2 * inverse_r - from) * inverse_width).positive_part();
        // the switching function S is computed in powers of y = 1 − x, which avoids cancellation near the cutoff
        let y = c(1.0) - x;
        let y2 = y * y;
        let factor = y2 * y * c(6.0).mul_add(y, c(-15.0)).mul_add(y, c(10.0));
        let slope_over_r = c(30.0) * (x * x) * y2 * (inverse_width * inverse_r);
        LjRadial {
            force: [
                factor.mul_add(inverse8, slope_over_r * sixth),
                factor.mul_add(inverse8 * inverse6, slope_over_r * twelfth),
            ],
            energy: [factor * sixth, factor * twelfth],
        }
    }
}

impl<T: Real> LjRadial<T> {
    /// f/r (kJ/mol/nm²) and energy (kJ/mol) of a pair from 6 c6 (kJ/mol nm⁶) and 12 c12 (kJ/mol nm¹²).
    #[inline(always)]
    pub fn pair(&self, six_c6: T, twelve_c12: T) -> (T, T) {
        let minus = -six_c6;
        (
            twelve_c12.mul_add(self.force[1], minus * self.force[0]),
            twelve_c12.mul_add(self.energy[1], minus * self.energy[0]),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::dual::{Dual, dual};
    use crate::term::{inverse_norm, lennard_jones};

    const FROM: f64 = 1.0;
    const CUTOFF: f64 = 1.2;
    /// relative tolerance of the V‴ term of the Taylor series as an approximation at 10⁻³ nm from the cutoff, where the
    /// next term is a hundredth of the V‴ term
    const SERIES: f64 = 0.02;

    fn switches() -> [LjSwitch<f64>; 2] {
        [LjSwitch::force(FROM, CUTOFF), LjSwitch::potential(FROM, CUTOFF)]
    }

    fn pair<T: Real>(switch: &LjSwitch<f64>, r2: T) -> (T, T) {
        let radial = switch.radial(r2, inverse_norm(r2));
        radial.pair(T::constant(6.0 * 2.5e-3), T::constant(12.0 * 2.4e-6))
    }

    #[test]
    fn force_is_the_derivative() {
        for switch in switches() {
            for r in [0.25, 0.4, 0.9, 0.999, 1.001, 1.05, 1.1, 1.15, 1.199] {
                let (f, e) = pair(&switch, dual(r, 1.0) * dual(r, 1.0));
                let error = (f.value * r + e.slope).abs() / e.slope.abs();
                // tolerance for about ten rounding errors, which cancellation near the cutoff multiplies by about a
                // thousand
                assert!(error < 1e-11, "{switch:?} at {r}: {} against {}", f.value * r, -e.slope);
            }
        }
    }

    #[test]
    fn nothing_is_left_at_the_cutoff() {
        for switch in switches() {
            let (f, e) = pair::<Dual>(&switch, dual(CUTOFF, 1.0) * dual(CUTOFF, 1.0));
            let (plain_force, plain_energy) = lennard_jones(CUTOFF.powi(-2), 2.5e-3, 2.4e-6);
            assert!(f.value.abs() < 1e-13 * plain_force.abs(), "{switch:?}: force {}", f.value);
            assert!(f.slope.abs() < 1e-11 * plain_force.abs(), "{switch:?}: slope of the force {}", f.slope);
            assert!(e.value.abs() < 1e-13 * plain_energy.abs(), "{switch:?}: energy {}", e.value);
        }
    }

    #[test]
    fn forces_are_plain_before_the_switch() {
        let [force, potential] = switches();
        for r in [0.3, 0.7, FROM] {
            let (f, e) = lennard_jones(1.0 / (r * r), 2.5e-3, 2.4e-6);
            for switch in [force, potential] {
                assert!((pair(&switch, r * r).0 / f - 1.0).abs() < 1e-13);
            }
            assert!((pair(&potential, r * r).1 / e - 1.0).abs() < 1e-13);
        }
        // the force switch shifts the potential by the same amount at all distances below r₁
        let shift = |r: f64| lennard_jones(r.powi(-2), 2.5e-3, 2.4e-6).1 - pair(&force, r * r).1;
        assert!((shift(0.7) / shift(FROM) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_end_is_of_third_order() {
        for switch in switches() {
            let [sixth, twelfth] = switch.third_derivative(CUTOFF);
            let third = 12.0 * 2.4e-6 * twelfth - 6.0 * 2.5e-3 * sixth;
            let u: f64 = 1e-3;
            let energy = pair(&switch, (CUTOFF - u).powi(2)).1;
            assert!((energy / (-third * u.powi(3) / 6.0) - 1.0).abs() < SERIES, "{switch:?}: {energy}");
        }
    }
}
