//! Protonation and orientation of residues that coordinate metals.
//!
//! A nitrogen of His that coordinates a metal has no hydrogen, and a cysteine whose sulfur coordinates a metal is a
//! thiolate. A His between two metals is refused, unless the user or the file names its variant. Atoms within 0.28 nm
//! of a metal count as coordinating; the report of the metals of an entry uses the same limit. No bonds are made.

use md_engine::error::Problem;
use md_engine::vec3::Vec3;

use super::table::THIOLATE;
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
    /// atoms that are metals that bind His and Cys
    binding: Vec<usize>,
    /// positions in nm of all metals
    all: Vec<Vec3>,
}

impl Metals {
    pub(super) fn new(heavy: &Heavy<'_>) -> Self {
        let element = |atom: usize| heavy.structure.atoms[atom].element;
        let is_binding = |atom: usize| METALS.contains(&element(atom));
        let is_metal = |atom: usize| is_binding(atom) || LOOSE.contains(&element(atom));
        let atoms = 0..heavy.structure.atoms.len();
        let all = atoms.clone().filter(|&atom| is_metal(atom)).map(|atom| heavy.positions[atom]).collect();
        Metals { binding: atoms.filter(|&atom| is_binding(atom)).collect(), all }
    }

    /// Whether an atom is an oxygen that coordinates a metal. Nitrogens do not count: if the nitrogen of an amide is
    /// near a metal, the amide has the wrong orientation.
    pub(super) fn coordinate(&self, heavy: &Heavy<'_>, atom: usize) -> bool {
        let position = heavy.positions[atom];
        let is_near = |&metal: &Vec3| (metal - position).norm() <= COORDINATED;
        heavy.structure.atoms[atom].element == 8 && self.all.iter().any(is_near)
    }

    /// Sets the variants of His and Cys that coordinate a metal, unless the user or the file named the variant.
    ///
    /// # Errors
    /// Fails if two metals coordinate the two ring nitrogens of a His. Each variant of His has a hydrogen on at least
    /// one ring nitrogen, and this hydrogen would point at a metal.
    pub(super) fn choose(&self, heavy: &Heavy<'_>, choices: &mut [Choice]) -> Result<(), Problem> {
        if self.binding.is_empty() {
            return Ok(());
        }
        for choice in choices.iter_mut().filter(|choice| matches!(choice.reason, Reason::Pka(_) | Reason::Usual)) {
            let near = |name: &str| self.coordinated(heavy, heavy.structure.atom_named(choice.residue, name)?);
            let variant = match heavy.structure.residues[choice.residue].name.as_str() {
                "HIS" => match (near("ND1"), near("NE2")) {
                    (Some((_, first)), Some((_, second))) if first != second => {
                        return Err(bridging(heavy, choice.residue, [first, second]));
                    }
                    (Some((delta, _)), Some((epsilon, _))) if delta < epsilon => "HIE",
                    (Some(_), None) => "HIE",
                    (_, Some(_)) => "HID",
                    (None, None) => continue,
                },
                "CYS" if near("SG").is_some() => THIOLATE,
                _ => continue,
            };
            (choice.variant, choice.reason) = (variant.to_owned(), Reason::Metal);
        }
        Ok(())
    }

    /// Returns the distance (nm) of the metal that an atom coordinates, and the metal. The nearest metal that binds His
    /// and Cys is taken. The result is `None` if no such metal is within [`COORDINATED`].
    fn coordinated(&self, heavy: &Heavy<'_>, atom: usize) -> Option<(f64, usize)> {
        let distance = |&metal: &usize| ((heavy.positions[metal] - heavy.positions[atom]).norm(), metal);
        let nearest = self.binding.iter().map(distance).min_by(|a, b| a.0.total_cmp(&b.0));
        nearest.filter(|(distance, _)| *distance <= COORDINATED)
    }
}

/// Returns the error about a His between two metals. The first metal is near ND1, and the second metal is near NE2.
fn bridging(heavy: &Heavy<'_>, residue: usize, metals: [usize; 2]) -> Problem {
    let label = heavy.structure.residue_label(residue);
    let [first, second] = metals.map(|metal| heavy.structure.atom_label(metal));
    let message = format!("ND1 of {label} coordinates {first}, and NE2 of this residue coordinates {second}");
    Problem::new(message).help(
        "the force field has no imidazolate, and each other state of HIS has a hydrogen that points at a metal: choose \
         HID, HIE or HIP with --variant, or remove a metal from the file",
    )
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
        Metals::new(&heavy).choose(&heavy, &mut choices).unwrap();
        let [Choice { variant, reason, .. }] = choices;
        (variant, reason)
    }

    /// Tests a His between copper and zinc, as in Cu,Zn superoxide dismutase.
    #[test]
    fn histidines_between_two_metals_are_refused() {
        let residue =
            |name: &str, number, first| Residue { name: name.into(), number, insertion_code: None, chain: 0, first };
        let atom = |name: &str, element| Atom { name: name.into(), element };
        let structure = Structure {
            chains: vec!["A".into()],
            residues: vec![residue("HIS", 63, 0), residue("CU", 154, 2), residue("ZN", 155, 3)],
            atoms: vec![atom("ND1", 7), atom("NE2", 7), atom("CU", 29), atom("ZN", 30)],
            bonds: vec![],
        };
        let positions = [0.0, 0.22, -0.21, 0.43].map(|x| Vec3::from([x, 0.0, 0.0])).to_vec();
        let heavy = Heavy { structure: &structure, positions, bonded: neighbours(4, &[]) };
        let choose = |variant: &str, reason| {
            let mut choices = [Choice { residue: 0, variant: variant.into(), reason }];
            let result = Metals::new(&heavy).choose(&heavy, &mut choices);
            let [Choice { variant, .. }] = choices;
            result.map(|()| variant)
        };
        let problem = choose("HIE", Reason::Pka(6.5)).unwrap_err();
        for part in ["HIS 63 of chain A", "CU of CU 154 of chain A", "ZN of ZN 155 of chain A"] {
            assert!(problem.message.contains(part), "{problem:?}");
        }
        assert!(problem.help.is_some_and(|help| help.contains("imidazolate") && help.contains("--variant")));
        assert_eq!(choose("HID", Reason::Given).unwrap(), "HID");
    }

    #[test]
    fn ligands_of_metals_lose_their_hydrogens() {
        let at_zinc = |name, first, second, reason| variant(name, first, second, 30, 0.4, reason);
        let usual = Reason::Pka(6.5);
        assert_eq!(at_zinc("HIS", "ND1", "NE2", usual), ("HIE".into(), Reason::Metal));
        assert_eq!(at_zinc("HIS", "NE2", "ND1", usual), ("HID".into(), Reason::Metal));
        assert_eq!(at_zinc("CYS", "SG", "CB", Reason::Usual), ("CYM".into(), Reason::Metal));
        assert_eq!(at_zinc("CYS", "SG", "CB", Reason::Given), ("CYS".into(), Reason::Given));
        assert_eq!(at_zinc("HIS", "NE2", "ND1", Reason::Given), ("HIS".into(), Reason::Given));
        assert_eq!(variant("HIS", "NE2", "ND1", 11, 0.4, usual), ("HIS".into(), usual));
        assert_eq!(variant("HIS", "CG", "NE2", 30, 0.29, usual), ("HIS".into(), usual));
    }
}
