//! Tests that chains, residue numbers and insertion codes of PDB and PDBx/mmCIF files are kept when a structure is
//! written.

use std::path::Path;

use md::format::{TopologyOptions, read_coordinates, read_names, read_topology, write_gro, write_mmcif, write_pdb};
use md::system::Topology;

use crate::literal::PRMTOP;

/// PDB records of chain A with insertion codes, and of chain B, whose residue has the same number as residues of chain
/// A.
const ENTRY: &str = "\
ATOM      1  CA  SER A 163       1.000   0.000   0.000  1.00  0.00           C
ATOM      2  CA  VAL A 163A      2.000   0.000   0.000  1.00  0.00           C
ATOM      3  CA  SER A 163B      3.000   0.000   0.000  1.00  0.00           C
ATOM      4  CA  GLY B 163       4.000   0.000   0.000  1.00  0.00           C
HETATM    5  O   HOH A 301       9.000   0.000   0.000  1.00  0.00           O
END
";

/// Chain, number, insertion code and name of a residue.
type Label = (String, i32, Option<char>, String);

/// Returns the labels of all residues.
fn labels(topology: &Topology) -> Vec<Label> {
    let labels = topology.chain_labels.iter().zip(&topology.residues);
    labels
        .map(|(label, residue)| {
            (label.chain.as_str().to_owned(), residue.number, label.insertion_code, residue.name.as_str().to_owned())
        })
        .collect()
}

/// Writes the structure of a file as PDB and as PDBx/mmCIF, reads both files again, and returns the labels.
fn written_again(path: &Path) -> [Vec<Label>; 2] {
    let topology = read_names(path, &TopologyOptions::default()).unwrap().topology;
    let positions = read_coordinates(path, None, None).unwrap().positions;
    ["x.pdb", "x.cif"].map(|name| {
        let mut out = vec![];
        match name {
            "x.pdb" => write_pdb(&topology, &positions, None, "", &mut out),
            _ => write_mmcif(&topology, 0..positions.len(), &positions, None, "", &mut out),
        }
        .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join(name);
        std::fs::write(&copy, out).unwrap();
        labels(&read_names(&copy, &TopologyOptions::default()).unwrap().topology)
    })
}

#[test]
fn insertion_codes_and_chains_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("entry.pdb");
    std::fs::write(&path, ENTRY).unwrap();
    let expected = [
        ("A", 163, None, "SER"),
        ("A", 163, Some('A'), "VAL"),
        ("A", 163, Some('B'), "SER"),
        ("B", 163, None, "GLY"),
        ("A", 301, None, "HOH"),
    ];
    let expected: Vec<_> =
        expected.map(|(chain, number, code, name)| (chain.to_owned(), number, code, name.to_owned())).into();
    for found in written_again(&path) {
        assert_eq!(found, expected);
    }
}

#[test]
fn negative_residue_numbers_keep_their_sign() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("entry.pdb");
    std::fs::write(&path, ENTRY.replace("SER A 163 ", "SER A  -3 ")).unwrap();
    for found in written_again(&path) {
        assert_eq!(found[0], ("A".to_owned(), -3, None, "SER".to_owned()));
    }
    let topology = read_names(&path, &TopologyOptions::default()).unwrap().topology;
    let positions = read_coordinates(&path, None, None).unwrap().positions;
    let mut out = vec![];
    write_gro(&topology, 0..positions.len(), &positions, &[], None, "", &mut out).unwrap();
    assert!(String::from_utf8(out).unwrap().contains("\n   -3SER "));
}

#[test]
fn residues_that_a_file_does_not_distinguish_are_numbered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("entry.pdb");
    // both residues of chain B become waters with the same number, as in files with many waters
    std::fs::write(&path, ENTRY.replace("HOH A 301", "HOH B 163").replace("GLY B", "HOH B")).unwrap();
    let [_, cif] = written_again(&path);
    let mut distinct = cif.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), cif.len());
}

#[test]
fn residues_of_a_prmtop_have_the_labels_of_the_file() {
    let sections = "%FLAG RESIDUE_NUMBER\n%FORMAT(20I4)\n   7  -8\n%FLAG RESIDUE_CHAINID\n%FORMAT(20a4)\nA   \n\
                    %FLAG RESIDUE_ICODE\n%FORMAT(20a4)\n    C\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.prmtop");
    std::fs::write(&path, format!("{PRMTOP}{sections}")).unwrap();
    let found = read_topology(&path).unwrap().topology;
    let numbers: Vec<i32> = found.residues.iter().map(|residue| residue.number).collect();
    let labels = found.chain_labels.iter().map(|label| (label.chain.as_str(), label.insertion_code));
    assert_eq!((numbers, labels.collect::<Vec<_>>()), (vec![7, -8], vec![("A", None), ("", Some('C'))]));
}
