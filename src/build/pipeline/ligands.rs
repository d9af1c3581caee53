//! Nonstandard residues whose atoms and bonds are defined by the force field or by a topology file.

use std::collections::BTreeSet;
use std::path::PathBuf;

use md_engine::error::{Problem, Result};

use super::glycans;
use crate::entry::{ComponentBond, Decision, Entry, EntryResidue, Subject, is_standard};
use crate::forcefield::{ForceField, MoleculeFiles};
use crate::structure::Component;

/// Residues whose atoms and bonds are defined by a force field or a topology file.
#[derive(Debug, Default)]
pub(super) struct Ligands {
    /// definitions of the residues
    pub(super) components: Vec<Component>,
    /// names of the residues that topology files define
    pub(super) names: Vec<String>,
    pub(super) decisions: Vec<Decision>,
}

/// Reads the parameters of ligands from topology files, and adds bonds to each residue that is defined by a force field
/// or a topology file. Hydrogens of these residues are removed from the entry, because all hydrogens are placed later.
/// With `has_glycans`, sugars that no topology file defines get their names of GLYCAM.
///
/// # Errors
/// Fails if the entry contains no residue that a topology file defines, or if the names of heavy atoms in the entry
/// differ from the names in the topology file.
pub(super) fn define(
    entry: &mut Entry,
    field: &mut ForceField,
    files: &[MoleculeFiles],
    has_glycans: bool,
) -> Result<Ligands> {
    let wanted = nonstandard(entry, field);
    let mut ligands = Ligands::default();
    for MoleculeFiles { topology, .. } in files {
        if !topology.exists() {
            return Err(Problem::new("the file of a ligand does not exist").in_file(topology).into());
        }
    }
    for files in files {
        let names = field.add_molecules(files, &wanted)?;
        let file = files.topology.file_name().map(PathBuf::from).unwrap_or_default();
        let why = format!("{} describes the molecule completely", file.display());
        let decision = |name: &String| Decision {
            subject: Subject::Parameters,
            what: "took parameters and hydrogens from a topology".to_owned(),
            place: format!("all residues {name}"),
            why: why.clone(),
        };
        ligands.decisions.extend(names.iter().map(decision));
        ligands.names.extend(names);
    }
    if has_glycans {
        ligands.decisions.extend(glycans::name(entry, field, &ligands.names)?);
    }
    for name in &nonstandard(entry, field) {
        let Some(component) = field.component(name) else { continue };
        let residues = || entry.chains.iter().flat_map(|chain| &chain.residues).filter(|residue| residue.name == *name);
        let difference = residues().find_map(|residue| difference(residue, &component));
        match difference {
            None => ligands.components.push(component),
            Some(problem) if ligands.names.contains(name) => return Err(problem.into()),
            Some(_) => {}
        }
    }
    for component in &ligands.components {
        let bond = |&[a, b]: &[u32; 2]| ComponentBond {
            residue: component.name.clone(),
            atoms: [a, b].map(|atom| component.atoms[atom as usize].name.clone()),
        };
        entry.component_bonds.retain(|bond| bond.residue != component.name);
        entry.component_bonds.extend(component.bonds.iter().map(bond));
        let residues = entry.chains.iter_mut().flat_map(|chain| &mut chain.residues);
        for residue in residues.filter(|residue| residue.name == component.name) {
            residue.atoms.retain(|atom| atom.element > 1);
        }
    }
    Ok(ligands)
}

/// Returns the names of the residues that are neither standard nor ions. A residue of one heavy atom may have
/// hydrogens, unlike an ion.
fn nonstandard(entry: &Entry, field: &ForceField) -> BTreeSet<String> {
    let has_bonds = |residue: &EntryResidue| {
        residue.atoms.len() > 1 || field.component(&residue.name).is_some_and(|component| component.atoms.len() > 1)
    };
    let residues = entry.chains.iter().flat_map(|chain| &chain.residues);
    let unknown = residues.filter(|residue| !is_standard(residue) && has_bonds(residue));
    unknown.map(|residue| residue.name.clone()).collect()
}

/// Describes the problem if the names of the heavy atoms of a residue differ from the names in `component`, the
/// definition of the residue.
fn difference(residue: &EntryResidue, component: &Component) -> Option<Problem> {
    let found: BTreeSet<&str> =
        residue.atoms.iter().filter(|atom| atom.element > 1).map(|atom| atom.name.as_str()).collect();
    let defined: BTreeSet<&str> = component.heavy_atoms().collect();
    let list = |names: Vec<&&str>| names.into_iter().copied().collect::<Vec<&str>>().join(", ");
    let parts =
        [("lacks", list(defined.difference(&found).collect())), ("has", list(found.difference(&defined).collect()))];
    let parts: Vec<String> =
        parts.iter().filter(|(_, names)| !names.is_empty()).map(|(verb, names)| format!("{verb} {names}")).collect();
    if parts.is_empty() {
        return None;
    }
    let message = format!(
        "{} {} of the entry {}, unlike the residue in the topology",
        residue.name,
        residue.number,
        parts.join(" and ")
    );
    Some(
        Problem::new(message)
            .help("heavy atoms must have the same names in both files; rename them in one of the files"),
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use md_engine::vec3::{Vec3, vec3};

    use super::*;
    use crate::entry::{Options, parse};
    use crate::hydrogens::PkaModel;
    use crate::pipeline::{Built, Caps, Ions, Settings, build};
    use crate::solvent::{Placement, Salt};

    /// Returns PDB records of the heavy atoms of p-cresol: a regular hexagon of carbons with O1 and C7 bonded to
    /// opposite corners.
    fn cresol(names: [&str; 8]) -> String {
        let corner = |k: usize| {
            let (sin, cos) = (std::f64::consts::FRAC_PI_3 * k as f64).sin_cos();
            [1.39 * cos, 1.39 * sin, 0.0]
        };
        let places: Vec<[f64; 3]> = (0..6).map(corner).chain([[-2.9, 0.0, 0.0], [2.75, 0.0, 0.0]]).collect();
        let line = |(index, name): (usize, &str)| {
            let [x, y, z] = places[index];
            let element = &name[..1];
            format!(
                "HETATM{:>5}  {name:<3} PCR A   1    {x:8.3}{y:8.3}{z:8.3}  1.00  0.00          {element:>2}\n",
                index + 1
            )
        };
        names.into_iter().enumerate().map(line).collect()
    }

    const NAMES: [&str; 8] = ["C1", "C2", "C3", "C4", "C5", "C6", "C7", "O1"];

    fn built(text: &str, file: &str) -> Result<Built> {
        let settings = Settings {
            entry: Options { hetero: false, ..Options::default() },
            caps: Caps::None,
            fields: vec!["amber14".to_owned()],
            ligands: vec![MoleculeFiles {
                topology: Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fields").join(file),
                parameters: vec![],
            }],
            water: "tip3p".to_owned(),
            ph: 7.0,
            pka: PkaModel::Water,
            variants: vec![],
            flip_proposed: false,
            flips: vec![],
            cell: None,
            membrane: None,
            ions: Ions {
                cation: "Na+".to_owned(),
                anion: "Cl-".to_owned(),
                salt: 0.0,
                rule: Salt::Added,
                placement: Placement::Random { seed: 1 },
            },
        };
        build(parse(text.as_bytes(), None)?, &settings)
    }

    #[test]
    fn ligands_get_bonds_hydrogens_and_parameters_from_their_topology() {
        let found = built(&cresol(NAMES), "cresol.prmtop").unwrap();
        let topology = &found.description.topology;
        assert_eq!((topology.atoms.len(), topology.bonded.bonds.len()), (16, 16));
        let place = |name: &str| -> Vec3 { found.positions[found.structure.atom_named(0, name).unwrap()] };
        // each hydrogen points away from the center of the ring, at the C–H bond length of AMBER
        for (hydrogen, carbon) in [("H2", "C2"), ("H3", "C3"), ("H5", "C5"), ("H6", "C6")] {
            let expected = place(carbon) * ((0.139 + 0.109) / 0.139);
            assert!((place(hydrogen) - expected).norm() < 1e-3, "{hydrogen}: {:?}", place(hydrogen));
        }
        assert!(place("HO1").z.abs() < 1e-6 && ((place("HO1") - place("O1")).norm() - 0.096).abs() < 1e-6);
        let methyl: Vec<Vec3> = ["H71", "H72", "H73"].map(|name| place(name) - place("C7")).to_vec();
        assert!(methyl.iter().all(|bond| (bond.norm() - 0.109).abs() < 1e-6));
        assert!((methyl.iter().fold(vec3(0.0, 0.0, 0.0), |sum, &bond| sum + bond).x + 0.109).abs() < 1e-3);
        let decisions = found.decisions.iter().map(|decision| decision.to_string()).collect::<Vec<String>>().join("\n");
        assert!(decisions.contains("all residues PCR: took parameters"), "{decisions}");
    }

    #[test]
    fn ligands_with_other_atoms_are_refused() {
        let mut names = NAMES;
        names[6] = "CM";
        let message = built(&cresol(names), "cresol.prmtop").unwrap_err().to_string();
        assert!(message.contains("PCR 1 of the entry lacks C7 and has CM"), "{message}");
        let message = built(&cresol(NAMES).replace("PCR", "BEN"), "cresol.prmtop").unwrap_err().to_string();
        assert!(message.contains("no ligand of the entry"), "{message}");
        let message = built(&cresol(NAMES), "absent.prmtop").unwrap_err().to_string();
        assert!(message.contains("does not exist"), "{message}");
    }
}
