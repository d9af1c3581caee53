//! Observables of `md analyze`, one file each. A new observable needs its file and a row in [`OBSERVABLES`].

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
mod msd;
mod pca;
mod presence;
mod rdf;
mod residence;
mod rg;
mod rmsd;
mod rmsd_matrix;
mod rmsf;
mod salt_bridges;
mod sasa;
mod vacf;
mod water_bridges;

pub use dihedrals::Dihedrals;
pub use pca::{LARGEST_PROBLEM, Pca};
pub use rdf::RadialDistribution;
pub use rg::RadiusOfGyration;
pub use rmsd::RmsdToReference;
pub use rmsd_matrix::{RmsdMatrix, rmsd_matrix};
pub use rmsf::Fluctuation;

use clap::{ArgMatches, Args, Command};

use super::pass::FrameObserver;
use super::system::AnalysedSystem;
use crate::error::Result;
use crate::observe::trajectory::FrameSource;
use crate::units::Dimension;

/// Observables of `md analyze`, in the order of the help.
pub const OBSERVABLES: &[ObservableEntry] = &[
    ObservableEntry::new::<rmsd::RmsdOptions>("rmsd", "Root mean square deviation from a reference structure"),
    ObservableEntry::new::<rmsd_matrix::RmsdMatrixOptions>(
        "rmsd-matrix",
        "Root mean square deviation of every frame from every other, each pair superposed at its best",
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
        "Dihedral angles of proteins in every frame: phi and psi of the Ramachandran plot, omega, chi1",
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
    ObservableEntry::new::<dipole::DipoleOptions>("dipole", "Dipole moment of a group in every frame"),
    ObservableEntry::new::<dipole::DielectricOptions>(
        "dielectric",
        "Dielectric constant from fluctuations of the dipole",
    ),
    ObservableEntry::new::<sasa::SasaOptions>("sasa", "Solvent-accessible surface area, in all and of each residue"),
    ObservableEntry::new::<dssp::DsspOptions>("dssp", "Secondary structure of proteins"),
    ObservableEntry::new::<cluster::ClusterOptions>("cluster", "Clusters of frames by their RMSD from each other"),
    ObservableEntry::new::<vacf::VacfOptions>(
        "vacf",
        "Velocity autocorrelation, diffusion coefficient, and vibrational density of states",
    ),
    ObservableEntry::new::<energies::EnergiesOptions>(
        "energies",
        "Means of an energy table, with equilibration, autocorrelation times and standard errors",
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
    /// name on the command line, and of the result files
    pub name: &'static str,
    /// description for the user
    pub about: &'static str,
    /// function that adds the options of the observable to its command
    pub arguments: fn(Command) -> Command,
    /// function that reads the options from the parsed arguments
    pub options: fn(&ArgMatches) -> std::result::Result<Box<dyn Options>, clap::Error>,
}

impl ObservableEntry {
    const fn new<T: Args + Options + 'static>(name: &'static str, about: &'static str) -> Self {
        ObservableEntry {
            name,
            about,
            arguments: T::augment_args,
            options: |matches| T::from_arg_matches(matches).map(|options| Box::new(options) as Box<dyn Options>),
        }
    }
}

/// Trajectory and system from which an observable is made.
pub struct Input<'a> {
    /// the trajectory, of which frames may be read beforehand
    pub trajectory: &'a mut dyn FrameSource,
    /// the system of the trajectory
    pub system: &'a AnalysedSystem<'a>,
}

/// Options of an observable.
pub trait Options: std::fmt::Debug + Send + Sync {
    /// Creates the observable. Fails if it cannot be computed for this system.
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>>;
}

/// Parses a length with its unit. Returns it in nm.
fn length(text: &str) -> std::result::Result<f64, String> {
    match Dimension::Length.parse(text).map_err(|problem| problem.to_string())? {
        length if length > 0.0 => Ok(length),
        length => Err(format!("{length} nm is not a positive length")),
    }
}
