//! Keys of `[ensemble]`.

use super::KEY;
use crate::config::key::Default::Required;
use crate::config::key::Kind::{self, Integer, Interval, Quantities, Settings, Text};
use crate::config::key::{Key, Range};
use crate::units::Dimension::{Pressure, Temperature};

/// Maximum number of replicas. A larger number is probably a mistake, because each replica has its own folder, threads
/// and log lines.
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
        doc: "One replica per temperature. Each temperature replaces the constant temperatures of the thermostats, and of velocities generated at these temperatures. Stages that anneal keep their schedule. If pressures are listed as well, the first temperature and the first pressure belong to replica-1, and so on.",
        ..KEY
    },
    Key {
        name: "pressure",
        kind: Quantities(Pressure, Range::ANY),
        example: "[\"1 bar\", \"500 bar\"]",
        doc: "One replica per pressure. Each pressure replaces the constant isotropic pressures of the barostats. If temperatures are listed as well, the first temperature and the first pressure belong to replica-1, and so on.",
        ..KEY
    },
    Key {
        name: "solute_temperature",
        kind: Quantities(Temperature, Range::POSITIVE),
        example: "[\"300 K\", \"400 K\", \"530 K\"]",
        doc: "One replica per effective temperature of the solute of forces.scaled_solute. The scaling factor is the thermostat temperature divided by the effective temperature (with exchange: REST2). If pressures are listed as well, the first temperature and the first pressure belong to replica-1, and so on.",
        ..KEY
    },
    Key {
        name: "replica",
        kind: Kind::OneOrMore(REPLICA),
        example: "[{ name = \"low\", set = { \"forces.cutoff\" = \"0.9 nm\" } }, { name = \"high\", set = { \"forces.cutoff\" = \"1.2 nm\" } }]",
        doc: "A list of replicas with the settings of each. With a list of temperatures, pressures or solute temperatures as well, the first replica has the first state, and so on. Replicas that exchange states may differ in system.coordinates and run.seed only.",
        ..KEY
    },
    Key {
        name: "exchange",
        kind: Kind::Table(EXCHANGE),
        example: "{ every = \"1 ps\" }",
        doc: "Replica exchange in the last stage: replicas whose states (temperature, pressure) are neighbours in the lists attempt to exchange these states. The thermostat of each state must have one constant temperature, the same in all temperature groups. Each folder belongs to one replica, whose state changes with time; exchange.csv lists the state of every replica over time, and `md demux` sorts trajectories and energies by state. If there are more replicas than can run at the same time, the replicas take turns. If mpirun or srun starts several ranks, replica-1 belongs to the first rank (or group of ranks), replica-2 to the second, and so on in turn, for the whole run; all ranks wait for the rank with the most replicas. All replicas stop together, even if only one fails.",
        ..KEY
    },
    Key {
        name: "at_once",
        kind: Integer(1, MOST),
        example: "2",
        doc: "Number of replicas that run at the same time (default: number of threads); these replicas share the threads of the run equally, and share a GPU. If mpirun or srun starts several ranks, the number and the threads are per rank.",
        ..KEY
    },
    Key {
        name: "ranks_per_replica",
        kind: Integer(1, MOST),
        example: "4",
        doc: "Number of MPI ranks that divide the cell of each replica among themselves (default: 1). The number of ranks must be a multiple. A group of ranks computes one replica at a time; with exchange there must be a group for each replica.",
        ..KEY
    },
];

static EXCHANGE: &[Key] = &[Key {
    name: "every",
    kind: Interval,
    default: Required,
    example: "\"1 ps\"",
    doc: "Time or steps between exchange attempts. Attempts alternate between the pairs 1-2, 3-4, ... and the pairs 2-3, 4-5, ...",
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
        doc: "Keys of this file, as `--set` names them (a stage by name or number), and their values in this replica. These values override the file and the command line.",
        ..KEY
    },
];
