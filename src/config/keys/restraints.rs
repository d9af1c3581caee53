//! Keys of `restraints` of a stage.

use super::KEY;
use super::stage::NOT_NEGATIVE;
use crate::config::key::Default::{Is, Required, Rule};
use crate::config::key::Kind::{File, QuantityBy, Texts};
use crate::config::key::{Key, Kind, Range};
use crate::config::words;
use crate::units::Dimension::{
    Angle, AngularForceConstant, AngularVelocity, Force, ForceConstant, Length, Torque, Velocity,
};

/// Returns the kind of a value on the axis of a restraint variable: a length, or an angle for variables that are
/// angles.
const fn position(range: Range) -> Kind {
    QuantityBy([Length, Angle], ANGULAR, range)
}

const ANGULAR: (&str, &[&str]) = ("kind", words::ANGLES);

pub(super) static RESTRAINTS: &[Key] = &[
    Key {
        name: "kind",
        words: &words::of(&words::VARIABLES),
        default: Required,
        example: "\"distance\"",
        doc: "Restrained variable: the distance between two centers of mass, the angle between three centers (vertex at the second), the torsion of four centers, or the root mean square deviation from a reference structure after the best superposition.",
        ..KEY
    },
    Key {
        name: "groups",
        kind: Texts,
        default: Required,
        example: "[\"resid 5 and name CA\", \"resid 60 and name CA\"]",
        doc: "Selections of atoms, with the keywords of output.trajectory.select, whose centers of mass are used: two for a distance, three for an angle, four for a torsion; one for an RMSD, whose atoms have equal weights. Displacements are minimum images. When a stage begins, the molecules of a group are gathered along the shortest distances between them.",
        ..KEY
    },
    Key {
        name: "gather_around",
        kind: Texts,
        default: Rule("none: the molecules of a group are gathered along their shortest distances", |_| None),
        example: "[\"index 17\", \"none\"]",
        doc: "For each group a selection of one atom, or \"none\": the molecules of the group are placed in the periodic images nearest to this atom (GROMACS: pull-group1-pbcatom). This key matters for groups of several molecules that extend over more than half of the cell.",
        ..KEY
    },
    Key {
        name: "along",
        words: &words::of(&words::COMPONENTS),
        default: Is("\"xyz\""),
        only: Some(("kind", &["distance"])),
        example: "\"z\"",
        doc: "Components of the displacement that a distance uses (GROMACS: pull-coord-dim).",
        ..KEY
    },
    Key {
        name: "reference",
        kind: File,
        default: Rule("the coordinates that the run starts from", |_| None),
        only: Some(("kind", &["rmsd"])),
        example: "\"start.gro\"",
        doc: "Reference of an RMSD: coordinates of all atoms, in any format of system.coordinates.",
        ..KEY
    },
    Key {
        name: "at",
        kind: position(Range::ANY),
        default: Rule("the value at the start of the stage; not with lower, upper or force", |_| None),
        example: "\"0.8 nm\"",
        doc: "Center of a harmonic restraint (AMBER: r2 = r3; GROMACS: pull-coord-init).",
        ..KEY
    },
    Key {
        name: "flat",
        kind: position(NOT_NEGATIVE),
        default: Rule("0", |_| None),
        example: "\"0.1 nm\"",
        doc: "Half-width of the flat bottom: no force acts within this distance from the center; beyond this distance, the energy depends on the excess distance.",
        ..KEY
    },
    Key {
        name: "lower",
        kind: position(Range::ANY),
        default: Rule("no lower wall", |_| None),
        example: "\"0.3 nm\"",
        doc: "Lower wall, instead of a center: no force above this value (AMBER: r2).",
        ..KEY
    },
    Key {
        name: "upper",
        kind: position(Range::ANY),
        default: Rule("no upper wall", |_| None),
        example: "\"1.2 nm\"",
        doc: "Upper wall, instead of a center: no force below this value (AMBER: r3).",
        ..KEY
    },
    Key {
        name: "force_constant",
        kind: QuantityBy([ForceConstant, AngularForceConstant], ANGULAR, Range::POSITIVE),
        default: Rule("none, it must be given unless force is given", |_| None),
        example: "\"1000 kJ/mol/nm^2\"",
        doc: "Force constant k of the energy k/2 e^2 at the distance e from center, flat bottom or wall, as in GROMACS. k is twice AMBER's rk.",
        ..KEY
    },
    Key {
        name: "linear_beyond",
        kind: position(Range::POSITIVE),
        default: Rule("none: harmonic everywhere", |_| None),
        example: "\"0.2 nm\"",
        doc: "Distance from center, flat bottom or wall beyond which the energy is linear (AMBER: r4 - r3).",
        ..KEY
    },
    Key {
        name: "rate",
        kind: QuantityBy([Velocity, AngularVelocity], ANGULAR, Range::ANY),
        default: Rule("0", |_| None),
        example: "\"1 nm/ns\"",
        doc: "Speed at which center or walls move (pull) during a stage of dynamics; their work is in the energy table and in restraints.csv.",
        ..KEY
    },
    Key {
        name: "force",
        kind: QuantityBy([Force, Torque], ANGULAR, Range::ANY),
        default: Rule("none", |_| None),
        example: "\"100 kJ/mol/nm\"",
        doc: "Constant force instead of a harmonic restraint; a positive force increases the value. Not available for torsions.",
        ..KEY
    },
];
