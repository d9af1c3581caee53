//! A custom reporter, which writes the distance between two atoms every ten steps as a table, in addition to the
//! usual output.
//!
//!     cargo run --release --example custom_reporter -- inputs/ala2-vacuum/input.toml OUTPUT-FOLDER 5 15
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use md::config::{Config, Override, physics_diff};
use md::error::{Error, Result};
use md::observe::extent::Mark;
use md::observe::log::RunLog;
use md::observe::progress::Progress;
use md::prepare::{ConstrainedTerms, Prepared};
use md::run::{Engine, Job, Outcome, Quantities, Report, Reporter, Requests, RunInfo, StepInfo, load, run};

/// Reporter that writes time (ps) and distance (nm) of two atoms, counted from 0, to `distance.txt`.
struct Distance {
    atoms: [usize; 2],
    table: Option<BufWriter<File>>,
}

impl Reporter for Distance {
    fn name(&self) -> &str {
        "distance.txt"
    }

    // requests only positions, every tenth step, so no energies are computed for this reporter
    fn wants(&self, step: &StepInfo) -> Quantities {
        Quantities { positions: step.stage_step.is_multiple_of(10), ..Quantities::default() }
    }

    fn open(&mut self, run: &RunInfo<'_>, _checkpointed: Option<Mark>) -> Result<()> {
        let path = run.file(self.name());
        self.table = Some(BufWriter::new(File::create(&path).map_err(|error| Error::io(&path, error))?));
        Ok(())
    }

    fn report(&mut self, report: &Report<'_>) -> Result<()> {
        let [a, b] = self.atoms.map(|atom| report.positions[atom]);
        let Some(table) = &mut self.table else { return Ok(()) };
        let written = writeln!(table, "{:.3} {:.6}", report.step.time, (a - b).norm());
        written.map_err(|error| Error::io(self.name().as_ref(), error))
    }
}

/// Runs an input file with the reporter, up to `steps` steps.
pub(crate) fn run_with_distance(input: &Path, output: &Path, atoms: [usize; 2], steps: u32) -> Result<Outcome> {
    let overrides = [
        Override::text_option("OUTPUT-FOLDER", "output.directory", &output.to_string_lossy()),
        Override::option("steps", "", "run.max_steps", steps.to_string()),
    ];
    let config = Config::read(input, &overrides)?;
    let Prepared { system, state: start, alternatives, left_out } = load(&config.plan, ConstrainedTerms::Drop)?;
    let job = Job {
        plan: &config.plan,
        system: Arc::new(system),
        alternatives,
        start,
        left_out,
        input: "",
        effective: &config.effective,
        compare: &|old| physics_diff(old, &config.plan),
        force: false,
        no_append: false,
        reporters: vec![Box::new(Distance { atoms, table: None })],
        exchange: None,
        requests: Requests::default(),
        started: Instant::now(),
    };
    let progress = Progress::new(false, Duration::from_secs(60));
    run(job, Engine::new(&config.plan)?, |path| RunLog::open(path, None), progress)
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, output, a, b] = arguments.as_slice() else {
        return Err("usage: custom_reporter INPUT.toml OUTPUT-FOLDER ATOM ATOM".into());
    };
    let output = std::path::absolute(output)?;
    run_with_distance(input.as_ref(), &output, [a.parse()?, b.parse()?], 10_000)?;
    println!("{}", output.join("distance.txt").display());
    Ok(())
}
