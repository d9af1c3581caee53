//! Replicas of an input file, for `md run` and `md check`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::estimate::{self, Processors};
use super::input::Input;
use super::launch::same_files;
use crate::backend::RankShare;
use crate::config::{Config, Ensemble, Override, Replica};
use crate::error::{Error, Problem, Result};
use crate::observe::lock::OutputLock;
use crate::observe::progress::{counted, duration, three_digits};
use crate::observe::replicas::{EnsembleStatus, ReplicaStatus};
use crate::ranks::Ranks;
use crate::run::{
    Engine, Plan, ReplicaJob, ReplicaPlacement, Sharing, Start, check_ranks, estimated_acceptances, preflight,
    processors, warnings,
};
use crate::units::NS_PER_DAY;

/// Replicas that an input file defines. The systems of all replicas have been read and checked.
pub(super) struct Replicas<'a> {
    pub(super) ensemble: &'a Ensemble,
    pub(super) spread: ReplicaPlacement,
    configs: Vec<Config>,
    starts: Vec<Arc<Start>>,
    /// division of the cell of each replica among the ranks of a group; `None` if one rank computes a replica
    divisions: Vec<Option<RankShare>>,
}

impl<'a> Replicas<'a> {
    /// Reads all replicas of the ensemble in `shared`; `None` without an ensemble. `shared` is the configuration that
    /// every rank has read from `input` with `options`. Error messages name the replica.
    pub(super) fn read(input: &Input, options: &[Override], shared: &'a Config, ranks: &Ranks) -> Result<Option<Self>> {
        let Some(ensemble) = &shared.ensemble else { return Ok(None) };
        let sharing = Sharing {
            at_once: ensemble.at_once,
            ranks_per_replica: ensemble.ranks_per_replica,
            is_exchange: ensemble.is_exchange(),
        };
        let spread = ReplicaPlacement::new(&shared.plan, sharing, ensemble.replicas.len(), ranks)?;
        let replicas = ranks.agree(Self::spread(input, options, ensemble, spread))?;
        let mut starts: Vec<&Arc<Start>> = replicas.starts.iter().collect();
        starts.dedup_by(|a, b| Arc::ptr_eq(a, b));
        same_files(ranks, starts.into_iter().map(|start| &**start))?;
        Ok(Some(replicas))
    }

    /// Reads and checks all replicas of the ensemble. Error messages name the replica.
    fn spread(input: &Input, options: &[Override], ensemble: &'a Ensemble, spread: ReplicaPlacement) -> Result<Self> {
        let threads = [Override::option("ensemble", "", "run.threads", spread.threads.to_string())];
        let read = |replica| input.read_replica(options, replica, &threads);
        let mut configs = ensemble.replicas.iter().map(read).collect::<Result<Vec<Config>>>()?;
        ensemble.join(&mut configs);
        let plans: Vec<&Plan> = configs.iter().map(|config| &config.plan).collect();
        let engine = Engine::on(spread.at_once * spread.threads)?;
        let check = |((plan, start), replica): ((&&Plan, Result<Arc<Start>>), &Replica)| {
            let checked = start.and_then(|start| {
                let Start { system, state, .. } = &*start;
                processors(plan)?;
                check_ranks(plan, spread.ranks_per_replica)?;
                preflight(plan, system, state)?;
                let division = engine.division(spread.ranks_per_replica, plan, system, state)?;
                Ok((start, division))
            });
            checked.map_err(|error| error.of(&replica.title()))
        };
        let checked = engine.pool.install(|| {
            plans.iter().zip(Start::of(&plans)).zip(&ensemble.replicas).map(check).collect::<Result<Vec<_>>>()
        })?;
        let (starts, divisions): (Vec<_>, Vec<_>) = checked.into_iter().unzip();
        Start::check_volumes(&starts, &plans)?;
        Ok(Replicas { ensemble, spread, configs, starts, divisions })
    }

    /// Returns a job for each replica.
    pub(super) fn jobs(&self) -> Vec<ReplicaJob<'_>> {
        let mut jobs = vec![];
        for ((replica, config), start) in self.ensemble.replicas.iter().zip(&self.configs).zip(&self.starts) {
            jobs.push(ReplicaJob {
                status: status(replica),
                plan: &config.plan,
                effective: &config.effective,
                start: Arc::clone(start),
            });
        }
        jobs
    }

    /// Returns the plan and the initial state of the first replica.
    pub(super) fn first(&self) -> (&Plan, &Start) {
        (&self.configs[0].plan, &self.starts[0])
    }

    /// Describes the differences between replicas, their distribution over ranks and threads, and the time and memory
    /// of the ensemble.
    pub(super) fn describe(&self) -> Result<String> {
        let Replicas { ensemble, spread, .. } = self;
        let mut text = String::new();
        let all = ensemble.replicas.len();
        // writing to a String cannot fail
        let _ = writeln!(
            text,
            "ensemble     {all} replicas, {}; the lines above describe the first replica",
            spread.describe()
        );
        for (index, replica) in ensemble.replicas.iter().enumerate() {
            let place = if ensemble.is_exchange() { spread.place_of(index) } else { String::new() };
            let _ = writeln!(text, "{:<12} {}{place}", replica.title(), replica.description);
        }
        for note in &ensemble.notes {
            let _ = writeln!(text, "note         {note}");
        }
        self.describe_exchange(&mut text);
        let ranks = spread.ranks;
        let (mut memory, mut slots, mut picoseconds) = (vec![], vec![0.0; ranks * spread.at_once], 0.0);
        let mut of_others: f64 = 0.0;
        for ((config, start), division) in self.configs.iter().zip(&self.starts).zip(&self.divisions) {
            let (plan, Start { system, state, .. }) = (&config.plan, &**start);
            let (threads, level) = processors(plan)?;
            let processors = Processors { threads, level, ranks: spread.ranks_per_replica, share: division.as_ref() };
            if let Some(share) = division {
                of_others = of_others.max(estimate::memory_of_rank(system, state, threads, share));
            }
            memory.push(estimate::memory(system, state, threads) - estimate::PROGRAM);
            // each replica runs in the slot (share of the processors) that becomes free first
            if let Some(slot) = slots.iter_mut().min_by(|a: &&mut f64, b| a.total_cmp(b)) {
                *slot += estimate::seconds(plan, system, state, processors);
            }
            picoseconds +=
                plan.dynamics().map(|(_, stage)| plan.target(stage.steps) as f64 * stage.timestep).sum::<f64>();
        }
        memory.sort_by(|a, b| b.total_cmp(a));
        // replica exchange holds all replicas in memory, because replicas wait for each other
        let (held, whose) = match (ensemble.is_exchange(), all.div_ceil(ranks)) {
            (false, _) => (spread.at_once, "the replicas that run at the same time".to_owned()),
            (true, _) if ranks == 1 => (all, "all".to_owned()),
            (true, most) => (most, counted(most, "replica")),
        };
        let bytes = estimate::PROGRAM + memory.iter().take(held).sum::<f64>();
        let memory = match (spread.ranks_per_replica, ranks) {
            (1, 1) => format!("about {:.0} MB for {whose}", bytes / 1e6),
            (1, _) => format!("about {:.0} MB for {whose} on each rank", bytes / 1e6),
            _ if of_others == 0.0 => format!("about {:.0} MB on each rank", bytes / 1e6),
            _ => format!(
                "at most about {:.0} MB on the first rank of each group, about {:.0} MB on each other rank",
                bytes / 1e6,
                of_others / 1e6
            ),
        };
        let _ = writeln!(text, "memory       {memory}");
        let seconds = slots.into_iter().fold(0.0, f64::max);
        if seconds > 0.0 {
            let speed = three_digits(picoseconds / seconds * NS_PER_DAY);
            let what = format!("about {} for all replicas ({speed} ns/day in total)", duration(seconds));
            let _ = writeln!(
                text,
                "time         {what} if no other program runs on the machine; accurate to a factor of two"
            );
        }
        for warning in &spread.warnings {
            let _ = writeln!(text, "warning      {warning}");
        }
        Ok(text)
    }

    /// Describes the exchanged quantity, the interval between attempts, and the expected acceptance.
    fn describe_exchange(&self, text: &mut String) {
        let (plan, start) = self.first();
        let Some(exchange) = &plan.exchange else { return };
        let Some((name, stage)) = plan.dynamics().next_back() else { return };
        let (every, time) = (exchange.every, exchange.every as f64 * stage.timestep);
        let attempts = plan.target(stage.steps) / every;
        let what =
            format!("states are exchanged in stage \"{name}\" every {every} steps ({time} ps) in {attempts} attempts");
        let _ = writeln!(text, "exchange     {what}");
        let estimates = estimated_acceptances(plan, &start.system, &start.state);
        let estimates = estimates.iter().map(|(low, p)| format!("{}-{}: {p:.2}", low + 1, low + 2));
        let estimates: Vec<String> = estimates.collect();
        if !estimates.is_empty() {
            let list = estimates.join(", ");
            let _ = writeln!(text, "acceptance   about {list} (estimate for harmonic energies; lower in liquids)");
        }
    }

    /// Returns the warnings of all replicas after the first, except the warnings that the first replica has as well. If
    /// several replicas have the same warning, the warning is returned once.
    pub(super) fn further_warnings(&self) -> Vec<String> {
        let of = |index: usize| {
            let Start { system, state, left_out, .. } = &*self.starts[index];
            warnings(&self.configs[index].plan, system, state, *left_out)
        };
        let (mut known, mut further) = (of(0), vec![]);
        for (index, replica) in self.ensemble.replicas.iter().enumerate().skip(1) {
            for warning in of(index).into_iter().filter(|warning| !known.contains(warning)).collect::<Vec<_>>() {
                further.push(format!("{}: {warning}", replica.title()));
                known.push(warning);
            }
        }
        further
    }
}

/// Returns the configuration of the replica that `--replica` names; `which` is the number or name of the replica.
pub(super) fn one(input: &Input, options: &[Override], shared: &Config, which: &str) -> Result<Config> {
    let Some(ensemble) = &shared.ensemble else {
        let problem = Problem::new(format!("--replica {which}: the input file has no [ensemble]"));
        return Err(problem.help("`md help ensemble` explains the section [ensemble]").into());
    };
    if ensemble.is_exchange() {
        let problem = Problem::new(format!("--replica {which}: a replica of a replica exchange cannot run alone"));
        return Err(problem.help("run the whole ensemble, or remove ensemble.exchange").into());
    }
    input.read_replica(options, ensemble.find(which)?, &[])
}

/// Maximum number of attempts to write `ensemble.json` while another process writes the file. A write takes some
/// milliseconds.
const ATTEMPTS: usize = 20;
const PAUSE: Duration = Duration::from_millis(100);

/// Writes `ensemble.json` from the contents of the replicas' folders. The function is called after a single replica has
/// run. If a process that runs all replicas has locked the folder, that process writes the file instead.
pub(super) fn publish(ensemble: &Ensemble, directory: &Path) -> Result<()> {
    for _ in 0..ATTEMPTS {
        match OutputLock::acquire(directory) {
            Ok(_lock) => {
                let mut status = EnsembleStatus::new(ensemble.replicas.iter().map(status).collect());
                status.replicas.iter_mut().for_each(|replica| replica.refresh(directory));
                return status.write(directory);
            }
            // another process has locked the folder
            Err(Error::Input(_)) => std::thread::sleep(PAUSE),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Returns the status of a replica that has not started.
fn status(replica: &Replica) -> ReplicaStatus {
    // the setting of the output directory is left out, because it follows from the name of the folder
    let settings = replica.overrides.iter().filter(|setting| setting.key != "output.directory");
    let json = |setting: &Override| {
        let table = toml::from_str::<toml::Table>(&format!("value = {}", setting.value)).ok()?;
        Some((setting.key.clone(), serde_json::to_value(table.get("value")?).ok()?))
    };
    ReplicaStatus {
        name: replica.name.clone(),
        folder: replica.folder.clone(),
        description: replica.description.clone(),
        set: settings.filter_map(json).collect::<BTreeMap<_, _>>(),
        ..ReplicaStatus::default()
    }
}
