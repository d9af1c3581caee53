//! Writer of the sections of AMBER topologies, which consist of columns.

use std::collections::HashMap;
use std::fmt::{Display, Write as _};

use crate::error::Problem;
use crate::format::prmtop::sections::Parsed;
use crate::system::{Atom, Topology};

/// Atomic number of hydrogen.
const HYDROGEN: u8 = 1;

/// Text of the sections of a topology file.
pub(super) struct Text {
    text: String,
    /// section with a number that is wider than its column
    too_wide: Option<String>,
}

impl Text {
    pub(super) fn new() -> Self {
        let text = "%VERSION  VERSION_STAMP = V0001.000  DATE = 01/01/00  00:00:00\n".to_owned();
        Text { text, too_wide: None }
    }

    /// Returns the text. Fails if a number is wider than its column, which would move all later columns of its line.
    pub(super) fn finish(self) -> Parsed<String> {
        match self.too_wide {
            None => Ok(self.text),
            Some(name) => {
                let message = format!("a number of {name} is too long for its column in an AMBER topology");
                Err(Problem::new(message).help("the system is too large for this format: write a GROMACS topology"))
            }
        }
    }

    fn begin(&mut self, name: &str, format: &str) {
        // writing to a String cannot fail
        let _ = write!(self.text, "%FLAG {name:<74}\n%FORMAT({format})\n");
    }

    /// Writes a section with one line of text.
    pub(super) fn line(&mut self, name: &str, format: &str, line: &str) {
        self.begin(name, format);
        self.text.extend(line.chars().filter(|c| c.is_ascii() && !c.is_control()).take(80));
        self.text.push('\n');
    }

    pub(super) fn integers(&mut self, name: &str, values: impl IntoIterator<Item = usize>) {
        self.integers_as(name, 10, 8, values);
    }

    /// Writes integers, `count` per line and `width` characters wide.
    pub(super) fn integers_as<V: Display>(
        &mut self,
        name: &str,
        count: usize,
        width: usize,
        values: impl IntoIterator<Item = V>,
    ) {
        self.begin(name, &format!("{count}I{width}"));
        self.numbers(name, count, width, values, |value, text| {
            // writing to a String cannot fail
            let _ = write!(text, "{value:width$}");
        });
    }

    /// Appends numbers like [`Self::columns`], and checks that none is wider than `width`.
    fn numbers<V>(
        &mut self,
        name: &str,
        count: usize,
        width: usize,
        values: impl IntoIterator<Item = V>,
        append: impl Fn(V, &mut String),
    ) {
        let mut is_too_wide = false;
        self.columns(count, values, |value, text| {
            let start = text.len();
            append(value, text);
            is_too_wide |= text.len() - start > width;
        });
        if is_too_wide {
            self.too_wide = Some(name.to_owned());
        }
    }

    /// Writes numbers with nine digits.
    pub(super) fn reals(&mut self, name: &str, values: impl IntoIterator<Item = f64>) {
        self.begin(name, "5E16.8");
        self.numbers(name, 5, 16, values, |value, text| push_exponential(value, 16, 8, text));
    }

    /// Writes numbers with seventeen digits, as CHAMBER writes charges.
    pub(super) fn long_reals(&mut self, name: &str, values: impl IntoIterator<Item = f64>) {
        self.begin(name, "3E24.16");
        self.numbers(name, 3, 24, values, |value, text| push_exponential(value, 24, 16, text));
    }

    /// Writes numbers that are already formatted.
    fn printed<'t>(&mut self, name: &str, values: impl IntoIterator<Item = &'t str>) {
        self.begin(name, "5E16.8");
        self.numbers(name, 5, 16, values, |value, text| text.push_str(value));
    }

    /// Writes names, cut to four characters.
    pub(super) fn labels<'t>(&mut self, name: &str, values: impl IntoIterator<Item = &'t str>) {
        self.begin(name, "20a4");
        self.columns(20, values, |value, text| {
            let _ = write!(text, "{value:<4.4}");
        });
    }

    /// Appends values in lines of `count` values. If there are no values, an empty line is written.
    fn columns<V>(
        &mut self,
        count: usize,
        values: impl IntoIterator<Item = V>,
        mut append: impl FnMut(V, &mut String),
    ) {
        let mut filled = 0;
        let mut is_empty = true;
        for value in values {
            append(value, &mut self.text);
            (filled, is_empty) = (filled + 1, false);
            if filled == count {
                self.text.push('\n');
                filled = 0;
            }
        }
        if filled > 0 || is_empty {
            self.text.push('\n');
        }
    }
}

/// Appends a number in Fortran's format `Ew.d` with `1P`: `  1.23456789E+02`.
fn push_exponential(value: f64, width: usize, decimals: usize, text: &mut String) {
    // numbers below 1e-99 are written as zero, because an exponent of three digits does not fit into the column; such
    // small numbers do not occur in practice
    let value = if value.abs() < 1e-99 { 0.0 } else { value };
    // length of the text: sign, digit, point, decimals, and the exponent `E+00`
    let length = usize::from(value.is_sign_negative()) + 2 + decimals + 4;
    text.extend(std::iter::repeat_n(' ', width.saturating_sub(length)));
    let _ = write!(text, "{value:.decimals$e}");
    let mark = text.rfind('e').unwrap_or(text.len());
    let exponent = text.get(mark + 1..).and_then(|digits| digits.parse::<i32>().ok()).unwrap_or(0);
    text.truncate(mark);
    let _ = write!(text, "E{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs());
}

/// Terms on `N` atoms with `P` parameters. Each term has a row of atom pointers, and rows of terms that contain
/// hydrogen come first. A second list holds the distinct sets of parameters (types).
pub(super) struct Rows<const N: usize, const P: usize> {
    rows: [Vec<[i64; N]>; 2],
    /// 1-based parameter type of each row, for rows with and without hydrogen
    of_rows: [Vec<usize>; 2],
    types: Vec<[String; P]>,
    /// index of each parameter type by its printed parameters
    by_text: HashMap<[String; P], usize>,
    /// index of each parameter type by the bits of its exact parameters
    by_bits: HashMap<[u64; P], usize>,
}

impl<const N: usize, const P: usize> Rows<N, P> {
    pub(super) fn new() -> Self {
        let (by_text, by_bits) = (HashMap::new(), HashMap::new());
        Rows { rows: [vec![], vec![]], of_rows: [vec![], vec![]], types: vec![], by_text, by_bits }
    }

    /// Adds the row of a term. `negative` is true for each pointer that is written with a minus sign.
    pub(super) fn push(&mut self, topology: &Topology, atoms: [u32; N], negative: [bool; N], parameters: [f64; P]) {
        let kind = match self.by_bits.get(&parameters.map(f64::to_bits)) {
            Some(&kind) => kind,
            None => self.add_type(parameters),
        };
        let is_hydrogen = |&atom: &u32| matches!(&topology.atoms[atom as usize], Atom { element: HYDROGEN, .. });
        let list = usize::from(!atoms.iter().any(is_hydrogen));
        let pointer = |k: usize| 3 * i64::from(atoms[k]) * if negative[k] { -1 } else { 1 };
        self.rows[list].push(std::array::from_fn(pointer));
        self.of_rows[list].push(kind + 1);
    }

    /// Returns the index of the parameter type with these parameters. A new type is added if no type has the same
    /// printed parameters.
    fn add_type(&mut self, parameters: [f64; P]) -> usize {
        let printed = parameters.map(|value| {
            let mut text = String::new();
            push_exponential(value, 16, 8, &mut text);
            text
        });
        let next = self.types.len();
        let kind = *self.by_text.entry(printed).or_insert_with_key(|key| {
            self.types.push(key.clone());
            next
        });
        self.by_bits.insert(parameters.map(f64::to_bits), kind);
        kind
    }

    /// Returns the number of terms with and without hydrogen.
    pub(super) fn counts(&self) -> [usize; 2] {
        [self.rows[0].len(), self.rows[1].len()]
    }

    /// Returns the number of distinct sets of parameters.
    pub(super) fn kinds(&self) -> usize {
        self.types.len()
    }

    /// Writes one section for each of the `P` parameters of the parameter types.
    pub(super) fn write_types(&self, names: [&str; P], text: &mut Text) {
        for (k, name) in names.into_iter().enumerate() {
            text.printed(name, self.types.iter().map(|parameters| parameters[k].as_str()));
        }
    }

    /// Writes the two sections with the rows of the terms with and without hydrogen. `name` is the beginning of the
    /// names of both sections.
    pub(super) fn write(&self, name: &str, text: &mut Text) {
        for (list, rest) in ["INC_HYDROGEN", "WITHOUT_HYDROGEN"].into_iter().enumerate() {
            let rows = self.rows[list].iter().zip(&self.of_rows[list]);
            let values = rows.flat_map(|(pointers, &kind)| pointers.iter().copied().chain([kind as i64]));
            text.integers_as(&format!("{name}_{rest}"), 10, 8, values);
        }
    }

    /// Writes all rows in one section, in which atoms are counted from 1 as in all CHARMM sections.
    pub(super) fn write_counted(&self, name: &str, text: &mut Text) {
        let rows = self.rows.iter().zip(&self.of_rows).flat_map(|(rows, kinds)| rows.iter().zip(kinds));
        let values = rows.flat_map(|(pointers, &kind)| pointers.iter().map(|p| p / 3 + 1).chain([kind as i64]));
        text.integers_as(name, 10, 8, values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_fortran_prints_them() {
        for (value, expected) in [
            (0.0, "  0.00000000E+00"),
            (18.2223, "  1.82223000E+01"),
            (-9.999_999_999, " -1.00000000E+01"),
            (1.5e-12, "  1.50000000E-12"),
            (-3e-120, "  0.00000000E+00"),
        ] {
            let mut text = "x".to_owned();
            push_exponential(value, 16, 8, &mut text);
            assert_eq!(text, format!("x{expected}"));
        }
    }

    #[test]
    fn numbers_wider_than_their_columns_are_refused() {
        // a negative pointer of atom 3,333,335 has nine characters
        for (pointer, fits) in [(-9_999_999, true), (-10_000_002, false)] {
            let mut text = Text::new();
            text.integers_as("DIHEDRALS_INC_HYDROGEN", 10, 8, [3, 6, pointer]);
            text.integers("IPOL", [0]);
            assert_eq!(text.finish().is_ok(), fits);
        }
        for (value, fits) in [(-9.9e99, true), (-1e100, false)] {
            let mut text = Text::new();
            text.reals("MASS", [1.0, value]);
            assert_eq!(text.finish().is_ok(), fits, "{value}");
        }
    }
}
