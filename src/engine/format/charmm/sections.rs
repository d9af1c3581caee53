//! The parts of parameter files (`.prm`, `.par`, `.inp`), topologies of residues (`.rtf`, `.top`: only their `MASS` lines) and
//! streams of both (`.str`), told apart by content.

use std::path::Path;

use super::Parsed;
use super::lines::{self, Line, Row};
use super::parameters::Parameters;
use super::rows::Reader;
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
    if lines.iter().any(|line| is_read(line).is_some()) {
        return read_stream(&mut reader, &lines);
    }
    let version = lines.first().is_some_and(|line| line.first().bytes().all(|b| b.is_ascii_digit()));
    let residues = lines.iter().any(|line| matches!(line.first(), "RESI" | "PRES"));
    if version || residues {
        read_residues(&mut reader, &lines)
    } else {
        read_parameters(&mut reader, &lines).map(|_| ())
    }
}

/// What a command `read` reads.
#[derive(Clone, Copy, PartialEq)]
enum Content {
    Residues,
    Parameters,
}

fn is_read(line: &Line) -> Option<Content> {
    match (line.first(), line.words.get(1).map(String::as_str)) {
        ("READ", Some("RTF")) => Some(Content::Residues),
        ("READ", Some(word)) if word.starts_with("PARA") => Some(Content::Parameters),
        _ => None,
    }
}

/// Commands between the parts that `read … card` begins and `end` ends have no influence on parameters, but for those that
/// name further files.
fn read_stream(reader: &mut Reader<'_>, lines: &[Line]) -> Parsed<()> {
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let row = Row { file: reader.file, line };
        let elsewhere = line.words.iter().any(|word| matches!(word.as_str(), "UNIT" | "NAME"));
        let content = is_read(line);
        if line.first() == "STREAM" || (content.is_some() && elsewhere) {
            let problem = row.problem(format!("{} reads another file", line.words.join(" ")));
            return Err(problem.help("list that file in system.parameters, in place of this one"));
        }
        let Some(content) = content else { continue };
        let part = &lines[at..];
        let end = if content == Content::Residues {
            read_residues(reader, part)?;
            part.iter().position(is_end)
        } else {
            read_parameters(reader, part)?
        };
        let no_end = || row.problem("the section that begins here has no END").help("the file seems cut off");
        at += end.ok_or_else(no_end)? + 1;
    }
    Ok(())
}

fn is_end(line: &Line) -> bool {
    line.first() == "END"
}

/// Masses alone, to the `END` or the last line.
fn read_residues(reader: &mut Reader<'_>, lines: &[Line]) -> Parsed<()> {
    for line in lines.iter().take_while(|line| !is_end(line)).filter(|line| line.first() == "MASS") {
        reader.mass(line)?;
    }
    Ok(())
}

/// Parameters to the `END`, of which the index is returned, or to the last line.
fn read_parameters(reader: &mut Reader<'_>, lines: &[Line]) -> Parsed<Option<usize>> {
    let mut section = None;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        if is_end(line) {
            return Ok(Some(at - 1));
        }
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
    Ok(None)
}
