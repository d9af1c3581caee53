//! Streams of CHARMM commands. The reader reads the same parts of a stream as CHARMM. Each part begins with `read …
//! card` and ends with `END`.
//!
//! Apart from `read`, two kinds of commands influence the parameters: commands that name further files, and commands
//! that decide whether a `read` is executed. As in CHARMM, nothing after `RETURN` or `STOP` is read. Parts of a stream
//! that depend on `IF` or `GOTO` are refused, because the reader does not evaluate conditions.

use super::Parsed;
use super::lines::{Line, Row};
use super::rows::Reader;
use super::sections::{is_end, read_parameters, read_residues};
use crate::error::Problem;

/// Contents of the part of a stream that follows a `read` command.
#[derive(Clone, Copy, PartialEq)]
enum Content {
    Residues,
    Parameters,
}

fn content(line: &Line) -> Option<Content> {
    match (line.first(), line.words.get(1).map(String::as_str)) {
        ("READ", Some("RTF")) => Some(Content::Residues),
        ("READ", Some(word)) if word.starts_with("PARA") => Some(Content::Parameters),
        _ => None,
    }
}

/// Whether a line is a `read` command for a part of the stream.
pub(super) fn is_read(line: &Line) -> bool {
    content(line).is_some()
}

/// Whether a line ends the stream. Inside a block of `IF … THEN`, the line ends the stream only if the condition of
/// the block holds.
fn ends(line: &Line) -> bool {
    matches!(line.first(), "RETURN" | "STOP") && line.words.len() == 1
}

/// Returns the lines before the `RETURN` or `STOP` that ends the stream.
pub(super) fn before_return(lines: &[Line]) -> &[Line] {
    &lines[..lines.iter().position(ends).unwrap_or(lines.len())]
}

/// Whether a line is a condition (`IF`) that contains one of the given words.
fn is_condition(line: &Line, before: &[&str]) -> bool {
    line.first() == "IF" && line.words.iter().any(|word| before.contains(&word.as_str()))
}

/// Whether the line contains a condition or jump that decides which of the following commands are executed.
pub(super) fn decides(line: &Line) -> bool {
    line.first() == "GOTO" || is_condition(line, &["THEN", "GOTO", "RETURN", "STOP"])
}

/// Returns the error for parts of a stream that depend on the condition in a line.
pub(super) fn not_decided(row: &Row<'_>) -> Problem {
    let problem = row.problem(format!("the parts to read depend on the condition {}", row.line.words.join(" ")));
    problem.help("md does not evaluate conditions: write the parts that apply into a file without conditions")
}

/// Reads the parts of a stream that CHARMM would read.
pub(super) fn read(reader: &mut Reader<'_>, lines: &[Line]) -> Parsed<()> {
    let mut at = 0;
    // open blocks of `IF … THEN`, and the last jump, `RETURN` or `STOP` that depends on a condition
    let (mut blocks, mut jump): (Vec<&Line>, Option<&Line>) = (vec![], None);
    while let Some(line) = lines.get(at) {
        at += 1;
        let row = Row { file: reader.file, line };
        let content = content(line);
        let elsewhere = content.is_some() && line.words.iter().any(|word| matches!(word.as_str(), "UNIT" | "NAME"));
        if line.first() == "STREAM" || elsewhere {
            let problem = row.problem(format!("{} reads another file", line.words.join(" ")));
            return Err(problem.help("list the other file in system.parameters instead of this file"));
        } else if is_condition(line, &["READ", "STREAM"]) {
            return Err(not_decided(&row));
        } else if is_condition(line, &["THEN"]) {
            blocks.push(line);
        } else if line.first() == "ENDIF" {
            blocks.pop();
        } else if ends(line) && blocks.is_empty() && jump.is_none() {
            return Ok(());
        } else if ends(line) || decides(line) {
            jump = Some(line);
        }
        let Some(content) = content else { continue };
        if let Some(line) = blocks.first().copied().or(jump) {
            return Err(not_decided(&Row { file: reader.file, line }));
        }
        let part = &lines[at..];
        let end = match content {
            Content::Residues => {
                read_residues(reader, part)?;
                part.iter().position(is_end)
            }
            Content::Parameters => {
                Some(read_parameters(reader, part)?).filter(|&end| part.get(end).is_some_and(is_end))
            }
        };
        let no_end = || row.problem("the section that begins here has no END").help("the file seems cut off");
        at += end.ok_or_else(no_end)? + 1;
    }
    Ok(())
}
