//! `md info`: describes the contents of a file.

pub(super) mod run_files;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use super::input::gromacs_folders;
use crate::cell::PeriodicCell;
use crate::error::{Error, Problem, Result};
use crate::format::known::{COORDINATES, Format, TOPOLOGIES, recognise};
use crate::format::{self, Coordinates, TopologyOptions};
use crate::observe::checkpoint::is_checkpoint;
use crate::observe::energies::TABLE_START;
use crate::observe::files::{ENSEMBLE, EXCHANGE, LOG, REPORT};
use crate::observe::trajectory;
use crate::system::{BoxKind, CombinationRule, Description, Nonbonded, Topology};

/// Describe a file: topology, coordinates, or output of a run
#[derive(Debug, Args)]
pub(super) struct Info {
    /// Topology or coordinates, compressed or not: AMBER prmtop, rst7 or NetCDF restart, GROMACS top, gro or g96,
    /// CHARMM psf or crd, OpenMM system or state (XML), PDB, PDBx/mmCIF. Trajectory: H5MD, XTC, DCD, TRR, AMBER NetCDF
    /// or PDB. Output of a run: checkpoint, summary, status or energy table
    pub(super) file: PathBuf,
}

impl Info {
    pub(super) fn execute(&self) -> Result<()> {
        super::describe(&describe(&self.file)?)
    }
}

/// Describes a file. The format is recognised by the first bytes, not by the name.
fn describe(path: &Path) -> Result<String> {
    if let Ok(format) = trajectory::Format::of_file(path)
        && !is_single_model(path, format)
    {
        return run_files::trajectory(path, format);
    }
    if is_checkpoint(path) {
        return run_files::checkpoint(path);
    }
    if path.extension().is_some_and(|ending| ending == "toml") {
        let problem = Problem::new("the file is an input file of md or another TOML file").in_file(path);
        return Err(perhaps_unknown(problem.help("`md check` describes the run of an input file")));
    }
    trajectory::refuse_compressed(path)?;
    let bytes = format::read(path)?;
    if let Ok(format) = recognise(TOPOLOGIES, "topology", &bytes) {
        let options = TopologyOptions { include: gromacs_folders(), ..TopologyOptions::default() };
        if bytes.starts_with(b"PSF") {
            return Ok(without_parameters(format.name, &format::read_names(path, &options)?.topology));
        }
        return Ok(topology(format.name, &(format.read)(path, &bytes, &options)?));
    }
    if let Some((_, what)) = TEXTS.iter().find(|(name, _)| path.file_name().is_some_and(|found| found == *name)) {
        let problem = Problem::new("md info does not describe this file of a run").in_file(path);
        return Err(problem.help(format!("it is {what}")).into());
    }
    match bytes.trim_ascii_start() {
        [b'{', ..] => record(path, &bytes),
        text if text.starts_with(TABLE_START.as_bytes()) => run_files::energies(path),
        _ => recognise(COORDINATES, "coordinate", &bytes)
            .and_then(|format| (format.read)(&bytes, None).map(|found| coordinates(format.name, &found)))
            .map_err(|problem| perhaps_unknown(problem.in_file(path))),
    }
}

/// Whether a file in a trajectory format is a structure: a PDB file of one model.
fn is_single_model(path: &Path, format: &trajectory::Format) -> bool {
    format.extension == "pdb" && format.files.open(path).is_ok_and(|trajectory| trajectory.frames() == 1)
}

/// Files of a run that are read as text, with their contents.
const TEXTS: [(&str, &str); 6] = [
    (LOG, "the log of a run: read it as text"),
    ("ensemble.log", "the log of the replicas: read it as text"),
    (ENSEMBLE, "the state of the replicas: replica-1/summary.json and replica-1/status.json describe one of them"),
    (EXCHANGE, "the table of exchange attempts: read it as text; `md demux` sorts trajectories by state"),
    (REPORT, "the page about a run: open it in a browser"),
    (".md.lock", "the lock of the folder: it names the process of the last run"),
];

/// Describes a JSON file of a run. A status has the number of the current stage, and a summary has the simulated time.
fn record(path: &Path, bytes: &[u8]) -> Result<String> {
    let fields: serde_json::Value = serde_json::from_slice(bytes)
        .map_err(|e| Problem::new(format!("the file begins like JSON, but is not valid JSON: {e}")).in_file(path))
        .map_err(perhaps_unknown)?;
    if fields.get("stage_number").is_some() {
        return run_files::status(path);
    }
    if fields.get("simulated_ps").is_some() {
        return run_files::summary(path);
    }
    Err(perhaps_unknown(Problem::new("the JSON file is neither a summary nor a status of a run").in_file(path)))
}

/// Adds the list of formats known to `md info` to the help text of a problem. The problem comes from the reader that
/// was tried last.
fn perhaps_unknown(problem: Problem) -> Error {
    fn names<R>(formats: &[Format<R>]) -> impl Iterator<Item = &'static str> {
        formats.iter().map(|format| format.name)
    }
    let inputs: Vec<&str> = names(TOPOLOGIES).chain(names(COORDINATES)).collect();
    let known = format!("md info reads {OF_A_RUN}, {}", inputs.join(", "));
    // the help of an unknown format lists the formats of coordinates, which are also in this list
    let own = problem.help.iter().filter(|_| !problem.message.starts_with(UNKNOWN)).cloned();
    let help = own.chain([known]).collect::<Vec<_>>().join("; ");
    problem.help(help).into()
}

/// Beginning of the message about an unknown format.
const UNKNOWN: &str = "unknown format";
const OF_A_RUN: &str = "checkpoint.md, summary.json, status.json, energies.csv, restraints.csv and minimisation.csv of a \
                        run, trajectories (H5MD, XTC, DCD, TRR, AMBER NetCDF, PDB)";

// The results of `writeln!` are dropped below, because writing to a String cannot fail.

fn topology(format: &str, description: &Description) -> String {
    let topology = &description.topology;
    let mut text = format!("{format}{}\n", if topology.charmm { " of a CHARMM force field" } else { "" });
    text.push_str(&titled(&topology.title));
    let _ = writeln!(text, "contents     {}", contents(topology));
    let mut counts = topology.bonded.counts();
    counts.push(("exclusions", topology.exclusions.len()));
    let terms: Vec<String> = counts.iter().filter(|c| c.1 > 0).map(|(name, count)| format!("{count} {name}")).collect();
    let _ = writeln!(text, "terms        {}", terms.join(", "));
    let _ = writeln!(text, "LJ types     {}, {}", description.nonbonded.types, combination(&description.nonbonded));
    let types = description.nonbonded.types;
    let dipoles = (0..types).flat_map(|a| (0..=a).map(move |b| [a as u32, b as u32]));
    let dipoles = dipoles.filter(|&[a, b]| description.nonbonded.c4(a, b) != 0.0).count();
    if dipoles > 0 {
        let _ = writeln!(text, "12-6-4 ions  {dipoles} pairs of types with r^-4 terms");
    }
    let shape = match description.cell_hint.kind {
        BoxKind::None => "no box in this file; the coordinate file decides whether there is a box",
        BoxKind::Rectangular => "rectangular; the coordinate file decides its size",
        BoxKind::TruncatedOctahedron => "truncated octahedron; the coordinate file decides its size",
        BoxKind::Triclinic => "triclinic; the coordinate file decides its size",
    };
    let _ = writeln!(text, "box          {shape}");
    text
}

/// Describes a topology whose parameters are in other files.
fn without_parameters(format: &str, topology: &Topology) -> String {
    let (title, contents) = (topology.title.trim(), contents(topology));
    format!(
        "{format}\ntitle        {title}\ncontents     {contents}\nbonds        {}\nparameters   none in this file: \
         list the parameter files of its force field in system.parameters\n",
        topology.connectivity.len()
    )
}

/// Describes the Lennard-Jones combination rule that holds for most pairs of types, and the number of pairs for which
/// the rule does not hold.
fn combination(nonbonded: &Nonbonded) -> String {
    let types: Vec<u32> = (0..nonbonded.types as u32).collect();
    let pairs = types.len() * types.len().saturating_sub(1) / 2;
    let rules =
        [(CombinationRule::Geometric, "geometric rule"), (CombinationRule::LorentzBerthelot, "Lorentz-Berthelot rule")];
    let found = rules.map(|(rule, name)| (nonbonded.exceptions(rule, &types).map_or(usize::MAX, |e| e.len()), name));
    match found.into_iter().min_by_key(|&(exceptions, _)| exceptions) {
        Some((0, name)) => name.to_owned(),
        Some((exceptions, name)) if 2 * exceptions < pairs => {
            format!("{name} except for {exceptions} of {pairs} pairs")
        }
        _ => "no combination rule (table)".to_owned(),
    }
}

/// Describes the numbers of atoms, residues and molecules, the mass and the charge of a topology on one line.
pub(super) fn contents(topology: &Topology) -> String {
    let waters = (0..topology.residues.len()).filter(|&residue| topology.is_water(residue)).count();
    let molecules = topology.molecules().len();
    let (mass, charge) = (topology.mass(), topology.net_charge());
    format!(
        "{} atoms, {} residues, {molecules} molecules, {waters} waters; {mass:.2} amu, net charge {charge} e",
        topology.atoms.len(),
        topology.residues.len()
    )
}

/// Returns the line of a title; empty if there is no title.
fn titled(title: &str) -> String {
    if title.trim().is_empty() { String::new() } else { format!("title        {}\n", title.trim()) }
}

fn coordinates(format: &str, coordinates: &Coordinates) -> String {
    let mut text = format!("{format}\n");
    text.push_str(&titled(&coordinates.title));
    let _ = writeln!(text, "atoms        {}", coordinates.positions.len());
    if coordinates.left_out.models > 0 {
        let _ = writeln!(text, "models       {}, the first is described", coordinates.left_out.models + 1);
    }
    if let Some(words) = super::topology::left_out(coordinates.left_out.atoms) {
        let _ = writeln!(text, "warning      {words}");
    }
    if coordinates.left_out.symmetry {
        let _ = writeln!(text, "warning      the cell is that of a crystal with a space group other than P 1");
    }
    for words in coordinates.left_out.of_cell() {
        let _ = writeln!(text, "warning      {words}");
    }
    if let Some(time) = coordinates.time {
        let _ = writeln!(text, "time         {time} ps");
    }
    let _ = writeln!(text, "velocities   {}", if coordinates.velocities.is_some() { "yes" } else { "no" });
    let _ = writeln!(text, "cell         {}", coordinates.cell.map_or("none".to_owned(), |cell| cell_line(&cell)));
    text
}

/// Describes edges, angles, volume and largest possible cutoff of a cell on one line.
pub(super) fn cell_line(cell: &PeriodicCell) -> String {
    let ([a, b, c], [alpha, beta, gamma]) = cell.lengths_angles();
    format!(
        "{a:.4} x {b:.4} x {c:.4} nm, angles {alpha:.2} {beta:.2} {gamma:.2} deg, {:.3} nm3, cutoff up to {:.4} nm",
        cell.volume(),
        cell.max_cutoff()
    )
}
