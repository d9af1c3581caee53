//! Reader of H5MD trajectories of md, frame by frame.

use std::path::{Path, PathBuf};

use super::datasets::Datasets;
use super::hdf::{options, read_numbers, read_text};
use super::info::{self, foreign};
use super::names::read_topology;
use super::packed::{Block, Packed, Unpacker};
use super::series::Series;
use super::superblock::Superblock;
use crate::cell::PeriodicCell;
use crate::error::{Error, Problem, Result};
use crate::observe::trajectory::batch::read_and_decode;
use crate::observe::trajectory::{FrameSource, Precision, StoredFrame, Unread, widen};
use crate::system::Topology;
use crate::vec3::Vec3;

/// H5MD trajectory open for reading. While a run writes to the file, all frames that the run has flushed can be read.
pub struct TrajectoryReader {
    path: PathBuf,
    pub(super) file: hdf5::File,
    pub(super) datasets: Datasets,
    pub(super) topology: Topology,
    frames: usize,
    /// whether an incomplete frame follows the last complete frame
    is_cut: bool,
    /// reader and decoder of frames in their stored form; `None` if the HDF5 library must read all frames
    unpacker: Option<Unpacker>,
    block: Block,
    /// stored frames of a batch, reused for the next batch
    packed: Vec<Packed>,
}

impl TrajectoryReader {
    /// Opens a trajectory that md wrote.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, Datasets::open)
    }

    /// Opens a damaged trajectory. Optional fields and observables that cannot be read are left out.
    pub(super) fn open_readable(path: &Path) -> Result<Self> {
        Self::open_with(path, Datasets::open_readable)
    }

    fn open_with(path: &Path, datasets: impl Fn(&hdf5::File) -> hdf5::Result<Datasets>) -> Result<Self> {
        let mode = Superblock::read(path)?.reading_mode(path)?;
        let damaged = |error| foreign(path, &error);
        let file = options().open_as(path, mode).map_err(damaged)?;
        let datasets = datasets(&file).map_err(damaged)?;
        let topology = topology(&file, datasets.atoms()).map_err(|reason| foreign(path, &reason))?;
        let (frames, unpacker) = (datasets.frames(), Unpacker::new(&datasets));
        let is_cut = datasets.has_rows_after(frames);
        let (path, block, packed) = (path.to_owned(), Block::default(), vec![]);
        Ok(Self { path, file, frames, is_cut, datasets, topology, unpacker, block, packed })
    }

    /// Returns, for each atom, its 0-based index in the system from which the atoms were selected. The indices have
    /// gaps if only a selection of the atoms was written.
    pub fn identities(&self) -> Result<Vec<i64>> {
        info::identities(&self.file).map_err(|error| Error::io(&self.path, error))
    }

    /// Whether frames have a cell.
    pub fn is_periodic(&self) -> bool {
        self.datasets.is_periodic()
    }

    /// Returns step number and time (ps) of frame `index`.
    pub fn step_and_time(&self, index: usize) -> Result<(i64, f64)> {
        self.datasets.step_and_time(index).map_err(|error| Error::io(&self.path, error))
    }

    /// Returns the positions (nm) of frame `index`, with whole molecules, and the cell of this frame.
    pub fn frame(&self, index: usize) -> Result<(Vec<Vec3>, Option<PeriodicCell>)> {
        let io = |error| Error::io(&self.path, error);
        let positions = self.vectors(index, &self.datasets.positions, "positions")?;
        let Some(rows) = self.datasets.cell_rows(index).map_err(io)? else { return Ok((positions, None)) };
        let vector = |row: usize| rows.get(3 * row..3 * row + 3).map(|v| Vec3::from([v[0], v[1], v[2]]));
        let cell = match [vector(0), vector(1), vector(2)] {
            [Some(a), Some(b), Some(c)] => PeriodicCell::from_rows([a, b, c]),
            _ => None,
        };
        Ok((positions, Some(cell.ok_or_else(|| self.broken(index, "cell vectors"))?)))
    }

    /// Returns velocities (nm/ps) and forces (kJ/mol/nm) of frame `index`; a list is empty if the file does not store
    /// the quantity.
    pub fn velocities_and_forces(&self, index: usize) -> Result<(Vec<Vec3>, Vec<Vec3>)> {
        let [velocities, forces] = self.datasets.velocities_and_forces();
        let read = |series: Option<&Series>, what| series.map(|series| self.vectors(index, series, what)).transpose();
        Ok((read(velocities, "velocities")?.unwrap_or_default(), read(forces, "forces")?.unwrap_or_default()))
    }

    /// Reads the vectors of frame `index` from a time series, one vector for each atom.
    fn vectors(&self, index: usize, series: &Series, what: &str) -> Result<Vec<Vec3>> {
        let values = series.row::<f32>(index).map_err(|error| Error::io(&self.path, error))?;
        let (vectors, rest) = values.as_chunks::<3>();
        let is_good = vectors.len() == self.topology.atoms.len() && rest.is_empty();
        if !is_good || !values.iter().all(|value| value.is_finite()) {
            return Err(self.broken(index, what));
        }
        let mut widened = vec![];
        widen(vectors, &mut widened);
        Ok(widened)
    }

    fn broken(&self, index: usize, what: &str) -> Error {
        let problem = Problem::new(format!("frame {index} has invalid {what}")).in_file(&self.path);
        problem.help("the file was changed or damaged after it was written").into()
    }
}

impl FrameSource for TrajectoryReader {
    fn atoms(&self) -> usize {
        self.topology.atoms.len()
    }

    fn frames(&self) -> usize {
        self.frames
    }

    fn topology(&self) -> Option<&Topology> {
        Some(&self.topology)
    }

    fn resolution(&self) -> Option<f64> {
        match info::precision(&self.datasets.positions.dataset.filters()) {
            Precision::Decimals3 => Some(1e-3),
            Precision::Decimals4 => Some(1e-4),
            Precision::Raw | Precision::Lossless => None,
        }
    }

    fn unread(&self) -> Unread {
        Unread { images: self.datasets.fields().image, observables: !self.datasets.observables().is_empty() }
    }

    fn cut_off(&self) -> Option<String> {
        self.is_cut.then(|| {
            let (path, frames) = (self.path.display(), self.frames);
            format!(
                "{path} has {frames} complete frames; an incomplete frame follows: a run is writing it, or was killed while \
                     writing; md reads the complete frames, and `md repair` removes the rest"
            )
        })
    }

    /// Requests that later calls read only the first `atoms` atoms of a frame. Frames that only the HDF5 library can
    /// read still have all atoms.
    fn limit(&mut self, atoms: usize) {
        if let Some(unpacker) = &mut self.unpacker {
            unpacker.limit(atoms);
        }
    }

    fn read(&mut self, index: usize, frame: &mut StoredFrame) -> Result<()> {
        self.read_batch(&[index], std::slice::from_mut(frame))
    }

    fn read_batch(&mut self, indices: &[usize], frames: &mut [StoredFrame]) -> Result<()> {
        let Self { datasets, unpacker, block, packed, frames: count, .. } = &mut *self;
        let done = match unpacker {
            Some(unpacker) => {
                let (unpacker, count) = (&*unpacker, *count);
                let read = |index: usize, packed: &mut Packed| unpacker.read(datasets, block, index, count, packed);
                let decode = |_, packed: &mut Packed, frame: &mut StoredFrame| unpacker.decode(packed, frame);
                read_and_decode(indices, frames, packed, read, decode)
            }
            None => vec![Err(()); indices.len()],
        };
        // the HDF5 library reads the frames that could not be decoded; if the library fails, its error describes the
        // fault
        for ((&index, frame), _) in indices.iter().zip(frames).zip(done).filter(|(_, done)| done.is_err()) {
            (frame.positions, frame.cell) = self.frame(index)?;
            (frame.velocities, frame.forces) = self.velocities_and_forces(index)?;
            (frame.step, frame.time) = self.step_and_time(index)?;
        }
        Ok(())
    }
}

/// Reads the topology from the static data of a file with `atoms` atoms.
pub(super) fn topology(file: &hdf5::File, atoms: usize) -> std::result::Result<Topology, String> {
    let text = |error: hdf5::Error| error.to_string();
    let mut topology = read_topology(&read_text(file, "topology").map_err(text)?)?;
    let particles = file.group("particles/trajectory").map_err(text)?;
    let numbers = |name: &str| read_numbers::<f64>(&particles, name).map_err(text);
    let (elements, masses, charges) = (numbers("species")?, numbers("mass")?, numbers("charge")?);
    for (name, found) in [
        ("topology", topology.atoms.len()),
        ("species", elements.len()),
        ("mass", masses.len()),
        ("charge", charges.len()),
    ] {
        if found != atoms {
            return Err(format!("{name} has values of {found} atoms, but positions have {atoms} atoms"));
        }
    }
    if !masses.iter().all(|mass| mass.is_finite() && *mass >= 0.0) {
        return Err("a mass is negative or not a number".into());
    }
    for (i, atom) in topology.atoms.iter_mut().enumerate() {
        (atom.element, atom.mass, atom.charge) = (elements[i] as u8, masses[i], charges[i]);
    }
    Ok(topology)
}
