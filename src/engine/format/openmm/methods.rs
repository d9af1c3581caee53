//! Non-bonded methods of a `NonbondedForce`. The input file of md decides which methods a run uses. The log reports the
//! methods of the input file and of the OpenMM file.

use crate::cell::PeriodicCell;
use crate::format::number;
use crate::format::xml::Node;
use crate::system::{DispersionCorrection, Electrostatics, LjModifier, Methods, PmeParameters};

/// OpenMM's default cutoff in nm, for old files that state no cutoff. [`PERMITTIVITY`] is the default of the relative
/// permittivity, and [`TOLERANCE`] is the default of the error tolerance of Ewald sums.
const CUTOFF: f64 = 1.0;
const PERMITTIVITY: f64 = 78.3;
const TOLERANCE: f64 = 5e-4;
/// Number of the non-bonded method LJ-PME in the file.
const LJPME: &str = "5";
/// Factor n for Coulomb interactions in the formula nαd/(3δ^⅕) for the number of PME grid points along a cell vector of
/// length d, with the splitting parameter α and the error tolerance δ ([`pme`]). [`LJ_POINTS`] is the factor n for
/// dispersion interactions.
const POINTS: f64 = 2.0;
const LJ_POINTS: f64 = 1.0;
/// B-spline order of OpenMM's PME.
const ORDER: usize = 5;
/// Smallest number of grid points of OpenMM's PME along a cell vector.
const FEWEST_POINTS: usize = 6;
/// Largest number of grid points along a cell vector. Grids in use have fewer points, so a larger number means that the
/// file is damaged.
const MOST_POINTS: f64 = 1e5;

/// Reads the methods from the attributes of the `NonbondedForce`. `table` is the force with a table of Lennard-Jones
/// interactions, if there is such a force. If `table` is given, this force determines the methods of Lennard-Jones
/// interactions. Returns `None` for an unknown method.
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
    let tolerance = real("ewaldTolerance", TOLERANCE);
    let mesh =
        |names: [&str; 4], points: f64| Some(pme(names.map(|name| real(name, 0.0)), tolerance, cutoff, points, cell?));
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
            // LJ-PME shifts the potential, and the other methods do not
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

/// Returns the PME parameters in the file, or the parameters that follow from the error tolerance δ. With the cutoff
/// r_c, the splitting parameter is α = √(−ln 2δ)/r_c. The number of grid points along a cell vector of length d is
/// nαd/(3δ^⅕), with the splitting parameter α and the error tolerance δ. The factor n is 2 for Coulomb interactions and
/// 1 for dispersion (OpenMM's user guide, "Coulomb Interaction With Particle Mesh Ewald", "Lennard-Jones Interaction
/// With Particle Mesh Ewald").
fn pme([alpha, nx, ny, nz]: [f64; 4], tolerance: f64, cutoff: f64, number: f64, cell: &PeriodicCell) -> PmeParameters {
    if alpha > 0.0 {
        return PmeParameters { alpha, grid: [nx, ny, nz].map(points), order: ORDER };
    }
    let alpha = (-(2.0 * tolerance).ln()).sqrt() / cutoff;
    let [a, b, c] = cell.rows();
    let grid = [a.x, b.y, c.z].map(|length| points((number * alpha * length / (3.0 * tolerance.powf(0.2))).ceil()));
    PmeParameters { alpha, grid, order: ORDER }
}

/// Converts a value to a number of grid points within the allowed range. NaN gives the smallest number.
fn points(value: f64) -> usize {
    (value.min(MOST_POINTS) as usize).max(FEWEST_POINTS)
}
