//! Protonation and orientation of residues that coordinate metals.
//!
//! A nitrogen of His that coordinates a metal has no hydrogen, and a cysteine whose sulfur coordinates a metal is a
//! thiolate. Atoms within 0.28 nm of a metal count as coordinating; the report of the metals of an entry uses the same
//! limit. No bonds are made.

use md_engine::vec3::Vec3;

use super::{Choice, Heavy, Reason};

/// Atomic numbers of the metals that bind His and Cys in proteins: Mg, Mn, Fe, Co, Ni, Cu, Zn, Cd and Hg (M. M.
/// Harding, Acta Cryst. D57, 401 (2001), doi:10.1107/S0907444900019168; Cd and Hg can replace Zn in crystals).
const METALS: [u8; 9] = [12, 25, 26, 27, 28, 29, 30, 48, 80];
/// Atomic numbers of further metals that oxygens of amides coordinate: Na, K and Ca.
const LOOSE: [u8; 3] = [11, 19, 20];
/// Largest distance (nm) between a metal and an atom that coordinates the metal. Distances in proteins are 0.20–0.24 nm
/// (Harding); the limit allows for the coordinate errors of structures at low resolution.
const COORDINATED: f64 = 0.28;

/// The metals of a structure.
pub(super) struct Metals {
    /// positions in nm of metals that bind His and Cys
    binding: Vec<Vec3>,
    /// positions in nm of all metals
    all: Vec<Vec3>,
}

impl Metals {
    pub(super) fn new(heavy: &Heavy<'_>) -> Self {
        let of = |elements: &[u8]| {
            let atoms = heavy.structure.atoms.iter().zip(&heavy.positions);
            atoms.filter(|(atom, _)| elements.contains(&atom.element)).map(|(_, &position)| position).collect()
        };
        Metals { binding: of(&METALS), all: of(&[&METALS[..], &LOOSE].concat()) }
    }

    /// Whether an atom is an oxygen that coordinates a metal. Nitrogens do not count: if the nitrogen of an amide is
    /// near a metal, the amide has the wrong orientation.
    pub(super) fn coordinate(&self, heavy: &Heavy<'_>, atom: usize) -> bool {
        heavy.structure.atoms[atom].element == 8 && distance(&self.all, heavy.positions[atom]) <= COORDINATED
    }

    /// Sets the variants of His and Cys that coordinate a metal, unless the user or the file named the variant.
    pub(super) fn choose(&self, heavy: &Heavy<'_>, choices: &mut [Choice]) {
        if self.binding.is_empty() {
            return;
        }
        for choice in choices.iter_mut().filter(|choice| matches!(choice.reason, Reason::Pka(_) | Reason::Usual)) {
            let to = |name: &str| {
                let atom = heavy.structure.atom_named(choice.residue, name);
                atom.map_or(f64::INFINITY, |atom| distance(&self.binding, heavy.positions[atom]))
            };
            let variant = match heavy.structure.residues[choice.residue].name.as_str() {
                "HIS" if to("ND1").min(to("NE2")) <= COORDINATED => {
                    if to("ND1") < to("NE2") {
                        "HIE"
                    } else {
                        "HID"
                    }
                }
                "CYS" if to("SG") <= COORDINATED => "CYX",
                _ => continue,
            };
            (choice.variant, choice.reason) = (variant.to_owned(), Reason::Metal);
        }
    }
}

/// Returns the distance (nm) from a position to the nearest position in `others`.
fn distance(others: &[Vec3], from: Vec3) -> f64 {
    others.iter().map(|&other| (other - from).norm()).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::{Atom, Residue, Structure, neighbours};

    /// Returns the variant of a test residue with two atoms near a metal: the distance of the atom `first` is 0.21 nm,
    /// and the distance of the atom `second` is `far` nm.
    fn variant(name: &str, first: &str, second: &str, metal: u8, far: f64, reason: Reason) -> (String, Reason) {
        let atom = |name: &str, element| Atom { name: name.into(), element };
        let residue =
            |name: &str, first| Residue { name: name.into(), number: 1, insertion_code: None, chain: 0, first };
        let structure = Structure {
            chains: vec!["A".into()],
            residues: vec![residue(name, 0), residue("ION", 2)],
            atoms: vec![atom(first, 7), atom(second, 7), atom("ION", metal)],
            bonds: vec![],
        };
        let positions = [0.21, far, 0.0].map(|x| Vec3::from([x, 0.0, 0.0])).to_vec();
        let heavy = Heavy { structure: &structure, positions, bonded: neighbours(3, &[]) };
        let mut choices = [Choice { residue: 0, variant: name.into(), reason }];
        Metals::new(&heavy).choose(&heavy, &mut choices);
        let [Choice { variant, reason, .. }] = choices;
        (variant, reason)
    }

    #[test]
    fn ligands_of_metals_lose_their_hydrogens() {
        let at_zinc = |name, first, second, reason| variant(name, first, second, 30, 0.4, reason);
        let usual = Reason::Pka(6.5);
        assert_eq!(at_zinc("HIS", "ND1", "NE2", usual), ("HIE".into(), Reason::Metal));
        assert_eq!(at_zinc("HIS", "NE2", "ND1", usual), ("HID".into(), Reason::Metal));
        assert_eq!(at_zinc("CYS", "SG", "CB", Reason::Usual), ("CYX".into(), Reason::Metal));
        assert_eq!(at_zinc("CYS", "SG", "CB", Reason::Given), ("CYS".into(), Reason::Given));
        assert_eq!(at_zinc("HIS", "NE2", "ND1", Reason::Given), ("HIS".into(), Reason::Given));
        assert_eq!(variant("HIS", "NE2", "ND1", 11, 0.4, usual), ("HIS".into(), usual));
        assert_eq!(variant("HIS", "CG", "NE2", 30, 0.29, usual), ("HIS".into(), usual));
    }
}
