//! Non-bonded methods stored in a topology file, written as keys of the input file. The methods of the topology file
//! are reported but not used, because a run uses the methods of the input file.

use crate::system::{DispersionCorrection, Electrostatics, LjModifier, Methods, PmeParameters, System};
use crate::units::Dimension::{InverseLength, Length};

/// Describes the non-bonded methods that the topology file stores, and the keys of the input file that select the same
/// methods. Returns `None` if the topology file stores no methods; only OpenMM's XML files store methods.
pub fn describe_methods(system: &System) -> Option<String> {
    let settings = system.topology.methods.as_ref().map(spelled)?;
    Some(format!(
        "the topology file stores cutoffs and PME parameters, but md uses only the settings of the input file; to use \
         those of the topology file, write in [forces]: {}",
        settings
    ))
}

/// Returns the settings of an input file that select the non-bonded methods `methods`, separated by semicolons.
fn spelled(methods: &Methods) -> String {
    let Methods { cutoff, electrostatics, lj_modifier, dispersion_correction } = *methods;
    let cutoff = cutoff.map_or("none".to_owned(), |cutoff| Length.spell(cutoff));
    let truncated = "coulomb_modifier = \"none\"";
    let electrostatics = match electrostatics {
        Electrostatics::Off => "\"off\"".to_owned(),
        Electrostatics::Plain => format!("\"plain\"; {truncated}"),
        Electrostatics::ReactionField { permittivity } => {
            format!("\"reaction-field\"; permittivity = {permittivity:?}")
        }
        Electrostatics::Pme(pme) => format!("\"pme\"; {}; {truncated}", mesh("pme", pme)),
    };
    let modifier = match lj_modifier {
        LjModifier::None => "\"none\"".to_owned(),
        LjModifier::PotentialShift => "\"potential-shift\"".to_owned(),
        LjModifier::ForceSwitch { from } => format!("\"force-switch\"; lj_switch = \"{}\"", Length.spell(from)),
        LjModifier::PotentialSwitch { from } => format!("\"potential-switch\"; lj_switch = \"{}\"", Length.spell(from)),
    };
    let correction = match dispersion_correction {
        DispersionCorrection::Off => "false".to_owned(),
        DispersionCorrection::AllPairs => "true".to_owned(),
        DispersionCorrection::NonExcluded => "\"non-excluded\"".to_owned(),
        DispersionCorrection::Pme(pme) => format!("\"pme\"; {}", mesh("lj_pme", pme)),
    };
    format!(
        "cutoff = \"{cutoff}\"; electrostatics = {electrostatics}; lj_modifier = {modifier}; dispersion_correction = \
         {correction}"
    )
}

fn mesh(key: &str, PmeParameters { alpha, grid, order }: PmeParameters) -> String {
    // the Ewald parameter is a quotient whose last digits are rounding noise, so it is rounded
    let alpha = InverseLength.spell((alpha * 1e9).round() / 1e9);
    format!("{key} = {{ alpha = \"{alpha}\", grid = {grid:?}, order = {order} }}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::Config;
    use crate::run::{ElectrostaticsSpec, LjPmeSpec, PmeSpec, Setting};

    #[test]
    fn what_is_spelled_is_read_as_the_same() {
        let pme = PmeParameters { alpha: 2.628_215_6, grid: [31, 32, 40], order: 5 };
        let field = Electrostatics::ReactionField { permittivity: 78.3 };
        for (cutoff, electrostatics, lj_modifier, dispersion_correction) in [
            (
                Some(1.0),
                Electrostatics::Pme(pme),
                LjModifier::PotentialSwitch { from: 0.8 },
                DispersionCorrection::AllPairs,
            ),
            (Some(1.0), Electrostatics::Pme(pme), LjModifier::PotentialShift, DispersionCorrection::Pme(pme)),
            (Some(0.9), field, LjModifier::None, DispersionCorrection::Off),
            (None, Electrostatics::Plain, LjModifier::None, DispersionCorrection::Off),
        ] {
            let methods = Methods { cutoff, electrostatics, lj_modifier, dispersion_correction };
            let forces = spelled(&methods).replace("; ", "\n");
            let text = format!("[system]\ntopology = \"t\"\ncoordinates = \"c\"\n[forces]\n{forces}\n");
            let forces = Config::parse(&text, Path::new("input.toml"), &[]).expect(&text).plan.forces;
            assert_eq!(forces.cutoff, Setting::Given(cutoff));
            assert_eq!(forces.lj_modifier, Setting::Given(lj_modifier));
            let correction = match dispersion_correction {
                DispersionCorrection::Pme(pme) => DispersionCorrection::Pme(LjPmeSpec::Explicit(pme)),
                DispersionCorrection::AllPairs => DispersionCorrection::AllPairs,
                _ => DispersionCorrection::Off,
            };
            assert_eq!(forces.dispersion_correction, Setting::Given(correction));
            assert_eq!(
                forces.electrostatics,
                match electrostatics {
                    Electrostatics::Pme(PmeParameters { alpha, grid, order }) => {
                        ElectrostaticsSpec::Pme(PmeSpec::Explicit { alpha, grid, order })
                    }
                    Electrostatics::ReactionField { permittivity } =>
                        ElectrostaticsSpec::ReactionField { permittivity },
                    _ => ElectrostaticsSpec::Plain,
                }
            );
        }
    }
}
