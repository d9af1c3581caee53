//! `md analyze`: what the frames of a trajectory have in common, and how they differ.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, Subcommand};

use super::input::device;
use super::outputs::rounded;
use crate::analysis::{Frames, Origin, Pca, RmsdMatrix, rmsd_matrix, write_pca, write_rmsd};
use crate::compute::{Core, CudaCore, HostCore};
use crate::error::{Problem, Result};
use crate::observe::trajectory::TrajectoryReader;
use crate::run::{Device, Engine};
use crate::select::select;

/// Compare the frames of a trajectory
#[derive(Debug, Args)]
pub(super) struct Analyze {
    #[command(subcommand)]
    observable: Observable,
}

#[derive(Debug, Subcommand)]
enum Observable {
    /// Root mean square deviation of every frame from every other, each pair superposed at its best
    Rmsd(Rmsd),
    /// Principal components: eigenvectors of the covariance of positions superposed on the first frame
    Pca(Components),
}

#[derive(Debug, Args)]
struct Rmsd {
    #[command(flatten)]
    common: Common,
    /// Where frames are multiplied: auto, cpu, cuda or cuda:1; auto is the CPU
    #[arg(long)]
    device: Option<String>,
    /// File of the result, HDF5: /rmsd (nm), /time, /step, /atoms
    #[arg(long, short, value_name = "FILE", default_value = "rmsd.h5")]
    output: PathBuf,
}

#[derive(Debug, Args)]
struct Components {
    #[command(flatten)]
    common: Common,
    /// Eigenvectors and projections that are kept; eigenvalues are kept all
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    components: u32,
    /// File of the result, HDF5: /eigenvalues, /eigenvectors, /projections, /mean, /time, /step, /atoms
    #[arg(long, short, value_name = "FILE", default_value = "pca.h5")]
    output: PathBuf,
}

#[derive(Debug, Args)]
struct Common {
    /// Trajectory of md (trajectory.h5md); one that is still being written has the frames so far
    trajectory: PathBuf,
    /// Atoms: all protein backbone water hydrogen heavy; name, resname, element, resid, index with what to look for;
    /// and, or, not, parentheses. Molecules are whole; several are put into the periodic image nearest to the first
    #[arg(long, value_name = "TEXT", default_value = "protein and heavy")]
    select: String,
    /// Atoms weigh by their masses, not all the same
    #[arg(long)]
    mass_weighted: bool,
    /// Take every N-th frame
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    stride: u32,
    /// Worker threads; all processors unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Replace the file of the result where there is one
    #[arg(long)]
    force: bool,
}

impl Analyze {
    /// What it reads.
    pub(super) fn file(&self) -> &Path {
        match &self.observable {
            Observable::Rmsd(rmsd) => &rmsd.common.trajectory,
            Observable::Pca(pca) => &pca.common.trajectory,
        }
    }

    pub(super) fn execute(&self) -> Result<()> {
        let (common, output) = match &self.observable {
            Observable::Rmsd(rmsd) => (&rmsd.common, &rmsd.output),
            Observable::Pca(pca) => (&pca.common, &pca.output),
        };
        common.check_output(output)?;
        let begin = Instant::now();
        let available = std::thread::available_parallelism().map_or(1, usize::from);
        let engine = Engine::on(common.threads.map_or(available, usize::from))?;
        let read = || common.read(&self.observable);
        // what is asked for is looked for before frames are read
        let text = engine.pool.install(|| match &self.observable {
            Observable::Rmsd(rmsd) => match device(rmsd.device.as_deref())? {
                Device::Cuda(number) => rmsd.compute(&CudaCore::open(number)?, &read()?),
                Device::Auto | Device::Cpu => rmsd.compute(&HostCore, &read()?),
            },
            Observable::Pca(pca) => pca.compute(&read()?),
        })?;
        let seconds = begin.elapsed().as_secs_f64();
        super::print(&format!("{text}written      {}, after {seconds:.1} s\n", output.display()))
    }
}

// Writing to a String cannot fail: results of `writeln!` are dropped below.

impl Common {
    /// Nothing is replaced unasked, the trajectory never.
    fn check_output(&self, output: &Path) -> Result<()> {
        let place = |path: &Path| path.canonicalize().ok();
        if place(output).is_some_and(|there| Some(there) == place(&self.trajectory)) {
            return Err(Problem::new("the result would replace the trajectory itself").in_file(output).into());
        }
        if output.exists() && !self.force {
            let problem = Problem::new("there is such a file already").in_file(output);
            return Err(problem.help("name another with --output, or replace it with --force").into());
        }
        Ok(())
    }

    /// The selected frames; says what they are and what memory it takes before they are read.
    fn read(&self, observable: &Observable) -> Result<Frames> {
        let trajectory = TrajectoryReader::open(&self.trajectory)?;
        let atoms = select(trajectory.topology(), &self.select)?;
        let stride = self.stride as usize;
        let count = trajectory.frames().div_ceil(stride);
        if count == 0 {
            return Err(Problem::new("the trajectory has no frame yet").in_file(&self.trajectory).into());
        }
        let memory = Frames::bytes(count, atoms.len())
            + match observable {
                Observable::Rmsd(_) => RmsdMatrix::bytes(count),
                Observable::Pca(_) => Pca::bytes(count, atoms.len()),
            };
        let mut text = format!("trajectory   {}\n", self.trajectory.display());
        let weights = if self.mass_weighted { ", weighted by mass" } else { "" };
        let _ = writeln!(text, "selection    {}: {} atoms{weights}", self.select, atoms.len());
        let _ = writeln!(text, "memory       {:.1} MB for {count} frames", memory * 1e-6);
        super::print(&text)?;
        let frames = Frames::read(&trajectory, &atoms, stride, self.mass_weighted)?;
        let [first, last] = [frames.times[0], frames.times[count - 1]].map(rounded);
        super::print(&format!("times        {first} to {last} ps\n"))?;
        Ok(frames)
    }

    fn origin(&self) -> Origin {
        Origin {
            trajectory: self.trajectory.display().to_string(),
            selection: self.select.clone(),
            mass_weighted: self.mass_weighted,
        }
    }
}

impl Rmsd {
    fn compute(&self, core: &impl Core, frames: &Frames) -> Result<String> {
        let matrix = rmsd_matrix(core, frames)?;
        write_rmsd(&self.output, &self.common.origin(), frames, &matrix)?;
        let ([a, b], largest) = matrix.largest();
        let time = |frame: usize| rounded(frames.times[frame]);
        let mut text = format!("mean         {:.5} nm over all pairs\n", matrix.mean());
        let _ = writeln!(text, "largest      {largest:.5} nm, between {} and {} ps", time(a), time(b));
        let _ = writeln!(text, "central      {} ps, the frame nearest to all others", time(matrix.central()));
        Ok(text)
    }
}

impl Components {
    fn compute(&self, frames: &Frames) -> Result<String> {
        let pca = Pca::new(frames, self.components as usize)?;
        write_pca(&self.output, &self.common.origin(), frames, &pca)?;
        let unit = if self.common.mass_weighted { "amu nm2" } else { "nm2" };
        let total = pca.total_variance();
        let mut text = format!("variance     {total:.6} {unit} in {} directions\n", pca.eigenvalues.len());
        let mut sum = 0.0;
        for (number, value) in (1..=self.components).zip(&pca.eigenvalues) {
            sum += value;
            let share = 100.0 * sum / total;
            let _ = writeln!(text, "component {number:<3}{value:12.6} {unit}, {share:5.1} % with those before");
        }
        Ok(text)
    }
}
