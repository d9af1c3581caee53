//! Residues of a residue topology (`RESI` in `.rtf`, `.top` or `.str`), such as a ligand of the CGenFF server. Each
//! residue is read as a separate molecule.
//!
//! Every path along two bonds is an angle and every path along three bonds is a dihedral, as requested by the statement
//! `AUTOGENERATE ANGLES DIHEDRALS` of all current force fields. Patches, donors, acceptors and internal coordinates do
//! not influence the energy of a residue and are not read.

use std::collections::BTreeSet;
use std::path::Path;

use super::Parsed;
use super::lines::{self, Line, Row};
use super::parameters::{Parameters, quadruple, triple};
use super::psf::{Psf, PsfAtom};
use super::sections::Section;
use super::stream::before_return;
use crate::arrays;
use crate::error::Problem;
use crate::system::BondGraph;

/// Maximum difference (e) between the sum of the atomic charges of a residue and the charge in the first line of the
/// residue. Residue topologies have charges with three decimals or more.
const CHARGE: f64 = 0.005;

/// Whether the bytes are those of a residue topology or stream with at least one residue.
pub(in crate::format) fn is_residues(bytes: &[u8]) -> bool {
    let starts = |line: &[u8]| line.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"RESI "));
    bytes.split(|&byte| byte == b'\n').any(|line| starts(line.trim_ascii_start()))
}

/// Reads the residues with the given names. The masses are those of the `MASS` lines of all files.
pub(super) fn read(path: &Path, bytes: &[u8], names: &BTreeSet<String>, parameters: &Parameters) -> Parsed<Psf> {
    let lines = lines::split(bytes);
    let mut found = BTreeSet::new();
    let mut reader = Residue { parameters, psf: Psf::default(), first: 0 };
    let mut rest = before_return(&lines);
    while let Some(start) = rest.iter().position(|line| line.first() == "RESI") {
        let end = rest[start + 1..].iter().position(ends).map_or(rest.len(), |length| start + 1 + length);
        let heading = &rest[start];
        let name = heading.words.get(1).cloned().unwrap_or_default();
        let is_new = found.insert(name.clone());
        if names.iter().any(|wanted| wanted.eq_ignore_ascii_case(&name)) {
            if !is_new {
                let problem =
                    Row { file: path, line: heading }.problem(format!("the file has a second residue {name}"));
                return Err(problem.help("remove one of the two residues"));
            }
            reader.read(path, heading, &rest[start + 1..end])?;
        }
        rest = &rest[end..];
    }
    if reader.psf.atoms.is_empty() {
        let list = |names: &BTreeSet<String>| names.iter().map(String::as_str).collect::<Vec<&str>>().join(", ");
        let problem = Problem::new(format!("the file has no residue {}", list(names))).in_file(path);
        return Err(problem.help(format!("its residues are {}", list(&found))));
    }
    Ok(reader.psf)
}

/// Whether a line ends the residue before it.
fn ends(line: &Line) -> bool {
    matches!(line.first(), "RESI" | "PRES" | "END" | "READ") || Section::begins(line).is_some()
}

/// Reader of a residue, which appends the atoms and terms of the residue to those of earlier residues.
struct Residue<'a> {
    parameters: &'a Parameters,
    psf: Psf,
    /// index of the first atom of the residue
    first: usize,
}

impl Residue<'_> {
    fn read(&mut self, file: &Path, heading: &Line, lines: &[Line]) -> Parsed<()> {
        self.first = self.psf.atoms.len();
        for line in lines {
            self.line(Row { file, line }, &heading.words[1])?;
        }
        let row = Row { file, line: heading };
        let sum: f64 = self.psf.atoms[self.first..].iter().map(|atom| atom.charge).sum();
        let charge = if heading.words.len() > 2 { row.real(2)? } else { sum };
        if self.psf.atoms.len() == self.first {
            return Err(row.problem("the residue has no atoms"));
        }
        if (sum - charge).abs() > CHARGE {
            let problem = row.problem(format!("the charges of the atoms add up to {sum:.4} e, not to {charge} e"));
            return Err(problem.help("the residue seems cut off or edited: copy it again"));
        }
        self.generate();
        Ok(())
    }

    fn line(&mut self, row: Row<'_>, residue: &str) -> Parsed<()> {
        let word = row.line.first();
        match word.get(..4).unwrap_or(word) {
            "ATOM" => self.atom(row, residue),
            "BOND" | "DOUB" | "TRIP" | "AROM" => self.atoms::<2>(row).map(|found| self.psf.bonds.extend(found)),
            "ANGL" | "THET" => self.atoms::<3>(row).map(|found| self.psf.angles.extend(found)),
            "DIHE" | "PHI" => self.atoms::<4>(row).map(|found| self.psf.dihedrals.extend(found)),
            "IMPR" | "IMPH" => self.atoms::<4>(row).map(|found| self.psf.impropers.extend(found)),
            "CMAP" => self.atoms::<8>(row).map(|found| self.psf.maps.extend(found)),
            "GROU" | "DONO" | "ACCE" | "IC" | "BILD" | "BUIL" | "PATC" => Ok(()),
            "LONE" => Err(row.problem("lone pairs").help("use a PSF file of the molecule")),
            _ => {
                let problem = row.problem(format!("{word} is not supported in a residue"));
                Err(problem.help("use a PSF file of the molecule"))
            }
        }
    }

    /// Reads a line `ATOM name type charge`.
    fn atom(&mut self, row: Row<'_>, residue: &str) -> Parsed<()> {
        let words = row.words(&[4], "ATOM, a name, a type and a charge")?;
        let type_name = words[2].clone();
        let missing = || {
            let problem = row.problem(format!("no file has a line MASS for the atom type {type_name}"));
            problem.help("add the .rtf or .prm file of the force field")
        };
        let named = self.parameters.names.get(&type_name).ok_or_else(missing)?;
        let mass = *self.parameters.masses.get(&named)?.ok_or_else(missing)?;
        if self.psf.atoms[self.first..].iter().any(|atom| atom.name == words[1]) {
            return Err(row.problem(format!("the residue has a second atom {}", words[1])));
        }
        self.psf.atoms.push(PsfAtom {
            segment: String::new(),
            residue_number: "1".to_owned(),
            residue: residue.to_owned(),
            name: words[1].clone(),
            type_name,
            charge: row.real(3)?,
            mass,
            line: row.line.number,
        });
        Ok(())
    }

    /// Reads the atom names of a line, in groups of `N` atoms.
    fn atoms<const N: usize>(&self, row: Row<'_>) -> Parsed<Vec<[u32; N]>> {
        let names = &row.line.words[1..];
        if !names.len().is_multiple_of(N) {
            return Err(row.problem(format!("expected groups of {N} atoms, found {} names", names.len())));
        }
        let atom = |name: &String| {
            let index = self.psf.atoms[self.first..].iter().position(|atom| atom.name == *name);
            index.map(|index| (self.first + index) as u32).ok_or_else(|| {
                let problem = row.problem(format!("the residue has no atom {name} above this line"));
                problem.help("a residue that is bonded to others needs a PSF file")
            })
        };
        names.chunks_exact(N).map(|group| arrays::try_from_fn(|k| atom(&group[k]))).collect()
    }

    /// Adds an angle for every path of two bonds, and a dihedral for every path of three bonds.
    fn generate(&mut self) {
        let Psf { atoms, bonds, angles, dihedrals, .. } = &mut self.psf;
        let graph = BondGraph::new(atoms.len(), bonds);
        let mut known_angles: BTreeSet<[u32; 3]> = angles.iter().map(|&angle| triple(angle)).collect();
        let mut known_dihedrals: BTreeSet<[u32; 4]> = dihedrals.iter().map(|&atoms| quadruple(atoms)).collect();
        for j in self.first as u32..atoms.len() as u32 {
            for &k in graph.of(j) {
                for &i in graph.of(j).iter().filter(|&&i| i != k) {
                    if known_angles.insert(triple([i, j, k])) {
                        angles.push([i, j, k]);
                    }
                    for &l in graph.of(k).iter().filter(|&&l| l != j && l != i) {
                        if known_dihedrals.insert(quadruple([i, j, k, l])) {
                            dihedrals.push([i, j, k, l]);
                        }
                    }
                }
            }
        }
    }
}
