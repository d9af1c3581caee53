//! How a `NonbondedForce` would have its interactions computed. The input file decides; the log names both.

use super::node::Node;
use crate::cell::PeriodicCell;
use crate::format::number;
use crate::system::{DispersionCorrection, Electrostatics, LjModifier, Methods, PmeParameters};

/// OpenMM's defaults of attributes that old files lack: nm; relative permittivity; error tolerance of Ewald sums.
const CUTOFF: f64 = 1.0;
const PERMITTIVITY: f64 = 78.3;
const TOLERANCE: f64 = 5e-4;
/// The method with LJ-PME.
const LJPME: &str = "5";
/// Numbers n of [`pme`].
const POINTS: f64 = 2.0;
const LJ_POINTS: f64 = 1.0;
/// Splines of OpenMM's PME.
const ORDER: usize = 5;
/// Fewest points of its grid along a cell vector.
const FEWEST_POINTS: usize = 6;
/// No grid in use has more points along a cell vector; larger ones are damage.
const MOST_POINTS: f64 = 1e5;

/// The methods that the attributes of the force name, and those of a force with a table of Lennard-Jones interactions where there
/// is one; `None` for a method that is not known.
pub(super) fn read(force: &Node<'_>, table: Option<&Node<'_>>, cell: Option<&PeriodicCell>) -> Option<Methods> {
    let of = |force: &Node<'_>, name: &str| force.text(name).ok().and_then(|text| number::real(text.as_bytes()));
    let real = |name: &str, default: f64| of(force, name).unwrap_or(default);
    let of_table = |name: &str| table.and_then(|table| of(table, name));
    let switch = |name: &str| if table.is_some() { of_table(name).unwrap_or(0.0) } else { real(name, 0.0) };
    let correction = match table {
        Some(_) => of_table("useLongRangeCorrection").unwrap_or(0.0),
        None => real("dispersionCorrection", 1.0),
    };
    let cutoff = real("cutoff", CUTOFF);
    let method = force.text("method").ok()?;
    let accuracy = (real("ewaldTolerance", TOLERANCE), cutoff);
    let mesh = |names: [&str; 4], points: f64| Some(pme(names.map(|name| real(name, 0.0)), (accuracy, points), cell?));
    let electrostatics = match method {
        "0" => Electrostatics::Plain,
        "1" | "2" => Electrostatics::ReactionField { permittivity: real("rfDielectric", PERMITTIVITY) },
        "3" | "4" | LJPME => Electrostatics::Pme(mesh(["alpha", "nx", "ny", "nz"], POINTS)?),
        _ => return None,
    };
    let all_pairs = electrostatics == Electrostatics::Plain;
    let switched = !all_pairs && switch("useSwitchingFunction") != 0.0;
    Some(Methods {
        cutoff: (!all_pairs).then_some(cutoff),
        electrostatics,
        lj_modifier: match switched {
            true => LjModifier::PotentialSwitch { from: switch("switchingDistance") },
            // LJ-PME shifts the potential, other methods do not
            false if method == LJPME => LjModifier::PotentialShift,
            false => LjModifier::None,
        },
        dispersion_correction: match cell {
            _ if method == LJPME => DispersionCorrection::Pme(mesh(["ljAlpha", "ljnx", "ljny", "ljnz"], LJ_POINTS)?),
            Some(_) if !all_pairs && correction != 0.0 => DispersionCorrection::AllPairs,
            _ => DispersionCorrection::Off,
        },
    })
}

/// Parameters as given, or for an error tolerance δ: α = √(−ln 2δ)/r_c, and nαd/3δ^⅕ points along a cell vector of length d
/// with n = 2 for Coulomb interactions and 1 for dispersion (OpenMM's user guide, "Coulomb Interaction With Particle Mesh Ewald",
/// "Lennard-Jones Interaction With Particle Mesh Ewald").
fn pme(
    [alpha, nx, ny, nz]: [f64; 4],
    ((tolerance, cutoff), number): ((f64, f64), f64),
    cell: &PeriodicCell,
) -> PmeParameters {
    if alpha > 0.0 {
        return PmeParameters { alpha, grid: [nx, ny, nz].map(points), order: ORDER };
    }
    let alpha = (-(2.0 * tolerance).ln()).sqrt() / cutoff;
    let [a, b, c] = cell.rows();
    let grid = [a.x, b.y, c.z].map(|length| points((number * alpha * length / (3.0 * tolerance.powf(0.2))).ceil()));
    PmeParameters { alpha, grid, order: ORDER }
}

/// As a number of points; of what is none, the fewest.
fn points(value: f64) -> usize {
    (value.min(MOST_POINTS) as usize).max(FEWEST_POINTS)
}
