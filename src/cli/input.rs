//! Input file and the options that override its settings, for every subcommand that reads an input file.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::config::{Config, Override, Replica, read_text};
use crate::error::{Error, Problem, Result};
use crate::format::{self, known};
use crate::run::Device;

/// An input file and the changes from the command line.
#[derive(Debug, Args)]
pub(super) struct Input {
    /// Input file (TOML); `md new` writes an example
    input: PathBuf,
    /// Override a key of the input file with a TOML value: --set run.threads=4, --set forces.cutoff='"1 nm"', --set
    /// stage.production.duration='"10 ns"' (a stage by name or number)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
}

impl Input {
    /// Returns the path of the input file.
    pub(super) fn path(&self) -> &Path {
        &self.input
    }

    /// Reads and checks the input file. `options` override `--set`, `--set` overrides the environment, and the
    /// environment overrides the input file.
    pub(super) fn read(&self, options: Vec<Override>) -> Result<Config> {
        let config = Config::read(&self.input, &self.overrides(options)?);
        config.map(complete).map_err(|error| of_another_kind(&self.input).map_or(error, Error::from))
    }

    /// Reads the configuration of one replica. Settings have this precedence, from low to high: the settings that
    /// [`Input::read`] uses, the settings of the replica, and the overrides in `others`.
    pub(super) fn read_replica(&self, options: &[Override], replica: &Replica, others: &[Override]) -> Result<Config> {
        let overrides = [&self.overrides(options.to_vec())?, &replica.overrides, others].concat();
        let config = Config::read_replica(&self.input, &overrides);
        config.map(complete).map_err(|error| error.of(&replica.title()))
    }

    fn overrides(&self, options: Vec<Override>) -> Result<Vec<Override>> {
        let (settings, problems): (Vec<_>, Vec<_>) =
            self.settings.iter().map(|text| Override::set(text)).partition(std::result::Result::is_ok);
        let problems: Vec<Problem> = problems.into_iter().filter_map(std::result::Result::err).collect();
        if !problems.is_empty() {
            return Err(Error::Input(problems));
        }
        let mut overrides = environment()?;
        overrides.extend(settings.into_iter().flatten());
        overrides.extend(options);
        Ok(overrides)
    }
}

/// Adds the include folders of GROMACS from the environment to the plan.
fn complete(mut config: Config) -> Config {
    config.plan.system.include.extend(gromacs_folders());
    config
}

/// Returns a problem if the file given as input file has another format, for example that of a topology; `None`
/// otherwise.
fn of_another_kind(path: &Path) -> Option<Problem> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let (name, help) = match ending {
        // the contents of a TOML file are not examined, because a damaged input file may resemble files of other
        // programs
        "toml" => return None,
        "mdp" => ("GROMACS mdp", format!("`md import {}` translates the file", path.display())),
        "mdin" => ("AMBER mdin", format!("`md import {}` translates the file", path.display())),
        // a redirected file has no ending, and is an input file if it has the syntax of one
        _ if read_text(path).is_ok_and(|text| text.parse::<toml::Table>().is_ok()) => return None,
        _ => {
            let help = "`md new input.toml` writes an input file, whose table [system] names topology and coordinates";
            (known::recognised(&format::read(path).ok()?)?, help.to_owned())
        }
    };
    let problem = Problem::new(format!("the file is no input file of md; its format is {name}")).in_file(path);
    Some(problem.help(help))
}

/// Returns the settings that come from environment variables: `run.simd` from `MD_SIMD`.
pub(super) fn environment() -> Result<Vec<Override>> {
    match std::env::var("MD_SIMD") {
        Ok(level) => Ok(vec![Override::text_option("MD_SIMD", "run.simd", &level)]),
        Err(std::env::VarError::NotPresent) => Ok(vec![]),
        Err(std::env::VarError::NotUnicode(_)) => Err(Problem::new("MD_SIMD is not valid text").into()),
    }
}

/// Returns the folders in which GROMACS topologies look for included files: the folders in `GMXLIB`, and the folder of
/// the GROMACS installation. The GROMACS installation is found by the program `gmx` in `PATH`, or under one of the
/// usual prefixes.
pub(super) fn gromacs_folders() -> Vec<PathBuf> {
    let folders = |name| std::env::var_os(name).map(|value| std::env::split_paths(&value).collect::<Vec<_>>());
    let mut found = folders("GMXLIB").unwrap_or_default();
    let programs = folders("PATH").unwrap_or_default().into_iter();
    let programs = programs.flat_map(|folder| ["gmx", "gmx_mpi", "gmx_d"].map(|name| folder.join(name)));
    let prefixes = programs.filter_map(|program| Some(program.canonicalize().ok()?.parent()?.parent()?.to_owned()));
    let usual = ["/usr/local/gromacs", "/usr/local", "/usr", "/opt/gromacs"].map(PathBuf::from);
    let installed = prefixes.chain(usual).map(|prefix| prefix.join("share/gromacs/top"));
    found.extend({ installed }.find(|folder| folder.is_dir()));
    found
}

/// Returns the cache folder of the user: `$XDG_CACHE_HOME/md`, or `~/.cache/md` if the variable is not set.
pub(super) fn cache_folder() -> Option<PathBuf> {
    // relative paths are ignored, as the XDG base directory specification requires
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))?;
    Some(base.join("md"))
}

/// Parses the value of `--device`, for commands that do not read the device from an input file.
pub(super) fn device(option: Option<&str>) -> Result<Device> {
    let Some(text) = option else { return Ok(Device::Auto) };
    Device::from_text(text).ok_or_else(|| {
        let problem = Problem::new(format!("--device: \"{text}\" is not a device"));
        problem.help(format!("write {}", Device::SPELLING)).into()
    })
}
