//! Warnings about multiple time steps if the interval between impulses resonates with a vibration.
//!
//! In a multiple-time-step integrator, impulses every Δt excite a vibration of period T if Δt = T/2 (a linear
//! resonance) and if Δt = T/3 (a nonlinear resonance): Q. Ma, J. A. Izaguirre, R. D. Skeel, SIAM J. Sci. Comput. 24,
//! 1951 (2003), doi:10.1137/S1064827501399833. In a flexible system, an interval of at least 1/3 of the shortest period
//! is refused, and an interval of at least 1/6 of the shortest period gives a warning. In a system with rigid water and
//! constrained bonds to hydrogen, librations of water and bending of angles with hydrogen are the fastest motions on
//! which reciprocal-space forces act strongly. With rigid water and constrained bonds to hydrogen, water and a solvated
//! peptide heat up by 35 kJ/mol/ps with impulses every 12 fs, and by 0.2 kJ/mol/ps with impulses every 8 fs.

use crate::error::Problem;
use crate::run::check::vibration::{Vibration, fastest};
use crate::run::plan::{Dynamics, Plan};
use crate::system::System;

/// Two limits in ps for systems with rigid water and constrained bonds to hydrogen: the shortest interval between
/// impulses that gives a warning, and the shortest interval that is refused.
const RIGID: [f64; 2] = [0.008, 0.012];
/// Two limits for flexible systems, as fractions of the period of the fastest vibration: the shortest interval between
/// impulses that gives a warning, and the shortest interval that is refused.
const FLEXIBLE: [f64; 2] = [1.0 / 6.0, 1.0 / 3.0];
/// Relative rounding error of an interval between impulses, which is the product of the time step and a number of
/// steps.
const ROUNDING: f64 = 1e-9;

/// Impulses of a stage with multiple time steps.
struct Impulses<'a> {
    /// name of the stage
    stage: &'a str,
    /// interval between impulses, ps
    interval: f64,
    /// time step, ps
    timestep: f64,
}

/// Limits of the interval between impulses in ps, and the fastest vibration if the system is flexible or has no
/// hydrogen. Systems without hydrogen and without vibrations, such as argon, have no limits.
struct Limits {
    vibration: Option<Vibration>,
    warned: f64,
    refused: f64,
}

impl Limits {
    fn of(system: &System) -> Self {
        let has_hydrogen = system.topology.atoms.iter().any(|atom| atom.element == 1);
        let vibration = fastest(system).filter(|_| is_flexible(system) || !has_hydrogen);
        let rigid = if has_hydrogen { RIGID } else { [f64::INFINITY; 2] };
        let [warned, refused] =
            vibration.as_ref().map_or(rigid, |vibration| FLEXIBLE.map(|fraction| fraction * vibration.period));
        Limits { vibration, warned, refused }
    }

    /// Returns the message about an interval between impulses that is too long, and advice on how to shorten the
    /// interval.
    fn describe(&self, &Impulses { stage, interval, timestep }: &Impulses<'_>, system: &System) -> [String; 2] {
        let reason = match &self.vibration {
            Some(vibration) => {
                let (period, what) = (1e3 * vibration.period, vibration.describe(&system.topology));
                format!("resonate with {what}, whose period is {period:.1} fs")
            }
            None => "resonate with librations of water and angles with hydrogen".to_owned(),
        };
        let message = format!(
            "stage \"{stage}\": impulses of multiple_time_steps every {:.1} fs {reason} (doi:10.1137/S1064827501399833)",
            1e3 * interval
        );
        let steps = (1..).take_while(|&n| !reaches(f64::from(n) * timestep, self.warned)).last().unwrap_or(1);
        let shorter = match steps {
            1 => "remove multiple_time_steps".to_owned(),
            steps => format!("set multiple_time_steps = {{ every = {steps} }}"),
        };
        let constrain = if self.vibration.is_some() {
            ", or constrain hydrogen: constraints = \"h-bonds\", rigid_water = true"
        } else {
            ", or use a shorter timestep"
        };
        [message, format!("{shorter}{constrain}")]
    }
}

/// Whether an interval between impulses is at or above a limit, up to rounding errors.
fn reaches(interval: f64, limit: f64) -> bool {
    interval >= limit * (1.0 - ROUNDING)
}

/// Whether the system counts as flexible. A flexible system has an unconstrained bond to hydrogen, an unconstrained
/// angle within a water molecule, or no constraints outside rigid water.
fn is_flexible(system: &System) -> bool {
    let (topology, terms) = (&system.topology, &system.topology.bonded);
    let is_hydrogen = |i: &u32| topology.atoms[*i as usize].element == 1;
    let in_water = |i: u32| topology.is_water(topology.atoms[i as usize].residue as usize);
    let bonds = terms.bonds.iter().map(|bond| bond.atoms).chain(terms.g96_bonds.iter().map(|bond| bond.atoms));
    let angles = terms.angles.iter().map(|angle| angle.atoms).chain(terms.g96_angles.iter().map(|angle| angle.atoms));
    system.constraints.bonds.is_empty()
        || bonds.into_iter().any(|atoms| atoms.iter().any(is_hydrogen))
        || angles.into_iter().any(|[_, vertex, _]| in_water(vertex))
}

/// Returns the impulses of each dynamics stage with multiple time steps.
fn impulses(plan: &Plan) -> impl Iterator<Item = Impulses<'_>> {
    plan.dynamics().filter_map(|(stage, &Dynamics { timestep, multiple_time_steps, .. })| {
        let every = multiple_time_steps.filter(|steps| steps.every > 1)?.every;
        Some(Impulses { stage, interval: f64::from(every) * timestep, timestep })
    })
}

/// Returns an error for each stage whose interval between impulses is so long that a resonance heats the system.
pub(super) fn refusals(plan: &Plan, system: &System) -> Vec<Problem> {
    let limits = Limits::of(system);
    let refused = impulses(plan).filter(|impulses| reaches(impulses.interval, limits.refused));
    let problem = |impulses: Impulses| {
        let [message, help] = limits.describe(&impulses, system);
        Problem::new(format!("{message}: the impulses heat the system")).help(help).of_key(&[
            "stage",
            impulses.stage,
            "multiple_time_steps",
        ])
    };
    refused.map(problem).collect()
}

/// Warns if the longest interval between impulses of all stages is close to a resonance with a vibration.
pub(super) fn resonance(plan: &Plan, system: &System) -> Option<String> {
    let longest = impulses(plan).max_by(|a, b| a.interval.total_cmp(&b.interval))?;
    let limits = Limits::of(system);
    reaches(longest.interval, limits.warned).then(|| {
        let [message, help] = limits.describe(&longest, system);
        format!("{message}: watch the conserved energy; {help}")
    })
}
