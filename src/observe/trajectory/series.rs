//! A dataset with one row per frame: rows appended and flushed one by one, and where their bytes lie in the file.

use hdf5::{Dataset, File, H5Type, Hyperslab, Result, SliceOrIndex};
use ndarray::{ArrayViewD, IxDyn};

/// Bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bytes {
    /// of the first byte
    pub(super) offset: u64,
    /// number of bytes
    pub(super) length: u64,
}

/// A dataset with one row per frame.
pub(super) struct Series {
    dataset: Dataset,
    /// shape of a row
    row: Vec<usize>,
    /// rows stored as one piece; `None` where rows are cut or no chunks
    rows_per_chunk: Option<u64>,
    /// bytes of a row before filters
    row_bytes: u64,
    filtered: bool,
}

impl Series {
    /// Opens `path` in `file`.
    pub(super) fn open(file: &File, path: &str) -> Result<Self> {
        let dataset = file.dataset(path)?;
        let row = dataset.shape().get(1..).unwrap_or_default().to_vec();
        let rows_per_chunk = match dataset.chunk().as_deref() {
            Some([rows, rest @ ..]) if rest == row => Some(*rows as u64).filter(|&rows| rows > 0),
            _ => None,
        };
        let value_bytes = dataset.dtype()?.size() as u64;
        let row_bytes = row.iter().try_fold(value_bytes, |bytes, &n| bytes.checked_mul(n as u64));
        let row_bytes = row_bytes.ok_or_else(|| hdf5::Error::from(format!("rows of {path} have {row:?} values")))?;
        let filtered = !dataset.filters().is_empty();
        Ok(Self { dataset, row, rows_per_chunk, row_bytes, filtered })
    }

    /// Opens `path` in `file` if it is there.
    pub(super) fn open_if_present(file: &File, path: &str) -> Result<Option<Self>> {
        // a link is looked up one level at a time: a missing parent is an error to the library
        let mut prefix = String::new();
        for part in path.split('/') {
            prefix = if prefix.is_empty() { part.to_owned() } else { format!("{prefix}/{part}") };
            if !file.link_exists(&prefix) {
                return Ok(None);
            }
        }
        Self::open(file, path).map(Some)
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.dataset.shape().first().copied().unwrap_or(0)
    }

    /// The dataset.
    pub(super) fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// Keeps the first `rows`.
    pub(super) fn truncate(&self, rows: usize) -> Result<()> {
        if self.len() == rows {
            return Ok(());
        }
        self.dataset.resize(self.shape(rows))?;
        self.dataset.flush()
    }

    /// Row number `index`, which must be there.
    pub(super) fn row<T: H5Type>(&self, index: usize) -> Result<Vec<T>> {
        let rows = self.dataset.read_slice::<T, _, IxDyn>(self.selection(index))?;
        Ok(rows.into_raw_vec_and_offset().0)
    }

    /// Adds row number `index` and hands it to the operating system.
    pub(super) fn append<T: H5Type>(&self, index: usize, row: &[T]) -> Result<()> {
        self.dataset.resize(self.shape(index + 1))?;
        let view = ArrayViewD::from_shape(IxDyn(&self.shape(1)), row).map_err(|e| hdf5::Error::from(format!("{e}")))?;
        self.dataset.write_slice(view, self.selection(index))?;
        self.dataset.flush()
    }

    /// Where row number `index` lies in the file, and which filters it did not pass (a bit each): a packed row is a
    /// chunk of its own.
    pub(super) fn stored_row(&self, index: usize) -> Result<(Bytes, u32)> {
        let unlike = || hdf5::Error::from(format!("{} is stored in a way md does not", self.dataset.name()));
        let rows = self.rows_per_chunk.ok_or_else(unlike)?;
        let (chunk, mask) = self.chunk(index as u64 / rows)?;
        if rows == 1 {
            return Ok((chunk, mask));
        }
        let start = (index as u64 % rows).saturating_mul(self.row_bytes);
        if self.filtered || start.saturating_add(self.row_bytes) > chunk.length {
            return Err(unlike());
        }
        Ok((Bytes { offset: chunk.offset.saturating_add(start), length: self.row_bytes }, mask))
    }

    /// Where chunk number `index` lies in the file, and which filters it did not pass.
    fn chunk(&self, index: u64) -> Result<(Bytes, u32)> {
        let mut corner = vec![0; 1 + self.row.len()];
        corner[0] = index.saturating_mul(self.rows_per_chunk.unwrap_or(1));
        let (mut mask, mut offset, mut length) = (0, hdf5_sys::h5::HADDR_UNDEF, 0);
        hdf5::sync::sync(|| {
            // SAFETY: the handle lives through the call and the library's lock is held; `corner` has an entry for each
            // dimension of the dataset, and the other three outlive the call.
            let status = unsafe {
                hdf5_sys::h5d::H5Dget_chunk_info_by_coord(
                    self.dataset.id(),
                    corner.as_ptr(),
                    &raw mut mask,
                    &raw mut offset,
                    &raw mut length,
                )
            };
            hdf5::h5check(status)
        })?;
        if offset == hdf5_sys::h5::HADDR_UNDEF {
            return Err(hdf5::Error::from(format!("{} lacks rows", self.dataset.name())));
        }
        Ok((Bytes { offset, length }, mask))
    }

    /// All of row number `index`.
    fn selection(&self, index: usize) -> Hyperslab {
        let mut selection: Vec<SliceOrIndex> = vec![(index..index + 1).into()];
        selection.extend(self.row.iter().map(|_| SliceOrIndex::from(..)));
        Hyperslab::from(selection)
    }

    fn shape(&self, rows: usize) -> Vec<usize> {
        std::iter::once(rows).chain(self.row.iter().copied()).collect()
    }
}
