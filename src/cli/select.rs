//! `md select`: shows which atoms a selection contains.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;

use super::topology;
use crate::convert::open;
use crate::error::{Problem, Result};
use crate::observe::progress::counted;
use crate::observe::trajectory::{Format, FrameSource};
use crate::select::select;
use crate::system::{Name, Topology};

/// Show which atoms a selection contains
#[derive(Debug, Args)]
pub(super) struct Select {
    /// Selection, for example "protein and name CA", or "byres within 0.5 nm of resname LIG" (docs/selections.md).
    /// Distances in the selection are measured in the first frame of FILE
    selection: String,
    /// Topology, structure or trajectory. A selection by distance needs a structure or trajectory
    pub(super) file: PathBuf,
    /// Topology for a FILE without names and bonds. A topology file (a PSF file needs no parameters), a structure, or
    /// an H5MD trajectory of the same atoms
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// Print only the indices of all selected atoms, counted from 0, one on each line
    #[arg(long, conflicts_with = "index")]
    list: bool,
    /// Print only a GROMACS index file (.ndx) with a group of this name; its atoms are counted from 1
    #[arg(long, value_name = "GROUP")]
    index: Option<String>,
}

/// Largest number of residue names in the table; [`ATOMS_SHOWN`] is the largest number of atoms that are listed by
/// name.
const NAMES_SHOWN: usize = 20;
const ATOMS_SHOWN: usize = 10;
/// Number of atoms on a line of an index file, as in files of GROMACS.
const IN_LINE: usize = 15;

impl Select {
    pub(super) fn execute(&self) -> Result<()> {
        let (topology, atoms) = self.atoms()?;
        let text = match &self.index {
            Some(group) => index_group(group, &atoms)?,
            None if self.list => atoms.iter().map(|atom| format!("{atom}\n")).collect(),
            None => description(&topology, &atoms),
        };
        super::print(&text)
    }

    /// Returns the topology and the selected atoms.
    fn atoms(&self) -> Result<(Topology, Vec<u32>)> {
        let is_trajectory = Format::of_file(&self.file).is_ok();
        let named = match &self.topology {
            Some(path) => Some(topology::read(path)?.topology),
            None if is_trajectory => None,
            None => Some(topology::read(&self.file)?.topology),
        };
        let count = named.as_ref().map(|topology| topology.atoms.len());
        let mut source = match open(&self.file, count) {
            Ok(source) => source,
            // the file is a topology, and the names have already been read from the file
            Err(_) if self.topology.is_none() && !is_trajectory => {
                let topology = named.expect("the names of the atoms are read first if the file is not a trajectory");
                let atoms = select(&topology, &self.selection)?;
                return Ok((topology, atoms));
            }
            Err(error) => return Err(error),
        };
        let topology = match named.or_else(|| source.topology().cloned()) {
            Some(topology) => topology,
            None => self.names_of_structure(source.as_ref())?,
        };
        topology::check_frames(source.as_ref(), &self.file)?;
        topology::check(&topology, source.as_ref(), &self.file)?;
        let atoms = topology::select_first(&topology, source.as_mut(), &self.selection)?;
        Ok((topology, atoms))
    }

    /// Returns the names of the atoms in a file whose format is used for structures as well as for trajectories.
    fn names_of_structure(&self, source: &dyn FrameSource) -> Result<Topology> {
        if !source.labels().is_empty() {
            return Ok(topology::read(&self.file)?.topology);
        }
        let problem = Problem::new("this file contains only positions: no names, masses or bonds").in_file(&self.file);
        Err(problem.help("give the topology with --topology").into())
    }
}

/// Returns the text of an index file with one group.
fn index_group(group: &str, atoms: &[u32]) -> Result<String> {
    let is_name = |c: char| !c.is_whitespace() && !['[', ']'].contains(&c);
    if group.trim().is_empty() || !group.trim().chars().all(is_name) {
        let problem = Problem::new(format!("--index: \"{group}\" cannot be the name of a group"));
        return Err(problem.help("use letters, digits and underscores").into());
    }
    let mut text = format!("[ {} ]\n", group.trim());
    for line in atoms.chunks(IN_LINE) {
        let numbers: Vec<String> = line.iter().map(|atom| (atom + 1).to_string()).collect();
        text += &(numbers.join(" ") + "\n");
    }
    Ok(text)
}

/// Returns the number of atoms, a table of residue names, and the first atoms.
fn description(topology: &Topology, atoms: &[u32]) -> String {
    // `counts` has the numbers of residues and atoms for each residue name; `last` is the last residue that was counted
    let mut counts: HashMap<Name, (usize, usize)> = HashMap::new();
    let mut last = None;
    let mut residues = 0;
    for &atom in atoms {
        let residue = topology.atoms[atom as usize].residue;
        let is_new = last.replace(residue) != Some(residue);
        residues += usize::from(is_new);
        let count = counts.entry(topology.residues[residue as usize].name).or_default();
        count.0 += usize::from(is_new);
        count.1 += 1;
    }
    let mut rows: Vec<(Name, (usize, usize))> = counts.into_iter().collect();
    rows.sort_by_key(|&(name, (_, atoms))| (std::cmp::Reverse(atoms), name));
    let mut text =
        format!("atoms        {} of {}, in {}\n", atoms.len(), topology.atoms.len(), counted(residues, "residue"));
    // writing to a String cannot fail
    let _ = writeln!(text, "\nresidue name    residues     atoms");
    for (name, (residues, atoms)) in rows.iter().take(NAMES_SHOWN) {
        let _ = writeln!(text, "{name:<12} {residues:>11} {atoms:>9}");
    }
    if let Some(more) = rows.len().checked_sub(NAMES_SHOWN).filter(|&more| more > 0) {
        let _ = writeln!(text, "and {more} more names");
    }
    let _ = writeln!(text, "\nindex        atom");
    for &atom in atoms.iter().take(ATOMS_SHOWN) {
        let _ = writeln!(text, "{atom:<12} {}", topology.atom_name(atom));
    }
    if let Some(more) = atoms.len().checked_sub(ATOMS_SHOWN).filter(|&more| more > 0) {
        let _ = writeln!(text, "and {more} more atoms; --list prints all");
    }
    text
}
