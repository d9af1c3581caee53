//! `md build`: makes a system from an entry of the Protein Data Bank.

mod input;
mod record;
mod topology;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, value_parser};
use md_build::entry::Options;
use md_build::forcefield::MoleculeFiles;
use md_build::hydrogens::PkaModel;
use md_build::solvent::{CellPlan, Placement, Salt, Shape, Size, lipid_names};
use md_build::{Built, Caps, Ions, ResidueName, Settings, anion_names, build, cation_names, field_names, water_names};

use crate::error::{Error, Problem, Result};
use crate::format::{Coordinates, write_mmcif, write_pdb, write_rst7};
use crate::observe::replace::replace_synced;
use crate::prepare::ForceOptions;
use crate::run::SHRINKING;
use crate::units::Dimension;
use record::Record;
use topology::WrittenTopology;

/// Names of the files that `md build` writes.
const COORDINATES: &str = "system.rst7";
const INPUT: &str = "input.toml";
const LOG: &str = "build.log";
const DECISIONS: &str = "build.json";
/// Largest number of atoms in a PDB file, because atom serial numbers have five digits; larger systems are written as
/// PDBx/mmCIF.
const PDB_ATOMS: usize = 99_999;
/// Residue numbers that fit into the four columns of a PDB file.
const PDB_NUMBERS: std::ops::RangeInclusive<i32> = -999..=9999;

/// Shape of the periodic cell.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum CellShape {
    /// cube
    Cube,
    /// rectangular box
    Rectangular,
    /// truncated octahedron
    Octahedron,
    /// rhombic dodecahedron
    Dodecahedron,
}

/// Method that determines the number of salt ions.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum SaltMethod {
    /// counterions, and salt at the given concentration in the volume of the solvent
    Volume,
    /// equilibrium with a bulk salt solution of the given concentration; for monovalent ions
    Sltcap,
}

/// Method that chooses the places of ions.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum IonPlaces {
    /// random waters
    Random,
    /// waters with the most favourable electrostatic potential
    Electrostatic,
}

/// Model of the pKa values.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum PkaValues {
    /// values shifted by the protein environment, computed by the method of PROPKA
    Propka,
    /// model values of the residues in water
    Model,
}

/// Build a system from a PDB or PDBx/mmCIF entry: hydrogens, water, ions, force field, input file
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  md build 1ubq.cif -o ubq && md run ubq/input.toml
  md build complex.pdb --forcefield amber19 --water opc --salt '0.15 M' --padding '1.2 nm' -o complex
  md build 3ptb.pdb --drop-hetero --ligand BEN.prmtop -o trypsin
  md build 1afo.pdb --membrane POPC --padding '1.5 nm' --salt '0.15 M' -o glycophorin
  md build 4hhb.cif --assembly 1 --variant A:58=HID --drop-hetero --dry-run -o haemoglobin")]
pub(super) struct Build {
    /// PDB or PDBx/mmCIF file, which may be compressed
    entry: PathBuf,
    /// Folder for topology, coordinates, input file and log; must not exist
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    #[arg(long, value_name = "NAME|FILE", default_value = "amber14", value_delimiter = ',', help = field_help())]
    forcefield: Vec<String>,
    /// File with the parameters of a ligand (prmtop, top, itp, psf, or a str or rtf with the residue); further files of
    /// a CHARMM force field follow after commas
    #[arg(long = "ligand", value_name = "FILE[,FILE]")]
    ligands: Vec<String>,
    #[arg(long, value_name = "MODEL", default_value = "tip3p", help = water_help())]
    water: String,
    /// Shape of the cell; default: dodecahedron, or rectangular with a membrane or a --size of three edges
    #[arg(long, value_enum)]
    shape: Option<CellShape>,
    /// Distance between the solute and the faces of the cell
    #[arg(long, value_name = "LENGTH", default_value = "1 nm")]
    padding: String,
    /// Size of the cell instead of the padding: the distance between images, or three edges
    #[arg(long, value_name = "LENGTH[,LENGTH,LENGTH]", conflicts_with = "padding")]
    size: Option<String>,
    /// Turn the solute so that the cell becomes smaller
    #[arg(long)]
    orient: bool,
    #[arg(long, value_name = "LIPID", help = membrane_help())]
    membrane: Option<String>,
    /// Make no cell, and add no water and no ions
    #[arg(long, conflicts_with_all = ["shape", "padding", "size", "orient", "salt", "cation", "anion"])]
    #[arg(conflicts_with_all = ["salt_method", "ions"])]
    vacuum: bool,
    /// Concentration of salt in formula units, in addition to the ions that make the system neutral
    #[arg(long, value_name = "CONCENTRATION", default_value = "0 M")]
    salt: String,
    #[arg(long, value_name = "ION", default_value = "Na+", help = format!("Cations: {}", list(cation_names())))]
    cation: String,
    #[arg(long, value_name = "ION", default_value = "Cl-", help = format!("Anions: {}", list(anion_names())))]
    anion: String,
    /// Method that determines the number of salt ions
    #[arg(long, value_enum, default_value = "volume")]
    salt_method: SaltMethod,
    /// Places of ions
    #[arg(long, value_enum, default_value = "random")]
    ions: IonPlaces,
    /// pH at which residues are protonated
    #[arg(long, value_name = "PH", default_value_t = 7.0)]
    ph: f64,
    /// pKa values of the residues
    #[arg(long, value_enum, default_value = "propka")]
    pka: PkaValues,
    /// Protonation of a residue, for example A:48=HID
    #[arg(long = "variant", value_name = "CHAIN:NUMBER=NAME")]
    variants: Vec<String>,
    /// Turn the amide of this ASN or GLN or the ring of this HIS by 180 degrees, for example A:71
    #[arg(long = "flip", value_name = "CHAIN:NUMBER")]
    flips: Vec<String>,
    /// Turn the amides of ASN and GLN and the rings of HIS wherever hydrogen bonds and contacts favour it
    #[arg(long)]
    flip_proposed: bool,
    /// Cap both sides of each gap (missing residues) in a chain; without this option, gaps are refused
    #[arg(long, value_name = "ACE,NME", value_parser = ["ACE,NME"])]
    cap: Option<String>,
    /// Cap the ends of chains of amino acids as well
    #[arg(long, requires = "cap")]
    cap_ends: bool,
    /// Leave out the waters of the entry
    #[arg(long)]
    drop_waters: bool,
    /// Leave out molecules of the entry that are neither water, nor part of a chain, nor a --ligand
    #[arg(long)]
    drop_hetero: bool,
    /// Build this biological assembly of the entry
    #[arg(long, value_name = "ID")]
    assembly: Option<String>,
    /// Take this model of the entry; default: the first
    #[arg(long, value_name = "NUMBER")]
    model: Option<i32>,
    /// Seed of the random numbers that place ions
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u64))]
    seed: u64,
    /// List the decisions, and write no files
    #[arg(long)]
    dry_run: bool,
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<&str>>().join(", ")
}

fn field_help() -> String {
    format!("Force fields: {}, or files in OpenMM's XML format, separated by commas", list(field_names()))
}

fn water_help() -> String {
    format!("Water model: {}", list(water_names()))
}

fn membrane_help() -> String {
    format!("Lipid bilayer around the entry, perpendicular to z and centered at z = 0: {}", list(lipid_names()))
}

impl Build {
    pub(super) fn execute(&self) -> Result<()> {
        let settings = self.settings()?;
        if !self.dry_run && self.output.exists() {
            let problem = Problem::new("the folder already exists").in_file(&self.output);
            return Err(problem.help("choose another folder with -o, or remove the existing folder").into());
        }
        let entry = md_build::entry::read(&self.entry, self.model)?;
        let mut built = build(entry, &settings).map_err(|error| in_file(error, &self.entry))?;
        check_cell(&built)?;
        let given = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
        let record = Record { options: self, settings: &settings, arguments: record::arguments(given) };
        if let Some(decision) = record.of_water() {
            built.decisions.insert(0, decision);
        }
        let log = record.log(&built);
        if self.dry_run {
            return super::print(&log);
        }
        std::fs::create_dir_all(&self.output).map_err(|error| Error::io(&self.output, error))?;
        let topology = WrittenTopology::write(&built, &self.output)?;
        write_coordinates(&built, &self.output)?;
        let log = log + &topology.line();
        let input = input::text(&built, topology.name);
        write_text(&self.output.join(INPUT), &input)?;
        write_text(&self.output.join(LOG), &log)?;
        write_text(&self.output.join(DECISIONS), &record.json(&built, &topology))?;
        let input = self.output.join(INPUT);
        super::print(&format!(
            "{log}\nwritten      {}\nnext         md run {}\n",
            self.output.display(),
            input.display()
        ))
    }

    fn settings(&self) -> Result<Settings> {
        if !self.ph.is_finite() {
            return Err(Problem::new("the pH is not a number").help("for example --ph 7.4").into());
        }
        Ok(Settings {
            entry: Options {
                assembly: self.assembly.clone(),
                waters: !self.drop_waters,
                hetero: !self.drop_hetero,
                kept: vec![],
            },
            caps: match (&self.cap, self.cap_ends) {
                (None, _) => Caps::None,
                (Some(_), false) => Caps::Gaps,
                (Some(_), true) => Caps::GapsAndEnds,
            },
            fields: self.forcefield.clone(),
            ligands: self.ligands.iter().map(|text| ligand(text)).collect(),
            water: self.water.clone(),
            ph: self.ph,
            pka: match self.pka {
                PkaValues::Propka => PkaModel::Environment,
                PkaValues::Model => PkaModel::Water,
            },
            variants: self.variants.iter().map(|text| variant(text)).collect::<Result<_>>()?,
            flip_proposed: self.flip_proposed,
            flips: self.flips.iter().map(|text| flip(text)).collect::<Result<_>>()?,
            cell: if self.vacuum { None } else { Some(self.cell()?) },
            membrane: self.membrane.clone(),
            ions: Ions {
                cation: self.cation.clone(),
                anion: self.anion.clone(),
                salt: concentration(&self.salt)?,
                rule: match self.salt_method {
                    SaltMethod::Volume => Salt::Added,
                    SaltMethod::Sltcap => Salt::Equilibrium,
                },
                placement: match self.ions {
                    IonPlaces::Random => Placement::Random { seed: self.seed },
                    IonPlaces::Electrostatic => Placement::Electrostatic,
                },
            },
        })
    }

    /// Shape and size of the cell.
    fn cell(&self) -> Result<CellPlan> {
        let size = match &self.size {
            None => Size::Padding(length("--padding", &self.padding)?),
            Some(text) => {
                let lengths = text.split(',').map(|part| length("--size", part.trim()));
                match *lengths.collect::<Result<Vec<f64>>>()? {
                    [distance] => Size::Distance(distance),
                    [a, b, c] => Size::Edges([a, b, c]),
                    _ => {
                        let help = "write one length, or three for a rectangular box: \"8 nm,8 nm,10 nm\"";
                        return Err(Problem::new(format!("--size {text:?}")).help(help).into());
                    }
                }
            }
        };
        let shape = match (self.shape, size) {
            (Some(CellShape::Cube), _) => Shape::Cube,
            (Some(CellShape::Rectangular), _) | (None, Size::Edges(_)) => Shape::Rectangular,
            (None, _) if self.membrane.is_some() => Shape::Rectangular,
            (Some(CellShape::Octahedron), _) => Shape::Octahedron,
            (Some(CellShape::Dodecahedron) | None, _) => Shape::Dodecahedron,
        };
        Ok(CellPlan { shape, size, orient: self.orient })
    }
}

/// Fails if the cell is too small for the cutoffs of the input file, which are those of the force field. The cell may
/// shrink while the density equilibrates.
fn check_cell(built: &Built) -> Result<()> {
    let cutoff = ForceOptions::default().longest_cutoff(&built.description.topology);
    let Some((cell, cutoff)) = built.cell.zip(cutoff) else { return Ok(()) };
    let (largest, needed) = (cell.max_cutoff(), cutoff / (1.0 - SHRINKING));
    if needed <= largest {
        return Ok(());
    }
    // edges of the cell for a cell width of 1; the edges of all cells that are not rectangular are equal
    let [edge, y, z] = cell.rows();
    let is_rectangular = y.x == 0.0 && z.x == 0.0;
    let edge = if is_rectangular { 1.0 } else { 0.5 * edge.norm() / largest };
    let more = (100.0 * edge * (needed - largest)).ceil() / 100.0;
    let message = format!(
        "the cell is too small for the cutoff of the force field, {cutoff} nm, which must stay shorter than half of the \
         cell width while the density equilibrates; half of the width is {largest:.3} nm"
    );
    let help = format!("increase --padding by {more:.2} nm, or --size by {:.2} nm", 2.0 * more);
    Err(Problem::new(message).help(help).into())
}

/// Parses the value of an option as a length (nm). Error messages name the option.
fn length(option: &str, text: &str) -> Result<f64> {
    let named = |problem: Problem| Problem { message: format!("{option}: {}", problem.message), ..problem };
    Ok(Dimension::Length.parse(text).map_err(named)?)
}

/// Adds the path of a file to problems that name no file.
fn in_file(error: Error, path: &Path) -> Error {
    match error {
        Error::Input(problems) => Error::Input(
            problems
                .into_iter()
                .map(|problem| if problem.file.is_none() { problem.in_file(path) } else { problem })
                .collect(),
        ),
        other => other,
    }
}

/// Parses a chain, residue number and insertion code, as in `A:48` or `A:48B`.
fn residue(text: &str) -> Option<ResidueName> {
    let (chain, number) = text.rsplit_once(':').unwrap_or(("", text));
    let digits = number.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let mut letters = number[digits.len()..].chars();
    let insertion_code = letters.next();
    if letters.next().is_some() {
        return None;
    }
    Some(ResidueName { chain: chain.to_owned(), number: digits.parse().ok()?, insertion_code })
}

/// Parses the name of a residue and its protonation, as in `A:48=HID` or `A:48B=HID`.
fn variant(text: &str) -> Result<(ResidueName, String)> {
    let parts = text.split_once('=').and_then(|(name, variant)| Some((residue(name)?, variant.to_owned())));
    let problem =
        || Problem::new(format!("--variant {text:?}")).help("write \"CHAIN:NUMBER=NAME\", for example \"A:48=HID\"");
    Ok(parts.ok_or_else(problem)?)
}

/// Parses the paths of the files of a ligand: a topology, followed by parameter files.
fn ligand(text: &str) -> MoleculeFiles {
    let mut files = text.split(',').map(PathBuf::from);
    MoleculeFiles { topology: files.next().unwrap_or_default(), parameters: files.collect() }
}

/// Parses the name of a residue whose side chain is turned by 180 degrees.
fn flip(text: &str) -> Result<ResidueName> {
    let problem = || Problem::new(format!("--flip {text:?}")).help("write \"CHAIN:NUMBER\", for example \"A:71\"");
    Ok(residue(text).ok_or_else(problem)?)
}

/// Parses a concentration with its unit. Returns the value in mol/L.
fn concentration(text: &str) -> Result<f64> {
    let (number, unit) = text.trim().split_once(' ').unwrap_or((text, ""));
    let factor = match unit.trim() {
        "M" | "mol/L" => Some(1.0),
        "mM" | "mmol/L" => Some(1e-3),
        _ => None,
    };
    let value: Option<f64> = number.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
    let problem = || Problem::new(format!("--salt {text:?}")).help("write a concentration, for example \"0.15 M\"");
    Ok(factor.zip(value).map(|(factor, value)| factor * value).ok_or_else(problem)?)
}

/// Writes the coordinates, and a structure file with the names of atoms and residues.
fn write_coordinates(built: &Built, folder: &Path) -> Result<()> {
    let Built { positions, cell, description, .. } = built;
    let title = &description.topology.title;
    let coordinates =
        Coordinates { title: title.clone(), positions: positions.clone(), cell: *cell, ..Coordinates::default() };
    replace_synced(&folder.join(COORDINATES), |out| write_rst7(&coordinates, out))?;
    let (atoms, cell) = (0..positions.len(), cell.as_ref());
    // the PDB format has one column for the name of a chain
    let has_long_names = built.structure.chains.iter().any(|chain| chain.len() > 1);
    // and four columns for the number of a residue
    let has_long_numbers = built.structure.residues.iter().any(|residue| !PDB_NUMBERS.contains(&residue.number));
    if positions.len() <= PDB_ATOMS && !has_long_names && !has_long_numbers {
        replace_synced(&folder.join("system.pdb"), |out| {
            write_pdb(&description.topology, positions, cell, title, out)
        })?;
    } else {
        let path = folder.join("system.cif");
        replace_synced(&path, |out| write_mmcif(&description.topology, atoms, positions, cell, title, out))?;
    }
    Ok(())
}

fn write_text(path: &Path, text: &str) -> Result<()> {
    replace_synced(path, |out| out.write_all(text.as_bytes()))
}
