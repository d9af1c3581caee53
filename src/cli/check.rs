//! `md check`: everything that can be said before a run.

use std::fmt::Write;

use clap::Args;

use super::info;
use super::input::Input;
use crate::backend::check_system;
use crate::config::load;
use crate::constraint::degrees_of_freedom;
use crate::error::Result;
use crate::run::{Dynamics, Plan, StageKind, check_device};
use crate::system::{Electrostatics, State, System};

/// Check an input file and the files it names, and say what a run would do; starts nothing
#[derive(Debug, Args)]
pub(super) struct Check {
    #[command(flatten)]
    input: Input,
    /// Also print the effective configuration, every default spelled out
    #[arg(long)]
    effective: bool,
}

impl Check {
    pub(super) fn execute(&self) -> Result<()> {
        let config = self.input.read(vec![])?;
        let (system, state) = load(&config.plan)?;
        check_system(&system)?;
        check_device(&config.plan)?;
        let mut text = summary(&config.plan, &system, &state);
        if self.effective {
            text.push('\n');
            text.push_str(&config.effective);
        }
        super::print(&text)
    }
}

// Writing to a String cannot fail: results of `writeln!` are dropped below.

fn summary(plan: &Plan, system: &System, state: &State) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "system       {}", info::contents(&system.topology));
    match &state.cell {
        Some(cell) => {
            let density = info::density(&system.topology, cell);
            let _ = writeln!(text, "cell         {}, density {density:.4} g/cm3", info::cell_line(cell));
        }
        None => text.push_str("cell         none\n"),
    }
    let _ = writeln!(text, "forces       {}", forces(system));
    let constraints = &system.constraints;
    let freedom = degrees_of_freedom(&system.topology, constraints, state.cell.is_some());
    let (waters, bonds) = (constraints.settles.len(), constraints.bonds.len());
    let _ = writeln!(text, "constraints  {waters} rigid waters, {bonds} distances; {freedom} degrees of freedom");
    for (index, stage) in plan.stages.iter().enumerate() {
        let what = match &stage.kind {
            StageKind::Minimize(minimize) => format!("minimize, at most {} steps", minimize.steps),
            StageKind::Dynamics(stage) => dynamics(stage),
        };
        let _ = writeln!(text, "stage {:<6} {}: {what}", index + 1, stage.name);
    }
    let _ = writeln!(text, "output       {}", output(plan, system.topology.atoms.len()));
    let _ = writeln!(text, "memory       about {:.0} MB", memory(system, state) / 1e6);
    text
}

fn forces(system: &System) -> String {
    let settings = &system.settings;
    let distance = |value: Option<f64>| value.map_or("none".to_owned(), |nm| format!("{nm} nm"));
    let coulomb = match settings.electrostatics {
        Electrostatics::Off => "no electrostatics".to_owned(),
        Electrostatics::Plain => "plain electrostatics".to_owned(),
        Electrostatics::ReactionField { permittivity } => format!("reaction field, permittivity {permittivity}"),
        Electrostatics::Pme(pme) => {
            let [a, b, c] = pme.grid;
            format!("PME alpha {:.4} 1/nm, grid {a} x {b} x {c}, order {}", pme.alpha, pme.order)
        }
    };
    format!("cutoff {}, Lennard-Jones {}; {coulomb}", distance(settings.cutoff), distance(settings.cutoff_lj))
}

fn dynamics(stage: &Dynamics) -> String {
    let duration = stage.steps as f64 * stage.timestep;
    let mut text = format!("{} steps of {} fs = {duration} ps", stage.steps, stage.timestep * 1e3);
    if let Some(thermostat) = &stage.thermostat {
        let _ = write!(text, ", {} K", thermostat.temperature);
    }
    if let Some(barostat) = &stage.barostat {
        let _ = write!(text, ", {:.4} bar", barostat.pressure / crate::units::BAR);
    }
    text
}

fn output(plan: &Plan, atoms: usize) -> String {
    let stages = plan.stages.iter().filter_map(|stage| match &stage.kind {
        StageKind::Dynamics(stage) => Some(stage),
        StageKind::Minimize(_) => None,
    });
    let directory = plan.output.directory.display();
    let Some(trajectory) = &plan.output.trajectory else { return format!("{directory}: no frames") };
    // frame 0 of each stage is always written
    let frames: u64 = stages.map(|stage| 1 + stage.steps / trajectory.every.steps(stage.timestep)).sum();
    let fields = 1 + u64::from(trajectory.velocities) + u64::from(trajectory.forces);
    // three f32 per atom and field, uncompressed
    let bytes = frames as f64 * atoms as f64 * (fields * 12) as f64;
    format!("{directory}: {frames} frames, at most {:.1} MB", bytes / 1e6)
}

/// Bytes a run holds at its peak, to about a quarter on few threads: program, atoms, pairs in range and the PME grid.
/// The figures were fitted to four runs of 22 to 23,558 atoms (14 to 63 MB resident).
fn memory(system: &System, state: &State) -> f64 {
    let atoms = system.topology.atoms.len() as f64;
    const PROGRAM: f64 = 14e6;
    // the text while it is read, description, positions, velocities, forces, sorted copies, a copy for checkpoints
    let of_atoms = 1500.0 * atoms;
    let (volume, settings) = (state.cell.map(|cell| cell.volume()), &system.settings);
    let reach = settings.cutoff_lj.into_iter().chain(settings.cutoff).reduce(f64::max);
    let partners = match (volume, reach) {
        // half the atoms in a sphere of the cutoff with a buffer of a tenth
        (Some(volume), Some(reach)) => 0.5 * atoms / volume * 4.0 / 3.0 * std::f64::consts::PI * (1.1 * reach).powi(3),
        _ => 0.0,
    };
    // outer and inner list take about a byte per pair each
    let of_pairs = 2.0 * atoms * partners;
    let of_grid = match settings.electrostatics {
        // charges, padded charges and transform in f32, and the influence function
        Electrostatics::Pme(pme) => 16.0 * pme.grid.iter().map(|&n| n as f64).product::<f64>(),
        _ => 0.0,
    };
    PROGRAM + of_atoms + of_pairs + of_grid
}
