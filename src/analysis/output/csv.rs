//! Results as tables of comma-separated values: a header line, then one line for each index of the first dimension.
//!
//! `NAME.csv` has the arrays that share the first dimension of the first array, which is usually the time.
//! `NAME.DIMENSION.csv` has the arrays whose first dimension is `DIMENSION`. An array of one dimension is a column,
//! whose name consists of the name and the unit of the array. An array of two dimensions has a column for each index of
//! the second dimension. If the coordinates of the second dimension are texts or whole numbers, column names contain
//! the coordinate instead of the index. Arrays of more than two dimensions, or with too many columns, are written to
//! HDF5 files only. Numbers have as many digits as are needed to read the same number again. NaN is an empty field.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::hdf5::is_coordinate;
use super::with_ending;
use crate::analysis::findings::{Array, Findings, TIME, Values};
use crate::analysis::pass::Passed;
use crate::error::{Error, Result};

/// Largest number of columns that an array of two dimensions may have in a table.
const MOST_COLUMNS: usize = 500;

/// Writes the tables, and adds the path of each file to `written` before the file is created.
pub(super) fn write(stem: &Path, passed: &Passed, findings: &Findings, written: &mut Vec<PathBuf>) -> Result<()> {
    for (ending, table) in tables(passed, findings) {
        let path = with_ending(stem, &ending);
        written.push(path.clone());
        let file = File::create(&path).map_err(|error| Error::io(&path, error))?;
        let mut out = BufWriter::new(file);
        table.write(&mut out).and_then(|()| out.flush()).map_err(|error| Error::io(&path, error))?;
    }
    Ok(())
}

/// Table of the arrays that share their first dimension.
struct Table<'a> {
    /// number of lines below the header
    rows: usize,
    columns: Vec<Column<'a>>,
}

/// Column of a table.
struct Column<'a> {
    name: String,
    source: Source<'a>,
}

/// Values of a column: times, steps, every `stride`-th element of an array from the index `first` on, or the index of
/// the line.
enum Source<'a> {
    Times(&'a [f64]),
    Steps(&'a [i64]),
    Values { values: &'a Values, first: usize, stride: usize },
    Index,
}

/// Returns the tables, each with the ending of its file name.
fn tables<'a>(passed: &'a Passed, findings: &'a Findings) -> Vec<(String, Table<'a>)> {
    // a dimension with coordinates but without results has no table
    let results = findings.arrays.iter().filter(|array| fits(array) && !is_coordinate(array));
    let mut dimensions: Vec<&str> = vec![];
    for array in results {
        if !dimensions.contains(&array.dimensions[0]) {
            dimensions.push(array.dimensions[0]);
        }
    }
    let table = |(index, dimension): (usize, &&str)| {
        let ending = if index == 0 { ".csv".to_owned() } else { format!(".{dimension}.csv") };
        (ending, table(dimension, passed, findings))
    };
    dimensions.iter().enumerate().map(table).collect()
}

/// Whether an array can be written as columns of a table.
fn fits(array: &Array) -> bool {
    array.shape.len() == 1 || (array.shape.len() == 2 && array.shape[1] <= MOST_COLUMNS)
}

fn table<'a>(dimension: &str, passed: &'a Passed, findings: &'a Findings) -> Table<'a> {
    let own = findings.arrays.iter().filter(|array| fits(array) && array.dimensions[0] == dimension);
    let (coordinates, results): (Vec<&Array>, Vec<&Array>) = own.partition(|array| is_coordinate(array));
    let mut columns: Vec<Column<'a>> = vec![];
    if dimension == TIME {
        columns.push(Column { name: "time_ps".into(), source: Source::Times(&passed.times) });
        columns.push(Column { name: "step".into(), source: Source::Steps(&passed.steps) });
    } else if coordinates.is_empty() {
        columns.push(Column { name: dimension.into(), source: Source::Index });
    }
    for array in coordinates.iter().chain(&results) {
        match array.shape[..] {
            [_] => {
                let source = Source::Values { values: &array.values, first: 0, stride: 1 };
                columns.push(Column { name: with_unit(array.name, array.unit), source });
            }
            _ => {
                let stride = array.shape[1];
                let labels = labels(array.dimensions[1], stride, &findings.arrays);
                columns.extend(labels.into_iter().enumerate().map(|(first, label)| Column {
                    name: format!("{}_{label}", with_unit(array.name, array.unit)),
                    source: Source::Values { values: &array.values, first, stride },
                }));
            }
        }
    }
    let rows = coordinates.iter().chain(&results).map(|array| array.shape[0]).max().unwrap_or(0);
    Table { rows, columns }
}

/// Returns the label of each index of a dimension: its coordinate, if the coordinates are distinct names or whole
/// numbers, and otherwise the index, from zero.
fn labels(dimension: &str, extent: usize, arrays: &[Array]) -> Vec<String> {
    let coordinates = arrays.iter().find(|array| is_coordinate(array) && array.name == dimension);
    let labels: Vec<String> = match coordinates.map(|array| &array.values) {
        Some(Values::Text(names)) => names.clone(),
        Some(Values::Whole(numbers)) => numbers.iter().map(u32::to_string).collect(),
        _ => vec![],
    };
    let mut distinct = labels.clone();
    distinct.sort_unstable();
    distinct.dedup();
    if labels.len() == extent && distinct.len() == extent {
        labels
    } else {
        (0..extent).map(|index| index.to_string()).collect()
    }
}

/// Returns a name with its H5MD unit as a suffix: `rg` in `nm+2` becomes `rg_nm2`, and the unit `nm ps-1` becomes
/// `nm_per_ps`.
fn with_unit(name: &str, unit: &str) -> String {
    let mut text = name.to_owned();
    for factor in unit.split_whitespace() {
        let sign = factor.find(['+', '-']);
        let (base, exponent) = factor.split_at(sign.unwrap_or(factor.len()));
        let (is_inverse, power) = match exponent.strip_prefix('-') {
            Some(power) => (true, power),
            None => (false, exponent.trim_start_matches('+')),
        };
        text.push_str(if is_inverse { "_per_" } else { "_" });
        let letters = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
        match power {
            "1/2" => text.push_str(&format!("sqrt_{}", letters(base))),
            "1" => text.push_str(&letters(base)),
            power => text.push_str(&format!("{}{}", letters(base), power.replace('/', "_"))),
        }
    }
    text
}

impl Table<'_> {
    fn write(&self, out: &mut impl Write) -> std::io::Result<()> {
        for (index, column) in self.columns.iter().enumerate() {
            separate(index, out)?;
            out.write_all(quoted(&column.name).as_bytes())?;
        }
        writeln!(out)?;
        for row in 0..self.rows {
            for (index, column) in self.columns.iter().enumerate() {
                separate(index, out)?;
                column.source.write(row, out)?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

fn separate(index: usize, out: &mut impl Write) -> std::io::Result<()> {
    if index > 0 { out.write_all(b",") } else { Ok(()) }
}

impl Source<'_> {
    fn write(&self, row: usize, out: &mut impl Write) -> std::io::Result<()> {
        match *self {
            Source::Index => write!(out, "{row}"),
            Source::Times(times) => times.get(row).map_or(Ok(()), |&time| number(time, time, out)),
            Source::Steps(steps) => steps.get(row).map_or(Ok(()), |step| write!(out, "{step}")),
            Source::Values { values, first, stride } => {
                let index = first + row * stride;
                match values {
                    Values::Single(values) => {
                        values.get(index).map_or(Ok(()), |&value| number(value, value.into(), out))
                    }
                    Values::Double(values) => values.get(index).map_or(Ok(()), |&value| number(value, value, out)),
                    Values::Whole(values) => values.get(index).map_or(Ok(()), |value| write!(out, "{value}")),
                    Values::Text(values) => {
                        values.get(index).map_or(Ok(()), |text| out.write_all(quoted(text).as_bytes()))
                    }
                }
            }
        }
    }
}

/// Writes a number with the fewest digits from which exactly the same number can be read. `size` is the same number as
/// `f64`, and determines whether the number is written with an exponent.
fn number(value: impl std::fmt::Display + std::fmt::LowerExp, size: f64, out: &mut impl Write) -> std::io::Result<()> {
    let has_few_digits = size == 0.0 || (1e-5..1e15).contains(&size.abs());
    match size {
        _ if size.is_nan() => Ok(()),
        _ if size.is_infinite() => out.write_all(if size > 0.0 { b"inf" } else { b"-inf" }),
        _ if has_few_digits => write!(out, "{value}"),
        _ => write!(out, "{value:e}"),
    }
}

/// Returns a text as a CSV field (RFC 4180), on one line.
fn quoted(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(passed: &Passed, findings: &Findings) -> Vec<(String, String)> {
        let text = |(ending, table): (String, Table<'_>)| {
            let mut out = vec![];
            table.write(&mut out).expect("memory");
            (ending, String::from_utf8(out).expect("text"))
        };
        tables(passed, findings).into_iter().map(text).collect()
    }

    #[test]
    fn columns_have_names_and_units() {
        let passed = Passed { steps: vec![0, 50], times: vec![0.0, 0.1], ..Passed::default() };
        let names: Vec<String> = ["ALA 1", "GLY, 2"].map(String::from).to_vec();
        let arrays = vec![
            Array::new("rg", [(TIME, 2)], vec![0.1, f64::NAN], "nm"),
            Array::new("phi", [(TIME, 2), ("residue", 2)], vec![1.5f32, -0.1, 3e-9, f32::INFINITY], "degree"),
            Array::new("tensor", [(TIME, 2), ("row", 2), ("column", 2)], vec![0.0f64; 8], "nm+2"),
            Array::new("residue", [("residue", 2)], names, ""),
            Array::new("rmsf", [("atom", 1)], vec![1.0 / 3.0], "nm+2"),
            Array::new("wide", [(TIME, 2), ("far", 501)], vec![0u32; 1002], ""),
        ];
        let tables = written(&passed, &Findings { arrays, ..Findings::default() });
        let main = "time_ps,step,rg_nm,phi_degree_ALA 1,\"phi_degree_GLY, 2\"\n0,0,0.1,1.5,-0.1\n0.1,50,,3e-9,inf\n";
        let atoms = "atom,rmsf_nm2\n0,0.3333333333333333\n";
        let expected = [(".csv", main), (".atom.csv", atoms)].map(|(ending, text)| (ending.into(), text.into()));
        assert_eq!(tables, expected);
    }

    #[test]
    fn units_are_words() {
        for (unit, name) in [
            ("", "x"),
            ("nm+2", "x_nm2"),
            ("nm ps-1", "x_nm_per_ps"),
            ("u+1/2 nm", "x_sqrt_u_nm"),
            ("nm-3", "x_per_nm3"),
            ("kJ mol-1", "x_kJ_per_mol"),
        ] {
            assert_eq!(with_unit("x", unit), name);
        }
    }
}
