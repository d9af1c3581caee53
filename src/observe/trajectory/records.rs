//! Trajectory formats whose files are a header followed by frames. Each frame is a block of bytes that is written once
//! and never changed.
//!
//! [`RecordSink`] appends frames and updates their checksum, [`RecordSource`] reads frames, and [`Records`] implements
//! [`Files`] for all formats that consist of a header and frames. Each format implements [`Layout`], which gives the
//! header, the byte ranges of the frames in the file, and the encoding of frames. An [`Extent`] holds the CRC-32 of the
//! bytes of all frames, without the header.
//!
//! A killed writer leaves at most one incomplete frame at the end of the file. Readers skip an incomplete frame, and a
//! writer that continues the file removes the incomplete frame. All other bytes outside frames count as damage. For a
//! damaged file, md returns an error with the byte offset of the damage.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crc32fast::Hasher;

use super::refusal::{exists_already, not_as_checkpointed, other_settings};
use super::{
    Contents, Description, Fields, Files, Frame, FrameSink, FrameSource, Precision, Repair, StoredFrame, Verification,
    batch::RecordSource, index::Index, placement::Placer, regular_file, salvage,
};
use crate::error::{Error, Problem, Result};
use crate::format::Label;
use crate::observe::extent::{Extent, Mark};
use crate::observe::replace::{open_file, sync_directory, temporary_beside};
use crate::units::rounded_time;

/// Result of an operation of a format. The error is the reason why the format cannot store the data, or why the bytes
/// do not have the format.
pub(super) type Checked<T> = std::result::Result<T, String>;

/// Layout of a new file, and the bytes of its header.
pub(super) type Created = (Box<dyn Layout>, Vec<u8>);

/// Layout and description of an existing file, and the byte ranges of the frames.
pub(super) type Found = (Box<dyn Layout>, Facts, Index);

/// Layout of the frames of one file, with the data that are needed to encode and decode its frames.
pub(super) trait Layout: Send + Sync {
    /// Checks that the file can be continued with `contents`. The error is the reason why the file cannot be continued.
    fn continues(&self, _contents: &Contents<'_>) -> Checked<()> {
        Ok(())
    }

    /// Prepares the layout of an existing file for new frames, after the file is truncated to `count` frames.
    fn resume(&mut self, _contents: &Contents<'_>, _count: u64) -> Checked<()> {
        Ok(())
    }

    /// Encodes a frame whose written atoms are at the positions `placed` (nm). The error is the reason why the format
    /// cannot store the frame.
    fn encode(&mut self, frame: &Frame<'_>, placed: &[[f32; 3]], bytes: &mut Vec<u8>) -> Checked<()>;

    /// Requests that later calls decode only the first `_atoms` atoms of a frame. A format that must decode whole
    /// frames ignores the request.
    fn limit(&mut self, _atoms: usize) {}

    /// Decodes frame `index` from its bytes. The error describes the fault in these bytes.
    fn decode(&self, index: usize, bytes: &[u8], frame: &mut StoredFrame) -> Checked<()>;

    /// Returns a warning for the user about the frames encoded so far; `None` if there is nothing to warn of.
    fn warning(&self) -> Option<&'static str> {
        None
    }

    /// Returns the bytes of the header that depend on the number of frames and on the step number of the last frame,
    /// with their offset in the file; `None` if the format has no such bytes.
    fn counts(&self, _count: u64, _last_step: Option<u64>) -> Option<(u64, Vec<u8>)> {
        None
    }
}

/// Description of an existing file.
pub(super) struct Facts {
    /// number of atoms in a frame; 0 if the file has no frames and its header does not give the number of atoms
    pub(super) atoms: usize,
    /// storage of positions; `None` if no frame of the file shows the precision, or if md never writes positions with
    /// this precision
    pub(super) precision: Option<Precision>,
    /// optional fields of the frames; `None` if no frame of the file shows the fields
    pub(super) fields: Option<Fields>,
    /// names and elements of all atoms; empty if the format has no names
    pub(super) labels: Vec<Label>,
    /// number of atoms that are left out of the first frame because they are at alternative locations
    pub(super) left_out: usize,
    /// whether the file gives the times of its frames. If the file gives no times, the time of a frame is the index of
    /// the frame, or follows from `doubtful_interval`
    pub(super) has_times: bool,
    /// interval (ps) between frames in the header of a file whose writer may not have known the times; `None` if the
    /// header states no interval, or if the interval is certain
    pub(super) doubtful_interval: Option<f64>,
    /// whether the time of a frame follows from its index in the file
    pub(super) is_indexed: bool,
    /// rounding step (nm) of the positions, the smallest of all frames; `None` if the positions are not rounded
    pub(super) resolution: Option<f64>,
    /// whether the file stores positions in 64 bits
    pub(super) is_double: bool,
    /// number of records that are skipped because they have no positions
    pub(super) skipped: u64,
    /// whether the cell is the unit cell of a crystal, whose symmetry puts further copies of the atoms into the cell
    pub(super) is_crystal: bool,
    /// whether the cell of the first frame has other lattice vectors than the file
    pub(super) has_other_vectors: bool,
    /// number of frames that the header of the file states; `None` if the header has no such number
    pub(super) counted: Option<u64>,
    /// identifier of the run that wrote the file; `None` if the format has no such identifier
    pub(super) run_id: Option<String>,
}

impl Facts {
    /// Describes a file whose frames have times, but no optional fields.
    pub(super) fn new(atoms: usize, precision: Option<Precision>) -> Self {
        Self {
            atoms,
            precision,
            fields: Some(Fields::default()),
            labels: vec![],
            left_out: 0,
            has_times: true,
            doubtful_interval: None,
            is_indexed: false,
            resolution: None,
            is_double: false,
            skipped: 0,
            is_crystal: false,
            has_other_vectors: false,
            counted: None,
            run_id: None,
        }
    }
}

/// Existing trajectory file that is open for reading.
pub(super) struct Opened {
    pub(super) path: PathBuf,
    pub(super) file: BufReader<File>,
    pub(super) length: u64,
    pub(super) layout: Box<dyn Layout>,
    pub(super) facts: Facts,
    pub(super) index: Index,
}

impl Opened {
    pub(super) fn new(path: &Path, format: &Records) -> Result<Self> {
        let file = regular_file(path)?;
        let length = file.metadata().map_err(|e| Error::io(path, e))?.len();
        let mut file = BufReader::new(file);
        let (layout, facts, index) =
            (format.open)(&mut file, length).map_err(|reason| Problem::new(reason).in_file(path))?;
        Ok(Self { path: path.to_owned(), file, length, layout, facts, index })
    }

    /// Reads the bytes of frame `index` into `bytes`.
    pub(super) fn bytes(&mut self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        let Range { start, end } = self.index.frame(index);
        // the frame lies inside the file, so the buffer is never larger than the file
        bytes.resize((end - start) as usize, 0);
        let read = self.file.seek(SeekFrom::Start(start)).and_then(|_| self.file.read_exact(bytes));
        read.map_err(|e| Error::io(&self.path, e))
    }

    /// Returns the CRC-32 of the bytes of the first `count` frames.
    fn checksum(&mut self, count: usize) -> Result<Hasher> {
        let Range { start, end } = self.index.frames(count);
        let io = |e| Error::io(&self.path, e);
        self.file.seek(SeekFrom::Start(start)).map_err(io)?;
        let (mut sum, mut buffer, mut left) = (Hasher::new(), vec![0; 1 << 16], end - start);
        while left > 0 {
            let piece = &mut buffer[..left.min(1 << 16) as usize];
            self.file.read_exact(piece).map_err(io)?;
            sum.update(piece);
            left -= piece.len() as u64;
        }
        Ok(sum)
    }

    /// Returns the checksum of the first `extent.count` frames. Returns an error if this checksum differs from the
    /// checksum in `extent`.
    fn check_extent(&mut self, extent: Extent) -> Result<Hasher> {
        let (found, count) = (self.index.count() as u64, extent.count);
        if found < count {
            let message = format!("the file has {found} frames, but the checkpoint was written after {count} frames");
            return Err(not_as_checkpointed(&self.path, message));
        }
        let sum = self.checksum(count as usize)?;
        if sum.clone().finalize() != extent.checksum {
            let message = format!("the first {count} frames differ from the frames at the time of the checkpoint");
            return Err(not_as_checkpointed(&self.path, message));
        }
        Ok(sum)
    }

    /// Describes how the end of a file is cut off: the last frame is incomplete, or the file has fewer frames than its
    /// header states; `None` if the file is complete.
    pub(super) fn cut_off(&self) -> Option<String> {
        let (path, frames) = (self.path.display(), self.index.count());
        let incomplete = self.rest().map(|rest| {
            format!(
                "{path} has {frames} complete frames; {rest}; md reads the complete frames, and `md repair` \
                     removes the rest"
            )
        });
        let missing = self.missing();
        let counted = frames as u64 + missing;
        incomplete.or_else(|| {
            (missing > 0).then(|| {
                format!(
                    "{path} has {frames} complete frames, but its header counts {counted} frames: the other frames \
                     are missing"
                )
            })
        })
    }

    /// Returns the number of frames that the header counts and that do not even begin before the end of the file.
    pub(super) fn missing(&self) -> u64 {
        let found = self.index.count() as u64 + u64::from(self.length > self.index.end());
        self.facts.counted.map_or(0, |counted| counted.saturating_sub(found))
    }

    /// Describes the bytes after the last complete frame; `None` if the file ends with a complete frame, or with
    /// damage.
    pub(super) fn rest(&self) -> Option<String> {
        let rest = self.length - self.index.end();
        (rest > 0).then(|| {
            format!("{rest} bytes of an incomplete frame follow: a run is writing them, or was killed while writing")
        })
    }

    /// Returns a warning about records that are skipped; `None` if no record is skipped.
    pub(super) fn skipped(&self) -> Option<String> {
        let (path, skipped) = (self.path.display(), self.facts.skipped);
        (skipped > 0).then(|| {
            format!(
                "{path} has {skipped} records of velocities or forces without positions: these records are left out"
            )
        })
    }
}

/// Writer that appends frames to a file.
struct RecordSink {
    path: PathBuf,
    file: File,
    layout: Box<dyn Layout>,
    placer: Placer,
    periodic: bool,
    count: u64,
    checksum: Hasher,
    last_step: Option<u64>,
    placed: Vec<[f32; 3]>,
    bytes: Vec<u8>,
}

impl RecordSink {
    /// Creates a writer that continues at the end of `file`. `mark` must hold the number of frames in the file, and
    /// `checksum` must be the checksum of these frames.
    fn new(
        path: &Path,
        file: File,
        layout: Box<dyn Layout>,
        contents: &Contents<'_>,
        mark: Mark,
        checksum: Hasher,
    ) -> Self {
        let atoms = contents.topology.atoms.len();
        Self {
            path: path.to_owned(),
            file,
            layout,
            placer: Placer::new(contents.topology, contents.placement),
            periodic: contents.periodic,
            count: mark.extent.count,
            checksum,
            last_step: mark.last_step,
            placed: vec![[0.0; 3]; atoms],
            bytes: vec![],
        }
    }

    /// Writes the number of frames and the last step number to the header, if the format stores these two numbers.
    fn write_counts(&mut self, count: u64, last_step: Option<u64>) -> Result<()> {
        let Some((place, bytes)) = self.layout.counts(count, last_step) else { return Ok(()) };
        let written = self.file.seek(SeekFrom::Start(place)).and_then(|_| self.file.write_all(&bytes));
        written.and_then(|()| self.file.seek(SeekFrom::End(0))).map(drop).map_err(|e| Error::io(&self.path, e))
    }

    fn mark(&self) -> Mark {
        let extent = Extent { count: self.count, checksum: self.checksum.clone().finalize() };
        Mark { extent, last_step: self.last_step }
    }
}

impl FrameSink for RecordSink {
    fn write(&mut self, frame: &Frame<'_>) -> Result<()> {
        if self.last_step == Some(frame.step) {
            return Ok(());
        }
        let wrong = |what: String| Err(Error::Internal(format!("frame at step {}: {what}", frame.step)));
        if let Some(last) = self.last_step.filter(|&last| frame.step < last) {
            return wrong(format!("the last frame was at step {last}"));
        }
        if frame.cell.is_some() != self.periodic || frame.positions.len() != self.placer.given {
            return wrong(format!("cell: {}, {} positions", frame.cell.is_some(), frame.positions.len()));
        }
        self.placer.place(frame.cell.as_ref(), frame.positions, &mut self.placed, &mut []);
        self.bytes.clear();
        let [velocities, forces] = [frame.velocities, frame.forces].map(|values| self.placer.written(values));
        let written = Frame { velocities: &velocities, forces: &forces, ..*frame };
        let encoded = self.layout.encode(&written, &self.placed, &mut self.bytes);
        encoded.map_err(|reason| Error::io(&self.path, format!("frame at step {}: {reason}", frame.step)))?;
        self.file.write_all(&self.bytes).map_err(|e| Error::io(&self.path, e))?;
        // the number of frames in the header is updated only after the frame is written, because other programs expect
        // as many frames as the header states
        self.write_counts(self.count + 1, Some(frame.step))?;
        self.checksum.update(&self.bytes);
        self.count += 1;
        self.last_step = Some(frame.step);
        Ok(())
    }

    fn sync(&mut self) -> Result<Mark> {
        self.write_counts(self.count, self.last_step)?;
        self.file.sync_data().map_err(|e| Error::io(&self.path, e))?;
        Ok(self.mark())
    }

    fn close(mut self: Box<Self>) -> Result<Mark> {
        self.sync()
    }

    fn warning(&self) -> Option<&'static str> {
        self.layout.warning()
    }
}

/// File operations of a format.
pub(super) struct Records {
    /// name of the format
    pub(super) name: &'static str,
    /// function that returns whether a file has this format; the argument is the beginning of the file
    pub(super) recognises: fn(&[u8]) -> bool,
    /// function that creates the layout of a new file. The error is the reason why the format cannot store the contents
    pub(super) create: fn(&Contents<'_>) -> Checked<Created>,
    /// function that reads the header of an existing file and finds the frames; the second argument is the size of the
    /// file in bytes. The error is the reason why the file does not have this format
    pub(super) open: fn(&mut BufReader<File>, u64) -> Checked<Found>,
}

impl Files for Records {
    fn recognises(&self, beginning: &[u8]) -> bool {
        (self.recognises)(beginning)
    }

    fn create(&self, path: &Path, contents: &Contents<'_>) -> Result<Box<dyn FrameSink>> {
        let (layout, header) = (self.create)(contents).map_err(|reason| Problem::new(reason).in_file(path))?;
        let io = |e| Error::io(path, e);
        // an empty file may exist if the format has no header and a run was killed before its first frame
        if path.metadata().is_ok_and(|found| found.is_file() && found.len() == 0) {
            std::fs::remove_file(path).map_err(io)?;
        }
        let mut temporary = temporary_beside(path)?;
        temporary.write_all(&header).and_then(|()| temporary.as_file().sync_all()).map_err(io)?;
        temporary.persist_noclobber(path).map_err(|e| match e.error.kind() {
            ErrorKind::AlreadyExists => exists_already(path),
            _ => io(e.error),
        })?;
        sync_directory(path)?;
        let mut file = open_file(path, OpenOptions::new().write(true))?;
        file.seek(SeekFrom::End(0)).map_err(io)?;
        Ok(Box::new(RecordSink::new(path, file, layout, contents, Mark::default(), Hasher::new())))
    }

    fn check(&self, path: &Path, checkpointed: Mark) -> Result<()> {
        Opened::new(path, self)?.check_extent(checkpointed.extent).map(|_| ())
    }

    fn continues(&self, path: &Path, contents: &Contents<'_>) -> Result<()> {
        let opened = Opened::new(path, self)?;
        let Facts { atoms: found_atoms, precision, fields, .. } = opened.facts;
        let (wanted, atoms) = (contents.precision, contents.topology.atoms.len());
        let settings = if let Some(found) = precision.filter(|&found| found != wanted) {
            Err(format!("positions are stored as {found:?}, and the run requests {wanted:?}"))
        } else if let Some(Fields { velocities, forces, .. }) = fields.filter(|&fields| fields != contents.fields) {
            Err(format!("the file has other fields (velocities: {velocities}, forces: {forces}) than the run requests"))
        } else if found_atoms != atoms && opened.index.count() > 0 {
            Err(format!("the file has {found_atoms} atoms, and the run writes {atoms}"))
        } else {
            opened.layout.continues(contents)
        };
        settings.map_err(|what| {
            other_settings(path, format!("the settings of an existing trajectory cannot change: {what}"))
        })
    }

    fn append(&self, path: &Path, contents: &Contents<'_>, checkpointed: Mark) -> Result<Box<dyn FrameSink>> {
        let mut opened = Opened::new(path, self)?;
        let checksum = opened.check_extent(checkpointed.extent)?;
        let (found, atoms) = (opened.facts.atoms, contents.topology.atoms.len());
        if checkpointed.extent.count > 0 && found != atoms {
            return Err(not_as_checkpointed(path, format!("the frames have {found} atoms, the system has {atoms}")));
        }
        let io = |e| Error::io(path, e);
        let layout = match checkpointed.extent.count {
            // a file without frames gets the layout of a new file, because only frames show which fields and precision
            // a file has
            0 => (self.create)(contents).map(|(layout, _)| layout),
            count => opened.layout.resume(contents, count).map(|()| opened.layout),
        };
        let layout = layout.map_err(|reason| Problem::new(reason).in_file(path))?;
        let mut file = open_file(path, OpenOptions::new().write(true))?;
        file.set_len(opened.index.frames(checkpointed.extent.count as usize).end).map_err(io)?;
        file.seek(SeekFrom::End(0)).map_err(io)?;
        Ok(Box::new(RecordSink::new(path, file, layout, contents, checkpointed, checksum)))
    }

    fn open(&self, path: &Path) -> Result<Box<dyn FrameSource>> {
        let opened = Opened::new(path, self)?;
        if let Some((_, damage)) = opened.index.damage.first() {
            let problem = Problem::new(damage.as_str()).in_file(path);
            return Err(problem.help("`md repair` saves the frames that can be read").into());
        }
        Ok(Box::new(RecordSource { opened, stored: vec![] }))
    }

    fn run_id(&self, path: &Path) -> Option<String> {
        Opened::new(path, self).ok()?.facts.run_id
    }

    fn is_complete(&self, path: &Path, extent: Extent) -> bool {
        let whole = |mut opened: Opened| {
            let counts = opened.index.count() as u64 == extent.count && opened.rest().is_none();
            counts && opened.check_extent(extent).is_ok()
        };
        Opened::new(path, self).is_ok_and(whole)
    }

    fn describe(&self, path: &Path) -> Result<Description> {
        let opened = Opened::new(path, self)?;
        let (size, rest, missing) = (opened.length, opened.rest(), opened.missing());
        let damage = opened.index.damage.clone();
        let count = opened.index.count();
        let mut lines = vec![
            ("atoms", opened.facts.atoms.to_string()),
            ("frames", format!("{}, {:.1} MB", count - damage.len(), size as f64 / 1e6)),
        ];
        let positions = match opened.facts.precision {
            _ if count == 0 && opened.facts.skipped > 0 => "no positions",
            _ if opened.facts.is_double => "positions in 64 bits",
            Some(Precision::Decimals3) => "positions to 0.001 nm",
            Some(Precision::Decimals4) => "positions to 0.0001 nm",
            Some(_) => "positions in 32 bits",
            None => "positions",
        };
        let skipped = opened.facts.skipped;
        let (mut source, mut frame) = (RecordSource { opened, stored: vec![] }, StoredFrame::default());
        // a frame follows every stretch of damaged bytes, except the last
        let is_frame = |&index: &usize| damage.iter().all(|(damaged, _)| *damaged != index);
        for (name, index) in [("first", (0..count).find(is_frame)), ("last", (0..count).rev().find(is_frame))] {
            let Some(index) = index else { continue };
            source.read(index, &mut frame)?;
            lines.push((name, format!("step {}, {} ps", frame.step, rounded_time(frame.time))));
        }
        let present = [
            (frame.cell.is_some(), ", cell"),
            (!frame.velocities.is_empty(), ", velocities"),
            (!frame.forces.is_empty(), ", forces"),
        ];
        let present: String = present.into_iter().filter(|(there, _)| *there).map(|(_, name)| name).collect();
        lines.push(("fields", format!("{positions}{present}")));
        lines.extend(source.opened.facts.run_id.map(|run| ("run", run)));
        if skipped > 0 {
            lines.push(("left out", format!("{skipped} records of velocities or forces without positions")));
        }
        lines.extend(damage.into_iter().map(|(_, damage)| ("damage", damage)).take(1));
        lines.extend(rest.map(|rest| ("end", rest)));
        if missing > 0 {
            lines.push(("missing", format!("{missing} more frames, which the header counts")));
        }
        Ok(Description { title: format!("{} trajectory", self.name), lines })
    }

    fn verify(&self, path: &Path) -> Result<Verification> {
        salvage::verify(path, self)
    }

    fn repair(&self, path: &Path) -> Result<Repair> {
        salvage::repair(path, self)
    }
}
