//! `md info`: what a file contains.

use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;

use super::outputs;
use crate::cell::PeriodicCell;
use crate::error::{Error, Problem, Result};
use crate::format::{self, AmberTopology, Coordinates};
use crate::observe::energies::TABLE_START;
use crate::observe::trajectory::Format;
use crate::system::{CombinationRule, Molecules, Nonbonded, Topology};
use crate::units::DENSITY;

/// Say what a file contains: topology, coordinates, or what a run wrote
#[derive(Debug, Args)]
pub(super) struct Info {
    /// AMBER prmtop, rst7 or NetCDF restart, compressed or not; H5MD, XTC or DCD trajectory; checkpoint, summary, status or
    /// energy table of a run
    file: PathBuf,
}

impl Info {
    /// What it reads.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    pub(super) fn execute(&self) -> Result<()> {
        super::print(&describe(&self.file)?)
    }
}

/// Files are told apart by how they begin, not by their names.
fn describe(path: &Path) -> Result<String> {
    let beginning = beginning(path);
    if let Ok(format) = Format::of_file(path) {
        return outputs::trajectory(path, format);
    }
    if beginning.starts_with(b"MDCHECKP") {
        return outputs::checkpoint(path);
    }
    let bytes = format::read(path)?;
    match bytes.trim_ascii_start() {
        // AMBER topologies begin with %VERSION or, without it, with %FLAG
        [b'%', ..] => Ok(topology(&format::read_prmtop(path)?)),
        [b'{', ..] if contains(&bytes, "\"stage_number\"") => outputs::status(path),
        [b'{', ..] => outputs::summary(path),
        text if text.starts_with(TABLE_START.as_bytes()) => outputs::energies(path),
        _ => format::read_coordinates(path, None, None).map(|found| coordinates(&found)).map_err(perhaps_unknown),
    }
}

/// A file that is not what was tried last may be anything.
fn perhaps_unknown(error: Error) -> Error {
    let add = |problem: Problem| {
        let help = problem.help.iter().map(String::as_str).chain([KNOWN]).collect::<Vec<_>>().join("; ");
        problem.help(help)
    };
    match error {
        Error::Input(problems) => Error::Input(problems.into_iter().map(add).collect()),
        other => other,
    }
}

const KNOWN: &str = "md info knows AMBER prmtop, rst7 and NetCDF restart files, trajectories (H5MD, XTC, DCD), and of a run \
    checkpoint.md, summary.json, status.json and energies.csv; the other files of a run are text";

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// The first bytes: a trajectory may be larger than memory. Nothing where the file cannot be read; the reader that is
/// tried next says why.
fn beginning(path: &Path) -> Vec<u8> {
    let mut bytes = vec![];
    if let Ok(file) = format::file::open(path) {
        let _ = file.take(8).read_to_end(&mut bytes);
    }
    bytes
}

// Writing to a String cannot fail: results of `writeln!` are dropped below.

fn topology(amber: &AmberTopology) -> String {
    let (topology, bonded) = (&amber.topology, &amber.topology.bonded);
    let mut text = format!("AMBER topology{}\n", if amber.chamber { " of a CHARMM force field (CHAMBER)" } else { "" });
    let _ = writeln!(text, "title        {}", topology.title.trim());
    let _ = writeln!(text, "contents     {}", contents(topology));
    let counts = [
        ("bonds", bonded.bonds.len()),
        ("angles", bonded.angles.len()),
        ("Urey-Bradley", bonded.urey_bradleys.len()),
        ("propers", bonded.propers.len()),
        ("impropers", bonded.impropers.len() + bonded.harmonic_impropers.len()),
        ("cmaps", bonded.cmaps.len()),
        ("1-4 pairs", bonded.pairs14.len()),
        ("exclusions", topology.exclusions.len()),
    ];
    let terms: Vec<String> = counts.iter().filter(|c| c.1 > 0).map(|(name, count)| format!("{count} {name}")).collect();
    let _ = writeln!(text, "terms        {}", terms.join(", "));
    let _ = writeln!(text, "LJ types     {}, {}", amber.nonbonded.types, combination(&amber.nonbonded));
    let _ = writeln!(text, "box          {:?}; the coordinate file decides its size", amber.cell_hint.kind);
    text
}

/// The rule that gives most pairs of Lennard-Jones types, and how many it does not give.
fn combination(nonbonded: &Nonbonded) -> String {
    let types: Vec<u32> = (0..nonbonded.types as u32).collect();
    let pairs = types.len() * types.len().saturating_sub(1) / 2;
    let rules =
        [(CombinationRule::Geometric, "geometric rule"), (CombinationRule::LorentzBerthelot, "Lorentz-Berthelot rule")];
    let found = rules.map(|(rule, name)| (nonbonded.exceptions(rule, &types).map_or(usize::MAX, |e| e.len()), name));
    match found.into_iter().min_by_key(|&(exceptions, _)| exceptions) {
        Some((0, name)) => name.to_owned(),
        Some((exceptions, name)) if 2 * exceptions < pairs => {
            format!("{name} but for {exceptions} of {pairs} pairs")
        }
        _ => "no combination rule (table)".to_owned(),
    }
}

/// Counts, mass and charge of a topology on one line.
pub(super) fn contents(topology: &Topology) -> String {
    let waters = (0..topology.residues.len()).filter(|&residue| topology.is_water(residue)).count();
    let molecules = Molecules::from_bonds(topology.atoms.len(), &topology.connectivity).len();
    let mass: f64 = topology.atoms.iter().map(|atom| atom.mass).sum();
    let charge: f64 = topology.atoms.iter().map(|atom| atom.charge).sum();
    // adding zero turns the rounded -0 into 0
    let charge = (charge * 1e4).round() / 1e4 + 0.0;
    format!(
        "{} atoms, {} residues, {molecules} molecules, {waters} waters; {mass:.2} amu, net charge {charge} e",
        topology.atoms.len(),
        topology.residues.len()
    )
}

fn coordinates(coordinates: &Coordinates) -> String {
    let mut text = String::from("AMBER coordinates\n");
    let _ = writeln!(text, "title        {}", coordinates.title.trim());
    let _ = writeln!(text, "atoms        {}", coordinates.positions.len());
    if let Some(time) = coordinates.time {
        let _ = writeln!(text, "time         {time} ps");
    }
    let _ = writeln!(text, "velocities   {}", if coordinates.velocities.is_some() { "yes" } else { "no" });
    let _ = writeln!(text, "cell         {}", coordinates.cell.map_or("none".to_owned(), |cell| cell_line(&cell)));
    text
}

/// Edges, angles, volume and largest cutoff on one line.
pub(super) fn cell_line(cell: &PeriodicCell) -> String {
    let ([a, b, c], [alpha, beta, gamma]) = cell.lengths_angles();
    format!(
        "{a:.4} x {b:.4} x {c:.4} nm, angles {alpha:.2} {beta:.2} {gamma:.2} deg, {:.3} nm3, cutoff up to {:.4} nm",
        cell.volume(),
        cell.max_cutoff()
    )
}

/// Mass density in g/cm³.
pub(super) fn density(topology: &Topology, cell: &PeriodicCell) -> f64 {
    topology.atoms.iter().map(|atom| atom.mass).sum::<f64>() / cell.volume() * DENSITY
}
