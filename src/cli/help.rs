//! `md help KEY`: explains a key of the input file.

use clap::{Args, CommandFactory};

use crate::config::{describe, overview};
use crate::error::{Problem, Result};

/// Explain a key of the input file, or a command
#[derive(Debug, Args)]
pub(super) struct Help {
    /// Key (forces.cutoff, or just cutoff), section or command; default: list all keys
    key: Option<String>,
}

/// Column at which descriptions of keys are wrapped, unless the terminal is narrower.
const WIDTH: usize = 100;

impl Help {
    pub(super) fn execute(&self) -> Result<()> {
        let width = super::width(std::io::stdout(), WIDTH);
        let Some(key) = &self.key else {
            return super::print(&format!(
                "Keys of the input file; `md help KEY` explains a key, `md --help` lists commands.\n\n{}",
                overview(width)
            ));
        };
        let mut command = super::Arguments::command();
        command.build();
        let command = command.find_subcommand_mut(key).map(|command| command.render_long_help().to_string());
        // some names, such as `run`, are names of both a command and a section
        match (command, describe(key, width)) {
            (Some(command), Ok(text)) => super::print(&format!("{command}\n{text}")),
            (Some(text), Err(_)) | (None, Ok(text)) => super::print(&text),
            (None, Err(near)) => {
                let problem = Problem::new(format!("there is no key \"{key}\""));
                let similar = match near.len() {
                    0 => String::new(),
                    _ => format!("did you mean {}? ", near.join(", ")),
                };
                Err(problem.help(format!("{similar}`md help` lists all keys")).into())
            }
        }
    }
}
