//! Descriptions of cutoffs, electrostatics and Lennard-Jones interactions, for log, `md check` and warnings.

use crate::run::plan::Plan;
use crate::system::{DispersionCorrection, Electrostatics, ForceSettings, LjModifier, System};

/// Describes both cutoffs and how Lennard-Jones interactions end at theirs, for example "0.9 nm, Lennard-Jones 0.9 nm,
/// potential shift, dispersion correction over all pairs".
pub fn describe_cutoffs(settings: &ForceSettings) -> String {
    let length = |value: Option<f64>| value.map_or("none".to_owned(), |nm| format!("{nm} nm"));
    let end = settings.cutoff_lj.map_or(String::new(), |_| format!(", {}", describe_lj_end(settings)));
    format!("{}, Lennard-Jones {}{end}", length(settings.cutoff), length(settings.cutoff_lj))
}

/// Describes the treatment of Coulomb interactions, for example "reaction field, permittivity 78.5".
pub fn describe_electrostatics(settings: &ForceSettings) -> String {
    match settings.electrostatics {
        Electrostatics::Off => "no electrostatics".to_owned(),
        Electrostatics::Plain => "plain electrostatics".to_owned(),
        Electrostatics::ReactionField { permittivity } => format!("reaction field, permittivity {permittivity}"),
        Electrostatics::Pme(mesh) => format!("PME, {mesh}"),
    }
}

/// Describes how Lennard-Jones interactions end at the cutoff, for example "force switch from 1 nm, no dispersion
/// correction".
pub(super) fn describe_lj_end(settings: &ForceSettings) -> String {
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
        DispersionCorrection::Pme(mesh) => format!("LJ-PME with {mesh}"),
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
