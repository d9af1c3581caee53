//! `md new`: writes a commented example input.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use crate::config::template;
use crate::error::{Error, Problem, Result};

/// Write a commented example input
#[derive(Debug, Args)]
pub(super) struct New {
    /// File to write; must not exist
    #[arg(default_value = "input.toml")]
    file: PathBuf,
    /// Topology to name in the file
    #[arg(long, default_value = "system.prmtop")]
    topology: String,
    /// Coordinates to name in the file
    #[arg(long, default_value = "system.rst7")]
    coordinates: String,
}

impl New {
    pub(super) fn execute(&self) -> Result<()> {
        let mut file = std::fs::File::create_new(&self.file).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => Problem::new("the file already exists")
                .in_file(&self.file)
                .help("choose another name, for example `md new other.toml`")
                .into(),
            _ => Error::io(&self.file, error),
        })?;
        file.write_all(template(&self.topology, &self.coordinates).as_bytes())
            .map_err(|error| Error::io(&self.file, error))?;
        super::print(&format!("{} written; next: md check {0}\n", self.file.display()))
    }
}
