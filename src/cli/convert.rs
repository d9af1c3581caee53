//! `md convert`: converts trajectories, structures and topologies from one format to another.

use std::path::{Path, PathBuf};

use clap::Args;

use super::input::gromacs_folders;
use super::topology;
use crate::analysis::{AnalysedSystem, Images, Reference};
use crate::convert::{
    Align, Center, Converted, Frames, Operation, Target, TargetOptions, Unwrap, Whole, convert, open, write_topology,
};
use crate::error::{Problem, Result};
use crate::format::known::writable_topology;
use crate::format::{Names, TopologyOptions, check_order, read_coordinates, read_topology_with, take_names};
use crate::image::WholeMolecules;
use crate::observe::progress::counted;
use crate::observe::trajectory::FrameSource;
use crate::system::Topology;
use crate::units::Dimension;

/// Convert a trajectory, structure or topology to another format; choose atoms and frames, place molecules, superpose
#[derive(Debug, Args)]
pub(super) struct Convert {
    /// Input: trajectory (.h5md, .xtc, .dcd, .trr, .nc, .pdb), structure (.rst7, .pdb, .cif, .gro, .g96, .crd), or
    /// topology (AMBER, GROMACS, CHARMM, OpenMM)
    pub(super) input: PathBuf,
    /// Output file; its ending decides the format. Trajectories: .h5md, .xtc, .dcd, .trr, .nc, .pdb. Single frames:
    /// .rst7, .gro, .cif. Topologies: .prmtop, .parm7, .top; the conversion fails if the format cannot express a term
    /// exactly
    output: PathBuf,
    /// Topology, if the input contains no names and bonds. A topology file (CHARMM psf without parameters is enough),
    /// a structure (gro, PDB, mmCIF) without bonds, or an H5MD trajectory of the same atoms
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// Selection of the atoms to write, as in md analyze, for example "not water"; default: all. Distances in the
    /// selection are measured in the first frame
    #[arg(long, value_name = "TEXT")]
    select: Option<String>,
    /// Use every N-th frame
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    stride: u32,
    /// Leave out frames before this time, for example "10 ns"
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    begin: Option<String>,
    /// Leave out frames after this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    end: Option<String>,
    /// Convert only this frame, counted from 0
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(conflicts_with_all = ["stride", "begin", "end", "unwrap"])]
    frame: Option<usize>,
    /// Make molecules whole and put them into the cell, as md run does; default: keep the positions of the input
    #[arg(long)]
    whole: bool,
    /// Make molecules whole and remove jumps across periodic boundaries, for example to compute diffusion
    /// coefficients
    #[arg(long, conflicts_with_all = ["whole", "center"])]
    unwrap: bool,
    /// Move the selected atoms to the center of the cell, and put every molecule into the periodic image closest to
    /// the center
    #[arg(long, value_name = "SELECTION")]
    center: Option<String>,
    /// Keep molecules in the periodic images that the input file stores (only with --center or --align)
    #[arg(long, conflicts_with_all = ["whole", "unwrap"])]
    as_stored: bool,
    /// Superpose each frame on the reference structure by the selected atoms. The output has no cell, because the
    /// rotation does not apply to the cell
    #[arg(long, value_name = "SELECTION")]
    align: Option<String>,
    /// Reference for --align: the word first (the first frame), the number of a frame, or a structure file
    #[arg(long, value_name = "FRAME", default_value = "first", requires = "align", value_parser = Reference::parse)]
    reference: Reference,
    /// Round positions to this precision if the format allows it, for example "0.001 nm". Default: all digits of
    /// single precision; in XTC, the precision of an XTC or H5MD input that is finer than 0.001 nm, down to 0.0001 nm,
    /// otherwise 0.001 nm
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    precision: Option<String>,
    /// Do not write velocities. Without this option, either all frames or no frames must have velocities
    #[arg(long)]
    no_velocities: bool,
    /// Do not write forces. Without this option, either all frames or no frames must have forces
    #[arg(long)]
    no_forces: bool,
    /// Replace the output file if it exists, or the file behind a symbolic link
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    of_topology: OfTopology,
}

/// Options for converting topologies.
#[derive(Debug, Args)]
struct OfTopology {
    /// Coordinate file of the same atoms: its cell is written to a .prmtop file, and its names replace missing names
    #[arg(long, value_name = "FILE")]
    coordinates: Option<PathBuf>,
    /// Parameter file (rtf, prm, str) of a CHARMM topology; may be given several times
    #[arg(long, value_name = "FILE")]
    parameters: Vec<PathBuf>,
    /// Preprocessor macro of a GROMACS topology, NAME or NAME=text, for example FLEXIBLE; may be given several times
    #[arg(long, value_name = "MACRO")]
    define: Vec<String>,
    /// Folder of files that a GROMACS topology includes; may be given several times
    #[arg(long, value_name = "FOLDER")]
    include: Vec<PathBuf>,
}

impl OfTopology {
    fn given(&self) -> [(&'static str, bool); 4] {
        [
            ("coordinates", self.coordinates.is_some()),
            ("parameters", !self.parameters.is_empty()),
            ("define", !self.define.is_empty()),
            ("include", !self.include.is_empty()),
        ]
    }
}

/// Warns of defects of a file and of a crystal's cell, and returns the number of defects.
fn warn_of(source: &dyn FrameSource) -> usize {
    let warnings = source.warnings();
    warnings.iter().for_each(|warning| super::warn(warning));
    if source.is_crystal() {
        super::warn(
            "the cell is that of a crystal with a space group other than P 1: the output has this cell without the \
             symmetry, and its atoms do not fill it",
        );
    }
    warnings.len()
}

impl Convert {
    /// Returns the path of the output file, behind a symbolic link. Fails if the output is one of the files that are
    /// read, or exists and is not to be replaced.
    fn checked_output(&self) -> Result<PathBuf> {
        let OfTopology { coordinates, parameters, .. } = &self.of_topology;
        let reference = match &self.reference {
            Reference::File(path) => Some(path),
            _ => None,
        };
        let others = [self.topology.as_ref(), coordinates.as_ref(), reference].into_iter().flatten();
        let inputs = [&self.input].into_iter().chain(others).chain(parameters);
        super::files::check_new(&self.output, inputs.map(PathBuf::as_path), self.force)?;
        super::files::destination(&self.output)
    }

    /// Returns the names in the input, which has a topology or is a structure; `None` if the input has no names.
    fn own_names(&self, source: &dyn FrameSource) -> Result<Option<Names>> {
        match source.topology() {
            Some(own) => Ok(Some(Names::of_stored(own.clone()))),
            None if source.labels().is_empty() => Ok(None),
            None => topology::read(&self.input).map(Some),
        }
    }

    /// Fails if frames with a cell are to be aligned and the bonds are unknown: broken molecules would be aligned.
    fn refuse_broken(&self, system: Option<&AnalysedSystem<'_>>, has_bonds: bool) -> Result<()> {
        let has_cell = system.and_then(AnalysedSystem::first_frame).is_some_and(|frame| frame.cell.is_some());
        if self.align.is_some() && has_cell && !has_bonds && !self.as_stored {
            let what = "--align of frames with a cell";
            return Err(topology::no_bonds(self.topology.as_ref().unwrap_or(&self.input), what));
        }
        Ok(())
    }

    pub(super) fn execute(&self) -> Result<()> {
        let output = self.checked_output()?;
        if writable_topology(&self.output).is_some() {
            return self.write_topology(&output);
        }
        self.refuse(&self.of_topology.given(), "applies only to topologies, and this conversion writes none")?;
        let is_unused = self.as_stored && self.center.is_none() && self.align.is_none();
        self.refuse(&[("as-stored", is_unused)], "applies only with --center or --align")?;
        let quantity = |name: &str, text: &Option<String>, dimension: Dimension| {
            let value = text.as_ref().map(|text| dimension.parse(text)).transpose();
            value.map_err(|problem| Problem { message: format!("--{name}: {}", problem.message), ..problem })
        };
        let frames = Frames {
            only: self.frame,
            begin: quantity("begin", &self.begin, Dimension::Time)?,
            end: quantity("end", &self.end, Dimension::Time)?,
            stride: self.stride as usize,
        };
        let rounding = quantity("precision", &self.precision, Dimension::Length)?;
        let given = self.topology.as_deref().map(topology::read).transpose()?;
        let mut source = open(&self.input, given.as_ref().map(|names| names.topology.atoms.len()))?;
        topology::check_frames(source.as_ref(), &self.input)?;
        let named = if given.is_some() { given } else { self.own_names(source.as_ref())? };
        let has_bonds = named.as_ref().is_none_or(|names| names.has_bonds);
        let needs = [("--whole", self.whole), ("--unwrap", self.unwrap), ("--center", self.center.is_some())];
        if let (false, Some((what, _))) = (has_bonds, needs.iter().find(|(_, given)| *given)) {
            return Err(topology::no_bonds(self.topology.as_ref().unwrap_or(&self.input), what));
        }
        let topology = named.map(|names| names.topology);
        if let Some(topology) = &topology {
            topology::check(topology, source.as_ref(), &self.input)?;
        }
        let atoms =
            self.select.as_ref().map(|text| self.atoms(topology.as_ref(), source.as_mut(), text)).transpose()?;
        let options = TargetOptions {
            is_single: self.frame.is_some() || source.frames() == 1,
            rounding,
            resolution: source.resolution(),
            velocities: !self.no_velocities,
            forces: !self.no_forces,
        };
        let count = source.atoms();
        let target = Target::new(&output, options, topology.as_ref(), count, atoms.as_deref())?;
        let images = if self.as_stored || !has_bonds { Images::AsStored } else { Images::Gathered };
        let system = match &topology {
            Some(topology) => Some(AnalysedSystem::new(topology, images).at_first(source.as_mut())?),
            None => None,
        };
        self.refuse_broken(system.as_ref(), has_bonds)?;
        let warned = warn_of(source.as_ref());
        let mut operations = self.operations(system.as_ref(), source.as_mut())?;
        let Converted { frames: written, warnings: lost } = convert(source.as_mut(), &mut operations, target, &frames)?;
        drop(operations);
        source.warnings().iter().skip(warned).for_each(|warning| super::warn(warning));
        let warnings = lost.into_iter().chain(topology::left_out(source.left_out()));
        let warning: String = warnings.map(|warning| format!("warning      {warning}\n")).collect();
        super::print(&format!(
            "written      {}: {} of {}\n{warning}",
            self.output.display(),
            counted(written, "frame"),
            counted(atoms.map_or(count, |atoms| atoms.len()), "atom")
        ))
    }

    /// Writes a topology in another format.
    fn write_topology(&self, output: &Path) -> Result<()> {
        let of_frames = [
            ("topology", self.topology.is_some()),
            ("select", self.select.is_some()),
            ("stride", self.stride != 1),
            ("begin", self.begin.is_some()),
            ("end", self.end.is_some()),
            ("frame", self.frame.is_some()),
            ("whole", self.whole),
            ("unwrap", self.unwrap),
            ("center", self.center.is_some()),
            ("align", self.align.is_some()),
            ("as-stored", self.as_stored),
            ("precision", self.precision.is_some()),
            ("no-velocities", self.no_velocities),
            ("no-forces", self.no_forces),
        ];
        self.refuse(&of_frames, "applies only to trajectories and structures, and this conversion writes a topology")?;
        let OfTopology { coordinates, parameters, define, include } = &self.of_topology;
        let include = include.iter().cloned().chain(gromacs_folders()).collect();
        let options = TopologyOptions {
            include,
            define: define.clone(),
            parameters: parameters.clone(),
            ..TopologyOptions::default()
        };
        let mut description = read_topology_with(&self.input, &options)?;
        let (atoms, angle) = (description.topology.atoms.len(), description.cell_hint.angle_degrees);
        let read = |path: &PathBuf| read_coordinates(path, Some(atoms), angle);
        let found = coordinates.as_ref().map(read).transpose()?;
        if let Some((path, found)) = coordinates.as_ref().zip(found.as_ref()) {
            check_order(&description.topology, &found.labels).map_err(|problem| problem.in_file(path))?;
            if description.nameless {
                take_names(&mut description.topology, &found.labels);
            }
        }
        let mut losses = vec![];
        if description.nameless && found.as_ref().is_none_or(|found| found.labels.is_empty()) {
            losses.push("the input has no names of atoms and residues; give a structure with --coordinates".to_owned());
        }
        let cell = found.and_then(|found| found.cell);
        losses.extend(write_topology(&description, cell.as_ref(), output)?);
        let losses: String = losses.iter().map(|loss| format!("warning      {loss}\n")).collect();
        super::print(&format!("written      {}: {atoms} atoms\n{losses}", self.output.display()))
    }

    /// Returns an error for the first of `options` that is set. Each option has a name, and a flag that is true if the
    /// option is set. `why` is the reason why the options have no effect on the output.
    fn refuse(&self, options: &[(&str, bool)], why: &str) -> Result<()> {
        match options.iter().find(|(_, given)| *given) {
            Some((name, _)) => {
                let problem = Problem::new(format!("--{name} {why}"));
                Err(problem.in_file(&self.output).help("leave out the option").into())
            }
            None => Ok(()),
        }
    }

    fn topology<'t>(&self, topology: Option<&'t Topology>) -> Result<&'t Topology> {
        topology.ok_or_else(|| {
            let problem = Problem::new("this file contains no names and bonds").in_file(&self.input);
            problem
                .help("give the topology with --topology: a topology file or an H5MD trajectory of the same atoms")
                .into()
        })
    }

    fn atoms(&self, topology: Option<&Topology>, source: &mut dyn FrameSource, text: &str) -> Result<Vec<u32>> {
        topology::select_first(self.topology(topology)?, source, text)
    }

    /// Returns the operations on each frame, in the order in which they are applied.
    fn operations<'a>(
        &self,
        system: Option<&'a AnalysedSystem<'a>>,
        source: &mut dyn FrameSource,
    ) -> Result<Vec<Box<dyn Operation + 'a>>> {
        let topology = system.map(AnalysedSystem::topology);
        let mut operations: Vec<Box<dyn Operation + 'a>> = vec![];
        if self.whole {
            operations.push(Box::new(Whole(WholeMolecules::of(self.topology(topology)?))));
        }
        if self.unwrap {
            operations.push(Box::new(Unwrap::new(self.topology(topology)?)));
        }
        let group =
            |text: &String| self.topology(topology).and_then(|_| system.map(|system| system.group(text)).transpose());
        if let Some((system, group)) = system.zip(self.center.as_ref().map(group).transpose()?.flatten()) {
            operations.push(Box::new(Center::new(system, group)));
        }
        if let Some((system, group)) = system.zip(self.align.as_ref().map(group).transpose()?.flatten()) {
            let reference = self.reference.positions(source, system, &group)?;
            operations.push(Box::new(Align::new(system, group, reference, self.unwrap)));
        }
        Ok(operations)
    }
}
