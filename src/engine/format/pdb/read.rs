//! Reads the models of a file, one at a time.
//!
//! Atoms are counted, so serial numbers beyond 99 999 may be anything. Of alternative locations in a residue the first that
//! comes is taken. A cell whose edges are 1 Å, or zero, stands for none. A title may hold time and step as GROMACS writes
//! them: `t= 1.00000 step= 500`.

use crate::cell::PeriodicCell;
use crate::error::Problem;
use crate::format::alternative::Alternative;
use crate::format::coordinates::{Coordinates, FARTHEST, Label, cell_of, is_dummy, scaled, too_long};
use crate::format::element;
use crate::system::Name;
use crate::units::ANGSTROM;
use crate::vec3::Vec3;

type Parsed<T> = std::result::Result<T, Problem>;

/// Records a file may begin with.
const FIRST: [&[u8]; 22] = [
    b"ATOM  ", b"HETATM", b"MODEL ", b"CRYST1", b"TITLE ", b"HEADER", b"REMARK", b"COMPND", b"OBSLTE", b"SPLIT ",
    b"CAVEAT", b"SOURCE", b"KEYWDS", b"EXPDTA", b"NUMMDL", b"MDLTYP", b"AUTHOR", b"REVDAT", b"SPRSDE", b"JRNL  ",
    b"SEQRES", b"USER  ",
];

/// One model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// title lines of the file, or of the model
    pub title: String,
    /// ps
    pub time: Option<f64>,
    /// since the start of the run
    pub step: Option<i64>,
    /// lattice, where there is one
    pub cell: Option<PeriodicCell>,
    /// whether there is a CRYST1 record; without one the cell of the first model holds
    pub has_cell_record: bool,
    /// nm
    pub positions: Vec<Vec3>,
    /// names and elements
    pub labels: Vec<Label>,
}

/// Whether a file with these first bytes is a PDB file: its first line is one of the records, and the second is not the
/// number of atoms, as under the title of other formats.
pub fn is_pdb(beginning: &[u8]) -> bool {
    let mut lines = beginning.split(|&byte| byte == b'\n');
    let first = lines.next().map(record_name);
    let is_record = first.is_some_and(|first| FIRST.contains(&first.as_slice()));
    let second = lines.next().unwrap_or_default().trim_ascii();
    is_record && !second.first().is_some_and(u8::is_ascii_digit)
}

/// The first six columns of a line, blank where it is shorter.
fn record_name(line: &[u8]) -> [u8; 6] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    std::array::from_fn(|i| line.get(i).copied().unwrap_or(b' '))
}

/// Reads the first model of a file.
pub(in crate::format) fn read_structure(bytes: &[u8]) -> Parsed<Coordinates> {
    let Model { title, time, cell, positions, labels, .. } = read_model(bytes)?;
    Ok(Coordinates { title, time, positions, velocities: None, cell, labels })
}

/// Reads the first model of some lines.
pub fn read_model(bytes: &[u8]) -> Parsed<Model> {
    let mut model = Model::default();
    let mut alternative = Alternative::default();
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let read = match &record_name(line) {
            b"ATOM  " | b"HETATM" if alternative.is_taken(residue(line), location(line)) => model.atom(line),
            b"CRYST1" => {
                model.has_cell_record = true;
                cell(line).map(|cell| model.cell = cell)
            }
            b"TITLE " => {
                model.title_line(line);
                Ok(())
            }
            b"ENDMDL" => break,
            b"END   " if !model.positions.is_empty() => break,
            _ => Ok(()),
        };
        read.map_err(|problem| problem.at_line(index + 1))?;
    }
    match model.positions.is_empty() {
        true => Err(Problem::new("the file holds no atoms (ATOM or HETATM records)")),
        false => Ok(model),
    }
}

/// Chain, number and insertion code of the residue of an atom.
fn residue(line: &[u8]) -> &[u8] {
    line.get(21..27).unwrap_or_default()
}

/// Name of the alternative location of an atom; empty where there is none.
fn location(line: &[u8]) -> &[u8] {
    line.get(16..17).unwrap_or_default().trim_ascii()
}

impl Model {
    fn atom(&mut self, line: &[u8]) -> Parsed<()> {
        let numbers = [30..38, 38..46, 46..54].map(|columns| number(line, columns));
        let [Some(x), Some(y), Some(z)] = numbers else {
            let problem = Problem::new("expected x, y and z of an atom in the columns 31-38, 39-46 and 47-54");
            return Err(problem.help("the columns of PDB files are fixed; perhaps the line is cut off"));
        };
        let triple = [x, y, z];
        let position = scaled(&triple, ANGSTROM, FARTHEST).ok_or_else(|| too_long(self.positions.len(), &triple))?;
        self.positions.push(position);
        let name = Name::new(text(line, 12..16));
        let label = Label { name, element: element::number(text(line, 76..78)), ..Label::default() };
        let of = |columns| line.get(columns).unwrap_or_default();
        self.labels.push(label.in_residue(of(17..21), of(22..26), residue(line)));
        Ok(())
    }

    fn title_line(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line.get(9..).unwrap_or_default()).into_owned();
        // what follows a word, with or without a blank between
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

/// The text in some columns, 0-based; empty where there is none or it is not ASCII.
fn text(line: &[u8], columns: std::ops::Range<usize>) -> &str {
    let found = line.get(columns.start..columns.end.min(line.len())).unwrap_or_default();
    std::str::from_utf8(found).unwrap_or_default().trim()
}

fn number(line: &[u8], columns: std::ops::Range<usize>) -> Option<f64> {
    text(line, columns).parse().ok().filter(|value: &f64| value.is_finite())
}

/// The cell of a CRYST1 record.
fn cell(line: &[u8]) -> Parsed<Option<PeriodicCell>> {
    let wrong =
        || Problem::new("expected three edges (columns 7-33) and three angles (columns 34-54) that make a cell");
    let columns = [6..15, 15..24, 24..33, 33..40, 40..47, 47..54].map(|columns| number(line, columns));
    let [Some(a), Some(b), Some(c), Some(alpha), Some(beta), Some(gamma)] = columns else { return Err(wrong()) };
    let lengths = [a, b, c];
    if is_dummy(lengths) {
        return Ok(None);
    }
    let found = cell_of(lengths.map(|length| length * ANGSTROM), [alpha, beta, gamma]);
    found.map(Some).ok_or_else(wrong)
}
