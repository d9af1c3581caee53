//! Writer thread of an H5MD trajectory, and the handle through which the run passes frames to this thread.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use hdf5::File;

use super::datasets::{Buffer, Datasets, FrameWriter};
use super::info::{foreign, run_id};
use super::journal::{self, Journal};
use super::reader::topology;
use super::superblock::Superblock;
use super::{hdf, layout, names};
use crate::error::{Error, Problem, Result};
use crate::observe::extent::Extent;
use crate::observe::replace::{sync_directory, temporary_beside};
use crate::observe::trajectory::{
    Contents, Fields, Frame, Observable, Placement, StoredFrame, placement::Placer, refusal::exists_already,
    refusal::not_as_checkpointed,
};

/// Number of frame buffers. While the writer thread writes one frame, the run fills the other buffer with the next
/// frame. If frames are produced faster than the disk can store them, the run waits for a free buffer.
const BUFFERS: usize = 2;

/// Handle to a thread that writes an H5MD trajectory. Each call of [`Self::write`] copies the frame into a recycled
/// buffer, which the thread writes later. If the thread fails, the next call of a method returns the error. Dropping
/// the handle also closes the file, but errors during the closing are lost.
pub struct TrajectoryWriter {
    path: PathBuf,
    run_id: String,
    fields: Fields,
    periodic: bool,
    /// number of atoms of a frame that is passed to [`Self::write`]
    atoms: usize,
    observables: Vec<Observable>,
    last_step: Option<i64>,
    pub(super) shared: bool,
    messages: Option<SyncSender<Message>>,
    free: Receiver<Buffer>,
    thread: Option<JoinHandle<Result<Extent>>>,
}

enum Message {
    Frame(Buffer),
    /// request to force all frames to disk and to answer with their number and checksum
    Sync(SyncSender<Extent>),
}

impl TrajectoryWriter {
    /// Creates a trajectory at `path`; there must not be a file yet. For a name `*.h5md` the function also creates a
    /// link `*.h5`, because MDTraj requires this extension.
    pub fn create(path: &Path, contents: &Contents<'_>) -> Result<Self> {
        if contents.topology.atoms.is_empty() {
            return Err(Problem::new("a trajectory needs at least one atom").in_file(path).into());
        }
        let json = names::mdtraj_topology(contents.topology).map_err(|e| Error::Internal(e.to_string()))?;
        let temporary = temporary_beside(path)?.into_temp_path();
        let atoms_per_chunk = layout::atoms_per_chunk(contents.topology.atoms.len());
        layout::create(&temporary, contents, &json, atoms_per_chunk).map_err(|e| Error::io(path, e))?;
        fs::File::open(&temporary).and_then(|f| f.sync_all()).map_err(|e| Error::io(path, e))?;
        temporary.persist_noclobber(path).map_err(|e| match e.error.kind() {
            std::io::ErrorKind::AlreadyExists => exists_already(path),
            _ => Error::io(path, e.error),
        })?;
        sync_directory(path)?;
        Self::continue_with(path, contents, None)
    }

    /// Continues a trajectory as [`Self::append`] does. Positions are converted according to the `placement` in
    /// `contents`. The link `*.h5` is created again if it is missing.
    pub(super) fn continue_with(path: &Path, contents: &Contents<'_>, checkpointed: Option<Extent>) -> Result<Self> {
        let placer = Placer::new(contents.topology, contents.placement);
        let writer = Self::append_by(path, checkpointed, Some(placer), File::start_swmr)?;
        link_for_mdtraj(path);
        Ok(writer)
    }

    /// Continues an existing trajectory of all atoms after its first `checkpointed.count` frames, or after all frames
    /// if `checkpointed` is `None`. A file that was not closed is accepted. Returns an error if the kept frames do not
    /// match the checksum in `checkpointed`. The appended frames have the fields and observables of the file. The
    /// caller must hold the lock of the directory.
    ///
    /// If the file system does not support SWMR mode, in which other programs read the file while it is written, the
    /// whole file is flushed after each frame.
    pub fn append(path: &Path, checkpointed: Option<Extent>) -> Result<Self> {
        Self::append_by(path, checkpointed, None, File::start_swmr)
    }

    /// Continues a trajectory with the converter `placer`. If `placer` is `None`, molecules are made whole by the bonds
    /// in the file.
    fn append_by(
        path: &Path,
        checkpointed: Option<Extent>,
        placer: Option<Placer>,
        share: impl Fn(&File) -> hdf5::Result<()>,
    ) -> Result<Self> {
        if let Some(extent) = checkpointed {
            journal::restore(path, extent)?;
        }
        Superblock::read(path)?.repair_if_needed(path)?;
        let io = |e| Error::io(path, e);
        let file = open(path).map_err(io)?;
        let datasets = Datasets::open(&file).map_err(io)?;
        let extent = check_extent(&datasets, checkpointed, path)?;
        datasets.truncate(extent.count as usize).map_err(io)?;
        let placer = match placer {
            Some(placer) => placer,
            None => {
                let topology = topology(&file, datasets.atoms()).map_err(|reason| foreign(path, &reason))?;
                Placer::new(&topology, Placement::WHOLE)
            }
        };
        let last_step = match extent.count as usize {
            0 => None,
            n => Some(datasets.step_and_time(n - 1).map_err(io)?.0),
        };
        // the journal reads all chunk indices before SWMR mode begins, so that damaged indices give an error; in SWMR
        // mode the HDF5 library would retry the reading forever
        let mut journal = Journal::new(path, &file)?;
        journal.advance(&datasets, extent.count)?;
        drop(datasets);
        file.flush().map_err(io)?;
        let run_id = run_id(&file).map_err(io)?;
        let shared = share(&file).is_ok();
        let datasets = Datasets::open(&file).map_err(io)?;
        let mut sink = FrameWriter::new(datasets, journal, extent, placer);
        file.flush().map_err(io)?;
        sync_file(path)?;
        sink.record()?;
        Self::start(path, file, shared, sink, run_id, last_step)
    }

    fn start(
        path: &Path,
        file: File,
        shared: bool,
        sink: FrameWriter,
        run_id: String,
        last_step: Option<i64>,
    ) -> Result<Self> {
        let datasets = &sink.datasets;
        let (fields, periodic, atoms) = (datasets.fields(), datasets.is_periodic(), sink.placer.given);
        let observables = datasets.observables();
        let (messages, inbox) = sync_channel(BUFFERS + 1);
        let (recycle, free) = sync_channel(BUFFERS);
        for _ in 0..BUFFERS {
            let vectors = |wanted: bool| Vec::with_capacity(if wanted { atoms } else { 0 });
            let (positions, velocities, forces) = (vectors(true), vectors(fields.velocities), vectors(fields.forces));
            let frame = StoredFrame { positions, velocities, forces, ..StoredFrame::default() };
            let observables = Vec::with_capacity(observables.len());
            recycle
                .send(Buffer { frame, observables })
                .map_err(|_| Error::Internal("the frame buffers were dropped".into()))?;
        }
        let owned = path.to_owned();
        let thread = std::thread::Builder::new()
            .name("trajectory".into())
            .spawn(move || write_frames(&owned, file, shared, sink, &inbox, &recycle))
            .map_err(|e| Error::io(path, e))?;
        Ok(Self {
            path: path.to_owned(),
            run_id,
            fields,
            periodic,
            atoms,
            observables,
            last_step,
            shared,
            messages: Some(messages),
            free,
            thread: Some(thread),
        })
    }

    /// Returns the identifier of the run that wrote the file, see [`crate::observe::trajectory::Provenance`].
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Returns names and units of the numbers that are stored with every frame, in order.
    pub fn observables(&self) -> &[Observable] {
        &self.observables
    }

    /// Writes one frame, unless the last frame has the same step number. The last state of a stage is also the first
    /// state of the next stage, has the same step number in both stages, and is written only once. Therefore step
    /// numbers increase from frame to frame, as H5MD demands.
    pub fn write(&mut self, frame: &Frame<'_>) -> Result<()> {
        let step =
            i64::try_from(frame.step).map_err(|_| Error::Internal("the step number is greater than 2⁶³".into()))?;
        if self.last_step == Some(step) {
            return Ok(());
        }
        self.check(frame, step)?;
        let Ok(mut buffer) = self.free.recv() else { return Err(self.failure()) };
        let stored = &mut buffer.frame;
        (stored.step, stored.time, stored.cell) = (step, frame.time, frame.cell);
        refill(&mut stored.positions, frame.positions);
        refill(&mut stored.velocities, if self.fields.velocities { frame.velocities } else { &[] });
        refill(&mut stored.forces, if self.fields.forces { frame.forces } else { &[] });
        refill(&mut buffer.observables, frame.observables);
        self.send(Message::Frame(buffer))?;
        self.last_step = Some(step);
        Ok(())
    }

    /// Waits until every frame is on disk. Returns the number and checksum of the frames, for a checkpoint.
    pub fn sync(&mut self) -> Result<Extent> {
        let (answer, extent) = sync_channel(1);
        self.send(Message::Sync(answer))?;
        extent.recv().map_err(|_| self.failure())
    }

    /// Writes pending frames and closes the file, so that any reader accepts the file. Returns the number and checksum
    /// of the frames.
    pub fn close(mut self) -> Result<Extent> {
        self.messages = None;
        self.join()
    }

    fn check(&self, frame: &Frame<'_>, step: i64) -> Result<()> {
        let wrong = |what: String| Err(Error::Internal(format!("frame at step {step}: {what}")));
        if let Some(last) = self.last_step.filter(|&last| step < last) {
            return wrong(format!("the last frame was at step {last}"));
        }
        if frame.cell.is_some() != self.periodic {
            return wrong(format!(
                "either all frames have a cell or none; the frame has a cell: {}, the file has a cell: {}",
                frame.cell.is_some(),
                self.periodic
            ));
        }
        let lengths = [
            ("positions", true, frame.positions.len(), self.atoms),
            ("velocities", self.fields.velocities, frame.velocities.len(), self.atoms),
            ("forces", self.fields.forces, frame.forces.len(), self.atoms),
            ("observables", true, frame.observables.len(), self.observables.len()),
        ];
        match lengths.into_iter().find(|&(_, wanted, given, expected)| wanted && given != expected) {
            Some((name, _, given, expected)) => {
                wrong(format!("the frame has {given} {name}, but the file has {expected}"))
            }
            None => Ok(()),
        }
    }

    fn send(&mut self, message: Message) -> Result<()> {
        match &self.messages {
            Some(messages) if messages.send(message).is_ok() => Ok(()),
            _ => Err(self.failure()),
        }
    }

    /// Returns the error that stopped the writer thread.
    fn failure(&mut self) -> Error {
        self.messages = None;
        match self.join() {
            Err(error) => error,
            Ok(_) => Error::Internal("the thread that writes the trajectory stopped early".into()),
        }
    }

    fn join(&mut self) -> Result<Extent> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(Error::Internal("the thread that writes the trajectory panicked".into())),
            None => Err(Error::io(&self.path, "the file was closed after an earlier failure")),
        }
    }
}

impl Drop for TrajectoryWriter {
    fn drop(&mut self) {
        self.messages = None;
        if let Some(thread) = self.thread.take() {
            // an error of the writer thread is lost in `drop`; `close` returns such an error
            drop(thread.join());
        }
    }
}

fn refill<T: Copy>(target: &mut Vec<T>, source: &[T]) {
    target.clear();
    target.extend_from_slice(source);
}

/// Opens a trajectory to append frames.
fn open(path: &Path) -> hdf5::Result<File> {
    hdf::options_for_appending(layout::LARGEST_CHUNK).open_rw(path)
}

/// Returns the number and checksum of the frames after which a file is continued. If `checkpointed` is given, the file
/// is continued after its first `checkpointed.count` frames, which must match the checksum. If `checkpointed` is
/// `None`, the file is continued after all its frames.
fn check_extent(datasets: &Datasets, checkpointed: Option<Extent>, path: &Path) -> Result<Extent> {
    let io = |e| Error::io(path, e);
    let refuse = |what: String| Err(not_as_checkpointed(path, what));
    let found = datasets.frames();
    let count = checkpointed.map_or(found as u64, |extent| extent.count);
    if count > found as u64 {
        return refuse(format!("the file has {found} frames, but the checkpoint was written after {count} frames"));
    }
    let Some(checksum) = datasets.stored_checksum(count as usize).map_err(io)? else {
        return refuse("a version of md without checksums wrote the file: it cannot be continued".into());
    };
    match checkpointed {
        Some(extent) if extent.checksum != checksum => {
            refuse(format!("the first {count} frames differ from the frames at the time of the checkpoint"))
        }
        _ => Ok(Extent { count, checksum }),
    }
}

/// Main function of the writer thread: writes frames until the handle is dropped or an error occurs. Closes the file if
/// the handle was dropped.
fn write_frames(
    path: &Path,
    file: File,
    shared: bool,
    mut sink: FrameWriter,
    inbox: &Receiver<Message>,
    recycle: &SyncSender<Buffer>,
) -> Result<Extent> {
    let io = |e| Error::io(path, e);
    let written: Result<()> = inbox.iter().try_for_each(|message| {
        match message {
            Message::Frame(buffer) => {
                sink.append(&buffer).map_err(io)?;
                if !shared {
                    file.flush().map_err(io)?;
                }
                // sending fails only if the handle was dropped, so the buffer is not needed any more
                let _ = recycle.send(buffer);
            }
            Message::Sync(answer) => {
                sync_file(path)?;
                sink.record()?;
                let _ = answer.send(sink.extent);
            }
        }
        Ok(())
    });
    let extent = sink.extent;
    if let Err(error) = written {
        // The file is not closed, because closing would store the metadata of an incomplete frame. The file is intact
        // up to the previous frame, and can be repaired as after a kill. The file is repaired at once, because the
        // repair needs no disk space.
        std::mem::forget((sink, file));
        let _ = Superblock::read(path).and_then(|superblock| superblock.repair_if_needed(path));
        return Err(error);
    }
    // HDF5 requires that datasets are closed before their file
    drop(sink);
    file.close().map_err(io)?;
    sync_file(path)?;
    journal::remove(path)?;
    Ok(extent)
}

/// Waits until the file at `path` is on disk. Before the call, appended frames may exist only in memory, in buffers of
/// the operating system.
fn sync_file(path: &Path) -> Result<()> {
    fs::File::open(path).and_then(|f| f.sync_data()).map_err(|e| Error::io(path, e))
}

fn link_for_mdtraj(path: &Path) {
    #[cfg(unix)]
    if let (Some(name), true) = (path.file_name(), path.extension().is_some_and(|e| e == "h5md")) {
        // errors are ignored, because the link is optional: the file system may not support links, or an earlier run
        // may have left the link
        let _ = std::os::unix::fs::symlink(name, path.with_extension("h5"));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{info, repair};
    use super::*;
    use crate::observe::trajectory::{Placement, Precision, Provenance, Spacing};
    use crate::system::{Atom, Name, Residue, Topology};
    use crate::vec3::{Vec3, vec3};

    /// Creates an H5MD trajectory of one atom, without frames.
    fn empty(path: &Path, periodic: bool) {
        with_contents(periodic, |contents| TrajectoryWriter::create(path, contents)).unwrap().close().unwrap();
    }

    /// Calls `act` with the properties of a trajectory of one atom.
    fn with_contents<R>(periodic: bool, act: impl FnOnce(&Contents<'_>) -> R) -> R {
        let name = Name::new("AR");
        let atom = Atom { name, type_name: name, element: 18, mass: 39.948, charge: 0.0, lj_type: 0, residue: 0 };
        let residues = vec![Residue { name, number: 1, first: 0 }];
        let topology = Topology { atoms: vec![atom], residues, ..Topology::default() };
        let contents = Contents {
            topology: &topology,
            placement: Placement::WHOLE,
            periodic,
            fields: Fields::default(),
            precision: Precision::Lossless,
            observables: &[],
            provenance: &Provenance::default(),
            spacing: Spacing { steps: 1, timestep: 0.0 },
        };
        act(&contents)
    }

    /// Tests that the HDF5 library caches only chunks that are being filled, because a flush visits all chunks in the
    /// cache.
    #[test]
    fn only_chunks_that_are_being_filled_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.h5md");
        empty(&path, true);
        let file = open(&path).unwrap();
        for name in ["particles/trajectory/position/step", "particles/trajectory/box/edges/value", "md/checksum"] {
            let dataset = file.dataset(name).unwrap();
            let kept = dataset.access_plist().unwrap().chunk_cache();
            let chunk = dataset.chunk().unwrap().iter().product::<usize>() * dataset.dtype().unwrap().size();
            assert!(kept.nslots == 1 && kept.nbytes >= chunk, "{name}: {kept:?} for chunks of {chunk} bytes");
        }
    }

    #[test]
    fn a_missing_link_is_created_again() {
        let directory = tempfile::tempdir().unwrap();
        let (path, link) = (directory.path().join("a.h5md"), directory.path().join("a.h5"));
        empty(&path, false);
        fs::remove_file(&link).unwrap();
        with_contents(false, |contents| TrajectoryWriter::continue_with(&path, contents, None)).unwrap();
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("a.h5md"));
    }

    #[test]
    fn without_shared_reading_each_frame_is_flushed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.h5md");
        empty(&path, false);
        let refuse = |_: &File| Err(hdf5::Error::from("no such thing here"));
        let mut writer = TrajectoryWriter::append_by(&path, None, None, refuse).unwrap();
        assert!(!writer.shared);
        let mut frame = |step: u64, at: &[Vec3]| {
            let empty =
                Frame { step, time: 0.0, cell: None, positions: &[], velocities: &[], forces: &[], observables: &[] };
            writer.write(&Frame { positions: at, ..empty })
        };
        let places = [vec3(1.0, 2.0, 3.0)];
        [1, 2, 3].map(|step| frame(step, &places)).into_iter().collect::<Result<Vec<_>>>().unwrap();
        assert_eq!(writer.sync().unwrap().count, 3);
        // copy of the file as it would be if the process were killed at this moment
        let killed = directory.path().join("killed.h5md");
        fs::copy(&path, &killed).unwrap();
        // the superblock stores the end of the file at byte 28 (HDF5 File Format Specification 3.0, superblock version
        // 3), and other tools rely on this value
        let bytes = fs::read(&killed).unwrap();
        assert_eq!(u64::from_le_bytes(bytes[28..36].try_into().unwrap()), bytes.len() as u64);
        assert_eq!(repair(&killed).unwrap().frames, 3);
        assert_eq!(writer.close().unwrap().count, 3);
        assert!(info(&path).unwrap().closed);
        assert!(TrajectoryWriter::append(&path, None).unwrap().shared);
    }
}
