//! Observables of `md analyze`, one file each. A new observable needs a file and a row in [`OBSERVABLES`].

mod cluster;
mod contacts;
mod density;
mod dihedrals;
mod dipole;
mod dssp;
mod energies;
mod geometry;
mod hbonds;
mod hydrogen_bonds;
mod membrane;
mod msd;
mod pca;
mod peptide;
mod presence;
mod rdf;
mod residence;
mod rg;
mod rmsd;
mod rmsd_matrix;
mod rmsf;
mod salt_bridges;
mod sasa;
mod surface_tension;
mod vacf;
mod water_bridges;

pub use dihedrals::Dihedrals;
pub use pca::{LARGEST_PROBLEM, Pca};
pub use rdf::RadialDistribution;
pub use rg::RadiusOfGyration;
pub use rmsd::RmsdToReference;
pub use rmsd_matrix::{RmsdMatrix, rmsd_matrix};
pub use rmsf::Fluctuation;

use std::ffi::OsStr;

use clap::{ArgMatches, Args, Command};

use super::findings::Findings;
use super::pass::FrameObserver;
use super::system::AnalysedSystem;
use super::table::EnergyTable;
use crate::cell::PeriodicCell;
use crate::error::{Problem, Result};
use crate::observe::trajectory::{FrameSource, StoredFrame};
use crate::units::Dimension;

/// Observables of `md analyze`, in the order in which the help lists them.
pub const OBSERVABLES: &[ObservableEntry] = &[
    ObservableEntry::new::<rmsd::RmsdOptions>("rmsd", "Root mean square deviation from a reference structure"),
    ObservableEntry::new::<rmsd_matrix::RmsdMatrixOptions>(
        "rmsd-matrix",
        "Root mean square deviation between all pairs of frames, with optimal superposition of each pair",
    ),
    ObservableEntry::new::<rmsf::RmsfOptions>(
        "rmsf",
        "Root mean square fluctuation of every atom after superposition, and its B-factor",
    ),
    ObservableEntry::new::<rg::RgOptions>("rg", "Radius and tensor of gyration, weighted by mass"),
    ObservableEntry::new::<pca::PcaOptions>(
        "pca",
        "Principal components: eigenvectors of the covariance of positions superposed on the first frame",
    ),
    ObservableEntry::new::<dihedrals::DihedralsOptions>(
        "dihedrals",
        "Dihedral angles of proteins in every frame: phi, psi, omega, chi1 and chi2",
    ),
    ObservableEntry::new::<geometry::DistancesOptions>("distances", "Distances between the centers of groups of atoms"),
    ObservableEntry::new::<geometry::AnglesOptions>(
        "angles",
        "Angles and torsions between the centers of groups of atoms",
    ),
    ObservableEntry::new::<geometry::EndToEndOptions>("end-to-end", "Distance between the ends of each molecule"),
    ObservableEntry::new::<rdf::RdfOptions>("rdf", "Radial distribution function g(r), and coordination number"),
    ObservableEntry::new::<msd::MsdOptions>("msd", "Mean squared displacement, and diffusion coefficient"),
    ObservableEntry::new::<density::DensityOptions>(
        "density",
        "Profile of mass, charge or number density along an axis",
    ),
    ObservableEntry::new::<membrane::MembraneOptions>(
        "membrane",
        "Area per lipid, thickness and order of the chains of a bilayer",
    ),
    ObservableEntry::new::<dipole::DipoleOptions>("dipole", "Dipole moment of a group in every frame"),
    ObservableEntry::new::<dipole::DielectricOptions>(
        "dielectric",
        "Dielectric constant from fluctuations of the dipole",
    ),
    ObservableEntry::new::<sasa::SasaOptions>("sasa", "Solvent-accessible surface area, total and of each residue"),
    ObservableEntry::new::<dssp::DsspOptions>("dssp", "Secondary structure of proteins"),
    ObservableEntry::new::<cluster::ClusterOptions>("cluster", "Clusters of frames by their RMSD from each other"),
    ObservableEntry::new::<vacf::VacfOptions>(
        "vacf",
        "Velocity autocorrelation, diffusion coefficient, and vibrational density of states",
    ),
    ObservableEntry::of_table::<energies::EnergiesOptions>(
        "energies",
        "Means of an energy table, with equilibration, autocorrelation times and standard errors",
    ),
    ObservableEntry::of_table::<surface_tension::SurfaceTensionOptions>(
        "surface-tension",
        "Surface tension from the pressures in an energy table",
    ),
    ObservableEntry::new::<hbonds::HbondsOptions>("hbonds", "Hydrogen bonds: number, occupancy of pairs, lifetime"),
    ObservableEntry::new::<salt_bridges::SaltBridgesOptions>(
        "salt-bridges",
        "Salt bridges of charged side chains: number, occupancy of pairs of residues",
    ),
    ObservableEntry::new::<contacts::ContactsOptions>(
        "contacts",
        "Fraction of native contacts of a reference, and contact map of residues",
    ),
    ObservableEntry::new::<residence::ResidenceOptions>(
        "residence",
        "Atoms near a group: number, and survival probability",
    ),
    ObservableEntry::new::<water_bridges::WaterBridgesOptions>(
        "water-bridges",
        "Waters that are hydrogen bonded to two residues: number, occupancy of pairs of residues",
    ),
];

/// Registry entry of an observable.
#[derive(Clone, Copy, Debug)]
pub struct ObservableEntry {
    /// name of the observable on the command line and in the names of result files
    pub name: &'static str,
    /// description for the user
    pub about: &'static str,
    /// function that adds the options of the observable to its command
    pub arguments: fn(Command) -> Command,
    /// function that reads the options from the parsed arguments
    pub options: fn(&ArgMatches) -> std::result::Result<Choice, clap::Error>,
}

/// Chosen observable with its options.
#[derive(Debug)]
pub enum Choice {
    /// observable of the frames of a trajectory
    OfFrames(Box<dyn Options>),
    /// observable of the rows of an energy table
    OfTable(Box<dyn TableOptions>),
}

impl ObservableEntry {
    /// Returns the entry of the observable with the given name.
    pub fn named(name: impl AsRef<OsStr>) -> Option<&'static ObservableEntry> {
        OBSERVABLES.iter().find(|entry| name.as_ref() == entry.name)
    }

    /// Reads the options of the observable from the words of a command line, for example `["--select", "protein"]`.
    pub fn choose(&self, words: &[&str]) -> std::result::Result<Choice, clap::Error> {
        let command = (self.arguments)(Command::new(self.name).no_binary_name(true));
        (self.options)(&command.try_get_matches_from(words)?)
    }

    const fn new<T: Args + Options + 'static>(name: &'static str, about: &'static str) -> Self {
        ObservableEntry {
            name,
            about,
            arguments: T::augment_args,
            options: |matches| T::from_arg_matches(matches).map(|options| Choice::OfFrames(Box::new(options))),
        }
    }

    const fn of_table<T: Args + TableOptions + 'static>(name: &'static str, about: &'static str) -> Self {
        ObservableEntry {
            name,
            about,
            arguments: T::augment_args,
            options: |matches| T::from_arg_matches(matches).map(|options| Choice::OfTable(Box::new(options))),
        }
    }
}

/// Trajectory and system for which an observable is created.
pub struct Input<'a> {
    /// trajectory, from which an observable may read single frames (such as a reference) before the pass
    pub trajectory: &'a mut dyn FrameSource,
    /// system of the trajectory
    pub system: &'a AnalysedSystem<'a>,
}

/// Parsed options of an observable of frames.
pub trait Options: std::fmt::Debug + Send + Sync {
    /// Creates the observable. Fails if the observable cannot be computed for this system.
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>>;
}

/// Parsed options of an observable of an energy table.
pub trait TableOptions: std::fmt::Debug + Send + Sync {
    /// Computes the observable. Fails if the table lacks a column.
    fn findings(&self, table: &EnergyTable) -> Result<Findings>;
}

/// Parses a quantity with its unit, and returns its value in internal units. `refusal` is the text that follows the
/// value in the error message if the value is not positive.
fn positive(text: &str, dimension: Dimension, refusal: &str) -> std::result::Result<f64, String> {
    match dimension.parse(text).map_err(|problem| problem.to_string())? {
        value if value > 0.0 => Ok(value),
        value => Err(format!("{value} {refusal}")),
    }
}

/// Parses a length with its unit. Returns the value in nm.
fn length(text: &str) -> std::result::Result<f64, String> {
    positive(text, Dimension::Length, "is not a positive length in nm")
}

/// Returns the cell of a frame. Fails with the advice `help` if the frame has no cell.
fn cell_of<'a>(frame: &'a StoredFrame, help: &str) -> Result<&'a PeriodicCell> {
    let problem = || Problem::new(format!("the frame at {} ps has no cell", frame.time)).help(help);
    Ok(frame.cell.as_ref().ok_or_else(problem)?)
}

/// Fails if `distance` (nm) exceeds the largest cutoff of the cell of a frame
/// ([`PeriodicCell::max_cutoff`]): beyond this cutoff a pair of atoms may have several periodic images within the
/// distance. `option` names the option in the error message.
fn check_distance(frame: &StoredFrame, distance: f64, option: &str) -> Result<()> {
    match &frame.cell {
        Some(cell) if distance > cell.max_cutoff() * (1.0 + 1e-6) => {
            let message =
                format!("in the frame at {} ps, {option} {distance:.4} nm is more than half of the cell", frame.time);
            // rounded down, so that the advice can be followed
            let most = (1e3 * cell.max_cutoff()).floor() / 1e3;
            let help =
                format!("choose {option} of at most {most:.3} nm, or less if the cell of a later frame is smaller");
            Err(Problem::new(message).help(help).into())
        }
        _ => Ok(()),
    }
}
