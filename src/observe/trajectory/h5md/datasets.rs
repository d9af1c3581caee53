//! Time series of an open H5MD trajectory, in the order in which the data of a frame are written.

use crc32fast::Hasher;
use hdf5::{File, Result};

use super::hdf::short_text;
use super::journal::Journal;
use super::series::{Bytes, Series};
use crate::observe::extent::Extent;
use crate::observe::trajectory::{Fields, Observable, StoredFrame, placement::Placer};

/// Frame with its own memory, which is passed between the run and the writer thread.
pub(super) struct Buffer {
    pub(super) frame: StoredFrame,
    pub(super) observables: Vec<f64>,
}

/// Time series of the unit cell, stored as lattice vectors (H5MD) and as lengths and angles (MDTraj).
struct CellSeries {
    edges: Series,
    lengths: Series,
    angles: Series,
}

/// All time series of a trajectory.
pub(super) struct Datasets {
    step: Series,
    time: Series,
    cell: Option<CellSeries>,
    observables: Vec<(Observable, Series)>,
    velocities: Option<Series>,
    forces: Option<Series>,
    images: Option<Series>,
    pub(super) positions: Series,
    /// checksum of each frame together with all earlier frames; `None` in a file that an older version of md wrote
    /// without checksums
    checksums: Option<Series>,
}

const PARTICLES: &str = "particles/trajectory";

impl Datasets {
    /// Opens all time series of a trajectory file. Returns an error if a time series cannot be read.
    pub(super) fn open(file: &File) -> Result<Self> {
        Self::open_with(file, |found| found)
    }

    /// Opens those time series of a damaged file that can be read. Returns an error if steps, times, positions or cells
    /// cannot be read.
    pub(super) fn open_readable(file: &File) -> Result<Self> {
        let complete = std::cell::Cell::new(true);
        let found = Self::open_with(file, |found| {
            complete.set(complete.get() && found.is_ok());
            Ok(found.unwrap_or(None))
        })?;
        // a checksum covers all fields of a frame, so checksums are not compared if the time series of a field is
        // missing
        let checksums = found.checksums.filter(|_| complete.get());
        Ok(Self { checksums, ..found })
    }

    /// Opens the time series of a trajectory file. `spare` receives the result for each optional time series, and
    /// decides whether a missing or unreadable time series is accepted.
    fn open_with(file: &File, spare: impl Fn(Result<Option<Series>>) -> Result<Option<Series>>) -> Result<Self> {
        let optional = |name: &str| Series::open_if_present(file, &format!("{PARTICLES}/{name}/value"));
        let cell = match optional("box/edges")? {
            Some(edges) => {
                let (lengths, angles) = (Series::open(file, "cell_lengths")?, Series::open(file, "cell_angles")?);
                Some(CellSeries { edges, lengths, angles })
            }
            None => None,
        };
        let mut observables = vec![];
        for observable in list_observables(file).or_else(|error| spare(Err(error)).map(|_| vec![]))? {
            let series = Series::open(file, &format!("observables/{}/value", observable.name)).map(Some);
            observables.extend(spare(series)?.map(|series| (observable, series)));
        }
        Ok(Self {
            step: Series::open(file, &format!("{PARTICLES}/position/step"))?,
            time: Series::open(file, &format!("{PARTICLES}/position/time"))?,
            cell,
            observables,
            velocities: spare(optional("velocity"))?,
            forces: spare(optional("force"))?,
            images: spare(optional("image"))?,
            positions: Series::open(file, &format!("{PARTICLES}/position/value"))?,
            checksums: spare(Series::open_if_present(file, "md/checksum"))?,
        })
    }

    /// Returns the number of atoms in each frame.
    pub(super) fn atoms(&self) -> usize {
        self.positions.dataset.shape().get(1).copied().unwrap_or(0)
    }

    /// Returns which optional fields the frames of the file have.
    pub(super) fn fields(&self) -> Fields {
        Fields { velocities: self.velocities.is_some(), forces: self.forces.is_some(), image: self.images.is_some() }
    }

    /// Returns names and units of the observables, the numbers that are stored with every frame.
    pub(super) fn observables(&self) -> Vec<Observable> {
        self.observables.iter().map(|(observable, _)| observable.clone()).collect()
    }

    /// Whether the frames of the file have a cell.
    pub(super) fn is_periodic(&self) -> bool {
        self.cell.is_some()
    }

    /// Returns the time series of velocities and of forces; `None` for a field that the file does not have.
    pub(super) fn velocities_and_forces(&self) -> [Option<&Series>; 2] {
        [self.velocities.as_ref(), self.forces.as_ref()]
    }

    /// Returns the number of complete frames, for which every time series has a row.
    pub(super) fn frames(&self) -> usize {
        self.contents().chain(&self.checksums).map(Series::len).min().unwrap_or(0)
    }

    /// Whether a time series has more than `frames` rows; the additional rows belong to an incomplete frame.
    pub(super) fn has_rows_after(&self, frames: usize) -> bool {
        self.contents().chain(&self.checksums).any(|series| series.len() > frames)
    }

    /// Truncates every time series to the first `frames` rows. The time series of checksums is truncated first, because
    /// a frame without a checksum counts as incomplete.
    pub(super) fn truncate(&self, frames: usize) -> Result<()> {
        self.checksums.iter().chain(self.contents()).try_for_each(|series| series.truncate(frames))
    }

    /// Returns the stored checksum of the first `frames` frames. The checksum is 0 without frames, and `None` in files
    /// without checksums.
    pub(super) fn stored_checksum(&self, frames: usize) -> Result<Option<u32>> {
        let Some(checksums) = &self.checksums else { return Ok(None) };
        let Some(last) = frames.checked_sub(1) else { return Ok(Some(0)) };
        Ok(checksums.row(last)?.first().copied())
    }

    /// Returns the CRC-32 of the first `index` + 1 frames, computed from frame `index` and the checksum `before` of the
    /// earlier frames. The checksum covers the stored (filtered) bytes. For packed time series (positions, velocities,
    /// forces, images), the checksum also covers the mask of HDF5 filters that were skipped.
    pub(super) fn checksum(&self, index: usize, before: u32, buffer: &mut Vec<u8>) -> Result<u32> {
        let mut sum = Hasher::new_with_initial(before);
        for series in self.contents() {
            for piece in 0..series.pieces() {
                let (bytes, mask) = series.stored_piece(index, piece, buffer)?;
                sum.update(&mask.to_le_bytes());
                sum.update(bytes);
            }
        }
        Ok(sum.finalize())
    }

    /// Appends frame `index` to `file`, a file of the same layout. `before` holds the number and checksum of the frames
    /// already in `file`. Returns the checksum that includes the appended frame.
    pub(super) fn copy_frame(&self, index: usize, file: &Self, before: Extent, buffer: &mut Vec<u8>) -> Result<u32> {
        let to = before.count as usize;
        for (from, target) in self.contents().zip(file.contents()) {
            for piece in 0..from.pieces() {
                let (bytes, mask) = from.stored_piece(index, piece, buffer)?;
                target.append_stored(to, piece, bytes, mask)?;
            }
        }
        let checksum = file.checksum(to, before.checksum, buffer)?;
        file.checksums.iter().try_for_each(|series| series.append(to, &[checksum]))?;
        Ok(checksum)
    }

    /// Calls `found` with the byte range of each HDF5 chunk that is full after `to` frames and was not full after
    /// `from` frames. `found` also receives a flag: true if the chunk belongs to a packed time series and holds a row
    /// of the last frame (frame number `to`, counted from 1).
    pub(super) fn complete_chunks(&self, from: u64, to: u64, mut found: impl FnMut(Bytes, bool)) -> Result<()> {
        self.contents().chain(&self.checksums).try_for_each(|series| {
            series.complete_chunks(from, to, |row, bytes| found(bytes, series.is_packed() && row + 1 == to))
        })
    }

    /// Returns step number and time (ps) of frame `index`.
    pub(super) fn step_and_time(&self, index: usize) -> Result<(i64, f64)> {
        let step = self.step.dataset.read_slice_1d::<i64, _>(index..index + 1)?;
        let time = self.time.dataset.read_slice_1d::<f64, _>(index..index + 1)?;
        Ok((step[0], time[0]))
    }

    /// Returns the nine numbers of the lattice vectors (nm) of frame `index`; `None` if the trajectory is not periodic.
    pub(super) fn cell_rows(&self, index: usize) -> Result<Option<Vec<f64>>> {
        self.cell.as_ref().map(|cell| cell.edges.row::<f64>(index)).transpose()
    }

    /// Returns step numbers, times (ps) and lattice vectors (nm, nine numbers per frame) of a range of frames. The list
    /// of lattice vectors is empty if the trajectory is not periodic.
    pub(super) fn small_rows(&self, frames: std::ops::Range<usize>) -> Result<(Vec<i64>, Vec<f64>, Vec<f64>)> {
        let cells = self.cell.as_ref().map(|cell| cell.edges.rows::<f64>(frames.clone())).transpose()?;
        Ok((self.step.rows(frames.clone())?, self.time.rows(frames)?, cells.unwrap_or_default()))
    }

    /// Iterates over the time series that hold the data of a frame, in the order in which they are written.
    fn contents(&self) -> impl Iterator<Item = &Series> {
        let cell = self.cell.iter().flat_map(|c| [&c.edges, &c.lengths, &c.angles]);
        [&self.step, &self.time]
            .into_iter()
            .chain(cell)
            .chain(self.observables.iter().map(|(_, series)| series))
            .chain(&self.velocities)
            .chain(&self.forces)
            .chain(&self.images)
            .chain([&self.positions])
    }
}

/// Writer that converts frames to the stored number types and appends them to the time series.
pub(super) struct FrameWriter {
    pub(super) datasets: Datasets,
    pub(super) placer: Placer,
    journal: Journal,
    pub(super) extent: Extent,
    stored: Vec<u8>,
    vectors: Vec<[f32; 3]>,
    images: Vec<[i32; 3]>,
}

impl FrameWriter {
    /// Creates a writer that continues after the frames of `datasets`. `extent` holds the number and checksum of the
    /// frames in `datasets`.
    pub(super) fn new(datasets: Datasets, journal: Journal, extent: Extent, placer: Placer) -> Self {
        let atoms = datasets.atoms();
        let images = if datasets.images.is_some() { atoms } else { 0 };
        Self {
            placer,
            journal,
            extent,
            stored: vec![],
            vectors: vec![[0.0; 3]; atoms],
            images: vec![[0; 3]; images],
            datasets,
        }
    }

    /// Copies to the rollback journal those bytes of the file that later frames will overwrite. All data of the file
    /// must be on disk before the call.
    pub(super) fn record(&mut self) -> crate::error::Result<()> {
        self.journal.record(&self.datasets, self.extent)
    }

    /// Writes one frame. Each time series is flushed in turn, and the positions are flushed last. The checksum is
    /// written after the positions and makes the frame complete.
    pub(super) fn append(&mut self, Buffer { frame, observables }: &Buffer) -> Result<()> {
        let (n, data) = (self.extent.count as usize, &self.datasets);
        data.step.append(n, &[frame.step])?;
        data.time.append(n, &[frame.time])?;
        if let (Some(series), Some(cell)) = (&data.cell, &frame.cell) {
            let single = |v: [f64; 3]| v.map(|v| v as f32);
            let (lengths, angles) = cell.lengths_angles();
            series.edges.append(n, cell.rows().map(|row| single(row.to_array())).as_flattened())?;
            series.lengths.append(n, &single(lengths))?;
            series.angles.append(n, &single(angles))?;
        }
        for ((_, series), value) in data.observables.iter().zip(observables) {
            series.append(n, &[*value])?;
        }
        for (series, values) in [(&data.velocities, &frame.velocities), (&data.forces, &frame.forces)] {
            if let Some(series) = series {
                for (single, value) in self.vectors.iter_mut().zip(self.placer.written(values).iter()) {
                    *single = value.map(|v| v as f32).to_array();
                }
                series.append(n, self.vectors.as_flattened())?;
            }
        }
        self.placer.place(frame.cell.as_ref(), &frame.positions, &mut self.vectors, &mut self.images);
        if let Some(images) = &data.images {
            images.append(n, self.images.as_flattened())?;
        }
        data.positions.append(n, self.vectors.as_flattened())?;
        let checksum = data.checksum(n, self.extent.checksum, &mut self.stored)?;
        if let Some(checksums) = &data.checksums {
            checksums.append(n, &[checksum])?;
        }
        self.extent = Extent { count: self.extent.count + 1, checksum };
        Ok(())
    }
}

/// Returns names and units of the observables, the numbers that are stored with every frame, in order of creation.
fn list_observables(file: &File) -> Result<Vec<Observable>> {
    if !file.link_exists("observables") {
        return Ok(vec![]);
    }
    let parent = file.group("observables")?;
    let mut found = vec![];
    for name in parent.member_names()? {
        let group = parent.group(&name)?;
        let column: i64 = group.attr("column")?.read_scalar()?;
        let unit = group.attr("column_unit").and_then(|unit| short_text(&unit)).unwrap_or_default();
        found.push((column, Observable { name, unit }));
    }
    found.sort_by_key(|(column, _)| *column);
    Ok(found.into_iter().map(|(_, observable)| observable).collect())
}
