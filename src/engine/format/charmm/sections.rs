//! The parts of parameter files (`.prm`, `.par`, `.inp`), topologies of residues (`.rtf`, `.top`: only their `MASS` lines) and
//! streams of both (`.str`), told apart by content.
//!
//! Streams have commands `read`, as CHARMM executes them ([`super::stream`]). In a file without these, sections of parameters may
//! also follow residues, as in streams for NAMD whose `read` lines are comments.

use std::path::Path;

use super::Parsed;
use super::lines::{self, Line, Row};
use super::parameters::Parameters;
use super::rows::Reader;
use super::stream;
use crate::error::{Error, Problem};

/// Sections of a parameter file, by the first four letters of their headings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Section {
    Atoms,
    Bonds,
    Angles,
    Dihedrals,
    Impropers,
    Cmap,
    Nonbonded,
    Nbfix,
    /// 10-12 hydrogen bonds, which no present force field has
    HydrogenBonds,
    /// Thole's screening between Drude particles
    Thole,
}

/// Sections whose headings have further words.
const WITH_OPTIONS: [Section; 3] = [Section::Nonbonded, Section::HydrogenBonds, Section::Thole];

impl Section {
    /// The section that a line begins.
    fn begins(line: &Line) -> Option<Self> {
        let section = match line.first().get(..4).unwrap_or_else(|| line.first()) {
            "ATOM" => Section::Atoms,
            "BOND" => Section::Bonds,
            "ANGL" | "THET" => Section::Angles,
            "DIHE" | "PHI" => Section::Dihedrals,
            "IMPR" | "IMPH" => Section::Impropers,
            "CMAP" => Section::Cmap,
            "NONB" | "NBON" => Section::Nonbonded,
            "NBFI" => Section::Nbfix,
            "HBON" => Section::HydrogenBonds,
            "NBTH" | "THOL" => Section::Thole,
            _ => return None,
        };
        (line.words.len() == 1 || WITH_OPTIONS.contains(&section)).then_some(section)
    }
}

/// Reads the files, in their order.
pub(super) fn read(files: &[impl AsRef<Path>]) -> Parsed<Parameters> {
    let mut parameters = Parameters::default();
    for (number, path) in files.iter().enumerate() {
        let path = path.as_ref();
        let bytes = crate::format::read(path).map_err(|error| match error {
            Error::Input(mut problems) if problems.len() == 1 => problems.remove(0),
            other => Problem::new(other.to_string()),
        })?;
        read_file(path, number, &bytes, &mut parameters)?;
    }
    Ok(parameters)
}

fn read_file(path: &Path, number: usize, bytes: &[u8], parameters: &mut Parameters) -> Parsed<()> {
    let lines = lines::split(bytes);
    let mut reader = Reader { file: path, number, parameters };
    if lines.iter().any(stream::is_read) {
        return stream::read(&mut reader, &lines);
    }
    let lines = stream::before_return(&lines);
    let version = lines.first().is_some_and(|line| line.first().bytes().all(|b| b.is_ascii_digit()));
    if version || lines.iter().any(is_of_residues) {
        read_both(&mut reader, lines)
    } else {
        let end = read_parameters(&mut reader, lines)?;
        nothing_behind(&reader, &lines[end..])
    }
}

/// Whether a line is one that only topologies of residues have.
fn is_of_residues(line: &Line) -> bool {
    matches!(line.first(), "RESI" | "PRES")
        || matches!(line.first().get(..4), Some("DECL" | "DEFA" | "AUTO")) && line.words.len() > 1
}

/// Residues and sections of parameters by turns.
fn read_both(reader: &mut Reader<'_>, lines: &[Line]) -> Parsed<()> {
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        if Section::begins(line).is_some() {
            at += read_parameters(reader, &lines[at..])?;
            let behind = lines[at..].iter().position(is_of_residues).map_or(&lines[at..], |next| &lines[at..at + next]);
            nothing_behind(reader, behind)?;
            at += behind.len();
        } else {
            if line.first() == "MASS" {
                reader.mass(line)?;
            } else if stream::decides(line) {
                return Err(stream::not_decided(&Row { file: reader.file, line }));
            }
            at += 1;
        }
    }
    Ok(())
}

/// Refuses sections behind the `END` of parameters, which begins these lines: CHARMM does not read them.
fn nothing_behind(reader: &Reader<'_>, lines: &[Line]) -> Parsed<()> {
    match lines.iter().find(|line| Section::begins(line).is_some()) {
        Some(line) => {
            let problem = Row { file: reader.file, line }.problem("a section behind the END of the parameters");
            Err(problem.help("CHARMM reads nothing behind END: remove the END before it, or what follows"))
        }
        None => Ok(()),
    }
}

pub(super) fn is_end(line: &Line) -> bool {
    line.first() == "END"
}

/// Masses alone, to the `END` or the last line.
pub(super) fn read_residues(reader: &mut Reader<'_>, lines: &[Line]) -> Parsed<()> {
    for line in lines.iter().take_while(|line| !is_end(line)).filter(|line| line.first() == "MASS") {
        reader.mass(line)?;
    }
    Ok(())
}

/// Parameters up to the `END`, or a line of residues, of which the index is returned, or up to the last line.
pub(super) fn read_parameters(reader: &mut Reader<'_>, lines: &[Line]) -> Parsed<usize> {
    let mut section = None;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        if is_end(line) || is_of_residues(line) {
            return Ok(at);
        }
        at += 1;
        if line.first() == "MASS" {
            reader.mass(line)?;
        } else if let Some(begun) = Section::begins(line) {
            section = Some(begun);
            if begun == Section::Nonbonded {
                reader.options(line)?;
            }
        } else if section == Some(Section::Cmap) {
            at += reader.map(line, &lines[at..])?;
        } else if let Some(section) = section {
            reader.row(section, line)?;
        } else if !line.words.iter().all(|word| word.bytes().all(|b| b.is_ascii_digit())) {
            let problem = Row { file: reader.file, line }.problem("expected a section: ATOMS, BONDS, ANGLES, …");
            return Err(problem.help("this is no file of CHARMM parameters, or its title lacks the `*`"));
        }
    }
    Ok(at)
}
