//! Units in the attributes of trajectories: `angstrom/picosecond`, `kJ mol-1 nm-1`, `(Kcal/mol)/Angstrom`,
//! `kilojoules_per_mole/nanometer`.
//!
//! A unit is a product of names with integer exponents, separated by blanks. A slash divides by the name that
//! follows. Names may be capitalised or plural.

use crate::units::{ANGSTROM, KCAL};

/// Exponents of the dimensions of a unit, in the order length, time, energy, amount of substance, angle and step.
type Dimensions = [i32; 6];

const LENGTH: Dimensions = [1, 0, 0, 0, 0, 0];
const TIME: Dimensions = [0, 1, 0, 0, 0, 0];
/// Dimensions of kJ and kcal. In this module, the dimension "energy" is an energy per molecule, such as kJ/mol.
/// Therefore kJ has the dimensions energy times amount of substance.
const MOLAR: Dimensions = [0, 0, 1, 1, 0, 0];
const ENERGY: Dimensions = [0, 0, 1, 0, 0, 0];
const AMOUNT: Dimensions = [0, 0, 0, 1, 0, 0];
const ANGLE: Dimensions = [0, 0, 0, 0, 1, 0];
const STEP: Dimensions = [0, 0, 0, 0, 0, 1];

/// Energy of one electronvolt per molecule in kJ/mol: e N_A 10⁻³, exact in the SI of 2019.
const ELECTRONVOLT: f64 = 96.485_332_123_310_01;

/// Units: the names of each unit, the value of the unit in terms of nm, ps, kJ/mol and degrees, and its dimensions.
const NAMES: [(&[&str], f64, Dimensions); 17] = [
    (&["nm", "nanometer", "nanometre"], 1.0, LENGTH),
    (&["angstrom", "ångström", "ang", "a", "å"], ANGSTROM, LENGTH),
    (&["pm", "picometer", "picometre"], 1e-3, LENGTH),
    (&["um", "µm", "micrometer", "micrometre"], 1e3, LENGTH),
    (&["m", "meter", "metre"], 1e9, LENGTH),
    (&["ps", "picosecond"], 1.0, TIME),
    (&["fs", "femtosecond"], 1e-3, TIME),
    (&["ns", "nanosecond"], 1e3, TIME),
    (&["us", "µs", "microsecond"], 1e6, TIME),
    (&["s", "second"], 1e12, TIME),
    (&["kj", "kilojoule"], 1.0, MOLAR),
    (&["kcal", "kilocalorie"], KCAL, MOLAR),
    (&["ev", "electronvolt"], ELECTRONVOLT, ENERGY),
    (&["mol", "mole"], 1.0, AMOUNT),
    (&["degree", "deg", "°"], 1.0, ANGLE),
    (&["radian", "rad"], 180.0 / std::f64::consts::PI, ANGLE),
    (&["step"], 1.0, STEP),
];

/// A unit with a name in the table `NAMES`, or a product of such units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// value of the unit in terms of nm, ps, kJ/mol and degrees
    pub factor: f64,
    /// part of `factor` that comes from the units of length
    pub length: f64,
    dimensions: Dimensions,
}

impl Unit {
    /// Parses the text of a unit. Returns `None` if the unit is unknown.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase().replace("_per_", "/").replace(" per ", "/").replace(['*', '·'], " ");
        // LAMMPS writes energy units in brackets; brackets around other units are not in use
        let text = match text.strip_prefix('(') {
            Some(rest) => rest.replacen(')', "", 1),
            None => text,
        };
        let mut unit = Unit { factor: 1.0, length: 1.0, dimensions: [0; 6] };
        for (place, part) in text.split('/').enumerate() {
            let factors: Vec<&str> = part.split_whitespace().collect();
            // "kcal/mol nm" is ambiguous: nm could belong to the numerator or to the denominator
            if factors.is_empty() || (place > 0 && factors.len() > 1) {
                return None;
            }
            for factor in factors {
                unit.multiply(factor, if place > 0 { -1 } else { 1 })?;
            }
        }
        Some(unit)
    }

    /// Whether `self` and `other` are units of the same kind of quantity.
    pub fn is_like(&self, other: &Self) -> bool {
        self.dimensions == other.dimensions
    }

    /// Multiplies the unit by a unit name with an exponent. The exponent is multiplied by `sign`.
    fn multiply(&mut self, text: &str, sign: i32) -> Option<()> {
        let end = text.find(|c: char| c == '^' || c == '-' || c == '+' || c.is_ascii_digit()).unwrap_or(text.len());
        let (name, exponent) = text.split_at(end);
        let exponent = match exponent.trim_start_matches('^') {
            "" if exponent.is_empty() => 1,
            number => number.parse::<i32>().ok().filter(|number| number.abs() <= 3)?,
        };
        let find = |name: &str| NAMES.iter().find(|(names, ..)| names.contains(&name));
        let plural = || find(name.strip_suffix('s').filter(|singular| singular.chars().count() > 2)?);
        let (_, factor, dimensions) = find(name).or_else(plural)?;
        let power = factor.powi(sign * exponent);
        self.factor *= power;
        self.length *= if *dimensions == LENGTH { power } else { 1.0 };
        for (sum, dimension) in self.dimensions.iter_mut().zip(dimensions) {
            *sum += sign * exponent * dimension;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_programs_are_read() {
        for (text, factor, like) in [
            ("Angstrom", 0.1, "nm"),
            ("angstroms", 0.1, "nm"),
            ("\u{212b}", 0.1, "nm"),
            ("Å", 0.1, "nm"),
            ("A", 0.1, "nm"),
            ("nanometers", 1.0, "nm"),
            ("femtosecond", 1e-3, "ps"),
            ("Ns", 1e3, "ps"),
            ("angstrom/femtosecond", 100.0, "nm/ps"),
            ("nm ps-1", 1.0, "nm/ps"),
            ("Angstrom ps^-1", 0.1, "nm/ps"),
            ("nanometers/picosecond", 1.0, "nm/ps"),
            ("kilocalorie/mole/angstrom", 41.84, "kJ mol-1 nm-1"),
            ("(Kcal/mol)/Angstrom", 41.84, "kJ mol-1 nm-1"),
            ("kilojoules_per_mole/nanometer", 1.0, "kJ mol-1 nm-1"),
            ("eV/Angstrom", 964.853_321_233_1, "kJ mol-1 nm-1"),
            ("degrees", 1.0, "degree"),
            ("radian", 57.295_779_513_082_32, "degree"),
        ] {
            let (found, like) = (Unit::parse(text).unwrap(), Unit::parse(like).unwrap());
            assert!(found.is_like(&like) && (found.factor / factor - 1.0).abs() < 1e-12, "{text}: {found:?}");
        }
        // an energy per molecule and an energy per mole are different kinds of quantity
        assert!(!Unit::parse("kJ nm-1").unwrap().is_like(&Unit::parse("kJ mol-1 nm-1").unwrap()));
        for text in ["", "lj", "sigma", "nm/", "/ps", "kcal/mol nm", "nm^", "nm-", "nm99", "ss", "as"] {
            assert!(Unit::parse(text).is_none(), "{text}");
        }
    }
}
