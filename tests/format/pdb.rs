//! Tests of PDB coordinates: columns, alternative locations, models, cells, and refusals.

use md::format::{Coordinates, LeftOut, TopologyOptions, read_coordinates, read_names};
use md::vec3::vec3;
use proptest::prelude::*;

use crate::damage::{Damage, apply, damage};
use crate::literal::file;

/// A PDB file with serial numbers beyond five columns, an insertion code, alternative locations, four-letter names, and
/// two models.
const PDB: &str = "\
HEADER    PEPTIDE
TITLE     two residues t= 12.50000 step= 6250
CRYST1   20.000   30.000   40.000  90.00  90.00  90.00 P 1           1
MODEL        1
ATOM  99999  N   ALA A   1       1.000   2.000   3.000  1.00  0.00           N
ATOM  186a0  CA AALA A   1       4.000   5.000   6.000  0.60  0.00           C
ATOM  A0000  CA BALA A   1       4.500   5.500   6.500  0.40  0.00           C
ANISOU    2  CA AALA A   1     1000   1000   1000      0      0      0       C
ATOM  ***** HH11 ALA A   1A     -7.000  -8.000  -9.999  1.00  0.00           H
TER
HETATM    4 CA    CA B   2    9999.9991000.001-999.999  1.00  0.00          CA
ENDMDL
MODEL        2
ATOM      1  N   ALA A   1      99.000  99.000  99.000  1.00  0.00           N
ENDMDL
END
";

#[track_caller]
fn read(text: &str) -> Coordinates {
    let (_folder, path) = file("x.pdb", text.as_bytes());
    read_coordinates(&path, None, None).unwrap()
}

#[test]
fn columns_count_and_serials_do_not() {
    let expected =
        [vec3(0.1, 0.2, 0.3), vec3(0.4, 0.5, 0.6), vec3(-0.7, -0.8, -0.9999), vec3(999.9999, 100.0001, -99.9999)];
    for text in [PDB.to_owned(), PDB.replace('\n', "\r\n")] {
        let found = read(&text);
        assert_eq!(
            (found.positions.len(), found.left_out),
            (expected.len(), LeftOut { models: 1, atoms: 1, ..LeftOut::default() })
        );
        assert!(found.positions.iter().zip(expected).all(|(a, b)| (*a - b).norm() < 1e-12), "{:?}", found.positions);
        let labels: Vec<(&str, u8)> = found.labels.iter().map(|label| (label.name.as_str(), label.element)).collect();
        assert_eq!(labels, [("N", 7), ("CA", 6), ("HH11", 1), ("CA", 20)]);
        assert_eq!((found.time, found.velocities.is_none()), (Some(12.5), true));
        let (lengths, angles) = found.cell.unwrap().lengths_angles();
        assert!(lengths.iter().zip([2.0, 3.0, 4.0]).all(|(a, b)| (a - b).abs() < 1e-12) && angles == [90.0; 3]);
    }
}

#[test]
fn a_dummy_cell_is_none() {
    let dummy = "CRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1           1";
    let lines = PDB.lines().map(|line| if line.starts_with("CRYST1") { dummy } else { line });
    assert!(read(&lines.collect::<Vec<_>>().join("\n")).cell.is_none());
    let without = PDB.lines().filter(|line| !line.starts_with("CRYST1"));
    assert!(read(&without.collect::<Vec<_>>().join("\n")).cell.is_none());
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    for (from, to, part) in [
        ("   5.000   6.000", "   5.0x0   6.000", "x.pdb:6: expected x, y and z of an atom"),
        ("   5.000   6.000  0.60  0.00           C", "   5.0", "x.pdb:6: expected x, y and z of an atom"),
        ("   3.000  1.00", "     nan  1.00", "x.pdb:5: expected x, y and z of an atom"),
        // a blank less before x, which would lose its sign, and a blank more before y, whose last digit x would take
        ("1A     -7.000", "1A  -107.000", "x.pdb:9: expected x, y and z of an atom"),
        ("   4.000   5.000", "   4.000    5.000", "x.pdb:6: expected x, y and z of an atom"),
        // a longer name, so that the columns of x contain the number of the residue
        ("CA AALA A   1 ", "CA AALANINE A   1 ", "x.pdb:6: expected x, y and z of an atom"),
        ("  90.00  90.00  90.00", "  10.00  90.00 170.00", "x.pdb:3: expected three edges"),
    ] {
        let text = PDB.replacen(from, to, 1);
        assert!(text != PDB);
        let (_folder, path) = file("x.pdb", text.as_bytes());
        let error = read_coordinates(&path, None, None).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let (_folder, path) = file("x.pdb", b"REMARK   nothing here\nREMARK   nor here\n");
    let error = read_coordinates(&path, None, None).unwrap_err().to_string();
    assert!(error.contains("holds no atoms"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_structures_never_panic(damages in damage()) {
        let damages: Vec<Damage> = damages;
        let (_folder, path) = file("damaged", &apply(PDB.as_bytes(), &damages));
        match read_coordinates(&path, None, None) {
            Ok(found) => assert_eq!(found.labels.len(), found.positions.len()),
            Err(error) => assert!(error.exit_code() == 2 && error.to_string().contains("damaged"), "{error}"),
        }
    }
}

/// Four columns hold residue numbers up to 9999; programs continue with 0 or 1. Other sequences of numbers are kept.
#[test]
fn residue_numbers_continue_beyond_four_columns() {
    let numbers = |residues: &[(&str, &str)]| {
        let lines = residues.iter().map(|(chain, number)| {
            format!("HETATM    1  O   HOH {chain}{number:<8}   1.000   2.000   3.000  1.00  0.00           O\n")
        });
        let text: String = lines.collect();
        read(&text).labels.iter().map(|label| label.number).collect::<Vec<i32>>()
    };
    for (residues, expected) in [
        (
            &[(" ", "9998"), (" ", "9999"), (" ", "   0"), (" ", "   0"), (" ", "   1")][..],
            &[9998, 9999, 10_000, 10_000, 10_001][..],
        ),
        (&[("A", "9999"), ("A", "   1"), ("A", "   2")], &[9999, 10_001, 10_002]),
        // the second period ends, too
        (&[(" ", "9999"), (" ", "   0"), (" ", "9999"), (" ", "   0")], &[9999, 10_000, 19_999, 20_000]),
        // another chain, or a number that begins anew, is kept
        (&[("A", "9999"), ("A", "   0"), ("B", "   1"), ("B", "   0")], &[9999, 10_000, 1, 0]),
        (&[("A", "9999"), ("B", "   0"), ("B", "   1")], &[9999, 0, 1]),
        (&[("A", " 500"), ("A", "   1"), ("A", "   0")], &[500, 1, 0]),
        (&[("A", "9999"), ("A", "   0"), ("A", "  50"), ("A", "   1")], &[9999, 10_000, 10_050, 1]),
        (&[("A", "9999"), ("A", "   2")], &[9999, 2]),
        // insertion codes, negative numbers and hybrid-36 numbers
        (&[("A", "  52"), ("A", "  52A"), ("A", "  53")], &[52, 52, 53]),
        (&[("A", "  -2"), ("A", "  -1"), ("A", "   0"), ("A", "   1")], &[-2, -1, 0, 1]),
        (&[("A", "9999"), ("A", "A000"), ("A", "A001")], &[9999, 10_000, 10_001]),
    ] {
        assert_eq!(numbers(residues), expected, "{residues:?}");
    }
}

/// Tests residues whose numbers are asterisks, as programs write them that have no columns for larger numbers.
#[test]
fn residues_without_readable_numbers_are_told_apart() {
    let atom = |(name, residue, number): (&str, &str, &str)| {
        format!("ATOM      1  {name:<3} {residue} A{number:>4}       1.000   2.000   3.000  1.00  0.00\n")
    };
    let atoms = [
        ("O", "HOH", "9999"),
        ("H1", "HOH", "9999"),
        // a residue ends where an atom repeats, at another residue name, and at the next number
        ("O", "HOH", "****"),
        ("H1", "HOH", "****"),
        ("O", "HOH", "****"),
        ("H1", "HOH", "****"),
        ("NA", " NA", "****"),
        ("NA", " NA", "****"),
        ("CL", " CL", "   7"),
    ];
    let found = read(&atoms.map(atom).concat());
    let numbers: Vec<i32> = found.labels.iter().map(|label| label.number).collect();
    assert_eq!(numbers, [9999, 9999, 10_000, 10_000, 10_001, 10_001, 10_002, 10_003, 7]);
    let (_folder, path) = file("x.pdb", atoms.map(atom).concat().as_bytes());
    let topology = read_names(&path, &TopologyOptions::default()).unwrap().topology;
    assert_eq!(topology.residues.len(), 6);
}
