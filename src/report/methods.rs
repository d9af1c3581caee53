//! Text for the section "Methods" of a paper: the methods of a run in words, with citations.

use super::citations::{self as of, Citation};
use super::folder::RunFolder;
use super::production::dynamics;
use crate::ensemble::barostat::{Barostat, BarostatKind, PressureCoupling};
use crate::ensemble::thermostat::{Thermostat, ThermostatKind};
use crate::observe::summary::Summary;
use crate::prepare::{ConstraintKind, ElectrostaticsSpec};
use crate::run::{Dynamics, StageKind};
use crate::system::{DispersionCorrection, LjModifier};
use crate::units::{Dimension, rounded_time};

/// Description of the methods of a run, with citations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Methods {
    /// sentences that describe the methods; citations are in their short form, in parentheses
    pub text: String,
    /// cited publications, in the order in which the text cites them
    pub citations: Vec<Citation>,
}

impl Methods {
    fn say(&mut self, sentence: &str) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(sentence);
    }

    /// Returns the short forms of `citations` in parentheses, and adds the publications to the list of cited
    /// publications.
    fn cite(&mut self, citations: &[Citation]) -> String {
        for citation in citations {
            if !self.citations.contains(citation) {
                self.citations.push(*citation);
            }
        }
        format!("({})", citations.iter().map(Citation::short).collect::<Vec<_>>().join("; "))
    }
}

/// Describes the methods of a run in words, with citations.
pub fn methods(run: &RunFolder) -> Methods {
    let mut methods = Methods::default();
    program(run, &mut methods);
    stages(run, &mut methods);
    constraints(run, &mut methods);
    electrostatics(run, &mut methods);
    lennard_jones(run, &mut methods);
    if let Some(exchange) = &run.exchange {
        let cited = methods.cite(&[of::SUGITA_1999, of::OKABE_2001]);
        let every = Dimension::Time.spell(rounded_time(exchange.every as f64 * last_timestep(run)));
        methods.say(&format!(
            "Neighbours of {} replicas attempted to exchange their states every {every} {cited}. Conditions that differ \
             between the states are given for the state in which this replica began.",
            exchange.replicas
        ));
    }
    if run.plan.forces.scaled_solute.is_some() {
        let cited = methods.cite(&[of::WANG_2011]);
        methods.say(&format!("The interactions of the solute were scaled as in REST2 {cited}."));
    }
    if run.energies.is_some() && run.plan.dynamics().next().is_some() {
        let cited = methods.cite(&[of::CHODERA_2016]);
        methods.say(&format!("Averages were computed from the detected end of equilibration onwards {cited}."));
    }
    methods
}

fn last_timestep(run: &RunFolder) -> f64 {
    run.plan.dynamics().next_back().map_or(0.0, |(_, dynamics)| dynamics.timestep)
}

fn program(run: &RunFolder, methods: &mut Methods) {
    let Summary { version, commit, atoms, device, .. } = run.summary.clone().unwrap_or_default();
    let version = if version.is_empty() { "md".to_owned() } else { format!("md {version}") };
    let commit = if commit.is_empty() { String::new() } else { format!(" (commit {commit})") };
    let device = if device.is_empty() { String::new() } else { format!(" on {device}") };
    methods.say(&format!("Simulations were performed with {version}{commit}{device}."));
    let topology = run.plan.system.topology.file_name().unwrap_or_default().to_string_lossy();
    let atoms = if atoms > 0 { format!(" of {atoms} atoms") } else { String::new() };
    methods.say(&format!("The system{atoms} and its force field were read from {topology}."));
}

fn stages(run: &RunFolder, methods: &mut Methods) {
    if run.plan.stages.iter().any(|stage| matches!(stage.kind, StageKind::Minimize(_))) {
        let cited = methods.cite(&[of::NOCEDAL_1980]);
        methods.say(&format!("The energy was minimised with L-BFGS {cited}."));
    }
    let mut last: Option<&Dynamics> = None;
    for (_, name, dynamics) in dynamics(&run.plan) {
        let length = Dimension::Time.spell(rounded_time(run.plan.target(dynamics.steps) as f64 * dynamics.timestep));
        let step = Dimension::Time.spell(dynamics.timestep);
        match last {
            None => methods.say(&format!(
                "Equations of motion were integrated with the leapfrog algorithm and a time step of {step} for {length} \
                 (stage \"{name}\")."
            )),
            Some(last) if last.timestep == dynamics.timestep => methods.say(&format!("Stage \"{name}\" had a length of {length}.")),
            Some(_) => {
                methods.say(&format!("Stage \"{name}\" had a time step of {step} and a length of {length}."));
            }
        }
        if last.is_none_or(|last| last.thermostat != dynamics.thermostat) {
            thermostat(dynamics.thermostat.as_ref(), methods);
        }
        if last.is_none_or(|last| last.barostat != dynamics.barostat) {
            match &dynamics.barostat {
                Some(found) => barostat(found, methods),
                None if last.is_some() => methods.say(&format!("The cell was constant in stage \"{name}\".")),
                None => {}
            }
        }
        if let Some(steps) = dynamics.multiple_time_steps {
            let cited = methods.cite(&[of::TUCKERMAN_1992]);
            methods.say(&format!("Reciprocal-space forces acted as impulses every {} steps {cited}.", steps.every));
        }
        last = Some(dynamics);
    }
    let restrained: Vec<String> = run
        .plan
        .stages
        .iter()
        .filter(|stage| !stage.restraints.is_empty() || !stage.position_restraints.is_empty())
        .map(|stage| format!("\"{}\"", stage.name))
        .collect();
    if !restrained.is_empty() {
        methods.say(&format!("Restraints acted in the stages {}.", restrained.join(", ")));
    }
}

fn thermostat(thermostat: Option<&Thermostat>, methods: &mut Methods) {
    let Some(thermostat) = thermostat else { return methods.say("No thermostat was used.") };
    let (citations, name): (&[Citation], _) = match thermostat.kind {
        ThermostatKind::VRescale => (&[of::BUSSI_2007], "stochastic velocity rescaling"),
        ThermostatKind::Berendsen => (&[of::BERENDSEN_1984], "weak coupling"),
        ThermostatKind::NoseHoover => (&[of::MARTYNA_1992], "a Nosé–Hoover chain"),
        ThermostatKind::Langevin => (&[of::ZHANG_2019], "Langevin dynamics in the middle scheme"),
        ThermostatKind::Andersen => (&[of::ANDERSEN_1980], "Andersen's thermostat"),
    };
    let key = thermostat.kind.facts().key;
    let time = format!("{} {}", key.word().replace('_', " "), key.spell(thermostat.coupling_time));
    let cited = methods.cite(citations);
    let groups = match thermostat.groups.len() {
        0 => String::new(),
        count => format!(", with {count} further temperature groups"),
    };
    let temperature = thermostat.temperature.words(Dimension::Temperature);
    methods.say(&format!("The temperature was held {temperature} by {name} {cited}, {time}{groups}."));
}

fn barostat(barostat: &Barostat, methods: &mut Methods) {
    let (citations, name): (&[Citation], _) = match (barostat.kind, barostat.coupling) {
        (BarostatKind::CRescale, PressureCoupling::Isotropic) => (&[of::BERNETTI_2020], "stochastic cell rescaling"),
        (BarostatKind::CRescale, _) => (&[of::BERNETTI_2020, of::DEL_TATTO_2022], "stochastic cell rescaling"),
        (BarostatKind::MonteCarlo, _) => (&[of::CHOW_1995, of::AQVIST_2004], "Monte Carlo volume moves"),
        (BarostatKind::Berendsen, _) => (&[of::BERENDSEN_1984], "weak coupling"),
    };
    let coupling = match barostat.coupling {
        PressureCoupling::Isotropic => "isotropic",
        PressureCoupling::SemiIsotropic => "semi-isotropic",
        PressureCoupling::Anisotropic => "anisotropic",
    };
    let time = match barostat.kind.facts().min_couplings {
        Some(_) => format!(", coupling time {}", Dimension::Time.spell(barostat.coupling_time)),
        None => format!(", every {} steps", barostat.every),
    };
    let cited = methods.cite(citations);
    let held = pressures(barostat);
    methods.say(&format!("The pressure was held {held} by {coupling} {name} {cited}{time}."));
}

/// Returns the target pressures and the surface tension in words, for example "at 1 bar".
fn pressures(barostat: &Barostat) -> String {
    let [x, y, z] = barostat.pressure.each_ref().map(|pressure| pressure.words(Dimension::Pressure));
    if barostat.surface_tension != 0.0 {
        let tension = Dimension::SurfaceTension.spell(barostat.surface_tension);
        return format!("{z} along z, with a surface tension of {tension} for all interfaces together,");
    }
    if x == y && y == z {
        z
    } else if x == y {
        format!("{x} along x and y and {z} along z")
    } else {
        format!("{x} along x, {y} along y and {z} along z")
    }
}

fn constraints(run: &RunFolder, methods: &mut Methods) {
    let forces = &run.plan.forces;
    let system = run.summary.as_ref().and_then(|summary| summary.system.as_ref());
    let has_constraints = system.and_then(|system| system.constraints) != Some(0);
    let has_rigid_waters = system.and_then(|system| system.rigid_waters) != Some(0);
    let bonds = match forces.constraints {
        ConstraintKind::None => None,
        ConstraintKind::HBonds => Some("Bonds to hydrogen"),
        ConstraintKind::AllBonds => Some("All bonds"),
        ConstraintKind::HAngles => Some("All bonds, and angles of hydrogens,"),
    };
    if let Some(bonds) = bonds.filter(|_| has_constraints) {
        let cited = methods.cite(&[of::RYCKAERT_1977, of::KRAUTLER_2001]);
        let tolerance = forces.constraint_tolerance;
        methods.say(&format!(
            "{bonds} were constrained with SHAKE in matrix form {cited} to a relative tolerance of {tolerance:e}."
        ));
    }
    if forces.rigid_water && has_rigid_waters {
        let cited = methods.cite(&[of::MIYAMOTO_1992]);
        methods.say(&format!("Water molecules were kept rigid with SETTLE {cited}."));
    }
    if let Some(mass) = forces.hydrogen_mass {
        let cited = methods.cite(&[of::HOPKINS_2015]);
        methods
            .say(&format!("Hydrogen masses were raised to {mass} amu at the expense of bonded heavy atoms {cited}."));
    }
}

fn electrostatics(run: &RunFolder, methods: &mut Methods) {
    let system = run.summary.as_ref().and_then(|summary| summary.system.as_ref());
    let cutoff = system.and_then(|system| system.cutoff).map(|cutoff| Dimension::Length.spell(cutoff));
    match run.plan.forces.electrostatics {
        _ if !run.has_charges() => {}
        ElectrostaticsSpec::Off => methods.say("Coulomb interactions were left out."),
        ElectrostaticsSpec::Plain => methods.say(&match cutoff {
            Some(cutoff) => format!("Coulomb interactions were truncated at {cutoff}."),
            None => "Coulomb interactions of all pairs were computed without a cutoff.".to_owned(),
        }),
        ElectrostaticsSpec::ReactionField { permittivity } => {
            let cited = methods.cite(&[of::TIRONI_1995]);
            let cutoff = cutoff.unwrap_or_default();
            methods.say(&format!(
                "Electrostatics were treated with a reaction field of permittivity {permittivity} beyond {cutoff} {cited}."
            ));
        }
        ElectrostaticsSpec::Pme(_) => {
            let cited = methods.cite(&[of::ESSMANN_1995]);
            let cutoff = cutoff.map_or(String::new(), |cutoff| format!(", a direct-space cutoff of {cutoff}"));
            let mesh = run.summary.as_ref().and_then(|summary| summary.pme).map_or(String::new(), |pme| {
                let [a, b, c] = pme.grid;
                format!(
                    ", a grid of {a} × {b} × {c} points, splines of order {} and α = {:.3} 1/nm",
                    pme.order, pme.alpha
                )
            });
            methods
                .say(&format!("Electrostatics were computed with smooth particle-mesh Ewald {cited}{cutoff}{mesh}."));
        }
    }
}

fn lennard_jones(run: &RunFolder, methods: &mut Methods) {
    let Some(system) = run.summary.as_ref().and_then(|summary| summary.system.as_ref()) else { return };
    let Some(cutoff) = system.cutoff_lj else {
        return methods.say("Lennard-Jones interactions of all pairs were computed without a cutoff.");
    };
    let cutoff = Dimension::Length.spell(cutoff);
    let end = match system.lj_modifier {
        LjModifier::None => format!("truncated at {cutoff}"),
        LjModifier::PotentialShift => format!("truncated at {cutoff}, with a potential shifted to zero at the cutoff"),
        LjModifier::ForceSwitch { from } => {
            let cited = methods.cite(&[of::STEINBACH_1994]);
            format!("switched off by a force switch from {} to {cutoff} {cited}", Dimension::Length.spell(from))
        }
        LjModifier::PotentialSwitch { from } => {
            format!("switched off by a potential switch from {} to {cutoff}", Dimension::Length.spell(from))
        }
    };
    let beyond = match system.dispersion_correction {
        DispersionCorrection::Off => String::new(),
        DispersionCorrection::AllPairs | DispersionCorrection::NonExcluded => {
            "; energy and pressure were corrected for the dispersion beyond".to_owned()
        }
        DispersionCorrection::Pme(_) => {
            format!("; dispersion beyond was summed by LJ-PME {}", methods.cite(&[of::WENNBERG_2015]))
        }
    };
    methods.say(&format!("Lennard-Jones interactions were {end}{beyond}."));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::schedule::Schedule;
    use crate::units::BAR;

    #[test]
    fn pressures_that_differ_and_tensions_are_named() {
        let words = |pressure: [f64; 3], surface_tension: f64| {
            pressures(&Barostat {
                kind: BarostatKind::CRescale,
                coupling: PressureCoupling::SemiIsotropic,
                pressure: pressure.map(|value| Schedule::from(value * BAR)),
                surface_tension: surface_tension * BAR,
                coupling_time: 5.0,
                compressibility: [1.0; 3],
                every: 10,
            })
        };
        assert_eq!(words([1.0; 3], 0.0), "at 1 bar");
        assert_eq!(words([100.0, 100.0, 1.0], 0.0), "at 100 bar along x and y and at 1 bar along z");
        assert_eq!(words([3.0, 2.0, 1.0], 0.0), "at 3 bar along x, at 2 bar along y and at 1 bar along z");
        // 1 bar nm is 0.1 mN/m
        let tension = words([1.0; 3], 400.0);
        assert_eq!(tension, "at 1 bar along z, with a surface tension of 40 mN/m for all interfaces together,");
    }
}
