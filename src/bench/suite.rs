//! Systems for benchmarks: the systems of the suite, and the system of any input file.

use std::path::{Path, PathBuf};

use super::replicate::replicate;
use crate::cell::PeriodicCell;
use crate::config::{Config, Override};
use crate::error::{Error, Problem, Result};
use crate::format::compressed::missing;
use crate::pme;
use crate::prepare::{self, ConstrainedTerms, ElectrostaticsSpec, PmeSpec};
use crate::run::{Dynamics, Plan, StageKind, load};
use crate::system::{Electrostatics, State, System};

/// Names of the systems in the suite, the smallest system first. Water boxes of other sizes are named by their size,
/// for example `water-81k`.
pub const NAMES: &[&str] = &["water-3k", "dhfr", "water-24k", "47k", "89k", "156k", "water-192k", "water-1.5m"];
/// Names of the systems that are timed by default. The benchmark of all systems that are timed by default takes about
/// two minutes on two cores.
pub const DEFAULT_NAMES: &[&str] = NAMES.split_at(7).0;

/// Number of atoms of the water box that is replicated to larger boxes.
const WATER_ATOMS: f64 = 3000.0;
/// Largest relative difference between the number of atoms in the name of a water box and its actual number of atoms.
/// The actual number is n³ times the number of atoms of the small box that is replicated. For example, the box "1.5m"
/// has 1,536,000 atoms.
const SIZE_TOLERANCE: f64 = 0.05;
/// Largest number of atoms of a water box. Larger systems have not been tested.
const MOST_ATOMS: f64 = 5e7;

/// Settings of the suite, which are those of `validation/performance`. Velocities are generated, because the files of
/// some systems contain no velocities.
const SETTINGS: &str = r#"
[forces]
cutoff         = "0.9 nm"
electrostatics = "pme"
pme            = { spacing = "0.12 nm", order = 4 }
constraints    = "h-bonds"
list           = { tolerance = "0.005 kJ/mol/ps" }

[[stage]]
name        = "speed"
kind        = "dynamics"
duration    = "10 ps"
timestep    = "2 fs"
velocities  = "generate"
temperature = "300 K"
thermostat  = { kind = "v-rescale", temperature = "300 K", coupling_time = "0.1 ps" }
"#;

/// System to be timed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Case {
    /// system of the suite, whose files are in a folder below the project's folder `inputs`
    Named {
        /// name in the suite
        name: String,
        /// name of the folder, which is also the name of the files
        files: &'static str,
        /// number of copies of the box along each edge
        copies: usize,
    },
    /// input file, whose settings of the forces and of the last dynamics stage are used
    File(PathBuf),
}

/// System that is ready to run.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// name of the system in tables
    pub name: String,
    /// plan of the run
    pub plan: Plan,
    /// system without the bonded terms between constrained atoms
    pub system: System,
    /// initial state
    pub state: State,
    /// settings of the timed dynamics
    pub dynamics: Dynamics,
}

impl Case {
    /// Returns the system for a name in the suite, for a size of a water box such as `water-81k`, or for an existing
    /// input file.
    pub fn find(text: &str) -> std::result::Result<Self, Problem> {
        let named = |files, copies| Case::Named { name: text.to_owned(), files, copies };
        match text {
            "dhfr" => return Ok(named("dhfr", 1)),
            "47k" => return Ok(named("benchmarks/47k", 1)),
            "89k" => return Ok(named("benchmarks/89k", 1)),
            "156k" => return Ok(named("benchmarks/156k", 1)),
            _ => {}
        }
        if let Some(size) = text.strip_prefix("water-").and_then(size) {
            return Ok(named("water", water_copies(text, size)?));
        }
        let path = Path::new(text);
        if path.is_file() {
            return Ok(Case::File(path.to_owned()));
        }
        if path.extension().is_some_and(|ending| ending == "toml") {
            return Err(missing(path));
        }
        let near = NAMES.iter().copied().max_by(|a, b| closeness(a, text).total_cmp(&closeness(b, text)));
        Err(Problem::new(format!("{text} is neither a benchmark nor an input file")).help(format!(
            "did you mean {}? the benchmarks are {}",
            near.unwrap_or("dhfr"),
            NAMES.join(", ")
        )))
    }

    /// Returns the name of the system in tables.
    pub fn name(&self) -> String {
        match self {
            Case::Named { name, .. } => name.clone(),
            Case::File(path) => path.display().to_string(),
        }
    }

    /// Returns a problem if none of the `folders` has the files of this system.
    pub fn missing(&self, folders: &[PathBuf]) -> Option<Problem> {
        match self {
            Case::Named { name, files, .. } => find_files(name, files, folders).err(),
            Case::File(_) => None,
        }
    }

    /// Reads the settings. The files of a system in the suite are looked up in `folders`. `overrides` replace settings
    /// of the input.
    pub fn config(&self, folders: &[PathBuf], overrides: &[Override]) -> Result<Config> {
        match self {
            Case::File(path) => Config::read(path, overrides),
            Case::Named { name, files, .. } => {
                let folder = find_files(name, files, folders)?;
                let file = files.rsplit('/').next().unwrap_or(files);
                let system =
                    format!("[system]\ntopology = \"{file}.prmtop.xz\"\ncoordinates = \"{file}.rst7.xz\"\n{SETTINGS}");
                Config::parse(&system, &folder.join("suite.toml"), overrides).map_err(Error::Input)
            }
        }
    }

    /// Reads the files and builds the system. The files of a system in the suite are looked up in `folders`.
    /// `overrides` replace settings of the input.
    pub fn prepare(&self, folders: &[PathBuf], overrides: &[Override]) -> Result<Prepared> {
        let Config { plan, source, .. } = self.config(folders, overrides)?;
        let copies = if let Case::Named { copies, .. } = self { *copies } else { 1 };
        let prepare::Prepared { mut system, mut state, .. } =
            load(&plan, ConstrainedTerms::Drop).map_err(|error| source.locate(error))?;
        if copies > 1 {
            (system, state) = enlarge(&plan, &system, &state, copies)?;
        }
        let last = plan.stages.iter().rev().find_map(|stage| match &stage.kind {
            StageKind::Dynamics(dynamics) => Some(dynamics.clone()),
            StageKind::Minimize(_) => None,
        });
        let dynamics = last.ok_or_else(|| {
            Problem::new(format!("{}: the input file has no stage of dynamics to time", self.name()))
                .help("add `[[stage]]` with `kind = \"dynamics\"`")
        })?;
        Ok(Prepared { name: self.name(), plan, system, state, dynamics })
    }
}

/// Parses a number of atoms with an optional suffix k (thousand) or m (million).
fn size(text: &str) -> Option<f64> {
    let (digits, unit) = match text.strip_suffix(['k', 'm']) {
        Some(digits) => (digits, if text.ends_with('k') { 1e3 } else { 1e6 }),
        None => (text, 1.0),
    };
    digits.parse::<f64>().ok().map(|number| number * unit).filter(|size| size.is_finite() && *size > 0.0)
}

/// Returns the number of copies n along an edge for which n³ copies of the water box have about `size` atoms.
fn water_copies(name: &str, size: f64) -> std::result::Result<usize, Problem> {
    let edge = (size / WATER_ATOMS).cbrt().round().max(1.0);
    let atoms = |edge: f64| WATER_ATOMS * edge.powi(3);
    if size > MOST_ATOMS || (atoms(edge) / size - 1.0).abs() > SIZE_TOLERANCE {
        let [below, above] =
            [(size / WATER_ATOMS).cbrt().floor().max(1.0), (size / WATER_ATOMS).cbrt().ceil()].map(atoms);
        return Err(Problem::new(format!("{name}: water boxes have 3000 n³ atoms (n = 1, 2, …), at most 50 million"))
            .help(format!("the nearest sizes are water-{}k and water-{}k", below / 1e3, above / 1e3)));
    }
    Ok(edge as usize)
}

fn closeness(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(a, b)
}

/// Returns the folder with the files of a system of the suite.
fn find_files(name: &str, files: &str, folders: &[PathBuf]) -> std::result::Result<PathBuf, Problem> {
    let file = files.rsplit('/').next().unwrap_or(files);
    let complete = |folder: &PathBuf| folder.join(format!("{file}.prmtop.xz")).is_file();
    folders.iter().map(|folder| folder.join(files)).find(complete).ok_or_else(|| {
        Problem::new(format!("the files of benchmark {name} are missing: inputs/{files}/{file}.prmtop.xz"))
            .help("start md in the folder of the project, or give an input file")
    })
}

/// Replicates the box along each edge, and adapts the PME grid to the new cell.
fn enlarge(plan: &Plan, system: &System, state: &State, copies: usize) -> Result<(System, State)> {
    let missing = || Error::Internal("a box of water has no cell, no cutoff or no PME grid spacing".to_owned());
    let (mut system, state) = replicate(system, state, [copies; 3]).ok_or_else(missing)?;
    let cell: &PeriodicCell = state.cell.as_ref().ok_or_else(missing)?;
    if let Electrostatics::Pme(_) = system.settings.electrostatics {
        let ElectrostaticsSpec::Pme(PmeSpec::Spacing { spacing, order }) = plan.forces.electrostatics else {
            return Err(missing());
        };
        let cutoff = system.settings.cutoff.ok_or_else(missing)?;
        let parameters = pme::parameters_for_spacing(cell, cutoff, spacing, order)?;
        system.settings.electrostatics = Electrostatics::Pme(parameters);
    }
    Ok((system, state))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sizes_and_mistakes() {
        for name in NAMES {
            assert_eq!(Case::find(name).unwrap().name(), *name);
        }
        let copies = |text| match Case::find(text) {
            Ok(Case::Named { copies, .. }) => Some(copies),
            _ => None,
        };
        // numbers of atoms 3000 n³: 3000, 24,000, 81,000, 192,000, 1,536,000
        let cubes = ["water-3000", "water-24k", "water-81k", "water-192k", "water-1.5m"].map(copies);
        assert_eq!(cubes, [Some(1), Some(2), Some(3), Some(4), Some(8)]);
        let mistake = |text| Case::find(text).unwrap_err().to_string();
        assert!(mistake("water-10k").contains("water-3k and water-24k"), "{}", mistake("water-10k"));
        assert!(mistake("dhrf").contains("did you mean dhfr?"), "{}", mistake("dhrf"));
        assert!(["water-0k", "water--3k", "water-nank", "water-1e30"].iter().all(|text| Case::find(text).is_err()));
    }
}
