//! `md analyze`: computes observables of trajectories.
//!
//! The command line is a sequence of observables, each followed by its options, and the trajectories: `md analyze rmsd
//! --per-residue rg a.xtc b.xtc --topology a.prmtop`. The command line is split into sections before each name of an
//! observable, and the library clap parses each section with the options of its observable. Options of the whole
//! analysis may be in any section.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use indicatif::{ProgressBar, ProgressStyle};

use self::words::{is_observable, takes_value, unknown};
use super::topology;
use crate::analysis::observables::{Choice, Input, OBSERVABLES, ObservableEntry, Options};
use crate::analysis::{
    AnalysedSystem, EnergyTable, FrameObserver, FrameRange, Images, Origin, Passed, RowRange, files, pass, to_json,
    write,
};
use crate::error::{Error, Problem, Result};
use crate::format::Names;
use crate::observe::files::ENERGIES;
use crate::observe::progress::{counted, megabytes};
use crate::observe::trajectory::{Chain, FrameSource};
use crate::run::{Engine, parts};
use crate::units::{Dimension, rounded_time};

/// Compute observables of trajectories
#[derive(Debug)]
pub(super) struct Analyze {
    requests: Vec<Request>,
    common: Common,
}

/// Observable requested on the command line, with its options.
#[derive(Debug)]
struct Request {
    entry: &'static ObservableEntry,
    choice: Choice,
    /// path of the result files without the extension
    output: PathBuf,
}

/// Observables after the pass over the trajectories, with the frames of the pass and the warnings about the files.
#[derive(Default)]
struct Measured {
    observers: Vec<Box<dyn FrameObserver>>,
    passed: Passed,
    warnings: Vec<String>,
}

/// Options of the whole analysis.
#[derive(Debug, Default, Args)]
struct Common {
    /// Trajectories (H5MD, XTC, DCD, TRR, AMBER NetCDF or PDB) in the order of time, and the energy table (CSV) for
    /// observables that use it, or its parts in the order of time. The default energy table is energies.csv with its
    /// earlier parts, beside the first trajectory. If a run is still writing these files, only complete frames and rows
    /// are read
    #[arg(value_name = "TRAJECTORY")]
    files: Vec<PathBuf>,
    /// Topology, if the trajectory contains none (all formats except H5MD). A topology file (CHARMM psf without
    /// parameters is enough), a structure (gro, PDB, mmCIF) without bonds, or an H5MD trajectory of the same atoms
    #[arg(long, value_name = "FILE", help_heading = WHOLE)]
    topology: Option<PathBuf>,
    /// Use the positions as stored in the file: do not make molecules whole, and do not choose other periodic images
    #[arg(long, help_heading = WHOLE)]
    as_stored: bool,
    /// The trajectories are those of separate runs: use all frames of all files, even if their times overlap
    #[arg(long, help_heading = WHOLE)]
    separate_runs: bool,
    /// Use every N-th frame, and all rows of an energy table
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..), help_heading = WHOLE)]
    stride: Option<u32>,
    /// Leave out frames and rows before this time, for example "1 ns"
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = WHOLE)]
    begin: Option<f64>,
    /// Leave out frames and rows after this time
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = WHOLE)]
    end: Option<f64>,
    /// Use only this stage of an energy table; stages are numbered from 1
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..), help_heading = WHOLE)]
    stage: Option<u32>,
    /// Worker threads; default: all processors
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..), help_heading = WHOLE)]
    threads: Option<u16>,
    /// Folder of the result files, which is created if it is missing; default: the current folder
    #[arg(long, value_name = "FOLDER", help_heading = WHOLE)]
    output_dir: Option<PathBuf>,
    /// Print the scalar results as JSON, one line for each observable, instead of a summary
    #[arg(long, help_heading = WHOLE)]
    json: bool,
    /// Draw no pictures
    #[arg(long, help_heading = WHOLE)]
    no_plots: bool,
    /// Replace result files that exist
    #[arg(long, help_heading = WHOLE)]
    force: bool,
}

/// Heading of the options of the whole analysis in help texts.
const WHOLE: &str = "Options of the whole analysis";
/// Name of the argument that holds all words of the command line.
const WORDS: &str = "OBSERVABLE [OPTIONS] … TRAJECTORY …";

/// Parses a time with its unit. Returns the time in ps.
fn time(text: &str) -> std::result::Result<f64, String> {
    Dimension::Time.parse(text).map_err(|problem| problem.to_string())
}

impl Args for Analyze {
    fn augment_args(command: Command) -> Command {
        let names: Vec<String> =
            OBSERVABLES.iter().map(|entry| format!("  {:<16}{}", entry.name, entry.about)).collect();
        let help = format!(
            "Observables (md analyze OBSERVABLE --help shows the options of one, and those of the whole analysis, for \
             example --topology, --begin and --output-dir):\n{}\n\nSeveral observables are computed \
             in one pass:\n  md analyze rmsd --select backbone rg rdf out/trajectory.h5md\nA file with tables \
             [[observable]] holds the same options:\n  md analyze --spec analysis.toml",
            names.join("\n")
        );
        let words = Arg::new("words").value_name(WORDS).value_parser(value_parser!(OsString)).action(ArgAction::Append);
        let spec = Arg::new("spec").long("spec").value_name("FILE").value_parser(value_parser!(PathBuf));
        command
            .about("Compute observables of trajectories")
            .arg(spec.help("TOML file with the observables, their options and the trajectories"))
            .arg(
                words
                    .trailing_var_arg(true)
                    .allow_hyphen_values(true)
                    .num_args(0..)
                    .help("Observables and trajectories"),
            )
            .arg_required_else_help(true)
            .after_help(help)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Analyze {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let mut words = match matches.get_one::<PathBuf>("spec") {
            Some(path) => spec::words(path).map_err(|error| clap::Error::raw(ErrorKind::InvalidValue, error))?,
            None => vec![],
        };
        words.extend(matches.get_many::<OsString>("words").into_iter().flatten().cloned());
        Self::parse(&words).map_err(|error| match matches.get_one::<PathBuf>("spec") {
            // the first line has the fault; the others have the usage of the command line, which the file replaces
            Some(path) => {
                let text = error.render().to_string();
                let fault = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
                clap::Error::raw(error.kind(), format!("{}: {fault}\n", path.display()))
            }
            // errors are formatted with the usage of `md analyze`, not with that of the whole program
            None => error.format(&mut Self::augment_args(Command::new("md analyze"))),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Returns the clap command that parses the options of an observable.
fn command(entry: &ObservableEntry) -> Command {
    let own = (entry.arguments)(Command::new(entry.name).bin_name(format!("md analyze {}", entry.name)));
    let output = Arg::new("output").long("output").short('o').value_name("NAME").value_parser(value_parser!(PathBuf));
    let own = own.arg(output.help("Name of the result files without ending; default: the name of the observable"));
    // the description is set last, because adding the arguments of a type replaces the description by the doc comment
    // of the type
    let results = own.get_about().or(own.get_long_about()).map(|text| format!("{text}"));
    let about = match results {
        Some(results) => format!("{}\n\n{results}", entry.about),
        None => entry.about.to_owned(),
    };
    Common::augment_args(own).about(about.clone()).long_about(about).no_binary_name(true)
}

impl Analyze {
    /// Parses the words of the command line.
    fn parse(words: &[OsString]) -> std::result::Result<Self, clap::Error> {
        let Some(first) = words.first() else {
            return Err(clap::Error::raw(
                ErrorKind::MissingSubcommand,
                "name an observable; md analyze --help lists them\n",
            ));
        };
        if !is_observable(first) {
            return Err(clap::Error::raw(ErrorKind::InvalidSubcommand, unknown(&first.to_string_lossy())));
        }
        let mut analyze = Analyze { requests: vec![], common: Common::default() };
        let mut start = 0;
        while let Some(entry) = words.get(start).and_then(|word| ObservableEntry::named(word.as_os_str())) {
            let command = command(entry);
            let end = (start + 1..words.len())
                .find(|&k| is_observable(&words[k]) && !takes_value(&command, &words[k - 1]))
                .unwrap_or(words.len());
            let matches = command.try_get_matches_from(&words[start + 1..end])?;
            let output = matches.get_one::<PathBuf>("output").cloned();
            let output = output.unwrap_or_else(|| analyze.unused_name(entry.name));
            // earlier versions accepted the name of the HDF5 file, so an extension `.h5` is removed
            let output = if output.extension().is_some_and(|e| e == "h5") { output.with_extension("") } else { output };
            analyze.requests.push(Request { entry, choice: (entry.options)(&matches)?, output });
            analyze.common.merge(Common::from_arg_matches(&matches)?)?;
            start = end;
        }
        analyze.check_files()?;
        Ok(analyze)
    }

    /// Fails if a trajectory or energy table that an observable needs is missing, or if no observable uses the energy
    /// table or the option for its rows.
    fn check_files(&self) -> std::result::Result<(), clap::Error> {
        let of_frames = self.requests.iter().any(|request| matches!(request.choice, Choice::OfFrames(_)));
        let of_table = self.requests.iter().any(|request| matches!(request.choice, Choice::OfTable(_)));
        let (kind, message) = if of_frames && self.common.trajectories().next().is_none() {
            (ErrorKind::MissingRequiredArgument, "no trajectory is given")
        } else if self.common.files.is_empty() {
            (ErrorKind::MissingRequiredArgument, "no energy table is given")
        } else if self.common.tables().next().is_some() && !of_table {
            (ErrorKind::ArgumentConflict, "an energy table is given, and no observable of the command uses it")
        } else if self.common.stage.is_some() && !of_table {
            (ErrorKind::ArgumentConflict, "--stage chooses rows of an energy table; choose frames by --begin and --end")
        } else {
            return Ok(());
        };
        Err(clap::Error::raw(kind, format!("{message}\n")))
    }

    /// Returns a stem for result files that no other observable of the command uses.
    fn unused_name(&self, name: &str) -> PathBuf {
        let is_free = |path: &PathBuf| self.requests.iter().all(|request| request.output != *path);
        let names = std::iter::once(name.into()).chain((2..).map(|number| format!("{name}-{number}").into()));
        { names }.find(is_free).expect("the number of possible names is unlimited")
    }

    /// Returns the path of a file that the command reads, for the error message if the reader crashes.
    pub(super) fn file(&self) -> &Path {
        &self.common.files[0]
    }

    pub(super) fn execute(&self) -> Result<()> {
        let stems: Vec<PathBuf> = self.requests.iter().map(|request| self.stem(request)).collect();
        let tables = self.table_paths();
        let inputs = || self.common.files.iter().chain(&self.common.topology).chain(&tables).map(PathBuf::as_path);
        for file in stems.iter().flat_map(|stem| files(stem)) {
            super::files::check_new(&file, inputs(), self.common.force)?;
        }
        if let Some(folder) = &self.common.output_dir {
            std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
        }
        let available = std::thread::available_parallelism().map_or(1, usize::from);
        let engine = Engine::on(self.common.threads.map_or(available, usize::from))?;
        engine.pool.install(|| self.compute(&stems))
    }

    fn stem(&self, request: &Request) -> PathBuf {
        self.common.output_dir.as_deref().unwrap_or(Path::new("")).join(&request.output)
    }

    /// Computes all observables and writes their results.
    fn compute(&self, stems: &[PathBuf]) -> Result<()> {
        let begin = Instant::now();
        let common = &self.common;
        let table = self.table()?;
        let Measured { observers, passed, warnings } = self.measure()?;
        let mut observers = observers.into_iter();
        let command = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
        let origin = Origin { trajectories: common.trajectories().map(shown).collect(), command };
        for (request, stem) in self.requests.iter().zip(stems) {
            let (mut findings, passed, origin) = match &request.choice {
                Choice::OfFrames(_) => {
                    let mut observer = observers.next().expect("each observable of trajectory frames has an observer");
                    (observer.results(&passed)?, passed.clone(), origin.clone())
                }
                Choice::OfTable(options) => {
                    let table = table.as_ref().expect("an observable of the energy table needs the table");
                    let mut findings = options.findings(table).map_err(|error| error.of(request.entry.name))?;
                    findings.settings.push(("table", shown(&table.path)));
                    (findings, table.passed(), Origin { trajectories: vec![], ..origin.clone() })
                }
            };
            if common.no_plots {
                findings.plots.clear();
            }
            if self.requests.len() > 1 {
                common.print(&format!("\n{}\n", request.entry.name))?;
            }
            findings.warnings.iter().for_each(|words| super::warn(words));
            if matches!(request.choice, Choice::OfFrames(_)) {
                findings.warnings.extend(warnings.iter().cloned());
            }
            let written = write(stem, &origin, &passed, &findings)?;
            let lines: String = findings.summary.iter().map(|line| format!("{line}\n")).collect();
            let written: Vec<String> = written.iter().map(|path| shown(path)).collect();
            common.print(&format!("{lines}written      {}\n", written.join(" ")))?;
            if common.json {
                super::print(&format!("{}\n", to_json(request.entry.name, &origin, &passed, &findings)))?;
            }
        }
        common.print(&format!("time         {:.1} s\n", begin.elapsed().as_secs_f64()))
    }

    /// Returns the paths of the energy tables that the observables use. Without tables on the command line, the paths
    /// are those of the table beside the first trajectory, with its earlier parts.
    fn table_paths(&self) -> Vec<PathBuf> {
        let given: Vec<PathBuf> = self.common.tables().map(Path::to_owned).collect();
        if !given.is_empty() || !self.requests.iter().any(|request| matches!(request.choice, Choice::OfTable(_))) {
            return given;
        }
        let default = self.common.files[0].with_file_name(ENERGIES);
        let beside = parts(default.parent().unwrap_or(Path::new("")), ENERGIES);
        if beside.is_empty() { vec![default] } else { beside }
    }

    /// Reads the energy table, if an observable needs it.
    fn table(&self) -> Result<Option<EnergyTable>> {
        let paths = self.table_paths();
        if paths.is_empty() {
            return Ok(None);
        }
        if let Some(path) = paths.iter().find(|path| !path.exists()) {
            let problem = Problem::new("there is no energy table").in_file(path);
            return Err(problem.help("name the energy table of the run, for example out/energies.csv").into());
        }
        let table = EnergyTable::open(&paths, self.common.rows())?;
        let names: Vec<String> = paths.iter().map(|path| shown(path).to_string()).collect();
        self.common.print(&format!("table        {}, {} rows\n", names.join(" "), table.passed().times.len()))?;
        Ok(Some(table))
    }

    /// Computes all observables that need trajectory frames, in one pass over the trajectories. Returns the observables
    /// in the order of the command line.
    fn measure(&self) -> Result<Measured> {
        let chosen: Vec<(&str, &dyn Options)> = self
            .requests
            .iter()
            .filter_map(|request| match &request.choice {
                Choice::OfFrames(options) => Some((request.entry.name, options.as_ref())),
                Choice::OfTable(_) => None,
            })
            .collect();
        if chosen.is_empty() {
            return Ok(Measured::default());
        }
        let common = &self.common;
        let paths: Vec<PathBuf> = common.trajectories().map(Path::to_owned).collect();
        let mut trajectory =
            if common.separate_runs { Chain::open_separate_runs(&paths)? } else { Chain::open(&paths)? };
        topology::check_frames(&trajectory, &paths[0])?;
        let Names { topology, has_bonds } = common.topology(&paths[0], &trajectory)?;
        let images = match (common.as_stored, has_bonds) {
            (true, _) => Images::AsStored,
            (false, true) => Images::Gathered,
            (false, false) => Images::Unbonded,
        };
        let system = AnalysedSystem::new(&topology, images).at_first(&mut trajectory)?;
        let range = common.range();
        let count = trajectory.frames().div_ceil(range.stride);
        // warnings go to standard error, because the user must see warnings with --json, too
        let mut warnings: Vec<String> = vec![];
        let mut warn = |words: String| {
            super::warn(&words);
            warnings.push(words);
        };
        if !has_bonds {
            warn("bonds are unknown: broken molecules stay broken, unless a topology with bonds is given".to_owned());
        }
        let mut input = Input { trajectory: &mut trajectory, system: &system };
        let observers =
            chosen.iter().map(|(name, options)| options.observable(&mut input).map_err(|error| error.of(name)));
        let mut observers = observers.collect::<Result<Vec<Box<dyn FrameObserver>>>>()?;
        let memory: f64 = observers.iter().map(|observer| observer.bytes(count)).sum();
        let names: Vec<String> = paths.iter().map(|path| shown(path)).collect();
        let (memory, frames) = (megabytes(memory), counted(count, "frame"));
        common.print(&format!("trajectory   {}\nmemory       {memory} for at most {frames}\n", names.join(" ")))?;
        topology::left_out(trajectory.left_out()).into_iter().for_each(&mut warn);
        let before = trajectory.warnings();
        let known = before.len();
        before.into_iter().for_each(&mut warn);
        let bar = progress_bar(count);
        let passed = pass(&mut trajectory, &system, range, &mut observers, &mut |done, of| {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
        })?;
        bar.finish_and_clear();
        trajectory.warnings().into_iter().skip(known).for_each(&mut warn);
        let Some([first, last]) = passed.range() else {
            let problem = Problem::new("no frame of the trajectory is between the times of --begin and --end");
            return Err(problem.in_file(&paths[0]).into());
        };
        common.print(&format!("times        {} to {} ps\n", rounded_time(first), rounded_time(last)))?;
        Ok(Measured { observers, passed, warnings })
    }
}

/// Returns a path as text for the user.
fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Whether a file is an energy table, by the extension of its name.
fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"))
}

/// Returns a progress bar for `frames` frames, which is hidden if standard error is not a terminal.
fn progress_bar(frames: usize) -> ProgressBar {
    let bar = ProgressBar::new(frames as u64);
    match ProgressStyle::with_template("{bar:24} {percent:>3} %  {pos} of {len} frames, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

impl Common {
    /// Adds the options of another section of the command line. Fails if both sections give different values for an
    /// option.
    fn merge(&mut self, other: Common) -> std::result::Result<(), clap::Error> {
        fn either<T: PartialEq>(
            name: &str,
            own: &mut Option<T>,
            other: Option<T>,
        ) -> std::result::Result<(), clap::Error> {
            match (&own, &other) {
                (Some(a), Some(b)) if a != b => {
                    let message = format!("{name} is given twice; it applies to the whole analysis\n");
                    Err(clap::Error::raw(ErrorKind::ArgumentConflict, message))
                }
                (None, _) => {
                    *own = other;
                    Ok(())
                }
                _ => Ok(()),
            }
        }
        self.files.extend(other.files);
        either("--topology", &mut self.topology, other.topology)?;
        either("--stride", &mut self.stride, other.stride)?;
        either("--begin", &mut self.begin, other.begin)?;
        either("--end", &mut self.end, other.end)?;
        either("--stage", &mut self.stage, other.stage)?;
        either("--threads", &mut self.threads, other.threads)?;
        either("--output-dir", &mut self.output_dir, other.output_dir)?;
        self.as_stored |= other.as_stored;
        self.separate_runs |= other.separate_runs;
        self.json |= other.json;
        self.no_plots |= other.no_plots;
        self.force |= other.force;
        Ok(())
    }

    fn range(&self) -> FrameRange {
        let times = [self.begin.unwrap_or(f64::NEG_INFINITY), self.end.unwrap_or(f64::INFINITY)];
        FrameRange { stride: self.stride.map_or(1, |stride| stride as usize), times }
    }

    fn rows(&self) -> RowRange {
        RowRange { times: self.range().times, stage: self.stage }
    }

    /// Prints lines for the user, unless results are printed as JSON.
    fn print(&self, text: &str) -> Result<()> {
        if self.json { Ok(()) } else { super::print(text) }
    }

    fn trajectories(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(PathBuf::as_path).filter(|path| !is_table(path))
    }

    fn tables(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(PathBuf::as_path).filter(|path| is_table(path))
    }

    /// Returns the topology named on the command line, or else topology or names in the trajectory at `path`.
    fn topology(&self, path: &Path, trajectory: &dyn FrameSource) -> Result<Names> {
        let names = match (&self.topology, trajectory.topology()) {
            (None, Some(own)) => return Ok(Names::of_stored(own.clone())),
            (None, None) if trajectory.labels().is_empty() => {
                let problem = Problem::new("this trajectory contains only positions: no names, masses or bonds");
                let help = "add --topology FILE: a topology, a structure (gro, PDB, mmCIF) or an H5MD trajectory of the \
                            same atoms";
                return Err(problem.in_file(path).help(help).into());
            }
            (given, _) => topology::read(given.as_deref().unwrap_or(path))?,
        };
        topology::check(&names.topology, trajectory, path)?;
        Ok(names)
    }
}

mod spec;
mod words;
