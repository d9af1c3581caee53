//! Tests of analyses of crystal structures: the unit cell of a crystal is not treated as the periodic cell of a
//! simulation.

use std::path::Path;

use crate::program::md;

/// GROMACS topology of two molecules, each of three atoms in a row.
const TOPOLOGY: &str = "\
[ defaults ]
1 2 no
[ atomtypes ]
C 6 12 0 A 0.3 0.1
[ moleculetype ]
M 3
[ atoms ]
1 C 1 ALA CA 1 0 12
2 C 2 ALA CA 2 0 12
3 C 3 ALA CA 3 0 12
[ bonds ]
1 2 1 0.4 1000
2 3 1 0.4 1000
[ system ]
x
[ molecules ]
M 2
";

/// Writes a structure file with six atoms on a line, 0.4 nm apart. In a cell of 2.4 nm the last atom is also 0.4 nm
/// from the first.
fn structure(folder: &Path, name: &str, record: &str) {
    let atom = |index: usize| {
        let (chain, number, x) = (["A", "B"][index / 3], index % 3 + 1, 1 + 4 * index);
        format!(
            "ATOM  {:>5}  CA  ALA {chain}{number:>4}    {x:>4}.000  10.000  10.000  1.00  0.00           C\n",
            index + 1
        )
    };
    let atoms: String = (0..6).map(atom).collect();
    std::fs::write(folder.join(name), format!("{record}{atoms}END\n")).unwrap();
}

fn cell(edge: &str, group: &str) -> String {
    format!("CRYST1   {edge}   50.000   50.000  90.00  90.00  90.00 {group}\n")
}

/// Tests that the selection chooses the atoms of a reference that has other atoms than the trajectory: seven atoms, of
/// which three are those of the second molecule, with one atom at another place.
#[test]
fn a_reference_may_have_other_atoms() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::write(here.join("mol.top"), TOPOLOGY).unwrap();
    structure(here, "run.pdb", &cell("50.000", "P 1           1"));
    let text = std::fs::read_to_string(here.join("run.pdb")).unwrap();
    let moved = text.replacen("  13.000", "  14.000", 1);
    std::fs::write(here.join("whole.pdb"), &moved).unwrap();
    let water = "HETATM    7  O   HOH W   9      30.000  30.000  30.000  1.00  0.00           O";
    let own: Vec<&str> = moved.lines().filter(|line| line.contains("ALA B")).collect();
    let part = [&[water; 3][..], &own, &[water, "END\n"]].concat().join("\n");
    std::fs::write(here.join("part.pdb"), part).unwrap();
    let rmsd = |reference: &str, select: &str| {
        let all = ["analyze", "rmsd", "--select", select, "--reference", reference, "--topology", "mol.top"];
        md(here, &[&all[..], &["--force", "--json", "run.pdb"]].concat())
    };
    let whole = rmsd("whole.pdb", "index 3 to 5").unwrap();
    assert!(whole.contains("\"value\":0.047"), "{whole}");
    assert_eq!(rmsd("part.pdb", "index 3 to 5").unwrap(), whole.replace("whole.pdb", "part.pdb"));
    let (code, message) = rmsd("part.pdb", "protein").unwrap_err();
    assert_eq!(code, 2);
    assert!(message.contains("\"protein\" selects 3 atoms of this structure, but 6 of the trajectory"), "{message}");
    let (_, message) = rmsd("part.pdb", "index 2 to 5").unwrap_err();
    assert!(message.contains("of this structure belongs to CA of ALA 3 of the trajectory"), "{message}");
}

/// Tests that native contacts in a crystal structure ignore periodic images: six atoms on a line have five contacts,
/// and a sixth contact only with the neighbouring cell.
#[test]
fn native_contacts_of_a_crystal_are_those_of_its_atoms() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::write(here.join("mol.top"), TOPOLOGY).unwrap();
    for (name, record) in [
        ("crystal.pdb", cell("24.000", "P 21 21 21    4")),
        ("lattice.pdb", cell("24.000", "P 1           1")),
        ("none.pdb", String::new()),
        ("run.pdb", cell("50.000", "P 1           1")),
    ] {
        structure(here, name, &record);
    }
    let contacts = |arguments: &[&str]| {
        let all = ["analyze", "contacts", "--select", "all", "--separation", "0", "--topology", "mol.top", "--force"];
        md(here, &[&all[..], arguments].concat()).unwrap()
    };
    for reference in ["crystal.pdb", "lattice.pdb", "none.pdb", "first"] {
        let text = contacts(&["--reference", reference, "run.pdb"]);
        assert!(text.contains("native       5 contacts") && text.contains("fraction     mean 1.0000"), "{text}");
    }
    // in a trajectory, atoms are in contact with the next cell if the cell is periodic, but not if the cell is the unit
    // cell of a crystal
    assert!(contacts(&["lattice.pdb"]).contains("native       6 contacts"));
    assert!(contacts(&["none.pdb"]).contains("native       5 contacts"));
    assert!(contacts(&["crystal.pdb"]).contains("native       5 contacts"));
    // a molecule that is broken across the cell of the reference structure is made whole
    structure(here, "broken.pdb", &cell("30.000", "P 1           1"));
    let text = std::fs::read_to_string(here.join("broken.pdb")).unwrap();
    std::fs::write(here.join("broken.pdb"), text.replace("   1.000  10.000", "  31.000  10.000")).unwrap();
    let text = contacts(&["--reference", "broken.pdb", "run.pdb"]);
    assert!(text.contains("native       5 contacts") && text.contains("fraction     mean 1.0000"), "{text}");
}

#[test]
fn the_cell_of_a_crystal_is_told_where_it_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    structure(here, "crystal.pdb", &cell("24.000", "P 21 21 21    4"));
    structure(here, "box.pdb", &cell("24.000", "P 1           1"));
    std::fs::write(here.join("mol.top"), TOPOLOGY).unwrap();
    let told = |arguments: &[&str]| {
        use assert_cmd::cargo::CommandCargoExt;
        let output =
            std::process::Command::cargo_bin("md").unwrap().current_dir(here).args(arguments).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{text}");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let rg =
        |name: &str| told(&["analyze", "rg", "--select", "all", "--json", "--force", name, "--topology", "mol.top"]);
    assert!(rg("crystal.pdb").contains("warning the cell in crystal.pdb is that of a crystal"));
    assert_eq!(rg("box.pdb"), "");
    let json = ["analyze", "rg", "--select", "all", "--json", "--force", "crystal.pdb", "--topology", "mol.top"];
    let json: serde_json::Value = serde_json::from_str(&md(here, &json).unwrap()).unwrap();
    assert!(json["warnings"][0].as_str().unwrap().contains("is that of a crystal"), "{json}");
    let unbonded = told(&["analyze", "rg", "--select", "all", "--json", "--force", "box.pdb", "--topology", "box.pdb"]);
    assert!(unbonded.contains("warning bonds are unknown: broken molecules stay broken"), "{unbonded}");
    // a conversion keeps the unit cell
    assert!(
        told(&["convert", "crystal.pdb", "out.gro", "--topology", "mol.top"])
            .contains("warning the cell is that of a crystal")
    );
    assert!(std::fs::read_to_string(here.join("out.gro")).unwrap().contains("2.4"));
    // a selection by distance ignores atoms in the next unit cell
    let select = |name: &str| md(here, &["select", "within 0.45 nm of index 0", name, "--list"]).unwrap();
    assert_eq!(select("crystal.pdb").split_whitespace().collect::<Vec<_>>(), ["0", "1"]);
    assert_eq!(select("box.pdb").split_whitespace().collect::<Vec<_>>(), ["0", "1", "5"]);
}
