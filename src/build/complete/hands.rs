//! Configuration of the chiral atoms of standard residues: CA of amino acids, and C1', C3' and C4' of nucleotides.

use md_engine::vec3::Vec3;

use super::ideal::ideal;
use crate::entry::{Cleaned, Decision, Subject};
use crate::geometry::unit;

/// Chiral atoms, each with three of its neighbours. C1' is bonded to N9 of purines or to N1 of pyrimidines.
const CENTERS: [(&str, [&str; 3]); 5] = [
    ("CA", ["N", "C", "CB"]),
    ("C1'", ["O4'", "C2'", "N9"]),
    ("C1'", ["O4'", "C2'", "N1"]),
    ("C3'", ["C2'", "C4'", "O3'"]),
    ("C4'", ["C3'", "C5'", "O4'"]),
];
/// Smallest triple product of the unit vectors along three bonds at which an atom has a configuration. The triple
/// product of a tetrahedral atom is 0.77, and that of a planar atom is 0.
const SMALLEST: f64 = 0.3;

/// Reports the chiral atoms of each residue whose configuration is opposite to that of the ideal residue.
pub(super) fn report(cleaned: &mut Cleaned) {
    let structure = &cleaned.structure;
    let mut decisions = vec![];
    for (index, residue) in structure.residues.iter().enumerate() {
        let Some(ideal) = ideal(&residue.name) else { continue };
        let own = |name: &str| structure.atom_named(index, name).map(|atom| cleaned.positions[atom]);
        let wanted = |name: &str| ideal.index(name).map(|atom| ideal.positions[atom]);
        let is_inverted = |&&(center, neighbours): &&(&str, [&str; 3])| {
            let products = triple_product(center, neighbours, own).zip(triple_product(center, neighbours, wanted));
            products.is_some_and(|(own, wanted)| own.abs() > SMALLEST && own * wanted < 0.0)
        };
        let inverted: Vec<&str> = CENTERS.iter().filter(is_inverted).map(|(center, _)| *center).collect();
        if !inverted.is_empty() {
            let what = format!("kept the inverted configuration of {}", inverted.join(" and "));
            let why = "amino acids in proteins are L-amino acids, and sugars in nucleic acids are D-sugars; correct the \
                       entry if it is in error, because simulations do not change configurations";
            decisions.push(Decision::new(Subject::Completion, structure.residue_label(index), what, why));
        }
    }
    cleaned.decisions.extend(decisions);
}

/// Returns the triple product of the unit vectors from an atom to three neighbours; `None` if an atom is missing.
fn triple_product(center: &str, neighbours: [&str; 3], position: impl Fn(&str) -> Option<Vec3>) -> Option<f64> {
    let origin = position(center)?;
    let [a, b, c] = neighbours.map(|name| Some(unit(position(name)? - origin)));
    Some(a?.dot(b?.cross(c?)))
}
