//! Results as HDF5 files: one dataset for each array, attributes for how it was made.

use std::path::Path;

use hdf5::types::VarLenUnicode;
use hdf5::{File, Result as Hdf5Result};
use ndarray::Array;

use super::{Frames, Pca, RmsdMatrix};
use crate::error::{Error, Result};

/// What a result was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// file of the trajectory
    pub trajectory: String,
    /// the selection, word for word
    pub selection: String,
    /// whether atoms weigh by their masses
    pub mass_weighted: bool,
}

/// `/rmsd` (nm, frames × frames), `/step`, `/time` (ps), `/atoms` (0-based).
pub fn write_rmsd(path: &Path, origin: &Origin, frames: &Frames, matrix: &RmsdMatrix) -> Result<()> {
    write(path, origin, frames, |file| {
        array(file, "rmsd", &[matrix.frames, matrix.frames], matrix.values.clone(), "nm")
    })
}

/// `/eigenvalues` (all), `/eigenvectors` (components × atoms × 3), `/projections` (frames × components), `/mean` (nm, atoms
/// × 3), `/step`, `/time` (ps), `/atoms` (0-based).
pub fn write_pca(path: &Path, origin: &Origin, frames: &Frames, pca: &Pca) -> Result<()> {
    let (variance, length) = if origin.mass_weighted { ("u nm+2", "u+1/2 nm") } else { ("nm+2", "nm") };
    let (atoms, components) = (frames.atoms.len(), pca.eigenvectors.len());
    write(path, origin, frames, |file| {
        array(file, "eigenvalues", &[pca.eigenvalues.len()], pca.eigenvalues.clone(), variance)?;
        let vectors = pca.eigenvectors.iter().flatten().flatten().copied().collect();
        array::<f64>(file, "eigenvectors", &[components, atoms, 3], vectors, "")?;
        array(file, "projections", &[frames.len(), components], pca.projections.concat(), length)?;
        array(file, "mean", &[atoms, 3], pca.mean.as_flattened().to_vec(), "nm")
    })
}

/// A file with what all results have in common, and `content`. What could not be finished is removed.
fn write(path: &Path, origin: &Origin, frames: &Frames, content: impl FnOnce(&File) -> Hdf5Result<()>) -> Result<()> {
    let all = || {
        let file = File::create(path)?;
        let attributes = [
            ("program", concat!("md ", env!("CARGO_PKG_VERSION"))),
            ("trajectory", &origin.trajectory),
            ("selection", &origin.selection),
            ("weights", if origin.mass_weighted { "mass" } else { "equal" }),
        ];
        for (name, text) in attributes {
            text_attribute(&file, name, text)?;
        }
        array(&file, "step", &[frames.len()], frames.steps.clone(), "")?;
        array(&file, "time", &[frames.len()], frames.times.clone(), "ps")?;
        array(&file, "atoms", &[frames.atoms.len()], frames.atoms.clone(), "")?;
        content(&file)?;
        file.close()
    };
    all().map_err(|error| {
        let _ = std::fs::remove_file(path);
        Error::io(path, error)
    })
}

fn array<T: hdf5::H5Type>(file: &File, name: &str, shape: &[usize], values: Vec<T>, unit: &str) -> Hdf5Result<()> {
    let values = Array::from_shape_vec(shape, values).map_err(|error| hdf5::Error::from(error.to_string()))?;
    let dataset = file.new_dataset_builder().with_data(&values).create(name)?;
    if unit.is_empty() { Ok(()) } else { text_attribute(&dataset, "unit", unit) }
}

fn text_attribute(location: &hdf5::Location, name: &str, text: &str) -> Hdf5Result<()> {
    let text: VarLenUnicode = text.replace('\0', " ").parse().map_err(|error| hdf5::Error::from(format!("{error}")))?;
    location.new_attr::<VarLenUnicode>().create(name)?.write_scalar(&text)
}
