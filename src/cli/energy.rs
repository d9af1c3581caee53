//! `md energy`: computes the energy of one state term by term, for comparison with other engines.

use std::fmt::Write as _;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::files::refuse_inputs;
use super::input::{Input, cache_folder};
use crate::backend::{Energies, Evaluation};
use crate::config::{Config, Override};
use crate::constraint::largest_deviation;
use crate::error::{Error, Problem, Result};
use crate::format::npy;
use crate::prepare::{ConstrainedTerms, Prepared};
use crate::restraint::Restraints;
use crate::run::{Engine, Plan, describe_methods, load_without_stages, restraints};
use crate::system::{Electrostatics, State, System};

/// Compute the energy term by term, and forces, for the coordinates of an input file
#[derive(Debug, Args)]
pub(super) struct Energy {
    #[command(flatten)]
    input: Input,
    /// Floating-point precision, as in run.precision
    #[arg(long)]
    precision: Option<Arithmetic>,
    /// Write energies (kJ/mol), virial (sum of r⊗F, kJ/mol), PME parameters and cell (nm) to this file
    /// (JSON), which is replaced if it exists
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write forces (kJ/mol/nm) to this file, a NumPy array of float64 with the shape [N,3]; an
    /// existing file is replaced
    #[arg(long, value_name = "FILE.npy")]
    forces: Option<PathBuf>,
    /// Add the restraints of this stage, evaluated as if the stage started from the coordinates
    #[arg(long, value_name = "NAME")]
    stage: Option<String>,
    /// Leave out bonds and angles that constraints fix, as `md run` does
    #[arg(long)]
    constraints: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Arithmetic {
    /// double precision throughout: the reference
    Double,
    /// interactions in single precision, sums in double precision
    Mixed,
}

/// Contents of the JSON file: energies in kJ/mol, virial Σ r⊗F in kJ/mol, and cell vectors in nm as rows.
#[derive(serde::Serialize)]
struct Report {
    atoms: usize,
    energies: serde_json::Map<String, serde_json::Value>,
    virial: [[f64; 3]; 3],
    pme: Option<crate::system::PmeParameters>,
    cell: Option<[[f64; 3]; 3]>,
}

impl Energy {
    pub(super) fn execute(&self) -> Result<()> {
        let precision = self.precision.map(|precision| {
            let word = match precision {
                Arithmetic::Double => "double",
                Arithmetic::Mixed => "mixed",
            };
            Override::text_option("--precision", "run.precision", word)
        });
        let config = self.input.read(precision.into_iter().collect())?;
        for output in self.json.iter().chain(&self.forces) {
            refuse_inputs(output, config.inputs())?;
        }
        self.compute(&config).map_err(|error| config.source.locate(error))
    }

    fn compute(&self, config: &Config) -> Result<()> {
        let engine = Engine::new(&config.plan)?.with_cache(cache_folder().as_deref());
        let terms = if self.constraints { ConstrainedTerms::Drop } else { ConstrainedTerms::Keep };
        let Prepared { system, state, .. } = engine.pool.install(|| load_without_stages(&config.plan, terms))?;
        if let Some(methods) = describe_methods(&system) {
            super::say(&format!("ignored: {methods}"));
        }
        if let Some(text) = describe_geometry(&system, &state) {
            super::say(&text);
        }
        let restraints = self.restraints(&config.plan, &system, &state)?;
        let evaluation = engine.restrained_point(&config.plan, &system, &state, &restraints)?;
        if let Some(path) = &self.forces {
            write_file(path, |out| npy::write_vectors(&evaluation.forces, out))?;
        }
        if let Some(path) = &self.json {
            let report = report(&system, &state, &evaluation);
            write_file(path, |out| Ok(serde_json::to_writer_pretty(out, &report)?))?;
        }
        super::print(&table(&evaluation.energies))
    }

    /// Returns the restraints of the stage that `--stage` names. Without `--stage`, there are no restraints.
    fn restraints(&self, plan: &Plan, system: &System, state: &State) -> Result<Restraints> {
        let Some(name) = &self.stage else { return Ok(Restraints::default()) };
        let stages: Vec<&str> = plan.stages.iter().map(|stage| stage.name.as_str()).collect();
        let index = stages.iter().position(|stage| stage == name).ok_or_else(|| {
            let problem = Problem::new(format!("--stage {name}: the input file has no stage with this name"));
            problem.help(format!("the stages are {}", stages.join(", ")))
        })?;
        Ok(restraints(plan, system, state)?.swap_remove(index))
    }
}

/// Relative deviation of a constrained distance above which the output notes that `md run` would first satisfy the
/// constraints. At the deviation 1e-4, a bond of 0.1 nm with the force constant 500 000 kJ/mol/nm² has an energy of
/// 2.5e-5 kJ/mol.
const CONSTRAINED: f64 = 1e-4;

/// Returns a note if the coordinates violate constraints. Energies and forces are computed without correcting the
/// coordinates.
fn describe_geometry(system: &System, state: &State) -> Option<String> {
    let deviation = largest_deviation(&system.constraints, &state.positions);
    (deviation > CONSTRAINED).then(|| {
        let percent = deviation * 100.0;
        format!(
            "constrained distances (including rigid water) deviate from their lengths by up to {percent:.2} % in the \
             coordinate file. md energy uses the coordinates as they are; md run first satisfies the constraints"
        )
    })
}

fn report(system: &System, state: &State, evaluation: &Evaluation) -> Report {
    Report {
        atoms: system.topology.atoms.len(),
        energies: evaluation.energies.named().map(|(name, value)| (name.to_owned(), value.into())).collect(),
        virial: evaluation.virial.0,
        pme: match system.settings.electrostatics {
            Electrostatics::Pme(parameters) => Some(parameters),
            _ => None,
        },
        cell: state.cell.map(|cell| cell.rows().map(|row| row.to_array())),
    }
}

fn table(energies: &Energies) -> String {
    let mut text = String::from(
        "energies in kJ/mol; lj and coulomb are totals that include the terms listed below each of them\n",
    );
    for (name, value) in energies.named() {
        // writing to a String cannot fail
        let _ = writeln!(text, "{name:<24}{value:>24.9}");
    }
    text
}

fn write_file(path: &Path, write: impl FnOnce(&mut BufWriter<std::fs::File>) -> std::io::Result<()>) -> Result<()> {
    let file = std::fs::File::create(path).map_err(|error| Error::io(path, error))?;
    let mut out = BufWriter::new(file);
    write(&mut out).and_then(|()| out.flush()).map_err(|error| Error::io(path, error))
}
