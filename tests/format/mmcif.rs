//! Tests of PDBx/mmCIF coordinates: columns in any order, quoted values, alternative locations, models, cells, and
//! refusals.

use std::process::Command;

use md::cell::PeriodicCell;
use md::format::{Coordinates, LeftOut, check_order, read_coordinates, read_topology, write_mmcif};
use md::system::Topology;
use md::vec3::{Vec3, vec3};
use proptest::prelude::*;

use crate::damage::{Damage, apply, damage};
use crate::literal::{PRMTOP, file};
use crate::probe::python_has;

/// A PDBx/mmCIF file with columns in an unusual order, alternative locations, an insertion code, a quoted name and two
/// models, after a loop and a text field.
const CIF: &str = "\
data_TEST
#
_entry.id TEST
_struct.title
;two residues
t= 12.50000 step= 6250
;
loop_
_citation.id
_citation.title
primary 'what''s in _atom_site.Cartn_x 1.0'
2
;loop_
_atom_site.id
;
_cell.length_a   20.000
_cell.length_b   30.000(3)
_cell.length_c   40.000
_cell.angle_alpha 90.00
_cell.angle_beta 90.00
_cell.angle_gamma 90.00
_cell.Z_PDB ?
loop_
_atom_site.Cartn_z
_atom_site.id
_atom_site.label_atom_id
_atom_site.type_symbol
_atom_site.label_alt_id
_atom_site.auth_asym_id
_atom_site.auth_seq_id
_atom_site.pdbx_PDB_ins_code
_atom_site.Cartn_y
_atom_site.Cartn_x
_atom_site.pdbx_PDB_model_num
_atom_site.auth_atom_id
3.0 100001 N N . A 1 ? 2.0 1.0 7 N # a comment
6.0 186a0 CA C A A 1 ? 5.0 4.0(2)
  7 CA
6.5 ? CA C B A 1 ? 5.5 4.5 7 CA
-9.999 . H H . A 1 A -8.0 -7.0 7 \"HO5'\"
-999.999 1 CA CA . B 2 ? 1000.001 9999.999 7 CA
99.0 1 N N . A 1 ? 99.0 99.0 8 N
#
data_other
_cell.length_a 1.0
";

#[track_caller]
fn read(text: &str) -> Coordinates {
    let (_folder, path) = file("x.cif", text.as_bytes());
    read_coordinates(&path, None, None).unwrap()
}

#[test]
fn columns_are_found_by_their_names() {
    let expected =
        [vec3(0.1, 0.2, 0.3), vec3(0.4, 0.5, 0.6), vec3(-0.7, -0.8, -0.9999), vec3(999.9999, 100.0001, -99.9999)];
    for text in [CIF.to_owned(), CIF.replace('\n', "\r\n"), CIF.replace("_atom_site", "_ATOM_SITE")] {
        let found = read(&text);
        assert_eq!(
            (found.positions.len(), found.left_out),
            (expected.len(), LeftOut { models: 1, atoms: 1, ..LeftOut::default() })
        );
        assert!(found.positions.iter().zip(expected).all(|(a, b)| (*a - b).norm() < 1e-12), "{:?}", found.positions);
        let labels: Vec<(&str, u8)> = found.labels.iter().map(|label| (label.name.as_str(), label.element)).collect();
        assert_eq!(labels, [("N", 7), ("CA", 6), ("HO5'", 1), ("CA", 20)]);
        assert_eq!((found.time, found.velocities.is_none()), (Some(12.5), true));
        assert_eq!(found.title, "two residues t= 12.50000 step= 6250");
        let (lengths, angles) = found.cell.unwrap().lengths_angles();
        assert!(lengths.iter().zip([2.0, 3.0, 4.0]).all(|(a, b)| (a - b).abs() < 1e-12) && angles == [90.0; 3]);
    }
}

/// Returns [`CIF`] with the given lines for the cell.
fn with_cell(lines: &str) -> String {
    let kept: String = CIF.lines().filter(|line| !line.starts_with("_cell.")).map(|line| format!("{line}\n")).collect();
    kept.replacen("loop_\n_citation.id", &format!("{lines}\nloop_\n_citation.id"), 1)
}

#[test]
fn a_cell_may_be_missing_unknown_a_dummy_or_a_loop() {
    let cell = |lengths: [&str; 3], angle: &str| {
        let of = |kind: &str, names: [&str; 3], values: [&str; 3]| -> String {
            names.iter().zip(values).map(|(name, value)| format!("_cell.{kind}_{name} {value}\n")).collect()
        };
        of("angle", ["gamma", "alpha", "beta"], [angle; 3]) + &of("length", ["a", "b", "c"], lengths)
    };
    for lines in [
        String::new(),
        cell(["?"; 3], "?"),
        cell(["."; 3], "?"),
        cell(["1.0", "1.000", "1"], "90"),
        cell(["0.0"; 3], "0"),
    ] {
        assert!(read(&with_cell(&lines)).cell.is_none(), "{lines}");
    }
    let items: Vec<&str> =
        "_cell.angle_alpha _cell.length_b _cell.length_c _cell.angle_gamma _cell.length_a _cell.angle_beta"
            .split(' ')
            .collect();
    let found = read(&with_cell(&format!("loop_\n{}\n80 30 40 100 20 90\n", items.join("\n")))).cell.unwrap();
    let (lengths, angles) = found.lengths_angles();
    let differ = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).any(|(a, b)| (a - b).abs() > 1e-12);
    assert!(!differ(lengths, [2.0, 3.0, 4.0]) && !differ(angles, [80.0, 90.0, 100.0]), "{lengths:?} {angles:?}");
}

/// Tests that a category of one row may be written as pairs of tag and value.
#[test]
fn one_atom_may_be_written_as_pairs() {
    let text = "data_x\n_atom_site.Cartn_y 2\n_atom_site.type_symbol Na\n_atom_site.label_atom_id 'NA A'\n\
                _atom_site.Cartn_z 3\n_atom_site.Cartn_x 1\n";
    let found = read(text);
    assert!(found.positions.len() == 1 && (found.positions[0] - vec3(0.1, 0.2, 0.3)).norm() < 1e-12);
    assert_eq!((found.labels[0].name.as_str(), found.labels[0].element), ("NA A", 11));
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let row = "6.0 186a0 CA C A A 1 ? 5.0 4.0(2)";
    for (from, to, part) in [
        (
            row,
            "6.0 186a0 CA C A A 1 ? 5.x 4.0(2)",
            "x.cif:37: expected the number _atom_site.Cartn_y of atom 2, found `5.x`",
        ),
        (row, "6.0 186a0 CA C A A 1 ? 5.0 ?", "x.cif:37: expected the number _atom_site.Cartn_x of atom 2, found `?`"),
        (
            row,
            "6.0 186a0 CA C A A 1 ? nan 4",
            "x.cif:37: expected the number _atom_site.Cartn_y of atom 2, found `nan`",
        ),
        (row, "6.0 186a0 CA C A A 1 ? 1e99 4", "x.cif:37: atom 2: [4.0, 1e99, 6.0] exceeds the limit"),
        ("  7 CA\n", "  7\n", "x.cif:42: the last row of this loop has 11 of 12 values"),
        ("_atom_site.Cartn_x\n", "_atom_site.fract_x\n", "x.cif:36: the atoms have no _atom_site.Cartn_x"),
        ("_cell.angle_beta 90.00", "_cell.angle_beta 190.0", "x.cif:16: edges 20, 30, 40 and angles 90, 190, 90"),
        ("_cell.length_b   30.000(3)", "", "x.cif: the cell lacks _cell.length_b"),
        (
            "_cell.length_b   30.000(3)",
            "_cell.length_b wide",
            "x.cif:17: expected the number _cell.length_b, found `wide`",
        ),
        ("_cell.length_b   30.000(3)", "_cell.length_b", "x.cif:17: `_cell.length_b` has no value"),
        ("_entry.id TEST", "_entry.id TEST 2", "x.cif:3: expected a tag or `loop_`, found `2`"),
        ("_entry.id TEST", "_entry.id TEST save_x", "x.cif:3: `save_x` is not allowed"),
        ("primary 'what", "stop_ 'what", "x.cif:11: `stop_` is not allowed"),
        ("7 \"HO5'\"", "7 \"HO5'", "x.cif:40: a text in quotes begins here and does not end"),
        (";\n_cell.length_a", "_cell.length_a", "x.cif:13: a text between lines begins here and does not end"),
    ] {
        let text = CIF.replacen(from, to, 1);
        assert!(text != CIF, "{from}");
        let (_folder, path) = file("x.cif", text.as_bytes());
        let error = read_coordinates(&path, None, None).unwrap_err().to_string();
        assert!(error.contains(part), "expected {part} in {error}");
    }
    let second = format!("{}loop_\n_atom_site.id\n1\n", CIF.split("data_other").next().unwrap());
    for (text, part) in [
        (second.as_str(), "x.cif:46: a second loop of _atom_site"),
        ("data_x\n_atom_site_fract_x 0.5\n", "holds no atoms"),
        ("data_x\nloop_\n1 2\n", "x.cif:3: a loop without tags"),
    ] {
        let (_folder, path) = file("x.cif", text.as_bytes());
        let error = read_coordinates(&path, None, None).unwrap_err().to_string();
        assert!(error.contains(part), "expected {part} in {error}");
    }
}

/// Returns a system of seven atoms in two molecules, with names that must be quoted.
fn sample() -> (Topology, Vec<Vec3>, PeriodicCell) {
    let (_folder, path) = file("x.prmtop", PRMTOP.replace("C1  C2  ", "_1  O5' ").as_bytes());
    let topology = read_topology(&path).unwrap().topology;
    let positions = (0..7).map(|i| vec3(0.1, -1.0, 100.0) * (f64::from(i) + 0.123_456)).collect();
    (topology, positions, PeriodicCell::from_lengths_angles([3.0, 3.1, 3.2], [70.0, 80.0, 100.0]).unwrap())
}

fn written(topology: &Topology, positions: &[Vec3], cell: Option<&PeriodicCell>) -> String {
    let mut out = vec![];
    write_mmcif(topology, 0..positions.len(), positions, cell, "it's a test t= 2.5", &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn what_is_written_is_read_again() {
    let (topology, positions, cell) = sample();
    let found = read(&written(&topology, &positions, Some(&cell)));
    check_order(&topology, &found.labels).unwrap();
    assert_eq!((found.title.as_str(), found.time), ("it's a test t= 2.5", Some(2.5)));
    // the tolerance is half a unit of the last digit, 0.00001 Å
    assert!(found.positions.iter().zip(&positions).all(|(a, b)| (*a - *b).norm() < 1e-6));
    let rows = |cell: PeriodicCell| cell.rows();
    assert!(rows(found.cell.unwrap()).iter().zip(rows(cell)).all(|(a, b)| (*a - b).norm() < 2e-6));
    assert!(read(&written(&topology, &positions, None)).cell.is_none());
    let swapped: Vec<_> = [1, 0, 2, 3, 4, 5, 6].map(|i| found.labels[i]).into();
    assert!(check_order(&topology, &swapped).is_err());
}

const CHECK: &str = r#"
import sys, gemmi, MDAnalysis, numpy as np
path = sys.argv[1]
expected = 10 * np.loadtxt(sys.argv[2])
structure = gemmi.read_structure(path)
atoms = [(c.name, r.name, r.seqid.num, a.name, a.element.atomic_number, a.pos.tolist()) for c in structure[0] for r in c for a in r]
assert [a[:5] for a in atoms] == [
    ("A", "BUT", 1, "_1", 6), ("A", "BUT", 1, "O5'", 6), ("A", "BUT", 1, "C3", 6), ("A", "BUT", 1, "C4", 6),
    ("A", "WAT", 2, "O", 8), ("A", "WAT", 2, "H1", 1), ("A", "WAT", 2, "H2", 1)], atoms
np.testing.assert_allclose([a[5] for a in atoms], expected, rtol=0, atol=0.6e-5)
np.testing.assert_allclose(structure.cell.parameters, [30, 31, 32, 70, 80, 100], rtol=1e-7)
universe = MDAnalysis.Universe(path, format="MMCIF", topology_format="MMCIF")
assert list(universe.atoms.names) == [a[3] for a in atoms]
assert list(universe.residues.resnames) == ["BUT", "WAT"]
np.testing.assert_allclose(universe.atoms.positions, expected, rtol=1e-7, atol=0.6e-5)
np.testing.assert_allclose(universe.dimensions, [30, 31, 32, 70, 80, 100], rtol=1e-6)
try:
    from openmm import app, unit
except ImportError:
    print("no OpenMM")
else:
    file = app.PDBxFile(path)
    assert [atom.name for atom in file.topology.atoms()] == [a[3] for a in atoms]
    assert [residue.name for residue in file.topology.residues()] == ["BUT", "HOH"]
    found = file.getPositions(asNumpy=True).value_in_unit(unit.angstrom)
    np.testing.assert_allclose(found, expected, rtol=0, atol=0.6e-5)
    assert file.topology.getPeriodicBoxVectors() is not None
    print("OpenMM agrees")
print("same")
"#;

#[test]
fn other_programs_read_the_same() {
    if !python_has("gemmi, MDAnalysis") {
        return;
    }
    let (topology, positions, cell) = sample();
    let folder = tempfile::tempdir().unwrap();
    let [cif, numbers] = ["x.cif", "x.txt"].map(|name| folder.path().join(name));
    std::fs::write(&cif, written(&topology, &positions, Some(&cell))).unwrap();
    let lines = positions.iter().map(|r| format!("{} {} {}\n", r.x, r.y, r.z));
    std::fs::write(&numbers, lines.collect::<String>()).unwrap();
    let output = Command::new("python3").args(["-c", CHECK]).args([&cif, &numbers]).output().unwrap();
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{text}");
    assert!(output.status.success() && text.ends_with("same\n"), "{text}{errors}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_structures_never_panic(damages in damage()) {
        let damages: Vec<Damage> = damages;
        let (_folder, path) = file("damaged", &apply(CIF.as_bytes(), &damages));
        match read_coordinates(&path, None, None) {
            Ok(found) => assert!(found.labels.is_empty() || found.labels.len() == found.positions.len()),
            Err(error) => assert!(error.exit_code() == 2 && error.to_string().contains("damaged"), "{error}"),
        }
    }
}

/// Tests that an unknown value of the authors is replaced by the value of the label, for each atom on its own.
#[test]
fn labels_replace_unknown_values_of_the_authors() {
    let tags = ["atom_id", "comp_id", "asym_id", "seq_id"];
    let tags = ["auth", "label"].map(|kind| tags.map(|tag| format!("_atom_site.{kind}_{tag}\n")).concat()).concat();
    let rows = "1 2 3 N ALA A 7 N1 ALX B 1\n1 2 4 ? . ? . CA GLY C 8\n1 2 5 C . A 9 C1 SER . .\n";
    let text = format!("data_x\nloop_\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n_atom_site.Cartn_z\n{tags}{rows}");
    let found = read(&text);
    let labels = found.labels.iter().map(|l| (l.name.as_str(), l.residue.as_str(), l.chain.chain.as_str(), l.number));
    let expected = [("N", "ALA", "A", 7), ("CA", "GLY", "C", 8), ("C", "SER", "A", 9)];
    assert_eq!(labels.collect::<Vec<_>>(), expected);
}
