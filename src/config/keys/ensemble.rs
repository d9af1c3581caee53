//! Keys of `[ensemble]`.

use crate::config::key::Default::Required;
use crate::config::key::Kind::{self, Integer, Interval, Quantities, Settings, Text};
use crate::config::key::{Key, Range, key};
use crate::units::Dimension::{Pressure, Temperature};

/// Maximum number of replicas. A larger number is probably a mistake, because each replica has its own folder, threads
/// and log lines.
const MOST: i64 = 10_000;

pub(super) static ENSEMBLE: &[Key] = &[
    key("replicas", Integer(1, MOST), "4")
        .doc("Number of replicas that differ only in their seeds."),
    key("temperature", Quantities(Temperature, Range::POSITIVE), "[\"300 K\", \"310 K\", \"320 K\"]")
        .doc("One replica per temperature. Each temperature replaces the constant temperatures of the thermostats. Velocities that a stage generates at the thermostat temperature are generated at the new temperature. Stages that anneal keep their schedule. If pressures are listed as well, the first temperature and the first pressure belong to replica-1, and so on."),
    key("pressure", Quantities(Pressure, Range::ANY), "[\"1 bar\", \"500 bar\"]")
        .doc("One replica per pressure. Each pressure replaces the constant isotropic pressures of the barostats. If temperatures are listed as well, the first temperature and the first pressure belong to replica-1, and so on."),
    key("solute_temperature", Quantities(Temperature, Range::POSITIVE), "[\"300 K\", \"400 K\", \"530 K\"]")
        .doc("One replica per effective temperature of the solute of forces.scaled_solute. The scaling factor is the thermostat temperature divided by the effective temperature (with exchange: REST2). If pressures are listed as well, the first temperature and the first pressure belong to replica-1, and so on."),
    key("replica", Kind::OneOrMore(REPLICA), "[{ name = \"low\", set = { \"forces.cutoff\" = \"0.9 nm\" } }, { name = \"high\", set = { \"forces.cutoff\" = \"1.2 nm\" } }]")
        .doc("A list of replicas with the settings of each. If temperatures, pressures or solute temperatures are listed as well, the first replica has the first state, and so on. Replicas that exchange states may differ in system.coordinates and run.seed only."),
    key("exchange", Kind::Table(EXCHANGE), "{ every = \"1 ps\" }")
        .doc("Replica exchange in the last stage: replicas whose states (temperature, pressure) are neighbours in the lists attempt to exchange these states. The thermostat of each state must have one constant temperature, the same in all temperature groups. Each folder belongs to one replica, whose state changes with time; exchange.csv lists the state of every replica over time, and `md demux` sorts trajectories and energies by state. If there are more replicas than can run at the same time, the replicas take turns. If mpirun or srun starts several ranks, replica-1 belongs to the first rank (or group of ranks), replica-2 to the second, and so on in turn, for the whole run; all ranks wait for the rank with the most replicas. All replicas stop together, even if only one fails."),
    key("at_once", Integer(1, MOST), "2")
        .doc("Number of replicas that run at the same time (default: number of threads); these replicas share the threads of the run equally, and share a GPU. If mpirun or srun starts several ranks, both the number of replicas and the number of threads are per rank."),
    key("ranks_per_replica", Integer(1, MOST), "4")
        .doc("Number of MPI ranks that divide the cell of each replica among themselves (default: 1). The total number of ranks must be a multiple of this number. A group of ranks computes one replica at a time; with exchange there must be a group for each replica."),
];

static EXCHANGE: &[Key] = &[key("every", Interval, "\"1 ps\"")
    .default(Required)
    .doc("Time or steps between exchange attempts. Attempts alternate between the pairs 1-2, 3-4, ... and the pairs 2-3, 4-5, ...")];

static REPLICA: &[Key] = &[
    key("name", Text, "\"low\"")
        .doc("Name in messages and for `--replica` (default: replica-1, replica-2, ...); letters, digits, - and _."),
    key("set", Settings, "{ \"stage.production.thermostat.temperature\" = \"310 K\", \"run.seed\" = 7 }")
        .doc("Keys of this file, as `--set` names them (a stage by name or number), and their values in this replica. These values override the file and the command line."),
];
