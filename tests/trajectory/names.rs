//! Tests of atom names for trajectories, from files without a force field: a PSF file alone, and structures.

use std::path::Path;

use assert_cmd::Command;

/// A PSF file of two molecules, each of two united-atom carbons.
const PSF: &str = "\
PSF

       1 !NTITLE
 REMARKS two molecules

       4 !NATOM
       1 A    1    ETH  C1   CX     0.100000       15.0350           0
       2 A    1    ETH  C2   CX    -0.100000       15.0350           0
       3 A    2    ETH  C1   CX     0.100000       15.0350           0
       4 A    2    ETH  C2   CX    -0.100000       15.0350           0

       2 !NBOND: bonds
       1       2       3       4

       0 !NTHETA: angles

       0 !NPHI: dihedrals

       0 !NIMPHI: impropers

";

/// Coordinates for [`PSF`] in which the first molecule lies across the boundary of the cell.
const GRO: &str = "\
two molecules
    4
    1ETH     C1    1   1.950   1.000   1.000
    1ETH     C2    2   0.100   1.000   1.000
    2ETH     C1    3   0.500   1.000   1.000
    2ETH     C2    4   0.700   1.000   1.000
   2.00000   2.00000   2.00000
";

fn md(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::cargo_bin("md").unwrap();
    let output = command.current_dir(folder).env("NO_COLOR", "1").args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    (output.status.code(), text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.psf"), PSF).unwrap();
    std::fs::write(folder.path().join("a.gro"), GRO).unwrap();
    let (code, text) = md(folder.path(), &["convert", "a.gro", "a.dcd"]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = md(folder.path(), &["convert", "a.gro", "a.pdb", "--topology", "a.psf"]);
    assert_eq!(code, Some(0), "{text}");
    folder
}

/// Tests the bonds of a PSF file by the radius of gyration of one molecule, which is half of its length: 0.075 nm if
/// the molecule is made whole, 0.925 nm if it is broken across the cell.
#[test]
fn a_psf_file_needs_no_parameters_and_has_bonds() {
    let folder = folder();
    let rg = ["analyze", "rg", "a.dcd", "--topology", "a.psf", "--select", "resid 1"];
    let (code, text) = md(folder.path(), &rg);
    assert!(code == Some(0) && text.contains("0.075") && !text.contains("unknown"), "{text}");
    let (code, text) = md(folder.path(), &["convert", "a.dcd", "b.gro", "--topology", "a.psf", "--whole"]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = md(folder.path(), &["info", "a.psf"]);
    assert!(
        code == Some(0) && text.contains("4 atoms, 2 residues, 2 molecules") && text.contains("60.14 amu"),
        "{text}"
    );
    assert!(text.contains("none in this file"), "{text}");
}

/// Returns the records of the file `a.pdb` without those of bonds and of the end.
fn without_bonds(folder: &Path) -> String {
    let pdb = std::fs::read_to_string(folder.join("a.pdb")).unwrap();
    let is_kept = |line: &&str| !line.starts_with("END") && !line.starts_with("CONECT");
    pdb.lines().filter(is_kept).map(|line| format!("{line}\n")).collect()
}

#[test]
fn structures_give_names_and_say_that_bonds_are_not_known() {
    let folder = folder();
    std::fs::write(folder.path().join("bare.pdb"), without_bonds(folder.path())).unwrap();
    for structure in ["a.gro", "bare.pdb"] {
        let rg = ["analyze", "rg", "a.dcd", "--topology", structure, "--select", "resid 1", "--force"];
        let (code, text) = md(folder.path(), &rg);
        assert!(code == Some(0) && text.contains("0.925") && text.contains("bonds are unknown"), "{structure}: {text}");
        for option in [&["--whole"][..], &["--unwrap"], &["--center", "resid 1"]] {
            let arguments = [&["convert", "a.dcd", "b.gro", "--topology", structure], option].concat();
            let (code, text) = md(folder.path(), &arguments);
            assert!(code == Some(2) && text.contains("needs bonds, and this file contains none"), "{text}");
        }
    }
}

/// Tests an H5MD file that is written with the names of a structure, and has no bonds.
#[test]
fn h5md_files_without_bonds_say_so() {
    let folder = folder();
    let here = folder.path();
    for (topology, trajectory) in [("a.gro", "none.h5md"), ("a.psf", "all.h5md")] {
        let (code, text) = md(here, &["convert", "a.dcd", trajectory, "--topology", topology]);
        assert_eq!(code, Some(0), "{text}");
    }
    for option in [&["--whole"][..], &["--unwrap"], &["--center", "resid 1"], &["--align", "resid 1"]] {
        for given in [&["convert", "none.h5md", "c.trr"][..], &["convert", "a.dcd", "c.trr", "--topology", "none.h5md"]]
        {
            let (code, text) = md(here, &[given, option].concat());
            assert!(code == Some(2) && text.contains("needs bonds, and this file contains none"), "{given:?} {text}");
        }
        let (code, text) = md(here, &[&["convert", "all.h5md", "b.trr", "--force"], option].concat());
        assert_eq!(code, Some(0), "{text}");
    }
    for (trajectory, is_unknown) in [("none.h5md", true), ("all.h5md", false)] {
        let (code, text) = md(here, &["analyze", "rg", trajectory, "--select", "resid 1", "--force"]);
        assert!(code == Some(0) && text.contains("bonds are unknown") == is_unknown, "{trajectory}: {text}");
    }
}

/// Tests that CONECT records are used as bonds if they join all atoms of every residue.
#[test]
fn conect_records_are_bonds_where_none_is_missing() {
    let folder = folder();
    let atoms = without_bonds(folder.path());
    let rg = |name: &str, bonds: &str| {
        std::fs::write(folder.path().join(name), format!("{atoms}END\n{bonds}")).unwrap();
        md(folder.path(), &["analyze", "rg", "a.dcd", "--topology", name, "--select", "resid 1", "--force"])
    };
    // each bond has one record per direction, as programs write them, and one record names an atom that does not exist
    let all = "CONECT    1    2\nCONECT    2    1\nCONECT    3    4    9\n";
    let (code, text) = rg("all.pdb", all);
    assert!(code == Some(0) && text.contains("0.075") && !text.contains("unknown"), "{text}");
    // `md convert` writes the records
    let (code, text) =
        md(folder.path(), &["analyze", "rg", "a.dcd", "--topology", "a.pdb", "--select", "resid 1", "--force"]);
    assert!(code == Some(0) && text.contains("0.075") && !text.contains("unknown"), "{text}");
    let (code, text) = rg("some.pdb", "CONECT    1    2\n");
    assert!(code == Some(0) && text.contains("unknown"), "{text}");
    // CONECT records cannot be used if two atoms share a serial number
    let twice = atoms.replace("    3  C1 ", "    1  C1 ");
    assert_ne!(twice, atoms);
    std::fs::write(folder.path().join("twice.pdb"), format!("{twice}END\n{all}")).unwrap();
    let (code, text) =
        md(folder.path(), &["analyze", "rg", "a.dcd", "--topology", "twice.pdb", "--select", "resid 1", "--force"]);
    assert!(code == Some(0) && text.contains("unknown"), "{text}");
}

/// Returns coordinates for [`PSF`] in the g96 format, with the atoms in the given order.
fn g96(order: [usize; 4]) -> String {
    let rows = [(1, "C1"), (1, "C2"), (2, "C1"), (2, "C2")];
    let row = |(at, atom): (usize, usize)| {
        let ((residue, name), x) = (rows[atom], 0.5 + 0.2 * atom as f64);
        format!("{residue:>5} {:<5} {name:<5}{:>7}{x:15.9}{:15.9}{:15.9}\n", "ETH", at + 1, 1.0, 1.0)
    };
    let rows: String = order.into_iter().enumerate().map(row).collect();
    format!("TITLE\nModel of two molecules\nEND\nPOSITION\n{rows}END\nBOX\n{0:15.9}{0:15.9}{0:15.9}\nEND\n", 2.0)
}

/// Tests g96 files, which begin with the line `TITLE`, like some PDB files.
#[test]
fn g96_files_have_names_and_are_no_pdb_files() {
    let folder = folder();
    let here = folder.path();
    for (name, order) in [("a.g96", [0, 1, 2, 3]), ("swapped.g96", [1, 0, 2, 3])] {
        std::fs::write(here.join(name), g96(order)).unwrap();
    }
    let (code, text) = md(here, &["convert", "swapped.g96", "o.gro", "--topology", "a.psf"]);
    let expected = "swapped.g96: atom 1 is C2, but the topology has C1 of residue ETH 1";
    assert!(code == Some(2) && text.contains(expected), "{text}");
    for (arguments, expected) in [
        (vec!["convert", "a.g96", "o.gro", "--topology", "a.psf"], "o.gro: 1 frame of 4 atoms"),
        (vec!["info", "a.g96"], "GROMOS-96 coordinates (g96) title Model of two molecules atoms 4"),
        (vec!["select", "name C2", "a.g96", "--list"], "1 3"),
    ] {
        let (code, text) = md(here, &arguments);
        assert!(code == Some(0) && text.contains(expected), "{arguments:?}: {text}");
    }
    for command in ["verify", "repair"] {
        let (code, text) = md(here, &[command, "a.g96"]);
        assert!(code == Some(2) && text.contains("unknown format of a trajectory"), "{text}");
    }
    assert_eq!(std::fs::read_to_string(here.join("a.g96")).unwrap(), g96([0, 1, 2, 3]));
    let atom = "ATOM      1  C1  CHN A   1       1.000   2.000   3.000  1.00  0.00           C\n";
    for text in
        [format!("TITLE\n{atom}END\n"), format!("TITLE\nREMARK   1 x\n{atom}"), format!("TITLE     a\nb\n{atom}END")]
    {
        std::fs::write(here.join("b.pdb"), &text).unwrap();
        let (code, said) = md(here, &["info", "b.pdb"]);
        assert!(code == Some(0) && said.contains("PDB") && said.contains("atoms 1 "), "{text}: {said}");
    }
}

/// Tests a file of MDTraj, which has names but no force field. MDTraj reads 3 frames of 24 atoms with the name C.
#[test]
fn hdf5_files_of_mdtraj_need_no_other_names() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::copy(crate::golden::golden("mdtraj.h5"), here.join("a.h5")).unwrap();
    for (arguments, expected) in [
        (vec!["convert", "a.h5", "b.pdb"], "b.pdb: 3 frames of 24"),
        (vec!["convert", "a.h5", "b.trr"], "b.trr: 3 frames of 24"),
        (vec!["select", "name C", "a.h5"], "C of "),
        (vec!["select", "name C", "b.trr", "--topology", "a.h5"], "C of "),
        (vec!["analyze", "rg", "--select", "all", "a.h5"], "rg"),
    ] {
        let (code, text) = md(here, &arguments);
        assert!(code == Some(0) && text.contains(expected), "{arguments:?}: {text}");
    }
}
