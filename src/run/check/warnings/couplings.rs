//! Warnings about thermostats, barostats, schedules and restraints of stages.

use crate::constraint::RemovedMotion;
use crate::ensemble::barostat::{Barostat, BarostatKind, PressureCoupling};
use crate::ensemble::schedule::Schedule;
use crate::restraint::ReferenceScaling;
use crate::run::check::warnings::SHRINKING;
use crate::run::dynamics::frozen::frozen_system;
use crate::run::dynamics::restraints::{LongDistance, long_distances as long_restrained_distances, wide_groups};
use crate::run::dynamics::setup::Setup;
use crate::run::plan::{Dynamics, Plan, PositionRestraint, Stage};
use crate::system::{State, System};
use crate::units::{BAR, Dimension};

/// Minimum number of degrees of freedom of a temperature group. A group with fewer degrees of freedom causes a warning.
/// The kinetic energy of a group with f degrees of freedom has a relative fluctuation of √(2/f), which is 0.2 for f =
/// 50.
const FEW_FREEDOMS: f64 = 50.0;
/// Number of slabs of equal width along each lattice direction in which water molecules are counted. Water fills the
/// cell along a direction if the number of water molecules in every slab is at least the fraction [`ALL_THROUGH`] of
/// the mean number per slab. Slabs that contain a protein have enough water to exceed this limit; slabs in membranes,
/// walls and vacuum have almost no water.
const SLABS: usize = 8;
const ALL_THROUGH: f64 = 0.2;
/// Minimum number of water molecules for a meaningful count per slab: twelve in each slab on average.
const FEWEST_WATERS: usize = 12 * SLABS;

/// Warns if a barostat scales the edge lengths of a cell of liquid independently of each other. A liquid resists a
/// change of volume but not of shape, so the ratio of the edge lengths diffuses freely. A system counts as liquid if
/// water surrounds any solute: water must fill the cell along at least two of the cell lengths that the barostat scales
/// independently. The warning is given if an edge length is likely to change by more than the fraction [`SHRINKING`]
/// during the stage.
pub(super) fn wandering(plan: &Plan, system: &System, state: &State) -> Option<String> {
    let cell = state.cell?;
    let filled = filled(system, state)?;
    plan.dynamics().find_map(|(name, stage)| {
        let (barostat, thermostat) = (stage.barostat.as_ref()?, stage.thermostat.as_ref()?);
        let free = |directions: &&&[usize]| directions.iter().all(|&d| filled[d] && barostat.compressibility[d] > 0.0);
        if barostat.coupling.extents().iter().filter(free).count() < 2 {
            return None;
        }
        let duration = stage.steps as f64 * stage.timestep;
        let squares = barostat.shape_diffusion(thermostat.highest_temperature(), cell.volume(), stage.timestep)?;
        let change = (squares * duration).sqrt();
        (change > SHRINKING).then(|| {
            let alike =
                if barostat.coupling == PressureCoupling::Anisotropic { "x, y and z" } else { "x and y, and z" };
            format!(
                "stage \"{name}\": {alike} are coupled to the pressure separately, and the cell is filled with water \
                 along these directions. A liquid does not resist a change of shape, so the ratio of the cell lengths \
                 drifts, by about {:.0} % in this stage, until a length is too short for the cutoff; set \
                 barostat.coupling = \"isotropic\", or a list of compressibilities that is zero along z",
                100.0 * change
            )
        })
    })
}

/// Returns for each lattice direction whether water fills the cell along that direction; `None` if there are too few
/// water molecules to decide.
fn filled(system: &System, state: &State) -> Option<[bool; 3]> {
    let (topology, cell) = (&system.topology, state.cell?);
    let mut counts = [[0usize; SLABS]; 3];
    let mut waters = 0;
    for (atom, position) in topology.atoms.iter().zip(&state.positions) {
        if atom.element != 8 || !topology.is_water(atom.residue as usize) {
            continue;
        }
        waters += 1;
        for (counts, s) in counts.iter_mut().zip(cell.to_fractional(*position).to_array()) {
            counts[((s - s.floor()) * SLABS as f64) as usize % SLABS] += 1;
        }
    }
    let least = ALL_THROUGH * waters as f64 / SLABS as f64;
    (waters >= FEWEST_WATERS).then(|| counts.map(|counts| counts.iter().all(|count| *count as f64 > least)))
}

/// Warns of temperature groups with few degrees of freedom. The thermostat multiplies all velocities of a group by one
/// factor that depends on the kinetic energy of the group. In a group with few degrees of freedom the kinetic energy
/// fluctuates strongly. The velocity factor of the thermostat therefore fluctuates too, and acts like a large random
/// force.
pub(super) fn small_groups(plan: &Plan, system: &System, state: &State) -> Option<String> {
    plan.stages.iter().find_map(|stage| {
        let thermostat = stage.thermostat().filter(|thermostat| !thermostat.kind.facts().refreshes)?;
        let system = frozen_system(stage, system).ok()?;
        let setup = Setup::new(&system, stage.dynamics()?, plan.run.seed, state.cell.is_some()).ok()?;
        let freedoms = setup.temperature_groups.degrees_of_freedom();
        let names = std::iter::once("all other atoms").chain(thermostat.selections());
        // a group without degrees of freedom contains only frozen atoms and virtual sites, and gets no warning
        let small = |(_, free): &(&str, &f64)| **free > 0.5 && **free < FEW_FREEDOMS;
        let (group, free) = names.zip(freedoms).filter(|_| !thermostat.groups.is_empty()).find(small)?;
        Some(format!(
            "stage \"{}\": the temperature group of {group} has only {free:.0} degrees of freedom. The thermostat \
             scales all velocities of a group by one factor, and therefore dominates the motion of a small group; \
             merge this group with another group, or use kind = \"langevin\"",
            stage.name
        ))
    })
}

/// Warns of Nosé–Hoover chains in a system without solvent. Without solvent, energy is transferred only slowly between
/// some vibrations, and a Nosé–Hoover chain does not speed up the transfer. In two runs of alanine dipeptide in vacuum
/// with Nosé–Hoover chains (10 ns each), the mean temperatures of the residues NME and ACE differ by 5 K (2 standard
/// errors) and by 13 K (3 standard errors). The mean temperature of NME over one nanosecond is 331 K instead of 300 K
/// (`validation/coupling`).
pub(super) fn unmixed(plan: &Plan, state: &State) -> Option<String> {
    let chained = |stage: &&Stage| {
        stage
            .thermostat()
            .map(|thermostat| thermostat.kind.facts())
            .is_some_and(|facts| facts.is_canonical && !facts.is_random)
    };
    let stage = plan.stages.iter().find(chained).filter(|_| state.cell.is_none())?;
    Some(format!(
        "stage \"{}\": Nosé-Hoover chains without solvent equilibrate weakly coupled motions, such as the rotation of \
         a methyl group, only within nanoseconds, because the chains add no noise; use kind = \"v-rescale\" or \
         \"langevin\"",
        stage.name
    ))
}

/// Warns if the last time of a temperature, pressure or restraint schedule is after the end of the stage.
pub(super) fn unreached(plan: &Plan) -> Option<String> {
    plan.stages.iter().find_map(|stage| {
        let dynamics = stage.dynamics()?;
        let duration = dynamics.steps as f64 * dynamics.timestep;
        let late =
            |schedule: &Schedule| schedule.points().last().is_some_and(|point| point.0 > duration + dynamics.timestep);
        let (key, schedule, unit, of_unit) =
            schedules(stage, dynamics).into_iter().find(|(_, schedule, ..)| late(schedule))?;
        let (time, last) = *schedule.points().last()?;
        let (reached, time) = (schedule.at(duration), Dimension::Time.show(time));
        Some(format!(
            "stage \"{}\" ends after {}, before the last time of {key}, {time}. The value at the end is {:.1} {unit} and \
             not {:.1} {unit}; set duration = \"{time}\" or longer",
            stage.name,
            Dimension::Time.show(duration),
            reached / of_unit,
            last / of_unit
        ))
    })
}

/// Returns the schedules of temperature, pressure and restraints of a stage. Each item of the result consists of the
/// key in the input file, the schedule, the unit of the values in the input file, and the factor that converts this
/// unit to internal units.
fn schedules<'a>(stage: &'a Stage, dynamics: &'a Dynamics) -> Vec<(&'static str, &'a Schedule, &'static str, f64)> {
    let temperatures = dynamics.thermostat.iter().flat_map(|thermostat| {
        let groups = thermostat.groups.iter().map(|group| ("thermostat.groups.temperature", &group.temperature));
        std::iter::once(("thermostat.temperature", &thermostat.temperature)).chain(groups)
    });
    let pressures = dynamics.barostat.iter().flat_map(|barostat| &barostat.pressure);
    let mut found: Vec<_> = temperatures.map(|(key, temperature)| (key, temperature, "K", 1.0)).collect();
    found.extend(pressures.map(|pressure| ("barostat.pressure", pressure, "bar", BAR)));
    let constants = stage.position_restraints.iter().map(|restraint| &restraint.force_constant);
    found.extend(constants.map(|constant| ("position_restraints.force_constant", constant, "kJ/mol/nm^2", 1.0)));
    found
}

/// Warns of constant pressures that differ between directions in which the cell can change. Such pressures do not
/// define an ensemble: a liquid flows until the cell is too small along one direction.
pub(super) fn different_pressures(plan: &Plan) -> Option<String> {
    plan.dynamics().find_map(|(name, stage)| {
        let barostat = stage.barostat.as_ref()?;
        let free = |&direction: &usize| barostat.compressibility[direction] > 0.0;
        let mut pressures = [0, 1, 2].into_iter().filter(free).map(|direction| &barostat.pressure[direction]);
        let first = pressures.next()?;
        let other = pressures.find(|pressure| *pressure != first)?;
        let [first, other] = [first, other].map(|pressure| pressure.words(Dimension::Pressure));
        Some(format!(
            "stage \"{name}\": the barostat has different pressures, {first} and {other}, along directions in which the \
             cell can change. Such pressures do not define an ensemble, and a liquid flows until the cell is too small; \
             give one pressure, or a compressibility of zero along a direction"
        ))
    })
}

/// Warns of position restraints whose reference positions are not scaled while a barostat scales the cell.
pub(super) fn unscaled_references(plan: &Plan) -> Option<String> {
    plan.stages.iter().find_map(|stage| {
        let Barostat { kind, .. } = stage.dynamics()?.barostat.as_ref()?;
        let stays = |restraint: &&PositionRestraint| restraint.reference_scaling == ReferenceScaling::None;
        stage.position_restraints.iter().find(stays)?;
        let effect = match kind {
            BarostatKind::MonteCarlo => "volume moves stretch the restraints, so hardly any volume move is accepted",
            BarostatKind::CRescale | BarostatKind::Berendsen => {
                "the restraints act against the barostat and contribute to the pressure"
            }
        };
        Some(format!(
            "stage \"{}\" has a barostat, and position_restraints whose reference positions are not scaled with the \
             cell: {effect}; set reference_scaling = \"center-of-mass\"",
            stage.name
        ))
    })
}

/// Warns if a restrained group of several molecules is so wide that the choice of periodic images is ambiguous.
pub(super) fn wide_restrained_groups(plan: &Plan, system: &System, state: &State) -> Vec<String> {
    let describe = |(stage, group): (String, String)| {
        format!(
            "stage \"{stage}\": the molecules of the restrained group \"{group}\" extend over more than half of the \
             cell. md chooses the periodic images along the shortest distances between the molecules, which may not \
             be the intended images; set gather_around to an atom around which the molecules belong, or restrain a \
             smaller group"
        )
    };
    wide_groups(plan, system, state).into_iter().map(describe).collect()
}

/// Warns of restrained distances that are longer than half of the cell at the start of the run, or at the target of the
/// restraint.
pub(super) fn long_distances(plan: &Plan, system: &System, state: &State) -> Vec<String> {
    let describe = |LongDistance { stage, number, start, target, longest }: LongDistance| {
        let pulled =
            target.map_or_else(String::new, |target| format!(", and the restraint moves it up to {target:.3} nm"));
        format!(
            "stage \"{stage}\": the distance of restraint {number} is {start:.3} nm at the start of the run{pulled}. \
             Beyond {longest:.3} nm, about half of the shortest width of the cell, another periodic image may be nearer, \
             and the run stops with an error; use a larger cell, a shorter distance, or fewer components in `along`"
        )
    };
    long_restrained_distances(plan, system, state).into_iter().map(describe).collect()
}

/// Warns of a thermostat or barostat that never acts, because the stage has fewer steps than the interval between
/// couplings.
pub(super) fn idle(plan: &Plan) -> Option<String> {
    plan.dynamics().find_map(|(name, stage)| {
        let thermostat = stage.thermostat.as_ref().map(|thermostat| ("thermostat", thermostat.every));
        let barostat = stage.barostat.as_ref().map(|barostat| ("barostat", barostat.every));
        let steps = stage.steps;
        let is_idle = |(_, every): &(&str, u32)| (1..u64::from(*every)).contains(&steps);
        let (key, every) = thermostat.into_iter().chain(barostat).find(is_idle)?;
        Some(format!(
            "stage \"{name}\": the {key} never acts, because it acts every {every} steps and the stage has {steps} \
             steps; set {key}.every = {steps} or less"
        ))
    })
}

/// Warns if the motion of the whole system is removed although other forces act on this motion: friction and noise, the
/// collisions of a thermostat, or position restraints.
pub(super) fn driven_motion(plan: &Plan, state: &State) -> Option<String> {
    plan.stages.iter().find_map(|stage| {
        let dynamics = stage.dynamics()?;
        let every = dynamics.com_removal?;
        let freedoms = match dynamics.removed_motion(state.cell.is_some()) {
            RemovedMotion::Nothing => return None,
            RemovedMotion::Translation => 3,
            RemovedMotion::TranslationAndRotation => 6,
        };
        let cause = match &dynamics.thermostat {
            Some(thermostat) if thermostat.kind.facts().refreshes => {
                format!("{} also heats this motion", thermostat.kind.facts().name)
            }
            _ if !stage.position_restraints.is_empty() => "position restraints also act on this motion".to_owned(),
            _ => return None,
        };
        Some(format!(
            "stage \"{}\": com_removal = {every} removes the motion of the whole system, but {cause}. The removal \
             disturbs the dynamics, and the temperature is computed without the {freedoms} degrees of freedom of this \
             motion and is too high; set com_removal = \"none\"",
            stage.name
        ))
    })
}
