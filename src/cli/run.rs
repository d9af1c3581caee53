//! `md run`: all stages of an input file.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;

use super::input::{Input, cache_folder};
use crate::config::{Override, physics_diff, read_text};
use crate::error::{Error, Problem, Result};
use crate::observe::log::{Echo, Level, RunLog};
use crate::observe::progress::Progress;
use crate::prepare::{ConstrainedTerms, Prepared};
use crate::run::{Engine, Job, Outcome, Requests, load, run};

/// Where no terminal shows a bar, a line this often.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(60);

/// Run all stages of an input file; the same command continues an interrupted run
#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    input: Input,
    /// End every stage after N steps in all, minimiser included
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// Worker threads
    #[arg(long, value_name = "N")]
    threads: Option<u32>,
    /// auto, cpu, cuda or cuda:1
    #[arg(long)]
    device: Option<String>,
    /// Seed of all random numbers
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Stop with a checkpoint (exit 3) after this many hours of wall-clock time
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    max_hours: Option<f64>,
    /// Folder for the output, instead of the one in the file
    #[arg(long, value_name = "D")]
    output_dir: Option<PathBuf>,
    /// Move finished output aside and start again
    #[arg(long)]
    force: bool,
    /// If the run continues, rename trajectories and energies to *.partN and begin new ones
    #[arg(long, conflicts_with = "force")]
    no_append: bool,
    /// Print nothing but errors
    #[arg(short, long)]
    quiet: bool,
}

impl Run {
    pub(super) fn execute(&self, started: Instant) -> Result<Outcome> {
        // first of all, so that a signal while files are read stops the run at its first step
        let requests =
            Requests::from_signals().map_err(|error| Error::Internal(format!("signals cannot be handled: {error}")))?;
        let config = self.input.read(self.overrides()?)?;
        if config.plan.stages.is_empty() {
            return Err(Problem::new("there is nothing to run: the input file has no [[stage]]")
                .help("add [[stage]] with kind = \"minimize\" or \"dynamics\"; `md help stage` lists the keys")
                .into());
        }
        let engine = Engine::new(&config.plan)?.with_cache(cache_folder().as_deref());
        let Prepared { system, state: start, alternatives } =
            engine.pool.install(|| load(&config.plan, ConstrainedTerms::Drop))?;
        let input = read_text(self.input.path())?;
        let job = Job {
            plan: &config.plan,
            system: Arc::new(system),
            alternatives,
            start,
            input: &input,
            effective: &config.effective,
            compare: &|old| physics_diff(old, &config.plan),
            force: self.force,
            no_append: self.no_append,
            reporters: vec![],
            requests,
            started,
        };
        let quiet = self.quiet;
        let terminal = !quiet && std::io::stderr().is_terminal();
        let echo: Echo = Box::new(move |level, text| {
            let shown = if quiet { Level::Warning } else { Level::Note };
            if level >= shown {
                super::say(text);
            }
        });
        let outcome =
            run(job, engine, |path| RunLog::open(path, Some(echo)), Progress::new(terminal, PROGRESS_INTERVAL))?;
        if outcome == Outcome::Unchanged && !quiet {
            super::say(
                "this run has finished already, nothing was done; a longer duration continues it, --force starts anew",
            );
        }
        Ok(outcome)
    }

    /// Each option stands for a key, so that the effective configuration shows it.
    fn overrides(&self) -> Result<Vec<Override>> {
        let mut overrides = vec![];
        let mut number = |name, key, value: Option<String>| {
            overrides.extend(value.map(|value| Override::option(name, &value.clone(), key, value)));
        };
        number("--steps", "run.max_steps", self.steps.map(|n| n.to_string()));
        number("--threads", "run.threads", self.threads.map(|n| n.to_string()));
        number("--seed", "run.seed", self.seed.map(|n| n.to_string()));
        if let Some(device) = &self.device {
            overrides.push(Override::text_option("--device", "run.device", device));
        }
        if let Some(hours) = self.max_hours {
            overrides.push(Override::text_option("--max-hours", "run.max_time", &format!("{hours} h")));
        }
        if let Some(directory) = &self.output_dir {
            // relative to the working directory, unlike paths in the file
            let absolute = std::path::absolute(directory).map_err(|error| Error::io(directory, error))?;
            let text = absolute.to_str().ok_or_else(|| Problem::new("--output-dir: the path is not valid UTF-8"))?;
            overrides.push(Override::text_option("--output-dir", "output.directory", text));
        }
        Ok(overrides)
    }
}
