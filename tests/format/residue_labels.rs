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

/// Two chains of two residues in chain A and chain B, a calcium ion, and waters with the label of chain A. The records
/// and the places of `TER` are those of the wwPDB.
const CHAINS: &str = "\
ATOM      1  N   GLY A   1       1.000   0.000   0.000  1.00  0.00           N
ATOM      2  CA  GLY A   1       2.000   0.000   0.000  1.00  0.00           C
ATOM      3  C   GLY A   1       3.000   0.000   0.000  1.00  0.00           C
ATOM      4  N   ALA A   2       4.000   0.000   0.000  1.00  0.00           N
ATOM      5  CA  ALA A   2       5.000   0.000   0.000  1.00  0.00           C
ATOM      6  C   ALA A   2       6.000   0.000   0.000  1.00  0.00           C
TER
ATOM      7  N   GLY B   1       7.000   0.000   0.000  1.00  0.00           N
ATOM      8  CA  GLY B   1       8.000   0.000   0.000  1.00  0.00           C
ATOM      9  C   GLY B   1       9.000   0.000   0.000  1.00  0.00           C
ATOM     10  N   ALA B   2      10.000   0.000   0.000  1.00  0.00           N
ATOM     11  CA  ALA B   2      11.000   0.000   0.000  1.00  0.00           C
ATOM     12  C   ALA B   2      12.000   0.000   0.000  1.00  0.00           C
TER
HETATM   13 CA    CA A 101      13.000   0.000   0.000  1.00  0.00          CA
HETATM   14  O   HOH A 102      14.000   0.000   0.000  1.00  0.00           O
HETATM   15  O   HOH A 103      15.000   0.000   0.000  1.00  0.00           O
END
";

/// Tests the records of structures without bonds. In a .gro file, only the residue numbers separate the two chains.
#[test]
fn polymers_end_with_ter_and_waters_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("entry.pdb");
    std::fs::write(&path, CHAINS).unwrap();
    let written = |path: &Path, name: &str| {
        let topology = read_names(path, &TopologyOptions::default()).unwrap().topology;
        let positions = read_coordinates(path, None, None).unwrap().positions;
        let mut out = vec![];
        match name {
            "x.pdb" => write_pdb(&topology, &positions, None, "", &mut out),
            "x.gro" => write_gro(&topology, 0..positions.len(), &positions, &[], None, "", &mut out),
            _ => write_mmcif(&topology, 0..positions.len(), &positions, None, "", &mut out),
        }
        .unwrap();
        std::fs::write(folder.path().join(name), &out).unwrap();
        String::from_utf8(out).unwrap()
    };
    assert_eq!(written(&path, "x.pdb").split_once('\n').unwrap().1, CHAINS);
    written(&path, "x.gro");
    let of_gro = written(&folder.path().join("x.gro"), "x.pdb");
    let records = |text: &str| text.lines().map(|line| line.get(..6).unwrap_or(line).to_owned()).collect::<Vec<_>>();
    assert_eq!(records(&of_gro)[1..], records(CHAINS));
    // position of the residue in its chain (label_seq_id)
    let cif = written(&path, "x.cif");
    let atoms = cif.lines().filter(|line| line.starts_with("ATOM") || line.starts_with("HETATM"));
    let kinds = atoms.map(|line| [0, 8].map(|column| line.split(' ').nth(column).unwrap())).collect::<Vec<_>>();
    let chain = [["ATOM", "1"], ["ATOM", "1"], ["ATOM", "1"], ["ATOM", "2"], ["ATOM", "2"], ["ATOM", "2"]];
    assert_eq!(kinds, [&chain[..], &chain, &[["HETATM", "."]; 3]].concat());
}
