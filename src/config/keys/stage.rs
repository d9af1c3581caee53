//! Keys of `[[stage]]`.

use super::restraints::RESTRAINTS;
use super::stage_output::STAGE_OUTPUT;
use super::{KEY, quoted};
use crate::config::key::Default::{Is, Required, Rule};
use crate::config::key::Kind::{File, Integer, Quantities, Quantity, Text};
use crate::config::key::{Key, Kind, Range};
use crate::config::words;
use crate::units::Dimension::{
    Compressibility, Force, ForceConstant, Length, Pressure, Rate, SurfaceTension, Temperature, Time,
};

pub(super) const NOT_NEGATIVE: Range =
    Range { above: -f64::MIN_POSITIVE, at_most: f64::INFINITY, words: "zero or greater" };

/// Allowed time steps. The limit of 100 fs allows coarse-grained models and rejects mistakes such as "2 ps". For
/// comparison, the fastest motion of atoms, a bond to hydrogen, has a period of 10 fs.
const TIMESTEP: Range = Range { above: 0.0, at_most: 0.1, words: "greater than zero and at most 100 fs" };

pub(super) static STAGE: &[Key] = &[
    Key {
        name: "kind",
        words: &words::of(&words::STAGES),
        default: Required,
        example: "\"dynamics\"",
        doc: "Energy minimisation or molecular dynamics.",
        ..KEY
    },
    Key {
        name: "name",
        kind: Text,
        default: Rule("the kind", |table| quoted(table.word("kind")?)),
        example: "\"production\"",
        doc: "Name in log and files; letters, digits, - and _; each stage has its own name.",
        ..KEY
    },
    Key {
        name: "preset",
        kind: Text,
        example: "\"equilibrate-protein\"",
        doc: "Stages of a common protocol, instead of all other keys; `md check --effective` shows them. \"equilibrate-protein\" minimises, heats, relaxes the density, and releases the restraints on the protein, without frames; its settings are temperature (default: 300 K), pressure (1 bar) and select, the restrained atoms (\"protein and heavy\"). A stage whose name is already in use is numbered: minimize-2.",
        ..KEY
    },
    Key {
        name: "repeat",
        kind: Integer(1, 1000),
        example: "10",
        doc: "Number of repetitions of the stage, named name-1, name-2, ...",
        ..KEY
    },
    Key {
        name: "duration",
        kind: Quantity(Time, Range::POSITIVE),
        only: DYNAMICS,
        example: "\"1 ns\"",
        doc: "Simulated time, which must be a whole number of steps. Set either duration or steps.",
        ..KEY
    },
    Key {
        name: "steps",
        kind: Integer(0, i64::MAX),
        default: Rule("5000 for a minimisation", |table| {
            (table.word("kind") == Some("minimize")).then(|| "5000".to_owned())
        }),
        example: "500000",
        doc: "Number of steps; for a minimisation, the maximum number of steps.",
        ..KEY
    },
    Key {
        name: "force_tolerance",
        kind: Quantity(Force, Range::POSITIVE),
        default: Is("\"10 kJ/mol/nm\""),
        only: MINIMIZE,
        example: "\"10 kJ/mol/nm\"",
        doc: "Convergence criterion: a minimisation ends when the largest force on any atom is below this value (GROMACS: emtol).",
        ..KEY
    },
    Key {
        name: "initial_step",
        kind: Quantity(Length, Range { above: 0.0, at_most: 0.1, words: "greater than zero and at most 0.1 nm" }),
        default: Is("\"0.01 nm\""),
        only: MINIMIZE,
        example: "\"0.01 nm\"",
        doc: "Largest displacement of an atom in a step of a minimisation. The first step is shorter, a tenth of it.",
        ..KEY
    },
    Key {
        name: "timestep",
        kind: Quantity(Time, TIMESTEP),
        default: Required,
        only: DYNAMICS,
        example: "\"2 fs\"",
        doc: "Time step. The period of the fastest unconstrained vibration should be at least ten steps: fewer than ten steps give a warning, and fewer than five steps an error.",
        ..KEY
    },
    Key {
        name: "velocities",
        words: &words::of(&words::VELOCITIES),
        default: Is("\"file\""),
        only: DYNAMICS,
        example: "\"generate\"",
        doc: "Initial velocities: from the coordinate file or the previous stage, or generated from the Maxwell-Boltzmann distribution. Velocities in a file must be half a step earlier than the positions, as AMBER and md write them.",
        ..KEY
    },
    Key {
        name: "temperature",
        kind: Quantity(Temperature, Range::POSITIVE),
        default: Rule("with velocities = \"generate\", the temperature of the thermostat", |_| None),
        only: Some(("velocities", &["generate"])),
        example: "\"300 K\"",
        doc: "Temperature of generated velocities.",
        ..KEY
    },
    Key {
        name: "thermostat",
        kind: Kind::Table(THERMOSTAT),
        words: &["none"],
        default: Is("\"none\""),
        only: DYNAMICS,
        example: "{ kind = \"v-rescale\", temperature = \"300 K\", coupling_time = \"1 ps\" }",
        doc: "Temperature coupling.",
    },
    Key {
        name: "barostat",
        kind: Kind::Table(BAROSTAT),
        words: &["none"],
        default: Is("\"none\""),
        only: DYNAMICS,
        example: "{ kind = \"c-rescale\", pressure = \"1 bar\", coupling_time = \"5 ps\" }",
        doc: "Pressure coupling.",
    },
    Key {
        name: "position_restraints",
        kind: Kind::OneOrMore(POSITION_RESTRAINTS),
        words: &["none"],
        default: Is("\"none\""),
        example: "{ select = \"protein and heavy\", force_constant = \"1000 kJ/mol/nm^2\" }",
        doc: "Position restraints, which hold atoms near reference positions; one restraint in braces, or a list of restraints.",
        ..KEY
    },
    Key {
        name: "restraints",
        kind: Kind::OneOrMore(RESTRAINTS),
        words: &["none"],
        default: Is("\"none\""),
        example: "{ kind = \"distance\", groups = [\"index 0\", \"index 9\"], at = \"0.8 nm\", force_constant = \"1000 kJ/mol/nm^2\" }",
        doc: "Restraints on distances, angles, torsions and RMSDs, also with moving centers (pulling); one restraint in braces, or a list of restraints.",
        ..KEY
    },
    Key {
        name: "frozen",
        kind: Text,
        default: Rule("no atom", |_| None),
        example: "\"resname GRA\"",
        doc: "Atoms that do not move in this stage, selected with the keywords of output.trajectory.select. If atoms are connected by constraints, select all of these atoms or none. Frozen atoms cannot be combined with a barostat.",
        ..KEY
    },
    Key {
        name: "multiple_time_steps",
        kind: Kind::Table(MULTIPLE_TIME_STEPS),
        words: &["none"],
        default: Is("\"none\""),
        only: DYNAMICS,
        example: "{ every = 2 }",
        doc: "Reciprocal space (PME, LJ-PME) is computed every few steps instead of every step, and acts as an impulse (r-RESPA; GROMACS: mts). The number of steps of the stage, the intervals of energies and trajectories, and `every` of barostats and of thermostats that rescale velocities must be multiples of this interval. Impulses resonate with vibrations: with rigid water and constrained bonds to hydrogen an interval of impulses (every times timestep) of 8 fs or more gives a warning, and 12 fs or more is refused; in flexible systems the limits are a sixth and a third of the period of the fastest vibration.",
    },
    Key {
        name: "output",
        kind: Kind::Table(STAGE_OUTPUT),
        default: Rule("as in [output]", |_| None),
        only: DYNAMICS,
        example: "{ energies = { every = \"1 ps\" }, trajectory = \"none\" }",
        doc: "Output intervals of this stage that differ from [output], or \"none\". The stage writes to the same files.",
        ..KEY
    },
    Key {
        name: "com_removal",
        kind: Integer(1, 1_000_000),
        words: &["none"],
        default: Rule(
            "100; \"none\" with position restraints, frozen atoms, or a thermostat of kind \"langevin\" or \"andersen\"",
            |table| {
                let kind =
                    table.table("thermostat").and_then(|thermostat| thermostat.meaning("kind", &words::THERMOSTATS));
                let restrained = table.word("position_restraints").is_none() || table.is_set("frozen");
                if restrained || kind.is_some_and(|kind| kind.facts().refreshes) {
                    quoted("none")
                } else {
                    Some("100".to_owned())
                }
            },
        ),
        only: DYNAMICS,
        example: "100",
        doc: "Steps between removals of center-of-mass motion (without a cell also of rotation). With \"none\", the degrees of freedom of this motion count in the temperature, which is right if friction and noise, or collisions, act on this motion.",
    },
];

const DYNAMICS: Option<(&str, &[&str])> = Some(("kind", &["dynamics"]));
const MINIMIZE: Option<(&str, &[&str])> = Some(("kind", &["minimize"]));

static MULTIPLE_TIME_STEPS: &[Key] = &[Key {
    name: "every",
    kind: Integer(1, 100),
    default: Is("2"),
    example: "2",
    doc: "Steps between impulses (GROMACS: mts-level2-factor). If bonds to hydrogen are constrained, use 2 with a time step of 2 fs.",
    ..KEY
}];

static THERMOSTAT: &[Key] = &[
    Key {
        name: "kind",
        words: &words::of(&words::THERMOSTATS),
        default: Is("\"v-rescale\""),
        example: "\"v-rescale\"",
        doc: "Stochastic velocity rescaling, friction and noise by the middle scheme of Langevin dynamics, collisions of Andersen's thermostat, a Nosé-Hoover chain of three (all canonical), or Berendsen's weak coupling (not canonical, for equilibration).",
        ..KEY
    },
    Key {
        name: "temperature",
        kind: Kind::Schedule(Temperature, Range::POSITIVE),
        default: Required,
        example: "\"300 K\"",
        doc: "Temperature; for annealing, a list of times (from the start of the stage) and temperatures, with linear interpolation between them: [[\"0 ps\", \"100 K\"], [\"50 ps\", \"300 K\"]].",
        ..KEY
    },
    Key {
        name: "coupling_time",
        kind: Quantity(Time, Range::POSITIVE),
        default: Is("\"1 ps\""),
        only: Some(("kind", &["v-rescale", "berendsen", "nose-hoover", "andersen"])),
        example: "\"1 ps\"",
        doc: "Relaxation time of the temperature; with \"nose-hoover\" the period of its oscillations; with \"andersen\" the mean time between collisions of an atom, or of a group of atoms connected by constraints.",
        ..KEY
    },
    Key {
        name: "friction",
        kind: Quantity(Rate, Range::POSITIVE),
        default: Is("\"1 1/ps\""),
        only: Some(("kind", &["langevin"])),
        example: "\"1 1/ps\"",
        doc: "Friction coefficient of Langevin dynamics (AMBER: gamma_ln; GROMACS: the inverse of tau-t).",
        ..KEY
    },
    Key {
        default: Rule("10; 1 with kind = \"langevin\"", |table| {
            Some(if table.word("kind")? == "langevin" { "1" } else { "10" }.to_owned())
        }),
        ..EVERY
    },
    Key {
        name: "groups",
        kind: Kind::OneOrMore(THERMOSTAT_GROUPS),
        words: &["none"],
        default: Is("\"none\""),
        example: "{ select = \"protein\", temperature = \"310 K\" }",
        doc: "Temperature groups, each with its own thermostat of the same kind (GROMACS: tc-grps); one group in braces, or a list of groups. Atoms outside all groups use the keys of the thermostat. A single thermostat for the whole system is usually best.",
        ..KEY
    },
];

static THERMOSTAT_GROUPS: &[Key] = &[
    Key {
        name: "select",
        kind: Text,
        default: Required,
        example: "\"protein\"",
        doc: "Selection of the atoms, with the keywords of output.trajectory.select. Atoms connected by constraints must be in the same group, and no atom can be in two groups.",
        ..KEY
    },
    Key {
        name: "temperature",
        kind: Kind::Schedule(Temperature, Range::POSITIVE),
        default: Rule("the temperature of the thermostat", |_| None),
        example: "\"310 K\"",
        doc: "Temperature of the group, or times and temperatures.",
        ..KEY
    },
    Key {
        name: "coupling_time",
        kind: Quantity(Time, Range::POSITIVE),
        default: Rule("the coupling time of the thermostat", |_| None),
        example: "\"1 ps\"",
        doc: "Relaxation time of the group, like coupling_time of the thermostat.",
        ..KEY
    },
    Key {
        name: "friction",
        kind: Quantity(Rate, Range::POSITIVE),
        default: Rule("the friction of the thermostat", |_| None),
        example: "\"1 1/ps\"",
        doc: "Friction coefficient of the group, like friction of the thermostat, with kind = \"langevin\".",
        ..KEY
    },
];

static POSITION_RESTRAINTS: &[Key] = &[
    Key {
        name: "select",
        kind: Text,
        default: Required,
        example: "\"protein and heavy\"",
        doc: "Selection of the atoms, with the keywords of output.trajectory.select. Virtual sites in the selection are ignored.",
        ..KEY
    },
    Key {
        name: "force_constant",
        kind: Kind::Schedule(ForceConstant, NOT_NEGATIVE),
        default: Is("\"1000 kJ/mol/nm^2\""),
        example: "\"1000 kJ/mol/nm^2\"",
        doc: "Force constant k of the energy k/2 d^2 at the distance d from the reference position, as in GROMACS. k is twice AMBER's restraint_wt. With a list of times (from the start of the stage) and values, the force constant changes linearly between them: [[\"0 ps\", \"1000 kJ/mol/nm^2\"], [\"100 ps\", \"0 kJ/mol/nm^2\"]].",
        ..KEY
    },
    Key {
        name: "flat_radius",
        kind: Quantity(Length, NOT_NEGATIVE),
        default: Is("\"0 nm\""),
        example: "\"0.2 nm\"",
        doc: "Radius of the flat bottom: no force acts within this distance from the reference position; beyond this distance, the energy depends on the excess distance.",
        ..KEY
    },
    Key {
        name: "reference",
        kind: File,
        default: Rule("the coordinates that the run starts from", |_| None),
        example: "\"start.gro\"",
        doc: "Reference positions: coordinates of all atoms, in any format of system.coordinates (GROMACS: grompp -r).",
        ..KEY
    },
    Key {
        name: "reference_scaling",
        words: &words::of(&words::REFERENCE_SCALINGS),
        default: Is("\"center-of-mass\""),
        example: "\"center-of-mass\"",
        doc: "Scaling of reference positions with the cell: only their center of mass is scaled, all reference positions are scaled, or nothing is scaled (GROMACS: refcoord-scaling).",
        ..KEY
    },
];

static BAROSTAT: &[Key] = &[
    Key {
        name: "kind",
        words: &words::of(&words::BAROSTATS),
        default: Is("\"c-rescale\""),
        example: "\"c-rescale\"",
        doc: "Stochastic cell rescaling or Monte Carlo volume moves (both sample the correct ensemble), or Berendsen's weak coupling (for equilibration).",
        ..KEY
    },
    Key {
        name: "coupling",
        words: &words::of(&words::PRESSURE_COUPLINGS),
        default: Is("\"isotropic\""),
        example: "\"semi-isotropic\"",
        doc: "Directions that scale together: x, y and z (isotropic); x and y, with z separately (semi-isotropic, for membranes); or none (anisotropic). The cell is not sheared.",
        ..KEY
    },
    Key {
        name: "pressure",
        kind: Kind::Schedules(Pressure, Range::ANY),
        default: Is("\"1 bar\""),
        example: "\"1 bar\"",
        doc: "Pressure; or a list: for x and y together and for z with semi-isotropic coupling, for x, y and z with anisotropic coupling. Different pressures in directions that can change do not define an ensemble. Each pressure may be a list of times (from the start of the stage) and pressures, with linear interpolation between them: [[\"0 ps\", \"1 bar\"], [\"50 ps\", \"1000 bar\"]], or [\"1 bar\", [[\"0 ps\", \"1 bar\"], [\"50 ps\", \"1000 bar\"]]] for z alone.",
        ..KEY
    },
    Key {
        name: "surface_tension",
        kind: Quantity(SurfaceTension, Range::ANY),
        default: Is("\"0 mN/m\""),
        only: Some(("coupling", &["semi-isotropic"])),
        example: "\"20 mN/m\"",
        doc: "Surface tension in x and y, summed over all interfaces, as in GROMACS and OpenMM (AMBER: gamma_ten times ninterface): for a bilayer twice the tension of each leaflet.",
        ..KEY
    },
    Key {
        name: "coupling_time",
        kind: Quantity(Time, Range::POSITIVE),
        default: Is("\"5 ps\""),
        only: Some(("kind", &["c-rescale", "berendsen"])),
        example: "\"5 ps\"",
        doc: "Relaxation time of the pressure; with \"c-rescale\" at least 20 times the time between couplings (every × timestep).",
        ..KEY
    },
    Key {
        name: "compressibility",
        kind: Quantities(Compressibility, NOT_NEGATIVE),
        // compressibility of water at 300 K
        default: Is("\"4.5e-5 1/bar\""),
        example: "\"4.5e-5 1/bar\"",
        doc: "Isothermal compressibility; an estimate is enough, because it only scales the coupling time, or the initial size of Monte Carlo volume moves. It may be a list like pressure; zero keeps the length of the cell fixed.",
        ..KEY
    },
    Key {
        default: Rule("10; 100 with kind = \"monte-carlo\"", |table| {
            Some(if table.word("kind")? == "monte-carlo" { "100" } else { "10" }.to_owned())
        }),
        doc: "Steps between couplings, or between Monte Carlo volume moves, each of which costs a force evaluation.",
        ..EVERY
    },
];

const EVERY: Key = Key {
    name: "every",
    kind: Integer(1, 100_000),
    default: Is("10"),
    example: "10",
    doc: "Steps between couplings.",
    ..KEY
};
