//! `md analyze`: computes observables of a trajectory.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};

use super::outputs::rounded;
use super::topology;
use crate::analysis::{Images, OBSERVABLES, ObservableOptions, Origin, Selection, Selector, pass, write};
use crate::error::{Problem, Result};
use crate::format::Names;
use crate::observe::trajectory::{FrameSource, open};
use crate::run::Engine;

/// Compute an observable of a trajectory
#[derive(Debug, Args)]
pub(super) struct Analyze {
    #[command(subcommand)]
    choice: Choice,
}

/// An observable with its options.
#[derive(Debug)]
struct Choice {
    name: &'static str,
    options: Box<dyn ObservableOptions>,
    common: Common,
}

#[derive(Debug, Args)]
struct Common {
    /// Trajectory: H5MD, XTC, DCD, TRR, AMBER NetCDF or PDB. If it is still being written, the frames so far are read
    trajectory: PathBuf,
    /// Topology of a trajectory that holds none (all formats but H5MD). A topology file (a PSF file needs no
    /// parameters), a structure (gro, PDB, mmCIF; bonds are unknown then), or an H5MD trajectory of the same atoms
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// Selection of atoms, for example "protein and name CA" (docs/selections.md; md select shows its atoms).
    /// Distances, as in "around 0.5 nm of resname LIG", are those in the first frame. Molecules are made whole, and
    /// several molecules are gathered along the shortest distances between them
    #[arg(long, value_name = "TEXT", default_value = "protein and heavy")]
    select: String,
    /// Use positions in the periodic images that the file stores: do not make molecules whole or bring them together
    #[arg(long)]
    as_stored: bool,
    /// Use every N-th frame
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    stride: u32,
    /// Worker threads; default: all processors
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Result file (HDF5); default: the name of the observable with the ending .h5
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the result file if it exists
    #[arg(long)]
    force: bool,
}

impl Subcommand for Choice {
    fn augment_subcommands(command: Command) -> Command {
        OBSERVABLES.iter().fold(command.subcommand_required(true).arg_required_else_help(true), |command, offer| {
            let own = Common::augment_args((offer.arguments)(Command::new(offer.name)));
            // set after the arguments are added, because the types of the arguments would otherwise set help texts of
            // their own
            command.subcommand(own.about(offer.about).long_about(offer.about))
        })
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        OBSERVABLES.iter().any(|offer| offer.name == name)
    }
}

impl FromArgMatches for Choice {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let chosen = matches.subcommand().and_then(|(name, matches)| {
            OBSERVABLES.into_iter().find(|offer| offer.name == name).map(|offer| (offer, matches))
        });
        let (offer, matches) = chosen.ok_or_else(|| clap::Error::new(clap::error::ErrorKind::MissingSubcommand))?;
        Ok(Choice { name: offer.name, options: (offer.options)(matches)?, common: Common::from_arg_matches(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Analyze {
    /// Returns the path of the trajectory that the command reads.
    pub(super) fn file(&self) -> &Path {
        &self.choice.common.trajectory
    }

    pub(super) fn execute(&self) -> Result<()> {
        let Choice { name, options, common } = &self.choice;
        let output = common.output.clone().unwrap_or_else(|| format!("{name}.h5").into());
        super::outputs::check_new(&output, &common.trajectory, common.force)?;
        let begin = Instant::now();
        let available = std::thread::available_parallelism().map_or(1, usize::from);
        let engine = Engine::on(common.threads.map_or(available, usize::from))?;
        let mut text = engine.pool.install(|| common.compute(options.as_ref(), &output))?;
        let seconds = begin.elapsed().as_secs_f64();
        // writing to a String cannot fail
        let _ = writeln!(text, "written      {}, after {seconds:.1} s", output.display());
        super::print(&text)
    }
}

impl Common {
    /// Computes the observable and writes the result file. Before the frames are read, prints their number and the
    /// memory that is needed. Returns a summary of the results.
    fn compute(&self, options: &dyn ObservableOptions, output: &Path) -> Result<String> {
        let mut trajectory = open(&self.trajectory)?;
        let Names { topology, has_bonds } = self.topology(trajectory.as_ref())?;
        let atoms = topology::select_first(&topology, trajectory.as_mut(), &self.select)?;
        let stride = self.stride as usize;
        let count = trajectory.frames().div_ceil(stride);
        if count == 0 {
            return Err(Problem::new("the trajectory contains no frames yet").in_file(&self.trajectory).into());
        }
        let selection = Selection { topology: &topology, atoms: &atoms };
        let images = if self.as_stored || !has_bonds { Images::AsStored } else { Images::Gathered };
        let selector = Selector::new(selection, images);
        if !has_bonds {
            let what = "bonds        unknown, so molecules are not made whole; give a topology with bonds if molecules \
                        are broken\n";
            super::print(what)?;
        }
        let mut observables = [options.observable(trajectory.as_mut(), &selector)?];
        let memory: f64 = observables.iter().map(|observable| observable.memory(count, atoms.len())).sum();
        super::print(&format!(
            "trajectory   {}\nselection    {}: {} atoms\nmemory       {:.1} MB for {count} frames\n",
            self.trajectory.display(),
            self.select,
            atoms.len(),
            memory * 1e-6
        ))?;
        if let Some(words) = topology::left_out(trajectory.left_out()) {
            super::print(&format!("warning      {words}\n"))?;
        }
        let passed = pass(trajectory.as_mut(), &selector, stride, &mut observables)?;
        let [first, last] = [passed.times[0], passed.times[count - 1]].map(rounded);
        super::print(&format!("times        {first} to {last} ps\n"))?;
        let findings = observables[0].finish()?;
        let trajectory = self.trajectory.display().to_string();
        write(output, &Origin { trajectory, selection: self.select.clone(), atoms }, &passed, &findings)?;
        Ok(findings.summary.iter().map(|line| format!("{line}\n")).collect())
    }

    /// Returns the topology named on the command line, or else the topology in the trajectory.
    fn topology(&self, trajectory: &dyn FrameSource) -> Result<Names> {
        let names = match (&self.topology, trajectory.topology()) {
            (None, Some(own)) => return Ok(Names { topology: own.clone(), has_bonds: true }),
            (None, None) => {
                let problem = Problem::new("this trajectory contains only positions: no names, masses or bonds");
                let help = "give the topology with --topology: a topology, a structure (gro, PDB, mmCIF) or an H5MD \
                            trajectory of the same atoms";
                return Err(problem.in_file(&self.trajectory).help(help).into());
            }
            (Some(path), _) => topology::read(path)?,
        };
        topology::check(&names.topology, trajectory, &self.trajectory)?;
        Ok(names)
    }
}
