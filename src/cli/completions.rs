//! `md completions` and `md man`: completion scripts for shells, and manual pages.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use crate::config::{KeyEntry, key_entries};
use crate::error::{Error, Result};

/// Print a script that completes commands and options in a shell
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  md completions bash > ~/.local/share/bash-completion/completions/md
  md completions zsh > ~/.zfunc/_md        (with fpath+=~/.zfunc before compinit)
  md completions fish > ~/.config/fish/completions/md.fish")]
pub(super) struct Completions {
    /// Shell
    shell: Shell,
}

/// Write manual pages: md.1, one page for each command, and md-input.5 with the keys of the input file
#[derive(Debug, Args)]
#[command(after_help = "Example:
  md man ~/.local/share/man/man1 && man md-run")]
pub(super) struct Man {
    /// Folder, which is created
    folder: PathBuf,
}

impl Completions {
    pub(super) fn execute(&self) -> Result<()> {
        let mut script = vec![];
        generate(self.shell, &mut super::Arguments::command(), "md", &mut script);
        super::print(&String::from_utf8_lossy(&script))
    }
}

impl Man {
    pub(super) fn execute(&self) -> Result<()> {
        std::fs::create_dir_all(&self.folder).map_err(|error| Error::io(&self.folder, error))?;
        let mut command = super::Arguments::command();
        command.build();
        clap_mangen::generate_to(command, &self.folder).map_err(|error| Error::io(&self.folder, error))?;
        let path = self.folder.join("md-input.5");
        let page = keys_page();
        std::fs::write(&path, page).map_err(|error| Error::io(&path, error))
    }
}

/// Returns the manual page md-input.5, which describes the keys of the input file.
fn keys_page() -> String {
    use clap_mangen::roff::{Roff, bold, italic, roman};
    let mut page = Roff::new();
    page.control("TH", ["md-input", "5", "", &format!("md {}", crate::VERSION)]);
    page.control("SH", ["NAME"]);
    page.text([roman("md-input - keys of the input file of md")]);
    page.control("SH", ["DESCRIPTION"]);
    page.text([
        roman("The input of "),
        bold("md run"),
        roman(" is a TOML file. Quantities are texts with their unit."),
    ]);
    page.control("SH", ["KEYS"]);
    for KeyEntry { path, about, value, default, only, example } in key_entries() {
        page.control("TP", []);
        page.text([bold(path)]);
        page.text([roman(about)]);
        for (name, text) in
            [("value", Some(value)), ("default", Some(default)), ("only with", only), ("example", Some(example))]
        {
            if let Some(text) = text {
                page.control("br", []);
                page.text([italic(format!("{name}: ")), roman(text)]);
            }
        }
    }
    page.render()
}
