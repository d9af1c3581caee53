//! Table of all keys of the input file.

mod ensemble;
mod forces;
mod other_programs;
mod restraints;
mod stage;
mod stage_output;

pub use other_programs::of_other_program;

use super::key::Default::{Is, Required, Rule};
use super::key::Kind::{Boolean, Cell, File, Files, Folder, Folders, Integer, Interval, Quantity, Tables, Text, Texts};
use super::key::{Key, Kind, Range, key, word};
use super::value::Table;
use super::words;
use crate::observe::trajectory::{EXTENSIONS, Format};
use crate::units::Dimension::{Length, WallTime};
use ensemble::ENSEMBLE;
use forces::FORCES;
use stage::STAGE;

/// Allowed resolutions of rounded positions. The lower limit is the resolution of f32 in a large cell, and the upper
/// limit is a bond length.
const ROUNDING: Range = Range { above: 1e-7, at_most: 0.1, words: "greater than 1e-7 nm and at most 0.1 nm" };

/// Sections of the input file.
pub static ROOT: &[Key] = &[
    key("system", Kind::Table(SYSTEM), "{ topology = \"dhfr.prmtop.gz\", coordinates = \"dhfr.rst7.gz\" }")
        .default(Required)
        .doc("Topology, coordinates and periodic cell of the simulated system."),
    key("forces", Kind::Table(FORCES), "{ cutoff = \"0.9 nm\" }")
        .default(Is("{}"))
        .doc("Interactions, constraints and pair lists."),
    key("run", Kind::Table(RUN), "{ seed = 1 }")
        .default(Is("{}"))
        .doc("Seed, device and threads. These keys do not change the physics."),
    key("output", Kind::Table(OUTPUT), "{ directory = \"out\" }")
        .default(Is("{}"))
        .doc("Output files, their contents and intervals. These keys do not change the simulated motion."),
    key("stage", Tables(STAGE), "[{ kind = \"minimize\" }]")
        .doc("Stages of minimisation or dynamics, run in order. Only `md run` needs them."),
    key("ensemble", Kind::Table(ENSEMBLE), "{ replicas = 4 }")
        .doc("Replicas: several runs of this file by one command, which differ in their seeds and in the settings listed here. Replica i, from 1, has the seed run.seed + i - 1 and all its output in the folder replica-i of output.directory, where effective.toml is the input file of this replica alone; ensemble.json and ensemble.log next to these folders give the progress of all replicas. run.threads is the total number of threads. The same command continues replicas that have not finished; a replica that fails does not stop the others; `md run --replica 3` runs only replica 3. With a build for MPI, `mpirun -n 4 md run input.toml` and srun distribute the replicas over ranks. Commands other than run and check ignore this table."),
];

static SYSTEM: &[Key] = &[
    key("topology", File, "\"dhfr.prmtop.gz\"")
        .default(Required)
        .doc("Atoms and force field: AMBER prmtop/parm7, GROMACS top, CHARMM psf with system.parameters, or an OpenMM System as XmlSerializer writes it, whose cutoffs, thermostats and barostats are ignored. Files compressed with gzip, bzip2, xz or zstd are read directly. The path is relative to the folder of the input file."),
    key("coordinates", File, "\"dhfr.rst7.gz\"")
        .default(Required)
        .doc("Positions and, if the format has them, velocities and periodic cell, in the order of the topology: AMBER rst7 or NetCDF restart, GROMACS gro or g96, CHARMM crd, an OpenMM State (XML), PDB or PDBx/mmCIF (the first model), or the checkpoint.md of another run."),
    key("include", Folders, "[\"toppar\"]")
        .default(Is("[]"))
        .doc("Folders in which md looks for files that a GROMACS topology includes, after the folder of the topology; the folders of the environment variable GMXLIB and of an installed GROMACS follow. Paths are relative to the folder of the input file."),
    key("define", Texts, "[\"FLEXIBLE\"]")
        .default(Is("[]"))
        .doc("Preprocessor macros of a GROMACS topology, like -D of grompp: \"NAME\" or \"NAME=text\". A macro that no file uses is an error."),
    key("parameters", Files, "[\"par_all36m_prot.prm\", \"toppar_water_ions.str\"]")
        .default(Is("[]"))
        .doc("Parameters of a CHARMM topology: prm, str and rtf files of its force field, in the order in which CHARMM reads them; a later file replaces parameters of an earlier one. Paths are relative to the folder of the input file."),
    key("cell", Cell, "[\"6 nm\", \"6 nm\", \"9 nm\"]")
        .doc("Periodic cell, instead of the cell of the coordinates: edges a, b, c, followed by the angles alpha, beta, gamma unless all angles are 90 deg, as in [\"6 nm\", \"6 nm\", \"9 nm\", \"90 deg\", \"90 deg\", \"120 deg\"]. CHARMM cards have no cell; PDB and PDBx/mmCIF files have a cell unless its edges are 1 or 0 angstrom."),
];

static RUN: &[Key] = &[
    key("seed", Integer(0, i64::MAX), "1")
        .words(&["random"])
        .default(Is("1"))
        .doc("Seed of all random numbers, at most 9223372036854775807. Random numbers of thermostats, barostats and Monte Carlo moves depend on the seed and on the initial state of the run: positions, cell, and velocities from a file. Generated velocities depend on the seed only. The same seed with the same files gives the same run, bit for bit on the same machine with the same settings; a run that starts from another state, for example from the end of an earlier run, has independent random numbers. Change the seed for an independent run from the same state. \"random\" draws a seed from the operating system for each new run; the log and effective.toml list the seed as a number, and a continued run keeps the seed."),
    key("device", Text, "\"cpu\"")
        .default(Is("\"auto\""))
        .doc("Device that computes forces: \"auto\", \"cpu\", \"cuda\" or \"cuda:1\". \"auto\" uses the GPU if the GPU supports the system and its initial forces and energies agree with the CPU; log and summary give the reason for the choice. If a requested GPU is missing, or its results do not agree, the run ends with exit code 6."),
    key("threads", Integer(1, 4096), "8")
        .words(&["auto"])
        .default(Is("\"auto\""))
        .doc("Number of worker threads; \"auto\" uses every core that is available to this process."),
    key("pin", Boolean, "true")
        .default(Is("false"))
        .doc("Bind each thread to its own core (CPU affinity), in the order of the cores available to this process. Pinning is faster on a dedicated machine and slower on a shared machine."),
    word("precision", &words::of(&words::PRECISIONS), "\"mixed\"")
        .default(Is("\"mixed\""))
        .doc("Floating-point precision. \"mixed\" computes interactions in 32 bits and sums in 64 bits; \"double\" is the slow reference, which uses 64 bits throughout."),
    word("tuning", &words::of(&words::TUNINGS), "\"measure\"")
        .default(Is("\"model\""))
        .doc("How pair lists and the PME grid are chosen at the requested accuracy. \"model\": by a cost model, with the same choice in every run. \"measure\": the best candidates of the model are timed before the first stage of dynamics, also with other Coulomb cutoffs of the same force error (unless alpha and grid are given); another run may choose differently, but a continued run keeps its choice; on a GPU nothing is timed, and the model chooses only pair lists. \"off\": pair lists for 20 steps and PME of order 4. Log and summary.json list the candidates, the choice and the gain."),
    key("reproducible", Boolean, "false")
        .default(Is("false"))
        .doc("Whether results are identical bit for bit on any number of threads up to 16, at a cost of about a tenth of the speed with 24,000 atoms. Without this option, results are identical bit for bit only in runs with the same number of threads. With either setting, the instruction set changes rounding; to compare different processors, set simd."),
    word("simd", &words::of(&words::SIMD_LEVELS), "\"avx2\"")
        .default(Is("\"auto\""))
        .doc("Instruction set of the CPU kernels; the environment variable MD_SIMD has the same effect."),
    key("max_time", Quantity(WallTime, Range::POSITIVE), "\"23.5 h\"")
        .doc("Wall-clock time after which the run writes a checkpoint and stops with exit code 3; the same command continues. If this key is not set, the run ends with its last stage."),
    key("max_steps", Integer(0, i64::MAX), "1000")
        .doc("Maximum number of steps of each stage, including minimisation. A longer stage ends after this number. If this key is not set, stages have their full length."),
];

static OUTPUT: &[Key] = &[
    key("directory", Folder, "\"out\"")
        .default(Is("\"out\""))
        .doc("Folder for every file of the run, relative to the folder of the input file. The folder is created when the run starts."),
    key("trajectory", Kind::OneOrMore(TRAJECTORY), "{ every = \"10 ps\", file = \"trajectory.h5md\" }")
        .words(&["none"])
        .default(Is("{}"))
        .doc("Trajectory of the dynamics stages. A list writes several files: [{ every = \"10 ps\" }, { file = \"coarse.xtc\", every = \"100 ps\" }]."),
    key("energies", Kind::Table(ENERGIES), "{ every = \"1 ps\" }")
        .words(&["none"])
        .default(Is("{}"))
        .doc("Energy table, energies.csv."),
    key("restraints", Kind::Table(RESTRAINTS), "{ every = \"0.1 ps\" }")
        .words(&["none"])
        .default(Is("{}"))
        .doc("Table of restraints, restraints.csv: value, center, force, energy and work of each restraint. A run without restraints does not write this table."),
    key("checkpoint", Kind::Table(CHECKPOINT), "{ every = \"5 min\" }")
        .default(Is("{}"))
        .doc("Interval between checkpoints, from which a run continues."),
    key("final_gro", Boolean, "true")
        .default(Is("false"))
        .doc("Write the final structure and velocities also to final.gro, in addition to final.rst7 and final.pdb."),
    key("report", Boolean, "false")
        .default(Is("true"))
        .doc("Write report.html at the end of the run: a page with verdicts, pictures, averages and a description of the methods. `md report` writes this page at any time."),
];

static TRAJECTORY: &[Key] = &[
    key("every", Interval, "\"10 ps\"")
        .default(Is("\"10 ps\""))
        .doc("Interval between frames; a time is rounded to whole steps."),
    word("format", &EXTENSIONS, "\"h5md\"")
        .doc("Format of the file; must agree with its extension. If this key is not set, the extension of the file decides. H5MD is also readable as MDTraj HDF5, stores everything, and has a checksum of each frame; TRR and AMBER NetCDF (nc) store positions, velocities and forces; XTC, DCD and PDB store only positions and cells. DCD stores no times: readers assume evenly spaced frames."),
    key("file", Text, "\"trajectory.xtc\"")
        .default(Rule("\"trajectory.h5md\", or with the ending of the format", file_name))
        .doc("Name of the file in the output folder; its extension determines the format."),
    key("velocities", Boolean, "true")
        .default(Is("false"))
        .doc("Write velocities, which are half a step earlier than the positions."),
    key("forces", Boolean, "true").default(Is("false")).doc("Write forces."),
    key("images", Boolean, "true")
        .default(Is("false"))
        .doc("Write image flags: the lattice vectors by which each atom was moved to put whole molecules into the cell. The sum of positions and lattice vectors gives unwrapped positions, for diffusion coefficients."),
    key("precision", Quantity(Length, ROUNDING), "\"0.001 nm\"")
        .words(&["lossless"])
        .default(Rule("\"lossless\"; \"0.001 nm\" for XTC and PDB, which always round", rounding))
        .doc("Largest rounding of positions, for smaller files. Values of at least 0.001 nm round positions to 0.001 nm, and smaller values of at least 0.0001 nm round positions to 0.0001 nm. With still smaller values and with \"lossless\", positions are stored as 32-bit numbers."),
    key("select", Text, "\"not water\"")
        .doc("Selection of the written atoms (default: all). Classes: all protein backbone sidechain nucleic water ion lipid hydrogen heavy. Properties with values: name, resname, element, type, chain, segid, resid, index, molecule; with a comparison: mass, charge, resid, index, molecule. Operators: and, or, not, parentheses. Expansions: byres, same residue as, same molecule as, same chain as, bonded to, around 0.5 nm of, within 0.5 nm of; distances are evaluated once, with the starting positions. docs/selections.md has the details, and md select tries a selection. Molecules are made whole with all of their atoms before the selection."),
];

static ENERGIES: &[Key] = &[key("every", Interval, "\"1 ps\"")
    .default(Is("\"1 ps\""))
    .doc("Interval between rows; a time is rounded to whole steps.")];

static RESTRAINTS: &[Key] = &[key("every", Interval, "\"0.1 ps\"")
    .default(Is("\"0.1 ps\""))
    .doc("Interval between rows; a time is rounded to whole steps.")];

static CHECKPOINT: &[Key] = &[key("every", Quantity(WallTime, Range::POSITIVE), "\"5 min\"")
    .default(Is("\"5 min\""))
    .doc("Wall-clock time between checkpoints; the first two checkpoints of a process are written after at most five seconds each.")];

/// Returns the default name of a trajectory file, whose extension is the value of the key `format`, or else the default
/// format.
fn file_name(table: &Table) -> Option<String> {
    quoted(&format!("trajectory.{}", table.word("format").unwrap_or(EXTENSIONS[0])))
}

/// Returns the default rounding (resolution) of positions, which depends on the format of the trajectory file.
fn rounding(table: &Table) -> Option<String> {
    let rounds = Format::of_name(table.text("file")?).is_ok_and(|format| !format.holds.lossless);
    quoted(if rounds { "0.001 nm" } else { "lossless" })
}

fn quoted(word: &str) -> Option<String> {
    Some(format!("\"{word}\""))
}

/// Returns the key with a dotted path, such as `forces.pme.alpha` or `stage.timestep`.
pub fn find(path: &str) -> Option<&'static Key> {
    let mut names = path.split('.');
    let first = names.next()?;
    let key = ROOT.iter().find(|key| key.name == first)?;
    names.try_fold(key, |key, name| key.children().iter().find(|child| child.name == name))
}

/// Returns the dotted path of the first key with this name, in any table.
pub fn with_name(name: &str) -> Option<String> {
    fn visit(keys: &'static [Key], name: &str) -> Option<String> {
        let here = keys.iter().find(|key| key.name == name).map(|key| key.name.to_owned());
        let below = |key: &Key| Some(format!("{}.{}", key.name, visit(key.children(), name)?));
        here.or_else(|| keys.iter().find_map(below))
    }
    visit(ROOT, name)
}

/// Returns every key with its dotted path. A key whose value is a table comes before the keys of this table.
pub fn all() -> Vec<(String, &'static Key)> {
    fn visit(prefix: &str, keys: &'static [Key], found: &mut Vec<(String, &'static Key)>) {
        for key in keys {
            let path = format!("{prefix}{}", key.name);
            found.push((path.clone(), key));
            visit(&format!("{path}."), key.children(), found);
        }
    }
    let mut found = vec![];
    visit("", ROOT, &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second column of the tables in `coming-from.md` names only existing keys of `md`.
    #[test]
    fn the_page_for_users_of_other_programs_names_keys() {
        const PAGE: &str = include_str!("../../../docs/coming-from.md");
        // code in the page that is not a key of `md`: files of a run or of this repository, commands, and options of
        // commands
        let is_other = |code: &str| {
            ["md ", "--", "\"", "examples/"].iter().any(|start| code.starts_with(start)) || code.ends_with(".csv")
        };
        let (_, options) = PAGE.split_once("\n## GROMACS").expect("a chapter of each program");
        let rows = options.lines().filter(|line| line.starts_with('|')).filter_map(|line| line.split(" | ").nth(1));
        let paths: Vec<String> = all().into_iter().map(|(path, _)| format!(".{path}")).collect();
        let mut named = 0;
        for code in rows.flat_map(|cell| cell.split('`').skip(1).step_by(2)).filter(|code| !is_other(code)) {
            // the code is a single name, or text in which a name precedes each "="
            let texts = code.split('"').step_by(2).collect::<String>();
            let words: Vec<&str> = texts
                .split(|c: char| !(c.is_alphanumeric() || "._=[]".contains(c)))
                .filter(|w| !w.is_empty())
                .collect();
            let names = words.iter().enumerate().filter(|(at, _)| words.len() == 1 || words.get(at + 1) == Some(&"="));
            for name in names.map(|(_, name)| name.trim_matches(['[', ']'])) {
                assert!(paths.iter().any(|path| path.ends_with(&format!(".{name}"))), "{name} in {code}");
                named += 1;
            }
        }
        assert!(named > 100, "{named}");
    }

    #[test]
    fn every_key_is_documented_and_found_by_its_path() {
        for (path, key) in all() {
            assert!(key.doc.ends_with('.'), "{path} has no doc");
            assert!(!key.example.is_empty(), "{path} has no example");
            assert!(std::ptr::eq(find(&path).expect("listed"), key), "{path}");
        }
    }

    #[test]
    fn conditions_name_earlier_keys_and_their_words() {
        fn visit(keys: &'static [Key]) {
            for (index, key) in keys.iter().enumerate() {
                if let Some((name, words)) = key.only {
                    let earlier = keys[..index].iter().find(|other| other.name == name).expect("an earlier key");
                    assert!(words.iter().all(|word| earlier.words.contains(word)), "{}", key.name);
                }
                visit(key.children());
            }
        }
        visit(ROOT);
    }
}
