//! Command line, with one file per subcommand. Only this module prints and reads the environment.

mod analyze;
mod bench;
mod build;
mod check;
mod completions;
mod convert;
mod demux;
mod diagnostics;
mod energy;
mod estimate;
mod files;
mod help;
mod import;
mod info;
mod input;
mod isolated;
mod launch;
#[cfg(feature = "mpi")]
mod mpi;
mod new;
mod repair;
mod replicas;
mod report;
mod run;
mod select;
mod topology;
mod verify;

use std::io::Write;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, Subcommand};

use crate::error::{Error, Result, printable, printable_lines};

/// Exit code of a run that was stopped on request.
const STOPPED: u8 = 3;
/// Exit code of a benchmark comparison that found a slower system.
const SLOWER: u8 = 1;

const EXIT_CODES: &str = "Exit codes:
  0  done
  1  a bug in md; with md bench --compare: slower than before
  2  wrong input or usage
  3  stopped early on request, with a good checkpoint: the same command continues
  4  simulation unstable
  5  input/output failed, for example a full disk
  6  device failed";

/// Molecular dynamics of biomolecular systems.
#[derive(Debug, Parser)]
#[command(name = "md", version = crate::VERSION, disable_help_subcommand = true, after_help = EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Run),
    Check(check::Check),
    Energy(energy::Energy),
    Bench(bench::Bench),
    Analyze(analyze::Analyze),
    Convert(convert::Convert),
    Select(select::Select),
    Demux(demux::Sort),
    Info(info::Info),
    Verify(verify::Verify),
    Report(report::Report),
    Repair(repair::Repair),
    Build(build::Build),
    New(new::New),
    Import(import::Import),
    Completions(completions::Completions),
    Man(completions::Man),
    Help(help::Help),
}

/// Parses the command line, executes the command and reports errors on standard error.
pub fn main() -> ExitCode {
    let started = Instant::now();
    // a write beyond the limit of file sizes then fails with an error, and does not end the process
    // SAFETY: the process has no other threads yet, and the signal is ignored from now on
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let command = match Arguments::try_parse() {
        Ok(arguments) => arguments.command,
        Err(error) => return not_parsed(&error),
    };
    match command.file().map_or(Ok(None), isolated::run) {
        Ok(Some(code)) => return code,
        Ok(None) => {}
        Err(error) => return failed(&error),
    }
    let outcome = match command {
        Command::Run(command) => return command.execute(started),
        Command::Check(command) => return command.execute(),
        Command::Energy(command) => command.execute(),
        Command::Bench(command) => {
            if let Some(code) = launch::refused_bench() {
                return code;
            }
            match command.execute() {
                Ok(false) => return ExitCode::from(SLOWER),
                ended => ended.map(|_| ()),
            }
        }
        Command::Analyze(command) => command.execute(),
        Command::Build(command) => command.execute(),
        Command::Convert(command) => command.execute(),
        Command::Select(command) => command.execute(),
        Command::Demux(command) => command.execute(),
        Command::Info(command) => command.execute(),
        Command::Verify(command) => command.execute(),
        Command::Report(command) => command.execute(),
        Command::Repair(command) => command.execute(),
        Command::New(command) => command.execute(),
        Command::Import(command) => command.execute(),
        Command::Completions(command) => command.execute(),
        Command::Man(command) => command.execute(),
        Command::Help(command) => command.execute(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

impl Command {
    /// Returns the file of unknown origin that the command reads with C libraries, if there is one. A command that
    /// reads such a file runs in a child process.
    fn file(&self) -> Option<&Path> {
        match self {
            Command::Analyze(command) => Some(command.file()),
            Command::Convert(command) => Some(&command.input),
            Command::Select(command) => Some(&command.file),
            Command::Demux(command) => Some(&command.folder),
            Command::Info(command) => Some(&command.file),
            Command::Verify(command) => Some(&command.file),
            Command::Report(command) => Some(&command.folder),
            Command::Repair(command) => Some(&command.file),
            _ => None,
        }
    }
}

/// Prints the help text, the version, or the error of a command line that has no command to execute.
fn not_parsed(error: &clap::Error) -> ExitCode {
    let written = error.print().and_then(|()| std::io::stdout().flush());
    match written {
        Err(reason) if !error.use_stderr() && reason.kind() != std::io::ErrorKind::BrokenPipe => {
            failed(&Error::io("standard output".as_ref(), reason))
        }
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(u8::MAX)),
    }
}

/// Returns the number of columns for text on `stream`: that of the terminal, but at most `most`; `most` if the stream
/// is no terminal.
fn width(stream: impl AsFd, most: usize) -> usize {
    // a line of a message needs room for its indentation and a word
    const LEAST: usize = 40;
    terminal_size::terminal_size_of(stream).map_or(most, |(width, _)| usize::from(width.0).clamp(LEAST, most))
}

fn failed(error: &Error) -> ExitCode {
    diagnostics::report(error);
    ExitCode::from(error.exit_code())
}

/// Prints lines on standard error. A failure to write is ignored.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", printable_lines(text));
}

/// Prints a warning on standard error, with the same layout as the warnings in descriptions of files. A failure to
/// write is ignored.
fn warn(text: &str) {
    say(&format!("warning      {text}"));
}

/// Prints a description of files on standard output. Long lines are cut at the maximum length of messages.
fn describe(text: &str) -> Result<()> {
    print(&printable_lines(text))
}

/// Prints text on standard output, without control characters. A closed pipe (`md help | head`) is not an error.
fn print(text: &str) -> Result<()> {
    let text = printable(text, usize::MAX);
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::io("standard output".as_ref(), error))
        }
        _ => Ok(()),
    }
}
