//! Time series of an HDF5 file: datasets with one row per frame. Rows are appended and flushed one by one, and the byte
//! ranges of rows in the file can be found.

use hdf5::types::{FloatSize, IntSize, TypeDescriptor};
use hdf5::{Dataset, File, H5Type, Hyperslab, Result, SliceOrIndex};
use ndarray::{ArrayViewD, IxDyn};

use super::hdf::claimed_bytes;

/// Range of bytes in an HDF5 file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Bytes {
    /// byte offset of the first byte in the file
    pub(super) offset: u64,
    /// number of bytes
    pub(super) length: u64,
}

/// Time series: dataset with one row per frame.
pub(super) struct Series {
    pub(super) dataset: Dataset,
    /// shape of a row, for example `[atom][xyz]` for positions
    row: Vec<usize>,
    /// number of rows in an HDF5 chunk; `None` for a dataset without chunks, and for chunks of a shape that md does not
    /// write
    rows_per_chunk: Option<u64>,
    /// extent of an HDF5 chunk along the first axis of a row (atoms). If a row is divided into several chunks, each
    /// chunk has values of one row only
    pub(super) chunk_width: usize,
    /// size of a row in bytes, before compression by HDF5 filters
    row_bytes: u64,
    filtered: bool,
}

impl Series {
    /// Opens the dataset `path` in `file`.
    pub(super) fn open(file: &File, path: &str) -> Result<Self> {
        let dataset = file.dataset(path)?;
        let (shape, chunk) = (dataset.shape(), dataset.chunk());
        let value_bytes = dataset.dtype()?.size();
        // a row that is much larger than the file is refused; each number of the row is assumed to need at least eight
        // bytes
        let row = shape.get(1..).unwrap_or_default().to_vec();
        claimed_bytes(&dataset, &row, value_bytes.max(size_of::<f64>()))?;
        claimed_bytes(&dataset, chunk.as_deref().unwrap_or_default(), value_bytes)?;
        // every frame has at least one byte in every time series, so the size of the file limits the number of frames
        claimed_bytes(&dataset, &shape[..shape.len().min(1)], 1)?;
        let row_bytes = (value_bytes * row.iter().product::<usize>()) as u64;
        let whole = row.first().copied().unwrap_or(1);
        let (rows_per_chunk, chunk_width) = match (chunk.as_deref(), row.as_slice()) {
            (Some([rows, rest @ ..]), _) if rest == row => (Some(*rows as u64).filter(|&rows| rows > 0), whole),
            (Some([1, width, rest @ ..]), [_, inner @ ..]) if *width > 0 && rest == inner => (Some(1), *width),
            _ => (None, whole),
        };
        let filtered = !dataset.filters().is_empty();
        Ok(Self { dataset, row, rows_per_chunk, chunk_width, row_bytes, filtered })
    }

    /// Opens the dataset `path` in `file`; `None` if there is no such dataset.
    pub(super) fn open_if_present(file: &File, path: &str) -> Result<Option<Self>> {
        // the groups of the path are opened one by one, so that an unreadable group gives an error, whereas an absent
        // dataset gives `None`
        let (groups, _) = path.rsplit_once('/').unwrap_or(("", path));
        let mut group = file.as_group()?;
        for part in groups.split('/').filter(|part| !part.is_empty()) {
            if !group.link_exists(part) {
                return Ok(None);
            }
            group = group.group(part)?;
        }
        Self::open(file, path).map(Some)
    }

    /// Returns the number of rows of the time series.
    pub(super) fn len(&self) -> usize {
        self.dataset.shape().first().copied().unwrap_or(0)
    }

    /// Truncates the dataset to its first `rows` rows.
    pub(super) fn truncate(&self, rows: usize) -> Result<()> {
        if self.len() == rows {
            return Ok(());
        }
        self.dataset.resize(self.shape(rows))?;
        self.dataset.flush()
    }

    /// Reads row `index`, which must exist.
    pub(super) fn row<T: H5Type>(&self, index: usize) -> Result<Vec<T>> {
        self.rows(index..index + 1)
    }

    /// Reads the rows with the indices `rows`, which must exist.
    pub(super) fn rows<T: H5Type>(&self, rows: std::ops::Range<usize>) -> Result<Vec<T>> {
        let found = self.dataset.read_slice::<T, _, IxDyn>(self.selection(rows))?;
        Ok(found.into_raw_vec_and_offset().0)
    }

    /// Returns the number of values in a row.
    pub(super) fn row_values(&self) -> usize {
        self.row.iter().product()
    }

    /// Returns the number of HDF5 chunks into which a row is divided along its first axis (atoms).
    pub(super) fn pieces(&self) -> usize {
        self.row.first().map_or(1, |width| width.div_ceil(self.chunk_width.max(1)))
    }

    /// Returns the position of the first element of an HDF5 chunk, as an index along each axis of the dataset. The
    /// chunk begins with row `first` and holds the piece with the index `piece`.
    fn corner(&self, first: u64, piece: usize) -> Vec<u64> {
        let mut corner = vec![0; 1 + self.row.len()];
        corner[0] = first;
        if let Some(along) = corner.get_mut(1) {
            *along = (piece * self.chunk_width) as u64;
        }
        corner
    }

    /// Appends a stored piece to the time series, as piece `piece` of row `index`. The bytes and the mask come from
    /// [`Self::stored_piece`] of a time series with the same layout.
    pub(super) fn append_stored(&self, index: usize, piece: usize, bytes: &[u8], mask: u32) -> Result<()> {
        let unlike =
            || hdf5::Error::from(format!("the rows of {} do not have the expected shape", self.dataset.name()));
        if !self.is_packed() && bytes.len() as u64 != self.row_bytes {
            return Err(unlike());
        }
        self.dataset.resize(self.shape(index + 1))?;
        if !self.is_packed() {
            return self.write_bytes(index, bytes);
        }
        let corner = self.corner(index as u64, piece);
        hdf5::sync::sync(|| {
            // SAFETY: the handle lives through the call and the lock of the HDF5 library is held; `corner` has an entry
            // for each dimension of the dataset; the call reads exactly `bytes.len()` bytes.
            let status = unsafe {
                hdf5_sys::h5d::H5Dwrite_chunk(
                    self.dataset.id(),
                    hdf5_sys::h5p::H5P_DEFAULT,
                    mask,
                    corner.as_ptr(),
                    bytes.len(),
                    bytes.as_ptr().cast(),
                )
            };
            hdf5::h5check(status).map(drop)
        })
    }

    /// Writes the values of row `index`, given as bytes of the stored type.
    fn write_bytes(&self, index: usize, bytes: &[u8]) -> Result<()> {
        fn values<T: H5Type + bytemuck::Pod>(series: &Series, index: usize, bytes: &[u8]) -> Result<()> {
            let row: Vec<T> = bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect();
            series.write(index, &row)
        }
        match self.dataset.dtype()?.to_descriptor()? {
            TypeDescriptor::Integer(IntSize::U8) => values::<i64>(self, index, bytes),
            TypeDescriptor::Float(FloatSize::U4) => values::<f32>(self, index, bytes),
            TypeDescriptor::Float(FloatSize::U8) => values::<f64>(self, index, bytes),
            kind => Err(hdf5::Error::from(format!("{} holds {kind}", self.dataset.name()))),
        }
    }

    fn write<T: H5Type>(&self, index: usize, row: &[T]) -> Result<()> {
        let view = ArrayViewD::from_shape(IxDyn(&self.shape(1)), row).map_err(|e| hdf5::Error::from(format!("{e}")))?;
        self.dataset.write_slice(view, self.selection(index..index + 1))
    }

    /// Appends row `index` and passes the row to the operating system.
    pub(super) fn append<T: H5Type>(&self, index: usize, row: &[T]) -> Result<()> {
        self.dataset.resize(self.shape(index + 1))?;
        self.write(index, row)?;
        self.dataset.flush()
    }

    /// Reads the stored form of piece `piece` of row `index` into `buffer`. Returns the stored bytes, and a bit mask of
    /// the HDF5 filters that were skipped. Each piece of a packed row is a separate HDF5 chunk.
    pub(super) fn stored_piece<'a>(
        &self,
        index: usize,
        piece: usize,
        buffer: &'a mut Vec<u8>,
    ) -> Result<(&'a [u8], u32)> {
        let unlike = || hdf5::Error::from(format!("{} is stored in a way that md does not use", self.dataset.name()));
        let rows = self.rows_per_chunk.ok_or_else(unlike)?;
        let first = index as u64 / rows * rows;
        let (length, mask) = self.stored_chunk(first, piece, buffer)?;
        if rows == 1 {
            return Ok((&buffer[..length], mask));
        }
        let start = (index as u64 - first) * self.row_bytes;
        let place = start as usize..(start + self.row_bytes) as usize;
        let row = buffer[..length].get(place).filter(|_| !self.filtered).ok_or_else(unlike)?;
        Ok((row, mask))
    }

    /// Reads a stored HDF5 chunk into the beginning of `buffer`. The chunk begins with row `first` and holds the piece
    /// with the index `piece`. Returns the number of stored bytes of the chunk, and the mask of skipped filters.
    pub(super) fn stored_chunk(&self, first: u64, piece: usize, buffer: &mut Vec<u8>) -> Result<(usize, u32)> {
        // the buffer has twice the size of an uncompressed chunk, because filters never double the size
        let limit = (2 * self.rows_per_chunk.unwrap_or(1)).saturating_mul(self.row_bytes).saturating_add(1024);
        let corner = self.corner(first, piece);
        loop {
            let (mut mask, mut length) = (0, buffer.len());
            hdf5::sync::sync(|| {
                // SAFETY: the handle lives through the call and the lock of the HDF5 library is held; `corner` has an
                // entry for each dimension of the dataset; at most `length` bytes are written to `buffer`, which has
                // that size.
                let status = unsafe {
                    hdf5_sys::h5d::H5Dread_chunk(
                        self.dataset.id(),
                        hdf5_sys::h5p::H5P_DEFAULT,
                        corner.as_ptr(),
                        &raw mut mask,
                        buffer.as_mut_ptr().cast(),
                        &raw mut length,
                    )
                };
                hdf5::h5check(status)
            })?;
            if length <= buffer.len() {
                return Ok((length, mask));
            }
            if length as u64 > limit {
                let name = self.dataset.name();
                return Err(hdf5::Error::from(format!(
                    "{name} has a chunk of {length} stored bytes, but at most {limit} bytes are possible"
                )));
            }
            buffer.resize(length, 0);
        }
    }

    /// Whether rows are packed, which means that no HDF5 chunk has values of two rows.
    pub(super) fn is_packed(&self) -> bool {
        self.rows_per_chunk == Some(1)
    }

    /// Calls `found` with the first row and the byte range of each HDF5 chunk that is full after `to` rows and was not
    /// full after `from` rows.
    pub(super) fn complete_chunks(&self, from: u64, to: u64, mut found: impl FnMut(u64, Bytes)) -> Result<()> {
        let Some(rows) = self.rows_per_chunk.filter(|&rows| to >= rows) else { return Ok(()) };
        self.dataset.chunks_visit(|chunk| {
            let first = chunk.offset[0];
            if (from + 1..=to).contains(&(first.saturating_add(rows))) {
                found(first, Bytes { offset: chunk.addr, length: chunk.size });
            }
            0
        })
    }

    /// Returns the HDF5 hyperslab that selects the rows `rows`.
    fn selection(&self, rows: std::ops::Range<usize>) -> Hyperslab {
        let mut selection: Vec<SliceOrIndex> = vec![rows.into()];
        selection.extend(self.row.iter().map(|_| SliceOrIndex::from(..)));
        Hyperslab::from(selection)
    }

    fn shape(&self, rows: usize) -> Vec<usize> {
        std::iter::once(rows).chain(self.row.iter().copied()).collect()
    }
}
