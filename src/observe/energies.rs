//! `energies.csv`: one row of numbers per recorded step, every column with its unit in the header.
//!
//! Every line after the header holds only numbers, so that any CSV reader accepts the file. Checkpoint and summary tie it to
//! its run: they store the number of rows and a checksum of their text ([`Extent`]).

use std::cmp::Ordering;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crc32fast::Hasher;

use super::extent::Extent;
use crate::backend::Energies;
use crate::cell::PeriodicCell;
use crate::ensemble::barostat::surface_tension;
use crate::error::{Error, Problem, Result};
use crate::units;
use crate::vec3::Vec3;

/// Columns after the energies that exist with or without a cell.
const STATE: [(&str, &str); 4] =
    [("kinetic", "kJ/mol"), ("total", "kJ/mol"), ("conserved", "kJ/mol"), ("temperature", "K")];
/// Columns that only a periodic system has.
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
/// Columns that only a cell has whose directions are coupled to the pressure by themselves.
const DIRECTIONAL: [(&str, &str); 4] =
    [("pressure_xx", "bar"), ("pressure_yy", "bar"), ("pressure_zz", "bar"), ("surface_tension", "mN/m")];
const TERMS: usize = Energies::NAMES.len();
/// Columns that exist with or without a cell.
const COMMON: usize = TERMS + STATE.len();
/// Columns of any cell.
const OF_CELL: usize = COMMON + PERIODIC.len();
/// All columns of numbers; before them stand step, time and stage.
const COLUMNS: [(&str, &str); OF_CELL + DIRECTIONAL.len()] = {
    let mut columns = [("", "kJ/mol"); OF_CELL + DIRECTIONAL.len()];
    let mut index = 0;
    while index < columns.len() {
        if index < TERMS {
            columns[index].0 = Energies::NAMES[index];
        } else if index < COMMON {
            columns[index] = STATE[index - TERMS];
        } else if index < OF_CELL {
            columns[index] = PERIODIC[index - COMMON];
        } else {
            columns[index] = DIRECTIONAL[index - OF_CELL];
        }
        index += 1;
    }
    columns
};

/// Which columns a table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// of a system without a cell
    Open,
    /// and pressure, density and cell
    Periodic,
    /// and the pressure along x, y, z, and the surface tension of x and y
    Directional,
}

impl Columns {
    /// Names and units of the first of [`EnergyRow::values`], all that such a table has.
    pub fn all(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Columns::Open => &COLUMNS[..COMMON],
            Columns::Periodic => &COLUMNS[..OF_CELL],
            Columns::Directional => &COLUMNS,
        }
    }
}

/// The quantities of one row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EnergyRow {
    /// steps since the start of the run
    pub step: u64,
    /// ps
    pub time: f64,
    /// stage of the run, from 1: the end of a stage and the start of the next share their step
    pub stage: u32,
    /// potential energy by term
    pub energies: Energies,
    /// kJ/mol, mean of the two half steps
    pub kinetic: f64,
    /// kinetic + potential − work of thermostat and barostat, kJ/mol
    pub conserved: f64,
    /// K
    pub temperature: f64,
    /// kJ/mol/nm³; written in bar
    pub pressure: f64,
    /// along x, y, z, kJ/mol/nm³; written in bar, where a device knows it
    pub pressure_along: Vec3,
    /// total mass in amu, for the density
    pub mass: f64,
    /// lattice
    pub cell: Option<PeriodicCell>,
}

impl EnergyRow {
    /// All numbers in the order and the units of [`Columns::all`]; those of a cell are NaN without one.
    pub fn values(&self) -> [f64; COLUMNS.len()] {
        let mut values = [f64::NAN; COLUMNS.len()];
        values[..TERMS].copy_from_slice(&self.energies.values());
        let total = self.kinetic + self.energies.potential();
        values[TERMS..COMMON].copy_from_slice(&[self.kinetic, total, self.conserved, self.temperature]);
        if let Some(cell) = &self.cell {
            let ([a, b, c], volume) = (cell.rows(), cell.volume());
            let density = units::DENSITY * self.mass / volume;
            let periodic = [self.pressure / units::BAR, volume, density, a.x, b.x, b.y, c.x, c.y, c.z];
            values[COMMON..OF_CELL].copy_from_slice(&periodic);
            let [xx, yy, zz] = self.pressure_along.map(|pressure| pressure / units::BAR).to_array();
            // 1 bar nm = 0.1 mN/m
            let tension = 0.1 * surface_tension(self.pressure_along, c.z) / units::BAR;
            values[OF_CELL..].copy_from_slice(&[xx, yy, zz, tension]);
        }
        values
    }
}

/// Writes the table. Each row is written in one system call, so that readers see it at once.
#[derive(Debug)]
pub struct EnergyTable {
    path: PathBuf,
    file: File,
    columns: usize,
    written: Rows,
    line: String,
}

/// The rows of a table from its beginning.
#[derive(Clone, Debug, Default)]
struct Rows {
    count: u64,
    checksum: Hasher,
    /// step and stage of the last one
    last: Option<(u64, u32)>,
}

impl Rows {
    fn extent(&self) -> Extent {
        Extent { count: self.count, checksum: self.checksum.clone().finalize() }
    }

    fn add(&mut self, line: &[u8], place: Option<(u64, u32)>) {
        self.count += 1;
        self.checksum.update(line);
        self.last = place;
    }
}

impl EnergyTable {
    /// Creates `path`, in which there must be no rows.
    pub fn create(path: &Path, columns: Columns) -> Result<Self> {
        if path.metadata().is_ok_and(|found| found.is_file() && found.len() <= header(columns).len() as u64) {
            std::fs::remove_file(path).map_err(|e| Error::io(path, e))?;
        }
        let file = OpenOptions::new().write(true).create_new(true).open(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::AlreadyExists => Problem::new("the energies of another run are here")
                .in_file(path)
                .help("continue that run, or use --force to move its output aside")
                .into(),
            _ => Error::io(path, e),
        })?;
        let mut table = Self::new(path, file, columns, Rows::default());
        table.line = header(columns);
        table.write_line()?;
        Ok(table)
    }

    /// Continues an existing table after the rows of `checkpointed`, and cuts off what follows them; refuses a table that
    /// does not begin with these.
    pub fn append(path: &Path, columns: Columns, checkpointed: Extent) -> Result<Self> {
        let io = |e| Error::io(path, e);
        let (length, rows) = checkpointed_rows(path, columns, checkpointed)?;
        let mut file = OpenOptions::new().write(true).open(path).map_err(io)?;
        file.set_len(length).map_err(io)?;
        file.seek(SeekFrom::End(0)).map_err(io)?;
        Ok(Self::new(path, file, columns, rows))
    }

    /// Refuses what [`Self::append`] would refuse; changes nothing.
    pub fn check(path: &Path, columns: Columns, checkpointed: Extent) -> Result<()> {
        checkpointed_rows(path, columns, checkpointed).map(|_| ())
    }

    /// Extent of a closed table.
    pub fn extent(path: &Path, columns: Columns) -> Result<Extent> {
        read_rows(path, &header(columns), u64::MAX).map(|(_, rows)| rows.extent())
    }

    fn new(path: &Path, file: File, columns: Columns, written: Rows) -> Self {
        let columns = columns.all().len();
        Self { path: path.to_owned(), file, columns, written, line: String::with_capacity(1024) }
    }

    /// Writes one row, unless the last one was of the same step and stage: a run that continues repeats it.
    pub fn write(&mut self, row: &EnergyRow) -> Result<()> {
        let place = Some((row.step, row.stage));
        if self.written.last == place {
            return Ok(());
        }
        self.line.clear();
        // writing to a string does not fail
        let _ = write!(self.line, "{},{:.6},{}", row.step, row.time, row.stage);
        for value in &row.values()[..self.columns] {
            // six decimals resolve the drift of the largest system; beyond 1e9 only a clash being minimised goes
            let _ = if value.abs() < 1e9 { write!(self.line, ",{value:.6}") } else { write!(self.line, ",{value:e}") };
        }
        self.line.push('\n');
        self.write_line()?;
        self.written.add(self.line.as_bytes(), place);
        Ok(())
    }

    /// Waits until all rows are on disk; returns the extent for a checkpoint.
    pub fn sync(&mut self) -> Result<Extent> {
        self.file.sync_data().map_err(|e| Error::io(&self.path, e))?;
        Ok(self.written.extent())
    }

    fn write_line(&mut self) -> Result<()> {
        self.file.write_all(self.line.as_bytes()).map_err(|e| Error::io(&self.path, e))
    }
}

/// The numbers of a table that a run has written or is writing.
#[derive(Clone, Debug, PartialEq)]
pub struct EnergyRecord {
    /// names and units; the first three are step, time and stage
    pub columns: Vec<(String, String)>,
    /// complete rows
    pub rows: Vec<Vec<f64>>,
}

/// First bytes of every table.
pub const TABLE_START: &str = "step,time (ps),stage,";

/// Reads a table of any run; a last line that is not finished is left out.
pub fn read_energies(path: &Path) -> Result<EnergyRecord> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, e))?;
    let mut lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(str::trim_end);
    let header = lines.next().filter(|line| line.starts_with(TABLE_START));
    let header = header.ok_or_else(|| Problem::new("not an energy table of md").in_file(path).at_line(1))?;
    let column = |text: &str| {
        let (name, unit) = text.split_once(" (").unwrap_or((text, ""));
        (name.to_owned(), unit.trim_end_matches(')').to_owned())
    };
    let columns: Vec<(String, String)> = header.split(',').map(column).collect();
    let row = |(index, line): (usize, &str)| {
        let row: Option<Vec<f64>> = line.split(',').map(|value| value.parse().ok()).collect();
        let message = format!("expected {} numbers", columns.len());
        row.filter(|row| row.len() == columns.len())
            .ok_or_else(|| Problem::new(message).in_file(path).at_line(index + 2))
    };
    let rows = lines.enumerate().map(row).collect::<std::result::Result<_, Problem>>()?;
    Ok(EnergyRecord { columns, rows })
}

fn header(columns: Columns) -> String {
    let columns = columns.all().iter().map(|(name, unit)| format!("{name} ({unit})"));
    format!("{TABLE_START}{}\n", columns.collect::<Vec<_>>().join(","))
}

/// The rows of `checkpointed`, and where they end.
fn checkpointed_rows(path: &Path, columns: Columns, checkpointed: Extent) -> Result<(u64, Rows)> {
    let (length, rows) = read_rows(path, &header(columns), checkpointed.count)?;
    let message = match rows.count.cmp(&checkpointed.count) {
        _ if rows.extent() == checkpointed => return Ok((length, rows)),
        Ordering::Less => format!("{} rows found, the checkpoint was written after {}", rows.count, checkpointed.count),
        _ => format!("the first {} rows are not those the checkpoint was written after", checkpointed.count),
    };
    let help = "the file was changed or replaced since; restore it, or see `md run --help` for --no-append and --force";
    Err(Problem::new(message).in_file(path).help(help).into())
}

/// The first `most` rows that are complete, and where they end.
fn read_rows(path: &Path, header: &str, most: u64) -> Result<(u64, Rows)> {
    let mut reader = BufReader::new(File::open(path).map_err(|e| Error::io(path, e))?);
    let mut line = vec![];
    let mut next = |line: &mut Vec<u8>| {
        line.clear();
        reader.read_until(b'\n', line).map(|_| line.ends_with(b"\n")).map_err(|e| Error::io(path, e))
    };
    if !next(&mut line)? || line != header.as_bytes() {
        let problem = Problem::new("the columns are not the ones this run writes").in_file(path).at_line(1);
        return Err(problem.help("restore the file, or see `md run --help` for --no-append and --force").into());
    }
    let (mut end, mut rows) = (line.len() as u64, Rows::default());
    while rows.count < most && next(&mut line)? {
        rows.add(&line, step_and_stage(&line));
        end += line.len() as u64;
    }
    Ok((end, rows))
}

fn step_and_stage(line: &[u8]) -> Option<(u64, u32)> {
    let mut fields = std::str::from_utf8(line).ok()?.split(',');
    let (step, _, stage) = (fields.next()?.parse().ok()?, fields.next()?, fields.next()?.parse().ok()?);
    Some((step, stage))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3::vec3;

    fn row(step: u64, stage: u32) -> EnergyRow {
        let energies = Energies { bond: 1.5, lj: -2e5, coulomb: 3e-7, coulomb_14: 2.0, ..Energies::default() };
        EnergyRow {
            step,
            time: 0.002 * step as f64,
            stage,
            energies,
            kinetic: 7.25,
            conserved: -1.0,
            temperature: 300.5,
            pressure: units::BAR,
            pressure_along: vec3(1.0, 2.0, 3.0) * units::BAR,
            mass: 1000.0,
            cell: Some(PeriodicCell::orthorhombic([2.0, 2.5, 4.0])),
        }
    }

    fn lines(path: &Path) -> Vec<String> {
        std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn columns_and_units_are_in_place() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("energies.csv");
        EnergyTable::create(&path, Columns::Directional).unwrap().write(&row(5, 1)).unwrap();
        let lines = lines(&path);
        let fields: Vec<(&str, &str)> = lines[0].split(',').zip(lines[1].split(',')).collect();
        for expected in [
            ("step", "5"),
            ("time (ps)", "0.010000"),
            ("stage", "1"),
            ("bond (kJ/mol)", "1.500000"),
            ("lj (kJ/mol)", "-200000.000000"),
            ("potential (kJ/mol)", "-199998.500000"),
            ("total (kJ/mol)", "-199991.250000"),
            ("conserved (kJ/mol)", "-1.000000"),
            ("temperature (K)", "300.500000"),
            ("pressure (bar)", "1.000000"),
            ("volume (nm^3)", "20.000000"),
            // 1000 amu in 20 nm³ = 50 amu/nm³ = 0.083027 g/cm³
            ("density (g/cm^3)", "0.083027"),
            ("b_y (nm)", "2.500000"),
            ("c_z (nm)", "4.000000"),
            ("pressure_yy (bar)", "2.000000"),
            // 4 nm (3 − 1.5) bar
            ("surface_tension (mN/m)", "0.600000"),
        ] {
            assert!(fields.contains(&expected), "{expected:?} not in {fields:?}");
        }
        assert_eq!(fields.len(), 36);
    }

    #[test]
    fn continued_after_a_checkpoint_without_gaps_or_doubles() {
        let directory = tempfile::tempdir().unwrap();
        let (whole, parts) = (directory.path().join("whole.csv"), directory.path().join("parts.csv"));
        let rows = [(0, 1), (10, 1), (20, 1), (20, 2), (30, 2), (40, 2)];
        let write = |table: &mut EnergyTable, rows: &[(u64, u32)]| {
            rows.iter().for_each(|&(step, stage)| table.write(&row(step, stage)).unwrap());
        };
        let mut table = EnergyTable::create(&whole, Columns::Open).unwrap();
        write(&mut table, &rows);
        let all = table.sync().unwrap();
        let mut table = EnergyTable::create(&parts, Columns::Open).unwrap();
        write(&mut table, &rows[..4]);
        let kept = table.sync().unwrap();
        write(&mut table, &rows[4..5]);
        // killed in the middle of a row, the checkpoint is of step 20 of stage 2
        OpenOptions::new().append(true).open(&parts).unwrap().write_all(b"35,0.07").unwrap();
        let mut table = EnergyTable::append(&parts, Columns::Open, kept).unwrap();
        assert_eq!(lines(&parts).len(), 5);
        write(&mut table, &rows[3..]);
        assert_eq!((table.sync().unwrap(), all.count), (all, 6));
        assert_eq!(lines(&whole), lines(&parts));
        // at the end everything is kept
        drop(EnergyTable::append(&parts, Columns::Open, all).unwrap());
        assert_eq!(lines(&whole), lines(&parts));
        assert_eq!(EnergyTable::extent(&parts, Columns::Open).unwrap(), all);
    }

    #[test]
    fn foreign_and_changed_files_are_refused_and_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("energies.csv");
        let mut table = EnergyTable::create(&path, Columns::Open).unwrap();
        table.write(&row(0, 1)).unwrap();
        table.write(&row(10, 1)).unwrap();
        let written = table.sync().unwrap();
        assert_eq!(EnergyTable::create(&path, Columns::Open).unwrap_err().exit_code(), 2);
        let good = std::fs::read_to_string(&path).unwrap();
        let cut = good.lines().take(2).map(|line| format!("{line}\n")).collect::<String>();
        for (text, columns, reason) in [
            (&good, Columns::Periodic, "columns are not the ones"),
            (&cut, Columns::Open, "1 rows found, the checkpoint was written after 2"),
            (&good.replace("7.25", "7.26"), Columns::Open, "the first 2 rows are not those"),
            (&String::new(), Columns::Open, "columns are not the ones"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = EnergyTable::append(&path, columns, written).unwrap_err();
            assert!(error.exit_code() == 2 && error.to_string().contains(reason), "{error}");
            assert_eq!(&std::fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn huge_and_broken_numbers_are_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("energies.csv");
        let energies = Energies { lj: 1.25e40, bond: f64::NAN, ..Energies::default() };
        EnergyTable::create(&path, Columns::Open).unwrap().write(&EnergyRow { energies, ..row(0, 1) }).unwrap();
        let text = &lines(&path)[1];
        assert!(text.contains(",1.25e40,") && text.contains(",NaN,"), "{text}");
    }
}
