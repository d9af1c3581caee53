//! Descriptions of the Lennard-Jones modifier and dispersion correction, for log, `md check` and warnings.

use crate::run::plan::Plan;
use crate::system::{DispersionCorrection, ForceSettings, LjModifier, PmeParameters, System};

/// Describes how Lennard-Jones interactions end at the cutoff, for example "force switch from 1 nm, no dispersion
/// correction".
pub fn describe_lj_end(settings: &ForceSettings) -> String {
    let end = match settings.lj_modifier {
        LjModifier::None => "truncated".to_owned(),
        LjModifier::PotentialShift => "potential shift".to_owned(),
        LjModifier::ForceSwitch { from } => format!("force switch from {from} nm"),
        LjModifier::PotentialSwitch { from } => format!("potential switch from {from} nm"),
    };
    let correction = match settings.dispersion_correction {
        DispersionCorrection::Off => "no dispersion correction".to_owned(),
        DispersionCorrection::AllPairs => "dispersion correction over all pairs".to_owned(),
        DispersionCorrection::NonExcluded => "dispersion correction over pairs that are not excluded".to_owned(),
        DispersionCorrection::Pme(PmeParameters { alpha, grid: [a, b, c], order }) => {
            format!("LJ-PME with alpha {alpha:.4} 1/nm, grid {a} x {b} x {c}, order {order}")
        }
    };
    format!("{end}, {correction}")
}

/// Describes the keys of the input file that have CHARMM's values by default, because the force field is CHARMM and the
/// input file does not set these keys. Returns `None` if the input file sets all keys for which CHARMM has a
/// convention.
pub fn describe_conventions(plan: &Plan, system: &System) -> Option<String> {
    let keys = plan.forces.left_to_force_field();
    (system.topology.charmm && system.settings.cutoff_lj.is_some() && !keys.is_empty()).then(|| {
        format!("the CHARMM convention is used for {}, because the input file does not set these keys", keys.join(", "))
    })
}
