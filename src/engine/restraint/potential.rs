//! Energy of a restraint as a function of the value ξ of its collective variable.

use super::VariableKind;
use crate::error::Problem;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// Energy as a function of the value of a variable, in nm or rad.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Potential {
    /// harmonic well, optionally with a flat bottom or with a wall on only one side
    Well(Well),
    /// constant force F (kJ/mol/nm or kJ/mol/rad) along the variable ξ, with the energy −F ξ
    Force(f64),
}

/// Harmonic well with a flat bottom: E = ½ k e², with the force constant k and the excess e of the deviation over the
/// flat bottom. The deviation is δ = ξ − ξ₀, and the flat bottom extends from δ = −b to δ = a. The excess e is δ − a
/// for δ > a, δ + b for δ < −b, and 0 otherwise. For a periodic variable δ is reduced to the range from −π to π. Beyond
/// an excess |e| = w the energy is linear with the slope of the harmonic energy at w: E = k w (|e| − w/2), as in
/// AMBER's `nmropt` and GROMACS' distance restraints.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Well {
    /// center ξ₀ at the start of the stage, nm or rad; `None` = the value of the variable at the start
    pub center: Option<f64>,
    /// speed of the center ξ₀, nm/ps or rad/ps
    pub rate: f64,
    /// flat bottom b below the center, nm or rad; `None` = no force below the center
    pub below: Option<f64>,
    /// flat bottom a above the center, nm or rad; `None` = no force above the center
    pub above: Option<f64>,
    /// force constant k, kJ/mol/nm² or kJ/mol/rad²
    pub force_constant: f64,
    /// excess w beyond which the energy is linear, nm or rad; `None` = harmonic everywhere
    pub linear_beyond: Option<f64>,
}

impl Potential {
    /// Energy (kJ/mol) and force −dE/dξ at a value of the variable, for a given center. `periodic` is true if the
    /// variable has the period 2π.
    pub fn at(&self, value: f64, center: f64, periodic: bool) -> (f64, f64) {
        match self {
            Potential::Force(force) => (-force * value, *force),
            Potential::Well(well) => well.at(difference(value - center, periodic)),
        }
    }
}

impl Well {
    /// Value (nm or rad) to which the well moves the variable if its center is at `center`: the center, the upper end
    /// of the flat bottom, or the position of a wall that acts only on smaller values.
    pub fn target(&self, center: f64) -> f64 {
        match (self.below, self.above) {
            (_, Some(above)) => center + above,
            (Some(below), None) => center - below,
            (None, None) => center,
        }
    }

    /// Returns an error if the center leaves the range of a variable of the given kind during a stage of `duration`
    /// (ps). `start` is the center at the start of the stage. At a center that the variable cannot reach, an angle or a
    /// distance would be pushed against the end of its range, and the work of the center would have no meaning.
    pub fn check_motion(&self, kind: VariableKind, start: f64, duration: f64) -> Result<(), Problem> {
        let end = start + self.rate * duration;
        if self.rate == 0.0 || kind.admits(end) {
            return Ok(());
        }
        let spelled = |value: f64| match kind.is_angular() {
            true => format!("{:.2} deg", value.to_degrees()),
            false => format!("{value:.4} nm"),
        };
        let message = format!(
            "rate moves the center from {} at the start of the stage to {} at its end, outside the range of the {}",
            spelled(start),
            spelled(end),
            kind.name()
        );
        Err(Problem::new(message).help(format!("{}: choose a slower rate or a shorter stage", kind.range())))
    }

    fn at(&self, deviation: f64) -> (f64, f64) {
        let excess = match (self.below, self.above) {
            (_, Some(above)) if deviation > above => deviation - above,
            (Some(below), _) if deviation < -below => deviation + below,
            _ => return (0.0, 0.0),
        };
        let k = self.force_constant;
        match self.linear_beyond {
            Some(width) if excess.abs() > width => {
                (k * width * (excess.abs() - 0.5 * width), -k * width * excess.signum())
            }
            _ => (0.5 * k * excess * excess, -k * excess),
        }
    }
}

/// Reduces a deviation to the range from −π to π if the variable is periodic. If the variable is not periodic, the
/// deviation is returned unchanged.
fn difference(deviation: f64, periodic: bool) -> f64 {
    if periodic { deviation - TAU * (deviation / TAU).round() } else { deviation }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WELL: Well = Well {
        center: Some(1.0),
        rate: 0.0,
        below: Some(0.25),
        above: Some(0.5),
        force_constant: 8.0,
        linear_beyond: Some(0.5),
    };

    #[test]
    fn bottom_walls_and_lines_are_where_they_should_be() {
        let at = |value: f64| Potential::Well(WELL).at(value, 1.0, false);
        for (value, energy, force) in [
            (1.0, 0.0, 0.0),
            (1.5, 0.0, 0.0),
            (0.75, 0.0, 0.0),
            (2.0, 1.0, -4.0),
            (2.5, 3.0, -4.0),
            (0.5, 0.25, 2.0),
            (0.0, 1.0 + 4.0 * 0.25, 4.0),
        ] {
            assert_eq!(at(value), (energy, force), "{value}");
        }
        let wall = Potential::Well(Well { below: None, above: Some(0.0), linear_beyond: None, ..WELL });
        assert_eq!([0.5, 2.0].map(|value| wall.at(value, 1.0, false)), [(0.0, 0.0), (4.0, -8.0)]);
        assert_eq!(Potential::Force(3.0).at(2.0, 0.0, false), (-6.0, 3.0));
    }

    #[test]
    fn targets_are_at_the_end_of_the_flat_bottom() {
        assert_eq!(WELL.target(1.0), 1.5);
        assert_eq!(Well { above: None, ..WELL }.target(1.0), 0.75);
        assert_eq!(Well { below: None, ..WELL }.target(1.0), 1.5);
    }

    #[test]
    fn angles_differ_by_the_nearest_image() {
        let well = Well { below: Some(0.0), above: Some(0.0), linear_beyond: None, ..WELL };
        let (energy, force) = Potential::Well(well).at(-3.0, 3.0, true);
        let deviation = TAU - 6.0;
        assert!((energy - 4.0 * deviation * deviation).abs() < 1e-14 && (force + 8.0 * deviation).abs() < 1e-14);
        // the center of a torsion has moved by 100 periods of 2π
        let turned = Potential::Well(well).at(-3.0, 3.0 + 100.0 * TAU, true);
        assert!((turned.0 - energy).abs() < 1e-11 && (turned.1 - force).abs() < 1e-11);
    }
}
