//! Keys of the output of a stage.

use crate::config::key::Default::{Required, Rule};
use crate::config::key::Kind::{Interval, Quantity, Text};
use crate::config::key::{Key, Kind, Range, key};
use crate::units::Dimension::WallTime;

pub(super) static STAGE_OUTPUT: &[Key] = &[
    key("trajectory", Kind::OneOrMore(TRAJECTORY), "{ every = \"1 ps\" }")
        .words(&["none"])
        .default(Rule("as output.trajectory", |_| None))
        .doc("Interval between frames of this stage, or \"none\". output.trajectory sets the contents and the file. With several files, list the files whose interval differs: [{ file = \"coarse.xtc\", every = \"none\" }]."),
    key("energies", Kind::Table(TABLE), "{ every = \"0.1 ps\" }")
        .words(&["none"])
        .default(Rule("as output.energies", |_| None))
        .doc("Interval between rows of the energy table in this stage, or \"none\"; averages of the stage are computed from these rows."),
    key("restraints", Kind::Table(TABLE), "{ every = \"1 ps\" }")
        .words(&["none"])
        .default(Rule("as output.restraints", |_| None))
        .doc("Interval between rows of the table of restraints in this stage, or \"none\"."),
    key("checkpoint", Kind::Table(CHECKPOINT), "{ every = \"1 min\" }")
        .default(Rule("as output.checkpoint", |_| None))
        .doc("Interval between checkpoints in this stage."),
];

const EVERY: Key = key("every", Interval, "\"1 ps\"")
    .words(&["none"])
    .default(Required)
    .doc("Interval between outputs of this stage, or \"none\".");

static TRAJECTORY: &[Key] = &[
    key("file", Text, "\"trajectory.h5md\"")
        .default(Rule("all of output.trajectory", |_| None))
        .doc("File of the trajectory in output.trajectory to which the interval applies."),
    EVERY,
];

static TABLE: &[Key] = &[EVERY];

static CHECKPOINT: &[Key] = &[key("every", Quantity(WallTime, Range::POSITIVE), "\"1 min\"")
    .default(Required)
    .doc("Wall-clock time between checkpoints in this stage.")];
