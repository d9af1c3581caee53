//! Reader of the models of a PDB file, one model at a time.
//!
//! Atoms are identified by their order, not by serial numbers, so that serial numbers beyond 99 999 may have any form.
//! If a residue has alternative locations, the reader keeps the location that is first in the file. A cell with edges
//! of 1 Å or zero means that there is no cell. A title may contain the time (ps) and the step as GROMACS writes them,
//! as in `t= 1.00000 step= 500`. Residues whose numbers are asterisks are told apart by the names of their atoms.

use super::lines::{AtomLine, is_known, number, record, residue_number, text};
use super::models::ModelEnds;
use crate::cell::PeriodicCell;
use crate::error::{Parsed, Problem};
use crate::format::alternative::Alternative;
use crate::format::coordinates::{
    Coordinates, FARTHEST, Label, LeftOut, ResidueNumbers, cell_of, has_other_vectors, has_symmetry, is_dummy, scaled,
    too_long,
};
use crate::format::element;
use crate::format::text::without_mark;
use crate::system::{ChainLabel, Name};
use crate::units::ANGSTROM;
use crate::vec3::Vec3;

/// Number of lines that are searched for an atom record if the first line is not a PDB record.
const LOOKED_AT: usize = 100;

/// Number of columns of a residue number.
const RESIDUE_DIGITS: u32 = 4;
/// Columns of the space group in a `CRYST1` record. [`COPIES`] are the columns of the number of copies of the molecule
/// in the cell (Z).
const GROUP: std::ops::Range<usize> = 55..66;
const COPIES: std::ops::Range<usize> = 66..70;

/// Numbers of residues in the order of the file.
struct Numbering {
    printed: ResidueNumbers,
    /// names of the atoms so far in a residue whose number does not fit into its columns; empty for other residues
    names: Vec<Name>,
}

impl Numbering {
    /// Returns the number of the residue of the next atom, `atom`. `last` is the previous atom of the model.
    ///
    /// Some programs write asterisks for a number that does not fit into its columns. A residue then ends where the
    /// name of the residue or the chain changes, or where the name of an atom repeats, and the next residue gets the
    /// next number.
    fn next(&mut self, last: Option<&Label>, atom: &Label, field: &[u8]) -> i32 {
        let printed = self.printed.next(atom.chain, residue_number(field));
        if !field.contains(&b'*') {
            self.names.clear();
            return printed;
        }
        let number = last.map_or(0, |last| last.number);
        let is_same = last.is_some_and(|last| (last.residue, last.chain) == (atom.residue, atom.chain))
            && !self.names.is_empty()
            && !self.names.contains(&atom.name);
        if !is_same {
            self.names.clear();
        }
        self.names.push(atom.name);
        if is_same { number } else { number.saturating_add(1) }
    }
}

/// A model of a PDB file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// title lines of the file, or of the model
    pub title: String,
    /// time in ps; `None` if the title states no time
    pub time: Option<f64>,
    /// steps since the start of the run; `None` if the title states no step
    pub step: Option<i64>,
    /// periodic cell; `None` for a structure without a cell
    pub cell: Option<PeriodicCell>,
    /// whether the model has a CRYST1 record; without this record, the model has the cell of the first model
    pub has_cell_record: bool,
    /// whether the cell belongs to a crystal in which symmetry operations add copies of the atoms to the cell
    pub has_symmetry: bool,
    /// whether the cell has other lattice vectors than the CRYST1 record
    pub has_other_vectors: bool,
    /// positions in nm
    pub positions: Vec<Vec3>,
    /// names and elements of the atoms
    pub labels: Vec<Label>,
    /// number of atoms at alternative locations that were left out
    pub left_out: usize,
}

/// Whether a file with these first bytes is a PDB file. The first line of a PDB file is a PDB record, and its second
/// line is not a number of atoms. The second line is checked because several other formats have a title and then a line
/// with the number of atoms. A file with another first line is also a PDB file if a later line is an atom record with
/// its coordinates in the right columns.
pub fn is_pdb(beginning: &[u8]) -> bool {
    let mut lines =
        without_mark(beginning).split(|&byte| byte == b'\n').skip_while(|line| line.trim_ascii().is_empty());
    let first = lines.next().unwrap_or_default();
    if first.trim_ascii() == b"TITLE" && begins_block(lines.clone()) {
        return false;
    }
    if is_known(&record(first).0) {
        return match lines.find(|line| !line.trim_ascii().is_empty()) {
            Some(second) => {
                !second.trim_ascii_start().first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'-')
            }
            // a file of a single line is a PDB file only if the line is an atom record, because other lines may be the
            // title of a file in another format
            None => is_atom(first),
        };
    }
    let is_other = first.trim_ascii_start().get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"data_"));
    !is_other && lines.take(LOOKED_AT).any(|line| is_atom(line) && AtomLine::new(record(line).1).has_points())
}

/// Whether the lines after a line `TITLE` are those of a block of a GROMOS-96 file (g96): text up to a line `END`, or a
/// text that is no PDB record.
fn begins_block<'a>(mut lines: impl Iterator<Item = &'a [u8]> + Clone) -> bool {
    let is_text = lines.clone().next().is_some_and(|line| !is_known(&record(line).0));
    let has_atoms = lines.clone().take_while(|line| line.trim_ascii() != b"END").any(is_atom);
    !has_atoms && (is_text || lines.any(|line| line.trim_ascii() == b"END"))
}

/// Whether a line is an atom record.
fn is_atom(line: &[u8]) -> bool {
    matches!(&record(line).0, b"ATOM  " | b"HETATM")
}

/// Reads the first model of a file.
pub(in crate::format) fn read_structure(bytes: &[u8]) -> Parsed<Coordinates> {
    let mut first = read_model(bytes)?.coordinates();
    first.left_out.models = model_ends(bytes).len().saturating_sub(1);
    Ok(first)
}

/// Returns the number of bytes from the start of the file to the end of each model.
fn model_ends(bytes: &[u8]) -> Vec<u64> {
    let (mut ends, mut start) = (ModelEnds::default(), 0);
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        ends.line(line, start);
        start += line.len() as u64;
    }
    ends.finish(start)
}

/// Reads all models of a file, which have the same number of atoms.
pub(in crate::format) fn read_models(bytes: &[u8]) -> Parsed<Vec<Coordinates>> {
    let (mut models, mut first, mut before): (Vec<Coordinates>, usize, usize) = (vec![], 0, 0);
    for end in model_ends(bytes) {
        let end = end as usize;
        let at_its_line = |problem: Problem| {
            let line = problem.line.map(|line| line + before);
            Problem { line, ..problem }
        };
        let model = read_model(&bytes[first..end]).map_err(at_its_line)?;
        let whole = models.first();
        if let Some(expected) = whole.map(|whole| whole.positions.len()).filter(|&n| n != model.positions.len()) {
            let (number, found) = (models.len() + 1, model.positions.len());
            let problem = Problem::new(format!("model {number} has {found} atoms, but the first model has {expected}"));
            return Err(problem.at_line(before + 1).help("all frames of a trajectory must have the same atoms"));
        }
        let given = whole.filter(|_| !model.has_cell_record).map(|whole| (whole.cell, whole.left_out.symmetry));
        let mut model = model.coordinates();
        (model.cell, model.left_out.symmetry) = given.unwrap_or((model.cell, model.left_out.symmetry));
        models.push(model);
        before += bytes[first..end].iter().filter(|&&byte| byte == b'\n').count();
        first = end;
    }
    if models.is_empty() { read_structure(bytes).map(|only| vec![only]) } else { Ok(models) }
}

/// Reads the first model in the text of a PDB file.
pub fn read_model(bytes: &[u8]) -> Parsed<Model> {
    let mut model = Model::default();
    let mut alternative = Alternative::default();
    let mut numbers = Numbering { printed: ResidueNumbers::new(RESIDUE_DIGITS), names: vec![] };
    let mut cell_line: Option<usize> = None;
    for (index, line) in without_mark(bytes).split(|&byte| byte == b'\n').enumerate() {
        let (name, line) = record(line);
        let read = match &name {
            b"ATOM  " | b"HETATM" => {
                let atom = AtomLine::new(line);
                match alternative.is_taken(atom.residue(), atom.location()) {
                    true => model.atom(&atom, &mut numbers),
                    false => {
                        model.left_out += 1;
                        Ok(())
                    }
                }
            }
            b"CRYST1" => {
                let found = cell(line).and_then(|cell| match cell_line {
                    Some(first) if cell.0 != model.cell => Err(second_cell(first)),
                    _ => Ok(cell),
                });
                model.has_cell_record = true;
                cell_line = cell_line.or(Some(index + 1));
                let [group, copies] = [GROUP, COPIES].map(|columns| text(line, columns));
                found.map(|(cell, has_other_vectors)| {
                    (model.cell, model.has_other_vectors) = (cell, has_other_vectors);
                    model.has_symmetry = cell.is_some() && has_symmetry(group, copies);
                })
            }
            b"TITLE " => {
                model.title_line(line);
                Ok(())
            }
            b"ENDMDL" => break,
            b"END   " | b"MODEL " if !model.positions.is_empty() => break,
            // a cell between `MODEL` and the end of the model replaces the cell of the file
            b"MODEL " => {
                cell_line = None;
                Ok(())
            }
            _ => Ok(()),
        };
        read.map_err(|problem| problem.at_line(index + 1))?;
    }
    match model.positions.is_empty() {
        true => Err(Problem::new("the file holds no atoms (ATOM or HETATM records)")),
        false => Ok(model),
    }
}

impl Model {
    /// Converts the model to coordinates, which have no step number.
    fn coordinates(self) -> Coordinates {
        let Model { title, time, cell, has_symmetry, has_other_vectors: vectors, positions, labels, left_out, .. } =
            self;
        let left_out = LeftOut { atoms: left_out, symmetry: has_symmetry, vectors, ..LeftOut::default() };
        Coordinates { title, time, positions, velocities: None, cell, labels, left_out }
    }

    fn atom(&mut self, atom: &AtomLine<'_>, numbers: &mut Numbering) -> Parsed<()> {
        let [Some(x), Some(y), Some(z)] = atom.coordinates() else {
            let problem = Problem::new("expected x, y and z of an atom in the columns 31-38, 39-46 and 47-54");
            let help =
                "the columns of PDB files are fixed; perhaps the line is cut off, or a blank is missing or too many";
            return Err(problem.help(help));
        };
        let triple = [x, y, z];
        let position = scaled(&triple, ANGSTROM, FARTHEST).ok_or_else(|| too_long(self.positions.len(), &triple))?;
        self.positions.push(position);
        let [chain, segment] = [atom.chain(), atom.segment()].map(Name::new);
        let label = Label {
            name: Name::new(atom.name()),
            element: element::number(atom.symbol()),
            chain: ChainLabel { chain, segment, insertion_code: atom.insertion_code().chars().next() },
            ..Label::default()
        };
        let label = label.in_residue(atom.residue_name(), atom.residue_number(), atom.residue());
        let number = numbers.next(self.labels.last(), &label, atom.residue_number());
        self.labels.push(Label { number, ..label });
        Ok(())
    }

    fn title_line(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line.get(9..).unwrap_or_default()).into_owned();
        // returns the text after a word, with or without a blank after the word
        let after = |word: &str| line.rsplit_once(word)?.1.split_ascii_whitespace().next();
        if let Some(time) = after(" t=").and_then(|time| time.parse::<f64>().ok()).filter(|time| time.is_finite()) {
            self.time = Some(time);
            self.step = after(" step=").and_then(|step| step.parse().ok());
        }
        if !self.title.is_empty() {
            self.title.push(' ');
        }
        self.title.push_str(line.trim());
    }
}

fn second_cell(first: usize) -> Problem {
    let problem =
        Problem::new(format!("a second CRYST1 record with another cell, the first record is in line {first}"));
    problem.help("remove one of the two records; a model has only one cell")
}

/// Returns the cell of a CRYST1 record, and whether the cell has other lattice vectors than the record. There is no
/// cell if the record is a placeholder.
fn cell(line: &[u8]) -> Parsed<(Option<PeriodicCell>, bool)> {
    let wrong =
        || Problem::new("expected three edges (columns 7-33) and three angles (columns 34-54) that form a cell");
    let columns = [6..15, 15..24, 24..33, 33..40, 40..47, 47..54].map(|columns| number(line, columns));
    let [Some(a), Some(b), Some(c), Some(alpha), Some(beta), Some(gamma)] = columns else { return Err(wrong()) };
    let lengths = [a, b, c];
    if is_dummy(lengths) {
        return Ok((None, false));
    }
    let (lengths, angles) = (lengths.map(|length| length * ANGSTROM), [alpha, beta, gamma]);
    let found = cell_of(lengths, angles).ok_or_else(wrong)?;
    Ok((Some(found), has_other_vectors(&found, lengths, angles)))
}
