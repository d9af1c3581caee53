//! `md import`: translates the input of another program to an input file of `md`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::files::check_new;
use super::input::gromacs_folders;
use crate::error::{Error, Problem, Result};
use crate::import::{Files, Remark, import};
use crate::observe::files::FINAL_STRUCTURE;

/// Translate GROMACS mdp or AMBER mdin files to an input file, and list what could not be translated
#[derive(Debug, Args)]
pub(super) struct Import {
    /// GROMACS mdp or AMBER mdin files, recognised by their contents. Several files become several stages in the
    /// order given
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<PathBuf>,
    /// Topology to name in the input file that is written; default: topol.top or prmtop
    #[arg(short = 'p', long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// Coordinates to name in the input file that is written; default: conf.gro or inpcrd
    #[arg(short, long, value_name = "FILE")]
    coordinates: Option<PathBuf>,
    /// Index file with the groups of a GROMACS mdp file; default: the default groups of GROMACS
    #[arg(short = 'n', long, value_name = "FILE")]
    index: Option<PathBuf>,
    /// Reference coordinates of position restraints, as in grompp -r and sander -ref; default: the coordinates that the
    /// run starts from
    #[arg(short, long, value_name = "FILE")]
    reference: Option<PathBuf>,
    /// Output folder of a finished run; the new run starts from the coordinates and velocities in its final.rst7
    #[arg(long, value_name = "FOLDER", conflicts_with = "coordinates")]
    after: Option<PathBuf>,
    /// File to write; default: standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

impl Import {
    pub(super) fn execute(&self) -> Result<()> {
        let folder = self.output.as_deref().and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let base = std::path::absolute(folder).map_err(|error| Error::io(folder, error))?;
        let files = self.files()?;
        if let Some(output) = &self.output {
            let named = [&files.topology, &files.coordinates, &files.index, &files.reference].into_iter().flatten();
            check_new(output, self.inputs.iter().chain(named).map(PathBuf::as_path), self.force)?;
        }
        let imported = import(&self.inputs, &files, &base)?;
        super::say(&report(&imported.remarks));
        match &self.output {
            None => super::print(&imported.text),
            Some(output) => {
                std::fs::write(output, &imported.text).map_err(|error| Error::io(output, error))?;
                super::print(&format!("{} written; next: md check {0}\n", output.display()))
            }
        }
    }
}

impl Import {
    /// Returns the paths of the files (topology, coordinates, index) that belong to the inputs.
    fn files(&self) -> Result<Files> {
        let Import { topology, index, .. } = self;
        let absolute = |path: &PathBuf| std::path::absolute(path).map_err(|error| Error::io(path, error));
        Ok(Files {
            topology: topology.clone(),
            coordinates: self.after.as_deref().map(final_structure).transpose()?.or_else(|| self.coordinates.clone()),
            index: index.clone(),
            reference: self.reference.as_ref().map(absolute).transpose()?,
            include: gromacs_folders(),
        })
    }
}

/// Returns the path of the final structure in the output folder of a finished run.
fn final_structure(folder: &Path) -> Result<PathBuf> {
    let path = folder.join(FINAL_STRUCTURE);
    if path.is_file() {
        return Ok(path);
    }
    let problem = Problem::new("--after: the run has no final structure, because it has not finished").in_file(&path);
    Err(problem.help("give the output folder (output.directory) of a finished run").into())
}

/// Returns two lists of the settings that have no exact translation: the settings with differences that change results,
/// and the settings that `md` does not need.
fn report(remarks: &[Remark]) -> String {
    let list = |title: &str, differs: bool| {
        let lines = remarks.iter().filter(|remark| remark.differs == differs).map(Remark::describe);
        let lines: String = lines.map(|line| format!("\n  {line}")).collect();
        if lines.is_empty() { String::new() } else { format!("{title}:{lines}\n") }
    };
    let text = list("differences", true) + &list("settings that md does not need", false);
    if text.is_empty() { "all settings were translated".to_owned() } else { text.trim_end().to_owned() }
}
