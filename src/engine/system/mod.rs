//! Plain data of a simulation: [`System`], which does not change during a run, and [`State`], which changes in every
//! step. This module computes no energies or forces.

mod bond_graph;
mod bonded;
mod chains;
mod cmap_grid;
mod compact;
mod description;
mod molecules;
mod nonbonded;
pub mod polymer;
mod settings;
mod sites;
mod state;
mod subset;
mod topology;

pub use bond_graph::BondGraph;
pub use bonded::bonded_terms;
pub use bonded::{
    Angle, Bond, BondedTerm, BondedTerms, Cmap, G96Angle, G96Bond, HarmonicImproper, Pair14, RyckaertBellemans, Torsion,
};
pub use cmap_grid::CmapGrid;
pub use compact::{CompactSystem, Unit, UnitKind};
pub use description::{BoxKind, CellHint, Description, Methods};
pub use molecules::Molecules;
pub use nonbonded::{CombinationRule, LennardJones, Nonbonded};
pub use settings::{
    Constraint, Constraints, DispersionCorrection, Electrostatics, ForceSettings, ListPolicy, LjModifier, Modifier,
    PmeParameters, Settle,
};
pub use sites::{Construction, VirtualSite};
pub use state::{Coupling, ImpulseCycle, State, TrialMoves};
pub use topology::{Atom, ChainLabel, Exclusions, FixedSelection, Name, Residue, Topology};

/// Returns a pair with the smaller element first.
pub fn ordered<T: Ord + Copy>([a, b]: [T; 2]) -> [T; 2] {
    [a.min(b), a.max(b)]
}

/// Atoms, their interactions and the force settings, which do not change during a run. [`crate::prepare::prepare`]
/// makes a system from a [`Description`], and [`System::builder`] builds a system in code.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct System {
    /// atoms, residues, bonded terms, exclusions
    pub topology: Topology,
    /// Lennard-Jones parameters by type
    pub nonbonded: Nonbonded,
    /// rigid waters and constraints
    pub constraints: Constraints,
    /// cutoffs, electrostatics, corrections
    pub settings: ForceSettings,
}

impl System {
    /// Returns the number of atoms of each Lennard-Jones type.
    pub fn lj_type_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.nonbonded.types];
        self.topology.atoms.iter().for_each(|atom| counts[atom.lj_type as usize] += 1);
        counts
    }
}
