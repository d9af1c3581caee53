//! Looking at trajectories: what many frames have in common, and how they differ.
//!
//! Frames pass once, one at a time, through any number of [`Observable`]s ([`pass`]); memory does not grow with their
//! number but for what an observable keeps. [`write()`] stores what they found as HDF5 that h5py reads. [`OBSERVABLES`]
//! lists what `md analyze` offers. To add one: its module, and its row here. Nothing here prints.
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

mod frames;
mod output;
mod pass;
mod pca;
mod rg;
mod rmsd;
mod rmsd_to;
mod superpose;

pub use frames::Frames;
pub use output::{Array, Findings, Origin, Values, write};
pub use pass::{Observable, Passed, SelectedFrame, Selection, Selector, pass};
pub use pca::{LARGEST_PROBLEM, Pca};
pub use rg::RadiusOfGyration;
pub use rmsd::{RmsdMatrix, rmsd_matrix};
pub use rmsd_to::RmsdToReference;
pub use superpose::{Correlation, overlap, rotation};

use clap::{ArgMatches, Args, Command};

use crate::error::Result;
use crate::observe::trajectory::FrameSource;

/// What `md analyze` offers.
pub const OBSERVABLES: [Offer; 3] = [
    Offer::new::<rmsd::Options>(
        "rmsd",
        "Root mean square deviation of every frame from every other, or from a reference, each pair superposed at its best",
    ),
    Offer::new::<pca::Options>(
        "pca",
        "Principal components: eigenvectors of the covariance of positions superposed on the first frame",
    ),
    Offer::new::<rg::Options>("rg", "Radius of gyration of every frame, weighted by mass"),
];

/// An observable that can be asked for by name; what it finds goes to `NAME.h5` unless another file is named.
pub struct Offer {
    /// subcommand of `md analyze`
    pub name: &'static str,
    /// what it is, for the reader
    pub about: &'static str,
    /// adds its options to the subcommand
    pub arguments: fn(Command) -> Command,
    /// takes them from there
    pub options: fn(&ArgMatches) -> std::result::Result<Box<dyn Ask>, clap::Error>,
}

impl Offer {
    const fn new<T: Args + Ask + 'static>(name: &'static str, about: &'static str) -> Self {
        Offer {
            name,
            about,
            arguments: T::augment_args,
            options: |matches| T::from_arg_matches(matches).map(|options| Box::new(options) as Box<dyn Ask>),
        }
    }
}

/// The options of an observable.
pub trait Ask: std::fmt::Debug + Send + Sync {
    /// The observable for these atoms of a trajectory; frames that it needs beforehand it reads.
    fn observable(&self, trajectory: &mut dyn FrameSource, selector: &mut Selector<'_>) -> Result<Box<dyn Observable>>;
}
