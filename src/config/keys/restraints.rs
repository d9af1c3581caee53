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

/// Kind of a position of a variable: a length, or an angle for variables that are angles.
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
        doc: "What is restrained: the distance between two centres of mass, the angle of three (at the second), the torsion of four, or the root mean square deviation from a reference after the best superposition.",
        ..KEY
    },
    Key {
        name: "groups",
        kind: Texts,
        default: Required,
        example: "[\"resid 5 and name CA\", \"resid 60 and name CA\"]",
        doc: "Selections of atoms, in the words of output.trajectory.select, whose centres of mass count: two for a distance, three for an angle, four for a torsion; one for an RMSD, whose atoms all count alike. Displacements are those to the nearest periodic image. The molecules of a group are gathered along their shortest distances when a stage begins.",
        ..KEY
    },
    Key {
        name: "gather_around",
        kind: Texts,
        default: Rule("none: the molecules of a group are gathered along their shortest distances", |_| None),
        example: "[\"index 17\", \"none\"]",
        doc: "For each group a selection of one atom, or none: the molecules of the group are taken in the periodic images nearest to it (GROMACS: pull-group1-pbcatom). It matters for groups of several molecules that extend over more than half of the cell.",
        ..KEY
    },
    Key {
        name: "along",
        words: &words::of(&words::COMPONENTS),
        default: Is("\"xyz\""),
        only: Some(("kind", &["distance"])),
        example: "\"z\"",
        doc: "The components of the displacement that count in a distance (GROMACS: pull-coord-dim).",
        ..KEY
    },
    Key {
        name: "reference",
        kind: File,
        default: Rule("the coordinates that the run starts from", |_| None),
        only: Some(("kind", &["rmsd"])),
        example: "\"start.gro\"",
        doc: "Coordinates of all atoms that an RMSD refers to, in any format of system.coordinates.",
        ..KEY
    },
    Key {
        name: "at",
        kind: position(Range::ANY),
        default: Rule("the value at the start of the stage; not with lower, upper or force", |_| None),
        example: "\"0.8 nm\"",
        doc: "The centre of a harmonic restraint (AMBER: r2 = r3; GROMACS: pull-coord-init).",
        ..KEY
    },
    Key {
        name: "flat",
        kind: position(NOT_NEGATIVE),
        default: Rule("0", |_| None),
        example: "\"0.1 nm\"",
        doc: "Nothing acts within this distance from the centre; beyond it counts what is longer (a flat bottom).",
        ..KEY
    },
    Key {
        name: "lower",
        kind: position(Range::ANY),
        default: Rule("no lower wall", |_| None),
        example: "\"0.3 nm\"",
        doc: "In place of a centre: nothing acts above this value (AMBER: r2).",
        ..KEY
    },
    Key {
        name: "upper",
        kind: position(Range::ANY),
        default: Rule("no upper wall", |_| None),
        example: "\"1.2 nm\"",
        doc: "In place of a centre: nothing acts below this value (AMBER: r3).",
        ..KEY
    },
    Key {
        name: "force_constant",
        kind: QuantityBy([ForceConstant, AngularForceConstant], ANGULAR, Range::POSITIVE),
        default: Rule("none, it must be given but with force", |_| None),
        example: "\"1000 kJ/mol/nm^2\"",
        doc: "k of the energy k/2 e^2 at the distance e from centre, flat bottom or wall, as in GROMACS; twice the rk of AMBER.",
        ..KEY
    },
    Key {
        name: "linear_beyond",
        kind: position(Range::POSITIVE),
        default: Rule("none: harmonic everywhere", |_| None),
        example: "\"0.2 nm\"",
        doc: "The energy goes on as a line beyond this distance from centre, flat bottom or wall (AMBER: r4 - r3).",
        ..KEY
    },
    Key {
        name: "rate",
        kind: QuantityBy([Velocity, AngularVelocity], ANGULAR, Range::ANY),
        default: Rule("0", |_| None),
        example: "\"1 nm/ns\"",
        doc: "Speed at which centre or walls move during a stage of dynamics, which pulls; their work is in the energy table and in restraints.csv.",
        ..KEY
    },
    Key {
        name: "force",
        kind: QuantityBy([Force, Torque], ANGULAR, Range::ANY),
        default: Rule("none", |_| None),
        example: "\"100 kJ/mol/nm\"",
        doc: "In place of a harmonic restraint: a constant force, which drives the value up where it is positive. Not of a torsion.",
        ..KEY
    },
];
