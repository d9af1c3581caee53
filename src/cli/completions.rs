//! `md completions` and `md man`: completion scripts for shells, and manual pages.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Command, CommandFactory};
use clap_complete::{Shell, generate};

use crate::analysis::observables::OBSERVABLES;
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

/// Write manual pages: man1/md.1, one page for each command, and man5/md-input.5 with the keys of the input file
#[derive(Debug, Args)]
#[command(after_help = "Example:
  md man ~/.local/share/man && man md-run")]
pub(super) struct Man {
    /// Folder of manual pages, in which the folders man1 and man5 are created
    folder: PathBuf,
}

impl Completions {
    pub(super) fn execute(&self) -> Result<()> {
        let mut script = vec![];
        generate(self.shell, &mut completed(self.shell), "md", &mut script);
        super::print(&String::from_utf8_lossy(&script))
    }
}

/// Returns the command for which a script is generated. Words that the command line does not restrict have the values
/// that the script offers.
fn completed(shell: Shell) -> Command {
    let command = super::Arguments::command();
    let commands: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let words = key_entries().into_iter().map(|key| key.path).chain(commands);
    // clap takes only texts that live as long as the process, which ends after the script
    let words = PossibleValuesParser::new(words.map(|word| &*word.leak()).collect::<Vec<&'static str>>());
    let command = command.mut_subcommand("help", |help| help.mut_arg("key", |key| key.value_parser(words)));
    // the scripts of other shells would offer no files beside the observables; bash offers files if no word matches
    match shell {
        Shell::Bash => {
            let names = PossibleValuesParser::new(OBSERVABLES.iter().map(|entry| entry.name));
            command.mut_subcommand("analyze", |analyze| analyze.mut_arg("words", |words| words.value_parser(names)))
        }
        _ => command,
    }
}

impl Man {
    pub(super) fn execute(&self) -> Result<()> {
        let [commands, formats] = ["man1", "man5"].map(|section| self.folder.join(section));
        for folder in [&commands, &formats] {
            std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
        }
        let mut command = super::Arguments::command();
        command.build();
        clap_mangen::generate_to(command, &commands).map_err(|error| Error::io(&commands, error))?;
        let path = formats.join("md-input.5");
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
