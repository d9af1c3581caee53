//! Prepares a [`System`], which does not change during a run, and its initial [`State`] from a description.
//!
//! [`prepare`] checks description, coordinates and options for validity and consistency. [`prepare`] then makes
//! molecules whole, computes the positions of virtual sites, repartitions hydrogen mass, and scales the interactions of
//! a solute. [`prepare`] also derives constraints, PME parameters, and alternative PME parameters for tuning. Bonded
//! terms whose energy is constant because of constraints are dropped or kept ([`ConstrainedTerms`]). Descriptions come
//! from files ([`crate::format::read_topology`]) or from code ([`System::builder`]).

mod builder;
mod check;
mod description;
mod electrostatics;
mod options;
mod scaled_solute;
mod sites;
mod terms;

use std::path::Path;

pub use builder::{AtomSpec, SystemBuilder};
pub use check::needs_cell;
pub use description::problems as problems_of;
pub use electrostatics::Alternatives;
pub use options::{ConstraintKind, ElectrostaticsSpec, ForceOptions, LjPmeSpec, PmeSpec, Setting, TuningMethod};
pub use scaled_solute::ScaledSolute;
pub use terms::ConstrainedTerms;

use options::Truncation;

use crate::constraint::{check_independent, derive, repartition_hydrogen_mass};
use crate::error::{Error, Result};
use crate::format::{Coordinates, LeftOut};
use crate::image::WholeMolecules;
use crate::pme;
use crate::select::Geometry;
use crate::system::{Description, Electrostatics, ForceSettings, State, System};
use crate::team::Team;
use crate::virtual_sites::SitePlan;

/// Options for preparing a system.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// cutoffs, Coulomb method, constraints, hydrogen mass
    pub forces: &'a ForceOptions,
    /// how PME parameters are chosen for the requested accuracy
    pub tuning: TuningMethod,
    /// whether bonded terms whose energy is constant because of constraints are dropped or kept
    pub constrained_terms: ConstrainedTerms,
    /// file names for messages
    pub files: Files<'a>,
}

/// Paths of the files from which the description and the coordinates were read, if any.
#[derive(Clone, Copy, Debug, Default)]
pub struct Files<'a> {
    /// path of the file from which the description was read
    pub topology: Option<&'a Path>,
    /// path of the file from which the coordinates were read
    pub coordinates: Option<&'a Path>,
}

/// A system and its initial state, ready to run.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// the system
    pub system: System,
    /// initial state at step and time zero, with whole molecules; `velocities` is empty if the coordinates have no
    /// velocities
    pub state: State,
    /// alternative PME parameters of the requested accuracy
    pub alternatives: Alternatives,
    /// numbers of unused models and unused atoms in the coordinate file
    pub left_out: LeftOut,
}

/// Makes the system and its initial state. Returns an error with all [`crate::error::Problem`]s of description,
/// coordinates and options. If the input has no problem, deriving constraints or PME parameters may still fail; the
/// error then holds the first problem of the derivation.
pub fn prepare(description: Description, coordinates: Coordinates, options: &Options<'_>) -> Result<Prepared> {
    let truncation = options.forces.truncation(&description.topology);
    let problems = check::problems(&description, &coordinates, options, &truncation);
    if !problems.is_empty() {
        return Err(Error::Input(problems));
    }
    let Description { mut topology, mut nonbonded, .. } = description;
    let left_out = coordinates.left_out;
    let mut state = State {
        cell: coordinates.cell,
        positions: coordinates.positions,
        velocities: coordinates.velocities.unwrap_or_default(),
        ..State::default()
    };
    sites::order(&mut topology)?;
    topology.link_sites();
    if let Some(cell) = &state.cell {
        WholeMolecules::of(&topology).make_whole(cell, &mut state.positions);
    }
    SitePlan::new(&topology).place(&Team::single(), &mut state.positions);
    let forces = options.forces;
    if let Some(mass) = forces.hydrogen_mass {
        repartition_hydrogen_mass(&mut topology, mass, forces.rigid_water)?;
    }
    if let Some(solute) = &forces.scaled_solute {
        let geometry = Geometry { positions: &state.positions, cell: state.cell.as_ref() };
        solute.apply(&mut topology, &mut nonbonded, geometry)?;
    }
    let mut constraints = derive(&topology, forces.constraints, forces.rigid_water)?;
    constraints.tolerance = forces.constraint_tolerance;
    let masses: Vec<f64> = topology.atoms.iter().map(|atom| atom.mass).collect();
    check_independent(&constraints, &masses, &state.positions, |atom| topology.atom_name(atom))?;
    let (electrostatics, alternatives) = electrostatics::electrostatics(options, &truncation, &topology, &state)?;
    if let Electrostatics::Pme(parameters) = &electrostatics {
        pme::check(parameters)?;
    }
    if options.constrained_terms == ConstrainedTerms::Drop {
        terms::drop_constrained_terms(&mut topology, &constraints);
    }
    let dispersion_correction = electrostatics::dispersion(&truncation, &state)?;
    let Truncation { cutoff, cutoff_lj, lj_modifier, .. } = truncation;
    let settings = ForceSettings {
        cutoff,
        cutoff_lj,
        electrostatics,
        lj_modifier,
        coulomb_modifier: forces.coulomb_modifier,
        dispersion_correction,
        list: forces.list,
    };
    Ok(Prepared { system: System { topology, nonbonded, constraints, settings }, state, alternatives, left_out })
}
