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
    assert!(code == 0 && out.contains("1 frames of 118 atoms"), "{out}{errors}");
}
