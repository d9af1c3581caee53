//! Keys of the output of a stage.

use super::KEY;
use crate::config::key::Default::{Required, Rule};
use crate::config::key::Kind::{Interval, Quantity, Text};
use crate::config::key::{Key, Kind, Range};
use crate::units::Dimension::WallTime;

pub(super) static STAGE_OUTPUT: &[Key] = &[
    Key {
        name: "trajectory",
        kind: Kind::OneOrMore(TRAJECTORY),
        words: &["none"],
        default: Rule("as output.trajectory", |_| None),
        example: "{ every = \"1 ps\" }",
        doc: "Interval between frames of this stage, or \"none\". output.trajectory sets the contents and the file. With several files, list the files whose interval differs: [{ file = \"coarse.xtc\", every = \"none\" }].",
        ..KEY
    },
    Key {
        name: "energies",
        kind: Kind::Table(TABLE),
        words: &["none"],
        default: Rule("as output.energies", |_| None),
        example: "{ every = \"0.1 ps\" }",
        doc: "Interval between rows of the energy table in this stage, or \"none\"; averages of the stage are computed from these rows.",
        ..KEY
    },
    Key {
        name: "restraints",
        kind: Kind::Table(TABLE),
        words: &["none"],
        default: Rule("as output.restraints", |_| None),
        example: "{ every = \"1 ps\" }",
        doc: "Interval between rows of the table of restraints in this stage, or \"none\".",
        ..KEY
    },
    Key {
        name: "checkpoint",
        kind: Kind::Table(CHECKPOINT),
        default: Rule("as output.checkpoint", |_| None),
        example: "{ every = \"1 min\" }",
        doc: "Interval between checkpoints in this stage.",
        ..KEY
    },
];

const EVERY: Key = Key {
    name: "every",
    kind: Interval,
    words: &["none"],
    default: Required,
    example: "\"1 ps\"",
    doc: "Interval in this stage, or \"none\".",
    ..KEY
};

static TRAJECTORY: &[Key] = &[
    Key {
        name: "file",
        kind: Text,
        default: Rule("all of output.trajectory", |_| None),
        example: "\"trajectory.h5md\"",
        doc: "File of the trajectory in output.trajectory to which the interval applies.",
        ..KEY
    },
    EVERY,
];

static TABLE: &[Key] = &[EVERY];

static CHECKPOINT: &[Key] = &[Key {
    name: "every",
    kind: Quantity(WallTime, Range::POSITIVE),
    default: Required,
    example: "\"1 min\"",
    doc: "Wall-clock time between checkpoints in this stage.",
    ..KEY
}];
