//! Writer of the terms of CHARMM force fields.

use super::bonds::{HALF, parameters};
use super::sections::{Rows, Text};
use crate::system::Topology;
use crate::units::KCAL;

/// Writes the Urey–Bradley terms, which are harmonic 1-3 distances.
pub(super) fn write_urey_bradleys(topology: &Topology, text: &mut Text) {
    let mut rows = Rows::new();
    for term in &topology.bonded.urey_bradleys {
        rows.push(topology, term.atoms, [false; 2], parameters(term));
    }
    text.integers_as("CHARMM_UREY_BRADLEY_COUNT", 2, 8, [rows.counts().iter().sum(), rows.kinds()]);
    rows.write_counted("CHARMM_UREY_BRADLEY", text);
    rows.write_types(["CHARMM_UREY_BRADLEY_FORCE_CONSTANT", "CHARMM_UREY_BRADLEY_EQUIL_VALUE"], text);
}

/// Writes the harmonic impropers. Equilibrium angles are written in radians, although an old comment in the files
/// says degrees.
pub(super) fn write_impropers(topology: &Topology, text: &mut Text) {
    let mut rows = Rows::new();
    for term in &topology.bonded.harmonic_impropers {
        rows.push(topology, term.atoms, [false; 4], [HALF * term.force_constant / KCAL, term.angle]);
    }
    text.integers("CHARMM_NUM_IMPROPERS", [rows.counts().iter().sum()]);
    rows.write_counted("CHARMM_IMPROPERS", text);
    text.integers("CHARMM_NUM_IMPR_TYPES", [rows.kinds()]);
    rows.write_types(["CHARMM_IMPROPER_FORCE_CONSTANT", "CHARMM_IMPROPER_PHASE"], text);
}
