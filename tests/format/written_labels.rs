//! Tests of names and numbers in topologies written by `md`: they are kept where the format has them, and changes are
//! reported.

use md::convert::write_topology;
use md::format::read_topology;
use md::system::{BoxKind, ChainLabel, Description, Name, Topology};

use crate::writers::{again, repository};

/// Returns what the written file has lost, and the description that is read from the file.
fn with_losses(description: &Description, ending: &str) -> (Vec<String>, Description) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("written.{ending}"));
    let losses = write_topology(description, None, &path).unwrap();
    (losses, read_topology(&path).unwrap())
}

/// Residue numbers, chains and insertion codes are kept where the format has them, and their loss is reported.
#[test]
fn labels_of_residues_are_kept_or_reported() {
    let mut description = read_topology(&repository("tests/systems/peptide-vacuum/peptide-vacuum.prmtop.xz")).unwrap();
    let count = description.topology.residues.len();
    assert!(count > 2);
    let codes = |topology: &Topology| topology.chain_labels.iter().map(|l| l.insertion_code).collect::<Vec<_>>();
    let numbers = |topology: &Topology| topology.residues.iter().map(|r| r.number).collect::<Vec<_>>();
    for (k, residue) in description.topology.residues.iter_mut().enumerate() {
        residue.number = if k < 2 { -3 } else { 40 + k as i32 };
        let insertion_code = (k == 1).then_some('B');
        description.topology.chain_labels.push(ChainLabel {
            chain: Name::new("H"),
            segment: Name::new("PROA"),
            insertion_code,
        });
    }
    let (losses, found) = with_losses(&description, "prmtop");
    assert_eq!(numbers(&found.topology), numbers(&description.topology));
    assert_eq!(codes(&found.topology), codes(&description.topology));
    assert!(found.topology.chain_labels.iter().all(|label| label.chain.as_str() == "H"));
    assert!(losses.len() == 1 && losses[0].contains("segments such as PROA"), "{losses:?}");
    let (losses, found) = with_losses(&description, "top");
    assert_eq!(numbers(&found.topology), numbers(&description.topology));
    assert_eq!(codes(&found.topology), codes(&description.topology));
    assert!(losses.len() == 1 && losses[0].contains("chains and segments: names such as H"), "{losses:?}");
}

/// A GROMACS topology numbers molecules of one residue itself, and has other names for some atoms and types.
#[test]
fn labels_that_a_gromacs_topology_changes_are_reported() {
    let mut description = read_topology(&repository("tests/systems/tip4pew/tip4pew.prmtop.xz")).unwrap();
    assert!(with_losses(&description, "top").0.is_empty());
    let ligand = &mut description.topology.residues[1];
    (ligand.name, ligand.number) = (Name::new("LIG"), 401);
    description.topology.atoms[0].name = Name::new("O W");
    description.topology.atoms[0].type_name = Name::new("12");
    // residues are waters by their atoms, so that the ligand gets other elements
    for atom in description.topology.atoms.iter_mut().filter(|atom| atom.residue == 1) {
        atom.element = if atom.element == 8 { 16 } else { atom.element };
    }
    let (losses, found) = with_losses(&description, "top");
    assert_eq!(found.topology.residues[1].number, 2);
    let expected = [
        "the format numbers molecules of one residue itself: LIG 401 gets the number 2, 1 in all",
        "names of atoms and residues are changed for the format: \"O W\" is O_W, 1 in all",
        "names of types are changed for the format: \"12\" is t12",
    ];
    assert!(losses.len() == 3 && losses.iter().zip(expected).all(|(loss, text)| loss.starts_with(text)), "{losses:?}");
}

/// Reads a GROMACS topology from a text.
fn of_text(text: &str) -> Description {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.top");
    std::fs::write(&path, text).unwrap();
    read_topology(&path).unwrap()
}

/// Copies of a molecule with other residue numbers or insertion codes lose them, which is reported.
#[test]
fn insertion_codes_of_copies_are_reported() {
    let molecule = |name: &str, second: &str| {
        format!(
            "[ moleculetype ]\n{name} 3\n[ atoms ]\n1 C 60 ALA CA 1 0.1\n2 C {second} ALA CA 2 0.1\n[ bonds ]\n1 2 1 0.15 1000\n"
        )
    };
    let text = |second: &str| {
        let types = "[ defaults ]\n1 2 yes 0.5 0.8333\n[ atomtypes ]\nC C 6 12.01 0.0 A 0.3 0.4\n";
        let molecules = molecule("P", "60A") + &molecule("Q", second);
        format!("{types}{molecules}[ system ]\nx\n[ molecules ]\nP 1\nQ 1\n")
    };
    assert_eq!(with_losses(&of_text(&text("60A")), "top").0, Vec::<String>::new());
    for second in ["60B", "61"] {
        let losses = with_losses(&of_text(&text(second)), "top").0;
        assert!(losses.len() == 1 && losses[0].contains("residue numbers or insertion codes"), "{losses:?}");
    }
}

/// Hydrogens of a flexible water that interact cannot be written as `[ settles ]`, whose atoms do not interact.
#[test]
fn waters_whose_hydrogens_interact_are_not_rigid() {
    let water = |neighbours: u32| {
        of_text(&format!(
            "[ defaults ]\n1 2 yes 0.5 0.8333\n[ atomtypes ]\nOW 8 16.0 0 A 0.315 0.65\nHW 1 1.008 0 A 0 0\n\
             [ moleculetype ]\nW {neighbours}\n[ atoms ]\n1 OW 1 SOL OW 1 -0.8\n2 HW 1 SOL HW1 1 0.4\n3 HW 1 SOL HW2 1 0.4\n\
             [ bonds ]\n1 2 1 0.0957 5e5\n1 3 1 0.0957 5e5\n[ angles ]\n2 1 3 1 104.52 600\n\
             [ system ]\nx\n[ molecules ]\nW 2\n"
        ))
    };
    for (neighbours, excluded) in [(1, 4), (2, 6)] {
        let (_, found) = with_losses(&water(neighbours), "top");
        assert_eq!(found.topology.exclusions.len(), excluded);
        assert_eq!(
            found.topology.bonded.bonds.len() + found.topology.bonded.angles.len(),
            if excluded == 4 { 6 } else { 0 }
        );
    }
}

#[test]
fn names_fit_the_columns_of_a_prmtop() {
    let mut description = read_topology(&repository("tests/systems/tip4pew/tip4pew.prmtop.xz")).unwrap();
    description.cell_hint.kind = BoxKind::None;
    let sites: Vec<usize> = description.topology.virtual_sites.iter().map(|site| site.site as usize).collect();
    for &site in &sites {
        let atom = &mut description.topology.atoms[site];
        (atom.name, atom.type_name) = (Name::new("MW"), Name::new("MW"));
    }
    description.topology.residues[0].name = Name::new("WATER");
    let (losses, found) = with_losses(&description, "prmtop");
    assert_eq!(found.topology.residues[0].name.as_str(), "WAT");
    for site in sites {
        let atom = &found.topology.atoms[site];
        assert_eq!((atom.name.as_str(), atom.type_name.as_str()), ("EPW", "EP"));
    }
    assert!(losses.len() == 2 && losses[0].contains("water WATER is called WAT"), "{losses:?}");
    assert!(losses[1].contains("MW is called EPW"), "{losses:?}");
    let oxygen = description.topology.atoms[0].name;
    description.topology.atoms[0].name = Name::new("Oα");
    assert!(again(&description, "prmtop").unwrap_err().contains("characters that an AMBER topology cannot contain"));
    description.topology.atoms[0].name = oxygen;
    (description.topology.atoms[1].name, description.topology.atoms[2].name) = (Name::new("HYDR1"), Name::new("HYDR2"));
    let message = again(&description, "prmtop").unwrap_err();
    assert!(message.contains("atoms HYDR1 and HYDR2 of residue WATER would both be called HYDR"), "{message}");
    let mut peptide = read_topology(&repository("tests/systems/peptide-vacuum/peptide-vacuum.prmtop.xz")).unwrap();
    peptide.topology.residues[0].name = Name::new("WATER");
    let (losses, found) = with_losses(&peptide, "prmtop");
    assert_eq!(found.topology.residues[0].name.as_str(), "WATE");
    assert!(losses.len() == 1 && losses[0].contains("WATER is WATE, 1 in all"), "{losses:?}");
}
