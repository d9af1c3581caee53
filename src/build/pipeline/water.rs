//! Water models, and the force fields that they belong to.

use md_engine::error::{Problem, Result};

use crate::forcefield::ForceField;
use crate::solvent::WaterGeometry;
use crate::structure::{Atom, Residue, Structure};

/// Name of each built-in force field, and its files for solutes; water and ions have separate files.
const FIELDS: [(&str, &[&str]); 3] = [
    ("amber14", &["amber14/protein.ff14SB.xml", "amber14/DNA.OL15.xml", "amber14/RNA.OL3.xml", "amber14/lipid17.xml"]),
    ("amber19", &["amber19/protein.ff19SB.xml", "amber19/DNA.OL21.xml", "amber14/RNA.OL3.xml", "amber19/lipid21.xml"]),
    (CHARMM, &["charmm36_2024.xml"]),
];
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
    pub(super) field: ForceField,
    /// interatomic distances within a water
    pub(super) geometry: WaterGeometry,
    /// number of sites of a water: 3 (oxygen and two hydrogens), or 4 (with a virtual site)
    pub(super) sites: usize,
}

impl Model {
    /// Reads force fields by name or file, and a water model by name.
    pub(super) fn read(fields: &[String], water: &str) -> Result<Self> {
        let mut files: Vec<&str> = vec![];
        for field in fields {
            match FIELDS.iter().find(|(name, _)| name == field) {
                Some((_, parts)) => files.extend(*parts),
                None => files.push(field),
            }
        }
        let Some(&(_, file, sites)) = WATERS.iter().find(|(name, ..)| *name == water) else {
            let names: Vec<&str> = water_names().collect();
            let problem = Problem::new(format!("{water:?} is no water model"));
            return Err(problem.help(format!("the models are {}", names.join(", "))).into());
        };
        let is_charmm = fields.iter().any(|field| field == CHARMM);
        if is_charmm && water != "tip3p" {
            let problem = Problem::new(format!("{CHARMM} has no water model {water}"));
            return Err(problem.help("use --water tip3p, the water model of this force field").into());
        }
        files.push(if is_charmm { CHARMM_WATER } else { file });
        let field = ForceField::read(&files)?;
        let geometry = geometry(&field, sites)?;
        Ok(Model { field, geometry, sites })
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
