//! Monatomic ions that can be added to a system, with their names.

use md_engine::error::{Problem, Result};

use crate::forcefield::ForceField;
use crate::ion_charges::ion_charge;
use crate::structure::{Atom, Residue, Structure};

/// A monatomic ion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ion {
    /// name with the charge, such as `Mg2+`
    pub(super) name: &'static str,
    /// name of the element or ion in a sentence, such as `magnesium`
    pub(super) word: &'static str,
    /// residue name in the Chemical Component Dictionary of the Protein Data Bank
    pub(super) residue: &'static str,
    /// name of the atom in the residue
    pub(super) atom: &'static str,
    /// atomic number
    pub(super) element: u8,
}

/// Makes an ion from a row of [`CATIONS`] or [`ANIONS`].
const fn ion(name: &'static str, word: &'static str, [residue, atom]: [&'static str; 2], element: u8) -> Ion {
    Ion { name, word, residue, atom, element }
}

/// Cations that can be added; the first is the default.
pub(super) const CATIONS: [Ion; 8] = [
    ion("Na+", "sodium", ["NA", "NA"], 11),
    ion("K+", "potassium", ["K", "K"], 19),
    ion("Li+", "lithium", ["LI", "LI"], 3),
    ion("Rb+", "rubidium", ["RB", "RB"], 37),
    ion("Cs+", "caesium", ["CS", "CS"], 55),
    ion("Mg2+", "magnesium", ["MG", "MG"], 12),
    ion("Ca2+", "calcium", ["CA", "CA"], 20),
    ion("Zn2+", "zinc", ["ZN", "ZN"], 30),
];
/// Anions that can be added; the first is the default.
pub(super) const ANIONS: [Ion; 4] = [
    ion("Cl-", "chloride", ["CL", "CL"], 17),
    ion("F-", "fluoride", ["F", "F"], 9),
    ion("Br-", "bromide", ["BR", "BR"], 35),
    ion("I-", "iodide", ["IOD", "I"], 53),
];

/// Names of cations that can be added, for messages and help; the first is the default.
pub fn cation_names() -> impl Iterator<Item = &'static str> {
    CATIONS.iter().map(|ion| ion.name)
}

/// Names of anions that can be added, for messages and help; the first is the default.
pub fn anion_names() -> impl Iterator<Item = &'static str> {
    ANIONS.iter().map(|ion| ion.name)
}

impl Ion {
    /// Charge, e.
    fn charge(&self) -> f64 {
        ion_charge(self.residue).expect("every ion that can be added has a charge")
    }

    /// Magnitude of the charge, e.
    pub(super) fn valence(&self) -> u32 {
        self.charge().abs() as u32
    }

    /// Whether the force field has a residue template for the ion, and the charge of the template is the charge of the
    /// ion.
    fn is_in(&self, field: &ForceField) -> bool {
        let Ion { residue, atom, element, .. } = *self;
        let residue = Residue { name: residue.to_owned(), number: 1, insertion_code: None, chain: 0, first: 0 };
        let structure = Structure {
            chains: vec![String::new()],
            residues: vec![residue],
            atoms: vec![Atom { name: atom.to_owned(), element }],
            bonds: vec![],
        };
        let described = field.describe(&structure);
        described.is_ok_and(|found| found.topology.atoms[0].charge.round() == self.charge())
    }
}

/// Returns the ion of `ions` with the given name, regardless of case. Fails if the force field has no parameters for
/// this ion.
pub(super) fn find(ions: &'static [Ion], name: &str, field: &ForceField) -> Result<&'static Ion> {
    let problem = match ions.iter().find(|ion| ion.name.eq_ignore_ascii_case(name)) {
        Some(ion) if ion.is_in(field) => return Ok(ion),
        Some(ion) => Problem::new(format!("the force field has no parameters of the ion {}", ion.name)),
        None => Problem::new(format!("{name:?} is no {} that md can add", kind(ions))),
    };
    let known: Vec<&str> = ions.iter().filter(|ion| ion.is_in(field)).map(|ion| ion.name).collect();
    let help = match known.is_empty() {
        true => format!("the force field has no {} at all: add a force-field file that has the ion", kind(ions)),
        false => format!("choose one of {}", known.join(", ")),
    };
    Err(problem.help(help).into())
}

fn kind(ions: &[Ion]) -> &'static str {
    if ions.iter().all(|ion| ion.charge() > 0.0) { "cation" } else { "anion" }
}

#[cfg(test)]
mod tests {
    use super::super::water::{Model, water_names};
    use super::*;

    fn model(field: &str, water: &str) -> Model {
        Model::read(&[field.to_owned()], water, false).unwrap()
    }

    #[test]
    fn all_ions_of_the_tables_are_in_the_water_files_of_amber() {
        for water in water_names() {
            let field = model("amber14", water).field;
            for ion in CATIONS.iter().chain(&ANIONS) {
                assert!(ion.is_in(&field), "{} with {water}", ion.name);
            }
        }
    }

    #[test]
    fn ions_are_found_by_name_or_refused_with_a_list() {
        let field = model("charmm36", "tip3p").field;
        assert_eq!(find(&CATIONS, "mg2+", &field).unwrap().charge(), 2.0);
        assert_eq!(find(&ANIONS, "Cl-", &field).unwrap().element, 17);
        let refused = |ions: &'static [Ion], name: &str| {
            let error = find(ions, name, &field).unwrap_err();
            let md_engine::error::Error::Input(problems) = error else { panic!("{error}") };
            format!("{}; {}", problems[0].message, problems[0].help.as_deref().unwrap_or_default())
        };
        // CHARMM36 has no bromide
        assert_eq!(refused(&ANIONS, "Br-"), "the force field has no parameters of the ion Br-; choose one of Cl-");
        let cations = "Na+, K+, Li+, Rb+, Cs+, Mg2+, Ca2+, Zn2+";
        let message = format!("\"Fe3+\" is no cation that md can add; choose one of {cations}");
        assert_eq!(refused(&CATIONS, "Fe3+"), message);
        assert!(refused(&CATIONS, "Cl-").contains("no cation"));
    }

    #[test]
    fn a_field_without_ions_is_named() {
        let field = ForceField::read(&["amber14/DNA.OL15.xml"]).unwrap();
        let error = find(&CATIONS, "K+", &field).unwrap_err();
        let md_engine::error::Error::Input(problems) = error else { panic!("{error}") };
        assert!(problems[0].help.as_deref().unwrap().contains("no cation at all"));
    }
}
