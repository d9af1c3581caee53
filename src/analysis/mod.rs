//! Analysis of trajectories: structure, fluctuations, distributions, transport, interactions.
//!
//! [`pass()`] reads the frames of a trajectory once, in batches, and passes each frame to any number of
//! [`Observable`]s. All threads process frames in parallel. Apart from the data that observables store for each frame,
//! the memory does not grow with the number of frames. An observable works on one or several [`Group`]s of atoms of an
//! [`AnalysedSystem`], and returns [`Findings`], which [`write()`] stores as HDF5, CSV and pictures. The module
//! [`observables`] holds the observables of `md analyze`. The library prints nothing.
//!
//! ```
//! use md::analysis::observables::RadiusOfGyration;
//! use md::analysis::{AnalysedSystem, FrameObserver, Images};
//! use md::observe::trajectory::StoredFrame;
//! use md::system::{Atom, Name, Topology};
//! use md::vec3::vec3;
//!
//! // two atoms of the same mass, 2 nm apart
//! let name = Name::new("AR");
//! let atom = Atom { name, type_name: name, element: 18, mass: 39.948, charge: 0.0, lj_type: 0, residue: 0 };
//! let topology = Topology { atoms: vec![atom; 2], ..Topology::default() };
//! let system = AnalysedSystem::new(&topology, Images::Gathered);
//! let mut observable = RadiusOfGyration::new(&system, system.group("all")?)?;
//! let positions = vec![vec3(0.0, 0.0, 0.0), vec3(0.0, 2.0, 0.0)];
//! observable.observe(&[StoredFrame { positions, ..StoredFrame::default() }])?;
//! assert_eq!(observable.values(), [1.0]);
//! # Ok::<(), md::error::Error>(())
//! ```

mod equilibration;
mod findings;
mod frames;
pub mod observables;
mod output;
mod pass;
mod reference;
mod slope;
mod statistics;
mod system;
mod table;

pub use equilibration::{Equilibrated, inefficiency};
pub use findings::{Array, Axis, Findings, Layer, Number, Plot, TIME, Values};
pub use frames::Frames;
pub use output::{Origin, base64, files, inline_svg, svg_rules, to_json, write};
pub use pass::{FrameObserver, FrameRange, Observable, Passed, is_within, pass};
pub use reference::Reference;
pub(crate) use slope::Slope;
pub use statistics::Summary;
pub use system::{AnalysedSystem, Group, Images, first_frame};
pub use table::{EnergyTable, RowRange};
