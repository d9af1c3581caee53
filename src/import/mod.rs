//! Inputs of other programs: a GROMACS mdp or an AMBER mdin becomes the input file of `md` that does the same.
//!
//! A file is recognised by its content, read into settings, and translated to a [`Plan`], which
//! [`crate::config::write`] turns into text. Nothing is dropped in silence: a setting stands as a comment beside the key that it
//! became, or in a [`Remark`]; a key that its program does not know is an error. Defaults of absent keys are those of the
//! program. A new program needs a table of its keys, a reader of its syntax, and its translation ([`PROGRAMS`]).

mod atoms;
mod coupling;
mod draft;
mod mdin;
mod mdp;
mod settings;

use std::path::{Path, PathBuf};

pub use draft::Remark;

use crate::config::{Config, Line, write};
use crate::error::{Error, Problem, Result};
use crate::format::file;
use crate::run::{Plan, Stage, StageKind, StageOutput};
use draft::{Draft, Finished};
use settings::Settings;

/// An input of another program, translated.
#[derive(Clone, Debug)]
pub struct Imported {
    /// the program and its file, for messages
    pub program: &'static str,
    /// the input file of `md`: accepted by [`Config::parse`]
    pub text: String,
    /// what it does
    pub plan: Plan,
    /// what is not simply carried over: first what `md` does otherwise, then what means nothing to it
    pub remarks: Vec<Remark>,
}

/// The files that the input goes with; those not named have the names that the program would look for.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// topology
    pub topology: Option<PathBuf>,
    /// coordinates
    pub coordinates: Option<PathBuf>,
    /// groups of atoms (GROMACS)
    pub index: Option<PathBuf>,
}

/// A program whose inputs are translated.
struct Program {
    name: &'static str,
    /// names of topology and coordinates where the command line gives none
    files: [&'static str; 2],
    recognises: fn(&str) -> bool,
    read: fn(&Path, &str) -> std::result::Result<Settings, Problem>,
    translate: fn(&mut Draft<'_>) -> StageKind,
}

/// The first that recognises a file translates it.
const PROGRAMS: [Program; 2] = [
    Program {
        name: "AMBER mdin",
        files: ["prmtop", "inpcrd"],
        recognises: mdin::is_mdin,
        read: mdin::read,
        translate: mdin::translate,
    },
    Program {
        name: "GROMACS mdp",
        files: ["topol.top", "conf.gro"],
        recognises: mdp::is_mdp,
        read: mdp::read,
        translate: mdp::translate,
    },
];

/// Largest file: a page of text, or hundreds of groups to pull.
const LARGEST_FILE: u64 = 1 << 20;

/// Translates the input of another program, for an input file of `md` in the folder `base`. Fails with all problems of the
/// file, each with its line.
pub fn import(path: &Path, files: &Files, base: &Path) -> Result<Imported> {
    let bytes = file::read(path, LARGEST_FILE).map_err(|error| {
        let help = "expected a GROMACS mdp or an AMBER mdin: a text of at most 1 MiB";
        Problem::new(format!("cannot read the file: {error}")).in_file(path).help(help)
    })?;
    // titles and comments may be in any encoding
    let text = String::from_utf8_lossy(&bytes);
    import_text(&text, path, files, base)
}

/// The same of a text, as if it stood in the file `path`.
pub fn import_text(text: &str, path: &Path, files: &Files, base: &Path) -> Result<Imported> {
    let program = PROGRAMS.iter().find(|program| (program.recognises)(text)).ok_or_else(|| {
        let help = "expected a GROMACS mdp (lines like \"dt = 0.002\") or an AMBER mdin (with a namelist &cntrl)";
        Problem::new("this is no input of a program that md knows").in_file(path).at_line(1).help(help)
    })?;
    let settings = (program.read)(path, text)?;
    let mut draft = Draft::new(&settings, files, start(program, files, base)?);
    let mut kind = (program.translate)(&mut draft);
    if let (StageKind::Dynamics(dynamics), true) = (&mut kind, draft.frozen.is_some()) {
        // it would move frozen atoms
        dynamics.com_removal = None;
    }
    draft.plan.stages = vec![Stage {
        name: stage_name(path, &kind),
        kind,
        position_restraints: vec![],
        restraints: std::mem::take(&mut draft.restraints),
        frozen: draft.frozen.take(),
        output: StageOutput::default(),
    }];
    let finished = draft.finish().map_err(Error::Input)?;
    let lines = write(&finished.plan, base, &|key| finished.note(key));
    let text = whole_text(program, path, &finished, &lines);
    let config = Config::parse(&text, &base.join("input.toml"), &[]);
    match config {
        Ok(config) if config.plan == finished.plan => {
            let Finished { plan, remarks, .. } = finished;
            Ok(Imported { program: program.name, text, plan, remarks })
        }
        Ok(_) => Err(Error::Internal("the translated input reads back differently".to_owned())),
        Err(problems) => Err(Error::Input(problems.into_iter().map(|p| traced(p, &text, &lines, &finished)).collect())),
    }
}

/// The defaults of `md` with the files of the system.
fn start(program: &Program, files: &Files, base: &Path) -> Result<Plan> {
    let absolute = |path: &Option<PathBuf>, usual: &str| {
        let path = path.clone().unwrap_or_else(|| usual.into());
        std::path::absolute(&path).map_err(|error| Error::io(&path, error))
    };
    let text = "[system]\ntopology = \"topology\"\ncoordinates = \"coordinates\"\n";
    let mut plan = Config::parse(text, &base.join("input.toml"), &[]).map_err(Error::Input)?.plan;
    plan.system.topology = absolute(&files.topology, program.files[0])?;
    plan.system.coordinates = absolute(&files.coordinates, program.files[1])?;
    Ok(plan)
}

/// The name of the file where it is one for a stage, or the kind.
fn stage_name(path: &Path, kind: &StageKind) -> String {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    if !stem.is_empty() && stem.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')) {
        return stem.to_owned();
    }
    let kind = match kind {
        StageKind::Minimize(_) => "minimize",
        StageKind::Dynamics(_) => "dynamics",
    };
    kind.to_owned()
}

/// Lines of the head, and the keys.
fn whole_text(program: &Program, path: &Path, finished: &Finished, lines: &[Line]) -> String {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut text = format!("# Made by `md import` from {}, {}.\n", printable(&name), article(program.name));
    let differing: Vec<&Remark> = finished.remarks.iter().filter(|remark| remark.differs).collect();
    if !differing.is_empty() {
        text.push_str("#\n# Not carried over:\n");
        differing.iter().for_each(|remark| text.push_str(&format!("# - {}\n", printable(&remark.describe()))));
    }
    lines.iter().for_each(|line| text.push_str(&format!("{}\n", line.text)));
    text
}

/// Without the last digits of a binary fraction.
fn readable(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

fn article(name: &str) -> String {
    let article = if name.starts_with('A') { "an" } else { "a" };
    format!("{article} {name}")
}

/// Comments of TOML hold no control characters.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A problem of the translated text at the setting that it follows from.
fn traced(problem: Problem, text: &str, lines: &[Line], finished: &Finished) -> Problem {
    let line = problem.line.and_then(|line| text.lines().nth(line - 1)).unwrap_or_default();
    let key = lines.iter().find(|known| !known.key.is_empty() && known.text.lines().any(|one| one == line));
    finished.problem(key.map_or("", |known| &known.key), problem)
}

impl Remark {
    /// `pcoupl = MTTK, line 7: …`
    pub fn describe(&self) -> String {
        let value = if self.value.is_empty() { String::new() } else { format!(" = {}", self.value) };
        let place = self.line.map_or(" (default)".to_owned(), |line| format!(", line {line}"));
        format!("{}{value}{place}: {}", self.key, self.text)
    }
}
