//! Keys of `[[stage]]`.

use super::quoted;
use super::restraints::RESTRAINTS;
use super::stage_output::STAGE_OUTPUT;
use crate::config::key::Default::{Is, Required, Rule};
use crate::config::key::Kind::{File, Integer, Quantities, Quantity, Text};
use crate::config::key::{Condition, Key, Kind, Range, key, word};
use crate::config::words;
use crate::units::Dimension::{
    Compressibility, Force, ForceConstant, Length, Pressure, Rate, SurfaceTension, Temperature, Time,
};

pub(super) const NOT_NEGATIVE: Range =
    Range { above: -f64::MIN_POSITIVE, at_most: f64::INFINITY, words: "zero or greater" };

/// Allowed time steps. The limit of 100 fs allows coarse-grained models and rejects mistakes such as "2 ps". For
/// comparison, a bond to hydrogen, which vibrates fastest, has a period of 10 fs.
const TIMESTEP: Range = Range { above: 0.0, at_most: 0.1, words: "greater than zero and at most 100 fs" };

pub(super) static STAGE: &[Key] = &[
    word("kind", &["minimize", "dynamics"], "\"dynamics\"")
        .default(Required)
        .doc("Energy minimisation or molecular dynamics."),
    key("name", Text, "\"production\"")
        .default(Rule("the kind", |table| quoted(table.word("kind")?)))
        .doc("Name in log and files; letters, digits, - and _; each stage has its own name."),
    key("preset", Text, "\"equilibrate-protein\"")
        .doc("Stages of a common protocol, which replace all other keys of the stage; `md check --effective` shows these stages. \"equilibrate-protein\" minimises, heats, relaxes the density, and releases the restraints on the protein, without writing trajectory frames. Its settings are temperature (default: 300 K), pressure (1 bar) and select, the restrained atoms (\"protein and heavy\"). A stage whose name is already in use is numbered: minimize-2."),
    key("repeat", Integer(1, 1000), "10")
        .doc("Number of repetitions of the stage, named name-1, name-2, ..."),
    key("duration", Quantity(Time, Range::POSITIVE), "\"1 ns\"")
        .only(DYNAMICS)
        .doc("Simulated time, which must be a whole number of steps. Set either duration or steps."),
    key("steps", Integer(0, i64::MAX), "500000")
        .default(Rule("5000 for a minimisation", |table| {
            (table.word("kind") == Some("minimize")).then(|| "5000".to_owned())
        }))
        .doc("Number of steps; for a minimisation, the maximum number of steps."),
    key("force_tolerance", Quantity(Force, Range::POSITIVE), "\"10 kJ/mol/nm\"")
        .default(Is("\"10 kJ/mol/nm\""))
        .only(MINIMIZE)
        .doc("Convergence criterion: a minimisation ends when the largest force on any atom is below this value (GROMACS: emtol)."),
    key("max_displacement", Quantity(Length, Range { above: 0.0, at_most: 0.1, words: "greater than zero and at most 0.1 nm" }), "\"0.01 nm\"")
        .default(Is("\"0.01 nm\""))
        .only(MINIMIZE)
        .doc("Largest displacement of an atom in a step of a minimisation. The first step is a tenth of this length."),
    key("timestep", Quantity(Time, TIMESTEP), "\"2 fs\"")
        .default(Required)
        .only(DYNAMICS)
        .doc("Time step. The period of the fastest unconstrained vibration should be at least ten steps: fewer than ten steps give a warning, and fewer than five steps an error."),
    word("velocities", &["file", "generate"], "\"generate\"")
        .default(Is("\"file\""))
        .only(DYNAMICS)
        .doc("Initial velocities: from the coordinate file or the previous stage, or generated from the Maxwell-Boltzmann distribution. Velocities in a file must be half a step earlier than the positions, as AMBER and md write them."),
    key("temperature", Quantity(Temperature, Range::POSITIVE), "\"300 K\"")
        .default(Rule("with velocities = \"generate\", the temperature of the thermostat", |_| None))
        .only(("velocities", &["generate"]))
        .doc("Temperature of generated velocities."),
    key("thermostat", Kind::Table(THERMOSTAT), "{ kind = \"v-rescale\", temperature = \"300 K\", coupling_time = \"1 ps\" }")
        .words(&["none"])
        .default(Is("\"none\""))
        .only(DYNAMICS)
        .doc("Temperature coupling."),
    key("barostat", Kind::Table(BAROSTAT), "{ kind = \"c-rescale\", pressure = \"1 bar\", coupling_time = \"5 ps\" }")
        .words(&["none"])
        .default(Is("\"none\""))
        .only(DYNAMICS)
        .doc("Pressure coupling."),
    key("position_restraints", Kind::OneOrMore(POSITION_RESTRAINTS), "{ select = \"protein and heavy\", force_constant = \"1000 kJ/mol/nm^2\" }")
        .words(&["none"])
        .default(Is("\"none\""))
        .doc("Position restraints, which hold atoms near reference positions; one restraint in braces, or a list of restraints."),
    key("restraints", Kind::OneOrMore(RESTRAINTS), "{ kind = \"distance\", groups = [\"index 0\", \"index 9\"], at = \"0.8 nm\", force_constant = \"1000 kJ/mol/nm^2\" }")
        .words(&["none"])
        .default(Is("\"none\""))
        .doc("Restraints on distances, angles, torsions and RMSDs, also with moving centers (pulling); one restraint in braces, or a list of restraints."),
    key("frozen", Text, "\"resname GRA\"")
        .default(Rule("no atom", |_| None))
        .doc("Atoms that do not move in this stage, selected with the keywords of output.trajectory.select. If atoms are connected by constraints, select all of these atoms or none. Frozen atoms cannot be combined with a barostat."),
    key("multiple_time_steps", Kind::Table(MULTIPLE_TIME_STEPS), "{ every = 2 }")
        .words(&["none"])
        .default(Is("\"none\""))
        .only(DYNAMICS)
        .doc("Reciprocal space (PME, LJ-PME) is computed every few steps instead of every step, and acts as an impulse (r-RESPA; GROMACS: mts). The number of steps of the stage, the intervals of energies, of trajectories with forces or observables and of exchange attempts, and `every` of barostats and of thermostats that rescale velocities must be multiples of this interval. Impulses resonate with vibrations: with rigid water and constrained bonds to hydrogen an interval of impulses (every times timestep) of 8 fs or more gives a warning, and 12 fs or more is refused; in flexible systems the limits are a sixth and a third of the period of the fastest vibration."),
    key("output", Kind::Table(STAGE_OUTPUT), "{ energies = { every = \"1 ps\" }, trajectory = \"none\" }")
        .default(Rule("as in [output]", |_| None))
        .only(DYNAMICS)
        .doc("Output intervals of this stage that differ from [output], or \"none\". The stage writes to the same files."),
    key("com_removal", Integer(1, 1_000_000), "100")
        .words(&["none"])
        .default(Rule(
            "100; \"none\" with position restraints, frozen atoms, or a thermostat of kind \"langevin\" or \"andersen\"",
            |table| {
                let kind =
                    table.table("thermostat").and_then(|thermostat| thermostat.meaning("kind", &words::THERMOSTATS));
                let restrained = !table.tables("position_restraints").is_empty() || table.is_set("frozen");
                if restrained || kind.is_some_and(|kind| kind.facts().refreshes) {
                    quoted("none")
                } else {
                    Some("100".to_owned())
                }
            },
        ))
        .only(DYNAMICS)
        .doc("Steps between removals of center-of-mass motion and, without a cell, of rotation. Rotation is not removed if a restraint has `along` with fewer than three components. With \"none\", the temperature includes the degrees of freedom of this motion, which is right if the thermostat also acts on this motion, by friction and noise or by collisions."),
];

const DYNAMICS: Condition = ("kind", &["dynamics"]);
const MINIMIZE: Condition = ("kind", &["minimize"]);

static MULTIPLE_TIME_STEPS: &[Key] = &[key("every", Integer(2, 100), "2")
    .default(Is("2"))
    .doc("Steps between impulses (GROMACS: mts-level2-factor). If bonds to hydrogen are constrained, use 2 with a time step of 2 fs.")];

static THERMOSTAT: &[Key] = &[
    word("kind", &words::of(&words::THERMOSTATS), "\"v-rescale\"")
        .default(Is("\"v-rescale\""))
        .doc("Stochastic velocity rescaling, friction and noise by the middle scheme of Langevin dynamics, collisions of Andersen's thermostat, a Nosé-Hoover chain of three (all canonical), or Berendsen's weak coupling (not canonical, for equilibration)."),
    key("temperature", Kind::Schedule(Temperature, Range::POSITIVE), "\"300 K\"")
        .default(Required)
        .doc("Temperature; for annealing, a list of times (from the start of the stage) and temperatures, with linear interpolation between them: [[\"0 ps\", \"100 K\"], [\"50 ps\", \"300 K\"]]."),
    key("coupling_time", Quantity(Time, Range::POSITIVE), "\"1 ps\"")
        .default(Is("\"1 ps\""))
        .only(("kind", &["v-rescale", "berendsen", "nose-hoover", "andersen"]))
        .doc("Relaxation time of the temperature; with \"nose-hoover\" the period of its oscillations; with \"andersen\" the mean time between collisions of an atom, or of a group of atoms connected by constraints."),
    key("friction", Quantity(Rate, Range::POSITIVE), "\"1 1/ps\"")
        .default(Is("\"1 1/ps\""))
        .only(("kind", &["langevin"]))
        .doc("Friction coefficient of Langevin dynamics (AMBER: gamma_ln; GROMACS: the inverse of tau-t)."),
    EVERY.default(Rule("10; 1 with kind = \"langevin\"", |table| {
            Some(if table.word("kind")? == "langevin" { "1" } else { "10" }.to_owned())
        })),
    key("groups", Kind::OneOrMore(THERMOSTAT_GROUPS), "{ select = \"protein\", temperature = \"310 K\" }")
        .words(&["none"])
        .default(Is("\"none\""))
        .doc("Temperature groups, each with its own thermostat of the same kind (GROMACS: tc-grps); one group in braces, or a list of groups. Atoms outside all groups use the keys of the thermostat. A single thermostat for the whole system is usually best."),
];

static THERMOSTAT_GROUPS: &[Key] = &[
    key("select", Text, "\"protein\"")
        .default(Required)
        .doc("Selection of the atoms, with the keywords of output.trajectory.select. Atoms connected by constraints must be in the same group, and no atom can be in two groups."),
    key("temperature", Kind::Schedule(Temperature, Range::POSITIVE), "\"310 K\"")
        .default(Rule("the temperature of the thermostat", |_| None))
        .doc("Temperature of the group, or times and temperatures."),
    key("coupling_time", Quantity(Time, Range::POSITIVE), "\"1 ps\"")
        .default(Rule("the coupling time of the thermostat", |_| None))
        .doc("Relaxation time of the group, like coupling_time of the thermostat."),
    key("friction", Quantity(Rate, Range::POSITIVE), "\"1 1/ps\"")
        .default(Rule("the friction of the thermostat", |_| None))
        .doc("Friction coefficient of the group, like friction of the thermostat, with kind = \"langevin\"."),
];

static POSITION_RESTRAINTS: &[Key] = &[
    key("select", Text, "\"protein and heavy\"")
        .default(Required)
        .doc("Selection of the atoms, with the keywords of output.trajectory.select. Virtual sites in the selection are ignored."),
    key("force_constant", Kind::Schedule(ForceConstant, NOT_NEGATIVE), "\"1000 kJ/mol/nm^2\"")
        .default(Is("\"1000 kJ/mol/nm^2\""))
        .doc("Force constant k of the energy k/2 d^2 at the distance d from the reference position, as in GROMACS. k is twice AMBER's restraint_wt. With a list of times (from the start of the stage) and values, the force constant changes linearly between them: [[\"0 ps\", \"1000 kJ/mol/nm^2\"], [\"100 ps\", \"0 kJ/mol/nm^2\"]]."),
    key("flat_radius", Quantity(Length, NOT_NEGATIVE), "\"0.2 nm\"")
        .default(Is("\"0 nm\""))
        .doc("Radius of the flat bottom: no force acts within this distance from the reference position; beyond this distance, the energy depends on the excess distance."),
    key("reference", File, "\"start.gro\"")
        .default(Rule("the coordinates that the run starts from", |_| None))
        .doc("Reference positions: coordinates of all atoms, in any format of system.coordinates (GROMACS: grompp -r)."),
    word("reference_scaling", &words::of(&words::REFERENCE_SCALINGS), "\"center-of-mass\"")
        .default(Is("\"center-of-mass\""))
        .doc("Scaling of reference positions with the cell: only their center of mass is scaled, all reference positions are scaled, or nothing is scaled (GROMACS: refcoord-scaling)."),
];

static BAROSTAT: &[Key] = &[
    word("kind", &words::of(&words::BAROSTATS), "\"c-rescale\"")
        .default(Is("\"c-rescale\""))
        .doc("Stochastic cell rescaling or Monte Carlo volume moves (both sample the correct ensemble), or Berendsen's weak coupling (for equilibration)."),
    word("coupling", &words::of(&words::PRESSURE_COUPLINGS), "\"semi-isotropic\"")
        .default(Is("\"isotropic\""))
        .doc("Directions that scale together: x, y and z (isotropic); x and y, with z separately (semi-isotropic, for membranes); or none (anisotropic). The cell is not sheared."),
    key("pressure", Kind::Schedules(Pressure, Range::ANY), "\"1 bar\"")
        .default(Is("\"1 bar\""))
        .doc("Pressure, or a list of pressures: two values (one for x and y, one for z) with semi-isotropic coupling, or three values (for x, y and z) with anisotropic coupling. Different pressures in directions that can change do not define an ensemble. Each pressure may be a list of times (from the start of the stage) and pressures, with linear interpolation between them: [[\"0 ps\", \"1 bar\"], [\"50 ps\", \"1000 bar\"]], or [\"1 bar\", [[\"0 ps\", \"1 bar\"], [\"50 ps\", \"1000 bar\"]]] for z alone."),
    key("surface_tension", Quantity(SurfaceTension, Range::ANY), "\"20 mN/m\"")
        .default(Is("\"0 mN/m\""))
        .only(("coupling", &["semi-isotropic"]))
        .doc("Surface tension in x and y, summed over all interfaces, as in GROMACS and OpenMM (AMBER: gamma_ten times ninterface): for a bilayer twice the tension of each leaflet."),
    key("coupling_time", Quantity(Time, Range::POSITIVE), "\"5 ps\"")
        .default(Is("\"5 ps\""))
        .only(("kind", &["c-rescale", "berendsen"]))
        .doc("Relaxation time of the pressure; with \"c-rescale\" at least 20 times the time between couplings (every × timestep)."),
    key("compressibility", Quantities(Compressibility, NOT_NEGATIVE), "\"4.5e-5 1/bar\"")
        // compressibility of water at 300 K
        .default(Is("\"4.5e-5 1/bar\""))
        .doc("Isothermal compressibility; an estimate is enough, because the value only scales the coupling time, or the initial size of Monte Carlo volume moves. The value may be a list with one compressibility for each direction, as for pressure; zero keeps the cell fixed along the direction."),
    EVERY
        .default(Rule("10; 100 with kind = \"monte-carlo\"", |table| {
            Some(if table.word("kind")? == "monte-carlo" { "100" } else { "10" }.to_owned())
        }))
        .doc("Steps between couplings, or between Monte Carlo volume moves, each of which costs a force evaluation. The barostat acts at the end of each step of the stage whose number is a multiple of this value."),
];

const EVERY: Key = key("every", Integer(1, 100_000), "10").default(Is("10")).doc("Steps between couplings. The thermostat acts at the end of each step of the stage whose number is a multiple of this value.");
