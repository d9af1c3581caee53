//! Result files in HDF5: one dataset for each array, and the provenance of the results in attributes.

use std::path::Path;

use hdf5::types::VarLenUnicode;
use hdf5::{File, Result as Hdf5Result};
use ndarray::ArrayView;

use super::pass::Passed;
use crate::error::{Error, Result};

/// Results of an observable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// arrays for the result file
    pub arrays: Vec<Array>,
    /// settings of the computation, by name, which become attributes of the result file
    pub settings: Vec<(&'static str, String)>,
    /// lines that summarise the results for the user
    pub summary: Vec<String>,
}

/// Named array of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// name of the dataset
    pub name: &'static str,
    /// extent of the array along each axis; the last axis varies fastest
    pub shape: Vec<usize>,
    /// values of the array; their number is the product of all extents
    pub values: Values,
    /// unit in the notation of H5MD; empty for numbers without a unit
    pub unit: &'static str,
}

/// Numbers of an array, all of the same type.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// 32-bit floating point
    Single(Vec<f32>),
    /// 64-bit floating point
    Double(Vec<f64>),
    /// counts and indices
    Whole(Vec<u32>),
}

impl Array {
    /// Creates an array of this shape.
    pub fn new(name: &'static str, shape: &[usize], values: Vec<f64>, unit: &'static str) -> Self {
        Self { name, shape: shape.to_vec(), values: Values::Double(values), unit }
    }
}

/// Provenance of a result: trajectory and selection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// path of the trajectory
    pub trajectory: String,
    /// verbatim text of the selection
    pub selection: String,
    /// selected atoms, 0-based
    pub atoms: Vec<u32>,
}

/// Writes the results to a file, with the datasets `/step`, `/time` (ps) and `/atoms` (0-based). After an error, the
/// incomplete file is removed.
pub fn write(path: &Path, origin: &Origin, passed: &Passed, findings: &Findings) -> Result<()> {
    let all = || {
        let file = File::create(path)?;
        let own = [
            ("program", concat!("md ", env!("CARGO_PKG_VERSION"))),
            ("trajectory", &origin.trajectory),
            ("selection", &origin.selection),
        ];
        let settings = findings.settings.iter().map(|(name, text)| (*name, text.as_str()));
        own.into_iter().chain(settings).try_for_each(|(name, text)| text_attribute(&file, name, text))?;
        dataset(&file, "step", &[passed.steps.len()], &passed.steps, "")?;
        dataset(&file, "time", &[passed.times.len()], &passed.times, "ps")?;
        dataset(&file, "atoms", &[origin.atoms.len()], &origin.atoms, "")?;
        for Array { name, shape, values, unit } in &findings.arrays {
            match values {
                Values::Single(values) => dataset(&file, name, shape, values, unit)?,
                Values::Double(values) => dataset(&file, name, shape, values, unit)?,
                Values::Whole(values) => dataset(&file, name, shape, values, unit)?,
            }
        }
        file.close()
    };
    all().map_err(|error| {
        let _ = std::fs::remove_file(path);
        Error::io(path, error)
    })
}

fn dataset<T: hdf5::H5Type>(file: &File, name: &str, shape: &[usize], values: &[T], unit: &str) -> Hdf5Result<()> {
    let values = ArrayView::from_shape(shape, values).map_err(|error| hdf5::Error::from(error.to_string()))?;
    let dataset = file.new_dataset_builder().with_data(values).create(name)?;
    if unit.is_empty() { Ok(()) } else { text_attribute(&dataset, "unit", unit) }
}

fn text_attribute(location: &hdf5::Location, name: &str, text: &str) -> Hdf5Result<()> {
    let text: VarLenUnicode = text.replace('\0', " ").parse().map_err(|error| hdf5::Error::from(format!("{error}")))?;
    location.new_attr::<VarLenUnicode>().create(name)?.write_scalar(&text)
}
