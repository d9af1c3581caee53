//! Physical ranges of quantities. The ranges are wide enough for every model of matter, but so narrow that squares and
//! products of two quantities are finite even in single precision.
//!
//! [`Dimension::largest`] limits the values in an input file, and [`Range`] limits the parameters of a topology.

use super::{BAR, Dimension};

/// Largest coordinate, box edge and distance, nm: one millimetre, which is farther than any molecule diffuses in a
/// simulation. At this coordinate the resolution of `f64` is 1e-10 nm.
pub const FARTHEST: f64 = 1e6;
/// Longest simulated time, ps: one second. The longest known simulations reach milliseconds.
const LATEST: f64 = 1e12;
/// Longest wall-clock time, s: a century. The clock of the standard library does not overflow when times up to this
/// limit are added.
const WALL_TIME: f64 = 100.0 * 365.25 * 86400.0;
/// Highest temperature, K: hotter than the core of most stars.
const HOTTEST: f64 = 1e9;
/// Largest pressure, bar: a few times the pressure in the center of the Earth, 3.6e6 bar.
const PRESSURE: f64 = 1e7;
/// Largest mass, amu: the mass of a virus.
const HEAVIEST: f64 = 1e9;
/// Largest energy, kJ/mol: ten thousand times the energy of a chemical bond.
const ENERGY: f64 = 1e7;
/// Largest force, kJ/mol/nm, and force constant, kJ/mol/nm²: 10⁴ times the force constant of the stiffest chemical
/// bond.
const STIFFEST: f64 = 1e10;
/// Fastest atom, nm/ps: the speed of light.
pub const FASTEST: f64 = 299_792.458;
/// Highest rate or frequency, 1/ps: a period of 1 attosecond.
const RATE: f64 = 1e6;
/// Largest angle, rad. The limit allows an angular variable to rotate for a whole simulation.
const ANGLE: f64 = 1e6;
/// Largest inverse distance, 1/nm: the inverse size of an atomic nucleus.
const INVERSE_LENGTH: f64 = 1e6;

impl Dimension {
    /// Smallest accepted nonzero magnitude, in internal units. The reciprocal of this magnitude is finite in single
    /// precision.
    pub const SMALLEST: f64 = 1e-30;

    /// Returns the largest accepted magnitude, in internal units.
    pub fn largest(self) -> f64 {
        use Dimension as D;
        match self {
            D::Length => FARTHEST,
            D::InverseLength => INVERSE_LENGTH,
            D::Time => LATEST,
            D::WallTime => WALL_TIME,
            D::Rate | D::AngularVelocity => RATE,
            D::Mass => HEAVIEST,
            D::Temperature => HOTTEST,
            D::Energy => ENERGY,
            D::Force | D::ForceConstant | D::Torque | D::AngularForceConstant | D::EnergyRate => STIFFEST,
            D::Pressure => PRESSURE * BAR,
            // the largest pressure times a cell height of 1000 nm
            D::SurfaceTension => PRESSURE * BAR * 1e3,
            // compressibility of a gas at 1e-6 bar
            D::Compressibility => 1e6 / BAR,
            D::Angle => ANGLE,
            D::Velocity => FASTEST,
        }
    }
}

/// Physical range of a parameter of a topology, including its ends.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    what: &'static str,
    low: f64,
    high: f64,
    unit: &'static str,
}

impl Range {
    /// Range of the mass of an atom. Masses far below the mass of an electron, 5e-4 amu, are an error.
    pub const MASS: Self = Self { what: "mass", low: 1e-6, high: HEAVIEST, unit: "amu" };
    /// Range of the charge of an atom or of a coarse-grained particle, up to the charge of a colloid.
    pub const CHARGE: Self = Self::around("charge", 1e4, "e");
    /// Range of the product of two charges.
    pub const CHARGE_PRODUCT: Self = Self::around("product of charges", 1e8, "e²");
    /// Range of the Lennard-Jones coefficient of 1/r⁴, up to the coefficient of a particle of 10 nm.
    pub const C4: Self = Self::around("c4", 1e9, "kJ/mol nm⁴");
    /// Range of the Lennard-Jones coefficient of 1/r⁶, up to σ of 10 nm with ε of 100 kJ/mol.
    pub const C6: Self = Self::around("c6", 1e9, "kJ/mol nm⁶");
    /// Range of the Lennard-Jones coefficient of 1/r¹², up to σ of 10 nm with ε of 100 kJ/mol.
    pub const C12: Self = Self::around("c12", 1e15, "kJ/mol nm¹²");
    /// Range of the equilibrium length of a bond. The range includes bonds between large coarse-grained particles.
    pub const LENGTH: Self = Self { what: "length", low: 0.0, high: 1e3, unit: "nm" };
    /// Range of the length of a constraint; the minimum is the size of an atomic nucleus.
    pub const CONSTRAINT: Self = Self { low: 1e-5, ..Self::LENGTH };
    /// Range of the force constant of a term whose energy must have a minimum. Negative values are therefore refused.
    pub const STIFFNESS: Self = Self { what: "force constant", low: 0.0, high: STIFFEST, unit: "kJ/mol/nm²" };
    /// Range of the force constant of a harmonic distance. Negative values are allowed, because the term may correct
    /// other terms.
    pub const CORRECTION: Self = Self { low: -STIFFEST, ..Self::STIFFNESS };
    /// Range of the force constant of a quartic bond.
    pub const QUARTIC: Self = Self { unit: "kJ/mol/nm⁴", high: 1e12, ..Self::STIFFNESS };
    /// Range of an equilibrium angle of three atoms: at most 2π.
    pub const ANGLE: Self = Self { what: "angle", low: 0.0, high: 2.0 * std::f64::consts::PI, unit: "rad" };
    /// Range of an equilibrium torsion angle and of the phase of a torsion: at most 4π in magnitude.
    pub const TORSION: Self = Self::around("angle", 4.0 * std::f64::consts::PI, "rad");
    /// Range of a cosine or a sine.
    pub const COSINE: Self = Self::around("cosine or sine", 1.0, "");
    /// Range of the force constant of an angle.
    pub const ANGULAR: Self = Self { unit: "kJ/mol/rad²", ..Self::STIFFNESS };
    /// Range of the force constant of a harmonic torsion. Negative values are allowed, because the term may correct
    /// other terms.
    pub const ANGULAR_CORRECTION: Self = Self { low: -STIFFEST, ..Self::ANGULAR };
    /// Range of the periodicity of a torsion.
    pub const PERIODICITY: Self = Self { what: "periodicity", low: 0.0, high: 255.0, unit: "" };
    /// Range of the amplitude of a torsion or a correction map, of either sign, up to 25 times the energy of a chemical
    /// bond. The terms of one torsion partly cancel. With larger amplitudes the rounding error of the terms in single
    /// precision would exceed the sum of the terms.
    pub const AMPLITUDE: Self = Self::around("energy", 1e4, "kJ/mol");
    /// Range of a weight of a virtual site.
    pub const WEIGHT: Self = Self::around("weight", 1e3, "");
    /// Range of the distance of a virtual site from the first atom of its construction. With a negative distance the
    /// site is on the opposite side of the atom.
    pub const SITE_DISTANCE: Self = Self::around("distance", 1e3, "nm");
    /// Range of the coefficient of the cross product in the position of a virtual site.
    pub const CROSS: Self = Self::around("coefficient of the cross product", 1e3, "1/nm");

    /// Creates a range that is symmetric about zero.
    const fn around(what: &'static str, most: f64, unit: &'static str) -> Self {
        Self { what, low: -most, high: most, unit }
    }

    /// Returns the message for a value outside the range; `None` for a value inside.
    ///
    /// ```
    /// use md_engine::units::Range;
    /// assert_eq!(Range::CHARGE.refusal(-0.8), None);
    /// let message = Range::CHARGE.refusal(1e30).unwrap();
    /// assert_eq!(message, "the charge 1e30 e, outside the physical range of -10000 to 10000 e");
    /// ```
    pub fn refusal(&self, value: f64) -> Option<String> {
        let Self { what, low, high, unit } = *self;
        let blank = if unit.is_empty() { "" } else { " " };
        let shown = |value: f64| match value.abs() {
            magnitude if magnitude == 0.0 || (1e-4..1e7).contains(&magnitude) => value.to_string(),
            _ => format!("{value:e}"),
        };
        let (value_shown, low_shown, high_shown) = (shown(value), shown(low), shown(high));
        (!(low..=high).contains(&value)).then(|| {
            format!("the {what} {value_shown}{blank}{unit}, outside the physical range of {low_shown} to {high_shown}{blank}{unit}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_belong_to_the_range_and_what_is_no_number_does_not() {
        for range in [Range::CHARGE, Range::LENGTH, Range::CONSTRAINT, Range::ANGLE] {
            assert_eq!((range.refusal(range.low), range.refusal(range.high)), (None, None));
            for outside in [range.low - 1e-3, range.high * 1.001, f64::NAN, f64::INFINITY] {
                assert!(range.refusal(outside).is_some(), "{range:?} {outside}");
            }
        }
    }
}
