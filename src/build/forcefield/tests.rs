//! Tests of force fields against OpenMM: energies of all terms and forces of small systems, which `reference.py`
//! computed from the same force-field files.

use super::{ForceField, MoleculeFiles};
use crate::structure::{Atom, Residue, Structure};
use md_engine::backend::{Energies, Reference, Workload};
use md_engine::format::read;
use md_engine::system::{
    Constraints, DispersionCorrection, Electrostatics, ForceSettings, ListPolicy, LjModifier, Modifier, System,
};
use md_engine::team::Team;
use md_engine::vec3::{Vec3, vec3};
use md_engine::virtual_sites::SitePlan;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Maximum error of an energy, relative to its value or to [`SMALL_ENERGY`], whichever is larger.
const ENERGY: f64 = 1e-6;
/// Energy in kJ/mol below which errors are relative to this energy.
const SMALL_ENERGY: f64 = 1.0;
/// Maximum error of the force on an atom relative to the RMS force.
const FORCE: f64 = 1e-6;

const EVERYTHING: Workload = Workload { energy: true, ..Workload::FORCES };

/// Reference data of a system.
struct Golden(Value);

impl Golden {
    fn load(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.json.xz"));
        let bytes = read(&path).expect("reference data are part of the package");
        Self(serde_json::from_slice(&bytes).expect("reference data are JSON"))
    }

    fn list(&self, name: &str) -> &[Value] {
        self.0[name].as_array().expect("a list")
    }

    fn structure(&self) -> Structure {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let number = |value: &Value| value.as_u64().expect("a number") as u32;
        let residue = |(index, value): (usize, &Value)| Residue {
            name: text(&value[0]),
            number: index as i32 + 1,
            insertion_code: None,
            chain: number(&value[1]),
            first: number(&value[2]),
        };
        let atom = |value: &Value| Atom { name: text(&value[0]), element: number(&value[1]) as u8 };
        Structure {
            chains: self.list("chains").iter().map(text).collect(),
            residues: self.list("residues").iter().enumerate().map(residue).collect(),
            atoms: self.list("atoms").iter().map(atom).collect(),
            bonds: self.list("bonds").iter().map(|value| [number(&value[0]), number(&value[1])]).collect(),
        }
    }
}

fn vectors(value: &Value) -> Vec<Vec3> {
    let rows = value.as_array().expect("a list of vectors");
    let number = |value: &Value| value.as_f64().expect("a number");
    rows.iter().map(|row| vec3(number(&row[0]), number(&row[1]), number(&row[2]))).collect()
}

/// Returns the energies (kJ/mol) of md under the names of the reference data.
fn named(e: &Energies) -> [(&'static str, f64); 6] {
    [
        ("bond", e.bond + e.urey_bradley),
        ("angle", e.angle),
        ("torsion", e.proper + e.improper + e.ryckaert_bellemans),
        ("cmap", e.cmap),
        ("lj", e.lj),
        ("coulomb", e.coulomb),
    ]
}

/// Returns the paths of force-field files: names of files in `tests/fields` become paths, and names of built-in files
/// are unchanged.
fn paths(files: &[&str]) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fields");
    let path = |name: &&str| Some(folder.join(name)).filter(|path| path.exists()).unwrap_or_else(|| name.into());
    files.iter().map(path).collect()
}

fn compare(name: &str) {
    let golden = Golden::load(name);
    for reference in golden.list("references") {
        let files = reference["files"].as_array().expect("a list of files");
        let files: Vec<&str> = files.iter().map(|file| file.as_str().expect("a name")).collect();
        let field = ForceField::read(&paths(&files)).unwrap_or_else(|error| panic!("{files:?}: {error}"));
        golden.compare(reference, &field, &format!("{name} {files:?}"));
    }
}

impl Golden {
    /// Compares energies and forces of a force field with those of a reference.
    fn compare(&self, reference: &Value, field: &ForceField, label: &str) {
        let found = field.describe(&self.structure()).unwrap_or_else(|error| panic!("{label}: {error}"));
        let settings = ForceSettings {
            cutoff: None,
            cutoff_lj: None,
            electrostatics: Electrostatics::Plain,
            lj_modifier: LjModifier::None,
            coulomb_modifier: Modifier::None,
            dispersion_correction: DispersionCorrection::Off,
            list: ListPolicy::Exact { buffer: 0.1 },
        };
        let (topology, nonbonded) = (found.topology, found.nonbonded);
        let system = System { topology, nonbonded, constraints: Constraints::default(), settings };
        let mut positions = vectors(&self.0["positions"]);
        let mut sites = SitePlan::new(&system.topology);
        sites.place(&Team::single(), &mut positions);
        let mut ours = Reference::new(&system).expect("a supported system").evaluate(None, &positions, EVERYTHING);
        sites.spread(&Team::single(), &positions, &mut ours.forces);
        let mut faults = vec![];
        for (term, energy) in named(&ours.energies) {
            let expected = reference["energies"][term].as_f64().unwrap_or(0.0);
            let error = (energy - expected).abs() / expected.abs().max(SMALL_ENERGY);
            println!("{label} {term}: {energy} against {expected}, {error:.1e}");
            if error > ENERGY {
                faults.push(format!("{term}: {energy} against {expected} kJ/mol"));
            }
        }
        let theirs = vectors(&reference["forces"]);
        let rms = (theirs.iter().map(|force| force.norm_squared()).sum::<f64>() / theirs.len() as f64).sqrt();
        let is_site = |atom: usize| system.topology.atoms[atom].mass == 0.0;
        let errors =
            (0..theirs.len()).filter(|&atom| !is_site(atom)).map(|atom| (ours.forces[atom] - theirs[atom]).norm());
        let error = errors.fold(0.0, f64::max) / rms;
        println!("{label} forces: {error:.1e}");
        if error > FORCE {
            faults.push(format!("forces: {error:.1e} of the RMS force"));
        }
        assert!(faults.is_empty(), "{label}:\n{}", faults.join("\n"));
    }
}

#[test]
fn molecules_of_topologies_have_the_terms_of_their_files() {
    let golden = Golden::load("ligand");
    let wanted = BTreeSet::from(["PCR".to_owned()]);
    for file in ["cresol.prmtop", "cresol.top"] {
        let mut field = ForceField::read(&["amber14/protein.ff14SB.xml"]).expect("a force field of md");
        let files = MoleculeFiles { topology: paths(&[file])[0].clone(), parameters: vec![] };
        let names = field.add_molecules(&files, &wanted).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(names, ["PCR"]);
        golden.compare(&golden.list("references")[0], &field, file);
    }
}

#[test]
fn molecule_types_alone_have_the_scaled_pairs_of_the_force_field() {
    let golden = Golden::load("ligand");
    let text = std::fs::read_to_string(&paths(&["cresol.top"])[0]).expect("a file of the tests");
    let (_, types) = text.split_once("[ atomtypes ]").expect("atom types");
    let (types, _) = types.split_once("[ system ]").expect("a system");
    let (mut heading, mut lines) = (String::new(), vec!["[ atomtypes ]".to_owned()]);
    for line in types.lines() {
        if line.starts_with('[') {
            line.clone_into(&mut heading);
        }
        // rows of `[ pairs ]` end after the function type, so that GROMACS derives the 1-4 parameters from the atom
        // types
        let is_pair = heading == "[ pairs ]" && !line.starts_with('[');
        let words = line.split_whitespace().take(if is_pair { 3 } else { usize::MAX });
        lines.push(words.collect::<Vec<&str>>().join(" "));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let topology = folder.path().join("cresol.itp");
    std::fs::write(&topology, lines.join("\n")).expect("a file");
    let mut field = ForceField::read(&["amber14/protein.ff14SB.xml"]).expect("a force field of md");
    let files = MoleculeFiles { topology, parameters: vec![] };
    field.add_molecules(&files, &BTreeSet::from(["PCR".to_owned()])).unwrap_or_else(|error| panic!("{error}"));
    golden.compare(&golden.list("references")[0], &field, "cresol.itp");
}

#[test]
fn molecules_of_topologies_come_before_templates_and_keep_the_names_of_their_atoms() {
    let golden = Golden::load("ligand");
    // the residue also matches a template of the force field, which has other charges
    let text = std::fs::read_to_string(&paths(&["cresol.xml"])[0]).expect("a file of the tests");
    let folder = tempfile::tempdir().expect("a folder");
    let other = folder.path().join("other.xml");
    std::fs::write(
        &other,
        text.replace("\"PCR\"", "\"XYZ\"").replace("0.3226", "0.5226").replace("-0.5579", "-0.7579"),
    )
    .expect("a file");
    let mut field = ForceField::read(&[PathBuf::from("amber14/protein.ff14SB.xml"), other]).expect("force fields");
    let files = MoleculeFiles { topology: paths(&["cresol.prmtop"])[0].clone(), parameters: vec![] };
    field.add_molecules(&files, &BTreeSet::from(["PCR".to_owned()])).expect("a ligand");
    golden.compare(&golden.list("references")[0], &field, "two templates");
    // the hydrogens of the methyl group differ only in their charges
    let mut structure = golden.structure();
    let charge = |structure: &Structure, name: &str| {
        let atom = structure.atoms.iter().rposition(|atom| atom.name == name).expect("an atom");
        field.describe(structure).expect("a system").topology.atoms[atom].charge
    };
    assert!((charge(&structure, "H73") - 0.0403).abs() < 1e-6);
    let [first, third] =
        ["H71", "H73"].map(|name| structure.atoms.iter().rposition(|atom| atom.name == name).expect("an atom"));
    structure.atoms.swap(first, third);
    assert!((charge(&structure, "H73") - 0.0403).abs() < 1e-6);
}

#[test]
fn molecules_of_topologies_can_be_joined_to_charmm() {
    let mut field = ForceField::read(&["charmm36_2024.xml", "charmm36_2024/water.xml"]).expect("force fields of md");
    let files = MoleculeFiles { topology: paths(&["cresol.top"])[0].clone(), parameters: vec![] };
    field.add_molecules(&files, &BTreeSet::from(["PCR".to_owned()])).expect("a ligand");
    let component = field.component("PCR").expect("the ligand");
    let ligand = Structure {
        chains: vec!["A".to_owned()],
        residues: vec![Residue { name: "PCR".to_owned(), number: 1, insertion_code: None, chain: 0, first: 0 }],
        atoms: component.atoms,
        bonds: component.bonds,
    };
    let found = field.describe(&ligand).expect("a system");
    let atom = |name: &str| found.topology.atoms.iter().find(|atom| atom.name.as_str() == name).expect("an atom");
    let carbon = atom("C7");
    let (sigma, epsilon) = found.nonbonded.sigma_epsilon(carbon.lj_type, carbon.lj_type);
    // parameters of the atom type c3 in cresol.xml
    assert!((sigma - 0.339_966_95).abs() < 1e-7 && (epsilon - 0.457_729_6).abs() < 1e-6, "{sigma} {epsilon}");
    assert!((carbon.charge + 0.1073).abs() < 1e-9);
    // the pairs C7-O1 and H71-C5, which are five and three bonds apart
    let index =
        |name: &str| found.topology.atoms.iter().position(|atom| atom.name.as_str() == name).expect("an atom") as u32;
    assert!(!found.topology.exclusions.contains(index("C7"), index("O1")));
    assert!(found.topology.exclusions.contains(index("H71"), index("C5")));
    assert_eq!(found.topology.bonded.bonds.len(), 16);
}

#[test]
fn topologies_without_the_wanted_molecule_or_with_other_combination_rules_are_refused() {
    let mut field = ForceField::read(&["amber14/protein.ff14SB.xml"]).expect("a force field of md");
    let folder = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string(&paths(&["cresol.top"])[0]).expect("a file of the tests");
    let mut refusal = |text: &str, wanted: &str| {
        let topology = folder.path().join("ligand.top");
        std::fs::write(&topology, text).expect("a file");
        let files = MoleculeFiles { topology, parameters: vec![] };
        field.add_molecules(&files, &BTreeSet::from([wanted.to_owned()])).expect_err("a refusal").to_string()
    };
    let absent = refusal(&text, "BEN");
    assert!(absent.contains("no ligand of the entry") && absent.contains("of the topology are PCR"), "{absent}");
    let geometric = text.replace("1               2               no", "1               3               no");
    assert_ne!(geometric, text);
    let message = refusal(&geometric, "PCR");
    assert!(message.contains("Lorentz and Berthelot"), "{message}");
    let twice = refusal(&text.replace("    PCR     C2 ", "    PCR     C1 "), "PCR");
    assert!(twice.contains("two atoms named C1"), "{twice}");
}

#[test]
fn peptides_with_all_residues_and_a_disulfide_bridge() {
    compare("peptide");
}

#[test]
fn peptides_with_caps() {
    compare("capped");
}

#[test]
fn dna() {
    compare("dna");
    compare("charmm-dna");
}

#[test]
fn rna() {
    compare("rna");
    compare("charmm-rna");
}

/// Tests thymidine, which matches two templates of CHARMM36 that assign different types.
#[test]
fn templates_with_fewer_patches_have_precedence() {
    let field = ForceField::read(&["charmm36_2024.xml"]).expect("a file of md");
    let structure = Golden::load("dna").structure();
    let found = field.describe(&structure).expect("templates of all residues").topology;
    let methyl = find(&structure, 3, "C7");
    assert_eq!(found.atoms[methyl as usize].type_name.as_str(), "CN9");
}

#[test]
fn lipids_cholesterol_and_glycans() {
    compare("lipid");
    compare("glycan");
}

#[test]
fn lipids_of_charmm() {
    compare("charmm-lipid");
}

#[test]
fn water_and_ions() {
    compare("water-3");
}

#[test]
fn water_with_virtual_sites() {
    compare("water-4");
}

#[test]
fn water_with_ions_of_salts() {
    compare("salts-3");
    compare("salts-4");
    compare("halides");
}

#[test]
fn peptides_with_water_and_ions() {
    compare("peptide-ions");
}

#[test]
fn terms_and_orders_that_files_of_md_do_not_have() {
    compare("toy");
}

#[test]
fn every_file_of_md_can_be_read() {
    for name in ForceField::builtin() {
        // the force field of carbohydrates has atom types of proteins
        let proteins = name.contains("GLYCAM").then_some("amber14/protein.ff14SB.xml");
        let files: Vec<&str> = proteins.into_iter().chain([name]).collect();
        ForceField::read(&files).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// Changes a structure of the reference data, tries to describe it, and returns the error message.
fn refusal(name: &str, files: &[&str], change: impl Fn(&mut Structure)) -> String {
    let mut structure = Golden::load(name).structure();
    change(&mut structure);
    let field = ForceField::read(files).expect("files of md");
    field.describe(&structure).expect_err("no template matches").to_string()
}

/// Removes an atom with its bonds.
fn remove(structure: &mut Structure, atom: u32) {
    structure.atoms.remove(atom as usize);
    structure.bonds.retain(|bond| !bond.contains(&atom));
    structure.bonds.iter_mut().flatten().filter(|other| **other > atom).for_each(|other| *other -= 1);
    structure.residues.iter_mut().filter(|residue| residue.first > atom).for_each(|residue| residue.first -= 1);
}

fn find(structure: &Structure, residue: usize, name: &str) -> u32 {
    let mut atoms = structure.residue_atoms(residue);
    atoms.find(|&atom| structure.atoms[atom].name == name).expect("an atom of the residue") as u32
}

#[test]
fn errors_say_what_differs_from_the_most_similar_template() {
    let amber = ["amber14/protein.ff14SB.xml"];
    let message = refusal("capped", &amber, |structure| {
        let atom = find(structure, 1, "HB2");
        remove(structure, atom);
    });
    for part in ["ALA 2 of chain A", "most similar template is ALA", "1 H atom less", "HB2", "add hydrogens"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let message = refusal("capped", &amber, |structure| {
        let (a, b) = (find(structure, 2, "C"), find(structure, 3, "N"));
        structure.bonds.retain(|bond| !(bond.contains(&a) && bond.contains(&b)));
    });
    for part in ["ASP 3 of chain A", "1 bond to other residues less", "chain end", "NME 4 of chain A"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let message = refusal("water-3", &amber, |_| {});
    assert!(message.contains("HOH 1 of chain A") && message.contains("add a force-field file"), "{message}");
    let message = refusal("water-3", &["amber14/tip4pew.xml"], |_| {});
    assert!(message.contains("add the virtual sites of the water model"), "{message}");
}

/// Tests glycine with charged ends, which patches of CHARMM36 make, and for which force fields of AMBER have no
/// residue.
#[test]
fn free_amino_acids_need_patches() {
    let names = ["N", "H1", "H2", "H3", "CA", "HA2", "HA3", "C", "O", "OXT"];
    let atom = |name: &str| Atom {
        name: name.to_owned(),
        element: match name.as_bytes()[0] {
            b'N' => 7,
            b'C' => 6,
            b'O' => 8,
            _ => 1,
        },
    };
    let glycine = Structure {
        chains: vec!["A".to_owned()],
        residues: vec![Residue { name: "GLY".to_owned(), number: 1, insertion_code: None, chain: 0, first: 0 }],
        atoms: names.map(atom).to_vec(),
        bonds: vec![[0, 1], [0, 2], [0, 3], [0, 4], [4, 5], [4, 6], [4, 7], [7, 8], [7, 9]],
    };
    let field = |name| ForceField::read(&[name]).expect("a file of md");
    let message = field("amber14/protein.ff14SB.xml").describe(&glycine).expect_err("no template").to_string();
    assert!(message.contains("GLY 1 of chain A, a free amino acid"), "{message}");
    let found = field("charmm36_2024.xml").describe(&glycine).expect("a template with two patches").topology;
    let charge: f64 = found.atoms.iter().map(|atom| atom.charge).sum();
    assert!(charge.abs() < 1e-9, "{charge}");
}

/// Returns the error about a force-field file with this text inside its root element.
fn fault(name: &str, text: &str) -> String {
    let folder = std::env::temp_dir().join(format!("md-build-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(format!("{name}.xml"));
    std::fs::write(&path, format!("<ForceField>\n{text}\n</ForceField>\n")).expect("a file");
    let error = ForceField::read(&[&path]).expect_err("a faulty file").to_string();
    std::fs::remove_file(&path).expect("the file");
    error
}

#[test]
fn errors_of_files_name_the_line_and_the_element() {
    const TYPE: &str = "<AtomTypes><Type name='a' class='A' element='C' mass='12'/></AtomTypes>";
    let residue = |inside: &str| format!("{TYPE}\n<Residues><Residue name='R'>{inside}</Residue></Residues>");
    let cases = [
        ("<DrudeForce/>".to_owned(), "2: <DrudeForce>: md does not support this force"),
        ("<Script>\nimport os\n</Script>".to_owned(), "2: <Script>: the script contains Python code"),
        ("\n<HarmonicBondForce><Bone/></HarmonicBondForce>".to_owned(), "3: <Bone>: is unknown in <HarmonicBondForce>"),
        (residue("<Atom name='x' type='b'/>"), "3: <Atom>: the atom type b is not defined"),
        (residue("<Atom name='x' type='a'/><Bond atomName1='x' atomName2='y'/>"), "3: <Bond>: there is no atom y"),
        (residue("<Atom name='x' type='a'/><Atom name='x' type='a'/>"), "3: <Atom>: the atom name x occurs twice"),
        (residue("<Wish/>"), "3: <Wish>: is unknown in <Residue>"),
        (
            format!("{TYPE}<HarmonicBondForce>\n<Bond class1='A' class2='A' length='x' k='1'/></HarmonicBondForce>"),
            "3: <Bond>: length is `x`, not a finite number",
        ),
        ("<PeriodicTorsionForce ordering='new'/>".to_owned(), "the ordering new of impropers is unknown"),
        ("<CMAPTorsionForce><Map>1 2 3</Map></CMAPTorsionForce>".to_owned(), "the map has 3 energies"),
        ("<CustomTorsionForce energy='k*theta'/>".to_owned(), "the energy `k*theta` is not supported"),
        ("<Include file='absent.xml'/>".to_owned(), "no file and no force field of md is named absent.xml"),
    ];
    for (number, (text, expected)) in cases.iter().enumerate() {
        let error = fault(&format!("fault-{number}"), text);
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn templates_that_differ_and_match_are_refused() {
    let folder = std::env::temp_dir().join(format!("md-build-templates-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let field = |name: &str, residues: &str| {
        let path = folder.join(name);
        let types =
            "<Type name='a' class='A' element='Ne' mass='20'/><Type name='b' class='A' element='Ne' mass='21'/>";
        let force =
            "<NonbondedForce coulomb14scale='1' lj14scale='1'><Atom class='A' charge='0' sigma='0.3' epsilon='1'/>";
        let text = format!(
            "<ForceField><AtomTypes>{types}</AtomTypes><Residues>{residues}</Residues>{force}</NonbondedForce>\
             <GBSAOBCForce/></ForceField>"
        );
        std::fs::write(&path, text).expect("a file");
        let residue = Residue { name: "NE".into(), number: 1, insertion_code: None, chain: 0, first: 0 };
        let atoms = vec![Atom { name: "NE".into(), element: 10 }];
        let structure = Structure { chains: vec![String::new()], residues: vec![residue], atoms, bonds: vec![] };
        let found = ForceField::read(&[&path]).and_then(|field| field.describe(&structure));
        found.map(|found| found.topology.atoms[0].mass).map_err(|error| error.to_string())
    };
    let [a, b] = ["a", "b"].map(|of_type| format!("<Atom name='x' type='{of_type}'/></Residue>"));
    let both = format!("<Residue name='N1'>{a}<Residue name='N2'>{b}");
    let error = field("both", &both).expect_err("two templates");
    assert!(error.contains("N1 and N2, which differ, both match the residue NE 1"), "{error}");
    let equal = format!("<Residue name='N1'>{a}<Residue name='N2'>{a}");
    assert_eq!(field("equal", &equal), Ok(20.0));
    let higher = format!("<Residue name='N1'>{a}<Residue name='N1' override='1'>{b}");
    assert_eq!(field("higher", &higher), Ok(21.0));
    // the name of the residue, NE, decides between templates of one atom
    let named = format!("<Residue name='N1'>{a}<Residue name='NE'>{b}");
    assert_eq!(field("named", &named), Ok(21.0));
    let twice = format!("<Residue name='N1'>{a}<Residue name='N1'>{b}");
    assert!(
        field("twice", &twice).expect_err("equal levels").contains("N1 is defined twice with the override level 0")
    );
    std::fs::remove_dir_all(&folder).expect("the folder");
}

#[test]
fn files_that_include_each_other_are_read_once() {
    let text = "<AtomTypes/><Include file='circle.xml'/><NonbondedForce/>";
    assert!(fault("circle", text).contains("<NonbondedForce>: lacks its attribute coulomb14scale"));
}

#[test]
fn errors_name_bonds_to_other_residues() {
    let message = refusal("capped", &["amber14/protein.ff14SB.xml"], |structure| {
        let pair = [find(structure, 1, "CB"), find(structure, 0, "CH3")];
        structure.bonds.push(pair);
    });
    assert!(message.contains("CB is bonded to CH3 of ACE"), "{message}");
}
