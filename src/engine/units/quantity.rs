//! Quantities with units as text, such as `"2 fs"`, `"0.9 nm"`, `"1 bar"`.
//!
//! A quantity is a number, optional blanks, and a unit from the table of its [`Dimension`]. No dimension has a default
//! unit. A number without a unit, an unknown unit, and a unit of another dimension give three different error messages.

use super::{ANGSTROM, BAR, KCAL};
use crate::error::Problem;

/// Physical dimension of a quantity. The dimension determines the accepted units and the internal unit of the parsed
/// value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dimension {
    /// length, nm
    Length,
    /// inverse length, 1/nm
    InverseLength,
    /// simulated time, ps
    Time,
    /// rate or frequency, 1/ps
    Rate,
    /// wall-clock time, s
    WallTime,
    /// mass, amu
    Mass,
    /// temperature, K
    Temperature,
    /// molar energy, kJ/mol
    Energy,
    /// force, kJ/mol/nm
    Force,
    /// harmonic force constant, kJ/mol/nm²
    ForceConstant,
    /// energy drift, kJ/mol/ps
    EnergyRate,
    /// pressure, kJ/mol/nm³
    Pressure,
    /// surface tension, kJ/mol/nm²
    SurfaceTension,
    /// compressibility, nm³/(kJ/mol)
    Compressibility,
    /// angle, rad
    Angle,
    /// velocity, nm/ps
    Velocity,
    /// angular velocity, rad/ps
    AngularVelocity,
    /// torque, kJ/mol/rad
    Torque,
    /// force constant of an angle, kJ/mol/rad²
    AngularForceConstant,
}

use Dimension::{
    Angle, AngularForceConstant, AngularVelocity, Compressibility, Energy, EnergyRate, Force, ForceConstant,
    InverseLength, Length, Mass, Pressure, Rate, SurfaceTension, Temperature, Time, Torque, Velocity, WallTime,
};

/// Table of units: spelling, dimension, and size of the unit in internal units. Messages recommend the first unit of
/// each dimension.
const UNITS: &[(&str, Dimension, f64)] = &[
    ("nm", Length, 1.0),
    ("A", Length, ANGSTROM),
    ("Å", Length, ANGSTROM),
    ("pm", Length, 1e-3),
    ("1/nm", InverseLength, 1.0),
    ("nm^-1", InverseLength, 1.0),
    ("1/A", InverseLength, 1.0 / ANGSTROM),
    ("A^-1", InverseLength, 1.0 / ANGSTROM),
    ("1/ps", Rate, 1.0),
    ("ps^-1", Rate, 1.0),
    ("1/fs", Rate, 1e3),
    ("1/ns", Rate, 1e-3),
    ("ps", Time, 1.0),
    ("fs", Time, 1e-3),
    ("ns", Time, 1e3),
    ("us", Time, 1e6),
    ("µs", Time, 1e6),
    ("ms", Time, 1e9),
    ("s", WallTime, 1.0),
    ("min", WallTime, 60.0),
    ("h", WallTime, 3600.0),
    ("d", WallTime, 86400.0),
    ("amu", Mass, 1.0),
    ("u", Mass, 1.0),
    ("Da", Mass, 1.0),
    ("g/mol", Mass, 1.0),
    ("K", Temperature, 1.0),
    ("kJ/mol", Energy, 1.0),
    ("kcal/mol", Energy, KCAL),
    ("kJ/mol/nm", Force, 1.0),
    ("kcal/mol/A", Force, KCAL / ANGSTROM),
    ("kJ/mol/nm^2", ForceConstant, 1.0),
    ("kJ/mol/nm²", ForceConstant, 1.0),
    ("kcal/mol/A^2", ForceConstant, KCAL / (ANGSTROM * ANGSTROM)),
    ("kcal/mol/Å²", ForceConstant, KCAL / (ANGSTROM * ANGSTROM)),
    ("kJ/mol/ps", EnergyRate, 1.0),
    ("kJ/mol/ns", EnergyRate, 1e-3),
    ("kcal/mol/ns", EnergyRate, 1e-3 * KCAL),
    ("bar", Pressure, BAR),
    // by definition a standard atmosphere is 1.01325 bar, and a pascal is 1e-5 bar
    ("atm", Pressure, 1.013_25 * BAR),
    ("Pa", Pressure, 1e-5 * BAR),
    ("kPa", Pressure, 1e-2 * BAR),
    ("MPa", Pressure, 10.0 * BAR),
    ("kJ/mol/nm^3", Pressure, 1.0),
    // 1 bar nm = 10⁵ Pa · 10⁻⁹ m = 0.1 mN/m
    ("mN/m", SurfaceTension, 10.0 * BAR),
    ("dyn/cm", SurfaceTension, 10.0 * BAR),
    ("bar nm", SurfaceTension, BAR),
    ("kJ/mol/nm^2", SurfaceTension, 1.0),
    ("1/bar", Compressibility, 1.0 / BAR),
    ("bar^-1", Compressibility, 1.0 / BAR),
    ("1/atm", Compressibility, 1.0 / (1.013_25 * BAR)),
    ("1/Pa", Compressibility, 1e5 / BAR),
    ("nm^3/(kJ/mol)", Compressibility, 1.0),
    ("deg", Angle, std::f64::consts::PI / 180.0),
    ("rad", Angle, 1.0),
    ("nm/ns", Velocity, 1e-3),
    ("nm/ps", Velocity, 1.0),
    ("A/ns", Velocity, 1e-3 * ANGSTROM),
    ("A/ps", Velocity, ANGSTROM),
    ("m/s", Velocity, 1e-3),
    ("deg/ns", AngularVelocity, 1e-3 * std::f64::consts::PI / 180.0),
    ("deg/ps", AngularVelocity, std::f64::consts::PI / 180.0),
    ("rad/ns", AngularVelocity, 1e-3),
    ("rad/ps", AngularVelocity, 1.0),
    ("kJ/mol/rad", Torque, 1.0),
    ("kcal/mol/rad", Torque, KCAL),
    ("kJ/mol/rad^2", AngularForceConstant, 1.0),
    ("kJ/mol/rad²", AngularForceConstant, 1.0),
    ("kcal/mol/rad^2", AngularForceConstant, KCAL),
    ("kcal/mol/rad²", AngularForceConstant, KCAL),
];

impl Dimension {
    /// Returns the name of the dimension in plain words with an article, for messages and help.
    pub fn name(self) -> &'static str {
        match self {
            Length => "a length",
            InverseLength => "an inverse length",
            Time => "a time",
            Rate => "a rate",
            WallTime => "a wall-clock time",
            Mass => "a mass",
            Temperature => "a temperature",
            Energy => "an energy",
            Force => "a force",
            ForceConstant => "a force constant",
            EnergyRate => "an energy per time",
            Pressure => "a pressure",
            SurfaceTension => "a surface tension",
            Compressibility => "a compressibility",
            Angle => "an angle",
            Velocity => "a velocity",
            AngularVelocity => "an angular velocity",
            Torque => "a torque",
            AngularForceConstant => "a force constant of an angle",
        }
    }

    /// Returns a valid quantity with a usual value, as an example for the user.
    pub fn example(self) -> &'static str {
        match self {
            Length => "0.9 nm",
            InverseLength => "3.1 1/nm",
            Time => "10 ps",
            Rate => "1 1/ps",
            WallTime => "5 min",
            Mass => "1.008 amu",
            Temperature => "300 K",
            Energy => "1 kJ/mol",
            Force => "10 kJ/mol/nm",
            ForceConstant => "1000 kJ/mol/nm^2",
            EnergyRate => "0.005 kJ/mol/ps",
            Pressure => "1 bar",
            SurfaceTension => "20 mN/m",
            Compressibility => "4.5e-5 1/bar",
            Angle => "90 deg",
            Velocity => "1 nm/ns",
            AngularVelocity => "1 deg/ns",
            Torque => "10 kJ/mol/rad",
            AngularForceConstant => "100 kJ/mol/rad^2",
        }
    }

    /// Returns the accepted units, beginning with the recommended unit.
    pub fn units(self) -> impl Iterator<Item = &'static str> {
        UNITS.iter().filter(move |unit| unit.1 == self).map(|unit| unit.0)
    }

    /// Parses `text` and returns the value in internal units. For an invalid text, returns a problem without a
    /// location, whose help text names the accepted units.
    ///
    /// ```
    /// use md_engine::units::Dimension;
    /// assert_eq!(Dimension::Length.parse("9 A").unwrap(), 0.9);
    /// assert!(Dimension::Length.parse("9").is_err());
    /// ```
    pub fn parse(self, text: &str) -> Result<f64, Problem> {
        let value = self.read(text)?;
        let size = value.abs();
        // NaN is outside of the range
        match size == 0.0 || (Self::SMALLEST..=self.largest()).contains(&size) {
            true => Ok(value),
            false => Err(self.beyond(text, size)),
        }
    }

    /// Parses `text` as [`Self::parse`] does, but without checking the physical range.
    fn read(self, text: &str) -> Result<f64, Problem> {
        let (number, unit) = split(text);
        let Ok(value) = number.parse::<f64>() else {
            return Err(self.problem(format!("\"{text}\" does not start with a number; expected {}", self.name())));
        };
        if unit.is_empty() {
            return Err(self.bare(number));
        }
        let mut meanings = UNITS.iter().filter(|known| known.0 == unit).peekable();
        if let Some(known) = meanings.clone().find(|known| known.1 == self) {
            return Ok(value * known.2);
        }
        Err(self.problem(match meanings.peek() {
            Some(other) => format!("\"{unit}\" measures {}; expected {}", other.1.name(), self.name()),
            None => format!("unknown unit \"{unit}\"; expected {}", self.name()),
        }))
    }

    /// Writes `value`, in internal units, as text that [`Self::parse`] reads back to the same value, with as few
    /// digits as possible.
    ///
    /// ```
    /// use md_engine::units::Dimension;
    /// assert_eq!(Dimension::Length.spell(0.9), "0.9 nm");
    /// assert_eq!(Dimension::Time.spell(0.002), "2 fs");
    /// ```
    pub fn spell(self, value: f64) -> String {
        self.spell_by(value, |read| read == value)
    }

    /// Writes `value` for a message, without the digits that stem from rounding errors of its computation.
    ///
    /// ```
    /// use md_engine::units::Dimension;
    /// assert_eq!(Dimension::Time.show(200.0 * (2.0001 * 1e-3)), "0.40002 ps");
    /// ```
    pub fn show(self, value: f64) -> String {
        self.spell_by(value, |read| (read - value).abs() <= ROUNDING * value.abs())
    }

    /// Writes `value` with as few digits as possible, such that `is_exact` accepts the value read back. Some values
    /// cannot be written exactly in the usual unit, because the product of a number and the size of the unit is
    /// rounded. A value without an exact form is written in the internal unit, whose size is 1.
    pub fn spell_by(self, value: f64, is_exact: impl Fn(f64) -> bool) -> String {
        let short = self == Time && value.abs() < SHORT;
        let usual = self.example().split_once(' ').map_or("", |(_, unit)| unit);
        let usual = if short { "fs" } else { usual };
        let own = |unit: &&(_, Dimension, f64)| unit.1 == self;
        let usual = UNITS.iter().filter(own).find(|unit| unit.0 == usual).expect("examples use units of the table");
        let internal =
            UNITS.iter().filter(own).find(|unit| unit.2 == 1.0).expect("every dimension has a unit of size 1");
        let with_digits = |unit: &(&str, _, f64), digits| format!("{} {}", rounded(value / unit.2, digits), unit.0);
        let mut spellings = [usual, internal].into_iter().flat_map(|unit| (1..=DIGITS).map(|n| with_digits(unit, n)));
        let exact = spellings.find(|text| self.read(text).is_ok_and(&is_exact));
        exact.unwrap_or_else(|| with_digits(internal, DIGITS))
    }

    /// Returns the problem for a number without a unit. The help text of the problem shows `number` with the
    /// recommended unit.
    pub fn bare(self, number: &str) -> Problem {
        let usual = self.example().split_once(' ').map_or("", |(_, unit)| unit);
        let message = format!("missing unit: {} must be written as text with its unit", self.name());
        Problem::new(message).help(format!("write \"{number} {usual}\"; accepted units: {}", self.unit_list()))
    }

    /// Returns the problem for a magnitude (in internal units) outside the physical range.
    fn beyond(self, text: &str, size: f64) -> Problem {
        let bound = match size < Self::SMALLEST {
            true => format!("the magnitude must be at least {}, or zero", self.spell(Self::SMALLEST)),
            false => format!("the magnitude must be at most {}", self.spell(self.largest())),
        };
        let message = format!("\"{text}\" is outside the physical range of {}: {bound}", self.name());
        Problem::new(message).help(format!("for example \"{}\"", self.example()))
    }

    fn problem(self, message: String) -> Problem {
        Problem::new(message).help(format!("for example \"{}\"; accepted units: {}", self.example(), self.unit_list()))
    }

    fn unit_list(self) -> String {
        self.units().collect::<Vec<_>>().join(", ")
    }
}

/// Times below this limit (ps), such as time steps, are written in femtoseconds.
const SHORT: f64 = 0.1;
/// Relative rounding error of a product of a few factors: several rounding errors of 1.1e-16 each.
const ROUNDING: f64 = 1e-15;
/// Number of decimal digits that distinguish all `f64` values.
const DIGITS: usize = 17;

/// Formats a number with `digits` significant digits and no trailing zeros. The exponential form is used if this form
/// is shorter.
fn rounded(value: f64, digits: usize) -> String {
    let exponential = format!("{value:.*e}", digits.saturating_sub(1));
    // a formatted number can always be parsed
    let value = exponential.parse().unwrap_or(value);
    let [plain, exponential] = [format!("{value}"), format!("{value:e}")];
    if exponential.len() + 1 < plain.len() { exponential } else { plain }
}

/// Splits `text` after its leading number, and drops blanks around both parts. The number part may be malformed.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let bytes = text.as_bytes();
    let digits = |from: usize| from + bytes[from..].iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
    let signed = |from: usize| from + usize::from(matches!(bytes.get(from), Some(b'+' | b'-')));
    let mut end = digits(signed(0));
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let exponent = signed(end + 1);
        let after = digits(exponent);
        if after > exponent {
            end = after;
        }
    }
    let (number, unit) = text.split_at(end);
    (number, unit.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_documented_spelling_has_its_value() {
        let table = [
            (Time, "2 fs", 0.002),
            (Time, "2fs", 0.002),
            (Time, "1 ns", 1000.0),
            (Time, " 1.5e1  µs ", 1.5e7),
            (Length, "0.9 nm", 0.9),
            (Length, "9 A", 0.9),
            (Length, "9 Å", 0.9),
            (Length, "-1.E-1 nm", -0.1),
            (InverseLength, "3.1 1/nm", 3.1),
            (InverseLength, "0.31 1/A", 3.1),
            (Temperature, "300 K", 300.0),
            (Energy, "1 kcal/mol", 4.184),
            // 1 bar = 1e5 Pa = 0.0602214076 kJ/mol/nm³ is exact, because the SI defines the Avogadro constant
            (Pressure, "1 bar", 0.060_221_407_6),
            (Pressure, "1 atm", 0.061_019_341_250_7),
            (Pressure, "101325 Pa", 0.061_019_341_250_7),
            (Compressibility, "4.5e-5 1/bar", 4.5e-5 / 0.060_221_407_6),
            (EnergyRate, "0.005 kJ/mol/ps", 0.005),
            (EnergyRate, "5 kJ/mol/ns", 0.005),
            (Mass, "1.008 amu", 1.008),
            (Force, "1 kcal/mol/A", 41.84),
            (WallTime, "5 min", 300.0),
            (WallTime, "1.5 h", 5400.0),
        ];
        for (dimension, text, expected) in table {
            let value = dimension.parse(text).unwrap_or_else(|problem| panic!("{text}: {problem}"));
            assert!((value - expected).abs() <= ROUNDING * expected.abs(), "{text}: {value} != {expected}");
        }
    }

    #[test]
    fn every_example_is_accepted_and_uses_the_first_unit() {
        for unit in UNITS {
            assert!(unit.1.parse(unit.1.example()).is_ok(), "{:?}", unit.1);
        }
    }

    #[test]
    fn values_are_spelled_as_people_write_them() {
        let spelled = [
            (Length, 0.7, "0.7 nm"),
            (Length, 8.0 / 10.0, "0.8 nm"),
            (Time, 0.002, "2 fs"),
            (Time, 0.0005, "0.5 fs"),
            (Time, 100_000.0, "1e5 ps"),
            (Temperature, 310.15, "310.15 K"),
            (Pressure, 1.013_25 * BAR, "1.01325 bar"),
            (Pressure, -5.0 * BAR, "-5 bar"),
            (Compressibility, 4.5e-5 * (1.0 / BAR), "4.5e-5 1/bar"),
            (WallTime, 300.0, "5 min"),
            (EnergyRate, 0.005, "0.005 kJ/mol/ps"),
        ];
        for (dimension, value, text) in spelled {
            assert_eq!(dimension.spell(value), text);
            assert_eq!(dimension.show(value), text);
        }
    }

    #[test]
    fn what_is_shown_has_no_digits_of_rounding_errors() {
        for (time, text) in [(200.0 * (2.0001 * 1e-3), "0.40002 ps"), (3.0 * 1e-4, "0.3 fs")] {
            assert!(Time.spell(time).len() > text.len() && Time.show(time) == text, "{text}");
        }
    }

    /// A value written by `spell` is parsed as the same number, even if the value cannot be written exactly in the
    /// usual unit. Of 100 tested times, 2 cannot be written exactly in femtoseconds.
    #[test]
    fn what_is_spelled_reads_as_the_same_number() {
        let mut in_picoseconds = 0;
        for unit in UNITS.iter().filter(|unit| unit.2 == 1.0) {
            for k in 0..500 {
                // values with many significant digits, from about 2·10⁻⁵ to about 180
                let value = 0.7 * (1.0 + (f64::from(k) * 0.618_033_988_749_894_9).fract()) * 2f64.powi(k % 23 - 15);
                let text = unit.1.spell(value);
                assert_eq!(unit.1.parse(&text).unwrap().to_bits(), value.to_bits(), "{text}");
                in_picoseconds += usize::from(text.ends_with(" ps") && unit.1 == Time && value < SHORT);
            }
        }
        assert!(in_picoseconds > 0);
    }

    #[test]
    fn messages_tell_the_three_mistakes_apart() {
        let message = |dimension: Dimension, text: &str| dimension.parse(text).unwrap_err().to_string();
        assert!(message(Length, "0.9").contains("missing unit"));
        assert!(message(Length, "0.9").contains("write \"0.9 nm\""));
        assert!(message(Length, "0.9 ps").contains("\"ps\" measures a time; expected a length"));
        assert!(message(Length, "0.9 furlong").contains("unknown unit \"furlong\""));
        assert!(message(Length, "0.9 furlong").contains("accepted units: nm, A, Å, pm"));
    }

    #[test]
    fn malformed_numbers_are_refused() {
        for text in ["", "nm", "1.2.3 nm", "- nm", "inf nm", "nan nm", "1e999 nm", "e5 nm", ".", "+.e nm", "½ nm"] {
            assert!(Length.parse(text).is_err(), "{text}");
        }
    }
}
