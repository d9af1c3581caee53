//! Tests of PDBx/mmCIF entries, and of assemblies in both formats.

use md_engine::vec3::vec3;

use super::*;
use crate::entry::GapPlace;

/// An entry in which the authors' residue numbers and chain identifiers differ from the labels. The authors' chain H
/// has the units A (polymer), B (zinc) and C (water).
pub(super) const ENTRY: &str = "data_TEST
_struct.title 'A test of numbers'
_cell.length_a 50.0
_cell.length_b 60.0
_cell.length_c 70.0
_cell.angle_alpha 90
_cell.angle_beta 90
_cell.angle_gamma 90
loop_
_pdbx_poly_seq_scheme.asym_id
_pdbx_poly_seq_scheme.entity_id
_pdbx_poly_seq_scheme.seq_id
_pdbx_poly_seq_scheme.mon_id
_pdbx_poly_seq_scheme.pdb_seq_num
_pdbx_poly_seq_scheme.pdb_strand_id
A 1 1 MET 99 H
A 1 2 ALA 100 H
A 1 3 GLY 100 H
A 1 4 CYS 101 H
loop_
_pdbx_struct_assembly_gen.assembly_id
_pdbx_struct_assembly_gen.oper_expression
_pdbx_struct_assembly_gen.asym_id_list
1 1,2 A,B
2 1 A,B,C
loop_
_pdbx_struct_oper_list.id
_pdbx_struct_oper_list.matrix[1][1]
_pdbx_struct_oper_list.matrix[1][2]
_pdbx_struct_oper_list.matrix[1][3]
_pdbx_struct_oper_list.vector[1]
_pdbx_struct_oper_list.matrix[2][1]
_pdbx_struct_oper_list.matrix[2][2]
_pdbx_struct_oper_list.matrix[2][3]
_pdbx_struct_oper_list.vector[2]
_pdbx_struct_oper_list.matrix[3][1]
_pdbx_struct_oper_list.matrix[3][2]
_pdbx_struct_oper_list.matrix[3][3]
_pdbx_struct_oper_list.vector[3]
1 1 0 0 0 0 1 0 0 0 0 1 0
2 -1 0 0 10.0 0 -1 0 0 0 0 1 5.0
loop_
_struct_conn.id
_struct_conn.conn_type_id
_struct_conn.ptnr1_auth_asym_id
_struct_conn.ptnr1_auth_comp_id
_struct_conn.ptnr1_auth_seq_id
_struct_conn.ptnr1_label_atom_id
_struct_conn.ptnr1_symmetry
_struct_conn.ptnr2_auth_asym_id
_struct_conn.ptnr2_auth_comp_id
_struct_conn.ptnr2_auth_seq_id
_struct_conn.ptnr2_label_atom_id
_struct_conn.ptnr2_symmetry
metalc1 metalc H CYS 101 SG 1_555 H ZN 301 ZN 1_555
loop_
_atom_site.group_PDB
_atom_site.type_symbol
_atom_site.label_atom_id
_atom_site.label_alt_id
_atom_site.label_comp_id
_atom_site.label_asym_id
_atom_site.label_entity_id
_atom_site.label_seq_id
_atom_site.pdbx_PDB_ins_code
_atom_site.Cartn_x
_atom_site.Cartn_y
_atom_site.Cartn_z
_atom_site.occupancy
_atom_site.auth_seq_id
_atom_site.auth_asym_id
_atom_site.pdbx_PDB_model_num
ATOM N N . ALA A 1 2 ? 0.0 0 0 1.0 100 H 1
ATOM C CA A ALA A 1 2 ? 1.2 0.8 0 0.4 100 H 1
ATOM C CA B ALA A 1 2 ? 1.3 0.8 0 0.6 100 H 1
ATOM C C . ALA A 1 2 ? 2.47 0 0 1.0 100 H 1
ATOM N N . GLY A 1 3 A 3.8 0 0 1.0 100 H 1
ATOM C CA . GLY A 1 3 A 5.0 0.8 0 1.0 100 H 1
ATOM S SG . CYS A 1 4 ? 9.0 5.0 0 1.0 101 H 1
HETATM ZN ZN . ZN B 2 . ? 9.0 7.3 0 1.0 301 H 1
HETATM O O . HOH C 3 . ? 20.0 0 0 1.0 401 H 1
HETATM O O . HOH C 3 . ? 20.0 0 0 1.0 401 H 2
";

#[test]
fn numbers_and_chains_are_those_of_the_authors() {
    let entry = entry_of(ENTRY);
    assert_eq!((entry.title.as_str(), entry.models, entry.units.join(" ")), ("A test of numbers", 2, "A B C".into()));
    let (edges, _) = entry.cell.unwrap().lengths_angles();
    assert!(edges.iter().zip([5.0, 6.0, 7.0]).all(|(a, b)| (a - b).abs() < 1e-12), "{edges:?}");
    assert_eq!(entry.chains.len(), 1);
    let found = cleaned(ENTRY);
    let labels: Vec<String> = (0..5).map(|index| found.structure.residue_label(index)).collect();
    let expected = ["ALA 100", "GLY 100A", "CYS 101", "ZN 301", "HOH 401"].map(|label| format!("{label} of chain H"));
    assert_eq!(labels, expected);
    assert_eq!(found.left_out, 1);
    // GLY has no atom C and CYS has no atom N, so the chain is broken between them
    assert_eq!(found.gaps.len(), 2);
    assert_eq!(found.gaps[0].place, GapPlace::Start { before: 0 });
    assert_eq!(found.gaps[0].names, ["MET"]);
    assert_eq!((found.gaps[1].place, found.gaps[1].count), (GapPlace::Inner { after: 1, before: 2 }, None));
    let polymers: Vec<bool> = found.residues.iter().map(|residue| residue.is_polymer).collect();
    assert_eq!(polymers, [true, true, true, false, false]);
    assert!(found.bond_names().contains(&"0:C 1:N".to_owned()));
    assert_eq!(found.metal_sites.len(), 1);
    assert_eq!(found.structure.bonds.len(), 4);
}

#[test]
fn residues_without_positions_in_a_sequence_are_told_by_their_names() {
    let text =
        [" A 1 2 ", " A 1 3 ", " A 1 4 "].iter().fold(ENTRY.to_owned(), |text, old| text.replace(old, " A 1 . "));
    let found = cleaned(&text);
    let polymers: Vec<bool> = found.residues.iter().map(|residue| residue.is_polymer).collect();
    assert_eq!(polymers, [true, true, true, false, false]);
    assert!(found.bond_names().contains(&"0:C 1:N".to_owned()));
    assert_eq!(found.gaps.len(), 1);
}

#[test]
fn the_sequence_may_be_that_of_the_entity() {
    let text = ENTRY
        .replace("_pdbx_poly_seq_scheme.asym_id", "_entity_poly_seq.other")
        .replace("_pdbx_poly_seq_scheme.seq_id", "_entity_poly_seq.num")
        .replace("_pdbx_poly_seq_scheme", "_entity_poly_seq");
    let gaps = cleaned(&text).gaps;
    assert_eq!((gaps.len(), gaps[0].names.join(" ")), (2, "MET".into()));
}

#[test]
fn bonds_of_components_are_used() {
    let bond = "loop_\n_chem_comp_bond.comp_id\n_chem_comp_bond.atom_id_1\n_chem_comp_bond.atom_id_2\nLIG C1 \"O1'\"\n";
    let atoms = "loop_\n_atom_site.label_atom_id\n_atom_site.label_comp_id\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n\
                 _atom_site.Cartn_z\nC1 LIG 0 0 0\n\"O1'\" LIG 1.4 0 0\n";
    let found = cleaned(&format!("data_x\n{bond}{atoms}"));
    assert_eq!(found.bond_names(), ["0:C1 0:O1'"]);
    assert_eq!(found.unsupported, []);
}

fn assembly(text: &str, id: &str) -> Cleaned {
    cleaned_with(text, &Options { assembly: Some(id.into()), ..Options::default() })
}

#[test]
fn dimers_are_built_from_both_formats() {
    let remark = "REMARK 350 BIOMOLECULE: 1\nREMARK 350 APPLY THE FOLLOWING TO CHAINS: H\n\
        REMARK 350   BIOMT1   1  1.000000  0.000000  0.000000        0.00000\n\
        REMARK 350   BIOMT2   1  0.000000  1.000000  0.000000        0.00000\n\
        REMARK 350   BIOMT3   1  0.000000  0.000000  1.000000        0.00000\n\
        REMARK 350   BIOMT1   2 -1.000000  0.000000  0.000000       10.00000\n\
        REMARK 350   BIOMT2   2  0.000000 -1.000000  0.000000        0.00000\n\
        REMARK 350   BIOMT3   2  0.000000  0.000000  1.000000        5.00000\n";
    let pdb = format!("{remark}{}", amino_acid("ALA", 'H', 1, 0.0));
    for (text, residues) in [(pdb.as_str(), 1), (ENTRY, 4)] {
        let one = cleaned(text);
        let found = assembly(text, "1");
        assert_eq!(found.structure.chains, ["H", "H-2"]);
        assert_eq!(found.structure.residues.len(), 2 * residues);
        let atoms = found.positions.len() / 2;
        for index in 0..atoms {
            let position = one.positions[index];
            assert_eq!(found.positions[index], position);
            let image = vec3(1.0 - position.x, -position.y, position.z + 0.5);
            assert!((found.positions[atoms + index] - image).norm() < 1e-12, "{index}");
        }
        assert!(found.said(Subject::Assembly)[0].contains("the assembly 1 of 2 chains with 2 operators"));
    }
    // bonds and metal sites are found in each copy
    let (one, two) = (assembly(ENTRY, "2"), assembly(ENTRY, "1"));
    assert_eq!((one.structure.chains.len(), one.structure.residues.len()), (1, 5));
    assert_eq!((two.structure.bonds.len(), two.metal_sites.len()), (2 * one.structure.bonds.len(), 2));
    assert_eq!(two.gaps.len(), 4);
}

#[test]
fn assemblies_that_do_not_exist_or_are_too_large_are_refused() {
    let refused = |text: &str, id: &str| {
        let options = Options { assembly: Some(id.into()), ..Options::default() };
        parse(text.as_bytes(), None).and_then(|entry| clean(&entry, &options)).unwrap_err()
    };
    let problem = refused(ENTRY, "7");
    assert_eq!(problem.message, "the file has no assembly `7`");
    assert_eq!(problem.help.as_deref(), Some("the assemblies of the file are 1, 2"));
    assert!(refused(&ENTRY.replace("1 1,2 A,B", "1 (1-9999) A,B"), "1").message.contains("more than 500 operators"));
    assert!(refused(&ENTRY.replace("1 1,2 A,B", "1 1,9 A,B"), "1").message.contains("`9`"));
}

#[test]
fn models_are_chosen_by_number() {
    let second = parse(ENTRY.as_bytes(), Some(2)).unwrap();
    assert_eq!((second.model, second.chains[0].residues.len()), (2, 1));
    assert!(parse(ENTRY.as_bytes(), Some(3)).is_err());
}

#[test]
fn faults_name_their_line() {
    let last = ENTRY.lines().count();
    let problem = parse(ENTRY.replace("20.0 0 0 1.0 401 H 2", "20.0 0 0 1.0 4x1 H 1").as_bytes(), None).unwrap_err();
    assert_eq!((problem.line, problem.message.as_str()), (Some(last), "`4x1` is not a residue number"));
    let cut = ENTRY.trim_end().trim_end_matches(" H 2");
    assert_eq!(parse(cut.as_bytes(), None).unwrap_err().line, Some(last));
}

#[test]
fn a_faulty_assembly_matters_only_where_it_is_built() {
    let faulty = ENTRY.replace("\n2 1 A,B,C\n", "\n2 7 A,B,C\n");
    assert_ne!(faulty, ENTRY);
    let entry = parse(faulty.as_bytes(), None).expect("an entry");
    let build = |assembly: Option<&str>| {
        clean(&entry, &Options { assembly: assembly.map(str::to_owned), ..Options::default() })
    };
    assert!(build(None).is_ok() && build(Some("1")).is_ok());
    let message = build(Some("2")).expect_err("an unknown operator").to_string();
    assert!(message.contains("the operator `7` of an assembly is not in _pdbx_struct_oper_list"), "{message}");
}
