//! Solvent: the cell around a solute, water, and ions.
//!
//! [`CellPlan`] makes a periodic cell with the solute in its center, [`fill`] adds water, [`IonPlan`] computes the
//! numbers of ions, and [`place_ions`] chooses the waters that ions replace. [`Bilayer`] is the cell of a solute in a
//! membrane, with its lipids. Lengths are in nm, charges in e. Equal arguments give equal results, bit for bit. Invalid
//! input is refused with a [`md_engine::error::Problem`].
//!
//! ```
//! use md_build::solvent::{CellPlan, Charge, IonPlan, Placement, Shape, Size, SoluteAtom, WaterGeometry};
//! use md_build::solvent::{fill, place_ions};
//! use md_engine::vec3::Vec3;
//!
//! # fn main() -> Result<(), md_engine::error::Problem> {
//! // a particle of charge −3
//! let plan = CellPlan { shape: Shape::Octahedron, size: Size::Padding(1.2), orient: true };
//! let enclosed = plan.around(&[Vec3::ZERO])?;
//! let solute = [SoluteAtom { position: enclosed.positions[0], radius: 0.2 }];
//! let waters = fill(&enclosed.cell, &solute, &WaterGeometry::TIP3P)?;
//! let counts = IonPlan { concentration: 0.15, ..IonPlan::default() }.counts(-3, waters.len(), 0)?;
//! assert_eq!(counts.cations - counts.anions, 3);
//! let oxygens: Vec<Vec3> = waters.iter().map(|water| water[0]).collect();
//! let charges = [Charge { position: solute[0].position, charge: -3.0 }];
//! let sites = place_ions(&enclosed.cell, &charges, &oxygens, &counts, Placement::Random { seed: 1 })?;
//! assert_eq!(sites.cations.len(), counts.cations);
//! # Ok(())
//! # }
//! ```

mod bilayer;
mod extent;
mod fill;
mod ions;
mod limits;
mod place;
mod potential;
mod radius;
mod shape;
mod tile;

pub use bilayer::{Bilayer, Embedded, Leaflet, Patch, lipid_names};
pub use fill::{SoluteAtom, fill};
pub use ions::{IonCounts, IonPlan, Salt, sltcap};
pub use place::{Charge, IonSites, Placement, place_ions};
pub use radius::bondi_radius;
pub use shape::{CellPlan, Enclosed, Shape, Size};
pub use tile::WaterGeometry;
