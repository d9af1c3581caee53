//! Sections of parameter files (`.prm`, `.par`, `.inp`), of residue topologies (`.rtf`, `.top`) and of streams that
//! contain parameters and residues (`.str`). The kind of a file is recognised by its contents. This module reads only
//! the `MASS` lines of residue topologies, and [`super::residues`] reads the residues.
//!
//! Streams have `read` commands, which are interpreted as in CHARMM ([`super::stream`]). In a file without `read`
//! commands, parameter sections may also follow residues. In streams for NAMD, the `read` lines are comments, so that
//! these streams have no `read` commands.

use std::path::Path;

use super::Parsed;
use super::lines::{self, Line, Row};
use super::parameters::Parameters;
use super::rows::Reader;
use super::stream;
use crate::error::{Error, Problem};

/// Sections of a parameter file, recognised by the first four letters of their headings.
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
    /// 10-12 hydrogen-bond terms, which current force fields do not use
    HydrogenBonds,
    /// Thole's screening of the interaction between Drude particles
    Thole,
}

/// Sections whose headings may have options after the name of the section.
const WITH_OPTIONS: [Section; 3] = [Section::Nonbonded, Section::HydrogenBonds, Section::Thole];

impl Section {
    /// Returns the section that begins with a line; `None` if the line is no heading.
    pub(super) fn begins(line: &Line) -> Option<Self> {
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

/// Reads the parameters of all files, in the order of the files.
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

/// Reads the parameters of one file. `number` is the index of the file in the list of parameter files.
pub(super) fn read_file(path: &Path, number: usize, bytes: &[u8], parameters: &mut Parameters) -> Parsed<()> {
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

/// Whether a line begins a residue or a patch, or is another line that occurs only in residue topologies.
fn is_of_residues(line: &Line) -> bool {
    matches!(line.first(), "RESI" | "PRES")
        || matches!(line.first().get(..4), Some("DECL" | "DEFA" | "AUTO")) && line.words.len() > 1
}

/// Reads a file in which residues and parameter sections alternate.
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

/// Returns an error if a section follows the `END` of the parameters. `lines` are the lines from the `END` on. CHARMM
/// does not read sections after the `END`.
fn nothing_behind(reader: &Reader<'_>, lines: &[Line]) -> Parsed<()> {
    match lines.iter().find(|line| Section::begins(line).is_some()) {
        Some(line) => {
            let problem = Row { file: reader.file, line }.problem("a section follows the END of the parameters");
            Err(problem.help("CHARMM reads nothing after END: remove END, or the sections after it"))
        }
        None => Ok(()),
    }
}

pub(super) fn is_end(line: &Line) -> bool {
    line.first() == "END"
}

/// Reads the masses of a residue topology, up to `END` or the last line.
pub(super) fn read_residues(reader: &mut Reader<'_>, lines: &[Line]) -> Parsed<()> {
    for line in lines.iter().take_while(|line| !is_end(line)).filter(|line| line.first() == "MASS") {
        reader.mass(line)?;
    }
    Ok(())
}

/// Reads parameters up to `END`, the first line of a residue topology, or the end of the lines. Returns the index of
/// the line at which reading stopped.
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
            return Err(problem.help("this is not a CHARMM parameter file, or its title lacks the `*`"));
        }
    }
    if let Some(heading) =
        lines.last().filter(|line| Section::begins(line).is_some_and(|last| last != Section::HydrogenBonds))
    {
        let problem = Row { file: reader.file, line: heading }.problem("the file ends after this heading, without END");
        return Err(problem.help("the file may be cut off: copy it again; if the section is empty, add a line END"));
    }
    Ok(at)
}
