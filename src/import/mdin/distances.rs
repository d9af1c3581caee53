//! Conversion of one `&rst` namelist of a DISANG file to restraints of collective variables.
//!
//! The energy of a variable r is zero from r2 to r3, rk2 (r − r2)² below r2 and rk3 (r − r3)² above r3. Below r1 and
//! above r4 the energy continues as a straight line (AMBER manual, "NMR refinement"). Units are Å and degrees for r,
//! and kcal/mol/Å² and kcal/mol/rad² for rk2 and rk3. Unlike in `md`, the energy has no factor ½.

use super::PER_NM;
use crate::import::atoms::indices;
use crate::restraint::{Potential, VariableKind, Well};
use crate::run::Restraint;
use crate::units::{ANGSTROM, KCAL};

/// Settings of one variable in a `&rst` namelist.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Distances {
    /// atoms of each group, counted from 1
    pub(super) groups: Vec<Vec<u32>>,
    /// bounds r1 … r4, Å or degrees
    pub(super) r: [f64; 4],
    /// force constants rk2, rk3, kcal/mol/Å² or kcal/mol/rad²
    pub(super) k: [f64; 2],
}

/// A side of a potential with a flat bottom, in internal units.
#[derive(Clone, Copy, PartialEq)]
struct Side {
    /// end of the flat bottom
    at: f64,
    /// distance from `at` at which the linear part begins; `None` if the variable cannot reach the linear part
    width: Option<f64>,
    /// half of the force constant k of the energy k/2 (r − at)²
    half_k: f64,
    /// largest distance from `at` that the variable can reach
    reach: f64,
}

impl Distances {
    /// Returns the equivalent restraints: none if no force acts, one if both sides of the potential are equal, and
    /// otherwise one for each side. The error is the reason why there is no equivalent restraint.
    pub(super) fn restraints(&self) -> Result<Vec<Restraint>, String> {
        let kind = match self.groups.len() {
            2 => VariableKind::Distance,
            3 => VariableKind::Angle,
            4 => VariableKind::Torsion,
            count => return Err(format!("md has no restraint on {count} atoms or groups")),
        };
        if self.r.windows(2).any(|pair| pair[0] > pair[1]) || self.k.iter().any(|k| *k < 0.0) {
            return Err("r1, r2, r3 and r4 are not in ascending order, or a force constant is negative".to_owned());
        }
        let groups: Option<Vec<String>> = self.groups.iter().map(|atoms| indices(atoms)).collect();
        let groups = groups.ok_or("a group has no atoms, or has too many ranges of consecutive atoms")?;
        let wells = if kind == VariableKind::Torsion { self.torsion()? } else { self.walls(kind) };
        let restraint = |well| {
            let (groups, potential) = (groups.clone(), Potential::Well(well));
            Restraint { kind, groups, gather_around: vec![], along: [true; 3], reference: None, potential }
        };
        Ok(wells.into_iter().map(restraint).collect())
    }

    /// Returns half of the force constant of each side, in internal units.
    fn half_constants(&self, kind: VariableKind) -> [f64; 2] {
        let unit = if kind.is_angular() { KCAL } else { KCAL / (ANGSTROM * ANGSTROM) };
        self.k.map(|k| k * unit)
    }

    /// Returns the potential of a torsion. The two sides of the potential meet at the angle opposite to the flat
    /// bottom, so that both sides must be equal.
    fn torsion(&self) -> Result<Vec<Well>, String> {
        let [r1, r2, r3, r4] = self.r;
        if self.k == [0.0; 2] {
            return Ok(vec![]);
        }
        let (flat, widths) = (0.5 * (r3 - r2), [r2 - r1, r4 - r3]);
        let behind = 180.0 - flat;
        let harmonic = widths.iter().all(|width| *width >= behind);
        if self.k[0] != self.k[1] || (widths[0] != widths[1] && !harmonic) || behind <= 0.0 {
            return Err(
                "torsion restraints of md need the same force constant and linear region on both sides, and a flat \
                 bottom below 360 degrees"
                    .to_owned(),
            );
        }
        let [half_k, _] = self.half_constants(VariableKind::Torsion);
        let middle = 0.5 * (r2 + r3);
        // the angle is shifted to the range from -180° to 180°
        let middle = middle - 360.0 * (middle / 360.0).round();
        let linear_beyond = (!harmonic).then(|| widths[0].to_radians());
        Ok(if linear_beyond == Some(0.0) {
            vec![]
        } else {
            vec![bottom(middle.to_radians(), flat.to_radians(), half_k, linear_beyond)]
        })
    }

    /// Returns the potentials of a distance or an angle: one potential if both sides are equal, otherwise one for
    /// each side.
    fn walls(&self, kind: VariableKind) -> Vec<Well> {
        let angular = kind.is_angular();
        let [r1, r2, r3, r4] = self.r;
        let internal = |r: f64| if angular { r.to_radians() } else { r / PER_NM };
        let [low, high] = self.half_constants(kind);
        let highest = if angular { 180.0 } else { f64::INFINITY };
        let side = |at: f64, width: f64, half_k: f64, reach: f64| {
            let acts = half_k > 0.0 && reach > 0.0 && width > 0.0;
            let line = (width < reach).then(|| internal(width));
            acts.then(|| Side { at: internal(at), width: line, half_k, reach: internal(reach) })
        };
        let sides = [side(r2, r2 - r1, low, r2), side(r3, r4 - r3, high, highest - r3)];
        let wall = |side: Side, below: Option<f64>, above: Option<f64>| Well {
            center: Some(side.at),
            below,
            above,
            ..bottom(side.at, 0.0, side.half_k, side.width)
        };
        match sides {
            [Some(lower), Some(upper)] => match lower.width_with(&upper) {
                Some(width) => vec![bottom(internal(0.5 * (r2 + r3)), internal(0.5 * (r3 - r2)), low, width)],
                None => vec![wall(lower, Some(0.0), None), wall(upper, None, Some(0.0))],
            },
            [Some(lower), None] => vec![wall(lower, Some(0.0), None)],
            [None, Some(upper)] => vec![wall(upper, None, Some(0.0))],
            [None, None] => vec![],
        }
    }
}

impl Side {
    /// Returns the width of the harmonic part if both sides have the same width and force constant; `None` if the sides
    /// differ.
    fn width_with(&self, other: &Side) -> Option<Option<f64>> {
        let free = |side: &Side, width: f64| side.width.is_none() && width >= side.reach;
        let width = match (self.width, other.width) {
            (a, b) if a == b => a,
            (None, Some(width)) if free(self, width) => Some(width),
            (Some(width), None) if free(other, width) => Some(width),
            _ => return None,
        };
        (self.half_k == other.half_k).then_some(width)
    }
}

fn bottom(center: f64, flat: f64, half_k: f64, linear_beyond: Option<f64>) -> Well {
    let (center, below, above) = (Some(center), Some(flat), Some(flat));
    Well { center, rate: 0.0, below, above, force_constant: 2.0 * half_k, linear_beyond }
}
