//! The energy table `energies.csv`: one row of numbers per recorded step ([`super::table`]).

use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::table::{header_and_last_row, join};
use crate::backend::Energies;
use crate::cell::PeriodicCell;
use crate::ensemble::barostat::surface_tension;
use crate::ensemble::groups::PerGroup;
use crate::error::{Error, Problem, Result};
use crate::format::file;
use crate::units;
use crate::vec3::Vec3;

/// Names and units of the columns that follow the energy terms in every table, with or without a periodic cell.
const STATE: [(&str, &str); 5] = [
    ("kinetic", "kJ/mol"),
    ("total", "kJ/mol"),
    ("restraint_work", "kJ/mol"),
    ("conserved", "kJ/mol"),
    ("temperature", "K"),
];
/// Names and units of the additional columns of a periodic system.
const PERIODIC: [(&str, &str); 9] = [
    ("pressure", "bar"),
    ("volume", "nm^3"),
    ("density", "g/cm^3"),
    ("a_x", "nm"),
    ("b_x", "nm"),
    ("b_y", "nm"),
    ("c_x", "nm"),
    ("c_y", "nm"),
    ("c_z", "nm"),
];
/// Names and units of the additional columns of a system whose barostat couples to the pressure of each direction
/// separately.
const DIRECTIONAL: [(&str, &str); 4] =
    [("pressure_xx", "bar"), ("pressure_yy", "bar"), ("pressure_zz", "bar"), ("surface_tension", "mN/m")];

/// Set of columns of an energy table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// set of columns for the cell and its pressure coupling
    pub cell: CellColumns,
    /// names of the columns with temperatures of temperature groups, which are the last columns of a row
    pub temperatures: Vec<String>,
}

/// Set of columns that depends on the cell and its pressure coupling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellColumns {
    /// columns of a system without a cell
    #[default]
    Open,
    /// the columns of `Open`, and pressure, density and lattice vectors
    Periodic,
    /// the columns of `Periodic`, and the pressure along x, y and z, and the surface tension in the xy plane
    Directional,
}

impl CellColumns {
    /// Returns names and units of the columns.
    fn all<'a>(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let (periodic, directional): (&[_], &[_]) = match self {
            CellColumns::Open => (&[], &[]),
            CellColumns::Periodic => (&PERIODIC, &[]),
            CellColumns::Directional => (&PERIODIC, &DIRECTIONAL),
        };
        let of_cell = periodic.iter().chain(directional).copied();
        Energies::NAMES.iter().map(|&name| (name, "kJ/mol")).chain(STATE).chain(of_cell)
    }
}

impl Columns {
    /// Returns names and units of the values that [`EnergyRow::values`] returns.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.cell.all().chain(self.temperatures.iter().map(|name| (name.as_str(), "K")))
    }
}

/// Energies, temperature and pressure of a step, at the time of the positions of this step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// terms of the potential energy, kJ/mol
    pub energies: Energies,
    /// kinetic energy in kJ/mol: mean of the kinetic energies at the half steps before and after the step
    pub kinetic: f64,
    /// work of the moving centers of restraints since the start of the run, kJ/mol
    pub restraint_work: f64,
    /// conserved energy: kinetic + potential − work of thermostat, barostat and restraints, kJ/mol
    pub conserved: f64,
    /// temperature of the whole system, K
    pub temperature: f64,
    /// pressure of the whole system, kJ/mol/nm³; zero without a cell
    pub pressure: f64,
    /// pressure along x, y and z, kJ/mol/nm³; zero without a cell, and valid only if the step has computed
    /// [`crate::backend::Kinetic::along`]
    pub pressure_along: Vec3,
    /// periodic cell; `None` if the system is not periodic
    pub cell: Option<PeriodicCell>,
    /// temperature of each temperature group, K; NaN for a group without degrees of freedom, empty without groups
    pub group_temperatures: PerGroup<f64>,
}

/// Quantities of one row of the energy table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EnergyRow<'a> {
    /// number of steps since the start of the run
    pub step: u64,
    /// simulated time, ps
    pub time: f64,
    /// number of the stage, from 1; the end of a stage and the start of the next stage have the same step number
    pub stage: u32,
    /// energies, temperature and pressure of the step
    pub observed: &'a Observed,
    /// total mass of the system in amu, from which the density is computed
    pub mass: f64,
    /// temperatures of the temperature groups, K, in the order of [`Columns::temperatures`]; NaN for a group that the
    /// stage does not have
    pub temperatures: &'a [f64],
}

impl EnergyRow<'_> {
    /// Returns the numbers of the row, in the order and the units of [`Columns::all`]. For a system without a cell, the
    /// values that need a cell are NaN.
    pub fn values(&self, columns: &Columns) -> impl Iterator<Item = f64> {
        let now = self.observed;
        let mut values = now.energies.values().to_vec();
        let total = now.kinetic + now.energies.potential();
        values.extend([now.kinetic, total, now.restraint_work, now.conserved, now.temperature]);
        if let Some(cell) = &now.cell {
            let ([a, b, c], volume) = (cell.rows(), cell.volume());
            let density = units::DENSITY * self.mass / volume;
            values.extend([now.pressure / units::BAR, volume, density, a.x, b.x, b.y, c.x, c.y, c.z]);
            values.extend(now.pressure_along.map(|pressure| pressure / units::BAR).to_array());
            // 1 bar nm = 0.1 mN/m
            values.push(0.1 * surface_tension(now.pressure_along, c.z) / units::BAR);
        }
        values.resize(columns.cell.all().count(), f64::NAN);
        values.into_iter().chain(self.temperatures.iter().copied())
    }

    /// Returns the header line of the energy table.
    pub fn header(columns: &Columns) -> String {
        let columns = columns.all().map(|(name, unit)| format!("{name} ({unit})"));
        format!("{TABLE_START}{}\n", columns.collect::<Vec<_>>().join(","))
    }

    /// Appends the row to `line` as text.
    pub fn write(&self, columns: &Columns, line: &mut String) {
        // writing to a string does not fail
        let _ = write!(line, "{},{:.6},{}", self.step, self.time, self.stage);
        for value in self.values(columns) {
            // six decimals resolve the energy drift of the largest system; absolute values of 1e9 or more occur only
            // when atoms clash during a minimisation
            let _ = if value.abs() < 1e9 { write!(line, ",{value:.6}") } else { write!(line, ",{value:e}") };
        }
        line.push('\n');
    }
}

/// Kind of a table whose first columns are step, time and stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// the energy table
    Energies,
    /// the table of collective restraints; [`EnergyRecord::FIRST`] is the column with the number of the restraint
    Restraints,
    /// the table of minimisations, whose steps have no time
    Minimisations,
}

impl TableKind {
    /// Returns the kind in words.
    pub fn words(self) -> &'static str {
        match self {
            TableKind::Energies => "energy table",
            TableKind::Restraints => "table of restraints",
            TableKind::Minimisations => "table of minimisations",
        }
    }
}

/// Contents of an energy table, which a run has written or is still writing.
#[derive(Clone, Debug, PartialEq)]
pub struct EnergyRecord {
    /// names and units of the columns; the first three are step, time and stage
    pub columns: Vec<(String, String)>,
    /// complete rows, `[row][column]`
    pub rows: Vec<Vec<f64>>,
}

/// Beginning of the header line of every energy table.
pub const TABLE_START: &str = "step,time (ps),stage,";

impl EnergyRecord {
    /// Index of the column with the step number.
    pub const STEP: usize = 0;
    /// Index of the column with the time, ps.
    pub const TIME: usize = 1;
    /// Index of the column with the number of the stage, which counts from 1.
    pub const STAGE: usize = 2;
    /// Index of the first column with a physical quantity.
    pub const FIRST: usize = 3;

    /// Returns the kind of the table.
    pub fn kind(&self) -> TableKind {
        match self.columns.get(Self::FIRST..) {
            Some([(name, _), ..]) if name == "restraint" => TableKind::Restraints,
            Some([_, (force, _), (atom, _)]) if force == "largest_force" && atom == "atom" => TableKind::Minimisations,
            _ => TableKind::Energies,
        }
    }

    /// Returns the rows of the stage with number `number`; stages count from 1.
    pub fn of_stage(&self, number: u32) -> impl Iterator<Item = &Vec<f64>> {
        self.rows.iter().filter(move |row| row[Self::STAGE] == f64::from(number))
    }

    /// Removes the columns for which `kept` is false.
    pub fn retain_columns(&mut self, kept: &[bool]) {
        fn retain<T>(values: &mut Vec<T>, kept: &[bool]) {
            let mut kept = kept.iter();
            values.retain(|_| kept.next() == Some(&true));
        }
        retain(&mut self.columns, kept);
        self.rows.iter_mut().for_each(|row| retain(row, kept));
    }

    /// Returns the table with the columns `columns`. The values of columns that the table does not have are NaN.
    fn with_columns(self, columns: &[(String, String)]) -> Self {
        if self.columns == columns {
            return self;
        }
        let places: Vec<Option<usize>> =
            columns.iter().map(|column| self.columns.iter().position(|own| own == column)).collect();
        let widened = |row: &Vec<f64>| places.iter().map(|place| place.map_or(f64::NAN, |place| row[place])).collect();
        EnergyRecord { rows: self.rows.iter().map(widened).collect(), columns: columns.to_vec() }
    }
}

/// Reads the parts of the energy table of a run, in the order of time. The record has the columns of all parts; in rows
/// of a part without one of these columns, the value of this column is NaN. Returns an error if the parts are tables of
/// different kinds, or if a column has two units.
pub fn read_energy_parts(parts: &[PathBuf]) -> Result<EnergyRecord> {
    let records = parts.iter().map(|path| read_energies(path)).collect::<Result<Vec<EnergyRecord>>>()?;
    let kind = records.first().map(EnergyRecord::kind);
    let mut columns = vec![];
    for (record, path) in records.iter().zip(parts) {
        if Some(record.kind()) != kind || !merge_columns(&mut columns, &record.columns) {
            let problem = Problem::new("the columns differ from those of the energy tables before it").in_file(path);
            return Err(problem.help("give only tables of one run").into());
        }
    }
    let mut rows = records.into_iter().map(|record| record.with_columns(&columns).rows);
    let place = |row: &Vec<f64>| [row[EnergyRecord::STAGE], row[EnergyRecord::STEP]];
    let rows = join(parts, |_| Ok(rows.next().unwrap_or_default()), place)?;
    Ok(EnergyRecord { columns, rows })
}

/// Adds the columns of a table that `columns` does not have yet, each behind the column that precedes it in the table.
/// Returns false if a column has two units.
fn merge_columns(columns: &mut Vec<(String, String)>, table: &[(String, String)]) -> bool {
    let mut next = 0;
    for column in table {
        match columns.iter().position(|(name, _)| *name == column.0) {
            Some(place) if columns[place] != *column => return false,
            Some(place) => next = place,
            None => columns.insert(next, column.clone()),
        }
        next += 1;
    }
    true
}

/// Reads the last complete row of the parts of an energy table. Returns `None` if there is no row, or if the last part
/// with rows cannot be read.
pub fn read_last_row(parts: &[PathBuf]) -> Option<EnergyRecord> {
    let last = parts.iter().rev().find_map(|path| Some((path, header_and_last_row(path).transpose()?)));
    let (path, text) = last?;
    parse(path, &text.ok()?).ok()
}

/// Reads an energy table. An incomplete last line, which a run may still be writing, is left out.
pub fn read_energies(path: &Path) -> Result<EnergyRecord> {
    let text = file::text(path).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => {
            Problem::new("the file is not an energy table of md: not a text").in_file(path).into()
        }
        _ => Error::io(path, error),
    })?;
    parse(path, &text)
}

/// Parses the text of the energy table at `path`.
fn parse(path: &Path, text: &str) -> Result<EnergyRecord> {
    let mut lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(str::trim_end);
    let header = lines.next().filter(|line| line.starts_with(TABLE_START));
    let header =
        header.ok_or_else(|| Problem::new("the file is not an energy table of md").in_file(path).at_line(1))?;
    let column = |text: &str| {
        let (name, unit) = text.split_once(" (").unwrap_or((text, ""));
        (name.to_owned(), unit.trim_end_matches(')').to_owned())
    };
    let columns: Vec<(String, String)> = header.split(',').map(column).collect();
    let row = |(index, line): (usize, &str)| {
        let row: Option<Vec<f64>> = line.split(',').map(|value| value.parse().ok()).collect();
        let refuse = |message: String| Problem::new(message).in_file(path).at_line(index + 2);
        let row = row.filter(|row| row.len() == columns.len());
        let row = row.ok_or_else(|| refuse(format!("expected {} numbers in the row", columns.len())))?;
        match row[..EnergyRecord::FIRST].iter().all(|value| value.is_finite()) {
            true => Ok(row),
            false => Err(refuse("expected finite numbers as step, time and stage".to_owned())),
        }
    };
    let rows = lines.enumerate().map(row).collect::<std::result::Result<_, Problem>>()?;
    Ok(EnergyRecord { columns, rows })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3::vec3;

    fn observed() -> Observed {
        Observed {
            energies: Energies { bond: 1.5, lj: -2e5, coulomb: 3e-7, coulomb_14: 2.0, ..Energies::default() },
            kinetic: 7.25,
            restraint_work: 0.5,
            conserved: -1.0,
            temperature: 300.5,
            pressure: units::BAR,
            pressure_along: vec3(1.0, 2.0, 3.0) * units::BAR,
            cell: Some(PeriodicCell::orthorhombic([2.0, 2.5, 4.0])),
            group_temperatures: PerGroup::default(),
        }
    }

    fn row(observed: &Observed, step: u64, stage: u32) -> EnergyRow<'_> {
        let time = 0.002 * step as f64;
        EnergyRow { step, time, stage, observed, mass: 1000.0, temperatures: &[250.0, f64::NAN] }
    }

    fn line(row: &EnergyRow<'_>, columns: &Columns) -> String {
        let mut line = String::new();
        row.write(columns, &mut line);
        line
    }

    #[test]
    fn columns_and_units_are_in_place() {
        let temperatures = ["temperature_rest", "temperature_protein"].map(str::to_owned).to_vec();
        let columns = Columns { cell: CellColumns::Directional, temperatures };
        let (header, line) = (EnergyRow::header(&columns), line(&row(&observed(), 5, 1), &columns));
        let fields: Vec<(&str, &str)> = header.trim().split(',').zip(line.trim().split(',')).collect();
        for expected in [
            ("step", "5"),
            ("time (ps)", "0.010000"),
            ("stage", "1"),
            ("bond (kJ/mol)", "1.500000"),
            ("lj (kJ/mol)", "-200000.000000"),
            ("potential (kJ/mol)", "-199998.500000"),
            ("total (kJ/mol)", "-199991.250000"),
            ("restraint_work (kJ/mol)", "0.500000"),
            ("conserved (kJ/mol)", "-1.000000"),
            ("temperature (K)", "300.500000"),
            ("pressure (bar)", "1.000000"),
            ("volume (nm^3)", "20.000000"),
            // 1000 amu in 20 nm³ = 50 amu/nm³ = 0.083027 g/cm³
            ("density (g/cm^3)", "0.083027"),
            ("b_y (nm)", "2.500000"),
            ("c_z (nm)", "4.000000"),
            ("pressure_yy (bar)", "2.000000"),
            // 4 nm · (3 − 1.5) bar = 6 bar nm = 0.6 mN/m
            ("surface_tension (mN/m)", "0.600000"),
            ("temperature_rest (K)", "250.000000"),
            ("temperature_protein (K)", "NaN"),
        ] {
            assert!(fields.contains(&expected), "{expected:?} not in {fields:?}");
        }
        assert_eq!(fields.len(), 40);
    }

    #[test]
    fn huge_and_broken_numbers_are_written() {
        let energies = Energies { lj: 1.25e40, bond: f64::NAN, ..Energies::default() };
        let columns = Columns { cell: CellColumns::Open, temperatures: vec![] };
        let broken = Observed { energies, ..observed() };
        let text = line(&EnergyRow { temperatures: &[], ..row(&broken, 0, 1) }, &columns);
        assert!(text.contains(",1.25e40,") && text.contains(",NaN,"), "{text}");
    }

    #[test]
    fn parts_with_other_columns_are_joined() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), format!("{TABLE_START}{text}\n")).unwrap();
            folder.path().join(name)
        };
        let first = write("1.csv", "lj (kJ/mol),volume (nm^3),temperature_a (K)\n0,0,1,-1,8,300\n10,0.02,1,-2,9,310");
        let second =
            write("2.csv", "lj (kJ/mol),volume (nm^3),pressure_xx (bar),temperature_b (K)\n10,0.02,2,-3,7,1,4");
        let empty = write("3.csv", "lj (kJ/mol),volume (nm^3)");
        let found = read_energy_parts(&[first.clone(), second.clone(), empty.clone()]).unwrap();
        let names: Vec<&str> = found.columns.iter().map(|(name, _)| name.as_str()).collect();
        let of_cell = ["lj", "volume", "pressure_xx", "temperature_b", "temperature_a"];
        assert_eq!(names, [&["step", "time", "stage"][..], &of_cell].concat());
        let missing = f64::NAN;
        let expected = [
            [0.0, 0.0, 1.0, -1.0, 8.0, missing, missing, 300.0],
            [10.0, 0.02, 1.0, -2.0, 9.0, missing, missing, 310.0],
            [10.0, 0.02, 2.0, -3.0, 7.0, 1.0, 4.0, missing],
        ];
        assert_eq!(format!("{:?}", found.rows), format!("{expected:?}"));
        let last = read_last_row(&[first.clone(), second, empty]).unwrap();
        assert_eq!((last.columns.len(), last.rows), (7, vec![vec![10.0, 0.02, 2.0, -3.0, 7.0, 1.0, 4.0]]));
        for other in ["lj (kcal/mol)", "restraint,value"] {
            let error = read_energy_parts(&[first.clone(), write("4.csv", other)]).unwrap_err().to_string();
            assert!(error.contains("4.csv") && error.contains("the columns differ"), "{error}");
        }
    }
}
