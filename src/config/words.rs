//! Words of the input file and their meanings, with one table for each key whose value is one of several words. The
//! parser uses the words of a table, and the plan uses the meanings. Words that only decide which other keys are read
//! are not in these tables, but are listed with their keys.

use crate::ensemble::barostat::{BarostatKind, PressureCoupling};
use crate::ensemble::thermostat::ThermostatKind;
use crate::restraint::{Components, ReferenceScaling, VariableKind};
use crate::run::{ConstraintKind, Precision, TuningMethod};
use crate::simd::Level;
use crate::system::Modifier;

/// Returns the words of a table, in the order of the table.
pub(super) const fn of<T: Copy, const N: usize>(table: &[(&'static str, T); N]) -> [&'static str; N] {
    let (mut words, mut index) = ([""; N], 0);
    while index < N {
        words[index] = table[index].0;
        index += 1;
    }
    words
}

/// Word for a setting that follows the convention of the force field.
pub(super) const FORCE_FIELD: &str = "force-field";

/// Words that the key `forces.coulomb_modifier` accepts, with their meanings.
pub(super) const MODIFIERS: [(&str, Modifier); 2] =
    [("potential-shift", Modifier::PotentialShift), ("none", Modifier::None)];

/// Words that the key `forces.constraints` accepts, with their meanings.
pub(super) const CONSTRAINTS: [(&str, ConstraintKind); 4] = [
    ("none", ConstraintKind::None),
    ("h-bonds", ConstraintKind::HBonds),
    ("all-bonds", ConstraintKind::AllBonds),
    ("h-angles", ConstraintKind::HAngles),
];

/// Words that the key `run.precision` accepts, with their meanings.
pub(super) const PRECISIONS: [(&str, Precision); 2] = [("mixed", Precision::Mixed), ("double", Precision::Double)];

/// Words that the key `run.tuning` accepts, with their meanings.
pub(super) const TUNINGS: [(&str, TuningMethod); 3] =
    [("off", TuningMethod::Off), ("model", TuningMethod::Model), ("measure", TuningMethod::Measure)];

/// Words that the key `run.simd` accepts, with their meanings; `None` means the best instruction set of the processor.
pub(super) const SIMD_LEVELS: [(&str, Option<Level>); 4] = [
    ("auto", None),
    (Level::Portable.name(), Some(Level::Portable)),
    (Level::Avx2.name(), Some(Level::Avx2)),
    (Level::Avx512.name(), Some(Level::Avx512)),
];

/// Words that the key `thermostat.kind` accepts, with their meanings.
pub(super) const THERMOSTATS: [(&str, ThermostatKind); ThermostatKind::ALL.len()] = {
    let mut words = [("", ThermostatKind::VRescale); ThermostatKind::ALL.len()];
    let mut index = 0;
    while index < words.len() {
        let kind = ThermostatKind::ALL[index];
        words[index] = (kind.facts().word, kind);
        index += 1;
    }
    words
};

/// Words that the key `position_restraints.reference_scaling` accepts, with their meanings.
pub(super) const REFERENCE_SCALINGS: [(&str, ReferenceScaling); 3] = [
    ("center-of-mass", ReferenceScaling::CenterOfMass),
    ("all", ReferenceScaling::All),
    ("none", ReferenceScaling::None),
];

/// Words that the key `restraints.kind` accepts, with their meanings.
pub(super) const VARIABLES: [(&str, VariableKind); 4] = [
    ("distance", VariableKind::Distance),
    ("angle", VariableKind::Angle),
    ("torsion", VariableKind::Torsion),
    ("rmsd", VariableKind::Rmsd),
];

/// Restraint variables that are angles.
pub(super) const ANGLES: &[&str] = &["angle", "torsion"];

/// Word of `restraints.gather_around` in place of an atom: the molecules of a group are moved to periodic images near
/// each other, along the shortest distances between molecules.
pub(super) const NO_ATOM: &str = "none";

/// Words that the key `restraints.along` accepts, with their meanings.
pub(super) const COMPONENTS: [(&str, Components); 7] = [
    ("xyz", [true, true, true]),
    ("x", [true, false, false]),
    ("y", [false, true, false]),
    ("z", [false, false, true]),
    ("xy", [true, true, false]),
    ("xz", [true, false, true]),
    ("yz", [false, true, true]),
];

/// Words that the key `barostat.kind` accepts, with their meanings.
pub(super) const BAROSTATS: [(&str, BarostatKind); BarostatKind::ALL.len()] = {
    let mut words = [("", BarostatKind::CRescale); BarostatKind::ALL.len()];
    let mut index = 0;
    while index < words.len() {
        let kind = BarostatKind::ALL[index];
        words[index] = (kind.facts().word, kind);
        index += 1;
    }
    words
};

/// Words that the key `barostat.coupling` accepts, with their meanings.
pub(super) const PRESSURE_COUPLINGS: [(&str, PressureCoupling); 3] = [
    ("isotropic", PressureCoupling::Isotropic),
    ("semi-isotropic", PressureCoupling::SemiIsotropic),
    ("anisotropic", PressureCoupling::Anisotropic),
];

/// Words of other programs, each with the advice what to write instead.
pub(super) const INSTEAD: [(&str, &str); 6] = [
    ("parrinello-rahman", SAME_ENSEMBLE),
    ("mttk", SAME_ENSEMBLE),
    ("nose-hoover-langevin-piston", SAME_ENSEMBLE),
    ("langevin-piston", SAME_ENSEMBLE),
    ("semiisotropic", "write \"semi-isotropic\""),
    ("surface-tension", "write coupling = \"semi-isotropic\", surface_tension = \"20 mN/m\""),
];
const SAME_ENSEMBLE: &str = "\"c-rescale\" samples the same ensemble, with the same pressure, coupling_time and \
                             compressibility; the cell need not be near equilibrium";
