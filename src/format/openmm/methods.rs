//! How a `NonbondedForce` would have its interactions computed. The input file decides; the log names both.

use super::node::Node;
use crate::cell::PeriodicCell;
use crate::format::number;
use crate::system::{Electrostatics, LjModifier, Methods, PmeParameters};

/// OpenMM's defaults of attributes that old files lack: nm; relative permittivity; error tolerance of Ewald sums.
const CUTOFF: f64 = 1.0;
const PERMITTIVITY: f64 = 78.3;
const TOLERANCE: f64 = 5e-4;
/// Splines of OpenMM's PME.
const ORDER: usize = 5;
/// Fewest points of its grid along a cell vector.
const FEWEST_POINTS: usize = 6;
/// No grid in use has more points along a cell vector; larger ones are damage.
const MOST_POINTS: f64 = 1e5;

/// The methods that the attributes of the force name; `None` for a method that is not known.
pub(super) fn read(force: &Node<'_>, cell: Option<&PeriodicCell>) -> Option<Methods> {
    let real = |name: &str, default: f64| {
        let value = force.text(name).ok().and_then(|text| number::real(text.as_bytes()));
        value.unwrap_or(default)
    };
    let on = |name: &str, default: f64| real(name, default) != 0.0;
    let cutoff = real("cutoff", CUTOFF);
    let electrostatics = match force.text("method").ok()? {
        "0" => Electrostatics::Plain,
        "1" | "2" => Electrostatics::ReactionField { permittivity: real("rfDielectric", PERMITTIVITY) },
        "3" | "4" | "5" => {
            let given = [real("alpha", 0.0), real("nx", 0.0), real("ny", 0.0), real("nz", 0.0)];
            Electrostatics::Pme(pme(given, (real("ewaldTolerance", TOLERANCE), cutoff), cell?))
        }
        _ => return None,
    };
    let all_pairs = electrostatics == Electrostatics::Plain;
    let switched = !all_pairs && on("useSwitchingFunction", 0.0);
    Some(Methods {
        cutoff: (!all_pairs).then_some(cutoff),
        electrostatics,
        lj_modifier: match switched {
            true => LjModifier::PotentialSwitch { from: real("switchingDistance", 0.0) },
            false => LjModifier::None,
        },
        dispersion_correction: !all_pairs && cell.is_some() && on("dispersionCorrection", 1.0),
    })
}

/// Parameters as given, or for an error tolerance δ: α = √(−ln 2δ)/r_c, and 2αd/3δ^⅕ points along a cell vector of length d
/// (OpenMM's user guide, "Coulomb Interaction With Particle Mesh Ewald").
fn pme([alpha, nx, ny, nz]: [f64; 4], (tolerance, cutoff): (f64, f64), cell: &PeriodicCell) -> PmeParameters {
    if alpha > 0.0 {
        return PmeParameters { alpha, grid: [nx, ny, nz].map(points), order: ORDER };
    }
    let alpha = (-(2.0 * tolerance).ln()).sqrt() / cutoff;
    let [a, b, c] = cell.rows();
    let grid = [a.x, b.y, c.z].map(|length| points((2.0 * alpha * length / (3.0 * tolerance.powf(0.2))).ceil()));
    PmeParameters { alpha, grid, order: ORDER }
}

/// As a number of points; of what is none, the fewest.
fn points(value: f64) -> usize {
    (value.min(MOST_POINTS) as usize).max(FEWEST_POINTS)
}
