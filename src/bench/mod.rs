//! Benchmarks: a suite of systems with fixed settings, the time of each phase of a step, and the roofline of the
//! machine.
//!
//! [`suite`] finds and builds systems, [`Row::measure`] times one system with [`crate::run::measure()`], [`Roofline`]
//! measures the machine, and [`regressions`] compares a report with an earlier report. The module prints nothing and
//! leaves no files.

mod chart;
mod compare;
mod contention;
mod core;
mod drift;
mod fft;
mod gemm;
mod phases;
mod ranks;
mod replicate;
mod roofline;
mod row;
mod suite;
mod text;

pub use chart::roofline_svg;
pub use compare::{Regression, difference, regressions};
pub use core::Place;
pub use drift::{Drift, drift};
pub use fft::{FftRow, measure_fft};
pub use gemm::{GemmRow, measure_gemm};
pub use phases::{PhaseRow, StepReport};
pub use ranks::rank_table;
pub use replicate::replicate;
pub use roofline::{Bandwidth, Roofline};
pub use row::{Range, Row, default_steps};
pub use suite::{Case, DEFAULT_NAMES, NAMES, Prepared};
pub use text::{fft_table, gemm_table, markdown, phase_table, row_line, rows_header};

use serde::{Deserialize, Serialize};

/// Results of `md bench`, as stored in its JSON file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// version of this program
    pub version: String,
    /// source revision of the build, if known
    pub commit: Option<String>,
    /// name of the computer
    pub host: String,
    /// name of the processor
    pub processor: String,
    /// number of processors that this program may use
    #[serde(default)]
    pub processors: usize,
    /// day of the measurement, such as 2026-01-31
    #[serde(default)]
    pub date: String,
    /// rooflines of the machine, one for each number of threads and instruction set
    pub rooflines: Vec<Roofline>,
    /// results of the benchmarks of systems
    pub rows: Vec<Row>,
    /// timings of Fourier transforms of the compute core
    pub core: Vec<FftRow>,
    /// timings of matrix products of the compute core
    #[serde(default)]
    pub gemm: Vec<GemmRow>,
}

impl Report {
    /// Creates a report without results for this program and this machine.
    pub fn new() -> Self {
        Report {
            version: env!("CARGO_PKG_VERSION").into(),
            commit: Some(crate::COMMIT.to_owned()).filter(|commit| !commit.is_empty()),
            host: crate::observe::lock::host_name(),
            processor: processor(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            date: crate::observe::clock::local("%Y-%m-%d"),
            ..Self::default()
        }
    }

    /// Returns the name and the version of the program, such as `md 0.2.0`, followed by the revision if it is known.
    pub fn program(&self) -> String {
        let commit = self.commit.as_ref().map_or(String::new(), |commit| format!(" ({commit})"));
        format!("md {}{commit}", self.version)
    }
}

/// Returns the name of the processor that the operating system reports.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or(std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}
