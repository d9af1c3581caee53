//! PSF files of CHARMM, X-PLOR and NAMD: atoms, and lists of terms without their parameters.
//!
//! The first line contains `PSF` and words that describe the format. The sections of the file follow. A section begins
//! with a line that has a count, `!` and a name, and the contents of the section follow this line. All numbers are
//! separated by blanks, also in the wide columns of `EXT`.

use std::collections::HashMap;
use std::path::Path;

use super::{Parsed, lone_pairs};
use crate::arrays;
use crate::error::Problem;
use crate::format::number;
use crate::system::{Name, VirtualSite};

/// Columns of the segment name in the usual format and in the format `EXT`. The segment may be blank.
const SEGMENT: std::ops::Range<usize> = 9..13;
const SEGMENT_EXT: std::ops::Range<usize> = 11..19;

/// Largest atom number that fits into five columns. Larger atom numbers overflow the five columns, or start again at a
/// small number.
const COUNTED: usize = 99_999;

/// An atom as written in the PSF file.
#[derive(Debug)]
pub(super) struct PsfAtom {
    pub(super) segment: String,
    pub(super) residue_number: String,
    pub(super) residue: String,
    pub(super) name: String,
    /// type name in capitals; in files of CHARMM format, the type index that a `MASS` line defines
    pub(super) type_name: String,
    /// charge in e
    pub(super) charge: f64,
    /// mass in amu; zero for lone pairs
    pub(super) mass: f64,
    /// 1-based line number
    pub(super) line: usize,
}

impl PsfAtom {
    /// Whether two consecutive atoms belong to the same residue.
    pub(super) fn is_of_residue(&self, other: &Self) -> bool {
        let same = |of: fn(&Self) -> &str| of(self) == of(other);
        same(|atom| &atom.segment) && same(|atom| &atom.residue_number) && same(|atom| &atom.residue)
    }
}

/// Contents of a PSF file. Atom indices start at 0.
#[derive(Debug, Default)]
pub(super) struct Psf {
    pub(super) title: String,
    pub(super) atoms: Vec<PsfAtom>,
    pub(super) bonds: Vec<[u32; 2]>,
    pub(super) angles: Vec<[u32; 3]>,
    pub(super) dihedrals: Vec<[u32; 4]>,
    pub(super) impropers: Vec<[u32; 4]>,
    /// four atoms of φ followed by four atoms of ψ, for each correction map
    pub(super) maps: Vec<[u32; 8]>,
    /// lone pairs; bonds of lone pairs are left out
    pub(super) sites: Vec<VirtualSite>,
}

/// Sections that every PSF file has. If the first line contains `CMAP`, the file also has the section `NCRTERM`.
const ALWAYS: [&str; 5] = ["NATOM", "NBOND", "NTHETA", "NPHI", "NIMPHI"];

/// Lines of a PSF file, with the position of the reader.
pub(super) struct Lines<'a> {
    path: &'a Path,
    lines: Vec<&'a [u8]>,
    /// index of the next line to read
    at: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn next(&mut self) -> Option<&'a [u8]> {
        self.at += 1;
        self.lines.get(self.at - 1).map(|line| line.trim_ascii_end())
    }

    /// Returns an error at the line that was read last.
    pub(super) fn problem(&self, message: impl Into<String>) -> Problem {
        Problem::new(message).in_file(self.path).at_line(self.at())
    }

    /// Returns the 1-based number of the line that was read last.
    pub(super) fn at(&self) -> usize {
        self.at.min(self.lines.len())
    }

    pub(super) fn cut(&self, expected: &str) -> Problem {
        self.problem(format!("the file or this section ends, but {expected} is expected"))
            .help("the file is cut off: copy it again")
    }
}

/// Heading of a section of a PSF file, which is its first line.
pub(super) struct Heading {
    name: String,
    /// counts before the `!` in the heading; most headings have one count
    pub(super) counts: Vec<usize>,
    /// 1-based line number
    pub(super) line: usize,
}

pub(super) fn read(path: &Path, bytes: &[u8]) -> Parsed<Psf> {
    let mut lines = Lines { path, lines: bytes.split(|&b| b == b'\n').collect(), at: 0 };
    let first = String::from_utf8_lossy(lines.next().unwrap_or_default()).to_uppercase();
    let flags: Vec<&str> = first.split_whitespace().skip(1).collect();
    if flags.contains(&"DRUDE") {
        return Err(lines.problem("Drude particles").help("md does not support polarisable force fields"));
    }
    let segment = if flags.contains(&"EXT") { SEGMENT_EXT } else { SEGMENT };
    let (mut psf, mut found) = (Psf::default(), vec![]);
    while let Some(heading) = heading(&mut lines)? {
        if found.contains(&heading.name) {
            return Err(lines.problem(format!("a second section {}", heading.name)));
        }
        section(&mut lines, &heading, segment.clone(), &mut psf)?;
        found.push(heading.name);
    }
    let maps = flags.contains(&"CMAP").then_some("NCRTERM");
    match ALWAYS.into_iter().chain(maps).find(|name| !found.iter().any(|found| found == name)) {
        Some(name) => Err(lines.cut(&format!("a section {name}"))),
        None => lone_pairs::check(&lines, &mut psf).map(|()| psf),
    }
}

/// Finds the heading of the next section, such as `10 !NBOND: bonds`.
fn heading(lines: &mut Lines<'_>) -> Parsed<Option<Heading>> {
    let text = loop {
        match lines.next() {
            None => return Ok(None),
            Some([]) => {}
            Some(line) => break line,
        }
    };
    let expected = || {
        let message = format!("expected a section such as `10 !NBOND`, found {}", number::quoted(text));
        lines.problem(message).help("the count of the previous section may be wrong")
    };
    let mark = text.iter().position(|&b| b == b'!').ok_or_else(expected)?;
    let name = String::from_utf8_lossy(&text[mark + 1..]).to_uppercase();
    let name = name.split(|c: char| c == ':' || c.is_whitespace()).find(|word| !word.is_empty()).unwrap_or_default();
    let words = text[..mark].split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let counts = words.map(|word| number::integer(word).and_then(|n| usize::try_from(n).ok()).ok_or_else(expected));
    let counts: Vec<usize> = counts.collect::<Parsed<_>>()?;
    if counts.is_empty() {
        return Err(expected());
    }
    Ok(Some(Heading { name: name.to_owned(), counts, line: lines.at }))
}

fn section(lines: &mut Lines<'_>, heading: &Heading, segment: std::ops::Range<usize>, psf: &mut Psf) -> Parsed<()> {
    let (count, atoms) = (heading.counts[0], psf.atoms.len());
    match heading.name.as_str() {
        "NTITLE" => psf.title = title(lines, count)?,
        "NATOM" => psf.atoms = self::atoms(lines, count, segment)?,
        "NBOND" => psf.bonds = terms(lines, heading, atoms)?,
        "NTHETA" => psf.angles = terms(lines, heading, atoms)?,
        "NPHI" => psf.dihedrals = terms(lines, heading, atoms)?,
        "NIMPHI" => psf.impropers = terms(lines, heading, atoms)?,
        "NCRTERM" => psf.maps = terms(lines, heading, atoms)?,
        "NDON" | "NACC" | "NGRP" | "MOLNT" => numbers(lines).map(|_| ())?,
        "NNB" if count == 0 => numbers(lines).map(|_| ())?,
        "NNB" => {
            let problem = lines.problem(format!("{count} explicit exclusions (NNB)"));
            return Err(problem.help("md does not support explicit exclusions, but derives all exclusions from bonds"));
        }
        "NUMLP" | "NUMANISO" if heading.counts.iter().all(|&count| count == 0) => {}
        "NUMLP" => psf.sites = lone_pairs::read(lines, heading, atoms)?,
        name => {
            let problem = lines.problem(format!("a section {name}"));
            return Err(problem.help("md does not support this section, which occurs with polarisable force fields"));
        }
    }
    Ok(())
}

/// Reads `count` title lines, and returns the first line that is not empty.
fn title(lines: &mut Lines<'_>, count: usize) -> Parsed<String> {
    let mut title = String::new();
    for _ in 0..count {
        let line = String::from_utf8_lossy(lines.next().ok_or_else(|| lines.cut("a title"))?);
        let text = line.trim().trim_start_matches("REMARKS").trim_start_matches('*').trim();
        if title.is_empty() {
            title = text.to_owned();
        }
    }
    Ok(title)
}

fn atoms(lines: &mut Lines<'_>, count: usize, segment: std::ops::Range<usize>) -> Parsed<Vec<PsfAtom>> {
    let mut atoms = vec![];
    let mut seen = HashMap::new();
    for index in 0..count {
        let line = lines.next().filter(|line| !line.is_empty());
        let line = line.ok_or_else(|| lines.cut(&format!("atom {} of {count}", index + 1)))?;
        let text = String::from_utf8_lossy(line);
        let mut words: Vec<&str> = text.split_whitespace().collect();
        if line.get(segment.clone()).is_some_and(|columns| columns.trim_ascii().is_empty()) && !words.is_empty() {
            words.insert(1, "");
        }
        let atom = atom(&words, lines.at()).ok_or_else(|| {
            let message = format!("expected atom {} of {count}, found {}", index + 1, number::quoted(line));
            lines
                .problem(message)
                .help("a line has number, segment, residue number, residue name, atom name, type, charge and mass")
        })?;
        // in five columns, atom numbers beyond 99,999 overflow or start again at a small number, so that only smaller
        // atom numbers are compared
        let number = number::integer(words[0].as_bytes()).filter(|_| index < COUNTED);
        if let Some((number, first)) = number.and_then(|number| Some((number, seen.insert(number, lines.at())?))) {
            let problem = lines.problem(format!("two atoms have the number {number}, the first is in line {first}"));
            return Err(problem.help("remove one of the two atoms, and number the atoms again"));
        }
        for name in [&atom.segment, &atom.residue, &atom.name, &atom.type_name] {
            Name::whole(name).map_err(|problem| lines.problem(problem.message).help("give it a shorter name"))?;
        }
        if atom.mass < 0.0 {
            return Err(lines.problem(format!("atom {} ({}) has the mass {}", index + 1, atom.name, atom.mass)));
        }
        atoms.push(atom);
    }
    Ok(atoms)
}

fn atom(words: &[&str], line: usize) -> Option<PsfAtom> {
    let [_, segment, residue_number, residue, name, type_name, charge, mass, ..] = *words else { return None };
    Some(PsfAtom {
        segment: segment.to_owned(),
        residue_number: residue_number.to_owned(),
        residue: residue.to_owned(),
        name: name.to_owned(),
        type_name: type_name.to_uppercase(),
        charge: number::real(charge.as_bytes())?,
        mass: number::real(mass.as_bytes())?,
        line,
    })
}

/// Returns all whole numbers before the next section, each with its 1-based line number.
pub(super) fn numbers(lines: &mut Lines<'_>) -> Parsed<Vec<(i32, usize)>> {
    let mut numbers = vec![];
    while lines.lines.get(lines.at).is_some_and(|line| !line.contains(&b'!')) {
        let line = lines.next().unwrap_or_default();
        for word in line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
            let problem = || lines.problem(format!("expected a whole number, found {}", number::quoted(word)));
            numbers.push((number::integer(word).ok_or_else(problem)?, lines.at));
        }
    }
    Ok(numbers)
}

/// Returns the 0-based index of an atom from its number in the file. `line` is the line that contains the number, for
/// errors.
pub(super) fn index(lines: &Lines<'_>, number: i32, line: usize, atoms: usize) -> Parsed<u32> {
    match usize::try_from(number) {
        Ok(1..) if number as usize <= atoms => Ok(number as u32 - 1),
        _ => Err(lines.problem(format!("atom number {number} is not between 1 and {atoms}")).at_line(line)),
    }
}

/// Reads bonded terms of `N` atoms each. The file counts atoms from 1.
fn terms<const N: usize>(lines: &mut Lines<'_>, heading: &Heading, atoms: usize) -> Parsed<Vec<[u32; N]>> {
    let numbers = numbers(lines)?;
    let at = |line: usize, message: String| Problem::new(message).in_file(lines.path).at_line(line);
    let expected = heading.counts[0].checked_mul(N);
    if expected != Some(numbers.len()) {
        let (name, count, found) = (&heading.name, heading.counts[0], numbers.len());
        let message = format!("{name} announces {count} terms of {N} atoms, but {found} numbers follow");
        return Err(at(heading.line, message).help("the file is damaged or cut off"));
    }
    let atom = |(number, line): (i32, usize)| index(lines, number, line, atoms);
    numbers.as_chunks::<N>().0.iter().map(|row| arrays::try_from_fn(|k| atom(row[k]))).collect()
}
