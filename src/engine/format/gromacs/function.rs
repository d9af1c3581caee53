//! Function types of bonded interactions, with the number of parameters and the bonded term of each function type.
//!
//! Lengths are in nm and angles in degrees. Force constants are in kJ/mol/nm² and kJ/mol/rad², and the energy has a
//! factor ½. For GROMOS-96 bonds, force constants are in kJ/mol/nm⁴, and the energy has a factor ¼. For GROMOS-96
//! angles, force constants are in kJ/mol. Function types and conventions are those of the GROMACS manual, chapter
//! "Topologies".

use super::Parsed;
use super::directive::{Directive, unknown_function, unsupported};
use super::fields::real;
use crate::error::Problem;
use crate::system::{Angle, Bond, BondedTerms, G96Angle, G96Bond, HarmonicImproper, RyckaertBellemans, Torsion};
use crate::term::MAX_PERIODICITY;

/// Largest number of parameters of a function type.
const MOST: usize = 6;

/// Parameters of a bonded term. Array elements beyond the number of parameters of the function type are zero.
pub(super) type Parameters = [f64; MOST];

/// Kind of bonded term that a function type creates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// harmonic bond that is also a chemical bond
    Bond,
    G96Bond,
    /// harmonic distance that is not a chemical bond
    Distance,
    /// chemical bond without energy
    Connection,
    Angle,
    G96Angle,
    UreyBradley,
    Proper,
    Improper,
    HarmonicImproper,
    RyckaertBellemans,
    Fourier,
    /// constraint that is also a chemical bond
    BondConstraint,
    /// constraint that is not a chemical bond
    Constraint,
}

/// Function type of a directive, with the number and the table of its parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function {
    pub(super) kind: Kind,
    /// function type whose parameter table is used for look-ups
    pub(super) table: u8,
    /// whether one line may create several terms on the same atoms
    pub(super) multiple: bool,
    /// number of parameters of the function type
    pub(super) parameters: usize,
    /// number of additional parameters that may follow for the perturbed state (B)
    pub(super) perturbed: usize,
}

/// Row in the table of function types of a directive: function type, kind, parameter table, number of parameters,
/// number of parameters of the perturbed state.
type Row = (&'static str, Kind, u8, usize, usize);

const BONDS: &[Row] = &[
    ("1", Kind::Bond, 1, 2, 2),
    ("2", Kind::G96Bond, 2, 2, 2),
    ("5", Kind::Connection, 5, 0, 0),
    ("6", Kind::Distance, 6, 2, 2),
];
const ANGLES: &[Row] =
    &[("1", Kind::Angle, 1, 2, 2), ("2", Kind::G96Angle, 2, 2, 2), ("5", Kind::UreyBradley, 5, 4, 4)];
/// Function types of dihedrals. Types 1 and 9 share a parameter table, and both use all lines of a block.
const DIHEDRALS: &[Row] = &[
    ("1", Kind::Proper, 1, 3, 3),
    ("2", Kind::HarmonicImproper, 2, 2, 2),
    ("3", Kind::RyckaertBellemans, 3, 6, 6),
    ("4", Kind::Improper, 4, 3, 3),
    ("5", Kind::Fourier, 5, 4, 4),
    ("9", Kind::Proper, 1, 3, 3),
];
const CONSTRAINTS: &[Row] = &[("1", Kind::BondConstraint, 1, 1, 1), ("2", Kind::Constraint, 2, 1, 1)];

/// Returns the function of a directive that has the function type `word`.
pub(super) fn function(directive: Directive, word: &str) -> Parsed<Function> {
    let (name, rows) = match directive {
        Directive::Bonds | Directive::BondTypes => ("bonds", BONDS),
        Directive::Angles | Directive::AngleTypes => ("angles", ANGLES),
        Directive::Constraints | Directive::ConstraintTypes => ("constraints", CONSTRAINTS),
        _ => ("dihedrals", DIHEDRALS),
    };
    let Some(&(number, kind, table, parameters, perturbed)) = rows.iter().find(|(number, ..)| *number == word) else {
        let known: Vec<&str> = rows.iter().map(|(number, ..)| *number).collect();
        return Err(unknown_function(name, word, &known.join(", ")));
    };
    Ok(Function { kind, table, multiple: number == "9", parameters, perturbed })
}

impl Function {
    /// Reads the parameters of a line. Returns `None` if the line has no parameters.
    pub(super) fn read(&self, words: &[&str]) -> Parsed<Option<Parameters>> {
        let Function { parameters, perturbed, .. } = *self;
        if words.is_empty() && parameters > 0 {
            return Ok(None);
        }
        if words.len() != parameters && words.len() != parameters + perturbed {
            let message = format!("{} parameters follow the function type, expected {parameters}", words.len());
            return Err(Problem::new(message));
        }
        let mut values = [0.0; 2 * MOST];
        for (value, word) in values.iter_mut().zip(words) {
            *value = real(word, "a parameter")?;
        }
        let other = &values[parameters..words.len()];
        same_state(&values[..other.len()], other)?;
        let mut found = [0.0; MOST];
        found[..parameters].copy_from_slice(&values[..parameters]);
        Ok(Some(found))
    }

    /// Adds the bonded term of this function type on the atoms, with the parameters `p`.
    pub(super) fn add(&self, atoms: &[u32], p: &Parameters, bonded: &mut BondedTerms) -> Parsed<()> {
        let force_constant = p[1];
        match (self.kind, atoms) {
            (Kind::Bond, &[i, j]) => {
                bonded.bonds.push(Bond { atoms: [i, j], length: p[0], force_constant });
            }
            (Kind::G96Bond, &[i, j]) => {
                bonded.g96_bonds.push(G96Bond { atoms: [i, j], length: p[0], force_constant });
            }
            (Kind::Distance, &[i, j]) => {
                bonded.distances.push(Bond { atoms: [i, j], length: p[0], force_constant });
            }
            (Kind::Angle, &[i, j, k]) => {
                bonded.angles.push(Angle { atoms: [i, j, k], angle: p[0].to_radians(), force_constant });
            }
            (Kind::G96Angle, &[i, j, k]) => {
                bonded.g96_angles.push(G96Angle { atoms: [i, j, k], angle: p[0].to_radians(), force_constant });
            }
            (Kind::UreyBradley, &[i, j, k]) => {
                bonded.angles.push(Angle { atoms: [i, j, k], angle: p[0].to_radians(), force_constant });
                // in CHARMM force fields, every angle is written with a Urey–Bradley term, whose force constant is zero
                // for the many angles without 1-3 interaction
                if p[3] != 0.0 {
                    bonded.urey_bradleys.push(Bond { atoms: [i, k], length: p[2], force_constant: p[3] });
                }
            }
            (Kind::Proper | Kind::Improper, &[i, j, k, l]) => {
                // cos(−nφ − φ₀) = cos(nφ + φ₀)
                let phase = if p[2] < 0.0 { -p[0] } else { p[0] }.to_radians();
                let torsion =
                    Torsion { atoms: [i, j, k, l], periodicity: periodicity(p[2].abs())?, phase, force_constant };
                let list = if self.kind == Kind::Proper { &mut bonded.propers } else { &mut bonded.impropers };
                list.push(torsion);
            }
            (Kind::HarmonicImproper, &[i, j, k, l]) => {
                let angle = p[0].to_radians();
                bonded.harmonic_impropers.push(HarmonicImproper { atoms: [i, j, k, l], angle, force_constant });
            }
            (Kind::RyckaertBellemans, &[i, j, k, l]) => {
                bonded.ryckaert_bellemans.push(RyckaertBellemans { atoms: [i, j, k, l], coefficients: *p });
            }
            (Kind::Fourier, &[i, j, k, l]) => {
                let coefficients = [p[0], p[1], p[2], p[3]];
                bonded.ryckaert_bellemans.push(RyckaertBellemans::fourier([i, j, k, l], coefficients));
            }
            // bonds of type 5 (connections) have no energy, and constraints are not bonded terms
            _ => {}
        }
        Ok(())
    }
}

/// Fails if parameters of the perturbed state (B) differ from those of the first state (A).
pub(super) fn same_state(first: &[f64], second: &[f64]) -> Parsed<()> {
    if first == second {
        return Ok(());
    }
    let help = "md does not compute free-energy perturbation; remove the parameters of the B state";
    Err(unsupported("the parameters of states A and B differ", help))
}

/// Returns the periodicity of a torsion from its multiplicity, which must not be negative.
fn periodicity(value: f64) -> Parsed<u8> {
    if value.fract() == 0.0 && value <= f64::from(MAX_PERIODICITY) {
        return Ok(value as u8);
    }
    Err(Problem::new(format!("the multiplicity {value} is not a whole number up to {MAX_PERIODICITY}")))
}
