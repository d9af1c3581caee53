//! Tests of what other programs need in written topologies, and `md` itself does not.

use std::path::Path;

use md::cell::PeriodicCell;
use md::convert::write_topology;
use md::format::read_topology;
use md::system::{Description, Name};

/// Reads a topology of `tests/systems`.
fn system(name: &str) -> Description {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems").join(name);
    read_topology(&folder.join(format!("{name}.prmtop.xz"))).unwrap()
}

/// Writes a topology. Returns the text, and the sentences about what the format does not hold.
fn written(description: &Description, ending: &str) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("written.{ending}"));
    let losses = write_topology(description, Some(&PeriodicCell::orthorhombic([3.0; 3])), &path).unwrap();
    (std::fs::read_to_string(&path).unwrap(), losses)
}

/// Returns the words of a section of an AMBER topology.
fn section<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let begin = text.find(&format!("%FLAG {name} ")).unwrap();
    let rest = text[begin..].lines().skip(2);
    rest.take_while(|line| !line.starts_with('%')).flat_map(str::split_whitespace).collect()
}

/// OpenMM takes the end atoms of a torsion as a 1-4 pair only if the third and the fourth pointer are positive, and the
/// pointer of the first atom is 0.
#[test]
fn the_first_atom_is_not_at_the_end_of_a_torsion() {
    let mut description = system("peptide-vacuum");
    let propers = &mut description.topology.bonded.propers;
    propers.iter_mut().for_each(|torsion| torsion.atoms.reverse());
    assert!(propers.iter().any(|torsion| torsion.atoms[3] == 0) && propers.iter().any(|torsion| torsion.atoms[0] != 0));
    let (text, _) = written(&description, "prmtop");
    for name in ["DIHEDRALS_INC_HYDROGEN", "DIHEDRALS_WITHOUT_HYDROGEN"] {
        let pointers = section(&text, name);
        assert!(!pointers.is_empty());
        for row in pointers.chunks(5) {
            assert!(row[2] != "0" && row[3] != "0", "{row:?}");
        }
    }
}

/// OpenMM makes waters rigid, and gives them virtual sites, only if their residues have certain names.
#[test]
fn waters_have_a_name_that_is_recognised() {
    for name in ["tip4pew", "water"] {
        let mut description = system(name);
        description.topology.residues.iter_mut().for_each(|residue| residue.name = Name::new("SOL"));
        let (text, losses) = written(&description, "prmtop");
        assert!(section(&text, "RESIDUE_LABEL").iter().all(|label| *label == "WAT"));
        assert!(losses.iter().any(|loss| loss.contains("water SOL is called WAT")), "{losses:?}");
        // a topology of GROMACS keeps the names
        assert!(written(&description, "top").0.contains(" SOL "));
    }
    let (text, losses) = written(&system("peptide-charmm36"), "prmtop");
    assert!(section(&text, "RESIDUE_LABEL").contains(&"ALA") && !losses.iter().any(|loss| loss.contains("WAT")));
}

/// GROMACS refuses bonded types in `[ cmaptypes ]` that are not names of atom types, too.
#[test]
fn correction_maps_have_names_of_atom_types() {
    let (text, _) = written(&system("peptide-charmm36"), "top");
    let rows = |name: &str| -> Vec<Vec<String>> {
        let begin = text.find(&format!("[ {name} ]")).unwrap();
        let lines = text[begin..].lines().skip(1).take_while(|line| !line.starts_with('['));
        lines.map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
    };
    let types: Vec<String> = rows("atomtypes").into_iter().filter_map(|row| row.into_iter().next()).collect();
    // the rows of energies that continue a map have no function number in the sixth place
    let maps: Vec<Vec<String>> =
        rows("cmaptypes").into_iter().filter(|row| row.get(5).is_some_and(|f| f == "1")).collect();
    assert!(!maps.is_empty());
    for name in maps.iter().flat_map(|row| &row[..5]) {
        assert!(types.contains(name), "{name} is not in {types:?}");
    }
}
