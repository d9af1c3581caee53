//! Additions to the HDF5 binding: strings whose length is known only at run time, and attributes that all programs can
//! read.

use hdf5::types::{FixedAscii, FixedUnicode, TypeDescriptor, VarLenAscii, VarLenUnicode};
use hdf5::{Attribute, Dataset, File, FileBuilder, Group, H5Type, Location, Result};

/// Number of attempts to read metadata whose checksum is wrong because a writer is changing the metadata at this
/// moment. The HDF5 library waits 1 ns after the first attempt and doubles the wait after each further attempt, so that
/// the total wait is 4 ms. With the default of 100 attempts the library would practically never return.
const READ_ATTEMPTS: u32 = 22;

/// Returns options to create and open files in a format that programs can read while the file is written (HDF5's SWMR
/// mode). HDF5's own file lock is switched off, because HDF5 releases this lock when SWMR mode begins, and because the
/// lock fails on some network file systems. The lock of the output directory replaces HDF5's lock.
pub(super) fn options() -> FileBuilder {
    let mut options = File::with_options();
    // small datasets are not buffered, because HDF5 would write a buffer only when the handle of the dataset is
    // dropped, and errors of this write would be lost
    options.with_fapl(|p| p.libver_v110().file_locking(false).metadata_read_attempts(READ_ATTEMPTS).sieve_buf_size(0));
    options
}

/// Returns options for a file to which frames are appended. For each dataset, the HDF5 library caches at most `chunk`
/// bytes, enough for the chunk that is being filled. Every flush visits all cached chunks, and with the default options
/// there are thousands of cached chunks.
pub(super) fn options_for_appending(chunk: usize) -> FileBuilder {
    let mut options = options();
    options.with_fapl(|p| p.chunk_cache(1, chunk, 1.0));
    options
}

/// Writes the attribute `name` as variable-length ASCII text, the only type that MDAnalysis accepts for units.
pub(super) fn unit_attribute(location: &Location, name: &str, unit: &str) -> Result<()> {
    let ascii = VarLenAscii::from_ascii(unit).map_err(|e| hdf5::Error::from(format!("{e}")))?;
    location.new_attr::<VarLenAscii>().create(name)?.write_scalar(&ascii)
}

/// Writes the attribute `name` as variable-length UTF-8 text, which PyTables (MDTraj) returns as text, not as bytes.
pub(super) fn text_attribute(location: &Location, name: &str, text: &str) -> Result<()> {
    let unicode: VarLenUnicode = text.replace('\0', " ").parse().map_err(|e| hdf5::Error::from(format!("{e}")))?;
    location.new_attr::<VarLenUnicode>().create(name)?.write_scalar(&unicode)
}

/// Writes the attribute `name` as fixed-length text of up to 64 bytes, the type that the H5MD specification requires
/// for author and creator.
pub(super) fn short_text_attribute(location: &Location, name: &str, text: &str) -> Result<()> {
    let text: String = text.chars().filter(|c| c.is_ascii() && *c != '\0').take(64).collect();
    let fixed = FixedAscii::<64>::from_ascii(&text).map_err(|e| hdf5::Error::from(format!("{e}")))?;
    location.new_attr::<FixedAscii<64>>().create(name)?.write_scalar(&fixed)
}

/// Reads an attribute written by [`short_text_attribute`]. Variable-length texts in md's own files are never read,
/// because the HDF5 library hangs if the heap of these texts is damaged.
pub(super) fn short_text(attribute: &Attribute) -> Result<String> {
    Ok(attribute.read_scalar::<FixedAscii<64>>()?.as_str().to_owned())
}

/// Reads a text attribute of any string type; a fixed-length text may have up to 64 bytes. Use this function only for
/// files of other programs, because it may read variable-length texts (see [`short_text`]).
pub(super) fn any_text(attribute: &Attribute) -> Result<String> {
    Ok(any_texts(attribute)?.into_iter().next().unwrap_or_default())
}

/// Reads all texts of an attribute like [`any_text`].
pub(super) fn any_texts(attribute: &Attribute) -> Result<Vec<String>> {
    fn all<T: H5Type>(attribute: &Attribute, text: impl Fn(&T) -> &str) -> Result<Vec<String>> {
        Ok(attribute.read_raw::<T>()?.iter().map(|found| text(found).to_owned()).collect())
    }
    match attribute.dtype()?.to_descriptor()? {
        TypeDescriptor::FixedAscii(_) => all::<FixedAscii<64>>(attribute, FixedAscii::as_str),
        TypeDescriptor::FixedUnicode(_) => all::<FixedUnicode<64>>(attribute, FixedUnicode::as_str),
        TypeDescriptor::VarLenAscii => all::<VarLenAscii>(attribute, VarLenAscii::as_str),
        TypeDescriptor::VarLenUnicode => all::<VarLenUnicode>(attribute, VarLenUnicode::as_str),
        kind => Err(hdf5::Error::from(format!("{} is {kind}, expected text", attribute.name()))),
    }
}

/// Writes a fixed-length text dataset. `shape` is `&[]` for a scalar, or `&[1]` for an array with one text as in
/// MDTraj's layout.
pub(super) fn text_dataset(group: &Group, name: &str, text: &str, shape: &[usize]) -> Result<()> {
    // HDF5 does not allow strings of length zero, so an empty text is stored as a blank
    let bytes = if text.is_empty() { b" " } else { text.as_bytes() };
    let kind = if text.is_ascii() { TypeDescriptor::FixedAscii } else { TypeDescriptor::FixedUnicode };
    let dataset = group.new_dataset_builder().empty_as(kind(bytes.len())).shape(shape.to_vec()).create(name)?;
    let stored = dataset.dtype()?;
    hdf5::sync::sync(|| {
        // SAFETY: both handles live through the call and the lock of the HDF5 library is held; the memory type is the
        // stored type, which has `bytes.len()` bytes for its single element, exactly the length of `bytes`.
        let status = unsafe {
            hdf5_sys::h5d::H5Dwrite(
                dataset.id(),
                stored.id(),
                hdf5_sys::h5s::H5S_ALL,
                hdf5_sys::h5s::H5S_ALL,
                hdf5_sys::h5p::H5P_DEFAULT,
                bytes.as_ptr().cast(),
            )
        };
        hdf5::h5check(status).map(drop)
    })
}

/// Maximum size of one array in memory, as a multiple of the size of its file. In files of md, a row of positions is
/// never larger than the file, because the file also stores the names and masses of the same atoms. The factor of ten
/// leaves a margin for arrays that another program has compressed.
const EXPANSION: u64 = 10;

/// Returns the size in bytes of an array with the shape `shape` and values of `value_bytes` bytes, which the caller
/// will read from the file of `dataset`. Returns an error if the file is too small for the array, so that no memory is
/// allocated for a false size in a damaged file.
pub(super) fn claimed_bytes(dataset: &Dataset, shape: &[usize], value_bytes: usize) -> Result<usize> {
    let file = std::fs::metadata(dataset.filename()).map_err(|e| e.to_string())?.len();
    let bytes = shape.iter().try_fold(value_bytes, |bytes, &n| bytes.checked_mul(n));
    bytes.filter(|&bytes| bytes as u64 <= file.saturating_mul(EXPANSION)).ok_or_else(|| {
        let name = dataset.name();
        hdf5::Error::from(format!(
            "{name} has {shape:?} values of {value_bytes} bytes, too many for a file of {file} bytes"
        ))
    })
}

/// Reads all values of the dataset `name`.
pub(super) fn read_numbers<T: H5Type>(group: &Group, name: &str) -> Result<Vec<T>> {
    let dataset = group.dataset(name)?;
    claimed_bytes(&dataset, &dataset.shape(), dataset.dtype()?.size().max(size_of::<T>()))?;
    dataset.read_raw()
}

/// Reads a text dataset written by [`text_dataset`].
pub(super) fn read_text(group: &Group, name: &str) -> Result<String> {
    let dataset = group.dataset(name)?;
    let stored = dataset.dtype()?;
    if !matches!(stored.to_descriptor()?, TypeDescriptor::FixedAscii(_) | TypeDescriptor::FixedUnicode(_)) {
        return Err(hdf5::Error::from(format!("{name} is not a text of fixed length")));
    }
    let mut bytes = vec![0u8; claimed_bytes(&dataset, &dataset.shape(), stored.size())?];
    hdf5::sync::sync(|| {
        // SAFETY: both handles live through the call and the lock of the HDF5 library is held; `bytes` is large enough
        // for every element of the stored type, and the memory type is the stored type.
        let status = unsafe {
            hdf5_sys::h5d::H5Dread(
                dataset.id(),
                stored.id(),
                hdf5_sys::h5s::H5S_ALL,
                hdf5_sys::h5s::H5S_ALL,
                hdf5_sys::h5p::H5P_DEFAULT,
                bytes.as_mut_ptr().cast(),
            )
        };
        hdf5::h5check(status)
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
