//! The words of the input file and their meanings: one table for each key whose value is one of several words. The table of
//! keys takes its words from here, and the plan takes the meanings, so that every word has one.

use crate::ensemble::barostat::{BarostatKind, PressureCoupling};
use crate::ensemble::thermostat::ThermostatKind;
use crate::restraint::{Components, ReferenceScaling, VariableKind};
use crate::run::{ConstraintKind, Precision, SimdLevel, TuningMethod};
use crate::system::Modifier;

/// The words of a table, in its order.
pub(super) const fn of<T: Copy, const N: usize>(table: &[(&'static str, T); N]) -> [&'static str; N] {
    let (mut words, mut index) = ([""; N], 0);
    while index < N {
        words[index] = table[index].0;
        index += 1;
    }
    words
}

/// `forces.electrostatics`, without what else belongs to each.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ElectrostaticsWord {
    /// particle-mesh Ewald
    Pme,
    /// truncated
    Plain,
    /// reaction field
    ReactionField,
    /// none
    Off,
}

/// `forces.electrostatics`
pub(super) const ELECTROSTATICS: [(&str, ElectrostaticsWord); 4] = [
    ("pme", ElectrostaticsWord::Pme),
    ("plain", ElectrostaticsWord::Plain),
    ("reaction-field", ElectrostaticsWord::ReactionField),
    ("off", ElectrostaticsWord::Off),
];

/// `forces.lj_modifier`, without the distance that belongs to switches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LjModifierWord {
    /// by the convention of the force field
    ForceField,
    /// shifted
    PotentialShift,
    /// switched force
    ForceSwitch,
    /// switched potential
    PotentialSwitch,
    /// truncated
    None,
}

/// `forces.lj_modifier`
pub(super) const LJ_MODIFIERS: [(&str, LjModifierWord); 5] = [
    (FORCE_FIELD, LjModifierWord::ForceField),
    ("potential-shift", LjModifierWord::PotentialShift),
    ("force-switch", LjModifierWord::ForceSwitch),
    ("potential-switch", LjModifierWord::PotentialSwitch),
    ("none", LjModifierWord::None),
];

/// For what follows the conventions of the force field.
pub(super) const FORCE_FIELD: &str = "force-field";

/// `forces.coulomb_modifier`
pub(super) const MODIFIERS: [(&str, Modifier); 2] =
    [("potential-shift", Modifier::PotentialShift), ("none", Modifier::None)];

/// `forces.constraints`
pub(super) const CONSTRAINTS: [(&str, ConstraintKind); 4] = [
    ("none", ConstraintKind::None),
    ("h-bonds", ConstraintKind::HBonds),
    ("all-bonds", ConstraintKind::AllBonds),
    ("h-angles", ConstraintKind::HAngles),
];

/// `run.precision`
pub(super) const PRECISIONS: [(&str, Precision); 2] = [("mixed", Precision::Mixed), ("double", Precision::Double)];

/// `run.tuning`
pub(super) const TUNINGS: [(&str, TuningMethod); 3] =
    [("off", TuningMethod::Off), ("model", TuningMethod::Model), ("measure", TuningMethod::Measure)];

/// `run.simd`; none is the best of the processor
pub(super) const SIMD_LEVELS: [(&str, Option<SimdLevel>); 4] = [
    ("auto", None),
    ("portable", Some(SimdLevel::Portable)),
    ("avx2", Some(SimdLevel::Avx2)),
    ("avx512", Some(SimdLevel::Avx512)),
];

/// `kind` of a stage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StageWord {
    /// minimisation
    Minimize,
    /// dynamics
    Dynamics,
}

/// `kind` of a stage
pub(super) const STAGES: [(&str, StageWord); 2] =
    [("minimize", StageWord::Minimize), ("dynamics", StageWord::Dynamics)];

/// `velocities` of a stage, without the temperature.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum VelocitiesWord {
    /// the present ones
    File,
    /// drawn at random
    Generate,
}

/// `velocities` of a stage
pub(super) const VELOCITIES: [(&str, VelocitiesWord); 2] =
    [("file", VelocitiesWord::File), ("generate", VelocitiesWord::Generate)];

/// `thermostat.kind`
pub(super) const THERMOSTATS: [(&str, ThermostatKind); 5] = [
    ("v-rescale", ThermostatKind::VRescale),
    ("nose-hoover", ThermostatKind::NoseHoover),
    ("langevin", ThermostatKind::Langevin),
    ("andersen", ThermostatKind::Andersen),
    ("berendsen", ThermostatKind::Berendsen),
];

/// `position_restraints.reference_scaling`
pub(super) const REFERENCE_SCALINGS: [(&str, ReferenceScaling); 3] = [
    ("center-of-mass", ReferenceScaling::CenterOfMass),
    ("all", ReferenceScaling::All),
    ("none", ReferenceScaling::None),
];

/// `restraints.kind`
pub(super) const VARIABLES: [(&str, VariableKind); 4] = [
    ("distance", VariableKind::Distance),
    ("angle", VariableKind::Angle),
    ("torsion", VariableKind::Torsion),
    ("rmsd", VariableKind::Rmsd),
];

/// Those of them that are angles.
pub(super) const ANGLES: &[&str] = &["angle", "torsion"];

/// `restraints.gather_around`: the molecules of a group are gathered along their shortest distances
pub(super) const NO_ATOM: &str = "none";

/// `restraints.along`
pub(super) const COMPONENTS: [(&str, Components); 7] = [
    ("xyz", [true, true, true]),
    ("x", [true, false, false]),
    ("y", [false, true, false]),
    ("z", [false, false, true]),
    ("xy", [true, true, false]),
    ("xz", [true, false, true]),
    ("yz", [false, true, true]),
];

/// `barostat.kind`
pub(super) const BAROSTATS: [(&str, BarostatKind); 3] = [
    ("c-rescale", BarostatKind::CRescale),
    ("monte-carlo", BarostatKind::MonteCarlo),
    ("berendsen", BarostatKind::Berendsen),
];

/// `barostat.coupling`
pub(super) const PRESSURE_COUPLINGS: [(&str, PressureCoupling); 3] = [
    ("isotropic", PressureCoupling::Isotropic),
    ("semi-isotropic", PressureCoupling::SemiIsotropic),
    ("anisotropic", PressureCoupling::Anisotropic),
];

/// Words of other programs, and what to take instead.
pub(super) const INSTEAD: [(&str, &str); 6] = [
    ("parrinello-rahman", SAME_ENSEMBLE),
    ("mttk", SAME_ENSEMBLE),
    ("nose-hoover-langevin-piston", SAME_ENSEMBLE),
    ("langevin-piston", SAME_ENSEMBLE),
    ("semiisotropic", "write \"semi-isotropic\""),
    ("surface-tension", "write coupling = \"semi-isotropic\", surface_tension = \"20 mN/m\""),
];
const SAME_ENSEMBLE: &str = "\"c-rescale\" samples the same ensemble, with the same pressure, coupling_time and compressibility; \
                             it needs no cell that is near equilibrium";
