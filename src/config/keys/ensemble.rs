//! Keys of `[ensemble]`.

use super::KEY;
use crate::config::key::Default::Required;
use crate::config::key::Kind::{self, Integer, Interval, Quantities, Settings, Text};
use crate::config::key::{Key, Range};
use crate::units::Dimension::{Pressure, Temperature};

/// Largest number of replicas. Each has a folder, threads and log lines of its own, so a larger number is a mistake.
const MOST: i64 = 10_000;

pub(super) static ENSEMBLE: &[Key] = &[
    Key {
        name: "replicas",
        kind: Integer(1, MOST),
        example: "4",
        doc: "This many replicas, which differ in their seeds only.",
        ..KEY
    },
    Key {
        name: "temperature",
        kind: Quantities(Temperature, Range::POSITIVE),
        example: "[\"300 K\", \"310 K\", \"320 K\"]",
        doc: "A replica for each temperature: that of every thermostat whose temperature is constant, and of velocities that are generated at it. Stages that anneal keep their schedule. Pressures beside it belong to the same replicas in their order.",
        ..KEY
    },
    Key {
        name: "pressure",
        kind: Quantities(Pressure, Range::ANY),
        example: "[\"1 bar\", \"500 bar\"]",
        doc: "A replica for each pressure: that of every barostat whose pressure is constant and the same in all directions. Temperatures beside it belong to the same replicas in their order.",
        ..KEY
    },
    Key {
        name: "solute_temperature",
        kind: Quantities(Temperature, Range::POSITIVE),
        example: "[\"300 K\", \"400 K\", \"530 K\"]",
        doc: "A replica for each temperature that the solute of forces.scaled_solute shall see, at that of the thermostat: its factor is the latter over the former (REST2, with exchange). Pressures beside it belong to the same replicas in their order.",
        ..KEY
    },
    Key {
        name: "replica",
        kind: Kind::OneOrMore(REPLICA),
        example: "[{ name = \"low\", set = { \"forces.cutoff\" = \"0.9 nm\" } }, { name = \"high\", set = { \"forces.cutoff\" = \"1.2 nm\" } }]",
        doc: "A list of replicas with what each sets.",
        ..KEY
    },
    Key {
        name: "exchange",
        kind: Kind::Table(EXCHANGE),
        example: "{ every = \"1 ps\" }",
        doc: "Replica exchange in the last stage: replicas whose states (temperature, pressure) are neighbours in the lists try to swap these. The thermostat of each state must have one constant temperature, the same in all temperature groups. Each folder holds one replica on its way through the states; exchange.csv says which state it has when, and `md demux` sorts trajectories and energies by state. Where there are more replicas than run side by side they take turns. Where mpirun or srun starts several ranks, replica-1 is the first rank's, replica-2 the second's, and so on in turn, for the whole run; all wait for the rank with the most replicas. They stop together, also where one fails.",
        ..KEY
    },
    Key {
        name: "at_once",
        kind: Integer(1, MOST),
        example: "2",
        doc: "Replicas that run side by side, as many as there are threads unless set; the threads of the run are shared among them equally. On a GPU they share it too. Where mpirun or srun starts several ranks, these are the replicas and threads of each rank.",
        ..KEY
    },
];

static EXCHANGE: &[Key] = &[Key {
    name: "every",
    kind: Interval,
    default: Required,
    example: "\"1 ps\"",
    doc: "Time or steps between attempts: the pairs 1-2, 3-4, ... and 2-3, 4-5, ... take turns.",
    ..KEY
}];

static REPLICA: &[Key] = &[
    Key {
        name: "name",
        kind: Text,
        example: "\"low\"",
        doc: "Name in messages and for `--replica`, replica-1, replica-2, ... unless set; letters, digits, - and _.",
        ..KEY
    },
    Key {
        name: "set",
        kind: Settings,
        example: "{ \"stage.production.thermostat.temperature\" = \"310 K\", \"run.seed\" = 7 }",
        doc: "Keys of this file, as `--set` names them (a stage by name or number), and their values in this replica. They go over the file and over the command line.",
        ..KEY
    },
];
