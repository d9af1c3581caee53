//! Parsing of the rows in the sections of a parameter file.

use std::path::Path;

use super::Parsed;
use super::lines::{Line, Row};
use super::parameters::{
    AngleParameters, CmapParameters, LennardJonesParameters, Parameters, TorsionParameters, Type, Well,
    is_dihedral_form, is_improper_form, pair, quadruple, triple, two_quadruples,
};
use super::sections::Section;
use super::table::Entry;
use crate::format::number;
use crate::system::CmapGrid;

/// Reader that adds the rows of one file to the parameters.
pub(super) struct Reader<'a> {
    pub(super) file: &'a Path,
    /// index of the file in the list of parameter files
    pub(super) number: usize,
    pub(super) parameters: &'a mut Parameters,
}

impl<'a> Reader<'a> {
    fn row_of<'l>(&self, line: &'l Line) -> Row<'l>
    where
        'a: 'l,
    {
        Row { file: self.file, line }
    }

    fn types<const N: usize>(&mut self, words: &[String]) -> [Type; N] {
        std::array::from_fn(|k| self.parameters.names.number(&words[k]))
    }

    /// Reads a line `MASS number name mass [element]` of an atom type. A PSF file of CHARMM format contains the number
    /// of the `MASS` line instead of the type name, and states the mass of each atom.
    pub(super) fn mass(&mut self, line: &Line) -> Parsed<()> {
        let row = self.row_of(line);
        let words = row.words(&[4, 5], "MASS, a number, a type and its mass")?;
        let problem = || row.problem(format!("expected a whole number, found {}", number::quoted(words[1].as_bytes())));
        let number = number::integer(words[1].as_bytes()).ok_or_else(problem)?;
        let mass = Entry::new(row.real(3)?, self.number, row);
        let [named] = self.types(&words[2..]);
        self.parameters.masses.insert(named, mass, row, || format!("the mass of {}", words[2]));
        // if the line has the number −1, CHARMM itself chooses the number of the type
        if number > 0 {
            let entry = Entry::new(named, self.number, row);
            self.parameters.numbers.insert(number, entry, row, || format!("MASS {number}"));
        }
        Ok(())
    }

    /// Reads a row of any section except `CMAP`.
    pub(super) fn row(&mut self, section: Section, line: &Line) -> Parsed<()> {
        let row = self.row_of(line);
        match section {
            Section::Bonds => self.bond(row),
            Section::Angles => self.angle(row),
            Section::Dihedrals => self.dihedral(row),
            Section::Impropers => self.improper(row),
            Section::Nonbonded => self.nonbonded(row),
            Section::Nbfix => self.nbfix(row),
            Section::HydrogenBonds => Ok(()),
            Section::Atoms | Section::Cmap => Err(row.problem("expected a MASS line")),
            Section::Thole => {
                let problem = row.problem("Thole screening between Drude particles (NBTHOLE)");
                Err(problem.help("md does not support polarisable force fields; use an additive force field"))
            }
        }
    }

    fn bond(&mut self, row: Row<'_>) -> Parsed<()> {
        let words = row.words(&[4], "two types, k and b0")?;
        let types = self.types::<2>(words);
        let entry = Entry::new(row.reals(2)?, self.number, row);
        self.parameters.bonds.insert(pair(types), entry, row, || format!("bond {}", words[..2].join(" ")));
        Ok(())
    }

    fn angle(&mut self, row: Row<'_>) -> Parsed<()> {
        let words = row.words(&[5, 7], "three types, k and theta0, and optionally k and s0 of a Urey-Bradley term")?;
        let types = self.types::<3>(words);
        let urey_bradley = (words.len() > 5).then(|| row.reals(5)).transpose()?;
        let entry = Entry::new(AngleParameters { angle: row.reals(3)?, urey_bradley }, self.number, row);
        self.parameters.angles.insert(triple(types), entry, row, || format!("angle {}", words[..3].join(" ")));
        Ok(())
    }

    fn torsion(row: Row<'_>) -> Parsed<TorsionParameters> {
        let (force_constant, periodicity, phase) = (row.real(4)?, row.periodicity(5)?, row.real(6)?);
        Ok(TorsionParameters { force_constant, periodicity, phase })
    }

    /// Reads a torsion. Rows with the same types and different periodicity n are terms of one torsion, and the energies
    /// of the terms add up.
    fn dihedral(&mut self, row: Row<'_>) -> Parsed<()> {
        let words = row.words(&[7], "four types, k, n and delta")?;
        let types = self.types::<4>(words);
        if !is_dihedral_form(types) {
            return Err(row.problem("expected the types A B C D or X B C X"));
        }
        let new = Entry::new(Self::torsion(row)?, self.number, row);
        if new.last().periodicity == 0 && new.last().force_constant != 0.0 {
            let problem = row.problem("a torsion with n = 0, which programs read in different ways");
            return Err(problem.help("set the periodicity n to 1 or more, or k to 0"));
        }
        let terms = self.parameters.dihedrals.entry(quadruple(types)).or_default();
        match terms.iter_mut().find(|term| term.last().periodicity == new.last().periodicity) {
            Some(term) => {
                let n = new.last().periodicity;
                term.replace(new, row, || format!("dihedral {} with n = {n}", words[..4].join(" ")));
            }
            None => terms.push(new),
        }
        Ok(())
    }

    fn improper(&mut self, row: Row<'_>) -> Parsed<()> {
        let words = row.words(&[7], "four types, k, n and psi0")?;
        let types = self.types::<4>(words);
        if !is_improper_form(types) {
            return Err(row.problem("expected the types A B C D, A X X D, X B C D, X B C X or X X C D"));
        }
        let entry = Entry::new(Self::torsion(row)?, self.number, row);
        self.parameters.impropers.insert(quadruple(types), entry, row, || format!("improper {}", words[..4].join(" ")));
        Ok(())
    }

    /// Reads a correction map. The first line of a map has eight types and the number of grid points along an angle.
    /// The energies follow in any number of lines. Returns the number of lines with energies.
    pub(super) fn map(&mut self, line: &Line, rest: &[Line]) -> Parsed<usize> {
        let row = self.row_of(line);
        let words = row.words(&[9], "eight types and the number of grid points along an angle")?;
        let size = number::integer(words[8].as_bytes()).and_then(|size| usize::try_from(size).ok());
        let (least, most) = CmapGrid::SIZES.into_inner();
        let problem = || row.problem(format!("expected {least} to {most} grid points along an angle"));
        let size = size.filter(|size| CmapGrid::SIZES.contains(size)).ok_or_else(problem)?;
        let types = self.types::<8>(words);
        let (mut energies, mut lines) = (vec![], 0);
        while energies.len() < size * size {
            let missing = || row.problem(format!("the map has {} energies, expected {}", energies.len(), size * size));
            let line = rest.get(lines).ok_or_else(missing)?;
            let row = self.row_of(line);
            for k in 0..line.words.len() {
                energies.push(row.real(k)?);
            }
            lines += 1;
        }
        if energies.len() > size * size {
            return Err(row.problem(format!("the map has {} energies, expected {}", energies.len(), size * size)));
        }
        let entry = Entry::new(CmapParameters { size, energies }, self.number, row);
        self.parameters.cmaps.insert(two_quadruples(types), entry, row, || format!("map {}", words[..8].join(" ")));
        Ok(lines)
    }

    /// Reads the options of `NONBONDED`. Options for cutoffs and switching are ignored, because the input file of
    /// `md` sets cutoffs and switching.
    pub(super) fn options(&mut self, line: &Line) -> Parsed<()> {
        let row = self.row_of(line);
        for (index, word) in line.words.iter().enumerate().skip(1) {
            match word.get(..4).unwrap_or(word) {
                "NBXM" if row.real(index + 1)?.abs() != 5.0 => {
                    let problem = row.problem("NBXMOD is not 5: md supports only exclusions of CHARMM force fields");
                    return Err(problem.help("md excludes 1-2 and 1-3 pairs, and takes 1-4 parameters for 1-4 pairs"));
                }
                "EPS" if row.real(index + 1)? != 1.0 => {
                    return Err(row.problem("EPS is not 1: md does not support a dielectric constant"));
                }
                "RDIE" => {
                    return Err(row.problem("RDIE: md does not support a distance-dependent dielectric constant"));
                }
                "GEOM" => return Err(row.problem("GEOM: md does not support the geometric combination rule")),
                "E14F" => self.electrostatics14(row.real(index + 1)?, row)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Sets the factor of the Coulomb energy of all 1-4 pairs. A second value that differs from the first value is an
    /// error.
    fn electrostatics14(&mut self, new: f64, row: Row<'_>) -> Parsed<()> {
        if let Some(old) = self.parameters.electrostatics14.as_ref().filter(|old| **old != new) {
            let message = format!("E14FAC is {new}, but an earlier section sets E14FAC to {old}");
            return Err(row
                .problem(message)
                .help("force fields with different factors for 1-4 pairs cannot be combined"));
        }
        self.parameters.electrostatics14 = Some(new);
        Ok(())
    }

    /// Reads a row `type ignored −ε R/2`, optionally followed by the same three numbers for 1-4 pairs.
    fn nonbonded(&mut self, row: Row<'_>) -> Parsed<()> {
        let form = "a type, a number, -epsilon and Rmin/2, and optionally the same three numbers for 1-4 pairs";
        let words = row.words(&[4, 7], form)?;
        refuse_wildcards(row, &words[..1])?;
        let [named] = self.types(words);
        let general = well(row, 2)?;
        let pairs14 = if words.len() > 4 { well(row, 5)? } else { general };
        let entry = Entry::new(LennardJonesParameters { general, pairs14 }, self.number, row);
        self.parameters.nonbonded.insert(named, entry, row, || format!("type {}", words[0]));
        Ok(())
    }

    /// Reads a row `type type −ε R`, optionally followed by the same two numbers for 1-4 pairs.
    fn nbfix(&mut self, row: Row<'_>) -> Parsed<()> {
        let words =
            row.words(&[4, 6], "two types, -epsilon and Rmin, and optionally the same numbers for 1-4 pairs")?;
        refuse_wildcards(row, &words[..2])?;
        let types = self.types::<2>(words);
        let general = well(row, 2)?;
        let pairs14 = if words.len() > 4 { well(row, 4)? } else { general };
        let entry = Entry::new(LennardJonesParameters { general, pairs14 }, self.number, row);
        self.parameters.nbfix.insert(pair(types), entry, row, || format!("NBFIX {}", words[..2].join(" ")));
        Ok(())
    }
}

/// Fails if a name of a type has a wildcard of CHARMM: `*` for any text, `%` for a character, `#` for a number, `+` for
/// a digit.
fn refuse_wildcards(row: Row<'_>, types: &[String]) -> Parsed<()> {
    match types.iter().find(|name| name.contains(['*', '%', '#', '+'])) {
        Some(name) => {
            let problem = row.problem(format!("the type {name} has a wildcard, which md does not support here"));
            Err(problem.help("write a row for each type; the section with the masses lists all types"))
        }
        None => Ok(()),
    }
}

/// Parses the parameters of a Lennard-Jones potential from word `first` on: −ε with the depth ε, and the distance R of
/// the minimum.
fn well(row: Row<'_>, first: usize) -> Parsed<Well> {
    let [epsilon, r_min] = row.reals(first)?;
    if epsilon > 0.0 {
        let problem = row.problem(format!("epsilon is {epsilon}, expected a negative number or 0"));
        return Err(
            problem.help("in CHARMM a positive epsilon selects the Slater-Kirkwood formula, which md does not support")
        );
    }
    Ok(Well { depth: epsilon.abs(), r_min })
}
