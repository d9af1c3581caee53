//! Analysis of trajectories: RMSD, fluctuations, principal components, radius of gyration, dihedral angles.
//!
//! [`pass`] reads frames once, one at a time, and passes each frame to any number of [`Observable`]s. Frames are not
//! kept in memory. Memory grows with the number of frames only if an observable stores data of each frame.
//! [`write()`] stores the results as an HDF5 file, which programs such as h5py can read. [`OBSERVABLES`] lists the
//! observables of `md analyze`. A new observable needs a module and a row in [`OBSERVABLES`]. The library prints
//! nothing.
//!
//! ```
//! use md::analysis::{Observable, RadiusOfGyration, SelectedFrame, Selection};
//! use md::system::{Atom, Name, Topology};
//! use md::vec3::vec3;
//!
//! // two atoms of the same mass, 2 nm apart
//! let name = Name::new("AR");
//! let atom = Atom { name, type_name: name, element: 18, mass: 39.948, charge: 0.0, lj_type: 0, residue: 0 };
//! let topology = Topology { atoms: vec![atom; 2], ..Topology::default() };
//! let mut observable = RadiusOfGyration::default();
//! observable.begin(&Selection { topology: &topology, atoms: &[0, 1] })?;
//! let positions = [vec3(0.0, 0.0, 0.0), vec3(0.0, 2.0, 0.0)];
//! observable.frame(&SelectedFrame { index: 0, step: 0, time: 0.0, cell: None, positions: &positions })?;
//! assert_eq!(observable.values(), [1.0]);
//! # Ok::<(), md::error::Error>(())
//! ```

mod dihedrals;
mod frames;
mod output;
mod pass;
mod pca;
mod rg;
mod rmsd;
mod rmsd_to;
mod rmsf;

pub use dihedrals::Dihedrals;
pub use frames::Frames;
pub use output::{Array, Findings, Origin, Values, write};
pub use pass::{Images, Observable, Passed, SelectedFrame, Selection, Selector, pass};
pub use pca::{LARGEST_PROBLEM, Pca};
pub use rg::RadiusOfGyration;
pub use rmsd::{RmsdMatrix, rmsd_matrix};
pub use rmsd_to::{Reference, RmsdToReference};
pub use rmsf::Fluctuation;

use clap::{ArgMatches, Args, Command};

use crate::error::Result;
use crate::observe::trajectory::FrameSource;

/// Observables of `md analyze`.
pub const OBSERVABLES: [ObservableEntry; 5] = [
    ObservableEntry::new::<rmsd::Options>(
        "rmsd",
        "Root mean square deviation between all pairs of frames, or from a reference, after optimal superposition",
    ),
    ObservableEntry::new::<rmsf::Options>(
        "rmsf",
        "Root mean square fluctuation of every atom after superposition, and its B-factor",
    ),
    ObservableEntry::new::<pca::Options>(
        "pca",
        "Principal components: eigenvectors of the covariance of positions superposed on the first frame",
    ),
    ObservableEntry::new::<rg::Options>("rg", "Radius of gyration of every frame, weighted by mass"),
    ObservableEntry::new::<dihedrals::Options>(
        "dihedrals",
        "Dihedral angles of proteins in every frame: phi and psi of the Ramachandran plot, omega, chi1",
    ),
];

/// Description of an observable for the command line. Results are written to `NAME.h5` unless the user gives another
/// file name.
pub struct ObservableEntry {
    /// subcommand of `md analyze`
    pub name: &'static str,
    /// description of the observable in the help text
    pub about: &'static str,
    /// function that adds the options of the observable to the subcommand
    pub arguments: fn(Command) -> Command,
    /// function that reads the options from the parsed arguments
    pub options: fn(&ArgMatches) -> std::result::Result<Box<dyn ObservableOptions>, clap::Error>,
}

impl ObservableEntry {
    const fn new<T: Args + ObservableOptions + 'static>(name: &'static str, about: &'static str) -> Self {
        ObservableEntry {
            name,
            about,
            arguments: T::augment_args,
            options: |matches| {
                T::from_arg_matches(matches).map(|options| Box::new(options) as Box<dyn ObservableOptions>)
            },
        }
    }
}

/// Options of an observable, as given on the command line.
pub trait ObservableOptions: std::fmt::Debug + Send + Sync {
    /// Creates the observable for the selected atoms of a trajectory. To do this, the function may read frames of the
    /// trajectory.
    fn observable(&self, trajectory: &mut dyn FrameSource, selector: &Selector<'_>) -> Result<Box<dyn Observable>>;
}
