//! Writer of `[ virtual_sites1 ]` to `[ virtual_sites4 ]` and `[ virtual_sitesn ]`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Number, Parsed, line};
use crate::error::Problem;
use crate::system::{Construction, VirtualSite};

/// Section of sites that are defined by any number of atoms.
const MANY: &str = "virtual_sitesn";

/// Writes the sites of a molecule. `first` is the index of the molecule's first atom in the whole system, for messages.
pub(super) fn write(sites: &[VirtualSite], first: u32, text: &mut String) -> Parsed<()> {
    let mut sections = BTreeMap::<&str, String>::new();
    for VirtualSite { site, construction } in sites {
        let (name, function, parameters) = described(construction).map_err(|what| {
            let message = format!("virtual site {} {what}", site + first + 1);
            Problem::new(message).help("GROMACS has no such site; keep the format of the input")
        })?;
        let section = sections.entry(name).or_default();
        let _ = write!(section, "{}", site + 1);
        // in `[ virtual_sitesn ]`, the atoms of a weighted mean come after the function type, each with its weight
        let own = if name == MANY { &[][..] } else { construction.atoms() };
        own.iter().for_each(|atom| {
            let _ = write!(section, " {}", atom + 1);
        });
        line!(section, " {function}{parameters}");
    }
    for (name, lines) in sections {
        let _ = write!(text, "\n[ {name} ]\n{lines}");
    }
    Ok(())
}

/// Returns section, function type and parameters of a site. If the format cannot express the site, returns the
/// reason.
fn described(construction: &Construction) -> Result<(&'static str, &'static str, String), &'static str> {
    let joined = |values: &[f64]| values.iter().map(|&value| format!(" {}", Number(value))).collect::<String>();
    Ok(match construction {
        Construction::Average2 { weights: [_, a], .. } => ("virtual_sites2", "1", joined(&[*a])),
        Construction::FixedDistance2 { distance, .. } => ("virtual_sites2", "2", joined(&[*distance])),
        Construction::Average3 { weights: [_, a, b], .. } => ("virtual_sites3", "1", joined(&[*a, *b])),
        Construction::FixedDistance3 { weight, distance, .. } => ("virtual_sites3", "2", joined(&[*weight, *distance])),
        Construction::FixedAngle3 { angle, distance, .. } => {
            ("virtual_sites3", "3", joined(&[angle.to_degrees(), *distance]))
        }
        Construction::OutOfPlane { weights: [a, b], cross, .. } => ("virtual_sites3", "4", joined(&[*a, *b, *cross])),
        Construction::FixedDistance4 { weights: [a, b], distance, .. } => {
            ("virtual_sites4", "2", joined(&[*a, *b, *distance]))
        }
        Construction::Average { weights, .. } if weights.len() == 1 => ("virtual_sites1", "1", String::new()),
        Construction::Average { weights, .. } if weights.iter().any(|&weight| weight < 0.0) => {
            return Err("is an average of many atoms with a negative weight");
        }
        Construction::Average { atoms, weights } => {
            let pairs = atoms.iter().zip(weights).map(|(atom, &weight)| format!(" {} {}", atom + 1, Number(weight)));
            (MANY, "3", pairs.collect())
        }
        Construction::LocalFrame { .. } => return Err("lies in a local frame of weighted atoms"),
    })
}
