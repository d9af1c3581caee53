//! Additions to the HDF5 binding: strings of a length known at run time, attributes that all readers accept.

use hdf5::types::{FixedAscii, FixedUnicode, TypeDescriptor, VarLenAscii, VarLenUnicode};
use hdf5::{Attribute, Dataset, File, FileBuilder, Group, H5Type, Location, Result};

/// How often a reader tries again to read metadata whose checksum is wrong because the writer is just changing it. The
/// library waits 1 ns, then each time twice as long: 4 ms in all, where its own 100 tries never end.
const READ_ATTEMPTS: u32 = 22;

/// How files are created and opened: in the format that allows reading during writing (SWMR). HDF5's own lock is off: it
/// ends when SWMR begins and fails on some network file systems; the lock of the directory replaces it.
pub(super) fn options() -> FileBuilder {
    let mut options = File::with_options();
    // without the buffer for small datasets: what it holds is written when a handle is dropped, which tells no error
    options.with_fapl(|p| p.libver_v110().file_locking(false).metadata_read_attempts(READ_ATTEMPTS).sieve_buf_size(0));
    options
}

/// The same for a file that frames are added to. Of each dataset the library keeps the chunk that is being filled, up to
/// `chunk` bytes of it: at every flush it goes through all the chunks that it keeps, by default thousands of them.
pub(super) fn options_for_appending(chunk: usize) -> FileBuilder {
    let mut options = options();
    options.with_fapl(|p| p.chunk_cache(1, chunk, 1.0));
    options
}

/// A variable-length ASCII attribute: the only kind MDAnalysis takes for `unit`.
pub(super) fn unit_attribute(location: &Location, name: &str, unit: &str) -> Result<()> {
    let ascii = VarLenAscii::from_ascii(unit).map_err(|e| hdf5::Error::from(format!("{e}")))?;
    location.new_attr::<VarLenAscii>().create(name)?.write_scalar(&ascii)
}

/// A variable-length UTF-8 attribute, which PyTables (MDTraj) returns as text, not as bytes.
pub(super) fn text_attribute(location: &Location, name: &str, text: &str) -> Result<()> {
    let unicode: VarLenUnicode = text.replace('\0', " ").parse().map_err(|e| hdf5::Error::from(format!("{e}")))?;
    location.new_attr::<VarLenUnicode>().create(name)?.write_scalar(&unicode)
}

/// A fixed-length text attribute of up to 64 bytes: what the H5MD specification asks for in author and creator.
pub(super) fn short_text_attribute(location: &Location, name: &str, text: &str) -> Result<()> {
    let text: String = text.chars().filter(|c| c.is_ascii() && *c != '\0').take(64).collect();
    let fixed = FixedAscii::<64>::from_ascii(&text).map_err(|e| hdf5::Error::from(format!("{e}")))?;
    location.new_attr::<FixedAscii<64>>().create(name)?.write_scalar(&fixed)
}

/// Reads back an attribute of [`short_text_attribute`]. Texts of variable length are never read: where the heap that
/// they are in is damaged the library does not return.
pub(super) fn short_text(attribute: &Attribute) -> Result<String> {
    Ok(attribute.read_scalar::<FixedAscii<64>>()?.as_str().to_owned())
}

/// An attribute in any kind of string, of up to 64 bytes where the length is fixed. Only for files of other programs: see
/// [`short_text`].
pub(super) fn any_text(attribute: &Attribute) -> Result<String> {
    fn first<T: H5Type>(attribute: &Attribute, text: impl Fn(&T) -> &str) -> Result<String> {
        let found = attribute.read_raw::<T>()?;
        Ok(found.first().map(|found| text(found).to_owned()).unwrap_or_default())
    }
    match attribute.dtype()?.to_descriptor()? {
        TypeDescriptor::FixedAscii(_) => first::<FixedAscii<64>>(attribute, FixedAscii::as_str),
        TypeDescriptor::FixedUnicode(_) => first::<FixedUnicode<64>>(attribute, FixedUnicode::as_str),
        TypeDescriptor::VarLenAscii => first::<VarLenAscii>(attribute, VarLenAscii::as_str),
        TypeDescriptor::VarLenUnicode => first::<VarLenUnicode>(attribute, VarLenUnicode::as_str),
        kind => Err(hdf5::Error::from(format!("{} is {kind}, expected a text", attribute.name()))),
    }
}

/// A fixed-length text dataset: `shape` is `&[]` for a scalar or `&[1]` for MDTraj's array of one.
pub(super) fn text_dataset(group: &Group, name: &str, text: &str, shape: &[usize]) -> Result<()> {
    // HDF5 has no strings of length zero
    let bytes = if text.is_empty() { b" " } else { text.as_bytes() };
    let kind = if text.is_ascii() { TypeDescriptor::FixedAscii } else { TypeDescriptor::FixedUnicode };
    let dataset = group.new_dataset_builder().empty_as(kind(bytes.len())).shape(shape.to_vec()).create(name)?;
    let stored = dataset.dtype()?;
    hdf5::sync::sync(|| {
        // SAFETY: both handles live through the call and the library's lock is held; the memory type is the stored
        // one, `bytes.len()` bytes for the single element, which is exactly what `bytes` holds.
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

/// Times its own length that a file may claim to hold in one array. A row of positions never has more bytes than the
/// names and masses of its atoms, which are in the file too; ten leaves room for those packed by another program.
const EXPANSION: u64 = 10;

/// Bytes of an array of such shape in the file of `dataset`; more than the file can hold are an error, so that no
/// memory is taken for what a damaged file claims.
pub(super) fn claimed_bytes(dataset: &Dataset, shape: &[usize], value_bytes: usize) -> Result<usize> {
    let file = std::fs::metadata(dataset.filename()).map_err(|e| e.to_string())?.len();
    let bytes = shape.iter().try_fold(value_bytes, |bytes, &n| bytes.checked_mul(n));
    bytes.filter(|&bytes| bytes as u64 <= file.saturating_mul(EXPANSION)).ok_or_else(|| {
        let name = dataset.name();
        hdf5::Error::from(format!("{name} claims {shape:?} values of {value_bytes} bytes in a file of {file}"))
    })
}

/// All values of a dataset.
pub(super) fn read_numbers<T: H5Type>(group: &Group, name: &str) -> Result<Vec<T>> {
    let dataset = group.dataset(name)?;
    claimed_bytes(&dataset, &dataset.shape(), dataset.dtype()?.size().max(size_of::<T>()))?;
    dataset.read_raw()
}

/// Reads back a text dataset of [`text_dataset`].
pub(super) fn read_text(group: &Group, name: &str) -> Result<String> {
    let dataset = group.dataset(name)?;
    let stored = dataset.dtype()?;
    if !matches!(stored.to_descriptor()?, TypeDescriptor::FixedAscii(_) | TypeDescriptor::FixedUnicode(_)) {
        return Err(hdf5::Error::from(format!("{name} is no text of a fixed length")));
    }
    let mut bytes = vec![0u8; claimed_bytes(&dataset, &dataset.shape(), stored.size())?];
    hdf5::sync::sync(|| {
        // SAFETY: both handles live through the call and the library's lock is held; `bytes` has room for every
        // element of the stored type, which is the memory type too.
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
