//! Keys of `[ensemble]`.

use super::KEY;
use crate::config::key::Default::Required;
use crate::config::key::Kind::{self, Integer, Interval, Quantities, Settings, Text};
use crate::config::key::{Key, Range};
use crate::units::Dimension::{Pressure, Temperature};

/// Largest number of replicas. Each replica has a folder, threads and log lines of its own, so a larger number is
/// probably a mistake.
const MOST: i64 = 10_000;

pub(super) static ENSEMBLE: &[Key] = &[
    Key {
        name: "replicas",
        kind: Integer(1, MOST),
        example: "4",
        doc: "Number of replicas that differ only in their seeds.",
        ..KEY
    },
    Key {
        name: "temperature",
        kind: Quantities(Temperature, Range::POSITIVE),
        example: "[\"300 K\", \"310 K\", \"320 K\"]",
        doc: "One replica per temperature. It sets every thermostat with a constant temperature, and velocities generated at that temperature. Stages that anneal keep their schedule. If pressures are listed too, each belongs to the replica with the same place in its list.",
        ..KEY
    },
    Key {
        name: "pressure",
        kind: Quantities(Pressure, Range::ANY),
        example: "[\"1 bar\", \"500 bar\"]",
        doc: "One replica per pressure. It sets every barostat with a constant isotropic pressure. If temperatures are listed too, each belongs to the replica with the same place in its list.",
        ..KEY
    },
    Key {
        name: "solute_temperature",
        kind: Quantities(Temperature, Range::POSITIVE),
        example: "[\"300 K\", \"400 K\", \"530 K\"]",
        doc: "One replica per effective temperature of the solute of forces.scaled_solute. The factor is the thermostat temperature divided by it (REST2, with exchange). If pressures are listed too, each belongs to the replica with the same place in its list.",
        ..KEY
    },
    Key {
        name: "replica",
        kind: Kind::OneOrMore(REPLICA),
        example: "[{ name = \"low\", set = { \"forces.cutoff\" = \"0.9 nm\" } }, { name = \"high\", set = { \"forces.cutoff\" = \"1.2 nm\" } }]",
        doc: "A list of replicas with the settings of each.",
        ..KEY
    },
    Key {
        name: "exchange",
        kind: Kind::Table(EXCHANGE),
        example: "{ every = \"1 ps\" }",
        doc: "Replica exchange in the last stage: replicas whose states (temperature, pressure) are neighbours in the lists attempt to exchange them. The thermostat of each state must have one constant temperature, the same in all temperature groups. Each folder holds one replica, which visits the states; exchange.csv lists the state of every replica over time, and `md demux` sorts trajectories and energies by state. If there are more replicas than run at the same time, they take turns. If mpirun or srun starts several ranks, replica-1 belongs to the first rank, replica-2 to the second, and so on in turn, for the whole run; all ranks wait for the rank with the most replicas. All replicas stop together, even if only one fails.",
        ..KEY
    },
    Key {
        name: "at_once",
        kind: Integer(1, MOST),
        example: "2",
        doc: "Number of replicas that run at the same time (default: number of threads); they share the threads of the run equally, and a GPU too. If mpirun or srun starts several ranks, the number and the threads are per rank.",
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
        doc: "Name in messages and for `--replica` (default: replica-1, replica-2, ...); letters, digits, - and _.",
        ..KEY
    },
    Key {
        name: "set",
        kind: Settings,
        example: "{ \"stage.production.thermostat.temperature\" = \"310 K\", \"run.seed\" = 7 }",
        doc: "Keys of this file, as `--set` names them (a stage by name or number), and their values in this replica. They override the file and the command line.",
        ..KEY
    },
];
