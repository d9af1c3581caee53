//! File operations of the H5MD format, for the list of all formats.

use std::path::Path;

use super::foreign::ForeignReader;
use super::layout;
use super::names::mdtraj_topology;
use super::{TrajectoryInfo, TrajectoryReader, TrajectoryWriter, info, repair, verify};
use crate::error::{Problem, Result};
use crate::observe::extent::{Extent, Mark};
use crate::observe::trajectory::refusal::other_settings;
use crate::observe::trajectory::{
    Contents, Description, Fields, Files, Format, Frame, FrameSink, FrameSource, Holds, Precision, Repair, Verification,
};
use crate::system::Topology;
use crate::units::rounded_time;

/// Description of the H5MD format, for the list of all formats.
pub(in crate::observe::trajectory) const FORMAT: Format = Format {
    name: "H5MD",
    extension: "h5md",
    atom_bytes: 12,
    frame_bytes: 512,
    holds: Holds {
        velocities: true,
        forces: true,
        images: true,
        observables: true,
        lossless: true,
        rounded: true,
        names: true,
        times: true,
    },
    files: &H5md,
};

struct H5md;

impl Files for H5md {
    fn recognises(&self, beginning: &[u8]) -> bool {
        beginning.starts_with(b"\x89HDF\r\n\x1a\n")
    }

    fn create(&self, path: &Path, contents: &Contents<'_>) -> Result<Box<dyn FrameSink>> {
        Ok(Box::new(TrajectoryWriter::create(path, contents)?))
    }

    /// Returns an error if the file cannot be opened as a trajectory. The checksums are compared later, when the file
    /// is continued. A file that was damaged by a loss of power is accepted if the writer can repair the file.
    fn check(&self, path: &Path, checkpointed: Mark) -> Result<()> {
        match info(path) {
            Ok(_) => Ok(()),
            Err(_) => TrajectoryWriter::append(path, Some(checkpointed.extent))?.close().map(|_| ()),
        }
    }

    fn continues(&self, path: &Path, contents: &Contents<'_>) -> Result<()> {
        let found = info(path)?;
        let written = TrajectoryReader::open(path)?.identities()?;
        if written != layout::identities(contents) {
            let message = "the settings of an existing trajectory cannot change: the selection of atoms differs";
            return Err(other_settings(path, message));
        }
        if found.observables != contents.observables {
            let message =
                "the settings of an existing trajectory cannot change: the recorded temperature groups differ";
            return Err(other_settings(path, message));
        }
        let image = contents.fields.image && contents.periodic;
        let wanted = Fields { image, ..contents.fields };
        if (found.fields, found.precision) == (wanted, contents.precision) {
            return Ok(());
        }
        let describe = |fields: Fields, precision: Precision| {
            let Fields { velocities, forces, image } = fields;
            format!("velocities: {velocities}, forces: {forces}, images: {image}, positions: {precision:?}")
        };
        let (has, requests) = (describe(found.fields, found.precision), describe(contents.fields, contents.precision));
        let message = format!(
            "the settings of an existing trajectory cannot change: the file has ({has}), the run requests ({requests})"
        );
        Err(other_settings(path, message))
    }

    fn append(&self, path: &Path, contents: &Contents<'_>, checkpointed: Mark) -> Result<Box<dyn FrameSink>> {
        Ok(Box::new(TrajectoryWriter::continue_with(path, contents, Some(checkpointed.extent))?))
    }

    fn open(&self, path: &Path) -> Result<Box<dyn FrameSource>> {
        match ForeignReader::open(path)? {
            Some(foreign) => Ok(Box::new(foreign)),
            None => Ok(Box::new(TrajectoryReader::open(path)?)),
        }
    }

    fn run_id(&self, path: &Path) -> Option<String> {
        info(path).ok().map(|found| found.run_id)
    }

    fn is_complete(&self, path: &Path, extent: Extent) -> bool {
        info(path).is_ok_and(|found| found.closed && found.extent == Some(extent))
    }

    fn describe(&self, path: &Path) -> Result<Description> {
        match ForeignReader::open(path)? {
            Some(mut foreign) => foreign.describe(),
            None => Ok(describe(&info(path)?)),
        }
    }

    fn verify(&self, path: &Path) -> Result<Verification> {
        match ForeignReader::open(path)? {
            Some(mut foreign) => Ok(foreign.verify()),
            None => verify(path),
        }
    }

    fn repair(&self, path: &Path) -> Result<Repair> {
        if let Ok(Some(mut foreign)) = ForeignReader::open(path) {
            let found = foreign.verify();
            if found.bad.is_empty() {
                return Ok(Repair { frames: found.frames, ..Repair::default() });
            }
            let problem = Problem::new("md repairs only its own H5MD files, and another program wrote this file");
            return Err(problem.in_file(path).help("`md convert --end` writes the frames before the damage").into());
        }
        repair(path)
    }

    /// Returns the size of the static part. Apart from the topology, at most 35 kB were measured: groups, attributes,
    /// and the first chunk of each time series. The remaining bytes are for a longer input file and for more
    /// temperature groups.
    fn header_bytes(&self, topology: &Topology) -> u64 {
        const FILE: usize = 48_000;
        // mass and charge in f64, element in i32, identity in i64
        const ATOM: usize = 28;
        let json = mdtraj_topology(topology).map_or(0, |json| json.len());
        (FILE + json + ATOM * topology.atoms.len() + size_of::<[i64; 2]>() * topology.connectivity.len()) as u64
    }

    /// Returns the names of the journal and of the link `*.h5`. The link exists because MDTraj requires the extension
    /// `.h5`.
    fn companions(&self, name: &str) -> Vec<String> {
        let stem = name.strip_suffix("md").unwrap_or(name);
        vec![format!(".{name}.journal"), stem.to_owned()]
    }
}

impl FrameSink for TrajectoryWriter {
    fn write(&mut self, frame: &Frame<'_>) -> Result<()> {
        TrajectoryWriter::write(self, frame)
    }

    fn sync(&mut self) -> Result<Mark> {
        Ok(Mark { extent: TrajectoryWriter::sync(self)?, last_step: None })
    }

    fn close(self: Box<Self>) -> Result<Mark> {
        Ok(Mark { extent: TrajectoryWriter::close(*self)?, last_step: None })
    }

    fn warning(&self) -> Option<&'static str> {
        (!self.shared).then_some(
            "the file system of the output directory does not support reading the trajectory while it is written; it \
             can be read once the run has ended, or after `md repair` if it was killed",
        )
    }
}

fn describe(found: &TrajectoryInfo) -> Description {
    let state = if found.closed {
        "closed"
    } else {
        "open: a run is writing to the file, or the run was killed (see `md repair`)"
    };
    let mut lines = vec![
        ("state", state.to_owned()),
        ("atoms", found.atoms.to_string()),
        ("frames", format!("{}, {:.1} MB", found.frames, found.size as f64 / 1e6)),
    ];
    let ends = [("first", found.first), ("last", found.last)];
    lines.extend(
        ends.into_iter()
            .filter_map(|(name, at)| at.map(|(step, time)| (name, format!("step {step}, {} ps", rounded_time(time))))),
    );
    let positions = match found.precision {
        Precision::Raw => "positions in 32 bits, not compressed",
        Precision::Lossless => "positions in 32 bits",
        Precision::Decimals3 => "positions to 0.001 nm",
        Precision::Decimals4 => "positions to 0.0001 nm",
    };
    let fields = &found.fields;
    let present = [
        (true, positions),
        (found.periodic, "cell"),
        (fields.velocities, "velocities"),
        (fields.forces, "forces"),
        (fields.image, "images"),
    ];
    let present: Vec<&str> = present.into_iter().filter(|(there, _)| *there).map(|(_, name)| name).collect();
    lines.push(("fields", present.join(", ")));
    let observables: Vec<&str> = found.observables.iter().map(|observable| observable.name.as_str()).collect();
    if !observables.is_empty() {
        lines.push(("observables", observables.join(", ")));
    }
    Description { title: format!("H5MD trajectory, written by md {}", found.version), lines }
}
