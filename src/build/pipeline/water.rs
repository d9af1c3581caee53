//! Water models, and the force fields that they belong to.

use md_engine::error::{Error, Problem, Result};
use md_engine::system::Description;

use super::{glycans, sugars};
use crate::forcefield::ForceField;
use crate::solvent::WaterGeometry;
use crate::structure::{Atom, Residue, Structure};

/// Name of each built-in force field, and its files for solutes; water and ions have separate files.
const FIELDS: [(&str, &[&str]); 3] = [
    ("amber14", &[PROTEINS, "amber14/DNA.OL15.xml", "amber14/RNA.OL3.xml", "amber14/lipid17.xml"]),
    ("amber19", &["amber19/protein.ff19SB.xml", "amber19/DNA.OL21.xml", "amber14/RNA.OL3.xml", "amber19/lipid21.xml"]),
    (CHARMM, &["charmm36_2024.xml"]),
];
/// File of the force field of proteins to which the force field of carbohydrates belongs.
const PROTEINS: &str = "amber14/protein.ff14SB.xml";
/// Name of the force field that requires its own water model.
const CHARMM: &str = "charmm36";
/// Water models: name, parameter file of water and ions, and number of sites.
const WATERS: [(&str, &str, usize); 6] = [
    ("tip3p", "amber14/tip3p.xml", 3),
    ("tip3pfb", "amber14/tip3pfb.xml", 3),
    ("spce", "amber14/spce.xml", 3),
    ("tip4pew", "amber14/tip4pew.xml", 4),
    ("opc", "amber14/opc.xml", 4),
    ("opc3", "amber14/opc3.xml", 3),
];
/// Name of the water model that belongs to the force field [`CHARMM`].
const CHARMM_WATER_NAME: &str = "tip3p";
/// File with CHARMM's modified TIP3P water, which the file calls TIP3P.
const CHARMM_WATER: &str = "charmm36_2024/water.xml";

/// Names of force fields, for messages and help.
pub fn field_names() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().map(|(name, _)| *name)
}

/// Names of water models, for messages and help.
pub fn water_names() -> impl Iterator<Item = &'static str> {
    WATERS.iter().map(|(name, ..)| *name)
}

/// A force field for the solute and the water, and the geometry of the water model.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// names of built-in force fields and of force-field files
    names: Vec<String>,
    /// names of the built-in force-field files, and paths of other force-field files
    pub(super) files: Vec<String>,
    pub(super) field: ForceField,
    /// interatomic distances within a water
    pub(super) geometry: WaterGeometry,
    /// number of sites of a water: 3 (oxygen and two hydrogens), or 4 (with a virtual site)
    pub(super) sites: usize,
}

impl Model {
    /// Reads force fields by name or file, and a water model by name. With `has_glycans`, the force field of
    /// carbohydrates GLYCAM is read together with the force field of proteins ff14SB.
    pub(super) fn read(fields: &[String], water: &str, has_glycans: bool) -> Result<Self> {
        let mut files: Vec<&str> = vec![];
        for field in fields {
            match FIELDS.iter().find(|(name, _)| name == field) {
                Some((_, parts)) => files.extend(*parts),
                None => files.push(field),
            }
        }
        if has_glycans && files.contains(&PROTEINS) && !files.contains(&glycans::FILE) {
            files.push(glycans::FILE);
        }
        let Some(&(_, file, sites)) = WATERS.iter().find(|(name, ..)| *name == water) else {
            let names: Vec<&str> = water_names().collect();
            let problem = Problem::new(format!("{water:?} is no water model"));
            return Err(problem.help(format!("the models are {}", names.join(", "))).into());
        };
        let is_charmm = fields.iter().any(|field| field == CHARMM);
        if is_charmm && water != CHARMM_WATER_NAME {
            let problem = Problem::new(format!("{CHARMM} has no water model {water}"));
            let help = format!("use --water {CHARMM_WATER_NAME}, the water model of this force field");
            return Err(problem.help(help).into());
        }
        files.push(if is_charmm { CHARMM_WATER } else { file });
        let field = ForceField::read(&files)?;
        let geometry = geometry(&field, sites)?;
        let files = files.into_iter().map(str::to_owned).collect();
        Ok(Model { names: fields.to_vec(), files, field, geometry, sites })
    }

    /// Makes the energy terms of a structure. If residues match no template, and another built-in force field has
    /// templates of all these residues, the advice names this force field.
    pub(super) fn describe(&self, structure: &Structure) -> Result<Description> {
        self.field.describe(structure).map_err(|error| match error {
            Error::Input(mut problems) => {
                if let (Some(other), Some(last)) = (self.alternative(structure), problems.last_mut()) {
                    let advice = format!("build with --forcefield {other}, which has templates of these residues");
                    last.help = Some(last.help.take().map_or(advice.clone(), |help| format!("{help}; or {advice}")));
                }
                let is_sugar = |residue: &Residue| sugars::named(&residue.name).is_some();
                if structure.residues.iter().any(is_sugar)
                    && let Some(last) = problems.pop()
                {
                    problems.push(glycans::advised(last));
                }
                Error::Input(problems)
            }
            error => error,
        })
    }

    /// Returns the built-in force field that has templates of all residues for which this one has none. Returns `None`
    /// if there are no such residues, or if this model has force-field files, which may not suit another force field.
    fn alternative(&self, structure: &Structure) -> Option<&'static str> {
        let [own] = self.names.as_slice() else { return None };
        let missing = self.field.unmatched(structure).ok().filter(|missing| !missing.is_empty())?;
        let has_all = |name: &&str| {
            let other = Model::read(&[(*name).to_owned()], CHARMM_WATER_NAME, false);
            let without = other.and_then(|model| model.field.unmatched(structure));
            without.is_ok_and(|without| missing.iter().all(|residue| !without.contains(residue)))
        };
        field_names().any(|name| name == own).then(|| field_names().filter(|name| name != own).find(has_all))?
    }
}

/// Returns a molecule of water as a structure.
pub(super) fn molecule(sites: usize) -> Structure {
    let atom = |name: &str, element| Atom { name: name.to_owned(), element };
    let atoms = [atom("O", 8), atom("H1", 1), atom("H2", 1), atom("EPW", 0)];
    Structure {
        chains: vec![String::new()],
        residues: vec![Residue { name: "HOH".to_owned(), number: 1, insertion_code: None, chain: 0, first: 0 }],
        atoms: atoms.into_iter().take(sites).collect(),
        bonds: vec![[0, 1], [0, 2]],
    }
}

/// Returns the interatomic distances within a water, from the O–H bond length and the H–O–H angle of the force field.
fn geometry(field: &ForceField, sites: usize) -> Result<WaterGeometry> {
    let topology = field.describe(&molecule(sites))?.topology;
    let bonds = &topology.bonded.bonds;
    let length = |a, b| bonds.iter().find(|bond| bond.atoms == [a, b] || bond.atoms == [b, a]).map(|bond| bond.length);
    let angle = topology.bonded.angles.first().map(|angle| angle.angle);
    let (Some(oxygen_hydrogen), Some(angle)) = (length(0, 1), angle) else {
        let problem = Problem::new("the force field lacks the bond or the angle of water");
        return Err(problem.help("choose another water model").into());
    };
    let hydrogen_hydrogen = length(1, 2).unwrap_or(2.0 * oxygen_hydrogen * (0.5 * angle).sin());
    Ok(WaterGeometry { oxygen_hydrogen, hydrogen_hydrogen })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_names_a_force_field_that_has_the_residue() {
        let atom = |name: &str, element| Atom { name: name.to_owned(), element };
        let residue = |name: &str| Structure {
            chains: vec!["A".to_owned()],
            residues: vec![Residue { name: name.to_owned(), number: 1, insertion_code: None, chain: 0, first: 0 }],
            atoms: vec![atom("O1", 8), atom("O2", 8)],
            bonds: vec![[0, 1]],
        };
        let amber = Model::read(&["amber14".to_owned()], "opc", false).unwrap();
        let message = |structure: &Structure| amber.describe(structure).unwrap_err().to_string();
        let advice = "build with --forcefield charmm36, which has templates of these residues";
        assert!(message(&residue("O2")).contains(advice), "{}", message(&residue("O2")));
        let atoms = vec![atom("C", 6), atom("S", 16)];
        let unknown = Structure { atoms, ..residue("CS") };
        assert!(!message(&unknown).contains("build with"), "{}", message(&unknown));
    }
}
