//! Import of inputs of other programs. GROMACS mdp or AMBER mdin files are translated to an equivalent input file of
//! `md`, in which each translated file is a stage.
//!
//! A foreign file is recognised by its content, read into settings, and translated to a [`Plan`]. The module `whole`
//! merges the plans of several files. [`crate::config::write`] turns the plan into text. No setting is dropped
//! silently: each setting is quoted in a comment beside the resulting key, or mentioned in a [`Remark`]. A key that the
//! foreign program does not know is an error. Keys that the file does not set have the defaults of the foreign program.
//! Support for a new program needs a table of its keys, a reader of its syntax, and the translation ([`PROGRAMS`]).

mod atoms;
mod coupling;
mod draft;
mod mdin;
mod mdp;
mod settings;
mod whole;

use std::path::{Path, PathBuf};

pub use draft::{Place, Remark};

use crate::config::{Config, Line};
use crate::error::{Error, Problem, Result};
use crate::format::file;
use crate::run::{Plan, Restraint, Stage, StageKind, StageOutput};
use draft::{Draft, Finished};
use settings::Settings;
use whole::Whole;

/// Translated input of another program.
#[derive(Clone, Debug)]
pub struct Imported {
    /// name of the foreign program and of its kind of file, for messages
    pub program: &'static str,
    /// text of the input file of `md`, which [`Config::parse`] accepts
    pub text: String,
    /// plan from which the text was written; if the text requests a random seed, the seed of the plan has no meaning
    pub plan: Plan,
    /// remarks on settings without an exact translation: first the settings that `md` treats differently, then the
    /// settings that have no meaning for `md`
    pub remarks: Vec<Remark>,
}

/// Files that belong to a foreign input. A path that is not given is replaced by the default file name of the foreign
/// program.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// topology file
    pub topology: Option<PathBuf>,
    /// coordinate file
    pub coordinates: Option<PathBuf>,
    /// index file with groups of atoms (GROMACS)
    pub index: Option<PathBuf>,
    /// file with the reference positions of position restraints; `None` for the coordinate file
    pub reference: Option<PathBuf>,
    /// folders with include files of the topology, in addition to the folder of the input
    pub include: Vec<PathBuf>,
}

/// Foreign program whose inputs are translated.
struct Program {
    name: &'static str,
    /// default file names of topology and coordinates
    files: [&'static str; 2],
    recognises: fn(&str) -> bool,
    read: fn(&Path, &str) -> std::result::Result<Settings, Problem>,
    translate: fn(&mut Draft<'_>) -> StageKind,
    /// setting whose remark says that velocities are zero if the coordinates have none; `None` if the program refuses
    /// such coordinates
    rest: Option<&'static str>,
}

/// Foreign programs: the programs whose input files are translated. The first program that recognises a file translates
/// the file.
const PROGRAMS: [Program; 2] = [
    Program {
        name: "AMBER mdin",
        files: ["prmtop", "inpcrd"],
        recognises: mdin::is_mdin,
        read: mdin::read,
        translate: mdin::translate,
        rest: None,
    },
    Program {
        name: "GROMACS mdp",
        files: ["topol.top", "conf.gro"],
        recognises: mdp::is_mdp,
        read: mdp::read,
        translate: mdp::translate,
        rest: Some("gen-vel"),
    },
];

/// Largest foreign file in bytes. A typical file has one page of text; a file with a few hundred pull groups is longer,
/// but smaller than this limit.
const LARGEST_FILE: u64 = 1 << 20;

/// Translates the inputs of another program to an input file of `md` in the folder `base`. Each file becomes a stage,
/// in the order of `paths`. Fails with all problems of the files, each with its line.
pub fn import(paths: &[PathBuf], files: &Files, base: &Path) -> Result<Imported> {
    let texts = paths.iter().map(|path| {
        let bytes = file::read(path, LARGEST_FILE).map_err(|error| {
            let help = "expected a GROMACS mdp file or an AMBER mdin file, a text of at most 1 MiB";
            Problem::new(format!("cannot read the file: {error}")).in_file(path).help(help)
        })?;
        // titles and comments may be in any character encoding
        Ok((path.as_path(), String::from_utf8_lossy(&bytes).into_owned()))
    });
    import_texts(&texts.collect::<Result<Vec<_>>>()?, files, base)
}

/// Translates a text in the same way as [`import`] translates the file `path`.
pub fn import_text(text: &str, path: &Path, files: &Files, base: &Path) -> Result<Imported> {
    import_texts(&[(path, text.to_owned())], files, base)
}

/// Translates several texts in the same way as [`import`] translates files.
pub fn import_texts(inputs: &[(&Path, String)], files: &Files, base: &Path) -> Result<Imported> {
    let program = program(inputs)?;
    let (mut parts, mut problems) = (vec![], vec![]);
    for (path, text) in inputs {
        match stage(program, path, text, files, base)? {
            Ok(part) => parts.push(part),
            Err(found) => {
                for problem in found {
                    // a fault of the index file is found once for every input, but is reported only once
                    if !problems.contains(&problem) {
                        problems.push(problem);
                    }
                }
            }
        }
    }
    if !problems.is_empty() {
        return Err(Error::Input(problems));
    }
    let mut whole = Whole::new(parts, base);
    if let Some(key) = program.rest {
        whole.start_at_rest(key);
    }
    let lines = whole.lines(base);
    let paths: Vec<&Path> = inputs.iter().map(|(path, _)| *path).collect();
    let text = whole_text(program, &paths, &whole, &lines);
    let config = Config::parse(&text, &base.join("input.toml"), &[]);
    match config {
        Ok(config) if without_drawn_seed(&config, &whole.plan) == whole.plan => {
            let Whole { plan, remarks, .. } = whole;
            Ok(Imported { program: program.name, text, plan, remarks })
        }
        Ok(_) => Err(Error::Internal("the translated input differs after it is read back".to_owned())),
        Err(problems) => Err(Error::Input(problems.into_iter().map(|p| traced(p, &text, &lines, &whole)).collect())),
    }
}

/// Returns the plan of a configuration. If the configuration requests a random seed, the seed is that of `written`.
fn without_drawn_seed(config: &Config, written: &Plan) -> Plan {
    let mut plan = config.plan.clone();
    if config.drawn_seed.is_some() {
        plan.run.seed = written.run.seed;
    }
    plan
}

/// Returns the program to which all inputs belong.
fn program(inputs: &[(&Path, String)]) -> Result<&'static Program> {
    let mut found: Option<(&Path, &'static Program)> = None;
    for (path, text) in inputs {
        let program = PROGRAMS.iter().find(|program| (program.recognises)(text)).ok_or_else(|| {
            let help = "expected a GROMACS mdp (lines like \"dt = 0.002\") or an AMBER mdin (with a namelist &cntrl)";
            Problem::new("unknown format of an input file").in_file(path).at_line(1).help(help)
        })?;
        let (first, of_first) = *found.get_or_insert((path, program));
        if of_first.name != program.name {
            let [here, there] = [program.name, of_first.name].map(article);
            let problem = Problem::new(format!("the file is {here}, but {} is {there}", first.display())).in_file(path);
            return Err(problem.help("import the files of one program at a time").into());
        }
    }
    let (_, program) = found.ok_or_else(|| Problem::new("no file to import is given"))?;
    Ok(program)
}

/// Translates one file to a stage.
fn stage(
    program: &Program,
    path: &Path,
    text: &str,
    files: &Files,
    base: &Path,
) -> Result<std::result::Result<Finished, Vec<Problem>>> {
    let settings = match (program.read)(path, text) {
        Ok(settings) => settings,
        Err(problem) => return Ok(Err(vec![problem])),
    };
    let mut draft = Draft::new(&settings, files, start(program, files, base)?);
    let mut kind = (program.translate)(&mut draft);
    if let (StageKind::Dynamics(dynamics), true) = (&mut kind, draft.frozen.is_some()) {
        dynamics.com_removal = None;
        draft.carried_as("stage.com_removal", &[], "the removal of this motion would move frozen atoms");
    }
    if let StageKind::Dynamics(dynamics) = &mut kind {
        dynamics.fixed_axes = draft.restraints.iter().any(Restraint::has_fixed_axes);
    }
    draft.plan.stages = vec![Stage {
        name: stage_name(path, &kind),
        kind,
        position_restraints: std::mem::take(&mut draft.position_restraints),
        restraints: std::mem::take(&mut draft.restraints),
        frozen: draft.frozen.take(),
        output: StageOutput::default(),
    }];
    Ok(draft.finish())
}

/// Returns a plan with the defaults of `md` and with the files of the system.
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

/// Returns the file name without extension if this name is valid as the name of a stage, and otherwise the kind of the
/// stage.
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

/// Returns the text of the input file of `md`: the header, then the keys.
fn whole_text(program: &Program, paths: &[&Path], whole: &Whole, lines: &[Line]) -> String {
    let names = paths.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let names = printable(&names.collect::<Vec<_>>().join(", "));
    let kind = if paths.len() == 1 { article(program.name) } else { format!("{} files", program.name) };
    let mut text = format!("# Made by `md import` from {names}, {kind}.\n");
    let differing: Vec<&Remark> = whole.remarks.iter().filter(|remark| remark.differs).collect();
    if !differing.is_empty() {
        text.push_str("#\n# Not translated:\n");
        differing.iter().for_each(|remark| text.push_str(&format!("# - {}\n", printable(&remark.describe()))));
    }
    lines.iter().for_each(|line| text.push_str(&format!("{}\n", line.text)));
    text
}

/// Rounds a value, to remove rounding errors in its last digits.
fn readable(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

fn article(name: &str) -> String {
    let article = if name.starts_with('A') { "an" } else { "a" };
    format!("{article} {name}")
}

/// Replaces control characters, which TOML does not allow in comments.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Converts a problem in the translated text to a problem that names the original setting in the foreign file.
fn traced(problem: Problem, text: &str, lines: &[Line], whole: &Whole) -> Problem {
    let line = problem.line.and_then(|line| text.lines().nth(line - 1)).unwrap_or_default();
    let known = lines.iter().find(|known| !known.key.is_empty() && known.text.lines().any(|one| one == line));
    whole.problem(known.and_then(|known| known.stage), known.map_or("", |known| &known.key), problem)
}

impl Remark {
    /// Returns the remark as text: `pcoupl = MTTK, line 7: …`.
    pub fn describe(&self) -> String {
        let value = if self.value.is_empty() { String::new() } else { format!(" = {}", self.value) };
        let place = match &self.places[..] {
            [] => self.line.map_or(" (default)".to_owned(), |line| format!(", line {line}")),
            places => format!(", {}", places.iter().map(Place::describe).collect::<Vec<_>>().join(", ")),
        };
        format!("{}{value}{place}: {}", self.key, self.text)
    }
}

impl Place {
    fn describe(&self) -> String {
        let file = self.file.display();
        self.line.map_or_else(|| format!("{file} (default)"), |line| format!("line {line} of {file}"))
    }
}
