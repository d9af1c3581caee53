//! The time series of an open trajectory, in the order in which a frame is written.

use hdf5::{File, Result};

use super::hdf::Series;
use super::{Fields, Observable, WholeMolecules};
use crate::cell::PeriodicCell;
use crate::vec3::Vec3;

/// An owned frame: the buffer that travels between the run and the writer's thread.
#[derive(Default)]
pub(super) struct Buffer {
    pub(super) step: i64,
    pub(super) time: f64,
    pub(super) cell: Option<PeriodicCell>,
    pub(super) positions: Vec<Vec3>,
    pub(super) velocities: Vec<Vec3>,
    pub(super) forces: Vec<Vec3>,
    pub(super) observables: Vec<f64>,
}

/// Lattice of a frame as vectors (H5MD) and as lengths and angles (MDTraj).
struct CellSeries {
    edges: Series,
    lengths: Series,
    angles: Series,
}

/// Every time series.
pub(super) struct Datasets {
    step: Series,
    time: Series,
    cell: Option<CellSeries>,
    observables: Vec<Series>,
    velocities: Option<Series>,
    forces: Option<Series>,
    images: Option<Series>,
    positions: Series,
}

const PARTICLES: &str = "particles/trajectory";

impl Datasets {
    /// Opens them all.
    pub(super) fn open(file: &File) -> Result<Self> {
        let optional = |name: &str| Series::open_if_present(file, &format!("{PARTICLES}/{name}/value"));
        let cell = match optional("box/edges")? {
            Some(edges) => {
                let (lengths, angles) = (Series::open(file, "cell_lengths")?, Series::open(file, "cell_angles")?);
                Some(CellSeries { edges, lengths, angles })
            }
            None => None,
        };
        let observables =
            list_observables(file)?.into_iter().map(|o| Series::open(file, &format!("observables/{}/value", o.name)));
        Ok(Self {
            step: Series::open(file, &format!("{PARTICLES}/position/step"))?,
            time: Series::open(file, &format!("{PARTICLES}/position/time"))?,
            cell,
            observables: observables.collect::<Result<_>>()?,
            velocities: optional("velocity")?,
            forces: optional("force")?,
            images: optional("image")?,
            positions: Series::open(file, &format!("{PARTICLES}/position/value"))?,
        })
    }

    /// Number of atoms.
    pub(super) fn atoms(&self) -> usize {
        self.positions.dataset().shape().get(1).copied().unwrap_or(0)
    }

    /// Which optional fields there are.
    pub(super) fn fields(&self) -> Fields {
        Fields { velocities: self.velocities.is_some(), forces: self.forces.is_some(), image: self.images.is_some() }
    }

    /// Whether frames have a cell.
    pub(super) fn is_periodic(&self) -> bool {
        self.cell.is_some()
    }

    /// The positions, whose storage tells the precision.
    pub(super) fn positions(&self) -> &Series {
        &self.positions
    }

    /// Frames every series has.
    pub(super) fn frames(&self) -> usize {
        self.all().map(Series::len).min().unwrap_or(0)
    }

    /// Keeps the first `frames` of every series; positions, the commit mark, first.
    pub(super) fn truncate(&self, frames: usize) -> Result<()> {
        self.positions.truncate(frames)?;
        self.all().try_for_each(|series| series.truncate(frames))
    }

    /// Step and time of frame `index`.
    pub(super) fn step_and_time(&self, index: usize) -> Result<(i64, f64)> {
        let step = self.step.dataset().read_slice_1d::<i64, _>(index..index + 1)?;
        let time = self.time.dataset().read_slice_1d::<f64, _>(index..index + 1)?;
        Ok((step[0], time[0]))
    }

    /// Rows of the lattice (nm) of frame `index`, if the trajectory is periodic.
    pub(super) fn cell_rows(&self, index: usize) -> Result<Option<Vec<f64>>> {
        self.cell.as_ref().map(|cell| cell.edges.row::<f64>(index)).transpose()
    }

    fn all(&self) -> impl Iterator<Item = &Series> {
        let cell = self.cell.iter().flat_map(|c| [&c.edges, &c.lengths, &c.angles]);
        [&self.step, &self.time]
            .into_iter()
            .chain(cell)
            .chain(&self.observables)
            .chain(&self.velocities)
            .chain(&self.forces)
            .chain(&self.images)
            .chain([&self.positions])
    }
}

/// Converts frames to the stored types and appends them.
pub(super) struct FrameSink {
    datasets: Datasets,
    molecules: WholeMolecules,
    frames: usize,
    vectors: Vec<[f32; 3]>,
    images: Vec<[i32; 3]>,
}

impl FrameSink {
    /// Goes on after the frames `datasets` has.
    pub(super) fn new(datasets: Datasets, molecules: WholeMolecules) -> Self {
        let atoms = datasets.atoms();
        let images = if datasets.images.is_some() { atoms } else { 0 };
        Self {
            frames: datasets.frames(),
            molecules,
            vectors: vec![[0.0; 3]; atoms],
            images: vec![[0; 3]; images],
            datasets,
        }
    }

    /// Frames written.
    pub(super) fn frames(&self) -> usize {
        self.frames
    }

    /// Writes one frame, each series flushed, positions last.
    pub(super) fn append(&mut self, frame: &Buffer) -> Result<()> {
        let (n, data) = (self.frames, &self.datasets);
        data.step.append(n, &[frame.step])?;
        data.time.append(n, &[frame.time])?;
        if let (Some(series), Some(cell)) = (&data.cell, &frame.cell) {
            let single = |v: [f64; 3]| v.map(|v| v as f32);
            let (lengths, angles) = cell.lengths_angles();
            series.edges.append(n, cell.rows().map(|row| single(row.to_array())).as_flattened())?;
            series.lengths.append(n, &single(lengths))?;
            series.angles.append(n, &single(angles))?;
        }
        for (series, value) in data.observables.iter().zip(&frame.observables) {
            series.append(n, &[*value])?;
        }
        for (series, values) in [(&data.velocities, &frame.velocities), (&data.forces, &frame.forces)] {
            if let Some(series) = series {
                for (single, value) in self.vectors.iter_mut().zip(values) {
                    *single = value.map(|v| v as f32).to_array();
                }
                series.append(n, self.vectors.as_flattened())?;
            }
        }
        self.molecules.place(frame.cell.as_ref(), &frame.positions, &mut self.vectors, &mut self.images);
        if let Some(images) = &data.images {
            images.append(n, self.images.as_flattened())?;
        }
        data.positions.append(n, self.vectors.as_flattened())?;
        self.frames += 1;
        Ok(())
    }
}

/// Names and units of the numbers recorded with every frame, in order of creation.
pub(super) fn list_observables(file: &File) -> Result<Vec<Observable>> {
    if !file.link_exists("observables") {
        return Ok(vec![]);
    }
    let parent = file.group("observables")?;
    let mut found = vec![];
    for name in parent.member_names()? {
        let group = parent.group(&name)?;
        let column: i64 = group.attr("column")?.read_scalar()?;
        let value = group.dataset("value")?;
        let unit = match value.attr("unit") {
            Ok(unit) => unit.read_scalar::<hdf5::types::VarLenAscii>()?.as_str().to_owned(),
            Err(_) => String::new(),
        };
        found.push((column, Observable { name, unit }));
    }
    found.sort_by_key(|(column, _)| *column);
    Ok(found.into_iter().map(|(_, observable)| observable).collect())
}
