//! Results as HDF5 files with named dimensions, which netCDF4 and xarray open.
//!
//! Dimensions are HDF5 dimension scales, used in the same way as in netCDF4 files. A scale is a dataset with the
//! attributes `CLASS` and `NAME`, which represents a dimension. Every other dataset names the scales of its dimensions
//! in `DIMENSION_LIST`, and each scale lists these datasets in `REFERENCE_LIST`. A one-dimensional array with the same
//! name as its dimension is the scale, and its values are the coordinates. A dimension without coordinates has a scale
//! without values, whose attribute `NAME` is a fixed text of netCDF4. The scale `time` is in ps; the dataset `step` has
//! the same dimension. Provenance and settings are attributes of the file.

use std::ffi::CString;
use std::path::Path;

use hdf5::types::{VarLenArray, VarLenUnicode};
use hdf5::{Dataset, File, H5Type, ObjectReference1, Result as Hdf5Result};
use ndarray::ArrayView;

use super::Origin;
use crate::analysis::findings::{Array, Findings, TIME, Values};
use crate::analysis::pass::Passed;
use crate::error::{Error, Result};

/// Writes results, with the datasets `/step` and `/time` (ps).
pub(super) fn write(path: &Path, origin: &Origin, passed: &Passed, findings: &Findings) -> Result<()> {
    let all = || {
        let file = File::create(path)?;
        let own = [
            ("program", concat!("md ", env!("CARGO_PKG_VERSION")).to_owned()),
            ("trajectory", origin.trajectories.join(" ")),
            ("command", origin.command.clone()),
            // the attribute `coordinates` tells xarray that the steps are coordinates, not results
            ("coordinates", "step".to_owned()),
        ];
        own.iter().chain(&findings.settings).try_for_each(|(name, text)| text_attribute(&file, name, text))?;
        if !findings.warnings.is_empty() {
            text_attribute(&file, "warnings", &findings.warnings.join("\n"))?;
        }
        let mut named = Dimensions { file: &file, scales: vec![] };
        let frames = passed.times.len();
        let time = dataset(&file, TIME, &[frames], &passed.times, "ps")?;
        named.add(TIME, frames, Some(time))?;
        for array in findings.arrays.iter().filter(|array| is_coordinate(array)) {
            let coordinates = store(&file, array)?;
            named.add(array.name, array.shape[0], Some(coordinates))?;
        }
        let step = dataset(&file, "step", &[frames], &passed.steps, "")?;
        named.attach(&step, "step", &[TIME], &[frames])?;
        for array in findings.arrays.iter().filter(|array| !is_coordinate(array)) {
            let stored = store(&file, array)?;
            named.attach(&stored, array.name, &array.dimensions, &array.shape)?;
        }
        named.finish()?;
        file.close()
    };
    all().map_err(|error| Error::io(path, error))
}

/// Whether an array holds the coordinates of a dimension.
pub(super) fn is_coordinate(array: &Array) -> bool {
    array.dimensions == [array.name]
}

/// Dimension scales of a file.
struct Dimensions<'a> {
    file: &'a File,
    scales: Vec<Scale>,
}

/// Dataset that represents a dimension.
struct Scale {
    name: &'static str,
    extent: usize,
    dataset: Dataset,
    users: Vec<User>,
}

/// Entry of `REFERENCE_LIST`: a dataset that uses the scale, and the index of the dimension that the scale represents.
#[derive(Clone, Copy, H5Type)]
#[repr(C)]
struct User {
    dataset: ObjectReference1,
    dimension: u32,
}

impl Dimensions<'_> {
    /// Adds a dimension with a dataset of its coordinates, or without coordinates.
    fn add(&mut self, name: &'static str, extent: usize, coordinates: Option<Dataset>) -> Hdf5Result<()> {
        let (dataset, title) = match coordinates {
            Some(dataset) => (dataset, name.to_owned()),
            None => {
                let dataset = self.file.new_dataset::<f32>().shape([extent]).create(name)?;
                // netCDF4 writes exactly this text, with a number that is ten characters wide
                (dataset, format!("This is a netCDF dimension but not a netCDF variable.{extent:10}"))
            }
        };
        scale_attribute(&dataset, "CLASS", "DIMENSION_SCALE")?;
        scale_attribute(&dataset, "NAME", &title)?;
        self.scales.push(Scale { name, extent, dataset, users: vec![] });
        Ok(())
    }

    /// Attaches dimension scales to the dimensions of a dataset. Scales without coordinates are created at their first
    /// use.
    fn attach(
        &mut self,
        dataset: &Dataset,
        path: &str,
        dimensions: &[&'static str],
        shape: &[usize],
    ) -> Hdf5Result<()> {
        let mut list = Vec::with_capacity(dimensions.len());
        for (index, (&name, &extent)) in dimensions.iter().zip(shape).enumerate() {
            if !self.scales.iter().any(|scale| scale.name == name) {
                self.add(name, extent, None)?;
            }
            let user = User { dataset: self.file.reference(path)?, dimension: index as u32 };
            let scale = self.scales.iter_mut().find(|scale| scale.name == name).expect("just added");
            if scale.extent != extent {
                let text = format!("{path} has {extent} values along the dimension {name} of extent {}", scale.extent);
                return Err(hdf5::Error::from(text));
            }
            scale.users.push(user);
            list.push(VarLenArray::from([self.file.reference::<ObjectReference1>(name)?]));
        }
        if list.is_empty() {
            return Ok(());
        }
        dataset.new_attr_builder().with_data(&list).create("DIMENSION_LIST").map(drop)
    }

    /// Writes to each scale the list of the datasets to which the scale is attached.
    fn finish(&self) -> Hdf5Result<()> {
        let mut used = self.scales.iter().filter(|scale| !scale.users.is_empty());
        used.try_for_each(|scale| {
            scale.dataset.new_attr_builder().with_data(&scale.users).create("REFERENCE_LIST").map(drop)
        })
    }
}

/// Writes an array as a dataset, and returns the dataset.
fn store(file: &File, array: &Array) -> Hdf5Result<Dataset> {
    let Array { name, shape, values, unit, .. } = array;
    match values {
        Values::Single(values) => dataset(file, name, shape, values, unit),
        Values::Double(values) => dataset(file, name, shape, values, unit),
        Values::Whole(values) => dataset(file, name, shape, values, unit),
        Values::Text(values) => {
            let values: Hdf5Result<Vec<VarLenUnicode>> = values.iter().map(|text| variable(text)).collect();
            dataset(file, name, shape, &values?, unit)
        }
    }
}

/// Writes a dataset with its unit: the attribute `unit` has the H5MD syntax (`nm+2`), and the attribute `units` has the
/// netCDF syntax (`nm2`).
fn dataset<T: H5Type>(file: &File, name: &str, shape: &[usize], values: &[T], unit: &str) -> Hdf5Result<Dataset> {
    let values = ArrayView::from_shape(shape, values).map_err(|error| hdf5::Error::from(error.to_string()))?;
    let dataset = file.new_dataset_builder().with_data(values).create(name)?;
    if !unit.is_empty() {
        text_attribute(&dataset, "unit", unit)?;
        text_attribute(&dataset, "units", &unit.replace('+', ""))?;
    }
    Ok(dataset)
}

/// Writes a text attribute of a dimension scale. HDF5 recognises a scale only if the text is null-terminated ASCII of
/// fixed length, which the crate `hdf5` cannot create.
fn scale_attribute(dataset: &Dataset, name: &str, text: &str) -> Hdf5Result<()> {
    let [key, value] =
        [name, text].map(|text| CString::new(text).expect("names of dimensions contain no null character"));
    let space = hdf5::Dataspace::try_new(())?;
    hdf5::sync::sync(|| {
        // SAFETY: the library's lock is held, and `H5T_C_S1` is valid because the file has been created. `H5Tclose`
        // below closes the handle `kind` of the copied type.
        let kind = unsafe { hdf5::h5check(hdf5_sys::h5t::H5Tcopy(*hdf5_sys::h5t::H5T_C_S1))? };
        let length = value.as_bytes_with_nul().len();
        // SAFETY: the lock is held, all handles are open, `key` is null-terminated, and `value` has the `length` bytes
        // of one element of the type `kind`. The handles that are created in this function are closed once.
        unsafe {
            let written = (|| {
                hdf5::h5check(hdf5_sys::h5t::H5Tset_size(kind, length))?;
                let default = hdf5_sys::h5p::H5P_DEFAULT;
                let attribute = hdf5::h5check(hdf5_sys::h5a::H5Acreate2(
                    dataset.id(),
                    key.as_ptr(),
                    kind,
                    space.id(),
                    default,
                    default,
                ))?;
                let written = hdf5::h5check(hdf5_sys::h5a::H5Awrite(attribute, kind, value.as_ptr().cast()));
                hdf5::h5check(hdf5_sys::h5a::H5Aclose(attribute))?;
                written.map(drop)
            })();
            hdf5::h5check(hdf5_sys::h5t::H5Tclose(kind))?;
            written
        }
    })
}

fn text_attribute(location: &hdf5::Location, name: &str, text: &str) -> Hdf5Result<()> {
    location.new_attr::<VarLenUnicode>().create(name)?.write_scalar(&variable(text)?)
}

fn variable(text: &str) -> Hdf5Result<VarLenUnicode> {
    text.replace('\0', " ").parse().map_err(|error| hdf5::Error::from(format!("{error}")))
}
