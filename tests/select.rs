//! Tests of `md select`, and of selections by distance in other commands.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::path::{Path, PathBuf};

use assert_cmd::Command;

fn system(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems").join(file)
}

/// Returns exit code, standard output and standard error, the latter without the line breaks of messages.
fn md(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("md").unwrap().args(arguments).current_dir(folder).env("NO_COLOR", "1").output();
    let output = output.unwrap();
    let [out, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    let words: Vec<&str> = errors.split_whitespace().filter(|word| *word != "│").collect();
    (output.status.code().unwrap(), out, words.join(" "))
}

/// Compares the number of selected atoms with MDAnalysis 2.11 on the same files, with the equivalent selection in
/// MDAnalysis' language.
#[test]
fn as_many_atoms_are_selected_as_by_mdanalysis() {
    let folder = tempfile::tempdir().unwrap();
    for (name, counts) in [("peptide-ff19sb", [16, 12, 79, 118, 889]), ("octahedron", [8, 4, 35, 46, 1226])] {
        let file = |ending: &str| system(&format!("{name}/{name}.{ending}.xz")).display().to_string();
        let (topology, coordinates) = (file("prmtop"), file("rst7"));
        let texts = [
            "backbone",
            "bonded to name CA",
            "around 3.5 A of protein",
            "byres within 0.3 nm of protein",
            // the distance is more than half of the cell width
            "around 14.5 A of index 5",
        ];
        for (text, count) in texts.into_iter().zip(counts) {
            let (code, out, errors) =
                md(folder.path(), &["select", text, &coordinates, "--topology", &topology, "--list"]);
            assert_eq!((code, out.lines().count()), (0, count), "{name} {text}: {errors}");
        }
    }
}

#[test]
fn the_output_has_three_forms() {
    let folder = tempfile::tempdir().unwrap();
    let topology = system("peptide-ff19sb/peptide-ff19sb.prmtop.xz").display().to_string();
    let select = |more: &[&str]| {
        let (code, out, errors) = md(folder.path(), &[&["select", "name CA or resid 2", &topology], more].concat());
        assert_eq!(code, 0, "{errors}");
        out
    };
    let table = select(&[]);
    assert!(table.starts_with("atoms        12 of 976, in 3 residues\n"), "{table}");
    assert!(table.contains("ALA                    1        10\n") && table.contains("\n8            CA of ALA 2\n"));
    assert!(table.contains("and 2 more atoms"), "{table}");
    assert_eq!(select(&["--list"]).lines().next(), Some("6"));
    let index = select(&["--index", "Some"]);
    assert!(index.starts_with("[ Some ]\n7 8 9 10 11 12 13 14 15 16 19 30\n"), "{index}");
}

#[test]
fn chains_are_those_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let pdb = system("charmm36-forcefield/start.pdb.xz").display().to_string();
    let (code, out, errors) = md(folder.path(), &["select", "chain 1 and name CA", &pdb, "--list"]);
    assert!(code == 0 && !out.is_empty(), "{errors}");
    let psf = system("lone-pairs/lone-pairs.psf").display().to_string();
    let (code, out, errors) = md(folder.path(), &["select", "segid * and resname HAL", &psf, "--list"]);
    assert!(code == 0 && out.lines().count() == 9, "{out}{errors}");
    let prmtop = system("ions/ions.prmtop.xz").display().to_string();
    for (text, file, expected) in [
        ("chain A", &prmtop, "states no chains"),
        ("chain A", &psf, "states no chains"),
        ("around 5 A of protein", &prmtop, "md select with a structure or trajectory"),
        ("charge < 0", &pdb, "all charges are zero or unknown"),
        ("molecule 0", &pdb, "states no bonds"),
        ("protien", &pdb, "did you mean \"protein\"?"),
    ] {
        let (code, out, errors) = md(folder.path(), &["select", text, file]);
        assert!(code == 2 && out.is_empty() && errors.contains(expected), "{text}: {out}{errors}");
    }
}

#[test]
fn conversions_select_by_the_first_frame() {
    let folder = tempfile::tempdir().unwrap();
    let file = |ending: &str| system(&format!("peptide-ff19sb/peptide-ff19sb.{ending}.xz")).display().to_string();
    let (topology, coordinates) = (file("prmtop"), file("rst7"));
    let text = "byres within 0.3 nm of protein";
    let (code, out, errors) =
        md(folder.path(), &["convert", &coordinates, "near.gro", "--topology", &topology, "--select", text]);
    assert!(code == 0 && out.contains("1 frame of 118 atoms"), "{out}{errors}");
}

/// Residue numbers of a file of many waters are those of the gro file after the file is converted to PDB.
#[test]
fn residues_beyond_the_columns_of_a_pdb_file_have_their_own_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let waters = 10_250;
    let mut gro = format!("waters\n{}\n", 3 * waters);
    for water in 0..waters {
        let [x, y, z] = [water % 30, water / 30 % 30, water / 900].map(|k| 0.32 * f64::from(k));
        for (k, name) in ["OW", "HW1", "HW2"].into_iter().enumerate() {
            let x = x + 0.1 * k as f64;
            gro +=
                &format!("{:5}{:<5}{name:>5}{:5}{x:8.3}{y:8.3}{z:8.3}\n", water + 1, "SOL", (3 * water + 1) % 100_000);
        }
    }
    std::fs::write(folder.path().join("waters.gro"), gro + "  10.00000  10.00000  10.00000\n").unwrap();
    let (code, _, errors) = md(folder.path(), &["convert", "waters.gro", "waters.pdb"]);
    assert_eq!(code, 0, "{errors}");
    let pdb = std::fs::read_to_string(folder.path().join("waters.pdb")).unwrap();
    // the waters 5 and 10005 have the same number in four columns
    assert_eq!(pdb.lines().filter(|line| line.contains("SOL     5 ")).count(), 6);
    for (text, atoms) in
        [("resid 5", 3), ("resid 10005", 3), ("resid 9998 to 10003", 18), ("resid > 10000", 750), ("resid 0", 0)]
    {
        let [gro, pdb] =
            ["waters.gro", "waters.pdb"].map(|file| md(folder.path(), &["select", text, file, "--list"]).1);
        assert!(gro == pdb && gro.lines().count() == atoms, "{text}: {} {}", gro.lines().count(), pdb.lines().count());
    }
}

/// Tests insertion codes. The expected atoms are those that MDAnalysis 2.11 selects in the same file.
#[test]
fn insertion_codes_are_parts_of_residue_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let residues = ["  60 ", "  60A", "  60B", "  61 ", "  -3 ", "   0 "];
    let row = |(index, residue): (usize, &str)| {
        let serial = index + 1;
        format!(
            "ATOM  {serial:>5}  CA  ALA A{residue}   {:8.3}   0.000   0.000  1.00  0.00           C\n",
            serial as f64
        )
    };
    std::fs::write(folder.path().join("a.pdb"), residues.into_iter().enumerate().map(row).collect::<String>()).unwrap();
    for (text, expected) in [
        ("resid 60", "0"),
        ("resid 60A", "1"),
        ("resid 60A-61", "1 2 3"),
        ("resid 60:60B", "0 1 2"),
        ("resid 60 to 61", "0 1 2 3"),
        ("resid 60A 61", "1 3"),
        ("resid -3-60", "0 4 5"),
        ("resid 60A-60B", "1 2"),
        ("resid 0-60A", "0 1 5"),
        // a comparison is one of numbers
        ("resid == 60", "0 1 2"),
    ] {
        let (code, out, errors) = md(folder.path(), &["select", text, "a.pdb", "--list"]);
        let found = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(code == 0 && found == expected, "{text}: {found} {errors}");
    }
    let (_, out, _) = md(folder.path(), &["select", "all", "a.pdb"]);
    assert!(out.contains("\n0            CA of ALA 60\n1            CA of ALA 60A\n"), "{out}");
    for (text, expected) in [
        ("resid 60B-60A", "the range 60B-60A ends before it begins"),
        ("index 1A", "\"1A\" is neither a number nor a range"),
    ] {
        let (code, _, errors) = md(folder.path(), &["select", text, "a.pdb"]);
        assert!(code == 2 && errors.contains(expected), "{text}: {errors}");
    }
}

#[test]
fn unknown_elements_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let prmtop = system("ions/ions.prmtop.xz").display().to_string();
    for (text, expected) in [
        ("element Na+ Cl", "\"element >>Na+<< Cl\": \"Na+\" is not the symbol of an element; did you mean \"Na\"?"),
        ("element NA", "did you mean \"Na\"?"),
        ("element CL-", "did you mean \"Cl\"?"),
        ("element D", "did you mean \"H\"?"),
        ("element Sodium", "\"Sodium\" is not the symbol of an element"),
    ] {
        let (code, _, errors) = md(folder.path(), &["select", text, &prmtop]);
        assert!(code == 2 && errors.contains(expected), "{text}: {errors}");
    }
    let (code, out, errors) = md(folder.path(), &["select", "element Cl O*", &prmtop, "--list"]);
    assert!(code == 0 && !out.is_empty(), "{errors}");
}
