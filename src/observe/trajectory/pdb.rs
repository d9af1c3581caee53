//! PDB with several models: positions to 0.001 Å, with names of atoms and residues.
//!
//! A frame that md writes consists of the lines from `MODEL` to `ENDMDL`. In each frame, `TITLE` gives the time and the
//! step in GROMACS's spelling, and `CRYST1` gives the cell. A truncated file therefore loses at most one frame. In
//! files of other programs, the lines before a model belong to the model too. The records that end a model may be
//! absent ([`ModelEnds`]), and a file without models is one frame.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use super::index::Index;
use super::records::{Checked, Created, Facts, Found, Layout, Records};
use super::xdr::go_to;
use super::{Contents, Format, Frame, Holds, StoredFrame};
use crate::cell::PeriodicCell;
use crate::error::Problem;
use crate::format::pdb::{AtomRecords, Model, ModelEnds, is_pdb, read_model};

/// Description of the PDB format, for the list of all formats.
pub(super) const FORMAT: Format = Format {
    name: "PDB",
    extension: "pdb",
    atom_bytes: 82,
    frame_bytes: 256,
    holds: Holds { rounded: true, names: true, ..Holds::POSITIONS },
    files: &Records { name: "PDB", recognises: is_pdb, create: Pdb::create, open: Pdb::open },
};

/// Maximum length of a line in bytes.
const LINE: u64 = 1 << 12;

/// Properties of a PDB file that are the same for all frames.
#[derive(Default)]
struct Pdb {
    atoms: usize,
    /// unit cell of the first frame
    cell: Option<PeriodicCell>,
    /// writer of atom records; `None` if the file is only read
    records: Option<AtomRecords>,
    title: String,
    /// number of models written to the file
    models: u64,
    /// number of lines before each frame of a file that is read
    lines_before: Vec<usize>,
}

/// Finds the byte ranges of the frames of a file. Returns the end of each frame, a description of the damage after the
/// last frame, and the number of lines before each frame.
fn find_models(file: &mut BufReader<File>, length: u64) -> Checked<(Vec<u64>, Option<String>, Vec<usize>)> {
    let (mut models, mut line, mut start, mut damage) = (ModelEnds::default(), vec![], 0, None);
    let (mut lines, mut lines_before) = (0, vec![0]);
    while start < length {
        line.clear();
        file.by_ref().take(LINE).read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
        if line.is_empty() {
            break;
        }
        if line.len() as u64 == LINE {
            damage = Some(format!("byte {start}: a line has more than {LINE} characters"));
            break;
        }
        models.line(&line, start);
        // a model ends before or after this line, or has ended earlier
        let end = start + line.len() as u64;
        if let Some((count, last)) = models.last().filter(|&(_, last)| last >= start) {
            lines_before.resize(count + 1, 0);
            lines_before[count] = if last == end { lines + 1 } else { lines };
        }
        (start, lines) = (end, lines + 1);
    }
    // lines after a damaged line belong to no model
    let ends = if damage.is_some() { models.complete() } else { models.finish(length) };
    Ok((ends, damage, lines_before))
}

/// Describes a problem in a frame. The line of the problem is counted from the first line of the frame, before which
/// the file has `lines_before` lines.
fn described(problem: &Problem, lines_before: usize) -> String {
    match problem.line {
        Some(line) => format!("line {}: {problem}", line + lines_before),
        None => problem.to_string(),
    }
}

impl Pdb {
    fn create(contents: &Contents<'_>) -> Checked<Created> {
        Ok((Box::new(Self::new(contents)?), vec![]))
    }

    /// Creates the layout of a file without models.
    fn new(contents: &Contents<'_>) -> Checked<Self> {
        let atoms = contents.topology.atoms.len();
        if atoms == 0 {
            return Err("the trajectory has no atoms, but a PDB frame has at least one atom".to_owned());
        }
        let records = match contents.placement.selected {
            Some((system, atoms)) => AtomRecords::new(system, atoms.iter().map(|&atom| atom as usize)),
            None => AtomRecords::new(contents.topology, 0..atoms),
        };
        let title: String = contents.topology.title.trim().chars().filter(|c| !c.is_control()).take(30).collect();
        Ok(Self { atoms, records: Some(records), title, ..Self::default() })
    }

    fn open(file: &mut BufReader<File>, length: u64) -> Checked<Found> {
        let (ends, damage, lines_before) = find_models(file, length)?;
        let first = match ends.first() {
            Some(&end) => Self::first(file, end)?,
            None => Model::default(),
        };
        let Model { cell, labels, left_out, time, has_symmetry: is_crystal, has_other_vectors, .. } = first;
        let (atoms, has_times) = (labels.len(), time.is_some());
        let mut index = Index { ends, ..Index::default() };
        if let Some(damage) = damage {
            index.add_damage(damage, length);
        }
        let is_indexed = !has_times;
        let facts =
            Facts { labels, left_out, has_times, is_indexed, is_crystal, has_other_vectors, ..Facts::new(atoms, None) };
        Ok((Box::new(Self { atoms, cell, lines_before, ..Self::default() }), facts, index))
    }

    /// Reads the first frame of a file, with its names and its cell.
    fn first(file: &mut BufReader<File>, end: u64) -> Checked<Model> {
        go_to(file, 0)?;
        let mut bytes = vec![];
        file.by_ref().take(end).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        read_model(&bytes).map_err(|problem| described(&problem, 0))
    }
}

impl Layout for Pdb {
    fn resume(&mut self, contents: &Contents<'_>, count: u64) -> Checked<()> {
        *self = Self { models: count, ..Self::new(contents)? };
        Ok(())
    }

    fn encode(&mut self, frame: &Frame<'_>, placed: &[[f32; 3]], bytes: &mut Vec<u8>) -> Checked<()> {
        let records = self.records.as_ref().ok_or("the file is open for reading")?;
        // a coordinate in Å must fit into eight columns with three decimals
        if !placed.as_flattened().iter().all(|value| (-99.9..999.9).contains(value)) {
            return Err("positions are outside the range of PDB columns, -99.9 to 999.9 nm".to_owned());
        }
        let title = format!("{} t= {:.5} step= {}", self.title, frame.time, frame.step);
        let written = records.write_model(self.models, title.trim_start(), frame.cell.as_ref(), placed, bytes);
        written.map_err(|error| error.to_string())?;
        self.models += 1;
        Ok(())
    }

    fn decode(&self, index: usize, bytes: &[u8], frame: &mut StoredFrame) -> Checked<()> {
        let lines_before = self.lines_before.get(index).copied().unwrap_or_default();
        let model = read_model(bytes).map_err(|problem| described(&problem, lines_before))?;
        if model.positions.len() != self.atoms {
            return Err(format!(
                "the frame has {} atoms, but the first frame has {}",
                model.positions.len(),
                self.atoms
            ));
        }
        frame.clear();
        frame.positions.extend(&model.positions);
        frame.cell = if model.has_cell_record { model.cell } else { self.cell };
        frame.time = model.time.unwrap_or(index as f64);
        frame.step = model.step.unwrap_or(index as i64);
        Ok(())
    }
}
