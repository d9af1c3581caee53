//! `md run`: runs all stages of an input file.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;

use super::input::{Input, cache_folder};
use super::launch::{on_ranks, same_input};
use super::replicas::{self, Replicas};
use super::report;
use super::{STOPPED, failed};
use crate::config::{Config, Override, physics_diff, read_text};
use crate::error::{Error, Problem, Result};
use crate::observe::files::CHECKPOINT;
use crate::observe::log::{Echo, Level, RunLog};
use crate::observe::progress::Progress;
use crate::prepare::{ConstrainedTerms, Prepared};
use crate::ranks::Ranks;
use crate::run::{Checkpoint, Engine, EnsembleJob, Job, Outcome, Requests, load, release_ranks, run, run_replicas};

/// Interval between progress lines if no progress bar is shown on a terminal.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(60);

/// Run all stages of an input file; the same command continues an interrupted run
#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    input: Input,
    /// Limit every stage to N steps, including minimisation stages
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// Worker threads: a number, or auto
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number_or("auto"))]
    threads: Option<String>,
    /// Device: auto, cpu, cuda or cuda:1
    #[arg(long)]
    device: Option<String>,
    /// Seed of all random numbers: a number, or random
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number_or("random"))]
    seed: Option<String>,
    /// Stop with a checkpoint (exit code 3) after this many hours of wall-clock time
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    max_hours: Option<f64>,
    /// Output folder; overrides output.directory of the input file
    #[arg(long, value_name = "D")]
    output_dir: Option<PathBuf>,
    /// Rename the output of a finished run and start again from the beginning
    #[arg(long)]
    force: bool,
    /// If the run continues, rename the trajectory and energy files to *.partN and begin new files
    #[arg(long, conflicts_with = "force")]
    no_append: bool,
    /// Run only this replica of an ensemble, by number from 1 or by name
    #[arg(long, value_name = "N")]
    replica: Option<String>,
    /// Print only warnings and errors
    #[arg(short, long)]
    quiet: bool,
}

/// Returns a parser of options that are a whole number or `word`. The parser returns the value as TOML. The range of
/// the number is that of the key, and is checked later.
fn number_or(word: &'static str) -> impl Fn(&str) -> std::result::Result<String, String> + Clone {
    move |text| match text.parse::<i128>() {
        Ok(number) => Ok(number.to_string()),
        Err(_) if text == word => Ok(format!("\"{word}\"")),
        Err(_) => Err(format!("expected a whole number or {word}")),
    }
}

impl Run {
    pub(super) fn execute(&self, started: Instant) -> ExitCode {
        // signals are caught before files are read, so that a signal during reading stops the run at its first step
        let requests = match Requests::from_signals() {
            Ok(requests) => requests,
            Err(error) => {
                return failed(&Error::Internal(format!(
                    "the handlers of Ctrl-C and other signals cannot be installed: {error}"
                )));
            }
        };
        // with `--replica` the run ignores the launcher, which may start other replicas at the same time
        on_ranks(self.replica.is_some(), |ranks| {
            let outcome = self.on(ranks, requests, started)?;
            Ok(if outcome == Outcome::Stopped { ExitCode::from(STOPPED) } else { ExitCode::SUCCESS })
        })
    }

    /// Runs the input file on one of the MPI ranks.
    fn on(&self, ranks: &Ranks, requests: Requests, started: Instant) -> Result<Outcome> {
        let (mut options, mut config, text) = ranks.agree(self.prepare())?;
        if let Some(seed) = ranks.gather(&self.drawn_seed(&config)).into_iter().next().flatten() {
            options.push(Override::option("run.seed", "\"random\"", "run.seed", seed.to_string()));
            config = ranks.agree(self.input.read(options.clone()))?;
        }
        same_input(ranks, &text, &config)?;
        let run = || match &self.replica {
            Some(which) => self.replica(&config, &options, which, requests, started),
            None => match Replicas::read(&self.input, &options, &config, ranks)? {
                Some(replicas) => self.ensemble(&config, &text, &replicas, ranks, requests, started),
                None => self.among(&config, ranks, requests, started),
            },
        };
        let outcome = run().map_err(|error| config.source.locate(error))?;
        if outcome == Outcome::Unchanged && !self.quiet && ranks.is_first() {
            super::say(
                "this run has already finished: to continue the run, set a longer duration, or a larger number of --steps \
                 if this option ended the run; to start again from the beginning, add --force",
            );
        }
        Ok(outcome)
    }

    /// Returns the command-line options as settings of keys, the configuration, and the text of the input file.
    fn prepare(&self) -> Result<(Vec<Override>, Config, String)> {
        let options = self.overrides()?;
        let config = self.input.read(options.clone())?;
        if config.plan.stages.is_empty() {
            return Err(Problem::new("there is nothing to run, because the input file has no [[stage]]")
                .help("add [[stage]] with kind = \"minimize\" or \"dynamics\"; `md help stage` lists the keys")
                .into());
        }
        let text = read_text(self.input.path())?;
        Ok((options, config, text))
    }

    /// Returns the seed if the input file requests a random seed: the seed of the earlier command if the run continues,
    /// and otherwise a new seed.
    fn drawn_seed(&self, config: &Config) -> Option<u64> {
        let drawn = config.drawn_seed?;
        let of = |folder: &Path| Some(Checkpoint::read(&folder.join(CHECKPOINT)).ok()??.body.plan.run.seed);
        let directory = &config.plan.output.directory;
        let known = match &config.ensemble {
            _ if self.force => None,
            None => of(directory),
            Some(ensemble) => ensemble.replicas.iter().find_map(|replica| {
                let after_first = replica.seed_after_first?;
                of(&directory.join(&replica.folder))?.checked_sub(after_first)
            }),
        };
        known.or(Some(drawn))
    }

    /// Computes one simulation on all ranks together. Rank 0 reads and writes files, and sends the other ranks their
    /// work.
    fn among(&self, config: &Config, ranks: &Ranks, requests: Requests, started: Instant) -> Result<Outcome> {
        let engine = Engine::among(&config.plan, ranks)?;
        let end = if ranks.is_first() {
            let end = self.one(config, engine, requests, started);
            release_ranks(ranks);
            end.map(Some)
        } else {
            engine.serve(&requests);
            Ok(None)
        };
        let outcomes = ranks.gather(&ranks.agree(end)?);
        outcomes.into_iter().flatten().next().ok_or_else(|| Error::Internal("no rank has run".into()))
    }

    /// Runs one simulation.
    fn one(&self, config: &Config, engine: Engine, requests: Requests, started: Instant) -> Result<Outcome> {
        let engine = engine.with_cache(cache_folder().as_deref());
        let Prepared { system, state: start, alternatives, left_out } =
            engine.pool.install(|| load(&config.plan, ConstrainedTerms::Drop))?;
        engine.division(engine.ranks(), &config.plan, &system, &start)?;
        let input = read_text(self.input.path())?;
        let job = Job {
            plan: &config.plan,
            system: Arc::new(system),
            alternatives,
            start,
            left_out,
            input: &input,
            effective: &config.effective,
            compare: &|old| physics_diff(old, &config.plan),
            force: self.force,
            no_append: self.no_append,
            reporters: vec![],
            exchange: None,
            requests,
            started,
        };
        let end = run(job, engine, |path| RunLog::open(path, Some(self.echo(Level::Note))), self.progress());
        self.report(config, &end);
        end
    }

    /// Writes the HTML report of a run that has finished, was stopped, or became unstable. If an earlier command
    /// finished the run, the report is written only if the report is missing or older than the summary, for example
    /// because the earlier command was killed.
    fn report(&self, config: &Config, end: &Result<Outcome>) {
        let folder = &config.plan.output.directory;
        let is_due = match end {
            Ok(Outcome::Unchanged) => !crate::report::is_current(folder),
            Ok(_) => true,
            Err(error) => matches!(error, Error::Unstable { .. }),
        };
        if config.report && is_due {
            report::at_end(folder, self.quiet);
        }
    }

    /// Runs one replica of an ensemble.
    fn replica(
        &self,
        shared: &Config,
        options: &[Override],
        which: &str,
        requests: Requests,
        started: Instant,
    ) -> Result<Outcome> {
        let config = replicas::one(&self.input, options, shared, which)?;
        let end = self.one(&config, Engine::new(&config.plan)?, requests, started);
        let published = match &shared.ensemble {
            Some(ensemble) if config.plan.output.directory.exists() => {
                replicas::publish(ensemble, &shared.plan.output.directory)
            }
            _ => Ok(()),
        };
        end.and_then(|outcome| published.map(|()| outcome))
    }

    /// Runs all replicas of an ensemble.
    fn ensemble(
        &self,
        shared: &Config,
        input: &str,
        replicas: &Replicas<'_>,
        ranks: &Ranks,
        requests: Requests,
        started: Instant,
    ) -> Result<Outcome> {
        let cache = cache_folder();
        let job = EnsembleJob {
            replicas: replicas.jobs(),
            spread: replicas.spread.clone(),
            directory: &shared.plan.output.directory,
            notes: &replicas.ensemble.notes,
            input,
            compare: physics_diff,
            force: self.force,
            no_append: self.no_append,
            requests,
            started,
            cache: cache.as_deref(),
        };
        // lines of level `Detail` are printed as well, because the table of replicas has this level and must appear on
        // the terminal
        let end = run_replicas(&job, ranks, |path| RunLog::open(path, Some(self.echo(Level::Detail))), self.progress());
        if ranks.is_first() {
            self.report(shared, &end);
        }
        end
    }

    /// Returns a function that prints the lines of the log with at least the level `from` on the terminal.
    fn echo(&self, from: Level) -> Echo {
        let shown = if self.quiet { Level::Warning } else { from };
        Box::new(move |level, text| {
            if level >= shown {
                super::say(text);
            }
        })
    }

    fn progress(&self) -> Progress {
        Progress::new(!self.quiet && std::io::stderr().is_terminal(), PROGRESS_INTERVAL)
    }

    /// Returns the options of the command line as settings of keys, so that the effective configuration shows them.
    fn overrides(&self) -> Result<Vec<Override>> {
        let mut overrides = vec![];
        let mut number = |name, key, value: Option<String>| {
            overrides.extend(value.map(|value| Override::option(name, &value.clone(), key, value)));
        };
        number("--steps", "run.max_steps", self.steps.map(|n| n.to_string()));
        number("--threads", "run.threads", self.threads.clone());
        number("--seed", "run.seed", self.seed.clone());
        if let Some(device) = &self.device {
            overrides.push(Override::text_option("--device", "run.device", device));
        }
        if let Some(hours) = self.max_hours {
            overrides.push(Override::text_option("--max-hours", "run.max_time", &format!("{hours} h")));
        }
        if let Some(directory) = &self.output_dir {
            // the path is relative to the working directory, unlike paths in the input file
            let absolute = std::path::absolute(directory).map_err(|error| Error::io(directory, error))?;
            let text = absolute.to_str().ok_or_else(|| Problem::new("--output-dir: the path is not valid UTF-8"))?;
            overrides.push(Override::text_option("--output-dir", "output.directory", text));
        }
        Ok(overrides)
    }
}
