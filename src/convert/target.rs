//! Output of converted frames: a trajectory of any format, or a structure.
//!
//! Each file is written under a temporary name and renamed when it is complete.

use std::path::{Path, PathBuf};

use super::structure::{STRUCTURES, Structure};
use crate::error::{Error, Problem, Result};
use crate::format::{Coordinates, write_gro, write_mmcif, write_pdb_of, write_rst7};
use crate::observe::replace::{directory, replace_synced};
use crate::observe::trajectory::{
    Contents, Fields, Format, Frame, FrameSink, FrameSource, Placement, Precision, Provenance, Spacing, StoredFrame,
    Unread,
};
use crate::system::{Atom, Name, Topology};
use crate::units::rounded_time;
use crate::vec3::Vec3;

/// Output file of a conversion.
pub struct Target<'a> {
    path: PathBuf,
    kind: Kind,
    /// topology of the frames; atoms without names if the topology is unknown
    system: Topology,
    /// topology of the chosen atoms; empty if all atoms are written
    written: Topology,
    /// written atoms (0-based, ascending); `None` for all atoms
    atoms: Option<&'a [u32]>,
    /// first frame, which is kept in memory until the number of frames (one or several) is known
    first: Option<StoredFrame>,
    sink: Option<Box<dyn FrameSink>>,
    /// optional fields (velocities, forces) that the file has
    fields: Fields,
    /// optional fields (velocities, forces) that the caller requests; a requested field that the first frame lacks is
    /// not written
    wanted: Fields,
    /// optional fields (velocities, forces) that the caller requests and frames have, but the format cannot hold
    unheld: Fields,
    periodic: bool,
    last_step: Option<u64>,
    /// whether the step of a frame was replaced, because it was negative or did not ascend
    is_renumbered: bool,
    /// rounding step (nm) of the positions in the input, if the format cannot hold positions with this step and the
    /// caller requests no other precision
    coarsened: Option<f64>,
}

#[derive(Clone, Copy)]
enum Kind {
    Trajectory(&'static Format, Precision),
    Structure(Structure),
}

/// Parts of the messages about positions that a trajectory format cannot store.
const OUT_OF_RANGE: [&str; 2] = ["exceed the range of", "are outside the range of"];

/// Options of an output file: number of frames, fields and precision.
#[derive(Clone, Copy, Debug)]
pub struct TargetOptions {
    /// whether only one frame will be written
    pub is_single: bool,
    /// precision (nm) to which positions may be rounded; `None` = as exact as the format allows
    pub rounding: Option<f64>,
    /// rounding step (nm) of the positions in the input; `None` if the positions are not rounded. Without `rounding`, a
    /// format that rounds all positions uses the coarsest precision that keeps these positions
    pub resolution: Option<f64>,
    /// whether velocities are written, if the frames have velocities
    pub velocities: bool,
    /// whether forces are written, if the frames have forces
    pub forces: bool,
}

impl Default for TargetOptions {
    /// Returns the contents of a trajectory with all that the frames have.
    fn default() -> Self {
        TargetOptions { is_single: false, rounding: None, resolution: None, velocities: true, forces: true }
    }
}

impl<'a> Target<'a> {
    /// Creates a file for frames of `count` atoms, whose names are in `topology`. `atoms` are the 0-based indices of
    /// the written atoms in ascending order; `None` for all atoms. The extension of the file name decides the format.
    pub fn new(
        path: &Path,
        options: TargetOptions,
        topology: Option<&Topology>,
        count: usize,
        atoms: Option<&'a [u32]>,
    ) -> Result<Self> {
        let (kind, needs_names) = kind(path, &options)?;
        if !directory(path).is_dir() {
            let problem = Problem::new("the folder of the output file does not exist").in_file(path);
            return Err(problem.help("create the folder, or correct its name").into());
        }
        let cannot_hold =
            |step: &f64| matches!(kind, Kind::Trajectory(format, _) if format.precision(Some(*step)).is_none());
        let system = match topology {
            Some(topology) => topology.clone(),
            None if needs_names => {
                let problem = Problem::new("this format needs atom names, but the input has none").in_file(path);
                return Err(problem.help("give the topology with --topology").into());
            }
            None => nameless(count),
        };
        let written = atoms.map_or_else(Topology::default, |atoms| system.subset(atoms));
        Ok(Self {
            path: path.to_owned(),
            kind,
            system,
            written,
            atoms,
            first: None,
            sink: None,
            fields: Fields::default(),
            wanted: Fields { velocities: options.velocities, forces: options.forces, image: false },
            unheld: Fields::default(),
            periodic: false,
            last_step: None,
            is_renumbered: false,
            coarsened: options.resolution.filter(|step| options.rounding.is_none() && cannot_hold(step)),
        })
    }

    /// Writes one frame. The first frame decides whether the file has cell, velocities and forces.
    pub(super) fn write(&mut self, frame: &StoredFrame) -> Result<()> {
        match (self.kind, self.first.take()) {
            (Kind::Trajectory(..), None) if self.sink.is_some() => self.put(frame),
            (Kind::Trajectory(format, precision), Some(first)) => {
                let steps = u64::try_from(frame.step.saturating_sub(first.step)).unwrap_or(1).max(1);
                let spacing = Spacing { steps, timestep: (frame.time - first.time) / steps as f64 };
                self.create(format, precision, spacing, &first)?;
                self.put(frame)
            }
            _ => {
                self.first = Some(frame.clone());
                Ok(())
            }
        }
    }

    /// Completes the output file and renames it to its final name. Returns warnings about contents of the frames that
    /// the file does not have.
    pub(super) fn finish(mut self) -> Result<Vec<String>> {
        match (self.kind, self.first.take()) {
            (Kind::Structure(structure), Some(frame)) => {
                self.note_unheld(&frame);
                self.write_structure(structure, frame)?;
                return Ok(self.warnings(None));
            }
            (Kind::Trajectory(format, precision), Some(first)) => {
                let timestep = if first.step > 0 { first.time / first.step as f64 } else { 0.0 };
                self.create(format, precision, Spacing { steps: 1, timestep }, &first)?;
            }
            (_, None) => {}
        }
        let Some(sink) = self.sink.take() else { return Ok(vec![]) };
        let warnings = self.warnings(sink.warning());
        let rename = |_| std::fs::rename(self.temporary(), &self.path).map_err(|error| Error::io(&self.path, error));
        let done = sink.close().and_then(rename).inspect_err(|_| self.discard());
        done.map(|()| warnings).map_err(|error| self.named(error))
    }

    /// Returns the topology of the written atoms.
    fn written_topology(&self) -> &Topology {
        if self.atoms.is_some() { &self.written } else { &self.system }
    }

    /// Returns the name of the format, and whether the format holds velocities and forces.
    fn format(&self) -> (&'static str, bool, bool) {
        match self.kind {
            Kind::Trajectory(Format { name, holds, .. }, _) => (name, holds.velocities, holds.forces),
            Kind::Structure(structure) => {
                let (name, velocities) = structure.describe();
                (name, velocities, false)
            }
        }
    }

    /// Records which requested fields the frame has, but the format cannot hold.
    fn note_unheld(&mut self, frame: &StoredFrame) {
        let (_, velocities, forces) = self.format();
        self.unheld.velocities |= self.wanted.velocities && !velocities && !frame.velocities.is_empty();
        self.unheld.forces |= self.wanted.forces && !forces && !frame.forces.is_empty();
    }

    /// Returns the warnings about a written file; `of_sink` is the warning of the writer of a trajectory.
    fn warnings(&self, of_sink: Option<&str>) -> Vec<String> {
        let (name, ..) = self.format();
        let Fields { velocities, forces, .. } = self.unheld;
        let fields = match (velocities, forces) {
            (true, true) => Some("velocities and forces"),
            (true, false) => Some("velocities"),
            (false, true) => Some("forces"),
            (false, false) => None,
        };
        let unheld = fields.map(|fields| {
            format!("{name} files hold no {fields}: they are left out; .h5md, .trr and .nc hold velocities and forces")
        });
        let coarsened = self.coarsened.map(|step| {
            format!(
                "the positions of the input are rounded to {step} nm, and {name} files of md round to 0.0001 nm: digits \
                 are lost; .h5md, .trr and .nc keep all digits of single precision"
            )
        });
        let renumbered = self.is_renumbered.then(|| {
            "some steps of the input are negative or do not ascend, and were replaced by ascending steps; the times are \
             those of the input"
                .to_owned()
        });
        let of_sink = of_sink.map(str::to_owned);
        [of_sink, self.cut_names(), unheld, coarsened, renumbered].into_iter().flatten().collect()
    }

    /// Returns a warning if the input has image flags, or observables that the format could hold: both are not
    /// converted.
    pub(super) fn unread(&self, source: &dyn FrameSource) -> Option<String> {
        let holds_observables = matches!(self.kind, Kind::Trajectory(format, _) if format.holds.observables);
        let Unread { images, observables } = source.unread();
        let unread = match (images, observables && holds_observables) {
            (true, true) => "image flags and observables",
            (true, false) => "image flags",
            (false, true) => "observables",
            (false, false) => return None,
        };
        Some(format!("{unread} of the input are left out: only positions, cells, velocities and forces are converted"))
    }

    /// Returns a warning if the format has fewer columns than a written name has characters.
    fn cut_names(&self) -> Option<String> {
        let columns = match self.kind {
            Kind::Structure(Structure::Pdb) => 4,
            Kind::Structure(Structure::Gro) => 5,
            Kind::Trajectory(format, _) if format.extension == "pdb" => 4,
            _ => return None,
        };
        let topology = self.written_topology();
        let is_long = |atom: &Atom| {
            let residue = topology.residues.get(atom.residue as usize).map_or("", |residue| residue.name.as_str());
            atom.name.as_str().len().max(residue.len()) > columns
        };
        let warning = "names of atoms or residues are longer than the columns of the format, and were cut; mmCIF (.cif) \
                       holds names of any length";
        topology.atoms.iter().any(is_long).then(|| warning.to_owned())
    }

    /// Replaces the temporary name of the output file in an error by its final name, and adds advice if positions are
    /// outside of the range of the format.
    fn named(&self, error: Error) -> Error {
        let temporary = self.temporary();
        match error {
            Error::Io { path, reason }
                if path == temporary && OUT_OF_RANGE.iter().any(|text| reason.contains(text)) =>
            {
                let help = ".trr, .nc and .h5md hold positions of any size; --whole puts molecules back into the cell";
                Problem::new(reason).in_file(&self.path).help(help).into()
            }
            Error::Io { path, reason } if path == temporary => Error::io(&self.path, reason),
            Error::Input(problems) => {
                let named = |problem: Problem| match problem.file.as_ref() == Some(&temporary) {
                    true => problem.in_file(&self.path),
                    false => problem,
                };
                Error::Input(problems.into_iter().map(named).collect())
            }
            other => other,
        }
    }

    fn temporary(&self) -> PathBuf {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        self.path.with_file_name(format!(".{name}.part"))
    }

    /// Deletes the unfinished files.
    fn discard(&self) {
        if let Kind::Trajectory(format, _) = self.kind {
            let temporary = self.temporary();
            let name = temporary.file_name().unwrap_or_default().to_string_lossy();
            let companions = format.files.companions(&name);
            for file in companions.iter().map(|name| temporary.with_file_name(name)).chain([temporary.clone()]) {
                // errors of the deletion are ignored, because only some of the files exist
                let _ = std::fs::remove_file(file);
            }
        }
    }

    /// Returns the optional fields (velocities, forces) that the frame has, the format can hold and the caller
    /// requests.
    fn taken(&self, format: &Format, frame: &StoredFrame) -> Fields {
        Fields {
            velocities: format.holds.velocities && self.wanted.velocities && !frame.velocities.is_empty(),
            forces: format.holds.forces && self.wanted.forces && !frame.forces.is_empty(),
            image: false,
        }
    }

    fn create(&mut self, format: &Format, precision: Precision, spacing: Spacing, first: &StoredFrame) -> Result<()> {
        self.discard();
        self.periodic = first.cell.is_some();
        self.fields = self.taken(format, first);
        let provenance = Provenance {
            version: env!("CARGO_PKG_VERSION").into(),
            commit: crate::COMMIT.into(),
            ..Provenance::default()
        };
        let contents = Contents {
            topology: self.written_topology(),
            placement: Placement { whole: false, selected: self.atoms.map(|atoms| (&self.system, atoms)) },
            periodic: self.periodic,
            fields: self.fields,
            precision,
            observables: &[],
            provenance: &provenance,
            spacing,
        };
        let created = format.files.create(&self.temporary(), &contents);
        self.sink = Some(created.map_err(|error| self.named(error))?);
        self.put(first)
    }

    fn put(&mut self, frame: &StoredFrame) -> Result<()> {
        self.note_unheld(frame);
        let here = match self.kind {
            Kind::Trajectory(format, _) => self.taken(format, frame),
            Kind::Structure(_) => Fields::default(),
        };
        for (what, is_first, is_here, help) in [
            (
                "a cell",
                self.periodic,
                frame.cell.is_some(),
                "with --begin and --end, choose only frames with a cell, or only frames without a cell",
            ),
            (
                "velocities",
                self.fields.velocities,
                here.velocities,
                "leave out the velocities of all frames with --no-velocities",
            ),
            ("forces", self.fields.forces, here.forces, "leave out the forces of all frames with --no-forces"),
        ] {
            if is_first != is_here {
                let (has, lacks) =
                    if is_first { ("the first frame", "this frame") } else { ("this frame", "the first frame") };
                let time = rounded_time(frame.time);
                let message = format!("the frame at {time} ps: {has} has {what}, but {lacks} has none");
                return Err(Problem::new(message).help(help).into());
            }
        }
        // steps must ascend in the output, even if the steps of the input do not
        let step = u64::try_from(frame.step).unwrap_or(0).max(self.last_step.map_or(0, |last| last + 1));
        self.last_step = Some(step);
        self.is_renumbered |= i64::try_from(step) != Ok(frame.step);
        let Some(sink) = &mut self.sink else { return Ok(()) };
        let written = sink.write(&Frame {
            step,
            time: frame.time,
            cell: frame.cell,
            positions: &frame.positions,
            velocities: if self.fields.velocities { &frame.velocities } else { &[] },
            forces: if self.fields.forces { &frame.forces } else { &[] },
            observables: &[],
        });
        written.map_err(|error| self.named(error))
    }

    fn write_structure(&self, structure: Structure, mut frame: StoredFrame) -> Result<()> {
        if !self.wanted.velocities {
            frame.velocities.clear();
        }
        let title = format!("{} t= {:.5} step= {}", self.system.title.trim(), frame.time, frame.step);
        let (title, cell) = (title.trim_start(), frame.cell);
        let atoms = || -> Box<dyn Iterator<Item = usize> + '_> {
            match self.atoms {
                Some(atoms) => Box::new(atoms.iter().map(|&atom| atom as usize)),
                None => Box::new(0..self.system.atoms.len()),
            }
        };
        let StoredFrame { positions, velocities, .. } = &frame;
        replace_synced(&self.path, |out| match structure {
            Structure::Pdb => write_pdb_of(&self.system, atoms(), positions, cell.as_ref(), title, out),
            Structure::Mmcif => write_mmcif(&self.system, atoms(), positions, cell.as_ref(), title, out),
            Structure::Gro => write_gro(&self.system, atoms(), positions, velocities, cell.as_ref(), title, out),
            Structure::Rst7 => {
                let taken = |values: &[Vec3]| atoms().map(|atom| values[atom]).collect::<Vec<Vec3>>();
                let coordinates = Coordinates {
                    title: self.system.title.trim().to_owned(),
                    time: Some(frame.time),
                    positions: taken(positions),
                    velocities: (!velocities.is_empty()).then(|| taken(velocities)),
                    cell,
                    ..Coordinates::default()
                };
                write_rst7(&coordinates, out)
            }
        })
    }
}

impl Drop for Target<'_> {
    /// Deletes an unfinished file.
    fn drop(&mut self) {
        if let Some(sink) = self.sink.take() {
            drop(sink);
            self.discard();
        }
    }
}

/// Returns the format that belongs to a file name, and whether the format stores names of atoms.
fn kind(path: &Path, options: &TargetOptions) -> Result<(Kind, bool)> {
    let rounding = options.rounding;
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let structure = STRUCTURES.into_iter().find(|(name, _)| *name == extension);
    let format = Format::of_name(&path.to_string_lossy());
    match (structure, format) {
        (Some((_, structure)), _) if options.is_single => {
            Ok((Kind::Structure(structure), structure != Structure::Rst7))
        }
        (Some(_), Err(_)) => {
            let problem = Problem::new("this format stores one frame, and the input has several").in_file(path);
            Err(problem.help("choose one with --frame").into())
        }
        (_, Ok(format)) => {
            let precision = match (format.precision(rounding), rounding) {
                (Some(precision), _) => precision,
                (None, None) => options
                    .resolution
                    .map_or(Precision::Decimals3, |step| format.precision(Some(step)).unwrap_or(Precision::Decimals4)),
                (None, Some(step)) => {
                    let message =
                        format!("--precision: {} files of md cannot hold positions to {step} nm", format.name);
                    let help = "the finest precision is 0.0001 nm; trr and h5md keep all digits of single precision";
                    return Err(Problem::new(message).in_file(path).help(help).into());
                }
            };
            Ok((Kind::Trajectory(format, precision), format.holds.names))
        }
        (None, Err(problem)) => {
            let help = problem.help.clone().unwrap_or_default();
            let files = "structures in .rst7, .pdb, .gro, .cif; topologies in .prmtop, .top";
            Err(problem.help(format!("{help}; {files}")).into())
        }
    }
}

/// Returns a topology of `count` unknown atoms without names.
fn nameless(count: usize) -> Topology {
    let (name, type_name) = (Name::default(), Name::default());
    let atom = Atom { name, type_name, element: 0, mass: 0.0, charge: 0.0, lj_type: 0, residue: 0 };
    Topology { atoms: vec![atom; count], ..Topology::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::Residue;

    #[test]
    fn names_that_are_cut_are_warned_of() {
        let folder = tempfile::tempdir().unwrap();
        let single = TargetOptions { is_single: true, ..TargetOptions::default() };
        let written = |file: &str, atom: &str, residue: &str| {
            let mut topology = nameless(1);
            topology.atoms[0].name = Name::new(atom);
            topology.residues = vec![Residue { name: Name::new(residue), number: 1, first: 0 }];
            let mut target = Target::new(&folder.path().join(file), single, Some(&topology), 1, None).unwrap();
            target.write(&StoredFrame { positions: vec![Vec3::ZERO], ..StoredFrame::default() }).unwrap();
            !target.finish().unwrap().is_empty()
        };
        for (file, most) in [("a.pdb", 4), ("a.gro", 5), ("a.cif", 16)] {
            let longer = &"ABCDEFGHIJKLMNOPQ"[..most + 1];
            assert!(!written(file, &longer[..most], &longer[..most]), "{file}");
            assert_eq!([written(file, longer, "R"), written(file, "C", longer)], [most < 16; 2], "{file}");
        }
    }
}
