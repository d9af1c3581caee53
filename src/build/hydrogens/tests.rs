//! Tests of the hydrogens of a protein against OpenMM's Modeller, which minimises the positions of hydrogens with
//! ff14SB (`tests/hydrogens.py`), and tests of the hydrogens of small molecules.

use md_engine::vec3::{Vec3, vec3};
use serde_json::Value;

use super::*;

/// Largest distance (nm) between the positions of md and of Modeller, for hydrogens whose positions follow from the
/// heavy atoms. The value is a typical error of hydrogen positions from neutron diffraction.
const NEAR: f64 = 0.02;
/// Fraction of hydrogens that must be within [`NEAR`]. The fraction is below 1 because bonds and angles between the
/// heavy atoms of a structure are not free of strain.
const SHARE: f64 = 0.95;
/// Distance (nm) between two atoms below which they clash.
const CLASH: f64 = 0.08;

/// Returns the reference data: a structure with hydrogens, its positions (nm), and the contents of the reference file.
pub(super) fn reference() -> (Structure, Vec<Vec3>, Value) {
    let packed: &[u8] = include_bytes!("../tests/golden/hydrogens.json.xz");
    let golden: Value = serde_json::from_reader(lzma_rust2::XzReader::new(packed, true)).unwrap();
    let list = |key: &str| golden[key].as_array().unwrap().clone();
    let mut structure = Structure { chains: vec!["A".into()], ..Structure::default() };
    for atom in list("atoms") {
        let residue = atom[2].as_u64().unwrap() as usize;
        if structure.residues.len() <= residue {
            let name = golden["residues"][residue].as_str().unwrap().to_owned();
            let first = structure.atoms.len() as u32;
            structure.residues.push(Residue {
                name,
                number: residue as i32 + 1,
                insertion_code: None,
                chain: 0,
                first,
            });
        }
        let name = atom[0].as_str().unwrap().to_owned();
        structure.atoms.push(Atom { name, element: atom[1].as_u64().unwrap() as u8 });
    }
    structure.bonds =
        list("bonds").iter().map(|bond| [0, 1].map(|k: usize| bond[k].as_u64().unwrap() as u32)).collect();
    let position = |p: &Value| Vec3::from([0, 1, 2].map(|k: usize| p[k].as_f64().unwrap()));
    let positions = list("positions").iter().map(position).collect();
    (structure, positions, golden)
}

const NEUTRAL: Protonation = Protonation {
    ph: 7.0,
    model: PkaModel::Water,
    given: vec![],
    flips: Flips { proposed: true, given: vec![] },
    components: vec![],
};

/// Returns the position of an atom, which is given by residue index and atom name.
fn position_of(structure: &Structure, positions: &[Vec3], residue: usize, name: &str) -> Option<Vec3> {
    structure.atom_named(residue, name).map(|atom| positions[atom])
}

#[test]
fn hydrogens_of_a_protein_are_those_of_modeller() {
    let (structure, positions, golden) = reference();
    let variants = golden["variants"].as_array().unwrap().iter().enumerate();
    let given = variants.filter_map(|(residue, name)| Some((residue, name.as_str()?.to_owned()))).collect();
    let found = add(&structure, &positions, &Protonation { given, ..NEUTRAL }).unwrap();
    assert_eq!(found.structure.atoms.len(), structure.atoms.len());
    assert!(found.structure.check().is_ok() && found.unknown.is_empty());
    let bonded = neighbours(structure.atoms.len(), &structure.bonds);
    let (mut count, mut near, mut turning) = (0, 0, 0);
    for residue in 0..structure.residues.len() {
        for atom in structure.residue_atoms(residue).filter(|&atom| structure.atoms[atom].element == 1) {
            let name = &structure.atoms[atom].name;
            let parent = bonded[atom][0] as usize;
            let heavy = bonded[parent].iter().filter(|&&other| structure.atoms[other as usize].element != 1).count();
            let place = position_of(&found.structure, &found.positions, residue, name).unwrap();
            let distance = (place - positions[atom]).norm();
            // hydroxyl, ammonium and methyl groups can rotate; amide and guanidinium groups cannot
            let is_planar = structure.atoms[parent].element == 7 && bonded[parent].len() == 3;
            if heavy == 1 && !is_planar {
                turning += 1;
                continue;
            }
            count += 1;
            // the names of two hydrogens of a group may be exchanged
            let twin = structure.residue_atoms(residue).filter(|&other| bonded[other].contains(&(parent as u32)));
            let nearest = twin.map(|other| (place - positions[other]).norm()).fold(distance, f64::min);
            near += usize::from(nearest < NEAR);
        }
    }
    assert!(count > 200 && turning > 50, "{count} {turning}");
    assert!(near as f64 >= SHARE * count as f64, "{near} of {count}");
}

/// Tests that the ring hydrogen of neutral His is bonded to the nitrogen that is near a chloride ion.
#[test]
fn tautomers_make_hydrogen_bonds() {
    let (structure, positions, _) = reference();
    let histidine = structure.residues.iter().position(|residue| residue.name == "HIS").unwrap();
    for (nitrogen, variant) in [("ND1", "HID"), ("NE2", "HIE")] {
        let ring = ["CG", "ND1", "CD2", "CE1", "NE2"];
        let ring = ring.map(|name| position_of(&structure, &positions, histidine, name).unwrap());
        let center = ring.iter().fold(vec3(0.0, 0.0, 0.0), |sum, &place| sum + place) * 0.2;
        let place = position_of(&structure, &positions, histidine, nitrogen).unwrap();
        let (mut structure, mut positions) = (structure.clone(), positions.clone());
        let first = structure.atoms.len() as u32;
        structure.residues.push(Residue { name: "CL".into(), number: 99, insertion_code: None, chain: 0, first });
        structure.atoms.push(Atom { name: "CL".into(), element: 17 });
        positions.push(place + (place - center) * (0.29 / (place - center).norm()));
        let found = add(&structure, &positions, &NEUTRAL).unwrap();
        let choice = found.choices.iter().find(|choice| choice.residue == histidine).unwrap();
        assert!(choice.variant == variant && matches!(choice.reason, Reason::Tautomer(_)), "{choice:?}");
    }
}

#[test]
fn no_hydrogen_clashes() {
    let (structure, positions, _) = reference();
    let found = add(&structure, &positions, &NEUTRAL).unwrap();
    for (a, first) in found.positions.iter().enumerate() {
        for second in &found.positions[..a] {
            assert!((*first - *second).norm() > CLASH);
        }
    }
}

/// Returns a structure of one residue.
fn residue(name: &str, atoms: &[(&str, u8, [f64; 3])], bonds: &[[u32; 2]]) -> (Structure, Vec<Vec3>) {
    let structure = Structure {
        chains: vec!["A".into()],
        residues: vec![Residue { name: name.into(), number: 1, insertion_code: None, chain: 0, first: 0 }],
        atoms: atoms.iter().map(|(name, element, _)| Atom { name: (*name).into(), element: *element }).collect(),
        bonds: bonds.to_vec(),
    };
    (structure, atoms.iter().map(|(.., position)| Vec3::from(*position)).collect())
}

/// Tests a water whose neighbour along x is the oxygen of another water: one of its hydrogens must point to this
/// oxygen.
#[test]
fn water_points_to_an_acceptor() {
    let (mut structure, positions) = residue("HOH", &[("O", 8, [0.0, 0.0, 0.0]), ("O", 8, [0.28, 0.0, 0.0])], &[]);
    structure.residues.push(Residue { first: 1, number: 2, ..structure.residues[0].clone() });
    let found = add(&structure, &positions, &NEUTRAL).unwrap();
    assert_eq!(found.structure.atoms.len(), 6);
    let oh = |k: usize| (found.positions[k] - found.positions[k / 3 * 3]).norm();
    assert!([1, 2, 4, 5].iter().all(|&k| (oh(k) - 0.096).abs() < 1e-12));
    let bonds = [1, 2].iter().filter(|&&k| (found.positions[k] - vec3(0.28, 0.0, 0.0)).norm() < 0.2).count();
    let back = [4, 5].iter().filter(|&&k| found.positions[k].norm() < 0.2).count();
    assert_eq!(bonds + back, 1, "{:?}", found.positions);
}

#[test]
fn variants_follow_ph_bonds_and_wishes() {
    let table = Table::read().unwrap();
    let variant = |name: &str, ph: f64, bonds: &[[u32; 2]], given: &[(usize, String)]| {
        let (structure, _) = residue(name, &[("SG", 16, [0.0; 3]), ("SG", 16, [0.2, 0.0, 0.0])], bonds);
        let settings = Protonation { ph, given: given.to_vec(), ..NEUTRAL };
        let bonded = neighbours(structure.atoms.len(), &structure.bonds);
        let choices = protonation::choose(&structure, &bonded, &table, &settings, &[])?;
        Ok::<_, Problem>(choices.first().map(|choice| choice.variant.clone()))
    };
    let at = |name: &str, ph: f64| variant(name, ph, &[], &[]).unwrap().unwrap();
    assert_eq!([at("ASP", 7.0), at("ASP", 3.0), at("GLU", 4.0), at("GLU", 5.0)], ["ASP", "ASH", "GLH", "GLU"]);
    assert_eq!([at("HIS", 6.0), at("LYS", 7.0), at("LYS", 11.0), at("CYS", 7.0)], ["HIP", "LYS", "LYN", "CYS"]);
    assert_eq!([at("HSD", 1.0), at("GLH", 7.0)], ["HID", "GLH"]);
    // names of CHARMM and GROMACS, for which the residue gets its standard name before
    let named = ["GLUP", "ASPH", "LSN", "HISH", "HISB", "CYM", "GLU"].map(variant_of_name);
    let variants = ["GLH", "ASH", "LYN", "HIP", "HIE", "CYM"].map(Some);
    assert_eq!(named, [&variants[..], &[None]].concat()[..]);
    assert_eq!(variant("CYS", 7.0, &[[0, 1]], &[]).unwrap().unwrap(), "CYX");
    let thiolate = |bonds: &[[u32; 2]], name: &str| variant("CYS", 7.0, bonds, &[(0, name.into())]);
    assert_eq!(thiolate(&[], "CYM").unwrap().unwrap(), "CYM");
    assert_eq!(thiolate(&[[0, 1]], "CYX").unwrap().unwrap(), "CYX");
    assert!(thiolate(&[], "CYX").unwrap_err().message.contains("CYS 1 of chain A has no disulfide bond"));
    assert_eq!(variant("ALA", 7.0, &[], &[]).unwrap(), None);
    assert_eq!(variant("ASP", 7.0, &[], &[(0, "ASH".into())]).unwrap().unwrap(), "ASH");
    let refused = |name: &str| variant(name, 7.0, &[], &[(0, "HID".into())]).unwrap_err();
    assert!(refused("ASP").help.unwrap().contains("ASP, ASH") && refused("ALA").message.contains("ALA 1 of chain A"));
}

#[test]
fn ends_of_chains_have_the_charged_form() {
    let table = Table::read().unwrap();
    let choice = |name: &str, atoms: &[(&str, u8, [f64; 3])], bonds: &[[u32; 2]], ph: f64| {
        let (structure, _) = residue(name, atoms, bonds);
        let bonded = neighbours(structure.atoms.len(), &structure.bonds);
        protonation::choose(&structure, &bonded, &table, &Protonation { ph, ..NEUTRAL }, &[]).unwrap().remove(0)
    };
    let backbone = [("N", 7, [0.0; 3]), ("CA", 6, [0.145, 0.0, 0.0])];
    let end = |name: &str, ph: f64| choice(name, &backbone, &[[0, 1]], ph);
    assert_eq!((end("LYS", 12.0).variant.as_str(), end("LYS", 12.0).reason), ("LYS", Reason::End(10.5)));
    assert_eq!((end("ASP", 2.0).variant.as_str(), end("ASP", 2.0).reason), ("ASP", Reason::End(3.8)));
    assert_eq!((end("LYS", 7.0).reason, end("HIS", 5.0).variant.as_str()), (Reason::Pka(10.5), "HIP"));
}

#[test]
fn missing_atoms_are_named() {
    let (structure, positions) = residue("ALA", &[("N", 7, [0.0; 3]), ("CA", 6, [0.145, 0.0, 0.0])], &[[0, 1]]);
    let error = add(&structure, &positions, &NEUTRAL).unwrap_err().to_string();
    assert!(error.contains("ALA 1 of chain A lacks its atom CB"), "{error}");
    let error = add(&structure, &[], &NEUTRAL).unwrap_err().to_string();
    assert!(error.contains("without a position"), "{error}");
}

#[test]
fn hydrogens_of_the_input_that_contradict_the_protonation_are_found() {
    let (structure, positions, golden) = reference();
    // the reference file names only the variants that differ from the name of the residue
    let stated =
        |residue: usize| golden["variants"][residue].as_str().unwrap_or(&structure.residues[residue].name).to_owned();
    for ph in [2.0, 7.0, 14.0] {
        let found = add(&structure, &positions, &Protonation { ph, ..NEUTRAL }).unwrap();
        let expected = found.choices.iter().map(|choice| (choice.residue, stated(choice.residue), &choice.variant));
        let expected: Vec<(usize, Option<String>)> =
            expected.filter(|(_, stated, chosen)| stated != *chosen).map(|(r, stated, _)| (r, Some(stated))).collect();
        let contradictions: Vec<(usize, Option<String>)> =
            found.contradictions.iter().map(|found| (found.residue, found.variant.clone())).collect();
        assert_eq!(contradictions, expected, "pH {ph}");
        assert!(ph == 7.0 || !expected.is_empty());
    }
    // heavy atoms alone state no protonation
    let heavy = without_hydrogens(&structure, &positions, &Table::read().unwrap());
    assert_eq!(add(&heavy.0, &heavy.1, &Protonation { ph: 2.0, ..NEUTRAL }).unwrap().contradictions, []);
}

#[test]
fn a_bond_that_leaves_no_room_for_hydrogens_is_refused_by_name() {
    let (mut structure, positions, _) = reference();
    let find = |name: &str, atom: &str| {
        let residue = structure.residues.iter().position(|residue| residue.name == name).unwrap();
        structure.atom_named(residue, atom).unwrap() as u32
    };
    let pair = [find("LYS", "NZ"), find("ASP", "CG")];
    structure.bonds.push(pair);
    let message = add(&structure, &positions, &NEUTRAL).unwrap_err().to_string();
    let expected = format!(
        "{} is bonded to {}, and md build has no form of LYS with this bond",
        structure.atom_label(pair[0] as usize),
        structure.atom_label(pair[1] as usize)
    );
    assert!(message.contains(&expected), "{message}");
}
