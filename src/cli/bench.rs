//! `md bench`: measures speed, time per phase of a step, and the roofline of the machine.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::files::refuse_inputs;
use super::input::{cache_folder, device, environment};
use crate::bench::{
    Case, DEFAULT_NAMES, Place, Prepared, Report, Roofline, Row, difference, fft_table, gemm_table, markdown,
    measure_fft, measure_gemm, phase_table, rank_table, regressions, roofline_svg, row_line, rows_header,
};
use crate::compute::cuda::title;
use crate::compute::{Core, CudaCore, HostCore};
use crate::config::Override;
use crate::error::{Error, Problem, Result};
use crate::run::{Device, Engine, Network, Placement};
use crate::simd::Level;

/// Word on the command line that selects the benchmark of the compute core.
const CORE: &str = "core";

/// Measure ns/day for a suite of systems or for input files. Files are written only with --json and --roofline
#[derive(Debug, Args)]
pub(super) struct Bench {
    /// Systems to measure. Names: water-3k, dhfr, water-24k, 47k, 89k, 156k, water-192k (default: these seven),
    /// water-1.5m, or water-SIZE. For an input file, the last dynamics stage is measured. The name core measures FFTs
    /// and matrix products without a system
    #[arg(value_name = "NAME|INPUT")]
    names: Vec<String>,
    /// Number of steps in each timed segment; default: enough steps for a few seconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
    /// Number of timed segments; their median and range are reported
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    repeats: u16,
    /// Worker threads, one number or several: 1,2,4
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..))]
    threads: Vec<u16>,
    /// Instruction sets, one or several
    #[arg(long, value_name = "LEVEL,…", value_delimiter = ',', value_parser = instructions())]
    simd: Vec<Level>,
    /// Device: auto, cpu, cuda or cuda:1
    #[arg(long)]
    device: Option<String>,
    /// Write all measurements to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Compare with a file written by --json; exit code 1 if a system is slower by more than the measurement noise
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Print a Markdown table instead of lines
    #[arg(long)]
    markdown: bool,
    /// Print the time of each phase of a step, compared with the roofline of the machine
    #[arg(long)]
    phases: bool,
    /// Forecast the speed on several ranks, such as the nodes of a cluster; for example 2,4,8
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(2..))]
    ranks: Vec<u16>,
    /// Processor cores of each rank of the forecast, each as fast as one core that is measured here (default: the
    /// measured number of threads)
    #[arg(long, value_name = "N", requires = "ranks", value_parser = clap::value_parser!(u16).range(1..))]
    cores: Option<u16>,
    /// Network of the forecast: latency in us and bandwidth in GB/s of each rank
    #[arg(long, value_name = "US,GB/S", requires = "ranks", value_parser = network)]
    network: Option<Network>,
    /// Draw the roofline to this file (SVG)
    #[arg(long, value_name = "FILE.svg")]
    roofline: Option<PathBuf>,
}

impl Bench {
    /// Runs the benchmarks and reports them. Returns `false` if a system is slower than in the report of `--compare`.
    pub(super) fn execute(&self) -> Result<bool> {
        let baseline = self.compare.as_deref().map(read_report).transpose()?;
        let (core, cases) = self.cases()?;
        let (folders, overrides) = (folders(), self.overrides()?);
        self.check_outputs(&cases, &folders, &overrides)?;
        let mut report = Report::new();
        if !self.markdown && !cases.is_empty() {
            super::print(&rows_header())?;
        }
        let mut missing = vec![];
        for case in &cases {
            if let Some(problem) = case.missing(&folders) {
                missing.push(problem);
                continue;
            }
            self.measure(case.prepare(&folders, &overrides)?, &mut report)?;
        }
        if core {
            self.measure_core(&mut report)?;
        }
        if report.rows.is_empty() && report.core.is_empty() {
            return Err(Error::Input(missing));
        }
        missing.iter().for_each(|problem| super::say(&format!("this system is not measured: {problem}")));
        self.write(&report)?;
        self.compare.as_ref().zip(baseline).map_or(Ok(true), |(path, baseline)| compare(path, &baseline, &report))
    }

    /// Returns whether the benchmark of the compute core was requested, and the requested systems. One error lists all
    /// invalid names.
    fn cases(&self) -> Result<(bool, Vec<Case>)> {
        if self.names.is_empty() {
            return Ok((false, DEFAULT_NAMES.iter().filter_map(|name| Case::find(name).ok()).collect()));
        }
        let names = self.names.iter().filter(|name| *name != CORE);
        let (cases, problems): (Vec<_>, Vec<_>) = names.map(|name| Case::find(name)).partition(|case| case.is_ok());
        let problems: Vec<Problem> = problems.into_iter().filter_map(std::result::Result::err).collect();
        if !problems.is_empty() {
            return Err(Error::Input(problems));
        }
        Ok((self.names.iter().any(|name| name == CORE), cases.into_iter().flatten().collect()))
    }

    /// Returns an error if a file to write is one of the files that are read.
    fn check_outputs(&self, cases: &[Case], folders: &[PathBuf], overrides: &[Override]) -> Result<()> {
        for output in self.json.iter().chain(&self.roofline) {
            refuse_inputs(output, self.compare.as_deref())?;
            for case in cases.iter().filter(|case| case.missing(folders).is_none()) {
                refuse_inputs(output, case.config(folders, overrides)?.inputs())?;
            }
        }
        Ok(())
    }

    fn overrides(&self) -> Result<Vec<Override>> {
        let mut overrides = environment()?;
        overrides.extend(self.device.as_ref().map(|device| Override::text_option("--device", "run.device", device)));
        Ok(overrides)
    }

    /// Measures one system for every combination of thread count and instruction set, and adds a row to the report for
    /// each combination.
    fn measure(&self, mut prepared: Prepared, report: &mut Report) -> Result<()> {
        let own = (prepared.plan.run.threads, prepared.plan.run.simd);
        for threads in choices(&self.threads, own.0, |&n| Some(usize::from(n))) {
            for simd in choices(&self.simd, own.1, |&level| Some(level)) {
                (prepared.plan.run.threads, prepared.plan.run.simd) = (threads, simd);
                let mut engine = Engine::new(&prepared.plan)?.with_cache(cache_folder().as_deref());
                let refusal = engine.verify(&prepared.plan, &prepared.system, &prepared.state)?;
                refusal.iter().for_each(|reason| super::say(reason));
                let roofline = match engine.placement(&prepared.system)? {
                    Placement::Gpu { number, .. } => known(report, Roofline::of_gpu(number, engine.threads)?),
                    Placement::Cpu(_) => roofline(report, &engine),
                };
                let row = Row::measure(&prepared, &engine, &roofline, self.steps, usize::from(self.repeats))?;
                self.show(&row, &roofline)?;
                self.forecast(&prepared, &engine, &row)?;
                report.rows.push(row);
            }
        }
        Ok(())
    }

    /// Prints a row of the report as soon as the row is measured.
    fn show(&self, row: &Row, roofline: &Roofline) -> Result<()> {
        if !self.markdown {
            super::print(&row_line(row))?;
        }
        if self.phases {
            super::print(&phase_table(row, roofline))?;
        }
        row.disturbance().iter().for_each(|warning| super::say(warning));
        Ok(())
    }

    /// Prints the forecast of the speed on several ranks, if requested.
    fn forecast(&self, Prepared { plan, system, state, .. }: &Prepared, engine: &Engine, row: &Row) -> Result<()> {
        if self.ranks.is_empty() {
            return Ok(());
        }
        let among = |&ranks: &u16| {
            let ranks = usize::from(ranks);
            let share = engine.division_among(ranks, plan, system, state);
            (ranks, share.map_err(|error| error.to_string().lines().next().unwrap_or_default().to_owned()))
        };
        let shares: Vec<_> = self.ranks.iter().map(among).collect();
        let cores = self.cores.map_or(row.threads, usize::from);
        super::print(&rank_table(row, &shares, cores, &self.network.unwrap_or(Network::CLUSTER)))
    }

    /// Measures the compute core on the requested threads, or on a GPU. No system is needed.
    fn measure_core(&self, report: &mut Report) -> Result<()> {
        if let Device::Cuda(number) = device(self.device.as_deref())? {
            let core = CudaCore::open(number)?;
            super::print(&format!("\n{}\n", title(&core.name()?, number)))?;
            return self.measure_core_on(&core, &Place::cuda(number), report);
        }
        let available = std::thread::available_parallelism().map_or(1, usize::from);
        for threads in choices(&self.threads, None, |&n| Some(usize::from(n))) {
            let engine = Engine::on(threads.unwrap_or(available))?;
            let place = Place::cpu(&engine, &roofline(report, &engine));
            engine.pool.install(|| self.measure_core_on(&HostCore, &place, report))?;
        }
        Ok(())
    }

    fn measure_core_on(&self, core: &impl Core, place: &Place, report: &mut Report) -> Result<()> {
        let repeats = usize::from(self.repeats);
        let transforms = measure_fft(core, place, repeats)?;
        super::print(&fft_table(&transforms))?;
        let products = measure_gemm(core, place, repeats)?;
        super::print(&gemm_table(&products))?;
        report.core.extend(transforms);
        report.gemm.extend(products);
        Ok(())
    }

    /// Writes the requested files, and prints the Markdown table if requested.
    fn write(&self, report: &Report) -> Result<()> {
        if self.markdown {
            super::print(&markdown(report))?;
        }
        let write = |path: &Path, text: &[u8]| std::fs::write(path, text).map_err(|error| Error::io(path, error));
        if let Some(path) = &self.json {
            let mut text = serde_json::to_vec_pretty(report).map_err(|error| Error::Internal(error.to_string()))?;
            text.push(b'\n');
            write(path, &text)?;
        }
        if let Some(path) = &self.roofline {
            write(path, roofline_svg(report).as_bytes())?;
        }
        Ok(())
    }
}

/// Parses the name of an instruction set.
fn instructions() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(Level::ALL.map(Level::name)).map(|name| {
        Level::ALL.into_iter().find(|level| level.name() == name).expect("only the names of levels are accepted")
    })
}

/// Parses a network: latency in µs and bandwidth in GB/s.
fn network(text: &str) -> std::result::Result<Network, String> {
    let number = |text: &str| text.trim().parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0);
    let parts: Option<Vec<f64>> = text.split(',').map(number).collect();
    match parts.as_deref() {
        Some([latency, bandwidth]) => Ok(Network { latency: 1e-6 * latency, bandwidth: 1e9 * bandwidth }),
        _ => Err("write the latency in us and the bandwidth in GB/s, for example \"2,12\"".to_owned()),
    }
}

/// Returns the values of an option on the command line; if the option is not given, returns the value `own` of the
/// input file.
fn choices<T, U>(asked: &[T], own: Option<U>, convert: impl Fn(&T) -> Option<U>) -> Vec<Option<U>> {
    if asked.is_empty() { vec![own] } else { asked.iter().map(convert).collect() }
}

/// Returns folders in which the files of the suite may be: `inputs` in the working directory, in the folder of the
/// program (`target/release/md`), and in the folders above the program.
fn folders() -> Vec<PathBuf> {
    let program = std::env::current_exe().unwrap_or_default();
    std::iter::once(Path::new("inputs").to_owned())
        .chain(program.ancestors().skip(1).map(|p| p.join("inputs")))
        .collect()
}

/// Returns the roofline for the threads and instruction set of `engine`. The first call measures the roofline and adds
/// it to the report; later calls read it from the report.
fn roofline(report: &mut Report, engine: &Engine) -> Roofline {
    let same = |known: &&Roofline| known.threads == engine.threads && known.simd == engine.level.name();
    if let Some(known) = report.rooflines.iter().find(same) {
        return known.clone();
    }
    known(report, Roofline::measure(engine))
}

/// Adds the roofline to the report, unless the report has it already. Returns the roofline.
fn known(report: &mut Report, roofline: Roofline) -> Roofline {
    if !report.rooflines.contains(&roofline) {
        report.rooflines.push(roofline.clone());
    }
    roofline
}

fn read_report(path: &Path) -> Result<Report> {
    let text = crate::format::read(path)?;
    serde_json::from_slice(&text).map_err(|error| {
        let problem = Problem::new(format!("the file is not a report of md bench: {error}")).in_file(path);
        problem.help("`md bench --json FILE` writes a report").into()
    })
}

/// Prints the systems that are slower than in `baseline`, which was read from `path`, by more than the noise. Returns
/// `true` if no system is slower, and an error if no measurement is in both reports.
fn compare(path: &Path, baseline: &Report, report: &Report) -> Result<bool> {
    let (slower, compared) = regressions(baseline, report);
    if compared == 0 {
        let problem = Problem::new(format!("nothing can be compared: {}", difference(baseline, report)));
        let help = "measurements are compared if system, threads, instruction set and device are the same";
        return Err(problem.in_file(path).help(help).into());
    }
    for regression in &slower {
        let (before, now) = (regression.before.median, regression.now.median);
        let percent = 100.0 * (1.0 - now / before);
        super::say(&format!(
            "slower: {}: {now:.2} ns/day, in the older report {before:.2} (-{percent:.1} %)",
            regression.what
        ));
    }
    super::print(&format!("{} of {compared} rows are slower than with {}\n", slower.len(), baseline.program()))?;
    Ok(slower.is_empty())
}
