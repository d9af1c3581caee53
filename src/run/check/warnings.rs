//! Warnings about a plan, for `md check` and the log. Each warning gives its reason and advice.

use crate::backend::check_system;
use crate::error::{Error, Problem, Result};
use crate::format::LeftOut;
use crate::run::check::nonbonded::describe_lj_end;
use crate::run::check::vibration::{Vibration, fastest};
use crate::run::dynamics::frozen::frozen_system;
use crate::run::plan::{Dynamics, Plan};
use crate::system::{DispersionCorrection, Electrostatics, LjModifier, State, System};
use crate::units::Dimension;

mod couplings;
mod exchange;
mod frames;
mod geometry;
mod resonance;
#[cfg(test)]
mod tests;

pub use exchange::estimated_acceptances;

/// Minimum number of steps per period of the fastest vibration. A plan with fewer steps per period is refused, and a
/// plan with fewer than [`FEW_STEPS`] gets a warning; GROMACS' `grompp` has the same two limits. Leapfrog is stable
/// with more than π steps per period. The relative error of the frequency ω is (ω dt)²/24, so a vibration with five
/// steps per period is already 7 % too fast.
const FEWEST_STEPS: f64 = 5.0;
/// Limit for the number of steps per period of the fastest vibration. Below this limit a plan gets a warning, because
/// the vibration is not integrated accurately.
pub const FEW_STEPS: f64 = 10.0;
/// Rounding error of one atomic charge in e, since force fields give charges with four decimals. Rounding errors of the
/// atomic charges are independent, so the net charge of N atoms has an error of √N times the error of one charge.
const CHARGE_ROUNDING: f64 = 5e-5;
/// Shortest Lennard-Jones cutoff (nm) for which AMBER's force fields were parametrised: 8 Å (Maier et al. 2015,
/// doi:10.1021/acs.jctc.5b00255).
pub const AMBER_CUTOFF: f64 = 0.8;
/// Distance (nm) at which CHARMM36's force switch of Lennard-Jones forces begins. The force switch ends at
/// [`CHARMM_CUTOFF`] (Huang et al. 2017, doi:10.1038/nmeth.4067).
const CHARMM_SWITCH: f64 = 1.0;
const CHARMM_CUTOFF: f64 = 1.2;
/// Largest difference (nm) between two cutoffs that count as equal.
const SAME_LENGTH: f64 = 1e-6;
/// Largest expected relative change of the cell edges while a solvated system equilibrates at constant pressure.
pub const SHRINKING: f64 = 0.05;

/// Returns an error if md does not support the system, or if the atoms of a stage cannot be frozen. Also returns an
/// error if the time step or the interval between impulses is too long for the fastest vibration. Before the call,
/// bonded terms between constrained atoms must have been removed from the system.
pub fn refuse(plan: &Plan, system: &System) -> Result<()> {
    check_system(system)?;
    plan.stages.iter().try_for_each(|stage| frozen_system(stage, system).map(drop))?;
    let mut problems = resonance::refusals(plan, system);
    if let Some(vibration) = fastest(system) {
        let long = plan.dynamics().filter(|(_, stage)| vibration.period < FEWEST_STEPS * stage.timestep);
        problems.extend(long.map(|(name, stage)| {
            let message = too_long(name, stage, &vibration, system);
            Problem::new(format!("{message}, fewer than {FEWEST_STEPS}: the run would become unstable or inaccurate"))
                .help(shorter(&vibration, system))
                .of_key(&["stage", name, "timestep"])
        }));
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::Input(problems)) }
}

/// Returns all warnings about a plan. Before the call, bonded terms between constrained atoms must have been removed
/// from the system. `left_out` counts the models and atoms of the coordinate file that the run ignores.
pub fn warnings(plan: &Plan, system: &System, state: &State, left_out: LeftOut) -> Vec<String> {
    let mut found = vec![];
    found.extend(timestep(plan, system));
    found.extend(resonance::resonance(plan, system));
    found.extend(idle_hydrogen_mass(plan, system));
    found.extend(net_charge(system));
    found.extend(cutoffs(plan, system));
    found.extend(truncated_charges(system, state));
    found.extend(weak_coupling(plan));
    found.extend(tight_cell(plan, system, state));
    found.extend(couplings::wandering(plan, system, state));
    found.extend(couplings::small_groups(plan, system, state));
    found.extend(couplings::unmixed(plan, state));
    found.extend(couplings::idle(plan));
    found.extend(couplings::driven_motion(plan, state));
    found.extend(couplings::unreached(plan));
    found.extend(couplings::different_pressures(plan));
    found.extend(couplings::unscaled_references(plan));
    found.extend(couplings::wide_restrained_groups(plan, system, state));
    found.extend(couplings::long_distances(plan, system, state));
    found.extend(exchange::distant_states(plan, system, state));
    found.extend(geometry::violated_constraints(system, state));
    found.extend(geometry::unlikely_density(system, state));
    found.extend(geometry::rounded_positions(plan, system, state));
    found.extend(frames::rounded_intervals(plan));
    found.extend(frames::undated(plan));
    found.extend(frames::left_out(plan, left_out));
    found.extend(replaced_parameters(&system.topology.replaced));
    found
}

/// Warns of parameters in the topology files that replace earlier parameters of the same atom types. `places` lists the
/// lines of the topology files that contain the later parameters.
fn replaced_parameters(places: &[String]) -> Option<String> {
    let first = places.first()?;
    let others = match places.len() - 1 {
        0 => String::new(),
        count => format!(" and {count} more lines"),
    };
    Some(format!(
        "{first}{others}: these parameters replace earlier parameters for the same atom types, as in GROMACS; remove \
         the parameters that are not intended"
    ))
}

fn timestep(plan: &Plan, system: &System) -> Option<String> {
    let (name, stage) = plan.dynamics().max_by(|a, b| a.1.timestep.total_cmp(&b.1.timestep))?;
    let vibration = fastest(system).filter(|vibration| vibration.period < FEW_STEPS * stage.timestep)?;
    let message = too_long(name, stage, &vibration, system);
    Some(format!(
        "{message}, fewer than {FEW_STEPS}: this vibration is not integrated accurately; {}",
        shorter(&vibration, system)
    ))
}

fn too_long(name: &str, stage: &Dynamics, vibration: &Vibration, system: &System) -> String {
    let (timestep, period) = (Dimension::Time.show(stage.timestep), 1e3 * vibration.period);
    format!(
        "stage \"{name}\": the timestep of {timestep} is too long for {}. The vibration period of {period:.1} fs \
         has {:.1} steps",
        vibration.describe(&system.topology),
        vibration.period / stage.timestep
    )
}

/// Returns advice to the user whose time step is too long for the fastest vibration.
fn shorter(vibration: &Vibration, system: &System) -> String {
    let topology = &system.topology;
    let atom = |i: &u32| &topology.atoms[*i as usize];
    let key = if vibration.atoms.iter().any(|i| topology.is_water(atom(i).residue as usize)) {
        "set rigid_water = true, or "
    } else if vibration.atoms.len() > 2 {
        ""
    } else if vibration.atoms.iter().any(|i| atom(i).element == 1) {
        "set constraints = \"h-bonds\", or "
    } else {
        "set constraints = \"all-bonds\", or "
    };
    format!("{key}use a timestep of {:.1} fs or less", (1e4 * vibration.period / FEW_STEPS).floor() / 10.0)
}

/// Warns if no atom has the mass that `hydrogen_mass` sets.
fn idle_hydrogen_mass(plan: &Plan, system: &System) -> Option<String> {
    let mass = plan.forces.hydrogen_mass?;
    let is_set = system.topology.atoms.iter().any(|atom| atom.element == 1 && atom.mass == mass);
    (!is_set).then(|| {
        "hydrogen_mass has no effect: it sets the masses of hydrogens that are bonded to heavy atoms, except those of \
         rigid water, and the system has no such hydrogens; remove hydrogen_mass"
            .to_owned()
    })
}

fn net_charge(system: &System) -> Option<String> {
    let Electrostatics::Pme(_) = system.settings.electrostatics else { return None };
    let charge = system.topology.net_charge();
    (charge.abs() > CHARGE_ROUNDING * (system.topology.atoms.len() as f64).sqrt()).then(|| {
        format!(
            "the net charge is {charge:.3} e, and PME adds a uniform neutralising background charge. The background \
             changes energies and pressure; if the solvent does not fill the cell, for example with a membrane, it \
             also displaces ions and solutes (doi:10.1021/ct400626b); add counter-ions"
        )
    })
}

/// Warns if the Lennard-Jones cutoff, its modifier or the dispersion correction do not follow the convention of the
/// force field.
fn cutoffs(plan: &Plan, system: &System) -> Option<String> {
    let settings = &system.settings;
    let cutoff = settings.cutoff_lj?;
    let corrected = settings.dispersion_correction != DispersionCorrection::Off;
    if system.topology.charmm {
        let same = |a: f64, b: f64| (a - b).abs() < SAME_LENGTH;
        let switched = matches!(settings.lj_modifier, LjModifier::ForceSwitch { from } if same(from, CHARMM_SWITCH));
        return (!switched || !same(cutoff, CHARMM_CUTOFF) || corrected).then(|| {
            format!(
                "the CHARMM force field was made for Lennard-Jones forces that are switched off between \
                 {CHARMM_SWITCH:.1} and {CHARMM_CUTOFF} nm, without a dispersion correction. This input has a cutoff \
                 of {cutoff} nm, {}, so pressure, density and membrane areas will be wrong; leave out cutoff, \
                 cutoff_lj, lj_modifier, lj_switch and dispersion_correction, whose defaults are CHARMM's conventions",
                describe_lj_end(settings)
            )
        });
    }
    if cutoff < AMBER_CUTOFF - SAME_LENGTH {
        return Some(format!(
            "the Lennard-Jones cutoff of {cutoff} nm is shorter than {AMBER_CUTOFF} nm, the shortest cutoff for \
             AMBER's force fields: structure and pressure will be wrong; set cutoff_lj = \"0.8 nm\" or more"
        ));
    }
    let pressure = plan.dynamics().any(|(_, stage)| stage.barostat.is_some());
    (pressure && !corrected).then(|| {
        format!(
            "there is a barostat but no dispersion_correction. The attraction beyond {cutoff} nm is missing from the \
             pressure, so the density will be too low with AMBER's force fields; set dispersion_correction = true"
        )
    })
}

fn truncated_charges(system: &System, state: &State) -> Option<String> {
    let charged = system.topology.atoms.iter().any(|atom| atom.charge != 0.0);
    let truncated = system.settings.electrostatics == Electrostatics::Plain && system.settings.cutoff.is_some();
    (charged && truncated && state.cell.is_some()).then(|| {
        "electrostatics = \"plain\" cuts off Coulomb interactions in a periodic cell. Liquids get a wrong structure \
         near the cutoff distance, and energy is not conserved; set electrostatics = \"pme\""
            .to_owned()
    })
}

/// Warns if the thermostat or barostat of the last stage does not sample a known ensemble.
fn weak_coupling(plan: &Plan) -> Option<String> {
    let (name, stage) = plan.dynamics().next_back()?;
    let thermostat = stage.thermostat.as_ref().filter(|t| !t.kind.facts().is_canonical);
    let barostat = stage.barostat.as_ref().filter(|b| !b.kind.facts().is_isobaric);
    let named = |coupling: &str, word: &str| format!("{coupling} of kind \"{word}\"");
    let thermostat = thermostat.map(|t| (named("thermostat", t.kind.facts().word), "thermostat kind \"v-rescale\""));
    let barostat = barostat.map(|b| (named("barostat", b.kind.facts().word), "barostat kind \"c-rescale\""));
    let (what, instead): (Vec<_>, Vec<_>) = thermostat.into_iter().chain(barostat).unzip();
    (!what.is_empty()).then(|| {
        format!(
            "stage \"{name}\" is the last stage, and its {} does not sample a known ensemble: fluctuations are too \
             small; use {} for production",
            what.join(" and its "),
            instead.join(" and ")
        )
    })
}

/// Warns if the cell of a stage at constant pressure is only slightly larger than the cutoff requires, so that the cell
/// may become too small when it shrinks.
fn tight_cell(plan: &Plan, system: &System, state: &State) -> Option<String> {
    let (name, _) = plan.dynamics().find(|(_, stage)| stage.barostat.is_some())?;
    let (largest, cutoff) = (state.cell?.max_cutoff(), system.settings.longest_cutoff());
    (cutoff > (1.0 - SHRINKING) * largest).then(|| {
        format!(
            "stage \"{name}\" has a barostat, and the cutoff of {cutoff} nm is only slightly shorter than half of the \
             cell width, {largest:.4} nm. If the cell becomes too small for the cutoff, the run ends with exit code \
             4; use a larger cell or a shorter cutoff"
        )
    })
}
